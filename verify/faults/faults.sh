#!/bin/sh
# SPDX-License-Identifier: MIT
# faults.sh BUILD [MOST [OUT [COMMAND...]]]: runs every command of commands.tsv with its n-th call of a kind failing, for every
# n, or for MOST of them spread evenly, from an offset drawn from SEED. Kinds: allocations, opens, reads, writes, syncs and
# starts of threads; calls of CUDA and cuFFT, on the emulated GPU or a real one, alone (cuda) or with all later ones (late),
# those that allocate memory likewise (room, rooms), those that free it (give, gives) and those of threads other than the first
# (side, sides), and memory of SIZES sizes (size); calls of MPI, in each of two processes. Each run must end with an exit code
# of the manual (4 if memory is lacking), with one line on stderr besides warnings if the code is not 0, else none, and without
# incomplete outputs and leftovers. A row of OUT is a command and a kind. Each run that differs is printed on
# stdout, which ends with "N passed, N failed, N skipped"; exit 1 if any failed. A command that cannot run on this machine is
# skipped.
# PART=I/N: every N-th of these runs, from the I-th on (parts.sh). MADE=DIR: the folder of faults.so and planted, for a machine
# without a compiler.
usage='verify/faults/faults.sh BUILD [MOST [OUT [COMMAND...]]]'
build=$(realpath "${1:?usage: $usage}") most=${2:-1000000} out=${3:-/dev/stdout} seed=${SEED:-0}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")" || exit 2
[ $# -gt 3 ] && shift 3 || set --
regather=$build/regather here=$(pwd)
room=$(mktemp -d) || exit 2
trap 'rm -rf "${room:?}"' EXIT
trap 'exit 1' INT TERM
part=${PART:-1/1}
made=${MADE:-$room}
[ "$made" != "$room" ] || { ${CC:-gcc} -std=gnu11 -O1 -fPIC -shared faults.c -o "$room/faults.so" -ldl &&
    ${CC:-gcc} -std=gnu11 -O1 planted.c -o "$room/planted"; } || exit 2
mkdir "$room/in" && cd "$room/in" || exit 2
{ "$regather" phantom particles --out p --shape d7 --box 16 --images 2 --sigma 1 --ctf --snr 1 &&
    "$regather" phantom subtomograms --out s --box 16 --images 2 --wedge 60 &&
    "$regather" phantom coarsening --out photos --width 32 --height 32 --frames 1 --time 1 &&
    "$regather" bench autocorr:naive --shape w7,h5,r3,k0 --out bench.tsv && mkdir series &&
    cp photos/coarsening_0001.png series/coarsening_0002.png; } > "$room/words" 2>&1 ||
    { cat "$room/words" >&2; exit 2; }

# run FAULT: in an empty folder; sets $code to the exit code, and keeps stdout and stderr beside the folder.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
SIZES=63 # from 1 KiB to 2 GiB, each a quarter larger
run() {
    limit=
    case $1 in size:0) ;; size:*) limit=$(awk -v n="${1#*:}" 'BEGIN { printf "REGATHER_GPU_MEMORY=%.0fB", 1024 * 2 ^ (n / 3) }') ;; esac
    rm -rf "${room:?}/run" && mkdir "$room/run" && cd "$room/run" || exit 2
    rm -f "$room"/calls.*
    # shellcheck disable=SC2086
    timeout 60 $launcher env $limit OMP_NUM_THREADS=2 RG_FAULT="$1" RG_FAULT_COUNT="$room/calls" LD_PRELOAD="$made/faults.so" \
        "$regather" $words --quiet < /dev/null > "$room/stdout" 2> "$room/stderr"
    code=$?
}
# Lists files except checkpoints (.part) and what differs between runs: times, figures, which follow from tables, and pages, of
# which only the end is compared. A GPU adds in any order: of its files the length is compared.
listing() {
    find . -type f ! -name '*.svg' ! -path '*.tsv/*.png' ! -name '*.log' ! -name '*stages*' ! -name '*.part' | sort | while read -r f; do
        case $words/$f in
        *.html) echo "$f $(tail -c 8 "$f")" ;;
        *'--device gpu'*.mrc) echo "$f $(wc -c < "$f")" ;;
        *'--device gpu'*) echo "$f $(wc -l < "$f")" ;;
        *) echo "$f $(grep -av -e '^# *command' -e '^# *date' "$f" | sed 's/\t[0-9.]*\t$//' | cksum)" ;;
        esac
    done
}

# try KIND N: sets $fault to the fault of the run; empty if it is right.
try() {
    run "$1:$2"
    listing > "$room/found"
    said=$(grep '^regather: ' "$room/stderr" | grep -vc '^regather: warning')
    other=$(grep -vxFf "$room/whole" "$room/found" | head -n 1 | cut -d' ' -f1)
    fault=
    if [ $code -gt 4 ]; then fault="exit $code"
    elif [ $code -ne $good ] && [ $code -ne 4 ] && case $1 in room* | size) ;; *) false ;; esac; then fault="exit $code without memory"
    elif find . -name '*.regather-part' | grep -q .; then fault='leftovers'
    elif [ -n "$other" ]; then fault="$other is not whole"
    elif [ $code -eq $good ] && [ "$(wc -l < "$room/found")" -lt "$(wc -l < "$room/whole")" ]; then fault="exit $code without its files"
    elif [ $code -eq $good ] && [ "$said" -ne 0 ]; then fault="exit $code in spite of what it said"
    elif [ $code -ne $good ] && [ "$said" -ne 1 ]; then fault="$said lines"
    fi
}

wrong=0 right=0 skipped=0 launcher='' good=0
# Tests these checks with a command that does what each forbids.
while read -r words kind n wanted; do
    regather=$made/planted
    run none:0 && listing > "$room/whole"
    try "$kind" "$n"
    regather=$build/regather
    [ "$fault" = "$wanted" ] && right=$((right + 1)) && continue
    echo "planted $words: expected \"$wanted\", found \"$fault\"" && wrong=$((wrong + 1))
done << 'PLANTED'
good open 1
crash alloc 1 exit 139
deaf write 1 ./out is not whole
leftovers write 1 leftovers
twice write 1 2 lines
liar write 1 exit 0 in spite of what it said
silent write 1 0 lines
code write 1 exit 7
good room 1 exit 1 without memory
good rooms 1 exit 1 without memory
good give 1 exit 0 in spite of what it said
good gives 1 2 lines
thread side 1 exit 134
thread sides 1 exit 134
PLANTED
[ -s "$out" ] && [ "$out" != /dev/stdout ] || printf 'command\tkind\tcalls\truns\tone_line\tsame_result\twrong\n' > "$out"
grep -v -e '^#' -e '^command' "$here/commands.tsv" > "$room/commands"
while IFS="$(printf '\t')" read -r name kinds words; do
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    launcher=
    case $kinds in *mpi*) launcher='mpirun -n 2' ;; esac
    lacks=
    [ -z "$launcher" ] || { command -v mpirun > /dev/null && grep -q HAVE_MPI=1 "$build/flags"; } || lacks='mpirun or MPI'
    case $words in *'--device gpu'*) [ -e /dev/nvidia0 ] || lacks=GPU ;; esac
    if [ -n "$lacks" ]; then
        echo "$name: skipped: no $lacks" && skipped=$((skipped + 1))
        continue
    fi
    run none:0
    good=$code
    if [ $code -ne 0 ] && [ $code -ne 3 ]; then # 3: compare is unsure of rows that were measured under load
        echo "$name: exit $code without a fault: $(tail -n 1 "$room/stderr")"
        wrong=$((wrong + 1))
        continue
    fi
    listing > "$room/whole"
    count() { cat "$room/calls.$1" 2> /dev/null || echo 0; }
    counted=" late:$(count cuda) rooms:$(count room) gives:$(count give) sides:$(count side) size:$SIZES"
    for kind in alloc open read write sync thread cuda room give side mpi0 mpi1; do counted="$counted $kind:$(count $kind)"; done
    for kind in $kinds; do
        calls=${counted#*" $kind:"} runs=0 lines=0 same=0 bad=0
        calls=${calls%% *}
        case $kind$calls in cuda0 | late0 | room0 | rooms0 | give0 | gives0 | side0 | sides0 | mpi00 | mpi10)
            bad=1
            echo "$name: no call of kind $kind" ;;
        esac
        step=$(((calls + most - 1) / most))
        n=$((1 + seed % (step + !step) + (${part%/*} - 1) * step))
        while [ "$n" -le "$calls" ]; do
            try "$kind" "$n"
            runs=$((runs + 1))
            if [ -n "$fault" ]; then
                bad=$((bad + 1))
                echo "$name, $kind $n of $calls: $fault (exit $code): $(tail -n 1 "$room/stderr" | cut -c 1-120)"
            elif [ $code -eq $good ]; then same=$((same + 1))
            else lines=$((lines + 1)); fi
            n=$((n + step * ${part#*/}))
        done
        wrong=$((wrong + bad)) right=$((right + runs - bad))
        printf '%s\t%s\t%d\t%d\t%d\t%d\t%d\n' "$name" "$kind" "$calls" $runs $lines $same $bad >> "$out"
    done
done < "$room/commands"
echo "$right passed, $wrong failed, $skipped skipped"
[ $wrong -eq 0 ]
