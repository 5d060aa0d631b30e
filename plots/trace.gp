# SPDX-License-Identifier: MIT
# trace.gp: one input at a time through a variant, for `regather trace`: positions of the inputs; positions of the outputs in 3D
# and in the three slices with the most faults; outputs of the worst input, in slices of its own; with --real-space the
# object's map beside the right one.
# DATA POINTS.tsv: side (input, output, one), a, b, c, size (1 the largest), verdict. TITLE, DETAIL, HINT ("" for none): lines
# of text. AXES: names of three axes of the outputs ("": missing) and of two of the inputs. SLICES: three of all outputs,
# and three of those of the worst input, INPUT. OBJECT: the object's map, if there is one.
set encoding utf8
HAS = exists("OBJECT")
FLAT = AXES[3] eq ""
HEIGHT = FLAT ? 870 : HAS ? 1235 : 1035
if (TERM eq "svg") { set terminal svg size 1000, HEIGHT dynamic enhanced font "Helvetica,14" background "#ffffff" } \
else { if (strstrt(GPVAL_TERMINALS, " pngcairo ")) { set terminal pngcairo size 1000, HEIGHT enhanced font "Helvetica,12" \
           background "#ffffff" } \
       else { set terminal png size 1000, HEIGHT enhanced background "#ffffff" } }
set output OUT
set datafile separator "\t"
set datafile columnheaders
set datafile missing NaN
INK = "#1c2430"; SOFT = "#5b6675"; LINE = "#d3dae2"
WORDS   = "right   missing doubled misplaced weight"
COLOURS = "#a9b7c6 #0072b2 #d55e00 #aa4499   #e69f00"
MARKS   = "7       6       7       13        9"
slice(i, one) = SLICES[i + (one ? 3 : 0)]
SHOWN = "" # the indices of the words that occur
do for [i = 1:5] {
    stats DATA using (strcol("verdict") eq word(WORDS, i) ? 1 : 0) name "N" nooutput
    if (N_sum > 0) { SHOWN = SHOWN." ".i }
}
shown(k) = int(word(SHOWN, k))
stats DATA using (strcol("side") eq "output" ? column("a") : NaN) name "A" nooutput
stats DATA using (strcol("side") eq "output" ? column("b") : NaN) name "B" nooutput
stats DATA using (strcol("side") eq "output" ? column("c") : NaN) name "C" nooutput
stats DATA using (strcol("side") eq "input" ? column("a") : NaN) name "U" nooutput
stats DATA using (strcol("side") eq "input" ? column("b") : NaN) name "V" nooutput

# At least five positions along every axis, and labels at integers.
least(low, high) = high - low < 4 ? (low + high) / 2 - 2 : low
most(low, high) = high - low < 4 ? (low + high) / 2 + 2 : high
low = A_min; A_min = least(low, A_max); A_max = most(low, A_max)
low = B_min; B_min = least(low, B_max); B_max = most(low, B_max)
low = C_min; C_min = least(low, C_max); C_max = most(low, C_max)
low = U_min; U_min = least(low, U_max); U_max = most(low, U_max)
low = V_min; V_min = least(low, V_max); V_max = most(low, V_max)
step(low, high) = high - low < 12 ? (high - low < 6 ? 1 : 2) : ceil((high - low) / 6)

size(big) = big * (0.25 + 0.75 * sqrt(column("size")))
is(side, i) = strcol("side") eq side && strcol("verdict") eq word(WORDS, i)
colour(i) = int("0x".word(COLOURS, i)[2:7])
mark(i) = int(word(MARKS, i))
down(y) = 1 - real(y) / HEIGHT

set multiplot
set label 1 TITLE at screen 0.03, screen down(34) left font ",20" textcolor rgb INK noenhanced
set label 2 DETAIL at screen 0.03, screen down(62) left font ",13" textcolor rgb SOFT noenhanced
set label 3 HINT at screen 0.03, screen down(86) left font ",13" \
    textcolor rgb "#96340a" noenhanced
set border linecolor rgb SOFT linewidth 1
set tics nomirror out scale 0.5 textcolor rgb SOFT font ",11"
unset key

# ---- the outputs in three dimensions ---------------------------------------------------------------------------------------
if (FLAT) { set origin 0.02, down(490); set size 0.56, 390.0 / HEIGHT } \
else { set lmargin at screen 0.02; set rmargin at screen 0.56; set tmargin at screen down(125); \
    set bmargin at screen down(450) }
set xlabel AXES[1] textcolor rgb INK noenhanced
set ylabel AXES[2] textcolor rgb INK noenhanced
set zlabel (FLAT ? "weight" : AXES[3]) textcolor rgb INK noenhanced
set xrange [A_min - 0.5 : A_max + 0.5]
set yrange [B_min - 0.5 : B_max + 0.5]
if (FLAT) { set zrange [0 : 1.05]; set ztics 0.5 } else { set zrange [C_min - 0.5 : C_max + 0.5]; set ztics step(C_min, C_max) }
set xtics step(A_min, A_max)
set ytics step(B_min, B_max)
set ticslevel 0
set xyplane at (FLAT ? 0 : C_min - 0.5)
set border 4095 linecolor rgb LINE
if (FLAT) { set view 55, 28 } else { set view equal xyz; set view 62, 28, A_max - A_min > 0.8 * (B_max - B_min) ? 0.6 : 0.8 }
height(unused) = FLAT ? column("size") : column("c")
splot for [i = 1:5] DATA using (is("output", i) ? column("a") : NaN):"b":(height(0)):(size(i == 1 ? 0.9 : 1.7)) \
    with points pointtype mark(i) pointsize variable linewidth 1.6 linecolor rgb colour(i)
unset label 1; unset label 2; unset label 3
set origin 0, 0; set size 1, 1

# ---- the inputs ------------------------------------------------------------------------------------------------------------
set border 15 linecolor rgb LINE
set grid xtics ytics linecolor rgb "#eef1f4" linewidth 1
set lmargin at screen 0.62; set rmargin at screen 0.84
set tmargin at screen down(140); set bmargin at screen down(430)
set title "inputs" textcolor rgb INK
set xlabel AXES[4] noenhanced
set ylabel AXES[5] noenhanced
set xtics step(U_min, U_max)
set ytics step(V_min, V_max)
set xrange [U_min - 0.7 : U_max + 0.7]
set yrange [V_min - 0.7 : V_max + 0.7]
plot for [i = 1:5] DATA using (is("input", i) ? column("a") : NaN):"b":(size(1.4)) \
    with points pointtype mark(i) pointsize variable linewidth 1.6 linecolor rgb colour(i)

# ---- what the marks mean ---------------------------------------------------------------------------------------------------
unset title; unset xlabel; unset ylabel; unset tics; unset border; unset grid
set lmargin at screen 0.87; set rmargin at screen 0.99
set tmargin at screen down(150); set bmargin at screen down(330)
set xrange [0:4]; set yrange [-5.5:-0.5]
set for [k = 1:words(SHOWN)] label (10 + k) word(WORDS, shown(k)) at 1, -k left textcolor rgb INK
plot for [k = 1:words(SHOWN)] "+" using ($0 == 0 ? 0.4 : NaN):(-k) every ::0::0 \
    with points pointtype mark(shown(k)) pointsize 1.5 linewidth 1.6 linecolor rgb colour(shown(k))
unset label

# ---- slices: of all outputs, and of those of one input ----------------------------------------------------------------------
set border 15 linecolor rgb LINE
set tics nomirror out scale 0.5 textcolor rgb SOFT font ",11"
set grid xtics ytics linecolor rgb "#eef1f4" linewidth 1
low(axis) = axis == 1 ? A_min : axis == 2 ? B_min : C_min
high(axis) = axis == 1 ? A_max : axis == 2 ? B_max : C_max
letter(axis) = word("a b c", axis)
inside(i) = is(one ? "one" : "output", i) && (FLAT || column(letter(across)) == slice(across, one))
do for [p = 0:(FLAT ? 1 : 5)] {
    one = FLAT ? p : p / 3
    across = FLAT ? 3 : 3 - p % 3 # z, y, x
    u = across == 1 ? 2 : 1
    v = across == 3 ? 2 : 3
    left = FLAT ? 0.06 + 0.49 * p : 0.06 + 0.325 * (p % 3)
    top = FLAT ? 548 : 548 + 268 * one
    set lmargin at screen left; set rmargin at screen left + (FLAT ? 0.42 : 0.26)
    set tmargin at screen down(top); set bmargin at screen down(top + (FLAT ? 260 : 160))
    if (FLAT || p % 3 == 0) { set label 4 (one ? "Input ".INPUT." alone" : "All inputs") \
        at screen left - 0.03, screen down(top - (FLAT ? 22 : 36)) left font ",13" textcolor rgb SOFT noenhanced }
    if (!FLAT) { set title sprintf("%s = %g", AXES[across], slice(across, one)) textcolor rgb INK noenhanced offset 0, -0.6 }
    set xlabel AXES[u] offset 0, 0.4 noenhanced
    set ylabel AXES[v] offset 1, 0 noenhanced
    set xtics step(low(u), high(u))
    set ytics step(low(v), high(v))
    set xrange [low(u) - 0.7 : high(u) + 0.7]
    set yrange [low(v) - 0.7 : high(v) + 0.7]
    plot for [i = 1:5] DATA using (inside(i) ? column(letter(u)) : NaN):letter(v):(size(1.4)) \
        with points pointtype mark(i) pointsize variable linewidth 1.6 linecolor rgb colour(i)
    unset label 4
}

# ---- the object: two slices through the middle, as found, as right, and the difference, which fills its scale ----------------
if (HAS) {
    unset datafile columnheaders
    set size ratio -1
    unset grid; unset xlabel; unset ylabel; unset tics; unset colorbox
    set tmargin at screen down(1075); set bmargin at screen down(1075 + 147)
    set autoscale x; set autoscale y
    set autoscale xfix; set autoscale yfix
    stats OBJECT using ($3 - $4) name "D" nooutput
    most = abs(D_min) > abs(D_max) ? abs(D_min) : abs(D_max)
    times = most > 1e-4 ? 1 / most : 1e4 # rounding errors stay pale
    do for [p = 0:5] {
        kind = p / 2
        if (kind < 2) { set palette defined (0 "#0b1f3a", 0.35 "#0072b2", 0.65 "#8fd3c0", 1 "#fff6d5"); \
            set cbrange [-0.2 : 1.2] } \
        else { set palette defined (-1 "#0072b2", 0 "#ffffff", 1 "#d55e00"); set cbrange [-1 : 1] }
        set lmargin at screen 0.03 + 0.163 * p; set rmargin at screen 0.03 + 0.163 * p + 0.147
        set title sprintf("%s, %s = 0", kind == 0 ? "map" : kind == 1 ? "right map" : sprintf("%.3g x diff.", times), \
            p % 2 ? "x" : "z") textcolor rgb INK offset 0, -0.5
        plot OBJECT index p % 2 ? 2 : 0 using 1:2:(kind == 0 ? $3 : kind == 1 ? $4 : ($3 - $4) * times) with image
    }
}
unset multiplot
