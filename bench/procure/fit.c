// SPDX-License-Identifier: MIT
// fit.c: measured rows, and what is fitted to them: see predict.h.
#include "predict.h"

#include "../compare/believe.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const rg_on_name[RG_ON] = {"gpu", "core", "cpu"};

rg_on rg_entry_on(const rg_entry *e)
{
    return e->variant->space == RG_DEVICE ? RG_ON_GPU : e->variant->flags & RG_THREADED ? RG_ON_CPU : RG_ON_CORE;
}

// ---- rows ------------------------------------------------------------------------------------------------------------------

static int computer_of(rg_points *p, const char *label, int threads)
{
    for (int i = 0; i < p->n_computers; i++)
        if (!strcmp(p->computer[i].label, label) && p->computer[i].threads == threads) return i;
    p->computer = rg_more(p->computer, p->n_computers, sizeof *p->computer);
    rg_computer *c = &p->computer[p->n_computers];
    snprintf(c->label, sizeof c->label, "%s", label);
    c->threads = threads;
    for (int r = 0; r < RG_RESOURCES; r++) c->per_s[r] = NAN;
    return p->n_computers++;
}

static int threads_of(const rg_tsv *t, int row)
{
    const char *params = rg_tsv_cell(t, row, "params");
    return !strncmp(params, "threads=", 8) ? atoi(params + 8) : 0;
}

static bool is_stale(const rg_tsv *t, int row, const rg_entry *e)
{
    char today[64];
    const char *then = rg_tsv_cell(t, row, "source");
    rg_entry_source(e, today);
    return *then && strncmp(today, "unknown", 7) && strcmp(then, today);
}

static void read_row(rg_points *p, const rg_tsv *t, int row, const char *label)
{
    const rg_entry *e = rg_entry_find(rg_tsv_cell(t, row, "algo"), rg_tsv_cell(t, row, "variant"));
    rg_point at = {.entry = e, .seconds = rg_tsv_number(t, row, "median") / 1e9};
    const char *params = rg_tsv_cell(t, row, "params"), *scope = rg_tsv_cell(t, row, "scope");
    const int threads = threads_of(t, row);
    char why[160];
    if (!e || !e->variant->cost || strcmp(rg_tsv_cell(t, row, "status"), "PASS") || !(at.seconds > 0) ||
        (strcmp(scope, "kernel") && strcmp(scope, "device")) || strcmp(rg_tsv_cell(t, row, "mode"), "hot") ||
        is_stale(t, row, e))
        return;
    if (threads) // "threads=2;isa=0"
        params += strcspn(params, ";") + (strchr(params, ';') != NULL);
    if ((rg_entry_on(e) == RG_ON_GPU) != (threads == 0) || (rg_entry_on(e) == RG_ON_CORE && threads != 1) ||
        (rg_entry_on(e) == RG_ON_CPU && threads == 1) ||
        !rg_shape_parse(e->algo, rg_tsv_cell(t, row, "shape"), &at.shape, why) ||
        !rg_params_parse(e->variant, *params ? params : "-", at.param, why)) // of a parameter or value that is no more
        return;
    at.computer = computer_of(p, label, threads);
    for (int i = 0; i < p->n; i++)
        if (p->point[i].entry == e && p->point[i].computer == at.computer &&
            !memcmp(&p->point[i].shape, &at.shape, sizeof at.shape)) {
            if (at.seconds < p->point[i].seconds) p->point[i] = at;
            return;
        }
    p->point = rg_more(p->point, p->n, sizeof *p->point);
    p->point[p->n++] = at;
}

static void read_probe(rg_points *p, const rg_tsv *t, int row, const char *label)
{
    const double rate = rg_tsv_number(t, row, "rate");
    const int of = computer_of(p, label, threads_of(t, row));
    rg_computer *c = &p->computer[of];
    for (int r = 0; r < RG_RESOURCES; r++)
        if (!strcmp(rg_tsv_cell(t, row, "variant"), rg_resource_name[r]) && rate > 0)
            c->per_s[r] = fmax(rate, c->per_s[r]); // what else a machine does can only make a rate look lower
}

static void bound_all(rg_points *p)
{
    for (int i = 0; i < p->n; i++) {
        rg_point *at = &p->point[i];
        at->bound = rg_bound(at->entry, &at->shape, at->param, p->computer[at->computer].per_s);
    }
}

int rg_points_read(rg_points *p, const char *path)
{
    rg_tsv t;
    char label[64];
    const char *base = rg_base_name(path);
    snprintf(label, sizeof label, "%.*s", (int)strcspn(base, "."), base);
    int code = rg_tsv_read(path, &t);
    if (code) return code;
    for (int row = 0; row < t.n_rows; row++)
        strcmp(rg_tsv_cell(&t, row, "algo"), "probe") ? read_row(p, &t, row, label) : read_probe(p, &t, row, label);
    rg_tsv_free(&t);
    bound_all(p);
    return RG_GOOD;
}

int rg_points_read_folder(rg_points *p, const char *folder)
{
    struct dirent **entry;
    const int n = scandir(folder, &entry, rg_is_file_of_rows, alphasort);
    int code = n < 0 ? rg_fail(RG_USAGE, "%s: cannot be read: %s", folder, strerror(errno)) : RG_GOOD;
    for (int i = 0; i < n; i++) {
        char *path = rg_print("%s/%s", folder, entry[i]->d_name);
        code = code ? code : rg_points_read(p, path);
        free(path), free(entry[i]);
    }
    if (n >= 0) free(entry);
    return code;
}

void rg_points_free(rg_points *p)
{
    free(p->point), free(p->computer);
    *p = (rg_points){0};
}

rg_bound_s rg_bound(const rg_entry *e, const rg_shape *shape, const int64_t *param, const double per_s[RG_RESOURCES])
{
    rg_cost cost = {{0}};
    rg_bound_s b = {.part = {1}};
    e->variant->cost(shape, param, &cost);
    for (int r = 0; r < RG_RESOURCES; r++) {
        const double its_s = cost.amount[r] / per_s[r];
        double *part = &b.part[r == RG_MEM_BYTES ? 1 : 2];
        if (!(cost.amount[r] > 0)) continue;
        *part = fmax(*part, its_s);
        if (!(its_s <= b.longest_s)) b.limit = r;
        b.longest_s = fmax(b.longest_s, its_s);
        if (isnan(its_s)) {
            b.longest_s = NAN;
            return b;
        }
    }
    b.longest_s = b.longest_s > 0 ? b.longest_s : NAN;
    return b;
}

// ---- the fit ---------------------------------------------------------------------------------------------------------------

typedef struct chosen {
    const rg_points *p;
    const rg_entry *entry;
    int out; // a point: it, or its whole machine, is left out; -1: none
    bool machine;
} chosen;

static const char *label_of(const chosen *c, int i) { return c->p->computer[c->p->point[i].computer].label; }

static bool is_of(const chosen *c, int i) { return c->p->point[i].entry == c->entry && !isnan(c->p->point[i].bound.longest_s); }
static bool is_out(const chosen *c, int i)
{
    return c->out >= 0 && (c->machine ? !strcmp(label_of(c, i), label_of(c, c->out)) : i == c->out);
}

// The unknowns of a mask by Gauss' elimination; false: they cannot be told apart, or one is below 0.
static bool solve_some(const double normal[3][4], int mask, double by[3])
{
    double m[3][4];
    int at[3], n = 0;
    for (int i = 0; i < 3; i++)
        if (mask >> i & 1) at[n++] = i;
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= n; k++) m[i][k] = normal[at[i]][k < n ? at[k] : 3];
    for (int i = 0; i < n; i++) {
        if (!(m[i][i] > 1e-9 * normal[at[i]][at[i]])) return false;
        for (int k = i + 1; k < n; k++)
            for (int c = n; c >= i; c--) m[k][c] -= m[k][i] / m[i][i] * m[i][c];
    }
    by[0] = by[1] = by[2] = 0;
    for (int i = n - 1; i >= 0; i--) {
        double value = m[i][n];
        for (int k = i + 1; k < n; k++) value -= m[i][k] * by[at[k]];
        by[at[i]] = value / m[i][i];
        if (!(by[at[i]] > 0)) return false;
    }
    return true;
}

// Least squares of (t' / t - 1) over all sets of unknowns that are above 0 in it, with M or C among them; how many rows.
static int solve(const chosen *c, double by[3])
{
    double normal[3][4] = {{0}}, least = INFINITY;
    int n = 0;
    for (int i = 0; i < c->p->n; i++) {
        const rg_point *at = &c->p->point[i];
        if (!is_of(c, i) || is_out(c, i)) continue;
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 4; l++)
                normal[k][l] += at->bound.part[k] / at->seconds * (l < 3 ? at->bound.part[l] / at->seconds : 1);
        n++;
    }
    by[0] = by[1] = by[2] = NAN;
    for (int mask = 2; mask < 8 && n; mask++) {
        double its[3], residue = n;
        if (__builtin_popcount((unsigned)mask) > (n < 3 ? 1 : n < 6 ? 2 : 3) || !solve_some(normal, mask, its)) continue;
        for (int k = 0; k < 3; k++) residue -= its[k] * normal[k][3];
        if (residue < least - 1e-9 * n) {
            least = residue;
            memcpy(by, its, sizeof its);
        }
    }
    return n;
}

// Of the fit without a point, or without its machine, on that point; NaN: no row is left.
static double error_without(const rg_points *p, const rg_entry *e, bool machine)
{
    double squares = 0, by[3];
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        const chosen c = {p, e, i, machine};
        if (!is_of(&c, i) || !solve(&c, by)) continue;
        const double *part = p->point[i].bound.part,
                     off = log((by[0] + by[1] * part[1] + by[2] * part[2]) / p->point[i].seconds);
        squares += off * off;
        n++;
    }
    return n ? exp(sqrt(squares / n)) : NAN;
}

rg_fit rg_fit_of(const rg_points *p, const rg_entry *e)
{
    rg_fit f = {.low_s = INFINITY, .left_out = "none", .factor = NAN};
    const chosen all = {p, e, -1, false};
    for (int r = 0; r < RG_RESOURCES; r++) f.low_per_s[r] = INFINITY;
    for (int i = 0; i < p->n; i++) {
        if (!is_of(&all, i)) continue;
        bool first = true;
        for (int k = 0; k < i && first; k++) first = !is_of(&all, k) || strcmp(label_of(&all, k), label_of(&all, i));
        f.machines += first;
        f.low_s = fmin(f.low_s, p->point[i].bound.longest_s);
        f.high_s = fmax(f.high_s, p->point[i].bound.longest_s);
        for (int r = 0; r < RG_RESOURCES; r++) {
            const double rate = p->computer[p->point[i].computer].per_s[r];
            f.low_per_s[r] = fmin(f.low_per_s[r], rate);
            f.high_per_s[r] = fmax(f.high_per_s[r], rate);
        }
    }
    f.n = solve(&all, f.by);
    if (f.machines > 1 || f.n > 1) {
        f.left_out = f.machines > 1 ? "machine" : "size";
        f.factor = error_without(p, e, f.machines > 1);
    }
    return f;
}
