# SPDX-License-Identifier: MIT
# frealign_fig4.gp: the three modes on several GPUs over one, after Fig. 4 of Li et al.
load PLOTS."/frealign_panels.gp"
set label 1 "The three modes on several GPUs"
set label 2 MACHINE.". Time of one GPU over time, files to files; open marks: the paper, reconstruction on 8 GPUs over 4."
MODES = "search refine reconstruct"
LABELS = "search refinement reconstruction"
KINDS = "2 4 8"
$PAPER << EOD
x
100
150
200
250
300
350
400
450
500
EOD
ours(m, k) = word(MODES, m)."_".word(KINDS, k)
over(m, k, side) = number(sprintf("F12.%s%s_%d", word(MODES, m), k == 2 ? "1" : "1b", side)) / \
    number(sprintf("F12.%s%s_%d", word(MODES, m), word(KINDS, k), side))
paper(m, k, side) = m < 3 ? over(m, k, side) : number(sprintf("F11.gpu4_%d", side)) / number(sprintf("F11.gpu8_%d", side))
printed(m, k) = m < 3 ? k > 1 : k == 3
unset logscale
set xtics 100
set xrange [50 : 550]
set yrange [0 : 8.5]
set ylabel "speed-up over one GPU"
set multiplot
do for [m = 1 : 3] {
    set lmargin at screen left(m, 3); set rmargin at screen right(m, 3)
    set label 3 word(LABELS, m) at screen left(m, 3), 0.835 left textcolor rgb INK
    if (m > 1) { set format y ""; unset ylabel }
    plot for [k = 1 : 3] DATA using (of_series(ours(m, k))):(column("ratio")) with linespoints linewidth 2 pointtype 7 pointsize 0.9 \
        linecolor rgb pen(k + 1) notitle, \
        for [k = 1 : 3] DATA using (of_series(ours(m, k))):(column("ratio")):(column("ratio_low")):(column("ratio_high")) \
        with yerrorbars pointtype 7 pointsize 0.9 linecolor rgb pen(k + 1) notitle, \
        for [k = 1 : 3] real(word(KINDS, k)) with lines dashtype 2 linecolor rgb LINE notitle, \
        for [k = 1 : 3] $PAPER using (printed(m, k) ? $1 : NaN):(printed(m, k) ? paper(m, k, $1) : NaN) \
        with linespoints dashtype 3 pointtype 6 pointsize 1 linecolor rgb pen(k + 1) notitle, \
        for [k = 1 : (m == 3 ? 3 : 0)] NaN with points pointtype 7 linecolor rgb pen(k + 1) title word(KINDS, k)." GPUs"
    unset label 1; unset label 2; unset label 3
    if (m == 2) { set label 4 "paper: 8 over 4" at first 300, first 1.45 center font ",11" textcolor rgb SOFT }
}
unset multiplot
