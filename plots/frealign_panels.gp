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
has(name) = int(sum [i = 1 : |SERIES|] (SERIES[i] eq name))
of_series(name) = stringcolumn("series") eq name ? column("x") : NaN
# Panel k of n, left to right; the key stands at the right of all.
left(k, n) = 0.075 + (k - 1) * 0.74 / n
right(k, n) = 0.075 + k * 0.74 / n - 0.045
set tmargin at screen 0.8; set bmargin at screen 0.13
set key at screen 0.995, 0.8 right top vertical Left reverse samplen 1.4 spacing 1.3 textcolor rgb INK noenhanced
INKS = "#0072b2 #d55e00 #009e73 #e69f00 #aa4499 #56b4e9 #111111"
pen(i) = int("0x".word(INKS, i)[2:7])
