# SPDX-License-Identifier: MIT
# affine_y.gp: voxels a second of transform and correlation against the angle about y (G5): is there a slow spot at +-90 degrees?
FIRST = 362
load PLOTS."/affine_turn.gp"
set label 1 "90 x 90 x 90 turned about y"
set label 2 MACHINE.". Voxels a second; columns run along x, as in Fig. 3 of the paper."
set yrange [0 : *]
set ylabel "voxels/s"
set format y "%.2g"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("rate")) with linespoints linecolor rgb ink(name(i)) linewidth 2 \
    pointtype 7 pointsize 1 title name(i)
