# SPDX-License-Identifier: MIT
# gridding_scaling.gp: the parallel region and the whole on 1, 2 and 4 GPUs (S11), a table each, with the paper's.
load PLOTS."/style.gp"
set print $OURS
print "gpus\tregion\twhole"
do for [k = 1 : 3] {
    stats FILES[k] using (stringcolumn("stage") eq "region" ? column("busy_s") : NaN) nooutput name "REGION"
    stats FILES[k] using (stringcolumn("stage") eq "whole" ? column("busy_s") : NaN) nooutput name "WHOLE"
    if (k == 1) { region = REGION_median; whole = WHOLE_median }
    print sprintf("%d\t%g\t%g", 2 ** (k - 1), region / REGION_median, whole / WHOLE_median)
}
set print $PAPER
print "gpus\tregion\twhole\n2\t".stated("S11.region2")."\tNaN\n4\t".stated("S11.region4")."\t".stated("S11.wall4")
set print
set xlabel "GPUs"
set ylabel "speed-up over one GPU"
set xrange [0.8 : 4.2]
set yrange [0 : 4.3]
set xtics 1
pen(c) = c == 2 ? 0x009e73 : 0x0072b2
plot x with lines dashtype 2 linecolor rgb SOFT title "linear", \
    for [c = 2 : 3] $OURS using 1:c with linespoints linewidth 2 pointtype 11 - 2 * c linecolor rgb pen(c) title columnheader(c), \
    for [c = 2 : 3] $PAPER using 1:c with points pointtype 10 - 2 * c pointsize 2 linecolor rgb pen(c) title "paper, ".columnheader(c)
