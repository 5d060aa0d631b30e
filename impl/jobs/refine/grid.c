// SPDX-License-Identifier: MIT
#include "grid.h"
#include "../../base/core.h"
#include "../../base/symmetry.h"

#include <ctype.h>

static const double DEGREE = M_PI / 180;

// Cn and Dn: a half sphere in theta. J = 2 also takes each direction from the opposite side, which the two-fold axes of Dn make
// the same view. O: the unit next to a four-fold axis, bounded by theta = atan(1 / cos(phi folded to 0 .. 45)). I1, I2: a cap
// about the two-fold axis z that reaches the five-fold ones at 31.7 degrees. T has a three-fold axis along z (symmetry.h), so
// C3's unit serves, four times larger than needed.
typedef struct unit {
    double theta_deg, phi_deg;
    bool behind, folded;
} unit;

static const char *unit_of(const char *group, unit *u) {
    gr_symmetry symmetry;
    const char *why = gr_symmetry_make(&symmetry, group);
    if (why) return why;
    switch (toupper((unsigned char)symmetry.name[0])) {
    case 'C': *u = (unit){90, 360.0 / symmetry.n, true, false}; break;
    case 'D': *u = (unit){90, 720.0 / symmetry.n, false, false}; break;
    case 'T': *u = (unit){90, 120, true, false}; break;
    case 'O': *u = (unit){54.7, 90, false, true}; break;
    default: *u = (unit){31.7, 180, false, false};
    }
    return NULL;
}

static const double EDGE_DEG = 1e-4; // tolerance that includes the unit's edge in spite of rounding

static bool in_unit(const unit *u, double theta, double phi) {
    if (theta > 90 - EDGE_DEG && phi >= 179) return false;
    double folded = fmin(fmod(phi, 90), 90 - fmod(phi, 90));
    return !u->folded || theta <= atan(1 / cos(folded * DEGREE)) / DEGREE + EDGE_DEG;
}

static void add(fr_grid *g, double phi, double theta, double psi) {
    g->direction = rg_grow(g->direction, g->n, sizeof *g->direction);
    g->direction[g->n++] = (fr_direction){phi, theta, psi};
}

const char *fr_grid_make(fr_grid *g, const char *group, double step_deg) {
    const double step = 90 / floor(90 / step_deg + 0.5);
    unit u;
    *g = (fr_grid){.in_plane = (int64_t)floor(90 / fmax(step_deg / 5, 1) + 0.5)};
    const char *why = unit_of(group, &u);
    for (int t = 0; !why && t * step <= u.theta_deg + EDGE_DEG; t++) {
        double theta = t * step, around = fmax(floor(359.99 * sin(theta * DEGREE) / step) - 1, 1);
        for (int f = 0; f * 360 / around <= u.phi_deg + EDGE_DEG; f++) {
            double phi = f * 360 / around;
            if (!in_unit(&u, theta, phi)) continue;
            add(g, phi, theta, 0);
            if (u.behind) add(g, phi + 180, 180 - theta, 180);
        }
    }
    return why;
}

void fr_grid_free(fr_grid *g) {
    free(g->direction);
    *g = (fr_grid){0};
}
