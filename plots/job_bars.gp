# SPDX-License-Identifier: MIT
# job_bars.gp: a histogram on a job's page: DATA x y1, bars BROAD units wide, X_LABEL, Y_LABEL.
load PLOTS."/job_style.gp"
unset key
stats DATA using (column("x")) nooutput
set xtics nice(STATS_max - STATS_min, 5)
set yrange [0 : *]
set style fill solid 0.6 noborder
plot DATA using (column("x")):(column("y1")):(0.92 * BROAD) with boxes linecolor rgb MAIN
