// SPDX-License-Identifier: MIT
// frealign.c: reconstruct --method frealign (FREALIGN IFLAG 0; Li, Grigorieff and Cheng 2010, their Fig. 1C): every
// particle under every operator into numerator and denominator, odd and even rows apart. Of N GPUs, N even, row m N + n goes to
// GPU n, which so has rows of one half only and one volume; volumes of a half are added in pairs, from GPU to GPU, until the
// first two GPUs have the halves.
#include "../pipeline/ranks.h"
#include "files.h"
#include "frealign.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const rg_option fr_reconstruct_options[] = {
    {"preset", "v9|paper", "frealign: trilinear weights, or squared ones as in the paper", RG_TO(fr_reconstruction, preset), 0,
        0, "v9", .needs = "method=frealign"},
    {"f", "F", "frealign, and gridding with --ctf: added to the weights", RG_TO(fr_reconstruction, f), 0, 1e30L,
        .otherwise = "a tenth of the operators times their mean"},
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

static int check_options(fr_reconstruction *r, const char *group)
{
    const double pixel_A = r->files.particles.pixel_A;
    // FREALIGN always masks: noise at the box's corners is divided by as little as a fifteenth.
    const double widest = fmax(1, (double)r->files.particles.side / 2 - 1 - FR_EDGE / 2);
    r->side = r->files.particles.side;
    r->f = isnan(r->f) ? -1 : r->f;
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

// ---- insertion -----------------------------------------------------------------------------------------------------------

// weight[0] is the occupancy of a .par file, weight[1] r^2 the exponent.
static void weigh(const fr_reconstruction *r, int64_t i, float weight[2])
{
    const double *v = r->files.par.n ? r->files.par.row[i].value : NULL, side = (double)r->side;
    const double pixel_A = r->files.particles.pixel_A;
    weight[0] = v && rg_par_version(&r->files.par) == 9 ? (float)(v[RG_PAR_OCC] / 100) : 1;
    weight[1] = 0;
    if (r->pbc > 0)
        weight[1] = (float)(2 * fmin(2, (v[RG_PAR_SCORE] - r->mean_score) / (r->pbc * pixel_A * pixel_A)) * 4 / (side * side));
}

static int put_poses(const fr_reconstruction *r, fr_engine *e, const int64_t *row, int64_t n)
{
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

static rg_shape shape_of(const fr_reconstruction *r, int64_t particles)
{
    return (rg_shape){.n = {[FR_SIDE] = r->side,
                          [FR_PARTICLES] = particles,
                          [FR_KIND] = r->preset == FR_INSERT_AS_PAPER ? FR_INSERT_PAPER : FR_INSERT_V9,
                          [FR_TRIALS] = r->symmetry.n,
                          [FR_OUTER] = r->outer}};
}

static int insert_rows(fr_reconstruction *r, fr_engine *e, const int64_t *rows, int64_t count, float *volume)
{
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

static size_t volume_bytes(const fr_reconstruction *r) { return (size_t)(FR_RECORD * fr_voxels(r->side)) * sizeof(float); }

static int make_volume(const fr_reconstruction *r, fr_engine *e, rg_buffer *b)
{
    const double since_s = rg_seconds();
    int error = rg_buffer_make(b, e->member->device, volume_bytes(r), sizeof(float), false, "volume");
    error = error ? error : e->member->device->fill(b->base, 0, b->bytes);
    pl_lap(e->member, PL_SETUP, since_s);
    return pl_failed(e->member, "making the volume", error);
}

enum { MOST_IMAGES = 64 }; // a batch

// Equal batches, of at most so many, of an engine's rows of one half: every other shape is prepared anew.
static int64_t batch_of(int64_t rows, int64_t most)
{
    const int64_t batches = (rows + most - 1) / most;
    return rows ? (rows + batches - 1) / batches : 1;
}

// A room that is asked for: of an engine, for this process's rows.
typedef struct asked {
    const fr_reconstruction *r;
    int64_t rows;
    int index;
    const float *setting;
} asked;

// Of an engine that has both halves, or one, and of the first one, which makes the maps. The mask is for X, which is not
// inserted.
static fr_room room_of(const void *of, int64_t most)
{
    const asked *a = of;
    const fr_reconstruction *r = a->r;
    const int64_t gpus = r->team.team.n, step = gpus > 1 ? gpus : 2, batch = batch_of((a->rows + step - 1) / step, most);
    const int volumes = gpus > 1 && a->index ? 1 : 2;
    const rg_needs none = {0};
    rg_needs merging = {0}, maps = {0};
    fr_room room = {.side = r->side, .batch = batch, .trials = r->symmetry.n, .out = 1, .setting = a->setting};
    room.most[FR_DO_APPLY] = (rg_shape){.n = {[FR_SIDE] = r->side, [FR_PARTICLES] = batch, [FR_TRIALS] = 1}};
    room.most[FR_DO_INSERT] = shape_of(r, batch);
    rg_need(&room.held, "volumes", volumes * (double)rg_buffer_bytes(volume_bytes(r), sizeof(float)));
    rg_need(&merging, "another's sums", pl_merge_bytes(&r->team.team, volume_bytes(r)));
    if (!a->index) fr_maps_need(r, &r->team.engine[a->index], &maps);
    rg_needs_most(&room.stage, &none, &merging);
    rg_needs_most(&room.stage, &none, &maps);
    return room;
}

// What one engine inserts: both halves when it is alone, else the half that its number says.
static int insert(pl_member *m, void *context)
{
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
        rg_buffer *volume = &r->volume[2 * m->index + h];
        int64_t rows = 0, of_half = 0;
        if (gpus > 1 && m->index % 2 != h) continue;
        for (int64_t i = first; i < first + all; i++)
            if (rg_particles_half(&r->files.particles, i) == h && of_half++ % sharing == m->index / 2) row[rows++] = i;
        code = make_volume(r, e, volume);
        if (code == RG_GOOD && rows) code = insert_rows(r, e, row, rows, volume->base);
    }
    pl_feed_end(&e->feed);
    return code;
}

static int release(pl_member *m, void *context)
{
    fr_reconstruction *r = context;
    rg_buffer_free(&r->volume[2 * m->index]);
    rg_buffer_free(&r->volume[2 * m->index + 1]);
    return RG_GOOD;
}

static int reconstruct(fr_reconstruction *r)
{
    pl_team *t = &r->team.team;
    r->volume = rg_alloc(2 * (size_t)t->n * sizeof *r->volume);
    pl_team_hash(t);
    rg_progress_begin(&t->progress, "reconstruct", "images", (double)r->files.particles.n);
    int code = pl_team_run(t, insert, r);
    rg_progress_end(&t->progress);
    if (code == RG_GOOD) code = pl_merge(t, r->volume, 2);
    if (code == RG_GOOD && rg_rank == 0) code = fr_maps(r, r->team.engine);
    if (code == RG_GOOD && rg_rank == 0) code = fr_team_report(&r->team, r->out);
    if (code == RG_GOOD) rc_show(r->out, &r->files.particles, r->team.name[FR_DO_INSERT], true, r->files.invert);
    pl_team_run(t, release, r);
    free(r->volume);
    return code;
}

int fr_reconstruct(fr_reconstruction *r, const rg_given *given, const rg_computing *computing, const char *group)
{
    const double began_s = rg_seconds();
    int code = fr_files_open(&r->files, given->word.item[0], true);
    if (code == RG_GOOD) code = check_options(r, group);
    if (code == RG_GOOD && rg_rank == 0) code = rg_file_can_write(r->out);
    if (code == RG_GOOD)
        code = fr_team_open(
            &r->team, given, computing, &r->files, 1u << FR_DO_APPLY | 1u << FR_DO_INSERT, r->files.particles.n, true, began_s);
    if (code == RG_GOOD) {
        const int64_t rows = r->files.particles.n / rg_ranks();
        const asked ask = {r, rows, 0, NULL};
        code = rg_dry_run ? pl_team_enter(r->team.team.member) : RG_GOOD;
        const fr_room room = room_of(&ask, fr_engine_fit(r->team.engine, room_of, &ask, MOST_IMAGES));
        const rg_shape shape = shape_of(r, room.batch);
        code = code == RG_GOOD ? fr_team_allows(&r->team, &room) : code;
        if (code == RG_GOOD && rg_dry_run) fr_team_plan_time(&r->team, FR_DO_INSERT, &shape, (double)rows);
    }
    if (code == RG_GOOD && !rg_dry_run) {
        rg_ranks_say("reconstruct");
        code = reconstruct(r);
    }
    fr_team_close(&r->team);
    fr_files_close(&r->files);
    return code;
}
