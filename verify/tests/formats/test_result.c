// SPDX-License-Identifier: MIT
// test_result.c: what is written is read back; what is malformed is one line with file, line, expected and found.
#include "../test.h"
#include "../test_command.h"

#include <math.h>

static char *folder, *path;
static const char *said; // by the reader, on stderr

// The reader's verdict on the text, and what it said on stderr.
static int read_text(const char *text, rg_result *result, bool *cut)
{
    put_text(path, text);
    catch_stderr();
    int code = rg_result_read(path, result, cut);
    said = caught();
    return code;
}

static char *whole_file(void)
{
    rg_row row[2] = {test_row("naive", "device", 9, 1000), test_row("simd", "device", 9, 100)};
    test_set(&row[1], RG_C_STOP, "tab\tand\nnewline");
    test_set(&row[1], RG_C_ERROR, "");
    test_write(path, "regather 0.1", "00ff", row, 2);
    return file_text(path);
}

TEST(written_and_read_back)
{
    free(whole_file());
    rg_result r;
    bool cut = true;
    assert_int_equal(rg_result_read(path, &r, &cut), RG_GOOD);
    assert_false(cut);
    assert_int_equal(r.n_rows, 2);
    assert_string_equal(rg_result_head(&r, "machine"), "a machine");
    assert_string_equal(rg_result_head(&r, "input autocorr w64,h64,r8,k0"), "fnv1a 00ff");
    assert_null(rg_result_head(&r, "mach"));
    assert_string_equal(r.row[1].cell[RG_C_STOP], "tab\\x09and\\x0anewline");
    assert_string_equal(r.row[0].cell[RG_C_PARAMS], "threads=1;isa=2");
    assert_true(isnan(rg_cell_number(&r.row[1], RG_C_ERROR)));
    assert_true(rg_cell_number(&r.row[0], RG_C_MEDIAN) == 1004.444444);
    rg_samples samples = rg_row_samples(&r.row[0]);
    assert_true(samples.n == 9 && samples.processes == 1 && samples.past[0] == 9);
    assert_true(samples.ns[0] == 1000 && fabs(samples.ns[1] - 1000 * (1 + 0.07 / 9)) < 1e-3);
    rg_samples_free(&samples);
    test_set(&r.row[0], RG_C_SAMPLES, "1;2|3|4;5;6");
    samples = rg_row_samples(&r.row[0]);
    assert_true(
        samples.n == 6 && samples.processes == 3 && samples.past[0] == 2 && samples.past[1] == 3 && samples.past[2] == 6);
    assert_true(samples.ns[1] == 2 && samples.ns[2] == 3 && samples.ns[3] == 4);
    rg_samples_free(&samples);
    assert_false(rg_row_same(&r.row[0], &r.row[1]));
    assert_true(rg_row_same(&r.row[0], &r.row[0]));
    rg_result_free(&r);
}

TEST(columns_are_the_contract)
{
    char *text = whole_file();
    assert_non_null(strstr(text,
        "\nalgo\tvariant\tshape\tparams\tspace\tscope\tmode\tn\tmin\tq1\tmedian\tq3\tmax\tunit\twork\ttraffic\trate\t"
        "rate_unit\tbound\tfraction\terror\ttol\tstatus\tclock\ttemp\tjoules\tenergy_source\tpeak_bytes\t"
        "prepare\tstop\tsamples\tsource\tcheck\tgpu_peak_bytes\tmade\n"));
    free(text);
}

// The copies of scope transfer were of pageable memory before format 5.
TEST(scope_transfer_of_older_formats_is_pageable)
{
    rg_row row = test_row("gather", "transfer", 9, 1000);
    test_write(path, "regather 0.1", "00ff", &row, 1);
    char *text = file_text(path);
    for (int format = 4; format <= 5; format++) {
        char *of = rg_print("# format: %d\n%s", format, text);
        rg_result r;
        bool cut;
        assert_int_equal(read_text(of, &r, &cut), RG_GOOD);
        assert_string_equal(r.row[0].cell[RG_C_SCOPE], format < 5 ? "pageable" : "transfer");
        rg_result_free(&r);
        free(of);
    }
    free(text);
}

TEST(unfinished_line_is_dropped)
{
    char *text = whole_file();
    rg_result r;
    bool cut;
    text[strlen(text) - 1] = '\0'; // complete but for its newline: still not known to be whole
    assert_int_equal(read_text(text, &r, &cut), RG_GOOD);
    assert_true(cut);
    assert_int_equal(r.n_rows, 1);
    rg_result_free(&r);
    free(text);
}

// The first occurrence of `from` becomes `to`; the reader then has to refuse, and to name line, expected and found.
static void refuse(const char *from, const char *to, int line, const char *expected, const char *found)
{
    char *text = whole_file(), where[64], what[200];
    char *at = strstr(text, from);
    assert_non_null(at);
    char *broken = rg_print("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    rg_result r;
    bool cut;
    assert_int_equal(read_text(broken, &r, &cut), RG_USAGE);
    snprintf(where, sizeof where, "%s: line %d: ", path, line);
    snprintf(what, sizeof what, "expected %s", expected);
    if (!strstr(said, where) || !strstr(said, what) || !strstr(said, found)) fail_msg("said: %s", said);
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); // one line
    free(text);
    free(broken);
}

TEST(malformed_files_are_refused)
{
    refuse("# machine: ", "# machine ", 2, "\"# key: value\"", "# machine a machine");
    refuse("\tvariant\t", "\tvariants\t", 4, "variant", "variants");
    refuse("\tcheck\tgpu_peak_bytes\tmade\n", "\n", 5, "32 cells", "found 35");
    refuse("\tmade\n", "\tmade\tmore\n", 5, "36 cells", "found 35");
    refuse("\tdevice\thot\t9", "\tdevice\thot\tnine", 5, "a finite number or nothing in column n", "nine");
    refuse("1004.444444", "nan", 5, "a finite number or nothing in column median", "nan");
    refuse("PASS", "OK", 5, "PASS, FAIL, SKIP, CRASH, TIMEOUT or nothing in column status", "OK");
}

TEST(malformed_samples_and_rows)
{
    refuse("1000.000;", "1000.000;;", 5, "numbers separated by semicolons, or by bars between processes in column samples",
        "1000.000;;");
    refuse("1000.000;", "1000.000 ", 5, "numbers separated by semicolons, or by bars between processes in column samples",
        "1000.000 ");
    refuse("autocorr\tsimd", "\tsimd", 6, "a name in column algo", "\"\"");
    refuse("autocorr\tsimd\t", "autocorr\t", 6, "35 cells", "found 34");
    refuse("autocorr\tsimd\t", "autocorr\tsimd\tsimd\t", 6, "35 cells", "found 36");
}

TEST(other_files_are_refused)
{
    rg_result r;
    bool cut;
    assert_int_equal(read_text("", &r, &cut), RG_USAGE);
    assert_non_null(strstr(said, "expected a row of column names, found the end of the file"));
    assert_int_equal(read_text("# suite: x\n", &r, &cut), RG_USAGE);
    assert_int_equal(read_text("algo\tvariant\n", &r, &cut), RG_USAGE);
    assert_non_null(strstr(said, "line 1: expected shape, found \"the end of the line\""));
    assert_int_equal(read_text("\x89PNG\r\n\x1a\n", &r, &cut), RG_USAGE);
    assert_int_equal(rg_result_read("/nonexistent/file.tsv", &r, &cut), RG_USAGE);
    assert_int_equal(rg_result_read(folder, &r, &cut), RG_USAGE);
}

int main(void)
{
    folder = test_folder();
    path = rg_print("%s/f.tsv", folder);
    int failed = RUN_TESTS(NULL, NULL);
    return failed + test_folder_remove(folder);
}
