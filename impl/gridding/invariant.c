// SPDX-License-Identifier: MIT
// invariant.c: invariants of G and W that hold for every variant.
//
// Weight mass: the sum of W over the cube -k .. k is the sum over pixels of the kernel's values at the voxels around them. Half
// of the cube is stored: voxels with x > 0 count twice, the plane x = 0 once, and a stored pixel counts as gr_mates.
// Adjointness: for any X on the stored voxels, <X, A F> = <A* X, F> in real parts, where A* gathers X with the same weights at
// the pixels. A pair lost, doubled or moved changes one side, although no voxel is compared. Both hold within the errors of
// bound.h summed over the pairs, which allow weights from the table.
#include "invariant.h"
#include "bound.h"
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double MOST_PIXELS = 2e6;
static const double LEAST_PARALLEL = 2e5; // pixels or voxels: below, starting threads takes longer than the work

typedef struct problem {
    const rg_shape *shape;
    int64_t k;
    double b;
    const float *image, *ctf, *weight, *rotation, *G, *W;
} problem;

// The sums over voxels as computed from the pixels, and their error bounds.
typedef struct sums {
    double mass, mass_error, product, product_error;
} sums;

double gr_inserted(const rg_shape *s) {
    const int64_t k = gr_k(s->n[GR_SIDE]);
    double pixels = 0;
    for (int64_t y = -k; y <= k; y++) pixels += (double)gr_row(k, y);
    return pixels * (double)s->n[GR_IMAGES] * (double)s->n[GR_OPERATORS];
}

// Re and Im of X at a voxel: 1 or -1.
static void signs(const problem *p, int64_t voxel, double x[2]) {
    const uint64_t bits = rg_bits(p->shape->seed ^ 0x5851F42D4C957F2Du, (uint64_t)voxel);
    x[0] = bits & 1 ? 1 : -1;
    x[1] = bits & 2 ? 1 : -1;
}

typedef struct pixel {
    double re, im, c, m; // the pixel, its CTF, the weight of its image
    int mates;
} pixel;

static void add_pair(const problem *p, const pixel *f, int64_t x, int64_t y, int64_t z, double w, double error, sums *to) {
    const double scale = f->m * f->c, size = fabs(scale) * (fabs(f->re) + fabs(f->im));
    double X[2];
    to->mass += f->mates * scale * f->c * w;
    // A product below the smallest normal float may be rounded to 0 whatever its relative error: CTF values of 1e-36 do that.
    to->mass_error += f->mates * (scale * f->c * error + FLT_MIN);
    if (x >= 0) {
        signs(p, gr_voxel(p->k, x, y, z), X);
        to->product += scale * w * (X[0] * f->re + X[1] * f->im);
        to->product_error += size * error + FLT_MIN;
    }
    if (x <= 0 && f->mates == 2) {
        signs(p, gr_voxel(p->k, -x, -y, -z), X);
        to->product += scale * w * (X[0] * f->re - X[1] * f->im);
        to->product_error += size * error + FLT_MIN;
    }
}

static void add_pixel(const problem *p, const pixel *f, const double r[3], sums *to) {
    const double b = p->b, misplaced = gr_misplaced((double)p->k, b), edge = 2 * misplaced / b + 1e-6;
    int64_t low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = (int64_t)fmax(ceil(r[a] - b - 0.01), (double)-p->k);
        high[a] = (int64_t)fmin(floor(r[a] + b + 0.01), (double)p->k);
    }
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++) {
                const double dx = (double)x - r[0], dy = (double)y - r[1], dz = (double)z - r[2];
                const double q = 1 - (dx * dx + dy * dy + dz * dz) / (b * b);
                if (q < -edge) continue;
                const double w = q < 0 ? 0 : gr_kernel((float)q);
                const double error = 2.38 / b * misplaced + 2 * GR_KERNEL_ERROR + GR_TABLE_ERROR * (7.25 * w + 0.2) +
                    (q < edge ? 1 / GR_I0_ALPHA : 0);
                add_pair(p, f, x, y, z, w, error, to);
            }
}

static void add_image(const problem *p, int64_t i, int64_t j, sums *to) {
    const int64_t k = p->k;
    const float *m = gr_rotation(p->rotation, p->shape->n[GR_OPERATORS], i, j);
    for (int64_t y = -k; y <= k; y++)
        for (int64_t x = 0; x < gr_row(k, y); x++) {
            const int64_t at = i * gr_pixels(k) + gr_pixel(k, x, y);
            const pixel f = {
                p->image[2 * at], p->image[2 * at + 1], p->ctf ? p->ctf[at] : 1, p->weight ? p->weight[i] : 1, gr_mates(x)};
            double r[3];
            for (int a = 0; a < 3; a++) r[a] = (double)m[3 * a] * (double)x + (double)m[3 * a + 1] * (double)y;
            add_pixel(p, &f, r, to);
        }
}

static sums from_pixels(const problem *p) {
    const int64_t operators = p->shape->n[GR_OPERATORS], n = p->shape->n[GR_IMAGES] * operators;
    double mass = 0, mass_error = 0, product = 0, product_error = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : mass, mass_error, product, product_error) \
    if (gr_inserted(p->shape) > LEAST_PARALLEL)
    for (int64_t at = 0; at < n; at++) {
        sums one = {0, 0, 0, 0};
        add_image(p, at / operators, at % operators, &one);
        mass += one.mass;
        mass_error += one.mass_error;
        product += one.product;
        product_error += one.product_error;
    }
    return (sums){mass, mass_error, product, product_error};
}

// A hash of all inputs, which determine the sums.
static uint64_t hash_of(const problem *p) {
    const float *part[] = {p->image, p->ctf, p->weight, p->rotation};
    const int64_t images = p->shape->n[GR_IMAGES], pixels = images * gr_pixels(p->k);
    const int64_t n[] = {2 * pixels, pixels, images, 9 * images * p->shape->n[GR_OPERATORS]};
    uint64_t hash = p->shape->seed;
    for (int i = 0; i < 4; i++)
        for (int64_t e = 0; part[i] && e < n[i]; e++) {
            uint32_t bits;
            memcpy(&bits, part[i] + e, sizeof bits);
            hash = rg_bits(hash, bits);
        }
    return hash;
}

// The sums for the last few inputs are kept, because computing them takes longer than the rest of a check, and all variants and
// parameters are compared with the same ones, each twice.
static sums known_from_pixels(const problem *p) {
    enum { KNOWN = 64 };
    static _Thread_local struct {
        rg_shape shape;
        uint64_t hash;
        sums sums;
    } known[KNOWN];
    static _Thread_local int next;
    const uint64_t hash = hash_of(p);
    for (int i = 0; i < KNOWN; i++)
        if (known[i].hash == hash && known[i].shape.seed == p->shape->seed &&
            !memcmp(known[i].shape.n, p->shape->n, sizeof p->shape->n))
            return known[i].sums;
    known[next].shape = *p->shape;
    known[next].hash = hash;
    known[next].sums = from_pixels(p);
    const sums right = known[next].sums;
    next = (next + 1) % KNOWN;
    return right;
}

static const char *sums_fault(const problem *p) {
    static _Thread_local char text[160];
    const sums right = known_from_pixels(p);
    const double rounding = gr_bound(p->shape, 0).relative;
    double mass = 0, product = 0, size = 0;
    for (int64_t v = 0; v < gr_voxels(p->k); v++) {
        double X[2];
        signs(p, v, X);
        mass += gr_mates(gr_voxel_x(p->k, v)) * (double)p->W[v];
        product += X[0] * p->G[2 * v] + X[1] * p->G[2 * v + 1];
        size += fabs(p->G[2 * v]) + fabs(p->G[2 * v + 1]);
    }
    if (!(fabs(mass - right.mass) <= right.mass_error + rounding * mass)) {
        snprintf(text, sizeof text, "weight mass: W sums to %.9g over the cube, the pixels' kernel weights to %.9g +- %.1g",
            mass, right.mass, right.mass_error);
        return text;
    }
    if (!(fabs(product - right.product) <= right.product_error + rounding * size)) {
        snprintf(text, sizeof text, "adjointness: <X, A F> = %.9g, <A* X, F> = %.9g +- %.1g", product, right.product,
            right.product_error);
        return text;
    }
    return NULL;
}

// Checks a voxel: the sign of W, 0 beyond reach of the disc, and conjugate mates in the plane x = 0.
static const char *voxel_fault(const problem *p, int64_t v, const rg_tolerance *t) {
    const int64_t k = p->k, x = gr_voxel_x(k, v), y = gr_voxel_y(k, v), z = gr_voxel_z(k, v);
    const double re = p->G[2 * v], im = p->G[2 * v + 1], w = p->W[v], reach = (double)k + p->b + 0.01;
    if (!(w >= 0)) return "is negative";
    if ((double)(x * x + y * y + z * z) > reach * reach && (w != 0 || re != 0 || im != 0))
        return "is out of reach of every pixel";
    if (x != 0) return NULL;
    const int64_t mate = gr_mate(k, y, z);
    if (!(fabs(w - p->W[mate]) <= 2 * (t->absolute + t->relative * w))) return "differs from the weight at -v";
    if (!(fabs(re - p->G[2 * mate]) <= 2 * (t->absolute + t->relative * fabs(re))) ||
        !(fabs(im + p->G[2 * mate + 1]) <= 2 * (t->absolute + t->relative * fabs(im))))
        return "has a G that is not the conjugate of that at -v";
    return NULL;
}

const char *gr_invariant(const rg_shape *s, void *const *arg) {
    static _Thread_local char text[160];
    const problem p = {s, gr_k(s->n[GR_SIDE]), (double)s->n[GR_RADIUS] / 10, arg[GR_IMAGE],
        s->n[GR_KIND] & GR_HAS_CTF ? arg[GR_CTF] : NULL, s->n[GR_KIND] & GR_HAS_WEIGHT ? arg[GR_WEIGHT] : NULL,
        arg[GR_ROTATION], arg[GR_G], arg[GR_W]};
    const rg_tolerance t = gr_bound(s, 1);
    int64_t first = gr_voxels(p.k);
    // Volumes that bench times have up to 540 million voxels.
#pragma omp parallel for schedule(static) reduction(min : first) if ((double)gr_voxels(p.k) > LEAST_PARALLEL)
    for (int64_t v = 0; v < gr_voxels(p.k); v++)
        if (v < first && voxel_fault(&p, v, &t)) first = v;
    if (first < gr_voxels(p.k)) {
        snprintf(text, sizeof text, "voxel (x=%" PRId64 ",y=%" PRId64 ",z=%" PRId64 "), W = %.9g, %s", gr_voxel_x(p.k, first),
            gr_voxel_y(p.k, first), gr_voxel_z(p.k, first), (double)p.W[first], voxel_fault(&p, first, &t));
        return text;
    }
    return gr_inserted(s) <= MOST_PIXELS ? sums_fault(&p) : NULL;
}
