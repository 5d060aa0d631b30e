# R_max over a series (Lu et al. 2009, Fig. 10) with the line through the origin and the free one, for `regather autocorr`.
# gnuplot -c autocorr_growth.gp OUT.svg rmax.tsv SLOPE_THROUGH_ORIGIN INTERCEPT SLOPE time|photograph
set terminal svg size 720,480 background "white" font "sans-serif,13"
set output ARG1
set datafile separator tab
set datafile commentschars "#"
set datafile missing "none"
set xlabel ARG6 eq "time" ? "time" : "photograph"
set ylabel "R_{max} / pixels"
set key top left
set grid lc rgb "#dddddd"
set yrange [0:*]
set offsets graph 0, graph 0.05, graph 0.05, 0
has_line = ARG3 ne "none"
a = has_line ? real(ARG3) : NaN
b = has_line ? real(ARG4) : NaN
c = has_line ? real(ARG5) : NaN
stats ARG2 using (column("time")) nooutput
set xrange [0:(STATS_max > 0 ? 1.05 * STATS_max : 1)]
points = 'ARG2 using (column("time")):(column("R_max")) with points pt 7 ps 0.8 lc rgb "#1f77b4" title "R_{max}"'
lines = ', a * x lc rgb "#d62728" title sprintf("%.4g t", a), '. \
        'b + c * x dt 2 lc rgb "#555555" title sprintf("%.4g + %.4g t", b, c)'
eval "plot ".points.(has_line ? lines : "")
