# SPDX-License-Identifier: MIT
# listing1.gp: Listing 1 of Lu et al. as printed, at every offset that its arrays hold, beside the codes of Figs. 7 and 9: speed-up
# over simple C of the same sums, on one core.
load PLOTS."/offsets.gp"
set ylabel "time of simple C / time"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("ratio")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    pointtype point(name(i)) pointsize 0.9 title SERIES[i]
