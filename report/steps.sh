#!/bin/sh
# SPDX-License-Identifier: MIT
# steps.sh: runs the steps of steps.tsv.
#   steps.sh BUILD reproduce PRESET         what `make reproduce` does after the build; quick takes minutes on two cores
#   steps.sh BUILD record NAME PART...      what this machine does, for data/machines: the files NAME.*.tsv, which `regather report`
#                                           shows beside any other machine. PART: verify times energy tune photographs fsc modes
#                                           modes_scaling job online tenth scaling align, as the first column of steps.tsv says
# A step is done again only when what it made is missing, or older than the program or than what it was made from; a run that was
# killed goes on where it stopped. A failed check (exit 1) and what this machine lacks (exit 4) are results all the same.
# RECORD_OUT is the folder (data/machines), RECORD_WORK where the jobs' files go (57 GB of memory or disk; default /dev/shm),
# RECORD_LABEL what the heads of tables say of the machine; RECORD_SECONDS a row, RECORD_JOB_SECONDS a job, RECORD_OPTIONS
# of `bench`, RECORD_GPUS, RECORD_IMAGES, RECORD_SIDES: see steps.tsv. After RECORD_MINUTES no step is begun (exit 3). REPORT_DIR is the folder of the page (report).
set -u
usage="usage: report/steps.sh BUILD reproduce PRESET | BUILD record NAME PART..."
build=$(realpath "${1:?$usage}") what=${2:?$usage} name=${3:?$usage}
shift 3
cd "$(dirname "$0")/.." || exit 2
program=$build/regather device=host
regather() { "$program" "$@"; }
algorithms=$(regather list --table algorithms) || exit 2
algos=$(echo "$algorithms" | awk -F'\t' 'NR > 1 { print $1 }')
brokens=$(echo "$algorithms" | awk -F'\t' 'NR > 1 && $4 != "-" { n = split($4, k, " "); for (i = 1; i <= n; i++) print $1 ":" k[i] }')
! regather list --table variants | awk -F'\t' '$3 == "gpu" && $5 == "-" { found = 1 } END { exit !found }' || device=gpu
results=$build/results out=${REPORT_DIR:-report}
case $what in
reproduce) preset=$name work=$results/$name to=$results/$name/ label="this machine" parts=reproduce ;;
record)
    preset=record work=${RECORD_WORK:-/dev/shm}/regather-record results=$work label=${RECORD_LABEL:-$name} parts=$*
    to=$(realpath "${RECORD_OUT:-data/machines}")/$name. && [ -n "$parts" ] || { echo "$usage" >&2; exit 2; } ;;
*) echo "$usage" >&2 && exit 2 ;;
esac
# What a user names stands in the words of commands, where a blank would make two of it and a * many.
label=$(printf %s "$label" | tr -d '\000-\037\177')
for named in "$build" "$name" "$work" "$to" "$out" "$PWD"; do
    case $named in *[!A-Za-z0-9_./+,:=@%~-]*)
        printf 'steps.sh: expected names of letters, digits and _./+,:=@%%~- alone, found "%s"\n' "$(printf %s "$named" | tr -d '\000-\037\177')" >&2
        exit 2 ;;
    esac
done
for value in "${RECORD_SECONDS:-1}" "${RECORD_IMAGES:-1}" "${RECORD_SIDES:-1}" "${RECORD_GPUS:-1}"; do
    case $value in *[!0-9.,\ ]*) echo "steps.sh: expected numbers in RECORD_SECONDS, _IMAGES, _SIDES and _GPUS" >&2 && exit 2 ;; esac
done
case ${RECORD_MINUTES:-1} in *[!0-9]*) echo "steps.sh: expected whole minutes in RECORD_MINUTES, found \"$RECORD_MINUTES\"" >&2 && exit 2 ;; esac
logs=$results/log done=$results/done
mkdir -p "$logs" "$done" "$work/align" "$work/average" "$work/share" "$work/verify" "$work/pages" "$results/verify" "$results/trace" || exit 2
[ "$(cat "$results/preset" 2> /dev/null)" = "$preset" ] || echo "$preset" > "$results/preset" # another one makes another page

# ---- words of the steps, beside `regather` ---------------------------------------------------------------------------------

keep() { { echo "# $label, $(regather --version)" && cat "$1"; } > "$2" || return 2; } # a job's table, of which machine and commit
against() { regather fsc "$1" "$2" --out "$work/pair.tsv" && keep "$work/pair.tsv" "$3"; }
join() { # PRODUCT FILE...: one head, then the rows of all
    product=$1
    shift
    { grep '^#' "$1" && grep -hv '^#' "$@" | awk 'NR == 1 { head = $0; print } $0 != head'; } > "$product"
}
# A job three times over, the stages that it leaves every time under one head: a number needs an interval. thrice STAGES PRODUCT
# COMMAND...
thrice() {
    stages=$1 kept=$2
    shift 2
    for time_over in 1 2 3; do
        "$@" && cp "$stages" "$work/run_$time_over.tsv" || return
    done
    join "$work/runs.tsv" "$work/run_1.tsv" "$work/run_2.tsv" "$work/run_3.tsv" && keep "$work/runs.tsv" "$kept"
}
# caught_as: a check that has to fail. caught ALGO KERNEL PRODUCT: that of a plug-in of verify/broken.
caught_as() {
    regather verify "$@"
    [ $? = 1 ] || { echo "NOT caught" && return; }
    echo "caught"
}
caught() {
    so=$build/broken/$2.so on=cpu
    [ -e "$so" ] || { so=$build/broken/$device/$2.so && on=$device; }
    caught_as "$1:$2.so:$2" --device $on --plugin "$so" --out "$3"
}
gallery() { # ALGO FOLDER: all its wrong kernels of the CPU
    folder=$2
    for so in $(regather list "$1" --table variants $(printf -- '--plugin %s ' "$build"/broken/*.so) | awk -F'\t' '$2 ~ /:/ { print $2 }'); do
        set -- "$@" "$1:$so" --plugin "$build/broken/${so%:*}"
    done
    shift 2
    regather trace "$@" --real-space --out "$folder"
}
# subsets SIDE COUNT...: of SIDE/particles.star the first_COUNT.star, and wrong_COUNT.star, each angle off by up to 2 degrees and
# each shift by up to a pixel. repeated SIDE COUNT: both with every row 8 times, as ..._COUNTx8.star.
subsets() {
    at=$work/$1 side=$1
    shift
    for count; do
        awk -v most="$count" '/@/ { if (n++ < most) print; next } { print }' "$at/particles.star" > "$at/first_$count.star"
        awk -v pixel="$(awk -v side="$side" 'BEGIN { print 258 / side }')" '
            function off(most) { return most * (2 * rand() - 1) }
            BEGIN { srand(7) }
            /@/ { for (a = 3; a < 6; a++) $a += off(2); $6 += off(pixel); $7 += off(pixel) }
            { print }' "$at/first_$count.star" > "$at/wrong_$count.star"
    done
}
repeated() {
    for rows in first wrong; do
        awk '/@/ { row[n++] = $0; next } { print } END { for (t = 0; t < 8; t++) for (i = 0; i < n; i++) print row[i] }' \
            "$work/$1/${rows}_$2.star" > "$work/$1/${rows}_$2x8.star"
    done
}
copies() { # COUNT FROM TO
    mkdir -p "$3" && for copy in $(seq "$1"); do for file in "$2"/*.png; do cp "$file" "$3/$copy-${file##*/}"; done; done
    touch "$3/.done"
}
points() { for side in $sides; do for count; do echo "$side:$count"; done; done; } # SIDE:COUNT of all sides, and these counts
# Stages of a job on all cores, and once more as STAGE@24, what 24 such cores would take if they shared the work as well: FILE.
of_24_cores() {
    awk -F'\t' -v OFS='\t' -v cores="$(nproc)" '
        { print } /^#/ { next } !head { for (i = 1; i <= NF; i++) if ($i == "busy_s") busy = head = i; next }
        { $1 = $1 "@24"; $busy *= cores / 24; print }' "$1" > "$1.24" && mv "$1.24" "$1"
}
# What a command prints, so many times over: printed RUNS PRODUCT COMMAND...
printed() {
    runs=$1 kept=$2
    shift 2
    for time_over in $(seq "$runs"); do "$@" || return; done > "$kept"
}
# shares SIZE "MODE=COUNT..." NAME=A+B...: what each stage printed by the jobs in share/MODE.COLUMN took of the whole, in percent,
# with the shape of the mode's job; a row a run.
shares() {
    size=$1 counts=$2
    shift 2
    for file in "$work"/share/*; do
        mode=$(basename "$file")
        awk -F '\t' -v mode="${mode%.*}" -v column="${mode##*.}" '
            $1 == "whole" { run++ }
            NF >= 3 && $1 !~ /^(stage|whole)$/ {
                sub(/:.*/, "", $1)
                print mode "." $1 "\t" column "\t" (sub(/ %/, "", $3) ? $3 : 100 * $3) "\t" run + 1
            }' "$file"
    done | awk -F '\t' -v size="$size" -v counts="$counts" -v sums="$*" '
        { share[$1, $2, $4] = $3; column[$2]; if (!($1 in seen)) part[n++] = $1; seen[$1]; if ($4 > runs) runs = $4 }
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
regions() { # RUN...
    printf 'run\tregion_s\n'
    for run; do awk -v run="$run" '$1 == "region" { print run "\t" $2 }' "$work/${run}_stages.tsv"; done
}
# What the finished steps give to the page, as words of `regather report`; each file once.
entries() {
    plan | while read -r line setting; do
        read_step "$line" "$setting"
        [ -e "$product" ] && [ "$report" != - ] || continue
        case $report in
        result) echo "$product" ;;
        verify) echo "--verify $product" ;;
        job) echo "--job $(dirname "$product")" ;;
        traces) echo "--traces $(dirname "$product")" ;;
        pages) echo "--pages $(dirname "$product")" ;;
        map:*) echo "--map ${report#map:}=$product" ;;
        *) echo "--table $report=$product" ;;
        esac
    done | awk '!seen[$0]++'
}

# ---- the table -------------------------------------------------------------------------------------------------------------

tab=$(printf '\t')
# The table is part of the program: its words are expanded as the shell's, here and in read_step.
while IFS=$tab read -r kind when variable value; do
    # shellcheck disable=SC2254
    [ "$kind" = let ] && case $preset-$device in $when) eval "$variable=\"${value:-}\"" ;; esac
done < report/steps.tsv

# each VARIABLE=VALUES, or A:B=VALUES: for every value, or pair of them, what is to be set before a line of the table is read
each() {
    [ "$1" != - ] || { echo : && return; }
    eval "values=\"${1#*=}\""
    names=${1%%=*}
    for value in $values; do
        case $names in
        *:*) echo "${names%:*}=${value%:*} ${names#*:}=${value#*:}" ;;
        *) echo "$names=$value" ;;
        esac
    done
}
# The steps of this run: line of the table, and setting.
plan() {
    line=0
    while IFS=$tab read -r run _ _ each when _; do
        line=$((line + 1))
        for part in $parts; do
            # shellcheck disable=SC2254
            case "$preset-$device" in $when) ;; *) continue ;; esac
            case " $run " in *" $part "*) each "$each" | sed "s/^/$line /" && break ;; esac
        done
    done < report/steps.tsv
}
read_step() { # LINE SETTING
    [ "$2" = : ] || for word in $2; do eval "${word%%=*}=\${word#*=}"; done # values as they are, never as words of the shell
    IFS=$tab read -r _ step title _ _ report needs product says command <<END
$(sed -n "$1p" report/steps.tsv)
END
    eval "step=\"$step\" title=\"$title\" needs=\"$needs\" product=\"$product\""
    stamp=$done/$step@$(echo "$product" | tr / @)
}

# ---- running them ----------------------------------------------------------------------------------------------------------

fresh() {
    [ -e "$product" ] && [ -e "$stamp" ] || return 1
    for from in "$program" $needs; do
        [ "$from" = - ] || [ -z "$(find "$from" -newer "$stamp" -type f ! -path "$logs/*" ! -path "$done/*" | head -n 1)" ] || return 1
    done
}
# What an older program began or made is not gone on with, but for a record's times: bench keeps those of kernels that are the same.
drop_old() {
    case $what-$command in
    record-*--resume*) ! grep -qs '^# format: 3$' "$product" || grep -q "${tab}job$tab" "$product" || return 0 ;;
    esac
    for file in "$product" "$product.part"; do
        [ ! -f "$file" ] || [ -z "$(find "$program" -newer "$file")" ] || rm "$file"
    done
    case $command in *--resume*) ;; *) rm -f "$product.part" ;; esac
}
# The result of a step in words.
said() {
    case $report in
    result)
        awk -F'\t' '/^#/ { next } !head { for (i = 1; i <= NF; i++) if ($i == "median") column = head = i; next }
            { $column != "" ? timed++ : other++ } END { printf "%d rows timed, %d without a time", timed, other }' "$product" ;;
    *)
        line=$(tail -n 1 "$logs/$step.log")
        [ "$says" = - ] || line=$(grep -ahs "^$says" "$logs/$step.log" "$product" | tail -n 1)
        echo "$line" | sed "s/^# //; s/^\\(whole\\|region\\)$tab\\([0-9.]*\\).*/\\2 s of work/; s/$tab/ /g" ;;
    esac
}
# A line every half minute while a step runs: how long, and the last that it said; ends with this script, also where that was killed.
still() {
    began=$(date +%s)
    while sleep 30 > /dev/null && kill -0 $$; do
        printf '    %d s: %s\n' $(($(date +%s) - began)) "$(tail -n 1 "$1" | cut -c 1-80)"
    done 2> /dev/null
}
up_to_date() {
    [ $first = 0 ] || echo "steps $first to $((k - 1)): up to date"
    first=0
}

steps=$(plan | wc -l) k=0 first=0
[ "$steps" -gt 0 ] || { echo "steps.sh: no step of \"$parts\" in report/steps.tsv" >&2 && exit 2; }
plan > "$done/plan"
started=$(date +%s)
while read -r line setting <&3; do
    k=$((k + 1))
    read_step "$line" "$setting"
    if fresh; then
        [ $first != 0 ] || first=$k
        continue
    fi
    up_to_date
    [ -z "${RECORD_MINUTES:-}" ] || [ $(($(date +%s) - started)) -lt $((60 * RECORD_MINUTES)) ] || {
        echo "steps.sh: $RECORD_MINUTES minutes are over before step $k of $steps: the same command goes on" >&2
        exit 3
    }
    printf 'step %d of %d: %s\n' $k "$steps" "$title"
    began=$(date +%s)
    drop_old
    still "$logs/$step.log" &
    ticker=$!
    (eval "$command") > "$logs/$step.log" 2>&1 < /dev/null
    code=$?
    kill $ticker
    case $code in
    0 | 1) ;;
    4) echo "    not here" ;;
    *) product=/nowhere ;;
    esac
    if [ ! -e "$product" ] && [ $code != 4 ]; then
        tail -n 5 "$logs/$step.log" | sed 's/^/    /'
        echo "step $k failed ($step, exit $code): see $logs/$step.log" >&2
        exit 2
    fi
    words=$(said)
    printf '    %s, %d s\n' "${words:-done}" $(($(date +%s) - began))
    touch "$stamp"
done 3< "$done/plan"
k=$((k + 1))
up_to_date
case $what in
reproduce) cat "$logs/report.log" ;;
*) rm -r "$work" ;;
esac
