// SPDX-License-Identifier: MIT
// trace_object.c: shows a fault after the inverse transform: runs the variant on an object of known shape, and writes the three
// central slices of its map beside those of the reference.
#include "trace.h"
#include "../../impl/base/core.h"

// arg[] with the outputs of the run; the map needs no inputs.
static float *map_of(const rg_trace_how *how, void *const *outputs) {
    const rg_trace *trace = how->entry->algo->trace;
    const size_t side = (size_t)trace->map_side(&how->shape);
    float *map = rg_alloc(side * side * side * sizeof *map);
    trace->map(&how->shape, outputs, map);
    return map;
}

// Writes three blocks of side x side rows, the slices across z, y and x. gnuplot selects a block by its number.
static void write_slices(FILE *f, int64_t side, const float *found, const float *expected) {
    static const char *const across[3] = {"z", "y", "x"};
    const int64_t step[3][3] = {{1, side, side * side}, {1, side * side, side}, {side, side * side, 1}}; // u, v, across
    for (int s = 0; s < 3; s++) {
        fprintf(f, "# across %s\n", across[s]);
        for (int64_t v = 0; v < side; v++)
            for (int64_t u = 0; u < side; u++) {
                const int64_t e = u * step[s][0] + v * step[s][1] + side / 2 * step[s][2];
                fprintf(f, "%lld\t%lld\t%.7g\t%.7g\n", (long long)(u - side / 2), (long long)(v - side / 2),
                    isfinite(found[e]) ? fmin(fmax(found[e], -99), 99) : 0, expected[e]);
            }
        fprintf(f, "\n\n");
    }
}

static double difference_percent(int64_t voxels, const float *found, const float *expected) {
    double difference = 0, rms = 0;
    for (int64_t e = 0; e < voxels; e++) {
        const double d = (double)found[e] - expected[e];
        difference += d * d;
        rms += (double)expected[e] * expected[e];
    }
    return 100 * sqrt(difference / rms);
}

int rg_trace_object_write(const rg_trace_how *standard, const char *stem, double *rms_percent) {
    rg_trace_how how = *standard;
    const rg_trace *trace = how.entry->algo->trace;
    void *found[RG_ARGS_MAX] = {NULL}, *expected[RG_ARGS_MAX] = {NULL};
    rg_file file;
    *rms_percent = NAN;
    how.shape = trace->object;
    const rg_verdict v = rg_trace_object(&how, found, expected);
    if (v.status != RG_PASS) {
        printf("    the object: %s: %s\n", rg_status_name[v.status], v.reason);
        return RG_WRONG;
    }
    const int64_t side = trace->map_side(&how.shape);
    RG_FREED float *map = map_of(&how, found), *right = map_of(&how, expected);
    RG_FREED char *path = rg_print("%s.object.tsv", stem);
    *rms_percent = difference_percent(side * side * side, map, right);
    const int code = rg_file_open(&file, path);
    if (!code) {
        fprintf(file.stream,
            "# regather trace %s: %s:%s, slices through the middle of the object's map; a block a slice\n"
            "# rms of the difference: %.3g %% of the right map's\n# u\tv\tfound\texpected\n",
            RG_VERSION, how.entry->algo->name, how.entry->name, *rms_percent);
        write_slices(file.stream, side, map, right);
    }
    return code ? code : rg_file_commit(&file);
}
