#!/bin/sh
# SPDX-License-Identifier: MIT
# frealign_jobs.sh REGATHER PREFIX PART...: the modes of FREALIGN on phantoms of symmetry D7, for reproduce.sh and record.sh.
#   modes     PREFIX.modes.tsv      search, refine, reconstruct as rows of scope `job`: one core, all cores, one GPU
#   scaling   PREFIX.modes_gpus.tsv, PREFIX.fr_merged.tsv      the same with four times the particles (shape sSIDE,many) on each
#                                   of FR_GPUS, and with FR_AGAIN times as many again, their images named that often
#                                   (sSIDE,longer); map on the most of them against that on one
#   shares    PREFIX.fr_shares.tsv  share of each routine in the run time, in percent: one core, GPU; the last of FR_SIDES
#   fsc       PREFIX.fr_*.tsv       maps of the CPU and the GPU after refinement, and of the same poses; the first of FR_SIDES
# FR_SIDES of the images; FR_COUNTS particles searched, refined, reconstructed, FR_CORE_COUNTS on one core, FR_MAP for a map of
# fsc; FR_CPU which of "one all"; FR_GPU 0 without; FR_GPUS to scale over; FR_SECONDS a row (a run that takes longer is timed
# once); FR_LABEL what the heads of tables say of the machine; FR_WORK where images go (default in /dev/shm).
set -u
regather=$(realpath "${1:?usage: report/frealign_jobs.sh REGATHER PREFIX PART...}") prefix=$(realpath "${2:?PREFIX is missing}")
shift 2
sides=${FR_SIDES:-100 150 200 250 300 350 400 450 500} counts=${FR_COUNTS:-24 100 1000} cores=${FR_CORE_COUNTS:-4 40 200}
cpu=${FR_CPU-one all} gpu=${FR_GPU:-1} gpus=${FR_GPUS:-1,2,4,8} seconds=${FR_SECONDS:-20}
again=${FR_AGAIN:-8} label=${FR_LABEL:-this machine} images=${FR_MAP:-1000} work=${FR_WORK:-/dev/shm/regather-frealign}
mkdir -p "$work" && cd "$work" && rm -f ./*.part ./*/*.part || exit 2 # of jobs that were stopped

# particles SIDE COUNT: SIDE/particles.star of so many at least. first SIDE COUNT: SIDE/first_COUNT.star, SIDE/wrong_COUNT.star,
# the same with each angle off by up to 2 degrees and each shift by up to a pixel.
particles() {
    [ "$(grep -c @ "$1/particles.star" 2>/dev/null)" -ge "$2" ] 2>/dev/null ||
        "$regather" phantom particles --shape d7 --box "$1" --images "$2" --sigma 1.5 --ctf --snr 0.25 --shift 1 --out "$1" \
            --quiet || exit
}
first() {
    awk -v most="$2" '/@/ { if (n++ < most) print; next } { print }' "$1/particles.star" > "$1/first_$2.star"
    awk -v most="$2" -v pixel="$(awk -v side="$1" 'BEGIN { print 258 / side }')" '
        function off(most) { return most * (2 * rand() - 1) }
        BEGIN { srand(7) }
        /@/ { if (n++ < most) { for (a = 3; a < 6; a++) $a += off(2); $6 += off(pixel); $7 += off(pixel); print } next }
        { print }' "$1/particles.star" > "$1/wrong_$2.star"
}
# repeated SIDE COUNT TIMES: SIDE/first_COUNTxTIMES.star and SIDE/wrong_COUNTxTIMES.star, every row so many times.
repeated() {
    for rows in first wrong; do
        awk -v times="$3" '/@/ { row[n++] = $0; next } { print }
            END { for (t = 0; t < times; t++) for (i = 0; i < n; i++) print row[i] }' \
            "$1/${rows}_$2.star" > "$1/${rows}_$2x$3.star"
    done
}

# job MODE SIDE COUNT OUT
job() {
    case $1 in
    search) echo "search $2/first_$3.star --reference $2/map.mrc --sym D7 --out $4.star" ;;
    refine) echo "refine $2/wrong_$3.star --reference $2/map.mrc --out $4.star" ;;
    reconstruct) echo "reconstruct $2/first_$3.star --method frealign --sym D7 --out $4.mrc" ;;
    esac
}

# row MODE SIDE COUNT SHAPE GPUS OPTIONS: to a file of its own in rows/, so that several can run at a time
row() {
    "$regather" bench --job "$(job "$1" "$2" "$3" "{out}") $6" --gpus "$5" --work "$(($(echo "$3" | tr x '*'))):particles" \
        --shape "$4" --rounds 2 --max-seconds "$seconds" --quiet --out "rows/$1-$4-$5-$(echo "$6" | tr -dc 0-9).tsv" > /dev/null
}
# The rows as one file; what another machine of this kind has not (more GPUs) is a row that says so.
join() {
    set -- "$1" rows/*.tsv
    { cat "$2" && for file in "$@"; do
        [ "$file" = "$1" ] || [ "$file" = "$2" ] || grep -v '^#' "$file" | sed 1d
    done; } > "$1.new" && mv "$1.new" "$1"
    rm -r rows
}
nth() { shift "$1" && echo "$1"; }
last() { shift $(($# - 1)) && echo "$1"; }
# keep FILE TABLE: a table of a job, its head saying which machine and commit
keep() { { echo "# $label, $("$regather" --version)" && cat "$1"; } > "$prefix.$2.tsv"; }

modes() {
    rm -rf rows && mkdir rows
    for side in $sides; do
        particles "$side" "$(nth 3 $counts)"
        for n in $counts $cores; do first "$side" "$n"; done
    done
    [ "$gpu" = 0 ] || for side in $sides; do
        i=0
        for mode in search refine reconstruct; do i=$((i + 1)) && row $mode "$side" "$(nth $i $counts)" "s$side" 1 ""; done
    done
    # The three jobs of one core go on together where there are cores enough.
    case $cpu in *one*)
        for side in $sides; do
            i=0
            for mode in search refine reconstruct; do
                i=$((i + 1))
                row $mode "$side" "$(nth $i $cores)" "s$side" 0 "--threads 1" &
                [ "$(nproc)" -gt 4 ] || wait
            done
            wait
        done ;;
    esac
    case $cpu in *all*)
        for side in $sides; do
            i=0
            for mode in search refine reconstruct; do i=$((i + 1)) && row $mode "$side" "$(nth $i $counts)" "s$side" 0 ""; done
        done ;;
    esac
    join "$prefix.modes.tsv"
}

scaling() {
    rm -rf rows && mkdir rows
    for side in $sides; do
        i=0 many=""
        for n in $counts; do many="$many $((4 * n))"; done
        particles "$side" "$(nth 3 $many)"
        for n in $many; do first "$side" "$n"; done
        first "$side" "$(nth 3 $cores)" && row reconstruct "$side" "$(nth 3 $cores)" "s$side,many" 0 "--threads 1" &
        for mode in search refine reconstruct; do
            i=$((i + 1))
            row $mode "$side" "$(nth $i $many)" "s$side,many" "$gpus" ""
        done
        wait
        i=0
        for mode in search refine reconstruct; do
            i=$((i + 1))
            n=$(nth $i $many) && repeated "$side" "$n" "$again"
            row $mode "$side" "${n}x$again" "s$side,longer" "$gpus" ""
        done
    done
    join "$prefix.modes_gpus.tsv"
    particles 128 1000 && first 128 1000
    "$regather" $(job reconstruct 128 1000 one) --gpus 1 --quiet > /dev/null || return 0 # no GPU
    for n in $(echo "$gpus" | tr , ' '); do
        [ "$n" -gt 1 ] && "$regather" $(job reconstruct 128 1000 all) --gpus "$n" --quiet > /dev/null &&
            "$regather" fsc one.mrc all.mrc --out merged.tsv > /dev/null && keep merged.tsv fr_merged
    done
    return 0
}

shares() {
    side=$(last $sides) i=0
    particles "$side" "$(nth 3 $counts)"
    for mode in search refine reconstruct; do
        i=$((i + 1))
        for column in cpu gpu; do
            n=$(nth $i $cores) options="--device cpu --threads 1"
            [ $column = cpu ] || { [ "$gpu" != 0 ] || continue; n=$(nth $i $counts) options=; }
            first "$side" "$n"
            "$regather" $(job $mode "$side" "$n" share) $options --quiet 2> /dev/null |
                awk -F '\t' -v mode=$mode -v column=$column '
                    NF >= 3 && $1 !~ /^(stage|whole)$/ {
                        sub(/:.*/, "", $1)
                        print mode "." $1 "\t" column "\t" (sub(/ %/, "", $3) ? $3 : 100 * $3)
                    }'
        done
    done | awk -F '\t' -v side="$side" '
        { share[$1, $2] = $3; if (!($1 in seen)) part[n++] = $1; seen[$1] }
        $1 == "search.ccp" || $1 == "search.cc3m" { share["search.both", $2] += $3; seen["search.both"] }
        END {
            print "# images of " side " x " side "; cpu is one core"
            print "part\tcpu\tgpu"
            if ("search.both" in seen) part[n++] = "search.both"
            for (i = 0; i < n; i++) {
                line = part[i]
                for (c = 1; c < 3; c++) {
                    key = part[i] SUBSEP (c < 2 ? "cpu" : "gpu")
                    line = line "\t" (key in share ? share[key] : "-")
                }
                print line
            }
        }' > shares.tsv && keep shares.tsv fr_shares
}

# Poses that are off are refined by the CPU and by the GPU, and each makes its map: fr_half_cpu, fr_half_gpu are FSC of its half
# maps, fr_cycle that of the two maps. fr_same: the GPU's map from the CPU's poses; fr_plain: that of the plain C insertion.
fsc() {
    side=$(nth 1 $sides) n=$images
    particles "$side" "$n" && first "$side" "$n"
    map() { "$regather" reconstruct "$1" --method frealign --sym D7 --out "$2.mrc" --quiet $3 > /dev/null; }
    compare() { "$regather" fsc "$1.mrc" "$2.mrc" --out pair.tsv > /dev/null && keep pair.tsv "$3"; }
    "$regather" refine "$side/wrong_$n.star" --reference "$side/map.mrc" --out "$side/cpu.star" --device cpu \
        --quiet > /dev/null &&
        map "$side/cpu.star" cpu "--device cpu" && keep cpu_fsc.tsv fr_half_cpu || exit
    map "$side/cpu.star" plain "--device cpu --variant pinsert_s:naive" && compare cpu plain fr_plain || exit
    [ "$gpu" != 0 ] || return 0
    "$regather" refine "$side/wrong_$n.star" --reference "$side/map.mrc" --out "$side/gpu.star" --quiet > /dev/null &&
        map "$side/gpu.star" gpu "" && keep gpu_fsc.tsv fr_half_gpu && compare cpu gpu fr_cycle || exit
    map "$side/cpu.star" same "" && compare cpu same fr_same
}

for part; do
    case $part in
    modes | scaling | shares | fsc) "$part" || exit ;;
    *) echo "frealign_jobs.sh: $part: no such part" >&2 && exit 2 ;;
    esac
done
rm -rf "$work"
