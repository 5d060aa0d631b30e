// SPDX-License-Identifier: MIT
// autocorr_printed.c: listing 1 of Lu et al. 2009, its threads run one after another, with blockIdx instead of blockDim.
//
// A block (blockIdx.x, blockIdx.y) holds two lines of the image. Thread T adds the products of the first with the second moved
// by T, divides by the overlap as the listing computes it, scales, rounds, and adds to one element. Line numbers are those of
// the listing.
#include "reference.h"
#include <math.h>
#include <stdlib.h>

// A clamping texture: beyond the last column or line, it returns the last one.
static uint8_t texel(const rg_shape *s, const uint8_t *image, int64_t column, int64_t line) {
    const int64_t last_column = s->n[0] - 1, last_line = s->n[1] - 1;
    if (column > last_column) column = last_column;
    if (line > last_line) line = last_line;
    return image[line * s->n[0] + column];
}

// Lines 3 to 11: ImageDataLine2: max_offset zeros, the line, then the pixels that the last row of threads fetches beyond it,
// then zeros. Long enough for every thread's last product.
static void fill_line2(const rg_shape *s, const uint8_t *image, int64_t line, uint8_t *line2, int64_t length) {
    const int64_t max_offset = s->n[2], threads = max_offset + 1 + max_offset;
    for (int64_t i = 0; i < length; i++) line2[i] = 0;
    for (int64_t n = 0; n * threads < s->n[0]; n++)
        for (int64_t T = 0; T < threads; T++)
            if (max_offset + n * threads + T < length)
                line2[max_offset + n * threads + T] = texel(s, image, n * threads + T, line);
}

// Lines 13 to 17. The sum is kept in a float, term by term; 100.0 is a double, and __float2int_rn takes a float.
static int64_t coefficient(const rg_shape *s, const uint8_t *image, int64_t line, const uint8_t *line2, int64_t T) {
    const int64_t image_width = s->n[0], max_offset = s->n[2];
    float linesum = 0;
    for (int64_t x = 0; x < image_width; x++) linesum += (float)((int)texel(s, image, x, line) * (int)line2[x + T]);
    const float overlap = (float)(image_width - llabs(T - max_offset));
    return (int64_t)rintf((float)(100.0 * linesum / overlap));
}

// Elements `first` to `past` - 1 of line block_y of the result; INT32_MAX replaces values that 32 bits cannot hold.
static void result_line(
    const rg_shape *s, const uint8_t *image, int64_t block_y, int64_t first, int64_t past, int32_t *result) {
    const int64_t image_height = s->n[1], max_offset = s->n[2], threads = max_offset + 1 + max_offset;
    const int64_t length = s->n[0] + threads;
    uint8_t *line2 = malloc((size_t)length);
    int64_t *sum = calloc((size_t)threads, sizeof *sum);
    if (!line2 || !sum) abort();
    for (int64_t block_x = 0; block_x < image_height - max_offset + 2; block_x++) {
        fill_line2(s, image, block_x + block_y + 1, line2, length);
        for (int64_t T = first; T < past; T++) sum[T] += coefficient(s, image, block_x + 1, line2, T);
    }
    for (int64_t T = first; T < past; T++) result[T - first] = sum[T] > INT32_MAX ? INT32_MAX : (int32_t)sum[T];
    free(line2);
    free(sum);
}

void rg_ref_autocorr_printed(const rg_shape *s, void *const *arg) {
    const int64_t max_offset = s->n[2], threads = max_offset + 1 + max_offset;
    int32_t *output = arg[1];
#pragma omp parallel for schedule(dynamic)
    for (int64_t block_y = 0; block_y < max_offset; block_y++)
        result_line(s, arg[0], block_y, 0, threads, output + block_y * threads);
}

void rg_ref_autocorr_printed_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    const int64_t max_offset = s->n[2], threads = max_offset + 1 + max_offset;
    int32_t *output = out;
    (void)which; // there is one output
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i++)
        result_line(s, arg[0], element[i] / threads, element[i] % threads, element[i] % threads + 1, output + i);
}
