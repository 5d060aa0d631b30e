# SPDX-License-Identifier: MIT
# fig7.gp: speed-up over the array-language code (GNU Octave, else NumPy), or over simple C where both are absent; after Fig. 7 of Lu
# et al. BASE: which.
load PLOTS."/offsets.gp"
language = strstrt(BASE, "octave") ? "Octave" : strstrt(BASE, "numpy") ? "NumPy" : ""
over_array = strlen(language) > 0
MARKS = over_array ? "L2.c_matlab L4.simd_matlab L6.gather_matlab" : "L4.simd_c L5.scatter_c L6.gather_c"
MARKED = over_array ? "naive simd gather" : "simd scatter gather"
set ylabel over_array ? "time of ".language." / time" : "time of simple C / time"
plot for [i = 1 : |SERIES|] DATA using (x(i)):(column("ratio")) with linespoints linecolor rgb rgb(name(i)) linewidth 2 \
    dashtype dash(i) pointtype point(name(i)) pointsize 0.9 title SERIES[i], \
    for [n = 1 : words(MARKS)] number(word(MARKS, n)) with lines linecolor rgb rgb(word(MARKED, n)) linewidth 1.5 dashtype 3 \
    title sprintf("paper: %s x", stated(word(MARKS, n)))
