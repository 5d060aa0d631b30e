// SPDX-License-Identifier: MIT
// simd_weights.h: the kernel's weights in the words of ../simd/simd.h. Included after it, once for each instruction set.

#undef GR_WEIGHT_MADS
#define GR_WEIGHT_MADS 12 // of weights(), a lane
// w where t >= -1, else 0: the square of a polynomial of degree 7, the minimax of w for that form, wrong by 1.3e-7, after
// rounding by 3.6e-7. Pairs of terms first (Estrin), so that a hit waits for 3 multiply-adds in a row, not 7.
TARGET static inline VEC NAME(weights)(VEC dx, VEC dy, VEC t)
{
    static const float c[8] = {1.21460330e-01f, 3.06492406e-01f, 3.14062139e-01f, 1.76940066e-01f, 6.28230286e-02f,
        1.51847343e-02f, 2.52950913e-03f, 5.07854158e-04f};
    t = v_fnmadd_ps(dx, dx, v_fnmadd_ps(dy, dy, t));
    const VEC t2 = v_mul_ps(t, t), t4 = v_mul_ps(t2, t2);
    const VEC c01 = v_fmadd_ps(v_set1_ps(c[1]), t, v_set1_ps(c[0])), c23 = v_fmadd_ps(v_set1_ps(c[3]), t, v_set1_ps(c[2]));
    const VEC c45 = v_fmadd_ps(v_set1_ps(c[5]), t, v_set1_ps(c[4])), c67 = v_fmadd_ps(v_set1_ps(c[7]), t, v_set1_ps(c[6]));
    const VEC root = v_fmadd_ps(v_fmadd_ps(c67, t2, c45), t4, v_fmadd_ps(c23, t2, c01));
    return v_maskz_mov_ps(v_cmp_ps(t, v_set1_ps(-1), _CMP_GE_OQ), v_mul_ps(root, root));
}
