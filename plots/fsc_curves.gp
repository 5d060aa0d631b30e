# SPDX-License-Identifier: MIT
# fsc_curves.gp: Fourier shell correlation against frequency, a curve per table, with the lower bounds that Li et al. give for
# their two maps: at 6.5 A, and beyond.
load PLOTS."/style.gp"
set xlabel "frequency (1/A)"
set ylabel "FSC"
set yrange [-0.1 : 1.05]
set xrange [0 : *] noextend
set xtics 0, 0.05
INKS = "#0072b2 #d55e00 #009e73 #111111 #999999"
MARKS = "6 7 9 4 12"
pen(i) = int("0x".word(INKS, i)[2:7])
strokes(i) = i > 3 ? 2 : 1
printed(f) = f <= 1 / 6.5 ? number("F13.refined") : number("F13.nyquist")
plot 0.5 with lines dashtype 2 linecolor rgb SOFT title "0.5", 0.143 with lines dashtype 3 linecolor rgb SOFT title "0.143", \
    printed(x) with lines dashtype 3 linewidth 2 linecolor rgb pen(3) title (id_at("F13.refined") ? "paper, at least" : ""), \
    for [i = 1 : |FILES|] FILES[i] using (column("frequency")):(column("fsc")) with linespoints pointtype int(word(MARKS, i)) \
    pointsize (i == 1 ? 1.1 : 0.6) linewidth 2 dashtype strokes(i) linecolor rgb pen(i) title TITLES[i]
