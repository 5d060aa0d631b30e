// SPDX-License-Identifier: MIT
// simd_isa.h: simd.c's inner loops for one instruction set, with the macros of ../simd/simd.h.

#if SIMD_LANES == 16
// p[i] and p[i + 1] of eight indices i, 64 bits a load.
TARGET static inline __m512 avx512_pairs(const float *p, const int32_t *index) {
    return _mm512_castpd_ps(_mm512_i32gather_pd(_mm256_load_si256((const __m256i *)index), p, 4));
}

// Duplicates every value of half a vector.
TARGET static inline __m512 avx512_twice(__m512 v, int half) {
    const __m512i of = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    return _mm512_permutexvar_ps(_mm512_add_epi32(of, _mm512_set1_epi32(8 * half)), v);
}

TARGET static inline __m512 avx512_every_second(__m512 low, __m512 high, int first) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(low, _mm512_add_epi32(even, _mm512_set1_epi32(first)), high);
}
#else
// Loads and inserts, which are faster than AVX2's gathers.
TARGET static inline __m256 avx2_pairs(const float *p, const int32_t *index) {
    // Not _mm_load_sd, which requires the alignment of a double.
    const __m128d low =
        _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(p + index[0]))), (const double *)(p + index[1]));
    const __m128d high =
        _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(p + index[2]))), (const double *)(p + index[3]));
    return _mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1));
}

TARGET static inline __m256 avx2_twice(__m256 v, int half) {
    const __m256i of = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    return _mm256_permutevar8x32_ps(v, _mm256_add_epi32(of, _mm256_set1_epi32(4 * half)));
}

// A shuffle of two halves leaves 0 1 4 5 2 3 6 7.
TARGET static inline __m256 avx2_every_second(__m256 low, __m256 high, int first) {
    const __m256 v = first ? _mm256_shuffle_ps(low, high, 0xDD) : _mm256_shuffle_ps(low, high, 0x88);
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xD8));
}
#endif

// Positions of the next vector in the line, from x on; lanes at or beyond `past` repeat the last one.
TARGET static inline VEC NAME(places)(const af_line *line, int x, int past) {
    const float centre = af_low(line->z->w);
    return v_min_ps(v_add_ps(v_count_ps(), v_set1_ps((float)x + centre)), v_set1_ps((float)(past - 1) + centre));
}

// Interpolates between a line and the one below, for half a vector's pixels, as pairs.
TARGET static inline VEC NAME(plane)(const float *p, int pitch, const int32_t *index, VEC fy) {
    const VEC above = NAME(pairs)(p, index), below = NAME(pairs)(p + pitch, index);
    return v_fmadd_ps(fy, v_sub_ps(below, above), above);
}

// I' there; all corners must lie in the image.
TARGET static inline VEC NAME(values)(const af_line *line, int dims, VEC p) {
    const VEC sx = v_fmadd_ps(v_set1_ps(line->step[0]), p, v_set1_ps(line->at[0])),
              sy = v_fmadd_ps(v_set1_ps(line->step[1]), p, v_set1_ps(line->at[1]));
    const VEC sz = dims == 3 ? v_fmadd_ps(v_set1_ps(line->step[2]), p, v_set1_ps(line->at[2])) : v_set1_ps(0);
    const VEC x = v_floor_ps(sx), y = v_floor_ps(sy), z = v_floor_ps(sz), fx = v_sub_ps(sx, x), fy = v_sub_ps(sy, y),
              fz = v_sub_ps(sz, z);
    const int slice = line->z->w * line->z->h;
    INTS offset = v_add_epi32(v_mullo_epi32(v_cvtps_epi32(y), v_set1_epi32(line->pitch)), v_cvtps_epi32(x));
    if (dims == 3) offset = v_add_epi32(offset, v_mullo_epi32(v_cvtps_epi32(z), v_set1_epi32(slice)));
    _Alignas(64) int32_t index[SIMD_LANES];
    VEC pairs[2];
    v_storeu_int(index, offset);
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        const int32_t *i = index + half * SIMD_LANES / 2;
        const VEC fy2 = NAME(twice)(fy, half), front = NAME(plane)(line->centre, line->pitch, i, fy2);
        pairs[half] = front;
        if (dims == 3) {
            const VEC back = NAME(plane)(line->centre + slice, line->pitch, i, fy2);
            pairs[half] = v_fmadd_ps(NAME(twice)(fz, half), v_sub_ps(back, front), front);
        }
    }
    const VEC left = NAME(every_second)(pairs[0], pairs[1], 0), right = NAME(every_second)(pairs[0], pairs[1], 1);
    return v_fmadd_ps(fx, v_sub_ps(right, left), left);
}

TARGET static inline float NAME(place)(const af_line *line, int axis, int x) {
    return __builtin_fmaf(line->step[axis], (float)x + af_low(line->z->w), line->at[axis]);
}

// Line y of plane d of the result; [M | t] in matrix.
TARGET static void NAME(line_of)(
    const af_size *z, const float *image, const float *matrix, const double per_step[3], int y, int d, af_line *line) {
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

TARGET static inline float NAME(one)(const af_line *line, int x, int *takes_part) {
    const af_size *z = line->z;
    const float sx = NAME(place)(line, 0, x), sy = NAME(place)(line, 1, x);
    return z->dims == 2 ? af_sample_2d(line->image, z->w, z->h, z->outside, sx, sy, takes_part)
                        : af_sample_3d(line->image, z->w, z->h, z->d, z->outside, sx, sy, NAME(place)(line, 2, x), takes_part);
}

// ---- affine2d ------------------------------------------------------------------------------------------------------------

TARGET static inline void NAME(store)(const af_line *line, int x0, int x1, float *to) {
    const af_cuts c = af_cut(line, x0, x1);
    int takes_part;
    for (int x = x0; x < c.reach0; x++) to[x] = 0;
    for (int x = c.reach0; x < c.inside0; x++) to[x] = NAME(one)(line, x, &takes_part);
    for (int x = c.inside0; x < c.inside1; x += SIMD_LANES) {
        const int n = c.inside1 - x;
        const VEC value = NAME(values)(line, 2, NAME(places)(line, x, c.inside1));
        v_mask_storeu_ps(to + x, v_mask_first(n < SIMD_LANES ? n : SIMD_LANES), value);
    }
    for (int x = c.inside1; x < c.reach1; x++) to[x] = NAME(one)(line, x, &takes_part);
    for (int x = c.reach1; x < x1; x++) to[x] = 0;
}

// ---- align2d, align3d ----------------------------------------------------------------------------------------------------

typedef struct NAME(lanes) {
    VEC a, b, aa, bb, ab;
} NAME(lanes);

TARGET static inline void NAME(add)(NAME(lanes) * s, MASK mask, VEC a, VEC b) {
    a = v_maskz_mov_ps(mask, a);
    b = v_maskz_mov_ps(mask, b);
    s->a = v_add_ps(s->a, a);
    s->b = v_add_ps(s->b, b);
    s->aa = v_fmadd_ps(a, a, s->aa);
    s->bb = v_fmadd_ps(b, b, s->bb);
    s->ab = v_fmadd_ps(a, b, s->ab);
}

TARGET static double NAME(total)(VEC v) {
    float lane[SIMD_LANES];
    double sum = 0;
    __builtin_memcpy(lane, &v, sizeof lane);
    for (int i = 0; i < SIMD_LANES; i++) sum += lane[i];
    return sum;
}

TARGET static void NAME(flush)(const NAME(lanes) * s, af_sums *to) {
    to->a += NAME(total)(s->a);
    to->b += NAME(total)(s->b);
    to->aa += NAME(total)(s->aa);
    to->bb += NAME(total)(s->bb);
    to->ab += NAME(total)(s->ab);
}

// Adds s to the sums of sums and clears it.
TARGET static inline void NAME(empty)(NAME(lanes) * s, NAME(lanes) * to) {
    const VEC zero = v_set1_ps(0);
    *to = (NAME(lanes)){v_add_ps(to->a, s->a), v_add_ps(to->b, s->b), v_add_ps(to->aa, s->aa), v_add_ps(to->bb, s->bb),
        v_add_ps(to->ab, s->ab)};
    *s = (NAME(lanes)){zero, zero, zero, zero, zero};
}

// Adds pixels x0 .. x1 - 1 of a line, beyond the reach: I' is 0 (rule 0).
TARGET static inline void NAME(add_empty)(NAME(lanes) * s, const float *reference, int x0, int x1, const float typical[2]) {
    for (int x = x0; x < x1; x += SIMD_LANES) {
        const MASK mask = v_mask_first(x1 - x < SIMD_LANES ? x1 - x : SIMD_LANES);
        NAME(add)(s, mask, v_set1_ps(-typical[0]), v_sub_ps(v_maskz_loadu_ps(mask, reference + x), v_set1_ps(typical[1])));
    }
}

// Along one axis: offsets of both corners in memory, and their shares, 0 outside.
TARGET static inline void NAME(corners)(VEC s, int side, int pitch, INTS place[2], VEC share[2]) {
    const VEC low = v_set1_ps(af_low(side)), high = v_set1_ps(af_high(side)), whole = v_floor_ps(s);
    share[1] = v_sub_ps(s, whole);
    share[0] = v_sub_ps(v_set1_ps(1), share[1]);
    for (int c = 0; c < 2; c++) {
        const VEC corner = v_add_ps(whole, v_set1_ps((float)c)), held = v_min_ps(v_max_ps(corner, low), high);
        share[c] = v_maskz_mov_ps(v_cmp_ps(corner, held, _CMP_EQ_OQ), share[c]);
        place[c] = v_mullo_epi32(v_cvtps_epi32(v_sub_ps(held, low)), v_set1_epi32(pitch));
    }
}

// Adds the pixels set aside.
TARGET static void NAME(add_odd)(
    NAME(lanes) * lanes, const af_size *z, const float *image, af_odd *odd, const float typical[2], af_sums *to) {
    const int side[3] = {z->w, z->h, z->d}, pitch[3] = {1, z->w, z->w * z->h};
    for (int i = 0; i < odd->n; i += SIMD_LANES) {
        MASK mask = v_mask_first(odd->n - i < SIMD_LANES ? odd->n - i : SIMD_LANES);
        INTS place[3][2] = {
            {v_set1_epi32(0), v_set1_epi32(0)}, {v_set1_epi32(0), v_set1_epi32(0)}, {v_set1_epi32(0), v_set1_epi32(0)}};
        VEC share[3][2] = {[2] = {v_set1_ps(1), v_set1_ps(1)}}, value = v_set1_ps(0); // an image has one place along z
        for (int a = 0; a < z->dims; a++) {
            const VEC margin = v_set1_ps(AF_MARGIN), low = v_set1_ps(af_low(side[a])), high = v_set1_ps(af_high(side[a]));
            VEC s = v_maskz_loadu_ps(mask, odd->s[a] + i);
            if (z->outside == AF_IGNORE)
                mask = v_mask_and(
                    mask, v_cmp_ps(s, v_min_ps(v_max_ps(s, v_sub_ps(low, margin)), v_add_ps(high, margin)), _CMP_EQ_OQ));
            if (z->outside != AF_ZERO) s = v_min_ps(v_max_ps(s, low), high);
            NAME(corners)(s, side[a], pitch[a], place[a], share[a]);
        }
        for (int c = 0; c < 1 << z->dims; c++) {
            const int x = c & 1, y = c >> 1 & 1, d = c >> 2;
            const VEC all = v_mul_ps(v_mul_ps(share[0][x], share[1][y]), share[2][d]);
            value =
                v_fmadd_ps(all, v_i32gather_ps(v_add_epi32(v_add_epi32(place[0][x], place[1][y]), place[2][d]), image), value);
        }
        NAME(add)
        (lanes, mask, v_sub_ps(value, v_set1_ps(typical[0])),
            v_sub_ps(v_maskz_loadu_ps(mask, odd->reference + i), v_set1_ps(typical[1])));
        to->n += __builtin_popcount(v_mask_bits(mask));
    }
    odd->n = 0;
}

// Sets aside pixels x0 .. x1 - 1.
TARGET static inline void NAME(put_aside)(NAME(lanes) * s, const af_line *line, const float *reference, int x0, int x1,
    const float typical[2], af_odd *odd, af_sums *to) {
    for (int x = x0; x < x1; x++) {
        if (odd->n == ODD) NAME(add_odd)(s, line->z, line->image, odd, typical, to);
        for (int a = 0; a < line->z->dims; a++) odd->s[a][odd->n] = NAME(place)(line, a, x);
        odd->reference[odd->n++] = reference[x];
    }
}

// Adds pixels x0 .. x1 - 1 of a line; reference: its line of the reference.
TARGET static inline void NAME(add_line)(NAME(lanes) * s, const af_line *line, int dims, const float *reference, int x0, int x1,
    const float typical[2], af_odd *odd, af_sums *to) {
    const af_cuts c = af_cut(line, x0, x1);
    const int every = line->z->outside != AF_IGNORE;
    to->n += c.inside1 - c.inside0 + (every ? c.reach0 - x0 + x1 - c.reach1 : 0);
    if (every) NAME(add_empty)(s, reference, x0, c.reach0, typical);
    NAME(put_aside)(s, line, reference, c.reach0, c.inside0, typical, odd, to);
    NAME(lanes) t = *s; // in registers
    for (int x = c.inside0; x < c.inside1; x += SIMD_LANES) {
        const MASK mask = v_mask_first(c.inside1 - x < SIMD_LANES ? c.inside1 - x : SIMD_LANES);
        const VEC value = NAME(values)(line, dims, NAME(places)(line, x, c.inside1));
        NAME(add)
        (&t, mask, v_sub_ps(value, v_set1_ps(typical[0])),
            v_sub_ps(v_maskz_loadu_ps(mask, reference + x), v_set1_ps(typical[1])));
    }
    *s = t;
    NAME(put_aside)(s, line, reference, c.inside1, c.reach1, typical, odd, to);
    if (every) NAME(add_empty)(s, reference, c.reach1, x1, typical);
}

// ---- bands: lines y0 .. y1 - 1 of plane d, tile by tile --------------------------------------------------------------------

TARGET static void NAME(store_band)(const af_size *z, const float *image, const float *matrix, int y0, int y1, float *to) {
    af_line line[AF_TILE];
    af_room room;
    double per_step[3];
    af_per_step(z, matrix, per_step);
    for (int y = y0; y < y1; y++) NAME(line_of)(z, image, matrix, per_step, y, 0, &line[y - y0]);
    for (int x = 0; x < z->w; x += AF_TILE) {
        const int x1 = x + AF_TILE < z->w ? x + AF_TILE : z->w;
        af_move_in(z, image, matrix, x, x1, y0, y1, &room);
        for (int y = y0; y < y1; y++) {
            const af_line there = af_in_room(&line[y - y0], &room);
            NAME(store)(&there, x, x1, to + (int64_t)y * z->w);
        }
    }
}

// 64 lines: consecutive ones of an image, 8 x 8 of a volume (simd.c).
TARGET static void NAME(sum_bundle)(const af_size *z, const float *image, const float *reference, const float *matrix,
    const af_bundle *b, const float typical[2], af_sums *to) {
    const int rows = b->y1 - b->y0, n = rows * (b->d1 - b->d0), wide = z->dims == 2 ? AF_TILE : LONG;
    af_line line[AF_TILE];
    af_room room;
    af_odd odd = {.n = 0};
    const NAME(lanes) none = {v_set1_ps(0), v_set1_ps(0), v_set1_ps(0), v_set1_ps(0), v_set1_ps(0)};
    double per_step[3];
    af_per_step(z, matrix, per_step);
    for (int i = 0; i < n; i++) NAME(line_of)(z, image, matrix, per_step, b->y0 + i % rows, b->d0 + i / rows, &line[i]);
    for (int x = 0; x < z->w; x += wide) {
        const int x1 = x + wide < z->w ? x + wide : z->w;
        NAME(lanes) s = none, sums = none;
        if (z->dims == 2) af_move_in(z, image, matrix, x, x1, b->y0, b->y1, &room);
        for (int i = 0; i < n; i++) {
            const float *r = reference + af_pixel(z, 0, b->y0 + i % rows, b->d0 + i / rows);
            if (z->dims == 3) {
                NAME(add_line)(&s, &line[i], 3, r, x, x1, typical, &odd, to);
            } else {
                const af_line there = af_in_room(&line[i], &room);
                NAME(add_line)(&s, &there, 2, r, x, x1, typical, &odd, to);
            }
            if (i % LINES == LINES - 1) NAME(empty)(&s, &sums);
        }
        NAME(add_odd)(&s, z, image, &odd, typical, to);
        NAME(empty)(&s, &sums);
        NAME(flush)(&sums, to);
    }
}
