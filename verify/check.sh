#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh BUILD [NAME...]: runs all tests of `make check` after the build, or those with these names: the test programs, the
# tables of cases, the list of variants, every variant against the reference on the CPU, on the GPU if there is one, and on the
# emulated GPU, and the kernels that are wrong on purpose. Runs as many in parallel as there are cores. Each prints a line when
# it ends, and has its log in BUILD/check/. Ends with "N passed, N failed, N skipped"; exit 1 if anything failed.
build=${1:?usage: verify/check.sh BUILD [NAME...]}
shift
cd "$(dirname "$0")/.." || exit 2
regather=$build/regather
logs=$build/check
mkdir -p "$logs" || exit 2
REGATHER_PAGE=no # nobody reads the pages of hundreds of jobs; tests of the page unset it
# Threads sleep while they wait: several programs share the cores here, and a spinning thread delays the one it waits for.
OMP_WAIT_POLICY=passive
export REGATHER_PAGE OMP_WAIT_POLICY

# Every compiled descriptor of an algorithm or a variant has its line in variants.def, and every line its descriptor. Read from
# the objects, since macros define some; objects without a source do not count.
check_list() {
    objects=$(find "$build/impl" "$build/emulated" -name '*.o' | while read -r object; do
        source=${object#"$build"/} && source=${source#emulated/} && source=${source%.o}
        [ ! -e "$source.c" ] && [ ! -e "$source.cu" ] || echo "$object"
    done)
    # shellcheck disable=SC2086
    in_files=$(nm -g --defined-only $objects | sed -n 's/.* [BDR] rg_\(variant\|emulated\|algo\)_\([a-z0-9_]*\)$/\2/p' | sort -u)
    in_list=$(sed -n 's/^\(ALGO\|HOST\|CUDA\)(\([a-z0-9_]*\)).*/\2/p' impl/variants.def | sort)
    [ "$in_files" = "$in_list" ] && echo "1 passed, 0 failed, 0 skipped" && return 0
    printf '%s\n' "$in_files" > "$logs/in_files"
    printf '%s\n' "$in_list" > "$logs/in_list"
    echo "impl/variants.def and the sources differ (< in the sources only, > in the list only):"
    diff "$logs/in_files" "$logs/in_list"
    echo "0 passed, 1 failed, 0 skipped"
    return 1
}

plugins() {
    for so in "$@"; do
        [ -e "$so" ] && printf ' --plugin %s' "$so"
    done
}

# Limits test programs to 20 minutes, 30 times the longest on two cores, for busy machines and builds with sanitizers.
run() {
    # shellcheck disable=SC2046
    case $1 in
    test_*) timeout 1200 "$build"/verify/tests/*/"$1" ;;
    cases_*) timeout 1200 verify/cases/cases.sh "$build" "verify/cases/${1#cases_}.tsv" ;;
    verify) "$regather" verify --quiet ;;
    verify_emulated) "$regather" verify --quiet --device host ;;
    broken) "$regather" verify --quiet --limit 5 --expect verify/broken/expected.tsv $(plugins "$build"/broken/*.so "$build"/broken/gpu/*.so) ;;
    broken_emulated)
        "$regather" verify --quiet --limit 30 --device host --expect verify/broken/expected.tsv $(plugins "$build"/broken/host/*.so) ;;
    # One call of each kind fails in each command, another one every day; `make faults` runs them all.
    faults) SEED=$(date +%Y%j) verify/faults/faults.sh "$build" 1 "$logs/faults.tsv" ;;
    defaults) env -u OMP_WAIT_POLICY bench/defaults.sh "$build" ;; # for processors with a file in data/tuned
    variants_list) check_list ;;
    symbols | install | stale) "verify/$1.sh" "$build" ;;
    words | asked_once) "verify/$1.sh" ;;
    defaults_told | counters_told) "verify/${1%_told}.sh" ;;
    fuzz) verify/fuzz/fuzz.sh "$build" replay ;;
    *) echo "nothing of that name" && return 1 ;;
    esac
}

# Runs one test and prints its line, and the end of its log if something failed. cmocka prints the passed, failed and skipped
# tests in a line each; all others end in "N passed, N failed, N skipped". A test that crashes or prints no counts is one
# failure. Exit 4: this machine lacks something.
one() {
    log=$logs/$1.log began=$(date +%s)
    run "$1" > "$log" 2>&1
    code=$?
    times > "$logs/$1.times" # its second line: user and system time of the children
    cpu=$(awk 'NR == 2 { split($0, t, /[ms ]+/); printf "%.0f", 60 * (t[1] + t[3]) + t[2] + t[4] }' "$logs/$1.times")
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
    case $1 in test_*) counts=$(awk '/^\[  (PASSED|FAILED|SKIPPED) *\] [0-9]+ test/ { n[$2] = $4 }
        END { print n["PASSED"] + 0, n["FAILED"] + 0, n["SKIPPED"] + 0 }' "$log") ;; esac
    # shellcheck disable=SC2086
    set -- "$1" ${counts:-0 0 0}
    if { [ $code -ne 0 ] && [ $code -ne 4 ] && [ "$3" -eq 0 ]; } || [ $(($2 + $3 + $4)) -eq 0 ]; then
        set -- "$1" "$2" 1 "$4"
        echo "ended with status $code, $2 tests passed" >> "$log"
    fi
    echo "$2 $3 $4" > "$logs/$1.counts"
    word=ok
    [ "$3" -eq 0 ] || word=FAILED
    printf '%-7s %-24s %5d passed %3d failed %3d skipped %4d s, %d s of CPU\n' "$word" "$1" "$2" "$3" "$4" \
        $(($(date +%s) - began)) "$cpu"
    [ "$1" != stale ] || grep '^stale:' "$log"
    [ "$3" -eq 0 ] || sed 's/^/    /' "$log" | tail -n 60
}
if [ "$1" = --one ]; then
    said=$(one "$2")
    echo "$said"
    exit 0
fi

# Longest first, so that all cores end together. Two tests cannot run with ASan: faults preloads faults.so, but ASan must be
# loaded first; broken_emulated expects messages of the emulator, which leaves checks of kernels to ASan.
if [ $# = 0 ]; then
    long='verify_emulated broken_emulated verify faults cases_procure cases_browser cases_bench cases_memory cases_jobs cases_duel'
    sources=$(ls verify/tests/*/test_*.c verify/tests/*/test_*.cc)
    # shellcheck disable=SC2046,SC2086
    set -- $(printf '%s\n' $long $(basename -a $sources | sed 's/[.].*//') $(basename -a verify/cases/*.tsv | sed 's/^/cases_/; s/[.]tsv//') \
        variants_list symbols words install asked_once stale defaults_told counters_told fuzz broken | awk -v sanitize="${SANITIZE:-0}" '
        seen[$1]++ || (sanitize == 1 && /^(faults|broken_emulated)$/) { next } { print }')
    alone=defaults # measures times, so nothing runs beside it
    [ "${SANITIZE:-0}" = 0 ] || alone=
fi
for name in "$@" $alone; do rm -f "$logs/$name.counts"; done
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 verify/check.sh "$build" --one
[ -z "$alone" ] || one "$alone"
for name in "$@" $alone; do cat "$logs/$name.counts" 2> /dev/null || echo 0 1 0; done |
    awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
