# SPDX-License-Identifier: MIT
# affine_turn.gp: what figures of curves against the angle share (plots/figures.tsv, kind rows, x the part t of the shape). FIRST, set
# before: the t of -180 degrees (1 in two dimensions and about z, 362 about y).
load PLOTS."/style.gp"
of_series(i) = stringcolumn("series") eq SERIES[i]
x(i) = of_series(i) && column("x") >= FIRST && column("x") <= FIRST + 360 ? column("x") - FIRST - 180 : NaN
name(i) = SERIES[i]
# The paper's four kernels keep the colours of Fig. 4's legend order; others are those of the style.
PAPERS = "att_16x16 att_128x1 at_16x16 at_128x1 atct_3d atc_3d"
INKS = "#0072b2 #56b4e9 #d55e00 #e69f00 #0072b2 #d55e00"
ink_at(n) = sum [k = 1 : words(PAPERS)] (word(PAPERS, k) eq n ? k : 0)
ink(n) = ink_at(n) ? int("0x".word(INKS, ink_at(n))[2:7]) : rgb(n)
set xlabel "angle (degrees)"
set xrange [-180 : 180]
set xtics 45
set format y "%g"
