#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh: the fuzz targets of this folder on the files of seeds/.
#   fuzz.sh BUILD replay          as in `make check`: the files, and 400 damaged ones of each target, the same ones in every run
#   fuzz.sh BUILD run SECONDS     SECONDS shared by all targets, each time with a new seed; a line a target goes to runs.tsv
#   fuzz.sh BUILD total           the runs in runs.tsv, by target and in total
# Ends with "N passed, N failed, N skipped" or the total; exit 1 if a target failed, whose input is then crash-SEED-RUN here.
usage="usage: verify/fuzz/fuzz.sh BUILD replay | BUILD run SECONDS | BUILD total"
build=${1:?$usage} what=${2:?$usage} seconds=${3:-60}
cd "$(dirname "$0")/../.." || exit 2
program=$build/verify/fuzz/driver record=verify/fuzz/runs.tsv
export OMP_NUM_THREADS=1 # two threads on busy cores would spend the time waiting for each other
targets=$(ls verify/fuzz/seeds)
passed=0 failed=0
total() {
    awk -F'\t' '!/^#/ && $1 != "target" { runs[$1] += $2; all += $2 }
        END { for (t in runs) print t "\t" runs[t] | "sort"; close("sort"); printf "all\t%d\n", all }' "$record"
}
case $what in
replay)
    for target in $targets; do
        "$program" "$target" -runs=400 -seed=1 "verify/fuzz/seeds/$target" && passed=$((passed + 1)) && continue
        failed=$((failed + 1)) && echo "verify/fuzz/$target.c FAILED"
    done
    echo "$passed passed, $failed failed, 0 skipped" ;;
run)
    machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    commit=$("$build/regather" --version | sed 's/.*commit //')
    sanitized=$(grep -q 'fsanitize=address' "$build/flags" && echo ASan,UBSan || echo -)
    each=$((seconds / $(echo "$targets" | wc -w) + 1)) seed=$(date +%s)
    [ -e "$record" ] || printf 'target\truns\tseconds\tseed\tsanitizers\tcommit\tmachine\n' > "$record"
    for target in $targets; do
        line=$(nice -n 19 "$program" "$target" -max_total_time=$each -seed="$seed" "verify/fuzz/seeds/$target")
        [ $? = 0 ] || { failed=$((failed + 1)) && echo "verify/fuzz/$target.c FAILED with -seed=$seed" && continue; }
        echo "$target: $line"
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$target" "$(echo "$line" | cut -d' ' -f2)" $each "$seed" $sanitized "$commit" "$machine" >> "$record"
    done
    total ;;
total) total ;;
*) echo "$usage" >&2 && exit 2 ;;
esac
[ $failed = 0 ]
