#!/bin/sh
# SPDX-License-Identifier: MIT
# check-deep.sh BUILD [PART...]: what takes longer than CI has: all parts one after another, or those named.
#   threads           threads of the CPU's variants under ThreadSanitizer
#   sizes sizes_host  the sizes of verify/thresholds.tsv that CI leaves out, on the CPU (and a GPU) and on the emulated GPU
#   again             mutants that passed once and are caught today
#   hand              mutants made by hand
#   faults            the n-th call of each kind fails in every command: FAULTS (100) of each, spread evenly; `make faults` has every n
#   mutants_host mutants_emulated  MUTANTS (250) random ones of SEED (1); a run that was stopped goes on where it was
# A part that has ended gets a row in check-deep.tsv; how long the last of that part took is said before it begins. Ends with
# "N passed, N failed, 0 skipped", of parts; exit 1 when one failed.
usage='verify/check-deep.sh BUILD [PART...]'
build=${1:?usage: $usage}
shift
cd "$(dirname "$0")/.." || exit 2
record=verify/check-deep.tsv all='threads sizes sizes_host again hand faults mutants_host mutants_emulated'
regather=$build/regather log=$build/check/deep.log
mkdir -p "$build/check" || exit 2
[ -s "$record" ] || printf 'part\tseconds\tcores\texit\tsaid\tcommit\tmachine\n' > "$record"
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all

run() {
    case $1 in
    threads) verify/threads/threads.sh "$build" ;;
    sizes) "$regather" verify --quiet --limit 600 --thresholds deep ;;
    sizes_host) "$regather" verify --quiet --limit 600 --thresholds deep --device host ;;
    again) verify/mutate/again.sh "$build" 2 host 71 163 && verify/mutate/again.sh "$build" 3 host 194 ;;
    hand) verify/mutate/hand.sh "$build" ;;
    faults) verify/faults/parts.sh "$build" "${FAULTS:-100}" "$build/check/faults.tsv" "$(nproc)" ;;
    mutants_*) verify/mutate/mutate.sh "$build" "${SEED:-1}" 1 "${MUTANTS:-250}" "${1#mutants_}" ;;
    esac
}

for part in "$@"; do
    case " $all " in *" $part "*) ;; *) echo "check-deep: no part $part; there are: $all" >&2 && exit 2 ;; esac
done
passed=0 failed=0
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
commit=$("$regather" --version | sed 's/.*commit //')
for part in "$@"; do
    awk -F '\t' -v part="$part" '$1 == part { line = sprintf("%s: took %d s on %d cores (%s)", part, $2, $3, $7) }
        END { print line == "" ? part ": never run" : line }' "$record"
    began=$(date +%s)
    run "$part" > "$log" 2>&1
    code=$?
    tail -n 20 "$log"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$part" $(($(date +%s) - began)) "$(nproc)" $code "$(tail -n 1 "$log" | tr '\t' ' ')" \
        "$commit" "$machine" >> "$record"
    [ $code = 0 ] && passed=$((passed + 1)) || failed=$((failed + 1))
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
