// SPDX-License-Identifier: MIT
// result.c: reads and writes result files (see result.h).
//
// The reader is strict, so that all later code may trust a row: the columns are those of the contract in their order, every row
// has all of them, numbers are finite or empty, statuses are known. The first fault ends the reading with one line: the file,
// the line, what was expected, what was found.
#include "result.h"

#include "../../impl/base/core.h"
#include "../../impl/base/malformed.h"
#include "../../impl/base/hash.h"
#include "../../impl/suite.h"

// Head lines are "# key: value".
static int read_head(const rg_tsv *t, rg_result *f) {
    for (int i = 0; i < t->n_head; i++) {
        const char *text = t->head[i].text, *colon = strstr(text, ": ");
        if (strncmp(text, "# ", 2) || !colon || colon == text + 2)
            return rg_tsv_line_fault(t, t->head[i].number, "\"# key: value\"", text);
        f->head_key = rg_grow(f->head_key, f->n_head, sizeof *f->head_key);
        f->head_value = rg_grow(f->head_value, f->n_head, sizeof *f->head_value);
        f->head_key[f->n_head] = rg_print("%.*s", (int)(colon - text - 2), text + 2);
        f->head_value[f->n_head++] = rg_print("%s", colon + 2);
    }
    return RG_GOOD;
}

static int check_columns(const rg_tsv *t) {
    for (int c = 0; c < RG_COLUMNS || c < t->n_columns; c++) {
        const char *expected = c < RG_COLUMNS ? rg_column_name[c] : "the end of the column names";
        const char *found = c < t->n_columns ? t->column[c] : "the end of the line";
        if (strcmp(expected, found)) return rg_tsv_line_fault(t, t->names_line, expected, found);
    }
    return RG_GOOD;
}

void rg_row_set_time(rg_row *row) {
    row->timed_ns = strcmp(row->cell[RG_C_STATUS], "PASS") ? 0 : fmax(0, rg_row_ns(row, RG_C_MEDIAN)); // fmax: 0 for NaN
}

static int read_row(const rg_tsv *t, int i, rg_row *row) {
    for (int c = 0; c < RG_COLUMNS; c++) {
        const char *text = t->cell[i * t->n_columns + c], *expected = rg_cell_fault((rg_column)c, text);
        if (expected) return rg_tsv_fault_at(t, i, c, expected);
        row->cell[c] = rg_print("%s", text);
    }
    return RG_GOOD;
}

// ---- the line that ends a file ---------------------------------------------------------------------------------------------

static const char SEAL[] = "# sha256: ";

int rg_result_seal(FILE *f, const char *path) {
    char own[64], hex[65] = "";
    fflush(f);
    snprintf(own, sizeof own, "/proc/self/fd/%d", fileno(f)); // f may be open only for appending
    const int code = rg_sha256_file(own, hex, NULL);
    if (code == RG_GOOD) fprintf(f, "%s%s\n", SEAL, hex);
    fflush(f);
    return code || !ferror(f) ? code : rg_fail(RG_USAGE, "%s: not written: %s", path, strerror(errno));
}

int rg_result_say_edited(const char *path) {
    char *text, hex[65];
    int64_t bytes, at;
    const int code = rg_input_text(path, RG_TSV_FILE_MOST, &text, &bytes);
    if (code != RG_GOOD) return code;
    for (at = bytes - 1; at > 0 && text[at - 1] != '\n';) at--;
    rg_sha256_of(text, (size_t)at, hex);
    if (at > 0 && !strncmp(text + at, SEAL, strlen(SEAL)) && strncmp(text + at + strlen(SEAL), hex, strlen(hex)))
        rg_warn("%s: edited since it was written: the sha256 in its last line does not match", path);
    free(text);
    return RG_GOOD;
}

int rg_result_of(const rg_tsv *t, rg_result *f) {
    *f = (rg_result){.path = rg_print("%s", t->path)};
    int code = read_head(t, f);
    const char *format = rg_result_head(f, "format");
    const bool old = rg_result_format(f) < 5;
    if (code == RG_GOOD && format && (strlen(format) != 1 || *format < '2' || *format > *RG_RESULT_FORMAT))
        code = rg_fail(RG_USAGE, "%s: expected result file format 2 to " RG_RESULT_FORMAT ", found \"%s\"", f->path, format);
    if (code == RG_GOOD) code = old ? rg_result_old_columns(t) : check_columns(t);
    while (code == RG_GOOD && f->n_rows < t->n_rows) {
        f->row = rg_grow(f->row, f->n_rows, sizeof *f->row);
        rg_row *row = &f->row[f->n_rows];
        *row = (rg_row){0};
        code = old ? rg_result_old_row(t, f->n_rows, row) : read_row(t, f->n_rows, row);
        if (code == RG_GOOD) rg_row_set_time(row);
        f->n_rows++; // counts also half a row, which is freed below
    }
    if (code != RG_GOOD) rg_result_free(f);
    return code;
}

int rg_result_read(const char *path, rg_result *result, bool *cut) {
    RG_ENDS(rg_tsv_free) rg_tsv t;
    *result = (rg_result){0};
    int code = rg_tsv_read_cut(path, &t, cut);
    if (code == RG_GOOD) code = rg_result_of(&t, result);
    return code;
}

rg_row rg_row_empty(void) {
    rg_row row = {0};
    for (int c = 0; c < RG_COLUMNS; c++) row.cell[c] = rg_print("%s", "");
    return row;
}

void rg_row_free(rg_row *row) {
    for (int c = 0; c < RG_COLUMNS; c++) free(row->cell[c]);
    *row = (rg_row){0};
}

void rg_result_free(rg_result *f) {
    for (int i = 0; i < f->n_head; i++) {
        free(f->head_key[i]);
        free(f->head_value[i]);
    }
    for (int i = 0; i < f->n_rows; i++) rg_row_free(&f->row[i]);
    free(f->head_key);
    free(f->head_value);
    free(f->row);
    free(f->path);
    *f = (rg_result){0};
}

const char *rg_result_head(const rg_result *f, const char *key) {
    for (int i = 0; i < f->n_head; i++)
        if (!strcmp(f->head_key[i], key)) return f->head_value[i];
    return NULL;
}

int rg_result_format(const rg_result *f) {
    const char *format = rg_result_head(f, "format");
    return format ? atoi(format) : 1;
}

bool rg_row_same(const rg_row *a, const rg_row *b) {
    for (int c = RG_C_ALGO; c <= RG_C_MODE; c++)
        if (strcmp(a->cell[c], b->cell[c])) return false;
    return true;
}

bool rg_row_is_job(const rg_row *row) { return !strcmp(row->cell[RG_C_SCOPE], "job"); }

bool rg_row_is_probe(const rg_row *row) { return !strcmp(row->cell[RG_C_ALGO], "probe"); }

bool rg_row_is_self_test(const rg_row *row) { return !strcmp(row->cell[RG_C_ALGO], "self-test"); }

bool rg_row_is_timed(const rg_row *row) { return !strcmp(row->cell[RG_C_STATUS], "PASS") && *row->cell[RG_C_MEDIAN]; }

int64_t rg_cell_part(const char *cell, const char *name, int64_t standard) {
    static const char separators[] = ",; ";
    const size_t length = strlen(name);
    for (const char *at = cell; *at;) {
        const size_t part = strcspn(at, separators);
        if (part > length && !strncmp(at, name, length)) {
            char *end;
            const long long value = strtoll(at + length, &end, 10);
            if (end == at + part) return value;
        }
        at += part;
        at += strspn(at, separators);
    }
    return standard;
}

int rg_row_threads(const rg_row *row, int standard) { return (int)rg_cell_part(row->cell[RG_C_PARAMS], "threads=", standard); }

double rg_row_ns(const rg_row *row, rg_column column) {
    static const struct {
        const char *unit;
        double ns;
    } known[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (int i = 0; i < RG_COUNT(known); i++)
        if (!strcmp(row->cell[RG_C_UNIT], known[i].unit)) return rg_cell_number(row, column) * known[i].ns;
    return NAN;
}

void rg_duration(double ns, char text[32]) {
    static const struct {
        double ns;
        const char *unit;
    } step[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int i = 0;
    while (i + 1 < RG_COUNT(step) && ns < step[i].ns) i++;
    *text = 0;
    if (isfinite(ns)) snprintf(text, 32, "%.4g %s", ns / step[i].ns, step[i].unit);
}

double rg_cell_number(const rg_row *row, rg_column column) {
    const char *text = row->cell[column];
    return text && *text ? strtod(text, NULL) : NAN;
}

double rg_row_other_load(const rg_row *row, int *cores) {
    const double of = rg_cell_number(row, RG_C_CORES);
    *cores = of > 0 ? (int)of : 0;
    return *cores > 0 ? rg_cell_number(row, RG_C_OTHERS) : NAN;
}

rg_samples rg_row_samples(const rg_row *row) {
    const char *text = row->cell[RG_C_SAMPLES];
    rg_samples s = {0};
    if (!text || !*text) return s;
    size_t most = 1;
    for (const char *p = text; *p; p++) most += *p == ';' || *p == '|';
    s.ns = rg_alloc(most * sizeof *s.ns);
    s.past = rg_alloc(most * sizeof *s.past);
    for (char *past; *text; text = past + (*past != '\0')) {
        s.ns[s.n++] = strtod(text, &past);
        if (*past != ';') s.past[s.processes++] = s.n;
    }
    return s;
}

void rg_samples_free(rg_samples *s) {
    free(s->ns);
    free(s->past);
    *s = (rg_samples){0};
}

FILE *rg_result_open(const char *path, const char *mode) {
    FILE *f = fopen(path, mode);
    // The largest row (400 samples) has some 6 KB and a head some 10 KB: with this buffer each takes one write(2).
    if (f) setvbuf(f, NULL, _IOFBF, 1 << 18);
    return f;
}

void rg_result_write_head(FILE *f, int n, char *const *key, char *const *value) {
    for (int i = 0; i < n; i++) rg_tsv_print(f, "# %s: %s\n", key[i], value[i] ? value[i] : "");
    for (int c = 0; c < RG_COLUMNS; c++) fprintf(f, "%s%c", rg_column_name[c], c + 1 < RG_COLUMNS ? '\t' : '\n');
    fflush(f);
}

void rg_result_write_row(FILE *f, const rg_row *row) {
    for (int c = 0; c < RG_COLUMNS; c++)
        rg_tsv_print(f, "%s%c", row->cell[c] ? row->cell[c] : "", c + 1 < RG_COLUMNS ? '\t' : '\n');
    fflush(f);
}
