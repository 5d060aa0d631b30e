// SPDX-License-Identifier: MIT
// test_data.h: for test programs of readers and jobs: files in a temporary folder, and stderr as text.
#pragma once

#include "test_files.h"

#include <fcntl.h>
#include <sys/stat.h>

static char test_dir[64];

FIXTURE(test_dir_make) {
    snprintf(test_dir, sizeof test_dir, "/tmp/regather-test-XXXXXX");
    return mkdtemp(test_dir) ? 0 : -1;
}

FIXTURE(test_dir_remove) {
    int code = system(fmt("rm -rf %s", test_dir));
    return code;
}

// The path of a file in the test's folder, valid for eight calls.
static inline const char *in_dir(const char *name) {
    static char path[8][256];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_dir, name);
    return path[turn];
}

static inline const char *put_file(const char *name, const void *bytes, size_t n) {
    const char *path = in_dir(name);
    FILE *f = fopen(path, "wb");
    fwrite(bytes, 1, n, f);
    fclose(f);
    return path;
}

// Skips a test whose files, not part of the project, are missing.
#define SKIP_WITHOUT(path)                                                                                                     \
    do {                                                                                                                       \
        if (access(path, R_OK) != 0) {                                                                                         \
            print_message("skipped: %s is not here\n", path);                                                                  \
            skip();                                                                                                            \
        }                                                                                                                      \
    } while (0)

// Asserts that `expression` is RG_USAGE, with exactly one line on stderr that contains `words`.
#define assert_refused(expression, words)                                                                                      \
    do {                                                                                                                       \
        catch_stderr();                                                                                                        \
        int code_ = (expression);                                                                                              \
        const char *text_ = caught();                                                                                          \
        if (code_ != RG_USAGE || !strstr(text_, words)) print_message("found %d and: %s", code_, text_);                       \
        assert_int_equal(code_, RG_USAGE);                                                                                     \
        assert_non_null(strstr(text_, words));                                                                                 \
        assert_ptr_equal(strchr(text_, '\n'), text_ + strlen(text_) - 1);                                                      \
    } while (0)
