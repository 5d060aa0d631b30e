// SPDX-License-Identifier: MIT
// naive.c: pinsert_s in plain C on one core: each coefficient is added to the nodes around its position, then its mate.
//
// Sine, cosine and exponential are computed for every coefficient; stores scatter over the whole volume. Sums are in single
// precision, in the order of coefficients.
#include "insert.h"

static void coefficient(const fr_insertion *p, int64_t sample, int64_t i, int64_t j) {
    const int64_t particle = sample / p->trials, e = particle * p->stored + fr_element(p->side, i, j);
    const float *pose = p->pose + FR_POSE_FLOATS * sample, *weight = p->weight + 2 * particle, *D = p->D + 2 * e;
    const float phase = pose[6] * (float)i + pose[7] * (float)j, co = cosf(phase), si = sinf(phase);
    const float w = weight[0] * expf(weight[1] * (float)(i * i + j * j));
    float at[3], record[3];
    fr_insert_record(p->squared, w, p->c[e], D[0] * co - D[1] * si, D[0] * si + D[1] * co, record);
    fr_place(pose, (float)i, (float)j, at);
    fr_insert_plain(p, at, record, -p->side / 2 + 1, p->side / 2 + 1);
    if (fr_mates(p->side, i, j) == 1) return;
    for (int axis = 0; axis < 3; axis++) at[axis] = -at[axis];
    record[1] = -record[1];
    fr_insert_plain(p, at, record, -p->side / 2 + 1, p->side / 2 + 1);
}

static int run(rg_call *call) {
    const fr_insertion p = fr_insertion_of(call);
    for (int64_t sample = 0; sample < p.samples; sample++)
        for (int64_t j = -p.side / 2 + 1; j <= p.side / 2; j++)
            for (int64_t i = 0, past = fr_insert_past(p.outer, j); i < past; i++) coefficient(&p, sample, i, j);
    return RG_OK;
}

// Three sums at each of eight nodes of either mate.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double coefficients = 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER] * s->n[FR_PARTICLES] * s->n[FR_TRIALS]);
    c->amount[RG_F32_MAD] = coefficients * 2 * (fr_interpolation(s->n[FR_KIND]) == FR_NEAREST ? 1 : 8) * 5;
}

RG_VARIANT(pinsert_s_naive) = {
    RG_VARIANT_OF(
        "pinsert_s", "naive", RG_NAIVE, RG_HOST, "plain C: each coefficient, then its mate, added to the nodes around it"),
    .cost = cost,
    .run = run,
};
