// SPDX-License-Identifier: MIT
// time.c: times configurations by bench's own rounds: each quickly, to find the best; then the best, the defaults and the
// published ones together, so that all reported times were measured side by side.
#include "tune.h"

#include "../../impl/runtime/cpu.h"

// A first look: two visits, which resolve 5 %. Smaller differences are decided by the last rounds,
// as many as bench's and as long as those of most rows of a GPU in a record (bench/record/plan.tsv).
static const double SCREEN_S = 0.04, SCREEN_WARM_S = 0.02, FINAL_S = 0.3;
enum { SCREEN_ROUNDS = 2, FINAL_ROUNDS = 6 };

static rg_measurement lane_of(const rg_tune *t, const int64_t *param) {
    bool host = t->entry->variant->space == RG_HOST;
    rg_measurement measurement = {.entry = t->entry,
        .shape = t->shape,
        .threads = host ? t->threads : 1,
        .cores = rg_cpu_cores(),
        .scope = RG_RESIDENT,
        .mode = RG_HOT};
    memcpy(measurement.param, param, sizeof measurement.param);
    measurement.right = t->judged ? t->right : NULL;
    return measurement;
}

// The first configuration that passed at this shape was compared with the reference, with its invariant; the others are
// compared in full with its outputs, on the same inputs, in a hundredth of the time.
static void keep_right(rg_tune *t, const rg_measurement *measurement) {
    if (t->judged || measurement->verdict.status != RG_PASS || !measurement->n) return;
    for (int k = 0; k < t->in.algo->n_args; k++)
        if (t->in.algo->arg[k].direction != RG_IN) {
            t->right[k] = rg_alloc(t->in.bytes[k] + 1);
            memcpy(t->right[k], t->in.found[k], t->in.bytes[k]);
        }
    t->judged = true;
}

static bool screened(void *of, rg_measurement *measurement) {
    rg_tune *t = of;
    rg_row row = rg_measurement_row(measurement, NULL);
    keep_right(t, measurement);
    double ns = rg_cell_number(&row, RG_C_MEDIAN);
    rg_search_tell(&t->search, rg_search_find(&t->search, measurement->param), isnan(ns) ? INFINITY : ns);
    t->wrong += measurement->verdict.status != RG_PASS && measurement->verdict.status != RG_SKIP;
    t->code = rg_out_add(&t->file, row);
    return t->code == RG_GOOD;
}

static void visited(void *of) { (void)of; }

static rg_rounds rounds_of(rg_tune *t, bool (*finished)(void *, rg_measurement *), double energy_s) {
    return (rg_rounds){t->gpu, t->given.seed, 0, true, energy_s, finished, visited, t};
}

static double free_bytes(const rg_tune *t) {
    return rg_free_bytes(t->entry->variant->space == RG_HOST ? rg_device_cpu() : t->gpu);
}

static void screen_one(rg_tune *t, int i) {
    rg_measurement measurement = lane_of(t, t->search.config[i]), *one = &measurement;
    measurement.max_s = SCREEN_S;
    measurement.rounds = SCREEN_ROUNDS;
    measurement.warm_s = SCREEN_WARM_S;
    measurement.verdict = rg_gate_verdict(&t->gate, measurement.param);
    double needs = (double)rg_measurement_bytes(&measurement), has = free_bytes(t);
    if (measurement.verdict.status != RG_PASS)
        rg_measurement_end(&measurement, measurement.verdict.status, RG_STOP_UNVERIFIED, "%s", measurement.verdict.reason);
    else if (needs > has)
        rg_measurement_end(&measurement, RG_SKIP, RG_STOP_MEMORY, "needs %.4g GB, has %.4g GB", needs / 1e9, has / 1e9);
    if (measurement.done) {
        screened(t, &measurement);
        return;
    }
    rg_rounds rounds = rounds_of(t, screened, 0);
    rg_time_rounds(&rounds, &one, 1, &t->in);
}

// Configurations in a resumed file are printed and not measured again.
static void take_known(rg_tune *t) {
    for (int i = 0; i < t->search.n; i++) {
        rg_measurement measurement = lane_of(t, t->search.config[i]);
        RG_ENDS(rg_row_free) rg_row key = rg_measurement_key(&measurement);
        const rg_row *row = rg_out_find(&t->file, &key);
        double ns = row ? rg_cell_number(row, RG_C_MEDIAN) : NAN;
        if (row) rg_search_tell(&t->search, i, isnan(ns) ? INFINITY : ns);
    }
}

int rg_tune_screen(rg_tune *t) {
    double began_s = rg_seconds(), spent_s = 0;
    int whole = t->search.most, known;
    take_known(t);
    known = t->search.tried;
    rg_progress_begin(
        &t->progress, "tune", t->budget_s > 0 ? "s" : "configurations", t->budget_s > 0 ? t->budget_s : whole - known);
    for (int i; t->code == RG_GOOD && (t->budget_s <= 0 || spent_s < t->budget_s) && (i = rg_search_next(&t->search)) >= 0;) {
        screen_one(t, i);
        spent_s = rg_seconds() - began_s;
        // How many can be tried in the time; the local search needs it.
        double reach = known + (t->search.tried - known) * t->budget_s / spent_s;
        if (t->budget_s > 0) t->search.most = reach < whole ? (int)fmax(reach, t->search.tried + 1) : whole;
        rg_progress_at(&t->progress, t->budget_s > 0 ? spent_s : t->search.tried - known);
    }
    rg_progress_end(&t->progress);
    return t->code;
}

// ---- the last rounds -----------------------------------------------------------------------------------------------------

static const rg_search *sorted; // for qsort
static int by_cost(const void *a, const void *b) {
    double x = sorted->cost[*(const int *)a], y = sorted->cost[*(const int *)b];
    return (x > y) - (x < y);
}

static bool same_params(const rg_tune *t, const int64_t *a, const int64_t *b) {
    return !memcmp(a, b, (size_t)t->entry->variant->n_params * sizeof *a);
}

static void add_final(rg_tune *t, const int64_t *param) {
    for (int i = 0; i < t->n_final; i++)
        if (same_params(t, t->final[i].param, param)) return;
    rg_measurement *measurement = &t->final[t->n_final++];
    *measurement = lane_of(t, param);
    measurement->max_s = FINAL_S;
    measurement->rounds = FINAL_ROUNDS;
}

// Selects the best of the search, then named ones that pass and are not among them; as many as fit together.
static void choose_finals(rg_tune *t) {
    int n = 0, *order = rg_alloc((size_t)t->search.n * sizeof *order);
    for (int i = 0; i < t->search.n; i++)
        if (isfinite(t->search.cost[i])) order[n++] = i;
    sorted = &t->search;
    qsort(order, (size_t)n, sizeof *order, by_cost);
    t->final = rg_alloc((RG_FINALISTS + RG_NAMED_MAX) * sizeof *t->final);
    if (n) add_final(t, t->search.config[order[0]]);
    for (int i = 0; i < t->n_named; i++) {
        int at = rg_search_find(&t->search, t->named[i].param);
        bool known = at >= 0 && !isnan(t->search.cost[at]);
        if (at >= 0 && (known ? isfinite(t->search.cost[at]) : rg_gate_verdict(&t->gate, t->named[i].param).status == RG_PASS))
            add_final(t, t->named[i].param);
    }
    for (int i = 1; i < n && i < RG_FINALISTS; i++) add_final(t, t->search.config[order[i]]);
    free(order);
    double taken = 0, has = free_bytes(t);
    for (int i = 0; i < t->n_final; i++)
        if ((taken += (double)rg_measurement_bytes(&t->final[i])) > has) t->n_final = i;
}

static bool final_row(void *of, rg_measurement *measurement) {
    rg_tune *t = of;
    rg_row row = rg_measurement_row(measurement, NULL);
    keep_right(t, measurement);
    t->wrong += measurement->verdict.status != RG_PASS;
    rg_out_put(&t->file, row);
    return true;
}

int rg_tune_finals(rg_tune *t) {
    choose_finals(t);
    if (!t->n_final) return RG_GOOD;
    rg_measurement *measurement[RG_FINALISTS + RG_NAMED_MAX];
    for (int i = 0; i < t->n_final; i++) measurement[i] = &t->final[i];
    rg_rounds rounds = rounds_of(t, final_row, t->energy ? RG_ENERGY_WINDOW_S : 0);
    rg_time_rounds(&rounds, measurement, t->n_final, &t->in);
    return rg_out_rewrite(&t->file, &t->head);
}

static double median_ns(const rg_measurement *measurement) {
    rg_summary s;
    if (measurement->verdict.status != RG_PASS || !measurement->n) return INFINITY;
    const rg_samples samples = rg_measurement_samples(measurement);
    rg_summarise(&samples, &s);
    return s.median;
}

const rg_measurement *rg_tune_best(const rg_tune *t) {
    const rg_measurement *best = NULL;
    for (int i = 0; i < t->n_final; i++)
        if (isfinite(median_ns(&t->final[i])) && (!best || median_ns(&t->final[i]) < median_ns(best))) best = &t->final[i];
    return best;
}

const rg_measurement *rg_tune_named(const rg_tune *t, const rg_named *named) {
    for (int i = 0; i < t->n_final; i++)
        if (same_params(t, t->final[i].param, named->param)) return &t->final[i];
    return NULL;
}
