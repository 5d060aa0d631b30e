// SPDX-License-Identifier: MIT
#include "tsv.h"
#include "core.h"
#include "malformed.h"

// ---- reading -------------------------------------------------------------------------------------------------------------

int rg_tsv_line_fault(const rg_tsv *t, int line, const char *expected, const char *found) {
    return rg_fail(RG_USAGE, "%s: line %d: expected %s, found %s", t->path, line, expected,
        rg_quote_bytes(found, (int)strnlen(found, 60)));
}

// Cuts the text at its tabs into n cells.
static void cut_cells(char *text, char **cell, int n) {
    for (int c = 0; c < n; c++) {
        cell[c] = text;
        text += strcspn(text, "\t");
        if (c + 1 < n) *text++ = 0;
    }
}

static int names(rg_tsv *t, char *text, int line, int n) {
    if (n > RG_TSV_COLUMNS_MOST)
        return rg_fail(RG_USAGE, "%s: line %d: expected at most %d columns, found %d", t->path, line, RG_TSV_COLUMNS_MOST, n);
    t->names_line = line;
    t->n_columns = n;
    t->column = rg_alloc((size_t)n * sizeof *t->column);
    cut_cells(text, t->column, n);
    for (int c = 1; c < n; c++)
        for (int k = 0; k < c; k++)
            if (!strcmp(t->column[c], t->column[k])) return rg_tsv_line_fault(t, line, "every column once", t->column[c]);
    return RG_GOOD;
}

static int row(rg_tsv *t, char *text, int line, int n) {
    if (n != t->n_columns) return rg_fail(RG_USAGE, "%s: line %d: expected %d cells, found %d", t->path, line, t->n_columns, n);
    t->row_line = rg_grow(t->row_line, t->n_rows, sizeof *t->row_line);
    t->cell = rg_grow(t->cell, t->n_rows, (size_t)n * sizeof *t->cell);
    t->row_line[t->n_rows] = line;
    cut_cells(text, t->cell + (size_t)t->n_rows++ * (size_t)n, n);
    return RG_GOOD;
}

static int one_line(rg_tsv *t, char *text, size_t length, int line) {
    if (length > RG_TSV_LINE_MOST)
        return rg_fail(RG_USAGE, "%s: line %d: expected at most %d bytes, found %zu", t->path, line, RG_TSV_LINE_MOST, length);
    if (*text == '#' && !t->column) {
        t->head = rg_grow(t->head, t->n_head, sizeof *t->head);
        t->head[t->n_head++] = (rg_tsv_line){line, text};
    }
    if (*text == '#' || !*text) return RG_GOOD;
    int cells = 1;
    for (const char *tab = text; (tab = strchr(tab, '\t')); tab++) cells++;
    return t->column ? row(t, text, line, cells) : names(t, text, line, cells);
}

static int all_lines(rg_tsv *t, size_t bytes, bool *cut) {
    int code = RG_GOOD, line = 0;
    for (char *at = t->text, *end = at + bytes; code == RG_GOOD && at < end;) {
        char *stop = memchr(at, '\n', (size_t)(end - at)), *next = stop ? stop + 1 : end;
        if (!stop && cut) {
            *cut = true;
            break;
        }
        stop = stop ? stop : end;
        stop -= stop > at && stop[-1] == '\r';
        *stop = 0;
        code = one_line(t, at, (size_t)(stop - at), ++line);
        at = next;
    }
    return code == RG_GOOD && !t->column
        ? rg_fail(RG_USAGE, "%s: line %d: expected a row of column names, found the end of the file", t->path, line + 1)
        : code;
}

int rg_tsv_read(const char *path, rg_tsv *t) { return rg_tsv_read_cut(path, t, NULL); }

int rg_tsv_read_cut(const char *path, rg_tsv *t, bool *cut) {
    int64_t bytes;
    *t = (rg_tsv){0};
    if (cut) *cut = false;
    int code = rg_input_text(path, RG_TSV_FILE_MOST, &t->text, &bytes);
    if (code != RG_GOOD) return code;
    t->path = rg_print("%s", path);
    code = all_lines(t, (size_t)bytes, cut);
    if (code != RG_GOOD) rg_tsv_free(t);
    return code;
}

int rg_tsv_parse(const char *name, const char *text, size_t bytes, rg_tsv *t) {
    *t = (rg_tsv){.path = rg_print("%s", name), .text = rg_alloc(bytes + 1)};
    memcpy(t->text, text, bytes);
    int code =
        memchr(text, 0, bytes) ? rg_fail(RG_USAGE, "%s: expected text, found a byte 0", name) : all_lines(t, bytes, NULL);
    if (code != RG_GOOD) rg_tsv_free(t);
    return code;
}

void rg_tsv_write(const rg_tsv *t, FILE *f) {
    for (int i = 0; i < t->n_head; i++) rg_tsv_print(f, "%s\n", t->head[i].text);
    for (int row = -1; row < t->n_rows; row++)
        for (int c = 0; c < t->n_columns; c++)
            rg_tsv_print(
                f, "%s%c", row < 0 ? t->column[c] : t->cell[row * t->n_columns + c], c + 1 < t->n_columns ? '\t' : '\n');
}

void rg_tsv_free(rg_tsv *t) {
    free(t->path);
    free(t->text);
    free(t->row_line);
    free(t->head);
    free(t->column);
    free(t->cell);
    *t = (rg_tsv){0};
}

const char *rg_tsv_head(const rg_tsv *t, const char *key) {
    size_t n = strlen(key);
    for (int i = 0; i < t->n_head; i++) {
        const char *text = t->head[i].text;
        if (!strncmp(text, "# ", 2) && !strncmp(text + 2, key, n) && !strncmp(text + 2 + n, ": ", 2)) return text + 4 + n;
    }
    return NULL;
}

static int column_of(const rg_tsv *t, const char *name, size_t length) {
    for (int c = 0; c < t->n_columns; c++)
        if (!strncmp(t->column[c], name, length) && !t->column[c][length]) return c;
    return -1;
}

const char *rg_tsv_cell(const rg_tsv *t, int row, const char *column) {
    int c = column_of(t, column, strlen(column));
    const char *text = c < 0 ? "" : t->cell[row * t->n_columns + c];
    return strcmp(text, "-") ? text : "";
}

static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    return end == text || *end ? NAN : value;
}

double rg_tsv_number(const rg_tsv *t, int row, const char *column) { return number(rg_tsv_cell(t, row, column)); }

double rg_tsv_number_at(const rg_tsv *t, int row, int column) { return number(t->cell[row * t->n_columns + column]); }

int rg_tsv_find(const rg_tsv *t, const char *column, const char *text) {
    for (int row = 0; row < t->n_rows; row++)
        if (!strcmp(rg_tsv_cell(t, row, column), text)) return row;
    return -1;
}

int rg_tsv_needs(const rg_tsv *t, const char *columns) {
    for (const char *at = columns; *at; at += strcspn(at, " "), at += *at == ' ')
        if (column_of(t, at, strcspn(at, " ")) < 0) {
            char expected[80];
            snprintf(expected, sizeof expected, "a column named %.*s", (int)strcspn(at, " "), at);
            return rg_tsv_line_fault(t, t->names_line, expected, t->column[0]);
        }
    return RG_GOOD;
}

int rg_tsv_fault(const rg_tsv *t, int row, const char *column, const char *expected) {
    return rg_tsv_fault_at(t, row, column_of(t, column, strlen(column)), expected);
}

int rg_tsv_fault_at(const rg_tsv *t, int row, int column, const char *expected) {
    RG_FREED char *what = rg_print("%s in column %.60s", expected, t->column[column]);
    return rg_tsv_line_fault(t, t->row_line[row], what, t->cell[row * t->n_columns + column]);
}

// ---- writing -------------------------------------------------------------------------------------------------------------

// Prints one directive, of up to 31 characters of flags, width and precision; a * takes its number from the list.
void rg_tsv_print(FILE *f, const char *format, ...) {
    va_list list;
    va_start(list, format);
    for (const char *at = format; *at; at++) {
        char one[64] = "%";
        size_t n = 1;
        if (*at != '%') {
            putc(*at, f);
            continue;
        }
        for (at++; n < 32 && strchr("-+ #0123456789.*l", *at); at++)
            if (*at == '*')
                n += (size_t)snprintf(one + n, 16, "%d", va_arg(list, int));
            else
                one[n++] = *at;
        one[n] = *at;
        const bool wide = one[n - 1] == 'l';
        switch (*at) {
        case '%': putc('%', f); break;
        case 'c': fprintf(f, one, va_arg(list, int)); break;
        case 's': rg_put_text(f, va_arg(list, const char *), one[1] == '.' ? atoi(one + 2) : -1); break;
        case 'd': wide ? fprintf(f, one, va_arg(list, long long)) : fprintf(f, one, va_arg(list, int)); break;
        case 'u': wide ? fprintf(f, one, va_arg(list, unsigned long long)) : fprintf(f, one, va_arg(list, unsigned)); break;
        case 'e':
        case 'f':
        case 'g': fprintf(f, one, va_arg(list, double)); break;
        default: abort(); // an error of the program, not of its data: see tsv.h
        }
    }
    va_end(list);
}

void rg_tsv_put(FILE *f, const char *format, double value, char end) {
    if (isfinite(value))
        fprintf(f, format, value);
    else
        putc('-', f);
    putc(end, f);
}
