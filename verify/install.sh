#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh BUILD: installs BUILD to a temporary folder; compiles the kernel of impl/README.md and one for the emulated GPU
# there, outside the tree, with the flags from the installed `regather --cflags`, and has both verified and traced.
build=$(realpath "${1:?usage: verify/install.sh BUILD}")
cd "$(dirname "$0")/.." || exit 2
at=$(mktemp -d) || exit 2
trap 'rm -rf "$at"' EXIT
make -o all install BUILD="$build" DESTDIR="$at" > "$at/log" 2>&1 || { cat "$at/log"; exit 2; } # -o: does not rebuild
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' impl/README.md | sed 's,"index.h","autocorr/index.h",' > "$at/mine.c"
echo 'RG_PLUGIN = { &RG_VARIANT_SYMBOL(autocorr_mine), NULL };' >> "$at/mine.c"
for file in autocorr_gpu.cu autocorr.h plugin.h; do
    sed 's,../../impl/,,' "verify/broken/$file" > "$at/$file"
done
cd "$at" || exit 2
regather=$(find . -name regather -type f -perm -u+x)
passed=0 failed=0
try() { # CODE COMMAND...
    wanted=$1
    shift
    "$@" > log 2>&1
    code=$?
    [ $code = "$wanted" ] && passed=$((passed + 1)) && return
    failed=$((failed + 1))
    echo "$*: exit $code, expected $wanted"
    cat log
}
# shellcheck disable=SC2046
try 0 ${CC:-gcc} $("$regather" --cflags) mine.c -o mine.so
try 0 "$regather" verify --quiet --plugin ./mine.so autocorr:mine.so:mine
try 0 "$regather" trace --plugin ./mine.so autocorr:mine.so:mine
case ${CC:-gcc} in *clang*) cxx=clang++ ;; *) cxx=g++ ;; esac
sed 's,= call->arg\[AC_A\],= (const uint8_t *)call->arg[AC_A],; s,= call->arg\[AC_SUMS\],= (int64_t *)call->arg[AC_SUMS],' mine.c > other.cc
# shellcheck disable=SC2046
try 0 $cxx $("$regather" --cflags c++ avx2) -Werror other.cc -o other.so
try 0 "$regather" verify --quiet --smoke --plugin ./other.so autocorr:other.so:mine
# shellcheck disable=SC2046
try 0 $cxx $("$regather" --cflags emulated) autocorr_gpu.cu -o right.o
try 0 $cxx -shared right.o -o right.so
try 0 "$regather" verify --quiet --device host --smoke --plugin ./right.so autocorr:right.so:gpu_right
try 2 "$regather" --cflags fortran
try 2 "$regather" --cflags c avx3
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
