// SPDX-License-Identifier: MIT
// tuned.c: any bytes as the file of tuned parameters to which a row is added, twice: the second time changes nothing.
#include "../../impl/runtime/tuned.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const rg_tuned_row row = {"autocorr", "simd", "w64,h64,r8,k0", "block=128", 1000, 1e9, "multiply-adds/s", "exhaustive"};
    char path[512], *folder = rg_print("%s", fuzz_out("cpu.tsv"));
    *strrchr(folder, '/') = 0;
    int file = open(fuzz_out("cpu.tsv"), O_WRONLY | O_CREAT, 0600);
    fuzz_put(file, bytes, n);
    close(file);
    int code = rg_tuned_store(folder, "cpu", "-", &row, path);
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    if (code == RG_GOOD) {
        size_t n_first, n_second;
        RG_FREED char *first = fuzz_get(path, &n_first);
        fuzz_expect(rg_tuned_store(folder, "cpu", "-", &row, path) == RG_GOOD);
        RG_FREED char *second = fuzz_get(path, &n_second);
        fuzz_expect(n_first == n_second && !memcmp(first, second, n_first));
    }
    free(folder);
    return 0;
}
