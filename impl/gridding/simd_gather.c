// SPDX-License-Identifier: MIT
// simd_gather.c: each voxel collects its pixels, brick by brick, with AVX2 or AVX-512, on one core or all.
//
// The volume is cut into bricks of 16 x 16 x 24 voxels, whose sums stay in cache while all samples pass. One thread writes each
// brick once, so that results do not depend on the number of threads. add=1 adds the brick to the volume, so that images can
// come in several calls without a second volume. Neighbours along x share cache lines of the volume, and two cores that write
// to one line at once wait for each other. Hence a task is a row of bricks if that makes 8 tasks a thread; else it is one
// brick, and its neighbour along x follows a layer of tasks later. A sample (an image with an operator) visits only the bricks
// that its slab of thickness 2b meets; in each, row by row along x, the voxels within b of its plane become hits.
//
// A hit is a block of pixels, 4 columns wide (8 from b = 2 on), with as many rows as its disc meets: with AVX-512 hits are
// sorted into those with 4 rows, 3, or fewer (7, 6, fewer). A vector of weights, computed by squares.h, is one row of the
// blocks of 4 hits (2 with AVX2 or 8 columns). All rows of 8 hits (4) are computed together, term by term, so that no port
// waits for one dependency chain. Each row of a hit is then one multiply-add, and the totals of 4 hits (2) end in one vector.
//
// To allow this, images are copied to rows of records (m c Re F, m c Im F, m c^2, 0), so that one load gets the four pixels of
// a row. Margins and pixels beyond the circle are zero, so that the inner loops test no bounds. A brick whose centre has x < 0
// uses the mate, at -t, and the imaginary part changes its sign.
//
// Bound: RG_F32_MAD, counting 4 (or 8) lanes of each row that a disc meets, of which there are pi b/2 on average: 9
// multiply-adds a lane, and 2b hits a pixel. The two ports for 512 bits also permute weights, add lanes up and find hits: in
// the listing, 8 hits of three rows take 140 of their instructions, 54 of them counted, and finding them 40 more, which limits
// it to 0.3 of the peak rate. With few images the bound is the volume's cache lines; hence they are prefetched before they are
// written. Measured: data/machines/h100-16xeon.tsv.
#include "../runtime/cpu.h"
#include "bound.h"
#include "call.h"
#include "squares.h"

enum { BX = 16, BY = 16, BZ = 24, BRICK = BX * BY * BZ, LANES_MOST = 16 };

// Kinds of hits, by the number of rows that their discs meet; each kind is padded to a multiple of TOGETHER.
enum { KINDS = 3, TOGETHER = 8, HITS_MOST = BRICK + KINDS * TOGETHER + LANES_MOST, VECTORS_MOST = 2 * 7 };

// Columns of a block, and most rows that a disc meets, for b < 2 and for b <= 3.
static inline int columns_of(const rg_shape *s) { return s->n[GR_RADIUS] < 20 ? 4 : 8; }
static inline int rows_of(int columns) { return columns == 4 ? 4 : 7; }

// Margins of a copied image, enough for the block of any place within b of the disc: rows -k - 6 .. k + 9, and to the right as
// many columns as a block has. On the left half a brick is added, 15.7 from its centre to a corner.
enum { LEFT = 18, ABOVE = 6, BELOW = 9 };

typedef struct plan {
    gr_call call;
    int add;                 // adds to the volume instead of overwriting it
    int64_t samples, padded; // samples, and rounded up to a vector
    int64_t pitch, records;  // of a row and of an image, in records
    float scale;             // of distances: t of squares.h is TOP less the square of a scaled distance
    float *record;           // [image][row][column][4]
    float *normal[3];        // of every sample; the padding is 0, with height 2b
    float *height;           // largest |n.v| at which a brick's centre still matters
    int nx, ny, nz;          // bricks along each axis
    size_t bytes;
} plan;

// Where a brick lies in a sample's image: in the image itself or in its mate, whichever has the brick's centre at x >= 0.
typedef struct place {
    float m[9], corner[3]; // voxel (x, y, z) of the brick is at corner + m^T (x, y, z)
    float sign;            // -0 in the mate
    int32_t first;         // the record of pixel (0, 0)
} place;

// Hits of one sample in one brick; kind i has those from start[i] to start[i + 1]. ux, uy: the block's first pixel relative to
// the place; t: at the foot of the voxel; block: start of the block; sum: the voxel's record in sum[].
typedef struct hits {
    int start[KINDS + 1];
    float sign; // of the imaginary part, as 0 or -0
    float ux[HITS_MOST], uy[HITS_MOST], t[HITS_MOST];
    int32_t block[HITS_MOST], sum[HITS_MOST];
} hits;

// Voxels within b of a plane, as numbers row * BX + x: in the order of the brick, and of each kind.
typedef struct voxels {
    int n, many[KINDS];
    float found[BRICK + LANES_MOST], of[KINDS][BRICK + LANES_MOST];
} voxels;

typedef struct brick {
    int x, y, z, nz; // first voxel; planes inside the volume
    int touched;     // whether sum[] is cleared and used
    // Of each row: its place, and the last voxel inside the volume and within b of the ball of radius k, -1 if none.
    float row_y[BY * BZ], row_z[BY * BZ], last[BY * BZ];
    _Alignas(64) float sum[4 * (BRICK + 1)]; // a record a voxel, and one for padding
} brick;

static void touch(brick *b) {
    memset(b->sum, 0, sizeof b->sum);
    b->touched = 1;
}

static place place_of(const plan *p, const brick *b, int64_t sample) {
    const float *m = p->call.rotation + 9 * sample;
    const float corner[3] = {(float)b->x, (float)b->y, (float)b->z};
    const float half[3] = {(BX - 1) / 2.0f, (BY - 1) / 2.0f, (BZ - 1) / 2.0f};
    float centre = 0;
    for (int axis = 0; axis < 3; axis++) centre += m[3 * axis] * (corner[axis] + half[axis]);
    place at = {.sign = centre < 0 ? -0.0f : 0.0f};
    for (int axis = 0; axis < 3; axis++)
        for (int a = 0; a < 3; a++) {
            at.m[3 * axis + a] = centre < 0 && a < 2 ? -m[3 * axis + a] : m[3 * axis + a];
            at.corner[a] += at.m[3 * axis + a] * corner[axis];
        }
    at.first = (int32_t)(sample / p->call.operators * p->records + (p->call.k + ABOVE) * p->pitch) + LEFT;
    return at;
}

// Pads the hits from n to a multiple of 8, with hits that add nothing. Returns the padded number.
static inline int fill_up(hits *h, int n) {
    for (; n % 8; n++) {
        h->ux[n] = h->uy[n] = 0;
        h->t[n] = -1;
        h->block[n] = 0;
        h->sum[n] = 4 * BRICK;
    }
    return n;
}

// Prefetches the pixels of hits, one row for each group of neighbours, whose blocks overlap.
static inline void call_for(const plan *p, const hits *h, int columns) {
    const int64_t pitch = 4 * p->pitch;
    for (int i = 0; i < h->start[KINDS]; i += 4)
        for (int row = 0; row < columns; row++)
            __builtin_prefetch(p->record + 4 * (int64_t)h->block[i + row % 4] + row * pitch);
}

#define SIMD_LANES 16
#include "../simd/simd.h"
#include "simd_gather_isa.h"
#undef SIMD_LANES
#define SIMD_LANES 8
#include "../simd/simd.h"
#include "simd_gather_isa.h"

// ---- the whole volume ----------------------------------------------------------------------------------------------------

typedef void brick_fn(const plan *, brick *, voxels *, hits *);

static brick_fn *choose(const rg_shape *s, const int64_t *param) {
    const int wide = columns_of(s) == 8, avx512 = param[0] == 512 || (param[0] == 0 && rg_cpu_has("avx512"));
    return avx512 ? wide ? avx512_wide : avx512_narrow : wide ? avx2_wide : avx2_narrow;
}

static plan lay_out(const rg_call *call) {
    plan p = {.call = gr_call_of(call, 0), .add = call->param && call->param[1]};
    const gr_call *c = &p.call;
    p.samples = c->images * c->operators;
    p.padded = (p.samples + LANES_MOST - 1) / LANES_MOST * LANES_MOST;
    p.pitch = LEFT + c->k + 1 + columns_of(call->shape);
    p.records = p.pitch * (ABOVE + 2 * c->k + 1 + BELOW);
    p.scale = (float)(GR_SQUARES_ROOT / ((double)call->shape->n[GR_RADIUS] / 10));
    p.nx = (int)(c->k / BX + 1);
    p.ny = (int)(2 * c->k / BY + 1);
    p.nz = (int)(2 * c->k / BZ + 1);
    const size_t floats = (size_t)(4 * c->images * p.records + 4 * p.padded);
    p.bytes = floats * sizeof(float);
    if (call->scratch) { // otherwise only the size is needed
        p.record = (float *)call->scratch;
        for (int a = 0; a < 3; a++) p.normal[a] = p.record + 4 * c->images * p.records + a * p.padded;
        p.height = p.normal[2] + p.padded;
    }
    return p;
}

// Records of n pixels from `at` upwards, or, for mates, from `at` downwards.
static inline void copy_pixels(const gr_call *c, float m, int64_t at, int step, float *record, int64_t n) {
    for (int64_t x = 0; x < n; x++, at += step, record += 4) {
        const float ctf = c->ctf ? c->ctf[at] : 1, mc = m * ctf;
        record[0] = mc * c->image[2 * at];
        record[1] = step < 0 ? -mc * c->image[2 * at + 1] : mc * c->image[2 * at + 1];
        record[2] = mc * ctf;
        record[3] = 0;
    }
}

// One row of an image as records; y may lie outside.
static void copy_row(const plan *p, int64_t i, int64_t y) {
    const gr_call *c = &p->call;
    const float m = c->weight ? c->weight[i] : 1;
    float *to = p->record + 4 * (i * p->records + (y + c->k + ABOVE) * p->pitch);
    const int64_t past = y < -c->k || y > c->k ? 0 : gr_row(c->k, y), mates = past < LEFT + 1 ? past - 1 : LEFT;
    if (!past) {
        memset(to, 0, (size_t)p->pitch * 4 * sizeof *to);
        return;
    }
    const int64_t first = i * gr_pixels(c->k);
    memset(to, 0, (size_t)(LEFT - mates) * 4 * sizeof *to);
    copy_pixels(c, m, first + gr_pixel(c->k, mates, -y), -1, to + 4 * (LEFT - mates), mates);
    copy_pixels(c, m, first + gr_pixel(c->k, 0, y), 1, to + 4 * LEFT, past);
    memset(to + 4 * (LEFT + past), 0, (size_t)(p->pitch - LEFT - past) * 4 * sizeof *to);
}

// A brick's centre matters to a sample within the reach of its slab, b, plus half the brick along the normal.
static void copy_normal(const plan *p, int64_t s) {
    const float half[3] = {(BX - 1) / 2.0f, (BY - 1) / 2.0f, (BZ - 1) / 2.0f};
    p->height[s] = -1;
    for (int a = 0; a < 3; a++) p->normal[a][s] = 0;
    if (s >= p->samples) return;
    p->height[s] = p->call.b + 0.01f; // a hundredth of a voxel for rounding; hits are decided voxel by voxel
    for (int a = 0; a < 3; a++) {
        p->normal[a][s] = p->call.rotation[9 * s + 3 * a + 2];
        p->height[s] += half[a] * fabsf(p->normal[a][s]);
    }
}

// Cuts the brick to the volume and to the ball that samples reach; false: nothing is left.
static int cut(const plan *p, brick *b) {
    const int64_t k = p->call.k;
    const float reach = ((float)k + p->call.b) * ((float)k + p->call.b);
    int most = 0;
    b->nz = (int)(k + 1 - b->z < BZ ? k + 1 - b->z : BZ);
    for (int row = 0; row < BY * BZ; row++) {
        const int64_t y = b->y + row % BY, z = b->z + row / BY;
        const float rest = reach - (float)(y * y + z * z);
        const int64_t last = y > k || z > k || rest < 0 ? -1 : (int64_t)sqrtf(rest), past = (last < k ? last : k) + 1 - b->x;
        const int n = past < 0 ? 0 : past < BX ? (int)past : BX;
        b->last[row] = (float)(n - 1);
        b->row_y[row] = (float)y;
        b->row_z[row] = (float)z;
        if (n > most) most = n;
    }
    return most;
}

// Prefetches n numbers for writing.
static inline void call_for_row(const float *row, int n) {
    for (int at = 0; at < n; at += 16) __builtin_prefetch(row + at, 1);
    __builtin_prefetch(row + n - 1, 1);
}

// Writes the voxels of a brick, or adds to them; writes zeros where no sample touched it.
static void write_brick(const plan *p, const brick *b) {
    const gr_call *c = &p->call;
    if (p->add && !b->touched) return;
    const int nx = (int)(c->k + 1 - b->x < BX ? c->k + 1 - b->x : BX), ny = (int)(c->k + 1 - b->y < BY ? c->k + 1 - b->y : BY);
    const int64_t plane = gr_width(c->k) * (2 * c->k + 1);
    for (int row = 0; row < b->nz * BY; row++) {
        if (row % BY >= ny) continue;
        const int64_t v = gr_voxel(c->k, b->x, b->y + row % BY, b->z + row / BY);
        float *G = c->G + 2 * v, *W = c->W + v;
        if (row / BY + 1 < b->nz) call_for_row(G + 2 * plane, 2 * nx), call_for_row(W + plane, nx);
        if (!b->touched) {
            memset(G, 0, (size_t)nx * 2 * sizeof *G);
            memset(W, 0, (size_t)nx * sizeof *W);
            continue;
        }
        for (int x = 0; x < nx && p->add; x++) {
            const float *sum = b->sum + 4 * (row * BX + x);
            G[2 * x] += sum[0];
            G[2 * x + 1] += sum[1];
            W[x] += sum[2];
        }
        for (int x = 0; x < nx && !p->add; x++) {
            const float *sum = b->sum + 4 * (row * BX + x);
            G[2 * x] = sum[0];
            G[2 * x + 1] = sum[1];
            W[x] = sum[2];
        }
    }
}

static int run(rg_call *call) {
    const plan p = lay_out(call);
    const int64_t k = p.call.k, rows = ABOVE + 2 * k + 1 + BELOW;
    const int in_row = p.ny * p.nz >= 8 * call->threads ? p.nx : 1; // bricks of a task
    brick_fn *gather = choose(call->shape, call->param);
#pragma omp parallel num_threads(call->threads)
    {
        _Alignas(64) brick b;
        voxels v;
        hits h[2];
#pragma omp for nowait
        for (int64_t s = 0; s < p.padded; s++) copy_normal(&p, s);
#pragma omp for
        for (int64_t row = 0; row < p.call.images * rows; row++) copy_row(&p, row / rows, row % rows - k - ABOVE);
#pragma omp for schedule(dynamic)
        for (int t = 0; t < p.nx / in_row * p.ny * p.nz; t++) {
            const int first = t / (p.ny * p.nz) * in_row;
            b.y = t % p.ny * BY - (int)k;
            b.z = t / p.ny % p.nz * BZ - (int)k;
            for (int x = first; x < first + in_row; x++) {
                b.x = x * BX;
                b.touched = 0;
                if (cut(&p, &b)) gather(&p, &b, &v, h);
                write_brick(&p, &b);
            }
        }
    }
    return RG_OK;
}

static int clear(rg_call *call) {
    const gr_call c = gr_call_of(call, 0);
    if (call->param[1]) gr_clear(&c);
    return RG_OK;
}

static plan sizes(const rg_shape *s) {
    void *const none[6] = {NULL};
    const rg_call call = {.shape = s, .arg = none};
    return lay_out(&call);
}

static size_t scratch(const rg_shape *s, const int64_t *param) { return (void)param, sizes(s).bytes; }

static const char *refuse(const rg_shape *s, const int64_t *param) {
    const plan p = sizes(s);
    if (param[0] == 512 && !rg_cpu_has("avx512")) return "isa=512 needs avx512";
    return p.call.images * p.records > INT32_MAX ? "more than 2^31 records of pixels: insert the images in parts" : NULL;
}

// Hits: the voxels of half a disc of thickness 2b. A lane takes a multiply-add for the distance,
// GR_SQUARES_OPERATIONS for the weight, 4 for the sums.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double b = (double)s->n[GR_RADIUS] / 10, lanes = columns_of(s) * 1.5708 * b;
    c->amount[RG_F32_MAD] = gr_inserted(s) * 2 * b * lanes * (GR_SQUARES_OPERATIONS + 5);
}

static rg_tolerance tolerance(const rg_shape *s, const int64_t *param) { return (void)param, gr_squares_bound(s); }

static const int64_t isa_values[] = {0, 2, 512}, add_values[] = {0, 1};
static const rg_param params[] = {
    {"isa", isa_values, RG_COUNT(isa_values), 0, "0 best here, 2 AVX2, 512 AVX-512"},
    {"add", add_values, RG_COUNT(add_values), 0, "0 writes the volume, 1 adds to what stands there, which was cleared before"},
};

RG_VARIANT(gridding_simd_gather) = {
    RG_VARIANT_OF("gridding", "simd_gather", RG_SIMD, RG_HOST,
        "bricks of the volume collect blocks of pixels, a row of 4 blocks a vector of weights; any number of cores"),
    .needs = "avx2",
    .flags = RG_THREADED,
    RG_PARAMS(params),
    .refuse = refuse,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .clear = clear,
    .run = run,
};
