# SPDX-License-Identifier: MIT
# style.gp: what all figures share; loaded first by each. `regather report` sets (impl/base/plot.h):
#   OUT and TERM (svg or png), FILE a result file, IDS and VALUES of the paper's numbers, MACHINE, WIDTH and HEIGHT of the image, and
#   the series as arrays: VARIANTS PARAMS SCOPES MODES CORES, HOSTS the places of those of CPUs. Texts are data: no script of this
#   folder makes a command of one (`eval`, `system`, back quotes, macros), which verify/tests/report/test_figures.c holds.
set encoding utf8
if (TERM eq "svg") { set terminal svg size 1000,700 dynamic enhanced font "Helvetica,15" background "#ffffff" } \
else { set terminal pngcairo size 1000,700 enhanced font "Helvetica,13" background "#ffffff" }
set output OUT
set datafile separator "\t"
set datafile columnheaders
set datafile missing NaN

INK = "#1c2430"; SOFT = "#5b6675"; LINE = "#d3dae2"
set border 3 linecolor rgb SOFT linewidth 1
set tics nomirror out scale 0.6 textcolor rgb INK
set grid back linecolor rgb LINE linewidth 1.2 dashtype 1
set key outside right top vertical Left reverse samplen 2.2 spacing 1.35 textcolor rgb INK noenhanced
set xlabel textcolor rgb INK
set ylabel textcolor rgb INK
set lmargin 12; set rmargin 25; set tmargin 5.5; set bmargin 4.5

# Colours tell apart with every common colour blindness (after Okabe and Ito); the paper's own are kept: red array language,
# black C, blue SIMD, green CUDA. A name that is not in the list (a plug-in) is grey.
NAMES   = "octave  naive   ordered simd    fftw    scatter gather  gather_two_pass tensor  cufft   as_printed"
COLOURS = "#d55e00 #111111 #e69f00 #0072b2 #56b4e9 #8c6d31 #009e73 #7cc8a4         #aa4499 #2f8f9d #999999"
POINTS  = "13      5       9       9       3       7       7       6               11      4       2"
NAMES   = NAMES.  " naive_scatter naive_gather simd_scatter simd_gather scatter_v4 owned   scatter_v2 autovec numpy"
COLOURS = COLOURS." #555555       #111111      #56b4e9      #0072b2     #d55e00    #aa4499 #e69f00    #cc79a7 #f0a07a"
POINTS  = POINTS. " 4             5            8            9           6          11      8          3       12"
place(name) = sum [i = 1 : words(NAMES)] (word(NAMES, i) eq name ? i : 0)
colour(name) = place(name) ? word(COLOURS, place(name)) : "#999999"
rgb(name) = int("0x".colour(name)[2:7])
point(name) = place(name) ? int(word(POINTS, place(name))) : 1
label(i) = VARIANTS[i].(CORES[i] > 1 ? sprintf(" (%d cores)", CORES[i]) : "")
dash(i) = CORES[i] > 1 ? 2 : 1

# A number in the shape "w750,h1500,r250,k0" or the parameters "block=128;threads=2" by its name, NaN when it is not there.
until(text, mark) = strstrt(text, mark) ? text[1 : strstrt(text, mark) - 1] : text
at(text, name) = strstrt(",".text, ",".name) ? strstrt(",".text, ",".name) : strstrt(";".text, ";".name)
part(text, name) = at(text, name) ? real(until(until(text[at(text, name) + strlen(name) : *], ","), ";")) : NaN
offset(cell) = part(stringcolumn(cell), "r")
filled(text) = strlen(text) ? text : "-"
sized(cell) = part(stringcolumn(cell), "w") == WIDTH && part(stringcolumn(cell), "h") == HEIGHT \
    && !(part(stringcolumn(cell), "k") > 0)
series(i) = stringcolumn("algo") eq ALGO && stringcolumn("status") eq "PASS" && stringcolumn("variant") eq VARIANTS[i] \
    && filled(stringcolumn("params")) eq PARAMS[i] && filled(stringcolumn("scope")) eq SCOPES[i] \
    && filled(stringcolumn("mode")) eq MODES[i] && sized("shape")
unit(name) = name eq "s" ? 1 : name eq "ms" ? 1e-3 : name eq "us" ? 1e-6 : 1e-9
seconds(cell) = column(cell) * unit(stringcolumn("unit"))

# The heading of a figure: scripts set the texts of these two.
set label 1 "" at screen 0.03, 0.955 left font ',20' textcolor rgb INK noenhanced
set label 2 "" at screen 0.03, 0.905 left font ',12' textcolor rgb SOFT noenhanced
# A published number by its id: as it is printed, "" when there is none; and its value.
if (exists("IDS")) {
    id_at(id) = int(sum [i = 1 : |IDS|] (IDS[i] eq id ? i : 0))
    stated(id) = id_at(id) ? VALUES[id_at(id)] : ""
    number(id) = real(stated(id))
}
# Figures of the job have no rows of a result file, so no size and no scope.
if (exists("WIDTH")) {
    # The series whose variant is this on one core (or on the GPU); 0 when there is none.
    of(name) = int(sum [i = 1 : |VARIANTS|] (VARIANTS[i] eq name && CORES[i] < 2 ? i : 0))
    IMAGE = sprintf("%s. Image of %g x %g pixels. ", MACHINE, WIDTH, HEIGHT)
    SCOPE = "Scope: ".SCOPE_TEXT."."
}
