# SPDX-License-Identifier: MIT
# gridding_energy.gp: joules a million inserted pixels (S10), of the rows that have an energy.
load PLOTS."/curves.gp"
set label 1 "Energy of insertion"
set label 2 MACHINE.". Counter of the processor that inserts, over windows of at least 5 s."
set logscale y 10
set ylabel "J / 10^{6} pixels"
energy(i) = of_series(i) ? column("joules") / column("work") * 1e6 : NaN
plot for [i = 1 : |SERIES|] DATA using (x(i)):(energy(i)) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    pointtype point(name(i)) pointsize 1.1 title name(i)
