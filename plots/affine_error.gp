# SPDX-License-Identifier: MIT
# affine_error.gp: largest error of each variant against the reference, and what is allowed it (G7): texture units have fractions of
# 9 bits, a one-pass variance in single precision cancels. One group a variant, at the largest of the timed sizes.
load PLOTS."/style.gp"
set label 1 "Accuracy of transform and correlation"
set label 2 MACHINE.". Largest error of sampled elements at the timed sizes; triangles: what the analysis allows."
set logscale y 10
set format y "10^{%T}"
set ylabel "largest error"
set xrange [0.4 : |SERIES| + 0.6]
set xtics ("" 0)
set xtics nomirror noenhanced rotate by 30 right
do for [i = 1 : |SERIES|] { set xtics add (SERIES[i] i) }
set grid noxtics
unset key
set bmargin 8
set rmargin 6
here(i) = stringcolumn("series") eq SERIES[i] ? i : NaN
plot for [i = 1 : |SERIES|] DATA using (here(i)):(column("error") > 0 ? column("error") : NaN) with points pointtype 7 \
    pointsize 1.4 linecolor rgb "#0072b2", \
    for [i = 1 : |SERIES|] DATA using (here(i)):(column("tol")) with points pointtype 9 pointsize 1.4 linecolor rgb "#999999"
