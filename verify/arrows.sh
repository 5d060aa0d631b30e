#!/bin/sh
# SPDX-License-Identifier: MIT
# arrows.sh [TREE]: checks every #include "..." of the tree (default: this one) against its verify/arrows.tsv, and prints each
# line that violates it. Ends with "N passed, N failed, N skipped"; exit 1 if a line failed.
cd "${1:-$(dirname "$0")/..}" || exit 2
find impl reference verify bench data report -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' | sort |
    xargs grep -n '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null | awk '
    function begins(path, room) { return path == room || index(path, room "/") == 1 }
    function room_of(path,    r, best, part) {
        for (r in may) if (begins(path, r) && r != path && length(r) > length(best)) best = r
        for (r in each)
            if (begins(path, r) && length(r) >= length(best)) {
                part = substr(path, length(r) + 2)
                if (sub(/\/.*/, "", part) && length(r "/" part) > length(best)) { best = r "/" part; may[best] = each[r] }
            }
        return best
    }
    function allowed(path, patterns,    n, i, pattern) {
        for (n = split(patterns, pattern, " "); n; n--) {
            gsub(/\./, "[.]", pattern[n])
            gsub(/\*/, ".*", pattern[n])
            if (path ~ ("^" pattern[n] "$")) return 1
        }
        return 0
    }
    function is_file(path,    line, there) { there = (getline line < path) >= 0; close(path); return there }
    BEGIN {
        for (FS = "\t"; (getline < "verify/arrows.tsv") > 0;)
            if ($0 !~ /^#/ && $1 != "room") { if (sub(/\/\*$/, "", $1)) each[$1] = $2; else may[$1] = $2 }
        FS = ":"
    }
    {
        from = to = $1
        split($0, quoted, "\"")
        sub(/[^\/]*$/, quoted[2], to)
        while (sub(/[^\/.]+\/\.\.\//, "", to)) ;
        if (!is_file(to)) to = is_file("impl/" quoted[2]) ? "impl/" quoted[2] : "impl/gpu/emulator/" quoted[2] # found by -I
        room = room_of(from)
        if (to == "impl/suite.h" || to ~ /revision.h$/ || (room_of(to) == room && room != "") || allowed(to, may[room] " " may[from]))
            passed++
        else {
            failed++
            print from ":" $2 ": #include \"" quoted[2] "\": " (room ? room : "a file without a room") " may not use " to \
                " (verify/arrows.tsv)"
        }
    }
    END { print passed + 0 " passed, " failed + 0 " failed, 0 skipped"; exit failed > 0 || !passed }'
