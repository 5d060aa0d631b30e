// SPDX-License-Identifier: MIT
// cheat.h: what the kernels share that cheat on time: an answer, kept, and 16 bytes of each input that say whether it is still
// the one.
#ifndef RG_CHEAT_H
#define RG_CHEAT_H

#include "../broken.h"
#include <stdlib.h>
#include <string.h>

typedef struct kept {
    unsigned char key[32];
    int64_t *sums;
} kept;

static inline void key_of(const photos p, unsigned char key[32])
{
    const int64_t bytes = p.width * p.height * (p.sixteen_bit ? 2 : 1);
    memset(key, 0, 32);
    memcpy(key, p.a, bytes < 16 ? (size_t)bytes : 16);
    memcpy(key + 16, p.b, bytes < 16 ? (size_t)bytes : 16);
}

static inline int is_kept(const kept *k, const photos p)
{
    unsigned char key[32];
    key_of(p, key);
    return k->sums && !memcmp(k->key, key, sizeof key);
}

static inline int keep(kept *k, const photos p)
{
    if (!k->sums) k->sums = malloc((size_t)elements_of(p) * sizeof *k->sums);
    if (!k->sums) return RG_E_STATE;
    right_sums(p, k->sums);
    key_of(p, k->key);
    return RG_OK;
}

#endif
