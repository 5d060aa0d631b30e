# SPDX-License-Identifier: MIT
# affine_rate.gp: pixels a second of a rotation against the angle, every variant: what Fig. 4 of Garcia et al. leaves out.
FIRST = 1
load PLOTS."/affine_turn.gp"
set label 1 "Rotation of 2048 x 2048: absolute rates"
set label 2 MACHINE.". Pixels of the result a second, of the median time."
set logscale y 10
set format y "10^{%T}"
set ylabel "pixels/s"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("rate")) with linespoints linecolor rgb ink(name(i)) linewidth 2 \
    pointtype 7 pointsize 0.7 title name(i)
