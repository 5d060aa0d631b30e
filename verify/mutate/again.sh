#!/bin/sh
# SPDX-License-Identifier: MIT
# again.sh BUILD SEED host|emulated MUTANT...: repeats mutants of KIND-SEED.tsv with the present sources, at the line with the
# same text. Prints their rows; ends with "N passed, N failed, N skipped": a mutant that is not caught fails, and
# one whose line is gone, or that compiles to the same code, is skipped.
usage='verify/mutate/again.sh BUILD SEED host|emulated MUTANT...'
build=${1:?usage: $usage} seed=${2:?usage: $usage} kind=${3:?usage: $usage}
shift 3
cd "$(dirname "$0")/../.." || exit 2
regather=$(realpath "$build")/regather
work=$build/mutate/again
rm -rf "${work:?}" && mkdir -p "$work" && cp -r impl "$work/impl" || exit 2
. verify/mutate/plugin.sh
so=$work/mutant.so plain=$work/plain.so caught=0 passed=0 gone=0
tab=$(printf '\t')
for mutant in "$@"; do
    row=$(awk -F'\t' -v s="$seed" -v m="$mutant" '$1 == s && $2 == m' "verify/mutate/$kind-$seed.tsv")
    [ -n "$row" ] || { echo "again: $kind-$seed.tsv has no mutant $mutant" >&2; exit 2; }
    IFS="$tab" read -r _ _ source file _ operator was is _ << ROW
$row
ROW
    line=$(was="$was" awk '{ text = $0; sub(/^ */, "", text) } text == ENVIRON["was"] { print NR }' "$file")
    said=-
    case $line in
    '' | *[!0-9]*) outcome='not run' said='no line, or more than one, reads so today' ;;
    *)
        compile "$source" "$plain" || { echo "again: $source does not compile as a plug-in" >&2; exit 2; }
        is="$is" awk -v n="$line" 'NR == n { match($0, /^ */); print substr($0, 1, RLENGTH) ENVIRON["is"]; next } { print }' \
            "$file" > "$work/$file"
        judge_mutant
        cp "$file" "$work/$file" ;;
    esac
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$seed" "$mutant" "$source" "$file" "${line:--}" "$operator" "$was" "$is" \
        "$outcome" "$said"
    case $outcome in
    caught) caught=$((caught + 1)) ;;
    passed) passed=$((passed + 1)) ;;
    *) gone=$((gone + 1)) ;;
    esac
done
rm -rf "${work:?}"
echo "$caught passed, $passed failed, $gone skipped"
[ $passed -eq 0 ]
