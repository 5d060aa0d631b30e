// SPDX-License-Identifier: MIT
// simd_gather_isa.h: the brick of simd_gather.c in one instruction set, by the macros of simd_vector.h.

// Notes the hits of a row of the brick after n others; t[]: the place of its first voxel; returns how many there are now.
TARGET static inline __attribute__((always_inline)) int NAME(find_row)(const plan *p, const float *m, const float t[3],
                                                                       uint32_t inside, int row, int first, hits *h, int n)
{
    static const float count[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const VEC scale = SET(p->scale), b = SET(p->call.b);
    for (int x = 0; x < BX; x += GR_LANES) {
        const VEC all = LOAD(count + x), height = MUL(MAD(all, SET(m[2]), SET(t[2])), scale);
        const VEC level = LESS(height, height, SET(1));
        const uint32_t bits = BITS_INSIDE(level) & inside >> x;
        if (!bits) continue;
        const VEC lane = CHOOSE(bits, all); // those found come first, the rest is overwritten by the next row
        const VEC tx = MAD(lane, SET(m[0]), SET(t[0])), ty = MAD(lane, SET(m[1]), SET(t[1]));
        const VEC sign = AND(tx, SET(-0.0f)), px = XOR(tx, sign), py = XOR(ty, sign);
        const VEC ix = CEIL(SUB(px, b)), iy = CEIL(SUB(py, b));
        STORE(h->ux + n, MUL(SUB(ix, px), scale));
        STORE(h->uy + n, MUL(SUB(iy, py), scale));
        STORE(h->t + n, CHOOSE(bits, level));
        const INTS row_of = MUL_INTS(TO_INTS(iy), SET_INT((int)p->pitch));
        STORE_INTS(h->block + n, ADD_INTS(ADD_INTS(TO_INTS(ix), row_of), SET_INT(first)));
        STORE_INTS(h->sum + n, TO_INTS(MAD(lane, SET(4), SET((float)(4 * row * BX)))));
        STORE(h->sign + n, sign);
        n += __builtin_popcount(bits);
    }
    return n;
}

// Hits of a sample in the brick: rows whose middle is near enough first, a vector of rows at a time.
TARGET static inline void NAME(find)(const plan *p, const brick *b, int64_t sample, int64_t image, hits *h)
{
    const float *m = p->call.rotation + 9 * sample;
    const float half = m[2] * (BX - 1) / 2;
    const VEC x = SET((float)b->x), middle = SET(half), reach = SET(p->call.b + 0.01f + fabsf(half));
    const int first = (int)(image * p->records + (p->call.k + ABOVE) * p->pitch) + LEFT;
    int n = 0;
    for (int rows = 0; rows < b->nz * BY; rows += GR_LANES) {
        const VEC y = LOAD(b->row_y + rows), z = LOAD(b->row_z + rows);
        VEC t[3];
        UNROLL for (int a = 0; a < 3; a++) t[a] = MAD(z, SET(m[6 + a]), MAD(y, SET(m[3 + a]), MUL(x, SET(m[a]))));
        const VEC away = ADD(t[2], middle), inside = SUB(reach, XOR(away, AND(away, SET(-0.0f))));
        uint32_t bits = BITS_POSITIVE(inside);
        if (!bits) continue;
        float place[3][GR_LANES];
        UNROLL for (int a = 0; a < 3; a++) STORE(place[a], t[a]);
        for (; bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits), row = rows + i;
            const float at[3] = {place[0][i], place[1][i], place[2][i]};
            n = NAME(find_row)(p, m, at, b->inside[row], row, first, h, n);
        }
    }
    h->n = n;
}

// Adds the blocks of all hits, `columns` (4 or 8) pixels a side. GR_LANES weights are those of GR_LANES/columns rows; SPREAD
// repeats each four times, once for every number of a record. As many hits at a time as a vector has records: their totals
// are one vector in the end.
TARGET static inline __attribute__((always_inline)) void NAME(add)(const plan *p, const hits *h, brick *b, const int columns)
{
    enum { RECORDS = GR_LANES / 4 };
    const int groups = columns * columns / GR_LANES; // vectors of weights
    const float *record = p->record, scale = p->scale;
    const int64_t pitch = 4 * p->pitch;
    float across[GR_LANES], down[8][GR_LANES];
    int32_t spread[4][GR_LANES], imaginary[GR_LANES];
    for (int i = 0; i < GR_LANES; i++) {
        across[i] = (float)(i % columns) * scale;
        for (int g = 0; g < groups; g++) down[g][i] = (float)((g * GR_LANES + i) / columns) * scale;
        for (int j = 0; j < 4; j++) spread[j][i] = j * RECORDS + i / 4;
        imaginary[i] = i % 4 == 1 ? -1 : 0;
    }
    for (int i = 0, n = h->n; i < n; i += RECORDS) {
        VEC total[RECORDS];
        UNROLL for (int a = 0; a < RECORDS; a++) total[a] = SET(0);
        UNROLL for (int g = 0; g < groups; g++) {
            VEC w[RECORDS];
            UNROLL for (int a = 0; a < RECORDS; a++)
                w[a] = NAME(weights)(ADD(SET(h->ux[i + a]), LOAD(across)), ADD(SET(h->uy[i + a]), LOAD(down[g])),
                                     SET(h->t[i + a]));
            UNROLL for (int a = 0; a < RECORDS; a++) {
                const float *block = record + 4 * (int64_t)h->block[i + a];
                UNROLL for (int j = 0; j < 4; j++) { // a vector of records
                    const int pixel = g * GR_LANES + j * RECORDS;
                    const VEC some = LOAD(block + pixel / columns * pitch + 4 * (pixel % columns));
                    total[a] = MAD(SPREAD(w[a], LOAD_INTS(spread[j])), some, total[a]);
                }
            }
        }
        const VEC flip = AND(SPREAD(LOAD(h->sign + i), LOAD_INTS(spread[0])), REALS_OF(LOAD_INTS(imaginary)));
        NAME(add_records)(b->sum, h->sum + i, XOR(NAME(add_up)(total), flip));
    }
}

// The hits of the next sample are found, and their pixels called for, before those of the last are added.
TARGET static inline __attribute__((always_inline)) void NAME(all)(const plan *p, brick *b, hits *h, const int columns)
{
    const VEC cx = SET((float)b->x + (BX - 1) / 2.0f), cy = SET((float)b->y + (BY - 1) / 2.0f),
              cz = SET((float)b->z + (BZ - 1) / 2.0f);
    int now = 0;
    h[1].n = 0;
    for (int64_t s = 0; s < p->padded; s += GR_LANES) {
        const VEC away = MAD(cx, LOAD(p->normal[0] + s), MAD(cy, LOAD(p->normal[1] + s), MUL(cz, LOAD(p->normal[2] + s))));
        const VEC inside = SUB(LOAD(p->height + s), XOR(away, AND(away, SET(-0.0f))));
        for (uint32_t bits = BITS_POSITIVE(inside); bits; bits &= bits - 1, now ^= 1) {
            const int64_t sample = s + __builtin_ctz(bits);
            NAME(find)(p, b, sample, sample / p->call.operators, &h[now]);
            if (h[now].n && !b->touched) touch(b);
            fill_up(&h[now]);
            call_for(p, &h[now], columns);
            NAME(add)(p, &h[now ^ 1], b, columns);
        }
    }
    NAME(add)(p, &h[now ^ 1], b, columns);
}

TARGET static void NAME(narrow)(const plan *p, brick *b, hits *h) { NAME(all)(p, b, h, 4); }
TARGET static void NAME(wide)(const plan *p, brick *b, hits *h) { NAME(all)(p, b, h, 8); }
