// SPDX-License-Identifier: MIT
// poses.c: improves poses of the particles on a device in lock step (FREALIGN IFLAG 1). It minimises
//    -score + noise ((x - mean_x)^2 / 2 sd_x^2 + (y - mean_y)^2 / 2 sd_y^2) + walls,
// with x and y the whole shifts, mean and sd those of the file, and noise = sigma^2 / (alpha n sqrt(mean a'^2 mean x'^2)) of
// sigma2 at the start. Defocus or magnification change c: then ctfapply runs before every score. At the end sigma2, presb and
// ccoef run on the result, once per particle.
#include "refine.h"
#include "lockstep.h"

void fr_pose_floats(const double x[FR_PARAMETERS], float pose[FR_POSE_FLOATS]) {
    double m[9];
    const double at_home[2] = {0, 0};
    fr_rotation(x[FR_PHI], x[FR_THETA], x[FR_PSI], m);
    fr_pose(m, 1 + x[FR_MAGNIFICATION], at_home, 2, pose);
    pose[6] = (float)x[FR_SHIFT_X];
    pose[7] = (float)x[FR_SHIFT_Y];
}

void fr_pose_of(const rg_particle *q, double x[FR_PARAMETERS]) {
    memset(x, 0, FR_PARAMETERS * sizeof *x);
    x[FR_PHI] = q->rot_deg * M_PI / 180;
    x[FR_THETA] = q->tilt_deg * M_PI / 180;
    x[FR_PSI] = q->psi_deg * M_PI / 180;
}

// Writes a pose to the particle's row: angles within -180 .. 180 degrees and the tilt from 0 on, as (phi, -theta, psi) is (phi
// + 180, theta, psi + 180). The shift is added to the origin.
static void put_pose(rg_particle *q, int64_t side, const double x[FR_PARAMETERS]) {
    double tilt = remainder(x[FR_THETA], 2 * M_PI), half_turn = tilt < 0 ? M_PI : 0;
    q->rot_deg = remainder(x[FR_PHI] + half_turn, 2 * M_PI) * 180 / M_PI;
    q->tilt_deg = fabs(tilt) * 180 / M_PI;
    q->psi_deg = remainder(x[FR_PSI] + half_turn, 2 * M_PI) * 180 / M_PI;
    q->origin_x_px -= x[FR_SHIFT_X] * (double)side / (2 * M_PI);
    q->origin_y_px -= x[FR_SHIFT_Y] * (double)side / (2 * M_PI);
    q->ctf.defocus_u_A += x[FR_DEFOCUS];
    q->ctf.defocus_v_A += x[FR_DEFOCUS];
}

// ---- one step ------------------------------------------------------------------------------------------------------------

typedef struct evaluation {
    fr_refinement *r;
    fr_engine *engine;
    const fr_files *files;
    const int64_t *row;
    int64_t n;                          // particles
    int parameter[FR_PARAMETERS], dims; // the free ones
    double *whole;                      // trial poses, all parameters
    float *pose, *score;
    double *noise; // of each particle, 0 without a prior
    // A step computes `room` problems of each of `held` particles; fewer once many have ended.
    int64_t held, room, *particle, *slot;
    rg_buffer x, c; // of the held particles; none: all are held
} evaluation;

static bool changes_ctf(const fr_refinement *r) { return r->is_free[FR_DEFOCUS] || r->is_free[FR_MAGNIFICATION]; }

// FREALIGN's walls: a shift of more than a radian an index is invalid, and so is such a magnification.
static double walls(const double x[FR_PARAMETERS]) {
    double sum = 0;
    for (int p = FR_SHIFT_X; p <= FR_SHIFT_Y; p++) sum += fabs(x[p]) > 1 ? (fabs(x[p]) - 1) * (fabs(x[p]) - 1) : 0;
    const double beyond = fabs(x[FR_MAGNIFICATION]) - 0.2;
    return sum + (beyond > 0 ? 100 * beyond * beyond : 0);
}

static double prior(const evaluation *e, int64_t particle, const double x[FR_PARAMETERS]) {
    const fr_refinement *r = e->r;
    const rg_particle *q = &e->files->particles.row[e->row[particle]];
    const double step = (double)r->side / (2 * M_PI);
    const double at[2] = {x[FR_SHIFT_X] * step - q->origin_x_px, x[FR_SHIFT_Y] * step - q->origin_y_px};
    double sum = 0;
    for (int a = 0; a < 2 && e->noise[particle] > 0; a++)
        sum += (at[a] - r->mean_px[a]) * (at[a] - r->mean_px[a]) / (2 * r->sd_px[a] * r->sd_px[a]);
    return e->noise[particle] * sum;
}

// Runs one of the four routines that compare particles with the poses in `pose`; writes `each` floats a pose to `out`.
static int run(evaluation *e, int which, int64_t particles, int64_t trials, int64_t each, float *out) {
    const fr_refinement *r = e->r;
    fr_engine *g = e->engine;
    const bool of_d = which == FR_DO_NOISE || which == FR_DO_WHOLE, all = which == FR_DO_RINGS || which == FR_DO_WHOLE;
    const bool few = which == FR_DO_SCORE && e->x.base;
    const rg_shape shape = {.n = {[FR_SIDE] = r->side,
                                [FR_PARTICLES] = particles,
                                [FR_KIND] = r->kind,
                                [FR_TRIALS] = trials,
                                [FR_OUTER] = all ? r->side / 2 : r->outer,
                                [FR_INNER] = all ? 1 : r->inner}};
    void *const arg[] = {of_d ? g->d.base
            : few             ? e->x.base
                              : g->x.base,
        few ? e->c.base : g->c.base, g->f3.base, g->pose.base, g->setting.base, g->out.base};
    const size_t poses = (size_t)(particles * trials);
    if (g->member->device->upload(g->pose.base, e->pose, poses * FR_POSE_FLOATS * sizeof(float)) != RG_OK)
        return rg_fail(RG_WRONG, "%s: poses cannot be copied", g->member->device->name);
    int code = fr_engine_run(g, which, &shape, arg);
    if (code == RG_GOOD && g->member->device->download(out, g->out.base, poses * (size_t)each * sizeof(float)) != RG_OK)
        code = rg_fail(RG_WRONG, "%s: scores cannot be copied", g->member->device->name);
    return code;
}

// The same with the poses at the front of `whole`, one a particle.
static int compare(evaluation *e, int which, int64_t each, float *out) {
    for (int64_t i = 0; i < e->n; i++) fr_pose_floats(e->whole + i * FR_PARAMETERS, e->pose + i * FR_POSE_FLOATS);
    return run(e, which, e->n, 1, each, out);
}

// Fills the slots of each held particle with its requested problems; slots without one repeat its first.
static void fill_slots(evaluation *e, const bool *requested) {
    const int64_t trials = e->r->trials;
    for (int64_t h = 0; h < e->held; h++) {
        int64_t n = 0, *slot = e->slot + h * e->room;
        for (int64_t p = e->particle[h] * trials; p < (e->particle[h] + 1) * trials; p++)
            if (requested[p]) slot[n++] = p;
        for (; n < e->room; n++) slot[n] = n ? slot[0] : e->particle[h] * trials;
    }
}

// Copies the rows of X and c that stay to the front of new buffers.
static int keep_rows(evaluation *e, const int64_t *from, int64_t rows) {
    fr_engine *g = e->engine;
    const size_t c = (size_t)fr_stored(e->r->side) * sizeof(float), x = 2 * c;
    const bool first = !e->x.base;
    int error =
        first ? rg_buffer_make(&e->x, g->member->device, (size_t)rows * x, sizeof(float), false, "X that is kept") : RG_OK;
    error = error || !first
        ? error
        : rg_buffer_make(&e->c, g->member->device, (size_t)rows * c, sizeof(float), false, "c that is kept");
    const char *of_x = first ? g->x.base : e->x.base, *of_c = first ? g->c.base : e->c.base;
    for (int64_t k = 0; k < rows && !error; k++) {
        if (!first && from[k] == k) continue;
        error = g->member->device->move((char *)e->x.base + (size_t)k * x, of_x + (size_t)from[k] * x, x);
        error = error ? error : g->member->device->move((char *)e->c.base + (size_t)k * c, of_c + (size_t)from[k] * c, c);
    }
    return pl_failed(g->member, "keeping what has not ended", error);
}

// Makes a step smaller once half of its calls are wasted; not more often, as every new shape is prepared again.
static int shrink(evaluation *e, const bool *requested) {
    const int64_t trials = e->r->trials;
    int64_t held = 0, room = 0, *from = rg_alloc((size_t)e->held * sizeof *from);
    for (int64_t h = 0; h < e->held; h++) {
        int64_t n = 0;
        for (int64_t t = 0; t < trials; t++) n += requested[e->particle[h] * trials + t];
        room = n > room ? n : room;
        if (n) from[held++] = h;
    }
    int code = RG_GOOD;
    if (2 * held * room <= e->held * e->room && !changes_ctf(e->r)) {
        code = held < e->held ? keep_rows(e, from, held) : RG_GOOD;
        for (int64_t k = 0; k < held; k++) e->particle[k] = e->particle[from[k]];
        e->held = held;
        e->room = room;
    }
    free(from);
    fill_slots(e, requested);
    return code;
}

// Computes c and X for the defocus and the magnification of the poses, one a particle.
static int new_ctf(evaluation *e) {
    fr_engine *g = e->engine;
    RG_FREED float *optics = rg_alloc((size_t)(e->n * FR_OPTICS) * sizeof *optics);
    for (int64_t i = 0; i < e->n; i++) {
        const double *x = e->whole + i * FR_PARAMETERS;
        fr_optics_of(e->files, e->row[i], x[FR_DEFOCUS], 1 + x[FR_MAGNIFICATION], optics + i * FR_OPTICS);
    }
    int code = pl_failed(g->member, "copying the CTF",
        g->member->device->upload(g->optics.base, optics, (size_t)(e->n * FR_OPTICS) * sizeof *optics));
    return code == RG_GOOD ? fr_engine_apply(g, e->n, e->r->kind) : code;
}

static int evaluate(void *context, int64_t problems, const double *x, const bool *requested, double *value) {
    evaluation *e = context;
    for (int64_t p = 0; p < problems; p++)
        for (int d = 0; d < e->dims; d++) e->whole[p * FR_PARAMETERS + e->parameter[d]] = x[p * e->dims + d];
    int code = changes_ctf(e->r) ? new_ctf(e) : RG_GOOD;
    code = code == RG_GOOD ? shrink(e, requested) : code;
    for (int64_t s = 0; s < e->held * e->room; s++)
        fr_pose_floats(e->whole + e->slot[s] * FR_PARAMETERS, e->pose + s * FR_POSE_FLOATS);
    code = code == RG_GOOD ? run(e, FR_DO_SCORE, e->held, e->room, 1, e->score) : code;
    for (int64_t s = 0; s < e->held * e->room && code == RG_GOOD; s++) {
        const int64_t p = e->slot[s];
        const double *whole = e->whole + p * FR_PARAMETERS;
        value[p] = walls(whole) + prior(e, p / e->r->trials, whole) - e->score[s];
    }
    return code;
}

// ---- before and after ----------------------------------------------------------------------------------------------------

static double disc_pixels(const fr_refinement *r) {
    double n = 0;
    for (int64_t y = -r->side / 2; y < r->side / 2; y++)
        for (int64_t x = -r->side / 2; x < r->side / 2; x++) n += fr_in_disc(r->setting[0], x * x + y * y);
    return n;
}

// Weighs the prior by the first pose of each particle. sigma is the image's root mean square, unless the .par file has a value
// between a third and three times of it.
static int weigh_priors(evaluation *e) {
    const fr_refinement *r = e->r;
    const double pixels = disc_pixels(r);
    const bool has_sigma = e->files->par.n && rg_par_version(&e->files->par) == 9;
    RG_FREED float *moment = rg_alloc((size_t)(e->n * FR_MOMENTS) * sizeof *moment);
    int code = compare(e, FR_DO_NOISE, FR_MOMENTS, moment);
    for (int64_t i = 0; i < e->n && code == RG_GOOD; i++) {
        const float *m = moment + i * FR_MOMENTS;
        const double said = has_sigma ? e->files->par.row[e->row[i]].value[RG_PAR_SIGMA] : 0, rms = sqrt(m[3]);
        const double sigma = said > rms / 3 && said < 3 * rms ? said : rms;
        const double by = fr_alpha(m) * pixels * sqrt((double)m[1] * m[2]);
        e->noise[i] = by > 0 ? sigma * sigma / by : 0;
    }
    return code;
}

static int add_coefficient(int64_t *sum, float coefficient, const evaluation *e, int64_t particle) {
    if (!(fabsf(coefficient) < 2)) // at most 1, apart from rounding
        return rg_fail(RG_WRONG, "%s: line %" PRId64 ": its correlation is %g", e->files->input,
            e->files->particles.row[e->row[particle]].line, coefficient);
    *sum += llrint(ldexp(coefficient, FR_SUM_BITS));
    return RG_GOOD;
}

// Runs sigma2, presb and ccoef at the final poses, which are in `whole`, one a particle.
static int judge(evaluation *e, double *sigma, fr_sums *s) {
    const int64_t rings = fr_rings(e->r->side), most = rings > FR_MOMENTS ? rings : FR_MOMENTS;
    RG_FREED float *out = rg_alloc((size_t)(e->n * most) * sizeof *out);
    int code = changes_ctf(e->r) ? new_ctf(e) : RG_GOOD;
    code = code == RG_GOOD ? compare(e, FR_DO_NOISE, FR_MOMENTS, out) : code;
    for (int64_t i = 0; i < e->n; i++) sigma[i] = sqrt(fr_noise(out + i * FR_MOMENTS));
    code = code == RG_GOOD ? compare(e, FR_DO_RINGS, rings, out) : code;
    for (int64_t i = 0; i < e->n * rings && code == RG_GOOD; i++)
        code = add_coefficient(&s->ring[i % rings], out[i], e, i / rings);
    code = code == RG_GOOD ? compare(e, FR_DO_WHOLE, 1, out) : code;
    for (int64_t i = 0; i < e->n && code == RG_GOOD; i++) code = add_coefficient(&s->coefficient, out[i], e, i);
    return code;
}

// Moves the best trial of each particle to the front of `whole`, and its score to the front of `score`.
static void keep_best(evaluation *e, const double *value) {
    const int64_t trials = e->r->trials;
    for (int64_t i = 0; i < e->n; i++) {
        int64_t at = i * trials;
        for (int64_t p = at; p < (i + 1) * trials; p++) at = value[p] < value[at] ? p : at;
        memmove(e->whole + i * FR_PARAMETERS, e->whole + at * FR_PARAMETERS, FR_PARAMETERS * sizeof *e->whole);
        e->score[i] = (float)(walls(e->whole + i * FR_PARAMETERS) + prior(e, i, e->whole + i * FR_PARAMETERS) - value[at]);
    }
}

static void count(fr_sums *s, const int64_t *evaluations, int64_t problems) {
    for (int64_t p = 0; p < problems; p++) {
        s->evaluations += evaluations[p];
        s->least = evaluations[p] < s->least ? evaluations[p] : s->least;
        s->most = evaluations[p] > s->most ? evaluations[p] : s->most;
    }
    s->refined += problems;
}

// Minimises, from the poses in `whole` to those in `whole`.
static int minimise(evaluation *e, double *value, fr_sums *s) {
    fr_refinement *r = e->r;
    fr_minimiser how = {.optimiser = r->optimiser,
        .dimensions = e->dims,
        .step = r->step,
        .tolerance = r->tolerance,
        .most_evaluations = r->most_evaluations,
        .seed = r->seed};
    const int64_t problems = e->n * r->trials;
    RG_FREED double *x = rg_alloc((size_t)(problems * e->dims) * sizeof *x);
    int64_t *evaluations = rg_alloc((size_t)problems * sizeof *evaluations), steps;
    for (int d = 0; d < e->dims; d++) {
        how.unit[d] = r->unit[e->parameter[d]];
        for (int64_t p = 0; p < problems; p++) x[p * e->dims + d] = e->whole[p * FR_PARAMETERS + e->parameter[d]];
    }
    pl_member *m = e->engine->member;
    const double since_s = rg_seconds(), *score_s = &m->stage[PL_CALL + FR_DO_SCORE].busy_s;
    const double *apply_s = &m->stage[PL_CALL + FR_DO_APPLY].busy_s, before_s = *score_s + *apply_s;
    int code = fr_minimise(&how, problems, x, value, evaluations, &steps, evaluate, e);
    pl_lap(m, PL_STEP, since_s + *score_s + *apply_s - before_s);
    for (int d = 0; d < e->dims; d++)
        for (int64_t p = 0; p < problems; p++) e->whole[p * FR_PARAMETERS + e->parameter[d]] = x[p * e->dims + d];
    count(s, evaluations, problems);
    free(evaluations);
    return code;
}

static int improve(evaluation *e, fr_files *f, fr_checkpoint *done) {
    pl_team *team = e->engine->member->team;
    fr_refinement *r = e->r;
    RG_FREED double *value = rg_alloc((size_t)(e->n * r->trials) * sizeof *value),
                    *sigma = rg_alloc((size_t)e->n * sizeof *sigma);
    RG_ENDS(fr_sums_free) fr_sums sums;
    fr_sums_make(&sums, r->side);
    sums.particles = e->n;
    int code = minimise(e, value, &sums);
    if (code == RG_GOOD) {
        keep_best(e, value);
        code = judge(e, sigma, &sums);
    }
    pthread_mutex_lock(&team->lock);
    for (int64_t i = 0; i < e->n && code == RG_GOOD; i++) {
        const int64_t row = e->row[i];
        put_pose(&f->particles.row[row], r->side, e->whole + i * FR_PARAMETERS);
        f->score[row] = 100 * (double)e->score[i];
        f->sigma[row] = sigma[i];
        f->magnification[row] = 1 + e->whole[i * FR_PARAMETERS + FR_MAGNIFICATION];
    }
    pthread_mutex_unlock(&team->lock);
    if (code == RG_GOOD) fr_checkpoint_add(done, e->row, &sums);
    return code;
}

// keep_rows holds fewer particles than a batch: with one trial each, at most half of one.
void fr_refinement_room(const fr_refinement *r, int64_t batch, fr_room *room) {
    const rg_shape one = {.n = {[FR_SIDE] = r->side,
                              [FR_PARTICLES] = batch,
                              [FR_KIND] = r->kind,
                              [FR_TRIALS] = 1,
                              [FR_OUTER] = r->outer,
                              [FR_INNER] = r->inner}};
    const int64_t kept = changes_ctf(r) ? 0 : r->trials > 1 ? batch - 1 : batch / 2;
    const int64_t rings = fr_rings(r->side), each = rings > FR_MOMENTS ? rings : FR_MOMENTS;
    rg_shape score = one, all = one, apply = one;
    score.n[FR_TRIALS] = r->trials;
    all.n[FR_OUTER] = r->side / 2;
    all.n[FR_INNER] = 1;
    apply.n[FR_KIND] = r->kind & (FR_SQUARED | FR_RINGS);
    apply.n[FR_OUTER] = apply.n[FR_INNER] = 0;
    room->out = batch * (each > r->trials ? each : r->trials);
    room->most[FR_DO_APPLY] = apply;
    room->most[FR_DO_NOISE] = one;
    room->most[FR_DO_SCORE] = score;
    room->most[FR_DO_RINGS] = room->most[FR_DO_WHOLE] = all;
    if (kept) {
        rg_need(&room->held, "X of what has not ended", (double)rg_buffer_bytes((size_t)(8 * kept * fr_stored(r->side)), 4));
        rg_need(&room->held, "c of what has not ended", (double)rg_buffer_bytes((size_t)(4 * kept * fr_stored(r->side)), 4));
    }
}

int fr_refine_poses(
    fr_refinement *r, fr_engine *engine, fr_files *f, fr_checkpoint *done, const int64_t *row, int64_t n, double *x) {
    const size_t problems = (size_t)(n * r->trials);
    evaluation e = {.r = r, .engine = engine, .files = f, .row = row, .n = n, .held = n, .room = r->trials};
    e.particle = rg_alloc((size_t)n * sizeof *e.particle);
    e.slot = rg_alloc(problems * sizeof *e.slot);
    e.whole = rg_alloc(problems * FR_PARAMETERS * sizeof *e.whole);
    e.pose = rg_alloc(problems * FR_POSE_FLOATS * sizeof *e.pose);
    e.score = rg_alloc(problems * sizeof *e.score);
    e.noise = rg_alloc((size_t)n * sizeof *e.noise);
    for (int p = 0; p < FR_PARAMETERS; p++)
        if (r->is_free[p]) e.parameter[e.dims++] = p;
    for (int64_t i = 0; i < n; i++) // the first pose of each, for the prior
        memcpy(e.whole + i * FR_PARAMETERS, x + i * r->trials * FR_PARAMETERS, FR_PARAMETERS * sizeof *x);
    for (int64_t i = 0; i < n; i++) e.particle[i] = i;
    int code = r->has_prior ? weigh_priors(&e) : RG_GOOD;
    memcpy(e.whole, x, problems * FR_PARAMETERS * sizeof *x);
    if (code == RG_GOOD) code = improve(&e, f, done);
    rg_buffer_free(&e.x);
    rg_buffer_free(&e.c);
    free(e.slot);
    free(e.particle);
    free(e.noise);
    free(e.score);
    free(e.pose);
    free(e.whole);
    return code;
}
