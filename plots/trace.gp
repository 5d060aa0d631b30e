# SPDX-License-Identifier: MIT
# trace.gp: one input at a time through a variant, for `regather trace`: places of the inputs, places of the outputs in three
# dimensions and in the three slices that show most of the faults; with --real-space the object's map below.
# gnuplot -c trace.gp OUT svg|png POINTS.tsv TITLE DETAIL HINT|- "X Y Z U V x y z" OBJECT.tsv|-
# POINTS.tsv: side (input, output), a, b, c, size (1 the largest), verdict. X Y Z, U V: names of the axes, x y z: the slices.
set encoding utf8
OBJECT = ARG8
HAS = OBJECT ne "-"
HEIGHT = HAS ? 1130 : 740
if (ARG2 eq "svg") { set terminal svg size 1000, HEIGHT dynamic enhanced font "Helvetica,14" background "#ffffff" } \
else { set terminal pngcairo size 1000, HEIGHT enhanced font "Helvetica,12" background "#ffffff" }
set output ARG1
set datafile separator "\t"
set datafile columnheaders
set datafile missing NaN
INK = "#1c2430"; SOFT = "#5b6675"; LINE = "#d3dae2"
WORDS   = "right   missing doubled misplaced weight"
COLOURS = "#a9b7c6 #0072b2 #d55e00 #aa4499   #e69f00"
MARKS   = "7       6       7       13        9"
AXES = ARG7
axis(i) = word(AXES, i)
at(i) = real(word(AXES, 5 + i))
stats ARG3 using (strcol("side") eq "output" ? column("a") : NaN) name "A" nooutput
stats ARG3 using (strcol("side") eq "output" ? column("b") : NaN) name "B" nooutput
stats ARG3 using (strcol("side") eq "output" ? column("c") : NaN) name "C" nooutput
stats ARG3 using (strcol("side") eq "input" ? column("a") : NaN) name "U" nooutput
stats ARG3 using (strcol("side") eq "input" ? column("b") : NaN) name "V" nooutput
FLAT = axis(3) eq "-"

size(big) = big * (0.25 + 0.75 * sqrt(column("size")))
is(side, i) = strcol("side") eq side && strcol("verdict") eq word(WORDS, i)
colour(i) = int("0x".word(COLOURS, i)[2:7])
mark(i) = int(word(MARKS, i))
down(y) = 1 - real(y) / HEIGHT

set multiplot
set label 1 ARG4 at screen 0.03, screen down(34) left font ",20" textcolor rgb INK noenhanced
set label 2 ARG5 at screen 0.03, screen down(62) left font ",13" textcolor rgb SOFT noenhanced
set label 3 (ARG6 eq "-" ? "" : "All faults have in common: ".ARG6) at screen 0.03, screen down(86) left font ",13" \
    textcolor rgb "#96340a" noenhanced
set border linecolor rgb SOFT linewidth 1
set tics nomirror out scale 0.5 textcolor rgb SOFT font ",11"
unset key

# ---- the outputs in three dimensions ---------------------------------------------------------------------------------------
set lmargin at screen 0.02; set rmargin at screen 0.56
set tmargin at screen down(125); set bmargin at screen down(450)
set xlabel axis(1) textcolor rgb INK noenhanced
set ylabel axis(2) textcolor rgb INK noenhanced
set zlabel (FLAT ? "weight" : axis(3)) textcolor rgb INK noenhanced
set xrange [A_min - 0.5 : A_max + 0.5]
set yrange [B_min - 0.5 : B_max + 0.5]
if (FLAT) { set zrange [0 : 1.05]; set ztics 0.5 } else { set zrange [C_min - 0.5 : C_max + 0.5] }
set ticslevel 0
set xyplane at (FLAT ? 0 : C_min - 0.5)
set border 4095 linecolor rgb LINE
set view 62, 28, 0.8
if (FLAT) { set view noequal } else { set view equal xyz }
height(unused) = FLAT ? column("size") : column("c")
splot for [i = 1:5] ARG3 using (is("output", i) ? column("a") : NaN):"b":(height(0)):(size(i == 1 ? 0.9 : 1.7)) \
    with points pointtype mark(i) pointsize variable linewidth 1.6 linecolor rgb colour(i)
unset label 1; unset label 2; unset label 3

# ---- the inputs ------------------------------------------------------------------------------------------------------------
set border 15 linecolor rgb LINE
set grid xtics ytics linecolor rgb "#eef1f4" linewidth 1
set size ratio -1
set lmargin at screen 0.66; set rmargin at screen 0.84
set tmargin at screen down(140); set bmargin at screen down(430)
set title "inputs" textcolor rgb INK
set xlabel axis(4) noenhanced
set ylabel (axis(5) eq "-" ? "" : axis(5)) noenhanced
set xrange [U_min - 0.7 : U_max + 0.7]
set yrange [V_min - 0.7 : V_max + 0.7]
plot for [i = 1:5] ARG3 using (is("input", i) ? column("a") : NaN):"b":(size(1.4)) \
    with points pointtype mark(i) pointsize variable linewidth 1.6 linecolor rgb colour(i)

# ---- what the marks mean ---------------------------------------------------------------------------------------------------
unset title; unset xlabel; unset ylabel; unset tics; unset border; unset grid
set size noratio
set lmargin at screen 0.87; set rmargin at screen 0.99
set tmargin at screen down(150); set bmargin at screen down(330)
set xrange [0:4]; set yrange [-5.5:-0.5]
set for [i = 1:5] label (10 + i) word(WORDS, i) at 1, -i left textcolor rgb INK
plot for [i = 1:5] "+" using ($0 == 0 ? 0.4 : NaN):(-i) every ::0::0 \
    with points pointtype mark(i) pointsize 1.5 linewidth 1.6 linecolor rgb colour(i)
unset label

# ---- slices ----------------------------------------------------------------------------------------------------------------
set border 15 linecolor rgb LINE
set tics nomirror out scale 0.5 textcolor rgb SOFT font ",11"
set grid xtics ytics linecolor rgb "#eef1f4" linewidth 1
set size ratio -1
set tmargin at screen down(515); set bmargin at screen down(695)
low(axis) = axis == 1 ? A_min : axis == 2 ? B_min : C_min
high(axis) = axis == 1 ? A_max : axis == 2 ? B_max : C_max
letter(axis) = word("a b c", axis)
do for [s = 1:(FLAT ? 1 : 3)] {
    across = FLAT ? 3 : 4 - s # z, y, x
    u = across == 1 ? 2 : 1
    v = across == 3 ? 2 : 3
    set lmargin at screen 0.05 + 0.32 * (s - 1); set rmargin at screen 0.05 + 0.32 * (s - 1) + 0.27
    set title (FLAT ? "outputs" : sprintf("slice %s = %g", axis(across), at(across))) textcolor rgb INK noenhanced
    set xlabel axis(u) offset 0, 0.9 noenhanced
    set ylabel axis(v) offset 1, 0 noenhanced
    set xrange [low(u) - 0.7 : high(u) + 0.7]
    set yrange [low(v) - 0.7 : high(v) + 0.7]
    plot for [i = 1:5] ARG3 using (is("output", i) && (FLAT || column(letter(across)) == at(across)) ? column(letter(u)) : NaN)\
        :letter(v):(size(1.4)) with points pointtype mark(i) pointsize variable linewidth 1.6 linecolor rgb colour(i)
}

# ---- the object ------------------------------------------------------------------------------------------------------------
if (HAS) {
    unset datafile columnheaders
    unset grid; unset xlabel; unset ylabel; unset tics; unset colorbox
    set palette defined (0 "#0b1f3a", 0.35 "#0072b2", 0.65 "#8fd3c0", 1 "#fff6d5")
    set cbrange [-0.2 : 1.2]
    set tmargin at screen down(775); set bmargin at screen down(775 + 147)
    set autoscale x; set autoscale y
    set autoscale xfix; set autoscale yfix
    do for [s = 1:6] {
        found = s < 4
        across = word("z y x", (s - 1) % 3 + 1)
        left = (found ? 0.03 : 0.51) + 0.152 * ((s - 1) % 3)
        set lmargin at screen left; set rmargin at screen left + 0.147
        set title sprintf("%s, %s = 0", found ? "found" : "right", across) textcolor rgb INK offset 0, -0.5
        plot OBJECT index (s - 1) % 3 using 1:2:(found ? $3 : $4) with image
    }
    # The differences fill the scale, and its title says by how much they had to be enlarged for that.
    stats OBJECT using ($3 - $4) name "D" nooutput
    most = abs(D_min) > abs(D_max) ? abs(D_min) : abs(D_max)
    times = most > 0 ? 1 / most : 1
    set palette defined (-1 "#0072b2", 0 "#ffffff", 1 "#d55e00")
    set cbrange [-1 : 1]
    set tmargin at screen down(945 + 25); set bmargin at screen down(945 + 25 + 147)
    do for [s = 1:3] {
        set lmargin at screen 0.03 + 0.152 * (s - 1); set rmargin at screen 0.03 + 0.152 * (s - 1) + 0.147
        set title sprintf("difference, %s = 0", word("z y x", s)) textcolor rgb INK offset 0, -0.5
        if (s == 3) { set label 4 sprintf("Differences of the object's map, enlarged %.3g times.", times) \
            at screen 0.51, screen down(1040) left font ",13" textcolor rgb SOFT }
        plot OBJECT index s - 1 using 1:2:(($3 - $4) * times) with image
    }
}
unset multiplot
