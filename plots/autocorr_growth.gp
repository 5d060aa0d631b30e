# SPDX-License-Identifier: MIT
# R_max over a series (Lu et al. 2009, Fig. 10) with the line through the origin and the free one, for `regather autocorr`.
# DATA rmax.tsv, UNIT time or photograph, HAS_LINE 1 where ORIGIN_SLOPE, INTERCEPT and SLOPE are known.
WIDE = 720; HIGH = 480
load PLOTS."/job_file.gp"
set datafile missing "none"
set xlabel UNIT
set ylabel "R_{max} / pixels"
set key top left
set yrange [0:*]
set offsets graph 0, graph 0.05, graph 0.05, 0
stats DATA using (column("time")) nooutput
set xrange [0:(STATS_max > 0 ? 1.05 * STATS_max : 1)]
if (HAS_LINE) {
    plot DATA using (column("time")):(column("R_max")) with points pt 7 ps 0.8 lc rgb "#1f77b4" title "R_{max}", \
        ORIGIN_SLOPE * x lc rgb "#d62728" title sprintf("%.4g t", ORIGIN_SLOPE), \
        INTERCEPT + SLOPE * x dt 2 lc rgb "#555555" title sprintf("%.4g + %.4g t", INTERCEPT, SLOPE)
} else {
    plot DATA using (column("time")):(column("R_max")) with points pt 7 ps 0.8 lc rgb "#1f77b4" title "R_{max}"
}
