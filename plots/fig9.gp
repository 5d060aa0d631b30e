# SPDX-License-Identifier: MIT
# fig9.gp: speed-up of the GPU code (gather: two lines in shared memory) relative to the CPU codes; after Fig. 9 of Lu et al.
load PLOTS."/style.gp"
MARKS = "L6.gather_simd L6.gather_c L6.gather_matlab"
MARKED = "simd naive octave"
load PLOTS."/ratio.gp"
g = of("gather")
host(k) = VARIANTS[HOSTS[k]]
set label 1 "Speed-up of the GPU code (gather) over the CPU codes"
set label 2 IMAGE.SCOPE
set ylabel "time on the CPU / time of gather"
stats FILE using (remember(g)) nooutput
plot for [k = 1 : |HOSTS|] FILE using (series(HOSTS[k]) && known("shape") ? offset("shape") : NaN) \
    :(seconds("median") / base_time("shape")) smooth unique with linespoints \
    linecolor rgb rgb(host(k)) linewidth 2 dashtype dash(HOSTS[k]) pointtype point(host(k)) pointsize 1.1 \
    title label(HOSTS[k])
