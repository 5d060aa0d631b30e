// SPDX-License-Identifier: MIT
// owned_plan.cuh: bricks of the volume, and the units of work of owned.cu: a brick and a part of the samples.
//
// Of planes through the origin a brick at distance d meets about min(1, BRICK_REACH / d). Bricks that more than `hits` samples
// are expected to meet are shared by several units, which keep their sums in slots of scratch until a second kernel adds them
// up, in order. Blocks take units in the order of the bricks, from the middle of the volume, where all samples meet, to its
// ends along z, whose units are a quarter as large: so all blocks end at nearly the same time. No sum depends on who takes
// what.
#ifndef RG_GRIDDING_OWNED_PLAN_CUH
#define RG_GRIDDING_OWNED_PLAN_CUH

#include "view.cuh"

enum { BRICK = 16, BRICK_VOXELS = BRICK * BRICK * BRICK, SLOT_FLOATS = 3 * BRICK_VOXELS };
enum { BRICK_REACH = 14 }; // half the mean width of a brick, and b
enum { UNITS_WANTED = 800, HITS_LEAST = 12, HITS_MOST = 256, HITS_LAST_LEAST = 4, PLANNERS = 1024 };

typedef struct gr_bricks {
    int k, x, y, z, samples, hits; // bricks along each axis; samples; hits a unit should have
    float reach;                   // no voxel farther from the origin is within b of a pixel
} gr_bricks;

// One unit: part `part` of `parts` of the samples of a brick, whose sums go to `slot`, or to the volume where parts is 1.
typedef struct gr_unit {
    int brick, part, parts, slot;
} gr_unit;

typedef struct gr_counters {
    int units, slots, next;
} gr_counters;

// hits = 0: so many that about UNITS_WANTED units have work.
static inline gr_bricks gr_bricks_of(const rg_shape *s, int64_t hits)
{
    const int k = (int)gr_k(s->n[GR_SIDE]), across = (2 * k + BRICK) / BRICK;
    gr_bricks n = {k, k / BRICK + 1, across, across, (int)(s->n[GR_IMAGES] * s->n[GR_OPERATORS]), (int)hits,
                   (float)k + gr_radius(s->n[GR_RADIUS]) + TILE_MARGIN};
    if (!hits) { // of half a ball, brick by brick: samples times the integral of BRICK_REACH / d
        const double all = (double)n.samples * 3.14159265 * BRICK_REACH * k * k / BRICK_VOXELS;
        n.hits = (int)fmin(fmax(all / UNITS_WANTED, HITS_LEAST), HITS_MOST);
    }
    return n;
}

// First voxel of brick i; the middle of y and z first.
RG_HD void gr_brick_low(gr_bricks n, int i, int low[AXES])
{
    const int y = i / n.x % n.y, z = i / n.x / n.y;
    low[X_AXIS] = i % n.x * BRICK;
    low[Y_AXIS] = (y % 2 ? n.y / 2 - (y + 1) / 2 : n.y / 2 + y / 2) * BRICK - n.k;
    low[Z_AXIS] = (z % 2 ? n.z / 2 - (z + 1) / 2 : n.z / 2 + z / 2) * BRICK - n.k;
}

// Square of twice the distance of a brick's middle from the origin.
RG_HD int64_t gr_brick_distance(const int low[AXES])
{
    int64_t sum = 0;
    for (int i = 0; i < AXES; i++) {
        const int64_t middle = 2 * low[i] + BRICK - 1;
        sum += middle * middle;
    }
    return sum;
}

// All of its voxels are out of reach.
RG_HD int gr_is_beyond(gr_bricks n, const int low[AXES])
{
    int nearest = 0; // squared, of a voxel
    for (int i = 0; i < AXES; i++) {
        const int d = low[i] > 0 ? low[i] : low[i] + BRICK - 1 < 0 ? low[i] + BRICK - 1 : 0;
        nearest += d * d;
    }
    return (double)nearest > (double)n.reach * (double)n.reach;
}

// Hits of a unit of the last bricks, those beyond 0.7 k along z.
RG_HD int gr_hits_last(gr_bricks n)
{
    const int least = n.hits < HITS_LAST_LEAST ? n.hits : HITS_LAST_LEAST;
    return n.hits / 4 > least ? n.hits / 4 : least;
}

RG_HD int gr_brick_parts(gr_bricks n, int i)
{
    int low[AXES];
    gr_brick_low(n, i, low);
    if (gr_is_beyond(n, low))
        return 1;
    const double d = sqrt((double)gr_brick_distance(low)) / 2, share = d < BRICK_REACH ? 1 : BRICK_REACH / d;
    const int middle = 2 * low[Z_AXIS] + BRICK - 1, last = 5 * (middle < 0 ? -middle : middle) > 7 * n.k;
    const double parts = (double)n.samples * share / (last ? gr_hits_last(n) : n.hits);
    return parts > 1 ? (int)ceil(parts) : 1;
}

static inline int gr_bricks_all(gr_bricks n) { return n.x * n.y * n.z; }

static inline void gr_count_units(gr_bricks n, int64_t *units, int64_t *slots)
{
    *units = *slots = 0;
    for (int i = 0; i < gr_bricks_all(n); i++) {
        const int parts = gr_brick_parts(n, i);
        *units += parts;
        *slots += parts > 1 ? parts : 0;
    }
}

// Slots begin behind the units.
RG_HD float *gr_slots_of(const gr_unit *units, int64_t n) { return (float *)(units + (n + 15) / 16 * 16); }

// One block: a thread counts what its range of bricks has, and writes it behind that of the threads before.
static __global__ void gr_plan(gr_bricks n, int bricks, gr_unit *units, gr_counters *count)
{
    __shared__ int2 before[PLANNERS];
    const int t = (int)threadIdx.x;
    const int first = (int)((int64_t)bricks * t / PLANNERS), past = (int)((int64_t)bricks * (t + 1) / PLANNERS);
    int2 own = make_int2(0, 0); // units, slots
    for (int i = first; i < past; i++) {
        const int parts = gr_brick_parts(n, i);
        own.x += parts;
        own.y += parts > 1 ? parts : 0;
    }
    before[t] = own;
    __syncthreads();
    if (t == 0) {
        int2 sum = make_int2(0, 0);
        for (int i = 0; i < PLANNERS; i++) {
            const int2 next = before[i];
            before[i] = sum;
            sum = make_int2(sum.x + next.x, sum.y + next.y);
        }
        count->units = sum.x;
        count->slots = sum.y;
    }
    __syncthreads();
    int2 at = before[t];
    for (int i = first; i < past; i++) {
        const int parts = gr_brick_parts(n, i);
        for (int part = 0; part < parts; part++) {
            const gr_unit unit = {i, part, parts, at.y + part};
            units[at.x + part] = unit;
        }
        at.x += parts;
        at.y += parts > 1 ? parts : 0;
    }
}

// Element of voxel e = x + 16 y + 256 z of a brick in shared memory and in a slot: the lanes of a warp, whose columns may run
// along any axis, meet seldom in a bank.
RG_HD int gr_element(int e) { return e ^ (e >> 6 & 28); }

typedef struct gr_volume {
    float *g, *w;
} gr_volume;

// The volume's element of voxel i = x + 16 y + 256 z of a brick, -1 where it lies beyond.
RG_HD int64_t gr_voxel_of_brick(int k, const int low[AXES], int i)
{
    const int x = low[X_AXIS] + i % BRICK, y = low[Y_AXIS] + i / BRICK % BRICK, z = low[Z_AXIS] + i / (BRICK * BRICK);
    return x > k || y > k || z > k ? -1 : gr_voxel(k, x, y, z);
}

// Blocks take units in turn: the first of those that share a brick adds up their slots.
static __global__ void gr_add_parts(gr_bricks n, const gr_unit *units, const gr_counters *count, gr_volume to)
{
    const float *slots = gr_slots_of(units, count->units);
    for (int u = (int)blockIdx.x; u < count->units; u += (int)gridDim.x) {
        const gr_unit unit = units[u];
        if (unit.part > 0 || unit.parts == 1)
            continue;
        int low[AXES];
        gr_brick_low(n, unit.brick, low);
        for (int i = (int)threadIdx.x; i < BRICK_VOXELS; i += (int)blockDim.x) {
            const int64_t e = gr_voxel_of_brick(n.k, low, i);
            if (e < 0)
                continue;
            float sum[3] = {0, 0, 0};
            for (int part = 0; part < unit.parts; part++)
                for (int c = 0; c < 3; c++)
                    sum[c] += slots[(int64_t)(unit.slot + part) * SLOT_FLOATS + c * BRICK_VOXELS + gr_element(i)];
            to.g[2 * e] = sum[0];
            to.g[2 * e + 1] = sum[1];
            to.w[e] = sum[2];
        }
    }
}

#endif
