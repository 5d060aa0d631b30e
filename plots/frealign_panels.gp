# SPDX-License-Identifier: MIT
# frealign_panels.gp: what Figs. 2 to 4 of Li et al. share: panels side by side, speed-up against the size of the images, filled marks
# ours with the 95 % interval, open marks the paper's.
load PLOTS."/style.gp"
set logscale x 2
set logscale y 10
set format "%g"
set xtics (56, 112, 224, 500)
set xrange [46 : 600]
set xlabel "image side (pixels)"
number(id) = real(system(sprintf("awk -F'\\t' -v id='%s' '$1 == id { print $5 }' '%s'", id, PUBLISHED)))
has(name) = int(sum [i = 1 : words(SERIES)] (word(SERIES, i) eq name))
of_series(name) = stringcolumn("series") eq name ? column("x") : NaN
# Panel k of n, left to right; the key stands at the right of all.
panel(k, n, title) = sprintf("set lmargin at screen %g; set rmargin at screen %g; set tmargin at screen 0.8; set bmargin at screen 0.13; \
set label 3 %s at screen %g, 0.835 left textcolor rgb INK", 0.075 + (k - 1) * 0.74 / n, 0.075 + k * 0.74 / n - 0.045, \
"\"".title."\"", 0.075 + (k - 1) * 0.74 / n)
set key at screen 0.995, 0.8 right top vertical Left reverse samplen 1.4 spacing 1.3 textcolor rgb INK noenhanced
INKS = "#0072b2 #d55e00 #009e73 #e69f00 #aa4499 #56b4e9 #111111"
pen(i) = int("0x".word(INKS, i)[2:7])
