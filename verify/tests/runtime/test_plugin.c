// SPDX-License-Identifier: MIT
// test_plugin.c: the path of a kernel's author as README prints it, line by line, in a folder of its own; intrinsics and C++ in the
// same way.
#include "../test.h"
#include "../test_program.h"

// A tree as its author has it: README's kernel as a plug-in, and a right one for GPUs under the same name.
FIXTURE(set_up)
{
    char *readme = rg_share_path("README.md");
    *strrchr(readme, '/') = '\0';
    setenv("TREE", readme, 1);
    setenv("BUILT", test_build(), 1);
    // Made by `make check`, this program is no job of it; a build folder of the name that README has.
    unsetenv("MAKEFLAGS");
    unsetenv("MFLAGS");
    setenv("HAVE_CUDA", "0", 1);
    setenv("BUILD", "build", 1);
    free(readme);
    return test_dir_make(state) ||
        sh("for f in Makefile impl .ci; do ln -s \"$TREE/$f\" . || exit; done; mkdir build && ln -s \"$BUILT/regather\" build/ && "
           "awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' \"$TREE/README.md\" | sed 's,\"index.h\",\"autocorr/index.h\",' > mine.c && "
           "echo 'RG_PLUGIN = { &RG_VARIANT_SYMBOL(autocorr_mine), NULL };' >> mine.c && "
           "sed 's,../../impl/,,; s,gpu_right,mine,g' \"$TREE/verify/broken/autocorr_gpu.cu\" > mine.cu && "
           "for f in autocorr.h plugin.h; do sed 's,../../impl/,,' \"$TREE/verify/broken/$f\" > $f; done");
}

TEST(the_lines_of_the_readme_run_as_printed)
{
    assert_int_equal(
        sh("awk '/^```sh$/ { on = 1; block = \"\"; next } /^```$/ { if (on && block ~ /make plugin SRC=mine[.]c /) printf \"%%s\", block; on = 0 } "
           "on { block = block $0 \"\\n\" }' \"$TREE/README.md\" > lines && test $(wc -l < lines) -ge 5"),
        0);
    if (sh("export PATH=\"$BUILT:$PATH\"; sh -ex lines > out 2>&1")) {
        sh("cat out >&2");
        assert_said("nothing: a line of README failed");
    }
    assert_int_equal(
        sh("grep -q '^PASS .*autocorr:mine.so:mine' out && grep -q 'inputs: right' out && test -s traces/mine.tsv && test $(grep -c '^PASS' out) = 2"),
        0);
}

// A blank would end the variant's name.
TEST(a_file_with_blanks_in_its_name)
{
    assert_int_equal(
        sh("mkdir 'a b' && cp *.h 'a b' && for f in c cu; do cp mine.$f \"a b/my kernel.$f\" && make plugin SRC=\"a b/my kernel.$f\" > out 2>&1 || exit; done; "
           "test -e 'build/plugin/host/my kernel.so' && test -e 'build/plugin/my kernel.so'"),
        0);
    assert_int_equal(
        sh("cp build/plugin/mine.so 'a b/my kernel.so' && regather verify --smoke --quiet --plugin 'a b/my kernel.so' "
           "autocorr:my_kernel.so:mine > out"),
        0);
    assert_int_equal(
        sh("regather duel --plugin 'a b/my kernel.so' autocorr:my_kernel.so:mine autocorr:simd --shape w8,h8,r2,k0 --gate 0.001%% "
           "--max-seconds 0.1 --quiet > out; grep -q ' autocorr:my_kernel.so:mine -> autocorr:simd, w8' out"),
        0);
}

// As nvcc has it, without a header; and what was printed is not lost with the process that a fault ends.
TEST(kernels_print)
{
    assert_int_equal(
        sh("sed 's|sums\\[e\\] = .*|{ printf(\"element %%d\\\\n\", (int)e); sums[-1 - e] = 0; }|' mine.cu > printing.cu && "
           "make plugin SRC=printing.cu > out 2>&1"),
        0);
    assert_int_equal(
        sh("regather verify --smoke --quiet --plugin build/plugin/host/printing.so --device host autocorr:printing.so:mine > out"),
        1);
    assert_int_equal(sh("grep -q '^FAIL' out && grep -q '^element [0-9]*$' out"), 0);
}

TEST(a_path_with_a_quote)
{
    assert_int_equal(
        sh("mkdir \"o'ne b\" && cp *.h \"o'ne b\" && for f in c cu; do cp mine.$f \"o'ne b/it's.$f\" && make plugin SRC=\"o'ne b/it's.$f\" > out 2>&1 || exit; done"),
        0);
    assert_int_equal(
        sh("regather verify --smoke --quiet --plugin \"build/plugin/it's.so\" autocorr:it_s.so:mine > out && test -e \"build/plugin/host/it's.so\""),
        0);
}

TEST(a_list_that_begins_with_its_end)
{
    assert_int_equal(
        sh("sed '/^RG_PLUGIN/s/=.*/= { NULL, \\&RG_VARIANT_SYMBOL(autocorr_mine) };/' mine.c > empty.c && make plugin SRC=empty.c > out 2>&1"),
        0);
    assert_int_equal(sh("regather list autocorr --plugin build/plugin/empty.so > out"), 2);
    assert_said("empty.so: its rg_plugin[] begins with NULL");
}

// What lies behind it in memory is no variant.
TEST(a_list_without_an_end)
{
    assert_int_equal(
        sh("sed '/^RG_PLUGIN/s/, NULL//' mine.c > endless.c && echo 'const char *const behind[9] = {\"x\", \"y\"};' >> endless.c && "
           "make plugin SRC=endless.c > out 2>&1"),
        0);
    assert_int_equal(sh("regather list autocorr --plugin build/plugin/endless.so > out"), 2);
    assert_said("endless.so: its rg_plugin[] does not end with NULL");
}

// Compiled for what the descriptor needs; one that says nothing is told what to say.
TEST(intrinsics_are_compiled_for_what_the_descriptor_needs)
{
    assert_int_equal(
        sh("sed 's|^static int run|static int third(int n) { return _mm256_extract_epi32(_mm256_set1_epi32(n), 3); }\\n&|; "
           "s,^    int64_t .sums,    (void)third(3);\\n&,; s,\"autocorr/index.h\",&\\n#include <immintrin.h>,' mine.c > vector.c"),
        0);
    assert_int_equal(sh("make plugin SRC=vector.c > out 2>&1"), 2);
    assert_grep("^plugin: .*needs = \"avx2\"", "out");
    assert_int_equal(
        sh("sed -i 's,.needs = \"\",.needs = \"avx2\",' vector.c && make plugin SRC=vector.c > out 2>&1 && ! grep warning out"),
        0);
    // Two descriptors that need different things: none of it may be used in the other's functions.
    assert_int_equal(sh("echo '// .needs = \"\"' >> vector.c && ! make plugin SRC=vector.c > out 2>&1"), 0);
}

// Without the flag one, whatever OpenMP would take; with it as many as the call has.
TEST(a_parallel_region_has_the_threads_of_the_call)
{
    assert_int_equal(
        sh("sed 's|^    return RG_OK;|\\n#pragma omp parallel\\n    if (omp_get_num_threads() != call->threads) sums[0] = -1;\\n&|; "
           "s|autocorr/index.h.|&\\n#include <omp.h>|' mine.c > bare.c && sed 's|.needs = ..,|.flags = RG_THREADED,|' bare.c > flagged.c && "
           "for k in bare flagged; do make plugin SRC=$k.c > out 2>&1 && OMP_NUM_THREADS=2 regather verify --smoke --quiet "
           "--plugin build/plugin/$k.so autocorr:$k.so:mine > out || exit; done"),
        0);
}

// One line, and none about intrinsics.
TEST(a_source_that_is_not_there)
{
    assert_int_equal(sh("make -s plugin SRC=nobody.c > out"), 2);
    assert_said("usage: make plugin SRC=mine.c (or mine.cc, mine.cu), found nobody.c");
    assert_int_equal(sh("grep -q intrinsics out said"), 1);
    assert_int_equal(sh("make -s plugin > out"), 2);
}

// As nvcc takes it: it clashes with nothing, in a file of its own.
TEST(a_kernel_that_is_not_static)
{
    assert_int_equal(sh("sed 's,static __global__,__global__,' mine.cu > global.cu && grep -q '^__global__' global.cu && "
                        "make plugin SRC=global.cu > out 2>&1"),
        0);
}

TEST(descriptors_in_cxx_have_no_warnings)
{
    assert_int_equal(sh("sed 's,= call->arg\\[AC_A\\],= (const uint8_t *)call->arg[AC_A],; "
                        "s,= call->arg\\[AC_SUMS\\],= (int64_t *)call->arg[AC_SUMS],' mine.c > other.cc"),
        0);
    assert_int_equal(sh("make plugin SRC=other.cc > out 2>&1"), 0);
    assert_int_equal(
        sh("! grep warning: out >&2 && regather verify --smoke --quiet --plugin build/plugin/other.so autocorr:other.so:mine > out"),
        0);
    assert_int_equal(sh("make plugin SRC=mine.cu > out 2>&1 && ! grep warning: out >&2"), 0);
}

TESTS(set_up, test_dir_remove)
