# SPDX-License-Identifier: MIT
# offsets.gp: what the figures of curves against the largest offset share (Lu et al.).
load PLOTS."/style.gp"
set logscale x 2
set logscale y 10
set xrange [*:*] noextend
set format x "%g"
set format y "%g"
set xlabel "maximum offset R (pixels)"
if (!NARROW && |SERIES| > 11) { set key spacing 1.05 } # one column still
