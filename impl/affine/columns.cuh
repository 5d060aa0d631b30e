// SPDX-License-Identifier: MIT
// columns.cuh: blocks of threads side by side along x, each with a column of pixels, for atct_2d and as_printed.
#ifndef RG_AFFINE_COLUMNS_CUH
#define RG_AFFINE_COLUMNS_CUH

#include "source.cuh"
#include "sums.cuh"

enum { AF_THREADS, AF_COLUMN, AF_COLUMNS_UPLOAD, AF_THREADS_MOST = 256 };

static const int64_t af_columns_threads[] = {32, 64, 128, 256}, af_columns_rows[] = {16, 32, 128};
static const rg_param af_columns_params[] = {
    {"threads", af_columns_threads, RG_COUNT(af_columns_threads), 128, "threads of a block, side by side along x"},
    {"column", af_columns_rows, RG_COUNT(af_columns_rows), 128, "pixels along y that a thread computes"},
    AF_UPLOAD,
};

static inline dim3 af_columns_grid(const rg_shape *s, const int64_t *param) {
    return dim3(af_blocks(s->n[AF2_WIDTH], param[AF_THREADS]), af_blocks(s->n[AF2_HEIGHT], param[AF_COLUMN]),
        (unsigned)s->n[AF2_TRANSFORMS]);
}

static inline const char *af_columns_refuse(const rg_shape *s, const int64_t *) { return af_refuse_many(s->n[AF2_TRANSFORMS]); }

// Two rows of the matrix, five sums, a fetch.
static inline void af_columns_cost(const rg_shape *s, const int64_t *, rg_cost *c) {
    const double pixels = (double)s->n[AF2_WIDTH] * (double)s->n[AF2_HEIGHT] * (double)s->n[AF2_TRANSFORMS];
    c->amount[RG_F32_MAD] = 9 * pixels;
    c->amount[RG_TEXTURE] = pixels;
}

#endif
