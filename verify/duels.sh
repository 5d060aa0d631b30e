#!/bin/sh
# SPDX-License-Identifier: MIT
# duels.sh BUILD [N [BUSY [DEVICE [GATE [SECONDS]]]]]: how often `regather duel` is right. N duels (100) of a kernel against itself, and N against
# itself with 5 % planted by a calibrated loop (duels/planted.c; on DEVICE gpu planted.cu), at a shape of about 10 us and one of about 10 ms, while
# BUSY (6) endless loops run beside them. Prints a table of the verdicts; exit 1 when a duel of equals says FASTER or SLOWER, more
# than 10 % of them are UNSURE, or less than 99 % of the planted ones are SLOWER.
build=${1:?usage: verify/duels.sh BUILD [N [BUSY [DEVICE [GATE [SECONDS]]]]]}
n=${2:-100} busy=${3:-6} device=${4:-cpu} gate=${5:-2%} seconds=${6:-120}
cd "$(dirname "$0")/.." || exit 2
regather=$build/regather
work=$build/duels
mkdir -p "$work" || exit 2
# shellcheck disable=SC2046
case $device in
gpu*)
    shapes='w32,h32,r2,k0 w768,h768,r16,k0'
    ${NVCC:-nvcc} $("$regather" --cflags cuda) verify/duels/planted.cu -o "$work/planted.so" || exit 2
    ;;
*)
    shapes='w32,h32,r2,k0 w192,h192,r13,k0'
    ${CC:-cc} $("$regather" --cflags) verify/duels/planted.c -lm -o "$work/planted.so" || exit 2
    ;;
esac

loops=''
trap '[ -z "$loops" ] || kill $loops' EXIT
trap 'exit 130' INT TERM
for _ in $(seq "$busy"); do
    while :; do :; done &
    loops="$loops $!"
done

wrong=0
kernel=autocorr:planted.so:planted
printf 'kernel\tplanted\tduels\tSAME\tFASTER\tSLOWER\tUNSURE\tother\tseconds\n'
for shape in $shapes; do
    for percent in 0 5; do
        log=$work/$shape.$percent.log
        : > "$log"
        began=$(date +%s)
        for seed in $(seq "$n"); do
            "$regather" duel --plugin "$work/planted.so" "$kernel" "$kernel:percent=$percent" --shape "$shape" --gate "$gate" \
                --seed "$seed" --device "$device" --max-seconds "$seconds" --quiet >> "$log" 2>&1
        done
        count() { grep -c "^$1 " "$log"; }
        same=$(count SAME) faster=$(count FASTER) slower=$(count SLOWER) unsure=$(count UNSURE)
        other=$((n - same - faster - slower - unsure))
        printf '%s\t%s %%\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n' "$shape" $percent "$n" "$same" "$faster" "$slower" "$unsure" $other \
            $(($(date +%s) - began))
        if [ $percent -eq 0 ]; then
            [ $((faster + slower + other)) -eq 0 ] && [ $((10 * unsure)) -le "$n" ] || wrong=1
        else
            [ $((100 * slower)) -ge $((99 * n)) ] || wrong=1
        fi
    done
done
exit $wrong
