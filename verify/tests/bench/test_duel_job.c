// SPDX-License-Identifier: MIT
// test_duel_job.c: `duel --job`: whole commands by turns, their outputs held against each other, and what it refuses.
#include "../test.h"
#include "../test_program.h"
#include "../../../impl/base/tsv.h"

#define PHANTOM "phantom coarsening --width 32 --height 32 --time %d --threads 1 --out {out}"

// Gates are wide: the machine may be busy, and a verdict is to come quickly.
TEST(equal_jobs_are_the_same)
{
    assert_int_equal(
        sh("regather duel --job '" PHANTOM "' '" PHANTOM "' --gate 90%% --clock cpu --out d.tsv --quiet > out", 6, 6), RG_GOOD);
    assert_grep("^SAME .*: CPU .*; wall .*; 9 outputs equal$", "out");
    rg_tsv t;
    assert_int_equal(rg_tsv_read(in_dir("d.tsv"), &t), RG_GOOD);
    assert_int_equal(rg_tsv_needs(&t, "pair first old_s new_s old_cpu_s new_cpu_s old_peak_bytes new_peak_bytes"), RG_GOOD);
    assert_true(t.n_rows >= 5);
    for (int i = 0; i < t.n_rows; i++)
        assert_true(rg_tsv_number(&t, i, "old_s") > 0 && rg_tsv_number(&t, i, "new_cpu_s") > 0 &&
            rg_tsv_number(&t, i, "new_peak_bytes") > 1e6);
    rg_tsv_free(&t);
    assert_int_equal(
        sh("regather duel --job '" PHANTOM "' --old-build '%s' --gate 90%% --clock cpu --quiet > out", 6, test_build()),
        RG_GOOD);
    assert_int_equal(sh("test -z \"$(ls \"$TMPDIR\")\""), 0); // no folder is left behind
}

TEST(slower_jobs_are_slower)
{
    assert_int_equal(
        sh("regather duel --job '" PHANTOM "' '" PHANTOM "' --gate 50%% --clock cpu --check true --quiet > out", 6, 6000),
        RG_WRONG);
    assert_grep("^SLOWER .*outputs pass --check$", "out");
}

TEST(outputs_that_differ_are_broken)
{
    assert_int_equal(sh("regather duel --job '" PHANTOM "' '" PHANTOM "' --quiet > out", 6, 7), RG_WRONG);
    assert_said("outputs differ");
    assert_int_equal(
        sh("regather duel --job '" PHANTOM "' '" PHANTOM "' --check 'cmp -s {old}/times.tsv {new}/times.tsv' --quiet > out", 6,
            7),
        RG_WRONG);
    assert_said("do not pass --check");
    // One that ends badly.
    assert_int_equal(
        sh("regather duel --job '" PHANTOM "' 'phantom coarsening --width 0 --out {out}' --quiet > out", 6), RG_USAGE);
    assert_said("exit status 2");
}

TEST(what_cannot_be_is_refused)
{
    assert_int_equal(sh("regather duel --job list --quiet"), RG_USAGE);
    assert_int_equal(sh("regather duel --job list list --shape w32,h32,r2,k0 --quiet"), RG_USAGE);
    assert_int_equal(sh("regather duel autocorr:naive autocorr:naive --clock cpu --quiet"), RG_USAGE);
    assert_int_equal(sh("regather duel --job list list --old-build /nonexistent --quiet"), RG_USAGE);
}

FIXTURE(set_up)
{
    int code = test_dir_make(state) || mkdir(in_dir("tmp"), 0777);
    setenv("TMPDIR", in_dir("tmp"), 1);
    return code;
}

TESTS(set_up, test_dir_remove)
