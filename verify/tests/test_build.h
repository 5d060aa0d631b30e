// SPDX-License-Identifier: MIT
// test_build.h: for test programs that start what was built beside them: BUILD of BUILD/verify/tests/ROOM/test_x.
#pragma once

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The folder BUILD of this program, in a static buffer; ends the program if it cannot be found.
static inline const char *test_build(void) {
    static char path[PATH_MAX];
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) abort();
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) abort();
        *slash = '\0';
    }
    return path;
}
