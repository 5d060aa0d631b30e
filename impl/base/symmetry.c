// SPDX-License-Identifier: MIT
// symmetry.c: point groups as the closure of two or three generating rotations.
#include "symmetry.h"
#include "core.h"
#include <ctype.h>

static const double SAME = 1e-6; // closer matrices are equal; those of 256 operators differ by 1e-2 at least

void rg_particle_matrix(double rot_deg, double tilt_deg, double psi_deg, double a[9]) {
    const double degree = M_PI / 180;
    double ca = cos(rot_deg * degree), sa = sin(rot_deg * degree);
    double cb = cos(tilt_deg * degree), sb = sin(tilt_deg * degree);
    double cg = cos(psi_deg * degree), sg = sin(psi_deg * degree);
    const double m[9] = {
        cg * cb * ca - sg * sa,
        cg * cb * sa + sg * ca,
        -cg * sb,
        -sg * cb * ca - cg * sa,
        -sg * cb * sa + cg * ca,
        sg * sb,
        sb * ca,
        sb * sa,
        cb,
    };
    memcpy(a, m, sizeof m);
}

void gr_multiply(const double a[9], const double b[9], double product[9]) {
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            double sum = 0;
            for (int e = 0; e < 3; e++) sum += a[3 * row + e] * b[3 * e + column];
            product[3 * row + column] = sum;
        }
}

// Rounds entries that are 0, 1 or -1 except for rounding errors: operators of the lattice then map voxels exactly to voxels.
static void snap(double m[9]) {
    for (int e = 0; e < 9; e++)
        if (fabs(m[e] - round(m[e])) < 1e-12) m[e] = round(m[e]) + 0.0; // + 0.0: no -0
}

static bool same(const double a[9], const double b[9]) {
    for (int e = 0; e < 9; e++)
        if (fabs(a[e] - b[e]) > SAME) return false;
    return true;
}

static int find(const gr_symmetry *g, const double m[9]) {
    for (int i = 0; i < g->n; i++)
        if (same(g->matrix[i], m)) return i;
    return -1;
}

// Adds m unless the group has it; false: no room.
static bool add(gr_symmetry *g, const double m[9]) {
    if (find(g, m) >= 0) return true;
    if (g->n == GR_OPERATORS_MAX) return false;
    memcpy(g->matrix[g->n], m, sizeof g->matrix[0]);
    snap(g->matrix[g->n++]);
    return true;
}

// Rotation by 1/fold of a turn about an axis of any length (Rodrigues).
static void about(int fold, double x, double y, double z, double m[9]) {
    const double a = 8 * atan(1) / fold, c = cos(a), s = sin(a), t = 1 - c, n = sqrt(x * x + y * y + z * z);
    x /= n, y /= n, z /= n;
    const double r[9] = {c + t * x * x, t * x * y - s * z, t * x * z + s * y, t * x * y + s * z, c + t * y * y,
        t * y * z - s * x, t * x * z - s * y, t * y * z + s * x, c + t * z * z};
    memcpy(m, r, sizeof r);
}

static void generate(gr_symmetry *g, int fold, double x, double y, double z) {
    double m[9];
    about(fold, x, y, z, m);
    add(g, m);
}

// Multiplies all operators by the generators, which are at 1 .. n_generators, until no new one appears.
static bool close_group(gr_symmetry *g) {
    const int generators = g->n - 1;
    for (int i = 0; i < g->n; i++)
        for (int j = 1; j <= generators; j++) {
            double product[9];
            gr_multiply(g->matrix[i], g->matrix[j], product);
            if (!add(g, product)) return false;
        }
    return true;
}

const char *gr_symmetry_make(gr_symmetry *g, const char *name) {
    static _Thread_local char why[160];
    const double phi = (1 + sqrt(5)) / 2;
    const char kind = (char)toupper((unsigned char)name[0]);
    char *end = rg_unconst(name);
    const long fold = kind && isdigit((unsigned char)name[1]) ? strtol(name + 1, &end, 10) : 0;
    const bool axial = (kind == 'C' || kind == 'D') && end > name && !*end, bare = kind && !name[1];
    memset(g, 0, sizeof *g);
    generate(g, 1, 0, 0, 1);
    if (axial && fold >= 1 && fold <= GR_OPERATORS_MAX / (kind == 'D' ? 2 : 1)) {
        generate(g, (int)fold, 0, 0, 1);
        if (kind == 'D') generate(g, 2, 1, 0, 0);
    } else if (kind == 'T' && bare) {
        generate(g, 3, 0, 0, 1);
        generate(g, 2, 0, sqrt(2), 1);
    } else if (kind == 'O' && bare) {
        generate(g, 4, 0, 0, 1);
        generate(g, 3, 1, 1, 1);
    } else if (kind == 'I' && !*end && (fold == 1 || fold == 2)) {
        generate(g, 2, 0, 0, 1);
        generate(g, 3, 1, 1, 1);
        generate(g, 5, fold == 2 ? 1 : 0, fold == 1 ? 1 : 0, phi);
    } else {
        snprintf(why, sizeof why, "unknown symmetry \"%.20s\"; there are C1 to C%d, D1 to D%d, T, O, I1 and I2", name,
            GR_OPERATORS_MAX, GR_OPERATORS_MAX / 2);
        return why;
    }
    if (axial)
        snprintf(g->name, sizeof g->name, "%c%d", kind, (int)fold);
    else
        snprintf(g->name, sizeof g->name, "%c%s", kind, bare ? "" : fold == 1 ? "1" : "2");
    return close_group(g) ? NULL : "the symmetry has more operators than there is room for";
}

void gr_cube_rotation(int number, double m[9]) {
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int *axis = order[number / 4], odd = number / 4 >= 3;
    // Two free signs; the third makes the determinant +1.
    const int first = number & 1 ? -1 : 1, second = number & 2 ? -1 : 1;
    const int sign[3] = {first, second, first * second * (odd ? -1 : 1)};
    for (int e = 0; e < 9; e++) m[e] = 0;
    for (int row = 0; row < 3; row++) m[3 * row + axis[row]] = sign[row];
}

static bool on_lattice(const double m[9]) {
    for (int e = 0; e < 9; e++)
        if (m[e] != 0 && fabs(m[e]) != 1) return false;
    return true;
}

void gr_lattice_make(gr_lattice *l, const gr_symmetry *g) {
    bool covered[GR_OPERATORS_MAX] = {false};
    memset(l, 0, sizeof *l);
    for (int i = 0; i < g->n; i++)
        if (on_lattice(g->matrix[i])) l->lattice[l->n_lattice++] = i;
    for (int c = 0; c < g->n; c++) {
        if (covered[c]) continue;
        l->coset[l->n_coset++] = c;
        for (int i = 0; i < l->n_lattice; i++) {
            double product[9];
            gr_multiply(g->matrix[l->lattice[i]], g->matrix[c], product);
            covered[find(g, product)] = true;
        }
    }
}
