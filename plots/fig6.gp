# SPDX-License-Identifier: MIT
# fig6.gp: time against maximum offset R, all variants, after Fig. 6 of Lu et al., which prints no times.
load PLOTS."/offsets.gp"
set ylabel "median time of one image (s)"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("median_s")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    dashtype dash(i) pointtype point(name(i)) pointsize 0.9 title SERIES[i]
