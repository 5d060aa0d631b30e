# SPDX-License-Identifier: MIT
# gridding_rate.gp: pixels inserted a second against the size of the images (S7).
load PLOTS."/curves.gp"
set logscale y 10
set format y "10^{%T}"
set ylabel "pixels inside the circle, 1/s"
plot for [i = 1 : |SERIES|] DATA using (side(i)):(column("rate")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    pointtype point(name(i)) pointsize 0.9 title SERIES[i]
