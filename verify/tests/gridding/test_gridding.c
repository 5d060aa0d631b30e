// SPDX-License-Identifier: MIT
// test_gridding.c: the algorithm and its variants for the CPU against sums over the whole cube, computed here without half
// planes.
#include "test_gridding.h"

// ---- the sum over the whole cube, no mates, no halves --------------------------------------------------------------------

typedef struct cube {
    int64_t k;
    double *re, *im, *w; // (2k+1)^3, z slowest
} cube;

static int64_t at(int64_t k, int64_t x, int64_t y, int64_t z) { return ((z + k) * (2 * k + 1) + y + k) * (2 * k + 1) + x + k; }

static void add_to_cube(cube *c, const double r[3], double b, double re, double im, double weight) {
    const int64_t k = c->k;
    for (int64_t z = -k; z <= k; z++)
        for (int64_t y = -k; y <= k; y++)
            for (int64_t x = -k; x <= k; x++) {
                const double dx = (double)x - r[0], dy = (double)y - r[1], dz = (double)z - r[2];
                const double u = (dx * dx + dy * dy + dz * dz) / (b * b), w = u > 1 ? 0 : gr_kernel_exact(u);
                c->re[at(k, x, y, z)] += w * re;
                c->im[at(k, x, y, z)] += w * im;
                c->w[at(k, x, y, z)] += w * weight;
            }
}

// The whole disc is made first, from F(-p) = conj F(p); then all its pixels are added in the same way.
static cube cube_of(const problem *p) {
    const int64_t k = p->shape.n[GR_SIDE] / 2, side = 2 * k + 1, *n = p->shape.n;
    cube c = {k, rg_alloc((size_t)(side * side * side) * 8), rg_alloc((size_t)(side * side * side) * 8),
        rg_alloc((size_t)(side * side * side) * 8)};
    const float *image = p->arg[GR_IMAGE], *ctf = n[GR_KIND] & 1 ? p->arg[GR_CTF] : NULL;
    const float *weight = n[GR_KIND] & 2 ? p->arg[GR_WEIGHT] : NULL;
    for (int64_t s = 0; s < n[GR_IMAGES] * n[GR_OPERATORS]; s++)
        for (int64_t y = -k; y <= k; y++)
            for (int64_t x = -k; x <= k; x++) {
                if (x * x + y * y > k * k) continue;
                const int64_t i = s / n[GR_OPERATORS], row = x < 0 ? k - y : k + y, e = (i * side + row) * (k + 1) + llabs(x);
                const float *M = (const float *)p->arg[GR_ROTATION] + 9 * s;
                const double cc = ctf ? ctf[e] : 1, m = weight ? weight[i] : 1;
                double r[3];
                for (int a = 0; a < 3; a++) r[a] = (double)M[3 * a] * (double)x + (double)M[3 * a + 1] * (double)y;
                add_to_cube(&c, r, (double)n[GR_RADIUS] / 10, m * cc * image[2 * e],
                    (x < 0 ? -1 : 1) * m * cc * image[2 * e + 1], m * cc * cc);
            }
    return c;
}

static void cube_free(cube *c) {
    free(c->re);
    free(c->im);
    free(c->w);
}

// One plane of x after another, so that a fault on x = 0 only is named.
static void half_is_the_cubes(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const cube *c = context;
    const int64_t k = c->k;
    const rg_tolerance t = v->tolerance ? v->tolerance(&p->shape, param) : algo->tolerance(&p->shape);
    run(v, param, 1, p);
    for (int64_t x = 0; x <= k; x++)
        for (int64_t z = -k; z <= k; z++)
            for (int64_t y = -k; y <= k; y++) {
                const int64_t e = gr_voxel(k, x, y, z), o = at(k, x, y, z);
                const double re = fabs(G_of(p)[2 * e] - c->re[o]), im = fabs(G_of(p)[2 * e + 1] - c->im[o]);
                const double w = fabs(W_of(p)[e] - c->w[o]);
                if (!(re <= t.absolute + t.relative * fabs(c->re[o]) && im <= t.absolute + t.relative * fabs(c->im[o]) &&
                        w <= t.absolute + t.relative * c->w[o]))
                    fail_msg(
                        "%s: plane x=%d, y=%d, z=%d: G off by (%g, %g), W by %g", v->name, (int)x, (int)y, (int)z, re, im, w);
            }
}

TEST(every_plane_is_right) {
    const int64_t cases[][5] = {{5, 1, 1, 19, 0}, {7, 2, 1, 19, 3}, {9, 1, 3, 18, 1}, {11, 1, 1, 30, 2}, {13, 1, 1, 10, 0}};
    for (int i = 0; i < RG_COUNT(cases); i++)
        for (int pattern = 0; pattern < RG_PATTERNS; pattern++) {
            const int64_t *n = cases[i];
            RG_ENDS(problem_free) problem p = gridding(n[0], n[1], n[2], n[3], n[4], pattern);
            RG_ENDS(cube_free) cube c = cube_of(&p);
            const int64_t last = n[0] * n[0] * n[0] - 1;
            for (int64_t o = 0; o <= last; o++) { // the cube is Hermitian: half of it is enough
                assert_true(fabs(c.re[o] - c.re[last - o]) < 1e-6 && fabs(c.im[o] + c.im[last - o]) < 1e-6);
                assert_true(fabs(c.w[o] - c.w[last - o]) < 1e-5);
            }
            each_variant(&p, half_is_the_cubes, &c);
        }
}

// ---- by hand -------------------------------------------------------------------------------------------------------------

static double kernel_at(double d) { return gr_kernel_exact(d * d / (1.9 * 1.9)); }

// The image is in the plane z = 0 with one pixel of value 1/64 + i/32, at (1, 0); its mate is at (-1, 0).
static void one_pixel(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    (void)context;
    const struct {
        int x, y, z;
        double re, im; // in units of the pixel's parts
    } voxel[] = {{1, 0, 0, 1, 1}, {2, 0, 0, kernel_at(1), kernel_at(1)}, {1, 1, -1, kernel_at(sqrt(2)), kernel_at(sqrt(2))},
        {0, 0, 0, 2 * kernel_at(1), 0}, // the pixel and its mate, both at distance 1
        {0, -1, 0, 2 * kernel_at(sqrt(2)), 0}, {0, 1, 1, 2 * kernel_at(sqrt(3)), 0}, {0, 2, 0, 0, 0}, {3, 0, 0, 0, 0}};
    run(v, param, 1, p);
    for (int i = 0; i < RG_COUNT(voxel); i++) {
        const int64_t e = gr_voxel(4, voxel[i].x, voxel[i].y, voxel[i].z);
        assert_true(fabs(G_of(p)[2 * e] - voxel[i].re / 64) < 2e-5);
        assert_true(fabs(G_of(p)[2 * e + 1] - voxel[i].im / 32) < 2e-5);
    }
}

TEST(one_pixel_reaches_its_voxels) {
    RG_ENDS(problem_free) problem p = gridding(9, 1, 1, 19, 0, RG_POSITION);
    const float one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(p.arg[GR_ROTATION], one, sizeof one);
    memset(p.arg[GR_IMAGE], 0, (size_t)algo->arg[GR_IMAGE].count(&p.shape) * sizeof(float));
    ((float *)p.arg[GR_IMAGE])[2 * gr_pixel(4, 1, 0)] = 1.0f / 64;
    ((float *)p.arg[GR_IMAGE])[2 * gr_pixel(4, 1, 0) + 1] = 1.0f / 32;
    each_variant(&p, one_pixel, NULL);
}

// Only the image's column x = 0, by a CTF that is 0 elsewhere: it is on the axis y or z or x, each pixel counted once.
static void column(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const int axis = *(const int *)context;
    run(v, param, 1, p);
    for (int at_y = -4; at_y <= 4; at_y++) {
        const int place[3] = {axis == 0 ? at_y : 0, axis == 1 ? at_y : 0, axis == 2 ? at_y : 0};
        double right = 0;
        for (int y = -4; y <= 4; y++) right += kernel_at(abs(y - at_y));
        if (place[0] >= 0) assert_true(fabs(W_of(p)[gr_voxel(4, place[0], place[1], place[2])] - right) < 2e-3 * right);
    }
}

TEST(the_column_counts_once) {
    const float turned[3][9] = {{0, 1, 0, -1, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 0, -1, 0, 1, 0}};
    for (int axis = 0; axis < 3; axis++) {
        RG_ENDS(problem_free) problem p = gridding(9, 1, 1, 19, 1, RG_MAXIMUM);
        memcpy(p.arg[GR_ROTATION], turned[axis], sizeof turned[axis]);
        for (int64_t e = 0; e < gr_pixels(4); e++) ((float *)p.arg[GR_CTF])[e] = gr_pixel_x(4, e) == 0 ? 1 : 0;
        each_variant(&p, column, &axis);
    }
}

TESTS(find_gridding, NULL)
