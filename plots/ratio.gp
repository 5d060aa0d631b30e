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
# Published ratios, MARKS, in the colours of the variants MARKED: a dotted line behind the data and its number at the right end.
set rmargin at screen 0.64
set key at screen 0.76, screen 0.85 left top
do for [n = 1 : words(MARKS)] {
    set arrow 10 + n from graph 0, first number(word(MARKS, n)) to graph 1, first number(word(MARKS, n)) nohead back \
        linecolor rgb colour(word(MARKED, n)) linewidth 1.5 dashtype 3
    set label 10 + n sprintf("paper %s x", stated(word(MARKS, n))) at graph 1.01, first number(word(MARKS, n)) left font ',11' \
        noenhanced textcolor rgb colour(word(MARKED, n))
}
