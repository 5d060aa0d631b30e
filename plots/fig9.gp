# SPDX-License-Identifier: MIT
# fig9.gp: speed-up of the GPU code (gather: two lines in shared memory) relative to the CPU codes; after Fig. 9 of Lu et al.
load PLOTS."/style.gp"
load PLOTS."/ratio.gp"
g = of("gather")
eval heading("Speed-up of the GPU code (gather) over the CPU codes", IMAGE.SCOPE)
set ylabel "time on the CPU / time of gather"
stats FILE using (remember(g)) nooutput
eval mark("L6.gather_simd", "simd", 1)
eval mark("L6.gather_c", "naive", 2)
eval mark("L6.gather_matlab", "octave", 3)
plot for [i = 1 : words(VARIANTS)] FILE using (series(i) && known("shape") && stringcolumn("space") eq "host" ? offset("shape") : NaN) \
    :(seconds("median") / TIME[1 + int(offset("shape"))]) smooth unique with linespoints linecolor rgb rgb(word(VARIANTS, i)) linewidth 2 dashtype dash(i) \
    pointtype point(word(VARIANTS, i)) pointsize 1.1 title label(i)
