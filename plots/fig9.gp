# SPDX-License-Identifier: MIT
# fig9.gp: speed-up of the GPU code (gather: two lines in shared memory) relative to the CPU codes; after Fig. 9 of Lu et al.
load PLOTS."/style.gp"
load PLOTS."/ratio.gp"
g = of("gather")
host(k) = word(VARIANTS, int(word(HOSTS, k)))
eval heading("Speed-up of the GPU code (gather) over the CPU codes", IMAGE.SCOPE)
set ylabel "time on the CPU / time of gather"
stats FILE using (remember(g)) nooutput
eval mark("L6.gather_simd", "simd", 1)
eval mark("L6.gather_c", "naive", 2)
eval mark("L6.gather_matlab", "octave", 3)
plot for [k = 1 : words(HOSTS)] FILE using (series(int(word(HOSTS, k))) && known("shape") ? offset("shape") : NaN) \
    :(seconds("median") / base_time("shape")) smooth unique with linespoints \
    linecolor rgb rgb(host(k)) linewidth 2 dashtype dash(int(word(HOSTS, k))) pointtype point(host(k)) pointsize 1.1 \
    title label(int(word(HOSTS, k)))
