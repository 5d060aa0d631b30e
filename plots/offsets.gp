# SPDX-License-Identifier: MIT
# offsets.gp: what the figures of curves against the largest offset share (Lu et al.).
load PLOTS."/style.gp"
set logscale x 2
set logscale y 10
stats DATA using (column("x")) nooutput name "OFFSET"
set xrange [OFFSET_min / 1.05 : OFFSET_max * 1.05]
set xtics (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
set format y "10^{%T}"
set xlabel "maximum offset R (pixels)"
KEYS = |SERIES| + words(PRINTED)
if (!NARROW && KEYS > 11) { set key spacing KEYS > 14 ? 0.95 : 1.05 } # one column still
if (!NARROW && KEYS > 17) { set key font ",10.5" }
