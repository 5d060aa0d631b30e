// SPDX-License-Identifier: MIT
// prepare.c: prepares an image for the insertion. Only the image's own rows of the padded ones are transformed: the others are
// zero.
#include "reconstruct.h"

static int64_t row_pitch(const rc_prepare *p) { return p->padded / 2 + 1; }

// Sizes in doubles: of the image's rows, the padded columns, the shift's factors.
static size_t row_values(const rc_prepare *p) { return (size_t)(p->side * row_pitch(p)); }
static size_t column_values(const rc_prepare *p) { return (size_t)(p->padded * gr_width(p->k)); }
static size_t shift_values(const rc_prepare *p) { return (size_t)(2 * (gr_width(p->k) + 2 * p->k + 1)); }

static size_t room_bytes(const rc_prepare *p) {
    const size_t bytes = (row_values(p) + column_values(p)) * sizeof(fftwf_complex) + shift_values(p) * sizeof(double);
    return (bytes + 63) / 64 * 64;
}

int rc_prepare_make(rc_prepare *p, int64_t side, int64_t padded, int64_t k, int threads) {
    *p = (rc_prepare){.side = side, .padded = padded, .k = k};
    int n = (int)padded, columns = (int)gr_width(k), pitch = (int)row_pitch(p);
    p->room = fftwf_malloc((size_t)threads * room_bytes(p));
    if (!p->room)
        return rg_fail(
            RG_LACKS, "out of memory for transforms of %lld pixels a side, of %d threads", (long long)padded, threads);
    fftwf_complex *row = (fftwf_complex *)p->room, *column = row + row_values(p);
    // Estimated plans: measured ones may differ between runs, and with them the map's last digits.
    p->rows = fftwf_plan_many_dft_r2c(1, &n, (int)side, (float *)row, NULL, 1, 2 * pitch, row, NULL, 1, pitch, FFTW_ESTIMATE);
    p->columns =
        fftwf_plan_many_dft(1, &n, columns, column, NULL, columns, 1, column, NULL, columns, 1, FFTW_FORWARD, FFTW_ESTIMATE);
    return RG_GOOD;
}

void rc_prepare_free(rc_prepare *p) {
    if (p->rows) fftwf_destroy_plan(p->rows);
    if (p->columns) fftwf_destroy_plan(p->columns);
    fftwf_free(p->room);
    *p = (rc_prepare){0};
}

static int64_t wrap(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

// Shift by the origin: exp(-2 pi i (x ox + y oy) / P), a product of one factor for the row and one for the column.
static void factors(int64_t low, int64_t high, double step, double *out) {
    for (int64_t f = low; f <= high; f++) {
        out[2 * (f - low)] = cos(step * (double)f);
        out[2 * (f - low) + 1] = sin(step * (double)f);
    }
}

static void shift(const rc_prepare *p, const fftwf_complex *column, double origin_x_px, double origin_y_px, double sign,
    double *along, float *out) {
    int64_t k = p->k, width = gr_width(k);
    double *down = along + 2 * width;
    factors(0, k, -2 * M_PI * origin_x_px / (double)p->padded, along);
    factors(-k, k, -2 * M_PI * origin_y_px / (double)p->padded, down);
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
}

void rc_prepare_image(
    const rc_prepare *p, int thread, const float *image, double origin_x_px, double origin_y_px, bool invert, float *out) {
    int64_t n = p->side, pitch = row_pitch(p), width = gr_width(p->k), centre = n / 2;
    fftwf_complex *row = (fftwf_complex *)(p->room + (size_t)thread * room_bytes(p)), *column = row + row_values(p);
    memset(row, 0, row_values(p) * sizeof *row);
    memset(column, 0, column_values(p) * sizeof *column);
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) ((float *)row)[y * 2 * pitch + wrap(x - centre, p->padded)] = image[y * n + x];
    fftwf_execute_dft_r2c(p->rows, (float *)row, row);
    for (int64_t y = 0; y < n; y++)
        memcpy(column + wrap(y - centre, p->padded) * width, row + y * pitch, (size_t)width * sizeof *column);
    fftwf_execute_dft(p->columns, column, column);
    shift(p, column, origin_x_px, origin_y_px, invert ? -1 : 1, (double *)(column + column_values(p)), out);
}

rg_ctf rc_ctf_in_steps(const rg_ctf_of *of, double step) {
    rg_ctf c = rg_ctf_make(of);
    double s2 = step * step;
    return (rg_ctf){.xx = c.xx * s2,
        .xy = c.xy * s2,
        .yy = c.yy * s2,
        .quartic = c.quartic * s2 * s2,
        .constant = c.constant,
        .damping = c.damping * s2,
        .scale = c.scale};
}

double rc_prepare_ctf(const rc_prepare *p, const rg_ctf_of *of, double pixel_A, int applied, float *image, float *out) {
    rg_ctf ctf = rg_ctf_make(of);
    double step = 1 / ((double)p->padded * pixel_A), sum = 0;
    for (int64_t y = -p->k; y <= p->k; y++)
        for (int64_t x = 0; x <= p->k; x++) {
            double c = rg_ctf_at(&ctf, (double)x * step, (double)y * step);
            out[gr_pixel(p->k, x, y)] = (float)c;
            if (applied != GR_APPLIED_NOT)
                for (int part = 0; part < 2; part++) image[2 * gr_pixel(p->k, x, y) + part] *= rc_plain(applied, (float)c);
            sum += gr_in_circle(p->k, x, y) ? gr_mates(x) * c * c : 0;
        }
    return sum;
}
