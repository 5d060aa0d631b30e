// SPDX-License-Identifier: MIT
// test_cases.c: every row of cases.tsv: the command is run as a user types it, and has to end with the exit code and to print the
// line that stand there.
#include "../../../impl/base/tsv.h"
#include "../test.h"
#include "../test_program.h"

static const char OPTICS[] =
    "optics() { sed \"s/^_rlnImageDimensionality #8/&\\n_$1 #9/; s/^1 opticsGroup1 .*/& $2/\" p/particles.star "
    "> p/x.star; }";
static rg_tsv table;

FIXTURE(begin)
{
    char *path = rg_share_path("verify/tests/formats/cases.tsv");
    const int code = test_dir_make(state) || rg_tsv_read(path, &table) != RG_GOOD ||
        rg_tsv_needs(&table, "point case needs exit line command") != RG_GOOD;
    free(path);
    return code;
}

FIXTURE(end)
{
    rg_tsv_free(&table);
    return test_dir_remove(state);
}

// The text with every "\t" a tab; malloc'ed.
static char *with_tabs(const char *text)
{
    char *copy = rg_print("%s", text);
    for (char *at; (at = strstr(copy, "\\t"));) {
        *at = '\t';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
    return copy;
}

// Row by row; all that fail are named before the test fails.
TEST(test_cases)
{
    int failed = 0, skipped = 0;
    for (int row = 0; row < table.n_rows; row++) {
        const char *point = rg_tsv_cell(&table, row, "point"), *name = rg_tsv_cell(&table, row, "case");
        const char *needs = rg_tsv_cell(&table, row, "needs");
        char *program = *needs ? rg_program_path(needs) : NULL;
        if (*needs && !program) {
            print_message("skipped: %s %s: no %s here\n", point, name, needs);
            skipped++;
            continue;
        }
        free(program);
        size_t n = 0;
        const int code = sh("%s\n( %s ) > out 2>&1", OPTICS, rg_tsv_cell(&table, row, "command"));
        char *out = get_file(in_dir("out"), &n), *line = with_tabs(rg_tsv_cell(&table, row, "line"));
        for (size_t i = 0; i < n; i++) out[i] = out[i] ? out[i] : ' ';
        if (code != (int)rg_tsv_number(&table, row, "exit") || !strstr(out, line)) {
            print_message("point %s, %s: expected exit %s and \"%s\", found exit %d and:\n%.1000s\n", point, name,
                rg_tsv_cell(&table, row, "exit"), line, code, out);
            failed++;
        }
        free(out);
        free(line);
    }
    print_message("%d cases, %d of them skipped\n", table.n_rows, skipped);
    assert_int_equal(failed, 0);
    assert_true(table.n_rows - skipped > 40);
}

TESTS(begin, end)
