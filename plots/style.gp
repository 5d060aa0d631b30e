# SPDX-License-Identifier: MIT
# style.gp: the style of all figures; each loads it first. `regather report` and the jobs set (impl/base/plot.h):
#   OUT and TERM (svg or png), CANVAS_X and CANVAS_Y in pixels, NARROW for a phone (1 or 0), TITLED if the picture is alone:
#   TITLE and SUBTITLE are drawn; a page has them above it. DATA with columns series x ..., SERIES its labels; IDS and VALUES of
#   the paper's numbers. Texts are data: no script of this folder executes one (`eval`, `system`, back quotes, macros), which
#   verify/cases/figures.tsv checks.
set encoding utf8
HIGH = CANVAS_Y + (TITLED ? 70 : 0)
if (TERM eq "svg") { set terminal svg size CANVAS_X, HIGH dynamic enhanced font "Helvetica,13" background "#ffffff" } \
else { if (strstrt(GPVAL_TERMINALS, " pngcairo ")) { set terminal pngcairo size CANVAS_X, HIGH enhanced font "Helvetica,11" background "#ffffff" } \
       else { set terminal png size CANVAS_X, HIGH enhanced background "#ffffff" } }
set output OUT
set datafile separator "\t"
set datafile columnheaders
set datafile commentschars "#"
set datafile missing NaN

INK = "#1c2430"; SOFT = "#545f6d"; LINE = "#d3dae2"
set border 3 linecolor rgb SOFT linewidth 1
set tics nomirror out scale 0.6 textcolor rgb INK
set grid back linecolor rgb LINE linewidth 1 dashtype 1
if (NARROW) { set key below center horizontal maxcols 2 Left reverse samplen 1.2 spacing 1.2 width -2 font ",12" textcolor rgb INK noenhanced; set lmargin 9; set rmargin 2 } \
else { set key outside right top vertical Left reverse samplen 2 spacing 1.3 textcolor rgb INK noenhanced; set lmargin 10 }
set xlabel textcolor rgb INK
set ylabel textcolor rgb INK
# The part of the height left for the plot, and panels m of n in it: side by side, or on a phone one below the other.
HEIGHT = 1.0 * CANVAS_Y / HIGH
set tmargin at screen 0.965 * HEIGHT
RIGHT_END = 0.89 # of the panels; the key is to the right of it
LEFT_END = 75.0 / CANVAS_X
panel_left(m, n) = NARROW ? 0.2 : LEFT_END + (m - 1) * (RIGHT_END + 0.035 - LEFT_END) / n
panel_right(m, n) = NARROW ? 0.97 : panel_left(m, n) + (RIGHT_END + 0.035 - LEFT_END) / n - 0.045
FOOT = 0.15 # room for the key below stacked panels
panel_top(m, n) = (NARROW ? 1 - (m - 1) * (1 - FOOT) / n - 0.035 : 0.91) * HEIGHT
panel_bottom(m, n) = (NARROW ? 1 - m * (1 - FOOT) / n + 0.045 : 0.14) * HEIGHT
if (TITLED) {
    fit(size, text) = sprintf(',%d', 0.7 * size * strlen(text) > 0.96 * CANVAS_X ? floor(0.96 * CANVAS_X / (0.7 * strlen(text))) : size) # one line
    set label 1 TITLE at screen 0.02, 1 - 24.0 / HIGH left font fit(17, TITLE) textcolor rgb INK noenhanced
    set label 2 SUBTITLE at screen 0.02, 1 - 50.0 / HIGH left font fit(11, SUBTITLE) textcolor rgb SOFT noenhanced
}

# One colour and mark per variant in all figures: variants.tsv. Names that it lacks (a plug-in) are grey.
NAMES = ""; COLOURS = ""; POINTS = ""
more(name, colour, mark) = (NAMES = NAMES." ".name, COLOURS = COLOURS." ".colour, POINTS = POINTS." ".mark, 0)
stats PLOTS."/variants.tsv" using (more(stringcolumn("name"), stringcolumn("colour"), stringcolumn("mark"))) nooutput
MAIN = 0x0072b2; OTHER = 0xd55e00 # for figures without variants
until(text, mark) = strstrt(text, mark) ? text[1 : strstrt(text, mark) - 1] : text
place(name) = int(sum [i = 1 : words(NAMES)] (word(NAMES, i) eq name ? i : 0))
rgb(name) = place(name) ? int("0x".word(COLOURS, place(name))) : 0x999999
point(name) = place(name) ? int(word(POINTS, place(name))) : 1
# The variant of series i, "simd" of "simd (16 cores)", whose line is dashed.
name(i) = until(SERIES[i], " (")
dash(i) = strstrt(SERIES[i], " cores)") ? 2 : 1
of_series(i) = stringcolumn("series") eq SERIES[i]
x(i) = of_series(i) ? column("x") : NaN
# The base of the ratios: "gather" for "autocorr:gather threads=1@k0".
base_name(spec) = until(until(spec[strstrt(spec, ":") + 1 : *], " "), sprintf("%c", 64)) # 64: at sign; no macro
# A published number by its id: as printed, "" if there is none; and its value.
if (exists("IDS")) {
    id_at(id) = int(sum [i = 1 : |IDS|] (IDS[i] eq id ? i : 0))
    stated(id) = id_at(id) ? VALUES[id_at(id)] : ""
    number(id) = id_at(id) ? real(stated(id)) : NaN
}
