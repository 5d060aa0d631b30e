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

step verify "$results/verify.tsv" "$regather" verify autocorr --device $device --out "$results/verify.tsv"
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
mkdir -p "$results/$preset/align" "$results/$preset/average"
step tilt "$results/$preset/tilt/truth.tsv" "$regather" phantom tilt --width ${tilt% *} --images ${tilt#* } \
    --out "$results/$preset/tilt"
step align "$results/$preset/align/align.errors.tsv" align
step subtomograms "$results/$preset/subtomograms/truth.tsv" "$regather" phantom subtomograms --box ${box% *} --images ${box#* } \
    --out "$results/$preset/subtomograms"
step average "$results/$preset/average/average.errors.tsv" average

if fresh "$out/index.html" "$regather" "$results" reference/claims.tsv reference/published plots data/machines; then
    echo "report: up to date"
    [ ! -e "$results/report.log" ] || cat "$results/report.log"
    exit 0
fi
"$regather" report "$results/bench-$preset.tsv" "$results/selftest.tsv" --verify "$results/verify.tsv" \
    --verify "$results/printed.tsv" --job "$results/$preset/simd" \
    --job "$results/$preset/$second" --machines data/machines --out "$out" > "$results/report.new"
code=$?
cat "$results/report.new"
mv "$results/report.new" "$results/report.log"
touch "$out/index.html"
exit $code
