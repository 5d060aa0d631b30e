// SPDX-License-Identifier: MIT
// test_bench_job.c: bench --job: a job that works becomes a row of scope job with its samples, one that fails a row without
// times and exit 1, GPUs that are not there a SKIP; and no folder is left behind.
#include "../../../bench/timing/lineup.h"
#include "../test.h"
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

TEST(a_job_that_works)
{
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
    rg_samples samples = rg_row_samples(row);
    assert_int_equal(samples.n, (int)rg_cell_number(row, RG_C_N));
    assert_int_equal(samples.processes, samples.n); // every run is a process
    double rate = 4 / (rg_cell_number(row, RG_C_MEDIAN) / 1e9);
    assert_float_equal(rg_cell_number(row, RG_C_RATE), rate, 1e-4 * rate);
    rg_samples_free(&samples);
    row = row_with(&r, "gpus=64");
    assert_string_equal(row->cell[RG_C_STATUS], "SKIP");
    assert_string_equal(row->cell[RG_C_MEDIAN], "");
    rg_result_free(&r);
    free(path);
}

TEST(a_job_that_fails)
{
    rg_result r;
    bool cut;
    char *path = rg_print("%s/b.tsv", folder);
    assert_int_equal(bench_job(fmt("autocorr %s/none.png --max-offset 3 --out {out}", folder), "0", path), RG_WRONG);
    assert_int_equal(rg_result_read(path, &r, &cut), RG_GOOD);
    const rg_row *row = row_with(&r, "gpus=0");
    assert_string_equal(row->cell[RG_C_STATUS], "FAIL");
    assert_string_equal(row->cell[RG_C_MEDIAN], "");
    assert_non_null(strstr(row->cell[RG_C_STOP], "none.png"));
    rg_result_free(&r);
    free(path);
}

TEST(bad_words)
{
    assert_int_equal(run_command(&rg_cmd_bench, "bench --job list --gpus one", output), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_bench, "bench --job list --work 3", output), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_bench, "bench --job list --work 0:x", output), RG_USAGE);
}

TEST(nothing_left_behind)
{
    assert_int_equal(system(fmt("test -z \"$(find %s -name 'regather-job-*')\"", folder)), 0);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    setenv("TMPDIR", folder, 1);
    int failed = RUN_TESTS(NULL, NULL);
    failed += system(fmt("rm -rf -- %s", folder)) != 0;
    return failed;
}
