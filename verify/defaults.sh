#!/bin/sh
# SPDX-License-Identifier: MIT
# defaults.sh: tests bench/defaults.sh on the list of variants and the exit codes of duel from a program in place of regather: a
# kernel whose defaults are the tuned values, and one whose are not.
cd "$(dirname "$0")/.." || exit 2
build=$(mktemp -d) && trap 'rm -rf "$build"' EXIT || exit 2
cat > "$build/regather" << 'END'
#!/bin/sh
[ "$1" = list ] || { echo "$*" >> "$(dirname "$0")/asked" && echo 'what it says' && exit "$(cat "$(dirname "$0")/code")"; }
cat << 'LIST'
sums: the sum of all
  plain              here      no parameters
  same               here      an idea with = 2 of 3 in it
                               WIDE = 8 of 4 8: lanes
                               tuned on A PROCESSOR at n9,m1: WIDE=8
  other              here      an idea
                               WIDE = 8 of 4 8: lanes
                               DEEP = 1 of 1 2: levels
                               tuned on A PROCESSOR at n9,m1: WIDE=4;DEEP=2
LIST
END
chmod +x "$build/regather"
passed=0 failed=0
expect() { # CODE_OF_DUEL EXIT WORDS
    echo "$1" > "$build/code"
    said=$(bench/defaults.sh "$build" 3)
    if [ $? -eq "$2" ] && [ "$(echo "$said" | tail -n 1)" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) && echo "duel's code $1: expected \"$3\" and exit $2, found: $said"
    fi
}
expect 0 0 '2 passed, 0 failed, 0 skipped'
expect 1 1 '1 passed, 1 failed, 0 skipped'
expect 3 0 '1 passed, 0 failed, 1 skipped'
expect 4 0 '1 passed, 0 failed, 1 skipped'
asked=$(sort -u "$build/asked")
if [ "$asked" = 'duel sums:other:WIDE=4;DEEP=2 sums:other:WIDE=8;DEEP=1 --shape n9,m1 --gate 5% --max-seconds 3 --quiet' ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1)) && echo "asked for: $asked"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
