// SPDX-License-Identifier: MIT
// result.c: any bytes as a result file. Under libFuzzer:
//     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Ibuild verify/fuzz/result.c data/formats/result.c
//         impl/base/tsv.c impl/base/malformed.c impl/base/core.c impl/base/file.c -lm -o fuzz_result
#include "../../data/formats/result.h"
#include "../../impl/base/core.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[40];
    rg_result result = {0};
    bool cut;
    int memory = memfd_create("fuzzed", 0);
    if (memory < 0 || write(memory, bytes, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    int code = rg_result_read(path, &result, &cut);
    if (code == RG_GOOD)
        rg_result_free(&result);
    else if (code != RG_USAGE)
        abort();
    close(memory);
    return 0;
}
