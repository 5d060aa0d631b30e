// SPDX-License-Identifier: MIT
// tsv.c: any bytes as a table. Under libFuzzer:
//     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Ibuild verify/fuzz/tsv.c impl/base/tsv.c
//         impl/base/malformed.c impl/base/core.c impl/base/file.c -lm -o fuzz_tsv
#include "../../impl/base/core.h"
#include "../../impl/base/tsv.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[40];
    rg_tsv t;
    int memory = memfd_create("fuzzed", 0);
    if (memory < 0 || write(memory, bytes, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    int code = rg_tsv_read(path, &t);
    if (code != RG_GOOD && code != RG_USAGE)
        abort();
    for (int i = 0; code == RG_GOOD && i < t.n_rows; i++) // every cell is text without tab or line end
        for (int c = 0; c < t.n_columns; c++)
            if (strpbrk(t.cell[i * t.n_columns + c], "\t\n"))
                abort();
    if (code == RG_GOOD)
        rg_tsv_free(&t);
    close(memory);
    return 0;
}
