# SPDX-License-Identifier: MIT
# score.gp: the figures of `regather score`. FIGURE: ranks, jobs, front, costs or sensitivity. DATA: its table. MACHINES, JOBS:
# labels in order; CURRENCY; REFERENCE, the machine that counts as 1; SETTINGS of the sensitivity.
set encoding utf8
set terminal svg size 1000,420 dynamic enhanced font "Helvetica,14" background "#ffffff"
set output OUT
set datafile separator "\t"
set datafile columnheaders
set datafile missing "-"
INK = "#1c2430"; SOFT = "#545f6d"; LINE = "#d3dae2"
array COLOUR[8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#5b6675"] # Okabe and Ito
colour(i) = COLOUR[(int(i) - 1) % 8 + 1]
rgb(i) = int("0x" . substr(colour(i), 2, 7))
N = |MACHINES|
set border 3 linecolor rgb SOFT
set tics nomirror out scale 0.6 textcolor rgb INK
set grid back linecolor rgb LINE dashtype 1
set key outside right top vertical Left reverse samplen 1.5 textcolor rgb INK noenhanced
set xlabel textcolor rgb INK noenhanced
set ylabel textcolor rgb INK noenhanced
if (FIGURE eq "ranks" || FIGURE eq "jobs" || FIGURE eq "costs") {
    set lmargin 22
    unset ytics
    set ytics nomirror () noenhanced textcolor rgb INK
    do for [i = 1:N] { set ytics add (MACHINES[i] i) }
}
if (FIGURE eq "ranks") { stats DATA using (column("low")):(column("high")) nooutput }
if (FIGURE eq "front") { stats DATA using (column("seconds")):(column("money_a_job")) nooutput }
if (FIGURE eq "ranks" || FIGURE eq "jobs" || FIGURE eq "costs") { set yrange [N + 0.6 : 0.4] }
if (FIGURE eq "ranks") {
    set logscale x 2
    set xlabel "times as fast as " . REFERENCE
    set xrange [STATS_min_x / 1.1 : STATS_max_y * 1.1]
    set arrow 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb SOFT dashtype 2
    unset key
    plot DATA using (column("score")):($0 + 1):(column("low")):(column("high")) with xerrorbars pointtype 7 pointsize 1 linewidth 2 \
             linecolor rgb colour(1), \
         DATA using (column("score")):($0 + 0.75):(sprintf("%.3g, rank %d", column("score"), column("rank"))) with labels textcolor rgb INK noenhanced
} else { if (FIGURE eq "jobs") {
    set xlabel "weighted seconds"
    set xrange [0 : *]
    plot for [j = 1:|JOBS|] DATA using (column("from_s")):(column("place")):(column("from_s")):(column("to_s")): \
             (column("place") - 0.3):(column("place") + 0.3) every |JOBS|::(j - 1) with boxxyerror fillstyle solid 0.85 noborder linecolor rgb colour(j) title JOBS[j]
} else { if (FIGURE eq "front") {
    set logscale xy 2
    set xlabel "seconds a job"
    set ylabel CURRENCY . " a job"
    set lmargin 14
    set format "%.3g"
    set xrange [STATS_min_x / 1.5 : STATS_max_x * 1.5]
    set yrange [STATS_min_y / 1.5 : STATS_max_y * 1.5]
    plot DATA using (column("front") == 1 ? column("seconds") : 1/0):(column("money_a_job")) smooth unique with lines linewidth 2 linecolor rgb LINE \
             title "Pareto front", \
         for [i = 1:N] DATA using (column("seconds")):(column("money_a_job")) every ::(i - 1)::(i - 1) with points pointtype 7 pointsize 1.6 \
             linecolor rgb colour(i) title MACHINES[i]
} else { if (FIGURE eq "costs") {
    set xlabel CURRENCY
    set xrange [0 : *]
    paid(n) = n < 1 ? 0 : column("price") - column("residual") + (n > 1 ? column("support") : 0) + (n > 2 ? column("energy_idle") : 0) + \
              (n > 3 ? column("energy_busy") : 0)
    array PART[4] = ["price less residual", "support", "energy, idle", "energy, busy"]
    plot for [k = 1:4] DATA using (paid(k)):($0 + 1):(paid(k - 1)):(paid(k)):($0 + 0.7):($0 + 1.3) with boxxyerror fillstyle solid 0.85 noborder \
             linecolor rgb colour(k) title PART[k]
} else {
    set ylabel "rank"
    set yrange [N + 0.4 : 0.6]
    set ytics 1
    set xrange [0.5 : SETTINGS + 0.5]
    set xtics rotate by -50 font ',11' noenhanced
    set bmargin 7
    # Lines of one rank are drawn side by side.
    plot for [i = 1:N] DATA using (column("number")):(column("rank") + 0.12 * (i - (N + 1) / 2.0)):xtic(stringcolumn("setting")) \
             every N::(i - 1) with points pointtype 7 pointsize 1.1 linecolor rgb colour(i) title MACHINES[i]
} } } }
