# SPDX-License-Identifier: MIT
# affine_rate.gp: pixels a second of a rotation against the angle, every variant: what Fig. 4 of Garcia et al. leaves out.
FIRST = 1
load PLOTS."/angles.gp"
set logscale y 10
set format y "10^{%T}"
set ylabel "pixels/s"
plot for [i = 1 : |SERIES|] DATA using (angle(i)):(column("rate")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    pointtype point(name(i)) pointsize 0.8 title SERIES[i]
