# SPDX-License-Identifier: MIT
# job_picture.gp: a picture on a job's page: DATA W x H floats, the first at X0, Y0, STEP units apart; DOWN 1: rows go down;
# BLACK and WHITE; X_LABEL, Y_LABEL.
load PLOTS."/job_style.gp"
unset key
unset grid
unset colorbox
set border 15
set palette gray
set size ratio -1
FROM_X = X0 - 0.5 * STEP; TO_X = FROM_X + W * STEP
FROM_Y = Y0 - 0.5 * STEP; TO_Y = FROM_Y + H * STEP
set xrange [FROM_X : TO_X]
if (DOWN) { set yrange [TO_Y : FROM_Y] } else { set yrange [FROM_Y : TO_Y] }
set xtics nice(TO_X - FROM_X, 5)
set ytics nice(TO_X - FROM_X, 5)
if (WHITE > BLACK) { set cbrange [BLACK : WHITE] }
plot DATA binary array=(W, H) format="%float" origin=(X0, Y0) dx=STEP dy=STEP using 1 with image
