// SPDX-License-Identifier: MIT
// test_align.c: the job align: whole jobs against series of known transforms, what stands still in them, and bad input.
#include "../../../data/formats/mrc.h"
#include "../test.h"
#include "test_align.h"

extern const rg_command rg_cmd_phantom;

// ---- the job -------------------------------------------------------------------------------------------------------------

static void simulate(const char *name, const char *options)
{
    assert_int_equal(
        run_command(&rg_cmd_phantom, fmt("phantom tilt --out %s --quiet %s", in_dir(name), options), printed), RG_GOOD);
}

typedef struct errors {
    double rotation_deg, shift_px, scale;
} errors;

// The largest errors against truth.tsv of the series; the first row has to be the identity.
static errors largest_errors(const char *truth_path)
{
    rg_tsv found, truth;
    errors e = {0};
    assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &found), RG_GOOD);
    assert_int_equal(rg_tsv_read(truth_path, &truth), RG_GOOD);
    assert_int_equal(found.n_rows, truth.n_rows);
    for (int i = 0; i < found.n_rows; i++) {
        rg_similarity a = row_of(&found, i), b = row_of(&truth, i);
        if (i == 0) assert_true(a.rotation_deg == 0 && a.shift_x_px == 0 && a.shift_y_px == 0 && a.scale == 1);
        e.rotation_deg = fmax(e.rotation_deg, fabs(a.rotation_deg - b.rotation_deg));
        e.shift_px = fmax(e.shift_px, fmax(fabs(a.shift_x_px - b.shift_x_px), fabs(a.shift_y_px - b.shift_y_px)));
        e.scale = fmax(e.scale, fabs(a.scale - b.scale));
    }
    rg_tsv_free(&found);
    rg_tsv_free(&truth);
    print_message("largest errors: rotation %.4f degrees, shift %.4f px, scale %.6f\n", e.rotation_deg, e.shift_px, e.scale);
    return e;
}

// A range that ends before the truth is said, in the table and once on stderr.
TEST(test_edge)
{
    simulate("edge", "--width 96 --height 96 --images 3 --snr 10 --seed 3");
    for (int wide = 0; wide < 2; wide++) {
        catch_stderr();
        int code = align(fmt("%s %s", in_dir("edge/series.mrc"), wide ? "" : "--rotation 0.2"));
        const char *said = caught();
        assert_int_equal(code, RG_GOOD);
        assert_true(wide == !strstr(said, "end at the edge of a searched range"));
        rg_tsv t;
        assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
        assert_string_equal(rg_tsv_cell(&t, 0, "edge"), ""); // "-" stands for nothing
        int marked = 0;
        for (int i = 1; i < 3; i++) marked += strcmp(rg_tsv_cell(&t, i, "edge"), "rotation") == 0;
        assert_true(wide ? marked == 0 : marked > 0);
        rg_tsv_free(&t);
    }
}

// Signal and noise of equal variance: the bounds of the issue.
TEST(test_series)
{
    simulate("series", "--width 512 --height 480 --images 4 --snr 1");
    assert_int_equal(align(fmt("%s --tilts %s --aligned %s --truth %s", in_dir("series/series.mrc"),
                         in_dir("series/series.rawtlt"), in_dir("aligned.mrc"), in_dir("series/truth.tsv"))),
        RG_GOOD);
    errors e = largest_errors(in_dir("series/truth.tsv"));
    assert_true(e.rotation_deg < 0.05 && e.shift_px < 0.1 && e.scale < 1e-3);
    assert_int_equal(access(in_dir("t.svg"), F_OK), access("/usr/bin/gnuplot", F_OK));
    rg_tsv table;
    assert_int_equal(rg_tsv_read(in_dir("t.errors.tsv"), &table), RG_GOOD);
    assert_near(rg_tsv_number(&table, 0, "largest"), e.rotation_deg, 1e-6);
    assert_near(rg_tsv_number(&table, 1, "largest"), e.shift_px, 1e-6);
    assert_near(rg_tsv_number(&table, 2, "largest"), e.scale, 1e-8);
    assert_true(rg_tsv_number(&table, 1, "median") <= e.shift_px);
    rg_tsv_free(&table);
    // The cumulative table is the product of the steps, the last column the angle.
    rg_tsv step, whole;
    assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &step), RG_GOOD);
    assert_int_equal(rg_tsv_read(in_dir("t.cumulative.tsv"), &whole), RG_GOOD);
    rg_affine a = rg_affine_identity;
    for (int i = 1; i < 4; i++) {
        const rg_similarity s = row_of(&step, i), w = row_of(&whole, i);
        const rg_affine one = rg_affine_of(&s);
        a = rg_affine_then(&one, &a);
        assert_near(w.shift_x_px, a.shift_px[0], 1e-5);
        assert_near(w.rotation_deg, rg_affine_similarity(&a).rotation_deg, 1e-6);
        assert_near(rg_tsv_number(&whole, i, "tilt_deg"), -60 + 40 * i, 1e-9);
        assert_true(rg_tsv_number(&step, i, "correlation") > 0.8);
    }
    rg_tsv_free(&step);
    rg_tsv_free(&whole);
}

// The series that test_series has written: every image looks like the first one, which only half of them do as they are.
TEST(test_aligned)
{
    const char *const path[2] = {in_dir("aligned.mrc"), in_dir("series/series.mrc")};
    double least[2] = {1, 1};
    const int64_t n = 512 * 480;
    float *first = rg_alloc((size_t)n * sizeof *first), *image = rg_alloc((size_t)n * sizeof *image);
    for (int f = 0; f < 2; f++) {
        rg_mrc mrc;
        assert_int_equal(rg_mrc_open(&mrc, path[f]), RG_GOOD);
        assert_int_equal(mrc.nz, 4);
        assert_int_equal(mrc.space_group, 0);
        assert_near(mrc.voxel_A[0], 1.5, 1e-6);
        for (int64_t z = 0; z < 4; z++) {
            double ab = 0, aa = 0, bb = 0;
            rg_mrc_section(&mrc, z, z ? image : first);
            // The middle, which every image holds.
            for (int64_t i = 0; i < n && z; i++) {
                if (llabs(i % 512 - 256) > 150 || llabs(i / 512 - 240) > 150) continue;
                ab += first[i] * image[i];
                aa += first[i] * first[i];
                bb += image[i] * image[i];
            }
            least[f] = z ? fmin(least[f], ab / sqrt(aa * bb)) : 1;
        }
        rg_mrc_close(&mrc);
    }
    print_message("least correlation with the first image: aligned %.3f, as it was %.3f\n", least[0], least[1]);
    assert_true(least[0] > 0.55 && least[1] < 0.45); // noise of the signal's variance: 0.5 to 0.7
    free(first);
    free(image);
}

// Turns, shifts and magnifications over the paper's ranges, and without the optimiser to a coarser bound.
TEST(test_wide)
{
    simulate("wide", "--width 256 --images 4 --snr 4 --rotation 10 --shift 60 --scale 1.1 --seed 3");
    char *words = rg_print("%s", in_dir("wide/series.mrc"));
    assert_int_equal(align(words), RG_GOOD);
    errors e = largest_errors(in_dir("wide/truth.tsv"));
    assert_true(e.rotation_deg < 0.05 && e.shift_px < 0.1 && e.scale < 1e-3);
    assert_int_equal(align(fmt("%s --no-fine --outside zero", words)), RG_GOOD);
    e = largest_errors(in_dir("wide/truth.tsv"));
    assert_true(e.rotation_deg < 0.3 && e.shift_px < 0.6 && e.scale < 0.01); // zeros from outside pull at the borders
    free(words);
}

// The paper's own kernel, built for the host, gives what plain C gives.
TEST(test_variants)
{
    simulate("small", "--width 48 --images 2 --snr 100 --rotation 1 --shift 3 --scale 1.01");
    rg_similarity found[2];
    static const char *const how[2] = {"--variant naive", "--device host --variant atct_2d"};
    for (int v = 0; v < 2; v++) {
        rg_tsv t;
        assert_int_equal(align(fmt("%s --rotation 1 --shift 4 --scale 1:1 %s", in_dir("small/series.mrc"), how[v])), RG_GOOD);
        assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
        found[v] = row_of(&t, 1);
        rg_tsv_free(&t);
    }
    assert_near(found[1].rotation_deg, found[0].rotation_deg, 0.1); // 9-bit fractions of the texture unit
    assert_near(found[1].shift_x_px, found[0].shift_x_px, 0.03);
    assert_near(found[1].shift_y_px, found[0].shift_y_px, 0.03);
}

// Twelve transforms in batches of five, the last one filled up, by plain C and by the kernel that takes groups: as one by one.
TEST(test_batches)
{
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
    assert_true(one[7] == -1); // hardly anything overlaps
    assert_true(fabs(one[0] - one[1]) > 1e-3);
}

// ---- tilted ----------------------------------------------------------------------------------------------------------------

// Largest error of the linear maps and of the shifts, by the job's own table.
static void tilt_errors(double *shift_px, double *linear)
{
    rg_tsv t;
    assert_int_equal(rg_tsv_read(in_dir("t.errors.tsv"), &t), RG_GOOD);
    assert_string_equal(rg_tsv_cell(&t, 3, "quantity"), "linear");
    *shift_px = rg_tsv_number(&t, 1, "largest");
    *linear = rg_tsv_number(&t, 3, "largest");
    print_message("largest errors: shift %.3f px, linear map %.5f\n", *shift_px, *linear);
    rg_tsv_free(&t);
}

// A specimen that is tilted: with the known stretch and without; the axis known and searched; the affine model without angles.
TEST(test_tilted)
{
    simulate("tilt", "--width 128 --images 4 --snr 20 --shift 5 --rotation 1 --scale 1 --tilt-axis 12 --tilts -54:0");
    static const struct {
        const char *options;
        double shift_px, linear;
    } way[] = {{"--tilt-axis 12", 0.1, 2e-3}, {"--tilt-axis search", 0.15, 6e-3}, {"--model affine --stretch 1.2", 0.15, 4e-3}};
    double shift_px, linear, plain = 1;
    for (int i = 0; i < RG_COUNT(way); i++) {
        assert_int_equal(
            align(fmt("%s --shift 8 --rotation 3 --scale 0.82:1.05 --tilts %s --truth %s %s --xf %s", in_dir("tilt/series.mrc"),
                in_dir("tilt/series.rawtlt"), in_dir("tilt/truth.tsv"), way[i].options, in_dir("t.xf"))),
            RG_GOOD);
        tilt_errors(&shift_px, &linear);
        assert_true(shift_px < way[i].shift_px && linear < way[i].linear);
        const char *said = strstr(printed, "tilt axis\t");
        assert_true(!said == (i != 1));
        if (said) assert_near(strtod(said + strlen("tilt axis\t"), NULL), 12, 1.5);
    }
    assert_int_equal(align(fmt("%s --shift 8 --rotation 3 --scale 0.95:1.05", in_dir("tilt/series.mrc"))), RG_GOOD);
    rg_tsv t;
    assert_int_equal(rg_tsv_read(in_dir("t.tsv"), &t), RG_GOOD);
    for (int i = 1; i < 4; i++) plain = fmin(plain, rg_tsv_number(&t, i, "correlation"));
    rg_tsv_free(&t);
    print_message("least correlation without the stretch %.3f\n", plain);
    assert_true(plain < 0.9); // 0.95 and more with it
}

// Numbers of the n-th "[a,b,c,d]" of the file; false behind the last.
static bool bracket(const char *text, int n, double v[4])
{
    for (; n >= 0 && (text = strchr(text, '[')); n--) text++;
    return text && sscanf(text, "%lf,%lf,%lf,%lf", v, v + 1, v + 2, v + 3) == 4;
}

// What IMOD and RELION are told, against the truth of the phantom: a point of the flat specimen, carried by the truth from the image
// at 0 degrees into another one, is where the projection matrix puts the point of the tomogram's middle plane; and .xf brings both
// to the same height above the axis, and to distances from it that go as the cosines.
TEST(test_geometry)
{
    enum { N = 4, SIDE = 128 };
    rg_affine step[N], whole = rg_affine_identity;
    char text[1 << 14];
    char *words = rg_print(
        "%s --shift 8 --rotation 3 --scale 0.95:1.05 --tilts %s --tilt-axis 12 --xf %s --tomogram %s --thickness 40 --kv 300 "
        "--dose 3 --defocus 20000",
        in_dir("tilt/series.mrc"), in_dir("tilt/series.rawtlt"), in_dir("t.xf"), in_dir("t.star"));
    assert_int_equal(align(words), RG_GOOD);
    free(words);
    assert_int_equal(rg_transforms_read(in_dir("tilt/truth.tsv"), N, step), RG_GOOD);
    FILE *f = fopen(in_dir("t.star"), "r"), *xf = fopen(in_dir("t.xf"), "r");
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_non_null(strstr(text, "128 128 40 -1 opticsGroup1 1.5 300 2.7 0.07 3\n"));
    const rg_affine to_axis = rg_affine_of(&(rg_similarity){-12, 0, 0, 1}), from_axis = rg_affine_inverse(&to_axis);
    const double p[2] = {20, -30};
    double flat[2], v[4], row[6];
    rg_affine to_last[N]; // image i into the last one, which is at 0 degrees
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
        for (int k = 0; k < 2; k++) // from IMOD's centre, which lies half a pixel before ours
            flat[k] = row[2 * k] * (truth[0] + 0.5) + row[2 * k + 1] * (truth[1] + 0.5) + row[4 + k] - 0.5;
        const double cosine = cos((-54 + 18 * i) * M_PI / 180);
        assert_near(flat[0], p[0] * cosine, 0.4);
        assert_near(flat[1], p[1], 0.4);
    }
    fclose(xf);
    assert_false(bracket(text, 4 * N, v));
    assert_int_equal(access(in_dir("t.tlt"), F_OK), 0);
    // What the options say of the microscope stands in the place of the series' own and of the defaults.
    words = rg_print(
        "%s --shift 8 --rotation 3 --scale 0.95:1.05 --tilts %s --tilt-axis 12 --tomogram %s --thickness 40 --kv 200 --dose 3 "
        "--defocus 20000 --pixel 2.5 --hand 1 --cs 2 --amplitude-contrast 0.1",
        in_dir("tilt/series.mrc"), in_dir("tilt/series.rawtlt"), in_dir("o.star"));
    assert_int_equal(align(words), RG_GOOD);
    free(words);
    assert_true(file_has(in_dir("o.star"), "128 128 40 1 opticsGroup1 2.5 200 2 0.1 3\n"));
}

// ---- what stands still ---------------------------------------------------------------------------------------------------

// A series with the same bright patch in every image.
static void put_patch(const char *from, const char *to, float *mask, int64_t side)
{
    rg_mrc mrc;
    rg_mrc_out out;
    float *image = rg_alloc((size_t)(side * side) * sizeof *image);
    assert_int_equal(rg_mrc_open(&mrc, from), RG_GOOD);
    assert_int_equal(rg_mrc_write_begin(&out, to, side, side, mrc.nz, RG_MRC_FLOAT32, 1, false), RG_GOOD);
    for (int64_t z = 0; z < mrc.nz; z++) {
        rg_mrc_section(&mrc, z, image);
        for (int64_t i = 0; i < side * side; i++)
            if (!(mask[i] > 0)) image[i] = 5 + (float)(rg_bits(5, (uint64_t)i) % 100) / 10;
        rg_mrc_write_section(&out, image);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    rg_mrc_close(&mrc);
    free(image);
}

TEST(test_mask)
{
    enum { SIDE = 128 };
    static float mask[SIDE * SIDE];
    rg_mrc_out out;
    rg_mrc simulated;
    simulate("still", "--width 128 --images 3 --snr 10 --rotation 1 --shift 12 --scale 1.005 --pixel 3.5");
    assert_int_equal(rg_mrc_open(&simulated, in_dir("still/series.mrc")), RG_GOOD);
    assert_near(rg_mrc_voxel_A(&simulated, false), 3.5, 1e-6);
    rg_mrc_close(&simulated);
    for (int i = 0; i < SIDE * SIDE; i++) mask[i] = abs(i % SIDE - 50) > 12 || abs(i / SIDE - 70) > 12;
    put_patch(in_dir("still/series.mrc"), in_dir("patch.mrc"), mask, SIDE);
    assert_int_equal(rg_mrc_write_begin(&out, in_dir("mask.mrc"), SIDE, SIDE, 1, RG_MRC_FLOAT32, 1, false), RG_GOOD);
    rg_mrc_write_section(&out, mask);
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    char *without = rg_print("%s", in_dir("patch.mrc")), *with = rg_print("%s --mask %s", without, in_dir("mask.mrc"));
    assert_int_equal(align(without), RG_GOOD);
    errors e = largest_errors(in_dir("still/truth.tsv"));
    assert_true(e.shift_px > 3); // the patch has won
    assert_int_equal(align(with), RG_GOOD);
    e = largest_errors(in_dir("still/truth.tsv"));
    assert_true(e.shift_px < 0.3 && e.rotation_deg < 0.3);
    free(without);
    free(with);
}

// ---- bad input -----------------------------------------------------------------------------------------------------------

static const char *put_stack(const char *name, int64_t w, int64_t h, int64_t n, bool volume, bool constant)
{
    rg_mrc_out out;
    float *image = rg_alloc((size_t)(w * h) * sizeof *image);
    assert_int_equal(rg_mrc_write_begin(&out, in_dir(name), w, h, n, RG_MRC_FLOAT32, 1, volume), RG_GOOD);
    for (int64_t z = 0; z < n; z++) {
        for (int64_t i = 0; i < w * h; i++)
            image[i] = constant && z == n - 1 ? 2.5f : (float)(rg_bits((uint64_t)z, (uint64_t)i) % 1000);
        rg_mrc_write_section(&out, image);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
    free(image);
    return in_dir(name);
}

static void refused(const char *words, const char *reason)
{
    unlink(in_dir("t.tsv"));
    assert_refused(align(words), reason);
    assert_int_equal(access(in_dir("t.tsv"), F_OK), -1);
}

TEST(test_bad_input)
{
    char *good = rg_print("%s", put_stack("good.mrc", 32, 32, 2, false, false));
    char *wide = rg_print("%s %s", good, put_stack("wide.mrc", 33, 32, 2, false, false));
    refused(wide, "expected images of 32 x 32 pixels as in");
    refused(put_stack("constant.mrc", 32, 32, 2, false, true),
        "image 2: expected an image, found the constant 2.5, whose "
        "correlation is undefined");
    refused(put_stack("volume.mrc", 32, 32, 32, true, false), "expected images, found a volume of 32 x 32 x 32");
    refused(put_stack("one.mrc", 32, 32, 1, false, false), "expected a series of at least two images, found one");
    refused(put_stack("tiny.mrc", 8, 32, 2, false, false), "expected images of at least 16 x 16 pixels, found 8 x 32");
    refused(in_dir("absent.mrc"), "absent.mrc");
    static const struct {
        const char *options, *reason;
    } wrong[] = {{"--outside wrap", "--outside: expected zero, edge or ignore"},
        {"--scale 1.2:0.9", "--scale: expected LOW:HIGH"}, {"--scale 1,2", "--scale: expected two numbers"},
        {"--band-pass 4,2", "--band-pass: expected LOW,HIGH"}, {"--rotation 200", "--rotation"}, {"--shift 32", "--shift"},
        {"--variant fastest", "fastest"}};
    for (int i = 0; i < RG_COUNT(wrong); i++) {
        refused(fmt("%s %s", good, wrong[i].options), wrong[i].reason);
    }
    refused(fmt("%s --aligned %s/absent/a.mrc", in_dir("series/series.mrc"), test_dir), "cannot write here");
    refused(fmt("%s --tilts %s", good, put_file("one.tlt", "5\n", 2)), "expected 2 angles, one an image, found 1");
    refused(fmt("%s --tilts %s", good, put_file("word.tlt", "5\nx\n", 4)), "expected one angle in degrees on the line");
    static const struct {
        const char *angles, *axis, *reason;
    } axis[] = {{"5\n9\n", "x", "--tilt-axis: expected search or an angle"},
        {"5\n89\n", "0", "expected angles from -85 to 85 degrees, found 89 of image 2"},
        {"5\n-5\n", "search", "no two neighbours whose cosines differ"}};
    for (int i = 0; i < RG_COUNT(axis); i++) {
        refused(fmt("%s --tilts %s --tilt-axis %s", good, put_file("axis.tlt", axis[i].angles, strlen(axis[i].angles)),
                    axis[i].axis),
            axis[i].reason);
    }
    refused(fmt("%s --mask %s", good, in_dir("wide.mrc")), "expected one image of 32 x 32 pixels for --mask");
    static const char few[] = "image\tr\tx\ty\ts\n1\t0\t0\t0\t1\n", narrow[] = "image\tr\tx\ty\ts\n1\t0\t0\n2\t0\t0\t0\t1\n";
    refused(fmt("%s --truth %s", good, put_file("truth.tsv", few, sizeof few - 1)), "expected 2 rows, found 1");
    refused(fmt("%s --truth %s", good, put_file("truth.tsv", narrow, sizeof narrow - 1)), "line 2: expected 5 cells, found 3");
    assert_int_equal(align(fmt("%s --no-fine --rotation 0 --scale 1:1", good)), RG_GOOD);
    free(wide);
    free(good);
}

TESTS(test_dir_make, test_dir_remove)
