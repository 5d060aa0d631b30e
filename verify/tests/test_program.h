// SPDX-License-Identifier: MIT
// test_program.h: for test programs that run regather in another process, from the test's folder.
#pragma once

#include "test_build.h"
#include "test_data.h"

#include <sys/wait.h>

// Exit code of a command line for sh, in which regather is the program of this build.
static inline int sh(const char *format, ...) {
    char *words = NULL;
    va_list list;
    va_start(list, format);
    if (vasprintf(&words, format, list) < 0) abort();
    va_end(list);
    int status = system(fmt("cd '%s' && REGATHER='%s/regather' && regather() { \"$REGATHER\" \"$@\"; } && { %s\n} 2> said",
        test_dir, test_build(), words));
    free(words);
    return WEXITSTATUS(status);
}

static inline void assert_said(const char *words) { assert_true(file_has(in_dir("said"), words)); }
