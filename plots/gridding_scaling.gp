# SPDX-License-Identifier: MIT
# gridding_scaling.gp: the parallel region and the whole on 1, 2 and 4 GPUs (S11), with the paper's.
load PLOTS."/style.gp"
array REGION[3]
array WHOLE[3]
do for [k = 1 : 3] {
    stats FILES[k] using (stringcolumn("stage") eq "region" ? column("busy_s") : NaN) nooutput
    REGION[k] = STATS_median
    stats FILES[k] using (stringcolumn("stage") eq "whole" ? column("busy_s") : NaN) nooutput
    WHOLE[k] = STATS_median
}
place_of(n) = n < 2 ? 1 : n < 4 ? 2 : 3
set xlabel "GPUs"
set ylabel "speed-up over one GPU"
set xrange [0.8 : 4.2]
set yrange [0 : 4.3]
set xtics 1
$PAPER << EOD
x
1
EOD
$GPUS << EOD
n
1
2
4
EOD
plot x with lines dashtype 2 linecolor rgb SOFT title "linear", \
    $GPUS using 1:(REGION[1] / REGION[place_of($1)]) with linespoints linewidth 2 pointtype 7 linecolor rgb "#009e73" title "region", \
    $GPUS using 1:(WHOLE[1] / WHOLE[place_of($1)]) with linespoints linewidth 2 pointtype 5 linecolor rgb "#0072b2" title "whole", \
    $PAPER using (2):(number("S11.region2")) with points pointtype 6 pointsize 2 linecolor rgb "#009e73" title "paper, region", \
    $PAPER using (4):(number("S11.region4")) with points pointtype 6 pointsize 2 linecolor rgb "#009e73" notitle, \
    $PAPER using (4):(number("S11.wall4")) with points pointtype 4 pointsize 2 linecolor rgb "#0072b2" title "paper, whole"
