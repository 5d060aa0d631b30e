// SPDX-License-Identifier: MIT
// select.c: which rows of a machine's result files a claim speaks of.
//
// Times are compared only within one machine and one shape. Where a variant was measured with several parameter sets, its
// fastest stands for it, as a user would run it; the report names the parameters beside the number.
#include "../../bench/stats/stats.h"
#include "../../impl/base/core.h"
#include "../report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTSTRAP_SEED = 1 }; // fixed, so that the same files give the same page

bool rg_next_piece(const char **at, char mark, char *text, size_t room)
{
    const char *end = strchrnul(*at, mark);
    if (!**at) return false;
    snprintf(text, room, "%.*s", (int)(end - *at), *at);
    *at = end + (*end != '\0');
    return true;
}

int64_t rg_part(const char *text, const char *separators, const char *name, int64_t standard)
{
    size_t length = strlen(name);
    for (const char *at = text; *at;) {
        size_t part = strcspn(at, separators);
        if (part > length && !strncmp(at, name, length)) {
            char *end;
            long long value = strtoll(at + length, &end, 10);
            if (end == at + part) return value;
        }
        at += part;
        at += strspn(at, separators);
    }
    return standard;
}

rg_measure rg_measure_of(const rg_result *file, const rg_row *row)
{
    const char *shape = row->cell[RG_C_SHAPE];
    return (rg_measure){file, row, rg_part(shape, ",", "w", -1), rg_part(shape, ",", "h", -1), rg_part(shape, ",", "r", -1),
        (int)rg_part(row->cell[RG_C_PARAMS], ";, ", "threads=", 1), row->timed_ns};
}

bool rg_timed(const rg_row *row) { return row->timed_ns > 0; }

bool rg_plain(const rg_row *row) { return rg_part(row->cell[RG_C_SHAPE], ",", "k", 0) == 0; }

bool rg_shaped(const char *shape, const char *wanted, const char *separators)
{
    char part[32];
    for (const char *at = wanted; *at; at += strspn(at, separators)) {
        size_t length = strcspn(at, separators), letters = strcspn(at, "0123456789");
        const char sign = letters && letters < length ? at[letters - 1] : 0;
        const bool open = sign == '<' || sign == '>' || sign == '!';
        snprintf(part, sizeof part, "%.*s", (int)(letters < length ? letters : length) - open, at);
        const int64_t found = rg_part(shape, ",", part, -1), named = strtoll(at + letters, NULL, 10);
        if (sign == '!'       ? found == named
                : sign == '>' ? found <= named
                : sign == '<' ? found < 0 || found >= named
                              : found != named)
            return false;
        at += length;
    }
    return true;
}

// One alternative "autocorr:simd threads=1 isa=2@w750;k0": algorithm and variant equal, every further word a parameter that
// holds ("isa<512": is smaller); after '@' the parts that the shape must have.
static bool matches_one(const rg_row *row, const char *spec, size_t length)
{
    char text[200];
    const size_t algo = strlen(row->cell[RG_C_ALGO]), variant = strlen(row->cell[RG_C_VARIANT]);
    if (length <= algo || spec[algo] != ':' || strncmp(spec, row->cell[RG_C_ALGO], algo) ||
        strcspn(spec + algo + 1, " @|") != variant || strncmp(spec + algo + 1, row->cell[RG_C_VARIANT], variant))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)(length - algo - 1 - variant), spec + algo + 1 + variant);
    char *parts = strchr(text, '@');
    if (parts) {
        *parts++ = 0;
        if (!rg_shaped(row->cell[RG_C_SHAPE], parts, ";")) return false;
    }
    const int64_t threads = rg_part(row->cell[RG_C_PARAMS], ";, ", "threads=", 1);
    for (char *rest, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strpbrk(word, "=<");
        if (!equals) return false;
        const bool below = *equals == '<';
        if (!strcmp(word, "threads=all")) {
            if (threads < 2) return false;
            continue;
        }
        int64_t wanted = strtoll(equals + 1, NULL, 10);
        equals[0] = '=';
        equals[1] = 0;
        int64_t found = strcmp(word, "threads=") ? rg_part(row->cell[RG_C_PARAMS], ";, ", word, -1) : threads;
        if (below ? found < 0 || found >= wanted : found != wanted) return false;
    }
    return true;
}

bool rg_matches(const rg_row *row, const char *spec)
{
    for (const char *at = spec; *at;) {
        size_t length = strcspn(at, "|");
        if (matches_one(row, at, length)) return true;
        at += length + (at[length] == '|');
    }
    return false;
}

static int mode_rank(const rg_row *row) { return !strcmp(row->cell[RG_C_MODE], "cold") ? 1 : 0; }

// A host copies nothing to a device: its time of `device` is that of both scopes with copies as well.
static bool in_scope(const rg_row *row, const char *scope, size_t length)
{
    const char *own = row->cell[RG_C_SCOPE];
    if (strlen(own) == length && !strncmp(own, scope, length)) return true;
    const bool copies = length == 8 && (!strncmp(scope, "transfer", 8) || !strncmp(scope, "pageable", 8));
    return copies && !strcmp(row->cell[RG_C_SPACE], "host") && !strcmp(own, "device");
}

const rg_row *rg_next_row(rg_walk *w)
{
    for (; w->f < w->of->n_files; w->f++, w->i = 0) {
        w->file = &w->of->file[w->f];
        if (w->i < w->file->n_rows) return &w->file->row[w->i++];
    }
    return NULL;
}

bool rg_pick(const rg_bench_machine *m, const char *spec, const char *shape, const char *scopes, rg_measure *best)
{
    for (const char *scope = scopes; *scope;) {
        size_t length = strcspn(scope, ",");
        bool found = false;
        RG_EACH_ROW(row, m)
        {
            if (!rg_timed(row) || strcmp(row->cell[RG_C_SHAPE], shape) || !in_scope(row, scope, length) ||
                !rg_matches(row, spec))
                continue; // cheapest first
            int rank = found ? mode_rank(row) - mode_rank(best->row) : 0;
            if (!found || rank < 0 || (rank == 0 && row->timed_ns < best->median_ns)) {
                *best = rg_measure_of(walk.file, row);
                found = true;
            }
        }
        if (found) return true;
        scope += length + (scope[length] == ',');
    }
    return false;
}

// Whether rows of a or b stand beside this one, the best of both.
static bool has_others(
    const rg_bench_machine *m, const char *a, const char *b, const char *shape, const char *scope, const rg_row *best)
{
    RG_EACH_ROW(row, m)
    {
        if (row != best && rg_timed(row) && !strcmp(row->cell[RG_C_SHAPE], shape) && in_scope(row, scope, strlen(scope)) &&
            (rg_matches(row, a) || rg_matches(row, b)))
            return true;
    }
    return false;
}

bool rg_pick_pair(const rg_bench_machine *m, const char *a, const char *b, const char *shape, const char *scopes, rg_measure *x,
    rg_measure *y)
{
    char scope[24];
    while (rg_next_piece(&scopes, ',', scope, sizeof scope))
        if (rg_pick(m, a, shape, scope, x) && rg_pick(m, b, shape, scope, y) &&
            (x->row != y->row || !strcmp(a, b) || has_others(m, a, b, shape, scope, x->row)))
            return true;
    return false;
}

// Two samples at least, of one process or of two.
bool rg_has_interval(const rg_row *row) { return strpbrk(row->cell[RG_C_SAMPLES], ";|") != NULL; }

const char *rg_common_shape(const rg_bench_machine *m, const char *a, const char *b, const char *size, const char *scopes)
{
    const char *best = NULL;
    double best_work = -1;
    int best_rank = -1;
    const int64_t kind = rg_part(size, ",", "k", 0); // of input: 0, the papers', unless the claim names another
    RG_EACH_ROW(row, m)
    {
        const char *shape = row->cell[RG_C_SHAPE];
        rg_measure x, y;
        if (!rg_timed(row) || rg_part(shape, ",", "k", 0) != kind || !rg_matches(row, a) ||
            !rg_pick_pair(m, a, b, shape, scopes, &x, &y))
            continue;
        // The most work; the paper's own size goes before any other, then what has an interval: one sample has no verdict.
        double work = rg_cell_number(row, RG_C_WORK);
        if (isnan(work)) // of files that do not say
            work = (double)x.width * (double)x.height * (2.0 * (double)x.r + 1) * (2.0 * (double)x.r + 1);
        const int rank =
            2 * (*size && !strncmp(shape, size, strlen(size))) + (rg_has_interval(x.row) && rg_has_interval(y.row));
        if (rank > best_rank || (rank == best_rank && work > best_work)) {
            best_rank = rank;
            best_work = work;
            best = shape;
        }
    }
    return best;
}

double rg_more_work(const rg_measure *a, const rg_measure *b)
{
    double x = rg_cell_number(a->row, RG_C_WORK), y = rg_cell_number(b->row, RG_C_WORK);
    return x > 0 && y > 0 ? y / x : 1;
}

double rg_fixed_ns(const rg_bench_machine *m, const char *spec, const rg_measure *of)
{
    const char *shape = of->row->cell[RG_C_SHAPE], *particles = strstr(shape, ",p");
    const double work = rg_cell_number(of->row, RG_C_WORK);
    double few = work, few_ns = NAN;
    RG_EACH_ROW(row, m)
    {
        const double pieces = rg_cell_number(row, RG_C_WORK);
        if (particles && rg_timed(row) && !strncmp(row->cell[RG_C_SHAPE], shape, (size_t)(particles - shape) + 2) &&
            !strcmp(row->cell[RG_C_SCOPE], of->row->cell[RG_C_SCOPE]) && rg_matches(row, spec) && pieces < few) {
            few = pieces;
            few_ns = rg_row_ns(row, RG_C_MEDIAN);
        }
    }
    return (work * few_ns - few * of->median_ns) / (work - few);
}

void rg_median_interval(const rg_samples *samples, double *low, double *high)
{
    *low = *high = NAN;
    if (samples->n < 2) return;
    rg_samples ones = *samples;
    ones.ns = rg_alloc((size_t)ones.n * sizeof *ones.ns);
    for (int i = 0; i < ones.n; i++) ones.ns[i] = 1;
    rg_ratio ratio = rg_ratio_of_medians(samples, &ones, BOOTSTRAP_SEED);
    *low = ratio.low;
    *high = ratio.high;
    free(ones.ns);
}

double rg_time_ratio(const rg_measure *a, const rg_measure *b, double *low, double *high)
{
    const double more = rg_more_work(a, b);
    if (a->row == b->row) // the best is the one that it is compared with
        return *low = *high = 1;
    rg_samples of_a = rg_row_samples(a->row), of_b = rg_row_samples(b->row);
    *low = *high = NAN;
    if (of_a.n > 1 && of_b.n > 1) {
        rg_ratio ratio = rg_ratio_of_medians(&of_a, &of_b, BOOTSTRAP_SEED);
        *low = more * ratio.low;
        *high = more * ratio.high;
    }
    rg_samples_free(&of_a);
    rg_samples_free(&of_b);
    return more * a->median_ns / b->median_ns;
}
