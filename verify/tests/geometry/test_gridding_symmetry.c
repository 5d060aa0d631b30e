// SPDX-License-Identifier: MIT
// test_gridding_symmetry.c: the point groups: order, closure, orthogonality, the settings of their axes, the lattice's share.
#include "../../../impl/base/symmetry.h"
#include "../test.h"

static const struct {
    const char *name;
    int n, lattice;
} groups[] = {{"C1", 1, 1}, {"C2", 2, 2}, {"C3", 3, 1}, {"C4", 4, 4}, {"C5", 5, 1}, {"c7", 7, 1}, {"C12", 12, 4}, {"D1", 2, 2},
    {"D2", 4, 4}, {"D3", 6, 2}, {"D4", 8, 8}, {"D5", 10, 2}, {"D7", 14, 2}, {"T", 12, 1}, {"O", 24, 24}, {"I1", 60, 12},
    {"i2", 60, 12}, {"C256", 256, 4}, {"D128", 256, 8}};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static double apart(const double a[9], const double b[9]) {
    double most = 0;
    for (int e = 0; e < 9; e++) most = fmax(most, fabs(a[e] - b[e]));
    return most;
}

static int find(const gr_symmetry *g, const double m[9]) {
    int found = -1;
    for (int i = 0; i < g->n; i++)
        if (apart(g->matrix[i], m) < 1e-9) {
            assert_int_equal(found, -1); // no operator twice
            found = i;
        }
    return found;
}

static void assert_rotation(const double m[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double dot = m[3 * i] * m[3 * j] + m[3 * i + 1] * m[3 * j + 1] + m[3 * i + 2] * m[3 * j + 2];
            assert_true(fabs(dot - (i == j)) < 1e-13);
        }
    const double det =
        m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
    assert_true(fabs(det - 1) < 1e-13);
}

TEST(groups_are_closed) {
    static gr_symmetry g;
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int k = 0; k < GROUPS; k++) {
        assert_null(gr_symmetry_make(&g, groups[k].name));
        assert_int_equal(g.n, groups[k].n);
        assert_true(memcmp(g.matrix[0], one, sizeof one) == 0);
        for (int i = 0; i < g.n; i++) {
            assert_rotation(g.matrix[i]);
            for (int j = 0; j<g.n; j += g.n> 60 ? 17 : 1) {
                double product[9];
                gr_multiply(g.matrix[i], g.matrix[j], product);
                assert_true(find(&g, product) >= 0);
            }
        }
    }
}

static void rotation_about(double turn, double x, double y, double z, double m[9]) {
    const double n = sqrt(x * x + y * y + z * z), c = cos(turn), s = sin(turn);
    const double a[3] = {x / n, y / n, z / n}, cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
    for (int e = 0; e < 9; e++) m[e] = (e % 4 == 0 ? c : 0) + s * cross[e] + (1 - c) * a[e / 3] * a[e % 3];
}

// The axes of RELION and Xmipp for each group, to the printed digits.
TEST(axes_are_those_of_relion) {
    static gr_symmetry g;
    const struct {
        const char *name;
        int fold;
        double axis[3];
    } known[] = {{"C5", 5, {0, 0, 1}}, {"D7", 7, {0, 0, 1}}, {"D7", 2, {1, 0, 0}}, {"T", 3, {0, 0, 1}},
        {"T", 2, {0, 0.816496, 0.577350}}, {"O", 4, {0, 0, 1}}, {"O", 3, {0.5773502, 0.5773502, 0.5773502}},
        {"I1", 2, {1, 0, 0}}, {"I1", 5, {0.85065080702670, 0, -0.5257311142635}}, {"I1", 3, {0.9341723640, 0.3568220765, 0}},
        {"I2", 2, {0, 0, 1}}, {"I2", 5, {0.525731114, 0, 0.850650807}}, {"I2", 3, {0, 0.356822076, 0.934172364}}};
    for (unsigned k = 0; k < sizeof known / sizeof known[0]; k++) {
        double m[9], nearest = 9;
        assert_null(gr_symmetry_make(&g, known[k].name));
        rotation_about(8 * atan(1) / known[k].fold, known[k].axis[0], known[k].axis[1], known[k].axis[2], m);
        for (int i = 0; i < g.n; i++) nearest = fmin(nearest, apart(g.matrix[i], m));
        assert_true(nearest < 2e-6);
    }
    double five[9]; // I1 and I2 differ: the five-fold axis of one is not an axis of the other
    rotation_about(8 * atan(1) / 5, 0.525731114, 0, 0.850650807, five);
    assert_null(gr_symmetry_make(&g, "I1"));
    for (int i = 0; i < g.n; i++) assert_true(apart(g.matrix[i], five) > 0.1);
}

// Every operator is one of the lattice times one of a coset, once; those of the lattice are exact, a subgroup, and complete.
TEST(lattice_times_cosets_is_the_group) {
    static gr_symmetry g;
    static gr_lattice l;
    for (int k = 0; k < GROUPS; k++) {
        int times[GR_OPERATORS_MAX] = {0};
        assert_null(gr_symmetry_make(&g, groups[k].name));
        gr_lattice_make(&l, &g);
        assert_int_equal(l.n_lattice, groups[k].lattice);
        assert_int_equal(l.n_lattice * l.n_coset, g.n);
        assert_int_equal(l.lattice[0], 0);
        for (int i = 0; i < l.n_lattice; i++)
            for (int j = 0; j < l.n_coset; j++) {
                double product[9];
                const double *m = g.matrix[l.lattice[i]];
                for (int e = 0; e < 9; e++) assert_true(m[e] == 0 || m[e] == 1 || m[e] == -1);
                gr_multiply(m, g.matrix[l.coset[j]], product);
                times[find(&g, product)]++;
            }
        for (int i = 0; i < g.n; i++) assert_int_equal(times[i], 1);
    }
}

TEST(cube_has_24_rotations) {
    double m[24][9];
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 24; i++) {
        gr_cube_rotation(i, m[i]);
        assert_rotation(m[i]);
        for (int e = 0; e < 9; e++) assert_true(m[i][e] == 0 || m[i][e] == 1 || m[i][e] == -1);
        for (int j = 0; j < i; j++) assert_true(apart(m[i], m[j]) > 0.5);
    }
    assert_true(apart(m[0], one) == 0);
}

TEST(unknown_names_are_refused) {
    static gr_symmetry g;
    const char *const wrong[] = {
        "", "C", "C0", "C-2", "C257", "D129", "D", "T1", "O2", "I", "I3", "I12", "X", "C4x", "C99999999999999999999"};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *why = gr_symmetry_make(&g, wrong[i]);
        assert_non_null(why);
        assert_non_null(strstr(why, "unknown symmetry"));
    }
}
