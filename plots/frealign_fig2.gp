# SPDX-License-Identifier: MIT
# frealign_fig2.gp: speed-up of each routine over plain C on one core, after Fig. 2 of Li et al.; panels of what was timed here.
load PLOTS."/frealign_panels.gp"
ROUTINES = "cc3m ccp pinsert_s sigma2 presb ccoef ctfapply"
KINDS = "- _batched _simd"
array TITLES[3] = ["GPU, one call at a time", "GPU, batched", "SIMD, one core"]
ending(k) = k == 1 ? "" : word(KINDS, k)
any(k) = (sum [r = 1 : words(ROUTINES)] has(word(ROUTINES, r).ending(k))) > 0
set label 1 "Speed-up of each routine over one core"
set label 2 MACHINE.". Time of plain C on one core over time".(any(1) ? \
    "; open marks: the paper (i7 core, GTX 295)." : ".")
PANELS = int(sum [k = 1 : 3] any(k))
$PAPER << EOD
x
56
112
224
500
EOD
paper(r, side) = number(sprintf("F%d.cpu_%d", r, side)) / number(sprintf("F%d.gpu_%d", r, side))
stats DATA using (column("ratio")) nooutput name "OURS"
set yrange [(OURS_min < 0.3 ? OURS_min / 1.5 : 0.2) : (OURS_max > 30 ? OURS_max * 1.5 : 50)]
set ylabel "speed-up"
set multiplot
drawn = 0
do for [k = 1 : 3] {
    if (any(k)) {
        drawn = drawn + 1
        set lmargin at screen left(drawn, PANELS); set rmargin at screen right(drawn, PANELS)
        set label 3 TITLES[k] at screen left(drawn, PANELS), 0.835 left textcolor rgb INK
        if (drawn > 1) { set format y ""; unset ylabel }
        plot 1 with lines linecolor rgb SOFT dashtype 2 notitle, \
            for [r = 1 : words(ROUTINES)] DATA using (of_series(word(ROUTINES, r).ending(k))):(column("ratio")) with linespoints linewidth 2 \
            pointtype 7 pointsize 0.9 linecolor rgb pen(r) title (drawn == PANELS ? word(ROUTINES, r) : ""), \
            for [r = 1 : words(ROUTINES)] DATA using (of_series(word(ROUTINES, r).ending(k))):(column("ratio")): \
            (column("ratio_low")):(column("ratio_high")) with yerrorbars pointtype 7 pointsize 0.9 linecolor rgb pen(r) notitle, \
            for [r = 1 : (k == 1 ? 6 : 0)] $PAPER using 1:(paper(r, $1)) with linespoints dashtype 3 pointtype 6 \
            pointsize 1.1 linecolor rgb pen(r) notitle
        unset label 1; unset label 2; unset label 3
    }
}
unset multiplot
