// SPDX-License-Identifier: MIT
// test_align.c: align's files for IMOD and RELION, by their definition, and a real series whose shifts are known from its
// pixels; verify/cases/align.tsv has whole jobs.
#include "../../../data/formats/mrc.h"
#include "../test.h"
#include "test_align.h"

extern const rg_command rg_cmd_phantom;

// Reads the numbers of the n-th "[a,b,c,d]" of the file; false after the last.
static bool bracket(const char *text, int n, double v[4]) {
    for (; n >= 0 && (text = strchr(text, '[')); n--) text++;
    return text && sscanf(text, "%lf,%lf,%lf,%lf", v, v + 1, v + 2, v + 3) == 4;
}

// The files for IMOD and RELION against the truth of the phantom: a point of the flat specimen, moved by the truth from the
// image at 0 degrees to another one, is where the projection matrix puts the point of the tomogram's middle plane; and .xf
// moves both to the same height above the axis, and to distances from it in the ratio of the cosines.
TEST(test_geometry) {
    enum { N = 4, SIDE = 128 };
    rg_affine step[N], whole = rg_affine_identity;
    char text[1 << 14];
    assert_int_equal(run_command(&rg_cmd_phantom,
                         fmt("phantom tilt --out %s --quiet --width 128 --images 4 --snr 20 --shift 5 --rotation 1 --scale 1 "
                             "--tilt-axis 12 --tilts -54:0",
                             in_dir("tilt")),
                         printed),
        RG_GOOD);
    RG_FREED char *words = rg_print(
        "%s --shift 8 --rotation 3 --scale 0.95:1.05 --tilts %s --tilt-axis 12 --xf %s --tomogram %s --thickness 40 --kv 300 "
        "--dose 3 --defocus 20000",
        in_dir("tilt/series.mrc"), in_dir("tilt/series.rawtlt"), in_dir("t.xf"), in_dir("t.star"));
    assert_int_equal(align(words), RG_GOOD);
    assert_int_equal(rg_transforms_read(in_dir("tilt/truth.tsv"), N, step), RG_GOOD);
    FILE *f = fopen(in_dir("t.star"), "r"), *xf = fopen(in_dir("t.xf"), "r");
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_non_null(strstr(text, "128 128 40 -1 opticsGroup1 1.5 300 2.7 0.07 3\n"));
    const rg_affine to_axis = rg_affine_of(&(rg_similarity){-12, 0, 0, 1}), from_axis = rg_affine_inverse(&to_axis);
    const double p[2] = {20, -30};
    double flat[2], v[4], row[6];
    rg_affine to_last[N]; // from image i to the last one, at 0 degrees
    for (int i = 0; i < N; i++) {
        if (i) whole = rg_affine_then(&step[i], &whole);
        to_last[i] = whole;
    }
    assert_non_null(strstr(text, " 20000 20000 0 0.587785252 0\n")); // at -54 degrees
    assert_non_null(strstr(text, " 20000 20000 0 1 9\n"));
    for (int i = 0; i < N; i++) {
        const rg_affine back = rg_affine_inverse(&to_last[i]), there = rg_affine_then(&to_last[N - 1], &back);
        double at_0[2], truth[2], found[2];
        rg_affine_apply(&from_axis, p, at_0);
        rg_affine_apply(&there, at_0, truth);
        for (int k = 0; k < 2; k++) {
            assert_true(bracket(text, 4 * i + k, v));
            found[k] = v[0] * (p[0] + SIDE / 2) + v[1] * (p[1] + SIDE / 2) + v[2] * 20 + v[3] - SIDE / 2;
            assert_near(found[k], truth[k], 0.4);
        }
        for (int k = 0; k < 6; k++) assert_int_equal(fscanf(xf, "%lf", &row[k]), 1);
        for (int k = 0; k < 2; k++) // from IMOD's centre, half a pixel before ours
            flat[k] = row[2 * k] * (truth[0] + 0.5) + row[2 * k + 1] * (truth[1] + 0.5) + row[4 + k] - 0.5;
        const double cosine = cos((-54 + 18 * i) * M_PI / 180);
        assert_near(flat[0], p[0] * cosine, 0.4);
        assert_near(flat[1], p[1], 0.4);
    }
    fclose(xf);
    assert_false(bracket(text, 4 * N, v));
    assert_int_equal(access(in_dir("t.tlt"), F_OK), 0);
}

#define T3 "../shared/data/tilt2d/T3_real_xray_91/projections_"

// The small shift t along x with a(q) = b(q - t), to first order: it moves b onto a.
static double slope_shift(const int64_t side[3], const float *a, const float *b) {
    double product = 0, square = 0;
    for (int64_t i = 0; i < side[0] * side[1]; i++) {
        int64_t x = i % side[0];
        if (x == 0 || x == side[0] - 1) continue;
        double slope = ((double)b[i + 1] - b[i - 1]) / 2;
        product -= slope * ((double)a[i] - b[i]);
        square += slope * slope;
    }
    return product / square;
}

// 91 X-ray projections of a rotating body: each is shifted by 0.4 to -0.5 pixels along x from the one before, to the right in
// the first third and then to the left, and not along y. The sign is tested by the definition: image i is moved onto i - 1.
TEST(test_t3) {
    SKIP_WITHOUT(T3 "f32.mrc");
    RG_ENDS(rg_tsv_free) rg_tsv t;
    RG_ENDS(rg_mrc_close) rg_mrc mrc;
    assert_int_equal(align(T3 "f32.mrc --shift 8 --no-fine --rotation 0 --scale 1:1"), RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
    assert_int_equal(t.n_rows, 91);
    assert_int_equal(rg_mrc_open(&mrc, T3 "f32.mrc"), RG_GOOD);
    const int64_t side[3] = {mrc.nx, mrc.ny, 1}, n = side[0] * side[1];
    float *image = rg_alloc((size_t)(2 * n) * sizeof *image), *neighbour[2] = {image, image + n};
    double first = 0, last = 0;
    for (int i = 0; i < 91; i++) {
        rg_similarity s = row_of(&t, i);
        assert_int_equal(rg_mrc_section(&mrc, i, neighbour[i % 2]), RG_GOOD);
        aj_band_pass(side, 1.5, 0, neighbour[i % 2], 1);
        double expected = i ? slope_shift(side, neighbour[(i + 1) % 2], neighbour[i % 2]) : 0;
        assert_near(s.shift_x_px, expected, 0.05);
        assert_near(s.shift_y_px, 0, 0.2);
        *(i < 20 ? &first : &last) += s.shift_x_px / (i < 20 ? 19 : 71);
    }
    print_message("T3: mean shift along x %.3f of images 2 to 20, %.3f of those after\n", first, last);
    assert_true(first > 0.2 && last < -0.2);
    free(image);
}

TESTS(test_dir_make, test_dir_remove)
