# SPDX-License-Identifier: MIT
# fig10.gp: growth of R_max over a series; straight lines through the origin and (dashed) free; after Fig. 10 of Lu et al.
# RUNS are the rmax.tsv of the job, one a variant that did it, NAMED their names; the lines are those of the first.
load PLOTS."/style.gp"
set datafile missing "none"
set xlabel "time (of the series)"
set ylabel "R_{max} (pixels)"
set xrange [0 : *]
set yrange [0 : *]
if (!NARROW) { set key inside right bottom vertical Right noreverse; set rmargin 3 }
set offsets 0, graph 0.04, graph 0.06, 0
first_run = RUNS[1]
through(t) = a * t
free(t) = b + c * t
a = 1; b = 1; c = 1
set fit quiet logfile "/dev/null" errorvariables
fit through(x) first_run using (column("time")):(column("R_max")) via a
fit free(x) first_run using (column("time")):(column("R_max")) via b, c
plot through(x) linecolor rgb INK linewidth 2 title sprintf("through the origin: slope %.3g", a), \
    free(x) linecolor rgb SOFT linewidth 1.5 dashtype 2 title sprintf("free: intercept %.3g, slope %.3g", b, c), \
    for [k = 1 : |RUNS|] RUNS[k] using (column("time")):(column("R_max")) with points pointtype (k == 1 ? 7 : 6) \
        pointsize (k == 1 ? 1 : 1 + 0.7 * k) linewidth 2 linecolor rgb rgb(NAMED[k]) title NAMED[k]
