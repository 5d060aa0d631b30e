// SPDX-License-Identifier: MIT
// simd_scatter_isa.h: the brick of simd_scatter.c in one instruction set, in the words of ../simd/simd.h.

// Adds a record, times the weight of the distance from r, to the `columns`^3 voxels from `at` on; d[]: the first of them seen
// from r. SIMD_LANES weights are those of SIMD_LANES / columns rows; a permutation repeats each for the four numbers of a
// record.
TARGET static inline __attribute__((always_inline)) void NAME(add)(
    const plan *p, float *at, const float d[3], const float *record, const int columns)
{
    const int groups = columns * columns / SIMD_LANES, records = SIMD_LANES / 4;
    float across[SIMD_LANES], down[SIMD_LANES];
    int32_t spread[4][SIMD_LANES];
    for (int i = 0; i < SIMD_LANES; i++) {
        across[i] = (float)(i % columns) * p->scale;
        down[i] = (float)(i / columns) * p->scale;
        for (int j = 0; j < 4; j++) spread[j][i] = j * records + i / 4;
    }
    const VEC ux = v_add_ps(v_set1_ps(d[0] * p->scale), v_loadu_ps(across)),
              uy = v_add_ps(v_set1_ps(d[1] * p->scale), v_loadu_ps(down)), value = v_broadcast_f32x4(record);
    for (int z = 0; z < columns; z++) {
        const float height = (d[2] + (float)z) * p->scale;
        const VEC t = v_set1_ps(1 - height * height);
        UNROLL for (int g = 0; g < groups; g++)
        {
            const VEC w = NAME(weights)(ux, v_add_ps(uy, v_set1_ps((float)(g * SIMD_LANES / columns) * p->scale)), t);
            UNROLL for (int j = 0; j < 4; j++)
            { // a vector of records
                const int voxel = g * SIMD_LANES + j * records;
                float *to = at + 4 * ((z * PY + voxel / columns) * PX + voxel % columns);
                v_storeu_ps(to, v_fmadd_ps(v_permutexvar_ps(v_loadu_int(spread[j]), w), value, v_loadu_ps(to)));
            }
        }
    }
}

TARGET static inline __attribute__((always_inline)) void NAME(pixel)(
    const plan *p, brick *b, const half *h, int x, int y, const int columns)
{
    const int64_t k = p->call.k, e = gr_pixel(k, x, y);
    const float c = h->ctf ? h->ctf[e] : 1, mc = h->weight * c;
    const float record[4] = {mc * h->image[2 * e], h->sign * mc * h->image[2 * e + 1], mc * c, 0};
    float r[3], d[3];
    int first[3];
    gr_place(h->m, (float)x, (float)y, r);
    for (int a = 0; a < 3; a++) {
        first[a] = gr_first(r[a], p->call.b, b->low[a] - LOW);
        if (first[a] > b->past[a]) return; // just out of reach
        d[a] = (float)first[a] - r[a];
        first[a] += LOW - b->low[a];
    }
    NAME(add)(p, b->sum + 4 * ((first[2] * PY + first[1]) * PX + first[0]), d, record, columns);
}

TARGET static inline __attribute__((always_inline)) void NAME(sample)(const plan *p, brick *b, const half *h, const int columns)
{
    const int k = (int)p->call.k;
    float low, high;
    extent(p, b, h->m, 2, &low, &high);
    if (low > 0 || high < 0) return; // the plane of the image passes the brick
    extent(p, b, h->m, 1, &low, &high);
    const int last = gr_last(high, 0, k);
    for (int y = gr_first(low, 0, -k); y <= last; y++) {
        const interval x = reaching(p, b, h, y);
        if (x.last < x.first) continue;
        clear(b);
        for (int step = 0; step < STRIDE; step++)
            for (int at = x.first + step; at <= x.last; at += STRIDE) NAME(pixel)(p, b, h, at, y, columns);
    }
}

TARGET static inline __attribute__((always_inline)) void NAME(all)(const plan *p, brick *b, const int columns)
{
    for (int64_t s = 0; s < p->call.images * p->call.operators; s++)
        for (int mates = 0; mates < 2; mates++) {
            const half h = half_of(p, s, mates);
            NAME(sample)(p, b, &h, columns);
        }
}

TARGET static void NAME(narrow)(const plan *p, brick *b) { NAME(all)(p, b, 4); }
TARGET static void NAME(wide)(const plan *p, brick *b) { NAME(all)(p, b, 8); }
