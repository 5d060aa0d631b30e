#!/bin/sh
# SPDX-License-Identifier: MIT
# relion.sh BUILD [THREADS [SIDE:IMAGES:TURNS]...]: times `regather reconstruct` on THREADS (2) against `relion_reconstruct`:
# whole processes, in turns, with the same simulated images, padding (2) and kernel (radius 1.9, alpha 15); default: 128:1000:5
# 256:300:2. RELION 3.1's program has one thread; relion_reconstruct_mpi shares only the insertion, and two processes are not
# faster. Prints a row a run: wall and CPU seconds (on a busy machine, compare the CPU's), peak resident memory, correlation of
# the map with the true one; then the medians, a line a size. Kept as data/machines/NAME.relion.tsv. FSC=FILE gets the FSC of
# both maps with the true one by shell, kept as data/machines/NAME.relion_fsc.tsv: in verify/cases/reconstruct.tsv, gridding
# must not be worse. Exit 1 if a program fails or a map does not resemble the true one; 4, with the reason, without RELION or
# GNU time.
build=${1:?usage: bench/relion.sh BUILD [THREADS [SIDE:IMAGES:TURNS]...]} threads=${2:-2}
regather=$(realpath "$build/regather") fsc=$(realpath -m "${FSC:-/dev/null}") || exit 2
shift && { [ $# -eq 0 ] || shift; }
[ $# -gt 0 ] || set -- 128:1000:5 256:300:2
lacks() { echo "$1 is not installed (Debian: apt-get install $2)" && exit 4; }
command -v relion_reconstruct > /dev/null || lacks relion_reconstruct relion
timer=$(command -v time) && [ -x "$timer" ] || timer=/usr/bin/time
"$timer" -f %M true 2> /dev/null || lacks 'GNU time, which measures memory,' time
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && trap 'exit 130' INT TERM && cd "$work" || exit 2
export REGATHER_PAGE=no

# Runs a program once and prints its row. Only the program itself is timed; its map is judged afterwards.
row() { # PROGRAM SIDE IMAGES TURN COMMAND...
    head="$1	$2	$3	$4" kept=$1.fsc && shift 4
    "$timer" -o used -f '%e %U %S %M' "$@" > said 2>&1 || { cat said >&2; echo "$* failed" >&2; return 1; }
    "$regather" fsc map.mrc p/map.mrc --quiet --out fsc.tsv > compared || return 1
    awk '$1 + 0 > 0 { printf "%.6f\n", $4 }' fsc.tsv > "$kept"
    awk -v head="$head" -v OFS='\t' 'NR == FNR { if ($1 == "correlation") c = $2; next }
        { printf "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%s\n", head, $1, $2 + $3, $3, $4 / 1000, c; exit !(c > 0.9) }' compared used
}

"$regather" bench autocorr:ordered --shape w32,h32,r2,k0 --max-seconds 0.1 --quiet --out probe.tsv > /dev/null || exit 1
{
    sed -n '/^# \(suite\|revision\|date\|machine\|cpu\|cores\|kernel\): /p' probe.tsv
    echo "# relion: $(relion_reconstruct --version | sed -n "s/^ *RELION version: *\([^ ]*\).*/\1/p;q")"
    echo "# threads: regather $threads, relion 1"
    printf 'program\tside\timages\tturn\twall_s\tcpu_s\tsystem_s\tpeak_MB\tcorrelation\n'
} > table
{ grep '^#' table && printf 'side\timages\tshell\tregather\trelion\n'; } > "$fsc"
cat table
for size in "$@"; do
    side=${size%%:*} turns=${size##*:} images=${size#*:}
    images=${images%:*}
    rm -rf p && "$regather" phantom particles --box "$side" --images "$images" --out p --quiet > /dev/null || exit 1
    for turn in $(seq "$turns"); do
        row regather "$side" "$images" "$turn" "$regather" reconstruct p/particles.star --out map.mrc --threads "$threads" --quiet ||
            exit 1
        # RELION resolves the names of stacks from the folder it runs in.
        row relion "$side" "$images" "$turn" sh -c 'cd p && exec relion_reconstruct --i particles.star --o ../map.mrc' || exit 1
    done | tee -a table
    paste regather.fsc relion.fsc | awk -v head="$side	$images" -v OFS='\t' '{ print head, NR, $0 }' >> "$fsc"
    [ "$(grep -c "	$side	$images	" table)" -eq $((2 * turns)) ] || exit 1
done
awk -F '\t' '
    function median(key, n,  a, b, t) {
        for (a = 2; a <= n; a++) # sorted
            for (b = a; b > 1 && v[key, b - 1] > v[key, b]; b--) { t = v[key, b]; v[key, b] = v[key, b - 1]; v[key, b - 1] = t }
        return n % 2 ? v[key, (n + 1) / 2] : (v[key, n / 2] + v[key, n / 2 + 1]) / 2
    }
    /^#/ || $1 == "program" { next }
    {
        size = $2 " px, " $3 " images"
        if (!(size in seen)) { seen[size] = 1; order[++sizes] = size }
        n[$1, size]++
        for (c = 5; c <= 8; c++) v[$1, size, c, n[$1, size]] = $c
    }
    function of(program, size, c) { return median(program SUBSEP size SUBSEP c, n[program, size]) }
    END {
        for (s = 1; s <= sizes; s++)
            printf "# %s: wall %.2f s against %.2f, ratio %.1f; processor %.2f s against %.2f, ratio %.1f; " \
                "memory %.0f MB against %.0f, share %.2f\n",
                order[s], a = of("regather", order[s], 5), b = of("relion", order[s], 5), b / a,
                a = of("regather", order[s], 6), b = of("relion", order[s], 6), b / a,
                a = of("regather", order[s], 8), b = of("relion", order[s], 8), a / b
    }' table
