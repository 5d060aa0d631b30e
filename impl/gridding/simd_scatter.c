// SPDX-License-Identifier: MIT
// simd_scatter.c: each pixel is added to the voxels around it, brick by brick, with AVX2 or AVX-512, on one core or all.
//
// A brick of 32 x 16 x 16 voxels, with a margin for the windows that reach over its faces, is summed in cache by one thread,
// and written once: no two threads write the same voxel, and results do not depend on their number. The price is that a pixel
// near a face is added in both bricks, and each time partly to margins (1.7 times the work at b = 1.9). Of a sample (image with
// operator, and again its mates at -p) the rows and, in each row, the interval of pixels that reach the brick follow from the
// inverse of the rotation; a window is 4 x 4 x 4 voxels (8 x 8 x 8 from b = 2 on), 16 weights a vector by the polynomial of
// kernel.h, added to records (Re G, Im G, W, 0) of four voxels at a time.
//
// Pixels of a row are taken in steps of STRIDE: the windows of neighbours overlap, and a load of records that were just stored
// at another offset would have to wait until they have left for the cache.
//
// Bound: RG_F32_MAD, counting all 64 lanes of the window, of which 29 are within b at b = 1.9. simd_gather does less: it
// neither reads nor writes a volume for each pixel, and computes 61 weights a pixel instead of 64 x 1.7. Measured:
// data/machines/h200-16xeon.tsv.
#include "../runtime/cpu.h"
#include "bound.h"
#include "call.h"

enum { BX = 32, BY = 16, BZ = 16, STRIDE = 8 };
enum { LOW = 6, HIGH = 8 }; // margins: a window begins at most 2b below the brick, and ends 7 voxels after its last beginning
enum { PX = LOW + BX + HIGH, PY = LOW + BY + HIGH, PZ = LOW + BZ + HIGH };

typedef struct plan {
    gr_call call;
    float scale; // sqrt 2 / b: of distances so scaled, t = 1 - d^2 is the variable of the kernel's polynomial
} plan;

typedef struct brick {
    int low[3], past[3]; // voxels lo <= v < past
    int touched;         // whether sum[] is cleared and used
    _Alignas(64) float sum[(size_t)PZ * PY * PX * 4];
} brick;

static const int size[3] = {BX, BY, BZ};

// The pixels of a row that reach the brick: first .. last; none when last < first.
typedef struct interval {
    int first, last;
} interval;

// Half planes: sample s, and its mates: rotation times -1, image conjugated, without the column x = 0.
typedef struct half {
    float m[9], sign; // sign of the imaginary parts
    const float *image, *ctf;
    float weight;
    int first; // column
} half;

static half half_of(const plan *p, int64_t sample, int mates)
{
    const gr_call *c = &p->call;
    const int64_t i = sample / c->operators;
    half h = {.sign = mates ? -1 : 1,
        .image = c->image + 2 * i * gr_pixels(c->k),
        .first = mates,
        .ctf = c->ctf ? c->ctf + i * gr_pixels(c->k) : NULL,
        .weight = c->weight ? c->weight[i] : 1};
    for (int e = 0; e < 9; e++) h.m[e] = h.sign * c->rotation[9 * sample + e];
    return h;
}

// Range of (column `axis` of m).v over the voxels of the brick and b around them, a hundredth more for rounding.
static void extent(const plan *p, const brick *b, const float *m, int axis, float *low, float *high)
{
    float middle = 0, half_width = 0;
    for (int a = 0; a < 3; a++) {
        const float c = m[3 * a + axis];
        middle += c * (float)(b->low[a] + b->past[a] - 1) / 2;
        half_width += fabsf(c) * ((float)(b->past[a] - b->low[a] - 1) / 2 + p->call.b + 0.01f);
    }
    *low = middle - half_width;
    *high = middle + half_width;
}

// Pixels x of row y with r within b of the brick along every axis, and inside the circle.
static interval reaching(const plan *p, const brick *b, const half *h, int y)
{
    float low = (float)h->first, high = (float)(gr_row(p->call.k, y) - 1);
    for (int a = 0; a < 3; a++) {
        const float slope = h->m[3 * a], at = h->m[3 * a + 1] * (float)y;
        const float from = (float)b->low[a] - p->call.b - 0.01f - at, to = (float)(b->past[a] - 1) + p->call.b + 0.01f - at;
        if (fabsf(slope) < 1e-6f) { // the row runs along the brick's faces
            if (from > 0.01f || to < -0.01f) high = low - 1;
            continue;
        }
        const float enter = (slope > 0 ? from : to) / slope, leave = (slope > 0 ? to : from) / slope;
        if (enter > low) low = enter;
        if (leave < high) high = leave;
    }
    const interval x = {gr_first(low, 0, h->first), gr_last(high, 0, (int)p->call.k)};
    return x;
}

static void clear(brick *b)
{
    if (!b->touched) memset(b->sum, 0, sizeof b->sum);
    b->touched = 1;
}

#define SIMD_LANES 16
#include "../simd/simd.h"
#include "simd_weights.h"
#include "simd_scatter_isa.h"
#undef SIMD_LANES
#define SIMD_LANES 8
#include "../simd/simd.h"
#include "simd_weights.h"
#include "simd_scatter_isa.h"

// ---- the whole volume ----------------------------------------------------------------------------------------------------

typedef void brick_fn(const plan *, brick *);

static brick_fn *choose(const rg_shape *s, const int64_t *param)
{
    const int wide = s->n[GR_RADIUS] >= 20, avx512 = param[0] == 512 || (param[0] == 0 && rg_cpu_has("avx512"));
    return avx512 ? wide ? avx512_wide : avx512_narrow : wide ? avx2_wide : avx2_narrow;
}

static void write_brick(const plan *p, const brick *b)
{
    const gr_call *c = &p->call;
    const int64_t n = b->past[0] - b->low[0];
    for (int z = b->low[2]; z < b->past[2]; z++)
        for (int y = b->low[1]; y < b->past[1]; y++) {
            const int64_t v = gr_voxel(c->k, b->low[0], y, z);
            const float *sum = b->sum + 4 * (((z - b->low[2] + LOW) * PY + y - b->low[1] + LOW) * PX + LOW);
            for (int64_t x = 0; x < n; x++) {
                c->G[2 * (v + x)] = b->touched ? sum[4 * x] : 0;
                c->G[2 * (v + x) + 1] = b->touched ? sum[4 * x + 1] : 0;
                c->W[v + x] = b->touched ? sum[4 * x + 2] : 0;
            }
        }
}

static int run(rg_call *call)
{
    plan p = {.call = gr_call_of(call, 0)};
    p.scale = (float)(sqrt(2.0) / ((double)call->shape->n[GR_RADIUS] / 10));
    const int k = (int)p.call.k, low[3] = {0, -k, -k}, nx = k / BX + 1, ny = 2 * k / BY + 1, nz = 2 * k / BZ + 1;
    brick_fn *scatter = choose(call->shape, call->param);
#pragma omp parallel num_threads(call->threads)
    {
        brick b;
#pragma omp for schedule(dynamic)
        for (int t = 0; t < nx * ny * nz; t++) {
            const int number[3] = {t % nx, t / nx % ny, t / nx / ny};
            for (int a = 0; a < 3; a++) {
                b.low[a] = low[a] + number[a] * size[a];
                b.past[a] = b.low[a] + size[a] < k + 1 ? b.low[a] + size[a] : k + 1;
            }
            b.touched = 0;
            scatter(&p, &b);
            write_brick(&p, &b);
        }
    }
    return RG_OK;
}

static const char *refuse(const rg_shape *s, const int64_t *param)
{
    (void)s;
    return param[0] == 512 && !rg_cpu_has("avx512") ? "isa=512 needs avx512" : NULL;
}

// Windows, all lanes, in the bricks that they reach: the weights take GR_WEIGHT_MADS multiply-adds a lane, the sums 4.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c)
{
    (void)param;
    const double b = (double)s->n[GR_RADIUS] / 10, lanes = s->n[GR_RADIUS] >= 20 ? 512 : 64;
    const double again = (1 + 2 * b / BX) * (1 + 2 * b / BY) * (1 + 2 * b / BZ);
    c->amount[RG_F32_MAD] = gr_inserted(s) * again * lanes * (GR_WEIGHT_MADS + 4);
}

static const int64_t isa_values[] = {0, 2, 512};
static const rg_param params[] = {{"isa", isa_values, RG_COUNT(isa_values), 0, "0 best here, 2 AVX2, 512 AVX-512"}};

RG_VARIANT(gridding_simd_scatter) = {
    RG_VARIANT_OF("gridding", "simd_scatter", RG_SIMD, RG_HOST,
        "pixels are added to windows of 4 x 4 x 4 voxels of a brick in cache; any number of cores"),
    .needs = "avx2",
    .flags = RG_THREADED,
    RG_PARAMS(params),
    .refuse = refuse,
    .cost = cost,
    .run = run,
};
