// SPDX-License-Identifier: MIT
// par.c: any bytes as a .par file: what can be written is read back and written as the same bytes.
#include "../../data/formats/par.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    rg_par par, copy;
    int code = rg_par_read(fuzz_path(bytes, n), &par);
    fuzz_expect(code == RG_GOOD || (code == RG_USAGE && !par.row));
    const char *first = fuzz_out("first.par"), *second = fuzz_out("second.par");
    if (code == RG_GOOD && rg_par_write(first, &par) == RG_GOOD) { // else a number too wide for its column
        fuzz_expect(rg_par_read(first, &copy) == RG_GOOD && copy.n == par.n && copy.kind == par.kind);
        fuzz_expect(rg_par_write(second, &copy) == RG_GOOD);
        fuzz_same_files(first, second);
        rg_par_free(&copy);
    }
    if (code == RG_GOOD) rg_par_free(&par);
    return 0;
}
