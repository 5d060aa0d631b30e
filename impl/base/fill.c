// SPDX-License-Identifier: MIT
#include "fill.h"

// ---- data ------------------------------------------------------------------------------------------------------------------

typedef struct entry {
    const char *name;
    char *text; // NULL: the entry is a list
    int n;
    rg_data **item;
} entry;
struct rg_data {
    const rg_data *around;
    int n;
    entry *entry;
};

rg_data *rg_data_new(void) { return rg_alloc(sizeof(rg_data)); }

void rg_data_free(rg_data *d) {
    for (int i = 0; i < d->n; i++) {
        for (int k = 0; k < d->entry[i].n; k++) rg_data_free(d->entry[i].item[k]);
        free(d->entry[i].item);
        free(d->entry[i].text);
    }
    free(d->entry);
    free(d);
}

static entry *own_entry(const rg_data *d, const char *name, size_t length) {
    for (int i = 0; i < d->n; i++)
        if (strlen(d->entry[i].name) == length && !strncmp(d->entry[i].name, name, length)) return &d->entry[i];
    return NULL;
}

static entry *new_entry(rg_data *d, const char *name) {
    entry *e = own_entry(d, name, strlen(name));
    if (e) return e;
    d->entry = rg_grow(d->entry, d->n, sizeof *d->entry);
    d->entry[d->n] = (entry){.name = name};
    return &d->entry[d->n++];
}

void rg_set(rg_data *d, const char *name, const char *format, ...) {
    entry *e = new_entry(d, name);
    va_list list;
    free(e->text);
    va_start(list, format);
    e->text = rg_print_list(format, list);
    va_end(list);
}

rg_data *rg_add(rg_data *d, const char *list) {
    entry *e = new_entry(d, list);
    e->item = rg_grow(e->item, e->n, sizeof(rg_data *));
    rg_data *item = rg_data_new();
    item->around = d;
    return e->item[e->n++] = item;
}

void rg_add_text(rg_data *d, const char *list, const char *text) { rg_set(rg_add(d, list), "text", "%s", text); }

static const entry *find(const rg_data *d, const char *name, size_t length) {
    const entry *e = NULL;
    for (; d && !e; d = d->around) e = own_entry(d, name, length);
    return e;
}

bool rg_has(const rg_data *d, const char *name) {
    const entry *e = find(d, name, strlen(name));
    return e && (e->n || (e->text && *e->text));
}

rg_data *rg_add_table(rg_data *d, const char *caption, const char *align, const char *const *column, int n) {
    rg_data *table = rg_add(d, "tables");
    rg_set(table, "caption", "%s", caption);
    rg_set(table, "align", "%s", align);
    for (int i = 0; i < n; i++) {
        rg_data *c = rg_add(table, "columns");
        rg_set(c, "text", "%s", column[i]);
        rg_set(c, "class", "%c", align[i]);
        rg_set(c, "rule", "%s", align[i] == 'r' ? "---:" : align[i] == 'c' ? ":---:" : ":---");
    }
    return table;
}

void rg_add_row(rg_data *table, const char *const *cell, int n) {
    rg_data *row = rg_add(table, "rows");
    for (int i = 0; i < n; i++) {
        rg_data *c = rg_add(row, "cells");
        rg_set(c, "text", "%s", cell[i]);
        rg_set(c, "class", "%c", find(table, "align", 5)->text[i]);
    }
}

// ---- filling ---------------------------------------------------------------------------------------------------------------

typedef struct filler {
    FILE *out;
    bool markdown;
    int code; // RG_GOOD, or an error that was printed
} filler;

static void fill(filler *f, const char *from, const char *end, const rg_data *d);

static char *text_of(filler *f, const char *name, size_t length) {
    char *shared = rg_print("plots/%.*s", (int)length, name), *path = rg_share_path(shared), *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    const int code = rg_file_append(to, path);
    f->code = f->code ? f->code : code;
    fclose(to);
    free(shared);
    free(path);
    return text;
}

static void put_template(filler *f, const char *name, size_t length, const rg_data *d) {
    RG_FREED char *text = text_of(f, name, length);
    if (f->code == RG_GOOD) fill(f, text, text + strlen(text), d);
}

static void put_value(filler *f, char kind, const char *text) {
    if (kind == '@')
        rg_html_link(f->out, text);
    else if (kind == '6')
        rg_html_base64(f->out, text);
    else if (f->markdown)
        rg_markdown_text(f->out, text);
    else
        (kind == '\'' ? rg_html_text : rg_html_rich)(f->out, text);
}

// The {{/name}} that ends the block starting at `from`; blocks of the same name may be nested.
static const char *end_of_block(const char *from, const char *end, const char *name, size_t length) {
    int depth = 1;
    for (const char *at = from; (at = memmem(at, (size_t)(end - at), "{{", 2)); at += 2)
        if (!strncmp(at + 3, name, length) && !strncmp(at + 3 + length, "}}", 2)) {
            depth += at[2] == '#' || at[2] == '^' ? 1 : at[2] == '/' ? -1 : 0;
            if (!depth) return at;
        }
    return end;
}

// If the slot is alone on its line, the start of the next line; else `after`.
static const char *past_line(const char *begin, const char *slot, const char *after, const char *end) {
    while (slot > begin && (slot[-1] == ' ' || slot[-1] == '\t')) slot--;
    const char *rest = after + strspn(after, " \t");
    return (slot == begin || slot[-1] == '\n') && rest < end && *rest == '\n' ? rest + 1 : after;
}

static void put_block(filler *f, const char *from, const char *end, const entry *e, bool none, const rg_data *d) {
    const bool text = e && e->text && *e->text;
    if (none && !text && (!e || !e->n)) fill(f, from, end, d);
    for (int i = 0; !none && e && i < e->n; i++) fill(f, from, end, e->item[i]);
    if (!none && text) fill(f, from, end, d);
}

static void fill(filler *f, const char *from, const char *end, const rg_data *d) {
    const char *begin = from;
    for (const char *slot; f->code == RG_GOOD && (slot = memmem(from, (size_t)(end - from), "{{", 2));) {
        const char *name = slot + 2, *close = memmem(name, (size_t)(end - name), "}}", 2);
        if (!close) break;
        const char kind = strchr("'@6#^></", *name) ? *name : ' ', *after = close + 2;
        name += kind == '6' ? 3 : kind != ' ';
        const size_t length = (size_t)(close - name);
        const bool alone = strchr("#^></", kind), own_line = alone && past_line(begin, slot, after, end) != after;
        size_t before = (size_t)(slot - from);
        while (own_line && before && (from[before - 1] == ' ' || from[before - 1] == '\t')) before--;
        fwrite(from, 1, before, f->out);
        from = own_line ? past_line(begin, slot, after, end) : after;
        const entry *e = find(d, name, length);
        if (kind == '#' || kind == '^') {
            const char *stop = end_of_block(from, end, name, length), *next = stop + (stop < end ? length + 5 : 0);
            put_block(f, from, stop, e, kind == '^', d);
            from = past_line(begin, stop, next, end);
        } else if (kind == '>') {
            put_template(f, name, length, d);
        } else if (kind == '<') {
            RG_FREED char *text = text_of(f, name, length);
            fputs(text, f->out);
        } else if (e && e->text) {
            put_value(f, kind, e->text);
        }
    }
    fwrite(from, 1, (size_t)(end - from), f->out);
}

// Adds the program's version and revision to every page.
int rg_fill(FILE *out, const char *template, rg_data *d) {
    rg_set(d, "version", "%s", RG_VERSION);
    rg_set(d, "revision", "%s", rg_revision());
    filler f = {.out = out, .markdown = rg_ends_with(template, ".md")};
    put_template(&f, template, strlen(template), d);
    return f.code;
}

int rg_fill_file(const char *path, const char *template, rg_data *d) {
    rg_file file;
    const int code = rg_file_open(&file, path);
    return code ? code : rg_file_end(&file, rg_fill(file.stream, template, d));
}
