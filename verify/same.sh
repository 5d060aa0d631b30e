#!/bin/sh
# SPDX-License-Identifier: MIT
# same.sh BUILD [N [GATE [cpu|gpu [OUT.tsv [SECONDS]]]]]: how often `bench` and `compare` tell equals apart. Times kernels of each paper at
# several shapes twice, one file after the other, and compares the files at GATE (2%), until N (50) rows have been compared; nothing else
# should run on the machine. OUT.tsv (BUILD/same.tsv) gets a row a comparison. Prints how often each verdict came; exit 1 when
# one says FASTER, SLOWER or BROKEN, 4 when a row cannot be timed here.
build=${1:?usage: verify/same.sh BUILD [N [GATE [cpu|gpu [OUT.tsv [SECONDS]]]]]}
n=${2:-50} gate=${3:-2%} device=${4:-cpu} out=${5:-$build/same.tsv} seconds=${6:-2}
cd "$(dirname "$0")/.." || exit 2
work=$build/same
mkdir -p "$work" || exit 2
threads=''
case $device in
cpu) threads='--threads 1' ;;
esac

# A kernel and its shapes, from calls of some 10 us to some 10 ms.
rows() {
    case $device in
    cpu)
        echo autocorr:simd w150,h300,r16,k0 w375,h750,r16,k0 w64,h64,r8,k0
        echo autocorr:fftw w150,h300,r16,k0 w375,h750,r16,k0
        echo gridding:simd_gather s65,i4,o1,b19,k0 s65,i16,o1,b19,k0 s33,i4,o1,b19,k0
        echo gridding:simd_scatter s65,i4,o1,b19,k0 s33,i16,o1,b19,k0
        ;;
    *)
        echo autocorr:gather w150,h300,r50,k0 w375,h750,r50,k0 w750,h1500,r50,k0 w750,h1500,r250,k0
        echo autocorr:cufft w150,h300,r50,k0 w375,h750,r50,k0 w750,h1500,r250,k0
        echo gridding:gather s65,i32,o1,b19,k0 s129,i16,o1,b19,k0 s257,i8,o1,b19,k0
        echo gridding:scatter s65,i32,o1,b19,k0 s129,i16,o1,b19,k0 s257,i8,o1,b19,k0
        ;;
    esac
}

time_once() { # FILE KERNEL SHAPE...
    file=$1 kernel=$2 shapes=''
    shift 2
    for shape; do shapes="$shapes --shape $shape"; done
    # shellcheck disable=SC2086
    "$build/regather" bench "$kernel" $shapes --device "$device" --mode hot $threads --max-seconds "$seconds" --quiet --out "$file" > "$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 4
    }
}

printf 'kernel\tshape\tverdict\tmedian_A_ns\tmedian_B_ns\tratio\tlow\thigh\n' > "$out" || exit 2
all=0
while [ "$all" -lt "$n" ]; do
    rows > "$work/rows"
    while read -r row; do
        [ "$all" -lt "$n" ] || break
        rm -f "$work"/*.tsv "$work"/*.part
        # shellcheck disable=SC2086
        { time_once "$work/a.tsv" $row && time_once "$work/b.tsv" $row; } < /dev/null
        "$build/regather" compare "$work/a.tsv" "$work/b.tsv" --gate "$gate" --out "$work/c.tsv" > "$work/log" 2>&1
        [ -s "$work/c.tsv" ] || { cat "$work/log" >&2; exit 2; }
        awk -F '\t' -v OFS='\t' '/^#/ || $1 == "verdict" { next } { print $2 ":" $3, $4, $1, $9, $10, $11, $12, $13 }' "$work/c.tsv" >> "$out"
        all=$(awk 'END { print NR - 1 }' "$out")
    done < "$work/rows"
done
count() { awk -F '\t' -v w="$1" 'NR > 1 && $3 == w { n++ } END { print n + 0 }' "$out"; }
printf 'rows\tSAME\tFASTER\tSLOWER\tUNSURE\tother\n'
same=$(count SAME) faster=$(count FASTER) slower=$(count SLOWER) unsure=$(count UNSURE)
other=$((all - same - faster - slower - unsure))
printf '%d\t%d\t%d\t%d\t%d\t%d\n' "$all" "$same" "$faster" "$slower" "$unsure" $other
[ $((faster + slower + other)) -eq 0 ]
