// SPDX-License-Identifier: MIT
// simd_gather_isa.h: the brick of simd_gather.c in one instruction set, by the macros defined before it is included; undefines them.

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

// Notes those of the first `voxels` of a row of the brick that lie within b of the image: t[] is the place of its first voxel.
TARGET static inline void NAME(find_hits)(const plan *p, const float *m, const float t[3], int row, int voxels, int64_t image,
                                          hits *h)
{
    static const float count[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const float b = p->call.b;
    for (int x = 0; x < voxels; x += LANES) {
        const VEC lane = LOAD(count + x), height = MUL(MAD(lane, SET(m[2]), SET(t[2])), SET(p->per_b));
        const VEC q = LESS(height, height, SET(1));
        const uint32_t bits = BITS_NOT_NEGATIVE(q) & ((1u << (voxels - x < LANES ? voxels - x : LANES)) - 1);
        if (!bits) continue;
        const VEC tx = MAD(lane, SET(m[0]), SET(t[0])), ty = MAD(lane, SET(m[1]), SET(t[1]));
        const VEC sign = AND(tx, SET(-0.0f)), px = XOR(tx, sign), py = XOR(ty, sign);
        const VEC ix = CEIL(SUB(px, SET(b))), iy = CEIL(SUB(py, SET(b)));
        const INTS row_of = ADD_INTS(TO_INTS(iy), SET_INT((int)p->call.k + ABOVE));
        const INTS first = SET_INT((int)(image * p->records) + LEFT);
        const int n = h->n;
        PUT(h->ux + n, bits, MUL(SUB(ix, px), SET(p->per_b)));
        PUT(h->uy + n, bits, MUL(SUB(iy, py), SET(p->per_b)));
        PUT(h->q + n, bits, q);
        PUT_INTS(h->block + n, bits, ADD_INTS(first, ADD_INTS(TO_INTS(ix), MUL_INTS(row_of, SET_INT((int)p->pitch)))));
        PUT_INTS(h->voxel + n, bits, TO_INTS(ADD(lane, SET((float)(row * BX)))));
        PUT_INTS(h->sign + n, bits, INTS_OF(sign));
        h->n += __builtin_popcount(bits);
    }
}

// Hits of a sample in the brick.
TARGET static inline void NAME(find)(const plan *p, const brick *b, int64_t sample, hits *h)
{
    const float *m = p->call.rotation + 9 * sample;
    const float reach = p->call.b + 0.01f + fabsf(m[2]) * (BX - 1) / 2;
    h->n = 0;
    for (int row = 0; row < b->nz * BY; row++) {
        float t[3];
        gr_project(m, (float)b->x, (float)(b->y + row % BY), (float)(b->z + row / BY), t);
        if (fabsf(t[2] + m[2] * (BX - 1) / 2) > reach) continue;
        NAME(find_hits)(p, m, t, row, b->voxels[row], sample / p->call.operators, h);
    }
}

TARGET static inline VEC NAME(weights)(VEC dx, VEC dy, VEC q)
{
    q = LESS(dx, dx, LESS(dy, dy, q));
    VEC w = SET(0);
#define HORNER(coefficient) w = MAD(w, q, SET(coefficient));
    GR_KERNEL_TERMS(HORNER)
#undef HORNER
    return KEEP_NOT_NEGATIVE(w, q);
}

// Adds the blocks of all hits, `columns` (4 or 8) pixels a side. LANES weights are those of LANES/columns rows; SPREAD repeats
// each four times, once for every number of a record.
TARGET static inline __attribute__((always_inline)) void NAME(add)(const plan *p, const hits *h, brick *b, const int columns)
{
    const int groups = columns * columns / LANES, records = LANES / 4; // vectors of weights; records in a vector
    float across[LANES], down[LANES];
    int32_t imaginary[LANES], spread[4][LANES];
    for (int i = 0; i < LANES; i++) {
        across[i] = (float)(i % columns) * p->per_b;
        down[i] = (float)(i / columns) * p->per_b;
        imaginary[i] = i % 4 == 1 ? -1 : 0;
        for (int j = 0; j < 4; j++) spread[j][i] = j * records + i / 4;
    }
    for (int i = 0; i < h->n; i++) {
        const VEC ux = ADD(SET(h->ux[i]), LOAD(across)), uy = ADD(SET(h->uy[i]), LOAD(down)), q = SET(h->q[i]);
        const VEC sign = REALS_OF(SET_INT(h->sign[i])), flip = AND(sign, LOAD((const float *)imaginary));
        float *sum = b->sum[h->voxel[i]];
        VEC total[16 / LANES];
        UNROLL for (int part = 0; part < 16 / LANES; part++) total[part] = XOR(LOAD(sum + part * LANES), flip);
        UNROLL for (int g = 0; g < groups; g++) {
            const VEC w = NAME(weights)(ux, ADD(uy, SET((float)(g * LANES / columns) * p->per_b)), q);
            UNROLL for (int j = 0; j < 4; j++) { // a vector of records
                const int pixel = j * records, row = g * LANES / columns + pixel / columns;
                const float *at = p->record + 4 * ((int64_t)h->block[i] + row * p->pitch + pixel % columns);
                const VEC each = SPREAD(w, LOAD_INTS(spread[j]));
                total[j % (16 / LANES)] = MAD(each, LOAD(at), total[j % (16 / LANES)]);
            }
        }
        UNROLL for (int part = 0; part < 16 / LANES; part++) STORE(sum + part * LANES, XOR(total[part], flip));
    }
}

TARGET static inline __attribute__((always_inline)) void NAME(all)(const plan *p, brick *b, hits *h, const int columns)
{
    const VEC cx = SET((float)b->x + (BX - 1) / 2.0f), cy = SET((float)b->y + (BY - 1) / 2.0f),
              cz = SET((float)b->z + (BZ - 1) / 2.0f);
    for (int64_t s = 0; s < p->padded; s += LANES) {
        const VEC away = MAD(cx, LOAD(p->normal[0] + s), MAD(cy, LOAD(p->normal[1] + s), MUL(cz, LOAD(p->normal[2] + s))));
        const VEC inside = SUB(LOAD(p->height + s), XOR(away, AND(away, SET(-0.0f))));
        for (uint32_t bits = BITS_NOT_NEGATIVE(inside); bits; bits &= bits - 1) {
            NAME(find)(p, b, s + __builtin_ctz(bits), h);
            NAME(add)(p, h, b, columns);
        }
    }
}

TARGET static void NAME(narrow)(const plan *p, brick *b, hits *h) { NAME(all)(p, b, h, 4); }
TARGET static void NAME(wide)(const plan *p, brick *b, hits *h) { NAME(all)(p, b, h, 8); }

#undef UNROLL
#undef TARGET
#undef NAME
#undef LANES
#undef VEC
#undef INTS
#undef LOAD
#undef STORE
#undef SET
#undef SET_INT
#undef LOAD_INTS
#undef ADD
#undef SUB
#undef MUL
#undef MAD
#undef LESS
#undef XOR
#undef AND
#undef BITS_NOT_NEGATIVE
#undef KEEP_NOT_NEGATIVE
#undef CEIL
#undef TO_INTS
#undef INTS_OF
#undef REALS_OF
#undef ADD_INTS
#undef MUL_INTS
#undef SPREAD
#undef PUT
#undef PUT_INTS
