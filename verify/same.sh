#!/bin/sh
# SPDX-License-Identifier: MIT
# same.sh BUILD [N [GATE [cpu|gpu [OUT.tsv [SECONDS]]]]]: how often `bench` and `compare` find a difference between equals.
# Times kernels of each paper at the shapes of preset quick twice, one file after the other, SECONDS (1) a row, and compares the
# files at GATE (2%), one paper after another until N (50) rows have been compared; nothing else should run on the machine.
# OUT.tsv (BUILD/same.tsv) gets a row a comparison. Prints the number of each verdict; exit 1 if one says FASTER, SLOWER or
# BROKEN, 3 if rows are left to run, 4 if one cannot be timed here.
#   SAME_TIME=S   ends after S seconds; the same command then continues, until the program is built again
build=${1:?usage: verify/same.sh BUILD [N [GATE [cpu|gpu [OUT.tsv [SECONDS]]]]]}
n=${2:-50} gate=${3:-2%} device=${4:-cpu} out=${5:-$build/same.tsv} seconds=${6:-1}
cd "$(dirname "$0")/.." || exit 2
now() { date +%s; }
stop=$(($(now) + ${SAME_TIME:-1000000}))
work=$build/same/$device,$gate,$seconds
[ -z "$(find "$build/regather" -newer "$build/same/program" 2> /dev/null)" ] || rm -rf "$build/same"
mkdir -p "$work" && touch "$build/same/program" || exit 2

# A line for each paper.
case $device in
cpu) threads='--threads 1' kernels='autocorr:simd autocorr:fftw
gridding:simd_gather gridding:autovec
affine2d:simd align2d:simd align3d:simd
ccp:simd cc3m:simd pinsert_s:simd' ;;
*) threads='' kernels='autocorr:gather autocorr:cufft
gridding:gather gridding:scatter
affine2d:gather align2d:batch align3d:batch
ccp:batch cc3m:batch pinsert_s:owned' ;;
esac

time_once() { # FILE KERNEL...: keeps the rows of a killed run and continues it
    file=$1
    shift
    [ ! -e "$file" ] || return 0
    left=$((stop - $(now)))
    [ $left -gt 0 ] || return 3
    # shellcheck disable=SC2086
    timeout $left "$build/regather" bench "$@" --device "$device" --preset quick --mode hot $threads --max-seconds "$seconds" --quiet \
        --resume --out "$file" > "$work/log" 2>&1 < /dev/null
    code=$?
    [ $code -ne 124 ] || return 3
    [ $code -eq 0 ] || { cat "$work/log" >&2; return 4; }
}

# Prints all comparisons done so far.
table() {
    printf 'kernel\tshape\tverdict\tmedian_A_ns\tmedian_B_ns\tratio\tlow\thigh\twhy\n'
    for c in "$work"/*.c.tsv; do
        [ ! -e "$c" ] || awk -F '\t' -v OFS='\t' '/^#/ || $1 == "verdict" { next } { print $2 ":" $3, $4, $1, $9, $10, $11, $12, $13, $14 }' "$c"
    done
}
rows() { table | awk 'END { print NR - 1 }'; }

pass=1 code=0
while [ $code -eq 0 ] && [ "$(rows)" -lt "$n" ]; do
    paper=1
    while [ $code -eq 0 ] && [ $paper -le 4 ] && [ "$(rows)" -lt "$n" ]; do
        at=$work/$pass.$paper
        kernel=$(echo "$kernels" | sed -n ${paper}p)
        # shellcheck disable=SC2086
        time_once "$at.a.tsv" $kernel && time_once "$at.b.tsv" $kernel
        code=$?
        [ $code -ne 0 ] || "$build/regather" compare "$at.a.tsv" "$at.b.tsv" --gate "$gate" --out "$at.c.tsv" > "$work/log" 2>&1
        [ $code -ne 0 ] || [ -s "$at.c.tsv" ] || { cat "$work/log" >&2; exit 2; }
        paper=$((paper + 1))
    done
    pass=$((pass + 1))
done

{
    sed -n '/^# \(suite\|revision\|date\|machine\|cpu\|cores\|kernel\|gpu\|gpu_driver\): /p' "$work/1.1.a.tsv" 2> /dev/null
    echo "# gate: $gate"
    table
} > "$out" || exit 2
awk -F '\t' '/^#/ || $1 == "kernel" { next } { all++; n[$3]++ }
    END {
        print "rows\tSAME\tFASTER\tSLOWER\tUNSURE\tother"
        other = all - n["SAME"] - n["FASTER"] - n["SLOWER"] - n["UNSURE"]
        printf "%d\t%d\t%d\t%d\t%d\t%d\n", all, n["SAME"], n["FASTER"], n["SLOWER"], n["UNSURE"], other
        exit n["FASTER"] + n["SLOWER"] + other > 0
    }' "$out" || exit 1
exit $code
