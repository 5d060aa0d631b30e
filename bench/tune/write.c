// SPDX-License-Identifier: MIT
// write.c: writes the result of a search, for people and for later programs (data/tuned).
#include "tune.h"

#include "../../impl/base/tsv.h"
#include "../../impl/runtime/tuned.h"

// Rows "algo variant preset params source" of impl/ALGO/presets.tsv; an algorithm need not have one.
int rg_tune_read_presets(rg_tune *t) {
    char *relative = rg_print("impl/%s/presets.tsv", t->entry->algo->name), *path = rg_share_path(relative), why[160];
    RG_ENDS(rg_tsv_free) rg_tsv presets = {0};
    int code = access(path, F_OK) ? RG_GOOD : rg_tsv_read(path, &presets);
    for (int i = 0; i < presets.n_rows && t->n_named < RG_NAMED_MAX; i++) {
        rg_named *n = &t->named[t->n_named];
        if (strcmp(rg_tsv_cell(&presets, i, "algo"), t->entry->algo->name) ||
            strcmp(rg_tsv_cell(&presets, i, "variant"), t->entry->variant->name))
            continue;
        snprintf(n->name, sizeof n->name, "%s", rg_tsv_cell(&presets, i, "preset"));
        if (rg_params_parse(t->entry->variant, rg_tsv_cell(&presets, i, "params"), n->param, why))
            t->n_named++;
        else
            rg_warn("%s: %s: %s", path, n->name, why);
    }
    free(relative);
    free(path);
    return code;
}

void rg_tune_show_space(const rg_tune *t, FILE *f) {
    const rg_search *s = &t->search;
    char shape[192];
    rg_shape_describe(t->entry->algo, &t->shape, shape);
    fprintf(f, "%s:%s at %s: %lld combination%s, %lld refused, %d to choose from, %s search, seed %llu\n", t->entry->algo->name,
        t->entry->name, shape, (long long)s->combinations, rg_plural(s->combinations), (long long)s->refused, s->n,
        rg_search_name[s->kind], (unsigned long long)t->given.seed);
    for (int i = 0; i < s->n_refusals; i++)
        fprintf(f, "  %7lld refused: %s\n", (long long)s->refusal[i].count, s->refusal[i].reason);
    fflush(f);
}

static void show_line(
    const rg_tune *t, FILE *f, const char *name, const rg_measurement *measurement, const rg_measurement *best) {
    char params[192], time[32], rate[32];
    rg_summary s;
    rg_params_print(t->entry->variant, measurement->param, params);
    const rg_samples samples = rg_measurement_samples(measurement), of_best = rg_measurement_samples(best);
    rg_summarise(&samples, &s);
    rg_duration(s.median, time);
    rg_show_scaled(t->entry->algo->work(&t->shape) / (s.median / 1e9), rate);
    rg_ratio r = rg_ratio_of_medians(&of_best, &samples, t->given.seed);
    char share[64] = "";
    if (measurement != best)
        snprintf(share, sizeof share, "%.1f %% of the best [%.1f, %.1f]", 100 * r.ratio, 100 * r.low, 100 * r.high);
    fprintf(f, "  %-9s %10s %8s %s  %-36s %s\n", name, time, rate, t->entry->algo->rate_unit, share, params);
}

void rg_tune_show(const rg_tune *t, FILE *f) {
    const rg_measurement *best = rg_tune_best(t);
    int good = 0;
    for (int i = 0; i < t->search.n; i++) good += isfinite(t->search.cost[i]);
    fprintf(f, "%d of %d configuration%s tried, %d passed and were timed\n", t->search.tried, t->search.n,
        rg_plural(t->search.n), good);
    if (!best) return;
    char reason[RG_REASON];
    show_line(t, f, "best", best, best);
    for (int i = 0; i < t->n_named; i++) {
        const rg_measurement *measurement = rg_tune_named(t, &t->named[i]);
        if (measurement && measurement->verdict.status == RG_PASS && measurement->n)
            show_line(t, f, t->named[i].name, measurement, best);
        else
            fprintf(f, "  %-9s not timed: %s\n", t->named[i].name,
                measurement ? rg_measurement_reason(measurement, reason)
                            : "refused at this shape, failed, or no room beside the others");
    }
    fflush(f);
}

static const char *head_value(const rg_head *head, const char *key) {
    for (int i = 0; i < head->n; i++)
        if (!strcmp(head->key[i], key)) return head->value[i];
    return "-";
}

int rg_tune_store(const rg_tune *t) {
    const rg_measurement *best = rg_tune_best(t);
    char processor[128], shape[96], params[192], path[512];
    if (!best || !t->folder) return RG_GOOD;
    rg_summary s;
    const rg_samples samples = rg_measurement_samples(best);
    rg_summarise(&samples, &s);
    rg_tuned_processor(t->entry, t->given.device, processor);
    rg_shape_print(t->entry->algo, &t->shape, shape);
    rg_params_print(t->entry->variant, best->param, params);
    RG_FREED char *how = rg_print("%s, %d of %d configurations, seed %llu", rg_search_name[t->search.kind], t->search.tried,
        t->search.n, (unsigned long long)t->given.seed);
    rg_tuned_row row = {t->entry->algo->name, t->entry->name, shape, params, s.median,
        t->entry->algo->work(&t->shape) / (s.median / 1e9), t->entry->algo->rate_unit, how};
    bool host = t->entry->variant->space == RG_HOST;
    int code = rg_tuned_store(t->folder, processor, host ? "-" : head_value(&t->head, "gpu_driver"), &row, path);
    if (code == RG_GOOD) rg_tsv_print(stdout, "best configuration: %s\n", path);
    return code;
}
