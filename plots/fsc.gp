# SPDX-License-Identifier: MIT
# Fourier shell correlation of two maps, for `regather fsc`.
# DATA the table of shells.
WIDE = 640; HIGH = 420
load PLOTS."/job_file.gp"
set datafile missing NaN
unset key
set xlabel "resolution / A"
set ylabel "FSC"
stats DATA using (column("frequency")) nooutput
set xrange [0:STATS_max]
stats DATA using (column("fsc")) name "FSC" nooutput
set yrange [FSC_min < -0.15 ? 1.1 * FSC_min : -0.2:1.05]
set xtics ("" 0)
do for [i = 1:6] {
    f = STATS_max * i / 6
    set xtics add (sprintf("%.3g", 1 / f) f)
}
plot DATA using (column("frequency")):(column("fsc")) with linespoints pt 7 ps 0.4 lw 1.6 lc rgb "#1f77b4", \
     0.5 with lines dt 2 lc rgb "#888888", 0.143 with lines dt 3 lc rgb "#888888"
