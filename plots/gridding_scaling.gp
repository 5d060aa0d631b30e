# SPDX-License-Identifier: MIT
# gridding_scaling.gp: the parallel region and the whole on 1, 2 and 4 GPUs (S11), with the paper's.
load PLOTS."/style.gp"
eval heading("Several GPUs", MACHINE.". Speed-up of one reconstruction over one GPU; open marks: the paper (P100).")
seconds_of(file, stage) = real(system(sprintf("awk -F'\\t' -v s='%s' '$1 == s { print $2 }' '%s'", stage, file)))
number(id) = real(system(sprintf("awk -F'\\t' -v id='%s' '$1 == id { print $5 }' '%s'", id, PUBLISHED)))
speed_up(n, stage) = seconds_of(TABLE_s11_1, stage) / seconds_of(n < 2 ? TABLE_s11_1 : n < 4 ? TABLE_s11_2 : TABLE_s11_4, stage)
set xlabel "GPUs"
set ylabel "speed-up"
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
    $GPUS using 1:(speed_up($1, "region")) with linespoints linewidth 2 pointtype 7 linecolor rgb "#009e73" title "region", \
    $GPUS using 1:(speed_up($1, "whole")) with linespoints linewidth 2 pointtype 5 linecolor rgb "#0072b2" title "whole", \
    $PAPER using (2):(number("S11.region2")) with points pointtype 6 pointsize 2 linecolor rgb "#999999" title "paper, region", \
    $PAPER using (4):(number("S11.region4")) with points pointtype 6 pointsize 2 linecolor rgb "#999999" notitle, \
    $PAPER using (4):(number("S11.wall4")) with points pointtype 4 pointsize 2 linecolor rgb "#999999" title "paper, whole"
