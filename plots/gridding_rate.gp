# SPDX-License-Identifier: MIT
# gridding_rate.gp: pixels inserted a second against the size of the images (S7).
load PLOTS."/curves.gp"
set label 1 "Pixels inserted a second"
set label 2 MACHINE.". Fastest parameters of each variant at each size."
set logscale y 10
set format y "10^{%T}"
set ylabel "stored pixels inside the circle, 1/s"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("rate")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    pointtype point(name(i)) pointsize 1.1 title name(i)
