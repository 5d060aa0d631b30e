# SPDX-License-Identifier: MIT
# frealign_fig2.gp: speed-up of each routine over plain C on one core, after Fig. 2 of Li et al.; panels of the timed ones.
load PLOTS."/speedups.gp"
# Series are called ROUTINE/KIND; BESIDE are the routines, PRINTED the prefixes of the ids of the paper's numbers.
ROUTINES = BESIDE
KINDS = "/one /batched /core"
array TITLES[3] = ["GPU, one call at a time", "GPU, batched", "SIMD, one core"]
ending(k) = word(KINDS, k)
any(k) = (sum [r = 1 : words(ROUTINES)] has(word(ROUTINES, r).ending(k))) > 0
PANELS = int(sum [k = 1 : 3] any(k))
set print $PAPER; print "x\n56\n112\n224\n500"; set print
paper(r, size) = number(sprintf("%s.cpu_%d", word(PRINTED, r), size)) / number(sprintf("%s.gpu_%d", word(PRINTED, r), size))
open_mark(name) = point(name) == 7 ? 6 : point(name) == 5 ? 4 : point(name) == 9 ? 8 : point(name) == 11 ? 10 : point(name) == 13 ? 12 : 14
stats DATA using (column("ratio")) nooutput name "OURS"
set xtics (56, 112, 224, 500)
set xrange [46 : 600]
set yrange [(OURS_min < 0.3 ? OURS_min / 1.5 : 0.2) : (OURS_max > 30 ? OURS_max * 1.5 : 50)]
set ylabel "speed-up over one core"
set multiplot
drawn = 0
do for [k = 1 : 3] {
    if (any(k)) {
        drawn = drawn + 1
        set lmargin at screen panel_left(drawn, PANELS); set rmargin at screen panel_right(drawn, PANELS)
        set tmargin at screen panel_top(drawn, PANELS); set bmargin at screen panel_bottom(drawn, PANELS)
        set label 3 TITLES[k] at screen panel_left(drawn, PANELS), screen panel_top(drawn, PANELS) left offset 0, 0.8 textcolor rgb INK
        if (NARROW && drawn < PANELS) { unset xlabel } else { set xlabel "image side (pixels)" }
        if (drawn > 1 && !NARROW) { set format y ""; unset ylabel }
        plot 1 with lines linecolor rgb SOFT dashtype 2 notitle, \
            for [r = 1 : words(ROUTINES)] DATA using (size_of(word(ROUTINES, r).ending(k))):(column("ratio")) with linespoints linewidth 2 \
            pointtype point(word(ROUTINES, r)) pointsize 0.8 linecolor rgb rgb(word(ROUTINES, r)) \
            title (drawn == PANELS ? word(ROUTINES, r) : ""), \
            for [r = 1 : words(ROUTINES)] DATA using (size_of(word(ROUTINES, r).ending(k))):(column("ratio")): \
            (column("ratio_low")):(column("ratio_high")) with yerrorbars pointtype point(word(ROUTINES, r)) pointsize 0.8 \
            linecolor rgb rgb(word(ROUTINES, r)) notitle, \
            for [r = 1 : (k == 1 ? words(PRINTED) : 0)] $PAPER using 1:(paper(r, $1)) with linespoints dashtype 3 \
            pointtype open_mark(word(ROUTINES, r)) pointsize 1 linecolor rgb rgb(word(ROUTINES, r)) notitle
        unset label 1; unset label 2; unset label 3
    }
}
unset multiplot
