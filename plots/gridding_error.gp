# SPDX-License-Identifier: MIT
# gridding_error.gp: largest error of scatter and of gather against the exact sums, and the bound (dotted), against size (S15): the two
# differ by no more than the sum of their errors.
load PLOTS."/curves.gp"
set logscale y 10
set format y "10^{%T}"
set ylabel "largest error of a voxel"
plot for [i = 1 : |SERIES|] DATA using (side(i)):(column("error")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    pointtype point(name(i)) pointsize 0.9 title SERIES[i], \
    for [i = 1 : |SERIES|] DATA using (side(i)):(column("tol")) with lines linecolor rgb rgb(name(i)) linewidth 1.5 dashtype 3 notitle
