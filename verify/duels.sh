#!/bin/sh
# SPDX-License-Identifier: MIT
# duels.sh BUILD [N [BUSY [DEVICE [GATE [SECONDS]]]]]: how often `regather duel` is right. Runs N duels (100) of a kernel
# against itself, and N against itself with 5 % added by a calibrated loop (duels/planted.c; on DEVICE gpu planted.cu), at a
# shape of about 10 us and one of about 10 ms, while BUSY (6) endless loops run beside them; a few of each in turn, so that all
# four are equally far when it is stopped. Prints a table of the verdicts, of all devices measured with this build; the report
# shows it, as data/machines/NAME.duels.tsv. Exit 1 if a duel of equals says FASTER or SLOWER, more than 10 % of them are
# UNSURE, or less than 99 % of the planted ones are SLOWER; 3 if duels are left to run.
#   DUELS_CORES="0,1 2,3 ..."   shards: each runs its share of the duels and its own BUSY loops, all pinned to these cores
#   DUELS_GPUS=N                with DEVICE gpu: shard K uses the K-th of N GPUs
#   DUELS_TIME=S                ends after S seconds; the same command then continues; 0: only the table
# Results stay in BUILD/duels until the program is built again.
build=${1:?usage: verify/duels.sh BUILD [N [BUSY [DEVICE [GATE [SECONDS]]]]]}
n=${2:-100} busy=${3:-6} device=${4:-cpu} gate=${5:-2%} seconds=${6:-120}
build=$(realpath "$build") && script=$(realpath "$0") && cd "$(dirname "$0")/.." || exit 2
regather=$build/regather work=$build/duels
logs=$work/$device,$busy,$gate
case $device in
gpu*) shapes='w32,h32,r2,k0 w768,h768,r16,k0' ;;
*) shapes='w32,h32,r2,k0 w192,h192,r13,k0' ;;
esac
kernel=autocorr:planted.so:planted plugin=$logs/planted.so
now() { date +%s; }

# ---- one shard: DUELS_SHARD="K M", the K-th of M, until DUELS_STOP -----------------------------------------------------------

shard() { # K M
    children='' few=3 # duels in a row: their kernels are verified once
    trap '[ -z "$children" ] || kill $children 2>/dev/null' EXIT
    trap 'exit 130' INT TERM
    # A process with one visible GPU starts sooner.
    [ "$device" != gpu ] || [ "${DUELS_GPUS:-1}" -eq 1 ] || export CUDA_VISIBLE_DEVICES=$((($1 - 1) % DUELS_GPUS))
    for _ in $(seq "$busy"); do
        while :; do :; done &
        children="$children $!"
    done
    loops=$children
    for first in $(seq $((1 + few * ($1 - 1))) $((few * $2)) "$n"); do
        last=$((first + few - 1))
        [ $last -le "$n" ] || last=$n
        for shape in $shapes; do
            for percent in 0 5; do
                log=$logs/$shape.$percent.$first.log # a line a duel
                touch "$log"
                seed=$((first + $(wc -l < "$log"))) left=$((DUELS_STOP - $(now)))
                [ $left -gt 0 ] || return 0
                [ "$seed" -le "$last" ] || continue
                # In the background, so that a signal is handled at once.
                timeout $left "$regather" duel --plugin "$plugin" "$kernel" "$kernel:percent=$percent" --shape "$shape" --gate "$gate" \
                    --seed $seed --repeat $((last - seed + 1)) --device "$device" --max-seconds "$seconds" --quiet \
                    --out "$logs/$1.tsv" >> "$log" 2> "$logs/$1.said" &
                children="$loops $!"
                wait $!
                code=$?
                children=$loops
                [ $code -eq 124 ] || [ "$(wc -l < "$log")" -eq $((last - first + 1)) ] || { cat "$logs/$1.said" >&2; return 1; }
            done
        done
    done
}
if [ -n "${DUELS_SHARD:-}" ]; then
    # shellcheck disable=SC2086
    shard $DUELS_SHARD
    exit
fi

# ---- all shards ------------------------------------------------------------------------------------------------------------

[ -z "$(find "$regather" -newer "$work/program" 2> /dev/null)" ] || rm -rf "$work"
mkdir -p "$logs" && touch "$work/program" || exit 2
# shellcheck disable=SC2046
case $device in
gpu*) ${NVCC:-nvcc} $("$regather" --cflags cuda) verify/duels/planted.cu -o "$plugin" || exit 2 ;;
*) ${CC:-cc} $("$regather" --cflags) verify/duels/planted.c -lm -o "$plugin" || exit 2 ;;
esac
export DUELS_STOP=$(($(now) + ${DUELS_TIME:-1000000}))
shards=''
trap '[ -z "$shards" ] || kill $shards 2>/dev/null' EXIT
trap 'exit 130' INT TERM
# shellcheck disable=SC2086
set -- ${DUELS_CORES:-any}
m=$# k=0
for cores in "$@"; do
    k=$((k + 1)) pinned="taskset -c $cores"
    [ "$cores" != any ] || pinned=
    DUELS_SHARD="$k $m" $pinned "$script" "$build" "$n" "$busy" "$device" "$gate" "$seconds" &
    shards="$shards $!"
done
failed=0
for shard in $shards; do
    wait "$shard" || failed=1
done
shards=''
[ $failed -eq 0 ] || exit 1
if [ "${DUELS_TIME:-1}" -gt 0 ]; then
    [ ! -s "$logs/1.tsv" ] || sed -n '/^# \(suite\|revision\|date\|machine\|cpu\|cores\|kernel\|gpu\|gpu_driver\): /p' "$logs/1.tsv" > "$logs/head"
    echo "# shards: $device beside $busy loops: $m, $([ "$1" = any ] && echo not pinned || echo "each on cores as $1")" > "$logs/shards"
fi

# ---- the table -------------------------------------------------------------------------------------------------------------

{
    # Duels on a GPU, if any: their header names it.
    cat "$work"/gpu,*/head "$work"/cpu,*/head 2> /dev/null | awk -F : '!seen[$1]++'
    cat "$work"/*/shards 2> /dev/null
    printf 'device\tkernel\tplanted_percent\tgate\tbusy\tduels\tSAME\tFASTER\tSLOWER\tUNSURE\tother\tmedian_s\trequired\tmet\n'
    for log in "$work"/*,*,*/w*.log; do
        [ -s "$log" ] || continue
        settings=$(basename "$(dirname "$log")")
        sed "s/^/$settings	$(basename "$log")	/" "$log"
    done | awk -F '\t' -v OFS='\t' '
        {
            split($1, setting, ","); split($2, file, ".")
            key = setting[1] OFS file[1] OFS file[2] OFS setting[3] OFS setting[2]
            word = $3; sub(/ .*/, "", word)
            if (!(key in all)) order[++n] = key
            lasted = match($3, /dropped, [0-9.]+ [num]?s/) ? substr($3, RSTART + 9, RLENGTH - 9) : "0 s"
            unit = lasted; sub(/.* /, "", unit)
            s[key, ++all[key]] = lasted * (unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1)
            count[key, word ~ /^(SAME|FASTER|SLOWER|UNSURE)$/ ? word : "other"]++
        }
        END {
            for (i = 1; i <= n; i++) {
                key = order[i]; split(key, part, OFS)
                for (a = 2; a <= all[key]; a++) # sorted for the median
                    for (b = a; b > 1 && s[key, b - 1] > s[key, b]; b--) { t = s[key, b]; s[key, b] = s[key, b - 1]; s[key, b - 1] = t }
                bad = count[key, "FASTER"] + count[key, "SLOWER"] + count[key, "other"]
                met = part[3] == 0 ? bad == 0 && 10 * count[key, "UNSURE"] <= all[key] : 100 * count[key, "SLOWER"] >= 99 * all[key]
                wrong += !met
                print key, all[key], count[key, "SAME"] + 0, count[key, "FASTER"] + 0, count[key, "SLOWER"] + 0, count[key, "UNSURE"] + 0, \
                    count[key, "other"] + 0, sprintf("%.1f", s[key, int((all[key] + 1) / 2)]), \
                    part[3] == 0 ? "none FASTER or SLOWER, at most 10 % UNSURE" : "at least 99 % SLOWER", met ? "yes" : "no"
            }
            exit wrong > 0
        }'
} > "$work/duels.tsv"
code=$?
cat "$work/duels.tsv"
[ $code -eq 0 ] || exit 1
for shape in $shapes; do
    for percent in 0 5; do
        [ "$(cat "$logs/$shape.$percent".*.log 2> /dev/null | wc -l)" -ge "$n" ] || exit 3
    done
done
