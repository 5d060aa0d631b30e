// SPDX-License-Identifier: MIT
#include "star.h"
#include "../../impl/base/malformed.h"

int rg_star_fault(const char *path, int64_t line, const char *format, ...) {
    char text[400];
    RG_FORMAT(text, sizeof text, format);
    return rg_fail(RG_USAGE, "%s: line %" PRId64 ": %s", path, line, text);
}

// ---- one line into values ------------------------------------------------------------------------------------------------

typedef struct words {
    char **word;
    bool *quoted;
    int n, room;
} words;

static const char *excerpt(const char *text) { return rg_quote_bytes(text, (int)strnlen(text, 40)); }

static void add_word(words *w, char *word, bool quoted) {
    if (w->n == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->word = realloc(w->word, (size_t)w->room * sizeof *w->word);
        w->quoted = realloc(w->quoted, (size_t)w->room * sizeof *w->quoted);
        if (!w->word || !w->quoted) rg_end(RG_LACKS, "out of memory for a row of a STAR file");
    }
    w->word[w->n] = word;
    w->quoted[w->n++] = quoted;
}

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Splits the line in place. False if a quote is not closed: it ends only before a blank or the line's end.
static bool cut(char *at, words *w) {
    w->n = 0;
    for (;;) {
        while (blank(*at)) at++;
        if (!*at || *at == '#') return true;
        char quote = *at == '\'' || *at == '"' ? *at : 0;
        char *begin = quote ? ++at : at;
        while (*at && (quote ? !(*at == quote && (!at[1] || blank(at[1]))) : !blank(*at))) at++;
        if (quote && !*at) return false;
        add_word(w, begin, quote != 0);
        if (!*at) return true;
        *at++ = '\0';
    }
}

// ---- the file ------------------------------------------------------------------------------------------------------------

typedef enum { OUTSIDE, IN_BLOCK, IN_HEAD, IN_ROWS, IN_LIST } place;

typedef struct reading {
    rg_star *star;
    place at;
    int64_t line;
} reading;

static int fault_at(const reading *r, const char *expected, const char *found) {
    return rg_star_fault(r->star->path, r->line, "expected %s, found %s", expected, found);
}

static rg_star_table *last(const reading *r) { return &r->star->table[r->star->n_tables - 1]; }

static int begin_block(reading *r, const char *name) {
    rg_star *s = r->star;
    if (r->at == IN_HEAD) return fault_at(r, "a row of values after the names of a loop", "another block");
    s->table = rg_grow(s->table, s->n_tables, sizeof *s->table);
    s->table[s->n_tables++] = (rg_star_table){.name = name, .line = r->line};
    r->at = IN_BLOCK;
    return RG_GOOD;
}

static int add_column(reading *r, const char *name) {
    rg_star_table *t = last(r);
    if (!*name) return fault_at(r, "a name after the underscore", "\"_\"");
    if (rg_star_column(t, name) >= 0) return fault_at(r, "each name once in a block", excerpt(name));
    t->column = rg_grow(t->column, t->n_columns, sizeof *t->column);
    t->column[t->n_columns++] = name;
    return RG_GOOD;
}

static int parse_name(reading *r, const words *w) {
    rg_star_table *t = last(r);
    if (r->at == IN_ROWS) return fault_at(r, "a row of values or another block", excerpt(w->word[0]));
    int code = add_column(r, w->word[0] + 1);
    if (code != RG_GOOD) return code;
    if (r->at == IN_HEAD) return w->n == 1 ? RG_GOOD : fault_at(r, "one name of a loop on a line", excerpt(w->word[1]));
    if (w->n != 2)
        return rg_star_fault(
            r->star->path, r->line, "expected one value after _%s, found %d", t->column[t->n_columns - 1], w->n - 1);
    if (!t->n_rows) {
        t->n_rows = 1;
        t->row_line = rg_grow(NULL, 0, sizeof *t->row_line);
        t->row_line[0] = r->line;
    }
    t->cell = rg_grow(t->cell, t->n_columns - 1, sizeof *t->cell);
    t->cell[t->n_columns - 1] = w->word[1];
    r->at = IN_LIST;
    return RG_GOOD;
}

static int parse_row(reading *r, const words *w) {
    if (r->at == IN_BLOCK || r->at == IN_LIST)
        return fault_at(r, "loop_ or a name that begins with an underscore", excerpt(w->word[0]));
    rg_star_table *t = last(r);
    if (!t->n_columns) return fault_at(r, "the names of the loop", excerpt(w->word[0]));
    if (w->n != t->n_columns)
        return rg_star_fault(r->star->path, r->line, "expected %d values, one for each name of the loop, found %d%s",
            t->n_columns, w->n, w->n > t->n_columns ? "; a value that holds blanks stands in quotes" : "");
    t->cell = rg_grow(t->cell, t->n_rows, (size_t)t->n_columns * sizeof *t->cell);
    t->row_line = rg_grow(t->row_line, t->n_rows, sizeof *t->row_line);
    memcpy(t->cell + t->n_rows * t->n_columns, w->word, (size_t)w->n * sizeof *w->word);
    t->row_line[t->n_rows++] = r->line;
    r->at = IN_ROWS;
    return RG_GOOD;
}

static int parse_line(reading *r, char *line, words *w) {
    if (line[0] == ';')
        return fault_at(r, "values on one line each row", "text between semicolons, which RELION does not write");
    if (!cut(line, w)) return fault_at(r, "a closing quote followed by a blank or the end of the line", "none");
    if (!w->n) return RG_GOOD;
    const char *first = w->word[0];
    if (!w->quoted[0] && strncmp(first, "data_", 5) == 0)
        return w->n == 1 ? begin_block(r, first + 5) : fault_at(r, "nothing after data_NAME", excerpt(w->word[1]));
    if (r->at == OUTSIDE) return fault_at(r, "data_NAME at the beginning of a STAR file", excerpt(first));
    if (!w->quoted[0] && strcmp(first, "loop_") == 0) {
        if (w->n != 1 || r->at != IN_BLOCK)
            return fault_at(r, "loop_ alone, once, at the beginning of a block", w->n != 1 ? excerpt(w->word[1]) : "another");
        last(r)->is_loop = true;
        r->at = IN_HEAD;
        return RG_GOOD;
    }
    return !w->quoted[0] && first[0] == '_' ? parse_name(r, w) : parse_row(r, w);
}

static int parse(rg_star *star) {
    reading r = {.star = star};
    words w = {0};
    int code = RG_GOOD;
    char *rest = star->text;
    while (code == RG_GOOD && rest && *rest) {
        char *line = strsep(&rest, "\n");
        r.line++;
        code = parse_line(&r, line, &w);
        // In a file cut off within the last value of a row, the row has all its values, but one is wrong. RELION ends every
        // line; users whose own tools do not can add a newline, but a cut-off file must be reported.
        if (code == RG_GOOD && !rest && w.n)
            code = rg_star_fault(star->path, r.line,
                "expected a newline at the end of the line, found the end of the file; was "
                "it cut off? If it is whole: echo >> FILE");
    }
    free(w.word);
    free(w.quoted);
    if (code == RG_GOOD && r.at == OUTSIDE)
        code = rg_star_fault(star->path, r.line ? r.line : 1, "expected data_NAME, found the end of the file: no STAR file");
    if (code == RG_GOOD && (r.at == IN_HEAD || r.at == IN_BLOCK))
        code = rg_star_fault(star->path, r.line, "expected %s of data_%s, found the end of the file",
            r.at == IN_HEAD ? "rows" : "names", last(&r)->name);
    return code;
}

int rg_star_read(const char *path, rg_star *star) {
    *star = (rg_star){.path = rg_print("%s", path)};
    int64_t bytes;
    int code = rg_input_text(path, INT64_MAX, &star->text, &bytes);
    if (code == RG_GOOD) code = parse(star);
    if (code != RG_GOOD) rg_star_free(star);
    return code;
}

void rg_star_free(rg_star *star) {
    for (int i = 0; i < star->n_tables; i++) {
        free(star->table[i].column);
        free(star->table[i].cell);
        free(star->table[i].row_line);
    }
    free(star->table);
    free(star->text);
    free(star->path);
    *star = (rg_star){0};
}

// ---- looking up ----------------------------------------------------------------------------------------------------------

const rg_star_table *rg_star_find(const rg_star *star, const char *name) {
    for (int i = 0; i < star->n_tables; i++)
        if (strcmp(star->table[i].name, name) == 0) return &star->table[i];
    return NULL;
}

int rg_star_column(const rg_star_table *t, const char *name) {
    for (int i = 0; i < t->n_columns; i++)
        if (strcmp(t->column[i], name) == 0) return i;
    return -1;
}

const char *rg_star_cell(const rg_star_table *t, int64_t row, int column) { return t->cell[row * t->n_columns + column]; }

int rg_star_real(const rg_star *star, const rg_star_table *t, int64_t row, int column, double *value) {
    const char *text = rg_star_cell(t, row, column);
    char *end;
    if (rg_decimal(text, &end, value) && !*end) return RG_GOOD;
    return rg_star_fault(
        star->path, t->row_line[row], "expected a finite number for _%s, found %s", t->column[column], excerpt(text));
}

int rg_star_int(
    const rg_star *star, const rg_star_table *t, int64_t row, int column, int64_t low, int64_t high, int64_t *value) {
    double real;
    int code = rg_star_real(star, t, row, column, &real);
    if (code != RG_GOOD) return code;
    if (!(real >= (double)low && real <= (double)high) || real != floor(real))
        return rg_star_fault(star->path, t->row_line[row],
            "expected a whole number from %" PRId64 " to %" PRId64 " for _%s, found %s", low, high, t->column[column],
            excerpt(rg_star_cell(t, row, column)));
    *value = (int64_t)real;
    return RG_GOOD;
}

// ---- writing -------------------------------------------------------------------------------------------------------------

static void write_name(FILE *f, const char *name, bool is_31) {
    fprintf(f, "\n%sdata_%s\n\n", is_31 ? "# version 30001\n\n" : "", name);
}

static void write_head(FILE *f, const char *name, bool is_31, int n_columns, const char *const *column) {
    write_name(f, name, is_31);
    fputs("loop_\n", f);
    for (int i = 0; i < n_columns; i++) fprintf(f, "_%s #%d\n", column[i], i + 1);
}

void rg_star_write_head(FILE *f, const char *name, int n_columns, const char *const *column) {
    write_head(f, name, true, n_columns, column);
}

// The quote that a value needs; 0: none, -1: it cannot be quoted.
static int quote_for(const char *value) {
    if (strpbrk(value, "\r\n")) return -1;
    bool plain = *value && !strpbrk(value, " \t\v\f") && !strchr("#'\"_;", *value) && strncmp(value, "data_", 5) != 0 &&
        strcmp(value, "loop_") != 0;
    if (plain) return 0;
    for (const char *quote = "\"'"; *quote; quote++) {
        bool holds = true;
        for (const char *at = value; holds && (at = strchr(at, *quote)); at++) holds = at[1] && !blank(at[1]);
        if (holds) return *quote;
    }
    return -1;
}

bool rg_star_write_row(FILE *f, int n_columns, const char *const *cell) {
    for (int i = 0; i < n_columns; i++)
        if (quote_for(cell[i]) < 0) return false;
    for (int i = 0; i < n_columns; i++) {
        int quote = quote_for(cell[i]);
        fputs(i ? " " : "", f);
        if (quote)
            fprintf(f, "%c%s%c", quote, cell[i], quote);
        else
            fputs(cell[i], f);
    }
    putc('\n', f);
    return true;
}

static bool write_list(FILE *f, const rg_star_table *t, bool is_31) {
    write_name(f, t->name, is_31);
    bool written = true;
    for (int i = 0; i < t->n_columns && written; i++) {
        fprintf(f, "_%s ", t->column[i]);
        written = rg_star_write_row(f, 1, &t->cell[i]);
    }
    return written;
}

int rg_star_write(const char *path, const rg_star *star) {
    rg_file file;
    int code = rg_file_open(&file, path);
    const bool is_31 = rg_star_find(star, "optics"); // RELION does not convert rows of 3.0 below version 3.1
    for (int i = 0; i < star->n_tables && code == RG_GOOD; i++) {
        const rg_star_table *t = &star->table[i];
        bool written = true;
        if (t->is_loop)
            write_head(file.stream, t->name, is_31, t->n_columns, t->column);
        else
            written = write_list(file.stream, t, is_31);
        for (int64_t row = 0; t->is_loop && row < t->n_rows && written; row++)
            written = rg_star_write_row(file.stream, t->n_columns, t->cell + row * t->n_columns);
        if (written) continue;
        code = rg_fail(RG_USAGE, "%s: a value of data_%s has quotes that STAR cannot hold", path, t->name);
        rg_file_abandon(&file);
    }
    return code == RG_GOOD ? rg_file_commit(&file) : code;
}
