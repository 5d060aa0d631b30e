#!/bin/sh
# SPDX-License-Identifier: MIT
# threads.sh BUILD: runs the threaded variants of the CPU under ThreadSanitizer, with more threads than cores, and then those
# with the faults of races.tsv, each of which must be caught. Ends with "N passed, N failed, N skipped"; exit 1 if anything
# failed.
build=$(realpath "${1:?usage: verify/threads/threads.sh BUILD}")
cd "$(dirname "$0")/../.." || exit 2
room=$build/threads threads=$(($(nproc) * 2 + 3)) passed=0 failed=0
compile="${CC:-gcc} -std=c11 -O1 -g -fopenmp -fsanitize=thread -D_GNU_SOURCE -DHAVE_OPENMP=1 -DHAVE_FFTW_OMP=0 -DHAVE_CUDA=0 -I$build -I."
rm -rf "${room:?}" && mkdir "$room" || exit 2
if ! echo 'int main(void) { return 0; }' | $compile -x c - -o "$room/probe" 2> /dev/null || ! setarch -R "$room/probe" 2> /dev/null; then
    echo "0 passed, 0 failed, 1 skipped" # no ThreadSanitizer here
    exit 0
fi

object_of() { echo "$room/$(echo "${1%.c}" | tr / _).o"; }
objects=
for source in impl/autocorr/*.c impl/gridding/*.c impl/affine/*.c impl/frealign/*.c impl/frealign/*/*.c verify/threads/*.c; do
    objects="$objects $(object_of "$source")"
    echo "$source $(object_of "$source")"
done > "$room/sources"
# shellcheck disable=SC2016
xargs -P "$(nproc)" -L 1 sh -c "$compile -c \$0 -o \$1" < "$room/sources" || exit 2
# Functions that kernels call, and the reference, which does not run.
ar rcs "$room/rest.a" "$build"/impl/base/*.o "$build"/impl/runtime/cpu.o "$build"/reference/*.o || exit 2

# run OBJECTS [ALGO:VARIANT]: 0 without a race, 66 with one. setarch -R, since ThreadSanitizer needs unrandomised addresses.
run() {
    # shellcheck disable=SC2086
    ${CC:-gcc} -fsanitize=thread -rdynamic $1 "$room/rest.a" -o "$room/threads" -lfftw3 -lfftw3f -lpthread -ldl -lm || exit 2
    TSAN_OPTIONS='halt_on_error=1 exitcode=66' setarch -R "$room/threads" $threads ${2:+"$2"} > "$room/log" 2>&1
}

if run "$objects"; then
    tail -n 1 "$room/log"
    passed=$(sed -n '$s/ variants.*//p' "$room/log")
else
    tail -n 40 "$room/log"
    failed=1
fi
tab=$(printf '\t')
grep -v -e '^#' -e '^source' verify/threads/races.tsv > "$room/races"
while IFS=$tab read -r source edit variant; do
    spoilt=$(dirname "$source")/.spoilt.c # in the folder of the headers that it includes
    sed "$edit" "$source" > "$spoilt"
    $compile -c "$spoilt" -o "$room/spoilt.o"
    made=$?
    cmp -s "$spoilt" "$source" && made=1
    rm -f "$spoilt"
    code=0 tries=0 # a race needs two threads with work; on busy cores one may do all of it
    while [ $code -eq 0 ] && [ $((tries += 1)) -le 10 ]; do
        run "$(echo "$objects" | sed "s|$(object_of "$source")|$room/spoilt.o|")" "$variant"
        code=$?
    done
    if [ $made -eq 0 ] && [ $code -eq 66 ] && grep -q 'data race' "$room/log"; then
        passed=$((passed + 1))
        echo "caught  $variant, $edit: $(sed -n 's/^SUMMARY: ThreadSanitizer: data race [^ ]*\/\([^ /]* in .*\)/\1/p' "$room/log" | head -n 1)"
    else
        failed=$((failed + 1))
        echo "MISSED  $variant, $edit: exit $code"
    fi
done < "$room/races"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
