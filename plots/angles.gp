# SPDX-License-Identifier: MIT
# angles.gp: what figures of curves against the angle share (x the part t of the shape; Garcia et al.). FIRST, set before: the t of -180
# degrees (1 in two dimensions and about z, 362 about y).
load PLOTS."/style.gp"
angle(i) = x(i) >= FIRST && x(i) <= FIRST + 360 ? x(i) - FIRST - 180 : NaN
set xlabel "angle (degrees)"
set xrange [-180 : 180]
set xtics NARROW ? 90 : 45
set format y "%g"
