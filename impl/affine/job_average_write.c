// SPDX-License-Identifier: MIT
// job_average_write.c: the average, its halves and their FSC, the poses, the course of the iterations.
#include "../../data/fsc.h"
#include "job_average.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// "AVG" of "AVG.mrc", then the ending; malloc'ed.
static char *beside(const aj_average *job, const char *ending)
{
    const char *dot = strrchr(job->out, '.'), *slash = strrchr(job->out, '/');
    int stem = dot && dot > (slash ? slash : job->out) ? (int)(dot - job->out) : (int)strlen(job->out);
    return rg_print("%.*s%s", stem, job->out, ending);
}

static int write_halves(const aj_average *job)
{
    static const char *const ending[2] = {"_half1.mrc", "_half2.mrc"};
    int code = RG_GOOD;
    size_t voxels = (size_t)(job->side * job->side * job->side);
    float *masked[2];
    double *fsc = rg_alloc((size_t)(job->side / 2 + 1) * sizeof *fsc);
    for (int h = 0; h < 2; h++) {
        char *path = beside(job, ending[h]);
        if (code == RG_GOOD)
            code = rg_volume_write(path, &job->half[h]);
        free(path);
        masked[h] = rg_alloc(voxels * sizeof *masked[h]);
        memcpy(masked[h], job->half[h].value, voxels * sizeof *masked[h]);
        aj_sphere(job->side, job->mask_radius_px, masked[h]);
    }
    rg_fsc(job->side, masked[0], masked[1], fsc);
    double voxel_A = job->voxel_A > 0 ? job->voxel_A : 1;
    char *path = beside(job, ".fsc.tsv");
    if (code == RG_GOOD)
        code = rg_fsc_write(path, job->command, job->side, voxel_A, fsc);
    double shell = rg_fsc_crossing(fsc, job->side / 2 + 1, 0.143);
    if (code == RG_GOOD && shell > 0)
        printf("FSC of halves = 0.143\t%.4g A\n", (double)job->side * voxel_A / shell);
    else if (code == RG_GOOD)
        printf("FSC of halves = 0.143\tnot reached\n");
    free(path);
    free(masked[0]);
    free(masked[1]);
    free(fsc);
    return code;
}

static int write_poses(const aj_average *job)
{
    char *path = beside(job, ".poses.tsv");
    char *head = rg_print("# command: %s\n# a feature at v of the average stands at c + A (v - c) + shift in the particle,\n"
                          "# A = Rz(psi) Ry(tilt) Rz(rot); variant %s\n", job->command, job->scorer[0].picked.entry->name);
    int code = rg_poses_write(path, head, job->n, job->path, job->pose, job->correlation);
    free(head);
    free(path);
    return code;
}

static int write_iterations(const aj_average *job)
{
    rg_file file;
    char *path = beside(job, ".iterations.tsv"), *svg = beside(job, ".svg"), *gnuplot = rg_program_path("gnuplot");
    int code = rg_file_open(&file, path);
    if (code == RG_GOOD) {
        fprintf(file.stream, "# command: %s\niteration\tmedian_turn_deg\tmedian_move_px\tmean_correlation\n", job->command);
        for (int64_t i = 0; i < job->done; i++)
            fprintf(file.stream, "%" PRId64 "\t%.9g\t%.9g\t%.9g\n", i + 1, job->change[i][0], job->change[i][1],
                    job->change[i][2]);
        code = rg_file_commit(&file);
    }
    const char *const argument[] = {path, NULL};
    if (code == RG_GOOD && gnuplot)
        code = rg_gnuplot(gnuplot, "plots/average.gp", svg, argument);
    else if (code == RG_GOOD)
        rg_warn("no gnuplot here, so the plot is left out (see regather doctor)");
    free(gnuplot);
    free(path);
    free(svg);
    return code;
}

int aj_average_write(const aj_average *job)
{
    int code = rg_volume_write(job->out, &job->map);
    if (code == RG_GOOD)
        code = write_poses(job);
    if (code == RG_GOOD)
        code = write_iterations(job);
    if (code == RG_GOOD && job->half_maps)
        code = write_halves(job);
    return code;
}
