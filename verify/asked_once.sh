#!/bin/sh
# SPDX-License-Identifier: MIT
# asked_once.sh: an error is requested only once. Prints each statement of the sources with a condition that calls a device,
# CUDA, MPI or a function that does, and a branch that repeats the call: the second result may differ. Ends with "N passed, N
# failed, N skipped", a file each; exit 1 if one failed. Planted statements test the check first.
cd "$(dirname "$0")/.." || exit 2
of='alloc|pinned|upload|upload_on|download|fill|sync|move|flush|facts|share|event_[a-z]+|stream_[a-z]+|prepare|load|clear|run'
call='((->|\.)('$of')|\<(cuda|cufft|MPI_|rg_frame_|rg_buffer_|rg_fft_|rg_texture_|pl_|rc_|fr_engine_|aj_)[A-Za-z0-9_]*)\([^()]*(\([^()]*\))?[^()]*\)'
twice() { # FILE...: prints FILE:LINE: STATEMENT for each that asks twice
    awk '
        function flush() { if (text != "") print FILENAME ":" at ": " text; text = "" }
        { line = $0
          sub(/\/\/.*/, "", line); sub(/^[ \t]+/, "", line); sub(/[ \t]+$/, "", line)
          if (text == "") at = FNR
          text = text (text == "" ? "" : " ") line
          if (line ~ /[;{}]$/ || line ~ /^#/ || line == "") flush() }' "$@" |
        grep -E -e "($call)( [!=<>]+ [A-Za-z0-9_]+)? \? [^:]*\1" -e "(if|while) \(.*($call).*\) .*\2"
}
planted=$(mktemp) || exit 2
trap 'rm -f "$planted"' EXIT
cat > "$planted" << 'END'
    if (!b->block) return device->sync() ? device->sync() : RG_E_STATE;
    if (rg_buffer_put(&b, from) != RG_OK) return rg_buffer_put(&b, from);
    code = p->device->alloc(&at, bytes,
               "what") == 2
        ? p->device->alloc(&at, bytes, "what")
        : 0;
    return error ? error : d->sync(); // d->sync() ? d->sync() : 0
    code = device->sync();
    if (code) return device->sync_again() ? 1 : 2;
END
found=$(twice "$planted" | sed 's/.*:\([0-9]*\): .*/\1/' | tr '\n' ' ')
[ "$found" = '1 2 3 ' ] || { echo "planted statements 1 2 3: found $found" && echo '0 passed, 1 failed, 0 skipped' && exit 1; }
files=$(find impl bench data report verify reference -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' | sort)
# shellcheck disable=SC2086
wrong=$(twice $files)
[ -z "$wrong" ] || printf '%s\n' "$wrong"
failed=$(printf '%s' "$wrong" | cut -d: -f1 | sort -u | grep -c .)
echo "$(($(echo "$files" | wc -l) - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
