# SPDX-License-Identifier: MIT
# generations.gp: a ratio of times (RATIO), a column per GPU (GPUS; the first PAPERS are the papers'), a colour per kernel
# (KERNELS). Open: published; filled: measured, with its interval.
load PLOTS."/style.gp"
INKS = "#0072b2 #009e73 #d55e00 #aa4499 #8c6d31"
MARKS = "7 5 9 11 13"
pen(k) = int("0x".word(INKS, k)[2:7])
set logscale y 10
set format y "%g"
set ylabel RATIO
set xrange [0.4 : |GPUS| + (NARROW ? 0.8 : 0.6)]
set xtics ("" 0)
set xtics nomirror noenhanced rotate by (NARROW ? 60 : 35) right
do for [i = 1 : |GPUS|] { set xtics add (GPUS[i] i) }
set grid noxtics
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead back linecolor rgb SOFT linewidth 1.5
set arrow 2 from first PAPERS + 0.5, graph 0 to first PAPERS + 0.5, graph 1 nohead back linecolor rgb SOFT dashtype 3
set label 3 NARROW ? "" : "printed" at first PAPERS + 0.4, graph 0.97 right textcolor rgb SOFT
set label 4 NARROW ? "" : "measured" at first PAPERS + 0.6, graph 0.97 left textcolor rgb SOFT
if (NARROW) { set bmargin at screen 0.52; set key at screen 0.5, screen 0.01 center bottom maxcols 1 width 0 } else { set bmargin 6; set rmargin 24; unset key }
do for [i = 1 : |GPUS|] {
    stats DATA using (column("gpu") == i ? 1 : 0) nooutput
    if (i <= PAPERS && STATS_sum == 0) { set label 10 + i "none printed" at first i, first 1.3 rotate by 90 left textcolor rgb SOFT }
}
stats DATA using (column("ratio")) nooutput
set yrange [(STATS_min < 1 ? STATS_min : 1) / 3 : STATS_max * 3]
of(k) = column("kernel") == k ? column("gpu") : NaN
array LAST[|KERNELS|] # its last GPU, which has the label
do for [k = 1 : |KERNELS|] { stats DATA using (column("printed") < 1 ? of(k) : NaN) nooutput; LAST[k] = STATS_records ? STATS_max : 0 }
plot for [k = 1 : |KERNELS|] DATA using (column("printed") > 0 ? NaN : of(k)):(column("ratio")):(column("low")):(column("high")) \
        with yerrorbars pointtype int(word(MARKS, k)) pointsize 1.3 linewidth 2 linecolor rgb pen(k) title KERNELS[k], \
    for [k = 1 : |KERNELS|] DATA using (column("printed") > 0 ? of(k) : NaN):(column("ratio")) \
        with points pointtype int(word(MARKS, k)) - 1 pointsize 1.3 linewidth 2 linecolor rgb pen(k) notitle, \
    for [k = 1 : (NARROW ? 0 : |KERNELS|)] DATA using (column("printed") < 1 && column("gpu") == LAST[k] ? of(k) : NaN):(column("ratio")):(KERNELS[k]) \
        with labels left offset 1, 0 textcolor rgb pen(k) noenhanced notitle
