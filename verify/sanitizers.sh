#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitizers.sh BUILD: runs compute-sanitizer on the CUDA code, on a machine with a GPU (`make sanitizers`).
# 1. Every CUDA variant under memcheck and racecheck, at the shapes of its smoke test: there must be no report.
# 2. Every CUDA kernel that is wrong on purpose under each tool, beside the verdicts of verify on the GPU and on the emulated
#    GPU (broken/expected.tsv, which `make check` tests): the table BUILD/sanitizers.tsv; verify/sanitizers.tsv is from the
#    reference machine. A tool may find nothing here: racecheck covers shared memory only, initcheck global memory only, and
#    guards around an array are within one allocation.
# Ends with "N passed, N failed, N skipped"; exit 1 if a variant was reported, 4 without a GPU or compute-sanitizer.
build=${1:?usage: verify/sanitizers.sh BUILD}
cd "$(dirname "$0")/.." || exit 2
regather=$build/regather
out=$build/sanitizers.tsv
jobs=6 # more would only wait for each other to initialise the GPU
command -v compute-sanitizer > /dev/null || { echo "compute-sanitizer is not installed (it comes with the CUDA toolkit)"; exit 4; }
nvidia-smi -L > /dev/null 2>&1 || { echo "no GPU here"; exit 4; }

log_of() { echo "$build/sanitizers/$1.$(echo "$2" | tr ':' '.').log"; }

# under TOOL VARIANT [OPTION...]: the reports of one tool: "clean", or their number and the first
under() {
    tool=$1 variant=$2
    shift 2
    log=$(log_of "$tool" "$variant")
    timeout 120 compute-sanitizer --tool "$tool" --target-processes all --print-limit 1000 "$regather" verify "$variant" \
        --quiet --device gpu --limit 60 --pattern random --smoke "$@" > "$log" 2>&1
    grep -q 'SUMMARY' "$log" || { echo "not run: $(grep -v '^=' "$log" | head -n 1)" && return; }
    reports=$(sed -n 's/^========= \{1,6\}\(\(Error: \)\{0,1\}\(Invalid\|Race\|Uninit\|Barrier\|Divergent\|Potential\|Program hit\)[^.]*\).*/\1/p' "$log")
    [ -n "$reports" ] || { echo clean && return; }
    echo "$(echo "$reports" | wc -l) x $(echo "$reports" | head -n 1 | sed 's/^Error: //; s/ at kernel.*//; s/ between.*//' | cut -c1-60)"
}

mkdir -p "$build/sanitizers" || exit 2
if [ "$2" = --one ]; then # makes one line of a table
    case $3 in
    *.so=*)
        so=${3%%=*} kernel=${3#*=} name=${3##*:}
        says() { awk -F'\t' -v name="$name" -v where="$1" '$2 == name && $3 ~ where {print $4 ": " $5}' verify/broken/expected.tsv; }
        line="$name\t$(says host)\t$(says gpu)"
        for tool in memcheck racecheck synccheck initcheck; do
            line="$line\t$(under $tool "$kernel" --plugin "$so")"
        done
        printf '%b\n' "$line" ;; # in one piece, since others write too
    *)
        for tool in memcheck racecheck; do
            said=$(under $tool "$3")
            [ "$said" != clean ] || grep -q '^[1-9][0-9]* passed, 0 failed' "$(log_of $tool "$3")" || said="not run: $(tail -n 1 "$(log_of $tool "$3")")"
            printf '%s\t%s\t%s\n' "$3" $tool "$said"
        done ;;
    esac
    exit 0
fi

variants=$("$regather" list --table variants --device host | awk -F'\t' 'NR > 1 {print $1 ":" $2}')
echo "$variants" | xargs -P "$jobs" -n 1 "$0" "$build" --one > "$build/sanitizers/variants.tsv"
cat "$build/sanitizers/variants.tsv"
{
    echo "# The same faults under two tools: verify on the emulated GPU (host) and on a GPU, and compute-sanitizer's four tools on"
    echo "# that GPU, $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1); made by verify/sanitizers.sh with $("$regather" --version)."
    echo "# An empty cell of verify_gpu: there the fault makes no difference that can be relied on."
    printf 'kernel\tverify_host\tverify_gpu\tmemcheck\tracecheck\tsynccheck\tinitcheck\n'
    for so in "$build"/broken/gpu/*.so; do # SO=ALGO:FILE:KERNEL
        "$regather" list --table variants --plugin "$so" | awk -F'\t' -v so="$so" '$2 ~ /:/ {print so "=" $1 ":" $2}'
    done | xargs -P "$jobs" -n 1 "$0" "$build" --one | sort
} > "$out"
grep -v '^#' "$out"
passed=$(grep -c 'clean$' "$build/sanitizers/variants.tsv")
failed=$(grep -c ' x ' "$build/sanitizers/variants.tsv")
skipped=$(grep -c 'not run' "$build/sanitizers/variants.tsv")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
