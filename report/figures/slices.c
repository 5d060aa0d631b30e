// SPDX-License-Identifier: MIT
// slices.c: makes figures of maps (--map): the central sections of the map and of the truth, and their difference; without a
// truth, the map's three central sections.
#include "figures.h"
#include "../../data/geometry/volume.h"
#include "../../impl/base/core.h"

// The path in --map; NULL: not given.
static const char *path_of(const rg_figures *r, const char *name) {
    for (int i = 0; i < r->n_maps; i++) {
        const char *equals = strchr(r->map[i], '=');
        if (equals && strlen(name) == (size_t)(equals - r->map[i]) && !strncmp(name, r->map[i], strlen(name)))
            return equals + 1;
    }
    return NULL;
}

static int write_sections(const char *path, const rg_volume *map, const rg_volume *truth, double scale, double offset) {
    const int64_t side = map->side, half = side / 2;
    rg_file file;
    const int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    fputs("u\tv\tfirst\tsecond\tthird\n", file.stream);
    for (int64_t v = 0; v < side; v++)
        for (int64_t u = 0; u < side; u++) {
            const double xy = map->value[(half * side + v) * side + u], fitted = scale * xy + offset;
            const double true_xy = truth ? truth->value[(half * side + v) * side + u] : NAN;
            rg_tsv_print(file.stream, "%lld\t%lld\t%.5g\t%.5g\t%.5g\n", (long long)(u - half), (long long)(v - half), fitted,
                truth ? true_xy : map->value[(v * side + half) * side + u],
                truth ? fitted - true_xy : map->value[(v * side + u) * side + half]);
        }
    return rg_file_commit(&file);
}

void rg_find_slices(const rg_listed *l, const char *name, rg_found *found) {
    static const char *const with_truth[] = {"map", "truth", "difference"}, *const alone[] = {"x and y", "x and z", "y and z"};
    const rg_figures *r = l->all;
    const char *map_name = rg_listed_cell(l, "series");
    RG_FREED char *truth_name = rg_print("%s.truth", map_name), *path = rg_print("%s/fig/%s.tsv", r->out, name);
    const char *map_path = path_of(r, map_name), *truth_path = path_of(r, truth_name);
    rg_volume map = {0}, truth = {0};
    double scale = 1, offset = 0, correlation = NAN;
    if (map_path) found->code = rg_volume_read(map_path, &map);
    if (map_path && truth_path && found->code == RG_GOOD) found->code = rg_volume_read(truth_path, &truth);
    if (map_path && found->code == RG_GOOD) {
        const bool two = truth_path && truth.side == map.side;
        if (two) correlation = rg_volume_fit(&map, &truth, &scale, &offset);
        found->code = write_sections(path, &map, two ? &truth : NULL, scale, offset);
        if (found->code == RG_GOOD) {
            found->points = (int)(map.side * map.side);
            snprintf(found->data, sizeof found->data, "%.100s.tsv", name);
            rg_plot_path(&found->plot, "DATA", found->data);
            rg_plot_texts(&found->plot, "PANELS", 3, two ? with_truth : alone);
            rg_plot_number(&found->plot, "SIDE", (double)map.side);
            rg_say_map(rg_listed_cell(l, "title"), map.side, two, correlation, found->title, found->about, sizeof found->about);
        }
    }
    free(map.value);
    free(truth.value);
}
