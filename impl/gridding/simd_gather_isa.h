// SPDX-License-Identifier: MIT
// simd_gather_isa.h: the brick of simd_gather.c in one instruction set, by the macros of simd_vector.h.

// Notes those of the first `voxels` of a row of the brick that lie within b of the image: t[] is the place of its first voxel.
TARGET static inline void NAME(find_row)(const plan *p, const float *m, const float t[3], int row, int voxels, int first,
                                         hits *h)
{
    static const float count[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int x = 0; x < voxels; x += GR_LANES) {
        const VEC all = LOAD(count + x), height = MUL(MAD(all, SET(m[2]), SET(t[2])), SET(p->scale));
        const VEC level = LESS(height, height, SET(1));
        const uint32_t bits = BITS_INSIDE(level) & ((1u << (voxels - x < GR_LANES ? voxels - x : GR_LANES)) - 1);
        if (!bits) continue;
        const VEC lane = CHOOSE(bits, all); // those found come first, the rest is overwritten by the next row
        const VEC tx = MAD(lane, SET(m[0]), SET(t[0])), ty = MAD(lane, SET(m[1]), SET(t[1]));
        const VEC sign = AND(tx, SET(-0.0f)), px = XOR(tx, sign), py = XOR(ty, sign);
        const VEC ix = CEIL(SUB(px, SET(p->call.b))), iy = CEIL(SUB(py, SET(p->call.b)));
        const int n = h->n;
        STORE(h->ux + n, MUL(SUB(ix, px), SET(p->scale)));
        STORE(h->uy + n, MUL(SUB(iy, py), SET(p->scale)));
        STORE(h->t + n, CHOOSE(bits, level));
        const INTS row_of = MUL_INTS(TO_INTS(iy), SET_INT((int)p->pitch));
        STORE_INTS(h->block + n, ADD_INTS(ADD_INTS(TO_INTS(ix), row_of), SET_INT(first)));
        STORE_INTS(h->voxel + n, ADD_INTS(TO_INTS(lane), SET_INT(row * BX)));
        STORE_INTS(h->sign + n, INTS_OF(sign));
        h->n += __builtin_popcount(bits);
    }
}

// Hits of a sample in the brick: rows whose middle is near enough first, a vector of rows at a time.
TARGET static inline void NAME(find)(const plan *p, const brick *b, int64_t sample, int64_t image, hits *h)
{
    const float *m = p->call.rotation + 9 * sample;
    const float reach = p->call.b + 0.01f + fabsf(m[2]) * (BX - 1) / 2, middle = m[2] * ((float)b->x + (BX - 1) / 2.0f);
    const int first = (int)(image * p->records + (p->call.k + ABOVE) * p->pitch) + LEFT;
    h->n = 0;
    for (int rows = 0; rows < b->nz * BY; rows += GR_LANES) {
        const VEC away = MAD(LOAD(b->row_y + rows), SET(m[5]), MAD(LOAD(b->row_z + rows), SET(m[8]), SET(middle)));
        const VEC inside = SUB(SET(reach), XOR(away, AND(away, SET(-0.0f))));
        for (uint32_t bits = BITS_POSITIVE(inside); bits; bits &= bits - 1) {
            const int row = rows + __builtin_ctz(bits);
            float t[3];
            gr_project(m, (float)b->x, b->row_y[row], b->row_z[row], t);
            NAME(find_row)(p, m, t, row, b->voxels[row], first, h);
        }
    }
}

// Adds the blocks of all hits, `columns` (4 or 8) pixels a side. GR_LANES weights are those of GR_LANES/columns rows; SPREAD
// repeats each four times, once for every number of a record.
TARGET static inline __attribute__((always_inline)) void NAME(add)(const plan *p, const hits *h, brick *b, const int columns)
{
    const int groups = columns * columns / GR_LANES, records = GR_LANES / 4; // vectors of weights; records in a vector
    const float *record = p->record, scale = p->scale;
    const int64_t pitch = p->pitch;
    float across[GR_LANES], down[8][GR_LANES];
    int32_t spread[4][GR_LANES];
    for (int i = 0; i < GR_LANES; i++) {
        across[i] = (float)(i % columns) * scale;
        for (int g = 0; g < groups; g++) down[g][i] = (float)((g * GR_LANES + i) / columns) * scale;
        for (int j = 0; j < 4; j++) spread[j][i] = j * records + i / 4;
    }
    for (int i = 0, n = h->n; i < n; i++) {
        const VEC ux = ADD(SET(h->ux[i]), LOAD(across)), uy = SET(h->uy[i]), t = SET(h->t[i]);
        const float *block = record + 4 * (int64_t)h->block[i];
        float *sum = b->sum[h->voxel[i]];
        VEC total[2] = {SET(0), SET(0)};
        UNROLL for (int g = 0; g < groups; g++) {
            const VEC w = NAME(weights)(ux, ADD(uy, LOAD(down[g])), t);
            UNROLL for (int j = 0; j < 4; j++) { // a vector of records
                const int pixel = g * GR_LANES + j * records;
                const VEC four = LOAD(block + 4 * (pixel / columns * pitch + pixel % columns));
                total[j % 2] = MAD(SPREAD(w, LOAD_INTS(spread[j])), four, total[j % 2]);
            }
        }
        const __m128 flip = _mm_castsi128_ps(_mm_and_si128(_mm_set1_epi32(h->sign[i]), _mm_setr_epi32(0, -1, 0, 0)));
        _mm_store_ps(sum, _mm_add_ps(_mm_load_ps(sum), _mm_xor_ps(ADD_UP(ADD(total[0], total[1])), flip)));
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
            call_for(p, &h[now], columns);
            NAME(add)(p, &h[now ^ 1], b, columns);
        }
    }
    NAME(add)(p, &h[now ^ 1], b, columns);
}

TARGET static void NAME(narrow)(const plan *p, brick *b, hits *h) { NAME(all)(p, b, h, 4); }
TARGET static void NAME(wide)(const plan *p, brick *b, hits *h) { NAME(all)(p, b, h, 8); }
