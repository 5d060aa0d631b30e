#!/bin/sh
# SPDX-License-Identifier: MIT
# named.sh [TREE]: checks that source files named in comments exist, by path or the end of it. NAME.gp may be any; a build makes
# revision.h and sources.c, a kit run.sh; mine.c is the reader's. Ends with "N passed, N failed, N skipped"; exit 1 if one
# failed.
cd "${1:-$(dirname "$0")/..}" || exit 2
rooms=$(ls -d Makefile impl bench data plots reference report verify 2> /dev/null)
# shellcheck disable=SC2086
{ find $rooms -type f | sed 's/^/= /'
  find $rooms -path verify/tests -prune -o -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' \) -print |
      xargs -r grep -HnEo '//.*'
  find $rooms -path verify/tests -prune -o -type f \( -name '*.sh' -o -name '*.awk' -o -name '*.gp' -o -name Makefile \) -print |
      xargs -r grep -HnEo '(^|[[:blank:]])# .*'
} | awk '
    $1 == "=" {
        n = split($2, part, "/")
        for (end = part[n]; n; end = part[--n] "/" end) there[end] = 1
        next
    }
    {
        where = $0
        match(where, /^[^:]*:[0-9]*/)
        text = substr($0, RLENGTH + 2)
        where = substr(where, 1, RLENGTH)
        while (match(text, /[A-Za-z0-9_.\/-]*[A-Za-z0-9_]\.(cuh|cu|cc|c|h|sh|awk|gp|def)([^A-Za-z0-9_]|$)/)) {
            word = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            sub(/[^A-Za-z0-9_]$/, "", word)
            sub(/^(\.*\/)+/, "", word)
            if (word ~ /[A-Z][A-Z]|^(revision\.h|sources\.c|run\.sh|mine\.cu?)$/) continue
            if (word in there) passed++
            else { print where ": no file " word; failed++ }
        }
    }
    END { print passed + 0 " passed, " failed + 0 " failed, 0 skipped"; exit failed > 0 }'
