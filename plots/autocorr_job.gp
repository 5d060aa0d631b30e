# SPDX-License-Identifier: MIT
# C2D and C1D of one photograph (Lu et al. 2009, Fig. 5), for `regather autocorr`.
# C1D NAME.c1d.tsv, C2D NAME.c2d.mrc of SIDE x SIDE pixels, R_MAX and C1D_AT_R_MAX or NaN, NAME of the photograph, NORM.
WIDE = 1100; HIGH = 480
load PLOTS."/job_file.gp"
r = int(SIDE - 1) / 2
step = int(ceil(SIDE / 401.0)); first = int(r) % step # at most 401 a side are drawn, more than the panel has, and the centre
set multiplot layout 1,2
unset key

set title "C2D (".NORM."), ".NAME noenhanced
set xlabel "X0 / pixels"
set ylabel "Y0 / pixels"
set size ratio -1
set xrange [-r-0.5:r+0.5]
set yrange [r+0.5:-r-0.5]
set palette gray
unset grid
plot C2D binary skip=1024 array=(SIDE,SIDE) origin=(-r,-r) format="%float" \
    every step:step:first:first using 1 with image

set title "C1D, ".(R_MAX > 0 ? sprintf("R_{max} = %.2f pixels", R_MAX) : "no maximum after a minimum") enhanced
set xlabel "R / pixels"
set ylabel "C1D"
set size noratio
set xrange [0:(r > 0 ? r : 1)]
set yrange [*:*]
set grid
if (R_MAX > 0) set label 1 "" at R_MAX, C1D_AT_R_MAX point pt 7 ps 0.9 lc rgb "#1f77b4"
plot C1D using (column("R")):(column("C1D")) with lines lw 1.6 lc rgb "black"
unset multiplot
