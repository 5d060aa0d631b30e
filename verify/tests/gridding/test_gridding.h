// SPDX-License-Identifier: MIT
// test_gridding.h: for the test programs of gridding: problems, variants by name, sums.
#pragma once

#include "../../../impl/gridding/bound.h"
#include "../test_variants.h"

static const rg_algo *algo;

static inline problem gridding(
    int64_t side, int64_t images, int64_t operators, int64_t tenths, int64_t kind, rg_pattern pattern) {
    return problem_make("gridding", (rg_shape){{side, images, operators, tenths, kind}, 7}, pattern);
}

static inline const rg_variant *variant(const char *name) {
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "gridding", "cpu"));)
        if (strcmp(e->variant->name, name) == 0) return e->variant;
    fail_msg("no variant %s", name);
    return NULL;
}

static inline const float *G_of(const problem *p) { return p->arg[GR_G]; }
static inline const float *W_of(const problem *p) { return p->arg[GR_W]; }

FIXTURE(find_gridding) {
    algo = rg_algo_find("gridding");
    variants_least = 4; // two plain variants, each with and without the table
    return algo == NULL;
}
