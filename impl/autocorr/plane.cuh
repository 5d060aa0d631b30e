// SPDX-License-Identifier: MIT
// plane.cuh: photographs as byte planes, the format that gather, gather_two_pass and tensor read.
//
// A plane holds one byte of every pixel, line by line, at a pitch that is a multiple of 64, with zeros after the last pixel,
// from a 256-byte aligned base: any 16 bytes at a multiple of 16 can be loaded at once. 8-bit photographs are one plane. 16-bit
// ones are two, low bytes and high bytes, a = al + 256 ah, and the sum of products becomes four byte products,
//     sum a b = sum al bl + 2^8 (sum al bh + sum ah bl) + 2^16 sum ah bh,
// so that kernels only handle bytes. Each partial sum is an integer, hence the total is exact.
#ifndef RG_AUTOCORR_PLANE_CUH
#define RG_AUTOCORR_PLANE_CUH

#include "../gpu/cuda.h"
#include "index.h"

enum { AC_PITCH_STEP = 64 };

typedef struct ac_plane {
    const unsigned char *a, *b; // planes, low bytes first; b == a in an autocorrelation
    int64_t plane;              // bytes from one plane to the next
    int width, height, r, pitch, planes;
    bool cross;
} ac_plane;

static inline ac_plane ac_plane_of(const rg_shape *s, const void *scratch) {
    ac_plane p;
    p.width = (int)s->n[AC_WIDTH];
    p.height = (int)s->n[AC_HEIGHT];
    p.r = (int)s->n[AC_R];
    p.cross = (s->n[AC_KIND] & AC_CROSS) != 0;
    p.planes = s->n[AC_KIND] & AC_16BIT ? 2 : 1;
    p.pitch = (p.width + AC_PITCH_STEP - 1) / AC_PITCH_STEP * AC_PITCH_STEP;
    p.plane = ((int64_t)p.pitch * p.height + 255) / 256 * 256;
    p.a = (const unsigned char *)scratch;
    p.b = p.cross ? p.a + p.planes * p.plane : p.a;
    return p;
}

static inline size_t ac_plane_bytes(const rg_shape *s) {
    ac_plane p = ac_plane_of(s, NULL);
    return (size_t)p.plane * (size_t)p.planes * (p.cross ? 2 : 1);
}

// Kernels hold coordinates, and the 2R + 1 offsets a side, in 32 bits, with room for a block's overhang.
static inline const char *ac_plane_refuse(const rg_shape *s, const int64_t *) {
    int64_t most = INT64_C(1) << 29;
    return s->n[AC_WIDTH] < most && s->n[AC_HEIGHT] < most ? NULL : "32-bit coordinates need sides below 2^29 pixels";
}

// Every sum of an autocorrelation is twice in the plane of offsets, so Y0 >= 0 is enough.
RG_HD int ac_y0_least(const ac_plane &p) { return p.cross ? -p.r : 0; }
RG_HD int ac_y0_count(const ac_plane &p) { return p.r - ac_y0_least(p) + 1; }

// A turned plane holds [column of 16 bytes][line][16 bytes]. Of 64 pixels the words 0 4 8 12, then 1 5 9 13 and so on are
// adjacent, the order in which tensor_wgmma multiplies. Position in the turned plane of word `word` of a line:
RG_HD int64_t ac_turned_word(const ac_plane &p, int word, int64_t line) {
    return ((int64_t)(word / 16 * 4 + word % 4) * p.height + line) * 4 + word / 4 % 4;
}

// One thread makes four bytes of every plane of a photograph, and of its turned ones if there are any. The threads of the first
// photograph also clear the sums.
template <class pixel>
static __global__ void ac_pack(
    const pixel *photo, unsigned char *plane, unsigned char *turned, ac_plane p, unsigned long long *sums, int64_t n_sums) {
    int64_t words = (int64_t)p.pitch / 4 * p.height, stride = (int64_t)gridDim.x * blockDim.x;
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t e = i; e < n_sums; e += stride) sums[e] = 0;
    for (; i < words; i += stride) {
        int64_t line = i / (p.pitch / 4);
        int x = (int)(i - line * (p.pitch / 4)) * 4;
        unsigned low = 0, high = 0;
        for (int j = 0; j < 4; j++) {
            unsigned value = x + j < p.width ? photo[line * p.width + x + j] : 0u;
            low |= (value & 255u) << 8 * j;
            high |= (value >> 8) << 8 * j;
        }
        unsigned value[2] = {low, high};
        for (int which = 0; which < (int)sizeof(pixel); which++) {
            reinterpret_cast<unsigned *>(plane + which * p.plane)[i] = value[which];
            if (turned) reinterpret_cast<unsigned *>(turned + which * p.plane)[ac_turned_word(p, x / 4, line)] = value[which];
        }
    }
}

// Packs the photographs of a call, the first also turned if `turned` has room. sums: cleared, unless NULL.
static inline int ac_pack_all(const rg_call *call, const ac_plane &p, unsigned long long *sums, unsigned char *turned = NULL) {
    int64_t n_sums = sums ? ac_side(p.r) * ac_side(p.r) : 0, most = (int64_t)p.pitch / 4 * p.height;
    most = most > n_sums ? most : n_sums;
    unsigned blocks = (unsigned)(most < 8192 * 256 ? (most + 255) / 256 : 8192);
    for (int which = AC_A; which <= (p.cross ? AC_B : AC_A); which++) {
        unsigned char *plane = (unsigned char *)(which == AC_A ? p.a : p.b);
        unsigned char *also = which == AC_A ? turned : NULL;
        const void *photo = call->arg[which];
        int64_t clear = which == AC_A ? n_sums : 0;
        if (p.planes == 2)
            RG_LAUNCH((ac_pack<uint16_t>), blocks, 256, 0, call->stream, (const uint16_t *)photo, plane, also, p, sums, clear);
        else
            RG_LAUNCH((ac_pack<uint8_t>), blocks, 256, 0, call->stream, (const uint8_t *)photo, plane, also, p, sums, clear);
        int error = (int)cudaGetLastError();
        if (error) return error;
    }
    return RG_OK;
}

// Copies the half plane Y0 > 0 of an autocorrelation to Y0 < 0.
static __global__ void ac_mirror_half(unsigned long long *sums, int64_t r) {
    int64_t e = ac_element(r, -r, 1) + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e < ac_side(r) * ac_side(r)) sums[ac_mirror(r, e)] = sums[e];
}

static inline int ac_mirror_all(const rg_call *call, const ac_plane &p, unsigned long long *sums) {
    if (p.cross || !p.r) return RG_OK;
    RG_LAUNCH((ac_mirror_half), (unsigned)((ac_side(p.r) * p.r + 255) / 256), 256, 0, call->stream, sums, (int64_t)p.r);
    return (int)cudaGetLastError();
}

// 16 bytes of a plane from x (a multiple of 16); zeros outside the photograph.
static __device__ __forceinline__ uint4 ac_load16(const unsigned char *plane, const ac_plane &p, int x, int y) {
    if (x < 0 || x >= p.pitch || y < 0 || y >= p.height) return make_uint4(0, 0, 0, 0);
    return __ldg(reinterpret_cast<const uint4 *>(plane + (int64_t)y * p.pitch + x));
}

// Fills n lines of shared memory, `bytes` (a multiple of 16) from (x, y) on each; `threads` threads take part, this is
// `thread`.
static __device__ __forceinline__ void ac_fill(unsigned char *to, int pitch, const unsigned char *plane, const ac_plane &p,
    int x, int y, int bytes, int n, int thread, int threads) {
    int across = bytes / 16;
#pragma unroll 4 // enough loads in flight
    for (int i = thread; i < across * n; i += threads) {
        int line = i / across, at = (i - line * across) * 16;
        *reinterpret_cast<uint4 *>(to + line * pitch + at) = ac_load16(plane, p, x + at, y + line);
    }
}

#endif
