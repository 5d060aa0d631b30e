#!/bin/sh
# SPDX-License-Identifier: MIT
# mutate.sh BUILD SEED FROM TO host|emulated [OUT]: makes mutants FROM..TO of this seed: one change at a random place of a
# random variant's sources (sites.awk), compiled as a plug-in and run by `regather verify`. Rows already in OUT are not made
# again, so that a run can be interrupted, and parts of it can run in parallel. Outcomes: `same code` (the compiler's output is
# unchanged), `no program`, `caught` (by verify or, if that passes, by the build, which refuses indices beyond an array),
# `passed`: equivalent, within the bound, or missed, to be decided by a person (judged.tsv).
build=${1:?usage: verify/mutate/mutate.sh BUILD SEED FROM TO host|emulated [OUT]}
seed=${2:?seed} from=${3:?from} to=${4:?to} kind=${5:?host or emulated}
cd "$(dirname "$0")/../.." || exit 2
out=${6:-$build/mutate/$kind-$seed.tsv}
regather=$(realpath "$build")/regather
work=$build/mutate/$kind-$seed-$from
rm -rf "${work:?}" && mkdir -p "$work" "$(dirname "$out")" && cp -r impl "$work/impl" || exit 2
[ -s "$out" ] || printf 'seed\tmutant\tvariant\tfile\tline\toperator\twas\tis\toutcome\tsaid\n' > "$out"

if [ "$kind" = host ]; then
    sources=$(grep -l '^RG_VARIANT' impl/*/*.c impl/frealign/*/*.c | grep -v array_language) objects=$build
else
    sources=$(ls impl/autocorr/*.cu impl/gridding/*.cu impl/affine/*.cu impl/frealign/*/*.cu)
    objects=$build/emulated
fi

# draw N: the next number of 0..N-1, by the generator of Park and Miller, whose products are exact in awk.
state=
draw() {
    state=$(awk -v s="$state" 'BEGIN { printf "%.0f", (s * 16807) % 2147483647 }')
    drawn=$(awk -v s="$state" -v n="$1" 'BEGIN { printf "%d", int(s / 2147483647 * n) }')
}

. verify/mutate/plugin.sh

i=$from
while [ "$i" -le "$to" ]; do
    awk -F'\t' -v s="$seed" -v m="$i" '$1 == s && $2 == m { found = 1 } END { exit !found }' "$out" && i=$((i + 1)) && continue
    state=$(((seed * 7919 + i * 104729) % 2147483646 + 1))
    draw 7 && draw 7 # the first numbers after similar seeds are similar
    draw "$(echo "$sources" | wc -l)"
    source=$(echo "$sources" | sed -n "$((drawn + 1))p")
    # shellcheck disable=SC2046
    files=$(realpath -s --relative-to=. $(sed -n '1,/[^\\]$/{s/^[^ ]*://;s/\\$//;p}' "$objects/${source%.*}.d") |
        grep -E '^impl/(autocorr|gridding|affine|frealign)/' | sort -u)
    # shellcheck disable=SC2086
    awk -f verify/mutate/sites.awk $files > "$work/sites"
    draw "$(wc -l < "$work/sites")"
    site=$(sed -n "$((drawn + 1))p" "$work/sites")
    file=$(echo "$site" | cut -f 1) line=$(echo "$site" | cut -f 2)
    so=$work/mutant.so plain=$work/$(echo "$source" | tr / _).so
    [ -e "$plain" ] || compile "$source" "$plain" ||
        { echo "mutate: $source as it is does not compile as a plug-in:" >&2; head -n 3 "$work/words" >&2; }
    echo "$site" | awk -F'\t' 'NR == FNR { l = $2; c = $3; n = $4; new = $6; next }
        FNR == l { print substr($0, 1, c - 1) new substr($0, c + n); next } { print }' - "$file" > "$work/$file"
    was=$(sed -n "${line}{s/^ *//;p;}" "$file") is=$(sed -n "${line}{s/^ *//;p;}" "$work/$file")
    judge_mutant
    cp "$file" "$work/$file"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$seed" "$i" "$source" "$file" "$line" "$(echo "$site" | cut -f 5)" \
        "$was" "$is" "$outcome" "$said" >> "$out"
    i=$((i + 1))
done
rm -rf "${work:?}"
awk -F'\t' -v s="$seed" '$1 == s { n[$9]++ } END { for (k in n) printf "%s %d, ", k, n[k]; print "seed " s }' "$out"
