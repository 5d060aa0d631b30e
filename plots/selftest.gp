# SPDX-License-Identifier: MIT
# selftest.gp: A against A: the differences that the method itself finds where there are none; box from quartile to quartile, bar
# at the median, whiskers to the least and the largest pair, dashed the limit.
load PLOTS."/style.gp"
set label 1 "A against A: differences found where there are none"
set label 2 MACHINE
set rmargin 6
unset key
set style fill solid 0.25 border
set xrange [-0.7 : MOST - 0.3]
set yrange [0 : *]
set offsets 0, 0, graph 0.06, 0
set ylabel "false difference (% of the median)"
set boxwidth 0.3
set grid noxtics
named(row) = stringcolumn("variant")." at ".stringcolumn("shape")
plot FILE using (column(0)):(column("q1")):(column("min")):(column("max")):(column("q3")):xticlabels(named(0)) \
        with candlesticks whiskerbars linewidth 2 linecolor rgb rgb("simd"), \
    FILE using (column(0)):(column("median")):(column("median")):(column("median")):(column("median")) \
        with candlesticks linewidth 4 linecolor rgb rgb("simd"), \
    FILE using (column(0)):(column("tol")):(0.25) with xerrorbars pointtype 0 linewidth 2 dashtype 2 linecolor rgb rgb("octave")
