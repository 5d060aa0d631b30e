# SPDX-License-Identifier: MIT
# listing1.gp: Listing 1 of Lu et al. as printed, at every offset that its arrays hold, beside the codes of Figs. 7 and 9: speed-up
# over simple C of the same sums, on one core.
load PLOTS."/style.gp"
of_series(i) = stringcolumn("series") eq SERIES[i]
name(i) = SERIES[i]
set label 1 "Listing 1 as printed, beside the other codes"
set label 2 MACHINE.". Speed-up over simple C of the same sums on one core, with the copies where those were timed."
set logscale x 2
set logscale y 10
set xrange [*:*] noextend
set format y "%g"
set xlabel "maximum offset R (pixels)"
set ylabel "time of simple C / time"
plot for [i = 1 : |SERIES|] DATA using (of_series(i) ? column("x") : NaN):(column("ratio")) with linespoints \
    linecolor rgb rgb(name(i)) linewidth 2 pointtype point(name(i)) pointsize 1.1 title name(i)
