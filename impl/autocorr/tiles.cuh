// SPDX-License-Identifier: MIT
// tiles.cuh: divides the sums among the blocks of gather, gather_two_pass and the tensor variants: a tile of X0, a tile of Y0,
// and a chunk of the lines of b. Blocks with the same tiles and different chunks add to the same sums.
#ifndef RG_AUTOCORR_TILES_CUH
#define RG_AUTOCORR_TILES_CUH

#include "plane.cuh"

// 255 * 255 * 66,051 is the last multiple below 2^32: this many byte products fit in an unsigned 32-bit sum.
enum { AC_PRODUCTS_MAX = 66051, AC_ROWS_MOST = 64 };

typedef struct ac_tiles {
    int x0_first, x0s, y0s;             // least X0 of the first tile; X0 and Y0 a tile
    int tiles_x, tiles_y, chunks, rows; // rows: lines of b a chunk
} ac_tiles;

typedef struct ac_block {
    int x0, y0, chunk; // first X0 and Y0 of the tile
    int first, past;   // lines of b
} ac_block;

// rows 0: a multiple of `stage` for which the number of blocks is just below a multiple of `wanted`, given enough lines.
static inline ac_tiles ac_tiles_of(const ac_plane &p, int x0_first, int x0s, int y0s, int rows, int wanted, int stage) {
    ac_tiles t;
    t.x0_first = x0_first;
    t.x0s = x0s;
    t.y0s = y0s;
    t.tiles_x = (p.r - x0_first + x0s) / x0s;
    t.tiles_y = (ac_y0_count(p) + y0s - 1) / y0s;
    int64_t lines = (int64_t)p.height * t.tiles_x * t.tiles_y, most = (int64_t)wanted * AC_ROWS_MOST;
    int64_t unit = (lines + most - 1) / most * wanted * stage;
    t.rows = rows ? rows : (int)((lines + unit - 1) / unit) * stage;
    t.chunks = (p.height + t.rows - 1) / t.rows;
    return t;
}

RG_HD int ac_blocks(const ac_tiles &t) { return t.tiles_x * t.tiles_y * t.chunks; }

// The lines of b of a chunk that have a partner at some Y0 of the tile from y0 on; none if first >= past.
RG_HD ac_block ac_block_at(const ac_plane &p, const ac_tiles &t, int y0, int chunk) {
    ac_block b;
    b.x0 = t.x0_first;
    b.y0 = y0;
    b.chunk = chunk;
    int least = 1 - y0 - t.y0s, end = (chunk + 1) * t.rows < p.height - y0 ? (chunk + 1) * t.rows : p.height - y0;
    b.first = chunk * t.rows > least ? chunk * t.rows : least;
    b.past = end < p.height ? end : p.height;
    return b;
}

// The i-th block of the grid: tiles of X0 come first, so that neighbours read the same lines.
RG_HD ac_block ac_block_of(const ac_plane &p, const ac_tiles &t, int i) {
    int tile_x = i % t.tiles_x, tile_y = i / t.tiles_x % t.tiles_y;
    ac_block b = ac_block_at(p, t, ac_y0_least(p) + t.y0s * tile_y, i / t.tiles_x / t.tiles_y);
    b.x0 = t.x0_first + t.x0s * tile_x;
    return b;
}

// Lines of b that all blocks of one tile of X0 walk over, for cost().
static inline double ac_lines_walked(const ac_plane &p, const ac_tiles &t) {
    double lines = 0;
    for (int y0 = ac_y0_least(p); y0 <= p.r; y0 += t.y0s)
        for (int chunk = 0; chunk < t.chunks; chunk++) {
            ac_block b = ac_block_at(p, t, y0, chunk);
            lines += b.past > b.first ? b.past - b.first : 0;
        }
    return lines;
}

#endif
