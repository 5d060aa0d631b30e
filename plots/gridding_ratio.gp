# SPDX-License-Identifier: MIT
# gridding_ratio.gp: time of each variant over that of BASE against the size of the images (S6), a curve per number of images:
# solid up to 52, as in the paper, dashed "(more)". The paper's four GPUs at 128.
load PLOTS."/axes.gp"
set logscale y 2
set ylabel "time / time of ".base_name(BASE) noenhanced
set format y "%g"
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead back linecolor rgb SOFT dashtype 2
many(i) = strstrt(SERIES[i], " (more)") > 0
dashes(i) = many(i) ? 2 : 1
if (!NARROW) { set key at screen 0.99, graph 1 right top }
set rmargin at screen NARROW ? 0.78 : 1 - 285.0 / CANVAS_X # room for the labels and the key
$PAPER << EOD
x
1
EOD
array LAST[|SERIES|]
do for [i = 1 : |SERIES|] {
    stats DATA using (at(i)) nooutput name "OWN"
    LAST[i] = OWN_max
}
plot for [i = 1 : |SERIES|] DATA using (at(i)):(1 / column("ratio")):(1 / column("ratio_high")):(1 / column("ratio_low")) \
    with yerrorlines linecolor rgb rgb(name(i)) linewidth 2 dashtype dashes(i) pointtype point(name(i)) pointsize 0.9 notitle, \
    for [i = 1 : |SERIES|] DATA using (!many(i) && at(i) == LAST[i] ? LAST[i] : NaN):(1 / column("ratio")):(name(i)) \
    with labels left offset 0.8, 0 textcolor rgb rgb(name(i)) noenhanced notitle, \
    NaN with lines linecolor rgb SOFT linewidth 2 title "up to 52 images", \
    NaN with lines linecolor rgb SOFT linewidth 2 dashtype 2 title "hundreds of images", \
    for [i = 1 : words(PRINTED)] $PAPER using (128):(number(word(PRINTED, i))) with points pointtype 2 * i + 2 pointsize 1.5 \
    linecolor rgb "#777777" title "paper, ".word(BESIDE, i)
