// SPDX-License-Identifier: MIT
// job_refine.c: refinement of poses against a reference (FREALIGN IFLAG 1), and the command refine.
#include "job.h"
#include "job_lockstep.h"
#include "pose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

void fr_pose_floats(const double x[FR_PARAMETERS], float pose[FR_POSE_FLOATS])
{
    double m[9];
    fr_rotation(x[0], x[1], x[2], m);
    for (int axis = 0; axis < 3; axis++) {
        pose[axis] = (float)m[3 * axis];
        pose[3 + axis] = (float)m[3 * axis + 1];
    }
    pose[6] = (float)x[3];
    pose[7] = (float)x[4];
}

void fr_pose_of(const rg_particle *q, double x[FR_PARAMETERS])
{
    x[0] = q->rot_deg * PI / 180;
    x[1] = q->tilt_deg * PI / 180;
    x[2] = q->psi_deg * PI / 180;
    x[3] = x[4] = 0;
}

// Angles within -180 .. 180 degrees, the tilt from 0 on: (phi, -theta, psi) is (phi + 180, theta, psi + 180).
void fr_pose_to(rg_particle *q, int64_t side, const double x[FR_PARAMETERS])
{
    double tilt = remainder(x[1], 2 * PI), half_turn = tilt < 0 ? PI : 0;
    q->rot_deg = remainder(x[0] + half_turn, 2 * PI) * 180 / PI;
    q->tilt_deg = fabs(tilt) * 180 / PI;
    q->psi_deg = remainder(x[2] + half_turn, 2 * PI) * 180 / PI;
    q->origin_x_px -= x[3] * (double)side / (2 * PI);
    q->origin_y_px -= x[4] * (double)side / (2 * PI);
}

int fr_refinement_options(fr_refinement *r, const fr_files *f, const rg_cli *cli)
{
    const double side = (double)f->particles.side, width_A = side * f->particles.pixel_A;
    const char *preset = rg_cli_text(cli, "preset", "v9");
    double low_A, high_A, mask_A, b_A2;
    int64_t seed;
    *r = (fr_refinement){.side = f->particles.side, .pixel_A = f->particles.pixel_A, .trials = 1, .least = INT64_MAX};
    r->optimiser = rg_cli_text(cli, "optimiser", "praxis");
    if (strcmp(preset, "v9") != 0 && strcmp(preset, "paper") != 0)
        return rg_fail(RG_USAGE, "--preset: expected v9 or paper, found \"%s\"", preset);
    const char *why = fr_optimiser_unknown(r->optimiser);
    if (why)
        return rg_fail(strcmp(r->optimiser, "praxis") && strcmp(r->optimiser, "bobyqa") ? RG_USAGE : RG_LACKS,
                       "--optimiser %s: %s", r->optimiser, why);
    r->kind = strcmp(preset, "v9") == 0 ? FR_V9 : FR_BOX3 | FR_SQUARED;
    int code = rg_cli_real(cli, "low", width_A, 2 * f->particles.pixel_A, 1e6, &low_A);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "high", 3 * f->particles.pixel_A, 2 * f->particles.pixel_A, 1e6, &high_A);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "mask-radius", 0.45 * width_A, f->particles.pixel_A, 0.5 * width_A, &mask_A);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "b-factor", 0, -1e4, 1e4, &b_A2);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "step", 1, 1e-3, 100, &r->step);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "tolerance", 0.1, 1e-6, 10, &r->tolerance);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "max-evaluations", 5000, 1, 1000000, &r->most_evaluations);
    if (code == RG_GOOD)
        code = rg_cli_int(cli, "seed", 1, 0, INT64_MAX, &seed);
    if (code != RG_GOOD)
        return code;
    r->seed = (uint64_t)seed;
    r->inner = (int64_t)fmax(1, floor(width_A / low_A));
    r->outer = (int64_t)floor(width_A / high_A);
    if (r->outer <= r->inner)
        return rg_fail(RG_USAGE, "--low %g A and --high %g A leave no ring of a box of %g A", low_A, high_A, width_A);
    r->mask_px = mask_A / f->particles.pixel_A;
    r->setting[0] = (float)r->mask_px;
    r->setting[1] = (float)(b_A2 / (4 * width_A * width_A));
    r->setting[2] = (float)(width_A / 30); // coarser rings than 30 A keep their sign
    return RG_GOOD;
}

// ---- lock step -----------------------------------------------------------------------------------------------------------

typedef struct evaluation {
    const fr_refinement *r;
    fr_engine *engine;
    int64_t n;
    float *pose, *score;
} evaluation;

// FREALIGN's walls: beyond a radian an index a shift is no shift.
static double walls(const double x[FR_PARAMETERS])
{
    double sum = 0;
    for (int p = 3; p < 5; p++)
        sum += fabs(x[p]) > 1 ? (fabs(x[p]) - 1) * (fabs(x[p]) - 1) : 0;
    return sum;
}

static int score_all(evaluation *e)
{
    const fr_refinement *r = e->r;
    fr_engine *g = e->engine;
    const rg_shape shape = {.n = {[FR_SIDE] = r->side, [FR_PARTICLES] = e->n, [FR_KIND] = r->kind, [FR_TRIALS] = r->trials,
                                  [FR_OUTER] = r->outer, [FR_INNER] = r->inner}};
    void *const arg[] = {g->x.base, g->c.base, g->f3.base, g->pose.base, g->setting.base, g->out.base};
    size_t trials = (size_t)(e->n * r->trials);
    if (g->device->upload(g->pose.base, e->pose, trials * FR_POSE_FLOATS * sizeof(float)) != RG_OK)
        return rg_fail(RG_WRONG, "%s: poses cannot be copied", g->device->name);
    int code = fr_engine_run(g, FR_DO_SCORE, &shape, arg);
    if (code == RG_GOOD && g->device->download(e->score, g->out.base, trials * sizeof(float)) != RG_OK)
        code = rg_fail(RG_WRONG, "%s: scores cannot be copied", g->device->name);
    return code;
}

static int evaluate(void *context, int64_t problems, const double *x, const bool *asked, double *value)
{
    evaluation *e = context;
    (void)asked; // those that have ended stay in their places: a batch keeps its shape
    for (int64_t p = 0; p < problems; p++)
        fr_pose_floats(x + p * FR_PARAMETERS, e->pose + p * FR_POSE_FLOATS);
    int code = score_all(e);
    for (int64_t p = 0; p < problems && code == RG_GOOD; p++)
        value[p] = walls(x + p * FR_PARAMETERS) - e->score[p];
    return code;
}

int fr_refine_poses(fr_refinement *r, fr_team *team, fr_engine *engine, int64_t n, double *x, double *score)
{
    const fr_minimiser how = {.optimiser = r->optimiser,
                              .dimensions = FR_PARAMETERS,
                              .unit = {0.1, 0.1, 0.1, 0.01, 0.01},
                              .step = r->step,
                              .tolerance = r->tolerance,
                              .most_evaluations = r->most_evaluations,
                              .seed = r->seed};
    int64_t problems = n * r->trials, steps;
    evaluation e = {r, engine, n, rg_alloc((size_t)(problems * FR_POSE_FLOATS) * sizeof(float)),
                    rg_alloc((size_t)problems * sizeof(float))};
    int64_t *evaluations = rg_alloc((size_t)problems * sizeof *evaluations);
    const double since_s = rg_seconds(), scored_s = engine->does[FR_DO_SCORE].spent_s;
    int code = fr_minimise(&how, problems, x, score, evaluations, &steps, evaluate, &e);
    engine->stage_s[FR_STEP] += rg_seconds() - since_s - (engine->does[FR_DO_SCORE].spent_s - scored_s);
    pthread_mutex_lock(&team->lock);
    for (int64_t p = 0; p < problems; p++) {
        score[p] = walls(x + p * FR_PARAMETERS) - score[p];
        r->evaluations += evaluations[p];
        r->least = evaluations[p] < r->least ? evaluations[p] : r->least;
        r->most = evaluations[p] > r->most ? evaluations[p] : r->most;
    }
    r->refined += problems;
    pthread_mutex_unlock(&team->lock);
    free(evaluations);
    free(e.pose);
    free(e.score);
    return code;
}

void fr_refinement_report(const fr_refinement *r, const fr_files *f)
{
    double sum = 0;
    for (int64_t i = 0; i < f->particles.n; i++)
        sum += f->score[i];
    printf("mean score\t%.3f %%\n", sum / (double)f->particles.n);
    if (r->refined)
        printf("evaluations a pose\t%.1f (%" PRId64 " to %" PRId64 "; the original: 60 to 83)\n",
               (double)r->evaluations / (double)r->refined, r->least, r->most);
}

// ---- the command ---------------------------------------------------------------------------------------------------------

static int refine_batch(fr_refinement *r, fr_team *t, fr_engine *e, fr_files *f, int64_t first, int64_t n)
{
    double *x = rg_alloc((size_t)(n * FR_PARAMETERS) * sizeof *x), *score = rg_alloc((size_t)n * sizeof *score);
    for (int64_t i = 0; i < n; i++)
        fr_pose_of(&f->particles.row[first + i], x + i * FR_PARAMETERS);
    int code = fr_refine_poses(r, t, e, n, x, score);
    for (int64_t i = 0; i < n && code == RG_GOOD; i++) {
        fr_pose_to(&f->particles.row[first + i], r->side, x + i * FR_PARAMETERS);
        f->score[first + i] = 100 * score[i];
    }
    free(score);
    free(x);
    return code;
}

typedef struct job {
    fr_files files;
    fr_refinement refine;
    int64_t batch, own;
    float *reference;
} job;

static int refine_rows(fr_team *t, fr_engine *e, void *context)
{
    job *j = context;
    const gr_rows rows = fr_team_rows(t, e, j->files.particles.n);
    const int64_t batch = j->batch < rows.count ? j->batch : rows.count;
    int64_t at, n;
    fr_feed feed;
    if (!rows.count)
        return RG_GOOD;
    int code = fr_engine_size(e, j->refine.side, batch, 1, true, batch, j->refine.setting, 8.0 * (double)fr_voxels(j->own));
    if (code != RG_GOOD)
        return code;
    code = fr_feed_begin(&feed, e, &j->files, rows);
    if (code == RG_GOOD)
        code = fr_engine_reference(e, j->own, j->reference);
    while (code == RG_GOOD) {
        code = fr_feed_next(&feed, j->refine.kind, &at, &n);
        if (code != RG_GOOD || !n)
            break;
        code = refine_batch(&j->refine, t, e, &j->files, rows.first + at, n);
        fr_team_progress(t, n);
    }
    fr_feed_end(&feed);
    return code;
}

static int refine(job *j, fr_team *t, const char *out)
{
    const int64_t n = j->files.particles.n;
    int code = rg_cli_int(t->cli, "batch", 128, 1, FR_PROBLEMS_MAX, &j->batch);
    const double since_s = rg_seconds();
    if (code == RG_GOOD)
        code = fr_reference_read(t->cli, j->refine.side, j->refine.pixel_A, &j->own, &j->reference);
    if (code != RG_GOOD)
        return code;
    fr_lap(t->engine, FR_REFERENCE, since_s);
    j->files.score = rg_alloc((size_t)n * sizeof *j->files.score);
    rg_progress_begin(&t->progress, "refine", "particles", (double)n);
    code = fr_team_run(t, refine_rows, j);
    rg_progress_end(&t->progress);
    free(j->reference);
    const double write_s = rg_seconds();
    if (code == RG_GOOD)
        code = fr_files_write(&j->files, out, rg_cli_line(t->cli));
    fr_lap(t->engine, FR_WRITE, write_s);
    if (code == RG_GOOD)
        fr_refinement_report(&j->refine, &j->files);
    return code == RG_GOOD ? fr_team_report(t, out) : code;
}

static int run(const rg_cli *cli)
{
    const double began_s = rg_seconds();
    const char *out = rg_cli_text(cli, "out", NULL);
    job j = {0};
    fr_team team = {0};
    if (rg_cli_count(cli) != 1 || !out || !rg_cli_text(cli, "reference", NULL))
        return rg_fail(RG_USAGE,
                       "refine: expected PARTICLES, --reference VOL.mrc and --out NEW.star (see regather refine --help)");
    int code = fr_files_open(&j.files, cli, true);
    if (code == RG_GOOD)
        code = fr_refinement_options(&j.refine, &j.files, cli);
    if (code == RG_GOOD)
        code = fr_team_open(&team, cli, &j.files, 1u << FR_DO_APPLY | 1u << FR_DO_SCORE, j.files.particles.n, false);
    team.began_s = began_s;
    if (code == RG_GOOD)
        code = refine(&j, &team, out);
    fr_team_close(&team);
    fr_files_close(&j.files);
    return code;
}

static const rg_option options[] = {FR_REFINE_OPTIONS, FR_INPUT_OPTIONS, {NULL, NULL, NULL, false}};

static const char help[] =
    "Refines orientation and shift of every particle against a map, as FREALIGN does (IFLAG 1; Li, Grigorieff and Cheng "
    "2010):\n"
    "the weighted correlation of the particle's transform with a masked section of the map's, both with the particle's CTF, "
    "is\n"
    "maximised over three angles and two shifts by a derivative-free optimiser of NLopt; PRAXIS is Powell's method renewed.\n"
    "All particles of a batch take a step together, so that a GPU sees many trials at once; what is found for one particle\n"
    "does not depend on the others.\n"
    "\n"
    "PARTICLES: a RELION STAR file, whose rows need poses and CTF, or a FREALIGN .par file with --stack and --pixel. Images "
    "must be\n"
    "of an even side. The map must have their field of view; another sampling of it is padded or cut in Fourier space. The "
    "CTF\n"
    "has RELION's sign (protein bright), --invert turns it; scales and B-factors of rows multiply it.\n"
    "NEW.star keeps all columns of a STAR file and gains _rgFrealignScore, 100 times the objective.";

const rg_command rg_cmd_refine = {
    .name = "refine",
    .usage = "PARTICLES --reference VOL.mrc --out NEW.star",
    .summary = "orientations and shifts of particles, refined against a map",
    .help = help,
    .option = options,
    .run = run,
};
