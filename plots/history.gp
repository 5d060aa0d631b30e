# SPDX-License-Identifier: MIT
# history.gp: the median of one row in every run with its interval, and the levels between steps, for `regather history`.
# DATA history.tsv, FIRST and LAST of its lines of the row, counted from 0, UNIT_NS the unit of the times, UNIT its name. TITLE, DETAIL: lines of text.
set encoding utf8
set terminal svg size 1000,460 dynamic enhanced font "Helvetica,14" background "#ffffff"
set output OUT
set datafile separator "\t"
set datafile columnheaders
set datafile missing "-"
INK = "#1c2430"; SOFT = "#5b6675"; LINE = "#d3dae2"
set border 3 linecolor rgb SOFT
set tics nomirror out scale 0.6 textcolor rgb INK
set grid ytics back linecolor rgb LINE dashtype 1
set label 1 TITLE at screen 0.02, 0.955 left font ',16' textcolor rgb INK noenhanced
set label 2 DETAIL at screen 0.02, 0.90 left font ',12' textcolor rgb SOFT noenhanced
set lmargin 11; set rmargin 3; set tmargin 4.5; set bmargin 7.5
set key at screen 0.98, 0.905 right center horizontal samplen 2 textcolor rgb INK noenhanced
set ylabel sprintf("median (%s)", UNIT) textcolor rgb INK noenhanced
set xtics rotate by -60 font ',11' noenhanced
ns(cell) = column(cell) / UNIT_NS
# From the lowest to the highest with a tenth of room: steps are a few percent.
stats DATA using (ns("low_ns")) every ::FIRST::LAST name "LOW" nooutput
stats DATA using (ns("high_ns")) every ::FIRST::LAST name "HIGH" nooutput
stats DATA using (column("run")) every ::FIRST::LAST name "RUN" nooutput
ROOM = HIGH_max > LOW_min ? 0.1 * (HIGH_max - LOW_min) : 0.05 * HIGH_max
set yrange [LOW_min - ROOM : HIGH_max + ROOM]
set xrange [RUN_min - 0.7 : RUN_max + 0.7]
EVERY = ceil((RUN_max - RUN_min + 1) / 40.0)
named(run) = int(run - RUN_min) % EVERY ? "" : stringcolumn("revision")[1:9]
plot DATA using (column("run")):(ns("median_ns")):(ns("low_ns")):(ns("high_ns")):xtic(named(column("run"))) every ::FIRST::LAST \
         with yerrorbars pointtype 7 pointsize 0.6 linewidth 1.4 linecolor rgb "#0072b2" title "median, 95 % interval", \
     DATA using (column("run")):(ns("level_ns")) every ::FIRST::LAST with steps linewidth 2 linecolor rgb "#d55e00" title "level"
