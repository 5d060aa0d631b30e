// SPDX-License-Identifier: MIT
// test_gridding_sums.c: laws of gridding's sums for every way of computing them, and the algorithm as data.
#include "../../../impl/base/symmetry.h"
#include "test_gridding.h"

// ---- scatter, gather, threads, what lies beyond the circle ---------------------------------------------------------------

typedef struct sums {
    float *G, *W;
} sums;

static void same_as(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const sums *right = context;
    const rg_tolerance t = v->tolerance ? v->tolerance(&p->shape, param) : algo->tolerance(&p->shape);
    run(v, param, 1, p);
    for (int64_t e = 0; e < gr_voxels(p->shape.n[GR_SIDE] / 2); e++) {
        assert_true(fabs(W_of(p)[e] - right->W[e]) <= 2 * (t.absolute + t.relative * right->W[e]));
        assert_true(fabs(G_of(p)[2 * e] - right->G[2 * e]) <= 2 * t.absolute + t.relative);
        assert_true(fabs(G_of(p)[2 * e + 1] - right->G[2 * e + 1]) <= 2 * t.absolute + t.relative);
    }
}

static sums naive(problem *p) {
    const int64_t computed[RG_PARAMS_MAX] = {0}, voxels = gr_voxels(p->shape.n[GR_SIDE] / 2);
    run(variant("naive_scatter"), computed, 1, p);
    sums s = {rg_alloc((size_t)voxels * 8), rg_alloc((size_t)voxels * 4)};
    memcpy(s.G, G_of(p), (size_t)voxels * 8);
    memcpy(s.W, W_of(p), (size_t)voxels * 4);
    return s;
}

static void sums_free(sums *s) {
    free(s->G);
    free(s->W);
}

// Rotations keep distances, so that scatter and gather add the same pairs with the same weights (digest S15).
TEST(scatter_and_gather_agree) {
    RG_ENDS(problem_free) problem p = gridding(41, 3, 2, 19, 3, RG_RANDOM);
    RG_ENDS(sums_free) sums s = naive(&p);
    each_variant(&p, same_as, &s);
    const int64_t computed[RG_PARAMS_MAX] = {0};
    run(variant("naive_gather"), computed, 1, &p);
    double most = 0;
    for (int64_t e = 0; e < gr_voxels(20); e++) most = fmax(most, fabs(W_of(&p)[e] - s.W[e]));
    print_message("largest difference of W between scatter and gather %.2e\n", most);
    assert_true(most < 5e-5);
}

TEST(beyond_the_circle_nothing_counts) {
    RG_ENDS(problem_free) problem p = gridding(15, 2, 1, 19, 1, RG_RANDOM);
    RG_ENDS(sums_free) sums s = naive(&p);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t e = 0; e < gr_pixels(7); e++)
            if (!gr_in_circle(7, gr_pixel_x(7, e), gr_pixel_y(7, e))) {
                ((float *)p.arg[GR_IMAGE])[2 * (i * gr_pixels(7) + e)] = NAN;
                ((float *)p.arg[GR_CTF])[i * gr_pixels(7) + e] = INFINITY;
            }
    each_variant(&p, same_as, &s);
}

static void same_bits(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    (void)context;
    if (!(v->flags & RG_THREADED) || v->flags & RG_UNORDERED) return;
    const size_t voxels = (size_t)gr_voxels(p->shape.n[GR_SIDE] / 2);
    run(v, param, 1, p);
    RG_ENDS(sums_free) sums s = {rg_alloc(voxels * 8), rg_alloc(voxels * 4)};
    memcpy(s.G, G_of(p), voxels * 8);
    memcpy(s.W, W_of(p), voxels * 4);
    for (int threads = 2; threads <= 3; threads++) {
        run(v, param, threads, p);
        assert_memory_equal(s.G, G_of(p), voxels * 8);
        assert_memory_equal(s.W, W_of(p), voxels * 4);
    }
}

TEST(threads_change_no_bit) {
    RG_ENDS(problem_free) problem p = gridding(49, 5, 1, 19, 0, RG_RANDOM);
    each_variant(&p, same_bits, NULL);
}

// ---- operators of the lattice --------------------------------------------------------------------------------------------

// Applies operator L, which maps voxels to voxels, to finished sums and adds them: total(L v) += part(v), mates where x < 0.
static void add_turned(int64_t k, const double *L, const problem *part, double *re, double *im, double *w) {
    for (int64_t e = 0; e < gr_voxels(k); e++) {
        const int64_t v[3] = {gr_voxel_x(k, e), gr_voxel_y(k, e), gr_voxel_z(k, e)};
        int64_t to[3];
        for (int a = 0; a < 3; a++)
            to[a] = (int64_t)L[3 * a] * v[0] + (int64_t)L[3 * a + 1] * v[1] + (int64_t)L[3 * a + 2] * v[2];
        for (int mate = v[0] == 0; mate < 2; mate++) { // both halves of the cube; the plane x = 0 is stored whole
            const int sign = mate && v[0] > 0 ? -1 : 1;
            if (sign * to[0] < 0) continue;
            const int64_t o = gr_voxel(k, sign * to[0], sign * to[1], sign * to[2]);
            re[o] += G_of(part)[2 * e];
            im[o] += (float)sign * G_of(part)[2 * e + 1];
            w[o] += W_of(part)[e];
        }
    }
}

static void set_rotations(problem *p, const gr_symmetry *g, const int *operators, int n, const float *image_rotation) {
    for (int j = 0; j < n; j++) {
        double m[9], product[9];
        for (int e = 0; e < 9; e++) m[e] = image_rotation[e];
        gr_multiply(g->matrix[operators[j]], m, product);
        for (int e = 0; e < 9; e++) ((float *)p->arg[GR_ROTATION])[9 * j + e] = (float)product[e];
    }
}

// Inserting once for each of the 60 operators equals inserting for 5 and rotating the sums 12 times.
TEST(lattice_operators_act_on_the_sums) {
    static gr_symmetry g;
    static gr_lattice l;
    int every[60];
    const int64_t k = 8, computed[RG_PARAMS_MAX] = {0};
    assert_null(gr_symmetry_make(&g, "I1"));
    gr_lattice_make(&l, &g);
    for (int j = 0; j < 60; j++) every[j] = j;
    RG_ENDS(problem_free)
    problem one = gridding(2 * k + 1, 1, 1, 19, 0, RG_RANDOM), all = gridding(2 * k + 1, 1, 60, 19, 0, RG_RANDOM),
            few = gridding(2 * k + 1, 1, l.n_coset, 19, 0, RG_RANDOM);
    assert_memory_equal(one.arg[GR_IMAGE], all.arg[GR_IMAGE], (size_t)gr_pixels(k) * 8);
    set_rotations(&all, &g, every, 60, one.arg[GR_ROTATION]);
    set_rotations(&few, &g, l.coset, l.n_coset, one.arg[GR_ROTATION]);
    run(variant("naive_gather"), computed, 1, &all);
    run(variant("naive_gather"), computed, 1, &few);
    RG_FREED double *re = rg_alloc((size_t)gr_voxels(k) * 8), *im = rg_alloc((size_t)gr_voxels(k) * 8);
    RG_FREED double *w = rg_alloc((size_t)gr_voxels(k) * 8);
    for (int i = 0; i < l.n_lattice; i++) add_turned(k, g.matrix[l.lattice[i]], &few, re, im, w);
    const rg_tolerance t = algo->tolerance(&all.shape);
    for (int64_t e = 0; e < gr_voxels(k); e++) {
        assert_true(fabs(W_of(&all)[e] - w[e]) <= t.absolute + t.relative * w[e]);
        assert_true(fabs(G_of(&all)[2 * e] - re[e]) <= t.absolute && fabs(G_of(&all)[2 * e + 1] - im[e]) <= t.absolute);
    }
    assert_true(W_of(&all)[gr_voxel(k, 3, 2, 1)] > 0.1);
}

// ---- the algorithm as data -----------------------------------------------------------------------------------------------

TEST(inputs_are_transforms_of_real_images) {
    for (int pattern = 0; pattern < RG_PATTERNS; pattern++) {
        RG_ENDS(problem_free) problem p = gridding(11, 3, 4, 19, 3, pattern);
        const float *image = p.arg[GR_IMAGE], *ctf = p.arg[GR_CTF], *m = p.arg[GR_ROTATION];
        for (int64_t i = 0; i < 3; i++)
            for (int64_t y = -5; y <= 5; y++) {
                const int64_t e = i * gr_pixels(5) + gr_pixel(5, 0, y), mate = i * gr_pixels(5) + gr_pixel(5, 0, -y);
                assert_true(image[2 * e] == image[2 * mate] && image[2 * e + 1] == -image[2 * mate + 1] && ctf[e] == ctf[mate]);
            }
        for (int64_t e = 0; e < algo->arg[GR_IMAGE].count(&p.shape); e++) assert_true(fabs(image[e]) <= GR_LARGEST);
        for (int64_t s = 0; s < 12; s++, m += 9)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    assert_true(fabs(m[a] * m[b] + m[3 + a] * m[3 + b] + m[6 + a] * m[6 + b] - (a == b)) < 1e-6);
    }
}

TEST(place_and_project_are_inverse) {
    RG_ENDS(problem_free) problem p = gridding(101, 4, 1, 19, 0, RG_RANDOM);
    for (int i = 0; i < 4; i++) {
        const float *m = gr_rotation(p.arg[GR_ROTATION], 1, i, 0);
        for (int j = 0; j < 50; j++) {
            const float x = (float)j, y = (float)(3 * j % 50 - 25);
            float r[3], t[3];
            gr_place(m, x, y, r);
            gr_project(m, r[0], r[1], r[2], t);
            assert_true(fabsf(t[0] - x) < 1e-4f && fabsf(t[1] - y) < 1e-4f && fabsf(t[2]) < 1e-4f);
        }
    }
}

TEST(work_counts_pixels_in_the_circle) {
    const rg_shape s = {{13, 3, 5, 19, 0}, 1};
    int64_t pixels = 0;
    for (int64_t y = -6; y <= 6; y++)
        for (int64_t x = 0; x <= 6; x++) pixels += x * x + y * y <= 36;
    assert_true(algo->work(&s) == (double)(pixels * 15));
}

TEST(invariant_sees) {
    const int64_t computed[RG_PARAMS_MAX] = {0}, k = 10;
    RG_ENDS(problem_free) problem p = gridding(2 * k + 1, 2, 1, 19, 1, RG_RANDOM);
    run(variant("naive_scatter"), computed, 1, &p);
    float *G = p.arg[GR_G], *W = p.arg[GR_W];
    assert_null(algo->invariant(&p.shape, p.arg));
    const int64_t voxels = gr_voxels(k), on_plane = gr_voxel(k, 0, 2, 1);
    for (int64_t e = 0; e < voxels; e++) W[e] *= 1.003f;
    assert_non_null(strstr(algo->invariant(&p.shape, p.arg), "weight mass"));
    run(variant("naive_scatter"), computed, 1, &p);
    for (int64_t e = 0; e < 2 * voxels; e++) G[e] *= e % 2 ? -1 : 1;
    assert_non_null(strstr(algo->invariant(&p.shape, p.arg), "adjointness"));
    run(variant("naive_scatter"), computed, 1, &p);
    W[on_plane] += 0.1f;
    assert_non_null(strstr(algo->invariant(&p.shape, p.arg), "differs from the weight at -v"));
    run(variant("naive_scatter"), computed, 1, &p);
    G[2 * on_plane + 1] += 0.1f;
    assert_non_null(strstr(algo->invariant(&p.shape, p.arg), "conjugate"));
    run(variant("naive_scatter"), computed, 1, &p);
    W[gr_voxel(k, k, k, k)] = 1e-6f;
    assert_non_null(strstr(algo->invariant(&p.shape, p.arg), "out of reach"));
}

TEST(wrong_shapes_are_refused) {
    const rg_shape wrong[] = {{{4, 1, 1, 19, 0}, 1}, {{0, 1, 1, 19, 0}, 1}, {{9, 0, 1, 19, 0}, 1}, {{9, 1, 0, 19, 0}, 1},
        {{9, 1, 1, 0, 0}, 1}, {{9, 1, 1, 31, 0}, 1}, {{9, 1, 1, 19, 4}, 1}, {{8193, 1, 1, 19, 0}, 1},
        {{9, INT64_MAX / 4, 1, 19, 0}, 1}, {{9, 1, INT64_MAX / 4, 19, 0}, 1}};
    for (int i = 0; i < RG_COUNT(wrong); i++) assert_non_null(algo->invalid(&wrong[i]));
}

TESTS(find_gridding, NULL)
