# SPDX-License-Identifier: MIT
# selftest.gp: A against A: differences that the method finds where there are none. Boxes from quartile to quartile, a bar at
# the median, whiskers to the smallest and the largest pair, dashed the limit.
load PLOTS."/style.gp"
unset key
set style fill solid 0.25 border
stats DATA using (column("median")) nooutput
MOST = STATS_records
set xrange [-0.7 : MOST - 0.3]
set yrange [0 : *]
set offsets 0, 0, graph 0.06, 0
set ylabel "false difference (% of the median)"
set boxwidth 0.3
set grid noxtics
if (NARROW) { set xtics rotate by 30 right }
set xtics noenhanced
plot DATA using (column(0)):(column("q1")):(column("min")):(column("max")):(column("q3")):xticlabels(stringcolumn("variant")) \
        with candlesticks whiskerbars linewidth 2 linecolor rgb MAIN, \
    DATA using (column(0)):(column("median")):(column("median")):(column("median")):(column("median")) \
        with candlesticks linewidth 4 linecolor rgb MAIN, \
    DATA using (column(0)):(column("tol")):(0.25) with xerrorbars pointtype 0 linewidth 2 dashtype 2 linecolor rgb OTHER
