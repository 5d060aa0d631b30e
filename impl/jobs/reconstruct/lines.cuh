// SPDX-License-Identifier: MIT
// lines.cuh: complex transforms of lines of any length in shared memory, several lines a block, for padded images: the kernel
// chooses what to read and keep of a line, so zeros are never stored.
//
// Stockham's algorithm (Govindaraju et al. 2008) with as few radices of up to 15 as possible, and direct sums for larger prime
// factors p, which cost n p operations a line of n points instead of 5 n log2 n. A thread holds the values of a butterfly; a
// line changes buffers after each radix. The first radix is odd if there is one, so that its stride has no bank conflicts;
// otherwise one number in 16 is unused.
#pragma once

#include "../../gpu/cuda.h"

enum { GR_PASSES = 13, GR_LINE_THREADS = 256 }; // 2^13 exceeds all sides

typedef struct rc_line {
    int n, values;    // points; the numbers of shared memory that a line takes
    int lines, shift; // a block's lines, 2^shift
    int padding;      // one number in 2^padding is unused
    int passes, radix[GR_PASSES];
    unsigned magic[GR_PASSES]; // 2^32 over the product of the earlier radices, rounded up
    const float2 *root;        // exp(-2 pi i j / n)
} rc_line;

static __device__ __forceinline__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ __forceinline__ float2 subtract(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ __forceinline__ float2 times(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
static __device__ __forceinline__ float2 turned(float2 a) { return make_float2(a.y, -a.x); } // by -i

static __device__ __forceinline__ int rc_padded(const rc_line &l, int i) { return i + (i >> l.padding); }

// cos and sin of 2 pi j / p, j = 1 .. (p - 1) / 2.
template <int p> static __device__ __forceinline__ constexpr float cosine(int j) {
    return p == 3 ? -0.5f
        : p == 5  ? (j == 1 ? 0.30901699437494742f : -0.80901699437494742f)
        : j == 1  ? 0.62348980185873353f
        : j == 2  ? -0.22252093395631440f
                  : -0.90096886790241913f;
}
template <int p> static __device__ __forceinline__ constexpr float sine(int j) {
    return p == 3 ? 0.86602540378443865f
        : p == 5  ? (j == 1 ? 0.95105651629515357f : 0.58778525229247313f)
        : j == 1  ? 0.78183148246802981f
        : j == 2  ? 0.97492791218182361f
                  : 0.43388373911755812f;
}

// In place, for an odd prime p: pairs v[s], v[p - s] give pairs of outputs.
template <int p> struct transform_of {
    static __device__ __forceinline__ void run(float2 *v) {
        constexpr int half = p / 2;
        float2 sum[half + 1], rest[half + 1];
        const float2 first = v[0];
#pragma unroll
        for (int s = 1; s <= half; s++) {
            sum[s] = add(v[s], v[p - s]);
            rest[s] = turned(subtract(v[s], v[p - s]));
            v[0] = add(v[0], sum[s]);
        }
#pragma unroll
        for (int q = 1; q <= half; q++) {
            float2 even = first, odd = make_float2(0, 0);
#pragma unroll
            for (int s = 1; s <= half; s++) {
                const int j = q * s % p, at = j <= half ? j : p - j;
                const float c = cosine<p>(at), i = j <= half ? sine<p>(at) : -sine<p>(at);
                even = make_float2(even.x + c * sum[s].x, even.y + c * sum[s].y);
                odd = make_float2(odd.x + i * rest[s].x, odd.y + i * rest[s].y);
            }
            v[q] = add(even, odd);
            v[p - q] = subtract(even, odd);
        }
    }
};
template <> struct transform_of<2> {
    static __device__ __forceinline__ void run(float2 *v) {
        const float2 a = v[0];
        v[0] = add(a, v[1]);
        v[1] = subtract(a, v[1]);
    }
};
template <> struct transform_of<4> {
    static __device__ __forceinline__ void run(float2 *v) {
        const float2 a = add(v[0], v[2]), b = subtract(v[0], v[2]), c = add(v[1], v[3]), d = turned(subtract(v[1], v[3]));
        v[0] = add(a, c);
        v[1] = add(b, d);
        v[2] = subtract(a, c);
        v[3] = subtract(b, d);
    }
};
template <> struct transform_of<8> {
    static __device__ __forceinline__ void run(float2 *v) {
        const float h = 0.70710678118654752f;
        float2 even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
        transform_of<4>::run(even);
        transform_of<4>::run(odd);
        odd[1] = make_float2(h * (odd[1].x + odd[1].y), h * (odd[1].y - odd[1].x));
        odd[2] = turned(odd[2]);
        odd[3] = make_float2(h * (odd[3].y - odd[3].x), -h * (odd[3].x + odd[3].y));
#pragma unroll
        for (int q = 0; q < 4; q++) {
            v[q] = add(even[q], odd[q]);
            v[q + 4] = subtract(even[q], odd[q]);
        }
    }
};

static __device__ __forceinline__ constexpr int inverse(int of, int modulo) {
    int i = 1;
    while (of * i % modulo != 1) i++;
    return i;
}

// Transform of length a b, coprime (Good; Thomas): no factors between the two.
template <int a, int b> struct composed {
    static __device__ __forceinline__ void run(float2 *v) {
        constexpr int at_a = b * inverse(b % a, a), at_b = a * inverse(a % b, b);
        float2 by_a[b][a];
#pragma unroll
        for (int n = 0; n < a; n++) {
            float2 by_b[b];
#pragma unroll
            for (int m = 0; m < b; m++) by_b[m] = v[(b * n + a * m) % (a * b)];
            transform_of<b>::run(by_b);
#pragma unroll
            for (int m = 0; m < b; m++) by_a[m][n] = by_b[m];
        }
#pragma unroll
        for (int m = 0; m < b; m++) {
            transform_of<a>::run(by_a[m]);
#pragma unroll
            for (int n = 0; n < a; n++) v[(n * at_a + m * at_b) % (a * b)] = by_a[m][n];
        }
    }
};
template <> struct transform_of<6> : composed<2, 3> {};
template <> struct transform_of<10> : composed<2, 5> {};
template <> struct transform_of<12> : composed<4, 3> {};
template <> struct transform_of<14> : composed<2, 7> {};
template <> struct transform_of<15> : composed<3, 5> {};

// Removes whole multiples of `done` from j, before pass p.
static __device__ __forceinline__ int rc_beyond(const rc_line &l, int p, int done, int j) {
    return p ? j - (int)((uint64_t)j * l.magic[p] >> 32) * done : 0;
}

// Pass p of the line of this thread's row, after radices whose product is `done`.
template <int radix>
static __device__ __forceinline__ void rc_pass(const rc_line &l, int p, int done, const float2 *from, float2 *to) {
    const int m = l.n / radix, step = m / done;
    for (int j = (int)threadIdx.x; j < m; j += (int)blockDim.x) {
        const int k = rc_beyond(l, p, done, j);
        float2 v[radix];
#pragma unroll
        for (int q = 0; q < radix; q++) v[q] = from[rc_padded(l, j + q * m)];
        if (p)
#pragma unroll
            for (int q = 1; q < radix; q++) v[q] = times(v[q], l.root[k * q * step]);
        transform_of<radix>::run(v);
#pragma unroll
        for (int q = 0; q < radix; q++) to[rc_padded(l, (j - k) * radix + k + q * done)] = v[q];
    }
}

// A pass of any radix, an output a thread.
static __device__ __forceinline__ void rc_direct_pass(const rc_line &l, int p, int done, const float2 *from, float2 *to) {
    const int radix = l.radix[p], m = l.n / radix, step = m / done;
    for (int i = (int)threadIdx.x; i < l.n; i += (int)blockDim.x) {
        const int q = i / m, j = i % m, k = rc_beyond(l, p, done, j), by = k * step + q * m;
        float2 sum = make_float2(0, 0);
        for (int s = 0, at = 0; s < radix; s++) {
            sum = add(sum, times(from[rc_padded(l, j + s * m)], l.root[at]));
            at += by;
            at -= at >= l.n ? l.n : 0;
        }
        to[rc_padded(l, (j - k) * radix + k + q * done)] = sum;
    }
}

// Transforms the block's lines, in shared memory at a pitch of l.values, with a second buffer of that size after them. Needs a
// barrier before; ends with one. Returns the buffer with the result; *other: the second one.
static __device__ __forceinline__ const float2 *gr_transform(const rc_line &l, float2 *shared, float2 **other) {
    float2 *from = shared, *to = shared + l.lines * l.values;
    const int own = (int)threadIdx.y * l.values;
    for (int p = 0, done = 1; p < l.passes; done *= l.radix[p++]) {
        switch (l.radix[p]) {
        case 2: rc_pass<2>(l, p, done, from + own, to + own); break;
        case 3: rc_pass<3>(l, p, done, from + own, to + own); break;
        case 4: rc_pass<4>(l, p, done, from + own, to + own); break;
        case 5: rc_pass<5>(l, p, done, from + own, to + own); break;
        case 6: rc_pass<6>(l, p, done, from + own, to + own); break;
        case 7: rc_pass<7>(l, p, done, from + own, to + own); break;
        case 8: rc_pass<8>(l, p, done, from + own, to + own); break;
        case 10: rc_pass<10>(l, p, done, from + own, to + own); break;
        case 12: rc_pass<12>(l, p, done, from + own, to + own); break;
        case 14: rc_pass<14>(l, p, done, from + own, to + own); break;
        case 15: rc_pass<15>(l, p, done, from + own, to + own); break;
        default: rc_direct_pass(l, p, done, from + own, to + own);
        }
        __syncthreads();
        float2 *const free = from;
        from = to;
        to = free;
    }
    *other = to;
    return from;
}

// ---- on the host ---------------------------------------------------------------------------------------------------------

// Factors n into the fewest small radices; of several such, those whose largest is least. Largest first.
static inline int rc_fewest(int n, int most, int radix[GR_PASSES]) {
    static const int small[] = {15, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2};
    int best = n == 1 ? 0 : GR_PASSES + 1;
    for (int i = 0; i < 11 && n > 1; i++) {
        int rest[GR_PASSES];
        if (small[i] > most || n % small[i]) continue;
        const int passes = 1 + rc_fewest(n / small[i], small[i], rest);
        if (passes > best || passes > GR_PASSES) continue;
        best = passes;
        radix[0] = small[i];
        for (int p = 1; p < passes; p++) radix[p] = rest[p - 1];
    }
    return best;
}

// As many lines a block as fit in `most` bytes, from 1 to 8.
static inline rc_line rc_line_make(int n, size_t most, const float2 *root) {
    rc_line l = {};
    l.n = n;
    l.root = root;
    int large = n, small = n;
    for (int p = 2; p <= 7; p++)
        while (large % p == 0) large /= p;
    for (int p = 11; large > 1; p += 2)
        for (; large % p == 0; large /= p, small /= p) l.radix[l.passes++] = p;
    l.passes += rc_fewest(small, 15, l.radix + l.passes);
    for (int p = 1; p < l.passes && l.radix[0] % 2 == 0; p++)
        if (l.radix[p] % 2) {
            const int odd = l.radix[p];
            l.radix[p] = l.radix[0];
            l.radix[0] = odd;
        }
    l.padding = l.passes && l.radix[0] % 2 ? 30 : 4;
    for (int p = 1, done = l.passes ? l.radix[0] : 1; p < l.passes; done *= l.radix[p++])
        l.magic[p] = (unsigned)((((uint64_t)1 << 32) + (uint64_t)done - 1) / (uint64_t)done);
    // Spreads a block's lines over the banks, so that threads with a row of its columns do not conflict.
    for (l.lines = 8, l.shift = 3;; l.lines /= 2, l.shift--) {
        l.values = n + (n >> l.padding) + 2;
        l.values += ((16 / l.lines - l.values) % 16 + 16) % 16;
        if (l.lines == 1 || 2 * (size_t)l.lines * (size_t)l.values * sizeof(float2) <= most) return l;
    }
}

static inline size_t rc_line_bytes(const rc_line *l) { return 2 * (size_t)l->lines * (size_t)l->values * sizeof(float2); }
static inline dim3 rc_line_block(const rc_line *l) { return dim3((unsigned)(GR_LINE_THREADS / l->lines), (unsigned)l->lines); }
