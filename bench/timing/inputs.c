// SPDX-License-Identifier: MIT
// inputs.c: the inputs of one shape in host memory, filled again from a seed for every round (sample.h).
#include "timing.h"

#include "../../impl/base/core.h"
#include "../../impl/base/hash.h"

static size_t bytes_of(const rg_algo *algo, const rg_shape *shape, int i) {
    return (size_t)algo->arg[i].count(shape) * rg_type_bytes(algo->arg[i].type(shape));
}

static bool is_input(const rg_inputs *in, int i) { return in->algo->arg[i].direction != RG_OUT; }

void rg_inputs_make(rg_inputs *in, const rg_algo *algo, const rg_shape *shape) {
    *in = (rg_inputs){.algo = algo, .shape = *shape, .most_sets = 1};
    double set_bytes = 0;
    for (int i = 0; i < algo->n_args; i++) {
        in->bytes[i] = bytes_of(algo, shape, i);
        set_bytes += is_input(in, i) ? (double)in->bytes[i] : 0;
        if (algo->arg[i].direction != RG_IN) in->found[i] = rg_alloc(in->bytes[i] + 1);
        if (algo->arg[i].direction == RG_OUT) in->arg[i] = in->found[i];
    }
    // All sets together use at most an eighth of free memory: the buffers of measurements and a whole answer need the rest.
    if (8 * RG_INPUT_SETS * set_bytes < rg_free_bytes(rg_device_cpu())) in->most_sets = RG_INPUT_SETS;
}

double rg_inputs_bytes(const rg_algo *algo, const rg_shape *shape) {
    double bytes = rg_answer_bytes(algo, shape);
    for (int i = 0; i < algo->n_args; i++) {
        const bool whole = algo->reference_at && algo->arg[i].direction != RG_IN;
        bytes += (double)bytes_of(algo, shape, i) * ((algo->arg[i].direction == RG_INOUT ? 2 : 1) + whole);
    }
    return bytes;
}

// Moves set k to the front.
static void use(rg_inputs *in, int k) {
    const rg_input_set used = in->set[k];
    memmove(in->set + 1, in->set, (size_t)k * sizeof used);
    in->set[0] = used;
    for (int i = 0; i < in->algo->n_args; i++) {
        if (is_input(in, i)) in->arg[i] = used.arg[i];
        if (in->algo->arg[i].direction == RG_IN) // a comparison with the reference reads inputs too
            in->found[i] = used.arg[i];
    }
    in->shape.seed = used.seed;
}

void rg_inputs_fill(rg_inputs *in, uint64_t seed) {
    int k = 0;
    while (k < in->n_sets && in->set[k].seed != seed) k++;
    if (k < in->n_sets) {
        use(in, k);
        return;
    }
    if (in->n_sets == in->most_sets)
        k--; // the least recently used
    else
        for (int i = in->n_sets++, a = 0; a < in->algo->n_args; a++)
            in->set[i].arg[a] = is_input(in, a) ? rg_alloc(in->bytes[a] + 1) : NULL;
    in->set[k].seed = seed;
    use(in, k);
    const double start = rg_seconds();
    in->algo->fill(&in->shape, RG_RANDOM, in->arg);
    in->fill_s = rg_seconds() - start;
}

uint64_t rg_inputs_hash(const rg_inputs *in) {
    uint64_t hash = RG_FNV1A;
    for (int i = 0; i < in->algo->n_args; i++)
        if (in->algo->arg[i].direction != RG_OUT) hash = rg_fnv1a(hash, in->arg[i], in->bytes[i]);
    return hash;
}

void rg_inputs_free(rg_inputs *in) {
    for (int i = 0; i < in->algo->n_args; i++) {
        if (in->algo->arg[i].direction != RG_IN) free(in->found[i]);
        for (int k = 0; k < in->n_sets; k++) free(in->set[k].arg[i]);
        free(in->whole[i]);
    }
    rg_answer_free(&in->answer);
    *in = (rg_inputs){0};
}
