#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh OBJECT...: a C file with the hash of each variant's own source: the file that its object was made of and the headers
# of this project that it includes, as the compiler listed them beside the object. suite.h and the emulator are not the kernel's:
# every kernel includes the first, and the second changes no time.
LC_ALL=C # the order of files is part of the hash
export LC_ALL
echo '#include "impl/runtime/source.h"'
found=$(nm -A -g --defined-only "$@" | sed -n 's/^\(.*\)\.o:.* [BDR] \(rg_\(variant\|emulated\)_[a-z0-9_]*\)$/\1 \2/p' | sort -u)
printf '%s\n' "$found" | sed 's/.* \(.*\)/extern const rg_variant \1;/'
echo 'const rg_source rg_sources[] = {'
printf '%s\n' "$found" | while read -r object symbol; do
    if [ "$object" != "$last" ]; then
        # shellcheck disable=SC2046
        files=$(realpath -s --relative-to=. $(sed -n '1,/[^\\]$/{s/^[^ ]*://;s/\\$//;p}' "$object.d") |
            grep '^impl/' | grep -v -e '^impl/suite\.h$' -e '^impl/gpu/emulator/' | sort -u)
        # shellcheck disable=SC2086
        hash=$(cat $files | sha256sum | cut -c 1-16) last=$object
    fi
    echo "    {&$symbol, \"$hash\"},"
done
echo '    {0, 0},
};'
