// SPDX-License-Identifier: MIT
// test_search_grid.c: the directions of a search against the counts of eight runs of the original program, and against their
// purpose: every view is near one of them, after some operator of the group.
#include "../../../impl/jobs/refine/grid.h"
#include "../../../impl/base/symmetry.h"
#include "../../../impl/suite.h"
#include "../test.h"

TEST(test_counts) {
    static const char *const group[5] = {"C1", "C7", "D2", "D7", "O"};
    static const struct {
        double step_deg;
        int64_t directions[5], in_plane;
    } row[] = {
        {2, {10268, 1534, 2626, 767, 434}, 90},
        {5, {1632, 260, 429, 130, 74}, 90},
        {6, {1132, 186, 300, 93, 49}, 75},
        {10, {406, 70, 113, 35, 19}, 45},
        {15, {178, 36, 51, 18, 10}, 30},
        {30, {44, 12, 14, 6, 3}, 15},
    };
    for (int r = 0; r < RG_COUNT(row); r++)
        for (int s = 0; s < 5; s++) {
            fr_grid grid;
            assert_null(fr_grid_make(&grid, group[s], row[r].step_deg));
            assert_int_equal(grid.n, row[r].directions[s]);
            assert_int_equal(grid.in_plane, row[r].in_plane);
            fr_grid_free(&grid);
        }
}

// Cosine of the angle to the nearest direction of the grid, over all operators.
static double nearest(const fr_grid *grid, const gr_symmetry *group, const double view[3]) {
    const double degree = M_PI / 180;
    double best = -1;
    for (int64_t d = 0; d < grid->n; d++) {
        double phi = grid->direction[d].phi_deg * degree, theta = grid->direction[d].theta_deg * degree;
        const double v[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
        for (int g = 0; g < group->n; g++) {
            const double *m = group->matrix[g];
            double dot = 0;
            for (int i = 0; i < 3; i++) dot += view[i] * (m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2]);
            best = fmax(best, dot);
        }
    }
    return best;
}

TEST(test_every_view_is_near_one) {
    static const char *const group[] = {"C1", "C2", "C7", "D2", "D7", "T", "O", "I1", "I2"};
    for (int s = 0; s < RG_COUNT(group); s++) {
        fr_grid grid;
        gr_symmetry symmetry;
        double worst = 1;
        assert_null(fr_grid_make(&grid, group[s], 10));
        assert_null(gr_symmetry_make(&symmetry, group[s]));
        for (uint64_t i = 0; i < 300; i++) {
            double z = 2 * (double)(rg_bits(7, 2 * i) >> 11) * 0x1p-53 - 1;
            double f = 6.283185307179586 * (double)(rg_bits(7, 2 * i + 1) >> 11) * 0x1p-53;
            const double view[3] = {sqrt(1 - z * z) * cos(f), sqrt(1 - z * z) * sin(f), z};
            worst = fmin(worst, nearest(&grid, &symmetry, view));
        }
        if (acos(worst) > 0.2)
            print_message("%s: a view %.1f degrees from all of %lld directions\n", group[s], acos(worst) * 57.29577951,
                (long long)grid.n);
        assert_true(acos(worst) < 0.2); // 11.5 degrees: half a diagonal of a cell of 10 x 13, where phi's step is widest
        fr_grid_free(&grid);
    }
}

TEST(test_no_such_group) {
    fr_grid grid;
    assert_non_null(fr_grid_make(&grid, "E8", 10));
}
