#!/bin/sh
# SPDX-License-Identifier: MIT
# counters.sh BUILD [KERNEL]: prints a table of GPU counters for one launch of each kernel of counters.tsv, or only of KERNEL.
# Percentages are of the sustained peak. ncu locks clocks below those of a benchmark, so times only show proportions. waits: the
# most frequent stall, in stalled warps per issued instruction. Needs Nsight Compute (ncu, or the program that NCU names) and
# the right to read counters; exit 4 without ncu.
build=${1:?usage: bench/counters.sh BUILD [KERNEL]} only=${2:-} ncu=${NCU:-ncu}
command -v "$ncu" > /dev/null || { echo "counters.sh: ncu is not installed (Nsight Compute, with the CUDA toolkit)" >&2 && exit 4; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && trap 'exit 130' INT TERM || exit 2
busy='.avg.pct_of_peak_sustained'
metrics="gpu__time_duration.sum sm__cycles_elapsed.avg.per_second smsp__inst_executed.sum smsp__issue_active${busy}_active
    sm__warps_active${busy}_active sm__pipe_fma_cycles_active${busy}_active sm__pipe_alu_cycles_active${busy}_active
    sm__pipe_tensor_cycles_active${busy}_active sm__inst_executed_pipe_tex${busy}_active
    l1tex__data_pipe_lsu_wavefronts${busy}_elapsed lts__throughput${busy}_elapsed gpu__dram_throughput${busy}_elapsed
    launch__registers_per_thread"
for why in barrier long_scoreboard short_scoreboard mio_throttle lg_throttle tex_throttle math_pipe_throttle wait; do
    metrics="$metrics smsp__average_warps_issue_stalled_${why}_per_issue_active.ratio"
done
printf 'kernel\tshape\tfunction\ttime_us\tclock_MHz\twarp_instructions\tissue_slots_percent\twarps_percent\tfma_percent\t'
printf 'alu_percent\tmatrix_percent\ttexture_percent\tl1_percent\tl2_percent\tmemory_percent\tregisters\twaits\n'
grep -v '^#' "$(dirname "$0")/counters.tsv" | tail -n +2 | {
    failed=0
    while IFS='	' read -r kernel shape function; do
        [ -z "$only" ] || [ "$only" = "$kernel" ] || continue
        # One round of bench, without the gate: the first launches warm up.
        "$ncu" --kernel-name "regex:^$function\$" --launch-skip 3 --launch-count 1 --csv --page raw --print-units base \
            --metrics "$(echo "$metrics" | tr -s ' \n' ',')" --log-file "$folder/log" "$build/regather" bench "$kernel" --shape "$shape" \
            --mode hot --scope kernel --rounds 2 --max-seconds 0.02 --serve 0:1 --quiet > "$folder/said" 2>&1 < /dev/null
        awk -v kernel="$kernel" -v shape="$shape" -v function_name="$function" -v OFS='\t' -v metrics="$metrics" '
            /^"ID"/ { names = 1; n = split(substr($0, 2, length($0) - 2), name, "\",\""); next }
            names && /^"[0-9]/ {
                split(substr($0, 2, length($0) - 2), cell, "\",\"")
                for (i = 1; i <= n; i++) { gsub(",", "", cell[i]); value[name[i]] = cell[i] }
                found = 1
            }
            END {
                if (!found) exit 1
                asked = split(metrics, metric, " ")
                line = kernel OFS shape OFS function_name
                for (i = 1; i <= asked; i++) {
                    if (!(metric[i] in value)) exit 1
                    of = value[metric[i]]
                    if (metric[i] !~ /stalled/)
                        line = line OFS (i == 1 ? sprintf("%.4g", of / 1e3) : i == 2 ? sprintf("%.0f", of / 1e6) : i == 3 ? of : sprintf("%.3g", of))
                    else if (of + 0 > most) {
                        most = of + 0
                        why = metric[i]
                    }
                }
                gsub(/.*stalled_|_per_issue.*/, "", why)
                gsub("_", " ", why)
                print line, sprintf("%s %.2f", why, most)
            }' "$folder/log" && continue
        failed=$((failed + 1))
        echo "counters.sh: $kernel $shape: nothing of $function: $(grep -h '==ERROR==\|^regather' "$folder/log" "$folder/said" | head -n 1)" >&2
    done
    [ "$failed" -eq 0 ]
}
