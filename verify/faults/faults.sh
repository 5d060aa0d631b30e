#!/bin/sh
# SPDX-License-Identifier: MIT
# faults.sh BUILD [MOST [OUT [COMMAND...]]]: every command of commands.tsv with its n-th allocation, open, read, write, sync and
# start of a thread failing, for every n, or for MOST of them spread evenly. Wanted each time: an exit code of the manual; when
# it is not 0 one line on stderr besides warnings; nothing of the outputs there that is not whole, and no leftovers. A row of OUT
# is a command and a kind; each run that is not as wanted is told on stdout. Exit 1 when there was any.
usage='verify/faults/faults.sh BUILD [MOST [OUT [COMMAND...]]]'
build=$(realpath "${1:?usage: $usage}") most=${2:-1000000} out=${3:-/dev/stdout}
cd "$(dirname "$0")" || exit 2
[ $# -gt 3 ] && shift 3 || set --
regather=$build/regather here=$(pwd)
room=$(mktemp -d) || exit 2
trap 'rm -rf "${room:?}"' EXIT
${CC:-gcc} -std=gnu11 -O1 -fPIC -shared faults.c -o "$room/faults.so" -ldl || exit 2
mkdir "$room/in" && cd "$room/in" || exit 2
{ "$regather" phantom particles --out p --shape d7 --box 16 --images 2 --sigma 1 --ctf --snr 1 &&
    "$regather" phantom subtomograms --out s --box 16 --images 2 --wedge 60 &&
    "$regather" phantom coarsening --out photos --width 32 --height 32 --frames 1 --time 1 &&
    "$regather" bench autocorr:naive --shape w7,h5,r3,k0 --out bench.tsv; } > "$room/words" 2>&1 ||
    { cat "$room/words" >&2; exit 2; }

# run FAULT: in an empty folder; leaves its exit code in $code, stdout and stderr beside.
run() {
    rm -rf "${room:?}/run" && mkdir "$room/run" && cd "$room/run" || exit 2
    # shellcheck disable=SC2086
    timeout 60 env OMP_NUM_THREADS=2 RG_FAULT="$1" RG_FAULT_COUNT="$room/calls" LD_PRELOAD="$room/faults.so" \
        "$regather" $words --quiet > "$room/stdout" 2> "$room/stderr"
    code=$?
}
# Files without what is there to go on from (.part) and what differs from run to run: times, figures, which follow from tables,
# and pages, of which only the end counts.
listing() {
    find . -type f ! -name '*.svg' ! -name '*.log' ! -name '*stages*' ! -name '*.part' | sort | while read -r f; do
        case $f in
        *.html) echo "$f $(tail -c 8 "$f")" ;;
        *) echo "$f $(grep -av -e '^# *command' -e '^# *date' "$f" | sed 's/\t[0-9.]*\t$//' | cksum)" ;;
        esac
    done
}

wrong=0
[ -s "$out" ] && [ "$out" != /dev/stdout ] || printf 'command\tkind\tcalls\truns\tone_line\tsame_result\twrong\n' > "$out"
grep -v -e '^#' -e '^name' "$here/commands.tsv" > "$room/commands"
while IFS="$(printf '\t')" read -r name words; do
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    run none:0
    if [ $code -ne 0 ]; then
        echo "$name: exit $code without a fault: $(tail -n 1 "$room/stderr")"
        wrong=$((wrong + 1))
        continue
    fi
    listing > "$room/whole"
    for kind in alloc open read write sync thread; do
        run $kind:0
        calls=$(cat "$room/calls") runs=0 lines=0 same=0 bad=0 n=1
        while [ "$n" -le "$calls" ]; do
            run $kind:$n
            listing > "$room/found"
            said=$(grep '^regather: ' "$room/stderr" | grep -vc '^regather: warning') fault=
            if [ $code -gt 4 ]; then fault="exit $code"
            elif ls ./*.regather-part > /dev/null 2>&1; then fault='leftovers'
            elif [ -n "$(grep -vxFf "$room/whole" "$room/found" | head -n 1)" ]; then
                fault="$(grep -vxFf "$room/whole" "$room/found" | head -n 1 | cut -d' ' -f1) is not whole"
            elif [ $code -eq 0 ] && [ "$(wc -l < "$room/found")" -lt "$(wc -l < "$room/whole")" ]; then
                fault='exit 0 without its files'
            elif [ $code -ne 0 ] && [ "$said" -ne 1 ]; then fault="$said lines"
            fi
            runs=$((runs + 1))
            if [ -n "$fault" ]; then
                bad=$((bad + 1))
                echo "$name, $kind $n of $calls: $fault (exit $code): $(tail -n 1 "$room/stderr" | cut -c 1-120)"
            elif [ $code -eq 0 ]; then same=$((same + 1))
            else lines=$((lines + 1)); fi
            n=$((n + 1 + (calls - 1) / most))
        done
        wrong=$((wrong + bad))
        printf '%s\t%s\t%d\t%d\t%d\t%d\t%d\n' "$name" "$kind" "$calls" $runs $lines $same $bad >> "$out"
    done
done < "$room/commands"
[ $wrong -eq 0 ]
