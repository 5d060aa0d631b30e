# SPDX-License-Identifier: MIT
# fig7.gp: speed-up over the array-language code (GNU Octave), or over simple C where that is absent; after Fig. 7 of Lu et al.
load PLOTS."/style.gp"
b = of("octave") ? of("octave") : of("naive")
base = VARIANTS[b]
over = base eq "octave" ? "the array-language code (GNU Octave)" : "simple C (Octave was not timed here)"
MARKS = base eq "octave" ? "L2.c_matlab L4.simd_matlab L6.gather_matlab" : "L4.simd_c L6.gather_c"
MARKED = base eq "octave" ? "naive simd gather" : "simd gather"
load PLOTS."/ratio.gp"
set label 1 "Speed-up over ".over
set label 2 IMAGE.SCOPE
set ylabel "time of ".base." / time"
stats FILE using (remember(b)) nooutput
plot for [i = 1 : |VARIANTS|] FILE using (series(i) && known("shape") ? offset("shape") : NaN) \
    :(base_time("shape") / seconds("median")) \
    smooth unique with linespoints linecolor rgb rgb(VARIANTS[i]) linewidth 2 dashtype dash(i) \
    pointtype point(VARIANTS[i]) pointsize 1.1 title label(i)
