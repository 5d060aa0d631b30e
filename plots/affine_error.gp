# SPDX-License-Identifier: MIT
# affine_error.gp: largest error of each variant against the reference, and its tolerance (G7). Texture units have 9-bit
# fractions; a one-pass variance in single precision cancels. One group per variant, at the largest timed size.
load PLOTS."/style.gp"
set logscale y 10
set format y "10^{%T}"
set ylabel "largest error of an element"
set xrange [0.4 : |SERIES| + 0.6]
set xtics ("" 0)
set xtics nomirror noenhanced rotate by 30 right
do for [i = 1 : |SERIES|] { set xtics add (SERIES[i] i) }
set grid noxtics
if (NARROW) { set key inside left top vertical } else { set bmargin 6 }
here(i) = of_series(i) ? i : NaN
plot for [i = 1 : |SERIES|] DATA using (here(i)):(column("error") > 0 ? column("error") : NaN) with points pointtype point(name(i)) \
    pointsize 1.3 linecolor rgb rgb(name(i)) notitle, \
    for [i = 1 : |SERIES|] DATA using (here(i)):(column("tol")) with points pointtype 8 pointsize 1.3 linecolor rgb "#777777" \
    title (i == 1 ? "allowed" : "")
