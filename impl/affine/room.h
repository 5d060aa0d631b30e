// SPDX-License-Identifier: MIT
// room.h: a copy of the window of an image that a tile of the result comes from (window.h), on the host.
//
// It includes the values that the rule gives outside, so that no pixel of the tile tests the border. It stays in the L1 at any
// angle, while rows of 2048 floats all fall into the same few sets of it.
#ifndef RG_AFFINE_ROOM_H
#define RG_AFFINE_ROOM_H

#include "window.h"
#include <string.h>

enum { AF_TILE = 64, AF_ROOM = 128 * 129 }; // floats of a window: 64 x 64 pixels at any angle, stretched by 1.35

static inline int af_held(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
static inline int64_t af_parts(int side, int part) { return (side + part - 1) / part; }

typedef struct af_room {
    af_window view;
    int pitch, fits;
    float pixel[AF_ROOM];
} af_room;

// One row of the window; y and x0 in pixels of the image.
static inline void af_copy_row(const af_size *z, const float *image, int x0, int y, int width, float *to) {
    const float *row = image + (int64_t)af_held(y, 0, z->h - 1) * z->w;
    const int empty = z->outside == AF_ZERO, left = af_held(-x0, 0, width), right = af_held(z->w - x0, left, width);
    if (empty && (y < 0 || y >= z->h)) {
        memset(to, 0, (size_t)width * sizeof *to);
        return;
    }
    for (int i = 0; i < left; i++) to[i] = empty ? 0 : row[0];
    if (right > left) memcpy(to + left, row + x0 + left, (size_t)(right - left) * sizeof *to);
    for (int i = right; i < width; i++) to[i] = empty ? 0 : row[z->w - 1];
}

// Copies the window of the tile. If it does not fit, lines use the image.
static inline void af_move_in(
    const af_size *z, const float *image, const float *matrix, int x0, int x1, int y0, int y1, af_room *room) {
    room->view = af_window_of(matrix, matrix + 3, z->w, z->h, x0, y0, x1 - x0, y1 - y0);
    room->pitch = room->view.width | 1; // rows fall into different sets
    room->fits =
        room->view.found && (room->view.inside || z->outside != AF_IGNORE) && room->pitch * room->view.height <= AF_ROOM;
    const int x = room->view.x + af_centre(z->w), y = room->view.y + af_centre(z->h);
    for (int i = 0; room->fits && i < room->view.height; i++)
        af_copy_row(z, image, x, y + i, room->view.width, room->pixel + i * room->pitch);
}

#endif
