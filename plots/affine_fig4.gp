# SPDX-License-Identifier: MIT
# affine_fig4.gp: speed-up of a rotation over one thread of the CPU against the angle, after Fig. 4 of Garcia et al. The means of
# Table 1 stand at the right, at the angles' end.
FIRST = 1
load PLOTS."/affine_turn.gp"
set label 1 "Rotation of 2048 x 2048: speed-up over one thread of plain C"
set label 2 MACHINE.". Crosses: the paper's means over all angles (GTX480, 1.6 GHz i7)."
set logscale y 10
set ylabel "time of plain C / time"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("ratio")):(column("ratio_low")):(column("ratio_high")) \
    with yerrorlines linecolor rgb ink(name(i)) linewidth 2 pointtype 7 pointsize 0.7 title name(i), \
    "+" using (175):(number("G2.att16_180")) every ::0::0 with points pointtype 2 pointsize 1.6 linewidth 2 linecolor rgb ink("att_16x16") notitle, \
    "+" using (175):(number("G2.att128_180")) every ::0::0 with points pointtype 2 pointsize 1.6 linewidth 2 linecolor rgb ink("att_128x1") notitle, \
    "+" using (170):(number("G2.at16_180")) every ::0::0 with points pointtype 2 pointsize 1.6 linewidth 2 linecolor rgb ink("at_16x16") notitle, \
    "+" using (175):(number("G2.at128_180")) every ::0::0 with points pointtype 2 pointsize 1.6 linewidth 2 linecolor rgb ink("at_128x1") notitle
