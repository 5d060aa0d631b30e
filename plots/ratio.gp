# SPDX-License-Identifier: MIT
# ratio.gp: what Figs 7 and 9 share. Reads the times of a base series into an array by R, then plots ratios of medians.
array TIME[16385]
do for [k = 1 : |TIME|] { TIME[k] = 0 }
remember(i) = (series(i) ? (TIME[1 + int(offset("shape"))] = seconds("median"), 1) : NaN)
base_time(cell) = offset(cell) >= 0 ? TIME[1 + int(offset(cell))] : 0
known(cell) = base_time(cell) > 0
set logscale x 2
set logscale y 10
set xrange [*:*] noextend
set format x "%g"
set format y "%g"
set xlabel "maximum offset R (pixels)"
# Published ratios: a dotted line behind the data and its number at the right end, both from the table of published numbers.
set rmargin at screen 0.64
set key at screen 0.76, screen 0.85 left top
number(id) = system(sprintf("awk -F'\\t' -v id='%s' '$1 == id { print $5 }' '%s'", id, PUBLISHED))
line(id, n) = sprintf("set arrow %d from graph 0, first %s to graph 1, first %s nohead back", 10 + n, number(id), number(id))
text(id, n) = sprintf("set label %d 'paper %s x' at graph 1.01, first %s left font ',11' noenhanced", \
    10 + n, number(id), number(id))
ink(name) = sprintf(" linecolor rgb '%s' linewidth 1.5 dashtype 3", colour(name))
mark(id, name, n) = line(id, n).ink(name)."; ".text(id, n).sprintf(" textcolor rgb '%s'", colour(name))
