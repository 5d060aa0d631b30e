#!/bin/sh
# SPDX-License-Identifier: MIT
# reproduce.sh BUILD PRESET: everything behind `make reproduce` after the build: check, measure, do the job on a simulated
# series, write the report. A step is done again only when what it made is missing or older than what it was made from, so that
# a second run rebuilds nothing. PRESET quick takes minutes on two cores, paper (the papers' sizes) far longer.
set -u
build=${1:?usage: report/reproduce.sh BUILD PRESET} preset=${2:-quick}
cd "$(dirname "$0")/.." || exit 2
regather=$build/regather results=$build/results
out=${REPORT_DIR:-report}
mkdir -p "$results/$preset" || exit 2
# Another preset makes another report.
[ "$(cat "$results/preset" 2>/dev/null)" = "$preset" ] || echo "$preset" > "$results/preset"

# fresh PRODUCT FROM...: PRODUCT exists and is not older than any FROM
fresh() {
    product=$1
    shift
    [ -e "$product" ] || return 1
    for from in "$@"; do
        [ -z "$(find "$from" -newer "$product" -type f 2>/dev/null | head -n 1)" ] || return 1
    done
}

# step NAME MADE COMMAND...: runs COMMAND unless MADE is newer than the program. A failed check (exit 1) and something that this
# machine lacks (exit 4) are results all the same and stand in the report.
step() {
    name=$1 made=$2
    shift 2
    if fresh "$made" "$regather"; then
        echo "$name: up to date"
        return 0
    fi
    echo "$name: $*"
    began=$(date +%s)
    "$@" > "$results/$name.log" 2>&1
    code=$?
    tail -n 1 "$results/$name.log" | sed "s/^/$name: /"
    case $code in
    0 | 1 | 4) [ -e "$made" ] || code=2 ;;
    *) code=2 ;;
    esac
    if [ $code = 2 ]; then
        echo "$name: failed, see $results/$name.log" >&2
        exit 2
    fi
    touch "$made"
    echo "$name: $(($(date +%s) - began)) s"
}

# CUDA variants are checked on the GPU where there is one, else as built for the host.
device=host scopes=device
if "$regather" list autocorr 2>/dev/null | grep -Eq '^ +gather +here'; then device=gpu scopes=device,transfer; fi

# verify_both ALGO NAME SHAPE: without a GPU the CUDA kernels are checked as built for the host, at this shape alone (`make check`
# takes them through all), into NAME-host.tsv.
verify_both() {
    if [ $device = gpu ]; then
        "$regather" verify "$1" --out "$results/$2.tsv"
        return
    fi
    "$regather" verify "$1" --device host --shape "$3" --out "$results/$2-host.tsv" || return
    "$regather" verify "$1" --device cpu --out "$results/$2.tsv"
}

# resume: a killed run goes on where it stopped; an older binary's rows are not mixed in
bench() {
    fresh "$results/bench-$preset.tsv.part" "$regather" ||
        rm -f "$results/bench-$preset.tsv" "$results/bench-$preset.tsv.part"
    "$regather" bench autocorr --preset "$preset" --scope "$scopes" --resume --out "$results/bench-$preset.tsv"
}
# centred: in eq. 1 as it stands the falling overlap tilts C1D, which moves or hides a broad peak.
job() { # VARIANT
    "$regather" autocorr "$results/$preset"/series/*.png --times "$results/$preset/series/times.tsv" --max-offset "$offset" \
        --norm centred --spectrum --resume --variant "$1" --out "$results/$preset/$1"
}
# The kernels of gridding that are wrong on purpose: exit 1 is what they are for.
gallery() {
    set --
    for so in "$build"/broken/gridding_*.so; do
        kernel=$(basename "$so" .so)
        set -- "$@" "gridding:$kernel.so:$kernel" --plugin "$so"
    done
    "$regather" trace "$@" --real-space --out "$results/trace"
}
# Kernels that are wrong on purpose: each has to be found out, so exit 1 is right.
faults() { # ALGO KERNEL DEVICE
    so=$build/broken/$2.so
    [ "$3" = cpu ] || so=$build/broken/$3/$2.so
    "$regather" verify "$1:$2.so:$2" --device "$3" --plugin "$so" --out "$results/$2.tsv"
}
grid_tune() {
    "$regather" tune gridding:gather --shape s257,i52,o1,b19,k0 --resume --out "$results/grid-tune.tsv"
}
grid_bench() {
    fresh "$results/grid-$preset.tsv.part" "$regather" || rm -f "$results/grid-$preset.tsv" "$results/grid-$preset.tsv.part"
    set -- --preset "$preset"
    [ "$preset-$device" != quick-host ] ||
        set -- --shape s65,i32,o1,b19,k0 --shape s129,i16,o1,b19,k0 --shape s257,i8,o1,b19,k0 --max-seconds 0.4 --rounds 4
    "$regather" bench gridding "$@" --resume --out "$results/grid-$preset.tsv"
}
# A phantom with noise in half maps, by the CPU and by the GPU where there is one; one without noise against its exact map.
grid_job() {
    j=$results/grid-job
    "$regather" phantom particles --box 48 --images 600 --snr 0.05 --out "$j/noisy" || return
    "$regather" phantom particles --box 48 --images 600 --out "$j/clean" || return
    "$regather" reconstruct "$j/clean/particles.star" --sym I1 --out "$j/clean.mrc" --variant simd_gather || return
    "$regather" fsc "$j/clean.mrc" "$j/clean/map.mrc" --out "$j/truth.tsv" || return
    "$regather" reconstruct "$j/noisy/particles.star" --half-maps --out "$j/cpu.mrc" --variant simd_gather || return
    "$regather" fsc "$j/cpu_half1.mrc" "$j/cpu_half2.mrc" --out "$j/fsc_cpu.tsv" || return
    [ $device = gpu ] || return 0
    "$regather" reconstruct "$j/noisy/particles.star" --half-maps --out "$j/gpu.mrc" --variant gather || return
    "$regather" fsc "$j/gpu_half1.mrc" "$j/gpu_half2.mrc" --out "$j/fsc_gpu.tsv"
}
# Alignment.
affine_verify() {
    verify_both affine2d affine2d w65,h63,m2,o2,t136 && verify_both align2d align2d w65,h63,m2,o2,t136 &&
        verify_both align3d align3d w15,h16,d17,m3,o0,t0
}
affine_bench() {
    rm -f "$results/affine-$preset.tsv"
    set -- --preset "$preset"
    [ "$preset" != quick ] || set -- --preset quick --max-seconds 0.2 --rounds 4
    for algo in affine2d align2d align3d; do
        "$regather" bench $algo "$@" --resume --out "$results/affine-$preset.tsv" || return
    done
}
# FREALIGN's routines.
frealign="cc3m ccp pinsert_s sigma2 presb ccoef ctfapply"
frealign_verify() {
    verify_both ccp ccp s16,p2,k133,t2,b3,u2 && verify_both pinsert_s pinsert_s s16,p2,k35,t1,b5 &&
        verify_both ctfapply ctfapply s32,p2,k64,t1 || return
    for algo in cc3m sigma2 presb ccoef; do
        verify_both $algo $algo s20,p3,k64,t5,b7,a2 || return
    done
}
frealign_bench() {
    rm -f "$results/frealign-$preset.tsv"
    set -- --preset "$preset"
    [ "$preset-$device" != quick-host ] || set -- --preset quick --max-seconds 0.05 --rounds 2
    for algo in $frealign; do
        "$regather" bench $algo "$@" --resume --out "$results/frealign-$preset.tsv" || return
    done
}
# The modes on phantoms: few particles where there is no GPU; shares of the run time want some more of them.
frealign_jobs() {
    gpu=1 sides=100 counts="24 100 1000" core="2 20 200"
    [ $device = gpu ] || { gpu=0 counts="4 40 400"; }
    [ "$preset" = quick ] || sides="100 150 200 250 300 350 400 450 500" counts="24 100 1000" core="4 40 200"
    FR_SIDES=$sides FR_COUNTS=$counts FR_CORE_COUNTS=$core FR_GPU=$gpu FR_SECONDS=1 FR_WORK=$results/frealign-work \
        report/frealign_jobs.sh "$regather" "$results/frealign-$preset" modes || return
    FR_SIDES=100 FR_COUNTS="24 100 1000" FR_CORE_COUNTS="4 80 800" FR_MAP=100 FR_GPU=$gpu FR_WORK=$results/frealign-work \
        report/frealign_jobs.sh "$regather" "$results/frealign-$preset" shares fsc
}
# Series and subtomograms of known transforms: as much noise as signal, a missing wedge of 60 degrees, no reference given.
average() {
    "$regather" average "$results/$preset"/subtomograms/subtomogram_*.mrc --wedge 60 --half-maps \
        --truth "$results/$preset/subtomograms/truth.tsv" --out "$results/$preset/average/average.mrc"
}
align() {
    "$regather" align "$results/$preset/tilt/series.mrc" --tilts "$results/$preset/tilt/series.rawtlt" \
        --truth "$results/$preset/tilt/truth.tsv" --out "$results/$preset/align/align.tsv"
}
case $preset in
quick) offset=120 width=375 height=750 time=105 tilt="512 6" box="48 8" ;;
*) offset=250 width=750 height=1500 time=240 tilt="2048 100" box="90 20" ;;
esac
second=fftw
[ $device = host ] || second=gather

step verify "$results/verify.tsv" verify_both autocorr verify w65,h33,r16,k0
# Listing 1 on a bright image: refused elsewhere, run here to show the overflow.
step printed "$results/printed.tsv" "$regather" verify autocorr_printed:as_printed --device $device --no-refuse \
    --pattern maximum --shape w64,h400,r16,g255 --out "$results/printed.tsv"
step bench "$results/bench-$preset.tsv" bench
cp "$results/bench-$preset.tsv" "$build/bench.tsv" # what `regather autocorr` chooses its variant by
step selftest "$results/selftest.tsv" "$regather" bench autocorr --self-test --out "$results/selftest.tsv"
step series "$results/$preset/series/times.tsv" "$regather" phantom coarsening --width $width --height $height \
    --time $time --out "$results/$preset/series"
step job "$results/$preset/simd/rmax.tsv" job simd
step job2 "$results/$preset/$second/rmax.tsv" job $second
step trace "$results/trace/gridding_right.tsv" gallery
mkdir -p "$results/$preset/align" "$results/$preset/average"
step tilt "$results/$preset/tilt/truth.tsv" "$regather" phantom tilt --width ${tilt% *} --images ${tilt#* } \
    --out "$results/$preset/tilt"
step align "$results/$preset/align/align.errors.tsv" align
step subtomograms "$results/$preset/subtomograms/truth.tsv" "$regather" phantom subtomograms --box ${box% *} --images ${box#* } \
    --out "$results/$preset/subtomograms"
step average "$results/$preset/average/average.errors.tsv" average

step affine-verify "$results/align3d.tsv" affine_verify
step affine-bench "$results/affine-$preset.tsv" affine_bench

grid=$results/grid-job
step grid-verify "$results/grid-verify.tsv" verify_both gridding grid-verify s33,i2,o1,b19,k3
for fault in gridding_mates_missing gridding_transposed; do
    step "$fault" "$results/$fault.tsv" faults gridding "$fault" cpu
done
step gridding_no_atomics "$results/gridding_no_atomics.tsv" faults gridding gridding_no_atomics $device
[ $device = host ] || step grid-tune "$results/grid-tune.tsv" grid_tune
step grid-bench "$results/grid-$preset.tsv" grid_bench
step grid-job "$grid/fsc_cpu.tsv" grid_job

step frealign-verify "$results/ccoef.tsv" frealign_verify
step frealign_barrier_only "$results/frealign_barrier_only.tsv" faults pinsert_s frealign_barrier_only $device
step frealign-bench "$results/frealign-$preset.tsv" frealign_bench
step frealign-jobs "$results/frealign-$preset.fr_plain.tsv" frealign_jobs

# What is there of the files and tables that a machine without a GPU does not make.
set -- "$results/bench-$preset.tsv" "$results/grid-$preset.tsv" "$results/affine-$preset.tsv" "$results/frealign-$preset.tsv" \
    "$results/frealign-$preset.modes.tsv" "$results/selftest.tsv"
[ ! -e "$results/grid-tune.tsv" ] || set -- "$@" "$results/grid-tune.tsv"
for checked in verify verify-host printed affine2d affine2d-host align2d align2d-host align3d align3d-host grid-verify \
    grid-verify-host gridding_mates_missing gridding_transposed gridding_no_atomics frealign_barrier_only \
    $(for algo in $frealign; do echo "$algo $algo-host"; done); do
    [ ! -e "$results/$checked.tsv" ] || set -- "$@" --verify "$results/$checked.tsv"
done
for table in truth fsc_cpu fsc_gpu; do
    [ ! -e "$grid/$table.tsv" ] || set -- "$@" --table "$table=$grid/$table.tsv"
done
for table in fr_shares fr_half_cpu fr_half_gpu fr_cycle fr_same fr_plain; do
    [ ! -e "$results/frealign-$preset.$table.tsv" ] || set -- "$@" --table "$table=$results/frealign-$preset.$table.tsv"
done
set -- "$@" --table "small_job=$grid/cpu_stages.tsv" --table "align_error=$results/$preset/align/align.errors.tsv" \
    --table "average_error=$results/$preset/average/average.errors.tsv"

if fresh "$out/index.html" "$regather" "$results" reference plots data/machines; then
    echo "report: up to date"
    [ ! -e "$results/report.log" ] || cat "$results/report.log"
    exit 0
fi
"$regather" report "$@" --job "$results/$preset/simd" --job "$results/$preset/$second" --traces "$results/trace" \
    --machines data/machines --out "$out" > "$results/report.new"
code=$?
cat "$results/report.new"
mv "$results/report.new" "$results/report.log"
touch "$out/index.html"
exit $code
