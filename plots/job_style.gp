# SPDX-License-Identifier: MIT
# job_style.gp: shared by the plots of jobs' pages: narrow enough for a phone, few tics.
load PLOTS."/style.gp"
# A step of 1, 2 or 5 times a power of ten that gives a range at most `most` tics.
power(r) = 10.0 ** floor(log10(r))
above(f) = f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10
nice(range, most) = range > 0 ? above(1.0 * range / most / power(1.0 * range / most)) * power(1.0 * range / most) : 1
set xlabel X_LABEL noenhanced
set ylabel Y_LABEL noenhanced
