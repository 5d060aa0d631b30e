// SPDX-License-Identifier: MIT
// sha256.c: SHA-256; numbers in brackets are sections of FIPS 180-4.
#include "hash.h"
#include "core.h"

static const uint32_t K[64] = { // [4.2.2] fractional parts of the cube roots of the first 64 primes
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void add_block(rg_sha256 *s) // [6.2.2]
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)s->block[4 * t] << 24 | (uint32_t)s->block[4 * t + 1] << 16 | (uint32_t)s->block[4 * t + 2] << 8 |
            s->block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        const uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[t - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    memcpy(v, s->state, sizeof v);
    for (int t = 0; t < 64; t++) {
        const uint32_t e = v[4], a = v[0];
        const uint32_t one = v[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + K[t] + w[t];
        const uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++) s->state[i] += v[i];
}

void rg_sha256_begin(rg_sha256 *s) {
    *s = (rg_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void rg_sha256_add(rg_sha256 *s, const void *bytes, size_t n) {
    for (const unsigned char *at = bytes; n;) {
        const size_t held = s->bytes % 64, take = n < 64 - held ? n : 64 - held;
        memcpy(s->block + held, at, take);
        s->bytes += take;
        at += take;
        n -= take;
        if (s->bytes % 64 == 0) add_block(s);
    }
}

void rg_sha256_end(rg_sha256 *s, char hex[65]) // [5.1.1]
{
    const uint64_t bits = 8 * s->bytes;
    unsigned char end[8];
    for (int i = 0; i < 8; i++) end[i] = (unsigned char)(bits >> (56 - 8 * i));
    rg_sha256_add(s, "\x80", 1);
    while (s->bytes % 64 != 56) rg_sha256_add(s, "", 1);
    rg_sha256_add(s, end, 8);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)s->state[i]);
}

void rg_sha256_of(const void *bytes, size_t n, char hex[65]) {
    rg_sha256 s;
    rg_sha256_begin(&s);
    rg_sha256_add(&s, bytes, n);
    rg_sha256_end(&s, hex);
}

int rg_sha256_file(const char *path, char hex[65], int64_t *bytes) {
    rg_sha256 s;
    unsigned char part[1 << 14];
    FILE *f = fopen(path, "rb");
    if (!f) return rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    rg_sha256_begin(&s);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) rg_sha256_add(&s, part, n);
    const bool failed = ferror(f);
    fclose(f);
    if (bytes) *bytes = (int64_t)s.bytes;
    rg_sha256_end(&s, hex);
    return failed ? rg_fail(RG_USAGE, "%s: cannot be read", path) : RG_GOOD;
}
