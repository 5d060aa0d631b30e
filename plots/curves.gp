# SPDX-License-Identifier: MIT
# curves.gp: what figures of curves against the size of the images share (Strelak et al.). x is the side 2k + 1 of the volume.
load PLOTS."/style.gp"
side(i) = (x(i) - 1) / 2
set logscale x 2
stats DATA using ((column("x") - 1) / 2) nooutput name "SIDE"
set xrange [(SIDE_min < 64 ? 0.9 * SIDE_min : 58) : (SIDE_max > 512 ? 1.1 * SIDE_max : SIDE_max < 250 ? 290 : 560)]
set xtics (16, 32, 64, 128, 256, 512, 1024)
set format y "%g"
set xlabel "side of the images (pixels)"
