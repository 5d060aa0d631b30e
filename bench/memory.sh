#!/bin/sh
# SPDX-License-Identifier: MIT
# memory.sh: runs every job on a GPU with limited memory, and compares the results with those of the same job without limit.
#   sh bench/memory.sh REGATHER FOLDER TABLE.tsv [LIMITS [HELD]]
# LIMITS: GiB that the job may take (REGATHER_GPU_MEMORY); the first must be more than any job takes, its results are the
# reference. HELD: GiB of the GPU that another process holds after a first run without; LIMITS is then one number. DEVICE=host
# is the emulated GPU. FOLDER: inputs of the papers' sizes, made if missing (as in bench/record/plan.tsv), results and the log.
# A row is a job and a limit, written when the job ends, also if it fails. About 6 minutes on an H100.
REGATHER=$1 work=$2 table=$3 limits=${4:-80 48 24 16 12 8} held=${5:-0}
# shellcheck source=bench/steps/functions.sh
. "$(dirname "$0")/steps/functions.sh"
log=$work/memory.log out=$work/memory
mkdir -p "$work/memory"

# ---- inputs ---------------------------------------------------------------------------------------------------------------

inputs() {
    [ -e "$work/420/first_28881.star" ] ||
        { regather phantom particles --box 420 --images 1600 --out "$work/420" --quiet && cycled 420 28881; } || return
    [ -e "$work/500/first_1000.star" ] ||
        { regather phantom particles --box 500 --images 200 --shape d7 --sigma 1.5 --ctf --snr 0.25 --shift 1 --quiet \
            --out "$work/500" && subsets 500 24 100 && cycled 500 1000; } || return
    [ -e "$work/tilt/series.mrc" ] || regather phantom tilt --width 2048 --images 100 --out "$work/tilt" --quiet || return
    [ -e "$work/sub/truth.tsv" ] || regather phantom subtomograms --box 90 --images 20 --snr 1 --out "$work/sub" --quiet || return
    [ -e "$work/series/truth.tsv" ] || ls "$work"/series/*.png > /dev/null 2>&1 ||
        regather phantom coarsening --width 750 --height 1500 --frames 8 --out "$work/series" --quiet
}

# Prints a job a line: name, size, comparison (map or rows), ending of the compared file, arguments; OUT is the result's path.
jobs() {
    cat << END
reconstruct_per_operator	28881 x 420^2	map	.mrc	reconstruct $work/420/first_28881.star --sym I1 --per-operator --out OUT.mrc
reconstruct_lattice	28881 x 420^2	map	.mrc	reconstruct $work/420/first_28881.star --sym I1 --out OUT.mrc
reconstruct_frealign	1000 x 500^2	map	.mrc	reconstruct $work/500/first_1000.star --method frealign --sym D7 --out OUT.mrc
search	24 x 500^2	rows	.star	search $work/500/first_24.star --reference $work/500/map.mrc --sym D7 --out OUT.star
refine	100 x 500^2	rows	.star	refine $work/500/wrong_100.star --reference $work/500/map.mrc --out OUT.star
align	100 x 2048^2	rows	.tsv	align $work/tilt/series.mrc --out OUT.tsv
average	20 x 90^3	map	.mrc	average $(echo "$work"/sub/subtomogram_*.mrc) --wedge 60 --out OUT.mrc
autocorr	8 x 750 x 1500	rows	/rmax.tsv	autocorr $(echo "$work"/series/*.png) --max-offset 250 --out OUT
END
}

# ---- comparisons ----------------------------------------------------------------------------------------------------------

map() { # the minimum Fourier shell correlation of two maps
    "$REGATHER" fsc "$1" "$2" --out "$work/memory/fsc.tsv" --quiet > /dev/null &&
        awk -F '\t' '/^#/ { next } !fsc { for (i = 1; i <= NF; i++) if ($i == "fsc") fsc = i; least = 1; next }
            $fsc + 0 == $fsc && $fsc < least { least = $fsc }
            END { print (least > 0.999 ? "same" : "differs"), "(FSC " least " and more)" }' "$work/memory/fsc.tsv"
}
rows() { # the largest difference between corresponding numbers of two tables
    grep -v '^#' "$1" > "$work/memory/a" && grep -v '^#' "$2" > "$work/memory/b" &&
        paste -d '\n' "$work/memory/a" "$work/memory/b" | awk '
            NR % 2 { n = split($0, a); next }
            { if (split($0, b) != n) other = 1
              for (i = 1; i <= n; i++) {
                  d = a[i] - b[i]; d = d < 0 ? -d : d
                  if (a[i] + 0 == a[i] && b[i] + 0 == b[i]) most = d > most ? d : most; else if (a[i] != b[i]) other = 1 } }
            END { print (most <= 0.01 && !other ? "same" : "differs"), "(numbers by up to " most + 0 ")" }'
}

# ---- a job ----------------------------------------------------------------------------------------------------------------

taken() { # LOG predicted|taken: GiB, the most of all GPUs
    awk -v what="$2" '/^# memory of / { for (i = 1; i <= NF; i++) if (index($i, what) == 1 && $(i - 2) > most) most = $(i - 2) }
        END { if (most) printf "%.2f", most / 1024 ^ 3; else printf "-" }' "$1" 2> /dev/null || printf -- -
}
one() { # LABEL LIMIT NAME SIZE COMPARE FILE WORDS
    label=$1 limit=$2 name=$3 size=$4 compare=$5 file=$6 path=$out/$3_$1 first=$out/$3_$base
    words=$(printf '%s' "$7" | sed "s|OUT|$path|g")
    echo "== $name at $label: $words" >> "$log"
    since=$(date +%s.%N)
    # shellcheck disable=SC2086
    REGATHER_GPU_MEMORY=$limit "$REGATHER" $words --device "${DEVICE:-gpu}" --quiet > "$work/memory/said" 2>&1
    code=$?
    seconds=$(echo "$(date +%s.%N) $since" | awk '{ printf "%.2f", $1 - $2 }')
    cat "$work/memory/said" >> "$log"
    line=$(grep '^regather' "$work/memory/said" | tail -n 1 | tr '\t' ' ')
    case $code in
    0) if [ "$path" = "$first" ]; then result=reference; else result=$($compare "$first$file" "$path$file" 2>> "$log") || result="not compared"; fi ;;
    4) result="refused: $line" ;;
    *) result="exit $code: $line" ;;
    esac
    of=$path$file.log
    [ -d "$path" ] && of=$path/regather.log
    [ "$code" = 0 ] || { of=/dev/null && seconds=-; } # the time until a refusal means nothing
    printf '%s@%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$label" "$name" "$size" "$label" "$(taken "$of" predicted)" "$(taken "$of" taken)" \
        "$seconds" "$result" | tee -a "$log" >> "$table"
}
all() { # LABEL LIMIT
    jobs > "$work/memory/jobs"
    while IFS="$(printf '\t')" read -r name size compare file words; do
        one "$1" "$2" "$name" "$size" "$compare" "$file" "$words"
    done < "$work/memory/jobs"
}

: > "$log"
printf 'of\tjob\tsize\tlimit_GiB\tpredicted_GiB\ttaken_GiB\tseconds\tresult\n' > "$table"
inputs >> "$log" 2>&1 || { echo "memory.sh: inputs could not be made, see $log" >&2; exit 2; }
base=${limits%% *}
for limit in $limits; do all "$limit" "${limit}GiB"; done
[ "$held" = 0 ] && exit 0
${CC:-cc} -x c -o "$work/memory/hold" - -ldl << 'END' || exit 2
// Holds so many GiB of the first GPU until it is killed. By the driver alone: no nvcc is needed.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context, *memory;
    int device, code = driver ? 0 : -1;
    const size_t bytes = (size_t)(atof(argc > 1 ? argv[1] : "0") * 0x1p30);
    if (!code) code = ((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
    if (!code) code = ((int (*)(int *, int))dlsym(driver, "cuDeviceGet"))(&device, 0);
    if (!code) code = ((int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, device);
    if (!code) code = ((int (*)(void *))dlsym(driver, "cuCtxSetCurrent"))(context);
    if (!code) code = ((int (*)(void **, size_t))dlsym(driver, "cuMemAlloc_v2"))(&memory, bytes);
    printf("%s: %s, error %d of the driver\n", *argv, code ? "no memory" : "holds", code);
    fflush(stdout);
    return code ? 4 : pause();
}
END
"$work/memory/hold" "$held" > "$work/memory/held" &
holder=$!
while ! grep -q . "$work/memory/held" && kill -0 $holder 2> /dev/null; do sleep 0.1; done
grep -q holds "$work/memory/held" || { cat "$work/memory/held" >&2; exit 4; }
all "beside_$held" "$base"GiB
kill $holder
