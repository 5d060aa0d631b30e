// SPDX-License-Identifier: MIT
// simd.c: pinsert_s with AVX2, on one core or all.
//
// A row of coefficients becomes records (Re, Im, den); the shift and the weight come from tables of the columns. Then eight
// samples at a time find their nodes and prefetch them (simd_section.h). A sample with p_x < 0 is replaced by its mate, so that
// one visit serves both: the other one adds nothing to a node with l_x > 0. Samples beside the plane x = 0, of column 0, or at
// the rim of the volume go through fr_insert_plain.
//
// Threads own slabs of planes z. In each row the samples that reach a slab form an interval, found from the slope of p_z;
// planes of a sample that another thread owns are skipped. The terms of a node are added in one order, whatever the number of
// threads.
//
// Bound: reading and writing lines of the volume, four or more a sample; lines that neighbours share count once. Measured:
// data/machines/h100-16xeon.tsv.
#include "insert.h"
#include "../simd_section.h"

// Samples are added in the planes first <= z < past, as stored frequencies -side/2+1 .. side/2.
typedef struct slab {
    int64_t first, past;
    int all;
} slab;

typedef struct row {
    int64_t j, past;
    float re[FR_SIDE_MAX / 2 + 8], im[FR_SIDE_MAX / 2 + 8], den[FR_SIDE_MAX / 2 + 8];
} row;

typedef struct columns {
    float co[FR_SIDE_MAX / 2 + 8], si[FR_SIDE_MAX / 2 + 8],
        weight[FR_SIDE_MAX / 2 + 8]; // e^{i s_x i}, weight[0] exp(weight[1] i^2)
} columns;

static void columns_make(const fr_insertion *p, int64_t sample, columns *t) {
    const float *pose = p->pose + FR_POSE_FLOATS * sample, *weight = p->weight + 2 * (sample / p->trials);
    for (int64_t i = 0; i <= p->outer; i++) {
        t->co[i] = (float)cos((double)pose[6] * (double)i);
        t->si[i] = (float)sin((double)pose[6] * (double)i);
        t->weight[i] = weight[0] * (float)exp((double)weight[1] * (double)(i * i));
    }
}

FR_AVX2 static void row_make(const fr_insertion *p, int64_t sample, const columns *t, int64_t j, row *to) {
    const int64_t particle = sample / p->trials, at = particle * p->stored + fr_element(p->side, 0, j);
    const double phase = (double)p->pose[FR_POSE_FLOATS * sample + 7] * (double)j;
    const float co = (float)cos(phase), si = (float)sin(phase), *D = p->D + 2 * at, *c = p->c + at;
    const float wj = (float)exp((double)p->weight[2 * particle + 1] * (double)(j * j));
    to->j = j;
    to->past = fr_insert_past(p->outer, j);
    for (int64_t i = 0; i < to->past; i++) {
        const float tr = t->co[i] * co - t->si[i] * si, ti = t->co[i] * si + t->si[i] * co;
        float record[3];
        fr_insert_record(
            p->squared, t->weight[i] * wj, c[i], D[2 * i] * tr - D[2 * i + 1] * ti, D[2 * i] * ti + D[2 * i + 1] * tr, record);
        to->re[i] = record[0];
        to->im[i] = record[1];
        to->den[i] = record[2];
    }
}

static int owned(const slab *s, int64_t z) { return z >= s->first && z < s->past; }

// In plain C, for both mates. A record can fall into several slabs: only owned nodes are added to.
static void add_plain(const fr_insertion *p, const slab *s, int64_t sample, const row *r, int64_t i) {
    float at[3], record[3] = {r->re[i], r->im[i], r->den[i]};
    fr_place(p->pose + FR_POSE_FLOATS * sample, (float)i, (float)r->j, at);
    for (int mate = 0; mate < fr_mates(p->side, i, r->j); mate++) {
        fr_insert_plain(p, at, record, s->first, s->past);
        for (int axis = 0; axis < 3; axis++) at[axis] = -at[axis];
        record[1] = -record[1];
    }
}

// Returns which of eight samples have all their nodes stored while their mates' nodes are not.
FR_AVX2 FR_INLINE int inside_eight(const fr_eight *e, int64_t half, const int n) {
    const __m256i x = _mm256_loadu_si256((const __m256i *)e->first[0]), last = _mm256_set1_epi32((int)half + 2 - n);
    __m256i in = _mm256_and_si256(_mm256_cmpgt_epi32(x, _mm256_setzero_si256()), _mm256_cmpgt_epi32(last, x));
    for (int axis = 1; axis < 3; axis++) {
        const __m256i at = _mm256_loadu_si256((const __m256i *)e->first[axis]);
        in = _mm256_and_si256(in, _mm256_cmpgt_epi32(at, _mm256_set1_epi32(-(int)half - 1)));
        in = _mm256_and_si256(in, _mm256_cmpgt_epi32(last, at));
    }
    return _mm256_movemask_ps(_mm256_castsi256_ps(in));
}

// Adds sample l of eight, for which inside_eight holds. One node at a time: the next sample has the same nodes or adjacent
// ones, and a processor forwards a store that is still pending to a load of the same 16 bytes, but not to a load of 32 bytes
// that starts between two stores.
FR_AVX2 FR_INLINE void add_sample(
    const fr_insertion *p, const slab *s, const row *r, const fr_eight *e, int l, int64_t i, const int n) {
    const __m128 one = _mm_setr_ps(r->re[i], signbit(e->sign[l]) ? -r->im[i] : r->im[i], r->den[i], 0);
    const __m128 low = _mm_mul_ps(one, _mm_set1_ps(e->x[0][l])), high = _mm_mul_ps(one, _mm_set1_ps(e->x[n - 1][l]));
    for (int z = 0; z < n; z++) {
        const int64_t node = e->first[2][l] + z;
        if (!s->all && !owned(s, 2 * node == -p->side ? -node : node)) continue;
        for (int y = 0; y < n; y++) {
            float *at = (float *)(uintptr_t)e->row[n * z + y][l];
            const __m128 w = _mm_set1_ps(e->w[n * z + y][l]);
            _mm_storeu_ps(at, _mm_fmadd_ps(low, w, _mm_loadu_ps(at)));
            if (n == 2) _mm_storeu_ps(at + FR_RECORD, _mm_fmadd_ps(high, w, _mm_loadu_ps(at + FR_RECORD)));
        }
    }
}

// Places eight samples and prefetches the lines of their nodes for writing.
FR_AVX2 FR_INLINE void call_for(
    const fr_insertion *p, int64_t sample, int64_t i, int64_t j, const int interpolation, fr_eight *e) {
    const int n = fr_nodes(interpolation);
    fr_place_eight(1, p->pose + FR_POSE_FLOATS * sample, i, j, interpolation, e);
    fr_rows_eight(p->volume, p->side, FR_RECORD, n, e);
    for (int r = 0; r < n * n; r++) {
        const __m256 w = _mm256_loadu_ps(e->w[r]);
        if (p->squared) _mm256_storeu_ps(e->w[r], _mm256_mul_ps(w, w));
        for (int l = 0; l < FR_EIGHT; l++) __builtin_prefetch(e->row[r][l], 1);
    }
    for (int x = 0; x < n && p->squared; x++)
        _mm256_storeu_ps(e->x[x], _mm256_mul_ps(_mm256_loadu_ps(e->x[x]), _mm256_loadu_ps(e->x[x])));
}

FR_AVX2 FR_INLINE void add_samples(
    const fr_insertion *p, const slab *s, int64_t sample, const row *r, int64_t first, int64_t past, const int interpolation) {
    const int n = fr_nodes(interpolation);
    fr_eight ring[FR_AHEAD + 1];
    for (int64_t i = first, placed = first; i < past; i += FR_EIGHT) {
        for (; placed < past && placed <= i + FR_AHEAD * FR_EIGHT; placed += FR_EIGHT)
            call_for(p, sample, placed, r->j, interpolation, &ring[(placed - first) / FR_EIGHT % (FR_AHEAD + 1)]);
        const fr_eight *e = &ring[(i - first) / FR_EIGHT % (FR_AHEAD + 1)];
        const int inside = inside_eight(e, p->side / 2, n);
        for (int l = 0; l < FR_EIGHT && i + l < past; l++) {
            if (inside >> l & 1 && i + l > 0)
                add_sample(p, s, r, e, l, i + l, n);
            else
                add_plain(p, s, sample, r, i + l);
        }
    }
}

FR_AVX2 static void add_row(const fr_insertion *p, const slab *s, int64_t sample, const row *r, int64_t first, int64_t past) {
    if (p->interpolation == FR_TRILINEAR)
        add_samples(p, s, sample, r, first, past, FR_TRILINEAR);
    else if (p->interpolation == FR_BOX2)
        add_samples(p, s, sample, r, first, past, FR_BOX2);
    else
        add_samples(p, s, sample, r, first, past, FR_NEAREST);
}

// Columns of the row whose samples, or their mates, can reach the slab: an interval about |p_z| = |slope i + at|, or two.
static void add_reaching(const fr_insertion *p, const slab *s, int64_t sample, const row *r) {
    const float *pose = p->pose + FR_POSE_FLOATS * sample;
    const double slope = pose[2], at = (double)pose[5] * (double)r->j;
    int64_t done = 0; // columns before it are added
    double reach[2][2] = {
        {(double)s->first - 1.01, (double)s->past + 0.01}, {-(double)s->past - 0.01, 1.01 - (double)s->first}};
    if (s->all) {
        add_row(p, s, sample, r, 0, r->past);
        return;
    }
    const int later = slope >= 0 ? reach[0][0] < reach[1][0] : reach[0][0] > reach[1][0]; // which interval comes first
    for (int k = 0; k < 2; k++) {
        const double *z = reach[k == 0 ? !later : later];
        double low = 0, high = (double)r->past - 1;
        if (fabs(slope) > 1e-6) {
            low = fmax(low, ((slope > 0 ? z[0] : z[1]) - at) / slope);
            high = fmin(high, ((slope > 0 ? z[1] : z[0]) - at) / slope);
        } else if (at < z[0] - 0.01 || at > z[1] + 0.01) {
            continue;
        }
        const int64_t first = low > (double)done ? (int64_t)low : done, past = (int64_t)floor(high) + 1;
        if (past > first) add_row(p, s, sample, r, first, past);
        done = past > done ? past : done;
    }
}

static int run(rg_call *call) {
    const fr_insertion p = fr_insertion_of(call);
    const int64_t planes = p.side, slabs = call->threads > 1 ? (planes < 6 * call->threads ? planes : 6 * call->threads) : 1;
#pragma omp parallel num_threads(call->threads)
    {
        row r;
        columns t;
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < slabs; k++) {
            const slab s = {planes * k / slabs - p.side / 2 + 1, planes * (k + 1) / slabs - p.side / 2 + 1, slabs == 1};
            for (int64_t sample = 0; sample < p.samples; sample++) {
                columns_make(&p, sample, &t);
                for (int64_t j = -p.side / 2 + 1; j <= p.side / 2; j++) {
                    if (fr_insert_past(p.outer, j) == 0) continue;
                    row_make(&p, sample, &t, j, &r);
                    add_reaching(&p, &s, sample, &r);
                }
            }
        }
    }
    return RG_OK;
}

// Every sample reads and writes n^2 pieces of 16 n bytes; along a plane of the volume half of their lines are new.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    const double samples = 1.5708 * (double)(s->n[FR_OUTER] * s->n[FR_OUTER] * s->n[FR_PARTICLES] * s->n[FR_TRIALS]);
    const double pieces = fr_interpolation(s->n[FR_KIND]) == FR_NEAREST ? 1 : 4;
    c->amount[RG_F32_MAD] = samples * (pieces * 8 + 40);
    c->amount[RG_MEM_BYTES] = samples * (12 + 2 * 32 * pieces);
}

RG_VARIANT(pinsert_s_simd) = {
    RG_VARIANT_OF("pinsert_s", "simd", RG_SIMD, RG_HOST,
        "AVX2; a sample and its mate in one visit of eight nodes, called for ahead; threads own slabs of planes"),
    .needs = "avx2",
    .flags = RG_THREADED,
    .cost = cost,
    .run = run,
};
