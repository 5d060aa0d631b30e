# Shifts and correlations of a series against the image before, for `regather align`.
# gnuplot -c align.gp OUT.svg TRANSFORMS.tsv image|tilt_deg
set terminal svg size 720,640 background "white" font "sans-serif,13"
set output ARG1
set datafile separator tab
set datafile commentschars "#"
set grid lc rgb "#dddddd"
stats ARG2 using (column(ARG3)) nooutput
set xlabel ARG3 eq "image" ? "image" : "tilt / degrees"
set lmargin 10
set rmargin 10
set multiplot layout 3,1
set key at graph 1, 1.16 right horizontal
if (ARG3 eq "image") { set xtics 1, ceil(STATS_records / 12.0) }
set ylabel "shift / pixels"
plot ARG2 using (column(ARG3)):(column("shift_x_px")) with linespoints pt 7 ps 0.4 lw 1.4 lc rgb "#0072b2" title "x", \
     ARG2 using (column(ARG3)):(column("shift_y_px")) with linespoints pt 5 ps 0.4 lw 1.4 lc rgb "#d55e00" title "y"
set ylabel "rotation / degrees"
set y2label "scale"
set y2tics
set ytics nomirror
plot ARG2 using (column(ARG3)):(column("rotation_deg")) with linespoints pt 7 ps 0.4 lw 1.4 lc rgb "#0072b2" title "rotation", \
     ARG2 using (column(ARG3)):(column("scale")) axes x1y2 with linespoints pt 5 ps 0.4 lw 1.4 lc rgb "#d55e00" title "scale"
unset y2tics
unset y2label
set ylabel "correlation"
set yrange [*:1]
plot ARG2 using (column(ARG3)):(column("correlation")) with linespoints pt 7 ps 0.4 lw 1.4 lc rgb "#009e73" notitle
unset multiplot
