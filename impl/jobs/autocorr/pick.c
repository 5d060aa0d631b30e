// SPDX-License-Identifier: MIT
// pick.c: which variant does the work: the one requested; else the fastest that passed on this machine, after the result file
// that `regather bench` leaves beside the program; else the first of the declared order (choice.h). Always said why.
#include "../../../data/formats/result.h"
#include "../../runtime/cpu.h"
#include "../pipeline/ranks.h"
#include "autocorr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The shapes of all photographs, which the variant must take.
static rg_shape *shapes_of(const ac_job *job)
{
    rg_shape *shape = rg_alloc((size_t)job->n_photos * sizeof *shape);
    for (int64_t i = 0; i < job->n_photos; i++)
        shape[i] = job->photo[i].shape;
    return shape;
}

static char *bench_path(void)
{
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0)
        return NULL;
    program[n] = '\0';
    char *slash = strrchr(program, '/');
    return slash ? rg_print("%.*s/bench.tsv", (int)(slash - program), program) : NULL;
}

// Whether the file was made here: its head names this CPU and as many usable cores.
static bool same_machine(const rg_result *result)
{
    const char *machine = rg_result_head(result, "machine");
    char model[128], cores[32];
    rg_cpu_model(model);
    snprintf(cores, sizeof cores, ", %d cores", rg_cpu_cores());
    return machine && strncmp(machine, model, strlen(model)) == 0 && strstr(machine, cores);
}

// The number of threads that bench writes before a HOST variant's own parameters, "threads=2;isa=0"; *params moves past it.
static int threads_of(const rg_variant *v, const char **params)
{
    int threads = 1, length = 0;
    if (v->space == RG_HOST && sscanf(*params, "threads=%d%n", &threads, &length) == 1) {
        *params += length;
        *params = **params == ';' ? *params + 1 : "-";
    }
    return threads;
}

// A measurement that says how fast a variant is that could do this job: its entry and parameters, else NULL.
static const rg_entry *entry_of_row(const ac_job *job, const rg_shape *photos, const rg_row *row, rg_shape *shape,
                                    int64_t *param, int *threads)
{
    char why[160];
    const char *params = row->cell[RG_C_PARAMS];
    bool whole_call = strcmp(row->cell[RG_C_SCOPE], "kernel") == 0 || strcmp(row->cell[RG_C_SCOPE], "device") == 0;
    if (strcmp(row->cell[RG_C_ALGO], job->algo->name) != 0 || strcmp(row->cell[RG_C_STATUS], "PASS") != 0 || !whole_call
        || !(rg_cell_number(row, RG_C_MEDIAN) > 0) || !rg_shape_parse(job->algo, row->cell[RG_C_SHAPE], shape, why))
        return NULL;
    const rg_entry *e = rg_entry_named(job->algo, job->device, row->cell[RG_C_VARIANT]);
    // A series that fills the cores by itself runs each photograph on one.
    int most = job->n_photos >= job->threads * rg_ranks() ? 1 : job->threads;
    *threads = e ? threads_of(e->variant, &params) : 1;
    if (!e || *threads > most || !rg_params_parse(e->variant, params, param, why))
        return NULL;
    return !rg_unavailable(e) && !rg_refusal(e, photos, job->n_photos, param) ? e : NULL;
}

// How unlike two problems are: the logarithms of the ratios of their pixels and of their offsets, and another kind counts most.
static double distance(const rg_shape *a, const rg_shape *b)
{
    double pixels = (double)a->n[AC_WIDTH] * (double)a->n[AC_HEIGHT] / ((double)b->n[AC_WIDTH] * (double)b->n[AC_HEIGHT]);
    double offsets = (double)ac_side(a->n[AC_R]) / (double)ac_side(b->n[AC_R]);
    return fabs(log(pixels)) + 2 * fabs(log(offsets)) + (a->n[AC_KIND] == b->n[AC_KIND] ? 0 : 100);
}

static bool pick_measured(ac_job *job, const rg_shape *photos, const rg_result *result)
{
    double nearest = INFINITY, fastest = INFINITY;
    const char *shape_text = "";
    for (int i = 0; i < result->n_rows; i++) {
        rg_shape shape;
        int64_t param[RG_PARAMS_MAX] = {0};
        int threads;
        const rg_entry *e = entry_of_row(job, photos, &result->row[i], &shape, param, &threads);
        double apart = e ? distance(&shape, &job->photo[0].shape) : INFINITY;
        double prepare = rg_cell_number(&result->row[i], RG_C_PREPARE); // once for all photographs, in ns as the median
        double each = rg_cell_number(&result->row[i], RG_C_MEDIAN) + (isnan(prepare) ? 0 : prepare / (double)job->n_photos);
        if (!e || apart > nearest || (apart == nearest && !(each < fastest)))
            continue;
        nearest = apart;
        fastest = each;
        job->entry = e;
        job->threads_each = threads;
        memcpy(job->param, param, sizeof param);
        shape_text = result->row[i].cell[RG_C_SHAPE];
    }
    if (job->entry)
        snprintf(job->why, sizeof job->why, "the fastest that passed here at %s, the nearest shape in %s", shape_text,
                 result->path);
    return job->entry != NULL;
}

// From the file that `regather bench` left beside this program. False with the reason.
static bool pick_beside(ac_job *job, const rg_shape *photos, const char **reason)
{
    char *path = bench_path();
    rg_result result;
    bool picked = false, cut;
    *reason = "run regather bench autocorr for a measured choice";
    if (path && access(path, R_OK) == 0 && rg_result_read(path, &result, &cut) == RG_GOOD) {
        bool here = same_machine(&result);
        picked = here && pick_measured(job, photos, &result);
        *reason = here ? "the measurements beside this program hold none that could"
                       : "the measurements beside this program are another machine's";
        rg_result_free(&result);
    }
    free(path);
    return picked;
}

int ac_pick(ac_job *job, const char *requested)
{
    rg_shape *photos = shapes_of(job);
    const char *reason = NULL;
    rg_choice c;
    int code = RG_GOOD;
    if (requested || !pick_beside(job, photos, &reason)) {
        code = rg_choose(job->algo, job->device, requested, photos, job->n_photos, NULL, &c);
        job->entry = c.entry;
        memcpy(job->param, c.param, sizeof job->param);
        snprintf(job->why, sizeof job->why, reason ? "the first that can run here of a fixed order; %s" : "requested", reason);
    }
    free(photos);
    return code;
}
