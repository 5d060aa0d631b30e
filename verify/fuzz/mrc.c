// SPDX-License-Identifier: MIT
// mrc.c: any bytes as an MRC or EM file, which is written, read back and written again, the same.
#include "../../data/formats/mrc.h"
#include "fuzz.h"

// Writes all sections of one file to another; false: a value that the format refuses.
static bool copied(rg_mrc *from, const char *path, float *section) {
    rg_mrc_out out;
    if (rg_mrc_write_begin(&out, path, from->nx, from->ny, from->nz, RG_MRC_FLOAT32, from->voxel_A[0], false) != RG_GOOD)
        return false;
    for (int64_t z = 0; z < from->nz; z++) {
        fuzz_expect(rg_mrc_section(from, z, section) == RG_GOOD);
        for (int64_t i = 0; i < from->nx * from->ny; i++)
            section[i] = isfinite(section[i]) ? section[i] : 0; // as the writer's caller must ensure
        fuzz_expect(rg_mrc_write_section(&out, section) == RG_GOOD);
    }
    fuzz_expect(rg_mrc_write_commit(&out) == RG_GOOD);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const char *first = fuzz_out("first.mrc"), *second = fuzz_out("second.mrc");
    FILE *file = n ? fmemopen((void *)(uintptr_t)bytes, n, "rb") : NULL;
    rg_mrc m = {0}, copy;
    if (!file) return 0;
    int code = rg_mrc_open_stream(&m, file, (int64_t)n, "fuzzed");
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    if (code == RG_GOOD) { // the header was checked against the size
        RG_FREED float *section = rg_alloc((size_t)(m.nx * m.ny) * sizeof *section);
        if (copied(&m, first, section)) {
            fuzz_expect(rg_mrc_open(&copy, first) == RG_GOOD && copied(&copy, second, section));
            rg_mrc_close(&copy);
            fuzz_same_files(first, second);
        }
    }
    rg_mrc_close(&m);
    fclose(file);
    return 0;
}
