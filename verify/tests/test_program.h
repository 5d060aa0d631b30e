// SPDX-License-Identifier: MIT
// test_program.h: for test programs that run regather itself, in processes of its own, from the test's folder.
#ifndef RG_TEST_PROGRAM_H
#define RG_TEST_PROGRAM_H

#include "test_build.h"
#include "test_data.h"

#include <sys/wait.h>

// Exit code of a command line for sh, in which regather is the program of this build.
static inline int sh(const char *format, ...)
{
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

// A file of the test's folder has a line of this pattern; one that has none is shown.
static inline void assert_grep(const char *pattern, const char *file)
{
    const int missing = sh("grep -q '%s' '%s' ", pattern, file);
    if (missing) print_message("no line \"%s\" in %s:\n%s\n", pattern, file, file_text(in_dir(file)));
    assert_int_equal(missing, 0);
}

#endif
