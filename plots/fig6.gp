# SPDX-License-Identifier: MIT
# fig6.gp: time against maximum offset R, all variants, after Fig. 6 of Lu et al.
load PLOTS."/style.gp"
set label 1 "Time to correlate one image, against the maximum offset"
set label 2 IMAGE.SCOPE
set logscale x 2
set logscale y 10
set xrange [*:*] noextend
set xlabel "maximum offset R (pixels)"
set ylabel "median time of one image (s)"
set format y "10^{%T}"
set format x "%g"
plot for [i = 1 : |VARIANTS|] FILE using (series(i) ? offset("shape") : NaN):(seconds("median")) \
    smooth unique with linespoints \
    linecolor rgb rgb(VARIANTS[i]) linewidth 2 dashtype dash(i) pointtype point(VARIANTS[i]) \
    pointsize 1.1 title label(i)
