// SPDX-License-Identifier: MIT
// window.h: the part of an image that a tile of the result comes from.
#ifndef RG_AFFINE_WINDOW_H
#define RG_AFFINE_WINDOW_H

#include "index.h"

typedef struct af_window {
    int x, y, width, height; // first pixel, from the centre
    int inside;              // the window is inside the image; then no pixel of the tile is omitted
    int found;               // 0: too large, or too far away, to be useful
} af_window;

enum { AF_WINDOW_SIDE = 4096 }; // no use beyond that

// Along one axis: from the smallest s of the tile's corners to the largest, and the neighbour beyond.
RG_HD int af_window_axis(const float *row, float x, float y, float nx, float ny, int *first) {
    const float at = af_row_2d(row, x, y), along = row[0] * nx, down = row[1] * ny;
    const float least = at + (along < 0 ? along : 0) + (down < 0 ? down : 0);
    const float most = at + (along > 0 ? along : 0) + (down > 0 ? down : 0);
    if (!(least > -1e6f && most < 1e6f && most - least < AF_WINDOW_SIDE)) return 0; // also NaN
    *first = af_floor(least - 0.01f);                                               // a hundredth of a pixel for rounding
    return af_floor(most + 0.01f) + 2 - *first;
}

// The window of the tile of pixels (x, y) .. (x + nx - 1, y + ny - 1); row_x, row_y of the matrix.
RG_HD af_window af_window_of(const float *row_x, const float *row_y, int w, int h, int x, int y, int nx, int ny) {
    const float px = (float)x + af_low(w), py = (float)y + af_low(h);
    af_window v = {0, 0, 0, 0, 0, 0};
    v.width = af_window_axis(row_x, px, py, (float)(nx - 1), (float)(ny - 1), &v.x);
    v.height = af_window_axis(row_y, px, py, (float)(nx - 1), (float)(ny - 1), &v.y);
    v.found = v.width > 0 && v.height > 0;
    const int x0 = v.x + af_centre(w), y0 = v.y + af_centre(h);
    v.inside = x0 >= 0 && y0 >= 0 && x0 + v.width <= w && y0 + v.height <= h;
    return v;
}

#endif
