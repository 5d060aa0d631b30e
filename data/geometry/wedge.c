// SPDX-License-Identifier: MIT
#include "wedge.h"
#include "../../impl/base/core.h"

#include <fftw3.h>

double rg_wedge_tangent(double deg) { return deg >= 90 ? INFINITY : tan(deg * M_PI / 180); }

void rg_wedge_remove(int64_t side, double deg, double *volume) {
    int n = (int)side;
    int64_t pitch = side / 2 + 1;
    double tangent = rg_wedge_tangent(deg), scale = 1 / ((double)side * (double)side * (double)side);
    fftw_complex *f = fftw_alloc_complex((size_t)(side * side * pitch));
    if (!f) rg_end(RG_LACKS, "out of memory for the transform of %d^3 voxels", n);
    fftw_plan there = fftw_plan_dft_r2c_3d(n, n, n, volume, f, FFTW_ESTIMATE);
    fftw_plan back = fftw_plan_dft_c2r_3d(n, n, n, f, volume, FFTW_ESTIMATE);
    fftw_execute(there);
    for (int64_t i = 0; i < side * side * pitch; i++) {
        int64_t z = i / pitch / side;
        double kz = (double)(2 * z > side ? z - side : z), keep = rg_wedge_seen((double)(i % pitch), kz, tangent) ? scale : 0;
        f[i][0] *= keep;
        f[i][1] *= keep;
    }
    fftw_execute(back);
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
    fftw_free(f);
}
