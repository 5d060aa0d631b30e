# SPDX-License-Identifier: MIT
# gridding_scaling.gp: the parallel region and the whole on 1, 2 and 4 GPUs (S11), with the paper's.
load PLOTS."/style.gp"
eval heading("Several GPUs", MACHINE.". Speed-up of one reconstruction over one GPU; dotted: the paper (4 x P100).")
seconds_of(file, stage) = real(system(sprintf("awk -F'\\t' -v s='%s' '$1 == s { print $2 }' '%s'", stage, file)))
number(id) = real(system(sprintf("awk -F'\\t' -v id='%s' '$1 == id { print $5 }' '%s'", id, PUBLISHED)))
array REGION[3]; array WHOLE[3]; array N[3]
N[1] = 1; N[2] = 2; N[3] = 4
FILES = TABLE_s11_1." ".TABLE_s11_2." ".TABLE_s11_4
do for [i = 1 : 3] { REGION[i] = seconds_of(word(FILES, 1), "region") / seconds_of(word(FILES, i), "region"); \
    WHOLE[i] = seconds_of(word(FILES, 1), "whole") / seconds_of(word(FILES, i), "whole") }
set xlabel "GPUs"
set ylabel "speed-up"
set xrange [0.8 : 4.2]
set yrange [0 : 4.3]
set xtics 1
$PAPER << EOD
1
EOD
plot x with lines dashtype 2 linecolor rgb SOFT title "linear", \
    REGION using (N[$1]):2 with linespoints linewidth 2 pointtype 7 linecolor rgb "#009e73" title "region", \
    WHOLE using (N[$1]):2 with linespoints linewidth 2 pointtype 5 linecolor rgb "#0072b2" title "whole", \
    $PAPER using (2):(number("S11.region2")) with points pointtype 6 pointsize 2 linecolor rgb "#999999" title "paper, region", \
    $PAPER using (4):(number("S11.region4")) with points pointtype 6 pointsize 2 linecolor rgb "#999999" notitle, \
    $PAPER using (4):(number("S11.wall4")) with points pointtype 4 pointsize 2 linecolor rgb "#999999" title "paper, whole"
