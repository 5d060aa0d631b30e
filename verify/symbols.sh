#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh BUILD [FOLDER...]: checks the symbols of the objects below BUILD/FOLDER (default: report), whose folders are rooms:
# no file uses, directly or not, one of another room that uses it, and no more than three files of a room use each other. Prints
# each cycle; ends with "N passed, N failed, N skipped"; exit 1 if there is one.
build=${1:?usage: verify/symbols.sh BUILD [FOLDER...]}
shift
[ $# -gt 0 ] || set -- report
cd "$build" || exit 2
# Skips objects whose source is gone, if the sources are beside the build folder.
find "$@" -name '*.o' | sort | while read -r object; do
    [ ! -d "../$1" ] || [ -e "../${object%.o}.c" ] && nm -A "$object"
done | awk '
    { sub(/:/, " "); file = $1; kind = $(NF - 1); name = $NF }
    !(file in known) { known[file] = ++n; path[n] = file }
    kind ~ /^[BDRTVW]$/ { home[name] = known[file] }
    kind == "U" { user[++uses] = known[file]; used[uses] = name }
    function room(i, at) { at = path[i]; sub(/[^\/]*$/, "", at); return at }
    END {
        for (u = 1; u <= uses; u++) if (used[u] in home && home[used[u]] != user[u]) reach[user[u], home[used[u]]] = 1
        for (k = 1; k <= n; k++) for (i = 1; i <= n; i++) if ((i, k) in reach) for (j = 1; j <= n; j++) if ((k, j) in reach) reach[i, j] = 1
        for (i = 1; i <= n; i++) {
            circle = path[i]
            size = first = 1
            other = 0
            for (j = 1; j <= n; j++)
                if (j != i && (i, j) in reach && (j, i) in reach) {
                    circle = circle " " path[j]
                    size++
                    first = first && i < j
                    other += room(i) != room(j)
                }
            if (other || size > 3) { failed++; if (first) print "a circle: " circle } else passed++
        }
        print passed + 0 " passed, " failed + 0 " failed, 0 skipped"
        exit failed > 0 || !passed
    }'
