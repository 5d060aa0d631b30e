// SPDX-License-Identifier: MIT
// test_readme_numbers.c: the numbers of README.md are those of the files that it names. Each with a decimal point, or before a
// unit, has a row in readme_numbers.tsv, which says where it comes from; a number that has none fails, and so does one that its
// file, rounded to the digits printed, does not give.
#include "../test.h"
#include "../test_command.h"

#include "../../../data/formats/tables.h"
#include "../../../impl/base/tsv.h"
#include "../../../impl/suite.h"

#include <ctype.h>
#include <math.h>

typedef struct entry {
    char *text, *file; // words of the README, without the braces
    size_t at, length; // the number in them
    double value;      // by the file, scaled
} entry;
typedef struct entries {
    entry *entry;
    int n;
} entries;

// ---- the README ------------------------------------------------------------------------------------------------------------

// Without blocks of code: a paragraph, a table or a title is a line.
static char *paragraphs(const char *path)
{
    char *text = file_text(path), *out = rg_alloc(strlen(text) + 2), *to = out;
    bool code = false;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        const bool fence = !strncmp(line, "```", 3);
        code ^= fence;
        if (fence || !*line)
            *to++ = '\n';
        else if (!code)
            to += sprintf(to, "%s%s", to > out && to[-1] != '\n' ? " " : "", line + strspn(line, " "));
    }
    *to = '\0';
    free(text);
    return out;
}

static bool ends_with(const char *text, const char *end, const char *with)
{
    return end - text >= (long)strlen(with) && !strncmp(end - strlen(with), with, strlen(with));
}

static bool is_version(const char *text, const char *number)
{
    static const char *const program[] = {"RELION ", "Open MPI ", "Slurm ", "glibc ", "Ubuntu "};
    for (int i = 0; i < RG_COUNT(program); i++)
        if (ends_with(text, number, program[i])) return true;
    return false;
}

static bool is_unit(const char *word)
{
    static const char *const unit[] = {"s", "ms", "us", "seconds", "minutes", "hours", "%", "MB", "GB", "GiB", "MHz", "J", "W",
        "A", "degrees", "pixels", "times", "images", "particles", "configurations"};
    for (int i = 0; i < RG_COUNT(unit); i++)
        if (!strncmp(word, unit[i], strlen(unit[i])) && !isalnum((unsigned char)word[strlen(unit[i])])) return true;
    return false;
}

// The next number at or after `at` that has to come from somewhere; NULL: none.
static const char *next_number(const char *text, const char *at, size_t *length)
{
    bool code = false;
    for (const char *c = text; *c; c++) {
        code = *c != '\n' && code != (*c == '`');
        if (!code && ends_with(text, c, "](")) // where a link leads
            c += strcspn(c, ")");
        if (code || !isdigit((unsigned char)*c)) continue;
        const bool begins = c == text || (!isalnum((unsigned char)c[-1]) && !strchr("-_", c[-1]));
        size_t n = 0, points = 0;
        while (isdigit((unsigned char)c[n]) || (c[n] && strchr(".,", c[n]) && isdigit((unsigned char)c[n + 1])))
            points += c[n++] == '.';
        const char *after = c + n + (c[n] == ' ');
        if (c >= at && begins && !is_version(text, c) && (points || is_unit(after))) {
            *length = n;
            return c;
        }
        c += n - 1;
    }
    return NULL;
}

// ---- the files -------------------------------------------------------------------------------------------------------------

static bool fits(const rg_tsv *t, int row, const char *conditions)
{
    char *words = rg_print("%s", conditions);
    bool all = true;
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        all &= !strcmp(rg_tsv_cell(t, row, word), value);
    }
    free(words);
    return all;
}

// A table that is a file, or one of several of its file.
static void read_table(const char *path, const char *name, rg_tsv *t)
{
    rg_tables all;
    if (!name) {
        assert_int_equal(rg_tsv_read(path, t), RG_GOOD);
        return;
    }
    assert_int_equal(rg_tables_read(path, &all), RG_GOOD);
    const char *text = rg_tables_find(&all, name);
    assert_non_null(text);
    assert_int_equal(rg_tsv_parse(path, text, strlen(text), t), RG_GOOD);
    rg_tables_free(&all);
}

// NaN where no row fits.
static double in_cells(const char *path, const char *name, const char *row, const char *column)
{
    rg_tsv t;
    double value[64];
    int n = 0;
    read_table(path, name, &t);
    for (int i = 0; i < t.n_rows; i++)
        if (fits(&t, i, row)) {
            assert_true(n < RG_COUNT(value));
            value[n++] = rg_tsv_number(&t, i, column);
        }
    rg_tsv_free(&t);
    qsort(value, (size_t)n, sizeof *value, rg_ascending);
    return n ? (value[(n - 1) / 2] + value[n / 2]) / 2 : NAN;
}

// The text without its braces, and where the first stood.
static char *without_braces(const char *text, size_t *at, size_t *length)
{
    const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!close) fail_msg("readme_numbers.tsv: expected a number in braces, found \"%s\"", text);
    *at = (size_t)(open - text);
    *length = (size_t)(close - open) - 1;
    return rg_print("%.*s%.*s%s", (int)*at, text, (int)*length, open + 1, close + 1);
}

static double in_text(const char *path, const char *marked)
{
    size_t at, length;
    char *text = file_text(path), *words = without_braces(marked, &at, &length);
    const char *found = strstr(text, words);
    const double value = found ? strtod(found + at, NULL) : NAN;
    free(text);
    free(words);
    return value;
}

static entries read_entries(void)
{
    char *path = rg_share_path("verify/tests/report/readme_numbers.tsv");
    rg_tsv t;
    assert_int_equal(rg_tsv_read(path, &t), RG_GOOD);
    entries all = {rg_alloc((size_t)t.n_rows * sizeof *all.entry), t.n_rows};
    for (int i = 0; i < t.n_rows; i++) {
        entry *e = &all.entry[i];
        const char *row = rg_tsv_cell(&t, i, "row"), *column = rg_tsv_cell(&t, i, "column");
        char *table = NULL;
        e->file = rg_print("%s", rg_tsv_cell(&t, i, "file"));
        if ((table = strchr(e->file, ':'))) *table++ = '\0';
        char *file = rg_share_path(e->file);
        e->text = without_braces(rg_tsv_cell(&t, i, "text"), &e->at, &e->length);
        e->value = (*column ? in_cells(file, table, row, column) : in_text(file, row)) * rg_tsv_number(&t, i, "scale");
        free(file);
    }
    rg_tsv_free(&t);
    free(path);
    return all;
}

static void free_entries(entries *all)
{
    for (int i = 0; i < all->n; i++) {
        free(all->entry[i].text);
        free(all->entry[i].file);
    }
    free(all->entry);
}

// ---- one against the other -------------------------------------------------------------------------------------------------

static char said[600]; // of the last fault

// Whether a number as printed is the value, rounded to its last digit.
static bool is_rounded(const char *printed, size_t length, double value)
{
    char *digits = rg_print("%.*s", (int)length, printed), *to = digits;
    for (const char *from = digits; (*to = *from); from++) // "28,881"
        to += *to != ',';
    const char *point = strchr(digits, '.');
    const double number = strtod(digits, NULL), half = 0.5 * pow(10, point ? -(double)strlen(point + 1) : 0);
    free(digits);
    return fabs(value - number) <= half * (1 + 1e-6);
}

// Where files of measurements are named: the paragraph, and of a table the one before it.
static bool names(const char *text, const char *at, const char *file)
{
    const char *from = at, *name = strstr(file, ".tsv") ? strrchr(file, '/') + 1 : file;
    while (from > text && from[-1] != '\n') from--;
    if (*from == '|') {
        while (from > text && from[-1] == '\n') from--;
        while (from > text && from[-1] != '\n') from--;
    }
    const char *end = at + strcspn(at, "\n"), *found = strstr(from, name);
    return strncmp(file, "data/machines/", 14) || (found && found < end);
}

static int faults(const char *text, const entries *all)
{
    const char **at = rg_alloc((size_t)all->n * sizeof *at);
    int n = 0;
    for (int i = 0; i < all->n; i++) {
        const entry *e = &all->entry[i];
        const char *found = strstr(text, e->text);
        at[i] = found ? found + e->at : NULL;
        if (!found || strstr(found + 1, e->text))
            n++, snprintf(said, sizeof said, "README.md has not once, but in readme_numbers.tsv: \"%s\"", e->text);
        else if (!is_rounded(e->text + e->at, e->length, e->value))
            n++, snprintf(said, sizeof said, "README.md: \"%s\": by %s it is %.6g", e->text, e->file, e->value);
        else if (!names(text, at[i], e->file))
            n++, snprintf(said, sizeof said, "README.md: \"%s\": the paragraph does not name %s", e->text, e->file);
    }
    size_t length = 0;
    for (const char *c = text; (c = next_number(text, c, &length)); c += length) {
        int i = 0;
        while (i < all->n && (at[i] != c || all->entry[i].length != length)) i++;
        if (i == all->n)
            n++, snprintf(said, sizeof said, "README.md: a number from nowhere: \"...%.70s\"", c - text > 40 ? c - 40 : text);
    }
    free(at);
    return n;
}

TEST(numbers_of_the_readme_are_those_of_the_files)
{
    char *path = rg_share_path("README.md"), *text = paragraphs(path);
    entries all = read_entries();
    assert_true(all.n >= 50);
    if (faults(text, &all)) fail_msg("%s", said);
    free_entries(&all);
    free(text);
    free(path);
}

// ---- what is wrong is seen -------------------------------------------------------------------------------------------------

static char other_digit(char digit) { return digit == '9' ? '1' : (char)(digit + 1); }

TEST(a_changed_digit_is_seen)
{
    char *path = rg_share_path("README.md"), *text = paragraphs(path);
    entries all = read_entries();
    for (int i = 0; i < all.n; i++) {
        entry *e = &all.entry[i];
        const size_t last = e->at + e->length - 1;
        char *in_readme = strstr(text, e->text) + last, was = *in_readme;
        *in_readme = other_digit(was);
        assert_true(faults(text, &all) > 0); // in the README alone
        *in_readme = was;
        e->text[last] = other_digit(was);
        assert_true(faults(text, &all) > 0); // in the table alone
        e->text[last] = was;
        const double value = e->value;
        e->value *= 2;
        assert_int_equal(faults(text, &all), 1); // in the file alone
        assert_non_null(strstr(said, e->file));
        e->value = value;
        assert_int_equal(faults(text, &all), 0);
    }
    free_entries(&all);
    free(text);
    free(path);
}

TEST(what_comes_from_nowhere_is_seen)
{
    static const char *const from_nowhere[] = {"takes 3.25 s.", "takes 7 s", "is 12 times faster", "20 % slower", "1.5",
        "(40 MB)", "28,881 images", "from 2 to 3.5 degrees", "[9 s](data/machines/h200-16xeon.tsv)"};
    static const char *const free_of[] = {
        "RELION 3.1", "`takes 3.25 s`", "H200", "16 Xeon cores", "32,000 of them", "[a](x7.2.tsv)", "S10b", "lab-2026-11 s"};
    const entries none = {0};
    for (int i = 0; i < RG_COUNT(from_nowhere); i++)
        if (faults(from_nowhere[i], &none) != 1) fail_msg("\"%s\" has a number", from_nowhere[i]);
    for (int i = 0; i < RG_COUNT(free_of); i++)
        if (faults(free_of[i], &none)) fail_msg("\"%s\" has no number that is measured", free_of[i]);
    char taken[] = "takes 2.5 s", file[] = "data/machines/a.tsv";
    entry e = {taken, file, 6, 3, 2.46};
    const entries one = {&e, 1};
    assert_int_equal(faults("it takes 2.5 s [there](data/machines/a.tsv)", &one), 0);
    assert_int_equal(faults("by [a](data/machines/a.tsv):\n\n| it takes 2.5 s |", &one), 0);
    assert_int_equal(faults("by [a](data/machines/a.tsv):\n\nit takes 2.5 s", &one), 1); // of another paragraph
    assert_int_equal(faults("it takes 2.5 s [there](data/machines/b.tsv)", &one), 1);
    assert_int_equal(faults("it takes 2.5 s, a.tsv, and takes 2.5 s again", &one), 2); // twice
}

TESTS(NULL, NULL)
