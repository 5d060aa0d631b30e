#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh [TREE]: comments of TREE/impl give idea, bound and source; measured times and rates are in records. Prints every
# comment with one ("12 ms", "3e9 pixels/s", "5 % faster"), or with a word that announces one, that does not name an existing
# file of data/machines or reference/published; and every first line with another file name. Ends with "N passed, N failed, N
# skipped"; exit 1 if a comment failed.
cd "${1:-$(dirname "$0")/..}" || exit 2
find impl -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' | sort | xargs awk '
    function is_file(path,    line, there) { there = (getline line < path) >= 0; close(path); return there }
    function judge(    rest, named) {
        if (text == "") return
        passed++
        if (text ~ /[0-9] ?([mun]s|GB\/s|TB\/s)([^a-z_]|$)|[0-9]e[0-9]+ [a-z -]*\/s|[0-9] % (faster|slower)|Outcome|Measured[: ]/) {
            rest = text
            while (match(rest, /(data\/machines|reference\/published)\/[A-Za-z0-9._-]*[a-z]/)) {
                named = named || is_file(substr(rest, RSTART, RLENGTH))
                rest = substr(rest, RSTART + RLENGTH)
            }
            if (!named) {
                print where ": a measurement, and no record that is there: " substr(text, 1, 100)
                passed--
                failed++
            }
        }
        text = ""
    }
    FNR == 1 { judge() }
    FNR == 2 && match($0, /^\/\/ [A-Za-z0-9_]+\.(c|h|cc|cu|cuh):/) {
        named = substr($0, 4, RLENGTH - 4)
        if (substr(FILENAME, length(FILENAME) - length(named)) == "/" named) passed++
        else { print FILENAME ":2: is called " named; failed++ }
    }
    /^[ \t]*\/\// {
        if (text == "") where = FILENAME ":" FNR
        sub(/^[ \t]*\/\/ ?/, "")
        text = text " " $0
        next
    }
    { judge() }
    match($0, /[;{},] *\/\/ /) { where = FILENAME ":" FNR; text = substr($0, RSTART + RLENGTH); judge() }
    END { judge(); print passed + 0 " passed, " failed + 0 " failed, 0 skipped"; exit failed > 0 || !passed }'
