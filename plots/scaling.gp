# SPDX-License-Identifier: MIT
# scaling.gp: speed-up over the number of cores, every threaded variant, at one R; the grey line is linear scaling.
load PLOTS."/style.gp"
set label 1 sprintf("Speed-up over the number of cores, R = %d", RADIUS)
set label 2 IMAGE.SCOPE
threads(cell) = part(stringcolumn(cell), "threads=")
array ONE[|VARIANTS|]
# A series is named once, by its row on one core; its other rows differ in `threads=` alone and share scope and mode.
mine(i) = stringcolumn("algo") eq ALGO && stringcolumn("status") eq "PASS" && stringcolumn("variant") eq VARIANTS[i] \
    && sized("shape") && offset("shape") == RADIUS \
    && stringcolumn("scope") eq SCOPES[i] && filled(stringcolumn("mode")) eq MODES[i]
do for [i = 1 : |VARIANTS|] {
    stats FILE using (mine(i) && threads("params") == 1 ? seconds("median") : NaN) nooutput
    ONE[i] = STATS_min
}
set xlabel "cores"
set ylabel "time on one core / time"
set xtics 1 + int(MOST / 16)
set xrange [0 : MOST + 0.5]
set yrange [0 : MOST * 1.1]
plot x linecolor rgb "#b8c0ca" linewidth 3 title "linear", \
    for [i = 1 : |VARIANTS|] FILE using (mine(i) ? threads("params") : NaN):(ONE[i] / seconds("median")) \
    smooth unique with linespoints \
    linecolor rgb rgb(VARIANTS[i]) linewidth 2 pointtype point(VARIANTS[i]) pointsize 1.4 title VARIANTS[i]
