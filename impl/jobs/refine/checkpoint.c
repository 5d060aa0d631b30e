// SPDX-License-Identifier: MIT
// checkpoint.c: OUT.part: the command and its inputs, then for each batch a line per finished particle, with its row and all
// its results to 17 digits, and a line with the batch's sums. A batch without that last line is ignored.
#include "refine.h"
#include "../../base/hash.h"
#include "../../base/malformed.h"
#include "../../base/tsv.h"

#include <sys/stat.h>

enum { VALUES = FR_RESULTS, COUNTS = 6 };
static const char columns[] = "row\trot\ttilt\tpsi\torigin_x\torigin_y\tdefocus_u\tdefocus_v\tscore\tsigma\tmagnification\n";

// ---- sums ----------------------------------------------------------------------------------------------------------------

void fr_sums_make(fr_sums *s, int64_t side) {
    *s = (fr_sums){.rings = fr_rings(side), .least = INT64_MAX, .ring = rg_alloc((size_t)fr_rings(side) * sizeof *s->ring)};
}

static void add_sums(fr_sums *to, const fr_sums *s) {
    to->particles += s->particles;
    to->refined += s->refined;
    to->evaluations += s->evaluations;
    to->least = s->least < to->least ? s->least : to->least;
    to->most = s->most > to->most ? s->most : to->most;
    to->coefficient += s->coefficient;
    for (int64_t k = 0; k < s->rings; k++) to->ring[k] += s->ring[k];
}

void fr_sums_free(fr_sums *s) {
    free(s->ring);
    *s = (fr_sums){0};
}

// ---- a row's values --------------------------------------------------------------------------------------------------------

static void values_of(const fr_files *f, int64_t i, double v[VALUES]) {
    const rg_particle *q = &f->particles.row[i];
    const double all[VALUES] = {q->rot_deg, q->tilt_deg, q->psi_deg, q->origin_x_px, q->origin_y_px, q->ctf.defocus_u_A,
        q->ctf.defocus_v_A, f->score[i], f->sigma[i], f->magnification[i]};
    memcpy(v, all, sizeof all);
}

static void restore(fr_files *f, int64_t i, const double v[VALUES]) {
    rg_particle *q = &f->particles.row[i];
    double *const to[VALUES] = {&q->rot_deg, &q->tilt_deg, &q->psi_deg, &q->origin_x_px, &q->origin_y_px, &q->ctf.defocus_u_A,
        &q->ctf.defocus_v_A, &f->score[i], &f->sigma[i], &f->magnification[i]};
    for (int k = 0; k < VALUES; k++) *to[k] = v[k];
}

// ---- the file's head and inputs -------------------------------------------------------------------------------------------

// Hashes the particles' file and the reference whole; stacks, which may exceed the memory, by size and modification time.
static int hash_inputs(const fr_files *f, const char *reference, int threads, uint64_t *value) {
    enum { WHOLE = 2, OF_STACK = 3 };
    rg_hashed whole[WHOLE] = {{.path = f->input}, {.path = reference}};
    const size_t n = (size_t)(WHOLE * 2 + f->particles.n_stacks * OF_STACK);
    int64_t *of = rg_alloc(n * sizeof *of), *at = of;
    const char *bad = NULL;
    struct stat facts;
    for (int i = 0; i < WHOLE; i++) whole[i].bytes = stat(whole[i].path, &facts) == 0 ? facts.st_size : 0;
    rg_hash_files(whole, WHOLE, threads);
    for (int i = 0; i < WHOLE; i++) {
        bad = whole[i].unread ? whole[i].path : bad;
        *at++ = whole[i].bytes;
        *at++ = (int64_t)whole[i].hash;
    }
    for (int i = 0; i < f->particles.n_stacks && !bad; i++) {
        bad = stat(f->particles.stack[i].path, &facts) != 0 ? f->particles.stack[i].path : NULL;
        *at++ = facts.st_size;
        *at++ = facts.st_mtim.tv_sec;
        *at++ = facts.st_mtim.tv_nsec;
    }
    *value = rg_hash(of, n * sizeof *of);
    free(of);
    return bad ? rg_fail(RG_USAGE, "%s: cannot be read", bad) : RG_GOOD;
}

// The lines above the rows. The command as it was typed, without --resume.
static int make_head(const rg_given *given, const fr_files *f, const char *reference, char **head) {
    static const char option[] = " --resume";
    RG_FREED char *command = rg_print("%s", given->line);
    for (char *word = command; (word = strstr(word, option));)
        if (word[strlen(option)] == ' ' || !word[strlen(option)])
            memmove(word, word + strlen(option), strlen(word + strlen(option)) + 1);
        else
            word++;
    uint64_t inputs = 0;
    size_t bytes;
    int code = hash_inputs(f, reference, rg_given_threads(given), &inputs);
    FILE *text = open_memstream(head, &bytes);
    if (!text) rg_end(RG_LACKS, "out of memory");
    rg_tsv_print(text, "# regather: finished particles of a run, from which --resume goes on\n# command: %s\n", command);
    fprintf(text, "# inputs: %016" PRIx64 "\n%s", inputs, columns);
    fclose(text);
    return code;
}

// ---- reading -------------------------------------------------------------------------------------------------------------

static bool whole_number(char **at, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    const bool good = end > *at && !errno && (*end == '\t' || !*end);
    *at = end + (*end == '\t');
    return good;
}

static bool numbers(char *at, double v[VALUES]) {
    for (int k = 0; k < VALUES; k++) {
        char *end;
        v[k] = strtod(at, &end);
        if (end == at || !isfinite(v[k]) || *end != (k + 1 < VALUES ? '\t' : '\0')) return false;
        at = end + 1;
    }
    return true;
}

static bool sums(char *at, fr_sums *s) {
    int64_t *const count[COUNTS] = {&s->particles, &s->refined, &s->evaluations, &s->least, &s->most, &s->coefficient};
    bool good = true;
    for (int k = 0; k < COUNTS && good; k++) good = whole_number(&at, count[k]);
    for (int64_t k = 0; k < s->rings && good; k++) good = whole_number(&at, &s->ring[k]);
    // Values are bounded, so that sums over a file do not overflow; a batch has up to 1e8 particles.
    for (int k = 0; k < COUNTS && good; k++)
        good = k == 3 || (*count[k] <= (int64_t)1 << 62 >> 8 && *count[k] >= -((int64_t)1 << 62 >> 8));
    for (int64_t k = 0; k < s->rings && good; k++)
        good = s->ring[k] <= (int64_t)1 << 62 >> 8 && s->ring[k] >= -((int64_t)1 << 62 >> 8);
    return good && !*at;
}

// Reads one whole batch, rows and sums, and moves *at past it; NULL: none is left.
static int read_batch(fr_checkpoint *p, fr_files *f, char **at, int *line, bool *done) {
    static const char last[] = "batch\t";
    char *row = *at, *batch = row, *end;
    while (batch && strncmp(batch, last, strlen(last)) != 0) batch = (end = strchr(batch, '\n')) ? end + 1 : NULL;
    if (!batch || !(end = strchr(batch, '\n'))) {
        *at = NULL;
        return RG_GOOD;
    }
    const char *expected = NULL;
    int64_t n = 0, i;
    fr_sums s;
    fr_sums_make(&s, f->particles.side);
    for (char *next; row < batch && !expected; row = expected ? row : next, n++, ++*line) {
        double v[VALUES];
        char *cell = row;
        next = strchr(row, '\n') + 1;
        next[-1] = '\0';
        if (!whole_number(&cell, &i) || i < 0 || i >= f->particles.n || !numbers(cell, v))
            expected = "a row of this input and ten numbers";
        else if (done[i])
            expected = "every row once";
        else {
            restore(f, i, v);
            done[i] = true;
        }
    }
    *end = '\0';
    if (!expected) {
        ++*line;
        if (!sums(row + strlen(last), &s) || s.particles != n) expected = "the sums of the rows above";
    }
    int code = expected ? rg_fail(RG_USAGE, "%s: line %d: expected %s, found %s", p->path, *line, expected,
                              rg_quote_bytes(row, (int)strnlen(row, 60)))
                        : RG_GOOD;
    if (!expected) add_sums(&p->sums, &s);
    p->resumed += n;
    fr_sums_free(&s);
    *at = end + 1;
    return code;
}

static int count_lines(const char *text) {
    int n = 0;
    for (; (text = strchr(text, '\n')); text++) n++;
    return n;
}

// Reads the rest of an earlier run. *kept: bytes of it that stay, 0 if nothing was finished.
static int read_part(fr_checkpoint *p, fr_files *f, const char *head, bool resume, bool *done, int64_t *kept) {
    char *text;
    int64_t bytes;
    *kept = 0;
    rg_file_continues(p->path);
    int code = rg_input_text(p->path, INT64_MAX, &text, &bytes);
    if (code != RG_GOOD) return code;
    const char *ours = strchr(head, '\n'), *inputs = strstr(head, "\n# inputs: ");
    char *at = text + strlen(head);
    int line = count_lines(head);
    if (bytes && strncmp(text, head, (size_t)(ours - head)))
        code = rg_fail(RG_USAGE, "%s: expected finished particles of a run, found %s", p->path,
            rg_quote_bytes(text, (int)strnlen(text, 60)));
    else if (!strstr(text, "\nbatch\t"))
        ; // stopped before anything was finished: nothing to keep
    else if (!resume)
        code = rg_fail(RG_USAGE, "%s: left by a run that did not end: go on with --resume, or remove it", p->path);
    else if (strncmp(text, head, (size_t)(inputs - head)))
        code = rg_fail(RG_USAGE, "%s: left behind by another command than \"%.*s\"", p->path,
            (int)strcspn(strstr(head, "command: ") + 9, "\n"), strstr(head, "command: ") + 9);
    else if (strncmp(text, head, strlen(head)))
        code = rg_fail(RG_USAGE, "%s: particles, images or reference have changed since this run was stopped", p->path);
    else
        while (code == RG_GOOD && at) {
            *kept = at - text;
            code = read_batch(p, f, &at, &line, done);
        }
    free(text);
    return code;
}

// ---- writing -------------------------------------------------------------------------------------------------------------

// Writes a new file with its head at once; cuts an incomplete batch off an old one. After that the file only grows.
static int begin_part(fr_checkpoint *p, const char *head, int64_t kept) {
    rg_file file;
    int code = RG_GOOD;
    if (kept && truncate(p->path, kept) != 0)
        return rg_fail(RG_USAGE, "%s: cannot drop its unfinished last batch: %s", p->path, strerror(errno));
    if (!kept) {
        code = rg_file_open(&file, p->path);
        if (code == RG_GOOD) {
            fputs(head, file.stream);
            code = rg_file_commit(&file);
        }
    }
    if (code == RG_GOOD && !(p->file = fopen(p->path, "a")))
        code = rg_fail(RG_USAGE, "%s: cannot write here: %s", p->path, strerror(errno));
    return code;
}

// Writes a batch in one call. One with a value that is not finite is left out, as reading would reject it.
static void write_batch(fr_checkpoint *p, int64_t first, int64_t past, const fr_sums *s) {
    bool good = true;
    for (int64_t i = first; i < past; i++)
        for (int k = 0; k < VALUES; k++) good &= isfinite(p->result[i][k]) != 0;
    for (int64_t i = first; i < past && good; i++) {
        fprintf(p->file, "%" PRId64, p->row[i]);
        for (int k = 0; k < VALUES; k++) fprintf(p->file, "\t%.17g", p->result[i][k]);
        fputc('\n', p->file);
    }
    const int64_t count[COUNTS] = {s->particles, s->refined, s->evaluations, s->least, s->most, s->coefficient};
    for (int k = 0; k < COUNTS && good; k++) fprintf(p->file, "%s\t%" PRId64, k ? "" : "batch", count[k]);
    for (int64_t k = 0; k < s->rings && good; k++) fprintf(p->file, "\t%" PRId64, s->ring[k]);
    if (good) fputc('\n', p->file);
    p->kept += good ? past - first : 0;
    if ((fflush(p->file) != 0 || ferror(p->file)) && !p->warned) {
        rg_warn("%s: a write failed (%s); --resume will not find all particles", p->path, strerror(errno));
        p->warned = true;
    }
}

// Runs on rank 0, for batches of all processes. The note has the sums' numbers, then the rings.
static void arrived(void *of, int64_t first, int64_t past, const void *note) {
    fr_checkpoint *p = of;
    const int64_t *n = note;
    int64_t *ring = rg_alloc((size_t)p->sums.rings * sizeof *ring);
    memcpy(ring, n + COUNTS, (size_t)p->sums.rings * sizeof *ring);
    const fr_sums s = {n[0], n[1], n[2], n[3], n[4], n[5], p->sums.rings, ring};
    for (int64_t i = first; i < past; i++) restore(p->files, p->row[i], p->result[i]);
    add_sums(&p->sums, &s);
    write_batch(p, first, past, &s);
    free(ring);
    pl_team_progress(p->team, past - first);
}

void fr_checkpoint_add(fr_checkpoint *p, const int64_t *row, const fr_sums *s) {
    const int64_t first = row - p->row,
                  count[COUNTS] = {s->particles, s->refined, s->evaluations, s->least, s->most, s->coefficient};
    RG_FREED int64_t *note = rg_alloc(p->deal.note_bytes);
    for (int64_t i = 0; i < s->particles; i++) values_of(p->files, row[i], p->result[first + i]);
    memcpy(note, count, sizeof count);
    memcpy(note + COUNTS, s->ring, (size_t)s->rings * sizeof *note);
    rg_deal_done(&p->deal, first, first + s->particles, note);
}

// Runs on rank 0: finds the finished rows, and opens the file to append.
static int open_file(fr_checkpoint *p, const rg_given *given, const fr_refinement *r, bool *done) {
    RG_FREED char *head = NULL;
    int64_t kept = 0;
    int code = rg_file_can_write(r->out);
    if (code == RG_GOOD) code = make_head(given, p->files, r->reference, &head);
    const bool there = access(p->path, F_OK) == 0;
    if (code == RG_GOOD && there)
        code = read_part(p, p->files, head, r->resume, done, &kept);
    else if (code == RG_GOOD && r->resume)
        code = rg_fail(RG_USAGE, "--resume: expected %s, found none", p->path);
    if (code == RG_GOOD) code = begin_part(p, head, kept);
    return code;
}

int fr_checkpoint_open(fr_checkpoint *p, const rg_given *given, const fr_refinement *r, fr_files *f, pl_team *team) {
    const int64_t n = f->particles.n;
    bool *done = rg_alloc((size_t)n * sizeof *done);
    *p = (fr_checkpoint){.path = rg_print("%s.part", r->out),
        .row = rg_alloc((size_t)n * sizeof *p->row),
        .result = rg_alloc((size_t)n * sizeof *p->result),
        .files = f,
        .team = team};
    fr_sums_make(&p->sums, f->particles.side);
    f->score = rg_alloc((size_t)n * sizeof *f->score);
    f->sigma = rg_alloc((size_t)n * sizeof *f->sigma);
    f->magnification = rg_alloc((size_t)n * sizeof *f->magnification);
    int code = rg_rank == 0 ? open_file(p, given, r, done) : RG_GOOD;
    if (code == RG_GOOD) rg_ranks_share(done, (size_t)n * sizeof *done);
    for (int64_t i = 0; i < n; i++)
        if (!done[i]) p->row[p->rows++] = i;
    free(done);
    p->deal = (rg_deal){.n = p->rows,
        .least = r->batch,
        .takers = team->n,
        .record = p->result,
        .bytes = sizeof *p->result,
        .note_bytes = (COUNTS + (size_t)p->sums.rings) * sizeof(int64_t),
        .arrived = arrived,
        .of = p};
    if (code == RG_GOOD) rg_deal_begin(&p->deal);
    return code;
}

void fr_checkpoint_close(fr_checkpoint *p, bool finished) {
    if (p->file) fclose(p->file);
    if (p->file && (finished || !(p->kept + p->resumed))) unlink(p->path);
    free(p->path);
    free(p->row);
    free(p->result);
    fr_sums_free(&p->sums);
    *p = (fr_checkpoint){0};
}
