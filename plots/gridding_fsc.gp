# SPDX-License-Identifier: MIT
# gridding_fsc.gp: FSC of half maps made on the CPU and on the GPU, and of the map against the exact one (S8, Fig. 4).
load PLOTS."/style.gp"
set xlabel "frequency (1/A)"
set ylabel "FSC"
set yrange [-0.1 : 1.05]
set xrange [0 : *]
array FILES[3]
FILES[1] = exists("TABLE_fsc_cpu") ? TABLE_fsc_cpu : ""
FILES[2] = exists("TABLE_fsc_gpu") ? TABLE_fsc_gpu : ""
FILES[3] = exists("TABLE_fsc_truth") ? TABLE_fsc_truth : ""
array TITLES[3] = ["CPU, half maps", "GPU, half maps", "against the truth"]
INKS = "#0072b2 #009e73 #111111"
MARKS = "6 7 5"
there(i) = FILES[i] ne ""
file(i) = there(i) ? FILES[i] : FILES[1]
plot 0.5 with lines dashtype 2 linecolor rgb SOFT title "0.5", 0.143 with lines dashtype 3 linecolor rgb SOFT title "0.143", \
    for [i = 1 : 3] file(i) using (there(i) ? column("frequency") : NaN):(column("fsc")) with linespoints \
    pointsize (i == 1 ? 1.1 : 0.6) pointtype int(word(MARKS, i)) linewidth 2 linecolor rgb word(INKS, i) title (there(i) ? TITLES[i] : "")
