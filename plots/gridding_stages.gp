# SPDX-License-Identifier: MIT
# gridding_stages.gp: seconds of every stage of one reconstruction (S9); stages go on at the same time.
load PLOTS."/style.gp"
set style fill solid 0.85 noborder
set boxwidth 0.6
set grid noxtics
set xtics noenhanced
if (NARROW) { set xtics rotate by 40 right }
set ylabel "time (s)"
set yrange [0 : *]
set offsets 0, 0, graph 0.08, 0
unset key

# Of a job that was done several times, the first.
stats STAGES using (stringcolumn("stage") eq "whole" ? 1 : 0) nooutput
EACH = STATS_sum > 1 ? STATS_records / STATS_sum : STATS_records
plot STAGES every ::0::EACH - 1 using 0:(column("busy_s")):xticlabels(stringcolumn("stage")) with boxes linecolor rgb "#009e73", \
    STAGES every ::0::EACH - 1 using 0:(column("busy_s")):(sprintf("%.3g", column("busy_s"))) with labels offset 0, 0.7 textcolor rgb INK notitle
