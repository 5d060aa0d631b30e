# SPDX-License-Identifier: MIT
# fig5.gp: C2D as a picture and C1D as a curve with R_max marked; after Fig. 5 of Lu et al.
# C2D is the job's .c2d.mrc (SIDE x SIDE floats behind a header of HEADER bytes), C1D its .c1d.tsv, PEAK its R_max or NaN.
load PLOTS."/style.gp"
half = (SIDE - 1) / 2
RIGHT_END = 0.99
set multiplot
set lmargin at screen panel_left(1, 2); set rmargin at screen panel_right(1, 2) - (NARROW ? 0 : 0.03)
set tmargin at screen panel_top(1, 2); set bmargin at screen panel_bottom(1, 2)
set size ratio -1
set palette defined (0 "#0b1f3a", 0.35 "#0072b2", 0.65 "#8fd3c0", 1 "#fff6d5")
unset colorbox
unset key
unset grid
set border 15
set xrange [-half - 0.5 : half + 0.5]
set yrange [-half - 0.5 : half + 0.5]
set xlabel "X_0 (pixels)"
set ylabel "Y_0 (pixels)"
set cbrange [LOW : HIGH_VALUE]
if (PEAK > 0) { set object 1 circle at first 0, 0 size first PEAK front \
    fillstyle empty border linecolor rgb "#ffffff" dashtype 2 }
plot C2D binary array=(SIDE, SIDE) skip=HEADER format="%float32" origin=(-half, -half) using 1 with image
unset object
set size noratio
unset label 1; unset label 2
set lmargin at screen panel_left(2, 2); set rmargin at screen panel_right(2, 2)
set tmargin at screen panel_top(2, 2); set bmargin at screen panel_bottom(2, 2)
set grid back linecolor rgb LINE linewidth 1
set border 3
set xrange [0 : half]
set yrange [*:*]
set xlabel "R (pixels)"
set ylabel "C_{1D}(R)"
if (PEAK > 0) { set label 3 sprintf("R_{max} = %.1f px", PEAK) at first PEAK, first PEAK_VALUE \
    center offset 0, 1.4 textcolor rgb INK front }
plot C1D using "R":"C1D" with lines linewidth 2.5 linecolor rgb MAIN, \
    "+" using (PEAK > 0 && $0 == 0 ? PEAK : NaN):(PEAK_VALUE) with points pointtype 7 pointsize 1.5 linecolor rgb OTHER
unset multiplot
