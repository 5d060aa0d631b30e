// SPDX-License-Identifier: MIT
// test_tsv.c: the reader of tables accepts valid ones and refuses others in one line with the place of the error; written text
// never breaks a row.
#include "../../../impl/base/tsv.h"
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_data.h"

static const char *put(const char *text) { return put_file("t.tsv", text, strlen(text)); }

TEST(test_read) {
    RG_ENDS(rg_tsv_free) rg_tsv t;
    static const char text[] = "# processor: a CPU\n#no key\n\nname\tvalue\tnote\r\na\t1.5\t-\n# later\n\nb\t\tx: y";
    assert_int_equal(rg_tsv_read(put(text), &t), RG_GOOD);
    assert_int_equal(t.n_columns, 3);
    assert_int_equal(t.n_rows, 2);
    assert_int_equal(t.n_head, 2);
    assert_string_equal(rg_tsv_head(&t, "processor"), "a CPU");
    assert_null(rg_tsv_head(&t, "process"));
    assert_string_equal(t.head[1].text, "#no key");
    assert_int_equal(t.names_line, 4);
    assert_int_equal(t.row_line[1], 8);
    assert_string_equal(rg_tsv_cell(&t, 1, "note"), "x: y");
    assert_string_equal(rg_tsv_cell(&t, 0, "note"), ""); // for "-"
    assert_string_equal(t.cell[2], "-");
    assert_string_equal(rg_tsv_cell(&t, 0, "not"), "");
    assert_true(rg_tsv_number(&t, 0, "value") == 1.5 && rg_tsv_number_at(&t, 0, 1) == 1.5);
    assert_true(isnan(rg_tsv_number(&t, 1, "value")) && isnan(rg_tsv_number(&t, 0, "name")));
    assert_true(isnan(rg_tsv_number(&t, 0, "x")));
    assert_int_equal(rg_tsv_needs(&t, "note name"), RG_GOOD);
    assert_refused(rg_tsv_needs(&t, "name times"), "t.tsv: line 4: expected a column named times, found \"name\"");
    assert_refused(rg_tsv_fault_at(&t, 1, 2, "a number"), "t.tsv: line 8: expected a number in column note, found \"x: y\"");
    assert_refused(rg_tsv_fault(&t, 1, "note", "a number"), "t.tsv: line 8: expected a number in column note, found \"x: y\"");
    assert_int_equal(rg_tsv_find(&t, "note", "x: y"), 1);
    assert_int_equal(rg_tsv_find(&t, "note", "x"), -1);
}

// A written table is read back as the same one.
TEST(test_table_written) {
    static const char text[] = "# processor: a CPU\n#no key\nname\tvalue\na\t-\nb\tx \\ y\n";
    RG_FREED char *again = NULL;
    size_t bytes;
    RG_ENDS(rg_tsv_free) rg_tsv t;
    assert_int_equal(rg_tsv_read(put(text), &t), RG_GOOD);
    FILE *f = open_memstream(&again, &bytes);
    rg_tsv_write(&t, f);
    fclose(f);
    assert_string_equal(again, text);
}

// A last line without newline is a row, except for readers of files that a killed run may have left.
TEST(test_cut) {
    rg_tsv t;
    bool cut = false;
    assert_int_equal(rg_tsv_read_cut(put("a\tb\n1\t2\n3"), &t, &cut), RG_GOOD);
    assert_true(cut && t.n_rows == 1);
    rg_tsv_free(&t);
    assert_int_equal(rg_tsv_read_cut(put("a\tb\n1\t2\n"), &t, &cut), RG_GOOD);
    assert_true(!cut && t.n_rows == 1);
    rg_tsv_free(&t);
    assert_refused(rg_tsv_read(put("a\tb\n1\t2\n3"), &t), "t.tsv: line 3: expected 2 cells, found 1");
}

TEST(test_malformed) {
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "line 1: expected a row of column names, found the end of the file"},
        {"# only\n\n", "line 3: expected a row of column names, found the end of the file"},
        {"a\tb\n1\t2\t3\n", "line 2: expected 2 cells, found 3"},
        {"# x\na\tb\n1\t2\n\t\t\n", "line 4: expected 2 cells, found 3"},
        {"a\tb\ta\n", "line 1: expected every column once, found \"a\""},
    };
    rg_tsv t;
    for (int i = 0; i < RG_COUNT(bad); i++) {
        assert_refused(rg_tsv_read(put(bad[i].text), &t), bad[i].says);
        assert_null(t.text); // nothing to free
    }
    put_file("zero.tsv", "a\tb\n1\0\t2\n", 10);
    assert_refused(rg_tsv_read(in_dir("zero.tsv"), &t), "zero.tsv: at byte 5: expected text, found a byte 0");
    char *wide = rg_alloc(2 * RG_TSV_COLUMNS_MOST + 2);
    memset(wide, '\t', RG_TSV_COLUMNS_MOST);
    assert_refused(rg_tsv_read(put(wide), &t), "expected at most 256 columns, found 257");
    free(wide);
    RG_FREED char *line = rg_alloc(RG_TSV_LINE_MOST + 2);
    memset(line, 'x', RG_TSV_LINE_MOST);
    assert_int_equal(rg_tsv_read(put(line), &t), RG_GOOD);
    rg_tsv_free(&t);
    line[RG_TSV_LINE_MOST] = 'x';
    assert_refused(rg_tsv_read(put(line), &t), "line 1: expected at most 4194304 bytes, found 4194305");
}

// A device or pipe is refused before the first byte is read.
TEST(test_no_regular_file) {
    rg_tsv t;
    assert_refused(rg_tsv_read(test_dir, &t), "is a directory");
    assert_refused(rg_tsv_read("/dev/zero", &t), "is no regular file");
    assert_int_equal(mkfifo(in_dir("pipe.tsv"), 0600), 0);
    assert_refused(rg_tsv_read(in_dir("pipe.tsv"), &t), "is no regular file");
    assert_refused(rg_tsv_read(in_dir("absent.tsv"), &t), "cannot be read: No such file");
    assert_refused(rg_tsv_read(put("a\tb\n\x1b[2J\n"), &t), "expected 2 cells, found 1");
    const char *huge = put("a\n");
    assert_int_equal(truncate(huge, (off_t)RG_TSV_FILE_MOST + 1), 0); // a hole: needs no space
    assert_refused(rg_tsv_read(huge, &t), "expected at most 268435456 bytes, found 268435457");
}

// Any text is written as one cell of one row, without control characters for a terminal.
TEST(test_write) {
    FILE *f = fopen(in_dir("w.tsv"), "w");
    rg_tsv_print(f, "# command: %s\nname\tn\tvalue\n", "regather a\nb");
    rg_tsv_print(f, "%s\t%" PRId64 "\t%.3g\n", "tab\there\r\n\x1b[2J", INT64_C(-5000000000), 1.5);
    rg_tsv_print(f, "%.*s\t%d\t%.17g\n", 3, "longer", 7, 0.1);
    rg_tsv_print(f, "%.2s%c%u\t%llu%%\n", "longer", '\t', 3000000000u, 18446744073709551615ull);
    rg_tsv_print(f, "\xc3\x85\t%04" PRId64 "\t%6.2f\n", INT64_C(12), 2.5); // UTF-8 is kept
    fclose(f);
    RG_ENDS(rg_tsv_free) rg_tsv t;
    assert_int_equal(rg_tsv_read(in_dir("w.tsv"), &t), RG_GOOD);
    assert_string_equal(rg_tsv_head(&t, "command"), "regather a\\x0ab");
    assert_int_equal(t.n_rows, 4);
    static const char *const cell[] = {"tab\\x09here\\x0d\\x0a\\x1b[2J", "-5000000000", "1.5", "lon", "7",
        "0.10000000000000001", "lo", "3000000000", "18446744073709551615%", "\xc3\x85", "0012", "  2.50"};
    for (int i = 0; i < RG_COUNT(cell); i++) assert_string_equal(t.cell[i], cell[i]);
}

TESTS(test_dir_make, test_dir_remove)
