# SPDX-License-Identifier: MIT
# fig7.gp: speed-up over the array-language code (GNU Octave), or over simple C where that is absent; after Fig. 7 of Lu et al.
load PLOTS."/style.gp"
load PLOTS."/ratio.gp"
b = of("octave") ? of("octave") : of("naive")
base = word(VARIANTS, b)
over = base eq "octave" ? "the array-language code (GNU Octave)" : "simple C (Octave was not timed here)"
eval heading("Speed-up over ".over, IMAGE.SCOPE)
set ylabel "time of ".base." / time"
stats FILE using (remember(b)) nooutput
if (base eq "octave") {
    eval mark("L2.c_matlab", "naive", 1)
    eval mark("L4.simd_matlab", "simd", 2)
    eval mark("L6.gather_matlab", "gather", 3)
} else {
    eval mark("L4.simd_c", "simd", 2)
    eval mark("L6.gather_c", "gather", 3)
}
plot for [i = 1 : words(VARIANTS)] FILE using (series(i) && known("shape") ? offset("shape") : NaN) \
    :(base_time("shape") / seconds("median")) \
    smooth unique with linespoints linecolor rgb rgb(word(VARIANTS, i)) linewidth 2 dashtype dash(i) \
    pointtype point(word(VARIANTS, i)) pointsize 1.1 title label(i)
