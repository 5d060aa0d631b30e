# C2D and C1D of one photograph (Lu et al. 2009, Fig. 5), for `regather autocorr`.
# gnuplot -c autocorr_job.gp OUT.svg NAME.c1d.tsv NAME.c2d.mrc SIDE R_MAX|none C1D_AT_R_MAX|none NAME NORM
set terminal svg size 1100,480 background "white" font "sans-serif,13"
set output ARG1
side = int(ARG4)
r = (side - 1) / 2
set datafile separator tab
set datafile commentschars "#"
set multiplot layout 1,2
unset key

set title "C2D (".ARG8."), ".ARG7 noenhanced
set xlabel "X0 / pixels"
set ylabel "Y0 / pixels"
set size ratio -1
set xrange [-r-0.5:r+0.5]
set yrange [r+0.5:-r-0.5]
set palette gray
plot ARG3 binary skip=1024 array=(side,side) origin=(-r,-r) format="%float" using 1 with image

set title "C1D, ".(ARG5 eq "none" ? "no maximum after a minimum" : "R_{max} = ".ARG5." pixels")
set xlabel "R / pixels"
set ylabel "C1D"
set size noratio
set xrange [0:(r > 0 ? r : 1)]
set yrange [*:*]
set grid lc rgb "#dddddd"
if (ARG5 ne "none") set label 1 "" at real(ARG5), real(ARG6) point pt 7 ps 0.9 lc rgb "#1f77b4"
plot ARG2 using (column("R")):(column("C1D")) with lines lw 1.6 lc rgb "black"
unset multiplot
