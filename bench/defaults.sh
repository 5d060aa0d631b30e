#!/bin/sh
# SPDX-License-Identifier: MIT
# defaults.sh BUILD [SECONDS]: duels of the declared defaults of each kernel against the parameters that `regather tune` found
# for this processor (data/tuned), at each tuned shape, for at most SECONDS (15) each. Defaults that are more than 5 % slower
# fail: processors without a file in data/tuned run with them. Prints a row a duel, then "N passed, N failed, N skipped"; exit 1
# if one failed. Skipped if nothing was tuned for this processor.
build=${1:?usage: bench/defaults.sh BUILD [SECONDS]} seconds=${2:-15}
regather=$build/regather
list=$(mktemp) && trap 'rm -f "$list"' EXIT && trap 'exit 130' INT TERM || exit 2
"$regather" list > "$list" || exit 2
printf 'kernel\tshape\tverdict\tdefaults\ttuned\n'
# `regather list`: "ALGO: formula", "  VARIANT ..", "     NAME = DEFAULT of VALUES: ..", "     tuned on CPU at SHAPE: PARAMS".
awk -v OFS='\t' '
    /^[a-z0-9_]+: / { algo = substr($1, 1, length($1) - 1) }
    /^  [^ ]/ { kernel = algo ":" $1; given = "" }
    /^   .* = .* of / && $2 == "=" { given = given (given == "" ? "" : ";") $1 "=" $3 }
    /^   .*tuned on .* at / { params = $NF; shape = $(NF - 1); sub(/:$/, "", shape); print kernel, shape, given, params }
' "$list" | {
    passed=0 failed=0 skipped=0
    while IFS='	' read -r kernel shape given tuned; do
        said=same
        if [ "$given" != "$tuned" ]; then
            told=$("$regather" duel "$kernel:$tuned" "$kernel:$given" --shape "$shape" --gate 5% --max-seconds "$seconds" \
                --quiet 2>&1 < /dev/null)
            case $? in
            0) said='not slower' ;;
            1) said=FAILED ;; # slower, or wrong
            3) said=unsure ;;
            *) said=$(echo "$told" | tail -n 1) ;;
            esac
        fi
        case $said in
        same | not*) passed=$((passed + 1)) ;;
        FAILED) failed=$((failed + 1)) && echo "$told" ;;
        *) skipped=$((skipped + 1)) ;;
        esac
        printf '%s\t%s\t%s\t%s\t%s\n' "$kernel" "$shape" "$said" "$given" "$tuned"
    done
    [ "$((passed + failed + skipped))" -gt 0 ] || { echo '# data/tuned has nothing for this processor' && skipped=1; }
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
