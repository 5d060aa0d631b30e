// SPDX-License-Identifier: MIT
// test_bench_job.c: bench --job: a job that works becomes a row of scope job with its samples, one that fails a row without
// times and exit 1, GPUs that are not there a SKIP; and no folder is left behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../bench/timing/lineup.h"
#include "../test_build.h"
#include "../test_command.h"

#include <stdlib.h>
#include <unistd.h>

extern const rg_command rg_cmd_bench;

static char folder[] = "/tmp/test_bench_job_XXXXXX", output[OUTPUT_MAX];

static const rg_row *row_with(const rg_result *r, const char *params)
{
    for (int i = 0; i < r->n_rows; i++)
        if (!strncmp(r->row[i].cell[RG_C_PARAMS], params, strlen(params)))
            return &r->row[i];
    fail_msg("no row with params %s", params);
    return NULL;
}

// bench --quiet --job JOB --gpus GPUS --out FILE, two rounds of four photographs.
static int bench_job(const char *job, const char *gpus, const char *file)
{
    char *argv[] = {"bench", "--quiet", "--job", (char *)job, "--gpus", (char *)gpus, "--out", (char *)file, "--rounds", "2",
                    "--max-seconds", "20", "--work", "4:photographs", "--shape", "w32", NULL};
    return run_argv(&rg_cmd_bench, argv, output);
}

static void a_job_that_works(void **state)
{
    (void)state;
    rg_result r;
    bool cut;
    char *path = rg_print("%s/a.tsv", folder);
    assert_int_equal(bench_job("phantom coarsening --width 32 --height 32 --time 6 --out {out} --threads 3", "0,64", path), RG_GOOD);
    assert_int_equal(rg_result_read(path, &r, &cut), RG_GOOD);
    assert_int_equal(r.n_rows, 2);
    const rg_row *row = row_with(&r, "gpus=0;threads=3");
    assert_string_equal(row->cell[RG_C_ALGO], "phantom");
    assert_string_equal(row->cell[RG_C_SCOPE], "job");
    assert_string_equal(row->cell[RG_C_SHAPE], "w32");
    assert_string_equal(row->cell[RG_C_STATUS], "PASS");
    assert_true(rg_cell_number(row, RG_C_N) >= 2);
    double *sample;
    assert_int_equal(rg_row_samples(row, &sample), (int)rg_cell_number(row, RG_C_N));
    double rate = 4 / (rg_cell_number(row, RG_C_MEDIAN) / 1e9);
    assert_float_equal(rg_cell_number(row, RG_C_RATE), rate, 1e-4 * rate);
    free(sample);
    row = row_with(&r, "gpus=64");
    assert_string_equal(row->cell[RG_C_STATUS], "SKIP");
    assert_string_equal(row->cell[RG_C_MEDIAN], "");
    rg_result_free(&r);
    free(path);
}

static void a_job_that_fails(void **state)
{
    (void)state;
    rg_result r;
    bool cut;
    char *path = rg_print("%s/b.tsv", folder);
    char *job = rg_print("autocorr %s/none.png --max-offset 3 --out {out}", folder);
    assert_int_equal(bench_job(job, "0", path), RG_WRONG);
    free(job);
    assert_int_equal(rg_result_read(path, &r, &cut), RG_GOOD);
    const rg_row *row = row_with(&r, "gpus=0");
    assert_string_equal(row->cell[RG_C_STATUS], "FAIL");
    assert_string_equal(row->cell[RG_C_MEDIAN], "");
    assert_non_null(strstr(row->cell[RG_C_STOP], "none.png"));
    rg_result_free(&r);
    free(path);
}

static void bad_words(void **state)
{
    (void)state;
    assert_int_equal(run_command(&rg_cmd_bench, "bench --job list --gpus one", output), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_bench, "bench --job list --work 3", output), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_bench, "bench --job list --work 0:x", output), RG_USAGE);
}

static void nothing_left_behind(void **state)
{
    (void)state;
    char *line = rg_print("test -z \"$(find %s -name 'regather-job-*')\"", folder);
    assert_int_equal(system(line), 0);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_works),
        cmocka_unit_test(a_job_that_fails),
        cmocka_unit_test(bad_words),
        cmocka_unit_test(nothing_left_behind),
    };
    if (!mkdtemp(folder))
        return 1;
    char *program = rg_print("%s/regather", test_build());
    setenv("REGATHER_PROGRAM", program, 1);
    setenv("TMPDIR", folder, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char *line = rg_print("rm -rf -- %s", folder);
    failed += system(line) != 0;
    free(line);
    free(program);
    return failed;
}
