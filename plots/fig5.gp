# SPDX-License-Identifier: MIT
# fig5.gp: C2D as a picture and C1D as a curve with R_max marked; after Fig. 5 of Lu et al.
# FILES[2] has the half plane Y0 >= 0 of a photograph, FILES[1] its C1D, with R_max in every row.
load PLOTS."/style.gp"
stats FILES[1] using (column("R_max")) nooutput name "PEAK"
peak(R) = R >= PEAK_max - 0.5 && R < PEAK_max + 0.5
stats FILES[1] using (peak(column("R")) ? column("C1D") : NaN) nooutput name "RING"
stats FILES[1] using (column("R") > 0 && column("R") <= PEAK_max ? column("C1D") : NaN) nooutput name "INSIDE"
stats FILES[1] using (column("R")) nooutput name "R"
half = R_max
# Colours run from the trough of C1D to as far above the ring as the ring is above the trough, so that the bright centre does
# not hide the ring; for a faint ring, to an eighth of the way to the centre, so that noise does not fill the picture.
HIGH_VALUE = INSIDE_min + (2 * (RING_max - INSIDE_min) > (INSIDE_max - INSIDE_min) / 8.0 ? 2 * (RING_max - INSIDE_min) : (INSIDE_max - INSIDE_min) / 8.0)
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
set cbrange [INSIDE_min : HIGH_VALUE]
set object 1 circle at first 0, 0 size first PEAK_max front \
    fillstyle empty border linecolor rgb "#ffffff" dashtype 2
plot FILES[2] using "X0":"Y0":"C2D" with image, FILES[2] using (-column("X0")):(-column("Y0")):"C2D" with image
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
set label 3 sprintf("R_{max} = %.1f px", PEAK_max) at first PEAK_max, first RING_max center offset 0, 1.4 textcolor rgb INK front
plot FILES[1] using "R":"C1D" with lines linewidth 2.5 linecolor rgb MAIN, \
    FILES[1] using (peak(column("R")) ? PEAK_max : NaN):"C1D" with points pointtype 7 pointsize 1.5 linecolor rgb OTHER
unset multiplot
