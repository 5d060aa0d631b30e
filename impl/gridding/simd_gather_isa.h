// SPDX-License-Identifier: MIT
// simd_gather_isa.h: the brick of simd_gather.c in one instruction set, in the words of ../simd/simd.h.

#if SIMD_LANES == 16
// The sums of four vectors' records.
TARGET static inline __m512 avx512_add_up(const __m512 v[4])
{
    const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(v[0], v[1], 0x44), _mm512_shuffle_f32x4(v[0], v[1], 0xee));
    const __m512 high = _mm512_add_ps(_mm512_shuffle_f32x4(v[2], v[3], 0x44), _mm512_shuffle_f32x4(v[2], v[3], 0xee));
    return _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd));
}

// Adds the vector's records to those that begin at to[at[0]] ...
TARGET static inline void avx512_add_records(float *to, const int32_t at[4], __m512 v)
{
    _mm_store_ps(to + at[0], _mm_add_ps(_mm_load_ps(to + at[0]), _mm512_castps512_ps128(v)));
    _mm_store_ps(to + at[1], _mm_add_ps(_mm_load_ps(to + at[1]), _mm512_extractf32x4_ps(v, 1)));
    _mm_store_ps(to + at[2], _mm_add_ps(_mm_load_ps(to + at[2]), _mm512_extractf32x4_ps(v, 2)));
    _mm_store_ps(to + at[3], _mm_add_ps(_mm_load_ps(to + at[3]), _mm512_extractf32x4_ps(v, 3)));
}
#else
// The sums of two vectors' records.
TARGET static inline __m256 avx2_add_up(const __m256 v[2])
{
    return _mm256_add_ps(_mm256_permute2f128_ps(v[0], v[1], 0x20), _mm256_permute2f128_ps(v[0], v[1], 0x31));
}

TARGET static inline void avx2_add_records(float *to, const int32_t at[2], __m256 v)
{
    _mm_store_ps(to + at[0], _mm_add_ps(_mm_load_ps(to + at[0]), _mm256_castps256_ps128(v)));
    _mm_store_ps(to + at[1], _mm_add_ps(_mm_load_ps(to + at[1]), _mm256_extractf128_ps(v, 1)));
}
#endif

// Notes the voxels of the brick within b of the sample's plane, as numbers row * BX + x. Those of a row lie side by side: from
// where the plane's distance is -b to where it is b, a little more for roundings (a pair that is further away gets no weight),
// for as many rows as a vector has lanes at a time. Returns how many they are.
TARGET static inline int NAME(find_voxels)(const plan *p, const brick *b, const float *m, float *voxel)
{
    const float across = fabsf(m[2]) > 1e-6f ? m[2] : 1e-6f, reach = (p->call.b + 0.002f) / fabsf(across);
    const VEC x = v_set1_ps((float)b->x * m[2]), per = v_set1_ps(-1 / across), half = v_set1_ps(reach), count = v_count_ps();
    int n = 0;
    for (int rows = 0; rows < b->nz * BY; rows += SIMD_LANES) {
        const VEC height = v_fmadd_ps(v_loadu_ps(b->row_z + rows), v_set1_ps(m[8]),
                                      v_fmadd_ps(v_loadu_ps(b->row_y + rows), v_set1_ps(m[5]), x));
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

// Hits of a sample in the brick.
TARGET static inline void NAME(find)(const plan *p, const brick *b, int64_t sample, int64_t image, hits *h)
{
    const float *m = p->call.rotation + 9 * sample;
    const VEC scale = v_set1_ps(p->scale), radius = v_set1_ps(p->call.b), minus = v_set1_ps(-0.0f);
    const INTS first = v_set1_epi32((int)(image * p->records + (p->call.k + ABOVE) * p->pitch) + LEFT);
    VEC corner[3];
    for (int a = 0; a < 3; a++)
        corner[a] = v_set1_ps((float)b->x * m[a] + (float)b->y * m[3 + a] + (float)b->z * m[6 + a]);
    h->n = NAME(find_voxels)(p, b, m, h->voxel);
    for (int i = 0; i < h->n; i += SIMD_LANES) {
        const VEC v = v_loadu_ps(h->voxel + i), z = v_floor_ps(v_mul_ps(v, v_set1_ps(1.0f / (BX * BY))));
        const VEC rest = v_fnmadd_ps(z, v_set1_ps(BX * BY), v), y = v_floor_ps(v_mul_ps(rest, v_set1_ps(1.0f / BX)));
        const VEC x = v_fnmadd_ps(y, v_set1_ps(BX), rest);
        VEC t[3];
        UNROLL for (int a = 0; a < 3; a++) t[a] = v_fmadd_ps(
            x, v_set1_ps(m[a]), v_fmadd_ps(y, v_set1_ps(m[3 + a]), v_fmadd_ps(z, v_set1_ps(m[6 + a]), corner[a])));
        const VEC sign = v_and_ps(t[0], minus), px = v_xor_ps(t[0], sign), py = v_xor_ps(t[1], sign);
        const VEC ix = v_ceil_ps(v_sub_ps(px, radius)), iy = v_ceil_ps(v_sub_ps(py, radius)), height = v_mul_ps(t[2], scale);
        v_storeu_ps(h->ux + i, v_mul_ps(v_sub_ps(ix, px), scale));
        v_storeu_ps(h->uy + i, v_mul_ps(v_sub_ps(iy, py), scale));
        v_storeu_ps(h->t + i, v_fnmadd_ps(height, height, v_set1_ps(1)));
        v_storeu_ps(h->sign + i, sign);
        const INTS row_of = v_mullo_epi32(v_cvtps_epi32(iy), v_set1_epi32((int)p->pitch));
        v_storeu_int(h->block + i, v_add_epi32(v_add_epi32(v_cvtps_epi32(ix), row_of), first));
        v_storeu_int(h->sum + i, v_cvtps_epi32(v_mul_ps(v, v_set1_ps(4))));
    }
}

// Adds the blocks of all hits, `columns` (4 or 8) pixels a side. SIMD_LANES weights are those of SIMD_LANES/columns rows; a
// permutation repeats each four times, once for every number of a record. As many hits at a time as a vector has records: their
// totals are one vector in the end.
TARGET static inline __attribute__((always_inline)) void NAME(add)(const plan *p, const hits *h, brick *b, const int columns)
{
    enum { RECORDS = SIMD_LANES / 4 };
    const int groups = columns * columns / SIMD_LANES; // vectors of weights
    const float *record = p->record, scale = p->scale;
    const int64_t pitch = 4 * p->pitch;
    float across[SIMD_LANES], down[8][SIMD_LANES];
    int32_t spread[4][SIMD_LANES], imaginary[SIMD_LANES];
    for (int i = 0; i < SIMD_LANES; i++) {
        across[i] = (float)(i % columns) * scale;
        for (int g = 0; g < groups; g++) down[g][i] = (float)((g * SIMD_LANES + i) / columns) * scale;
        for (int j = 0; j < 4; j++) spread[j][i] = j * RECORDS + i / 4;
        imaginary[i] = i % 4 == 1 ? -1 : 0;
    }
    for (int i = 0, n = h->n; i < n; i += RECORDS) {
        VEC total[RECORDS];
        UNROLL for (int a = 0; a < RECORDS; a++) total[a] = v_set1_ps(0);
        UNROLL for (int g = 0; g < groups; g++) {
            VEC w[RECORDS];
            UNROLL for (int a = 0; a < RECORDS; a++) w[a] =
                NAME(weights)(v_add_ps(v_set1_ps(h->ux[i + a]), v_loadu_ps(across)),
                              v_add_ps(v_set1_ps(h->uy[i + a]), v_loadu_ps(down[g])), v_set1_ps(h->t[i + a]));
            UNROLL for (int a = 0; a < RECORDS; a++) {
                const float *block = record + 4 * (int64_t)h->block[i + a];
                UNROLL for (int j = 0; j < 4; j++) { // a vector of records
                    const int pixel = g * SIMD_LANES + j * RECORDS;
                    const VEC some = v_loadu_ps(block + pixel / columns * pitch + 4 * (pixel % columns));
                    total[a] = v_fmadd_ps(v_permutexvar_ps(v_loadu_int(spread[j]), w[a]), some, total[a]);
                }
            }
        }
        const VEC flip =
            v_and_ps(v_permutexvar_ps(v_loadu_int(spread[0]), v_loadu_ps(h->sign + i)), v_castint_ps(v_loadu_int(imaginary)));
        NAME(add_records)(b->sum, h->sum + i, v_xor_ps(NAME(add_up)(total), flip));
    }
}

// The hits of the next sample are found, and their pixels called for, before those of the last are added.
TARGET static inline __attribute__((always_inline)) void NAME(all)(const plan *p, brick *b, hits *h, const int columns)
{
    const VEC cx = v_set1_ps((float)b->x + (BX - 1) / 2.0f), cy = v_set1_ps((float)b->y + (BY - 1) / 2.0f),
              cz = v_set1_ps((float)b->z + (BZ - 1) / 2.0f);
    int now = 0;
    h[1].n = 0;
    for (int64_t s = 0; s < p->padded; s += SIMD_LANES) {
        const VEC away = v_fmadd_ps(cx, v_loadu_ps(p->normal[0] + s),
                                    v_fmadd_ps(cy, v_loadu_ps(p->normal[1] + s), v_mul_ps(cz, v_loadu_ps(p->normal[2] + s))));
        const VEC inside = v_sub_ps(v_loadu_ps(p->height + s), v_xor_ps(away, v_and_ps(away, v_set1_ps(-0.0f))));
        for (uint32_t bits = v_mask_bits(v_cmp_ps(inside, v_set1_ps(0), _CMP_GT_OQ)); bits; bits &= bits - 1, now ^= 1) {
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
