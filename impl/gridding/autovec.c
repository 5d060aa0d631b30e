// SPDX-License-Identifier: MIT
// autovec.c: gather as a compiler vectorises it, on one core or all: the voxels near an image, of a plane of the volume, are
// listed row by row, and the loops over the list collect one pixel of every voxel's window at a time.
//
// The disc of an image is first copied to a square with both halves, zeros beyond the circle and a margin, so that no pixel
// needs a look at the border. Bound: fp32, by the pixels of windows, of which half are within b.
#include "../runtime/cpu.h"
#include "../simd/autovec.h"
#include "bound.h"
#include "call.h"

enum { LIST = 512, ROW = 256, MARGIN = 8 }; // MARGIN: of the copy, in pixels; 2b + 1 at most

typedef struct list {
    int n;
    int voxel[LIST], at[LIST];          // voxel of the plane; first pixel of its window in the copy
    float x[LIST], y[LIST], rest[LIST]; // place in the image, then the window's first pixel seen from it; 1 - height^2 / b^2
    float re[LIST], im[LIST], w[LIST];
} list;

// An image as the lists see it: re, im, w of pixel (x, y) at (y + k + MARGIN) pitch + x + k + MARGIN.
typedef struct copy {
    int64_t pitch, floats; // of a part
    float *part[3];
} copy;

static copy copy_of(const rg_shape *s, float *scratch)
{
    const int64_t pitch = 2 * (gr_k(s->n[GR_SIDE]) + MARGIN) + 1, floats = pitch * pitch;
    const copy c = {pitch, floats, {scratch, scratch + floats, scratch + 2 * floats}};
    return c;
}

static void copy_row(const gr_call *p, const copy *c, int64_t image, int64_t y)
{
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

// Voxels first .. first + n - 1 of row (y, z).
RG_HD void append(const gr_call *p, const float *m, int first, int n, int y, int z, list *l)
{
    float own[9], fy = (float)y, fz = (float)z;
    memcpy(own, m, sizeof own);
    const int row = (int)gr_voxel(p->k, first, y, (int)-p->k);
    for (int i = 0; i < n; i++) {
        const float fx = (float)(first + i), h = own[2] * fx + own[5] * fy + own[8] * fz;
        l->x[l->n + i] = own[0] * fx + own[3] * fy + own[6] * fz;
        l->y[l->n + i] = own[1] * fx + own[4] * fy + own[7] * fz;
        l->rest[l->n + i] = 1 - h * h * p->per_bb;
        l->voxel[l->n + i] = row + i;
    }
    l->n += n;
}

// Adds the windows of all listed voxels to the plane that begins at voxel `plane`.
RG_HD void collect(const gr_call *p, const copy *c, int64_t plane, list *restrict l)
{
    const int n = l->n, pitch = (int)c->pitch, side = (int)(2 * p->b) + 1, origin = ((int)p->k + MARGIN) * (pitch + 1);
    const float b = p->b, per_bb = p->per_bb, lowest = -(float)(p->k + 4), highest = (float)p->k + 1;
    const float *restrict re = c->part[0], *restrict im = c->part[1], *restrict w = c->part[2];
    for (int i = 0; i < n; i++) {
        const float fx = ceilf(l->x[i] - b), fy = ceilf(l->y[i] - b);
        const float x = fx < lowest ? lowest
            : fx > highest          ? highest
                                    : fx,
                    y = fy < lowest ? lowest
            : fy > highest          ? highest
                                    : fy;
        l->x[i] = x - l->x[i];
        l->y[i] = y - l->y[i];
        l->at[i] = origin + (int)y * pitch + (int)x;
        l->re[i] = l->im[i] = l->w[i] = 0;
    }
    for (int j = 0; j < side; j++)
        for (int column = 0; column < side; column++) {
            const int step = j * pitch + column;
#pragma omp simd
            for (int i = 0; i < n; i++) {
                const float dx = l->x[i] + (float)column, dy = l->y[i] + (float)j,
                            q = l->rest[i] - (dx * dx + dy * dy) * per_bb;
                const float weight = gr_nested(q > 0 ? q : 0);
                const int at = l->at[i] + step;
                l->re[i] += weight * re[at];
                l->im[i] += weight * im[at];
                l->w[i] += weight * w[at];
            }
        }
    for (int i = 0; i < n; i++) {
        const int64_t voxel = plane + l->voxel[i];
        p->G[2 * voxel] += l->re[i];
        p->G[2 * voxel + 1] += l->im[i];
        p->W[voxel] += l->w[i];
    }
    l->n = 0;
}

// One plane of the volume, one sample.
RG_HD void gridding_plane(const gr_call *p, const copy *c, const float *m, int z, list *l)
{
    const int k = (int)p->k;
    const float steep = fabsf(m[2]), reach = p->b + 0.01f; // what is too much has no pixel within b
    for (int y = -k; y <= k; y++) {
        const float height = m[5] * (float)y + m[8] * (float)z, beyond = (float)k + p->b;
        const float in_ball = beyond * beyond - (float)y * (float)y - (float)z * (float)z;
        int first = 0, last = in_ball < 0 ? -1 : gr_last(0, sqrtf(in_ball), k);
        if (steep > 1e-5f) {
            first = gr_first(-height / m[2], reach / steep, 0);
            last = gr_last(-height / m[2], reach / steep, last);
        } else if (fabsf(height) > reach)
            continue;
        for (; first <= last; first += ROW) {
            const int n = last - first + 1 < ROW ? last - first + 1 : ROW;
            if (l->n + n > LIST) collect(p, c, gr_voxel(k, 0, -k, z), l);
            append(p, m, first, n, y, z, l);
        }
    }
    collect(p, c, gr_voxel(k, 0, -k, z), l);
}
RG_AUTOVEC(gridding_plane, (const gr_call *p, const copy *c, const float *m, int z, list *l), (p, c, m, z, l))

static int run(rg_call *call)
{
    const gr_call plan = gr_call_of(call, 0), *p = &plan;
    const copy c = copy_of(call->shape, (float *)call->scratch);
    gridding_plane_fn *plane = gridding_plane_for(rg_cpu_has(RG_AUTOVEC_WIDE));
    gr_clear(p);
#pragma omp parallel num_threads(call->threads)
    {
        list l = {.n = 0};
        for (int64_t i = 0; i < p->images; i++) {
#pragma omp for
            for (int64_t y = -p->k - MARGIN; y <= p->k + MARGIN; y++) copy_row(p, &c, i, y);
#pragma omp for schedule(dynamic, 4)
            for (int64_t z = -p->k; z <= p->k; z++)
                for (int64_t j = 0; j < p->operators; j++)
                    plane(p, &c, gr_rotation(p->rotation, p->operators, i, j), (int)z, &l);
        }
    }
    return RG_OK;
}

static size_t scratch(const rg_shape *s, const int64_t *param)
{
    (void)param;
    return 3 * (size_t)copy_of(s, NULL).floats * sizeof(float);
}

static rg_tolerance tolerance(const rg_shape *s, const int64_t *param)
{
    return (void)param, gr_bound_for(s, GR_NESTED_ERROR, 0);
}

// Per pair within b: the squared distance, the polynomial and three sums.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c)
{
    (void)param;
    c->amount[RG_F32_MAD] = gr_pairs(s) * (3 + GR_NESTED_OPERATIONS + 3);
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
