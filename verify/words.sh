#!/bin/sh
# SPDX-License-Identifier: MIT
# words.sh [TREE]: sentences about results are in report/words only. Elsewhere in report, a quoted text has at most two words,
# except in messages (rg_fail, rg_warn), lists of columns and --help; and no code in report or bench searches a text for words
# separated by a blank, as strstr and sscanf would to parse a sentence. Prints each line that violates this; ends with "N
# passed, N failed, N skipped"; exit 1 if there is one.
cd "${1:-$(dirname "$0")/..}" || exit 2
find report bench -name '*.[ch]' | sort | xargs awk '
    function say(what) { print FILENAME ":" FNR ": " what ": " $0; bad[FILENAME] = 1 }
    FNR == 1 {
        passed++
        message = 0
        silent = FILENAME ~ /^report\// && FILENAME !~ /^report\/(words\/|report\.c)/
    }
    /^[[:space:]]*(\/\/|#include)/ { next }
    {
        line = $0
        sub(/[[:space:]]\/\/ .*$/, "", line)
        message = message || line ~ /(rg_fail|rg_warn|rg_end|rg_tsv_needs)\(/
        if (line ~ /str(case)?str\([^;()]*"[^"]*[a-z] [a-z][^"]*"/ || line ~ /sscanf\([^;()]*"([^"]*[ ;])?[a-z]+ [a-z]+ [^"]*"/)
            say("reads a sentence")
        if (silent && !message && line ~ /"[^"]*[a-z,][a-z,]+ [a-z]+ [a-z][a-z]+[^"]*"/) say("a sentence")
        if (line ~ /[;{][[:space:]]*$/) message = 0
    }
    END {
        for (f in bad) failed++
        print passed - failed " passed, " failed + 0 " failed, 0 skipped"
        exit failed > 0 || !passed
    }' || exit 1
