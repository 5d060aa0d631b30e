# SPDX-License-Identifier: MIT
# frealign_fsc.gp: half maps by the CPU and by the GPU, and one program's map against the other's, after Supp. Fig. 1 of Li et al.
load PLOTS."/style.gp"
set xlabel "frequency (1/A)"
set ylabel "FSC"
set yrange [-0.1 : 1.05]
set xrange [0 : *] noextend
set xtics 0, 0.05
array FILES[5]
FILES[1] = exists("TABLE_fr_half_cpu") ? TABLE_fr_half_cpu : ""
FILES[2] = exists("TABLE_fr_half_gpu") ? TABLE_fr_half_gpu : ""
FILES[3] = exists("TABLE_fr_cycle") ? TABLE_fr_cycle : ""
FILES[4] = exists("TABLE_fr_same") ? TABLE_fr_same : ""
FILES[5] = exists("TABLE_fr_plain") ? TABLE_fr_plain : ""
array TITLES[5] = ["half maps, CPU", "half maps, GPU", "CPU with GPU", "CPU with GPU, same poses", "SIMD with plain C"]
INKS = "#0072b2 #d55e00 #009e73 #111111 #999999"
MARKS = "6 7 9 4 12"
strokes(i) = i > 3 ? 2 : 1
pen(i) = int("0x".word(INKS, i)[2:7])
# What the paper says of its CPU map with its GPU map: above 0.93 at 6.5 A, above 0.8 to Nyquist.
printed(f) = f <= 1 / 6.5 ? 0.93 : 0.8
there(i) = FILES[i] ne ""
first_there = there(1) ? 1 : there(2) ? 2 : there(3) ? 3 : there(4) ? 4 : 5
file(i) = there(i) ? FILES[i] : FILES[first_there]
plot 0.5 with lines dashtype 2 linecolor rgb SOFT title "0.5", 0.143 with lines dashtype 3 linecolor rgb SOFT title "0.143", \
    printed(x) with lines dashtype 3 linewidth 2 linecolor rgb pen(3) title "paper, at least", \
    for [i = 1 : 5] file(i) using (there(i) ? column("frequency") : NaN):(column("fsc")) \
    with linespoints pointtype int(word(MARKS, i)) pointsize (i == 1 ? 1.1 : 0.6) linewidth 2 dashtype strokes(i) \
    linecolor rgb pen(i) title (there(i) ? TITLES[i] : "")
