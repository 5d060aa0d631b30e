// SPDX-License-Identifier: MIT
// search.c: the parameter space of a variant and the order in which it is tried (search.h). Nothing here measures.
#include "search.h"
#include "../base/core.h"

const char *const rg_search_name[RG_SEARCHES] = {"exhaustive", "random", "local"};

// A space is listed as a whole: 4 million combinations take 320 MB; larger spaces can be neither timed nor inspected.
enum { COMBINATIONS_MAX = 1 << 22 };

static void count_refusal(rg_search *s, const char *reason) {
    int i = 0;
    s->refused++;
    while (i < s->n_refusals && strcmp(s->refusal[i].reason, reason)) i++;
    if (i == s->n_refusals && i < RG_REFUSALS_MAX)
        snprintf(s->refusal[s->n_refusals++].reason, sizeof s->refusal[0].reason, "%s", reason);
    s->refusal[i < RG_REFUSALS_MAX ? i : RG_REFUSALS_MAX - 1].count++;
}

static int values_among(const rg_variant *v, const uint64_t *among, int k) {
    int n = 0;
    for (int i = 0; i < v->param[k].n_values; i++) n += !among || among[k] >> i & 1;
    return n;
}

// Combination `index` of the declared values, the last parameter changing fastest.
static void combination(const rg_variant *v, int64_t index, const uint64_t *among, int64_t *param) {
    for (int k = v->n_params - 1; k >= 0; k--) {
        const int n = values_among(v, among, k);
        int64_t left = index % n;
        for (int i = 0; i < v->param[k].n_values; i++)
            if ((!among || among[k] >> i & 1) && left-- == 0) param[k] = v->param[k].value[i];
        index /= n;
    }
}

const char *rg_search_begin_among(rg_search *s, const rg_variant *v, const rg_shape *shape, rg_search_kind kind, int most,
    uint64_t seed, const uint64_t *among) {
    *s = (rg_search){.variant = v, .kind = kind, .seed = seed, .best = -1, .combinations = 1};
    for (int k = 0; k < v->n_params; k++) s->combinations *= values_among(v, among, k);
    if (s->combinations > COMBINATIONS_MAX) return "it has more than 4 million combinations: fix some parameters with --param";
    s->config = rg_alloc((size_t)s->combinations * sizeof *s->config);
    for (int64_t i = 0; i < s->combinations; i++) {
        int64_t *param = s->config[s->n];
        combination(v, i, among, param);
        const char *why = v->refuse ? v->refuse(shape, param) : NULL;
        if (why)
            count_refusal(s, why);
        else
            s->n++;
    }
    s->cost = rg_alloc((size_t)(s->n + 1) * sizeof *s->cost);
    for (int i = 0; i < s->n; i++) s->cost[i] = NAN;
    s->most = most > 0 && most < s->n ? most : s->n;
    return s->n ? NULL : "the variant refuses every combination at this shape";
}

const char *rg_search_begin(
    rg_search *s, const rg_variant *v, const rg_shape *shape, rg_search_kind kind, int most, uint64_t seed) {
    return rg_search_begin_among(s, v, shape, kind, most, seed, NULL);
}

void rg_search_end(rg_search *s) {
    free(s->config);
    free(s->cost);
    *s = (rg_search){0};
}

int rg_search_find(const rg_search *s, const int64_t *param) {
    for (int i = 0; i < s->n; i++)
        if (!memcmp(s->config[i], param, (size_t)s->variant->n_params * sizeof *param)) return i;
    return -1;
}

static bool untried(const rg_search *s, int i) { return isnan(s->cost[i]); }

// The number of parameters in which configuration i differs from the best.
static int distance(const rg_search *s, int i) {
    int n = 0;
    for (int k = 0; k < s->variant->n_params; k++) n += s->config[i][k] != s->config[s->best][k];
    return n;
}

// A random untried configuration at this distance from the best (0: at any); -1: none.
static int draw(const rg_search *s, int at) {
    int n = 0;
    for (int i = 0; i < s->n; i++) n += untried(s, i) && (!at || distance(s, i) == at);
    int which = n ? (int)(rg_bits(s->seed, (uint64_t)s->tried) % (uint64_t)n) : -1;
    for (int i = 0; i < s->n && which >= 0; i++)
        if (untried(s, i) && (!at || distance(s, i) == at) && which-- == 0) return i;
    return -1;
}

static int first_untried(const rg_search *s) {
    for (int i = 0; i < s->n; i++)
        if (untried(s, i)) return i;
    return -1;
}

static int standard(const rg_search *s) {
    int64_t param[RG_PARAMS_MAX] = {0};
    rg_params_standard(s->variant, param);
    int i = rg_search_find(s, param);
    return i >= 0 && untried(s, i) ? i : -1;
}

int rg_search_next(rg_search *s) {
    if (s->tried >= s->most) return -1;
    if (s->kind == RG_SEARCH_EXHAUSTIVE) return first_untried(s);
    int i = s->tried ? -1 : standard(s); // so that a search is never worse than none
    if (i < 0 && s->kind == RG_SEARCH_LOCAL && s->best >= 0 && 3 * s->tried >= s->most)
        for (int at = 1; at <= s->variant->n_params && i < 0; at++) i = draw(s, at);
    return i >= 0 ? i : draw(s, 0);
}

void rg_search_tell(rg_search *s, int i, double cost) {
    s->tried += untried(s, i);
    s->cost[i] = cost;
    if (isfinite(cost) && (s->best < 0 || cost < s->cost[s->best])) s->best = i;
}
