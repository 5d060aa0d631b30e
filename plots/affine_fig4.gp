# SPDX-License-Identifier: MIT
# affine_fig4.gp: speed-up of a rotation over one thread of the CPU against the angle, after Fig. 4 of Garcia et al. The means of
# Table 1 stand at the right, at the angles' end.
FIRST = 1
load PLOTS."/angles.gp"
set logscale y 10
set ylabel "time of plain C / time"
plot for [i = 1 : |SERIES|] DATA using (angle(i)):(column("ratio")):(column("ratio_low")):(column("ratio_high")) \
    with yerrorlines linecolor rgb rgb(name(i)) linewidth 2 pointtype point(name(i)) pointsize 0.8 title SERIES[i], \
    for [k = 1 : words(PRINTED)] "+" using (k == 3 ? 165 : 175):(number(word(PRINTED, k))) every ::0::0 \
    with points pointtype 2 pointsize 1.5 \
    linewidth 2 linecolor rgb rgb(word(BESIDE, k)) title (k == 1 ? "paper, means" : "")
