// SPDX-License-Identifier: MIT
// gridding_lost_update.c: what gridding_no_atomics.cu comes to, every time: of two pixels that stand next to each other in a
// row the second reads the sums before the first has written them, and writes its own over those.
// Shows as weight that is missing wherever the windows of two such pixels meet; G / W hides most of it.
#include "../../../impl/gridding/call.h"

enum { VOXELS = 2 * 7 * 7 * 7 }; // of the largest window, and of its mates

static int second; // of the two: the one in an odd column
static struct {
    int64_t voxel;
    float sum[3];
} seen[VOXELS + 1]; // what the second one reads
static int n_seen;

RG_HD void lose(const gr_call *p, int64_t voxel, float re, float im, float w)
{
    float sum[3] = {p->G[2 * voxel], p->G[2 * voxel + 1], p->W[voxel]};
    int i = 0;
    while (i < n_seen && seen[i].voxel != voxel) i++;
    if (i < n_seen && second) memcpy(sum, seen[i].sum, sizeof sum);
    if (i == n_seen && i < VOXELS) {
        seen[n_seen].voxel = voxel;
        memcpy(seen[n_seen++].sum, sum, sizeof sum);
    }
    p->G[2 * voxel] = sum[0] + re;
    p->G[2 * voxel + 1] = sum[1] + im;
    p->W[voxel] = sum[2] + w;
    if (second) memcpy(seen[i].sum, (float[]){sum[0] + re, sum[1] + im, sum[2] + w}, sizeof sum);
}

RG_HD void place(const float *m, float x, float y, float r[3])
{
    second = (int)x % 2;
    n_seen = second ? n_seen : 0;
    gr_place(m, x, y, r);
}

#define PLACE(m, x, y, r) place(m, x, y, r)
#define ADD lose
#include "gridding.h"

BROKEN_GRIDDING("gridding_lost_update", "two neighbours read a sum before either has written it: one addition is lost");
