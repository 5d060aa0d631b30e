// SPDX-License-Identifier: MIT
// autovec.c: gather as a compiler vectorises it, on one core or all. The voxels near an image, in a plane of the volume, are
// listed row by row. The weights of a voxel for a window of 4 x 4 pixels (8 x 8 from b = 2 on) are one vector of 16, and rows
// of four pixels are added at a time.
//
// The disc of an image is first copied to a square with both halves, zeros beyond the circle and a margin, so that no pixel
// tests the border. Bound: fp32, by the pixels of windows, of which half are within b. simd_gather computes fewer weights (only
// rows that a disc meets) and adds 16 numbers at a time, by permutations of weights that compilers do not generate from a loop.
#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "bound.h"
#include "call.h"
#include "squares.h"

enum { LIST = 512, ROW = 256, ROWS = 64, GROUP = 8, MARGIN = 8, SIDE_MOST = 8 }; // MARGIN: of the copy, in pixels

typedef struct list {
    int n;
    int voxel[LIST + GROUP], at[LIST]; // voxel of the plane; first pixel of its window in the copy
    float x[LIST + GROUP], y[LIST + GROUP],
        rest[LIST]; // place in the image, then the window's first pixel seen from it; t of the weight there (squares.h)
} list;

// An image as the lists use it: re, im, w of pixel (x, y) at (y + k + MARGIN) pitch + x + k + MARGIN.
typedef struct copy {
    int64_t pitch, floats; // of a part
    float *part[3];
} copy;

static copy copy_of(const rg_shape *s, float *scratch) {
    const int64_t pitch = 2 * (gr_k(s->n[GR_SIDE]) + MARGIN) + 1, floats = pitch * pitch;
    const copy c = {pitch, floats, {scratch, scratch + floats, scratch + 2 * floats}};
    return c;
}

static void copy_row(const gr_call *p, const copy *c, int64_t image, int64_t y) {
    const float m = p->weight ? p->weight[image] : 1;
    float *to[3];
    for (int part = 0; part < 3; part++) {
        to[part] = c->part[part] + (y + p->k + MARGIN) * c->pitch + p->k + MARGIN;
        memset(to[part] - p->k - MARGIN, 0, (size_t)c->pitch * sizeof(float));
    }
    if (y < -p->k || y > p->k) return;
    for (int64_t past = gr_row(p->k, y), x = 1 - past; x < past; x++) {
        const int64_t at = image * gr_pixels(p->k) + (x < 0 ? gr_pixel(p->k, -x, -y) : gr_pixel(p->k, x, y));
        const float f = p->ctf ? p->ctf[at] : 1;
        to[0][x] = m * f * p->image[2 * at];
        to[1][x] = (x < 0 ? -m : m) * f * p->image[2 * at + 1];
        to[2][x] = m * f * f;
    }
}

// Appends voxels first .. first + n - 1 of row (y, z), padded to a multiple of GROUP, so that short loops have a constant
// length and no remainder. The next voxels overwrite the padding.
RG_HD void append(const gr_call *p, int first, int n, int y, list *l) {
    const int row = (int)gr_voxel(p->k, first, y, -p->k);
    for (int at = 0; at < n; at += GROUP)
        for (int i = at; i < at + GROUP; i++) {
            l->x[l->n + i] = (float)(first + i);
            l->y[l->n + i] = (float)y;
            l->voxel[l->n + i] = row + i;
        }
    l->n += n;
}

// Adds the windows, `side` pixels wide, of all listed voxels of plane z.
RG_HD void collect(const gr_call *p, const copy *c, const float *m, int z, const int side, list *restrict l) {
    const int n = l->n, pitch = (int)c->pitch, origin = ((int)p->k + MARGIN) * (pitch + 1);
    const float b = p->b, per_bb = GR_SQUARES_A * p->per_bb, lowest = -(float)(p->k + 4), highest = (float)p->k + 1,
                fz = (float)z;
    const float *restrict re = c->part[0], *restrict im = c->part[1], *restrict mass = c->part[2];
    float own[9];
    memcpy(own, m, sizeof own);
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const float x = own[0] * l->x[i] + own[3] * l->y[i] + own[6] * fz,
                    y = own[1] * l->x[i] + own[4] * l->y[i] + own[7] * fz,
                    height = own[2] * l->x[i] + own[5] * l->y[i] + own[8] * fz;
        const float first_x = ceilf(x - b), first_y = ceilf(y - b);
        const float to_x = first_x < lowest ? lowest : first_x > highest ? highest : first_x;
        const float to_y = first_y < lowest ? lowest : first_y > highest ? highest : first_y;
        l->x[i] = to_x - x;
        l->y[i] = to_y - y;
        l->rest[i] = (float)GR_SQUARES_TOP - height * height * per_bb;
        l->at[i] = origin + (int)to_y * pitch + (int)to_x;
    }
    for (int i = 0; i < n; i++) {
        const int64_t voxel = gr_voxel(p->k, 0, -p->k, z) + l->voxel[i];
        float w[SIDE_MOST * SIDE_MOST], sum[3][SIDE_MOST] = {{0}};
        for (int e = 0; e < side * side; e++) {
            const float dx = l->x[i] + (float)(e % side), dy = l->y[i] + (float)(e / side);
            const float t = l->rest[i] - (dx * dx + dy * dy) * per_bb, weight = gr_squares(t > 0 ? t : 0);
            w[e] = weight > 0 ? weight : 0;
        }
        for (int j = 0; j < side; j++) {
            const int at = l->at[i] + j * pitch;
#pragma omp simd simdlen(4)
            for (int column = 0; column < side; column++) {
                sum[0][column] += w[j * side + column] * re[at + column];
                sum[1][column] += w[j * side + column] * im[at + column];
                sum[2][column] += w[j * side + column] * mass[at + column];
            }
        }
        for (int part = 0; part < 3; part++)
            for (int half = side / 2; half > 0; half /= 2)
                for (int column = 0; column < half; column++) sum[part][column] += sum[part][column + half];
        p->G[2 * voxel] += sum[0][0];
        p->G[2 * voxel + 1] += sum[1][0];
        p->W[voxel] += sum[2][0];
    }
    l->n = 0;
}

// The first and last voxel of rows y .. y + n - 1 of plane z within b of the sample's plane and of the ball of radius k, a
// little more for rounding: a voxel too many has no pixel within b.
RG_HD void find(const gr_call *p, const float *m, int z, int y, int n, int *restrict first, int *restrict last) {
    const float across = fabsf(m[2]) > 1e-6f ? m[2] : 1e-6f, half = (p->b + 0.01f) / fabsf(across), of_y = -m[5] / across,
                of_z = -m[8] / across * (float)z, k = (float)p->k, beyond = (k + p->b) * (k + p->b) - (float)z * (float)z;
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const float at_y = (float)(y + i), middle = of_y * at_y + of_z, rest = beyond - at_y * at_y;
        const float low = ceilf(middle - half), high = floorf(middle + half), in_ball = floorf(sqrtf(rest > 0 ? rest : 0));
        const float end = in_ball < k ? in_ball : k, to = high < end ? high : end;
        first[i] = (int)(low < 0 ? 0 : low > k + 1 ? k + 1 : low);
        last[i] = (int)(rest < 0 || to < 0 ? -1 : to);
    }
}

// Inserts one sample into one plane of the volume.
RG_HD void plane(const gr_call *p, const copy *c, const float *m, int z, const int side, list *l) {
    int first[ROWS], last[ROWS];
    for (int y = -(int)p->k; y <= p->k; y += ROWS) {
        const int n = p->k + 1 - y < ROWS ? (int)p->k + 1 - y : ROWS;
        find(p, m, z, y, n, first, last);
        for (int i = 0; i < n; i++)
            for (int x = first[i]; x <= last[i]; x += ROW) {
                const int voxels = last[i] - x + 1 < ROW ? last[i] - x + 1 : ROW;
                if (l->n + voxels > LIST) collect(p, c, m, z, side, l);
                append(p, x, voxels, y + i, l);
            }
    }
    collect(p, c, m, z, side, l);
}

// Windows of 4 x 4 pixels hold every disc of b < 2; else 8 x 8.
RG_HD void gridding_plane(const gr_call *p, const copy *c, const float *m, int z, list *l) {
    if (p->b < 2)
        plane(p, c, m, z, 4, l);
    else
        plane(p, c, m, z, SIDE_MOST, l);
}
RG_AUTOVEC(gridding_plane, (const gr_call *p, const copy *c, const float *m, int z, list *l), (p, c, m, z, l))

static int run(rg_call *call) {
    const gr_call plan = gr_call_of(call, 0), *p = &plan;
    const copy c = copy_of(call->shape, (float *)call->scratch);
    gridding_plane_fn *add = gridding_plane_for(rg_cpu_has(RG_AUTOVEC_WIDE));
    gr_clear(p);
#pragma omp parallel num_threads(call->threads)
    {
        list l = {.n = 0};
        for (int64_t i = 0; i < p->images; i++) {
#pragma omp for
            for (int64_t y = -p->k - MARGIN; y <= p->k + MARGIN; y++) copy_row(p, &c, i, y);
#pragma omp for schedule(dynamic, 4)
            for (int64_t z = -p->k; z <= p->k; z++)
                for (int64_t j = 0; j < p->operators; j++) add(p, &c, gr_rotation(p->rotation, p->operators, i, j), (int)z, &l);
        }
    }
    return RG_OK;
}

static size_t scratch(const rg_shape *s, const int64_t *param) {
    (void)param;
    return 3 * (size_t)copy_of(s, NULL).floats * sizeof(float);
}

static rg_tolerance tolerance(const rg_shape *s, const int64_t *param) { return (void)param, gr_squares_bound(s); }

// Per pair within b: the squared distance, the polynomial and three sums.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    c->amount[RG_F32_MAD] = gr_pairs(s) * (3 + GR_SQUARES_OPERATIONS + 3);
}

RG_VARIANT(gridding_autovec) = {
    RG_VARIANT_OF("gridding", "autovec", RG_SIMD, RG_HOST,
        "gather over lists of voxels as a compiler vectorises it, no intrinsics; any number of cores"),
    .needs = RG_AUTOVEC_NEEDS,
    .flags = RG_THREADED,
    .scratch = scratch,
    .tolerance = tolerance,
    .cost = cost,
    .run = run,
};
