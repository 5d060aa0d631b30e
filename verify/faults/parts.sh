#!/bin/sh
# SPDX-License-Identifier: MIT
# parts.sh BUILD MOST OUT N [COMMAND...]: runs faults.sh in N parallel parts and joins their rows. Same exit code.
usage='verify/faults/parts.sh BUILD MOST OUT N [COMMAND...]'
build=${1:?usage: $usage} most=${2:?usage: $usage} out=${3:?usage: $usage} parts=${4:?usage: $usage}
shift 4
here=$(dirname "$0")
room=$(mktemp -d) || exit 2
trap 'kill $(jobs -p) 2> /dev/null; rm -rf "${room:?}"' EXIT
i=1
while [ "$i" -le "$parts" ]; do
    PART=$i/$parts "$here/faults.sh" "$build" "$most" "$room/$i.tsv" "$@" > "$room/$i.out" 2>&1 &
    i=$((i + 1))
done
wait
grep -hv ' passed, ' "$room"/*.out | sort -u
awk -F'\t' -v OFS='\t' 'FNR == 1 { if (NR == 1) print; next }
    { key = $1 OFS $2; if (!(key in calls)) { order[++n] = key; calls[key] = $3 } else if (calls[key] != $3) varies[key] = 1
      for (k = 4; k <= 7; k++) sum[key, k] += $k }
    END { for (i = 1; i <= n; i++) { key = order[i]
        print key, calls[key], sum[key, 4], sum[key, 5], sum[key, 6], sum[key, 7]
        if (key in varies) print "parts: " key ": another number of calls from run to run" > "/dev/stderr" } }' "$room"/*.tsv > "$out"
sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$room"/*.out |
    awk -v parts="$parts" '{ p += $1; f += $2; s = $3 } END { if (NR != parts) f += parts - NR
        printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
