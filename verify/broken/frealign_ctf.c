// SPDX-License-Identifier: MIT
// frealign_ctf.c: kernels of `ctfapply` that are wrong on purpose: the plain variant with one function replaced.
#include "../../impl/frealign/ctf/apply.h"
#include "../../impl/frealign/plain.h"
#include "plugin.h"
#include <string.h>

#define FIELDS .scratch = scratch, .prepare = prepare, .finish = finish
#define KERNELS(X)                                                                                                             \
    X("ctfapply", frealign_ctf_sign, run, "the CTF with the sign that other programs give it", FIELDS)                         \
    X("ctfapply", frealign_nyquist_row, run, "the row j = N/2 is shifted as if it stood at -N/2", FIELDS)                      \
    X("ctfapply", frealign_nyquist_column, run, "the column N/2 keeps a shift's phase, which no real image has", FIELDS)       \
    X("ctfapply", frealign_same_defocus, run, "the CTF of the particle before where its first number is the same", FIELDS)

BROKEN_NAMES(KERNELS);

static int64_t row_of(int64_t side, int64_t element) {
    const int64_t j = fr_j(side, element);
    return wrong == is_frealign_nyquist_row && 2 * j == side ? -j : j;
}

static const float *optics_of(const float *optics) {
    static float last[FR_OPTICS];
    if (optics[0] != last[0]) memcpy(last, optics, sizeof last);
    return wrong == is_frealign_same_defocus ? last : optics;
}

#define fr_j row_of
#define fr_ctf(optics, i, j) (wrong == is_frealign_ctf_sign ? -fr_ctf(optics, i, j) : fr_ctf(optics_of(optics), i, j))
#define fr_hermitian(side, pitch, plane) (wrong == is_frealign_nyquist_column ? (void)0 : fr_hermitian(side, pitch, plane))
#include "../../impl/frealign/ctf/naive.c"

BROKEN_FAMILY(KERNELS);
