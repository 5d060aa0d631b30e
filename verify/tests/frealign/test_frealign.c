// SPDX-License-Identifier: MIT
// test_frealign.c: laws of FREALIGN's routines, for every variant: a particle that is its own section, one rotated by a half
// turn, symmetry operators, insertion as the transpose of the section. Expected values do not come from the reference.
#include "../../../impl/frealign/bound.h"
#include "../../../impl/frealign/ctf/apply.h"
#include "../../../impl/frealign/simd_columns.h"
#include "../../../impl/base/symmetry.h"
#include "test_routines.h"

static const double TURN = 6.28318530717958647692;

// ---- index.h against the definitions -------------------------------------------------------------------------------------

TEST(sinc_is_sinc) {
    for (int step = -24000; step <= 24000; step++) {
        const double t = step / 8000.0, x = TURN / 2 * t;
        assert_true(fabs(fr_sinc((float)t) - (step ? sin(x) / x : 1)) < 3e-7);
    }
}

// Errors of one column in a plane of noise against the transforms of both signs: 2-norm of the difference over that of the
// transform.
static void column_errors(
    const fr_columns *c, const float *before, const float *after, int64_t pitch, int column, int forth, double error[2]) {
    double off[2] = {0, 0}, all = 0;
    for (int q = 0; q < c->side; q++) {
        double sum[2][2] = {{0}};
        for (int r = 0; r < c->side; r++) {
            const float *x = before + 2 * (r * pitch + column);
            const double angle = TURN * (double)((int64_t)q * r % c->side) / c->side, co = cos(angle);
            for (int sign = 0; sign < 2; sign++) {
                const double si = sign ? -sin(angle) : sin(angle);
                sum[sign][0] += x[0] * co - x[1] * si;
                sum[sign][1] += x[1] * co + x[0] * si;
            }
        }
        for (int part = 0; part < 2; part++) {
            const double y = after[2 * (q * pitch + column) + part];
            all += sum[forth][part] * sum[forth][part];
            for (int sign = 0; sign < 2; sign++) off[sign] += pow(y - sum[sign ^ forth][part], 2);
        }
    }
    for (int sign = 0; sign < 2; sign++) error[sign] = sqrt(off[sign] / all);
}

// Sides of fours and twos, of each odd factor with special code, and of others. With the other sign the result is wrong.
TEST(columns_are_transformed) {
    static const int side[] = {4, 6, 8, 10, 14, 22, 30, 34, 98, 112, 420, 500, 1022};
    for (int s = 0; s < RG_COUNT(side); s++)
        for (int wide = 0; wide <= rg_cpu_has("avx512"); wide++)
            for (int forth = 0; forth < 2; forth++) {
                const int64_t pitch = 32, floats = 2 * side[s] * pitch;
                float *plane = rg_alloc((size_t)floats * sizeof *plane), *before = rg_alloc((size_t)floats * sizeof *before);
                fr_columns c;
                assert_int_equal(fr_columns_make(&c, side[s]), RG_OK);
                for (int64_t i = 0; i < floats; i++)
                    plane[i] = before[i] = (float)(rg_bits(5, (uint64_t)i) >> 40) * 0x1p-23f - 1;
                if (wide)
                    avx512_columns(&c, plane, 2 * pitch, forth);
                else
                    avx2_columns(&c, plane, 2 * pitch, forth);
                for (int column = 0; column < 32; column += 5) {
                    double error[2];
                    if (column >= (wide ? 16 : 8)) {
                        assert_memory_equal(plane + 2 * column, before + 2 * column, 2 * sizeof *plane);
                        continue;
                    }
                    column_errors(&c, before, plane, pitch, column, forth, error);
                    assert_true(error[0] < fr_transform_error(side[s]) / 2);
                    assert_true(error[1] > 0.1);
                }
                fr_columns_free(&c);
                free(plane);
                free(before);
            }
}

TEST(mask_falls_over_six_pixels) {
    const struct {
        int x, y;
        double e;
        int edge;
    } pixel[] = {{0, 0, 1, 0}, {17, 0, 1, 0}, {18, 0, 0.933013, 1}, {20, 0, 0.5, 1}, {12, 16, 0.5, 1}, {22, 0, 0.066987, 1},
        {23, 0, 0, 1}, {24, 0, 0, 0}};
    for (int i = 0; i < RG_COUNT(pixel); i++) {
        const int64_t rr = pixel[i].x * pixel[i].x + pixel[i].y * pixel[i].y;
        assert_true(fabs(fr_mask(20, rr) - pixel[i].e) < 1e-5);
        assert_int_equal(fr_on_edge(20, rr), pixel[i].edge);
    }
    assert_true(fr_in_disc(5, 25) && !fr_in_disc(5, 26));
}

TEST(ctf_is_freealigns) {
    const float o[FR_OPTICS] = {-0.013f, 0.002f, -0.011f, 1e-5f, 0.9975f, 0.07f};
    assert_true(fabsf(fr_ctf(o, 0, 0) + 0.07f) < 1e-6f); // c(0) = -w2
    for (int i = 0; i < 40; i++)
        for (int j = -40; j < 40; j++) {
            const float x = (float)i, y = (float)j;
            const double rr = i * i + j * j, h = o[0] * x * x + o[1] * x * y + o[2] * y * y + o[3] * rr * rr;
            assert_true(fabs(fr_ctf(o, (float)i, (float)j) - (o[4] * sin(TURN / 2 * h) - o[5] * cos(TURN / 2 * h))) < 4e-5);
        }
}

// RELION's matrix maps the volume to the image, FREALIGN's the image to the volume.
TEST(rotation_is_relions_transposed) {
    double m[9], a[9];
    fr_rotation(0.7, 1.1, -2.3, m);
    rg_particle_matrix(0.7 * 360 / TURN, 1.1 * 360 / TURN, -2.3 * 360 / TURN, a);
    for (int e = 0; e < 9; e++) assert_true(fabs(m[e] - a[3 * (e % 3) + e / 3]) < 1e-12);
}

// ---- a particle that is its section --------------------------------------------------------------------------------------

static void correlates_with_itself(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const fr_call c = call_of(p);
    const float *out = p->arg[FR_SCORE];
    (void)context;
    run(v, param, 1, p);
    if (strcmp(p->algo->name, "sigma2") == 0) {
        const double cc = out[0] / sqrt((double)out[1] * out[2]);
        assert_true(fabs(cc - 1) < 1e-4 && fabs(fr_noise(out)) < 1e-3 * out[2] && fabs(fr_alpha(out) - 1) < 1e-3);
        assert_true(out[3] > 0);
    } else if (strcmp(p->algo->name, "presb") == 0) {
        for (int64_t k = 1; k < fr_rings(c.side); k++)
            assert_true(fabs(out[k] - (k <= c.outer ? 1 : 0)) < 1e-4); // ring 9 has radii of 8.5 to 9
    } else { // sum g sqrt B / sqrt(n sum g^2 B) is 1 only if all rings have the same power
        const double least = c.rings && strcmp(p->algo->name, "cc3m") == 0 ? 0.9 : 1 - 1e-5;
        if (!(out[0] >= least && out[0] < 1 + 1e-5)) fail_msg("%s:%s gives %g", p->algo->name, v->name, out[0]);
    }
}

TEST(a_section_correlates_with_itself) {
    const char *const name[] = {"cc3m", "presb", "ccoef", "sigma2"};
    const int64_t kinds[] = {FR_V9, FR_TRILINEAR, FR_BOX3 | FR_SQUARED, FR_NEAREST | FR_PAD_2, FR_BOX5};
    for (int a = 0; a < RG_COUNT(name); a++)
        for (int k = 0; k < RG_COUNT(kinds); k++) {
            if (a == 3 && kinds[k] & FR_SQUARED) continue; // sigma2 always uses 2|c|
            const rg_shape shape = {{24, 1, kinds[k], 1, 9, 1}, 7};
            RG_ENDS(problem_free) problem p = problem_make(name[a], shape, RG_RANDOM);
            ((float *)p.arg[FR_SETTING])[0] = 100; // no mask: the disc is the whole image
            plant(&p);
            each_variant(&p, correlates_with_itself, NULL);
        }
}

// ---- turns ---------------------------------------------------------------------------------------------------------------

static double score_of(const rg_variant *v, const int64_t *param, problem *p) {
    run(v, param, 1, p);
    return *(float *)p->arg[FR_SCORE];
}

// psi + 180 degrees turns the section about, which conjugates it; so does conjugating the particle, with the opposite shift.
static void half_turn(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    (void)context;
    float *pose = p->arg[FR_POSE], *X = p->arg[FR_X];
    const double before = score_of(v, param, p);
    for (int e = 0; e < FR_POSE_FLOATS; e++) pose[e] = -pose[e];
    for (int64_t e = 0; e < fr_stored(p->shape.n[FR_SIDE]); e++) X[2 * e + 1] = -X[2 * e + 1];
    assert_true(fabs(score_of(v, param, p) - before) < 2e-6);
    assert_true(fabs(before) > 1e-4);
}

TEST(a_half_turn_conjugates) {
    const char *const name[] = {"cc3m", "ccoef"};
    for (int a = 0; a < RG_COUNT(name); a++) {
        const rg_shape shape = {{26, 1, FR_TRILINEAR, 1, 11, 1}, 7};
        RG_ENDS(problem_free) problem p = problem_make(name[a], shape, RG_RANDOM);
        each_variant(&p, half_turn, NULL);
    }
}

// A reference with a four-fold axis along z, in Fourier space on the lattice: the mean over the four turned references.
static void make_fourfold(problem *p) {
    const int64_t side = p->shape.n[FR_SIDE], n = fr_voxels(side);
    float *F3 = p->arg[FR_F3], *sum = rg_alloc((size_t)(2 * n) * sizeof *sum);
    for (int64_t z = -side / 2 + 1; z < side / 2; z++)
        for (int64_t y = -side / 2 + 1; y < side / 2; y++)
            for (int64_t x = 0; x < side / 2; x++)
                for (int turn = 0; turn < 4; turn++) {
                    int64_t at[3] = {turn == 0 ? x
                            : turn == 1        ? -y
                            : turn == 2        ? -x
                                               : y,
                        turn == 0       ? y
                            : turn == 1 ? x
                            : turn == 2 ? -y
                                        : -x,
                        z};
                    const float sign = fr_fold(side, &at[0], &at[1], &at[2]) ? -1 : 1,
                                *F = F3 + 2 * fr_voxel(side, at[0], at[1], at[2]);
                    float *to = sum + 2 * fr_voxel(side, x, y, z);
                    to[0] += F[0] / 4;
                    to[1] += sign * F[1] / 4;
                }
    memcpy(F3, sum, (size_t)(2 * n) * sizeof *sum);
    free(sum);
}

// g M q for M q, g a quarter turn about z.
static void quarter_turn(const rg_variant *v, const int64_t *param, problem *p, const void *expected) {
    float *pose = p->arg[FR_POSE];
    const float was[6] = {pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]};
    const double before = score_of(v, param, p);
    for (int column = 0; column < 6; column += 3) {
        pose[column] = -was[column + 1];
        pose[column + 1] = was[column];
    }
    const double after = score_of(v, param, p);
    memcpy(pose, was, sizeof was);
    assert_true(expected ? fabs(after - before) < 3e-6 : fabs(after - before) > 1e-3);
}

TEST(operators_of_the_group_change_nothing) {
    const rg_shape shape = {{20, 1, FR_TRILINEAR, 1, 8, 1}, 7};
    RG_ENDS(problem_free) problem p = problem_make("cc3m", shape, RG_RANDOM);
    each_variant(&p, quarter_turn, NULL); // without the symmetry they differ
    make_fourfold(&p);
    each_variant(&p, quarter_turn, &p);
}

// ---- ccp -----------------------------------------------------------------------------------------------------------------

typedef struct peak {
    int v, x, y;
} peak;

static void peaks_at(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const peak *expected = context;
    const float *cc = p->arg[FR_CCP_CC];
    int64_t best = 0;
    run(v, param, 1, p);
    for (int64_t e = 0; e < p->algo->arg[FR_CCP_CC].count(&p->shape); e++) best = cc[e] > cc[best] ? e : best;
    const int64_t turns = p->shape.n[FR_TURNS],
                  right = expected->v * turns * FR_LAGS * FR_LAGS + fr_lag(expected->x, expected->y);
    if (best != right) fail_msg("%s peaks at %d, not %d", v->name, (int)best, (int)right);
    assert_true(cc[best] > 1 && cc[best] <= 2); // nearly all coefficients count twice above and once below
}

// The section of another psi, moved by lags of two pixels.
TEST(ccp_finds_quarter_and_lag) {
    const peak cases[] = {{0, 0, 0}, {1, 3, -2}, {2, -6, 5}, {3, 1, 6}};
    for (int i = 0; i < RG_COUNT(cases); i++) {
        const rg_shape shape = {{48, 1, FR_TRILINEAR, 1, 12, 3}, 7};
        RG_ENDS(problem_free) problem p = problem_make("ccp", shape, RG_RANDOM);
        float *pose = p.arg[FR_POSE], was[FR_POSE_FLOATS];
        memcpy(was, pose, sizeof was);
        for (int64_t e = 0; e < fr_stored(48); e++) ((float *)p.arg[FR_C])[e] = 1; // else the CTF would have to turn, too
        for (int quarter = 0; quarter < cases[i].v; quarter++)
            for (int axis = 0; axis < 3; axis++) { // M Rz(90 degrees): columns (2, -1)
                const float first = pose[axis];
                pose[axis] = pose[3 + axis];
                pose[3 + axis] = -first;
            }
        pose[6] = (float)(2 * TURN * cases[i].x / 48);
        pose[7] = (float)(2 * TURN * cases[i].y / 48);
        plant(&p);
        memcpy(pose, was, sizeof was);
        each_variant(&p, peaks_at, &cases[i]);
    }
}

// ---- insertion -----------------------------------------------------------------------------------------------------------

// c = 1/2 and w = 1, so that E is added unchanged to an empty volume.
static problem plain_insertion(int64_t kind) {
    const rg_shape shape = {{22, 2, kind, 3, 9}, 7};
    problem p = problem_make("pinsert_s", shape, RG_RANDOM);
    for (int64_t e = 0; e < p.algo->arg[FR_INSERT_C].count(&p.shape); e++) ((float *)p.arg[FR_INSERT_C])[e] = 0.5f;
    for (int e = 0; e < 4; e++) ((float *)p.arg[FR_INSERT_WEIGHT])[e] = e % 2 == 0;
    return p;
}

static void clear_volume(problem *p) {
    memset(p->arg[FR_INSERT_VOLUME], 0, (size_t)p->algo->arg[FR_INSERT_VOLUME].count(&p->shape) * sizeof(float));
}

// The weights of nodes around a place add up to 1; the plane x = 0 is its own mirror image.
static void mass_and_mirror(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const int64_t side = 22;
    const float *volume = p->arg[FR_INSERT_VOLUME];
    double mass = 0, right = 0;
    (void)context;
    clear_volume(p);
    run(v, param, 1, p);
    for (int64_t node = 0; node < fr_voxels(side); node++) {
        mass += (node % fr_width(side) == 0 ? 1 : 2) * (double)volume[4 * node + 2];
        assert_true(volume[4 * node + 3] == 0);
    }
    for (int64_t j = -9; j <= 9; j++)
        for (int64_t i = 0; i <= 9; i++) right += i * i + j * j <= 81 ? fr_mates(side, i, j) * 6 * 0.25 : 0;
    assert_true(fabs(mass - right) < 1e-5 * right);
    for (int64_t z = -10; z <= 10; z++)
        for (int64_t y = -10; y <= 10; y++) {
            const float *one = volume + 4 * fr_voxel(side, 0, y, z), *mate = volume + 4 * fr_voxel(side, 0, -y, -z);
            assert_true(fabsf(one[0] - mate[0]) < 1e-4f && fabsf(one[1] + mate[1]) < 1e-4f && fabsf(one[2] - mate[2]) < 1e-4f);
        }
}

TEST(insertion_keeps_mass_and_mirror) {
    const int64_t kinds[] = {FR_TRILINEAR, FR_NEAREST};
    for (int k = 0; k < RG_COUNT(kinds); k++) {
        RG_ENDS(problem_free) problem p = plain_insertion(kinds[k]);
        each_variant(&p, mass_and_mirror, NULL);
    }
}

// <S F, E> over all coefficients is <F, insertion of E> over all nodes: the section is the transpose of the insertion.
static void is_transposed(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const problem *section = context;
    const fr_call c = call_of(section);
    const int64_t side = 22;
    const float *volume = p->arg[FR_INSERT_VOLUME], *F3 = c.F3, *pose = p->arg[FR_INSERT_POSE], *D = p->arg[FR_INSERT_D];
    double gathered = 0, scattered = 0, size = 0;
    clear_volume(p);
    run(v, param, 1, p);
    for (int64_t at = 0; at < 6; at++)
        for (int64_t j = -9; j <= 9; j++)
            for (int64_t i = 0; i <= 9; i++) {
                const float *d = D + 2 * (at / 3 * fr_stored(side) + fr_element(side, i, j)), *s = pose + FR_POSE_FLOATS * at;
                const double phase = (double)s[6] * (double)i + (double)s[7] * (double)j;
                float S[2];
                if (i * i + j * j > 81) continue;
                fr_section(&c, s, i, j, S);
                gathered += fr_mates(side, i, j) *
                    (S[0] * (d[0] * cos(phase) - d[1] * sin(phase)) + S[1] * (d[1] * cos(phase) + d[0] * sin(phase)));
            }
    for (int64_t node = 0; node < fr_voxels(side); node++) {
        const double product = (double)F3[2 * node] * volume[4 * node] + (double)F3[2 * node + 1] * volume[4 * node + 1];
        scattered += (node % fr_width(side) == 0 ? 1 : 2) * product;
        size += fabs(product);
    }
    assert_true(fabs(gathered - scattered) < 1e-5 * size && fabs(gathered) > 1e-3 * size);
}

TEST(insertion_is_the_sections_transpose) {
    RG_ENDS(problem_free) problem p = plain_insertion(FR_TRILINEAR);
    const rg_shape shape = {{22, 1, FR_TRILINEAR, 1, 9, 1}, 7};
    RG_ENDS(problem_free) problem section = problem_make("ccoef", shape, RG_RANDOM);
    each_variant(&p, is_transposed, &section);
}

// Two calls add the same as one call with both particles.
static void accumulates(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const int64_t n = p->algo->arg[FR_INSERT_VOLUME].count(&p->shape), stored = fr_stored(22);
    RG_FREED float *both = rg_alloc((size_t)n * sizeof *both);
    problem half = *p;
    (void)context;
    clear_volume(p);
    run(v, param, 1, p);
    memcpy(both, p->arg[FR_INSERT_VOLUME], (size_t)n * sizeof *both);
    clear_volume(p);
    half.shape.n[FR_PARTICLES] = 1;
    run(v, param, 1, &half);
    half.arg[FR_INSERT_D] = (float *)p->arg[FR_INSERT_D] + 2 * stored;
    half.arg[FR_INSERT_C] = (float *)p->arg[FR_INSERT_C] + stored;
    half.arg[FR_INSERT_POSE] = (float *)p->arg[FR_INSERT_POSE] + 3 * FR_POSE_FLOATS;
    half.arg[FR_INSERT_WEIGHT] = (float *)p->arg[FR_INSERT_WEIGHT] + 2;
    run(v, param, 1, &half);
    assert_memory_equal(both, p->arg[FR_INSERT_VOLUME], (size_t)n * sizeof *both);
}

TEST(insertion_accumulates) {
    RG_ENDS(problem_free) problem p = plain_insertion(FR_BOX2 | FR_SQUARED);
    each_variant(&p, accumulates, NULL);
}

// ---- ctfapply ------------------------------------------------------------------------------------------------------------

// One pixel at (x, y), shifted home to (0, 0): D is then (-1)^(i+j) everywhere.
static void comes_home(const rg_variant *v, const int64_t *param, problem *p, const void *context) {
    const int64_t side = 20;
    const float *D = p->arg[FR_APPLY_D];
    (void)context;
    run(v, param, 1, p);
    for (int64_t e = 0; e < fr_stored(side); e++)
        assert_true(fabsf(D[2 * e] - fr_sign(fr_i(side, e), fr_j(side, e))) < 1e-5f && fabsf(D[2 * e + 1]) < 1e-5f);
}

TEST(a_shift_brings_the_particle_home) {
    const rg_shape shape = {{20, 1, FR_SQUARED, 1}, 7};
    RG_ENDS(problem_free) problem p = problem_make("ctfapply", shape, RG_RANDOM);
    float *image = p.arg[FR_APPLY_IMAGE], *shift = p.arg[FR_APPLY_SHIFT];
    memset(image, 0, 400 * sizeof *image);
    image[20 * 5 + 3] = 1;
    shift[0] = (float)(TURN / 20 * 3);
    shift[1] = (float)(TURN / 20 * 5);
    each_variant(&p, comes_home, NULL);
}
