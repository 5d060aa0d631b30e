# SPDX-License-Identifier: MIT
# crossover.gp: one variant's time over another's, a square for each size measured (DATA), a panel for each pair of TITLES; the dots BORDER
# are where records of other sizes predict equal times. XNAME, YNAME: the two extents; RATIO: what the colours are.
set encoding utf8
N = |TITLES|
set terminal svg size 110 + 330 * N, 440 dynamic enhanced font "Helvetica,14" background "#ffffff"
set output OUT
set datafile separator "\t"
set datafile columnheaders
set datafile missing "-"
INK = "#1c2430"; SOFT = "#545f6d"
set border 3 linecolor rgb SOFT
set tics nomirror out scale 0.6 textcolor rgb INK
set logscale xy 2
set xlabel XNAME textcolor rgb INK noenhanced
stats DATA using (column(XNAME)):(column(YNAME)) nooutput
set xrange [STATS_min_x / 1.25 : STATS_max_x * 1.25]
set yrange [STATS_min_y / 1.8 : STATS_max_y * 1.8]
# Blue: the first is faster; red: the second is (ColorBrewer RdBu, which colour-blind readers tell apart).
set palette defined (-3 "#2166ac", -1.5 "#92c5de", 0 "#f7f7f7", 1.5 "#f4a582", 3 "#b2182b")
set cbrange [-3 : 3]
set cbtics ("1/8" -3, "1/4" -2, "1/2" -1, "1" 0, "2" 1, "4" 2, "8" 3) textcolor rgb INK
set cblabel RATIO textcolor rgb INK
unset key
set tmargin 3
set bmargin 4
set multiplot
do for [p = 1 : N] {
    set lmargin at screen (70.0 + 330 * (p - 1)) / (110 + 330 * N)
    set rmargin at screen (50.0 + 330 * p - 25) / (110 + 330 * N)
    if (p == 1) { set ylabel YNAME textcolor rgb INK noenhanced } else { unset ylabel }
    if (p == N) { set colorbox } else { unset colorbox }
    set title TITLES[p] textcolor rgb INK noenhanced
    plot DATA using (column("pair") == p ? column(XNAME) : NaN):(column(YNAME)):(column("log2_ratio")) with points pointtype 5 pointsize 2.6 palette, \
         DATA using (column("pair") == p ? column(XNAME) : NaN):(column(YNAME)):(sprintf("%.2g", 2 ** column("log2_ratio"))) with labels \
             font ",9" offset 0, -1.1 textcolor rgb SOFT noenhanced, \
         BORDER using (column("pair") == p ? column("x") : NaN):(column("y")) with points pointtype 7 pointsize 0.35 linecolor rgb INK
}
unset multiplot
