# SPDX-License-Identifier: MIT
# fig10.gp: growth of R_max over a series, with the straight line through the origin and, dashed, the free one; after Fig. 10 of Lu et al.
# GROWTH is the job's rmax.tsv, AXIS its column of time (t) or photo (counted from 1).
load PLOTS."/style.gp"
eval heading("Growth of the characteristic length", MACHINE)
moment(axis) = axis eq "t" ? column("t") : column(0) + 1
set xlabel AXIS eq "t" ? "time t (units of the series)" : "photo, in order"
set ylabel "R_{max} (pixels)"
set xrange [0 : *]
set yrange [0 : *]
set key inside left top
set rmargin 5
through(t) = a * t
free(t) = b + c * t
a = 1; b = 1; c = 1
set fit quiet logfile "/dev/null" errorvariables
fit through(x) GROWTH using (moment(AXIS)):"R_max" via a
fit free(x) GROWTH using (moment(AXIS)):"R_max" via b, c
set samples 200
plot through(x) linecolor rgb INK linewidth 2 title sprintf("through the origin: %.3g px per unit", a), \
    free(x) linecolor rgb SOFT linewidth 1.5 dashtype 2 title sprintf("free: %.3g %+.3g t, intercept +- %.2g", b, c, 2 * b_err), \
    for [k = 1 : words(RUNS)] word(RUNS, k) using (moment(AXIS)):"R_max" with points pointtype (k == 1 ? 7 : 6) pointsize (k == 1 ? 1.4 : 2.2) \
        linewidth 2 linecolor rgb rgb(k == 1 ? "simd" : "gather") title word(NAMED, k)
