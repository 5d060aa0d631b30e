#!/bin/sh
# SPDX-License-Identifier: MIT
# record.sh BUILD NAME PART...: what this machine does, for data/machines: the files NAME.*.tsv that `regather report` shows beside
# any other machine. PART is one of
#   verify     every variant against the reference            NAME.verify.tsv
#   photographs   2000 of 750 x 1500 on RECORD_GPUS (1,2,4)   NAME.autocorr_job.tsv
#   autocorr, gridding, affine, frealign                      NAME.PART.tsv: times at the papers' sizes; RECORD_SECONDS a row,
#                                                             RECORD_OPTIONS of `regather bench` instead of the papers' preset
#   energy     gridding's joules a call by the board's counter  NAME.energy.tsv
#   tune       gather's parameters, for data/tuned too        NAME.tune.tsv
#   fsc        half maps by the CPU and by the GPU            NAME.fsc_cpu.tsv, NAME.fsc_gpu.tsv, NAME.truth.tsv
#   job        28,881 images of 420 x 420 to a map            NAME.s9.tsv, .s9_lattice.tsv
#   online     the same by gather, tuned while running        NAME.online.tsv
#   tenth      a tenth of them, by the GPU and by the CPU     NAME.s9gpu.tsv, .s9cpu.tsv
#   align      100 images of 2048 x 2048, 20 volumes of 90^3  NAME.align_jobs.tsv, .align_error.tsv, .average_error.tsv
#   scaling    that job on 1, 2, 4, 8 GPUs                    NAME.s11_1.tsv...
#   modes, modes_scaling   FREALIGN's search, refinement and reconstruction, by report/frealign_jobs.sh and its variables FR_...
# RECORD_OUT is the folder (data/machines), RECORD_WORK where the jobs' files go (57 GB of memory or disk; default /dev/shm),
# RECORD_IMAGES of the job, RECORD_LABEL what the heads of the tables say of the machine.
set -u
regather=$(realpath "${1:?usage: report/record.sh BUILD NAME PART...}")/regather
name=${2:?usage: report/record.sh BUILD NAME PART...}
shift 2
cd "$(dirname "$0")/.." || exit 2
out=$(realpath "${RECORD_OUT:-data/machines}") seconds=${RECORD_SECONDS:-20} options=${RECORD_OPTIONS:---preset paper --max-call 3} images=${RECORD_IMAGES:-28881}
gpus=${RECORD_GPUS:-1}
label=${RECORD_LABEL:-$name}
work=${RECORD_WORK:-/dev/shm}/regather-record
frealign="cc3m ccp pinsert_s sigma2 presb ccoef ctfapply"
mkdir -p "$work" || exit 2

verify() {
    for algo in autocorr autocorr_printed gridding affine2d align2d align3d $frealign; do
        "$regather" verify $algo --quiet --out "$work/$algo.verify.tsv" | tail -n 1
    done
    # One head, then the rows of all.
    { cat "$work/autocorr.verify.tsv"; for algo in autocorr_printed gridding affine2d align2d align3d $frealign; do
        grep -v '^#' "$work/$algo.verify.tsv" | sed 1d
    done; } > "$out/$name.verify.tsv"
}

# measure FILE ALGO...
measure() {
    file=$out/$name.$1.tsv
    shift
    rm -f "$file" "$file.part"
    for algo; do
        "$regather" bench $algo $options --mode hot --quiet --max-seconds "$seconds" --resume --out "$file"
    done
}

# table FILE NAME: a job's table, its head saying which machine and commit
table() {
    { echo "# $label, $("$regather" --version), files in memory" && cat "$1"; } > "$out/$name.$2.tsv"
}

# The 8 photographs of a series, each 250 times: only the time matters.
photographs() {
    cd "$work" || exit 2
    "$regather" phantom coarsening --width 750 --height 1500 --frames 8 --out series --quiet || exit
    mkdir -p photographs
    for copy in $(seq 250); do
        for file in series/*.png; do cp "$file" "photographs/$copy-${file##*/}"; done
    done
    "$regather" bench --job "autocorr photographs/*.png --max-offset 250 --variant gather --out {out}" --gpus $gpus \
        --work 2000:photographs --shape w750,h1500,r250,k0 --rounds 2 --max-seconds 5 --quiet --out "$out/$name.autocorr_job.tsv"
}

# Of the CPU only where RAPL can be read; elsewhere energy_source says why not.
energy() {
    file=$out/$name.energy.tsv once="--mode hot --quiet --max-seconds 1 --rounds 2"
    rm -f "$file" "$file.part"
    for variant in scatter scatter_v4 gather owned simd_gather; do
        "$regather" bench gridding:$variant --shape s257,i52,o1,b19,k0 --scope kernel --energy $once --resume --out "$file"
    done
}

particles() { # IMAGES FOLDER
    cd "$work" || exit 2
    [ -e "$2/particles.star" ] || "$regather" phantom particles --box 420 --images "$1" --out "$2" || exit
}

job() {
    particles "$images" s9
    "$regather" reconstruct s9/particles.star --out lattice.mrc --sym I1 &&
        table lattice_stages.tsv s9_lattice
    "$regather" reconstruct s9/particles.star --out operators.mrc --sym I1 --per-operator &&
        table operators_stages.tsv s9
}

online() {
    particles "$images" s9
    "$regather" reconstruct s9/particles.star --out default.mrc --sym I1 --variant gather &&
        "$regather" reconstruct s9/particles.star --out tuning.mrc --sym I1 --variant gather --tune 24 &&
        {
            sed 1q default_stages.tsv
            printf 'run\tregion_s\n'
            for run in default tuning; do
                awk -v run=$run '$1 == "region" { print run "\t" $2 }' ${run}_stages.tsv
            done
        } > online_stages.tsv && table online_stages.tsv online
}

tenth() {
    particles $((images / 10)) tenth
    "$regather" reconstruct tenth/particles.star --out gpu.mrc --sym I1 --variant owned && table gpu_stages.tsv s9gpu
    "$regather" reconstruct tenth/particles.star --out cpu.mrc --sym I1 --variant simd_gather && table cpu_stages.tsv s9cpu
}

scaling() {
    particles "$images" s9
    for gpus in 1 2 4 8; do
        "$regather" reconstruct s9/particles.star --out on$gpus.mrc --sym I1 --per-operator --gpus $gpus || break
        table on${gpus}_stages.tsv s11_$gpus
    done
}

# A tilt series and subtomograms with as much noise as signal, the latter without a wedge of 60 degrees: times and errors.
align() {
    cd "$work" || exit 2
    "$regather" phantom tilt --width 2048 --images 100 --out tilt --quiet || exit
    "$regather" phantom subtomograms --box 90 --images 20 --snr 1 --out sub --quiet || exit
    row="--gpus 1 --rounds 2 --max-seconds 1 --quiet"
    "$regather" bench --job "align tilt/series.mrc --truth tilt/truth.tsv --out {out}.tsv" --shape w2048,h2048,i100 \
        --work 100:images $row --out jobs.tsv &&
        "$regather" bench --job "average sub/subtomogram_*.mrc --wedge 60 --out {out}.mrc" --shape w90,h90,d90,i20 \
            --work 20:volumes $row --resume --out jobs.tsv && mv jobs.tsv "$out/$name.align_jobs.tsv"
    "$regather" align tilt/series.mrc --truth tilt/truth.tsv --out a.tsv && table a.errors.tsv align_error
    "$regather" average sub/subtomogram_*.mrc --wedge 60 --truth sub/truth.tsv --out a.mrc && table a.errors.tsv average_error
}

# Half maps of a noisy phantom by the CPU and by the GPU, and a map without noise against the exact one.
fsc() {
    cd "$work" || exit 2
    "$regather" phantom particles --box 48 --images 600 --snr 0.05 --out noisy || exit
    "$regather" phantom particles --box 48 --images 600 --out clean || exit
    "$regather" reconstruct clean/particles.star --sym I1 --out clean.mrc &&
        "$regather" fsc clean.mrc clean/map.mrc --out truth.tsv && table truth.tsv truth || exit
    for device in cpu gpu; do
        variant=simd_gather
        [ $device = cpu ] || variant=gather
        "$regather" reconstruct noisy/particles.star --half-maps --out $device.mrc --variant $variant &&
            "$regather" fsc ${device}_half1.mrc ${device}_half2.mrc --out fsc_$device.tsv && table fsc_$device.tsv fsc_$device || exit
    done
}

for part; do
    echo "$part:"
    case $part in
    verify | photographs | energy | fsc | job | online | tenth | align | scaling) ("$part") ;;
    autocorr | gridding) measure "$part" "$part" ;;
    affine)
        measure affine affine2d align2d align3d
        for variant in batch batch_texture; do
            "$regather" bench align3d:$variant --shape w90,h90,d90,m46656,o0,t0 --scope transfer --mode hot --quiet \
                --max-seconds "$seconds" --resume --out "$out/$name.affine.tsv"
        done
        ;;
    frealign) measure frealign $frealign ;;
    modes) FR_LABEL=$label FR_WORK=$work/modes report/frealign_jobs.sh "$regather" "$out/$name" modes shares fsc ;;
    modes_scaling) FR_LABEL=$label FR_WORK=$work/modes report/frealign_jobs.sh "$regather" "$out/$name" scaling ;;
    tune) "$regather" tune gridding:gather --shape s257,i52,o1,b19,k0 --quiet --out "$out/$name.tune.tsv" ;;
    *) echo "record.sh: $part: no such part" >&2 && exit 2 ;;
    esac
done
rm -rf "$work"
