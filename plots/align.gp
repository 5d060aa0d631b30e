# SPDX-License-Identifier: MIT
# Shifts and correlations of each image of a series with the previous one, for `regather align`.
# DATA transforms.tsv, X the column of the horizontal axis, image or tilt_deg.
WIDE = 720; HIGH = 640
load PLOTS."/job_file.gp"
stats DATA using (column(X)) nooutput
set xlabel X eq "image" ? "image" : "tilt / degrees"
set lmargin 10
set rmargin 10
set multiplot layout 3,1
set key at graph 1, 1.16 right horizontal
if (X eq "image") { set xtics 1, ceil(STATS_records / 12.0) }
set ylabel "shift / pixels"
plot DATA using (column(X)):(column("shift_x_px")) with linespoints pt 7 ps 0.4 lw 1.4 lc rgb "#0072b2" title "x", \
     DATA using (column(X)):(column("shift_y_px")) with linespoints pt 5 ps 0.4 lw 1.4 lc rgb "#d55e00" title "y"
set ylabel "rotation / degrees"
set y2label "scale"
set y2tics
set ytics nomirror
plot DATA using (column(X)):(column("rotation_deg")) with linespoints pt 7 ps 0.4 lw 1.4 lc rgb "#0072b2" title "rotation", \
     DATA using (column(X)):(column("scale")) axes x1y2 with linespoints pt 5 ps 0.4 lw 1.4 lc rgb "#d55e00" title "scale"
unset y2tics
unset y2label
set ylabel "correlation"
set yrange [*:1]
plot DATA using (column(X)):(column("correlation")) with linespoints pt 7 ps 0.4 lw 1.4 lc rgb "#009e73" notitle
unset multiplot
