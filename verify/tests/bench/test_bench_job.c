// SPDX-License-Identifier: MIT
// test_bench_job.c: bench --job: the hash of inputs, the comparison of outputs. Jobs: verify/cases/whole_jobs.tsv.
#define OWN_MAIN
#include "../../../bench/jobs/run.h"
#include "../test.h"
#include "../test_files.h"

static char *folder;

// The hash covers the contents of the files, including the stacks named in a STAR file beside it.
TEST(inputs_are_hashed) {
    char *stack = rg_print("%s/s.mrcs", folder), *star = rg_print("%s/p.star", folder), text[3][96];
    RG_FREED char *command = rg_print("reconstruct %s/p.st*r --out {out}.mrc", folder);
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
    put_text(star, "# by revision 1\n_rlnImageName\n000001@s.mrcs\n000002@s.mrcs\n"); // the program's line is excluded
    rg_job_inputs_hash(command, text[1]);
    assert_string_equal(text[0], text[1]);
    char image[1200] = "";
    memset(image, ' ', sizeof image - 1);
    for (int i = 0; i < 3; i++) { // unchanged; with another label in its header; with another pixel
        image[i == 1 ? 500 : 1100] = i ? 'x' : ' ';
        put_text(stack, image);
        rg_job_inputs_hash(command, text[i]);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
    free(stack), free(star);
}

// Numbers may differ a little, words may not; headers and times of stages are ignored.
TEST(outputs_are_compared) {
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

int main(void) {
    folder = test_folder();
    setenv("TMPDIR", folder, 1);
    int failed = RUN_TESTS(NULL, NULL);
    return failed + test_folder_remove(folder);
}
