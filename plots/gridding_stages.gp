# SPDX-License-Identifier: MIT
# gridding_stages.gp: seconds of every stage of one reconstruction (S9); stages overlap.
load PLOTS."/style.gp"
set style fill solid 0.85 noborder
set boxwidth 0.6
set grid noxtics
set xtics noenhanced
if (NARROW) { set xtics rotate by 40 right }
set ylabel "time (s)"
set yrange [0 : *]
set offsets 0, 0, graph (NARROW ? 0.16 : 0.08), 0
unset key

# Of repeated runs, the one with the median total.
stats FILES[1] using (stringcolumn("stage") eq "whole" ? 1 : 0) nooutput
RUNS = STATS_sum > 1 ? int(STATS_sum) : 1
EACH = STATS_records / RUNS
array WHOLE[RUNS]
n = 0
stats FILES[1] using (stringcolumn("stage") eq "whole" ? (n = n + 1, WHOLE[n] = column("busy_s")) : 0) nooutput
shorter(i) = sum [j = 1 : RUNS] (WHOLE[j] < WHOLE[i] || (WHOLE[j] == WHOLE[i] && j < i))
FIRST = 0
if (RUNS > 1) { do for [i = 1 : RUNS] { if (shorter(i) == (RUNS - 1) / 2) { FIRST = (i - 1) * EACH } } }
plot FILES[1] every ::FIRST::FIRST + EACH - 1 using 0:(column("busy_s")):xticlabels(stringcolumn("stage")) with boxes linecolor rgb "#009e73", \
    FILES[1] every ::FIRST::FIRST + EACH - 1 using 0:(column("busy_s")):(sprintf("%.3g", column("busy_s"))) with labels \
        rotate by (NARROW ? 90 : 0) offset 0, (NARROW ? 2 : 0.7) textcolor rgb INK notitle
