// SPDX-License-Identifier: MIT
// transforms.c: any bytes as tilt angles, as an .mdoc, as a table of transforms and as one of poses; tables are written, read
// back and written again.
#include "../../data/formats/mdoc.h"
#include "../../data/formats/transforms.h"
#include "fuzz.h"

static int64_t lines_of(const uint8_t *bytes, size_t n) {
    int64_t lines = 0;
    for (size_t i = 0; i < n; i++) lines += bytes[i] == '\n' && i + 1 < n && bytes[i + 1] != '#';
    return lines;
}

static void transforms(const char *path, int64_t n) {
    const char *first = fuzz_out("first.tsv"), *second = fuzz_out("second.tsv");
    RG_FREED rg_affine *map = rg_alloc((size_t)(n + 1) * sizeof *map);
    int code = rg_transforms_read(path, n, map);
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    if (code == RG_GOOD && rg_transforms_write(first, "", n, map, (rg_transform_columns){.linear = true}) == RG_GOOD &&
        rg_transforms_read(first, n, map) == RG_GOOD) { // unless products overflow
        fuzz_expect(rg_transforms_write(second, "", n, map, (rg_transform_columns){.linear = true}) == RG_GOOD);
        fuzz_expect(rg_transforms_read(second, n, map) == RG_GOOD);
    }
}

static void poses(const char *path, int64_t n, const uint8_t *bytes, size_t length) {
    const char *first = fuzz_out("first.tsv"), *second = fuzz_out("second.tsv");
    RG_FREED rg_pose *p = rg_alloc((size_t)(n + 1) * sizeof *p);
    int code = rg_poses_read(path, n, p);
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    if (code == RG_GOOD) {
        RG_FREED char *name = rg_print("n%.*s", (int)(length < 40 ? length : 40), (const char *)bytes); // a name with any bytes
        RG_FREED const char **names = rg_alloc((size_t)(n + 1) * sizeof *names);
        for (int64_t i = 0; i < n; i++) names[i] = name;
        fuzz_expect(rg_poses_write(first, "", n, names, p, NULL) == RG_GOOD);
        fuzz_expect(rg_poses_read(first, n, p) == RG_GOOD);
        fuzz_expect(rg_poses_write(second, "", n, names, p, NULL) == RG_GOOD);
        fuzz_same_files(first, second);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const char *path = fuzz_path(bytes, n);
    int64_t angles, rows = lines_of(bytes, n);
    double *tilt_deg;
    int code = rg_tilts_read(path, &angles, &tilt_deg);
    fuzz_expect(code == RG_GOOD || (code == RG_USAGE && !tilt_deg));
    for (int64_t i = 0; code == RG_GOOD && i < angles; i++) fuzz_expect(tilt_deg[i] >= -360 && tilt_deg[i] <= 360);
    if (code == RG_GOOD) {
        const char *first = fuzz_out("first.tlt");
        RG_FREED double *copy;
        fuzz_expect(rg_tilts_write(first, angles, tilt_deg) == RG_GOOD && rg_tilts_read(first, &angles, &copy) == RG_GOOD);
    }
    free(tilt_deg);
    rg_mdoc mdoc;
    code = rg_mdoc_read(path, &mdoc);
    fuzz_expect(code == RG_GOOD ? mdoc.n > 0 : code == RG_USAGE && !mdoc.image);
    rg_mdoc_free(&mdoc);
    transforms(path, rows);
    poses(path, rows, bytes, n);
    return 0;
}
