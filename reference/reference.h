// SPDX-License-Identifier: MIT
// reference.h: the slow, obvious implementation of every algorithm, against which all variants are judged. Each has its own
// index arithmetic, written from the paper and not from impl/, and includes nothing of impl but suite.h.
#ifndef RG_REFERENCE_H
#define RG_REFERENCE_H

#include "../impl/suite.h"

// Signatures of rg_algo.reference and rg_algo.reference_at.
void rg_ref_autocorr(const rg_shape *, void *const *arg);
void rg_ref_autocorr_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_autocorr_printed(const rg_shape *, void *const *arg); // the listing of the same paper at its word; no reference_at
void rg_ref_gridding(const rg_shape *, void *const *arg);
void rg_ref_gridding_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_affine2d(const rg_shape *, void *const *arg);
void rg_ref_affine2d_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_align2d(const rg_shape *, void *const *arg);
void rg_ref_align2d_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_align3d(const rg_shape *, void *const *arg);
void rg_ref_align3d_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);

// The seven routines of FREALIGN (reference/frealign*.c).
void rg_ref_cc3m(const rg_shape *, void *const *arg);
void rg_ref_cc3m_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_presb(const rg_shape *, void *const *arg);
void rg_ref_presb_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_sigma2(const rg_shape *, void *const *arg);
void rg_ref_sigma2_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_ccoef(const rg_shape *, void *const *arg);
void rg_ref_ccoef_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_ccp(const rg_shape *, void *const *arg);
void rg_ref_ccp_at(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
void rg_ref_pinsert_s(const rg_shape *, void *const *arg);
void rg_ref_ctfapply(const rg_shape *, void *const *arg);

#endif
