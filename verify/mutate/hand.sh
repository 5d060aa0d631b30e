#!/bin/sh
# SPDX-License-Identifier: MIT
# hand.sh BUILD [OUT [MUTANT...]]: runs `regather verify` on the mutants of hand.tsv, or some of them, each a mistake that a
# person might make: first without the sizes of verify/thresholds.tsv, then, for one that only fails beyond such a size (when =
# check, or deep for long ones), with them. "same code": the program equals that of the unchanged source. Ends with "N passed, N
# failed, N skipped": a mutant fails if nothing catches it, and is skipped if judged.tsv has the reason: it changes no result,
# stays within the bound, or is known to be missed.
build=${1:?usage: verify/mutate/hand.sh BUILD [OUT [MUTANT...]]}
cd "$(dirname "$0")/../.." || exit 2
out=${2:-$build/mutate/hand.tsv}
[ $# -gt 2 ] && shift 2 || set --
regather=$(realpath "$build")/regather
work=$build/mutate/hand
rm -rf "${work:?}" && mkdir -p "$work" && cp -r impl "$work/impl" || exit 2
. verify/mutate/plugin.sh
printf 'mutant\tvariant\tsource\twithout\twith\tsaid\n' > "$out"
caught=0 missed=0 judged=0

# judge THRESHOLDS: prints caught, passed or not run for the plug-in; the output is in $work/said.
judge() {
    # shellcheck disable=SC2046
    timeout 900 "$regather" verify "$name" --plugin "$work/hand.so" --quiet --stop --limit 120 --thresholds "$1" \
        --device "$device" $(params_of "$source") > "$work/said" 2>&1
    case $? in
    0) echo passed ;;
    1) echo caught ;;
    *) echo 'not run' ;;
    esac
}

tab=$(printf '\t')
grep -v '^#' verify/mutate/hand.tsv | tail -n +2 > "$work/rows"
while IFS="$tab" read -r mutant variant source file when was is why; do
    [ $# -eq 0 ] || case " $* " in *" $mutant "*) ;; *) continue ;; esac
    [ -n "$why" ] || { echo "hand: $mutant: a row has eight cells" >&2; exit 2; }
    case $source in *.cu) kind=emulated device=host ;; *) kind=host device=cpu ;; esac
    name=${variant%%:*}:hand.so:${variant#*:}
    # The unchanged source must pass, else a verdict on a mutant means nothing.
    if ! grep -qx "$variant" "$work/right" 2> /dev/null; then
        if ! compile "$source" "$work/hand.so" || [ "$(judge none)" != passed ]; then
            echo "hand: $variant: the source as it is does not pass" >&2 && exit 2
        fi
        echo "$variant" >> "$work/right"
    fi
    was="$was" is="$is" awk 'BEGIN { was = ENVIRON["was"]; is = ENVIRON["is"] }
        { at = index($0, was); if (at) { n++; $0 = substr($0, 1, at - 1) is substr($0, at + length(was)) } print }
        END { exit n != 1 }' "$file" > "$work/$file" || { echo "hand: $mutant: $file has not one line with: $was" >&2; exit 2; }
    if ! compile "$source" "$work/hand.so"; then
        echo "hand: $mutant does not compile:" >&2 && head -n 3 "$work/words" >&2 && exit 2
    fi
    without=$(judge none) with=-
    [ "$when" = - ] || with=$(judge "$when")
    said=$(grep -m 1 -E '^ *(FAIL|CRASH|TIMEOUT) at ' "$work/said" | sed 's/^ *//' | tr '\t' ' ' | cut -c 1-160)
    cp "$file" "$work/$file"
    if [ "$without" = passed ] && [ "$with" != caught ]; then
        text=$(text_of "$work/hand.so")
        compile "$source" "$work/hand.so" && [ "$(text_of "$work/hand.so")" = "$text" ] && without='same code'
    fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$mutant" "$variant" "$source" "$without" "$with" "${said:--}" | tee -a "$out"
    if [ "$without$with" = caught- ] || [ "$with" = caught ]; then caught=$((caught + 1))
    elif [ "$without" = passed ] && awk -F "$tab" -v mutant="$mutant" \
        '$1 == "hand" && $3 == mutant { found = 1 } END { exit !found }' verify/mutate/judged.tsv; then
        judged=$((judged + 1))
    else missed=$((missed + 1)); fi
done < "$work/rows"
rm -rf "${work:?}"
echo "$caught passed, $missed failed, $judged skipped"
[ "$missed" -eq 0 ]
