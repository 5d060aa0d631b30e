// SPDX-License-Identifier: MIT
// test_align_parts.c: the parts of the job align: transforms, filters, pyramids, scores and readers against their definitions.
#include "../test.h"
#include "test_align.h"

// ---- transforms ----------------------------------------------------------------------------------------------------------

static const rg_similarity some = {12.5, 30.25, -7.5, 1.15}, other = {-171, -4, 11, 0.93};

// By hand: (10, 0) rotated by 90 degrees, which moves +x to +y, scaled by 2 and shifted.
TEST(test_transforms) {
    double p[2] = {10, 0}, q[2], back[2];
    rg_affine hand = rg_affine_of(&(rg_similarity){90, 1, 2, 2});
    rg_affine_apply(&hand, p, q);
    assert_near(q[0], 1, 1e-12);
    assert_near(q[1], 22, 1e-12);
    rg_affine first = rg_affine_of(&some), second = rg_affine_of(&other);
    first.a[1] += 0.25; // not a similarity
    rg_affine both = rg_affine_then(&first, &second), inverse = rg_affine_inverse(&first);
    rg_affine_apply(&first, p, q);
    rg_affine_apply(&inverse, q, back);
    assert_near(back[0], 10, 1e-12);
    assert_near(back[1], 0, 1e-12);
    rg_affine_apply(&second, q, q);
    rg_affine_apply(&both, p, back);
    assert_near(back[0], q[0], 1e-12);
    assert_near(back[1], q[1], 1e-12);
    first = rg_affine_of(&(rg_similarity){170, 0, 0, 1});
    second = rg_affine_of(&(rg_similarity){20, 0, 0, 1});
    both = rg_affine_then(&first, &second);
    assert_near(rg_affine_similarity(&both).rotation_deg, -170, 1e-12);
    // The kernels' matrix maps the result to the image: the inverse of the transform.
    float m[6];
    first = rg_affine_of(&some);
    aj_matrix(&first, m);
    rg_affine_apply(&first, p, q);
    assert_near(m[0] * q[0] + m[1] * q[1] + m[2], 10, 1e-4);
    assert_near(m[3] * q[0] + m[4] * q[1] + m[5], 0, 1e-4);
}

// From 60 degrees to 0 about +y: x doubles, y stays, which by polar decomposition is no rotation and a scale of root 2. About
// +x, -90 degrees from +y, y doubles.
TEST(test_stretch) {
    const rg_affine x = rg_tilt_stretch(0, 60, 0), y = rg_tilt_stretch(-90, -60, 0);
    const double expected[4] = {2, 0, 0, 1};
    for (int k = 0; k < 4; k++) {
        assert_near(x.a[k], expected[k], 1e-12);
        assert_near(y.a[3 - k], expected[k], 1e-12);
    }
    const rg_affine turn = rg_affine_of(&(rg_similarity){30, 0, 0, 1}), both = rg_affine_then(&x, &turn);
    assert_near(rg_affine_similarity(&both).rotation_deg, 30, 1e-12);
    assert_near(rg_affine_similarity(&both).scale, sqrt(2), 1e-12);
}

// IMOD's centre is that of the area, ours that of a pixel: for an even width our centre, pixel 4 of 8, is half a pixel from
// IMOD's, for an odd width both are the same. Doubling about ours moves pixel 3 to 2, and so must the line.
TEST(test_xf) {
    const rg_affine twice = {{2, 0, 0, 2}, {0, 0}};
    for (int odd = 0; odd < 2; odd++) {
        const double side = 8 + odd, pixel = 3;
        double v[6];
        assert_int_equal(rg_xf_write(in_dir("a.xf"), 1, &twice, (int64_t)side, (int64_t)side), RG_GOOD);
        FILE *f = fopen(in_dir("a.xf"), "r");
        for (int k = 0; k < 6; k++) assert_int_equal(fscanf(f, "%lf", &v[k]), 1);
        fclose(f);
        for (int axis = 0; axis < 2; axis++)
            assert_near(v[3 * axis] * (pixel + 0.5 - side / 2) + v[4 + axis] + side / 2 - 0.5, 2, 1e-6);
    }
}

// ---- filters -------------------------------------------------------------------------------------------------------------

// The binomial filter keeps a ramp, so its half has the values at c + 2 (X - C) away from the border.
TEST(test_half) {
    static const int64_t size[][3] = {{16, 20, 1}, {17, 21, 1}, {18, 23, 1}, {12, 13, 14}, {19, 16, 17}};
    for (int s = 0; s < RG_COUNT(size); s++) {
        const int64_t *n = size[s];
        int64_t half[3], count = n[0] * n[1] * n[2];
        RG_FREED float *v = rg_alloc((size_t)count * sizeof *v), *out = rg_alloc((size_t)count * sizeof *out);
        for (int64_t i = 0; i < count; i++)
            v[i] = (float)(i % n[0]) + 100 * (float)(i / n[0] % n[1]) + 10000 * (float)(i / n[0] / n[1]);
        aj_half(n, v, half, out, 2);
        assert_int_equal(half[2], n[2] == 1 ? 1 : n[2] / 2);
        for (int64_t z = n[2] == 1 ? 0 : 1; z < (n[2] == 1 ? 1 : half[2] - 1); z++)
            for (int64_t y = 1; y < half[1] - 1; y++)
                for (int64_t x = 1; x < half[0] - 1; x++) {
                    double expected = (double)(n[0] / 2 + 2 * (x - half[0] / 2));
                    expected += 100 * (double)(n[1] / 2 + 2 * (y - half[1] / 2));
                    expected += n[2] == 1 ? 0 : 10000 * (double)(n[2] / 2 + 2 * (z - half[2] / 2));
                    assert_near(out[(z * half[1] + y) * half[0] + x], expected, 0.02);
                }
    }
}

// Constants stay or vanish, also at borders; a point becomes the product of sampled Gaussians, also in its mirror image.
TEST(test_band_pass) {
    const int64_t side[3] = {40, 33, 1}, n = 40 * 33;
    RG_FREED float *v = rg_alloc((size_t)n * sizeof *v);
    for (int64_t i = 0; i < n; i++) v[i] = 7;
    aj_band_pass(side, 1.5, 0, v, 2);
    for (int64_t i = 0; i < n; i++) assert_near(v[i], 7, 1e-4);
    aj_band_pass(side, 1, 6, v, 2);
    for (int64_t i = 0; i < n; i++) assert_near(v[i], 0, 1e-4);
    v[16 * 40 + 1] = 1000; // one pixel from the border: its mirror image is at -2
    aj_band_pass(side, 2, 0, v, 1);
    double sum = 0, unit = 0;
    for (int k = -8; k <= 8; k++) unit += exp(-k * k / 8.0);
    for (int64_t i = 0; i < n; i++) {
        double x = (double)(i % 40), y = (double)(i / 40) - 16;
        double across = (fabs(x - 1) <= 8 ? exp(-(x - 1) * (x - 1) / 8) : 0) + (x + 2 <= 8 ? exp(-(x + 2) * (x + 2) / 8) : 0);
        double expected = fabs(y) <= 8 ? 1000 / unit / unit * exp(-y * y / 8) * across : 0;
        assert_near(v[i], expected, 1e-3);
        sum += v[i];
    }
    assert_near(sum, 1000, 0.05);
}

// ---- scores --------------------------------------------------------------------------------------------------------------

// Twelve transforms in batches of five, the last one filled up, by plain C and by the kernel for groups: equal to single ones.
TEST(test_batches) {
    enum { N = 12 };
    const int64_t side[3] = {24, 20, 1};
    static const char *const device[2] = {"cpu", "host"}, *const variant[2] = {"naive", "batch"};
    float image[24 * 20], reference[24 * 20], matrix[N * 6];
    double one[N], some_at_once[N];
    for (int i = 0; i < 24 * 20; i++) {
        image[i] = (float)(rg_bits(1, (uint64_t)i) % 1000);
        reference[i] = (float)(rg_bits(2, (uint64_t)i) % 1000);
    }
    for (int i = 0; i < N; i++)
        af_matrix_2d(0.02 * i, (const double[2]){i == 7 ? 19 : 0.3 * i, -0.2 * i}, 1 + 0.01 * i, matrix + 6 * i);
    for (int v = 0; v < 2; v++)
        for (int batch = 1; batch <= 5; batch += 4) {
            aj_scorer s;
            assert_int_equal(aj_scorer_make(&s, 2, side, batch, AF_IGNORE, device[v], variant[v], 1), RG_GOOD);
            assert_int_equal(aj_scorer_put(&s, reference, image), RG_GOOD);
            assert_int_equal(aj_scorer_put(&s, image, reference), RG_GOOD);
            assert_int_equal(aj_scorer_run(&s, N, matrix, v == 0 && batch == 1 ? one : some_at_once), RG_GOOD);
            aj_scorer_free(&s);
            for (int i = 0; i < N && (v > 0 || batch > 1); i++) assert_near(some_at_once[i], one[i], 1e-5);
        }
    assert_true(one[7] == -1); // hardly any overlap
    assert_true(fabs(one[0] - one[1]) > 1e-3);
}

// ---- readers -------------------------------------------------------------------------------------------------------------

static int read_tilts(const char *text) {
    int64_t n;
    double *tilt;
    int code = rg_tilts_read(put_file("a.rawtlt", text, strlen(text)), &n, &tilt);
    if (code == RG_GOOD) free(tilt);
    return code;
}

TEST(test_tilts) {
    int64_t n;
    double *tilt;
    static const char text[] = "-60.0\r\n   1.5\n\n+2e1";
    assert_int_equal(rg_tilts_read(put_file("a.tlt", text, sizeof text - 1), &n, &tilt), RG_GOOD);
    assert_int_equal(n, 3);
    assert_true(tilt[0] == -60 && tilt[1] == 1.5 && tilt[2] == 20);
    free(tilt);
    assert_refused(read_tilts("1\ntwo\n"), "at byte 2: expected one angle in degrees on the line, found");
    assert_refused(read_tilts("1 2\n"), "expected one angle");
    assert_refused(read_tilts("nan\n"), "expected one angle");
    assert_refused(read_tilts("0x10\n"), "expected one angle");
    assert_refused(read_tilts("\n"), "expected one angle in degrees a line, found none");
}

TESTS(test_dir_make, test_dir_remove)
