#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh BUILD: everything that `make check` runs after building: the test programs, the tables of cases, the list of variants,
# every variant against the reference on the CPU, on the GPU where there is one, and on the emulated GPU, and the kernels that are
# wrong on purpose. Logs go to BUILD/check/. Ends with "N passed, N failed, N skipped"; exit 1 when anything failed.
build=${1:?usage: verify/check.sh BUILD}
cd "$(dirname "$0")/.." || exit 2
regather=$build/regather
logs=$build/check
mkdir -p "$logs" || exit 2
passed=0 failed=0 skipped=0
REGATHER_PAGE=no # hundreds of jobs that nobody looks at; tests of the page unset it
export REGATHER_PAGE

now() { date +%s; }

# record NAME PASSED FAILED SKIPPED SECONDS: one line, and the log when something failed
record() {
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    word=ok
    [ "$3" -eq 0 ] || word=FAILED
    printf '%-7s %-24s %5d passed %3d failed %3d skipped %4d s\n' "$word" "$1" "$2" "$3" "$4" "$5"
    [ "$3" -eq 0 ] || sed 's/^/    /' "$logs/$1.log" | tail -n 60
}

# number PATTERN FILE: the number that the sed pattern takes from the last line it matches, else 0
number() {
    n=$(sed -n "s/$1/\\1/p" "$2" | tail -n 1)
    echo "${n:-0}"
}

# A cmocka program; its summary names how many passed, failed and were skipped. A program that dies counts as one failure, and one
# that hangs: 20 minutes are 30 times what the longest takes on two cores, for those of a busy machine and of a build with sanitizers.
test_program() {
    name=$(basename "$1") began=$(now)
    timeout 1200 "$1" > "$logs/$name.log" 2>&1
    code=$?
    p=$(number '^\[  PASSED  \] \([0-9]*\) test.*' "$logs/$name.log")
    f=$(number '^\[  FAILED  \] \([0-9]*\) test.*' "$logs/$name.log")
    s=$(number '^\[  SKIPPED \] \([0-9]*\) test.*' "$logs/$name.log")
    if [ $code -ne 0 ] && [ "$f" -eq 0 ]; then
        f=1
        echo "ended with status $code" >> "$logs/$name.log"
    fi
    [ "$((p + f + s))" -gt 0 ] || { f=1 && echo "no test was run" >> "$logs/$name.log"; }
    record "$name" "$p" "$f" "$s" $(($(now) - began))
}

# A command that ends in "N passed, N failed, N skipped". Exit 4: this machine lacks it.
command_line() {
    name=$1 began=$(now)
    shift
    "$@" > "$logs/$name.log" 2>&1
    code=$?
    line='^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$'
    counts=$(sed -n "s/$line/\\1 \\2 \\3/p" "$logs/$name.log" | tail -n 1)
    set -- ${counts:-0 0 0}
    p=$1 f=$2 s=$3
    if { [ $code -ne 0 ] && [ $code -ne 4 ] && [ "$f" -eq 0 ]; } || [ "$((p + f + s))" -eq 0 ]; then
        f=1
        echo "ended with status $code" >> "$logs/$name.log"
    fi
    record "$name" "$p" "$f" "$s" $(($(now) - began))
}

# Every descriptor of an algorithm or a variant that was compiled has its line in variants.def, and every line its descriptor.
# Asked of the objects, since macros make some; those whose source is gone do not count.
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

# The emulated GPU computes on one core: it gets one beside everything else, for its kernels and for those wrong on purpose;
# then the variants of CPU and GPU are verified there. Under ASan kernels are not watched by the emulator itself, whose words
# that table expects.
beside() { # NAME COMMAND...
    name=$1
    shift
    "$@" > "$logs/$name.out" 2>&1 &
    wait $!
    echo $? > "$logs/$name.code"
}
{
    trap 'kill $!; exit 1' TERM
    beside verify_emulated "$regather" verify --quiet --device host
    # shellcheck disable=SC2046
    [ "${SANITIZE:-0}" = 1 ] || beside broken_emulated "$regather" verify --quiet --limit 30 --device host \
        --expect verify/broken/expected.tsv $(plugins "$build"/broken/host/*.so)
    beside verify "$regather" verify --quiet
} &
others=$!
trap 'kill $others 2>/dev/null' EXIT
for source in verify/tests/*/test_*.c verify/tests/*/test_*.cc; do
    [ -e "$source" ] || continue
    test_program "$build/${source%.*}"
done
for table in verify/cases/*.tsv; do
    command_line "cases_$(basename "$table" .tsv)" timeout 1200 verify/cases/cases.sh "$build" "$table"
done
command_line variants_list check_list
command_line symbols verify/symbols.sh "$build"
command_line words verify/words.sh
command_line install verify/install.sh "$build"
command_line asked_once verify/asked_once.sh
command_line stale verify/stale.sh "$build"
command_line defaults_told verify/defaults.sh
command_line counters_told verify/counters.sh
grep '^stale:' "$logs/stale.log"
command_line fuzz verify/fuzz/fuzz.sh "$build" replay
# One call of each kind in each command fails, another one every day; `make faults` has them all. ASan cannot be preloaded after.
[ "${SANITIZE:-0}" = 1 ] || command_line faults env SEED="$(date +%Y%j)" verify/faults/faults.sh "$build" 1 "$logs/faults.tsv"
# shellcheck disable=SC2046
command_line broken "$regather" verify --quiet --limit 5 --expect verify/broken/expected.tsv \
    $(plugins "$build"/broken/*.so "$build"/broken/gpu/*.so)
wait $others
outcome() { # NAME: of what ran beside
    cat "$logs/$1.out"
    return "$(cat "$logs/$1.code")"
}
command_line verify outcome verify
command_line verify_emulated outcome verify_emulated
[ "${SANITIZE:-0}" = 1 ] || command_line broken_emulated outcome broken_emulated
# Nothing runs beside it. On a processor with a file in data/tuned: are the declared defaults as fast?
[ "${SANITIZE:-0}" = 1 ] || command_line defaults bench/defaults.sh "$build"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
