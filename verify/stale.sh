#!/bin/sh
# SPDX-License-Identifier: MIT
# stale.sh BUILD [FOLDER [TAG]]: lists records in FOLDER (data/machines) with rows whose kernel or job has changed its source
# since they were timed, or whose kernel is unknown. A line a file; exit 1 if there is one and this is a release, a commit with
# a tag v* (TAG).
build=$(realpath "${1:?usage: verify/stale.sh BUILD [FOLDER [TAG]]}") folder=${2:-}
[ -n "$folder" ] || { cd "$(dirname "$0")/.." && folder=data/machines; } || exit 2
# The tag of this tree's own repository, not of one in which the tree was unpacked.
tag=${3:-$([ -n "${2:-}" ] || [ ! -e .git ] || git describe --exact-match --tags --match 'v*' 2> /dev/null)}
found=0 files=0
for file in "$folder"/*.tsv; do
    files=$((files + 1))
    line=$(awk -F '\t' -v file="$file" '
        FILENAME != file { # {&rg_variant_ALGO_VARIANT, "HASH"}, or {"JOB", "HASH"},
            if (split($0, part, "\"") == 5) now["job_" part[2]] = part[4]
            if (split($0, part, "\"") == 3 && sub(/.*&rg_(variant|emulated)_/, "", part[1])) { sub(/,.*/, "", part[1]); now[part[1]] = part[2] }
            next
        }
        /^# table: / { counted = 0 }
        /^# source [a-z]+: sha256 / { # of a table; it may name several jobs
            job = $0; sub(/^# source /, "", job); then = job; sub(/:.*/, "", job); sub(/.*sha256 /, "", then)
            if (then != now["job_" job]) { tables += !counted; counted = 1; if (!(job in of)) jobs = jobs " " job; of[job] }
        }
        /^#/ || plain { next }
        !columns { for (i = 1; i <= NF; i++) at_column[$i] = i; columns = NF; plain = !("samples" in at_column) || !("status" in at_column); next }
        $(at_column["status"]) != "PASS" || $1 == "probe" { next }
        {
            job = $(at_column["scope"]) == "job"
            if (!job && $2 ~ /:/) next
            then = ("source" in at_column) ? $(at_column["source"]) : ""; sub(/^sha256 /, "", then)
            if (job && then ~ /^(unknown|$)/) next # early files of jobs have no hash; bench --job also takes other commands
            if (then == "") { without++; next }
            if (then == now[job ? "job_" $1 : $1 "_" $2]) next
            name = job ? $1 : $1 ":" $2
            stale++; if (!(name in known)) names = names " " name; known[name]
        }
        END {
            if (stale) printf "stale: %s: %d row%s timed before the code changed:%s\n", file, stale, (stale > 1 ? "s" : ""), names
            if (tables) printf "stale: %s: %d table%s of before the code changed:%s\n", file, tables, (tables > 1 ? "s" : ""), jobs
            if (without) printf "stale: %s: %d row%s without the hash of the source\n", file, without, (without > 1 ? "s" : "")
        }' "$build/sources.c" "$file") || exit 2
    [ -z "$line" ] || { echo "$line" && found=$((found + 1)); }
done
if [ $found -gt 0 ] && [ -n "$tag" ]; then
    echo "$tag is a release: its records have to be of its kernels"
    echo "$((files - found)) passed, $found failed, 0 skipped"
    exit 1
fi
echo "$((files - found)) passed, 0 failed, $found skipped"
