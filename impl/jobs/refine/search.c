// SPDX-License-Identifier: MIT
// search.c: the command search: finds orientations without prior ones (FREALIGN IFLAG 3). ccp over a grid of directions gives
// the angle in the plane and the shift of each; the best directions are refined, and the best of them is the result.
#include "../../base/log.h"
#include "refine.h"
#include "grid.h"
#include "lockstep.h"

enum { BEST_MAX = 64, LAGS = FR_LAGS * FR_LAGS };

typedef struct found {
    double score; // mean of the 3 x 3 lags about the peak
    double x[FR_PARAMETERS];
} found;

typedef struct search {
    fr_pose_job all;
    double step_deg, high_A; // of the directions; of the search over them
    fr_grid grid;
    int64_t best, outer; // directions kept; band of ccp
} search;

// An engine's own buffers.
typedef struct hunt {
    fr_worker is;
    int64_t at_once; // directions a call
    rg_buffer turn;
    float *copy, *pose; // copy: of the correlations, NULL where the host reads the device's memory
    found *list;        // of the loaded particles, best each, sorted
} hunt;

static const search *search_of(const hunt *h) { return (const search *)h->is.job; }

// FREALIGN offsets each angle of the grid at random, within half a step, so that passes differ; here by the seed.
static void offsets(const search *s, double step_deg, double offset_deg[3]) {
    for (int a = 0; a < 3; a++)
        offset_deg[a] = step_deg * ((double)(rg_bits(s->all.given.seed + 0x5EA, (uint64_t)a) >> 11) * 0x1p-53 - 0.5);
}

static int make_grid(search *s) {
    double offset_deg[3];
    const char *why = fr_grid_make(&s->grid, s->all.group, s->step_deg);
    if (why) return rg_fail(RG_USAGE, "--sym %s: %s", s->all.group, why);
    offsets(s, s->step_deg, offset_deg);
    for (int64_t d = 0; d < s->grid.n; d++) {
        s->grid.direction[d].phi_deg += offset_deg[0];
        s->grid.direction[d].theta_deg += offset_deg[1];
        s->grid.direction[d].psi_deg += offset_deg[2];
    }
    return RG_GOOD;
}

// ---- one direction -------------------------------------------------------------------------------------------------------

// The best rotation and shift of a direction from its correlations.
static found best_of(const search *s, int64_t direction, const float *cc) {
    const fr_direction *d = &s->grid.direction[direction];
    const int64_t turns = s->grid.in_plane;
    found best = {.score = -INFINITY};
    for (int64_t rotation = 0; rotation < FR_QUARTERS * turns; rotation++) {
        const float *lag = cc + rotation * LAGS;
        int64_t peak = fr_lag(0, 0);
        for (int64_t y = 1 - FR_LAG; y < FR_LAG; y++)
            for (int64_t x = 1 - FR_LAG; x < FR_LAG; x++)
                if (lag[fr_lag(x, y)] > lag[peak]) peak = fr_lag(x, y);
        double mean = 0;
        for (int64_t y = -1; y <= 1; y++)
            for (int64_t x = -1; x <= 1; x++) mean += lag[peak + y * FR_LAGS + x] / 9;
        if (mean <= best.score) continue;
        const double turn = 0.5 * M_PI * ((double)(rotation / turns) + (double)(rotation % turns) / (double)turns);
        const double step = 4 * M_PI / (double)s->all.refine.side; // a lag is two pixels
        best = (found){mean,
            {d->phi_deg * M_PI / 180, d->theta_deg * M_PI / 180, d->psi_deg * M_PI / 180 + turn,
                step * (double)(peak % FR_LAGS - FR_LAG), step * (double)(peak / FR_LAGS - FR_LAG)}};
    }
    return best;
}

// Keeps the `best` highest; ties stay in the order of the grid.
static void keep(const search *s, found *list, found f) {
    int64_t at = s->best - 1;
    if (!(f.score > list[at].score)) return;
    for (; at > 0 && f.score > list[at - 1].score; at--) list[at] = list[at - 1];
    list[at] = f;
}

static rg_shape shape_of(const search *s, int64_t particles, int64_t directions) {
    return (rg_shape){.n = {[FR_SIDE] = s->all.refine.side,
                          [FR_PARTICLES] = particles,
                          [FR_KIND] = s->all.refine.kind & FR_SQUARED ? FR_PAPER : FR_TRILINEAR,
                          [FR_TRIALS] = directions,
                          [FR_OUTER] = s->outer,
                          [FR_TURNS] = s->grid.in_plane}};
}

static int correlate(hunt *h, int64_t n, int64_t first, int64_t count) {
    const search *s = search_of(h);
    fr_engine *e = h->is.engine;
    const rg_shape shape = shape_of(s, n, count);
    void *const arg[] = {e->x.base, e->c.base, e->f3.base, e->pose.base, e->setting.base, h->turn.base, e->out.base};
    const int64_t each = FR_QUARTERS * s->grid.in_plane * LAGS;
    for (int64_t p = 0; p < n; p++)
        for (int64_t d = 0; d < count; d++) {
            const fr_direction *v = &s->grid.direction[first + d];
            const double x[FR_PARAMETERS] = {v->phi_deg * M_PI / 180, v->theta_deg * M_PI / 180, v->psi_deg * M_PI / 180};
            fr_pose_floats(x, h->pose + (p * count + d) * FR_POSE_FLOATS);
        }
    const rg_device *device = e->member->device;
    int code = pl_failed(e->member, "copying poses",
        device->upload(e->pose.base, h->pose, (size_t)(n * count * FR_POSE_FLOATS) * sizeof(float)));
    if (code == RG_GOOD) code = fr_engine_run(e, FR_DO_TURN, &shape, arg);
    if (code == RG_GOOD && h->copy)
        code = pl_failed(e->member, "copying correlations",
            device->download(h->copy, e->out.base, (size_t)(n * count * each) * sizeof(float)));
    if (code != RG_GOOD) return code;
    const float *cc = h->copy ? h->copy : e->out.base;
    const double since_s = rg_seconds();
    RG_FREED found *of =
        rg_alloc((size_t)(n * count) * sizeof *of); // of all directions before the next step: particles may be fewer than cores
#pragma omp parallel for num_threads(e->member->threads) schedule(dynamic)
    for (int64_t i = 0; i < n * count; i++) of[i] = best_of(s, first + i % count, cc + i * each);
    for (int64_t i = 0; i < n * count; i++) keep(s, h->list + i / count * s->best, of[i]);
    pl_lap(e->member, PL_STEP, since_s);
    return RG_GOOD;
}

// ---- some particles ------------------------------------------------------------------------------------------------------

static int search_batch(void *of, const int64_t *row, int64_t n) {
    hunt *h = of;
    fr_pose_job *all = h->is.job;
    const search *s = search_of(h);
    RG_FREED double *x = rg_alloc((size_t)(n * s->best * FR_PARAMETERS) * sizeof *x);
    int code = RG_GOOD;
    for (int64_t i = 0; i < n * s->best; i++) h->list[i] = (found){.score = -INFINITY};
    for (int64_t d = 0; d < s->grid.n && code == RG_GOOD; d += h->at_once)
        code = correlate(h, n, d, s->grid.n - d < h->at_once ? s->grid.n - d : h->at_once);
    for (int64_t i = 0; i < n * s->best; i++) memcpy(x + i * FR_PARAMETERS, h->list[i].x, sizeof h->list[i].x);
    if (code == RG_GOOD) code = fr_refine_poses(&all->refine, h->is.engine, &all->files, &all->done, row, n, x);
    return code;
}

static int put_turns(hunt *h) {
    const int64_t turns = search_of(h)->grid.in_plane;
    RG_FREED float *turn = rg_alloc((size_t)(2 * turns) * sizeof *turn);
    for (int64_t u = 0; u < turns; u++) {
        turn[2 * u] = (float)cos(0.5 * M_PI * (double)u / (double)turns);
        turn[2 * u + 1] = (float)sin(0.5 * M_PI * (double)u / (double)turns);
    }
    int error = rg_buffer_make(
        &h->turn, h->is.engine->member->device, (size_t)(2 * turns) * sizeof *turn, sizeof *turn, false, "turns");
    error = error ? error : rg_buffer_put(&h->turn, turn);
    return pl_failed(h->is.engine->member, "copying rotations", error);
}

// Correlations of a call fill at most 64 MiB of main memory, where the CPU reads them, and 256 MiB of a GPU, which is faster
// with more directions a call, plus their copy. Less where the batch is limited by memory.
static int64_t at_once(const search *s, int64_t batch) {
    const bool copied = s->all.team.engine->routine[FR_DO_TURN].entry->variant->space != RG_HOST;
    const int64_t whole = s->all.refine.batch < s->all.files.particles.n ? s->all.refine.batch : s->all.files.particles.n;
    const int64_t all = ((int64_t)1 << (copied ? 26 : 24)) / whole, each = FR_QUARTERS * s->grid.in_plane * LAGS;
    const int64_t most = all * (batch < whole ? batch : whole) / (batch * each);
    return most < 1 ? 1 : most < s->grid.n ? most : s->grid.n;
}

static fr_room room_of(const void *of, int64_t batch) {
    const fr_worker *w = of;
    const search *s = (const search *)w->job;
    const bool copied = s->all.team.engine->routine[FR_DO_TURN].entry->variant->space != RG_HOST;
    const int64_t directions = at_once(s, batch), all = directions * FR_QUARTERS * s->grid.in_plane * LAGS * batch;
    fr_room room = fr_pose_room(w, batch);
    room.trials = directions > s->best ? directions : s->best;
    room.out = all > room.out ? all : room.out;
    room.host_bytes += 4.0 * (double)(batch * room.trials * FR_POSE_FLOATS) + (copied ? 4.0 * (double)all : 0);
    room.most[FR_DO_TURN] = shape_of(s, batch, directions);
    rg_need(&room.held, "rotations", (double)rg_buffer_bytes((size_t)(8 * s->grid.in_plane), 4));
    return room;
}

static int begin_hunt(void *of, int64_t batch) {
    hunt *h = of;
    const search *s = search_of(h);
    const fr_room room = room_of(h, batch);
    h->at_once = at_once(s, batch);
    h->copy = h->is.engine->member->device == rg_device_cpu() ? NULL : rg_alloc((size_t)room.out * sizeof *h->copy);
    h->pose = rg_alloc((size_t)(batch * room.trials * FR_POSE_FLOATS) * sizeof *h->pose);
    h->list = rg_alloc((size_t)(batch * s->best) * sizeof *h->list);
    return put_turns(h);
}

static void end_hunt(void *of) {
    hunt *h = of;
    free(h->list);
    free(h->pose);
    free(h->copy);
    rg_buffer_free(&h->turn);
}

static void plan(const fr_pose_job *all, int64_t batch) {
    const search *s = (const search *)all;
    const double n = (double)all->files.particles.n / rg_ranks();
    const rg_shape shape = shape_of(s, batch, at_once(s, batch));
    rg_plan("directions", "%" PRId64 ", %" PRId64 " rotations each", s->grid.n, FR_QUARTERS * s->grid.in_plane);
    fr_team_plan_time(&all->team, FR_DO_TURN, &shape, n * (double)s->grid.n / (double)shape.n[FR_TRIALS]);
}

static void report(const fr_pose_job *all) {
    const fr_grid *grid = &((const search *)all)->grid;
    fr_refinement_say_noise(&all->refine, &all->done.sums);
    printf("directions\t%" PRId64 ", %" PRId64 " rotations each\n", grid->n, FR_QUARTERS * grid->in_plane);
}

static int prepare(fr_pose_job *all) {
    search *s = (search *)all;
    const double width_A = (double)all->files.particles.side * all->files.particles.pixel_A;
    int code = make_grid(s);
    if (code != RG_GOOD) return code;
    s->best = s->best < s->grid.n ? s->best : s->grid.n;
    all->refine.trials = s->best;
    const int64_t quarter = all->refine.side / 4;
    const int64_t wanted = s->high_A > 0 ? (int64_t)floor(width_A / s->high_A) : all->refine.outer;
    s->outer = wanted < 1 ? 1 : wanted < quarter ? wanted : quarter;
    return RG_GOOD;
}

static int run(void *options) {
    static const fr_pose_command command = {.name = "search",
        .routines = 1u << FR_DO_TURN,
        .batch = 24,
        .worker_bytes = sizeof(hunt),
        .prepare = prepare,
        .room = room_of,
        .begin = begin_hunt,
        .improve = search_batch,
        .end = end_hunt,
        .plan = plan,
        .report = report};
    search *s = options;
    int code = fr_pose_job_run(&s->all, &command);
    fr_grid_free(&s->grid);
    return code;
}

static const rg_option options[] = {
    {"sym", "GROUP", "C1, Cn, Dn, T, O, I1 or I2: only its asymmetric unit is searched", RG_TO(search, all.group), 0, 0, "C1"},
    {"angle", "DEG", "step of the directions; rotations in the plane take a fifth of it, at least 1", RG_TO(search, step_deg),
        0.5L, 45, "10", "degrees"},
    {"best", "N", "directions that are refined", RG_TO(search, best), 1, BEST_MAX, "10"},
    {"search-high", "A", "finest resolution of the search over directions; at most four pixels", RG_TO(search, high_A), 0, 1e6L,
        .unit = "Angstrom", .otherwise = "as --high"},
    RG_OPTIONS_OF(fr_refinement_options, search, all.refine),
    RG_OPTIONS_OF(fr_input_options, search, all.files),
    RG_OPTIONS_OF(rg_computing_options, search, all.computing),
    {0},
};

static const char help[] =
    "Finds the orientation and shift of every particle from nothing, as FREALIGN does (IFLAG 3; Li, Grigorieff and\n"
    "Cheng 2010). For every direction of a grid over the asymmetric unit, the particle is correlated with the\n"
    "section at all in-plane rotations and all shifts up to 12 pixels. The best directions are refined as by\n"
    "`regather refine`, and the one with the highest score is kept. The grid is FREALIGN's, moved by a random offset\n"
    "of up to half a step that follows from --seed: the same seed gives the same answer.\n\n"
    "The poses are already refined. `regather refine` gains something afterwards with a better map, a finer --high\n"
    "or --also, but not with the same map and limits.\n\n"
    "Beside particles and map, memory is needed for correlations (64 MiB on a CPU, 256 MiB on a GPU and as much\n"
    "for their copy) and for the threads that refine --best directions of --batch particles together.\n\n"
    "Poses in PARTICLES are not used, but shifts are: the images are shifted by them first. `regather refine\n"
    "--help` explains files and signs.";

const rg_command rg_cmd_search = {
    .name = "search",
    .words = "PARTICLES",
    .summary = "orientations and shifts of particles, found from nothing",
    .help = help,
    .option = options,
    .bytes = sizeof(search),
    .run = run,
    .job = true,
    .page = true,
    .one_process = true,
};
