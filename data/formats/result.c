// SPDX-License-Identifier: MIT
// result.c: the one reader and the one writer of result files (result.h says what they hold).
//
// The reader is strict, so that everything behind it may trust a row: the columns are those of the contract in their order,
// every row has all of them, numbers are finite numbers or empty, statuses are known. The first fault ends the reading with one
// line that names the file, the line, what was expected and what was found.

#include "result.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rg_column_name[RG_COLUMNS] = {
    "algo",     "variant", "shape", "params",  "space",    "scope", "mode", "n",      "min",   "q1",   "median",
    "q3",       "max",     "unit",  "work",    "traffic",  "rate",  "rate_unit", "bound", "fraction", "error",
    "tol",      "status",  "clock", "temp",    "joules",   "energy_source", "peak_bytes", "prepare", "stop",
    "samples",
};

static bool is_number_column(int c)
{
    switch (c) {
    case RG_C_N: case RG_C_MIN: case RG_C_Q1: case RG_C_MEDIAN: case RG_C_Q3: case RG_C_MAX: case RG_C_WORK: case RG_C_TRAFFIC:
    case RG_C_RATE: case RG_C_FRACTION: case RG_C_ERROR: case RG_C_TOL: case RG_C_CLOCK: case RG_C_TEMP: case RG_C_JOULES:
    case RG_C_PEAK_BYTES: case RG_C_PREPARE:
        return true;
    default:
        return false;
    }
}

// One finite number from *text up to end; *text moves past it.
static bool take_number(const char **text, char end, double *value)
{
    char *past;
    errno = 0;
    *value = strtod(*text, &past);
    if (past == *text || !isfinite(*value) || (*past != end && *past != '\0'))
        return false;
    *text = past;
    return true;
}

static bool is_number(const char *text)
{
    double value;
    return take_number(&text, '\0', &value);
}

static bool is_sample_list(const char *text)
{
    double value;
    for (;;) {
        if (!take_number(&text, ';', &value))
            return false;
        if (!*text++)
            return true;
    }
}

static bool is_status(const char *text)
{
    static const char *const status[] = {"PASS", "FAIL", "SKIP", "CRASH", "TIMEOUT"};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (!strcmp(text, status[i]))
            return true;
    return false;
}

// What a cell should have held, or NULL when it is as it should be. Empty is always allowed, but for the names.
static const char *cell_fault(int column, const char *text)
{
    if (!*text)
        return column <= RG_C_SHAPE ? "a name" : NULL;
    if (is_number_column(column) && !is_number(text))
        return "a finite number or nothing";
    if (column == RG_C_STATUS && !is_status(text))
        return "PASS, FAIL, SKIP, CRASH, TIMEOUT or nothing";
    if (column == RG_C_SAMPLES && !is_sample_list(text))
        return "numbers separated by semicolons";
    return NULL;
}

typedef struct reading {
    const char *path;
    int line;
    rg_result *result;
    bool columns_seen;
} reading;

static int fault(const reading *r, const char *expected, const char *found)
{
    return rg_fail(RG_USAGE, "%s: line %d: expected %s, found \"%.60s\"", r->path, r->line, expected, found);
}

// Room for one more element when n is 0 or a power of two.
static void *grown(void *array, int n, size_t bytes)
{
    if (n & (n - 1))
        return array;
    void *more = rg_alloc((n ? 2 * (size_t)n : 1) * bytes);
    if (n)
        memcpy(more, array, (size_t)n * bytes);
    free(array);
    return more;
}

static int take_head(reading *r, const char *text)
{
    const char *colon = strstr(text, ": ");
    if (strncmp(text, "# ", 2) || !colon || colon == text + 2)
        return fault(r, "\"# key: value\"", text);
    rg_result *f = r->result;
    f->head_key = grown(f->head_key, f->n_head, sizeof *f->head_key);
    f->head_value = grown(f->head_value, f->n_head, sizeof *f->head_value);
    f->head_key[f->n_head] = rg_print("%.*s", (int)(colon - text - 2), text + 2);
    f->head_value[f->n_head++] = rg_print("%s", colon + 2);
    return RG_GOOD;
}

static int take_columns(reading *r, char *text)
{
    int c = 0;
    for (char *name = text; name; c++) {
        char *tab = strchr(name, '\t');
        if (tab)
            *tab = '\0';
        if (c == RG_COLUMNS)
            return fault(r, "the end of the column names", name);
        if (strcmp(name, rg_column_name[c]))
            return fault(r, rg_column_name[c], name);
        name = tab ? tab + 1 : NULL;
    }
    r->columns_seen = true;
    return c == RG_COLUMNS ? RG_GOOD : fault(r, rg_column_name[c], "the end of the line");
}

static int take_row(reading *r, char *text)
{
    int cells = 1;
    for (const char *at = text; (at = strchr(at, '\t')); at++)
        cells++;
    if (cells != RG_COLUMNS)
        return rg_fail(RG_USAGE, "%s: line %d: expected %d cells, found %d", r->path, r->line, RG_COLUMNS, cells);
    rg_result *f = r->result;
    f->row = grown(f->row, f->n_rows, sizeof *f->row);
    rg_row *row = &f->row[f->n_rows++];
    *row = (rg_row){0};
    for (int c = 0; c < RG_COLUMNS; c++) {
        char *end = text + strcspn(text, "\t"), what[120];
        *end = '\0';
        const char *expected = cell_fault(c, text);
        snprintf(what, sizeof what, "%s in column %s", expected ? expected : "", rg_column_name[c]);
        if (expected)
            return fault(r, what, text);
        row->cell[c] = rg_print("%s", text);
        text = end + 1;
    }
    return RG_GOOD;
}

static int take_line(reading *r, char *line, size_t length)
{
    r->line++;
    if (strlen(line) != length)
        return fault(r, "text", "a zero byte");
    if (*line == '#' && !r->columns_seen)
        return take_head(r, line);
    return r->columns_seen ? take_row(r, line) : take_columns(r, line);
}

int rg_result_read(const char *path, rg_result *result, bool *cut)
{
    *cut = false;
    *result = (rg_result){0};
    FILE *f = fopen(path, "r");
    if (!f)
        return rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    result->path = rg_print("%s", path);
    reading r = {.path = path, .result = result};
    char *line = NULL;
    size_t room = 0;
    int code = RG_GOOD;
    for (ssize_t length; code == RG_GOOD && (length = getline(&line, &room, f)) >= 0;) {
        if (line[length - 1] != '\n') {
            *cut = true;
            break;
        }
        line[--length] = '\0';
        code = take_line(&r, line, (size_t)length);
    }
    if (code == RG_GOOD && ferror(f))
        code = rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    else if (code == RG_GOOD && !r.columns_seen)
        code = rg_fail(RG_USAGE, "%s: line %d: expected a result file's column names, found the end of the file", path, r.line + 1);
    free(line);
    fclose(f);
    if (code != RG_GOOD)
        rg_result_free(result);
    return code;
}

void rg_row_free(rg_row *row)
{
    for (int c = 0; c < RG_COLUMNS; c++)
        free(row->cell[c]);
    *row = (rg_row){0};
}

void rg_result_free(rg_result *f)
{
    for (int i = 0; i < f->n_head; i++) {
        free(f->head_key[i]);
        free(f->head_value[i]);
    }
    for (int i = 0; i < f->n_rows; i++)
        rg_row_free(&f->row[i]);
    free(f->head_key);
    free(f->head_value);
    free(f->row);
    free(f->path);
    *f = (rg_result){0};
}

const char *rg_result_head(const rg_result *f, const char *key)
{
    for (int i = 0; i < f->n_head; i++)
        if (!strcmp(f->head_key[i], key))
            return f->head_value[i];
    return NULL;
}

bool rg_row_same(const rg_row *a, const rg_row *b)
{
    for (int c = RG_C_ALGO; c <= RG_C_MODE; c++)
        if (strcmp(a->cell[c], b->cell[c]))
            return false;
    return true;
}

bool rg_row_is_probe(const rg_row *row) { return !strcmp(row->cell[RG_C_ALGO], "probe"); }

bool rg_row_is_self_test(const rg_row *row) { return !strcmp(row->cell[RG_C_ALGO], "self-test"); }

void rg_duration(double ns, char text[32])
{
    static const struct { double ns; const char *unit; } step[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int i = 0;
    while (i + 1 < RG_COUNT(step) && ns < step[i].ns)
        i++;
    *text = 0;
    if (isfinite(ns))
        snprintf(text, 32, "%.4g %s", ns / step[i].ns, step[i].unit);
}

double rg_cell_number(const rg_row *row, rg_column column)
{
    const char *text = row->cell[column];
    return text && *text ? strtod(text, NULL) : NAN;
}

int rg_row_samples(const rg_row *row, double **samples_ns)
{
    const char *text = row->cell[RG_C_SAMPLES];
    *samples_ns = NULL;
    if (!text || !*text)
        return 0;
    int n = 1;
    for (const char *p = text; *p; p++)
        n += *p == ';';
    *samples_ns = rg_alloc((size_t)n * sizeof **samples_ns);
    for (int i = 0; i < n; i++) {
        char *past;
        (*samples_ns)[i] = strtod(text, &past);
        text = past + (*past == ';');
    }
    return n;
}

// A tab or a line break inside a cell or a head line would break the table: they become blanks here, once for all callers.
static void put_text(FILE *f, const char *text)
{
    for (; text && *text; text++)
        putc(*text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text, f);
}

FILE *rg_result_open(const char *path, const char *mode)
{
    FILE *f = fopen(path, mode);
    // The largest row (400 samples) has some 6 KB and a head some 10 KB: with this buffer each leaves in one write(2).
    if (f)
        setvbuf(f, NULL, _IOFBF, 1 << 18);
    return f;
}

void rg_result_write_head(FILE *f, int n, char *const *key, char *const *value)
{
    for (int i = 0; i < n; i++) {
        fputs("# ", f);
        put_text(f, key[i]);
        fputs(": ", f);
        put_text(f, value[i]);
        putc('\n', f);
    }
    for (int c = 0; c < RG_COLUMNS; c++)
        fprintf(f, "%s%c", rg_column_name[c], c + 1 < RG_COLUMNS ? '\t' : '\n');
    fflush(f);
}

void rg_result_write_row(FILE *f, const rg_row *row)
{
    for (int c = 0; c < RG_COLUMNS; c++) {
        put_text(f, row->cell[c]);
        putc(c + 1 < RG_COLUMNS ? '\t' : '\n', f);
    }
    fflush(f);
}
