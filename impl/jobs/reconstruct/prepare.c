// SPDX-License-Identifier: MIT
// prepare.c: what an image becomes before it is inserted. Of the padded rows only those of the image are transformed: the
// others are zero.
#include "reconstruct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static int64_t row_pitch(const gr_prepare *p) { return p->padded / 2 + 1; }

void gr_prepare_make(gr_prepare *p, int64_t side, int64_t padded, int64_t k)
{
    *p = (gr_prepare){.side = side, .padded = padded, .k = k};
    int n = (int)padded, columns = (int)gr_width(k), pitch = (int)row_pitch(p);
    fftwf_complex *row = fftwf_alloc_complex((size_t)(side * pitch)), *column = fftwf_alloc_complex((size_t)(padded * columns));
    // Estimated plans: measured ones may differ from run to run, and the map's last digits with them.
    p->rows = fftwf_plan_many_dft_r2c(1, &n, (int)side, (float *)row, NULL, 1, 2 * pitch, row, NULL, 1, pitch, FFTW_ESTIMATE);
    p->columns = fftwf_plan_many_dft(1, &n, columns, column, NULL, columns, 1, column, NULL, columns, 1, FFTW_FORWARD,
                                     FFTW_ESTIMATE);
    fftwf_free(row);
    fftwf_free(column);
}

void gr_prepare_free(gr_prepare *p)
{
    fftwf_destroy_plan(p->rows);
    fftwf_destroy_plan(p->columns);
}

static int64_t wrap(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

// Shift by the origin: exp(-2 pi i (x ox + y oy) / P), a product of one factor for the row and one for the column.
static void factors(int64_t low, int64_t high, double step, double *out)
{
    for (int64_t f = low; f <= high; f++) {
        out[2 * (f - low)] = cos(step * (double)f);
        out[2 * (f - low) + 1] = sin(step * (double)f);
    }
}

static void shift(const gr_prepare *p, const fftwf_complex *column, double origin_x_px, double origin_y_px, double sign,
                  float *out)
{
    int64_t k = p->k, width = gr_width(k);
    double *along = rg_alloc((size_t)(2 * width) * sizeof *along), *down = rg_alloc((size_t)(2 * (2 * k + 1)) * sizeof *down);
    factors(0, k, -2 * PI * origin_x_px / (double)p->padded, along);
    factors(-k, k, -2 * PI * origin_y_px / (double)p->padded, down);
    for (int64_t y = -k; y <= k; y++) {
        const fftwf_complex *f = column + wrap(y, p->padded) * width;
        double cy = sign * down[2 * (y + k)], sy = sign * down[2 * (y + k) + 1];
        for (int64_t x = 0; x <= k; x++) {
            double c = cy * along[2 * x] - sy * along[2 * x + 1], s = cy * along[2 * x + 1] + sy * along[2 * x];
            float *to = out + 2 * gr_pixel(k, x, y);
            to[0] = (float)(c * f[x][0] - s * f[x][1]);
            to[1] = (float)(c * f[x][1] + s * f[x][0]);
        }
    }
    free(along);
    free(down);
}

void gr_prepare_image(const gr_prepare *p, const float *image, double origin_x_px, double origin_y_px, bool invert, float *out)
{
    int64_t n = p->side, pitch = row_pitch(p), width = gr_width(p->k), centre = n / 2;
    fftwf_complex *row = fftwf_alloc_complex((size_t)(n * pitch)), *column = fftwf_alloc_complex((size_t)(p->padded * width));
    if (!row || !column)
        exit(rg_fail(RG_LACKS, "out of memory for the transform of an image of %lld pixels a side", (long long)p->padded));
    memset(row, 0, (size_t)(n * pitch) * sizeof *row);
    memset(column, 0, (size_t)(p->padded * width) * sizeof *column);
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++)
            ((float *)row)[y * 2 * pitch + wrap(x - centre, p->padded)] = image[y * n + x];
    fftwf_execute_dft_r2c(p->rows, (float *)row, row);
    for (int64_t y = 0; y < n; y++)
        memcpy(column + wrap(y - centre, p->padded) * width, row + y * pitch, (size_t)width * sizeof *column);
    fftwf_execute_dft(p->columns, column, column);
    shift(p, column, origin_x_px, origin_y_px, invert ? -1 : 1, out);
    fftwf_free(row);
    fftwf_free(column);
}

rg_ctf gr_ctf_in_steps(const rg_ctf_of *of, double step)
{
    rg_ctf c = rg_ctf_make(of);
    double s2 = step * step;
    return (rg_ctf){.xx = c.xx * s2, .xy = c.xy * s2, .yy = c.yy * s2, .quartic = c.quartic * s2 * s2, .constant = c.constant,
                    .damping = c.damping * s2, .scale = c.scale};
}

double gr_prepare_ctf(const gr_prepare *p, const rg_ctf_of *of, double pixel_A, int applied, float *image, float *out)
{
    rg_ctf ctf = rg_ctf_make(of);
    double step = 1 / ((double)p->padded * pixel_A), sum = 0;
    for (int64_t y = -p->k; y <= p->k; y++)
        for (int64_t x = 0; x <= p->k; x++) {
            double c = rg_ctf_at(&ctf, (double)x * step, (double)y * step);
            out[gr_pixel(p->k, x, y)] = (float)c;
            if (applied != GR_APPLIED_NOT)
                for (int part = 0; part < 2; part++)
                    image[2 * gr_pixel(p->k, x, y) + part] *= gr_plain(applied, (float)c);
            sum += gr_in_circle(p->k, x, y) ? gr_mates(x) * c * c : 0;
        }
    return sum;
}
