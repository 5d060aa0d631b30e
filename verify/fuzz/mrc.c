// SPDX-License-Identifier: MIT
// mrc.c: any bytes as an MRC file, first and last section. Under libFuzzer:
//     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Ibuild verify/fuzz/mrc.c data/formats/mrc*.c impl/base/malformed.c
//         impl/base/core.c impl/base/file.c -lm -o fuzz_mrc
#include "../../data/formats/mrc.h"

#include <stddef.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    FILE *file = n ? fmemopen((void *)(uintptr_t)bytes, n, "rb") : NULL;
    rg_mrc m = {0};
    if (!file)
        return 0;
    int code = rg_mrc_open_stream(&m, file, (int64_t)n, "fuzzed");
    if (code == RG_GOOD) {
        float *section = rg_alloc((size_t)(m.nx * m.ny) * sizeof *section);
        if (rg_mrc_section(&m, 0, section) != RG_GOOD || rg_mrc_section(&m, m.nz - 1, section) != RG_GOOD)
            abort(); // the header was checked against the size
        free(section);
    } else if (code != RG_USAGE) {
        abort();
    }
    rg_mrc_close(&m);
    fclose(file);
    return 0;
}
