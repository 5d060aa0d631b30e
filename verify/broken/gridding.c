// SPDX-License-Identifier: MIT
// gridding.c: kernels of `gridding` that are wrong on purpose: a right scatter with a fault each.
#include "../../impl/gridding/bound.h"
#include "../../impl/gridding/call.h"
#include "kept.h"
#include <stdbool.h>

#define KERNELS(X)                                                                                                             \
    X("gridding", gridding_right, scatter, "the control: as it should be")                                                     \
    X("gridding", gridding_centre, scatter, "the row of frequency 0 is taken one too low")                                     \
    X("gridding", gridding_transposed, scatter, "pixels are placed with the inverse of the rotation")                          \
    X("gridding", gridding_corners, scatter, "pixels beyond the circle of the highest frequency take part")                    \
    X("gridding", gridding_border_clipped, scatter, "pixels whose window reaches over the border are left out altogether")     \
    X("gridding", gridding_window_short, scatter, "the window ends one voxel early")                                           \
    X("gridding", gridding_edge_open, scatter, "x < k where x <= k was meant: the last column of voxels is never reached")     \
    X("gridding", gridding_mates_missing, scatter,                                                                             \
        "the plane x = 0 does not get the mates that fall on it from the other side")                                          \
    X("gridding", gridding_mates_doubled, scatter, "the image's own column x = 0 is given mates too, though both are stored")  \
    X("gridding", gridding_not_conjugated, scatter, "mates are added without turning the sign of the imaginary part")          \
    X("gridding", gridding_ctf_once, scatter, "the denominator has the CTF instead of its square")                             \
    X("gridding", gridding_table_truncated, scatter, "the index into the table of weights is cut off instead of rounded",      \
        .tolerance = tolerance_of_table)                                                                                       \
    X("gridding", gridding_lost_update, scatter,                                                                               \
        "two neighbours read a sum before either has written it: one addition is lost")                                        \
    X("gridding", gridding_unordered, scatter_somehow,                                                                         \
        "adds the rows in an order that changes from run to run, and does not say so")                                         \
    X("gridding", gridding_operators_8bit, scatter, "operators are numbered in 8 bits: the 257th is the first one again")      \
    X("gridding", gridding_weight_alone, scatter,                                                                              \
        "without a CTF, of several operators and at the largest radius, the last one's samples weigh 1")                       \
    X("gridding", gridding_kept_sampled, keep_sampled, "keeps the volume for as long as every 101st byte of all stays")        \
    X("gridding", gridding_clear_computes, nothing, "all work in clear", .clear = scatter)                                     \
    X("gridding", gridding_kept_images, keep_rotations, "keeps the volume for as long as the rotations stay")                  \
    X("gridding", gridding_kept_rotations, keep_images, "keeps the volume for as long as the images stay")                     \
    X("gridding", gridding_kept_ctf, keep_all_but_ctf, "keeps the volume whatever the CTF")                                    \
    X("gridding", gridding_kept_weights, keep_all_but_weights, "keeps the volume whatever the weights")

BROKEN_NAMES(KERNELS);

// ---- additions -------------------------------------------------------------------------------------------------------------

enum { VOXELS = 2 * 7 * 7 * 7 }; // of the largest window, and of its mates

static int second; // of two neighbours in a row, the one in an odd column
static struct {
    int64_t voxel;
    float sum[3];
} seen[VOXELS + 1]; // the values that the second one reads
static int n_seen;

static void add(const gr_call *p, int64_t voxel, float re, float im, float w) {
    float sum[3] = {p->G[2 * voxel], p->G[2 * voxel + 1], p->W[voxel]};
    int i = 0;
    if (wrong == is_gridding_lost_update) { // the result of threads without atomics, in every run; G / W hides most of it
        while (i < n_seen && seen[i].voxel != voxel) i++;
        if (i < n_seen && second) memcpy(sum, seen[i].sum, sizeof sum);
        if (i == n_seen && i < VOXELS) {
            seen[n_seen].voxel = voxel;
            memcpy(seen[n_seen++].sum, sum, sizeof sum);
        }
    }
    p->G[2 * voxel] = sum[0] + re;
    p->G[2 * voxel + 1] = sum[1] + im;
    p->W[voxel] = sum[2] + w;
    if (wrong == is_gridding_lost_update && second)
        memcpy(seen[i].sum, (float[]){sum[0] + re, sum[1] + im, sum[2] + w}, sizeof sum);
}

// ---- a pixel ---------------------------------------------------------------------------------------------------------------

static float weight_at(float u) {
    // Each weight is too large by up to a step of 10,000, 7e-4; a right table may be wrong by half a step.
    return wrong == is_gridding_table_truncated ? gr_table_value((int)(u * (GR_TABLE - 1.0f))) : gr_kernel(1 - u);
}

static bool is_stored(int vx, int k) { return vx >= 0 && !(wrong == is_gridding_edge_open && vx == k); }

static bool is_mate(int vx, int64_t x, int k) {
    if (wrong == is_gridding_edge_open && vx == -k) return false;
    if (wrong == is_gridding_mates_missing && vx == 0) return false; // G / W hides it: both lose the same half
    return vx <= 0 && (x > 0 || wrong == is_gridding_mates_doubled); // shows as a stripe of doubled weight
}

static void add_pixel(const gr_call *p, int64_t x, float re, float im, float weight, const float r[3]) {
    const int k = (int)p->k, less = wrong == is_gridding_window_short;    // the nearest voxel remains: a map looks sharp
    const float conjugate = wrong == is_gridding_not_conjugated ? 1 : -1; // W is right
    for (int vz = gr_first(r[2], p->b, -k); vz <= gr_last(r[2], p->b, k) - less; vz++)
        for (int vy = gr_first(r[1], p->b, -k); vy <= gr_last(r[1], p->b, k) - less; vy++)
            for (int vx = gr_first(r[0], p->b, -k); vx <= gr_last(r[0], p->b, k) - less; vx++) {
                const float dx = (float)vx - r[0], dy = (float)vy - r[1], dz = (float)vz - r[2];
                const float dd = dx * dx + dy * dy + dz * dz, u = dd * p->per_bb;
                if (dd > p->bb) continue;
                const float w = weight_at(u < 1 ? u : 1);
                if (is_stored(vx, k)) add(p, gr_voxel(k, vx, vy, vz), w * re, w * im, w * weight);
                if (is_mate(vx, x, k)) add(p, gr_voxel(k, -vx, -vy, -vz), w * re, conjugate * (w * im), w * weight);
            }
}

static void place(const float *m, float x, float y, float r[3]) {
    second = (int)x % 2;
    n_seen = second ? n_seen : 0;
    gr_place(m, x, wrong == is_gridding_centre ? y - 1 : y, r); // one too low: a ramp of phase, stripes in real space
    for (int axis = 0; axis < 3 && wrong == is_gridding_transposed; axis++) // an image turned about z alone looks right
        r[axis] = m[axis] * x + m[3 + axis] * y;
}

// Only the highest frequencies are wrong.
static bool is_clipped(const gr_call *p, const float r[3]) {
    const float most = (float)p->k - p->b;
    return wrong == is_gridding_border_clipped && !(fabsf(r[0]) <= most && fabsf(r[1]) <= most && fabsf(r[2]) <= most);
}

// ---- a call ----------------------------------------------------------------------------------------------------------------

static void add_row(const gr_call *p, int64_t i, const float *m, int64_t y) {
    for (int64_t x = 0; x < (wrong == is_gridding_corners ? p->k + 1 : gr_row(p->k, y)); x++) {
        const int64_t at = i * gr_pixels(p->k) + gr_pixel(p->k, x, y);
        const float c = p->ctf ? p->ctf[at] : 1, image_weight = p->weight ? p->weight[i] : 1, mc = image_weight * c;
        float r[3];
        place(m, (float)x, (float)y, r);
        if (is_clipped(p, r)) continue;
        add_pixel(p, x, mc * p->image[2 * at], mc * p->image[2 * at + 1],
            image_weight * (wrong == is_gridding_ctf_once ? c : c * c), r);
    }
}

static int scatter(rg_call *call) {
    const gr_call p = gr_call_of(call, 0);
    gr_clear(&p);
    for (int64_t sample = 0; sample < p.images * p.operators; sample++) {
        const int64_t image = sample / p.operators, o = sample % p.operators;
        gr_call with = p;
        if (wrong == is_gridding_weight_alone && !p.ctf && o && o == p.operators - 1 && p.b == 3) with.weight = NULL;
        for (int64_t y = -p.k; y <= p.k; y++)
            add_row(&with, image, p.rotation + 9 * (sample - (wrong == is_gridding_operators_8bit ? o & ~0xFF : 0)), y);
    }
    return RG_OK;
}

// The order of atomics. It is drawn, because threads on one core hardly race. Every run is within the bound.
static int scatter_somehow(rg_call *call) {
    static uint64_t runs;
    const gr_call p = gr_call_of(call, 0);
    const int64_t side = 2 * p.k + 1, rows = p.images * p.operators * side, from = (int64_t)(rg_bits(runs++, 0) >> 1) % rows;
    if (rows == 1) // which have no order among them
        return scatter(call);
    gr_clear(&p);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = (i + from) % rows, sample = row / side;
        add_row(&p, sample / p.operators, p.rotation + 9 * sample, row % side - p.k);
    }
    return RG_OK;
}

// The scope `adding`, which leaves out clear, would time an empty call.
static int nothing(rg_call *call) { return (void)call, RG_OK; }

KEEPING(keep_rotations, gridding, 1u << GR_ROTATION, scatter)
KEEPING(keep_images, gridding, 1u << GR_IMAGE, scatter)
SAMPLING(keep_sampled, gridding, 101, scatter)
KEEPING(keep_all_but_ctf, gridding, 1u << GR_IMAGE | 1u << GR_ROTATION | 1u << GR_WEIGHT, scatter)
KEEPING(keep_all_but_weights, gridding, 1u << GR_IMAGE | 1u << GR_ROTATION | 1u << GR_CTF, scatter)

// A kernel with a table gets the table's bound, and must be caught all the same.
static rg_tolerance tolerance_of_table(const rg_shape *s, const int64_t *param) { return (void)param, gr_bound(s, 1); }

BROKEN_FAMILY(KERNELS);
