// SPDX-License-Identifier: MIT
// frealign.c: reconstruct --method frealign (FREALIGN IFLAG 0; Li, Grigorieff and Cheng 2010, their Fig. 1C): inserts every
// particle under every operator into numerator and denominator, odd and even rows separately. Of N GPUs, N even, row m N + n
// goes to GPU n, which so has rows of one half only and needs one volume. The volumes of a half are added in pairs, from GPU to
// GPU, until the first two GPUs have the halves.
#include "../pipeline/ranks.h"
#include "frealign.h"

const rg_option fr_reconstruct_options[] = {
    {"preset", "v9|paper", "frealign: trilinear weights, or squared ones as in the paper", RG_TO(fr_reconstruction, preset), 0,
        0, "v9", .needs = "method=frealign"},
    {"resolution", "A", "frealign: nothing finer is inserted", RG_TO(fr_reconstruction, finest_A), 0, 1e6L, .unit = "Angstrom",
        .needs = "method=frealign", .otherwise = "two pixels"},
    {"pbc", "P",
        "frealign: weights exp(2 min(2, (score - mean) / (P pixel^2)) (2r/N)^2) from the scores of a .par file; 0: none",
        RG_TO(fr_reconstruction, pbc), 0, 1e9L, "0", .needs = "method=frealign"},
    {"mass", "KDA", "frealign: of the particle, for the column part_ssnr", RG_TO(fr_reconstruction, mass_kDa), 0, 1e9L, "0",
        "kDa", .needs = "method=frealign"},
    RG_OPTIONS_OF(fr_par_options, fr_reconstruction, files),
    {0},
};

static int check_options(fr_reconstruction *r, const char *group) {
    const double pixel_A = r->files.particles.pixel_A;
    // FREALIGN always masks: noise at the box's corners is divided by as little as a fifteenth.
    const double widest = fmax(1, (double)r->side / 2 - 1 - FR_EDGE / 2);
    const char *why = gr_symmetry_make(&r->symmetry, group);
    if (why) return rg_fail(RG_USAGE, "--sym %s: %s", group, why);
    int code = rg_option_within("resolution", &r->finest_A, 2 * pixel_A, 2 * pixel_A, 1e6);
    if (code == RG_GOOD) code = rg_option_within("mask-radius", &r->mask_px, widest, 0, (double)r->side / 2);
    if (code != RG_GOOD) return code;
    r->outer = (int64_t)floor((double)r->side * pixel_A / r->finest_A + 1e-9);
    if (rg_particles_halves(&r->files.particles) != RG_GOOD) return RG_USAGE;
    if (r->pbc > 0 && !r->files.par.n)
        return rg_fail(RG_USAGE, "--pbc: expected a .par file with scores, found %s", r->files.input);
    for (int64_t i = 0; i < r->files.par.n; i++)
        r->mean_score += r->files.par.row[i].value[RG_PAR_SCORE] / (double)r->files.par.n;
    return RG_GOOD;
}

// ---- maps ----------------------------------------------------------------------------------------------------------------

// R = num / (f + den) for each half and for both; then the inverse transform, division by the interpolation's transform, the
// mask, and the halves' Fourier shell correlation. Runs on the device that has the sums.
static void maps_need(const fr_reconstruction *r, const fr_engine *e, rg_needs *needs) {
    const size_t side = (size_t)r->side, grid = (size_t)fr_grid_floats(r->side) * sizeof(float);
    rg_need(needs, "gridding correction", (double)rg_buffer_bytes(side * sizeof(double), sizeof(double)));
    rg_need(needs, "edge of the mask", (double)rg_buffer_bytes(2 * sizeof(double), sizeof(double)));
    rg_need(needs, "sums over rings",
        (double)rg_buffer_bytes((size_t)(4 * fr_all_rings(r->side)) * sizeof(double), sizeof(double)));
    rg_need(needs, "maps", 2 * (double)rg_buffer_bytes(side * side * side * sizeof(float), sizeof(float)));
    rg_need(needs, "transforms of the maps", 2 * (double)rg_buffer_bytes(grid, 16));
    rg_need(needs, "work area of a transform", fr_engine_work_bytes(e, r->side));
}

static int make_rooms(fr_reconstruction *r) {
    const size_t side = (size_t)r->side, rings = (size_t)fr_all_rings(r->side);
    const rg_device *d = r->run.team->member->device;
    RG_FREED double *correction = rg_alloc(side * sizeof *correction);
    int error = rg_buffer_make(&r->correction, d, side * sizeof(double), sizeof(double), false, "correction");
    error = error ? error : rg_buffer_make(&r->edge, d, 2 * sizeof(double), sizeof(double), false, "edge");
    error = error ? error : rg_buffer_make(&r->sums, d, 4 * rings * sizeof(double), sizeof(double), false, "rings");
    for (int i = 0; i < 2 && !error; i++) {
        const size_t grid = (size_t)fr_grid_floats(r->side) * sizeof(float);
        error = rg_buffer_make(&r->grid[i], d, grid, 16, false, "map's transform");
    }
    // (sin(pi x) / (pi x))^2 is the transform of the trilinear weights; the paper's sums of squared weights stay as they are.
    for (int64_t i = 0; i < r->side; i++) {
        const double t = M_PI * (double)(i - r->side / 2) / (double)r->side, s = t != 0 ? sin(t) / t : 1;
        correction[i] = r->preset == FR_INSERT_AS_PAPER ? 1 : s * s;
    }
    error = error ? error : rg_buffer_put(&r->correction, correction);
    return pl_failed(r->run.team->member, "making room for the maps", error);
}

// FREALIGN's rule: a tenth of the operators times the mean that one addition adds to a node. An addition takes every
// coefficient of the plane to 8 nodes, half of them in the half space.
static double rule(const fr_reconstruction *r, const double *rings) {
    double total = 0, plane = 0;
    for (int64_t s = 0; s < fr_all_rings(r->side); s++) total += rings[s];
    for (int64_t j = -r->outer; j <= r->outer; j++) plane += 2 * (double)fr_root(r->outer * r->outer - j * j) + 1;
    const double additions = 4 * plane * (double)r->files.particles.n * r->symmetry.n;
    return r->f >= 0 ? r->f : 0.1 * r->symmetry.n * total / additions;
}

static int weigh_halves(rc_run *run) {
    fr_reconstruction *r = (fr_reconstruction *)run;
    const pl_member *m = run->team->member;
    int code = make_rooms(r), error = RG_OK;
    for (int h = 0; h < 2 && code == RG_GOOD; h++) {
        const size_t bytes = (size_t)(2 * fr_all_rings(r->side)) * sizeof(double);
        r->rings[h] = rg_alloc(bytes);
        error = fr_steps(m->device)->weights(r->side, rc_sum_of(run, 0, h)->base, r->sums.base, m->threads);
        error = error ? error : m->device->download(r->rings[h], r->sums.base, bytes);
        run->f[h] = rule(r, r->rings[h]);
        code = pl_failed(m, "summing the weights", error);
    }
    run->f[2] = r->f >= 0 ? r->f : run->f[0] + run->f[1];
    return code;
}

static int make_map(rc_run *run, int half, double f, float *map) {
    fr_reconstruction *r = (fr_reconstruction *)run;
    pl_member *m = run->team->member;
    const double side = (double)r->side, since_s = rg_seconds();
    const fr_map_call call = {.side = r->side,
        .outer = r->outer,
        .volume = rc_sum_of(run, 0, half)->base,
        .f = f,
        .scale = (r->preset == FR_INSERT_AS_PAPER ? 1 : 0.5) / (side * side * side), // v9 adds 2c D
        .correction = r->correction.base,
        .mask_px = (float)r->mask_px,
        .grid = r->grid[0].base,
        .edge = r->edge.base,
        .map = map,
        .threads = m->threads};
    int error = fr_steps(m->device)->map(&call);
    pl_lap(m, PL_MAP, since_s);
    return pl_failed(m, "making the map", error);
}

// part_ssnr: the square root of 2 FSC / (1 - FSC) times nodes over weights of the shell, times the share of the box that the
// mask keeps over that of the particle (0.81 Da a cubic A; 1 without --mass).
static int write_fsc(const fr_reconstruction *r, const double *sums) {
    const int64_t side = r->side, shells = side / 2 + 1, rings = fr_all_rings(side);
    const double length_A = (double)side * r->files.particles.pixel_A;
    const double radius = r->mask_px > 0 ? r->mask_px : (double)side / 2, box = (double)side * (double)side * (double)side;
    const double particle = r->mass_kDa * 1000 / 0.81 / (length_A * length_A * length_A);
    const double share = r->mass_kDa > 0 ? 4 * M_PI / 3 * radius * radius * radius / box / particle : 1;
    rg_file file;
    int code = rg_file_open_beside(&file, r->run.typed->out, "_fsc", ".tsv");
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "# command: %s\n# frequency in 1/A, resolution in A\nshell\tfrequency\tresolution\tfsc\tpart_ssnr\n",
        r->team.given->line);
    for (int64_t s = 0; s < shells; s++) {
        const double aa = sums[shells + s], bb = sums[2 * shells + s];
        const double fsc = aa > 0 && bb > 0 ? sums[s] / sqrt(aa) / sqrt(bb) : NAN, ratio = 2 * fsc / (1 - fsc);
        const double weights = r->rings[0][s] + r->rings[1][s], nodes = r->rings[0][rings + s];
        fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\t%.9g\n", s, (double)s / length_A, length_A / (double)s, fsc,
            ratio > 0 && weights > 0 ? sqrt(ratio * nodes / weights * share) : 0);
    }
    return rg_file_commit(&file);
}

static int correlate(rc_run *run) {
    fr_reconstruction *r = (fr_reconstruction *)run;
    pl_member *m = run->team->member;
    const double since_s = rg_seconds();
    float *const grid[2] = {r->grid[0].base, r->grid[1].base};
    const size_t bytes = (size_t)(3 * (r->side / 2 + 1)) * sizeof(double);
    RG_FREED double *sums = rg_alloc(bytes);
    int error = fr_steps(m->device)->shells(r->side, run->map[0].base, run->map[1].base, grid, r->sums.base, m->threads);
    error = error ? error : m->device->download(sums, r->sums.base, bytes);
    int code = pl_failed(m, "correlating the halves", error);
    if (code == RG_GOOD) code = write_fsc(r, sums);
    pl_lap(m, PL_FSC, since_s);
    return code;
}

// ---- insertion -----------------------------------------------------------------------------------------------------------

// weight[0] is the occupancy of a .par file, weight[1] r^2 the exponent.
static void weigh(const fr_reconstruction *r, int64_t i, float weight[2]) {
    const double *v = r->files.par.n ? r->files.par.row[i].value : NULL, side = (double)r->side;
    const double pixel_A = r->files.particles.pixel_A;
    weight[0] = v && rg_par_version(&r->files.par) == 9 ? (float)(v[RG_PAR_OCC] / 100) : 1;
    weight[1] = 0;
    if (r->pbc > 0)
        weight[1] = (float)(2 * fmin(2, (v[RG_PAR_SCORE] - r->mean_score) / (r->pbc * pixel_A * pixel_A)) * 4 / (side * side));
}

static int put_poses(const fr_reconstruction *r, fr_engine *e, const int64_t *row, int64_t n) {
    const int64_t operators = r->symmetry.n;
    float *pose = rg_alloc((size_t)(n * operators * FR_POSE_FLOATS) * sizeof *pose),
          RG_FREED *weight = rg_alloc((size_t)(2 * n) * sizeof *weight);
    for (int64_t i = 0; i < n; i++) {
        const rg_particle *q = &r->files.particles.row[row[i]];
        const double degree = M_PI / 180, at_home[2] = {0, 0}; // ctfapply has shifted the image
        double m[9], turned[9];
        weigh(r, row[i], weight + 2 * i);
        fr_rotation(q->rot_deg * degree, q->tilt_deg * degree, q->psi_deg * degree, m);
        for (int64_t o = 0; o < operators; o++) {
            gr_multiply(r->symmetry.matrix[o], m, turned);
            fr_pose(turned, 1, at_home, r->side, pose + (i * operators + o) * FR_POSE_FLOATS);
        }
    }
    int error = e->member->device->upload(e->pose.base, pose, (size_t)(n * operators * FR_POSE_FLOATS) * sizeof *pose);
    error = error ? error : e->member->device->upload(e->weight.base, weight, (size_t)(2 * n) * sizeof *weight);
    free(pose);
    return pl_failed(e->member, "copying poses", error);
}

static rg_shape shape_of(const fr_reconstruction *r, int64_t particles) {
    return (rg_shape){.n = {[FR_SIDE] = r->side,
                          [FR_PARTICLES] = particles,
                          [FR_KIND] = r->preset == FR_INSERT_AS_PAPER ? FR_INSERT_PAPER : FR_INSERT_V9,
                          [FR_TRIALS] = r->symmetry.n,
                          [FR_OUTER] = r->outer}};
}

static int insert_rows(fr_reconstruction *r, fr_engine *e, const int64_t *rows, int64_t count, float *volume) {
    const int64_t *row;
    int64_t n;
    int code = fr_images_begin(e, rows, count);
    while (code == RG_GOOD) {
        code = fr_images_next(e, 0, &row, &n);
        if (code != RG_GOOD || !n) break;
        const rg_shape shape = shape_of(r, n);
        void *const arg[] = {e->d.base, e->c.base, e->pose.base, e->weight.base, volume};
        code = put_poses(r, e, row, n);
        code = code == RG_GOOD ? fr_engine_run(e, FR_DO_INSERT, &shape, arg) : code;
        pl_team_progress(&r->team.team, n);
    }
    return code;
}

enum { MOST_IMAGES = 64 }; // a batch

// Equal batches of at most `most` of an engine's rows of one half, because every new shape is prepared again.
static int64_t batch_of(int64_t rows, int64_t most) {
    const int64_t batches = (rows + most - 1) / most;
    return rows ? (rows + batches - 1) / batches : 1;
}

// A request for room, for an engine with this process's rows.
typedef struct asked {
    const fr_reconstruction *r;
    int64_t rows;
    int index;
    const float *setting;
} asked;

// Room of an engine that has one half or both, and of the first one, which makes the maps. The mask is for X, which is not
// inserted.
static fr_room room_of(const void *of, int64_t most) {
    const asked *a = of;
    const fr_reconstruction *r = a->r;
    const int64_t gpus = r->team.team.n, step = gpus > 1 ? gpus : 2, batch = batch_of((a->rows + step - 1) / step, most);
    const int volumes = gpus > 1 && a->index ? 1 : 2;
    const size_t volume_bytes = (size_t)r->run.floats[0] * sizeof(float);
    const rg_needs none = {0};
    rg_needs merging = {0}, maps = {0};
    fr_room room = {.side = r->side, .batch = batch, .trials = r->symmetry.n, .out = 1, .setting = a->setting};
    room.most[FR_DO_APPLY] = (rg_shape){.n = {[FR_SIDE] = r->side, [FR_PARTICLES] = batch, [FR_TRIALS] = 1}};
    room.most[FR_DO_INSERT] = shape_of(r, batch);
    rg_need(&room.held, "volumes", volumes * (double)rg_buffer_bytes(volume_bytes, sizeof(float)));
    rg_need(&merging, "another's sums", pl_merge_bytes(&r->team.team, volume_bytes));
    if (!a->index) maps_need(r, &r->team.engine[a->index], &maps);
    rg_needs_most(&room.stage, &none, &merging);
    rg_needs_most(&room.stage, &none, &maps);
    return room;
}

// Inserts the share of one engine: both halves if it is alone, otherwise the half that its number selects.
static int insert(pl_member *m, void *context) {
    fr_reconstruction *r = context;
    fr_engine *e = &r->team.engine[m->index];
    int64_t first, all = pl_share(r->files.particles.n, rg_rank, rg_ranks(), &first);
    const int64_t gpus = m->team->n, sharing = gpus > 1 ? gpus / 2 : 1; // an even number of GPUs, a half each
    const float setting[FR_SETTINGS] = {0.45f * (float)r->side, 0, 0};
    const asked ask = {r, all, m->index, setting};
    const fr_room room = room_of(&ask, fr_engine_fit(e, room_of, &ask, MOST_IMAGES));
    int code = fr_engine_size(e, &room);
    RG_FREED int64_t *row = rg_alloc((size_t)(all + 1) * sizeof *row);
    for (int h = 0; h < 2 && code == RG_GOOD; h++) {
        int64_t rows = 0, of_half = 0;
        if (gpus > 1 && m->index % 2 != h) continue;
        for (int64_t i = first; i < first + all; i++)
            if (rg_particles_half(&r->files.particles, i) == h && of_half++ % sharing == m->index / 2) row[rows++] = i;
        code = rc_make_sums(&r->run, m, h, 1);
        if (code == RG_GOOD && rows) code = insert_rows(r, e, row, rows, rc_sum_of(&r->run, m->index, h)->base);
    }
    pl_feed_end(&e->feed);
    return code;
}

static int insert_all(rc_run *run) { return rc_insert(run, insert); }

// ---- the method ----------------------------------------------------------------------------------------------------------

static int open_job(rc_run *run, const rc_typed *typed) {
    fr_reconstruction *r = (fr_reconstruction *)run;
    fr_team *t = &r->team;
    const double began_s = rg_seconds();
    int code = fr_files_open(&r->files, typed->given.word.item[0], true);
    if (code != RG_GOOD) return code;
    run->particles = &r->files.particles;
    run->team = &t->team;
    run->halves = 2;
    run->parts = 1;
    run->cleared = true;
    r->side = r->files.particles.side;
    run->floats[0] = FR_RECORD * fr_voxels(r->side);
    r->files.invert = typed->invert;
    r->mask_px = typed->mask_radius_px;
    r->f = isnan(typed->f) ? -1 : typed->f;
    code = check_options(r, typed->group);
    if (code == RG_GOOD && rg_rank == 0) code = rg_file_can_write(run->typed->out);
    if (code == RG_GOOD)
        code = fr_team_open(t, &typed->given, &typed->computing, &r->files, 1u << FR_DO_APPLY | 1u << FR_DO_INSERT,
            r->files.particles.n, true, began_s);
    if (code == RG_GOOD && rg_dry_run) code = pl_team_enter(t->team.member);
    if (code != RG_GOOD) return code;
    const int64_t rows = r->files.particles.n / rg_ranks();
    const asked ask = {r, rows, 0, NULL};
    const fr_room room = room_of(&ask, fr_engine_fit(t->engine, room_of, &ask, MOST_IMAGES));
    const rg_shape shape = shape_of(r, room.batch);
    code = fr_team_allows(t, &room);
    if (code == RG_GOOD && rg_dry_run) fr_team_plan_time(t, FR_DO_INSERT, &shape, (double)rows);
    if (code == RG_GOOD && !rg_dry_run) rg_ranks_say("reconstruct");
    return code;
}

static int report(rc_run *run) {
    const fr_reconstruction *r = (const fr_reconstruction *)run;
    printf("f\t%.6g and %.6g\n", run->f[0], run->f[1]);
    int code = fr_team_report(&r->team, run->typed->out);
    if (code == RG_GOOD) rc_show(run, r->team.name[FR_DO_INSERT]);
    return code;
}

static void close_job(rc_run *run) {
    fr_reconstruction *r = (fr_reconstruction *)run;
    rg_buffer *const held[] = {&r->grid[0], &r->grid[1], &r->correction, &r->edge, &r->sums};
    for (int i = 0; i < RG_COUNT(held); i++) rg_buffer_free(held[i]);
    free(r->rings[0]);
    free(r->rings[1]);
    rc_free_sums(run);
    fr_team_close(&r->team);
    fr_files_close(&r->files);
}

const rc_method rc_frealign = {open_job, insert_all, weigh_halves, make_map, correlate, report, close_job};
