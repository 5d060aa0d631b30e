#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh OBJECT...: prints a C file with a hash of each variant's source: the file of its object and this project's headers
# that it includes, as the compiler listed them beside the object, without comments and layout (a blank is kept only between
# two words), which do not change a time. suite.h and the emulator are left out: every kernel includes the first, and the second
# does not change a time. It also has a hash of each job: of its folder, the folders of jobs that it includes, the formats that
# it reads, and the kernels of the algorithms that it names.
LC_ALL=C # the order of files is part of the hash
export LC_ALL
# A quote after a letter or digit separates the digits of a number.
bare() {
    awk '{
        kept = ""
        while (length($0)) {
            if (inside) {
                at = index($0, "*/")
                $0 = at ? substr($0, at + 2) : ""
                inside = !at
            } else if (!match($0, /\/\/|\/\*|"([^"\\]|\\.)*"|[0-9A-Za-z_]\047|\047([^\047\\]|\\.)+\047/)) {
                kept = kept $0
                $0 = ""
            } else {
                token = substr($0, RSTART, RLENGTH)
                kept = kept substr($0, 1, RSTART - 1) (token ~ /^\/[\/*]/ ? " " : token)
                inside = token == "/*"
                $0 = token == "//" ? "" : substr($0, RSTART + RLENGTH)
            }
        }
        sub(/\\$/, "", kept) # a macro continues in the next line
        print kept
    }' "$@" | tr -s ' \t\n' ' ' | sed 's/ *\([^[:alnum:]_ ]\) */\1/g'
}
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
        hash=$(bare $files | sha256sum | cut -c 1-16) last=$object
    fi
    echo "    {&$symbol, \"$hash\"},"
done
echo '    {0, 0},
};'
code_in() { find "$1" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \); }
job_files() { # COMMAND'S FILE
    folders=$(dirname "$1")
    for _ in 1 2 3; do # as deep as jobs include each other's folders
        # shellcheck disable=SC2086
        folders=$(for folder in $folders; do
            echo "$folder"
            [ "$folder" = impl/jobs ] || grep -h '^#include "\.\./' "$folder"/* | sed 's|.*"\.\./\([a-z]*\)/.*|impl/jobs/\1|'
        done | sort -u | while read -r folder; do [ ! -d "$folder" ] || echo "$folder"; done)
    done
    files=$(for folder in $folders; do [ "$folder" = impl/jobs ] && echo "$1" || code_in "$folder"; done)
    printf '%s\n' "$files"
    # shellcheck disable=SC2086
    sed -n 's/^ALGO(\(.*\))$/\1/p' impl/variants.def | while read -r algo; do
        ! grep -q "\"$algo\"" $files || grep -rl "^RG_ALGO($algo)" impl | cut -d / -f 1,2
    done | sort -u | while read -r folder; do code_in "$folder"; done
    # shellcheck disable=SC2086
    formats_of $files
}
formats_of() { # FILES...: by the headers that these include, and that those of data/ include
    for _ in 1 2 3 4; do # as deep as headers of data/ include each other
        # shellcheck disable=SC2046
        set -- "$@" $(grep -h '^#include "' "$@" | sed 's|.*[/"]\([a-z]*\).*\.h".*|\1|' | sort -u |
            while read -r name; do find data -name "$name.[ch]" -o -name "${name}_*.[ch]"; done)
    done
    printf '%s\n' "$@" | grep '^data/formats/'
}
echo 'const rg_job_source rg_job_sources[] = {'
grep -rl '^const rg_command rg_cmd_' impl/jobs 2> /dev/null | sort | while read -r file; do
    # shellcheck disable=SC2046
    hash=$(bare $(job_files "$file" | sort -u) | sha256sum | cut -c 1-16)
    sed -n "s/^const rg_command rg_cmd_\\([a-z0-9_]*\\).*/    {\"\\1\", \"$hash\"},/p" "$file"
done
echo '    {0, 0},
};'
