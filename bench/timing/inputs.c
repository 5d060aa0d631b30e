// SPDX-License-Identifier: MIT
// inputs.c: the inputs of one shape in host memory, filled anew from a seed for every round (sample.h).

#include "sample.h"

#include "../../impl/base/core.h"

#include <stdlib.h>

static size_t bytes_of(const rg_algo *algo, const rg_shape *shape, int i)
{
    return (size_t)algo->arg[i].count(shape) * rg_type_bytes(algo->arg[i].type(shape));
}

void rg_inputs_make(rg_inputs *in, const rg_algo *algo, const rg_shape *shape)
{
    *in = (rg_inputs){.algo = algo, .shape = *shape};
    for (int i = 0; i < algo->n_args; i++) {
        in->bytes[i] = bytes_of(algo, shape, i);
        in->arg[i] = rg_alloc(in->bytes[i] + 1);
        in->found[i] = algo->arg[i].direction == RG_INOUT ? rg_alloc(in->bytes[i] + 1) : in->arg[i];
    }
}

double rg_inputs_bytes(const rg_algo *algo, const rg_shape *shape)
{
    double bytes = rg_answer_bytes(algo, shape);
    for (int i = 0; i < algo->n_args; i++) {
        const bool whole = algo->reference_at && algo->arg[i].direction != RG_IN;
        bytes += (double)bytes_of(algo, shape, i) * ((algo->arg[i].direction == RG_INOUT ? 2 : 1) + whole);
    }
    return bytes;
}

void rg_inputs_fill(rg_inputs *in, uint64_t seed)
{
    if (in->filled && in->shape.seed == seed)
        return;
    in->filled = true;
    in->shape.seed = seed;
    in->algo->fill(&in->shape, RG_RANDOM, in->arg);
}

uint64_t rg_inputs_hash(const rg_inputs *in)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (int i = 0; i < in->algo->n_args; i++)
        for (size_t k = 0; in->algo->arg[i].direction != RG_OUT && k < in->bytes[i]; k++)
            hash = (hash ^ ((unsigned char *)in->arg[i])[k]) * 0x100000001B3u;
    return hash;
}

void rg_inputs_free(rg_inputs *in)
{
    for (int i = 0; i < in->algo->n_args; i++) {
        if (in->found[i] != in->arg[i])
            free(in->found[i]);
        free(in->arg[i]);
        free(in->whole[i]);
    }
    rg_answer_free(&in->answer);
    *in = (rg_inputs){0};
}
