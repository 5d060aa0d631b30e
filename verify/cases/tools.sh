# SPDX-License-Identifier: MIT
# tools.sh: functions of sh for the rows of verify/cases: the program, inputs that are wrong in one place, numbers out of files.

regather() { "$REGATHER" "$@"; }

# Writes p/x.star: the particles of p with one more column of their optics.
optics() { # COLUMN VALUE
    sed "s/^_rlnImageDimensionality #8/&\\n_$1 #9/; s/^1 opticsGroup1 .*/& $2/" p/particles.star > p/x.star
}

# The exit code of the driver on a table of these rows, in which \t divides the cells and \n the rows.
planted() { # ROWS
    printf 'section\tcase\tneeds\texit\tprints\tcommand\n%b\n' "$1" > t.tsv
    "$cases" "$build" t.tsv
}
