// SPDX-License-Identifier: MIT
// algo.h: shared by the descriptors of the seven algorithms: counts of arguments, the refusal of shapes, inputs.
#ifndef RG_FREALIGN_ALGO_H
#define RG_FREALIGN_ALGO_H

#include "bound.h"
#include "index.h"

// ---- algo.c --------------------------------------------------------------------------------------------------------------

rg_type fr_real(const rg_shape *);
int64_t fr_count_images(const rg_shape *); // complex half planes of all particles, in floats
int64_t fr_count_ctf(const rg_shape *);
int64_t fr_count_reference(const rg_shape *);
int64_t fr_count_pose(const rg_shape *);
int64_t fr_count_setting(const rg_shape *);
int64_t fr_band_stored(const rg_shape *); // stored coefficients of the band of n[FR_OUTER], n[FR_INNER]
// The largest error of a correlation over this number of coefficients: by the statistics of rounding, at most bound.h's worst
// case.
double fr_correlation_error(const rg_shape *, double transforms, double coefficients);
// The reason why no algorithm of this folder supports the shape, or NULL; interpolations: bit mask of those the algorithm has.
const char *fr_invalid(const rg_shape *, unsigned interpolations, int64_t flags);
const char *fr_index_fault(const rg_shape *);
int fr_dim_text(int dim, int64_t value, char text[32]);                           // "box3+squared+masked"
void fr_where_image(const rg_shape *, int64_t element, int parts, char text[64]); // parts: floats per coefficient
void fr_where_pose(const rg_shape *, int64_t element, int each, const char *const *part, char text[64]);
void fr_where_node(int64_t side, int64_t element, int parts, char text[64]);

// ---- fill.c --------------------------------------------------------------------------------------------------------------

// A number in -1 .. 1 from the shape's seed, a stream and an index; a multiple of 2^-23.
double fr_draw(const rg_shape *, int stream, int64_t index);
enum { FR_DRAW_X, FR_DRAW_C, FR_DRAW_F3, FR_DRAW_POSE, FR_DRAW_SETTING, FR_DRAW_OTHER };

// A shift of up to 8 pixels along an axis, and of both axes together: FR_PHASE radians at the corner of the plane.
void fr_draw_shift(const rg_shape *, int64_t at, double px[2]);
void fr_fill_images(const rg_shape *, rg_pattern, int stream, float *X);
void fr_fill_noise(const rg_shape *, int stream, int64_t n, float *to); // for every pattern
void fr_fill_ctf(const rg_shape *, rg_pattern, float *c);
void fr_fill_reference(const rg_shape *, rg_pattern, float *F3);
void fr_fill_pose(const rg_shape *, rg_pattern, float *pose);
// The same shift for all trials of a particle, and trials that are operators of Cn (odd counts) or Dn.
void fr_fill_operators(const rg_shape *, rg_pattern, float *pose);
void fr_fill_setting(const rg_shape *, rg_pattern, float *setting);

// ---- descriptors ---------------------------------------------------------------------------------------------------------

// Fields of an algorithm that has a file to itself; its functions have the names of the fields. Further fields follow.
#define FR_ALGO(NAME, FORMULA)                                                                                                 \
    .name = #NAME, .paper = "Li 2010", .formula = FORMULA, .dim_text = fr_dim_text,                                            \
    RG_ALGO_ARRAYS(args, check_shapes, bench_shapes, smoke_shapes), .invalid = invalid, .fill = fill,                          \
    .reference = rg_ref_##NAME, .tolerance = tolerance, .where = where, .index_fault = fr_index_fault,                         \
    .traffic_bytes = traffic_bytes, .work = work

#endif
