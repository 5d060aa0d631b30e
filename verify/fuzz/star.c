// SPDX-License-Identifier: MIT
// star.c: any bytes as a STAR file, and as particles in one: written, read back and written again, the same.
#include "../../data/formats/particles.h"
#include "../../data/formats/star.h"
#include "fuzz.h"

static void again(const rg_star *star) {
    const char *first = fuzz_out("first.star"), *second = fuzz_out("second.star");
    rg_star copy;
    if (rg_star_write(first, star) != RG_GOOD) // a value that cannot be quoted
        return;
    fuzz_expect(rg_star_read(first, &copy) == RG_GOOD && copy.n_tables == star->n_tables);
    for (int t = 0; t < star->n_tables; t++) {
        const rg_star_table *a = &star->table[t], *b = &copy.table[t];
        fuzz_expect(
            !strcmp(a->name, b->name) && a->is_loop == b->is_loop && a->n_columns == b->n_columns && a->n_rows == b->n_rows);
        for (int c = 0; c < a->n_columns; c++) fuzz_expect(!strcmp(a->column[c], b->column[c]));
        for (int64_t i = 0; i < a->n_rows * a->n_columns; i++) fuzz_expect(!strcmp(a->cell[i], b->cell[i]));
    }
    fuzz_expect(rg_star_write(second, &copy) == RG_GOOD);
    fuzz_same_files(first, second);
    rg_star_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const char *path = fuzz_path(bytes, n);
    rg_star star;
    int code = rg_star_read(path, &star);
    fuzz_expect(code == RG_GOOD || (code == RG_USAGE && !star.table));
    if (code == RG_GOOD) {
        rg_particles particles;
        again(&star);
        rg_star_free(&star);
        code = rg_particles_open_without_poses(&particles, path);
        fuzz_expect(code == RG_GOOD || code == RG_USAGE);
        if (code == RG_GOOD) {
            RG_FREED float *image = rg_alloc((size_t)(particles.side * particles.side) * sizeof *image);
            fuzz_expect(rg_particles_image(&particles, particles.n - 1, image) == RG_GOOD);
            rg_particles_close(&particles);
        }
    }
    return 0;
}
