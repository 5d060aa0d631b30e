# SPDX-License-Identifier: MIT
# crossover.gp: direct sums against the correlation theorem: the direct ones grow with R^2, an FFT hardly with R.
load PLOTS."/style.gp"
set rmargin 31 # room for ", FFT" in the key
set label 1 "Direct sums against FFT"
set label 2 IMAGE.SCOPE
set logscale x 2
set logscale y 10
set xrange [*:*] noextend
set xlabel "maximum offset R (pixels)"
set ylabel "median time of one image (s)"
set format y "10^{%T}"
set format x "%g"
library(i) = VARIANTS[i] eq "fftw" || VARIANTS[i] eq "cufft"
plot for [i = 1 : |VARIANTS|] FILE using (series(i) ? offset("shape") : NaN):(seconds("median")) \
    smooth unique with linespoints \
    linecolor rgb rgb(VARIANTS[i]) linewidth (library(i) ? 4 : 2) dashtype dash(i) pointtype point(VARIANTS[i]) \
    pointsize (library(i) ? 0.1 : 1.1) title label(i).(library(i) ? ", FFT" : "")
