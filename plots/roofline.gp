# SPDX-License-Identifier: MIT
# roofline.gp: what part of the bound measured on this machine each variant reaches, and which bound it is, at one R.
load PLOTS."/style.gp"
set label 1 sprintf("Part of the machine's own bound that each variant reaches, R = %d", RADIUS)
set label 2 IMAGE.SCOPE
set rmargin 17; set lmargin 24
unset key
n = |VARIANTS|
set yrange [n + 0.6 : 0.4]
set xrange [0 : 1 < *]
set arrow 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb SOFT linewidth 1.5 back
set xtics autofreq
set xlabel "time that the limiting resource needs at its measured rate / median time"
set grid noytics
set border 1
unset ytics
set style fill solid 0.9 noborder
bar(i) = series(i) && offset("shape") == RADIUS && strlen(stringcolumn("fraction"))
set for [i = 1 : n] label (100 + i) label(i) at graph 0, first i right offset -1, 0 textcolor rgb INK noenhanced
plot for [i = 1 : n] FILE using (0):(i):(0):(bar(i) ? column("fraction") : NaN):(i - 0.32):(i + 0.32) with boxxyerror \
        linecolor rgb rgb(VARIANTS[i]), \
    for [i = 1 : n] FILE using (bar(i) ? column("fraction") : NaN):(i) \
        :(sprintf(" %.0f", 100 * column("fraction"))." % of ".stringcolumn("bound")) \
        with labels left offset 0.3, 0 font ",12" textcolor rgb INK noenhanced
