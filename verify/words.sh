#!/bin/sh
# SPDX-License-Identifier: MIT
# words.sh [TREE]: sentences about results stand in report/words alone. Elsewhere in report no text in quotes has three words and
# more, but in messages (rg_fail, rg_warn), lists of columns and --help; and nobody in report or bench looks for words with a blank
# between them in a text, as strstr and sscanf would to read a sentence back. Prints each line that does; ends with "N passed, N
# failed, N skipped"; exit 1 when there is one.
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
