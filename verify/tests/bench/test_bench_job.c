// SPDX-License-Identifier: MIT
// test_bench_job.c: bench --job: a job that works becomes a row of scope job with its samples, GPUs that are not there a SKIP; how
// inputs are hashed and outputs compared. Jobs that fail or are wrong: verify/cases/whole_jobs.tsv.
#include "../../../bench/compare/validate.h"
#include "../../../bench/jobs/run.h"
#include "../test.h"
#include "../test_command.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

extern const rg_command rg_cmd_bench;

static char *folder, output[OUTPUT_MAX];

static const rg_row *row_with(const rg_result *r, const char *params)
{
    for (int i = 0; i < r->n_rows; i++)
        if (!strncmp(r->row[i].cell[RG_C_PARAMS], params, strlen(params))) return &r->row[i];
    fail_msg("no row with params %s", params);
    return NULL;
}

// bench --quiet --job JOB --gpus GPUS --out FILE, two rounds of four photographs.
static int bench_job(const char *job, const char *gpus, const char *file)
{
    char *argv[] = {"bench", "--quiet", "--job", rg_unconst(job), "--gpus", rg_unconst(gpus), "--out", rg_unconst(file),
        "--rounds", "2", "--max-seconds", "600", "--work", "4:photographs", "--shape", "w32", "--check",
        "test -s {out}/times.tsv", NULL};
    return run_argv(&rg_cmd_bench, argv, output);
}

TEST(a_job_that_works)
{
    rg_result r;
    bool cut;
    char *path = rg_print("%s/a.tsv", folder);
    assert_int_equal(
        bench_job("phantom coarsening --width 32 --height 32 --time 6 --out {out} --threads 3", "0,64", path), RG_GOOD);
    assert_int_equal(rg_result_read(path, &r, &cut), RG_GOOD);
    assert_int_equal(r.n_rows, 2);
    const rg_row *row = row_with(&r, "gpus=0;threads=3");
    assert_string_equal(row->cell[RG_C_ALGO], "phantom");
    assert_string_equal(row->cell[RG_C_SCOPE], "job");
    assert_string_equal(row->cell[RG_C_SHAPE], "w32");
    assert_string_equal(row->cell[RG_C_STATUS], "PASS");
    assert_true(rg_cell_number(row, RG_C_N) >= 5);
    assert_true(rg_cell_number(row, RG_C_PEAK_BYTES) > 1e6);
    assert_string_equal(row->cell[RG_C_GPU_PEAK_BYTES], "");
    assert_string_equal(row->cell[RG_C_CHECK], "runs");
    assert_true(rg_cell_number(row, RG_C_CHECKED) >= 1);
    assert_memory_equal(row->cell[RG_C_AGAINST], "test -s", 7);
    assert_true(rg_cell_number(row, RG_C_ERROR) == 0);
    assert_string_equal(rg_result_head(&r, "input phantom w32, 4 photographs"), "fnv1a cbf29ce484222325 of 0 files");
    assert_int_equal(rg_validate(&r), RG_GOOD);
    test_set(rg_unconst(row), RG_C_CHECK, ""); // what nothing has checked is not believed
    assert_int_equal(rg_validate(&r), RG_USAGE);
    rg_samples samples = rg_row_samples(row);
    assert_int_equal(samples.n, (int)rg_cell_number(row, RG_C_N));
    assert_int_equal(samples.processes, samples.n); // every run is a process
    double rate = 4 / (rg_cell_number(row, RG_C_MEDIAN) / 1e9);
    assert_float_equal(rg_cell_number(row, RG_C_RATE), (float)rate, 1e-4f * (float)rate);
    rg_samples_free(&samples);
    row = row_with(&r, "gpus=64");
    assert_string_equal(row->cell[RG_C_STATUS], "SKIP");
    assert_string_equal(row->cell[RG_C_MEDIAN], "");
    rg_result_free(&r);
    free(path);
}

// The hash is of what the files hold, of the stacks too that a STAR file names beside it.
TEST(inputs_are_hashed)
{
    char *stack = rg_print("%s/s.mrcs", folder), *star = rg_print("%s/p.star", folder), text[3][96];
    char *command = rg_print("reconstruct %s/p.st*r --out {out}.mrc", folder);
    put_text(star, "_rlnImageName\n000001@s.mrcs\n000002@s.mrcs\n");
    put_text(stack, "one");
    rg_job_inputs_hash(command, text[0]);
    put_text(stack, "two");
    rg_job_inputs_hash(command, text[1]);
    put_text(stack, "one");
    rg_job_inputs_hash(command, text[2]);
    assert_string_equal(text[0], text[2]);
    assert_string_not_equal(text[0], text[1]);
    assert_non_null(strstr(text[0], "of 2 files"));
    put_text(star, "# by revision 1\n_rlnImageName\n000001@s.mrcs\n000002@s.mrcs\n"); // who made them is no part of them
    rg_job_inputs_hash(command, text[1]);
    assert_string_equal(text[0], text[1]);
    char image[1200] = "";
    memset(image, ' ', sizeof image - 1);
    for (int i = 0; i < 3; i++) { // as it is; with another label in its header; with another pixel
        image[i == 1 ? 500 : 1100] = i ? 'x' : ' ';
        put_text(stack, image);
        rg_job_inputs_hash(command, text[i]);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
    free(stack), free(star), free(command);
}

// Numbers may differ a little, words not at all; heads and times of stages do not count.
TEST(outputs_are_compared)
{
    static const struct {
        const char *name, *a, *b;
        double least, most;
    } cases[] = {{"t.tsv", "x\ty\n1\t1000\n", "x\ty\n1\t1001\n", 0.9e-3, 1.1e-3},
        {"t.tsv", "x\n1\n", "y\n1\n", INFINITY, INFINITY}, {"t.tsv", "# now\nx\n1\n", "# then\nx\n1\n", 0, 0},
        {"t.tsv", "x\n1\n", "x\n1\n2\n", INFINITY, INFINITY}, {"t.tsv", "x\n1\n", "x\nnan\n", INFINITY, INFINITY},
        {"a_stages.tsv", "x\n1\n", "x\n2\n", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char side[2][4096], *file[2];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(rg_job_folder_make(side[k]), RG_GOOD);
            file[k] = rg_print("%s/%s", side[k], cases[i].name);
            put_text(file[k], k ? cases[i].b : cases[i].a);
        }
        const rg_job_outputs found = rg_job_outputs_compare(side[0], side[1]);
        assert_true(found.largest >= cases[i].least && found.largest <= cases[i].most);
        unlink(file[1]);
        assert_true(isinf(rg_job_outputs_compare(side[0], side[1]).largest) == (found.files > 0));
        assert_true(isinf(rg_job_outputs_compare(side[1], side[0]).largest) == (found.files > 0));
        for (int k = 0; k < 2; k++) {
            rg_job_folder_remove(side[k]);
            free(file[k]);
        }
    }
}

int main(void)
{
    folder = test_folder();
    setenv("TMPDIR", folder, 1);
    int failed = RUN_TESTS(NULL, NULL);
    return failed + test_folder_remove(folder);
}
