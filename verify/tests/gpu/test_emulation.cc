// SPDX-License-Identifier: MIT
// test_emulation.cc: the emulated GPU follows CUDA: indices, barriers, warp-wide operations, atomics, textures, the matrix
// product; and its order of threads is drawn from the seed.
#include "test_emulation.h"
#include <vector>

// ---- indices and order ---------------------------------------------------------------------------------------------------

static __global__ void where_am_i(int *out) {
    const int block = ((int)blockIdx.z * (int)gridDim.y + (int)blockIdx.y) * (int)gridDim.x + (int)blockIdx.x;
    const int thread = ((int)threadIdx.z * (int)blockDim.y + (int)threadIdx.y) * (int)blockDim.x + (int)threadIdx.x;
    const int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    out[block * threads + thread] += 1 + (int)threadIdx.z * 10000 + (int)threadIdx.y * 100 + (int)threadIdx.x;
}

TEST(every_thread_once) {
    Memory<int> out(2 * 3 * 4 * 5 * 3 * 2);
    RG_LAUNCH(where_am_i, dim3(2, 3, 4), dim3(5, 3, 2), 0, nullptr, out.p);
    assert_fine();
    for (int i = 0; i < (int)out.n; i++) assert_int_equal(out[(size_t)i], 1 + i % 30 / 15 * 10000 + i % 15 / 5 * 100 + i % 5);
}

static __global__ void arrive(unsigned *order, unsigned *next) {
    order[atomicAdd(next, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    order[atomicAdd(next, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

static std::vector<unsigned> order_of(uint64_t seed) {
    Memory<unsigned> order(2 * 3 * 40), next(1);
    rg_emulation_seed(seed);
    RG_LAUNCH(arrive, 3, 40, 0, nullptr, order.p, next.p);
    assert_fine();
    assert_int_equal(next[0], order.n);
    return std::vector<unsigned>(order.p, order.p + order.n);
}

TEST(seed_decides_the_order) {
    const std::vector<unsigned> one = order_of(1), two = order_of(2);
    assert_true(one == order_of(1));
    assert_true(one != two);
    assert_false(std::is_sorted(one.begin(), one.begin() + 40));
    // The order differs before and after the barrier, which separates both parts.
    std::vector<unsigned> first(one.begin(), one.begin() + 40), second(one.begin() + 40, one.begin() + 80);
    assert_true(first != second);
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    assert_true(first == second);
    bool block_order_differs = false;
    for (uint64_t seed = 3; seed < 20; seed++) block_order_differs |= order_of(seed)[0] / 40 != one[0] / 40;
    assert_true(block_order_differs);
}

// ---- barriers and warps --------------------------------------------------------------------------------------------------

static __global__ void votes(int *out) {
    const int t = (int)threadIdx.x;
    const int n = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 70), any = __syncthreads_or(t == 69);
    if (t == 11) out[0] = n, out[1] = all, out[2] = any;
}

TEST(counting_barriers) {
    Memory<int> out(3);
    RG_LAUNCH(votes, 1, 70, 0, nullptr, out.p);
    assert_fine();
    assert_int_equal(out[0], 24);
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], 1);
}

static __global__ void warp_words(int *out, unsigned *sets) {
    const int l = (int)threadIdx.x;
    out[l] = __shfl_sync(~0u, l * 7, l + 5, 16);
    out[32 + l] = __shfl_up_sync(~0u, l * 7, 3u, 8);
    out[64 + l] = __shfl_down_sync(~0u, l * 7, 3u, 8);
    out[96 + l] = __shfl_xor_sync(~0u, l * 7, 12, 8);
    double sum = l + 0.5;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    out[128 + l] = (int)sum;
    unsigned half;
    if (l % 2)
        half = __ballot_sync(0xaaaaaaaau, l > 9);
    else
        half = __match_any_sync(0x55555555u, l / 8);
    const int any = __any_sync(~0u, l == 31), all = __all_sync(~0u, l < 31), most = __reduce_max_sync(~0u, -l);
    sets[l] = half;
    if (l == 5) out[160] = any * 4 + all * 2 + (most == 0);
}

TEST(warp_wide_words) {
    Memory<int> out(161);
    Memory<unsigned> sets(32);
    RG_LAUNCH(warp_words, 1, 32, 0, nullptr, out.p, sets.p);
    assert_fine();
    for (int l = 0; l < 32; l++) {
        const size_t i = (size_t)l;
        assert_int_equal(out[i], 7 * (l / 16 * 16 + (l + 5) % 16));
        assert_int_equal(out[32 + i], 7 * (l % 8 < 3 ? l : l - 3));
        assert_int_equal(out[64 + i], 7 * (l % 8 > 4 ? l : l + 3));
        assert_int_equal(out[96 + i], 7 * ((l ^ 12) > (l | 7) ? l : l ^ 12)); // a lower segment can be read, a higher one not
        assert_int_equal(out[128 + i], 31 * 16 + 16);
        assert_int_equal(sets[i], l % 2 ? 0xaaaaa800u : 0x55u << l / 8 * 8);
    }
    assert_int_equal(out[160], 5);
}

// 8 warps of 32: shuffles in the warp, shared memory between warps, an atomic between blocks.
static __global__ void add_up(const int *in, int n, unsigned long long *sum) {
    __shared__ int part[8];
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int v = i < n ? in[i] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, (unsigned)d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        int s = 0;
        for (int w = 0; w < 8; w++) s += part[w];
        atomicAdd(sum, (unsigned long long)s);
    }
}

TEST(sums_and_dynamic_shared) {
    Memory<int> in(3000), out(3000);
    Memory<unsigned long long> sum(1);
    for (int i = 0; i < 3000; i++) in[(size_t)i] = i;
    RG_LAUNCH(add_up, 12, 256, 0, nullptr, in.p, 3000, sum.p);
    assert_fine();
    assert_int_equal(sum[0], 3000 * 2999 / 2);
    RG_LAUNCH(reverse, 3, 1000, 1000 * sizeof(int), nullptr, in.p, out.p);
    assert_fine();
    for (int i = 0; i < 3000; i++) assert_int_equal(out[(size_t)i], i / 1000 * 1000 + 999 - i % 1000);
    // More shared memory than a launch may use unless the kernel was allowed it.
    RG_LAUNCH(reverse, 1, 8, 100000, nullptr, in.p, out.p);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000), cudaSuccess);
    RG_LAUNCH(reverse, 1, 8, 100000, nullptr, in.p, out.p);
    assert_fine();
    RG_LAUNCH(reverse, 1, 1025, 0, nullptr, in.p, out.p);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_null(rg_emulation_fault());
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------------

static __global__ void matrix(const unsigned char *a, const unsigned char *b, int *d) {
    const int l = (int)threadIdx.x, g = l / 4, t = l % 4;
    unsigned fa[4], fb[2];
    int fd[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) {
        const unsigned char *p = a + (g + i % 2 * 8) * 32 + i / 2 * 16 + t * 4;
        fa[i] = p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;
    }
    for (int i = 0; i < 2; i++) {
        const unsigned char *p = b + g * 32 + i * 16 + t * 4; // B by columns
        fb[i] = p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;
    }
    rg_mma_u8(fd, fa, fb);
    for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = fd[i];
}

TEST(matrix_product) {
    Memory<unsigned char> a(16 * 32), b(8 * 32);
    Memory<int> d(16 * 8);
    for (size_t i = 0; i < a.n; i++) a[i] = (unsigned char)rg_bits(5, i);
    for (size_t i = 0; i < b.n; i++) b[i] = (unsigned char)rg_bits(6, i);
    RG_LAUNCH(matrix, 1, 32, 0, nullptr, a.p, b.p, d.p);
    assert_fine();
    for (size_t row = 0; row < 16; row++)
        for (size_t column = 0; column < 8; column++) {
            int sum = 1 + (int)(row / 8 * 2 + column % 2);
            for (size_t k = 0; k < 32; k++) sum += a[row * 32 + k] * b[column * 32 + k];
            assert_int_equal(d[row * 8 + column], sum);
        }
}

TEST(integer_words) {
    assert_int_equal(__dp4a(0xff01807fu, 0x02ff80ffu, 5u), 255 * 2 + 1 * 255 + 128 * 128 + 127 * 255 + 5);
    assert_int_equal(__dp4a((int)0xff01807fu, (int)0x02ff80ffu, 5), -1 * 2 + 1 * -1 + -128 * -128 + 127 * -1 + 5);
    assert_int_equal(__byte_perm(0x33221100u, 0x77665544u, 0x7531u), 0x77553311u);
    assert_int_equal(__byte_perm(0x80221100u, 0x77665544u, 0xb3f0u), 0xff800000u);
    assert_int_equal(__funnelshift_r(0x89abcdefu, 0x01234567u, 8), 0x6789abcdu);
    assert_int_equal(__funnelshift_l(0x89abcdefu, 0x01234567u, 40), 0x23456789u); // shifts count modulo 32
    assert_int_equal(__clz(0), 32);
    assert_int_equal(__clz(1), 31);
    assert_int_equal(__ffs(0x50), 5);
    assert_int_equal(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
    assert_int_equal(__mul24(-3, 0x7f000005), -15);
    assert_int_equal(__float2int_rn(2.5f), 2);
    assert_int_equal(__float2int_rd(-2.5f), -3);
    assert_int_equal(__float2int_rz(3e9f), INT32_MAX);
    assert_int_equal(__float2uint_rn(-1.0f), 0);
    assert_true(__double2ll_rn(-0.75) == -1);
    assert_true(rsqrtf(4.0f) == 0.5f && sinpif(0.5f) == 1.0f && cospi(1.0) == -1.0);
}

static __global__ void add_pairs(float4 *sum, double *total, float *cas) {
    atomicAdd(sum, make_float4(1, 2, 3, (float)threadIdx.x));
    atomicAdd(total, 0.5);
    // A largest value by compare and swap, as in CUDA's guide: it begins with a plain load.
    unsigned *bits = reinterpret_cast<unsigned *>(cas), seen = *bits, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(bits, assumed, __float_as_uint(max(__uint_as_float(assumed), (float)threadIdx.x)));
    } while (assumed != seen);
}

TEST(atomics) {
    Memory<float4> sum(1);
    Memory<double> total(1);
    Memory<float> most(1);
    RG_LAUNCH(add_pairs, 4, 96, 0, nullptr, sum.p, total.p, most.p);
    assert_fine();
    assert_true(sum[0].x == 384 && sum[0].y == 768 && sum[0].z == 1152 && sum[0].w == 4 * 95 * 96 / 2);
    assert_true(total[0] == 192 && most[0] == 95);
}

// ---- textures ------------------------------------------------------------------------------------------------------------

static cudaTextureObject_t texture_of(
    cudaArray_t array, cudaTextureFilterMode filter, cudaTextureAddressMode mode, cudaTextureReadMode read, int normalized) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter;
    how.readMode = read;
    how.normalizedCoords = normalized;
    cudaTextureObject_t t = 0;
    assert_int_equal(cudaCreateTextureObject(&t, &r, &how, nullptr), cudaSuccess);
    return t;
}

static __global__ void fetch(cudaTextureObject_t t, const float2 *at, float *out) {
    out[threadIdx.x] = tex2D<float>(t, at[threadIdx.x].x, at[threadIdx.x].y);
}

static void expect_texels(cudaTextureObject_t t, const std::vector<float2> &at, const std::vector<float> &expected) {
    Memory<float2> where(at.size());
    Memory<float> out(at.size());
    host()->upload(where.p, at.data(), at.size() * sizeof(float2));
    RG_LAUNCH(fetch, 1, (unsigned)at.size(), 0, nullptr, t, where.p, out.p);
    assert_fine();
    for (size_t i = 0; i < at.size(); i++)
        if (out[i] != expected[i])
            fail_msg("texel %zu at (%g, %g) is %.9g, expected %.9g", i, at[i].x, at[i].y, out[i], expected[i]);
    assert_int_equal(cudaDestroyTextureObject(t), cudaSuccess);
}

// Computed by hand. Weights are multiples of 1/256: 0.3 is 77/256, 0.001 is 0, 0.999 is 1.
TEST(linear_texture) {
    const float image[2][3] = {{0, 256, 512}, {1024, 1280, 1536}};
    const cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    assert_int_equal(cudaMallocArray(&array, &real, 3, 2), cudaSuccess);
    assert_int_equal(
        cudaMemcpy2DToArrayAsync(array, 0, 0, image, sizeof image[0], sizeof image[0], 2, cudaMemcpyHostToDevice), cudaSuccess);
    const std::vector<float2> at = {
        {0.5f, 0.5f}, {0.8f, 0.5f}, {0.501f, 0.5f}, {1.499f, 0.5f}, {1, 1}, {0, 0}, {-9, 7}, {2.75f, 0.5f}};
    expect_texels(texture_of(array, cudaFilterModeLinear, cudaAddressModeClamp, cudaReadModeElementType, 0), at,
        {0, 77, 0, 256, 640, 0, 1024, 512});
    // 0 outside: a quarter of it at the right edge, three quarters at the corner.
    expect_texels(texture_of(array, cudaFilterModeLinear, cudaAddressModeBorder, cudaReadModeElementType, 0),
        {{2.75f, 0.5f}, {3, 2}, {-9, 7}, {3, 0.5f}}, {384, 384, 0, 256});
    expect_texels(texture_of(array, cudaFilterModePoint, cudaAddressModeWrap, cudaReadModeElementType, 1),
        {{0.99f, 0.1f}, {1.01f, 0.1f}, {-0.01f, 0.6f}}, {512, 0, 1536});
    expect_texels(texture_of(array, cudaFilterModePoint, cudaAddressModeMirror, cudaReadModeElementType, 1),
        {{1.01f, 0.1f}, {-0.4f, 0.1f}}, {512, 256});
    // Wrapping requires normalised coordinates: without them coordinates are clamped.
    expect_texels(texture_of(array, cudaFilterModePoint, cudaAddressModeWrap, cudaReadModeElementType, 0),
        {{1.99f, 0}, {3.5f, 0}, {-1, 1}}, {256, 512, 1024});
    assert_int_equal(cudaFreeArray(array), cudaSuccess);
}

static __global__ void fetch_four(cudaTextureObject_t t, const float2 *at, float4 *out) {
    out[threadIdx.x] = tex2Dgather<float4>(t, at[threadIdx.x].x, at[threadIdx.x].y);
}

// Counterclockwise from the lower left, as in the programming guide. The four texels are those of linear filtering, with
// rounded fractions: just below the middle of a texel they are the next ones.
TEST(four_texels) {
    const float image[2][3] = {{0, 256, 512}, {1024, 1280, 1536}};
    const cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
    const float2 at[4] = {{1, 1}, {1.49f, 1}, {1.499f, 1}, {3, 2}};
    const float expected[4][4] = {{1024, 1280, 256, 0}, {1024, 1280, 256, 0}, {1280, 1536, 512, 256}, {0, 0, 0, 1536}};
    Memory<float2> where(4);
    Memory<float4> out(4);
    host()->upload(where.p, at, sizeof at);
    for (unsigned flags = 0; flags <= (unsigned)cudaArrayTextureGather; flags += (unsigned)cudaArrayTextureGather) {
        cudaArray_t array;
        assert_int_equal(cudaMallocArray(&array, &real, 3, 2, flags), cudaSuccess);
        assert_int_equal(
            cudaMemcpy2DToArrayAsync(array, 0, 0, image, sizeof image[0], sizeof image[0], 2, cudaMemcpyHostToDevice),
            cudaSuccess);
        const cudaTextureObject_t t =
            texture_of(array, cudaFilterModeLinear, cudaAddressModeBorder, cudaReadModeElementType, 0);
        RG_LAUNCH(fetch_four, 1, 4, 0, nullptr, t, where.p, out.p);
        if (flags)
            assert_fine();
        else
            assert_fault("fetch_four", "cudaArrayTextureGather");
        cudaDestroyTextureObject(t);
        cudaFreeArray(array);
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            const float four[4] = {out[i].x, out[i].y, out[i].z, out[i].w};
            if (four[k] != expected[i][k])
                fail_msg("texel %d of four at (%g, %g) is %g, expected %g", k, at[i].x, at[i].y, four[k], expected[i][k]);
        }
}

// A directed rounding of sums, also if they are not exact in double precision.
TEST(sums_rounded_down) {
    assert_true(__fadd_rd(2.75f, 0x1.8p23f) == 0x1.8p23f + 2 && __fadd_rd(-0.25f, 0x1.8p23f) == 0x1.8p23f - 1);
    assert_true(__fadd_rd(-0x1p-120f, 0x1.8p23f) == 0x1.8p23f - 1 && __fadd_rd(0x1p-120f, 0x1.8p23f) == 0x1.8p23f);
    assert_true(__fadd_rd(7, 0x1.8p23f) == 0x1.8p23f + 7);
}

TEST(byte_texture) {
    const unsigned char image[2][2] = {{0, 255}, {51, 102}};
    const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    assert_int_equal(cudaMallocArray(&array, &byte, 2, 2), cudaSuccess);
    assert_int_equal(cudaMemcpy2DToArrayAsync(array, 0, 0, image, 2, 2, 2, cudaMemcpyHostToDevice), cudaSuccess);
    expect_texels(texture_of(array, cudaFilterModeLinear, cudaAddressModeClamp, cudaReadModeNormalizedFloat, 0),
        {{1, 0.5f}, {1.5f, 0.5f}, {0.5f, 1.5f}}, {0.5f, 1, 51 / 255.0f});
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc how = {};
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t t;
    assert_int_equal(cudaCreateTextureObject(&t, &r, &how, nullptr), cudaErrorInvalidFilterSetting); // integers, unscaled
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidFilterSetting);
    assert_int_equal(cudaFreeArray(array), cudaSuccess);
}

static __global__ void fetch_other(
    cudaTextureObject_t line, cudaTextureObject_t block, cudaTextureObject_t layers, float *out) {
    out[0] = (float)tex1Dfetch<int>(line, 2);
    out[1] = (float)tex1Dfetch<int>(line, 3); // past the end: 0
    out[2] = tex3D<float>(block, 1.0f, 1.0f, 1.0f);
    out[3] = tex2DLayered<float>(layers, 0.5f, 1.0f, 1);
}

TEST(other_textures) {
    Memory<int> line(3);
    Memory<float> out(4);
    line[2] = -7;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = line.p;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = 12;
    cudaTextureDesc how = {};
    cudaTextureObject_t t;
    assert_int_equal(cudaCreateTextureObject(&t, &r, &how, nullptr), cudaSuccess);
    r.res.linear.devPtr = line.p + 1; // textures need memory aligned to 512 bytes
    assert_int_equal(cudaCreateTextureObject(&t, &r, &how, nullptr), cudaErrorInvalidValue);
    cudaGetLastError();
    const float cube[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
    cudaArray_t arrays[2];
    for (unsigned layered = 0; layered < 2; layered++) {
        const unsigned flags = layered ? (unsigned)cudaArrayLayered : 0u;
        assert_int_equal(cudaMalloc3DArray(&arrays[layered], &real, make_cudaExtent(2, 2, 2), flags), cudaSuccess);
        cudaMemcpy3DParms m = {};
        m.srcPtr = make_cudaPitchedPtr((void *)cube, 8, 2, 2);
        m.dstArray = arrays[layered];
        m.extent = make_cudaExtent(2, 2, 2);
        m.kind = cudaMemcpyHostToDevice;
        assert_int_equal(cudaMemcpy3DAsync(&m), cudaSuccess);
    }
    cudaTextureObject_t block = texture_of(arrays[0], cudaFilterModeLinear, cudaAddressModeClamp, cudaReadModeElementType, 0);
    cudaTextureObject_t layers = texture_of(arrays[1], cudaFilterModeLinear, cudaAddressModeClamp, cudaReadModeElementType, 0);
    RG_LAUNCH(fetch_other, 1, 1, 0, nullptr, t, block, layers, out.p);
    assert_fine();
    assert_true(out[0] == -7 && out[1] == 0 && out[2] == 3.5f && out[3] == 5);
    cudaDestroyTextureObject(t);
    cudaDestroyTextureObject(block);
    cudaDestroyTextureObject(layers);
    cudaFreeArray(arrays[0]);
    cudaFreeArray(arrays[1]);
}

TEST(time_is_refused) {
    double ms;
    assert_int_not_equal(host()->event_ms(nullptr, nullptr, &ms), 0);
}
