// SPDX-License-Identifier: MIT
// test_compare_files.c: the command `compare`: its four verdicts, its exit codes, and what it refuses to mix.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../test_command.h"

extern const rg_command rg_cmd_compare;
static char *folder, *path_a, *path_b, *words, text[OUTPUT_MAX];

static void write_a(rg_row row) { test_write(path_a, "regather 0.1", "00ff", &row, 1); }
static void write_b(rg_row row) { test_write(path_b, "regather 0.1", "00ff", &row, 1); }

static int compare(void) { return run_command(&rg_cmd_compare, words, text); }

static void alike_is_same(void **state)
{
    (void)state;
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "device", 60, 1000));
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
    assert_non_null(strstr(text, "1 same, 0 faster, 0 slower, 0 unsure, 0 broken"));
    write_b(test_row("simd", "device", 60, 1020)); // 2 % is within the gate
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
}

static void ten_percent_slower_is_slower(void **state)
{
    (void)state;
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "device", 60, 1100));
    assert_int_equal(compare(), RG_WRONG);
    assert_non_null(strstr(text, "SLOWER"));
    assert_non_null(strstr(text, "1.1 ["));
    char *wide = rg_print("%s --gate 20%%", words);
    assert_int_equal(run_command(&rg_cmd_compare, wide, text), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
    free(wide);
}

static void ten_percent_faster_is_faster(void **state)
{
    (void)state;
    write_a(test_row("simd", "device", 60, 1100));
    write_b(test_row("simd", "device", 60, 1000));
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "FASTER"));
    assert_null(strstr(text, "SLOWER"));
}

static void too_few_samples_are_unsure_and_say_what_next(void **state)
{
    (void)state;
    write_a(test_row("simd", "device", 1, 1000));
    write_b(test_row("simd", "device", 1, 1100));
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, "UNSURE"));
    assert_non_null(
        strstr(text, "regather bench autocorr:simd --shape w64,h64,r8,k0 --scope device --mode hot --threads 1 --param isa=2"));
    // Right at the gate no number of samples helps.
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "device", 60, 1050));
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, "choose another"));
}

static void slower_outweighs_unsure(void **state)
{
    (void)state;
    rg_row a[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 1, 100)};
    rg_row b[2] = {test_row("naive", "device", 60, 1200), test_row("simd", "device", 1, 100)};
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    test_write(path_b, "regather 0.1", "00ff", b, 2);
    assert_int_equal(compare(), RG_WRONG);
    assert_non_null(strstr(text, "1 slower, 1 unsure"));
}

static void different_things_are_refused(void **state)
{
    (void)state;
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "transfer", 60, 1000));
    assert_int_equal(compare(), RG_USAGE);
    rg_row row = test_row("simd", "device", 60, 1000);
    test_write(path_b, "regather 0.1", "00fe", &row, 1);
    assert_int_equal(compare(), RG_USAGE);
    row = test_row("simd", "device", 60, 1000);
    test_write(path_b, "regather 0.2", "00ff", &row, 1);
    assert_int_equal(compare(), RG_USAGE);
    rg_row twice[2] = {test_row("simd", "device", 60, 1000), test_row("simd", "device", 60, 1200)};
    test_write(path_b, "regather 0.1", "00ff", twice, 2);
    assert_int_equal(compare(), RG_USAGE);
    write_b(test_row("gather", "device", 60, 1000));
    assert_int_equal(compare(), RG_USAGE); // no row in common
    assert_int_equal(run_command(&rg_cmd_compare, "compare one.tsv", text), RG_USAGE);
    char *bad = rg_print("%s --gate none", words);
    assert_int_equal(run_command(&rg_cmd_compare, bad, text), RG_USAGE);
    free(bad);
}

static void rows_of_one_file_are_listed(void **state)
{
    (void)state;
    rg_row a[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 60, 100)};
    rg_row b[2] = {test_row("naive", "device", 60, 1000), test_row("fftw", "device", 60, 100)};
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    test_write(path_b, "regather 0.1", "00ff", b, 2);
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "only in A autocorr:simd"));
    assert_non_null(strstr(text, "only in B autocorr:fftw"));
}

static void what_no_longer_passes_is_broken(void **state)
{
    (void)state;
    write_a(test_row("simd", "device", 60, 1000));
    rg_row row = test_row("simd", "device", 0, 0);
    test_set(&row, RG_C_STATUS, "FAIL");
    test_set(&row, RG_C_MEDIAN, "");
    write_b(row);
    assert_int_equal(compare(), RG_WRONG);
    assert_non_null(strstr(text, "BROKEN"));
    // What this machine cannot run is no fault.
    rg_row a[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 60, 100)};
    rg_row b[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 0, 0)};
    test_set(&b[1], RG_C_STATUS, "SKIP");
    test_set(&b[1], RG_C_MEDIAN, "");
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    test_write(path_b, "regather 0.1", "00ff", b, 2);
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "only in A autocorr:simd"));
}

int main(void)
{
    folder = test_folder();
    path_a = rg_print("%s/a.tsv", folder);
    path_b = rg_print("%s/b.tsv", folder);
    words = rg_print("compare %s %s", path_a, path_b);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_is_same),
        cmocka_unit_test(ten_percent_slower_is_slower),
        cmocka_unit_test(ten_percent_faster_is_faster),
        cmocka_unit_test(too_few_samples_are_unsure_and_say_what_next),
        cmocka_unit_test(slower_outweighs_unsure),
        cmocka_unit_test(different_things_are_refused),
        cmocka_unit_test(rows_of_one_file_are_listed),
        cmocka_unit_test(what_no_longer_passes_is_broken),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path_a);
    unlink(path_b);
    rmdir(folder);
    return failed;
}
