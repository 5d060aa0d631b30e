# SPDX-License-Identifier: MIT
# fig9.gp: speed-up of the GPU code, BASE, relative to the CPU codes; after Fig. 9 of Lu et al.
load PLOTS."/offsets.gp"
set ylabel "time on the CPU / time of ".base_name(BASE) noenhanced
plot for [i = 1 : |SERIES|] DATA using (x(i)):(1 / column("ratio")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    dashtype dash(i) pointtype point(name(i)) pointsize 0.9 title SERIES[i], \
    for [n = 1 : words(PRINTED)] number(word(PRINTED, n)) with lines linecolor rgb rgb(word(BESIDE, n)) linewidth 1.5 \
    dashtype 3 title sprintf("paper, %s: %s x", word(BESIDE, n), stated(word(PRINTED, n)))
