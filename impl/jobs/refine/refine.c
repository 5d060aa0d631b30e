// SPDX-License-Identifier: MIT
// refine.c: the command refine: its options and search's, restarts, what is reported.
#include "refine.h"
#include "lockstep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

// Mean and spread of the shifts in the file, weighted by occupancy; none where they do not differ.
static void find_prior(fr_refinement *r, const fr_files *f)
{
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

int fr_refinement_options(fr_refinement *r, const fr_files *f, const rg_cli *cli)
{
    const double side = (double)f->particles.side, width_A = side * f->particles.pixel_A;
    const char *preset = rg_cli_text(cli, "preset", "v9");
    double low_A, high_A, mask_A, b_A2;
    int64_t seed;
    *r = (fr_refinement){.side = f->particles.side, .pixel_A = f->particles.pixel_A, .trials = 1, .least = INT64_MAX};
    for (int p = FR_PHI; p <= FR_SHIFT_Y; p++)
        r->is_free[p] = true;
    r->optimiser = rg_cli_text(cli, "optimiser", "praxis");
    if (strcmp(preset, "v9") != 0 && strcmp(preset, "paper") != 0)
        return rg_fail(RG_USAGE, "--preset: expected v9 or paper, found \"%s\"", preset);
    const char *why = fr_optimiser_unknown(r->optimiser);
    if (why)
        return rg_fail(strcmp(r->optimiser, "praxis") && strcmp(r->optimiser, "bobyqa") ? RG_USAGE : RG_LACKS,
                       "--optimiser %s: %s", r->optimiser, why);
    if (strcmp(r->optimiser, "praxis") == 0 && rg_cli_text(cli, "step", NULL))
        return rg_fail(RG_USAGE, "--step: praxis finds its first steps itself; expected --optimiser bobyqa with it");
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
    // A radian of the CTF's phase at the finest ring; a hundredth of magnification moves that ring as far as 0.01 rad do.
    const double finest = (double)r->outer / width_A, wave = rg_electron_wavelength_A(f->particles.row[0].ctf.voltage_kV);
    const double unit[FR_PARAMETERS] = {0.1, 0.1, 0.1, 0.01, 0.01, 1 / (PI * wave * finest * finest), 0.01};
    memcpy(r->unit, unit, sizeof unit);
    if (!rg_cli_flag(cli, "no-prior"))
        find_prior(r, f);
    r->ring = rg_alloc((size_t)fr_rings(r->side) * sizeof *r->ring);
    return RG_GOOD;
}

void fr_refinement_free(fr_refinement *r) { free(r->ring); }

static int write_rings(const fr_refinement *r, const char *command, const char *out)
{
    const double width_A = (double)r->side * r->pixel_A;
    rg_file file;
    int code = rg_file_open_beside(&file, out, "_rings", ".tsv");
    if (code != RG_GOOD)
        return code;
    fprintf(file.stream, "# command: %s\n# mean over particles of presb; frequency in 1/A, resolution in A\n", command);
    fprintf(file.stream, "ring\tfrequency\tresolution\tcc\n");
    for (int64_t k = 1; k < fr_rings(r->side); k++)
        fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\n", k, (double)k / width_A, width_A / (double)k,
                r->ring[k] / (double)r->particles);
    return rg_file_commit(&file);
}

static double median(double *v, int64_t n)
{
    for (int64_t i = 1; i < n; i++) // they are nearly sorted or few
        for (int64_t k = i; k > 0 && v[k] < v[k - 1]; k--) {
            const double t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
    return v[n / 2];
}

int fr_refinement_report(const fr_refinement *r, const fr_files *f, const fr_checkpoint *done, const rg_cli *cli,
                         const char *out)
{
    double sum = 0;
    const int64_t n = f->particles.n;
    for (int64_t i = 0; i < n; i++)
        sum += f->score[i];
    printf("mean score\t%.3f %%\n", sum / (double)n);
    if (done->resumed)
        printf("resumed\t%" PRId64 " particles of an earlier run\n", done->resumed);
    if (r->is_free[FR_MAGNIFICATION]) {
        double *m = rg_alloc((size_t)n * sizeof *m);
        memcpy(m, f->magnification, (size_t)n * sizeof *m);
        const double middle = median(m, n);
        printf("magnification\t%.5f (median): a pixel of %.5f A\n", middle, r->pixel_A * middle);
        free(m);
    }
    if (!r->refined)
        return RG_GOOD;
    printf("mean coefficient\t%.3f %%\n", 100 * r->coefficient / (double)r->particles);
    printf("evaluations a pose\t%.1f (%" PRId64 " to %" PRId64 "; the original: 60 to 83)\n",
           (double)r->evaluations / (double)r->refined, r->least, r->most);
    return write_rings(r, rg_cli_line(cli), out);
}

// ---- the command ---------------------------------------------------------------------------------------------------------

typedef struct job {
    fr_files files;
    fr_refinement refine;
    fr_team team;
    fr_checkpoint done;
    int64_t batch, own;
    double restart_deg;
    float *reference;
} job;

static double draw(uint64_t seed, int64_t row, int64_t which) // within -1 .. 1
{
    return (double)(rg_bits(seed + 0xF12, (uint64_t)(16 * 64 * row + which)) >> 11) * 0x1p-52 - 1;
}

// The pose that the row has, then restarts: angles off by up to so much. A particle's do not depend on others.
static int refine_batch(job *j, fr_engine *e, const int64_t *row, int64_t n)
{
    const int64_t trials = j->refine.trials;
    double *x = rg_alloc((size_t)(n * trials * FR_PARAMETERS) * sizeof *x);
    for (int64_t p = 0; p < n * trials; p++) {
        const int64_t i = row[p / trials], trial = p % trials;
        fr_pose_of(&j->files.particles.row[i], x + p * FR_PARAMETERS);
        for (int a = FR_PHI; a <= FR_PSI && trial; a++)
            x[p * FR_PARAMETERS + a] += j->restart_deg * PI / 180 * draw(j->refine.seed, i, 16 * trial + a);
    }
    int code = fr_refine_poses(&j->refine, e, &j->files, &j->done, row, n, x);
    free(x);
    return code;
}

static int refine_rows(pl_member *m, void *context)
{
    job *j = context;
    fr_engine *e = &j->team.engine[m->index];
    int64_t first, n, rows = pl_share(j->done.rows, m->index, m->team->n, &first);
    const int64_t batch = j->batch < rows ? j->batch : rows, *row;
    if (!rows)
        return RG_GOOD;
    int code = fr_engine_size(e, j->refine.side, batch, j->refine.trials, true, fr_refinement_out(&j->refine, batch),
                              j->refine.setting, 8.0 * (double)fr_voxels(j->own));
    if (code == RG_GOOD)
        code = fr_images_begin(e, j->done.row + first, rows);
    if (code == RG_GOOD)
        code = fr_engine_reference(e, j->own, j->reference);
    while (code == RG_GOOD) {
        code = fr_images_next(e, j->refine.kind, &row, &n);
        if (code != RG_GOOD || !n)
            break;
        code = refine_batch(j, e, row, n);
        pl_team_progress(m->team, n);
    }
    pl_feed_end(&e->feed);
    return code;
}

static int refine(job *j, const char *out)
{
    fr_team *t = &j->team;
    const int64_t most = FR_PROBLEMS_MAX / j->refine.trials;
    int code = rg_cli_int(t->cli, "batch", most < 128 ? most : 128, 1, most, &j->batch);
    const double since_s = rg_seconds();
    if (code == RG_GOOD)
        code = fr_reference_read(t->cli, j->refine.side, j->refine.pixel_A, &j->own, &j->reference);
    if (code != RG_GOOD)
        return code;
    pl_lap(t->team.member, PL_REFERENCE, since_s);
    code = fr_checkpoint_open(&j->done, t->cli, &j->files, out);
    rg_progress_begin(&t->team.progress, "refine", "particles", (double)j->done.rows);
    code = code == RG_GOOD ? pl_team_run(&t->team, refine_rows, j) : code;
    rg_progress_end(&t->team.progress);
    free(j->reference);
    const double write_s = rg_seconds();
    if (code == RG_GOOD)
        code = fr_files_write(&j->files, out, rg_cli_line(t->cli));
    pl_lap(t->team.member, PL_WRITE, write_s);
    if (code == RG_GOOD)
        code = fr_refinement_report(&j->refine, &j->files, &j->done, t->cli, out);
    fr_checkpoint_close(&j->done, code == RG_GOOD);
    return code == RG_GOOD ? fr_team_report(t, out) : code;
}

// What refine has beside search.
static int parse_more(job *j, const rg_cli *cli)
{
    fr_refinement *r = &j->refine;
    int64_t restarts;
    int code = rg_cli_int(cli, "restarts", 0, 0, 63, &restarts);
    if (code == RG_GOOD)
        code = rg_cli_real(cli, "restart-angle", 10, 0.1, 180, &j->restart_deg);
    r->trials = code == RG_GOOD ? 1 + restarts : 1;
    for (int i = 0; rg_cli_nth(cli, "also", i) && code == RG_GOOD; i++) {
        const char *name = rg_cli_nth(cli, "also", i);
        const bool defocus = strcmp(name, "defocus") == 0;
        if (!defocus && strcmp(name, "magnification") != 0)
            return rg_fail(RG_USAGE, "--also: expected defocus or magnification, found \"%s\"", name);
        r->is_free[defocus ? FR_DEFOCUS : FR_MAGNIFICATION] = true;
        if (restarts)
            return rg_fail(RG_USAGE, "--also: a particle has one CTF at a time, so that there is no room for --restarts");
        for (int64_t k = 0; k < j->files.particles.n; k++)
            if (j->files.particles.row[k].ctf.b_factor_A2 != 0)
                return rg_star_fault(j->files.input, j->files.particles.row[k].line,
                                     "--also: expected no B-factor in the CTF, found %g A^2",
                                     j->files.particles.row[k].ctf.b_factor_A2);
    }
    j->files.defocused = r->is_free[FR_DEFOCUS];
    return code;
}

static int run(const rg_cli *cli)
{
    const double began_s = rg_seconds();
    const char *out = rg_cli_text(cli, "out", NULL);
    job j = {0};
    if (rg_cli_count(cli) != 1 || !out || !rg_cli_text(cli, "reference", NULL))
        return rg_fail(RG_USAGE,
                       "refine: expected PARTICLES, --reference VOL.mrc and --out NEW.star (see regather refine --help)");
    int code = fr_files_open(&j.files, cli, true);
    if (code == RG_GOOD)
        code = fr_refinement_options(&j.refine, &j.files, cli);
    if (code == RG_GOOD)
        code = parse_more(&j, cli);
    if (code == RG_GOOD)
        code = fr_team_open(&j.team, cli, &j.files, FR_REFINE_ROUTINES, j.files.particles.n, false, began_s);
    if (code == RG_GOOD)
        code = refine(&j, out);
    fr_team_close(&j.team);
    fr_files_close(&j.files);
    fr_refinement_free(&j.refine);
    return code;
}

static const rg_option options[] = {
    {"also", "WHAT", "defocus or magnification of every particle, too; may be repeated", true},
    {"restarts", "N", "further starts of each particle, its angles turned at random; the best is kept (default 0)", false},
    {"restart-angle", "DEG", "by up to so much (default 10)", false},
    FR_REFINE_OPTIONS,
    FR_INPUT_OPTIONS,
    {NULL, NULL, NULL, false},
};

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
    "NEW.star keeps all columns of a STAR file and gains _rgFrealignScore, 100 times the objective. NEW_rings.tsv has the\n"
    "mean correlation of every ring, NEW_stages.tsv what took how long. Finished particles go to NEW.star.part, from which\n"
    "--resume goes on after a run that was stopped.\n"
    "\n"
    "As in FREALIGN, shifts are held to mean and spread that they have in PARTICLES, the more so the noisier the image.\n"
    "--also defocus adds one number to both defoci of a particle, --also magnification finds its relative magnification\n"
    "(_rgFrealignMagnification; MAG of a .par file); the median says what the pixel size ought to be.";

const rg_command rg_cmd_refine = {
    .name = "refine",
    .usage = "PARTICLES --reference VOL.mrc --out NEW.star",
    .summary = "orientations and shifts of particles, refined against a map",
    .help = help,
    .option = options,
    .old_run = run,
    .one_process = true,
};
