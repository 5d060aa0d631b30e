// SPDX-License-Identifier: MIT
// refine.c: shared by refine and search, from the options to the report; the command refine, its restarts.
#include "refine.h"
#include "lockstep.h"
#include "../../runtime/choice.h"
#include "../../base/summary.h"
#include "../../base/tsv.h"
#include "../../base/log.h"

// Finds mean and spread of the shifts in the file, weighted by occupancy; no prior if they are all equal.
static void find_prior(fr_refinement *r, const fr_files *f) {
    double sum[2] = {0, 0}, square[2] = {0, 0}, n = 0;
    for (int64_t i = 0; i < f->particles.n; i++) {
        const rg_particle *q = &f->particles.row[i];
        const double weight = f->par.n && rg_par_version(&f->par) == 9 ? f->par.row[i].value[RG_PAR_OCC] : 1;
        const double at[2] = {-q->origin_x_px, -q->origin_y_px};
        for (int a = 0; a < 2; a++) {
            sum[a] += weight * at[a];
            square[a] += weight * at[a] * at[a];
        }
        n += weight;
    }
    for (int a = 0; a < 2 && n > 0; a++) {
        r->mean_px[a] = sum[a] / n;
        r->sd_px[a] = sqrt(fmax(0, square[a] / n - r->mean_px[a] * r->mean_px[a]));
    }
    r->has_prior = r->sd_px[0] > 1e-6 && r->sd_px[1] > 1e-6;
}

const rg_option fr_refinement_options[] = {
    {"reference", "VOL.mrc", "the map that particles are compared with", RG_TO(fr_refinement, reference), .required = true},
    {"reference-pixel", "A", "voxel size of that map, where its header has none or a wrong one",
        RG_TO(fr_refinement, reference_pixel_A), 1e-3L, 1e6L, .unit = "Angstrom"},
    {"out", "NEW.star", "particles with their new poses and scores; NEW.par writes FREALIGN's format",
        RG_TO(fr_refinement, out), .endings = ".star .par", .beside = "_rings.tsv _stages.tsv", .required = true},
    {"low", "A", "coarsest resolution to use", RG_TO(fr_refinement, low_A), 0, 1e6L, .unit = "Angstrom",
        .otherwise = "all but the mean"},
    {"high", "A", "finest resolution to use", RG_TO(fr_refinement, high_A), 0, 1e6L, .unit = "Angstrom",
        .otherwise = "three pixels"},
    {"mask-radius", "A", "radius of the mask on sections and particles", RG_TO(fr_refinement, mask_A), 0, 1e6L,
        .unit = "Angstrom", .otherwise = "0.45 sides"},
    {"b-factor", "A2", "rings are weighted by exp(-B/4 g^2)", RG_TO(fr_refinement, b_factor_A2), -1e4L, 1e4L, "0",
        "square Angstrom"},
    {"preset", "v9|paper", "form of the objective: whitened, trilinear, or as in the paper", RG_TO(fr_refinement, preset), 0, 0,
        "v9"},
    {"no-prior", NULL, "do not hold shifts to the mean and spread that they have in PARTICLES", RG_TO(fr_refinement, no_prior)},
    {"optimiser", "praxis|bobyqa", "of NLopt", RG_TO(fr_refinement, method), 0, 0, "praxis"},
    {"step", "U", "first step, in units of 0.1 rad and of 0.01 rad an index; praxis finds its own", RG_TO(fr_refinement, step),
        1e-3L, 100, "1", .needs = "optimiser=bobyqa"},
    {"tolerance", "U", "stop when nothing moves by more, in these units", RG_TO(fr_refinement, tolerance), 1e-6L, 10, "0.1"},
    {"max-evaluations", "N", "of one particle", RG_TO(fr_refinement, most_evaluations), 1, 1000000, "5000"},
    {"batch", "N", "particles that a GPU or all cores handle together", RG_TO(fr_refinement, batch), 1, FR_PROBLEMS_MAX,
        .otherwise = "refine 128, search 24, more with more than 4 or 7 cores"},
    {"resume", NULL, "continue NEW.star.part of a stopped run", RG_TO(fr_refinement, resume)},
    {0},
};

// On a CPU at least PROBLEMS a thread, as towards the end of a batch few minimisations are left.
static int size_batch(fr_refinement *r, int64_t standard, const fr_engine *e) {
    enum { PROBLEMS = 32 };
    const int64_t most = FR_PROBLEMS_MAX / r->trials, wanted = PROBLEMS * e->member->threads / r->trials;
    double batch = r->batch ? (double)r->batch : NAN;
    r->batch_typed = r->batch;
    if (rg_on_cpu(e->routine[FR_DO_SCORE].entry) && wanted > standard) standard = wanted;
    int code = rg_option_within("batch", &batch, (double)(most < standard ? most : standard), 1, (double)most);
    r->batch = (int64_t)batch;
    return code;
}

static int follow_options(fr_refinement *r, const fr_files *f, uint64_t seed) {
    static const char *const optimiser[] = {[FR_PRAXIS] = "praxis", [FR_BOBYQA] = "bobyqa"};
    const double pixel_A = f->particles.pixel_A, width_A = (double)f->particles.side * pixel_A;
    r->side = f->particles.side;
    r->pixel_A = pixel_A;
    r->trials = 1;
    for (int p = FR_PHI; p <= FR_SHIFT_Y; p++) r->is_free[p] = true;
    r->optimiser = optimiser[r->method];
    const char *why = fr_optimiser_unknown(r->optimiser);
    if (why) return rg_fail(RG_LACKS, "--optimiser %s: %s", r->optimiser, why);
    r->kind = r->preset == FR_PRESET_V9 ? FR_V9 : FR_BOX3 | FR_SQUARED;
    int code = rg_option_within("low", &r->low_A, width_A, 2 * pixel_A, 1e6);
    if (code == RG_GOOD) code = rg_option_within("high", &r->high_A, 3 * pixel_A, 2 * pixel_A, 1e6);
    if (code == RG_GOOD) code = rg_option_within("mask-radius", &r->mask_A, 0.45 * width_A, pixel_A, 0.5 * width_A);
    if (code != RG_GOOD) return code;
    r->seed = seed;
    r->inner = (int64_t)fmax(1, floor(width_A / r->low_A));
    r->outer = (int64_t)floor(width_A / r->high_A);
    if (fr_files_fit(f, r->out) != RG_GOOD) return RG_USAGE;
    if (r->outer <= r->inner)
        return rg_fail(RG_USAGE, "--low %g A and --high %g A leave no ring of a box of %g A", r->low_A, r->high_A, width_A);
    r->mask_px = r->mask_A / pixel_A;
    r->setting[0] = (float)r->mask_px;
    r->setting[1] = (float)(r->b_factor_A2 / (4 * width_A * width_A));
    r->setting[2] = (float)(width_A / 30); // coarser rings than 30 A keep their sign
    // A radian of the CTF's phase at the finest ring; a hundredth of magnification shifts that ring as far as 0.01 rad.
    const double finest = (double)r->outer / width_A, wave = rg_electron_wavelength_A(f->particles.row[0].ctf.voltage_kV);
    const double unit[FR_PARAMETERS] = {0.1, 0.1, 0.1, 0.01, 0.01, 1 / (M_PI * wave * finest * finest), 0.01};
    memcpy(r->unit, unit, sizeof unit);
    if (!r->no_prior) find_prior(r, f);
    return RG_GOOD;
}

static void plan_time(const fr_refinement *r, const fr_team *t) {
    // Evaluations of a pose are known only afterwards; FREALIGN's took 60 to 83.
    static const double TYPICAL = 100;
    const double evaluations = r->most_evaluations > 0 ? fmin(TYPICAL, (double)r->most_evaluations) : TYPICAL;
    const int64_t n = t->files->particles.n, batch = r->batch < n ? r->batch : n;
    const rg_shape shape = {.n = {[FR_SIDE] = r->side,
                                [FR_PARTICLES] = batch,
                                [FR_KIND] = r->kind,
                                [FR_TRIALS] = r->trials,
                                [FR_OUTER] = r->outer,
                                [FR_INNER] = r->inner}};
    rg_plan("evaluations a pose", "taken as %g", evaluations);
    fr_team_plan_time(t, FR_DO_SCORE, &shape, evaluations * (double)n / rg_ranks());
}

static int write_rings(const fr_refinement *r, const fr_sums *s, const char *command) {
    const double width_A = (double)r->side * r->pixel_A;
    rg_file file;
    int code = rg_file_open_beside(&file, r->out, "_rings", ".tsv");
    if (code != RG_GOOD) return code;
    rg_tsv_print(file.stream, "# command: %s\n# mean over particles of presb; frequency in 1/A, resolution in A\n", command);
    fprintf(file.stream, "ring\tfrequency\tresolution\tcc\n");
    for (int64_t k = 1; k < fr_rings(r->side); k++)
        fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\n", k, (double)k / width_A, width_A / (double)k,
            ldexp((double)s->ring[k], -FR_SUM_BITS) / (double)s->particles);
    return rg_file_commit(&file);
}

// The standard deviation of a coefficient between noise and a section: from the number of real values in the rings, reduced by
// the mask.
static double noise_level(const fr_refinement *r) {
    const double rings = M_PI * (double)(r->outer * r->outer - r->inner * r->inner);
    const double masked = M_PI * r->mask_px * r->mask_px / (double)(r->side * r->side);
    return 1 / sqrt(rings * fmin(1, masked));
}

static double mean_coefficient(const fr_sums *s) { return ldexp((double)s->coefficient, -FR_SUM_BITS) / (double)s->particles; }

// The score counts fine rings by magnitude, so it is high for either contrast; the whole coefficient keeps its sign.
static bool inverted(const fr_refinement *r, const fr_sums *s) {
    return s->refined && mean_coefficient(s) < -3 * noise_level(r) / sqrt((double)s->particles);
}

static int check_contrast(const fr_refinement *r, const fr_sums *s, const fr_files *f) {
    if (!inverted(r, s)) return RG_GOOD;
    return rg_fail(RG_USAGE,
        "%s: expected images of the reference's contrast, found the other one: their mean coefficient is "
        "%.3f %%; %s",
        f->input, 100 * mean_coefficient(s), f->invert ? "leave out --invert" : "give --invert");
}

// A search over noise alone reaches a mean coefficient of only 1 to 2 deviations, because it maximises the score, whose rings
// have other weights.
void fr_refinement_say_noise(const fr_refinement *r, const fr_sums *s) {
    const double noise = noise_level(r);
    if (s->refined && mean_coefficient(s) < 2.5 * noise)
        rg_warn(
            "the mean coefficient of %.2f %% is at the noise level: noise alone has a standard deviation of %.2f %%; is the "
            "reference theirs, and their contrast its own (--invert)?",
            100 * mean_coefficient(s), 100 * noise);
}

static void say_next(const fr_refinement *r, const fr_files *f, const char *group) {
    const bool par = fr_is_par(r->out);
    const char *invert = f->invert ? "--invert" : "";
    RG_FREED char *rings = rg_path_beside(r->out, "_rings", ".tsv");
    rg_summary_look(rings, "how fine the particles follow the map: where the correlation has fallen to noise");
    rg_summary_next(par ? "a map of these poses, with this run's --stack to --amplitude-contrast"
                        : "a map of these poses, and how fine it is",
        (const char *const[]){"regather", "reconstruct", r->out, "--method", "frealign", "--half-maps", "--out", "NEW.mrc",
            invert, group ? "--sym" : "", group ? group : "", NULL});
    rg_summary_next(group
            ? "better poses by that map, or with a finer --high, or --also defocus; by this one they are refined already"
            : "better poses by that map, for as long as the correlation of its halves rises",
        (const char *const[]){
            "regather", "refine", r->out, "--reference", "NEW.mrc", "--out", par ? "NEW.par" : "NEW.star", invert, NULL});
}

// Adds to the job's page: scores, views, rings, and the coefficient in units of the noise.
static void show(const fr_refinement *r, const fr_files *f, const fr_sums *s) {
    const int64_t n = f->particles.n, rings = fr_rings(r->side) - 1;
    const double width_A = (double)r->side * r->pixel_A;
    double sum = 0, square = 0;
    const size_t bytes = (size_t)rings * sizeof(double);
    RG_FREED double *at = rg_alloc(bytes), *cc = rg_alloc(bytes);
    for (int64_t i = 0; i < n; i++) {
        sum += f->score[i];
        square += f->score[i] * f->score[i];
    }
    const double mean = sum / (double)n, spread = sqrt(fmax(0, square / (double)n - mean * mean));
    rg_summary_found(
        "Mean score %.3f %%, standard deviation over %" PRId64 " particle%s %.3f %%.", mean, n, rg_plural(n), spread);
    rg_summary_did("particles", "%" PRId64 " of %" PRId64 "^2 pixels of %g A, against %s, rings from %.4g to %.4g A", n,
        r->side, r->pixel_A, r->reference, r->low_A, r->high_A);
    if (s->refined) {
        rg_summary_found("Mean coefficient %.3f %%; of noise alone a coefficient has a standard deviation of %.3f %%: a "
                         "particle stands %.1f "
                         "of them above it.",
            100 * mean_coefficient(s), 100 * noise_level(r), mean_coefficient(s) / noise_level(r));
        for (int64_t k = 1; k <= rings; k++) {
            at[k - 1] = (double)k / width_A;
            cc[k - 1] = ldexp((double)s->ring[k], -FR_SUM_BITS) / (double)s->particles;
        }
        rg_summary_curves(&(rg_drawn_curves){
            .is = {"How well the rings of particles correlate with the reference", "Mean over the particles.",
                "mean correlation against frequency", "frequency (1/A)", "correlation"},
            .n = rings,
            .at = at,
            .curves = 1,
            .name = (const char *[]){"rings"},
            .value = (const double *[]){cc}});
    }
    RG_FREED char *title = rg_print("Scores of the particles: %.3g %% in the mean", mean);
    rg_summary_histogram(&(rg_drawn){title, "Two hills are often two kinds of images.", "how many particles have which score",
                             "score (%)", "particles"},
        n, f->score);
    rg_summary_directions(n, &f->particles.row->rot_deg, &f->particles.row->tilt_deg, sizeof *f->particles.row);
}

static int report_all(const fr_pose_job *j) {
    const fr_refinement *r = &j->refine;
    const fr_files *f = &j->files;
    const fr_checkpoint *done = &j->done;
    double sum = 0;
    const int64_t n = f->particles.n;
    for (int64_t i = 0; i < n; i++) sum += f->score[i];
    printf("mean score\t%.3f %%\n", sum / (double)n);
    if (done->resumed) printf("resumed\t%" PRId64 " particle%s of an earlier run\n", done->resumed, rg_plural(done->resumed));
    if (done->resumed)
        rg_summary_did("resumed", "%" PRId64 " particle%s of an earlier run", done->resumed, rg_plural(done->resumed));
    if (r->is_free[FR_MAGNIFICATION]) {
        RG_FREED double *m = rg_alloc((size_t)n * sizeof *m);
        memcpy(m, f->magnification, (size_t)n * sizeof *m);
        qsort(m, (size_t)n, sizeof *m, rg_ascending);
        const double middle = m[n / 2];
        printf("magnification\t%.5f (median): a pixel of %.5f A\n", middle, r->pixel_A * middle);
    }
    const fr_sums *s = &done->sums;
    show(r, f, s);
    say_next(r, f, j->group);
    if (!s->refined) return RG_GOOD;
    printf("mean coefficient\t%.3f %%\n", 100 * mean_coefficient(s));
    printf("evaluations a pose\t%.1f (%" PRId64 " to %" PRId64 "; the original: 60 to 83)\n",
        (double)s->evaluations / (double)s->refined, s->least, s->most);
    return write_rings(r, s, j->given.line);
}

// ---- refine and search ---------------------------------------------------------------------------------------------------

fr_room fr_pose_room(const fr_worker *w, int64_t batch) {
    const fr_refinement *r = &w->job->refine;
    fr_room room = {.side = r->side,
        .batch = batch,
        .trials = r->trials,
        .reference = true,
        .setting = r->setting,
        .image_bytes = fr_minimise_bytes(r->trials),
        .typed_batch = true};
    fr_refinement_room(r, batch, &room);
    fr_room_reference(&room, w->job->own, w->engine);
    return room;
}

// Room for a worker, with as many of these rows at a time as fit.
static fr_room room_for(const fr_worker *w, int64_t rows) {
    const fr_refinement *r = &w->job->refine;
    fr_room_of *room = w->job->command->room;
    const int64_t batch = r->batch < rows ? r->batch : rows;
    return room(w, r->batch_typed ? batch : fr_engine_fit(w->engine, room, w, batch));
}

// Processes an engine's batches until none is left. In a single process each engine has a fixed share.
static int work(fr_worker *w) {
    const fr_pose_job *j = w->job;
    fr_engine *e = w->engine;
    rg_deal *deal = &w->job->done.deal;
    int64_t first, past, n;
    const int64_t *row;
    int code = RG_GOOD, pieces = 0;
    while (code == RG_GOOD && (rg_ranks() > 1 || !pieces) && rg_deal_next(deal, &first, &past)) {
        if (!pieces) {
            const fr_room room = room_for(w, past - first);
            code = fr_engine_size(e, &room);
            if (code == RG_GOOD && j->command->begin) code = j->command->begin(w, room.batch);
        }
        if (code == RG_GOOD) code = fr_images_begin(e, j->done.row + first, past - first);
        if (code == RG_GOOD && !pieces++) code = fr_engine_reference(e, j->own, j->reference); // while images are read
        while (code == RG_GOOD) {
            code = fr_images_next(e, j->refine.kind, &row, &n);
            if (code != RG_GOOD || !n) break;
            code = j->command->improve(w, row, n);
        }
    }
    pl_feed_end(&e->feed);
    return code;
}

static int work_in_member(pl_member *m, void *context) {
    fr_pose_job *j = context;
    RG_FREED fr_worker *w = rg_alloc(j->command->worker_bytes);
    *w = (fr_worker){j, &j->team.engine[m->index]};
    const int code = work(w);
    if (j->command->end) j->command->end(w);
    return code;
}

// Checks memory, prints its plan, and reads the reference.
static int read_reference(fr_pose_job *j) {
    const fr_refinement *r = &j->refine;
    const double since_s = rg_seconds();
    int code = size_batch(&j->refine, j->command->batch, j->team.engine);
    if (code == RG_GOOD) code = fr_reference_side(r->reference, &j->own);
    if (code == RG_GOOD && rg_dry_run) code = pl_team_enter(j->team.team.member);
    if (code == RG_GOOD) {
        const fr_worker w = {j, j->team.engine};
        const fr_room room = room_for(&w, j->files.particles.n);
        code = fr_team_allows(&j->team, &room);
        if (code == RG_GOOD && rg_dry_run && j->command->plan) j->command->plan(j, room.batch);
    }
    if (code == RG_GOOD) pl_team_hash(&j->team.team);
    if (code == RG_GOOD && rg_dry_run) plan_time(r, &j->team);
    if (code == RG_GOOD)
        code = fr_reference_read(r->reference, r->reference_pixel_A, r->side, r->pixel_A, &j->own, &j->reference);
    pl_lap(j->team.team.member, PL_REFERENCE, since_s);
    return code;
}

static int write_all(fr_pose_job *j) {
    const fr_refinement *r = &j->refine;
    int code = check_contrast(r, &j->done.sums, &j->files);
    const double since_s = rg_seconds();
    if (code == RG_GOOD) code = fr_files_write(&j->files, r->out, j->given.line);
    pl_lap(j->team.team.member, PL_WRITE, since_s);
    if (code == RG_GOOD) code = report_all(j);
    if (code == RG_GOOD && j->command->report) j->command->report(j);
    return code;
}

static int improve_all(fr_pose_job *j) {
    pl_team *t = &j->team.team;
    rg_ranks_say(j->command->name);
    int code = fr_checkpoint_open(&j->done, &j->given, &j->refine, &j->files, t);
    rg_progress_begin(&t->progress, j->command->name, "particles", (double)j->done.rows);
    code = code == RG_GOOD ? rg_deal_end(&j->done.deal, pl_team_run(t, work_in_member, j)) : code;
    rg_progress_end(&t->progress);
    if (code == RG_GOOD && rg_rank == 0) code = write_all(j);
    fr_checkpoint_close(&j->done, rg_rank == 0 && (code == RG_GOOD || inverted(&j->refine, &j->done.sums)));
    return code == RG_GOOD && rg_rank == 0 ? fr_team_report(&j->team, j->refine.out) : code;
}

int fr_pose_job_run(fr_pose_job *j, const fr_pose_command *command) {
    enum { ROUTINES = 1 << FR_DO_APPLY | 1 << FR_DO_NOISE | 1 << FR_DO_SCORE | 1 << FR_DO_RINGS | 1 << FR_DO_WHOLE };
    const double began_s = rg_seconds();
    fr_files *f = &j->files;
    j->command = command;
    int code = fr_files_open(f, j->given.word.item[0], command->poses);
    if (code == RG_GOOD) code = follow_options(&j->refine, f, j->given.seed);
    if (code == RG_GOOD) code = command->prepare(j);
    if (code == RG_GOOD)
        code =
            fr_team_open(&j->team, &j->given, &j->computing, f, ROUTINES | command->routines, f->particles.n, false, began_s);
    if (code == RG_GOOD) code = read_reference(j);
    if (code == RG_GOOD && !rg_dry_run) code = improve_all(j);
    free(j->reference);
    fr_team_close(&j->team);
    fr_files_close(f);
    return code;
}

// ---- the command ---------------------------------------------------------------------------------------------------------

typedef struct job {
    fr_pose_job all;
    int64_t restarts;
    rg_mask also;
    double restart_deg;
} job;

static double draw(uint64_t seed, int64_t row, int64_t which) // uniform within -1 .. 1
{
    return (double)(rg_bits(seed + 0xF12, (uint64_t)(16 * 64 * row + which)) >> 11) * 0x1p-52 - 1;
}

// Refines from the row's pose, and from restarts whose angles are up to restart_deg off. Particles are independent.
static int refine_batch(void *of, const int64_t *row, int64_t n) {
    const fr_worker *w = of;
    fr_pose_job *all = w->job;
    const job *j = (const job *)all;
    const int64_t trials = all->refine.trials;
    RG_FREED double *x = rg_alloc((size_t)(n * trials * FR_PARAMETERS) * sizeof *x);
    for (int64_t p = 0; p < n * trials; p++) {
        const int64_t i = row[p / trials], trial = p % trials;
        fr_pose_of(&all->files.particles.row[i], x + p * FR_PARAMETERS);
        for (int a = FR_PHI; a <= FR_PSI && trial; a++)
            x[p * FR_PARAMETERS + a] += j->restart_deg * M_PI / 180 * draw(all->refine.seed, i, 16 * trial + a);
    }
    return fr_refine_poses(&all->refine, w->engine, &all->files, &all->done, row, n, x);
}

static fr_room room_of(const void *of, int64_t batch) { return fr_pose_room(of, batch); }

// Checks the options that only refine has.
static int check_more(fr_pose_job *all) {
    const job *j = (const job *)all;
    fr_refinement *r = &all->refine;
    r->trials = 1 + j->restarts;
    r->is_free[FR_DEFOCUS] = all->files.defocused = j->also.bits & 1;
    r->is_free[FR_MAGNIFICATION] = j->also.bits >> 1 & 1;
    if (j->also.bits && j->restarts)
        return rg_fail(RG_USAGE, "--also: a particle has one CTF at a time, so that there is no room for --restarts");
    for (int64_t k = 0; k < all->files.particles.n && j->also.bits; k++)
        if (all->files.particles.row[k].ctf.b_factor_A2 != 0)
            return rg_star_fault(all->files.input, all->files.particles.row[k].line,
                "--also: expected no B-factor in the CTF, found %g A^2", all->files.particles.row[k].ctf.b_factor_A2);
    return RG_GOOD;
}

static int run(void *options) {
    static const fr_pose_command refine = {.name = "refine",
        .poses = true,
        .batch = 128,
        .worker_bytes = sizeof(fr_worker),
        .prepare = check_more,
        .room = room_of,
        .improve = refine_batch};
    return fr_pose_job_run(options, &refine);
}

static const rg_option options[] = {
    {"also", "defocus|magnification", "find this for every particle, too", RG_TO(job, also)},
    {"restarts", "N", "further starts of each particle, its angles turned at random; the best is kept", RG_TO(job, restarts), 0,
        63, "0"},
    {"restart-angle", "DEG", "largest turn of a further start", RG_TO(job, restart_deg), 0.1L, 180, "10", "degrees"},
    RG_OPTIONS_OF(fr_refinement_options, job, all.refine),
    RG_OPTIONS_OF(fr_input_options, job, all.files),
    RG_OPTIONS_OF(rg_computing_options, job, all.computing),
    {0},
};

static const char help[] =
    "Refines the orientation and shift of every particle against a map, as FREALIGN does (IFLAG 1; Li, Grigorieff\n"
    "and Cheng 2010). The objective is the weighted correlation of the particle's transform with a masked section of\n"
    "the map's, both with the particle's CTF. A derivative-free optimiser of NLopt maximises it over three angles and\n"
    "two shifts (PRAXIS is a successor of Powell's method). All particles of a batch take a step together, so that a\n"
    "GPU sees many trials at once. The result for one particle does not depend on the others.\n\n"
    "Use it on poses of another program, another map or coarser limits. `regather search` has refined its own poses:\n"
    "the same map and limits gain nothing more. refine climbs the hill on which it starts; for a particle far off\n"
    "use search, or --restarts.\n\n"
    "PARTICLES is a RELION STAR file, whose rows need poses and CTF, or a FREALIGN .par file with --stack and\n"
    "--pixel. The side of the images must be even. The map must have their field of view; a map of another\n"
    "sampling is padded or cropped in Fourier space. The CTF has RELION's sign (protein bright); --invert reverses it.\n"
    "Scales and B-factors of rows multiply it.\n\n"
    "NEW.star keeps all columns of a STAR file and adds _rgFrealignScore, 100 times the objective. NEW_rings.tsv has\n"
    "the mean correlation of every ring. NEW_stages.tsv has the time and the needs of every stage; `regather doctor\n"
    "--stages NEW_stages.tsv` shows how near each came to its bound. Finished particles go to NEW.star.part, from\n"
    "which --resume continues a stopped run.\n\n"
    "As in FREALIGN, a prior holds shifts to the mean and spread that they have in PARTICLES, the more so the noisier\n"
    "the image. --also defocus adds one number to both defoci of a particle. --also magnification finds the relative\n"
    "magnification of each (_rgFrealignMagnification; MAG of a .par file); the median tells the right pixel size.";

const rg_command rg_cmd_refine = {
    .name = "refine",
    .words = "PARTICLES",
    .summary = "orientations and shifts of particles, refined against a map",
    .help = help,
    .option = options,
    .bytes = sizeof(job),
    .run = run,
    .job = true,
    .page = true,
    .one_process = true,
};
