// SPDX-License-Identifier: MIT
// owned_plan.cuh: the bricks of the volume, and the units of work of owned.cu, each a brick and a part of the samples.
//
// A brick at distance d meets a fraction of about min(1, BRICK_REACH / d) of the planes through the origin. Bricks that more
// than `hits` samples are expected to meet are shared by several units, which keep their sums in slots of scratch until a
// second kernel adds them up, in order. Blocks process units in the order of the bricks, from the middle of the volume, where
// all samples meet, to its ends along z, whose units are a quarter as large, so that all blocks end at nearly the same time. No
// sum depends on which block processes a unit.
#ifndef RG_GRIDDING_OWNED_PLAN_CUH
#define RG_GRIDDING_OWNED_PLAN_CUH

#include "../gpu/early.cuh"
#include "view.cuh"

enum { BRICK = 16, BRICK_VOXELS = BRICK * BRICK * BRICK, SLOT_FLOATS = 3 * BRICK_VOXELS };
enum { BRICK_REACH = 14 }; // half the mean width of a brick, and b
enum { UNITS_AT_ONCE = 286, UNITS_WANTED = 800, HITS_LEAST = 48, HITS_MOST = 256, HITS_LAST_LEAST = 4, PLANNERS = 1024 };

typedef struct gr_bricks {
    int k, x, y, z, samples, hits; // bricks along each axis; samples; hits a unit should have
    float reach;                   // no voxel farther from the origin is within b of a pixel
    int reach_squared;             // rounded down
} gr_bricks;

// One unit: part `part` of `parts` of the samples of a brick, whose sums go to `slot`, or to the volume where parts is 1.
typedef struct gr_unit {
    int brick, part, parts, slot;
} gr_unit;

typedef struct gr_counters {
    int units, slots, next;
} gr_counters;

// hits = 0 chooses the number: about UNITS_WANTED units have work. If they would have fewer than HITS_LEAST hits, there are
// only as many units as a large GPU runs together, because every unit costs storing.
static inline gr_bricks gr_bricks_of(const rg_shape *s, int64_t hits) {
    const int k = (int)gr_k(s->n[GR_SIDE]), across = (2 * k + BRICK) / BRICK;
    gr_bricks n = {k, k / BRICK + 1, across, across, (int)(s->n[GR_IMAGES] * s->n[GR_OPERATORS]), (int)hits,
        (float)k + gr_radius(s->n[GR_RADIUS]) + TILE_MARGIN, 0};
    n.reach_squared = (int)((double)n.reach * (double)n.reach);
    if (!hits) { // of half a ball, brick by brick: samples times the integral of BRICK_REACH / d
        const double all = (double)n.samples * 3.14159265 * BRICK_REACH * k * k / BRICK_VOXELS;
        n.hits = (int)fmin(fmax(all / UNITS_WANTED, fmin(all / UNITS_AT_ONCE + 1, HITS_LEAST)), HITS_MOST);
    }
    return n;
}

// First voxel of brick i; the middle of y and z first.
RG_HD void gr_brick_low(gr_bricks n, int i, int low[AXES]) {
    const int y = i / n.x % n.y, z = i / n.x / n.y;
    low[X_AXIS] = i % n.x * BRICK;
    low[Y_AXIS] = (y % 2 ? n.y / 2 - (y + 1) / 2 : n.y / 2 + y / 2) * BRICK - n.k;
    low[Z_AXIS] = (z % 2 ? n.z / 2 - (z + 1) / 2 : n.z / 2 + z / 2) * BRICK - n.k;
}

// The same as low[axis], which would move `low` to local memory.
RG_HD int gr_along(const int low[AXES], int axis) {
    return axis == X_AXIS ? low[X_AXIS] : axis == Y_AXIS ? low[Y_AXIS] : low[Z_AXIS];
}

// Square of twice the distance of a brick's middle from the origin.
RG_HD int64_t gr_brick_distance(const int low[AXES]) {
    int64_t sum = 0;
    for (int i = 0; i < AXES; i++) {
        const int64_t middle = 2 * low[i] + BRICK - 1;
        sum += middle * middle;
    }
    return sum;
}

// Square of the coordinate nearest to the origin of the BRICK from `low` on.
RG_HD int gr_nearest(int low) {
    const int d = low > 0 ? low : low + BRICK - 1 < 0 ? low + BRICK - 1 : 0;
    return d * d;
}

// Whether all of its voxels are out of reach.
RG_HD int gr_is_beyond(gr_bricks n, const int low[AXES]) {
    return gr_nearest(low[X_AXIS]) + gr_nearest(low[Y_AXIS]) + gr_nearest(low[Z_AXIS]) > n.reach_squared;
}

// The first brick beyond reach among those along x that hold the voxels (y - k, z - k).
RG_HD int gr_first_beyond(gr_bricks n, int y, int z) {
    const int rest = n.reach_squared - gr_nearest(y / BRICK * BRICK - n.k) - gr_nearest(z / BRICK * BRICK - n.k);
    int i = rest < 0 ? 0 : (int)(sqrtf((float)rest) / BRICK);
    while (gr_nearest(i * BRICK) <= rest) i++;
    return i;
}

// Hits a unit of the last bricks, those beyond 0.7 k along z.
RG_HD int gr_hits_last(gr_bricks n) {
    const int least = n.hits < HITS_LAST_LEAST ? n.hits : HITS_LAST_LEAST;
    return n.hits / 4 > least ? n.hits / 4 : least;
}

// Units of brick i; 0 if it is beyond reach.
RG_HD int gr_brick_parts(gr_bricks n, int i) {
    int low[AXES];
    gr_brick_low(n, i, low);
    if (gr_is_beyond(n, low)) return 0;
    const double d = sqrt((double)gr_brick_distance(low)) / 2, share = d < BRICK_REACH ? 1 : BRICK_REACH / d;
    const int middle = 2 * low[Z_AXIS] + BRICK - 1, last = 5 * (middle < 0 ? -middle : middle) > 7 * n.k;
    const double parts = (double)n.samples * share / (last ? gr_hits_last(n) : n.hits);
    return parts > 1 ? (int)ceil(parts) : 1;
}

static inline int gr_bricks_all(gr_bricks n) { return n.x * n.y * n.z; }

static inline void gr_count_units(gr_bricks n, int64_t *units, int64_t *slots) {
    *units = *slots = 0;
    for (int i = 0; i < gr_bricks_all(n); i++) {
        const int parts = gr_brick_parts(n, i);
        *units += parts;
        *slots += parts > 1 ? parts : 0;
    }
}

// Slots follow the units.
RG_HD float *gr_slots_of(const gr_unit *units, int64_t n) { return (float *)(units + (n + 15) / 16 * 16); }

// One block: each thread counts the units of its range of bricks, and writes them after those of the threads before it.
static __global__ void gr_plan(gr_bricks n, int bricks, gr_unit *units, gr_counters *count) {
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

// Element of voxel e = x + 16 y + 256 z of a brick in shared memory and in a slot. It avoids most bank conflicts of the lanes
// of a warp, whose columns may run along any axis.
RG_HD int gr_element(int e) { return e ^ (e >> 6 & 28); }

#endif
