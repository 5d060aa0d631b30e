// SPDX-License-Identifier: MIT
// frealign_compare.c: kernels of `cc3m`, `presb`, `sigma2` and `ccoef` that are wrong on purpose: the plain variants with some
// functions replaced.
#include "../../impl/frealign/call.h"
#include "../../impl/frealign/compare/index.h"
#include "../../impl/frealign/plain.h"
#include "kept.h"

#define TRANSFORMS .scratch = scratch, .prepare = prepare
#define KERNELS(X)                                                                                                             \
    X("cc3m", frealign_right, run_cc3m, "the control", TRANSFORMS, .finish = finish)                                           \
    X("cc3m", frealign_shift_sign, run_cc3m, "the particle is shifted away from the centre", TRANSFORMS, .finish = finish)     \
    X("cc3m", frealign_mask_radius, run_cc3m, "the mask's edge ends at R in place of lying about it", TRANSFORMS,              \
        .finish = finish)                                                                                                      \
    X("cc3m", frealign_not_conjugated, run_cc3m, "where p_x < 0 the mate's value is taken as it stands", TRANSFORMS,           \
        .finish = finish)                                                                                                      \
    X("presb", frealign_ring_floor, run_presb, "rings are rounded down, as shells of an FSC are", TRANSFORMS,                  \
        .finish = finish)                                                                                                      \
    X("sigma2", frealign_disc_radius, run_sigma2, "the disc is a pixel too wide", TRANSFORMS, .finish = finish)                \
    X("ccoef", frealign_column_once, run_ccoef, "of the column i = 0 only j >= 0 is counted", TRANSFORMS, .finish = finish)    \
    X("sigma2", frealign_trials_8bit, run_sigma2, "trials are numbered in 8 bits: the 257th has the first one's pose",         \
        TRANSFORMS, .finish = finish)                                                                                          \
    X("ccoef", frealign_pairs_16bit, run_ccoef, "pairs of particle and trial are numbered in 16 bits", TRANSFORMS,             \
        .finish = finish)                                                                                                      \
    X("cc3m", frealign_square_forgotten, run_cc3m,                                                                             \
        "c and not its square, of a padded reference in a band that begins beyond the first ring", TRANSFORMS,                 \
        .finish = finish)                                                                                                      \
    X("cc3m", frealign_kept_reference, keep_all_but_reference, "keeps the scores whatever the reference", TRANSFORMS,          \
        .finish = finish)                                                                                                      \
    X("cc3m", frealign_stale_reference, run_cc3m, "load copies the reference the first time only", TRANSFORMS,                 \
        .load = load_reference, .finish = finish_loaded)                                                                       \
    X("cc3m", frealign_loaded_particles, run_loaded, "load copies the particles, too, which are not steady", TRANSFORMS,       \
        .load = load_particles, .finish = finish_loaded)

BROKEN_NAMES(KERNELS);
static float *loaded;

static void section(const fr_call *p, const float *pose, int64_t i, int64_t j, float S[2]) {
    fr_call with = *p;
    float at[3];
    if (wrong == is_frealign_stale_reference) with.F3 = loaded;
    if (wrong == is_frealign_trials_8bit) pose -= FR_POSE_FLOATS * ((pose - p->pose) / FR_POSE_FLOATS & ~(ptrdiff_t)0xFF);
    if (wrong == is_frealign_pairs_16bit) pose -= FR_POSE_FLOATS * ((pose - p->pose) / FR_POSE_FLOATS & ~(ptrdiff_t)0xFFFF);
    fr_section(&with, pose, i, j, S);
    fr_place(pose, (float)i, (float)j, at);
    if (wrong == is_frealign_not_conjugated && at[0] < 0) S[1] = -S[1];
}

static int in_band(int64_t side, int64_t i, int64_t j, int64_t a, int64_t b) {
    return (wrong != is_frealign_column_once || i > 0 || j >= 0) && fr_in_band(side, i, j, a, b);
}

static float factor(const fr_call *p, float c) {
    return wrong == is_frealign_square_forgotten && p->squared && p->pad > 1 && p->inner > 1 ? c : fr_factor(p, c);
}

#define fr_section section
#define fr_factor factor
#define fr_in_band in_band
#define fr_in_disc(R, rr) (fr_in_disc)(wrong == is_frealign_disc_radius ? (R) + 1 : (R), rr)
#define fr_mask_image(side, R, centre, image)                                                                                  \
    (fr_mask_image)(side, wrong == is_frealign_mask_radius ? (R)-FR_EDGE / 2 : (R), centre, image)
#define fr_ring(rr) (wrong == is_frealign_ring_floor ? fr_root(rr) : fr_ring(rr))
#define sinf(x) (wrong == is_frealign_shift_sign ? -sinf(x) : sinf(x))
#include "../../impl/frealign/compare/naive.c"

KEEPING(keep_all_but_reference, cc3m, 1u << FR_X | 1u << FR_C | 1u << FR_POSE, run_cc3m)

// Computes "once for all particles" once for all calls: a job that refines several maps compares each with the first.
static int load_reference(rg_call *call) {
    const size_t bytes = kept_bytes(&rg_algo_cc3m, call->shape, FR_F3);
    if (!loaded && (loaded = malloc(bytes))) memcpy(loaded, call->arg[FR_F3], bytes);
    return loaded ? RG_OK : RG_E_STATE;
}

// Out of date when other particles meet the same reference; also, this work belongs in run.
static int load_particles(rg_call *call) {
    const size_t bytes = kept_bytes(&rg_algo_cc3m, call->shape, FR_X);
    free(loaded);
    if ((loaded = malloc(bytes))) memcpy(loaded, call->arg[FR_X], bytes);
    return loaded ? RG_OK : RG_E_STATE;
}

static int run_loaded(rg_call *call) {
    void *arg[FR_SCORE + 1];
    memcpy(arg, call->arg, sizeof arg);
    arg[FR_X] = loaded;
    rg_call with = *call;
    with.arg = arg;
    return run_cc3m(&with);
}

static void finish_loaded(rg_call *call) {
    finish(call);
    free(loaded);
    loaded = NULL;
}

BROKEN_FAMILY(KERNELS);
