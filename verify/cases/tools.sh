# SPDX-License-Identifier: MIT
# tools.sh: functions of sh for the rows of verify/cases: the program, numbers out of files, and whether they are as they should be.

regather() { "$REGATHER" "$@"; }
look() { "$build/verify/cases/look" "$@"; }

# Whether an expression of awk holds for lines "NAME VALUE" from stdin, all numbers; prints them where it does not.
holds() { # EXPRESSION
    sed 's/,//g' > ../values
    if ! grep -qi -e nan -e inf ../values && awk $(awk '{ print "-v", $1 "=" $2 }' ../values) "BEGIN { exit !($1) }"; then return 0; fi
    echo "expected $1, found:" && cat ../values
    return 1
}

# The cells of two columns of a table, a line a row: for `holds` where the first begins with a letter; PREFIX may be one.
pairs() { # TABLE NAME VALUE [PREFIX]
    awk -F '\t' -v name="$2" -v value="$3" -v prefix="$4" '
        /^#/ { next }
        !n { for (i = 1; i <= NF; i++) if ($i == name) n = i; else if ($i == value) v = i; next }
        { print prefix $n, $v }' "$1"
}

# The Fourier shell correlation of two maps, lines "s1 VALUE" and on; and the least one to a shell, as "least".
fsc() { # A B [SHELL]
    regather fsc "$1" "$2" --quiet --out fsc.tsv > ../fsc 2>&1 || { cat ../fsc && return 1; }
    pairs fsc.tsv shell fsc s | awk -v last="${3:-0}" '
        { print }
        NR == 2 || (NR > 2 && $2 < least && NR <= last + 1) { least = $2 }
        END { print "least", least }'
}

# What the calls of a routine needed of the machine, from the column `needs` of a job's stages.
need() { # STAGES ROUTINE
    sed -n "s/^$2[:\t].*fp32=//p" "$1"
}
