// SPDX-License-Identifier: MIT
// test_tuned.c: the file of tuned parameters: rows are read back, for this processor and version only, and given parameters
// take precedence.
#include "../../../impl/runtime/cpu.h"
#include "../../../impl/runtime/tuned.h"
#include "../test.h"
#include "../test_command.h"

enum { BLOCK, FAST };
static const int64_t blocks[] = {8, 16, 32}, flag[] = {0, 1};
static const rg_param params[] = {{"block", blocks, 3, 8, ""}, {"fast", flag, 2, 0, ""}};
static const char *refuse(const rg_shape *s, const int64_t *p) {
    (void)s;
    return p[FAST] && p[BLOCK] == 8 ? "fast needs a block of 16 or more" : NULL;
}
static const rg_algo algo = {.abi = RG_ABI, .bytes = sizeof(rg_algo), .name = "sum", .dim = {"n", "m"}};
static const rg_variant variant = {.abi = RG_ABI,
    .bytes = sizeof(rg_variant),
    .algo = "sum",
    .name = "x",
    .space = RG_HOST,
    .needs = "",
    .param = params,
    .n_params = 2,
    .refuse = refuse};
static const rg_entry entry = {.algo = &algo, .variant = &variant, .name = "x"};

static char *share; // replaces the program's own files

// Path of the processor's file, after storing one best configuration.
static char *stored(const char *processor, const char *shape, const char *values) {
    char path[512], *folder = rg_print("%s/data/tuned", share);
    rg_tuned_row row = {"sum", "x", shape, values, 1000, 1e9, "sums/s", "exhaustive, 6 of 6 configurations, seed 1"};
    assert_int_equal(rg_tuned_store(folder, processor, "-", &row, path), RG_GOOD);
    free(folder);
    return rg_print("%s", path);
}

// Resolved in a child, because a processor's file is read once.
static int resolved(const char *given, int64_t n, int *tuned) {
    int pipes[2], answer[2] = {-1, -1};
    assert_int_equal(pipe(pipes), 0);
    if (fork() == 0) {
        int64_t param[RG_PARAMS_MAX] = {0};
        bool took = false;
        char why[160];
        rg_shape shape = {.n = {n, 4}};
        if (rg_params_resolve(&entry, "cpu", &shape, given, param, &took, why)) {
            answer[0] = (int)(10 * param[BLOCK] + param[FAST]);
            answer[1] = took;
        }
        _exit(write(pipes[1], answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    assert_int_equal(read(pipes[0], answer, sizeof answer), sizeof answer);
    close(pipes[0]);
    close(pipes[1]);
    *tuned = answer[1];
    return answer[0];
}

FIXTURE(set_up) {
    share = test_folder();
    return setenv("REGATHER_SHARE", share, 1);
}

FIXTURE(tear_down) { return test_folder_remove(share); }

TEST_BETWEEN(test_taken, set_up, tear_down) {
    int tuned;
    char cpu[128];
    rg_cpu_model(cpu);
    assert_int_equal(resolved("", 100, &tuned), 80); // no file yet: the defaults
    assert_int_equal(tuned, 0);
    free(stored(cpu, "n1000,m4", "block=32;fast=1"));
    free(stored(cpu, "n10,m4", "block=16;fast=0"));
    assert_int_equal(resolved("", 1000, &tuned), 321);
    assert_int_equal(tuned, 1);
    assert_int_equal(resolved("", 400, &tuned), 321); // the nearest shape
    assert_int_equal(resolved("", 12, &tuned), 160);
    assert_int_equal(resolved("", 8006, &tuned), 321);
    assert_int_equal(resolved("", 8007, &tuned), 80); // a factor of eight from the nearest
    assert_int_equal(tuned, 0);
    free(stored(cpu, "n10,m4", "block=32;fast=0")); // replaces the row of the same shape
    assert_int_equal(resolved("-", 12, &tuned), 320);
}

// Output of --dry-run for `work` units at this size, in a child, because a processor's file is read once.
static void planned(int64_t n, double work, char text[400]) {
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    if (fork() == 0) {
        const rg_shape shape = {.n = {n, 4}};
        dup2(pipes[1], 1);
        rg_plan_time(&entry, "cpu", &shape, work);
        fflush(stdout);
        _exit(0);
    }
    close(pipes[1]);
    const ssize_t got = read(pipes[0], text, 399);
    text[got > 0 ? got : 0] = '\0';
    close(pipes[0]);
}

TEST_BETWEEN(test_planned, set_up, tear_down) {
    char cpu[128], text[400];
    rg_cpu_model(cpu);
    planned(100, 5e9, text);
    assert_string_equal(text, "time of sum:x\tnot known; measured by: regather tune sum:x --shape n100,m4\n");
    free(stored(cpu, "n1000,m4", "block=32;fast=1"));
    planned(100, 5e9, text);
    assert_string_equal(text, "time of sum:x\tabout 5 s at the 1e+09 sums/s measured here at n1000,m4; files come beside\n");
}

TEST_BETWEEN(test_given_goes_first, set_up, tear_down) {
    int tuned;
    char cpu[128];
    rg_cpu_model(cpu);
    free(stored(cpu, "n1000,m4", "block=32;fast=1"));
    assert_int_equal(resolved("block=16", 1000, &tuned), 161);
    assert_int_equal(tuned, 1);
    assert_int_equal(resolved("block=16;fast=0", 1000, &tuned), 160);
    assert_int_equal(tuned, 0);                              // nothing was tuned
    assert_int_equal(resolved("block=8", 1000, &tuned), 80); // block=8;fast=1 is refused: the default is used beside it
    assert_int_equal(tuned, 0);
    assert_int_equal(resolved("block=9", 1000, &tuned), -1);
}

static void replace_in(const char *path, const char *what, const char *with) {
    char *text = file_text(path), *at = strstr(text, what);
    assert_non_null(at);
    put_text(path, fmt("%.*s%s%s", (int)(at - text), text, with, at + strlen(what)));
    free(text);
}

// A file of another processor is not used; one of another version is.
TEST_BETWEEN(test_elsewhere, set_up, tear_down) {
    int tuned;
    char cpu[128];
    rg_cpu_model(cpu);
    char *path = stored(cpu, "n1000,m4", "block=32;fast=1");
    replace_in(path, "# suite: regather " RG_VERSION, "# suite: regather 9.9");
    assert_int_equal(resolved("", 1000, &tuned), 321);
    replace_in(path, cpu, "another processor");
    assert_int_equal(resolved("", 1000, &tuned), 80);
    assert_int_equal(tuned, 0);
    free(path);
}

// Because of a row that this build's variant does not know, the defaults are used.
TEST_BETWEEN(test_damaged, set_up, tear_down) {
    int tuned;
    char cpu[128];
    rg_cpu_model(cpu);
    RG_FREED char *path = stored(cpu, "n1000,m4", "block=32;fast=1");
    replace_in(path, "block=32", "block=33");
    assert_int_equal(resolved("", 1000, &tuned), 80);
    FILE *f = fopen(path, "a");
    fputs("sum\tx\tn1000,m4\n", f);
    fclose(f);
    assert_int_equal(resolved("", 1000, &tuned), 80);
    // Storing another row does not destroy it: the damaged file is left for the user.
    char where[512];
    rg_tuned_row row = {.algo = "sum", .variant = "x", .shape = "n1000,m4", .params = "block=8", .rate_unit = "u", .how = "h"};
    assert_int_equal(rg_tuned_store(fmt("%.*s", (int)(strrchr(path, '/') - path), path), cpu, "-", &row, where), RG_USAGE);
    replace_in(path, "block=33", "block=33"); // unchanged
}

// A processor's file stays valid while many others are read; the files were elements of an array that moved.
TEST_BETWEEN(test_kept, set_up, tear_down) {
    enum { OTHERS = 40 };
    const rg_tsv *file[OTHERS];
    for (int i = 0; i < OTHERS; i++) {
        const char *processor = fmt("processor %d", i);
        free(stored(processor, fmt("n%d,m4", i + 1), "block=16;fast=1"));
        file[i] = rg_tuned_file(processor);
        assert_non_null(file[i]);
    }
    for (int i = 0; i < OTHERS; i++) {
        assert_ptr_equal(rg_tuned_file(fmt("processor %d", i)), file[i]);
        assert_string_equal(rg_tsv_cell(file[i], 0, "shape"), fmt("n%d,m4", i + 1));
    }
    assert_null(rg_tuned_file("a processor without a file"));
}
