# SPDX-License-Identifier: MIT
# job_file.gp: shared by the plots that jobs write as files; WIDE x HIGH pixels.
set terminal svg size WIDE, HIGH background "white" font "sans-serif,13"
set output OUT
set datafile separator tab
set datafile commentschars "#"
set grid lc rgb "#dddddd"
