# SPDX-License-Identifier: MIT
# curves.gp: what figures of curves against the size of the images share (plots/figures.tsv, kind rows). Set before: nothing but
# what `regather report` passes: DATA with columns series x shape ..., SERIES its labels as words. x is the side 2k + 1 of the volume.
load PLOTS."/style.gp"
side(cell) = (column(cell) - 1) / 2
of_series(i) = stringcolumn("series") eq SERIES[i]
x(i) = of_series(i) ? side("x") : NaN
set logscale x 2
set xrange [*:*] noextend
set format x "%g"
set format y "%g"
set xlabel "side of the images (pixels)"
name(i) = SERIES[i]
