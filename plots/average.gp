# SPDX-License-Identifier: MIT
# Convergence of poses over the iterations of `regather average`.
# DATA AVG.iterations.tsv.
WIDE = 640; HIGH = 420
load PLOTS."/job_file.gp"
set xlabel "iteration"
set xtics 1
set offsets 0.2, 0.2, 0, 0
set bmargin 5
set logscale y
set ylabel "median change (degrees, voxels)"
# A logarithmic axis cannot show poses that have not changed.
at_least(change) = change > 1e-4 ? change : 1e-4
set y2label "mean correlation"
set y2tics
set ytics nomirror
set key outside bottom center horizontal
plot DATA using (column("iteration")):(at_least(column("median_turn_deg"))) with linespoints pt 7 lw 1.6 lc rgb "#0072b2" title "turn", \
     DATA using (column("iteration")):(at_least(column("median_move_px"))) with linespoints pt 5 lw 1.6 lc rgb "#d55e00" title "move", \
     DATA using (column("iteration")):(column("mean_correlation")) axes x1y2 with linespoints pt 9 lw 1.6 lc rgb "#009e73" \
         title "correlation"
