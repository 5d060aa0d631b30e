#!/bin/sh
# SPDX-License-Identifier: MIT
# steps.sh: tests report/steps.sh with a small table and a program that does what the table's words say. Ends with "N passed, ...".
cd "$(dirname "$0")/.." || exit 2
at=$(mktemp -d) || exit 2
trap 'rm -rf "$at"' EXIT
mkdir -p "$at/report" "$at/build" "$at/reference" "$at/plots" "$at/data/machines" "$at/bench/record"
cp report/steps.sh "$at/report" && cp bench/record/words.sh "$at/bench/record"
cd "$at" || exit 2
cat > build/regather <<'END'
#!/bin/sh
case "$1 ${3:-}" in
"list algorithms") printf 'algo\tpaper\tsmoke\tbroken\none\tP\ts1\tone_wrong one_late\ntwo\tP\ts1\t-\n' ;;
"list variants") printf 'algo\tvariant\tspace\tneeds\tlacks\none\tnaive\tcpu\t-\t-\none\tgather\tgpu\tsm_50\tno GPU\n' ;;
"make "*) echo "made $2" && echo x >> "$2" ;;
"stages "*) printf '# a job\nstage\tbusy_s\nwhole\t1\n' > "$2" ;;
"lacks "*) echo "no GPU here" && exit 4 ;;
"breaks "*) echo "a reason" && exit 2 ;;
verify*) while [ "$1" != --out ]; do shift; done; echo x > "$2" && exit 1 ;;
report*) shift && echo "page of $*" && touch "$REPORT_DIR/index.html" ;;
*) echo version ;;
esac
END
chmod +x build/regather
row() { # RUN NAME TITLE EACH WHEN REPORT NEEDS PRODUCT COMMAND
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t-\t%s\n' "$@" >> report/steps.tsv
}
table() {
    printf 'let\tquick-*\tsize\tsmall\nlet\tpaper-*\tsize\tlarge\n' > report/steps.tsv
    row reproduce 'each-$algo' 'Do $algo' 'algo=$algos' '*' verify - '$results/$algo.$size' 'regather make $product'
    row reproduce last 'Do both' - '*' numbers '$results/one.$size' '$results/last' 'regather make $product'
    row reproduce gpu 'On the GPU' - '*-gpu' - - '$results/gpu' 'regather make $product'
    row other other 'Not this' - '*' - - '$results/other' 'regather make $product'
    row reproduce '${broken#*:}' 'Is ${broken#*:} caught' 'broken=$brokens' '*' - - '$results/${broken#*:}' 'caught ${broken%%:*} ${broken#*:} $product'
    row reproduce absent 'Needs a GPU' - '*' - - '$results/absent' 'regather lacks'
}
passed=0 failed=0
says() { # WORDS: the output of the last run has this line, as a pattern
    grep -q -- "$1" out && passed=$((passed + 1)) && return
    failed=$((failed + 1)) && echo "expected: $1" && cat out
}
run() { # CODE PRESET
    REPORT_DIR=$at report/steps.sh build reproduce "$2" > out 2>&1
    code=$?
    echo "exit $code" >> out
    says "^exit $1\$"
}
page() { row reproduce report 'Write the page' - '*' - '$results' '$out/index.html' 'regather report $(entries)'; }
table && page && run 0 quick
says '^step 1 of 7: Do one$'
says '^    made .*/results/two.small, [0-9]* s$'
says '^step 4 of 7: Is one_wrong caught$'
says '^    caught, [0-9]* s$'
says '^    not here$'
says '^page of --verify .*/one.small --verify .*/two.small --table numbers=.*/last$'
! grep -q 'On the GPU\|Not this' out && passed=$((passed + 1)) || failed=$((failed + 1))
sleep 1 && run 0 quick && says '^steps 1 to 5: up to date$' && says '^steps 7 to 7: up to date$' # what is not here is asked for again
sleep 1 && touch build/results/one.small && run 0 quick && says '^step 3 of 7: Do both$' && says '^steps 1 to 2: up to date$'
sleep 1 && touch build/regather && run 0 quick && says '^step 1 of 7: Do one$'
run 0 paper && says 'made .*/results/one.large'
table && row reproduce thrice 'Three times' - '*' - - '$results/thrice' 'over 3 $work/one.tsv $product regather stages $work/one.tsv' && page && run 0 quick
[ "$(grep -c '^whole' build/results/thrice)$(grep -c '^stage' build/results/thrice)" = 31 ] && passed=$((passed + 1)) || failed=$((failed + 1))
table && row reproduce wrong 'Break' - '*' - - '$results/wrong' 'regather make $product && regather breaks' && page && run 2 quick
says '^    a reason$'
says '^step 7 failed (wrong, exit 2): see .*/wrong.log$'
# Nothing that is named from outside becomes a command, nor two words.
table && row reproduce sides 'Side $side' 'side=$sides' '*' - - '$results/side$side' 'regather make $product'
row reproduce pairs 'Pair $side, $count' 'side:count=$pairs' '*' - - '$results/pair$side.$count' 'regather make $product' && page
printf 'let\t*\tpairs\t100:20 200:30\n' >> report/steps.tsv
printf 'let\t*\tsides\t100 200\n' >> report/steps.tsv
refused() { # WORDS...: an environment and a build that are refused
    [ "$1" = build ] || { env "$1" report/steps.sh build reproduce quick > out 2>&1; echo "exit $?" >> out; }
    [ "$1" != build ] || { mkdir -p "$2" && cp build/regather "$2/" && report/steps.sh "$2" reproduce quick > out 2>&1; echo "exit $?" >> out; }
    says '^exit 2$'
    says '^steps.sh: expected '
    [ ! -e "$at/ran" ] && passed=$((passed + 1)) || { failed=$((failed + 1)) && echo "ran: $*"; rm -f "$at/ran"; }
}
refused 'REPORT_DIR=a b'
refused 'REPORT_DIR=$(touch ran)'
refused 'REPORT_DIR=a"; touch ran; "'
refused build '$(touch ran)'
refused build 'a b'
refused build "it's"
REPORT_DIR=$at/report report/steps.sh build reproduce quick > out 2>&1; says 'Side 100$' && says 'Side 200$'
says 'Pair 100, 20$' && says 'made .*/results/pair200.30, '
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
