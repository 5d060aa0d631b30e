# SPDX-License-Identifier: MIT
# speedups.gp: shared by Figs. 2 to 4 of Li et al.: panels, speed-up against the size of the images; filled marks are ours with
# the 95 % interval, open marks the paper's.
load PLOTS."/style.gp"
set logscale x 2
set logscale y 10
set format "%g"
set xlabel "image side (pixels)"
has(label) = int(sum [i = 1 : |SERIES|] (SERIES[i] eq label))
size_of(label) = stringcolumn("series") eq label ? column("x") : NaN
if (NARROW) { set key at screen 0.98, screen 0.004 right bottom horizontal maxcols 4 samplen 1 width -2 font ",12" } \
else { set key at screen 0.995, screen 0.93 * HEIGHT right top vertical samplen 1.4 }
INKS = "#0072b2 #d55e00 #009e73 #e69f00"
pen(i) = int("0x".word(INKS, i)[2:7])
MARKS = "7 5 9 11"
OPEN = "6 4 8 10"
filled(i) = int(word(MARKS, i))
open(i) = int(word(OPEN, i))
