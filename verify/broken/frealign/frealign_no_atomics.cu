// SPDX-License-Identifier: MIT
// frealign_no_atomics.cu: pinsert_s without atomics, the threads of a launch adding to the nodes with a plain +=. Neighbouring
// coefficients reach the same nodes, and of two additions under way together one is lost. Shows as sums that are too small; on
// the emulated GPU as a race.
#include "../../../impl/frealign/insert/insert.cuh"
#include "../plugin.h"

struct plain_additions {
    float *volume;
    __device__ void add(int64_t node, fr_terms t) const
    {
        volume[4 * node] += t.re;
        volume[4 * node + 1] += t.im;
        volume[4 * node + 2] += t.den;
    }
};

static int run(rg_call *call)
{
    const plain_additions out = {(float *)call->arg[FR_INSERT_VOLUME]};
    return fr_insert_all(call, 32, 256, out);
}

BROKEN_PLUGIN("pinsert_s", "frealign_no_atomics", .run = run);
