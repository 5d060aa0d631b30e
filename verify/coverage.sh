#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh BUILD [verify's words]: which branches of the kernels the cases of `regather verify` take. BUILD/coverage/regather
# has the CPU variants and those of the emulated GPU compiled with gcov (coverage.awk). A branch that no case takes needs a row
# of coverage.tsv that says why not. Ends with "N passed, N failed, N skipped": branches taken or with a reason, and those
# without; a row that fits no line is a failure too. Every branch: BUILD/coverage/branches.tsv. With words (autocorr:simd) the
# branches that these take are added to those of the last run.
build=${1:?usage: verify/coverage.sh BUILD [words]}
shift
cd "$(dirname "$0")/.." || exit 2
cover=$build/coverage table=verify/coverage.tsv
[ $# -gt 0 ] || find "$cover" -name '*.gcda' -delete
for device in cpu host; do
    "$cover/regather" verify --quiet --limit 300 --device $device "$@" > "$cover/$device.log" 2>&1 ||
        { tail -n 20 "$cover/$device.log" && echo "0 passed, 1 failed, 0 skipped" && exit 1; }
done
find "$cover" -name '*.gcda' | sort | while read -r counts; do
    ${GCOV:-gcov} -b -c -t "$counts" 2> /dev/null
done | awk -f verify/coverage.awk | sort > "$cover/branches.tsv"
awk -F'\t' -v table="$table" '
    FILENAME == table { if (!/^#/ && $1 != "file") { file[++n] = $1; text[n] = $2 } next }
    { all++; why = 0
      for (i = 1; i <= n; i++) if ($1 ~ file[i] && $5 ~ text[i]) { known[i] = 1; why = i }
      if ($4 > 0) taken++
      else if (why) excused++
      else { open++; if (!(($1, $2) in shown)) { shown[$1, $2] = 1; printf "not taken: %s:%s: %s\n", $1, $2, $5 } } }
    END { for (i = 1; i <= n; i++) if (!known[i]) { gone++; printf "no line: %s: %s\n", file[i], text[i] }
          printf "%d of %d branches taken, %d have their reason in %s\n", taken, all, excused, table
          printf "%d passed, %d failed, 0 skipped\n", taken + excused, open + gone
          exit open + gone > 0 }' "$table" "$cover/branches.tsv"
