// SPDX-License-Identifier: MIT
// expected.c: any bytes as the table of `verify --expect`, without plug-ins.
#include "../checker/checker.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static int quiet = -1;
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO); // its output for each line
    quiet = quiet < 0 ? open("/dev/null", O_WRONLY) : quiet;
    dup2(quiet, STDOUT_FILENO);
    const rg_verify_options how = {.device = "cpu"};
    const int code = rg_expect(fuzz_path(bytes, n), &how);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    fuzz_expect(code >= RG_GOOD && code <= RG_LACKS);
    return 0;
}
