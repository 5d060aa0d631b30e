# SPDX-License-Identifier: MIT
# lines.gp: a curve per series: VALUE, a column of DATA, "1/ratio", or "joules" of a million pieces of work, named by
# LABEL ({base}: the variant of BASE). Dotted: the papers' numbers PRINTED, beside the series of that name, or tolerances.
load PLOTS."/axes.gp"
set logscale y 10
set format y "10^{%T}"
set ylabel until(LABEL, "{base}").(strstrt(LABEL, "{base}") ? base_name(BASE).LABEL[strstrt(LABEL, "{base}") + 6 : *] : "") noenhanced
KEYS = |SERIES| + words(PRINTED)
if (!NARROW && KEYS > 11) { set key spacing KEYS > 14 ? 0.95 : 1.05 } # keeps the key in one column
if (!NARROW && KEYS > 17) { set key font ",10.5" }
shown(n) = VALUE eq "1/ratio" ? 1 / column("ratio") : VALUE eq "joules" ? column("joules") / column("work") * 1e6 : column(VALUE)
low(n) = VALUE eq "ratio" ? column("ratio_low") : NaN
allowed(n) = VALUE eq "error" ? column("tol") : NaN
plot for [i = 1 : |SERIES|] DATA using (at(i)):(shown(0)):(low(0)):(column("ratio_high")) with yerrorbars pointtype -1 \
        linecolor rgb rgb(name(i)) notitle, \
    for [i = 1 : |SERIES|] DATA using (at(i)):(shown(0)) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
        dashtype dash(i) pointtype point(name(i)) pointsize 0.9 title SERIES[i], \
    for [i = 1 : |SERIES|] DATA using (at(i)):(allowed(0)) with lines linecolor rgb rgb(name(i)) linewidth 1.5 dashtype 3 notitle, \
    for [n = 1 : words(PRINTED)] number(word(PRINTED, n)) with lines linecolor rgb rgb(word(BESIDE, n)) linewidth 1.5 \
        dashtype 3 title sprintf("paper, %s: %s x", word(BESIDE, n), stated(word(PRINTED, n)))
