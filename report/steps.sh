#!/bin/sh
# SPDX-License-Identifier: MIT
# steps.sh: runs the steps of steps.tsv.
#   steps.sh BUILD reproduce PRESET         what `make reproduce` does after the build; quick takes minutes on two cores
# A step is done again only when what it made is missing, or older than the program or than what it was made from; a run that was
# killed goes on where it stopped. A failed check (exit 1) and what this machine lacks (exit 4) are results all the same.
# REPORT_DIR is the folder of the page (report). A machine's record is made by `regather record`.
set -u
usage="usage: report/steps.sh BUILD reproduce PRESET"
build=$(realpath "${1:?$usage}") what=${2:?$usage} name=${3:?$usage}
[ "$what" = reproduce ] && [ $# = 3 ] || { echo "$usage" >&2; exit 2; }
cd "$(dirname "$0")/.." || exit 2
program=$build/regather device=host REGATHER=$build/regather
# shellcheck source=bench/record/words.sh
. bench/record/words.sh
algorithms=$(regather list --table algorithms) || exit 2
algos=$(echo "$algorithms" | awk -F'\t' 'NR > 1 { print $1 }')
brokens=$(echo "$algorithms" | awk -F'\t' 'NR > 1 && $4 != "-" { n = split($4, k, " "); for (i = 1; i <= n; i++) print $1 ":" k[i] }')
! regather list --table variants | awk -F'\t' '$3 == "gpu" && $5 == "-" { found = 1 } END { exit !found }' || device=gpu
results=$build/results out=${REPORT_DIR:-report}
preset=$name work=$results/$name to=$results/$name/ label="this machine" parts=reproduce
# What a user names stands in the words of commands, where a blank would make two of it and a * many.
for named in "$build" "$name" "$work" "$to" "$out" "$PWD"; do
    case $named in *[!A-Za-z0-9_./+,:=@%~-]*)
        printf 'steps.sh: expected names of letters, digits and _./+,:=@%%~- alone, found "%s"\n' "$(printf %s "$named" | tr -d '\000-\037\177')" >&2
        exit 2 ;;
    esac
done
logs=$results/log done=$results/done
mkdir -p "$logs" "$done" "$work/align" "$work/average" "$work/tables" "$work/verify" "$work/pages" "$results/verify" "$results/trace" || exit 2
[ "$(cat "$results/preset" 2> /dev/null)" = "$preset" ] || echo "$preset" > "$results/preset" # another one makes another page

# ---- words of the steps, beside `regather` ---------------------------------------------------------------------------------

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
points() { for side in $sides; do for count; do echo "$side:$count"; done; done; } # SIDE:COUNT of all sides, and these counts
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
# What an older program began or made is not gone on with.
drop_old() {
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
while read -r line setting <&3; do
    k=$((k + 1))
    read_step "$line" "$setting"
    if fresh; then
        [ $first != 0 ] || first=$k
        continue
    fi
    up_to_date
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
cat "$logs/report.log"
