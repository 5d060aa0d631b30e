# SPDX-License-Identifier: MIT
# ratio.gp: what Figs 7 and 9 share. Reads the times of a base series into an array by R, then plots ratios of medians.
array TIME[16385]
do for [k = 1 : |TIME|] { TIME[k] = 0 }
remember(i) = (series(i) ? (TIME[1 + int(offset("shape"))] = seconds("median"), 1) : NaN)
known(cell) = TIME[1 + int(offset(cell))] > 0
set logscale x 2
set logscale y 10
set xrange [*:*] noextend
set format y "%g"
set format x "%g"
set xlabel "maximum offset R (pixels)"
# The published ratio as a dashed line at the right end: number and label come from the table of published numbers.
set style textbox opaque noborder margins 1, 1 fillcolor rgb "#ffffff"
number(id) = system(sprintf("awk -F'\\t' -v id='%s' '$1 == id { print $5 }' '%s'", id, PUBLISHED))
mark(id, name, n) = sprintf("set arrow %d from graph 0.7, first %s to graph 1, first %s nohead linecolor rgb '%s' linewidth 1.5 dashtype 3; \
set label %d 'paper: %s x' at graph 0.7, first %s left offset 0, 0.75 font ',11' textcolor rgb '%s' noenhanced front boxed", \
    10 + n, number(id), number(id), colour(name), 10 + n, number(id), number(id), colour(name))
