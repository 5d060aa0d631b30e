#!/bin/sh
# SPDX-License-Identifier: MIT
# @NAME@: measures this machine by RULES.md, without root or network, and writes an archive. README.txt has more.
#   ./run.sh --seed NONCE [--peak FILE] [--meter CMD] --out A.rgz     --help has the rest; temporary files go to TMPDIR
here=$(cd "$(dirname "$0")" && pwd) || exit 2
glibc=$(getconf GNU_LIBC_VERSION 2> /dev/null)
minor=${glibc##*2.}
case $minor in '' | *[!0-9]*) minor=0 ;; esac
[ "$minor" -ge @GLIBC@ ] || { echo "run.sh: needs glibc 2.@GLIBC@ or newer, this system has ${glibc:-none that getconf names}" >&2; exit 4; }
# A small kit has no cuFFT of NVIDIA: it uses that of this machine, or without a GPU a stub (lib/none).
cufft=$(cd "$here/lib/none" 2> /dev/null && echo libcufft.so.*) at=
for at in ${cufft:+$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | sed -n "s|.*$cufft .*=> ||p") /usr/local/cuda*/lib64/$cufft "$here/lib/$cufft"}; do
    [ ! -r "$at" ] || break
done
if [ -n "$cufft" ] && [ ! -r "$at" ]; then
    [ ! -e "${NVIDIA_DEVICE:-/dev/nvidiactl}" ] || {
        echo "run.sh: there is an NVIDIA GPU and no $cufft: install cuFFT (CUDA toolkit, or the wheel nvidia-cufft), or put it into $here/lib" >&2
        exit 4
    }
    at=$here/lib/none/$cufft
fi
left=$#
while [ "$left" -gt 0 ]; do
    word=$1 left=$((left - 1))
    shift
    [ "$word" != --seed ] || word=--nonce
    set -- "$@" "$word"
done
LD_LIBRARY_PATH=$here/lib${cufft:+:${at%/*}}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} REGATHER_SHARE=$here REGATHER_PROGRAM=$here/bin/regather
export LD_LIBRARY_PATH REGATHER_SHARE REGATHER_PROGRAM
exec "$here/bin/regather" measure --workload "$here/workload.tsv" --size @SIZE@ "$@"
