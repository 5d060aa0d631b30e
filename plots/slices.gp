# SPDX-License-Identifier: MIT
# slices.gp: three sections of maps of SIDE voxels: DATA u v first second third, PANELS their names. One grey scale for all.
load PLOTS."/style.gp"
RIGHT_END = 0.99
unset key
unset grid
unset colorbox
set border 15
set palette gray
set size ratio -1
half = int(SIDE / 2)
set xrange [-half - 0.5 : SIDE - half - 0.5]
set yrange [-half - 0.5 : SIDE - half - 0.5]
set xtics half > 5 ? 5 * ceil(half / 10.0) : 1
set ytics half > 5 ? 5 * ceil(half / 10.0) : 1
set xlabel "voxels"
stats DATA using (column("first")) nooutput
set cbrange [STATS_min : STATS_max]
set multiplot
do for [k = 1 : 3] {
    set lmargin at screen panel_left(k, 3); set rmargin at screen panel_right(k, 3)
    set tmargin at screen panel_top(k, 3); set bmargin at screen panel_bottom(k, 3)
    set title PANELS[k] offset 0, -0.7 textcolor rgb INK noenhanced
    if (NARROW && k < 3) { unset xlabel } else { set xlabel "voxels" }
    plot DATA using (column("u")):(column("v")):(column(k + 2)) with image
    unset label 1; unset label 2
}
unset multiplot
