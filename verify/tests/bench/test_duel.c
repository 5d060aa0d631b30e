// SPDX-License-Identifier: MIT
// test_duel.c: the command `duel`: a variant against itself and against a far slower one, the same build as the old one, kernels
// that are wrong, and what it refuses. How often it is right at a small difference is counted by verify/duels.sh.
#include "../test.h"
#include "../test_build.h"
#include "../test_command.h"

extern const rg_command rg_cmd_duel;
static char *folder, text[OUTPUT_MAX];

static int duel(const char *words)
{
    int code = run_command(&rg_cmd_duel, fmt("duel %s --quiet", words), text);
    return code;
}

// The gate is wide: the machine may be busy, and a verdict is to come quickly.
TEST(a_variant_against_itself)
{
    char *words = rg_print("autocorr:naive autocorr:naive --shape w32,h32,r2,k0 --gate 50%% --out %s/d.tsv", folder), *path;
    assert_int_equal(duel(words), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
    assert_non_null(strstr(text, "autocorr:naive -> autocorr:naive, w32,h32,r2,k0, hot"));
    rg_tsv t;
    assert_int_equal(rg_tsv_read(path = rg_print("%s/d.tsv", folder), &t), RG_GOOD);
    assert_true(t.n_rows >= 5 * 9);
    assert_int_equal(
        rg_tsv_needs(
            &t, "process pair first old_calls new_calls old_ns new_ns old_preempted new_preempted old_held new_held kept"),
        RG_GOOD);
    int old_first = 0;
    for (int i = 0; i < t.n_rows; i++) old_first += !strcmp(rg_tsv_cell(&t, i, "first"), "old");
    assert_in_range(old_first, t.n_rows / 5, t.n_rows * 4 / 5); // random order
    assert_true(rg_tsv_number(&t, t.n_rows - 1, "process") >= 4);
    rg_tsv_free(&t);
    unlink(path);
    free(path);
    free(words);
}

TEST(slower_and_faster)
{
    assert_int_equal(duel("autocorr:simd autocorr:naive --shape w64,h64,r8,k0 --gate 50%"), RG_WRONG);
    assert_non_null(strstr(text, "SLOWER"));
    assert_int_equal(duel("autocorr:naive autocorr:simd --shape w64,h64,r8,k0 --gate 50%"), RG_GOOD);
    assert_non_null(strstr(text, "FASTER"));
    // The same variant with other parameters.
    assert_int_equal(duel("autocorr:simd:isa=0 autocorr:simd:isa=0 --shape w64,h64,r8,k0 --gate 50%"), RG_GOOD);
}

TEST(another_build)
{
    assert_int_equal(duel(fmt("autocorr:naive --shape w32,h32,r2,k0 --gate 50%% --old-build %s", test_build())), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
}

TEST(wrong_kernels_are_not_timed)
{
    char *words = rg_print(
        "autocorr:naive autocorr:autocorr_sums.so:off_by_one --shape w32,h32,r2,k0 --plugin %s/broken/autocorr_sums.so",
        test_build());
    assert_int_equal(duel(words), RG_WRONG);
    assert_string_equal(text, "");
    free(words);
}

// The same sums at the same speed, in a thread for which the call waits: that is its time, too.
TEST(a_thread_hides_no_time)
{
    char *words = rg_print(
        "autocorr:autocorr_sums.so:right autocorr:autocorr_process.so:hidden_thread --shape w160,h120,r8,k0 --gate 50%% "
        "--plugin %s/broken/autocorr_sums.so --plugin %s/broken/autocorr_process.so",
        test_build(), test_build());
    assert_int_not_equal(duel(words), RG_USAGE);
    assert_null(strstr(text, "FASTER"));
    free(words);
}

// The processes are told of every one.
TEST(plugins_without_number)
{
    char *words = rg_print("autocorr:naive autocorr:p26.so:right --shape w32,h32,r2,k0 --gate 90%%");
    for (int i = 0; i < 27; i++) {
        char *more = rg_print("%s --plugin %s/p%d.so", words, folder, i), *path = rg_print("%s/p%d.so", folder, i),
             *right = rg_print("%s/broken/autocorr_sums.so", test_build());
        assert_int_equal(symlink(right, path), 0);
        free(words), free(path), free(right);
        words = more;
    }
    assert_int_not_equal(duel(words), RG_USAGE);
    assert_non_null(strstr(text, "autocorr:naive -> autocorr:p26.so:right"));
    free(words);
    for (int i = 0; i < 27; i++) unlink(fmt("%s/p%d.so", folder, i));
}

TEST(time_that_is_up_is_unsure)
{
    assert_int_equal(duel("autocorr:naive autocorr:naive --shape w32,h32,r2,k0 --gate 0.0001% --max-seconds 0.3"), RG_UNSURE);
    assert_non_null(strstr(text, "UNSURE"));
    assert_non_null(strstr(text, "--max-seconds"));
}

TEST(repeated)
{
    assert_int_equal(
        duel("autocorr:naive autocorr:naive --shape w8,h8,r2,k0 --gate 0.0001% --max-seconds 0.1 --repeat 3"), RG_UNSURE);
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "UNSURE")); at++) lines++;
    assert_int_equal(lines, 3);
}

TEST(what_cannot_be_is_refused)
{
    assert_int_equal(duel("autocorr:naive"), RG_USAGE);
    assert_int_equal(duel("autocorr:naive autocorr:nonsense"), RG_USAGE);
    assert_int_equal(duel("autocorr:naive gridding:naive_gather"), RG_USAGE);
    assert_int_equal(duel("autocorr:naive autocorr:simd:isa=7"), RG_USAGE);
    assert_int_equal(duel("autocorr:naive autocorr:simd --shape w1"), RG_USAGE);
    assert_int_equal(duel("autocorr:naive autocorr:simd --gate 0"), RG_USAGE);
    assert_int_equal(duel("autocorr:naive autocorr:simd --old-build /nonexistent"), RG_USAGE);
    assert_int_equal(duel("autocorr:naive autocorr:gather --device host"), RG_LACKS);
}

int main(void)
{
    folder = test_folder();
    char *program = rg_print("%s/regather", test_build());
    setenv("REGATHER_PROGRAM", program, 1);
    int failed = RUN_TESTS(NULL, NULL);
    rmdir(folder);
    free(program);
    return failed;
}
