// SPDX-License-Identifier: MIT
// test_affine.c: affine2d, align2d and align3d where the result is known by hand, on every variant for the CPU: directions,
// centre, rules outside, undefined correlations, NaN; and the error of literal eq. 2, on the emulated GPU.
#include "../../../impl/affine/index.h"
#include "../../../impl/runtime/call.h"
#include "../test_variants.h"

static void identity(float *m, int dims) {
    for (int i = 0; i < dims * (dims + 1); i++) m[i] = i % (dims + 2) == 0;
}

// ---- affine2d ------------------------------------------------------------------------------------------------------------

typedef struct pixel {
    int x, y;
    float value;
} pixel;

static void is_at(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    run(v, param, 1, p);
    const pixel *expected = context;
    const float *to = p->arg[AF_TRANSFORMED];
    for (int64_t e = 0; e < p->shape.n[0] * p->shape.n[1]; e++) {
        float value = 0;
        for (const pixel *q = expected; q->value != 0; q++)
            if (e == q->y * p->shape.n[0] + q->x) value = q->value;
        if (!(fabsf(to[e] - value) < 1e-5f))
            fail_msg("%s: pixel %d,%d is %g, expected %g", v->name, (int)(e % p->shape.n[0]), (int)(e / p->shape.n[0]),
                (double)to[e], (double)value);
    }
}

// An image of 7 x 6, centre (3, 3), in which one pixel is 1.
static problem one_hot(int outside, int x, int y) {
    problem p = problem_make("affine2d", (rg_shape){{7, 6, 1, outside, 0}, 1}, RG_RANDOM);
    float *image = p.arg[AF_IMAGE];
    memset(image, 0, 42 * sizeof *image);
    image[7 * y + x] = 1;
    identity(p.arg[AF_MATRIX], 2);
    return p;
}

TEST(a_feature_goes_where_design_says) {
    for (int outside = AF_ZERO; outside <= AF_IGNORE; outside++) {
        RG_ENDS(problem_free) // Rot(90) moves (2, 0) from the centre to (0, 2), which is down; then the shift by (-1, -1).
        problem p = one_hot(outside, 5, 3);
        af_matrix_2d(2 * atan(1), (double[]){-1, -1}, 1, p.arg[AF_MATRIX]);
        each_variant(&p, is_at, (pixel[]){{2, 4, 1}, {0}});
        // Scaled by 2: the feature one pixel from the centre is two from it, with half of it on each side.
        float *image = p.arg[AF_IMAGE];
        image[7 * 3 + 5] = 0;
        image[7 * 3 + 4] = 1;
        af_matrix_2d(0, (double[]){0, 0}, 2, p.arg[AF_MATRIX]);
        each_variant(&p, is_at,
            (pixel[]){{4, 3, 0.5f}, {5, 3, 1}, {6, 3, 0.5f}, {4, 2, 0.25f}, {4, 4, 0.25f}, {5, 2, 0.5f}, {5, 4, 0.5f},
                {6, 2, 0.25f}, {6, 4, 0.25f}, {0}});
    }
}

TEST(the_rules_differ_at_the_rim_alone) {
    // The corner (0, 0), from half a pixel to the left: s = (-0.5, 0) for result pixel 0.
    const pixel zero[] = {{0, 0, 0.5f}, {1, 0, 0.5f}, {0}}, edge[] = {{0, 0, 1}, {1, 0, 0.5f}, {0}},
                ignore[] = {{1, 0, 0.5f}, {0}};
    const pixel *expected[] = {zero, edge, ignore};
    for (int outside = AF_ZERO; outside <= AF_IGNORE; outside++) {
        RG_ENDS(problem_free) problem p = one_hot(outside, 0, 0);
        ((float *)p.arg[AF_MATRIX])[2] = -0.5f;
        each_variant(&p, is_at, expected[outside]);
    }
    for (int outside = AF_ZERO; outside <= AF_IGNORE; outside++) { // the last pixel, far outside
        RG_ENDS(problem_free) problem p = one_hot(outside, 6, 5);
        ((float *)p.arg[AF_MATRIX])[2] = 6;
        ((float *)p.arg[AF_MATRIX])[5] = 5;
        pixel all[43];
        for (int e = 0; e < 42; e++) all[e] = (pixel){e % 7, e / 7, 1};
        all[42] = (pixel){0};
        each_variant(&p, is_at, outside == AF_EDGE ? all : (pixel[]){{0, 0, 1}, {0}});
    }
}

// ---- align2d, align3d ----------------------------------------------------------------------------------------------------

typedef struct answer {
    double rho, error;
    int32_t pixels;
} answer;

static void correlates(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    run(v, param, 1, p);
    const answer *a = context;
    for (int64_t i = 0; i < p->algo->arg[AL_RHO].count(&p->shape); i++) {
        const double rho = ((double *)p->arg[AL_RHO])[i];
        const int32_t pixels = ((int32_t *)p->arg[AL_PIXELS])[i];
        if (!(fabs(rho - a->rho) <= a->error) || pixels != a->pixels)
            fail_msg(
                "%s %s: rho %.9g of %d pixels, expected %.9g of %d", p->algo->name, v->name, rho, pixels, a->rho, a->pixels);
    }
}

static problem of_itself(int dims, int outside) {
    problem p = dims == 2 ? problem_make("align2d", (rg_shape){{33, 40, 1, outside, 0}, 3}, RG_RANDOM)
                          : problem_make("align3d", (rg_shape){{17, 12, 9, 1, outside, 0}, 3}, RG_RANDOM);
    identity(p.arg[AL_MATRIX], dims);
    memcpy(p.arg[AL_REFERENCE], p.arg[AL_IMAGE], (size_t)p.algo->arg[AL_IMAGE].count(&p.shape) * sizeof(float));
    return p;
}

TEST(an_image_is_its_own_likeness) {
    for (int dims = 2; dims <= 3; dims++)
        for (int outside = AF_ZERO; outside <= AF_IGNORE; outside++) {
            RG_ENDS(problem_free) problem p = of_itself(dims, outside);
            const int64_t n = p.algo->arg[AL_IMAGE].count(&p.shape);
            float *image = p.arg[AL_IMAGE], *reference = p.arg[AL_REFERENCE];
            each_variant(&p, correlates, &(answer){1, 1e-6, (int32_t)n}); // by literal eq. 2: 1 - 1/n, 5e-4 less
            for (int64_t e = 0; e < n; e++)                               // inverted, and far brighter than its contrast
                reference[e] = 200 - 0.5f * image[e];
            each_variant(&p, correlates, &(answer){-1, 1e-5, (int32_t)n});
        }
}

TEST(no_overlap_and_no_variance_give_no_correlation) {
    for (int dims = 2; dims <= 3; dims++)
        for (int outside = AF_ZERO; outside <= AF_IGNORE; outside++) {
            RG_ENDS(problem_free) problem p = of_itself(dims, outside);
            const int32_t n = (int32_t)p.algo->arg[AL_IMAGE].count(&p.shape);
            float *matrix = p.arg[AL_MATRIX], *image = p.arg[AL_IMAGE];
            matrix[dims] = 1e4f; // outside the image
            each_variant(&p, correlates, outside == AF_EDGE ? &(answer){0, 1, n} : &(answer){0, 0, outside == AF_ZERO ? n : 0});
            matrix[dims] = 0;
            for (int32_t e = 0; e < n; e++) image[e] = 0.1f;
            each_variant(&p, correlates, &(answer){0, 0, n});
            for (int e = 0; e < dims * (dims + 1); e++) // NaN
                matrix[e] = NAN;
            each_variant(&p, correlates, &(answer){0, 0, outside == AF_IGNORE ? 0 : n});
        }
}

TEST(whole_shifts_leave_out_whole_rows) {
    RG_ENDS(problem_free) problem p = of_itself(2, AF_IGNORE);
    float *matrix = p.arg[AL_MATRIX], *image = p.arg[AL_IMAGE], *reference = p.arg[AL_REFERENCE];
    matrix[2] = 5; // result (x, y) from (x + 5, y - 7)
    matrix[5] = -7;
    for (int y = 7; y < 40; y++)
        for (int x = 0; x < 33 - 5; x++) reference[y * 33 + x] = image[(y - 7) * 33 + x + 5];
    each_variant(&p, correlates, &(answer){1, 1e-6, 28 * 33});
}

// The overlap varies by 1 % of its distance from the mean of the whole: a variance of 1e-4 of the mean square is not constant.
TEST(low_contrast_beside_the_rest_correlates) {
    for (int dims = 2; dims <= 3; dims++) {
        RG_ENDS(problem_free) problem p = of_itself(dims, AF_IGNORE);
        float *image = p.arg[AL_IMAGE], *reference = p.arg[AL_REFERENCE];
        const int64_t n = p.algo->arg[AL_IMAGE].count(&p.shape), w = p.shape.n[0], half = w / 2;
        int32_t in_sight = 0;
        for (int64_t e = 0; e < n; e++) image[e] = e % w < half ? -0.9f : 0.9f + 0.02f * image[e];
        for (int64_t e = 0; e < n; e++)
            if (e % w < w - half) {
                reference[e] = image[e + half];
                in_sight++;
            }
        ((float *)p.arg[AL_MATRIX])[dims] = (float)half; // result x from x + half
        each_variant(&p, correlates, &(answer){1, 0.02, in_sight});
    }
}

TEST(any_number_of_cores_gives_the_same_bits) {
    const rg_shape shapes[] = {{{150, 131, 3, AF_IGNORE, 0}, 5}, {{20, 70, 9, 3, AF_ZERO, 0}, 5}};
    for (int dims = 2; dims <= 3; dims++)
        for (const rg_entry *e = NULL; (e = rg_entry_next(e, dims == 2 ? "align2d" : "align3d", "cpu"));) {
            if (!(e->variant->flags & RG_THREADED) || rg_unavailable(e)) continue;
            RG_ENDS(problem_free) problem p = problem_make(e->algo->name, shapes[dims - 2], RG_RANDOM);
            const int64_t param[RG_PARAMS_MAX] = {0};
            double one[3];
            run(e->variant, param, 1, &p);
            memcpy(one, p.arg[AL_RHO], sizeof one);
            run(e->variant, param, 3, &p);
            assert_memory_equal(one, p.arg[AL_RHO], sizeof one);
        }
}

// ---- digest G7 -----------------------------------------------------------------------------------------------------------

static double worst_on_emulator(const char *pattern, const problem *p, const double *expected) {
    const rg_entry *e = rg_entry_next(NULL, pattern, "host");
    assert_non_null(e);
    int64_t param[RG_PARAMS_MAX] = {0};
    rg_params_standard(e->variant, param);
    RG_ENDS(rg_frame_free) rg_frame frame = {0};
    assert_int_equal(rg_frame_make(&frame, e, rg_device_emulated(), &p->shape, param, 1), RG_OK);
    for (int i = AL_IMAGE; i <= AL_MATRIX; i++) assert_int_equal(rg_frame_put(&frame, i, p->arg[i]), RG_OK);
    assert_int_equal(rg_frame_run(&frame), RG_OK);
    double rho[4], worst = 0;
    assert_int_equal(rg_buffer_get(&frame.buffer[AL_RHO], rho), RG_OK);
    for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(rho[i] - expected[i]));
    return worst;
}

// 64 x 64 pixels with sigma 1/200 of the mean: literal eq. 2 against the same sums about a typical value.
TEST(one_pass_variance_fails_on_bright_images) {
    RG_ENDS(problem_free) problem p = problem_make("align2d", (rg_shape){{64, 64, 4, AF_EDGE, 0}, 1}, RG_MAXIMUM);
    double expected[4];
    p.algo->reference(&p.shape, p.arg);
    memcpy(expected, p.arg[AL_RHO], sizeof expected);
    const double printed = worst_on_emulator("align2d:as_printed", &p, expected);
    const double about_typical = worst_on_emulator("align2d:atct_2d", &p, expected);
    const double exact = worst_on_emulator("align2d:batch", &p, expected);
    print_message("error of rho on a bright image: as printed %.2g, about a typical value %.2g, interpolated exactly %.2g\n",
        printed, about_typical, exact);
    assert_true(printed > 100 * about_typical && printed > 1e-3);
    assert_true(about_typical < 5e-3 && exact < 1e-4);
}

// For a texture, prepare allocates an array as large as the image; the forecast must include it.
TEST(forecasts_hold_the_textures_copy) {
    int textures = 0;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, NULL, "host"));) {
        const bool plane = !strcmp(e->variant->algo, "affine2d") || !strcmp(e->variant->algo, "align2d");
        if (!plane && strcmp(e->variant->algo, "align3d")) continue;
        const rg_shape shape = plane ? (rg_shape){{100, 50, 2, AF_EDGE, 0}, 1} : (rg_shape){{10, 20, 25, 2, AF_EDGE, 0}, 1};
        int64_t param[RG_PARAMS_MAX] = {0};
        rg_params_standard(e->variant, param);
        rg_variant without = *e->variant;
        without.flags &= ~(uint32_t)RG_COPIES_FIRST;
        rg_entry bare = *e;
        bare.variant = &without;
        const size_t more = rg_frame_bytes(e, &shape, param) - rg_frame_bytes(&bare, &shape, param);
        const bool texture = e->variant->finish && strcmp(e->variant->name, "npp"); // which ends a context instead
        assert_int_equal(more, texture ? 5000 * sizeof(float) : 0);
        textures += more > 0;
    }
    assert_int_equal(textures, 9);
}
