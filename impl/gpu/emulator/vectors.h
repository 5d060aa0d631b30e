// SPDX-License-Identifier: MIT
// vectors.h: CUDA's vector types, their constructors and, for templates, their components.
#pragma once

#include "engine.h"

// The number and type of components; a scalar T is its own component.
template <class T> struct rg_vector {
    typedef T type;
    enum { n = 1 };
};

#define RG_VECTOR(base, name, align1, align2, align4)                                                                          \
    struct alignas(align1) name##1 {                                                                                           \
        base x;                                                                                                                \
    };                                                                                                                         \
    struct alignas(align2) name##2 {                                                                                           \
        base x, y;                                                                                                             \
    };                                                                                                                         \
    struct alignas(align4) name##4 {                                                                                           \
        base x, y, z, w;                                                                                                       \
    };                                                                                                                         \
    inline name##1 make_##name##1(base x) { return {x}; }                                                                      \
    inline name##2 make_##name##2(base x, base y) { return {x, y}; }                                                           \
    inline name##4 make_##name##4(base x, base y, base z, base w) { return {x, y, z, w}; }                                     \
    RG_VECTOR_OF(base, name, 1) RG_VECTOR_OF(base, name, 2) RG_VECTOR_OF(base, name, 4)
#define RG_VECTOR_OF(base, name, count)                                                                                        \
    template <> struct rg_vector<name##count> {                                                                                \
        typedef base type;                                                                                                     \
        enum { n = count };                                                                                                    \
    };
#define RG_VECTOR3(base, name)                                                                                                 \
    struct name##3 {                                                                                                           \
        base x, y, z;                                                                                                          \
    };                                                                                                                         \
    RG_MAKE3(base, name)
#define RG_MAKE3(base, name)                                                                                                   \
    inline name##3 make_##name##3(base x, base y, base z) { return {x, y, z}; }

RG_VECTOR(signed char, char, 1, 2, 4)
RG_VECTOR(unsigned char, uchar, 1, 2, 4)
RG_VECTOR(short, short, 2, 4, 8)
RG_VECTOR(unsigned short, ushort, 2, 4, 8)
RG_VECTOR(int, int, 4, 8, 16)
RG_VECTOR(unsigned, uint, 4, 8, 16)
RG_VECTOR(long long, longlong, 8, 16, 16)
RG_VECTOR(unsigned long long, ulonglong, 8, 16, 16)
RG_VECTOR(float, float, 4, 8, 16)
RG_VECTOR(double, double, 8, 16, 16)
RG_VECTOR3(signed char, char)
RG_VECTOR3(unsigned char, uchar)
RG_VECTOR3(int, int)
RG_VECTOR3(float, float)
RG_VECTOR3(double, double)
RG_MAKE3(unsigned, uint)

#undef RG_VECTOR
#undef RG_VECTOR_OF
#undef RG_VECTOR3
#undef RG_MAKE3
