# SPDX-License-Identifier: MIT
# frealign_modes.gp: search, refinement and reconstruction, files to files, over one core, after Fig. 3 of Li et al.; if BASE is
# a GPU's, several GPUs over one, after Fig. 4.
load PLOTS."/speedups.gp"
SEVERAL = strstrt(BASE, "gpus=1") > 0
MODES = "search refine reconstruct"
LABELS = "search refinement reconstruction"
KINDS = SEVERAL ? "2 4 8" : "all 1 4 8"
named(k) = word(KINDS, k) eq "all" ? "several cores" : word(KINDS, k).(word(KINDS, k) eq "1" ? " GPU" : " GPUs")
N = words(KINDS)
ours(m, k) = word(MODES, m)."_".word(KINDS, k)
# Published: F10 for one GPU, F11 for four (System I) and eight (System II) over a core, F12 for one and several GPUs of both.
of(item, what, side) = number(sprintf("%s.%s_%d", item, what, side))
over_core(m, k, side) = m < 3 ? (k == 2 ? of("F10", word(MODES, m)."_cpu", side) / of("F10", word(MODES, m)."_gpu", side) : NaN) : \
    k > 2 ? of("F11", sprintf("cpu%d", k - 2), side) / of("F11", "gpu".word(KINDS, k), side) : NaN
over_gpu(m, k, side) = m == 3 ? (k == 3 ? of("F11", "gpu4", side) / of("F11", "gpu8", side) : NaN) : \
    k > 1 ? of("F12", word(MODES, m).(k == 2 ? "1" : "1b"), side) / of("F12", word(MODES, m).word(KINDS, k), side) : NaN
paper(m, k, side) = SEVERAL ? over_gpu(m, k, side) : over_core(m, k, side)
set print $PAPER; print "x"; do for [side = 100 : 500 : 50] { print side }; set print
flat(k) = SEVERAL ? real(word(KINDS, k)) : k == 1 ? 1 : NaN
beside(k) = SEVERAL ? 8 * (k - 2) : 0 # pixels, so that our marks do not overlap
if (SEVERAL) {
    unset logscale
    set xtics 100
    set xrange [50 : 550]
    set yrange [0 : 8.5]
    set ylabel "speed-up over one GPU"
} else {
    set xtics (100, 200, 500)
    set xrange [80 : 620]
    stats DATA using (column("ratio")) nooutput name "OURS"
    set yrange [(OURS_min < 0.6 ? OURS_min / 1.3 : 0.5) : (OURS_max > 200 ? OURS_max * 1.5 : 400)]
    set ylabel "speed-up over one core"
}
set multiplot
do for [m = 1 : 3] {
    set lmargin at screen panel_left(m, 3); set rmargin at screen panel_right(m, 3)
    set tmargin at screen panel_top(m, 3); set bmargin at screen panel_bottom(m, 3)
    set label 3 word(LABELS, m) at screen panel_left(m, 3), screen panel_top(m, 3) left offset 0, 0.8 textcolor rgb INK
    if (NARROW && m < 3) { unset xlabel } else { set xlabel "image side (pixels)" }
    if (m > 1 && !NARROW) { set format y ""; unset ylabel }
    if (SEVERAL && m == 3) { set label 4 "paper: 8 over 4" at first 300, first 1.3 center textcolor rgb SOFT }
    plot for [k = 1 : N] flat(k) with lines dashtype 2 linecolor rgb LINE notitle, \
        for [k = 1 : N] DATA using (size_of(ours(m, k)) + beside(k)):(column("ratio")) with lines linewidth 2 linecolor rgb pen(k) notitle, \
        for [k = 1 : N] DATA using (size_of(ours(m, k)) + beside(k)):(column("ratio")):(column("ratio_low")):(column("ratio_high")) \
        with yerrorbars pointtype filled(k) pointsize 0.9 linecolor rgb pen(k) notitle, \
        for [k = 1 : N] $PAPER using 1:(paper(m, k, $1)) with linespoints dashtype 3 pointtype open(k) pointsize 1 \
        linecolor rgb pen(k) notitle, \
        for [k = (SEVERAL || has(ours(3, 1)) ? 1 : 2) : N] NaN with points pointtype filled(k) linecolor rgb pen(k) title (m == 3 ? named(k) : "")
    unset label 1; unset label 2; unset label 3
}
unset multiplot
