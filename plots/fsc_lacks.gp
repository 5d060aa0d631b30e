# SPDX-License-Identifier: MIT
# fsc_lacks.gp: 1 minus the Fourier shell correlation, a curve per table, on a scale that shows the shells where it is small.
load PLOTS."/style.gp"
set xlabel "frequency (1/A)"
set ylabel "1 - FSC with the truth"
set logscale y
set format y "10^{%T}"
set xrange [0 : *] noextend
INKS = "#0072b2 #d55e00"
plot for [i = 1 : |FILES|] FILES[i] using (column("frequency")):(column("shell") > 0 ? 1 - column("fsc") : NaN) with linespoints \
    pointtype i + 5 pointsize 0.6 linewidth 2 linecolor rgb word(INKS, i) title TITLES[i]
