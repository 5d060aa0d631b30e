// SPDX-License-Identifier: MIT
// look.c: measures maps and particles for rows of verify/cases, and writes inputs that sh cannot. Prints numbers as lines "NAME
// VALUE".
//   look mrc FILE NX NY NZ PIXEL image|volume < VALUES   a float32 MRC file of numbers, NX x NY x NZ
//   look maps A B                                        largest and rms difference over A's, their correlation, A's scale in B
//   look spoil IN.star OUT.star DEGREES PIXELS           poses rotated and shifted by this much, each about another axis
//   look poses FOUND.star TRUTH.star GROUP               median and largest errors of poses, modulo the group
//   look peak COMMAND...                                 the largest resident memory of a command in GiB; its exit code
#include "../../data/formats/mrc.h"
#include "../../data/formats/particles.h"
#include "../../impl/base/symmetry.h"
#include "../../impl/suite.h"

#include <sys/resource.h>
#include <sys/wait.h>

static const double degree = 3.14159265358979323846 / 180;

static int write_mrc(char **word) {
    const int64_t nx = atoll(word[1]), ny = atoll(word[2]), nz = atoll(word[3]);
    float *section = rg_alloc((size_t)(nx * ny) * sizeof *section);
    rg_mrc_out out;
    int code = rg_mrc_write_begin(&out, word[0], nx, ny, nz, RG_MRC_FLOAT32, atof(word[4]), !strcmp(word[5], "volume"));
    for (int64_t z = 0; z < nz && !code; z++) {
        for (int64_t i = 0; i < nx * ny; i++)
            if (scanf("%f", &section[i]) != 1) return rg_fail(RG_USAGE, "look: %s: too few values", word[0]);
        code = rg_mrc_write_section(&out, section);
    }
    free(section);
    return code ? code : rg_mrc_write_commit(&out);
}

static float *read_map(const char *path, int64_t *n) {
    RG_ENDS(rg_mrc_close) rg_mrc mrc;
    if (rg_mrc_open(&mrc, path)) exit(RG_USAGE);
    *n = mrc.nx * mrc.ny * mrc.nz;
    float *value = rg_alloc((size_t)*n * sizeof *value);
    for (int64_t z = 0; z < mrc.nz; z++)
        if (rg_mrc_section(&mrc, z, value + z * mrc.nx * mrc.ny)) exit(RG_USAGE);
    return value;
}

static int compare_maps(char **word) {
    int64_t n, m;
    float *a = read_map(word[0], &n), *b = read_map(word[1], &m);
    if (n != m) return rg_fail(RG_USAGE, "look: %s and %s differ in size", word[0], word[1]);
    double apart = 0, largest = 0, ma = 0, mb = 0, dd = 0, aa = 0, ab = 0, bb = 0, cab = 0, caa = 0, cbb = 0;
    for (int64_t i = 0; i < n; i++) {
        ma += a[i] / (double)n;
        mb += b[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        apart = fmax(apart, fabs((double)a[i] - b[i]));
        largest = fmax(largest, fabs(a[i]));
        dd += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        aa += (double)a[i] * a[i];
        ab += (double)a[i] * b[i];
        bb += (double)b[i] * b[i];
        cab += (a[i] - ma) * (b[i] - mb);
        caa += (a[i] - ma) * (a[i] - ma);
        cbb += (b[i] - mb) * (b[i] - mb);
    }
    printf(
        "apart %.9g\nrms %.9g\ncorrelation %.9g\nscale %.9g\n", apart / largest, sqrt(dd / aa), cab / sqrt(caa * cbb), ab / bb);
    free(a);
    free(b);
    return RG_GOOD;
}

// ---- particles -------------------------------------------------------------------------------------------------------------

static void write_poses(const char *path, const rg_particles *p) {
    FILE *f = fopen(path, "w");
    if (!f) exit(RG_USAGE);
    fputs("data_particles\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n_rlnOriginXAngst\n"
          "_rlnOriginYAngst\n_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n_rlnVoltage\n_rlnSphericalAberration\n"
          "_rlnAmplitudeContrast\n_rlnImagePixelSize\n",
        f);
    for (int64_t i = 0; i < p->n; i++) {
        const rg_particle *q = &p->row[i];
        fprintf(f, "%d@particles.mrcs %.6f %.6f %.6f %.6f %.6f %.3f %.3f %.3f %g %g %g %.9g\n", (int)q->image + 1, q->rot_deg,
            q->tilt_deg, q->psi_deg, q->origin_x_px * p->pixel_A, q->origin_y_px * p->pixel_A, q->ctf.defocus_u_A,
            q->ctf.defocus_v_A, q->ctf.defocus_angle_deg, q->ctf.voltage_kV, q->ctf.cs_mm, q->ctf.amplitude_contrast,
            p->pixel_A);
    }
    fclose(f);
}

// Sets the angles to those of M: a rotation by `degrees` about a random axis, then the particle's.
static void turn(rg_particle *q, uint64_t i, double degrees) {
    double a[9], by[9], m[9], u[3], length = 0, c = cos(degrees * degree), s = sin(degrees * degree);
    for (int k = 0; k < 3; k++) {
        u[k] = (double)(rg_bits(77, 4 * i + (uint64_t)k) >> 40) - 0x1p23;
        length += u[k] * u[k];
    }
    for (int k = 0; k < 3; k++) u[k] /= sqrt(length);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            by[3 * r + k] = (1 - c) * u[r] * u[k] + (r == k ? c : ((k - r + 3) % 3 == 1 ? -s : s) * u[3 - r - k]);
    rg_particle_matrix(q->rot_deg, q->tilt_deg, q->psi_deg, a);
    gr_multiply(a, by, m);
    q->tilt_deg = acos(m[8]) / degree;
    q->rot_deg = atan2(m[7], m[6]) / degree;
    q->psi_deg = atan2(m[5], -m[2]) / degree;
}

static int spoil(char **word) {
    rg_particles p;
    if (rg_particles_open(&p, word[0])) return RG_USAGE;
    for (int64_t i = 0; i < p.n; i++) {
        const double direction = 360 * degree * (double)(rg_bits(78, (uint64_t)i) >> 11) * 0x1p-53;
        turn(&p.row[i], (uint64_t)i, atof(word[2]));
        p.row[i].origin_x_px += atof(word[3]) * cos(direction);
        p.row[i].origin_y_px += atof(word[3]) * sin(direction);
    }
    write_poses(word[1], &p);
    rg_particles_close(&p);
    return RG_GOOD;
}

static double turned_apart_deg(const rg_particle *found, const rg_particle *truth, const gr_symmetry *group) {
    double a[9], b[9], turned[9], best = -3;
    rg_particle_matrix(found->rot_deg, found->tilt_deg, found->psi_deg, a);
    rg_particle_matrix(truth->rot_deg, truth->tilt_deg, truth->psi_deg, b);
    for (int g = 0; g < group->n; g++) {
        gr_multiply(a, group->matrix[g], turned);
        double trace = 0;
        for (int k = 0; k < 9; k++) trace += turned[k] * b[k];
        best = fmax(best, trace);
    }
    return acos(fmin(1, (best - 1) / 2)) / degree;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int compare_poses(char **word) {
    rg_particles found, truth;
    gr_symmetry group;
    if (gr_symmetry_make(&group, word[2]) || rg_particles_open(&found, word[0]) || rg_particles_open(&truth, word[1]))
        return RG_USAGE;
    const size_t n = (size_t)found.n;
    RG_FREED double *deg = rg_alloc(n * sizeof *deg), *A = rg_alloc(n * sizeof *A);
    for (size_t i = 0; i < n; i++) {
        const rg_particle *f = &found.row[i], *t = &truth.row[i];
        deg[i] = turned_apart_deg(f, t, &group);
        A[i] = truth.pixel_A * hypot(f->origin_x_px - t->origin_x_px, f->origin_y_px - t->origin_y_px);
    }
    qsort(deg, n, sizeof *deg, by_size);
    qsort(A, n, sizeof *A, by_size);
    printf("deg %.6f\nworst_deg %.6f\nA %.6f\nworst_A %.6f\n", deg[n / 2], deg[n - 1], A[n / 2], A[n - 1]);
    rg_particles_close(&found);
    rg_particles_close(&truth);
    return RG_GOOD;
}

static int peak(char **command) {
    struct rusage used;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(99);
        execv(command[0], command);
        _exit(99);
    }
    if (wait4(child, &status, 0, &used) != child) return rg_fail(RG_USAGE, "look: no end of %s", command[0]);
    printf("peak %.6f\n", (double)used.ru_maxrss / 0x1p20);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int words;
        int (*run)(char **word);
    } tool[] = {{"mrc", 6, write_mrc}, {"maps", 2, compare_maps}, {"spoil", 4, spoil}, {"poses", 3, compare_poses}};
    for (int i = 0; i < RG_COUNT(tool); i++)
        if (argc == tool[i].words + 2 && !strcmp(argv[1], tool[i].name)) return tool[i].run(argv + 2);
    if (argc > 2 && !strcmp(argv[1], "peak")) return peak(argv + 2);
    return rg_fail(RG_USAGE, "look: expected mrc, maps, spoil, poses or peak and its words");
}
