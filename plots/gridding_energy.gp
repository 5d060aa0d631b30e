# SPDX-License-Identifier: MIT
# gridding_energy.gp: joules a million inserted pixels (S10), of the rows that have an energy.
load PLOTS."/curves.gp"
set logscale y 10
set ylabel "J / 10^{6} pixels"
plot for [i = 1 : |SERIES|] DATA using (side(i)):(column("joules") / column("work") * 1e6) with linespoints \
    linecolor rgb rgb(name(i)) linewidth 2 pointtype point(name(i)) pointsize 0.9 title SERIES[i]
