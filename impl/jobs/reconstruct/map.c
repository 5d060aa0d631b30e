// SPDX-License-Identifier: MIT
// map.c: makes maps from sums, on the device that has the sums.
#include "reconstruct.h"
#include "device.h"

// FREALIGN's rule: 0.1 times the operators times the mean of w m c^2 over all additions; w and c are independent. A disc has 2
// (stored in the circle) - (the column x = 0) pixels.
double rc_wiener(const rc_job *job, int half) {
    double disc = 0;
    for (int64_t y = -job->k; y <= job->k; y++) disc += (double)(2 * gr_row(job->k, y) - 1);
    if (!isnan(job->f)) return job->f;
    return job->ctf
        ? 0.1 * job->symmetry.n * gr_kernel_mean(job->radius_tenths) * job->ctf2[half] / (disc * (double)job->particles.n)
        : 0;
}

// ---- operators of the grid -----------------------------------------------------------------------------------------------

enum { TILE = 8 }; // of complex values: a cache line, so that values read across the source's lines are used before eviction

// Sums of one half.
typedef struct sums {
    float *g, *w;
} sums;

// Adds one line: to(v) += from(S^-1 v), x = v[0] .. last - 1. S maps axes onto axes, entries 0, 1 and -1, so the source moves
// by a constant step. In the half x < 0 it reads G(-v) = conj G(v), with all steps negated.
static void pull(int64_t k, const sums *from, const sums *to, const int s[9], const int64_t v[3], int64_t last) {
    int64_t at[3], step[3];
    for (int i = 0; i < 3; i++) {
        at[i] = s[i] * v[0] + s[3 + i] * v[1] + s[6 + i] * v[2];
        step[i] = s[i];
    }
    int turn = at[0] < 0 || (at[0] == 0 && step[0] < 0) ? -1 : 1;
    int64_t e = gr_voxel(k, turn * at[0], turn * at[1], turn * at[2]), out = gr_voxel(k, v[0], v[1], v[2]);
    int64_t move = turn * (gr_voxel(k, step[0], step[1], step[2]) - gr_voxel(k, 0, 0, 0));
    for (int64_t x = v[0]; x < last; x++, e += move, out++) {
        to->g[2 * out] += from->g[2 * e];
        to->g[2 * out + 1] += (float)turn * from->g[2 * e + 1];
        to->w[out] += from->w[e];
    }
}

static void pull_tile(const rc_job *job, const sums *from, const sums *to, const int64_t low[3]) {
    int64_t k = job->k, last[3];
    for (int i = 0; i < 3; i++) last[i] = low[i] + TILE < k + 1 ? low[i] + TILE : k + 1;
    for (int l = 0; l < job->lattice.n_lattice; l++) {
        int s[9];
        for (int i = 0; i < 9; i++) s[i] = (int)lrint(job->symmetry.matrix[job->lattice.lattice[l]][i]);
        for (int64_t z = low[2]; z < last[2]; z++)
            for (int64_t y = low[1]; y < last[1]; y++) pull(k, from, to, s, (const int64_t[3]){low[0], y, z}, last[0]);
    }
}

static void pull_all(const rc_job *job, const sums *from, const sums *to) {
    const int64_t k = job->k;
#pragma omp parallel for collapse(2) num_threads(job->threads) schedule(dynamic)
    for (int64_t z = -k; z <= k; z += TILE)
        for (int64_t y = -k; y <= k; y += TILE)
            for (int64_t x = 0; x <= k; x += TILE) pull_tile(job, from, to, (const int64_t[3]){x, y, z});
}

static int pull_on_gpu(const rc_job *job, const sums *from, const sums *to) {
    int operators[24 * 9];
    for (int l = 0; l < job->lattice.n_lattice; l++)
        for (int i = 0; i < 9; i++) operators[9 * l + i] = (int)lrint(job->symmetry.matrix[job->lattice.lattice[l]][i]);
    const rg_device *d = job->team.member->device;
    const int error = rc_steps(d)->lattice(NULL, job->k, operators, job->lattice.n_lattice, from->g, from->w, to->g, to->w);
    return error ? error : d->sync();
}

int rc_apply_lattice(rc_job *job, int half) {
    const pl_member *m = job->team.member;
    rg_buffer *sum = rc_sum_of(&job->run, 0, half), made[2] = {{0}};
    if (!job->use_lattice) return RG_GOOD;
    int error = RG_OK;
    for (int part = 0; part < 2 && !error; part++) {
        error = rg_buffer_make(&made[part], m->device, sum[part].bytes, sizeof(float), false, "sums");
        error = error ? error : m->device->fill(made[part].base, 0, made[part].bytes);
    }
    const sums from = {sum[0].base, sum[1].base}, to = {made[0].base, made[1].base};
    if (!error && rc_on_gpu(job))
        error = pull_on_gpu(job, &from, &to);
    else if (!error)
        pull_all(job, &from, &to);
    for (int part = 0; part < 2; part++) {
        rg_buffer_free(error ? &made[part] : &sum[part]);
        sum[part] = error ? sum[part] : made[part];
    }
    return pl_failed(m, "applying the operators of the grid", error);
}

// ---- one map -------------------------------------------------------------------------------------------------------------

static int map_on_gpu(const rc_job *job, const gr_map_of *of, float *map) {
    const rg_device *d = job->team.member->device;
    int64_t n;
    RG_FREED double *factor = gr_map_factors(of, &n);
    size_t factors = (size_t)n * sizeof *factor;
    void *room = NULL, *table = NULL;
    int error = d->alloc(&room, rc_grid_bytes(of->padded), "transform of the map");
    error = error ? error : d->alloc(&table, factors, "gridding correction");
    error = error ? error : factor ? d->upload(table, factor, factors) : RG_E_STATE;
    const rc_map_call call = {.sums = {of->k, of->g, of->w, of->wiener, gr_kernel_variance(of->radius_tenths)},
        .padded = of->padded,
        .side = of->side,
        .grid = room,
        .factor = table,
        .map = map};
    error = error ? error : rc_steps(d)->map(NULL, &call);
    if (room) d->release(room);
    if (table) d->release(table);
    return error;
}

int rc_make_map(rc_run *run, int half, double wiener, float *map) {
    const rc_job *job = (const rc_job *)run;
    pl_member *m = job->team.member;
    const rg_buffer *sum = rc_sum_of(&job->run, 0, half);
    const double since_s = rg_seconds();
    const gr_map_of of = {.k = job->k,
        .padded = job->padded,
        .side = job->particles.side,
        .radius_tenths = job->radius_tenths,
        .g = sum[0].base,
        .w = sum[1].base,
        .wiener = wiener,
        .mask_radius_px = job->mask_radius_px,
        .threads = job->threads};
    int error = rc_on_gpu(job) ? map_on_gpu(job, &of, map) : gr_map(&of, map);
    pl_lap(m, PL_MAP, since_s);
    return pl_failed(m, "making the map", error);
}

int rc_weigh(rc_run *run) {
    rc_job *job = (rc_job *)run;
    const double since_s = rg_seconds();
    int code = RG_GOOD;
    for (int h = 0; h < run->halves && code == RG_GOOD; h++) {
        run->f[h] = rc_wiener(job, h);
        run->f[2] += run->f[h];
        code = rc_apply_lattice(job, h);
    }
    pl_lap(job->team.member, PL_MAP, since_s);
    return code;
}
