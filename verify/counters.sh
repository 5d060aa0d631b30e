#!/bin/sh
# SPDX-License-Identifier: MIT
# counters.sh: tests bench/counters.sh on the output of a program in place of ncu: a kernel with commas in its name, one that
# was not launched, an output without a counter; and its message without ncu.
cd "$(dirname "$0")/.." || exit 2
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT || exit 2
cat > "$folder/ncu" << 'END'
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    --log-file) log=$2 ;;
    --metrics) metrics=$(echo "$2" | tr ',' ' ') ;;
    */regather) kernel=$3 ;;
    esac
    shift
done
[ "$kernel" != align2d:batch_mixed ] || { echo '==ERROR== no kernels were profiled' > "$log" && exit 0; }
{
    printf '==PROF== Connected\n"ID","Kernel Name"'
    for m in $metrics; do [ "$kernel:$m" = pinsert_s:owned:launch__registers_per_thread ] || printf ',"%s"' "$m"; done
    printf '\n"",""'
    for m in $metrics; do printf ',"unit"'; done
    printf '\n"0","void f<2, 0>(a, b)"'
    for m in $metrics; do
        case $m in
        gpu__time*) v=12,345 ;;
        sm__cycles*) v=1,500,000,000.25 ;;
        *inst_executed.sum) v=7,654,321 ;;
        *barrier*) v=1.5 ;;
        *long_score*) v=2.25 ;;
        *registers*) v=80 ;;
        *) v=0.5 ;;
        esac
        printf ',"%s"' "$v"
    done
    echo
} > "$log"
END
chmod +x "$folder/ncu"
passed=0 failed=0
expect() { # WHAT EXPECTED FOUND
    [ "$2" = "$3" ] && passed=$((passed + 1)) && return
    failed=$((failed + 1)) && printf '%s: expected "%s", found "%s"\n' "$1" "$2" "$3"
}
NCU=$folder/ncu bench/counters.sh build > "$folder/table" 2> "$folder/said"
expect 'exit with two that were not had' 1 $?
rows=$(grep -cv '^#\|^kernel' bench/counters.tsv) lost=$(grep -c '^align2d:batch_mixed\|^pinsert_s:owned' bench/counters.tsv)
expect 'rows' $((rows - lost + 1)) "$(wc -l < "$folder/table")"
expect 'lines about those' "$lost" "$(grep -c '^counters.sh: ' "$folder/said")"
NCU=$folder/ncu bench/counters.sh build gridding:gather > "$folder/table"
expect 'exit' 0 $?
expect 'a row' "gridding:gather gather 12.35 1500 7654321 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 80 long scoreboard 2.25" \
    "$(tail -n 1 "$folder/table" | cut -f 1,3- | tr '\t' ' ')"
expect 'columns' "$(head -n 1 "$folder/table" | tr '\t' '\n' | wc -l)" "$(tail -n 1 "$folder/table" | tr '\t' '\n' | wc -l)"
NCU=$folder/none bench/counters.sh build > /dev/null 2>&1
expect 'exit without ncu' 4 $?
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
