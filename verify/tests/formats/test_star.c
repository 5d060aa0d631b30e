// SPDX-License-Identifier: MIT
// test_star.c: the STAR reader and writer against files written by hand. Malformed ones: verify/cases/malformed.tsv.
#include "../../../data/formats/star.h"
#include "../test.h"
#include "../test_data.h"

static int read_text(const char *text, rg_star *star) { return rg_star_read(put_file("a.star", text, strlen(text)), star); }

// The output of RELION 3.1 with all else that is allowed: tabs, CR LF, quotes, comments, blank lines in a loop, no newline
// after a last comment.
TEST(test_accepted) {
    static const char text[] = "# made by hand\r\n\n# version 30001\n\n"
                               "data_general\n\n_rlnNumber\t12 # twelve\n_rlnText 'two words'\n"
                               "\ndata_optics\nloop_ \n_rlnOpticsGroup #1 \n_rlnImagePixelSize #2\n   1\t2.5e0 \r\n\n"
                               "data_particles\n\nloop_\n_rlnImageName #1\n_rlnAngleRot #2 # degrees\n_empty #3\n"
                               "000001@a.mrcs  -1.5 \"\"\n\n# between rows\n"
                               "\t2@\"b.mrcs\t+.5 'it''s #1' # end\n3@c#d.mrcs 1e3 \"a'b\"\n # end";
    RG_ENDS(rg_star_free) rg_star star;
    double value;
    int64_t whole;
    assert_int_equal(read_text(text, &star), RG_GOOD);
    assert_int_equal(star.n_tables, 3);
    const rg_star_table *general = rg_star_find(&star, "general"), *optics = rg_star_find(&star, "optics");
    const rg_star_table *rows = rg_star_find(&star, "particles");
    assert_null(rg_star_find(&star, "particle"));
    assert_true(!general->is_loop && general->n_rows == 1 && general->n_columns == 2);
    assert_string_equal(rg_star_cell(general, 0, 1), "two words");
    assert_int_equal(rg_star_int(&star, general, 0, 0, 0, 12, &whole), RG_GOOD);
    assert_int_equal(whole, 12);
    assert_int_equal(rg_star_real(&star, optics, 0, rg_star_column(optics, "rlnImagePixelSize"), &value), RG_GOOD);
    assert_true(value == 2.5);
    assert_true(rows->is_loop && rows->n_rows == 3 && rows->n_columns == 3);
    assert_int_equal(rg_star_column(rows, "rlnAngleRot"), 1);
    assert_int_equal(rg_star_column(rows, "rlnAngle"), -1);
    static const char *const expected[9] = {
        "000001@a.mrcs", "-1.5", "", "2@\"b.mrcs", "+.5", "it''s #1", "3@c#d.mrcs", "1e3", "a'b"};
    for (int i = 0; i < 9; i++) assert_string_equal(rg_star_cell(rows, i / 3, i % 3), expected[i]);
    assert_true(rows->row_line[0] == 22 && rows->row_line[2] == 26);
}

TEST(test_numbers) {
    RG_ENDS(rg_star_free) rg_star star;
    double value;
    int64_t whole;
    assert_int_equal(read_text("data_\nloop_\n_a\n1.5x\nnan\ninf\n1e999\n0x1p4\n-0X20\n2.5\n7\n3.000\n", &star), RG_GOOD);
    static const char *const words[] = {
        "line 4: expected a finite number for _a, found \"1.5x\"", "line 5: ", "line 6: ", "line 7: ", "line 8: ", "line 9: "};
    for (int row = 0; row < 6; row++) assert_refused(rg_star_real(&star, star.table, row, 0, &value), words[row]);
    assert_refused(rg_star_int(&star, star.table, 6, 0, 0, 9, &whole),
        "line 10: expected a whole number from 0 to 9 for _a, found \"2.5\"");
    assert_refused(rg_star_int(&star, star.table, 7, 0, 0, 6, &whole), "line 11: expected a whole number from 0 to 6");
    assert_int_equal(rg_star_int(&star, star.table, 8, 0, 0, 9, &whole), RG_GOOD);
    assert_int_equal(whole, 3);
}

TEST(test_round_trip) {
    const char *column[] = {"rlnA", "rlnB"}, *list[] = {"rlnC"}, *one[] = {"x y"};
    const char *cell[] = {"1", "", "a b", "#1", "it's", "say \"a b\"", "data_x", "_y", "loop_", "'q", "\t", "plain@name;#"};
    int64_t line[6] = {0};
    rg_star_table table[2] = {
        {.name = "list", .n_columns = 1, .column = list, .n_rows = 1, .cell = one, .row_line = line},
        {.name = "rows", .is_loop = true, .n_columns = 2, .column = column, .n_rows = 6, .cell = cell, .row_line = line},
    };
    rg_star out = {.n_tables = 2, .table = table}, in;
    assert_int_equal(rg_star_write(in_dir("b.star"), &out), RG_GOOD);
    assert_int_equal(rg_star_read(in_dir("b.star"), &in), RG_GOOD);
    assert_int_equal(in.n_tables, 2);
    assert_true(!in.table[0].is_loop && in.table[1].is_loop && in.table[1].n_rows == 6);
    assert_string_equal(rg_star_cell(&in.table[0], 0, 0), "x y");
    for (int i = 0; i < 12; i++) assert_string_equal(rg_star_cell(&in.table[1], i / 2, i % 2), cell[i]);
    rg_star_free(&in);
    char *text = file_text(in_dir("b.star")); // RELION does not convert rows of 3.0 under a header of 3.1
    assert_null(strstr(text, "version"));
    free(text);
    table[0].name = "optics";
    assert_int_equal(rg_star_write(in_dir("b.star"), &out), RG_GOOD);
    text = file_text(in_dir("b.star"));
    assert_non_null(strstr(text, "# version 30001\n\ndata_optics\n"));
    assert_non_null(strstr(text, "# version 30001\n\ndata_rows\n"));
    free(text);
    cell[3] = "both \" ' here";
    assert_refused(rg_star_write(in_dir("c.star"), &out), "quotes that STAR cannot hold");
    assert_int_equal(access(in_dir("c.star"), F_OK), -1);
}

TESTS(test_dir_make, test_dir_remove)
