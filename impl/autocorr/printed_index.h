// SPDX-License-Identifier: MIT
// printed_index.h: the algorithm `autocorr_printed`: listing 1 of Lu et al. 2009 taken literally, except that blockIdx replaces
// blockDim in the three places (lines 9, 10 and 18) where it cannot be meant. It is not eq. 1; that is `autocorr`.
//
// Shape: n[0] width w, n[1] height h, n[2] max_offset R, n[3] max_grey g (the brightest pixel). Arguments: image (IN, uint8, w
// h elements, row by row, values 0..g), corr (OUT, int32, R rows of 2R + 1: row Y0 = 0..R-1, column t = 0..2R).
//
// The launch is the paper's: 2R + 1 threads (t), a grid of h - R + 2 blocks (line, l = 0..h-R+1) by R blocks (Y0 = 0..R-1).
// Each block reads two lines of the image by texture fetches, which clamp: a line number above h - 1 reads line h - 1, and a
// column above w - 1 reads column w - 1. With I(x, y) so clamped, y0 = l + 1 and y1 = l + Y0 + 1 (line 0 is never y0, and
// clamping repeats the last line):
//     line1[x] = I(x, y0)                     for x = 0..w-1
//     line2[i] = I(i - R, y1)                 for i = R..R+p-1, p = the least multiple of 2R + 1 that is not below w; else 0
//     linesum(t) = sum over x = 0..w-1 of line1[x] line2[x + t]
//     corr[Y0][t] = sum over l of round(100 linesum(t) / (w - |t - R|))
// Thus t corresponds to X0 = R - t, and products with the repeated last column (i = R+w..R+p-1) are counted to the right of the
// image, where zeros belong. round is to nearest, ties to even, of a double (the printed 100.0) that was first rounded to
// float. linesum is a float sum in the order of x. The outer sum is 32 bits wide and wraps; here corr is the true sum, or
// 2^31 - 1 if that is larger, so that a wrapped sum differs.
#ifndef RG_AUTOCORR_PRINTED_INDEX_H
#define RG_AUTOCORR_PRINTED_INDEX_H

#include "../suite.h"

enum { ACP_WIDTH, ACP_HEIGHT, ACP_R, ACP_GREY };
enum { ACP_IMAGE, ACP_CORR };
enum { ACP_IMAGE_WIDTH = 800, ACP_OFFSET_SIZE = 514 }; // the listing's macros: sizes of its two lines in shared memory

RG_HD int64_t acp_threads(int64_t r) { return 2 * r + 1; }
RG_HD int64_t acp_lines(int64_t h, int64_t r) { return h - r + 2; }

// Offset -> element of corr, and back; X0 in the sense of eq. 1.
RG_HD int64_t acp_element(int64_t r, int64_t x0, int64_t y0) { return y0 * acp_threads(r) + (r - x0); }
RG_HD int64_t acp_x0(int64_t r, int64_t element) { return r - element % acp_threads(r); }
RG_HD int64_t acp_y0(int64_t r, int64_t element) { return element / acp_threads(r); }

RG_HD int64_t acp_clamp(int64_t i, int64_t n) { return i < n ? i : n - 1; }

// Pixels that the blocks write to a line: the width rounded up to whole rows of threads.
RG_HD int64_t acp_padded(int64_t w, int64_t r) { return (w + acp_threads(r) - 1) / acp_threads(r) * acp_threads(r); }

#endif
