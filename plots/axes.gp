# SPDX-License-Identifier: MIT
# axes.gp: the horizontal axis of curves, by AXIS, a part of the shape: r the largest offset, s the side of the volume
# (twice that of the images, plus one), t a rotation, the first by -180 degrees.
load PLOTS."/style.gp"
at(i) = AXIS eq "s" ? (x(i) - 1) / 2 : AXIS eq "t" ? (x(i) <= 361 ? x(i) - 181 : NaN) : x(i)
if (AXIS eq "t") {
    set xrange [-180 : 180]
    set xtics NARROW ? 90 : 45
    set xlabel "angle (degrees)"
} else {
    set logscale x 2
    stats DATA using (AXIS eq "s" ? (column("x") - 1) / 2 : column("x")) nooutput name "AT"
    set xrange [AT_min / 1.05 : AT_max * 1.05]
    set xtics (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
    if (AXIS eq "s") { set xtics (16, 32, 64, 128, 256, 512, 1024) }
    set xlabel AXIS eq "s" ? "side of the images (pixels)" : "maximum offset R (pixels)"
}
