# SPDX-License-Identifier: MIT
# gridding_ratio.gp: time of each variant over that of BASE against the size of the images (S6); the paper's four GPUs at 128.
load PLOTS."/curves.gp"
set logscale y 2
set ylabel "time / time of ".base_name(BASE) noenhanced
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead back linecolor rgb SOFT dashtype 2
$PAPER << EOD
x
1
EOD
plot for [i = 1 : |SERIES|] DATA using (side(i)):(1 / column("ratio")):(1 / column("ratio_high")):(1 / column("ratio_low")) \
    with yerrorlines linecolor rgb rgb(name(i)) linewidth 2 pointtype point(name(i)) pointsize 0.9 title SERIES[i], \
    for [i = 1 : words(PRINTED)] $PAPER using (128):(number(word(PRINTED, i))) with points pointtype 2 * i + 2 pointsize 1.5 \
    linecolor rgb "#777777" title "paper, ".word(BESIDE, i)
