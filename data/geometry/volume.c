// SPDX-License-Identifier: MIT
#include "volume.h"
#include "../../impl/base/summary.h"
#include "../../impl/base/memory.h"
#include "../formats/mrc.h"

static int open_cube(const char *path, rg_mrc *mrc, rg_volume *m) {
    int code = rg_mrc_open(mrc, path);
    *m = (rg_volume){0};
    if (code != RG_GOOD) return code;
    if (mrc->nx != mrc->ny || mrc->nx != mrc->nz || mrc->nx < 2)
        code = rg_fail(RG_USAGE,
            "%s: expected a cubic map of at least 2 voxels a side, found %" PRId64 " x %" PRId64 " x %" PRId64, path, mrc->nx,
            mrc->ny, mrc->nz);
    if (code == RG_GOOD)
        *m = (rg_volume){.side = mrc->nx, .voxel_A = rg_mrc_voxel_A(mrc, true)};
    else
        rg_mrc_close(mrc);
    return code;
}

int rg_volume_size(const char *path, rg_volume *m) {
    rg_mrc mrc;
    int code = open_cube(path, &mrc, m);
    if (code == RG_GOOD) rg_mrc_close(&mrc);
    return code;
}

static double need(const void *of, int64_t side) { return (void)of, 4 * (double)side * (double)side * (double)side; }

int rg_volume_read(const char *path, rg_volume *m) {
    rg_mrc mrc;
    int code = open_cube(path, &mrc, m);
    if (code != RG_GOOD) return code;
    code = rg_memory_allows(rg_memory_free(), need, NULL, m->side, "a side of", "%s: its %" PRId64 "^3 voxels", path, m->side);
    if (code != RG_GOOD) {
        rg_mrc_close(&mrc);
        return code;
    }
    int64_t plane = m->side * m->side;
    m->value = rg_alloc((size_t)(plane * m->side) * sizeof *m->value);
    for (int64_t z = 0; z < m->side && code == RG_GOOD; z++) code = rg_mrc_section(&mrc, z, m->value + z * plane);
    for (int64_t i = 0; i < plane * m->side && code == RG_GOOD; i++)
        if (!isfinite(m->value[i]))
            code =
                rg_fail(RG_USAGE, "%s: expected finite values, found %g in section %" PRId64, path, m->value[i], i / plane + 1);
    rg_mrc_close(&mrc);
    if (code != RG_GOOD) {
        free(m->value);
        m->value = NULL;
    }
    return code;
}

int rg_volume_write(const char *path, const rg_volume *m) {
    rg_mrc_out out;
    int code = rg_mrc_write_begin(&out, path, m->side, m->side, m->side, RG_MRC_FLOAT32, m->voxel_A, true);
    if (code != RG_GOOD) return code;
    for (int64_t z = 0; z < m->side && code == RG_GOOD; z++)
        code = rg_mrc_write_section(&out, m->value + z * m->side * m->side);
    return rg_mrc_write_end(&out, code);
}

void rg_volume_show(const rg_volume *v, const char *what) {
    static const char *const axis[3][2] = {{"x", "y"}, {"x", "z"}, {"y", "z"}};
    const int64_t n = v->side, half = n / 2, at[3] = {half * n * n, half * n, half}, across[3] = {1, 1, n};
    const int64_t along[3] = {n, n * n, n * n};
    RG_FREED float *section = rg_summary_wanted() ? rg_alloc((size_t)(n * n) * sizeof *section) : NULL;
    for (int k = 0; k < 3 && section; k++) {
        RG_FREED char *title = rg_print("Central section of %s: %s and %s", what, axis[k][0], axis[k][1]);
        RG_FREED char *alt =
            rg_print("the section of %s through its centre in grey, %s to the right, %s upwards", what, axis[k][0], axis[k][1]);
        RG_FREED char *x = rg_print("%s (voxels)", axis[k][0]), *y = rg_print("%s (voxels)", axis[k][1]);
        for (int64_t i = 0; i < n * n; i++) section[i] = v->value[at[k] + i % n * across[k] + i / n * along[k]];
        rg_summary_picture(
            &(rg_drawn_picture){.is = {title, "Grey from the lowest to the highest but 0.5 % at either end.", alt, x, y},
                .width = n,
                .height = n,
                .value = section,
                .x0 = -(double)half,
                .y0 = -(double)half,
                .step = 1});
    }
}

double rg_volume_fit(const rg_volume *a, const rg_volume *b, double *scale, double *offset) {
    const int64_t n = a->side * a->side * a->side;
    double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (int64_t i = 0; i < n; i++) {
        const double x = a->value[i], y = b->value[i];
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
    }
    const double vx = sxx - sx * sx / (double)n, vy = syy - sy * sy / (double)n, vxy = sxy - sx * sy / (double)n;
    *scale = vx > 0 ? vxy / vx : 1;
    *offset = (sy - *scale * sx) / (double)n;
    return vx > 0 && vy > 0 ? vxy / sqrt(vx * vy) : NAN;
}
