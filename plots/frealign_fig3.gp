# SPDX-License-Identifier: MIT
# frealign_fig3.gp: search, refinement and reconstruction, files to files, over one core, after Fig. 3 of Li et al.
load PLOTS."/speedups.gp"
MODES = "search refine reconstruct"
LABELS = "search refinement reconstruction"
KINDS = "all 1 4 8"
array NAMED[4] = ["all cores", "1 GPU", "4 GPUs", "8 GPUs"]
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
# F10 has one GPU, F11 four (System I) and eight (System II).
ours(m, k) = word(MODES, m)."_".word(KINDS, k)
paper(m, k, side) = m < 3 ? number(sprintf("F10.%s_cpu_%d", word(MODES, m), side)) / number(sprintf("F10.%s_gpu_%d", word(MODES, m), side)) : \
    number(sprintf("F11.cpu%d_%d", k - 2, side)) / number(sprintf("F11.gpu%s_%d", word(KINDS, k), side))
printed(m, k) = m < 3 ? k == 2 : k > 2
set xtics (100, 200, 500)
set xrange [80 : 620]
stats DATA using (column("ratio")) nooutput name "OURS"
set yrange [(OURS_min < 0.6 ? OURS_min / 1.3 : 0.5) : (OURS_max > 200 ? OURS_max * 1.5 : 400)]
set ylabel "speed-up over one core"
set multiplot
do for [m = 1 : 3] {
    set lmargin at screen panel_left(m, 3); set rmargin at screen panel_right(m, 3)
    set tmargin at screen panel_top(m, 3); set bmargin at screen panel_bottom(m, 3)
    set label 3 word(LABELS, m) at screen panel_left(m, 3), screen panel_top(m, 3) left offset 0, 0.8 textcolor rgb INK
    if (NARROW && m < 3) { unset xlabel } else { set xlabel "image side (pixels)" }
    if (m > 1 && !NARROW) { set format y ""; unset ylabel }
    plot 1 with lines linecolor rgb SOFT dashtype 2 notitle, \
        for [k = 1 : 4] DATA using (size_of(ours(m, k))):(column("ratio")) with linespoints linewidth 2 pointtype filled(k) pointsize 0.9 \
        linecolor rgb pen(k) notitle, \
        for [k = 1 : 4] DATA using (size_of(ours(m, k))):(column("ratio")):(column("ratio_low")):(column("ratio_high")) \
        with yerrorbars pointtype filled(k) pointsize 0.9 linecolor rgb pen(k) notitle, \
        for [k = 1 : 4] $PAPER using (printed(m, k) ? $1 : NaN):(printed(m, k) ? paper(m, k, $1) : NaN) \
        with linespoints dashtype 3 pointtype open(k) pointsize 1 linecolor rgb pen(k) notitle, \
        for [k = (has(ours(3, 1)) ? 1 : 2) : (m == 3 ? 4 : 0)] NaN with points pointtype filled(k) linecolor rgb pen(k) title NAMED[k]
    unset label 1; unset label 2; unset label 3
}
unset multiplot
