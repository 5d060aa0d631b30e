# SPDX-License-Identifier: MIT
# job_directions.gp: directions of views on a job's page: DATA rot cos_tilt views in ACROSS x DOWN cells of equal area; rot from
# 0 to 360 degrees to the right, tilt downwards in equal steps of its cosine.
load PLOTS."/job_style.gp"
stats DATA using (column("views")) nooutput
unset key
unset grid
set border 15
set palette defined (0 "#ffffff", 0.2 "#cfe2f1", 1 "#084a7d")
set xrange [0 : 360]
set yrange [-1 : 1]
set xtics 90
set ytics ("0" 1, "45" cos(pi / 4), "60" 0.5, "90" 0, "120" -0.5, "135" -cos(pi / 4), "180" -1)
set cbrange [0 : STATS_max]
set cbtics ceil(nice(STATS_max, 4)) textcolor rgb INK
set label "views" at screen 0.26, screen 0.115 right textcolor rgb INK
set colorbox horizontal user origin screen 0.28, screen 0.1 size screen 0.56, screen 0.03
set bmargin at screen 0.37
plot DATA using (column("rot")):(column("cos_tilt")):(column("views")) with image pixels
