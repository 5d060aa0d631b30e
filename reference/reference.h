// SPDX-License-Identifier: MIT
// reference.h: the slow, obvious implementation of every algorithm, against which all variants are checked. Each has its own
// index arithmetic, written from the paper and not from impl/, and includes only suite.h of impl.
#ifndef RG_REFERENCE_H
#define RG_REFERENCE_H

#include "../impl/suite.h"

// Declares rg_ref_id and, where it exists, rg_ref_id_at for every ALGO(id) of the list; the signatures are those of
// rg_algo.reference and reference_at.
#define ALGO(id)                                                                                                               \
    void rg_ref_##id(const rg_shape *, void *const *arg);                                                                      \
    void rg_ref_##id##_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
#include "../impl/variants.def"

#endif
