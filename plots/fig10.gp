# SPDX-License-Identifier: MIT
# fig10.gp: growth of R_max over a series; straight lines through the origin and (dashed) free; after Fig. 10 of Lu et al.
# FILES[1] has a row per photograph and variant; the lines are those of the first variant.
load PLOTS."/style.gp"
set datafile missing "none"
RUNS = " "
seen(variant) = (RUNS = strstrt(RUNS, " ".variant." ") ? RUNS : RUNS.variant." ", 0)
stats FILES[1] using (seen(stringcolumn("variant"))) nooutput
set xlabel "time (of the series)"
set ylabel "R_{max} (pixels)"
set xrange [0 : *]
set yrange [0 : *]
if (!NARROW) { set key inside right bottom vertical Right noreverse; set rmargin 3 }
set offsets 0, graph 0.04, graph 0.06, 0
run(k) = column("seed") == 1 && stringcolumn("variant") eq word(RUNS, k) ? column("time") : NaN
through(t) = a * t
free(t) = b + c * t
a = 1; b = 1; c = 1
set fit quiet logfile "/dev/null" errorvariables
fit through(x) FILES[1] using (run(1)):(column("R_max")) via a
fit free(x) FILES[1] using (run(1)):(column("R_max")) via b, c
plot FILES[1] using (column("seed") > 1 ? column("time") : NaN):(column("R_max")) with points pointtype 7 pointsize 0.4 \
        linecolor rgb "#b5bcc4" title "other seeds", \
    through(x) linecolor rgb INK linewidth 2 title sprintf("through the origin: slope %.3g", a), \
    free(x) linecolor rgb SOFT linewidth 1.5 dashtype 2 title sprintf("free: intercept %.3g, slope %.3g", b, c), \
    for [k = 1 : words(RUNS)] FILES[1] using (run(k)):(column("R_max")) with points pointtype (k == 1 ? 7 : 6) \
        pointsize (k == 1 ? 1 : 1 + 0.7 * k) linewidth 2 linecolor rgb rgb(word(RUNS, k)) title word(RUNS, k)
