# SPDX-License-Identifier: MIT
# job_curves.gp: curves on a job's page: DATA x y1 .., CURVES their names, X_LABEL, Y_LABEL, LEVELS of dashed lines (0: none),
# APART 1: points without lines.
load PLOTS."/job_style.gp"
INKS = "#0072b2 #d55e00 #009e73 #aa4499 #e69f00 #111111"
MARKS = "7 5 9 13 11 6"
pen(k) = int("0x".word(INKS, (k - 1) % 6 + 1)[2:7])
mark(k) = int(word(MARKS, (k - 1) % 6 + 1))
stats DATA using (column("x")) nooutput
FEW = STATS_records < 40
set xtics nice(STATS_max - STATS_min, 5)
LONG = int(sum [k = 1 : |CURVES|] (strlen(CURVES[k]) > 12 ? 1 : 0)) > 0
ROWS = |CURVES| == 1 ? 0 : LONG ? |CURVES| : (|CURVES| + 1) / 2
COLUMNS = LONG ? 1 : 2
if (ROWS == 0) { unset key } else { set key below center horizontal maxcols COLUMNS width 2; set bmargin 4.2 + 1.4 * ROWS }
set offsets 0, 0, graph 0.04, graph 0.04
level(k) = LEVELS[k] != 0 ? LEVELS[k] : NaN
do for [k = 1 : 2] {
    if (LEVELS[k] != 0) {
        set label k sprintf("%g", LEVELS[k]) at graph 0.99, first LEVELS[k] right offset 0, 0.5 textcolor rgb SOFT
    }
}
if (APART) {
    plot for [k = 1 : |CURVES|] DATA using (column("x")):(column(k + 1)) with points pointtype mark(k) pointsize 0.8 \
        linecolor rgb pen(k) title CURVES[k]
} else {
    plot for [k = 1 : |CURVES|] DATA using (column("x")):(column(k + 1)) with linespoints pointtype mark(k) \
        pointsize (FEW ? 0.5 : 0) linewidth 2 linecolor rgb pen(k) title CURVES[k], \
        for [k = 1 : 2] DATA using (column("x")):(level(k)) with lines linecolor rgb SOFT dashtype 2 notitle
}
