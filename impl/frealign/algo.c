// SPDX-License-Identifier: MIT
// algo.c: shared by the seven algorithms of FREALIGN: counts, refusals, names of elements, the check of index.h. index.h
// defines what they compute, n[] and the arguments.
#include "algo.h"
#include <inttypes.h>
#include <stdio.h>

rg_type fr_real(const rg_shape *s) { return (void)s, RG_F32; }
int64_t fr_count_ctf(const rg_shape *s) { return s->n[FR_PARTICLES] * fr_stored(s->n[FR_SIDE]); }
int64_t fr_count_images(const rg_shape *s) { return 2 * fr_count_ctf(s); }
int64_t fr_count_reference(const rg_shape *s) { return 2 * fr_voxels(fr_pad(s->n[FR_KIND]) * s->n[FR_SIDE]); }
int64_t fr_count_pose(const rg_shape *s) { return FR_POSE_FLOATS * s->n[FR_PARTICLES] * s->n[FR_TRIALS]; }
int64_t fr_count_setting(const rg_shape *s) { return (void)s, FR_SETTINGS; }

int fr_dim_text(int dim, int64_t value, char text[32]) {
    static const char *const interpolation[] = {"trilinear", "nearest", "box1", "box2", "box3", "box5"};
    static const char *const pad[] = {"", "+pad2", "+pad4"};
    const int64_t padding = value >> 3 & 3;
    if (dim != FR_KIND || value < 0 || value > 255 || fr_interpolation(value) >= FR_INTERPOLATIONS || padding > 2) return 0;
    return snprintf(text, 32, "%s%s%s%s%s", interpolation[fr_interpolation(value)], pad[padding],
               value & FR_SQUARED ? "+squared" : "", value & FR_RINGS ? "+rings" : "", value & FR_MASKED ? "+masked" : "") < 32;
}

int64_t fr_band_stored(const rg_shape *s) {
    int64_t n = 0;
    for (int64_t j = -s->n[FR_OUTER]; j <= s->n[FR_OUTER]; j++)
        for (int64_t i = 0; i <= s->n[FR_OUTER]; i++) n += fr_in_band(s->n[FR_SIDE], i, j, s->n[FR_INNER], s->n[FR_OUTER]);
    return n;
}

// Rounding errors are uniform within the errors that bound.h counts, and independent: the error of a correlation is their root
// mean square over the root of the number of coefficients; it exceeds six times that with probability 1e-8. The mean square of
// phases is at most half of that at the corner. Masks and coefficients of unequal weight (the pattern extreme, c^2) leave at
// least an eighth of the coefficients independent.
double fr_correlation_error(const rg_shape *s, double transforms, double coefficients) {
    const double side = (double)s->n[FR_SIDE], u = FR_U, phase = fr_phase_error() / (2 * sqrt(3));
    const double rms = sqrt(u * u * (FR_SECTION / 3.0 + transforms * fr_log(side * side)) + phase * phase);
    return fmin(fr_score_error(s, transforms, 0), 6 * rms / sqrt(fmax(1, coefficients / 8)));
}

const char *fr_invalid(const rg_shape *s, unsigned interpolations, int64_t flags) {
    const int64_t *n = s->n, kind = n[FR_KIND];
    if (n[FR_SIDE] < 4 || n[FR_SIDE] % 2) return "the side must be even and at least 4, as FREALIGN's images are";
    if (n[FR_SIDE] > FR_SIDE_MAX)
        return "the side must be at most 4096: single precision places coefficients to 1e-4 of a node";
    if (n[FR_PARTICLES] < 1 || n[FR_TRIALS] < 1) return "there must be at least one particle and one trial";
    if (kind < 0 || kind & ~(FR_INTERPOLATION | FR_PAD_2 | FR_PAD_4 | flags)) return "bits in kind that this algorithm has not";
    if (!(interpolations >> fr_interpolation(kind) & 1)) return "an interpolation that this algorithm has not";
    if ((kind >> 3 & 3) == 3) return "the reference can be padded 1, 2 or 4 times";
    if (n[FR_PARTICLES] > INT64_MAX / 64 / fr_stored(n[FR_SIDE]) || n[FR_TRIALS] > INT32_MAX / n[FR_PARTICLES])
        return "so many particles and trials that their numbers overflow";
    return NULL;
}

// ---- names of elements ---------------------------------------------------------------------------------------------------

void fr_where_image(const rg_shape *s, int64_t element, int parts, char text[64]) {
    const int64_t side = s->n[FR_SIDE], e = element / parts;
    const char *part = parts == 1 ? "" : element % 2 ? ",im" : ",re";
    snprintf(text, 64, "(p=%" PRId64 ",i=%" PRId64 ",j=%" PRId64 "%s)", e / fr_stored(side), fr_i(side, e % fr_stored(side)),
        fr_j(side, e % fr_stored(side)), part);
}

void fr_where_node(int64_t side, int64_t element, int parts, char text[64]) {
    static const char *const name[4] = {"re", "im", "den", "4th"};
    const int64_t width = fr_width(side), e = element / parts;
    snprintf(text, 64, "(x=%" PRId64 ",y=%" PRId64 ",z=%" PRId64 ",%s)", e % width, fr_frequency(side, e / width % side),
        fr_frequency(side, e / width / side), name[element % parts]);
}

void fr_where_pose(const rg_shape *s, int64_t element, int each, const char *const *part, char text[64]) {
    const int64_t trials = s->n[FR_TRIALS], at = element / each;
    const char *name = part ? part[element % each] : "";
    snprintf(text, 64, "(p=%" PRId64 ",t=%" PRId64 "%s%s)", at / trials, at % trials, *name ? "," : "", name);
}

// ---- index.h -------------------------------------------------------------------------------------------------------------

static const char *plane_fault(int64_t side) {
    int64_t expected = 0;
    for (int64_t row = 0; row < side; row++)
        for (int64_t i = 0; i < fr_width(side); i++, expected++) {
            const int64_t j = fr_frequency(side, row);
            if (fr_element(side, i, j) != expected) return "fr_element leaves out or repeats a coefficient";
            if (fr_i(side, expected) != i || fr_j(side, expected) != j) return "fr_i, fr_j are not the inverse of fr_element";
            const double r = sqrt((double)(i * i + j * j));
            if (fr_ring(i * i + j * j) != (int64_t)floor(r + 0.5)) return "fr_ring does not round to the nearest";
            if (fr_in_band(side, i, j, 1, side / 2) && fr_ring(i * i + j * j) >= fr_rings(side))
                return "fr_in_band lets a ring beyond the last one in";
        }
    return expected == fr_stored(side) ? NULL : "the coefficients do not fill a half plane";
}

static const char *volume_fault(int64_t side) {
    int64_t expected = 0;
    for (int64_t z = 0; z < side; z++)
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < fr_width(side); x++, expected++)
                if (fr_voxel(side, x, y, z) != expected || fr_voxel(side, x, y - side, z) != expected ||
                    fr_voxel(side, x, y, z - side) != expected)
                    return "fr_voxel is not periodic, or leaves out a node";
    for (int64_t x = -side / 2; x <= side; x++) {
        int64_t at[3] = {x, 1, -1};
        const int mate = fr_fold(side, &at[0], &at[1], &at[2]);
        if (at[0] < 0 || at[0] > side / 2 || at[1] != (mate ? -1 : 1) || (x - (mate ? -at[0] : at[0])) % side)
            return "fr_fold does not find a node's mate";
    }
    return expected == fr_voxels(side) ? NULL : "the nodes do not fill the half space";
}

const char *fr_index_fault(const rg_shape *s) {
    const char *fault = plane_fault(s->n[FR_SIDE]);
    return fault ? fault : volume_fault(s->n[FR_SIDE]);
}
