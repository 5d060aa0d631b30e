// SPDX-License-Identifier: MIT
// test_published.c: every number of the papers' tables, as their texts print it, against reference/published. The texts are not
// part of the project: without them (REGATHER_PAPERS=DIR, else ../shared/papers) the tests are skipped.
#include "../../../impl/base/core.h"
#include "../../../impl/base/tsv.h"
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_data.h"
#include <ctype.h>
#include <math.h>

// A table of a text: of the lines between two marks those whose first cell is one of `keys` ('|' between them). ids: one a cell
// from the one numbered `first`, '%' is the key, "-" no number of ours. separators of cells. least: numbers that must be found.
typedef struct printed {
    const char *file, *published, *start, *stop, *keys, *ids, *separators;
    int first, least;
} printed;

#define SIZES "100|150|200|250|300|350|400|450|500"
#define LI "li2010.txt", "li2010.tsv"
#define STRELAK "strelak2019.txt", "strelak2019.tsv"
#define GARCIA "garcia2014.txt", "garcia2014.tsv"
static const printed tables[] = {
    {LI, "Execution time in microseconds on a single i7", "Execution time in microseconds on a single GTX", "56|112|224|500",
        "F1.cpu_% F2.cpu_% F3.cpu_% F4.cpu_% F5.cpu_% F6.cpu_%", "\t", 1, 24},
    {LI, "Execution time in microseconds on a single GTX", "Each subroutine is invoked", "56|112|224|500",
        "F1.gpu_% F2.gpu_% F3.gpu_% F4.gpu_% F5.gpu_% F6.gpu_%", "\t", 1, 24},
    {LI, "Supplementary Table 3. Total", "Search: The total", SIZES,
        "F10.search_cpu_% F10.search_gpu_% F10.search_ratio_% F10.refine_cpu_% F10.refine_gpu_% F10.refine_ratio_%", "\t", 1,
        54},
    {LI, "Supplementary Table 4. Total", "System I: The CPU", SIZES,
        "F11.cpu1_% F11.gpu4_% F11.ratio4_% F11.cpu2_% F11.gpu8_% F11.ratio8_%", "\t", 1, 54},
    {LI, "(A) Search\n", "(B) Refinement\n", SIZES,
        "F12.search1_% F12.search4_% F12.search_ratio4_% F12.search1b_% F12.search8_% F12.search_ratio8_% F12.search_ratio48_%",
        "\t", 1, 63},
    {LI, "(B) Refinement\n", "(C) Reconstruction\n", SIZES,
        "F12.refine1_% F12.refine4_% F12.refine_ratio4_% F12.refine1b_% F12.refine8_% F12.refine_ratio8_% F12.refine_ratio48_%",
        "\t", 1, 63},
    {LI, "(C) Reconstruction\n", "(A) Search: The total", SIZES, "F11.gpu4_% F11.gpu8_% F12.reconstruct_ratio48_%", "\t", 1,
        27},
    {STRELAK, "Table 3. Optimal", "GPU: graphics", "BLOCK_DIM|ATOMICS|GRID_DIM_Z|PRECOMP_INT|SHARED_INT|SHARED_IMG|TILE_SIZE",
        "S4.P100.% S4.GTX1070.% S4.GTX750.% S4.GTX680.%", "\t", 1, 28},
    {STRELAK, "PI00 (%)", "GPU: graphics", "100", "S5.P100.P100 S5.P100.GTX1070 S5.P100.GTX750 S5.P100.GTX680", "\t", 0, 4},
    {STRELAK, "PI00 (%)", "GPU: graphics", "88", "S5.GTX1070.P100 S5.GTX1070.GTX1070 S5.GTX1070.GTX750 S5.GTX1070.GTX680", "\t",
        0, 4},
    {STRELAK, "PI00 (%)", "GPU: graphics", "65", "S5.GTX750.P100 S5.GTX750.GTX1070 S5.GTX750.GTX750 S5.GTX750.GTX680", "\t", 0,
        4},
    {STRELAK, "PI00 (%)", "GPU: graphics", "71", "S5.GTX680.P100 S5.GTX680.GTX1070 S5.GTX680.GTX750 S5.GTX680.GTX680", "\t", 0,
        4},
    {STRELAK, "Table 6. Power", "GPU: graphics", "CPU only", "- S10.cpu_W S10.cpu_kJ", "\t", 1, 2},
    {STRELAK, "Table 6. Power", "GPU: graphics", "I× PI00", "- S10.gpu1_W S10.gpu1_kJ", "\t", 1, 2},
    {STRELAK, "Table 6. Power", "GPU: graphics", "2× P100", "- S10.gpu2_W S10.gpu2_kJ", "\t", 1, 2},
    {STRELAK, "Table 6. Power", "GPU: graphics", "$4 \\times$ PI00", "- S10.gpu4_W S10.gpu4_kJ", "\t", 1, 2},
    {GARCIA, "Table 1. Average", "As a final", "$\\pm 180^{\\circ}$", "G2.att16_180 G2.att128_180 G2.at16_180 G2.at128_180",
        "\t", 1, 4},
    {GARCIA, "Table 1. Average", "As a final", "$\\pm 10^{\\circ}$", "G2.att16_10 G2.att128_10 G2.at16_10 G2.at128_10", "\t", 1,
        4},
    {GARCIA, "Table 2. Average", "Proceedings", "$$\\frac{ATCt_{2D}}{398\\times}", "G3.atct2d G4.atct3d G4.atc3d", " ", 0, 3},
};

static char *text_of(const char *file)
{
    const char *own = getenv("REGATHER_PAPERS");
    const char *path = fmt("%s/%s", own ? own : "../shared/papers", file);
    SKIP_WITHOUT(path);
    return file_text(path);
}

static void read_published(const char *file, rg_tsv *t)
{
    char *relative = rg_print("reference/published/%s", file), *path = rg_share_path(relative);
    assert_int_equal(rg_tsv_read(path, t), RG_GOOD);
    free(relative);
    free(path);
}

static const char *stated(const rg_tsv *t, const char *id, const char *column)
{
    const int row = rg_tsv_find(t, "id", id);
    return row < 0 ? "" : rg_tsv_cell(t, row, column);
}

// The last number of n bytes, "18,1172" (a scan's comma) read as 181172; a lone I is the scan's 1. NaN when there is none.
static double number_in(const char *text, size_t n)
{
    char digits[32];
    int used = 0;
    double number = NAN;
    bool letter = memchr(text, 'I', n) != NULL;
    for (size_t i = 0; i <= n; i++)
        if (i < n && (isdigit((unsigned char)text[i]) || (used && (text[i] == '.' || text[i] == ',')))) {
            if (text[i] != ',' && used < 30) digits[used++] = text[i];
        } else if (used) {
            digits[used] = '\0';
            number = strtod(digits, NULL);
            used = 0;
        }
    return isnan(number) && letter ? 1 : number;
}

// One cell, "9.89±0.00", against the row of this id: 1 when it is right.
static int check(const rg_tsv *t, const char *id, const char *cell, size_t n)
{
    static const char sign[] = "±";
    size_t split = n;
    for (size_t i = 0; i + 2 <= n && split == n; i++)
        if (!memcmp(cell + i, sign, 2)) split = i;
    const double value = number_in(cell, split), ours = strtod(stated(t, id, "value"), NULL);
    if (!*stated(t, id, "value") || !(fabs(value - ours) <= 1e-9 * fabs(value))) {
        print_message("%s: the paper prints \"%.*s\", reference/published has %s\n", id, (int)n, cell, stated(t, id, "value"));
        return 0;
    }
    if (split == n) return 1;
    const double error = number_in(cell + split + 2, n - split - 2);
    if (!*stated(t, id, "error") || fabs(error - strtod(stated(t, id, "error"), NULL)) > 1e-9 * error) {
        print_message(
            "%s: the paper prints \"%.*s\", reference/published has +- %s\n", id, (int)n, cell, stated(t, id, "error"));
        return 0;
    }
    return 1;
}

// Numbers of a line that agree; -1 when one does not.
static int check_line(const printed *p, const rg_tsv *t, const char *key, const char *line, size_t length)
{
    int right = 0, column = 0;
    const char *id = p->ids;
    for (size_t at = 0; at < length && *id; column++) {
        size_t n = strcspn(line + at, p->separators);
        n = at + n > length ? length - at : n;
        if (column >= p->first) {
            char name[96] = "";
            int used = 0;
            for (; *id && *id != ' '; id++)
                used += *id == '%' ? snprintf(name + used, sizeof name - (size_t)used, "%s", key)
                                   : snprintf(name + used, sizeof name - (size_t)used, "%c", *id);
            id += *id == ' ';
            if (strcmp(name, "-")) {
                if (!check(t, name, line + at, n)) return -1;
                right++;
            }
        }
        at += n + 1;
    }
    return right;
}

static void check_table(const printed *p)
{
    char *text = text_of(p->file);
    rg_tsv t;
    read_published(p->published, &t);
    // The last start before the stop's text: tables are named in the running text as well.
    const char *from = strstr(text, p->start), *to;
    assert_non_null(from);
    for (const char *next; (next = strstr(from + 1, p->start)) && strstr(next, p->stop);) from = next;
    from += strlen(p->start);
    to = strstr(from, p->stop);
    assert_non_null(to);
    int right = 0;
    for (const char *line = from; line < to; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n"), first = strcspn(line, p->separators);
        char key[64];
        for (const char *at = p->keys; *at; at += strcspn(at, "|"), at += *at == '|') {
            snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "|"), at);
            if (first != strlen(key) || strncmp(line, key, first)) continue;
            int n = check_line(p, &t, key, line, length);
            assert_true(n > 0);
            right += n;
        }
    }
    if (right != p->least) fail_msg("%s, %s: expected %d numbers, found %d", p->file, p->start, p->least, right);
    rg_tsv_free(&t);
    free(text);
}

TEST(numbers_of_li)
{
    for (int i = 0; i < RG_COUNT(tables); i++)
        if (!strcmp(tables[i].file, "li2010.txt")) check_table(&tables[i]);
}

TEST(numbers_of_strelak)
{
    for (int i = 0; i < RG_COUNT(tables); i++)
        if (!strcmp(tables[i].file, "strelak2019.txt")) check_table(&tables[i]);
}

TEST(numbers_of_garcia)
{
    for (int i = 0; i < RG_COUNT(tables); i++)
        if (!strcmp(tables[i].file, "garcia2014.txt")) check_table(&tables[i]);
}

// Supp. Table 2 stands in the scan with its lines shifted: its percentages, in any order, are those of F9.
TEST(percentages_of_li)
{
    enum { MOST = 64 };
    char *text = text_of("li2010.txt");
    rg_tsv t;
    read_published("li2010.tsv", &t);
    double found[MOST], ours[MOST];
    int n = 0, m = 0;
    const char *from = strstr(text, "Supplementary Table 2. Percentage"),
               *to = from ? strstr(from, "The percentages of") : NULL;
    assert_non_null(to);
    for (const char *at = from; (at = memchr(at, '%', (size_t)(to - at))) && n < MOST; at++) {
        const char *first = at;
        while (isdigit((unsigned char)first[-1]) || first[-1] == '.') first--;
        found[n++] = strtod(first, NULL);
    }
    for (int i = 0; i < t.n_rows && m < MOST; i++)
        if (!strncmp(rg_tsv_cell(&t, i, "id"), "F9.", 3)) ours[m++] = rg_tsv_number(&t, i, "value");
    assert_int_equal(n, m);
    qsort(found, (size_t)n, sizeof *found, rg_ascending);
    qsort(ours, (size_t)m, sizeof *ours, rg_ascending);
    for (int i = 0; i < n; i++) assert_true(found[i] == ours[i]);
    rg_tsv_free(&t);
    free(text);
}

// Numbers that are ratios or products of others are those, to the digit that is printed. Needs no text.
TEST(ratios_of_published_numbers)
{
    rg_tsv t;
    read_published("li2010.tsv", &t);
    int seen = 0;
    for (int i = 0; i < t.n_rows; i++) {
        const char *id = rg_tsv_cell(&t, i, "id"), *size = strrchr(id, '_');
        char a[48] = "", b[48] = "";
        if (!size) continue;
        if (!strncmp(id, "F10.", 4) && strstr(id, "_ratio_")) {
            snprintf(a, sizeof a, "%.10s_cpu%s", id, size);
            snprintf(b, sizeof b, "%.10s_gpu%s", id, size);
        } else if (!strncmp(id, "F11.ratio", 9)) {
            snprintf(a, sizeof a, "F11.cpu1%s", size); // of System I on both systems, whatever the text says
            snprintf(b, sizeof b, "F11.gpu%c%s", id[9], size);
        } else if (!strncmp(id, "F12.", 4) && strstr(id, "_ratio") && !strstr(id, "48") && strncmp(id, "F12.rec", 7)) {
            snprintf(a, sizeof a, "%.10s1%s%s", id, strstr(id, "ratio8") ? "b" : "", size);
            snprintf(b, sizeof b, "%.10s%c%s", id, strstr(id, "ratio8") ? '8' : '4', size);
        } else {
            continue;
        }
        const double ratio = strtod(stated(&t, a, "value"), NULL) / strtod(stated(&t, b, "value"), NULL);
        // Means of ratios of several runs differ from ratios of means, and times of 0.17 s have two digits.
        if (!(fabs(ratio / rg_tsv_number(&t, i, "value") - 1) < 0.035))
            fail_msg("%s: %s / %s is %.4g, published is %s", id, a, b, ratio, rg_tsv_cell(&t, i, "value"));
        seen++;
    }
    assert_int_equal(seen, 18 + 18 + 36);
    rg_tsv_free(&t);
}

// A number that is not the paper's is found.
TEST(a_wrong_number_is_seen)
{
    rg_tsv t;
    read_published("li2010.tsv", &t);
    static const char right[] = "9.89±0.00", wrong[] = "9.98±0.00", error[] = "9.89±0.27";
    assert_int_equal(check(&t, "F10.search_ratio_500", right, strlen(right)), 1);
    assert_int_equal(check(&t, "F10.search_ratio_500", wrong, strlen(wrong)), 0);
    assert_int_equal(check(&t, "F10.search_ratio_500", error, strlen(error)), 0);
    assert_int_equal(check(&t, "F10.none", right, strlen(right)), 0);
    rg_tsv_free(&t);
}

TESTS(NULL, NULL)
