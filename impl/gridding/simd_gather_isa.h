// SPDX-License-Identifier: MIT
// simd_gather_isa.h: the inner loops of simd_gather.c for one instruction set, with the macros of ../simd/simd.h.

#if SIMD_LANES == 16
// The sums of four vectors' records.
TARGET static inline __m512 avx512_add_up(const __m512 v[4]) {
    const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(v[0], v[1], 0x44), _mm512_shuffle_f32x4(v[0], v[1], 0xee));
    const __m512 high = _mm512_add_ps(_mm512_shuffle_f32x4(v[2], v[3], 0x44), _mm512_shuffle_f32x4(v[2], v[3], 0xee));
    return _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd));
}

// Adds the vector's records to those that begin at to[at[0]] ...
TARGET static inline void avx512_add_records(float *to, const int32_t at[4], __m512 v) {
    _mm_store_ps(to + at[0], _mm_add_ps(_mm_load_ps(to + at[0]), _mm512_castps512_ps128(v)));
    _mm_store_ps(to + at[1], _mm_add_ps(_mm_load_ps(to + at[1]), _mm512_extractf32x4_ps(v, 1)));
    _mm_store_ps(to + at[2], _mm_add_ps(_mm_load_ps(to + at[2]), _mm512_extractf32x4_ps(v, 2)));
    _mm_store_ps(to + at[3], _mm_add_ps(_mm_load_ps(to + at[3]), _mm512_extractf32x4_ps(v, 3)));
}
#else
// The sums of two vectors' records.
TARGET static inline __m256 avx2_add_up(const __m256 v[2]) {
    return _mm256_add_ps(_mm256_permute2f128_ps(v[0], v[1], 0x20), _mm256_permute2f128_ps(v[0], v[1], 0x31));
}

TARGET static inline void avx2_add_records(float *to, const int32_t at[2], __m256 v) {
    _mm_store_ps(to + at[0], _mm_add_ps(_mm_load_ps(to + at[0]), _mm256_castps256_ps128(v)));
    _mm_store_ps(to + at[1], _mm_add_ps(_mm_load_ps(to + at[1]), _mm256_extractf128_ps(v, 1)));
}
#endif

// Lists the voxels of the brick within b of the sample's plane, as numbers row * BX + x. Those of a row are a range, from plane
// distance -b to b, a little more for rounding (a pair farther away has weight 0). One lane a row. Returns their number.
TARGET static inline int NAME(find_voxels)(const plan *p, const brick *b, const float *m, float *voxel) {
    const float across = fabsf(m[2]) > 1e-6f ? m[2] : 1e-6f, reach = (p->call.b + 0.002f) / fabsf(across);
    const VEC x = v_set1_ps((float)b->x * m[2]), per = v_set1_ps(-1 / across), half = v_set1_ps(reach), count = v_count_ps();
    int n = 0;
    for (int rows = 0; rows < b->nz * BY; rows += SIMD_LANES) {
        const VEC height = v_fmadd_ps(
            v_loadu_ps(b->row_z + rows), v_set1_ps(m[8]), v_fmadd_ps(v_loadu_ps(b->row_y + rows), v_set1_ps(m[5]), x));
        const VEC at = v_mul_ps(height, per), first = v_max_ps(v_ceil_ps(v_sub_ps(at, half)), v_set1_ps(0));
        const VEC past = v_min_ps(v_floor_ps(v_add_ps(at, half)), v_loadu_ps(b->last + rows)), many = v_sub_ps(past, first);
        uint32_t bits = v_mask_bits(v_cmp_ps(many, v_set1_ps(0), _CMP_GE_OQ));
        if (!bits) continue;
        float from[SIMD_LANES];
        int32_t more[SIMD_LANES];
        v_storeu_ps(from, v_fmadd_ps(v_add_ps(count, v_set1_ps((float)rows)), v_set1_ps(BX), first));
        v_storeu_int(more, v_cvtps_epi32(many));
        for (; bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            for (int lane = 0; lane < BX; lane += SIMD_LANES)
                v_storeu_ps(voxel + n + lane, v_add_ps(count, v_set1_ps(from[i] + (float)lane)));
            n += more[i] + 1;
        }
    }
    return n;
}

// Coordinates of the brick's voxels, given by number, in the frame of the image.
TARGET static inline void NAME(project)(const place *at, VEC v, VEC t[3]) {
    const VEC z = v_floor_ps(v_mul_ps(v, v_set1_ps(1.0f / (BX * BY)))), rest = v_fnmadd_ps(z, v_set1_ps(BX * BY), v);
    const VEC y = v_floor_ps(v_mul_ps(rest, v_set1_ps(1.0f / BX))), x = v_fnmadd_ps(y, v_set1_ps(BX), rest);
    UNROLL for (int a = 0; a < 3; a++) t[a] = v_fmadd_ps(x, v_set1_ps(at->m[a]),
        v_fmadd_ps(y, v_set1_ps(at->m[3 + a]), v_fmadd_ps(z, v_set1_ps(at->m[6 + a]), v_set1_ps(at->corner[a]))));
}

// The first row of pixels within b of each voxel's place, and whether that row and the last of `rows` rows meet its disc.
TARGET static inline void NAME(meet)(const plan *p, const VEC t[3], int rows, VEC *first, MASK *meets_first, MASK *meets_last) {
    *first = v_ceil_ps(v_sub_ps(t[1], v_set1_ps(p->call.b)));
    const VEC disc = v_fnmadd_ps(t[2], t[2], v_set1_ps(p->call.bb + 1e-4f)); // a little more for roundings
    const VEC up = v_sub_ps(*first, t[1]), down = v_add_ps(up, v_set1_ps((float)(rows - 1)));
    *meets_first = v_cmp_ps(v_mul_ps(up, up), disc, _CMP_LE_OQ);
    *meets_last = v_cmp_ps(v_mul_ps(down, down), disc, _CMP_LE_OQ);
}

#if SIMD_LANES == 16
// Sorts the listed voxels by how many of `most` rows their discs meet: all, all but the first or the last, fewer.
TARGET static inline void avx512_sort(const plan *p, const place *at, voxels *v, const int most) {
    for (int kind = 0; kind < KINDS; kind++) v->many[kind] = 0;
    for (int i = 0; i < v->n; i += 16) {
        const __m512 voxel = _mm512_loadu_ps(v->found + i);
        __m512 t[3], first;
        __mmask16 meets_first, meets_last;
        avx512_project(at, voxel, t);
        avx512_meet(p, t, most, &first, &meets_first, &meets_last);
        const uint32_t up = meets_first, down = meets_last, all = v->n - i < 16 ? (1u << (v->n - i)) - 1 : 0xffff;
        const uint32_t of[KINDS] = {all & ~(up | down), all & (up ^ down), all & up & down};
        for (int kind = 0; kind < KINDS; kind++) {
            _mm512_storeu_ps(v->of[kind] + v->many[kind], _mm512_maskz_compress_ps((__mmask16)of[kind], voxel));
            v->many[kind] += __builtin_popcount(of[kind]);
        }
    }
}
#else
// AVX2 cannot compress lanes: all voxels count as meeting all rows.
TARGET static inline void avx2_sort(const plan *p, const place *at, voxels *v, int most) {
    (void)p, (void)at, (void)most;
    v->many[0] = v->many[1] = 0;
    v->many[KINDS - 1] = v->n;
    memcpy(v->of[KINDS - 1], v->found, (size_t)v->n * sizeof *v->found);
}
#endif

// Finds the hits of a sample in the brick.
TARGET static inline void NAME(find)(const plan *p, const brick *b, int64_t sample, voxels *v, hits *h, const int most) {
    const place at = place_of(p, b, sample);
    const VEC scale = v_set1_ps(p->scale), radius = v_set1_ps(p->call.b);
    v->n = NAME(find_voxels)(p, b, at.m, v->found);
    NAME(sort)(p, &at, v, most);
    h->sign = at.sign;
    h->start[0] = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const int start = h->start[kind];
        for (int i = 0; i < v->many[kind]; i += SIMD_LANES) {
            const VEC voxel = v_loadu_ps(v->of[kind] + i);
            VEC t[3], iy;
            MASK meets_first, meets_last;
            NAME(project)(&at, voxel, t);
            NAME(meet)(p, t, most, &iy, &meets_first, &meets_last);
            iy = v_sub_ps(v_add_ps(iy, v_set1_ps(1)), v_maskz_mov_ps(meets_first, v_set1_ps(1)));
            const VEC ix = v_ceil_ps(v_sub_ps(t[0], radius)), height = v_mul_ps(t[2], scale);
            v_storeu_ps(h->ux + start + i, v_mul_ps(v_sub_ps(ix, t[0]), scale));
            v_storeu_ps(h->uy + start + i, v_mul_ps(v_sub_ps(iy, t[1]), scale));
            v_storeu_ps(h->t + start + i, v_fnmadd_ps(height, height, v_set1_ps(GR_SQUARES_TOP)));
            const INTS row_of = v_mullo_epi32(v_cvtps_epi32(iy), v_set1_epi32((int)p->pitch));
            v_storeu_int(h->block + start + i, v_add_epi32(v_add_epi32(v_cvtps_epi32(ix), row_of), v_set1_epi32(at.first)));
            v_storeu_int(h->sum + start + i, v_cvtps_epi32(v_mul_ps(voxel, v_set1_ps(4))));
        }
        h->start[kind + 1] = fill_up(h, start + v->many[kind]);
    }
}

// Turns n vectors of t (squares.h) into weights, term by term for all of them, so that the ports do not wait for one dependency
// chain.
TARGET static inline __attribute__((always_inline)) void NAME(weigh)(VEC *t, const int n) {
    const float c[GR_SQUARES_OPERATIONS] = GR_SQUARES_TERMS;
    UNROLL for (int i = 0; i < n; i++) t[i] = v_max_ps(t[i], v_set1_ps(0));
    UNROLL for (int term = 0; term < GR_SQUARES_OPERATIONS; term++) UNROLL for (int i = 0; i < n; i++) t[i] =
        v_fmadd_ps(t[i], t[i], v_set1_ps(c[term]));
    UNROLL for (int i = 0; i < n; i++) t[i] = v_max_ps(t[i], v_set1_ps(0));
}

// Adds the blocks of the hits of a kind, `columns` (4 or 8) pixels wide and `rows` high. A vector of weights is one row of the
// blocks of SIMD_LANES/columns hits; a permutation repeats each weight four times, once for every number of a record. The
// totals of as many hits as a vector has records end in one vector.
TARGET static inline __attribute__((always_inline)) void NAME(add_kind)(
    const plan *p, const hits *h, brick *b, const int kind, const int columns, const int rows) {
    enum { RECORDS = SIMD_LANES / 4 };
    const int together = SIMD_LANES / columns, vectors = columns / RECORDS; // hits in a vector of weights; of a row of records
    const int count = columns == 4 ? 2 * RECORDS : RECORDS, sets = count / together; // hits at a time, as registers allow
    const float *record = p->record, scale = p->scale;
    const int64_t pitch = 4 * p->pitch;
    float across[SIMD_LANES];
    int32_t which[2][SIMD_LANES], spread[4][SIMD_LANES];
    uint32_t flip[SIMD_LANES];
    for (int i = 0; i < SIMD_LANES; i++) {
        across[i] = (float)(i % columns) * scale;
        for (int g = 0; g < sets; g++) which[g][i] = g * together + i / columns;
        for (int j = 0; j < 4; j++) spread[j][i] = j * RECORDS + i / 4;
        flip[i] = i % 4 == 1 && signbit(h->sign) ? 0x80000000 : 0;
    }
    for (int i = h->start[kind]; i < h->start[kind + 1]; i += count) {
        VEC total[2 * RECORDS], w[VECTORS_MOST];
        UNROLL for (int g = 0; g < sets; g++) {
            const INTS of = v_loadu_int(which[g]);
            const VEC dx = v_add_ps(v_permutexvar_ps(of, v_loadu_ps(h->ux + i)), v_loadu_ps(across));
            const VEC dy = v_permutexvar_ps(of, v_loadu_ps(h->uy + i));
            const VEC rest = v_fnmadd_ps(dx, dx, v_permutexvar_ps(of, v_loadu_ps(h->t + i)));
            UNROLL for (int row = 0; row < rows; row++) {
                const VEC d = v_add_ps(dy, v_set1_ps((float)row * scale));
                w[row * sets + g] = v_fnmadd_ps(d, d, rest);
            }
        }
        NAME(weigh)(w, rows * sets);
        UNROLL for (int a = 0; a < count; a++) {
            const float *block = record + 4 * (int64_t)h->block[i + a];
            total[a] = v_set1_ps(0);
            UNROLL for (int row = 0; row < rows; row++) UNROLL for (int j = 0; j < vectors; j++) total[a] =
                v_fmadd_ps(v_permutexvar_ps(v_loadu_int(spread[a % together * vectors + j]), w[row * sets + a / together]),
                    v_loadu_ps(block + row * pitch + j * SIMD_LANES), total[a]);
        }
        UNROLL for (int a = 0; a < count; a += RECORDS)
            NAME(add_records)(b->sum, h->sum + i + a, v_xor_ps(NAME(add_up)(total + a), v_castint_ps(v_loadu_int(flip))));
    }
}

TARGET static inline __attribute__((always_inline)) void NAME(add)(const plan *p, const hits *h, brick *b, const int columns) {
    NAME(add_kind)(p, h, b, 0, columns, rows_of(columns) - 2);
    NAME(add_kind)(p, h, b, 1, columns, rows_of(columns) - 1);
    NAME(add_kind)(p, h, b, 2, columns, rows_of(columns));
}

// The hits of the next sample are found and their pixels prefetched before those of the last one are added.
TARGET static inline __attribute__((always_inline)) void NAME(all)(
    const plan *p, brick *b, voxels *v, hits *h, const int columns) {
    const VEC cx = v_set1_ps((float)b->x + (BX - 1) / 2.0f), cy = v_set1_ps((float)b->y + (BY - 1) / 2.0f),
              cz = v_set1_ps((float)b->z + (BZ - 1) / 2.0f);
    int now = 0;
    memset(h[1].start, 0, sizeof h[1].start);
    for (int64_t s = 0; s < p->padded; s += SIMD_LANES) {
        const VEC away = v_fmadd_ps(cx, v_loadu_ps(p->normal[0] + s),
            v_fmadd_ps(cy, v_loadu_ps(p->normal[1] + s), v_mul_ps(cz, v_loadu_ps(p->normal[2] + s))));
        const VEC inside = v_sub_ps(v_loadu_ps(p->height + s), v_xor_ps(away, v_and_ps(away, v_set1_ps(-0.0f))));
        for (uint32_t bits = v_mask_bits(v_cmp_ps(inside, v_set1_ps(0), _CMP_GT_OQ)); bits; bits &= bits - 1, now ^= 1) {
            NAME(find)(p, b, s + __builtin_ctz(bits), v, &h[now], rows_of(columns));
            if (v->n && !b->touched) touch(b);
            call_for(p, &h[now], columns);
            NAME(add)(p, &h[now ^ 1], b, columns);
        }
    }
    NAME(add)(p, &h[now ^ 1], b, columns);
}

TARGET static void NAME(narrow)(const plan *p, brick *b, voxels *v, hits *h) { NAME(all)(p, b, v, h, 4); }
TARGET static void NAME(wide)(const plan *p, brick *b, voxels *v, hits *h) { NAME(all)(p, b, v, h, 8); }
