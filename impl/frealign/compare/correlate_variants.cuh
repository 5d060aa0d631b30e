// SPDX-License-Identifier: MIT
// correlate_variants.cuh: the descriptors of one way of computing cc3m, presb, sigma2 and ccoef. The file that includes this
// says WAY, TEXTURE, NAME (of the variant), IDEA, ROLE, FLAGS and NEEDS, and has the table `params`.
#include "correlate_run.cuh"

#define FR_ROUTINE(id, routine)                                                                                             \
    static size_t scratch_##id(const rg_shape *s, const int64_t *param)                                                     \
    {                                                                                                                       \
        return fr_correlate_layout(s, param, WAY, routine).total;                                                           \
    }                                                                                                                       \
    static void cost_##id(const rg_shape *s, const int64_t *, rg_cost *c) { fr_correlate_cost(s, TEXTURE, c); }     \
    static int prepare_##id(rg_call *call)                                                                                  \
    {                                                                                                                       \
        const fr_layout l = fr_correlate_layout(call->shape, call->param, WAY, routine);                                    \
        return fr_prepare(call, l, !fr_in_real_space(routine), TEXTURE, fr_ring_of_band);                                   \
    }                                                                                                                       \
    static int run_##id(rg_call *call) { return fr_correlate<WAY>(call, routine, TEXTURE); }

#define FR_DESCRIPTOR(id, algo)                                                                                             \
    { RG_ABI, sizeof(rg_variant), algo, NAME, IDEA, ROLE, RG_DEVICE, NEEDS, FLAGS, params, RG_COUNT(params), NULL,           \
      scratch_##id, NULL, cost_##id, prepare_##id, run_##id, fr_finish }

FR_ROUTINE(cc3m, FR_CC3M)
FR_ROUTINE(presb, FR_PRESB)
FR_ROUTINE(sigma2, FR_SIGMA2)
