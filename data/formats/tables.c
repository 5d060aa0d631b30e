// SPDX-License-Identifier: MIT
#include "tables.h"

#include "../../impl/base/core.h"

#include <ctype.h>
#include <sys/types.h>

static const char mark[] = "# table: ";
// A name goes into names of files and into claims.
static bool is_name(const char *name) {
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.-", *c)) return false;
    return *name && strlen(name) < 48;
}

int rg_tables_read(const char *path, rg_tables *t) {
    *t = (rg_tables){0};
    FILE *f = fopen(path, "rb"), *body = NULL;
    if (!f) return rg_fail(RG_USAGE, "%s: %s", path, strerror(errno));
    char *line = NULL, *text = NULL, name[48] = "";
    size_t room = 0, bytes = 0;
    int code = RG_GOOD;
    for (bool more = true; more && !code;) {
        const ssize_t n = getline(&line, &room, f);
        more = n >= 0;
        const bool begins = more && !strncmp(line, mark, strlen(mark));
        if (body && (begins || !more)) {
            fclose(body);
            rg_tables_put(t, name, text);
            free(text);
            body = NULL;
        }
        if (begins) {
            line[strcspn(line, "\n")] = '\0';
            const char *found = line + strlen(mark);
            if (!is_name(found) || rg_tables_find(t, found))
                code = rg_fail(RG_USAGE, "%s: expected tables of names of their own, of letters, digits and _.-, found \"%s\"",
                    path, found);
            else
                body = open_memstream(&text, &bytes);
            snprintf(name, sizeof name, "%s", found);
        } else if (more && !body) {
            code = rg_fail(RG_USAGE, "%s: line 1: expected \"%sNAME\", found \"%.40s\"", path, mark, line);
        } else if (more) {
            fwrite(line, 1, (size_t)n, body);
        }
    }
    free(line);
    fclose(f);
    if (code) rg_tables_free(t);
    return code;
}

int rg_tables_write(const char *path, const rg_tables *t) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code) return code;
    for (int i = 0; i < t->n; i++) fprintf(file.stream, "%s%s\n%s", mark, t->table[i].name, t->table[i].text);
    return rg_file_commit(&file);
}

const char *rg_tables_find(const rg_tables *t, const char *name) {
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->table[i].name, name)) return t->table[i].text;
    return NULL;
}

void rg_tables_put(rg_tables *t, const char *name, const char *text) {
    const size_t n = strlen(text);
    char *kept = rg_print("%s%s", text, n && text[n - 1] == '\n' ? "" : "\n");
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->table[i].name, name)) {
            free(t->table[i].text);
            t->table[i].text = kept;
            return;
        }
    t->table = rg_grow(t->table, t->n, sizeof *t->table);
    t->table[t->n++] = (struct rg_small_table){rg_print("%s", name), kept};
}

void rg_tables_free(rg_tables *t) {
    for (int i = 0; i < t->n; i++) {
        free(t->table[i].name);
        free(t->table[i].text);
    }
    free(t->table);
    *t = (rg_tables){0};
}
