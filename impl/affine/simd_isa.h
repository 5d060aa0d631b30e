// SPDX-License-Identifier: MIT
// simd_isa.h: simd.c's inner loops in the vectors of simd_vector.h.

// Positions in the line of the next vector: from x on, none beyond `past`, where lanes repeat the last.
TARGET static inline VEC NAME(places)(const af_line *line, int x, int past)
{
    const float centre = af_low(line->z->w);
    return MIN(ADD(COUNT_UP(), SET((float)x + centre)), SET((float)(past - 1) + centre));
}

// Between a line and the one below, of half a vector's pixels, as pairs.
TARGET static inline VEC NAME(plane)(const float *p, int pitch, const int32_t *index, VEC fy)
{
    const VEC above = PAIRS(p, index), below = PAIRS(p + pitch, index);
    return MAD(fy, SUB(below, above), above);
}

// I' there; all corners lie in the image.
TARGET static inline VEC NAME(values)(const af_line *line, int dims, VEC p)
{
    const VEC sx = MAD(SET(line->step[0]), p, SET(line->at[0])), sy = MAD(SET(line->step[1]), p, SET(line->at[1]));
    const VEC sz = dims == 3 ? MAD(SET(line->step[2]), p, SET(line->at[2])) : SET(0);
    const VEC x = FLOOR(sx), y = FLOOR(sy), z = FLOOR(sz), fx = SUB(sx, x), fy = SUB(sy, y), fz = SUB(sz, z);
    const int slice = line->z->w * line->z->h;
    INTS offset = ADD_INTS(MUL_INTS(TO_INTS(y), SET_INT(line->pitch)), TO_INTS(x));
    if (dims == 3) offset = ADD_INTS(offset, MUL_INTS(TO_INTS(z), SET_INT(slice)));
    _Alignas(64) int32_t index[AF_LANES];
    VEC pairs[2];
    STORE_INTS(index, offset);
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        const int32_t *i = index + half * AF_LANES / 2;
        const VEC fy2 = TWICE(fy, half), front = NAME(plane)(line->centre, line->pitch, i, fy2);
        pairs[half] = front;
        if (dims == 3) {
            const VEC back = NAME(plane)(line->centre + slice, line->pitch, i, fy2);
            pairs[half] = MAD(TWICE(fz, half), SUB(back, front), front);
        }
    }
    const VEC left = LEFT(pairs[0], pairs[1]), right = RIGHT(pairs[0], pairs[1]);
    return MAD(fx, SUB(right, left), left);
}

TARGET static inline float NAME(place)(const af_line *line, int axis, int x)
{
    return __builtin_fmaf(line->step[axis], (float)x + af_low(line->z->w), line->at[axis]);
}

// Line y of plane d of the result; [M | t] in matrix.
TARGET static void NAME(line_of)(const af_size *z, const float *image, const float *matrix, const double per_step[3], int y,
                                 int d, af_line *line)
{
    const float py = (float)y + af_low(z->h), pz = (float)d + af_low(z->d);
    *line = (af_line){.z = z,
                      .image = image,
                      .pitch = z->w,
                      .centre = image + af_pixel(z, af_centre(z->w), af_centre(z->h), af_centre(z->d))};
    for (int a = 0; a < z->dims; a++, matrix += z->dims + 1) {
        line->step[a] = matrix[0];
        line->at[a] = z->dims == 2 ? __builtin_fmaf(matrix[1], py, matrix[2])
                                   : __builtin_fmaf(matrix[1], py, __builtin_fmaf(matrix[2], pz, matrix[3]));
    }
    af_stretches(line, per_step);
}

TARGET static inline float NAME(one)(const af_line *line, int x, int *takes_part)
{
    const af_size *z = line->z;
    const float sx = NAME(place)(line, 0, x), sy = NAME(place)(line, 1, x);
    return z->dims == 2 ? af_sample_2d(line->image, z->w, z->h, z->outside, sx, sy, takes_part)
                        : af_sample_3d(line->image, z->w, z->h, z->d, z->outside, sx, sy, NAME(place)(line, 2, x), takes_part);
}

// ---- affine2d ------------------------------------------------------------------------------------------------------------

TARGET static inline void NAME(store)(const af_line *line, int x0, int x1, float *to)
{
    const af_cuts c = af_cut(line, x0, x1);
    int takes_part;
    for (int x = x0; x < c.reach0; x++) to[x] = 0;
    for (int x = c.reach0; x < c.inside0; x++) to[x] = NAME(one)(line, x, &takes_part);
    for (int x = c.inside0; x < c.inside1; x += AF_LANES) {
        const int n = c.inside1 - x;
        const VEC value = NAME(values)(line, 2, NAME(places)(line, x, c.inside1));
        STORE_SOME(to + x, FIRST(n < AF_LANES ? n : AF_LANES), value);
    }
    for (int x = c.inside1; x < c.reach1; x++) to[x] = NAME(one)(line, x, &takes_part);
    for (int x = c.reach1; x < x1; x++) to[x] = 0;
}

// ---- align2d, align3d ----------------------------------------------------------------------------------------------------

typedef struct NAME(lanes) {
    VEC a, b, aa, bb, ab;
} NAME(lanes);

TARGET static inline void NAME(add)(NAME(lanes) * s, MASK mask, VEC a, VEC b)
{
    a = KEEP(mask, a);
    b = KEEP(mask, b);
    s->a = ADD(s->a, a);
    s->b = ADD(s->b, b);
    s->aa = MAD(a, a, s->aa);
    s->bb = MAD(b, b, s->bb);
    s->ab = MAD(a, b, s->ab);
}

TARGET static double NAME(total)(VEC v)
{
    float lane[AF_LANES];
    double sum = 0;
    __builtin_memcpy(lane, &v, sizeof lane);
    for (int i = 0; i < AF_LANES; i++) sum += lane[i];
    return sum;
}

TARGET static void NAME(flush)(NAME(lanes) * s, af_sums *to)
{
    to->a += NAME(total)(s->a);
    to->b += NAME(total)(s->b);
    to->aa += NAME(total)(s->aa);
    to->bb += NAME(total)(s->bb);
    to->ab += NAME(total)(s->ab);
    *s = (NAME(lanes)){SET(0), SET(0), SET(0), SET(0), SET(0)};
}

// Pixels x0 .. x1 - 1 of a line, outside the reach: I' is 0 (rule 0).
TARGET static inline void NAME(add_empty)(NAME(lanes) * s, const float *reference, int x0, int x1, const float typical[2])
{
    for (int x = x0; x < x1; x += AF_LANES) {
        const MASK mask = FIRST(x1 - x < AF_LANES ? x1 - x : AF_LANES);
        NAME(add)(s, mask, SET(-typical[0]), SUB(LOAD_SOME(reference + x, mask), SET(typical[1])));
    }
}

// Along one axis: places of both corners in memory, and their shares, 0 outside.
TARGET static inline void NAME(corners)(VEC s, int side, int pitch, INTS place[2], VEC share[2])
{
    const VEC low = SET(af_low(side)), high = SET(af_high(side)), whole = FLOOR(s);
    share[1] = SUB(s, whole);
    share[0] = SUB(SET(1), share[1]);
    for (int c = 0; c < 2; c++) {
        const VEC corner = ADD(whole, SET((float)c)), held = MIN(MAX(corner, low), high);
        share[c] = KEEP(EQUAL(corner, held), share[c]);
        place[c] = MUL_INTS(TO_INTS(SUB(held, low)), SET_INT(pitch));
    }
}

// Adds the pixels set aside.
TARGET static void NAME(add_odd)(NAME(lanes) * lanes, const af_size *z, const float *image, af_odd *odd, const float typical[2],
                                 af_sums *to)
{
    const int side[3] = {z->w, z->h, z->d}, pitch[3] = {1, z->w, z->w * z->h};
    for (int i = 0; i < odd->n; i += AF_LANES) {
        MASK mask = FIRST(odd->n - i < AF_LANES ? odd->n - i : AF_LANES);
        INTS place[3][2] = {{SET_INT(0), SET_INT(0)}, {SET_INT(0), SET_INT(0)}, {SET_INT(0), SET_INT(0)}};
        VEC share[3][2], value = SET(0);
        for (int a = 0; a < z->dims; a++) {
            const VEC margin = SET(AF_MARGIN), low = SET(af_low(side[a])), high = SET(af_high(side[a]));
            VEC s = LOAD_SOME(odd->s[a] + i, mask);
            if (z->outside == AF_IGNORE) mask = BOTH(mask, EQUAL(s, MIN(MAX(s, SUB(low, margin)), ADD(high, margin))));
            if (z->outside != AF_ZERO) s = MIN(MAX(s, low), high);
            NAME(corners)(s, side[a], pitch[a], place[a], share[a]);
        }
        for (int c = 0; c < 1 << z->dims; c++) {
            const int x = c & 1, y = c >> 1 & 1, d = c >> 2;
            const VEC all = z->dims == 2 ? MUL(share[0][x], share[1][y]) : MUL(MUL(share[0][x], share[1][y]), share[2][d]);
            value = MAD(all, GATHER(image, ADD_INTS(ADD_INTS(place[0][x], place[1][y]), place[2][d])), value);
        }
        NAME(add)(lanes, mask, SUB(value, SET(typical[0])), SUB(LOAD_SOME(odd->reference + i, mask), SET(typical[1])));
        to->n += COUNT(mask);
    }
    odd->n = 0;
}

// Sets aside pixels x0 .. x1 - 1.
TARGET static inline void NAME(put_aside)(NAME(lanes) * s, const af_line *line, const float *reference, int x0, int x1,
                                          const float typical[2], af_odd *odd, af_sums *to)
{
    for (int x = x0; x < x1; x++) {
        if (odd->n == ODD) NAME(add_odd)(s, line->z, line->image, odd, typical, to);
        for (int a = 0; a < line->z->dims; a++) odd->s[a][odd->n] = NAME(place)(line, a, x);
        odd->reference[odd->n++] = reference[x];
    }
}

// Pixels x0 .. x1 - 1 of a line; reference: of the line.
TARGET static inline void NAME(add_line)(NAME(lanes) * s, const af_line *line, int dims, const float *reference, int x0, int x1,
                                         const float typical[2], af_odd *odd, af_sums *to)
{
    const af_cuts c = af_cut(line, x0, x1);
    const int every = line->z->outside != AF_IGNORE;
    to->n += c.inside1 - c.inside0 + (every ? c.reach0 - x0 + x1 - c.reach1 : 0);
    if (every) NAME(add_empty)(s, reference, x0, c.reach0, typical);
    NAME(put_aside)(s, line, reference, c.reach0, c.inside0, typical, odd, to);
    NAME(lanes) t = *s; // in registers
    for (int x = c.inside0; x < c.inside1; x += AF_LANES) {
        const MASK mask = FIRST(c.inside1 - x < AF_LANES ? c.inside1 - x : AF_LANES);
        const VEC value = NAME(values)(line, dims, NAME(places)(line, x, c.inside1));
        NAME(add)(&t, mask, SUB(value, SET(typical[0])), SUB(LOAD_SOME(reference + x, mask), SET(typical[1])));
    }
    *s = t;
    NAME(put_aside)(s, line, reference, c.inside1, c.reach1, typical, odd, to);
    if (every) NAME(add_empty)(s, reference, c.reach1, x1, typical);
}

// ---- bands: lines y0 .. y1 - 1 of plane d, tile by tile --------------------------------------------------------------------

TARGET static void NAME(store_band)(const af_size *z, const float *image, const float *matrix, int y0, int y1, float *to)
{
    af_line line[TILE];
    af_room room;
    double per_step[3];
    af_per_step(z, matrix, per_step);
    for (int y = y0; y < y1; y++) NAME(line_of)(z, image, matrix, per_step, y, 0, &line[y - y0]);
    for (int x = 0; x < z->w; x += TILE) {
        const int x1 = x + TILE < z->w ? x + TILE : z->w;
        af_move_in(z, image, matrix, x, x1, y0, y1, &room);
        for (int y = y0; y < y1; y++) {
            const af_line there = af_in_room(&line[y - y0], &room);
            NAME(store)(&there, x, x1, to + (int64_t)y * z->w);
        }
    }
}

// 64 lines: of an image below each other, of a volume 8 x 8 (simd.c).
TARGET static void NAME(sum_bundle)(const af_size *z, const float *image, const float *reference, const float *matrix,
                                    const af_bundle *b, const float typical[2], af_sums *to)
{
    const int rows = b->y1 - b->y0, n = rows * (b->d1 - b->d0), wide = z->dims == 2 ? TILE : LONG;
    af_line line[TILE];
    af_room room;
    af_odd odd = {.n = 0};
    NAME(lanes) s = {SET(0), SET(0), SET(0), SET(0), SET(0)};
    double per_step[3];
    af_per_step(z, matrix, per_step);
    for (int i = 0; i < n; i++) NAME(line_of)(z, image, matrix, per_step, b->y0 + i % rows, b->d0 + i / rows, &line[i]);
    for (int x = 0; x < z->w; x += wide) {
        const int x1 = x + wide < z->w ? x + wide : z->w;
        if (z->dims == 2) af_move_in(z, image, matrix, x, x1, b->y0, b->y1, &room);
        for (int i = 0; i < n; i++) {
            const float *r = reference + af_pixel(z, 0, b->y0 + i % rows, b->d0 + i / rows);
            if (z->dims == 3) {
                NAME(add_line)(&s, &line[i], 3, r, x, x1, typical, &odd, to);
            } else {
                const af_line there = af_in_room(&line[i], &room);
                NAME(add_line)(&s, &there, 2, r, x, x1, typical, &odd, to);
            }
        }
        NAME(add_odd)(&s, z, image, &odd, typical, to);
        NAME(flush)(&s, to); // at most 64 x 128 pixels: 512 or 1024 a lane
    }
}
