# SPDX-License-Identifier: MIT
# functions.sh: functions for commands of steps. The sh that sources it has set REGATHER (the program), work (a folder), label
# (the machine, for heads of tables) and product. If jobs names a file, the name of every job that runs is added to it.
regather() { [ -z "${jobs:-}" ] || echo "$1" >> "$jobs"; "$REGATHER" "$@"; }
: "${label:=this machine}"

keep() { { echo "# $label, $(regather --version)" && cat "$1"; } > "$2" || return 2; } # a job's table, with machine and commit
against() { regather fsc "$1" "$2" --out "$work/pair_$$.tsv" && keep "$work/pair_$$.tsv" "$3"; }
# kept_relion SIDE PRODUCT: RELION's FSC with the true map of a phantom of this side, 1.5 A a voxel, from bench/relion.sh.
kept_relion() {
    awk -F '\t' -v OFS='\t' -v side="$1" '
        /^# (date|cpu|relion): / { print } /^#/ { next }
        !head { head = 1; print "shell", "frequency", "fsc"; next }
        $1 == side { print $3, $3 / (1.5 * side), $5 }' "$(dirname "$0")/../../data/machines/xeon-2.relion_fsc.tsv" > "$2"
}
join() { # FILE FROM...: one head, then the rows of all
    joined=$1
    shift
    { grep '^#' "$1" && grep -hv '^#' "$@" | awk 'NR == 1 { head = $0; print } $0 != head'; } > "$joined"
}
# over COUNT STAGES PRODUCT COMMAND...: runs a job COUNT times and joins its stage tables under one head, to give intervals.
over() {
    count=$1 stages=$2 kept=$3
    shift 3
    runs=
    for time_over in $(seq "$count"); do
        "$@" && cp "$stages" "$work/run_$$_$time_over.tsv" || return
        runs="$runs $work/run_$$_$time_over.tsv"
    done
    # shellcheck disable=SC2086
    join "$work/runs_$$.tsv" $runs && keep "$work/runs_$$.tsv" "$kept"
}
# subsets SIDE COUNT...: the first COUNT rows of SIDE/particles.star as first_COUNT.star; and as wrong_COUNT.star, angles off by
# up to 2 degrees, shifts by up to a pixel, the same on all machines.
subsets() {
    at=$work/$1 side=$1
    shift
    for count; do
        awk -v most="$count" '/@/ { if (n++ < most) print; next } { print }' "$at/particles.star" > "$at/first_$count.star"
        awk -v pixel="$(awk -v side="$side" 'BEGIN { print 258 / side }')" '
            function off(most) { return most * (2 * (seed = 16807 * seed % 2147483647) / 2147483647 - 1) } # Lehmer: rand() differs
            BEGIN { seed = 1234567 }
            /@/ { for (a = 3; a < 6; a++) $a += off(2); $6 += off(pixel); $7 += off(pixel) }
            { print }' "$at/first_$count.star" > "$at/wrong_$count.star"
    done
}
copies() { # COUNT FROM TO
    mkdir -p "$3" && for copy in $(seq "$1"); do for file in "$2"/*.png; do cp "$file" "$3/$copy-${file##*/}"; done; done
    touch "$3/.done"
}
# The middle photograph of those with a peak: early ones have little structure, late ones few periods of it.
middle() {
    grep -v '^#' "$1/rmax.tsv" | awk -F'\t' 'NR > 1 && $2 != "none" { photo[n++] = $1 "\t" $2 } END { if (n) print photo[int(n / 2)]; exit !n }'
}
curve() { # FOLDER PRODUCT: its C1D, with R_max in every row
    middle "$1" | { read -r photo peak && grep -v '^#' "$1/$photo.c1d.tsv" | awk -v OFS='\t' -v peak="$peak" '{ print $0, NR == 1 ? "R_max" : peak }' > "$1/curve.tsv"; } && keep "$1/curve.tsv" "$2"
}
# picture FOLDER PRODUCT: its C2D for Y0 >= 0, averaged over squares of offsets, at most 101 squares a side.
picture() {
    middle "$1" | {
        read -r photo peak && od -An -v -t f4 -w4 -j 1024 "$1/$photo.c2d.mrc" | awk -v OFS='\t' '
            { value[NR - 1] = $1 }
            END {
                print "X0\tY0\tC2D"
                r = (sqrt(NR) - 1) / 2
                for (square = 1; 2 * r / square > 101; square += 2) ;
                most = int(r / square)
                half = (square - 1) / 2
                for (y = 0; y <= most; y++) for (x = -most; x <= most; x++) {
                    sum = n = 0
                    for (v = -half; v <= half; v++) for (u = -half; u <= half; u++) {
                        X = x * square + u
                        Y = y * square + v
                        if (X < -r || X > r || Y > r) continue
                        sum += value[(Y + r) * (2 * r + 1) + X + r]
                        n++
                    }
                    print x * square, y * square, sprintf("%.3g", sum / n)
                }
            }' > "$1/picture.tsv"
    } && keep "$1/picture.tsv" "$2"
}
# of_24_cores FILE: adds to each stage of a job on all cores STAGE@24, its time on 24 such cores if it scales as well.
of_24_cores() {
    awk -F'\t' -v OFS='\t' -v cores="$(nproc)" '
        { print } /^#/ { next } !head { for (i = 1; i <= NF; i++) if ($i == "busy_s") busy = head = i; next }
        { $1 = $1 "@24"; $busy *= cores / 24; print }' "$1" > "$1.24" && mv "$1.24" "$1"
}
# grown_of_seed SEED "OPTIONS OF THE PHOTOGRAPHS" R VARIANT...: R_max over a series in even light, by each variant.
# Only maxima that stand out by 0.002 count: the job calls smaller ones ripples.
grown_of_seed() {
    seed=$1 photographs_of=$2 most=$3
    shift 3
    # shellcheck disable=SC2086
    regather phantom coarsening $photographs_of --light 0 --seed "$seed" --threads 1 --quiet --out "$work/seed_$seed" || return
    printf '# even light; maxima that stand out by more than 0.002\nseed\tvariant\tphoto\ttime\tR_max\tk_peak_length\n'
    for variant; do
        regather autocorr "$work/seed_$seed"/*.png --times "$work/seed_$seed/times.tsv" --max-offset "$most" --norm centred \
            --spectrum --prominence 0.002 --variant "$variant" --threads 1 --no-page --quiet --out "$work/seed_${seed}_$variant" > /dev/null || return
        awk -F'\t' -v OFS='\t' -v seed="$seed" -v variant="$variant" '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { print seed, variant, $at["photo"], $at["time"], $at["R_max"], $at["k_peak_length"] }' "$work/seed_${seed}_$variant/rmax.tsv"
    done
}
# printed RUNS PRODUCT COMMAND...: the output of a command, run RUNS times.
printed() {
    runs=$1 kept=$2
    shift 2
    for time_over in $(seq "$runs"); do "$@" || return; done > "$kept"
}
# parts MODE COLUMN FILE [RUNS]: each stage's share of the whole, in percent, from a job's output; runs count from RUNS + 1.
parts() {
    printf 'part\tcolumn\tpercent\trun\n'
    awk -F '\t' -v OFS='\t' -v mode="$1" -v column="$2" -v run="${4:-0}" '
        $1 == "whole" { run++ }
        NF >= 3 && $1 !~ /^(stage|whole)$/ { sub(/:.*/, "", $1); print mode "." $1, column, (sub(/ %/, "", $3) ? $3 : 100 * $3), run + 1 }' "$3"
}
# shares SIZE "MODE=COUNT..." NAME=A+B...: joins the tables share_*.tsv, with the shape of the mode's job; a row a run.
shares() {
    size=$1 counts=$2
    shift 2
    for file in "$work"/tables/share_*.tsv; do
        grep -v '^#' "$file" | tail -n +2 # without heads and column names
    done | awk -F '\t' -v size="$size" -v counts="$counts" -v sums="$*" '
        { share[$1, $2, $4] = $3; column[$2]; if (!($1 in seen)) part[n++] = $1; seen[$1]; if ($4 + 0 > runs) runs = $4 + 0 }
        function cell(name, which, run) { return (name, which, run) in share ? share[name, which, run] : "-" }
        END {
            for (i = split(sums, sum, " "); i; i--) {
                split(sum[i], side_of, "=")
                for (terms = split(side_of[2], term, "+"); terms; terms--) for (c in column) for (run = 1; run <= runs; run++)
                    if ((term[terms], c, run) in share) {
                        share[side_of[1], c, run] += share[term[terms], c, run]
                        seen[side_of[1]]
                    }
                if (side_of[1] in seen) part[n++] = side_of[1]
            }
            for (i = split(counts, pair, " "); i; i--) { split(pair[i], of, "="); count[of[1]] = of[2] }
            print "# cpu is one core; shape: the side of the images, and how many; a row a run"
            print "part\tshape\tcpu\tgpu"
            for (run = 1; run <= runs; run++) for (i = 0; i < n; i++) {
                mode = part[i]
                sub(/\..*/, "", mode)
                cpu = cell(part[i], "cpu", run)
                gpu = cell(part[i], "gpu", run)
                if (cpu gpu != "--") print part[i] "\t" size "," count[mode] "\t" cpu "\t" gpu
            }
        }'
}
# opening COUNT PHOTO: seconds that GNU Octave takes to start and open the photograph, and a whole CUDA run of R = 100.
opening() {
    command -v octave > /dev/null || { printf '# not measured: GNU Octave is not here\ncode\n' > "$work/opening.tsv" && keep "$work/opening.tsv" "$product" && return; }
    timed() { began=$(date +%s.%N) && "$@" > /dev/null && awk -v OFS='\t' -v code="$code" -v from="$began" -v to="$(date +%s.%N)" 'BEGIN { print code, to - from }'; }
    printf 'code\tseconds\n' > "$work/opening.tsv"
    for _ in $(seq "$1"); do
        PHOTO=$2 code=octave timed octave --no-gui --norc --quiet --eval "x = imread(getenv('PHOTO'));" && code=gather timed regather autocorr "$2" --max-offset 100 --variant gather --quiet --out "$work/opening" || return
    done >> "$work/opening.tsv"
    keep "$work/opening.tsv" "$product"
}
# The results of each job with less GPU memory: bench/memory.sh.
limits() { sh "$(dirname "$0")/../memory.sh" "$REGATHER" "$work" "$work/memory.tsv" && keep "$work/memory.tsv" "$1"; }
regions() { # RUN...
    printf 'run\tregion_s\n'
    for run; do awk -v run="$run" '$1 == "region" { print run "\t" $2 }' "$work/${run}_stages.tsv"; done
}
cycled() { # SIDE COUNT...: COUNT rows, by repeating those of SIDE/particles.star, as first_COUNT.star
    at=$work/$1
    shift
    for count; do
        awk -v most="$count" '/@/ { row[n++] = $0; next } { print } END { for (i = 0; i < most; i++) print row[i % n] }' \
            "$at/particles.star" > "$at/first_$count.star"
    done
}
online() { # COUNT STAR: times a map by gather with tuned parameters, and with a search for them during the run
    printf 'run\tregion_s\n'
    for _ in $(seq "$1"); do
        regather reconstruct "$2" --out "$work/default.mrc" --sym I1 --variant gather > /dev/null || return
        regather reconstruct "$2" --out "$work/tuning.mrc" --sym I1 --variant gather --tune 24 > /dev/null || return
        regions default tuning | tail -n 2
    done
}
# on_two JOB WORDS...: seconds of a job, start to end, by one process on all GPUs and by two of mpirun, which share them.
on_two() {
    for processes in 1 2; do
        began=$(date +%s.%N)
        case $processes in
        1) regather "$@" ;;
        2) mpirun --allow-run-as-root --bind-to none -n 2 "$REGATHER" "$@" ;;
        esac > /dev/null || return
        date +%s.%N | awk -v job="$1" -v processes=$processes -v began="$began" '{ printf "%s\t%d\t%.2f\n", job, processes, $1 - began }'
    done
}
ranks() { # COUNT
    printf 'job\tprocesses\tseconds\n'
    for _ in $(seq "$1"); do
        on_two reconstruct "$work/420/first_14440.star" --sym I1 --per-operator --out "$work/ranks.mrc" &&
            on_two search "$work/500/first_24.star" --reference "$work/500/map.mrc" --sym D7 --out "$work/ranks.star" &&
            on_two refine "$work/500/wrong_100.star" --reference "$work/500/map.mrc" --out "$work/ranks.star" &&
            on_two autocorr "$work"/photographs/*.png --max-offset 250 --out "$work/ranks" || return
    done
}
# wrong_in FOLDER DEVICE ALGO:KERNEL: prints a kernel of verify/broken as a variant, "FILE.so:KERNEL"; fails if there is none.
# shellcheck disable=SC2046
wrong_in() { regather list "${3%%:*}" --table variants --device "$2" $(printf -- '--plugin %s ' "$1"/*.so) | cut -f 2 | grep ":${3#*:}\$"; }
gpu_or_host() {
    regather list --table variants | awk -F'\t' '$3 == "gpu" && $5 == "-" { found = 1 } END { print found ? "gpu" : "host" }'
}
# caught_as: a check that must fail. caught ALGO KERNEL PRODUCT: that of a kernel of verify/broken, on a GPU if there is one.
caught_as() {
    regather verify "$@"
    [ $? = 1 ] || { echo "NOT caught" && return; }
    echo "caught"
}
caught() {
    built=$(dirname "$REGATHER")/broken on=cpu
    variant=$(wrong_in "$built" cpu "$1:$2") || { on=$(gpu_or_host) && built=$built/$on && variant=$(wrong_in "$built" "$on" "$1:$2"); }
    caught_as "$1:$variant" --device "$on" --plugin "$built/${variant%%:*}" --out "$3"
}
# wrong_kernels ALGO:KERNEL...: a table of the checker's results on kernels of verify/broken and on Listing 1, bright image.
wrong_kernels() {
    for wrong; do
        [ "$(caught "${wrong%%:*}" "${wrong#*:}" "$work/wrong_${wrong#*:}.tsv" | tail -n 1)" = caught ] || return 2
    done
    [ "$(printed_listing "$work/wrong_printed.tsv" | tail -n 1)" = caught ] && join "$product" "$work"/wrong_*.tsv
}
printed_listing() { # PRODUCT: Listing 1 of Lu et al. as printed, on a bright image, which overflows it
    caught_as autocorr_printed:as_printed --device "$(gpu_or_host)" --no-refuse --pattern maximum --shape w64,h400,r16,g255 --out "$1"
}
gallery() { # ALGO FOLDER: traces of all its wrong CPU kernels
    built=$(dirname "$REGATHER")/broken
    # shellcheck disable=SC2046
    regather trace $(wrong_in "$built" cpu "$1:.*" | sed "s/^/$1:/") $(printf -- '--plugin %s ' "$built"/*.so) --real-space --out "$2"
}
# entries: arguments of `regather report` for the products of finished steps, which $made lists; each once.
entries() {
    awk -F'\t' 'NR == 1 || $3 == "-" || $3 == "" { next }
        { folder = $2; sub(/\/[^\/]*$/, "", folder) }
        $3 == "result" { print $2; next }
        $3 == "verify" { print "--verify " $2; next }
        $3 == "traces" || $3 == "pages" { print "--" $3 " " folder; next }
        sub(/^map:/, "", $3) { print "--map " $3 "=" $2; next }
        { print "--table " $3 "=" $2 }' "$made" | awk '!seen[$0]++'
}
