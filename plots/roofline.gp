# SPDX-License-Identifier: MIT
# roofline.gp: the fraction of this machine's measured bound that each variant reaches, and which bound it is.
load PLOTS."/style.gp"
unset key
n = |SERIES|
set lmargin NARROW ? 17 : 20
set rmargin NARROW ? 3 : 6
set yrange [n + 0.6 : 0.4]
set xrange [0 : NARROW ? 2.2 : 1.3]
set arrow 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb SOFT linewidth 1.5 back
set xtics 0, 0.5, 1
set xlabel "part of the bound that is reached"
set grid noytics
set border 1
unset ytics
set style fill solid 0.9 noborder
set for [i = 1 : n] label (100 + i) SERIES[i] at graph 0, first i right offset -1, 0 textcolor rgb INK noenhanced
plot for [i = 1 : n] DATA using (0):(i):(0):(of_series(i) ? column("fraction") : NaN):(i - 0.32):(i + 0.32) with boxxyerror \
        linecolor rgb rgb(name(i)), \
    for [i = 1 : n] DATA using (of_series(i) ? (column("fraction") > 1 ? column("fraction") : 1) : NaN):(i) \
        :(sprintf("%.0f", 100 * column("fraction"))." % of ".stringcolumn("bound")) \
        with labels left offset 0.4, 0 font ",12" textcolor rgb INK noenhanced
