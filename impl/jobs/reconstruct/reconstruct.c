// SPDX-License-Identifier: MIT
// reconstruct.c: regather reconstruct: computes a map from particle images of known orientation by direct Fourier inversion
// (Strelak et al. 2019), with any variant of the table; --method frealign is in frealign.c.
#include "reconstruct.h"
#include "../../base/summary.h"
#include "../../base/tsv.h"
#include "../pipeline/ranks.h"
#include "frealign.h"

typedef struct request {
    rc_typed typed;
    enum { GRIDDING, FREALIGN } method;
    rc_job gridding;
    fr_reconstruction frealign;
} request;

static const rg_option options[] = {
    {"out", "VOL.mrc", "the map; half maps go to VOL_half1.mrc and VOL_half2.mrc", RG_TO(request, typed.out),
        .endings = ".mrc .map", .beside = "_half1.mrc?half-maps _half2.mrc?half-maps _stages.tsv _fsc.tsv?method=frealign",
        .required = true},
    {"sym", "GROUP", "C1, Cn, Dn, T, O, I1 or I2, in RELION's settings", RG_TO(request, typed.group), 0, 0, "C1"},
    {"half-maps", NULL, "write the maps of both halves too, those of rlnRandomSubset or else the odd and the even rows",
        RG_TO(request, typed.half_maps)},
    {"ctf", NULL, "weight by the CTF: sum of c F over f + sum of c^2; frealign always does", RG_TO(request, gridding.ctf)},
    {"invert", NULL, "reverse the images' contrast: particles are dark in them", RG_TO(request, typed.invert)},
    {"mask-radius", "PX", "keep a sphere of this radius, its edge six voxels of cosine", RG_TO(request, typed.mask_radius_px),
        0, 1e6L, .unit = "voxels", .otherwise = "none; frealign: the largest that fits"},
    {"padding", "N", "images are padded to N times their side", RG_TO(request, gridding.padding), 1, 8, "2",
        .needs = "method=gridding"},
    {"radius", "B", "the interpolation kernel's radius", RG_TO(request, typed.radius), 1, 3, "1.9",
        "voxels of the padded transform", .needs = "method=gridding"},
    {"per-operator", NULL, "insert every image once an operator, as the paper does: see above",
        RG_TO(request, typed.per_operator), .needs = "method=gridding"},
    {"tune", "N", "try N configurations of the variant's parameters on half of the images, go on with the best",
        RG_TO(request, typed.trials), 1, 4096, .needs = "method=gridding"},
    {"method", "gridding|frealign", "or FREALIGN's insertion, always with the CTF and both halves, on an even number of GPUs",
        RG_TO(request, method), 0, 0, "gridding"},
    {"f", "F", "frealign, and gridding with --ctf: added to the weights", RG_TO(request, typed.f), 0, 1e30L,
        .otherwise = "a tenth of the operators times their mean"},
    RG_OPTIONS_OF(fr_reconstruct_options, request, frealign),
    RG_OPTIONS_OF(rg_computing_options, request, typed.computing),
    {0},
};

static const char help[] =
    "Reads a RELION STAR file (3.0 or 3.1) and, image by image, the MRC stacks that it names. Rows need\n"
    "rlnImageName and rlnAngleRot, rlnAngleTilt, rlnAnglePsi; rlnOriginX/YAngst or rlnOriginX/Y are used if\n"
    "present. An image is the projection of the map, rotated by A = Rz(psi) Ry(tilt) Rz(rot) and shifted by\n"
    "-origin. The centre of images and map is pixel floor(side / 2), counted from 0. RELION's projections of odd\n"
    "side have their centre one pixel further.\n\n"
    "Every image is shifted by its origin, padded with zeros, transformed, cut off at the maximum frequency, and\n"
    "added with the Kaiser-Bessel kernel to a 3-D transform G and its weights W. The map is G/W up to the\n"
    "maximum frequency, corrected near the centre, where samples lie denser on one side, transformed back, divided\n"
    "by the kernel's transform, and cropped. The operators of --sym that map the grid onto itself (12 of the 60 of\n"
    "I1) are applied to the finished sums, which is exact, unless --per-operator is given.\n\n"
    "--ctf: the images are c times the projection's transform. c has RELION's sign (protein bright) and includes\n"
    "the B-factor and scale of the row. Then G = sum of c F, W = sum of c^2, and the map is G / (f + W). By default f\n"
    "= 0.1 operators (mean of the weights added), which is FREALIGN's rule; --f sets it. c itself flips the phases,\n"
    "so images must not have been corrected before, unless the STAR file says so:\n"
    "_rlnCtfDataAreCtfPremultiplied 1 (G = sum of F) or _rlnCtfDataArePhaseFlipped 1 (G = sum of |c| F).\n"
    "--method frealign takes neither.\n\n"
    "On GPUs, threads read ahead while images are copied, transformed and inserted, each in its own stream. --gpus\n"
    "shares the rows among GPUs, each with a volume. Started by mpirun or srun, the processes share the rows, each\n"
    "with the next GPU of its machine or with its cores, and the first process writes the map.\n\n"
    "VOL_stages.tsv, also printed, has the stages. busy_s is the time in which at least one image was in the stage,\n"
    "and share its part of the whole. open: the STAR file, its stacks and the GPU. setup: memory and plans. prepare\n"
    "includes the wait for a GPU that is inserting. Stages overlap, so the shares can add up to more than 1.\n\n"
    "--tune searches parameters during the run. All configurations compute the same sums, so no trial is wasted;\n"
    "each is timed alone, at this size on this GPU. For the CPU, use regather tune.\n\n"
    "Memory is predicted first; the job is refused if it does not fit. Files are written whole or not at all. A\n"
    "killed job starts again from its first image.";

static int open_particles(rc_job *job, const char *path) {
    int code = rg_particles_open(&job->particles, path);
    if (code != RG_GOOD) return code;
    if (job->particles.side < 2) return rg_fail(RG_USAGE, "%s: expected images of at least 2 x 2 pixels, found 1 x 1", path);
    if (rg_option_within("mask-radius", &job->mask_radius_px, 0, 0, (double)job->particles.side / 2) != RG_GOOD)
        return RG_USAGE;
    if (job->run.halves == 2 && rg_particles_halves(&job->particles) != RG_GOOD) return RG_USAGE;
    if (job->ctf && job->particles.lacks_ctf)
        return rg_fail(RG_USAGE, "%s: expected a column _%s for --ctf, found none", path, job->particles.lacks_ctf);
    // Phase-flipped images are the input of a job without a CTF; images times their CTF are no projections.
    if (!job->ctf && job->particles.premultiplied)
        return rg_fail(RG_USAGE,
            "%s: expected --ctf for images that are multiplied by their CTF "
            "(_rlnCtfDataAreCtfPremultiplied 1)",
            path);
    if (job->ctf && !(job->particles.pixel_A > 0))
        return rg_fail(RG_USAGE, "%s: expected a pixel size for --ctf, found none in it nor in its stacks", path);
    return RG_GOOD;
}

// Also describes the job, so that the table can be read alone.
static int write_stages(const rc_job *job) {
    RG_FREED char *note = rg_print("# command: %s\n# %" PRId64 " image%s of %" PRId64 "^2 pixels, %d operator%s (%d inserted)\n"
                                   "# %s, %d process%s\n%s%s%s",
        job->run.typed->given.line, job->particles.n, rg_plural(job->particles.n), job->particles.side, job->symmetry.n,
        rg_plural(job->symmetry.n), job->n_operators, job->entry->name, rg_ranks(), rg_ranks() == 1 ? "" : "es",
        job->tuned[0] ? "# " : "", job->tuned, job->tuned[0] ? "\n" : "");
    int code = pl_stages_write(&job->team, job->run.typed->out, note);
    if (job->tuned[0]) rg_tsv_print(stdout, "%s\n", job->tuned);
    return code;
}

static void say_plan(const rc_job *job) {
    char params[192];
    rg_params_print(job->entry->variant, job->param, params);
    fprintf(stderr, "reconstruct: %" PRId64 " image%s of %" PRId64 "^2 pixels, %d operator%s (%d inserted), variant %s (%s)",
        job->particles.n, rg_plural(job->particles.n), job->particles.side, job->symmetry.n, rg_plural(job->symmetry.n),
        job->n_operators, job->entry->name, params);
    fprintf(stderr, " on %s", job->team.member->device->name);
    if (job->team.n > 1) fprintf(stderr, " and %d more", job->team.n - 1);
    fprintf(stderr, ", %" PRId64 " image%s a call\n", job->batch, rg_plural(job->batch));
    rg_ranks_say("reconstruct");
}

// ---- gridding ------------------------------------------------------------------------------------------------------------

static int open_gridding(rc_run *run, const rc_typed *typed) {
    rc_job *job = (rc_job *)run;
    const char *variant = NULL, *input = typed->given.word.item[0];
    job->algo = rg_algo_find("gridding");
    job->particles.open = -1;
    job->began_s = rg_seconds();
    if (fr_is_par(input)) return rg_fail(RG_USAGE, "%s: a .par file goes with --method frealign only", input);
    if (!isnan(typed->f) && !job->ctf)
        return rg_fail(RG_USAGE,
            "reconstruct: --f goes with --ctf or --method frealign only: without a CTF nothing is added to the weights");
    run->halves = typed->half_maps ? 2 : 1;
    job->f = typed->f;
    job->invert = typed->invert;
    job->mask_radius_px = typed->mask_radius_px;
    job->radius_tenths = (int64_t)(10 * typed->radius + 0.5);
    job->threads = rg_given_threads(&typed->given);
    job->trials = (int)typed->trials;
    int code = rg_computing_variant(&typed->computing, job->algo->name, &variant);
    if (code == RG_GOOD) code = rc_set_symmetry(job, typed->group, typed->per_operator);
    if (code == RG_GOOD && !variant) pl_open_ahead(typed->given.device); // otherwise the variant may run on the CPU
    if (code == RG_GOOD) code = open_particles(job, input);
    if (code == RG_GOOD && rg_rank == 0) code = rg_file_can_write(typed->out);
    if (code == RG_GOOD) code = gr_plan(job, variant, typed->given.device, typed->computing.gpus);
    if (code == RG_GOOD && !rg_quiet) say_plan(job);
    return code;
}

static int report_gridding(rc_run *run) {
    const rc_job *job = (const rc_job *)run;
    RG_FREED char *variant = rg_print("gridding:%s", job->entry->name);
    int code = write_stages(job);
    if (code != RG_GOOD) return code;
    rg_summary_did("inserted", "%d of %d operator%s of %s, weighted %s", job->n_operators, job->symmetry.n,
        rg_plural(job->symmetry.n), run->typed->group, job->ctf ? "by the CTF" : "alike");
    rc_show(run, variant);
    return RG_GOOD;
}

static void close_gridding(rc_run *run) { rc_job_free((rc_job *)run); }

const rc_method rc_gridding = {open_gridding, rc_insert_all, rc_weigh, rc_make_map, NULL, report_gridding, close_gridding};

// ---- both methods --------------------------------------------------------------------------------------------------------

int rc_make_sums(const rc_run *run, pl_member *m, int half, int halves) {
    const double since_s = rg_seconds();
    int error = RG_OK;
    for (int i = 0; i < halves * run->parts && !error; i++) {
        rg_buffer *b = rc_sum_of(run, m->index, half) + i;
        const size_t bytes = (size_t)run->floats[i % run->parts] * sizeof(float);
        error = rg_buffer_make(b, m->device, bytes, sizeof(float), false, "sums");
        if (!error && run->cleared) error = m->device->fill(b->base, 0, b->bytes);
    }
    pl_lap(m, PL_SETUP, since_s);
    return pl_failed(m, "making the sums", error);
}

int rc_insert(rc_run *run, pl_task *task) {
    pl_team *t = run->team;
    int64_t first;
    run->sum = rg_alloc((size_t)(t->n * 2 * run->parts) * sizeof *run->sum);
    pl_team_hash(t);
    rg_progress_begin(&t->progress, "reconstruct", "images", (double)pl_share(run->particles->n, rg_rank, rg_ranks(), &first));
    int code = pl_team_run(t, task, run);
    rg_progress_end(&t->progress);
    return code == RG_GOOD ? pl_merge(t, run->sum, 2 * run->parts) : code;
}

static int release_sums(pl_member *m, void *context) {
    const rc_run *run = context;
    for (int i = 0; i < 2 * run->parts; i++) rg_buffer_free(&rc_sum_of(run, m->index, 0)[i]);
    return RG_GOOD;
}

void rc_free_sums(rc_run *run) {
    if (run->sum) pl_team_run(run->team, release_sums, run);
    free(run->sum);
    run->sum = NULL;
}

int rc_add_halves(const rc_run *run) {
    const pl_member *m = run->team->member;
    const rg_buffer *to = rc_sum_of(run, 0, 0), *from = rc_sum_of(run, 0, 1);
    int error = RG_OK;
    for (int p = 0; p < run->parts && !error; p++) error = pl_add(m, NULL, run->floats[p], from[p].base, to[p].base);
    return pl_failed(m, "adding the halves", error ? error : m->device->sync());
}

static int one_map(rc_run *run, const rc_method *method, rc_files *files, int half, double f) {
    float *map = run->map[method->correlate ? half : 0].base;
    int code = method->make_map(run, half, f, map);
    return code == RG_GOOD && files ? rc_files_add(files, run->team->member, map) : code;
}

static int make_room(rc_run *run, const rc_method *method) {
    const pl_member *m = run->team->member;
    const size_t side = (size_t)run->particles->side, bytes = side * side * side * sizeof(float);
    int error = RG_OK;
    for (int i = 0; i < (method->correlate ? 2 : 1) && !error; i++)
        error = rg_buffer_make(&run->map[i], m->device, bytes, sizeof(float), false, "map");
    return pl_failed(m, "making room for the map", error);
}

// The halves come first, because the full map's sums replace theirs.
static int make_maps(rc_run *run, const rc_method *method, rc_files *files) {
    static const char *const suffix[] = {"_half1", "_half2", ""};
    const rg_particles *p = run->particles;
    const bool written = run->typed->half_maps;
    int code = RG_GOOD;
    for (int i = written ? 0 : 2; i < 3 && code == RG_GOOD; i++)
        code = rc_files_open(files, run->typed->out, suffix[i], p->side, p->pixel_A, run->team->member->threads);
    if (code == RG_GOOD) code = method->weigh(run);
    if (code == RG_GOOD) code = make_room(run, method);
    for (int h = 0; h < 2 && run->halves == 2 && code == RG_GOOD; h++)
        code = one_map(run, method, written ? files : NULL, h, run->f[h]);
    if (code == RG_GOOD && method->correlate) code = method->correlate(run);
    if (code == RG_GOOD && run->halves == 2) code = rc_add_halves(run);
    return code == RG_GOOD ? one_map(run, method, files, 0, run->f[2]) : code;
}

static int write_maps(rc_run *run, const rc_method *method) {
    rc_files files = {.n = 0};
    int code = rc_files_end(&files, run->team->member, make_maps(run, method, &files));
    for (int i = 0; i < 2; i++) rg_buffer_free(&run->map[i]);
    return code == RG_GOOD ? method->report(run) : code;
}

static int run_method(rc_run *run, const rc_method *method, const rc_typed *typed) {
    run->typed = typed;
    int code = method->open(run, typed);
    if (code == RG_GOOD && !rg_dry_run) code = method->insert(run);
    if (code == RG_GOOD && !rg_dry_run && rg_rank == 0) code = write_maps(run, method);
    method->close(run);
    return code;
}

static int run(void *typed) {
    request *q = typed;
    return q->method == GRIDDING ? run_method(&q->gridding.run, &rc_gridding, &q->typed)
                                 : run_method(&q->frealign.run, &rc_frealign, &q->typed);
}

const rg_command rg_cmd_reconstruct = {
    .name = "reconstruct",
    .words = "PARTICLES",
    .summary = "a map from particle images of known orientation, by direct Fourier inversion or as FREALIGN does",
    .help = help,
    .option = options,
    .bytes = sizeof(request),
    .run = run,
    .job = true,
    .page = true,
    .one_process = true,
};
