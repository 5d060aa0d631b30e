// SPDX-License-Identifier: MIT
// out.c: the growing result file. F.tsv.part gets its head and then whole rows, each in one write(2), so that a killed run
// loses only the row in progress; at the end it is renamed to F.tsv. --resume continues an existing file.
#include "timing.h"

#include "../compare/validate.h"

#include <sys/stat.h>

static bool exists(const char *path) { return access(path, F_OK) == 0; }

// A finished file becomes an unfinished one again; it stays in place until the new one is whole.
static int copy_file(const char *from, const char *to) {
    rg_file target;
    const int code = rg_file_open(&target, to);
    return code ? code : rg_file_end(&target, rg_file_append(target.stream, from));
}

// Removes the unfinished line of a killed run.
static int drop_cut_line(const char *path) {
    FILE *f = fopen(path, "rb");
    long at = 0, keep = 0;
    for (int c; f && (c = getc(f)) != EOF;)
        if (at++, c == '\n') keep = at;
    if (f) fclose(f);
    return f && truncate(path, keep) == 0
        ? RG_GOOD
        : rg_fail(RG_USAGE, "%s: cannot drop its unfinished last line: %s", path, strerror(errno));
}

static void append(rg_out *out, rg_row row) {
    out->row = rg_grow(out->row, out->n_rows, sizeof *out->row);
    out->row[out->n_rows++] = row;
}

// Whether a row is kept. Rows of a kernel that changed, that did not pass or that other processes prevented are measured again.
static bool stands(const rg_row *row) {
    const char *status = row->cell[RG_C_STATUS];
    const bool skipped = !strcmp(status, "SKIP");
    return rg_row_is_probe(row) || rg_row_is_self_test(row) ||
        (skipped ? rg_cell_word(row, RG_C_STOP) != RG_STOP_BUSY : !strcmp(status, "PASS") && !rg_row_is_stale(row));
}

int rg_out_begin(rg_out *out, const char *path, bool resume) {
    *out = (rg_out){0};
    if (!path) return RG_GOOD;
    out->path = rg_print("%s", path);
    out->part = rg_print("%s.part", path);
    int code = rg_file_can_write(path); // before a minute of verifying
    if (code) return code;
    if (!resume)
        return exists(out->part)
            ? rg_fail(RG_USAGE, "%s: left by a run that did not end: go on with --resume, or remove it", out->part)
            : RG_GOOD;
    const char *source = exists(out->part) ? out->part : path;
    struct stat found;
    if (stat(source, &found) || !found.st_size) return RG_GOOD; // no row was finished: this is a first run
    rg_file_continues(source);
    code = rg_result_read(source, &out->old, &out->cut);
    code = code ? code : rg_validate(&out->old);
    for (int i = 0; i < out->old.n_rows; i++)
        if (stands(&out->old.row[i])) {
            append(out, out->old.row[i]);
            out->old.row[i] = (rg_row){0};
        }
    return code;
}

static int start(rg_out *out, const rg_head *head, const rg_head *merged, bool rewritten) {
    int code = out->old.n_head && !exists(out->part) ? copy_file(out->path, out->part) : RG_GOOD;
    if (!code && out->cut) code = drop_cut_line(out->part);
    if (code) return code;
    out->stream = rg_result_open(out->part, out->old.n_head ? "a" : "w");
    if (!out->stream) return rg_fail(RG_USAGE, "%s: cannot write here: %s", out->part, strerror(errno));
    if (!out->old.n_head)
        rg_result_write_head(out->stream, head->n, head->key, head->value);
    else if (rewritten)
        return rg_out_rewrite(out, merged);
    return ferror(out->stream) ? rg_fail(RG_USAGE, "%s: not written: %s", out->part, strerror(errno)) : RG_GOOD;
}

static bool is_one_of(const char *key, const char *const *list, int n) {
    for (int k = 0; k < n; k++)
        if (!strcmp(key, list[k])) return true;
    return false;
}

static bool has_jobs(const rg_out *out) {
    for (int i = 0; i < out->n_rows; i++)
        if (!strcmp(out->row[i].cell[RG_C_SCOPE], "job")) return true;
    return false;
}

// The head of a continued file: its own, plus new inputs and sources, plus another revision's lines about itself and about
// changed kernels, whose rows were dropped. A job is of the whole program, so that its rows allow no other revision.
int rg_out_start(rg_out *out, const rg_head *head) {
    static const char *const alike[] = {"format", "machine", "seed"}, *const newer[] = {"suite", "revision", "revision_date"};
    if (!out->path) return RG_GOOD;
    RG_ENDS(rg_head_free) rg_head merged = {0};
    bool rewritten = out->n_rows < out->old.n_rows || !exists(out->part); // a whole file's last line describes its old rows
    int code = RG_GOOD;
    const char *then = rg_result_head(&out->old, "revision");
    for (int i = 0; i < out->old.n_head; i++) {
        const char *key = out->old.head_key[i], *now = out->old.head_value[i];
        for (int k = 0; k < head->n; k++)
            if (!strcmp(head->key[k], key) && (!strncmp(key, "source ", 7) || is_one_of(key, newer, RG_COUNT(newer))))
                now = head->value[k];
        rewritten |= now != out->old.head_value[i] && strcmp(now, out->old.head_value[i]);
        rg_head_add(&merged, key, "%s", now);
    }
    for (int i = 0; i < head->n && out->old.n_head && !code; i++) {
        const char *key = head->key[i], *had = rg_result_head(&out->old, key), *now = head->value[i];
        const bool input = !strncmp(key, "input ", 6), grows = input || !strncmp(key, "source ", 7);
        if (!had && grows) {
            rg_head_add(&merged, key, "%s", now);
            rewritten = true;
        }
        had = had ? had : grows ? now : "";
        if ((input || is_one_of(key, alike, RG_COUNT(alike)) || (!strcmp(key, "revision") && has_jobs(out))) &&
            strcmp(had, now))
            code =
                rg_fail(RG_USAGE, "%s: cannot go on with it: its %s is \"%s\", now it is \"%s\"", out->old.path, key, had, now);
        else if (!strcmp(key, "revision") && strcmp(had, now) && out->n_rows)
            rg_head_add(
                &merged, "rows_before", "%d of revision %s, whose kernels are the same", out->n_rows, then ? then : "unknown");
    }
    return code ? code : start(out, head, &merged, rewritten || merged.n > out->old.n_head);
}

const rg_row *rg_out_find(const rg_out *out, const rg_row *key) {
    for (int i = 0; i < out->n_rows; i++)
        if (rg_row_same(&out->row[i], key)) return &out->row[i];
    return NULL;
}

void rg_out_put(rg_out *out, rg_row row) {
    for (int i = 0; i < out->n_rows; i++)
        if (rg_row_same(&out->row[i], &row)) {
            rg_row_free(&out->row[i]);
            out->row[i] = row;
            return;
        }
    append(out, row);
}

int rg_out_rewrite(rg_out *out, const rg_head *head) {
    if (!out->stream) return RG_GOOD;
    rg_file file; // whole or not at all: a killed run keeps what was there
    int code = rg_file_open(&file, out->part);
    if (code) return code;
    rg_result_write_head(file.stream, head->n, head->key, head->value);
    for (int i = 0; i < out->n_rows; i++) rg_result_write_row(file.stream, &out->row[i]);
    code = rg_file_commit(&file);
    fclose(out->stream);
    out->stream = code ? NULL : rg_result_open(out->part, "a");
    return code || out->stream ? code : rg_fail(RG_USAGE, "%s: cannot write here: %s", out->part, strerror(errno));
}

int rg_out_add(rg_out *out, rg_row row) {
    append(out, row);
    if (!out->stream) return RG_GOOD;
    errno = 0;
    rg_result_write_row(out->stream, &row);
    return ferror(out->stream) ? rg_fail(RG_USAGE, "%s: not written: %s", out->part, strerror(errno)) : RG_GOOD;
}

int rg_out_commit(rg_out *out) {
    if (!out->stream) return RG_GOOD;
    const int code = rg_result_seal(out->stream, out->part);
    if (code) return code;
    bool whole = fflush(out->stream) == 0 && fsync(fileno(out->stream)) == 0;
    whole = fclose(out->stream) == 0 && whole;
    out->stream = NULL;
    whole = whole && rename(out->part, out->path) == 0;
    return whole ? RG_GOOD : rg_fail(RG_USAGE, "%s: not written: %s", out->path, strerror(errno));
}

void rg_out_free(rg_out *out) {
    if (out->stream) fclose(out->stream);
    for (int i = 0; i < out->n_rows; i++) rg_row_free(&out->row[i]);
    free(out->row);
    rg_result_free(&out->old);
    free(out->path);
    free(out->part);
    *out = (rg_out){0};
}
