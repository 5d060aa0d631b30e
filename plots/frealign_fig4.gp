# SPDX-License-Identifier: MIT
# frealign_fig4.gp: the three modes on several GPUs over one, after Fig. 4 of Li et al.
load PLOTS."/speedups.gp"
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
set ylabel "speed-up over one GPU" # ours beside each other
set multiplot
do for [m = 1 : 3] {
    set lmargin at screen panel_left(m, 3); set rmargin at screen panel_right(m, 3)
    set tmargin at screen panel_top(m, 3); set bmargin at screen panel_bottom(m, 3)
    set label 3 word(LABELS, m) at screen panel_left(m, 3), screen panel_top(m, 3) left offset 0, 0.8 textcolor rgb INK
    if (NARROW && m < 3) { unset xlabel } else { set xlabel "image side (pixels)" }
    if (m > 1 && !NARROW) { set format y ""; unset ylabel }
    if (m == 3) { set label 4 "paper: 8 over 4" at first 300, first 1.3 center textcolor rgb SOFT }
    plot for [k = 1 : 3] DATA using (size_of(ours(m, k)) + 8 * (k - 2)):(column("ratio")) with linespoints linewidth 2 pointtype filled(k + 1) \
        pointsize 0.9 linecolor rgb pen(k + 1) notitle, \
        for [k = 1 : 3] DATA using (size_of(ours(m, k)) + 8 * (k - 2)):(column("ratio")):(column("ratio_low")):(column("ratio_high")) \
        with yerrorbars pointtype filled(k + 1) pointsize 0.9 linecolor rgb pen(k + 1) notitle, \
        for [k = 1 : 3] real(word(KINDS, k)) with lines dashtype 2 linecolor rgb LINE notitle, \
        for [k = 1 : 3] $PAPER using (printed(m, k) ? $1 : NaN):(printed(m, k) ? paper(m, k, $1) : NaN) \
        with linespoints dashtype 3 pointtype open(k + 1) pointsize 1 linecolor rgb pen(k + 1) notitle, \
        for [k = 1 : (m == 3 ? 3 : 0)] NaN with points pointtype filled(k + 1) linecolor rgb pen(k + 1) title word(KINDS, k)." GPUs"
    unset label 1; unset label 2; unset label 3
}
unset multiplot
