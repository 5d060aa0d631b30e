# SPDX-License-Identifier: MIT
# gridding_fsc.gp: FSC of half maps made on the CPU and on the GPU, and of the map against the exact one (S8, Fig. 4).
load PLOTS."/style.gp"
eval heading("Fourier shell correlation", MACHINE.". Half maps of a phantom with noise, and the whole map against the exact one.")
set xlabel "frequency (1/A)"
set ylabel "FSC"
set yrange [-0.1 : 1.05]
set xrange [0 : *]
cpu = exists("TABLE_fsc_cpu") ? TABLE_fsc_cpu : ""
gpu = exists("TABLE_fsc_gpu") ? TABLE_fsc_gpu : ""
truth = exists("TABLE_fsc_truth") ? TABLE_fsc_truth : ""
FILES = (strlen(cpu) ? cpu." " : "").(strlen(gpu) ? gpu." " : "").(strlen(truth) ? truth : "")
TITLES = (strlen(cpu) ? "CPU,_half_maps " : "").(strlen(gpu) ? "GPU,_half_maps " : "").(strlen(truth) ? "against_truth" : "")
INKS = (strlen(cpu) ? "#0072b2 " : "").(strlen(gpu) ? "#009e73 " : "").(strlen(truth) ? "#111111" : "")
spaced(text) = system("printf %s '".text."' | tr _ ' '")
set datafile commentschars "#"
plot for [i = 1 : words(FILES)] word(FILES, i) using (column("frequency")):(column("fsc")) with linespoints pointsize 0.5 pointtype 7 \
    linewidth 2 linecolor rgb word(INKS, i) title spaced(word(TITLES, i)), \
    0.5 with lines dashtype 2 linecolor rgb SOFT title "0.5"
