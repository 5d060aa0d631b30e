# SPDX-License-Identifier: MIT
# curves.gp: what figures of curves against the size of the images share (Strelak et al.). x is the side 2k + 1 of the volume.
load PLOTS."/style.gp"
side(i) = (x(i) - 1) / 2
set logscale x 2
set xrange [58 : 560]
set xtics (64, 128, 256, 512)
set format y "%g"
set xlabel "side of the images (pixels)"
