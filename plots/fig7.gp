# SPDX-License-Identifier: MIT
# fig7.gp: speed-up over the array-language code (GNU Octave), or over simple C where that is absent; after Fig. 7 of Lu et al. BASE: which.
load PLOTS."/offsets.gp"
over_octave = strstrt(BASE, "octave")
MARKS = over_octave ? "L2.c_matlab L4.simd_matlab L6.gather_matlab" : "L4.simd_c L5.scatter_c L6.gather_c"
MARKED = over_octave ? "naive simd gather" : "simd scatter gather"
set ylabel over_octave ? "time of Octave / time" : "time of simple C / time"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("ratio")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    dashtype dash(i) pointtype point(name(i)) pointsize 0.9 title SERIES[i], \
    for [n = 1 : words(MARKS)] number(word(MARKS, n)) with lines linecolor rgb rgb(word(MARKED, n)) linewidth 1.5 dashtype 3 \
    title sprintf("paper: %s x", stated(word(MARKS, n)))
