// SPDX-License-Identifier: MIT
// test_array_language.c: an Octave or a Python that does not start, dies, prints nonsense or does not end: one error, no hang,
// no zombie. Scripts named `octave` or `python3`, first in PATH, replace it.
#include "../../../impl/autocorr/index.h"
#include "../../../impl/base/core.h"
#include "../../../impl/runtime/table.h"
#include "../test.h"
#include "../test_files.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define HELLO "printf '\\0\\0\\0\\0\\0\\0\\360\\077'; " // the double 1, which means that it listens

static struct {
    const char *variant, *program;
    const rg_variant *of;
} language[] = {{"autocorr:octave", "octave", NULL}, {"autocorr:numpy", "python3", NULL}};
static char folder[] = "/tmp/regather-language-XXXXXX", *path_before;

static const rg_shape shape = {{64, 512, 1, AC_CROSS}, 1}; // 32 KiB an image, so that a missing reader is noticed
static uint8_t image[64 * 512];
static int64_t sums[9];

// Writes a script in place of the interpreter; NULL removes it.
static void stand_in(int which, const char *body) {
    RG_FREED char *file = rg_print("%s/%s", folder, language[which].program);
    unlink(file);
    if (body) {
        put_text(file, fmt("#!/bin/sh\n%s\n", body));
        assert_int_equal(chmod(file, 0755), 0);
    }
}

static void no_child_is_left(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

// Runs prepare to finish; returns the first status that is not RG_OK, and in *seconds the time of all.
static int whole_life(const rg_variant *v, double *seconds) {
    void *arg[] = {image, image, sums};
    rg_call call = {&shape, NULL, arg, NULL, NULL, 1, NULL};
    double began = rg_seconds();
    int status = v->prepare(&call);
    if (status == RG_OK) status = v->run(&call);
    v->finish(&call);
    assert_null(call.state);
    *seconds = rg_seconds() - began;
    no_child_is_left();
    return status;
}

TEST(failures_are_errors) {
    const char *body[] = {
        "exit 0",                                       // ends before it listens
        "echo GNU Octave, version 99; cat > /dev/null", // is another program
        "echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1",
        "exec no-such-program-here",                    // cannot be loaded
        HELLO "exit 1",                                 // dies before it reads
        HELLO "head -c 1000 > /dev/null",               // dies while it reads
        HELLO "head -c 65568 > /dev/null; printf 1234", // dies while it answers: 4 bytes of 72
        HELLO "kill -9 $$",
    };
    for (int k = 0; k < RG_COUNT(language) * RG_COUNT(body); k++) {
        double seconds;
        stand_in(k % RG_COUNT(language), body[k / RG_COUNT(language)]);
        assert_int_equal(whole_life(language[k % RG_COUNT(language)].of, &seconds), RG_E_LIBRARY);
        assert_true(seconds < 5);
    }
}

// One that ignores the end of its input is killed.
TEST(it_goes_when_told) {
    for (int k = 0; k < RG_COUNT(language); k++) {
        double seconds;
        stand_in(k, HELLO "head -c 65568 > /dev/null; head -c 72 /dev/zero; exec sleep 100");
        assert_int_equal(whole_life(language[k].of, &seconds), RG_OK);
        assert_true(seconds < 5);
    }
}

// Two at once: the input of the first ends although it was open when the second started.
TEST(two_at_once) {
    stand_in(0, HELLO "cat > /dev/null; touch \"$(dirname \"$0\")/saw-the-end\"");
    void *arg[] = {image, image, sums};
    rg_call first = {&shape, NULL, arg, NULL, NULL, 1, NULL}, second = first;
    assert_int_equal(language[0].of->prepare(&first), RG_OK);
    assert_int_equal(language[0].of->prepare(&second), RG_OK);
    language[0].of->finish(&first);
    RG_FREED char *mark = rg_print("%s/saw-the-end", folder);
    assert_int_equal(access(mark, F_OK), 0);
    language[0].of->finish(&second);
    no_child_is_left();
    unlink(mark);
}

TEST(refusals) {
    const rg_shape slow = {{750, 1500, 300, 0}, 1}, inexact = {{2048, 2048, 1, AC_16BIT}, 1}, fine = {{2048, 2048, 1, 0}, 1};
    for (int k = 0; k < RG_COUNT(language); k++) {
        assert_non_null(language[k].of->refuse(&slow, NULL));
        assert_non_null(language[k].of->refuse(&inexact, NULL)); // 65535^2 2048^2 > 2^53
        assert_null(language[k].of->refuse(&fine, NULL));
    }
}

FIXTURE(set_up) {
    for (int k = 0; k < RG_COUNT(language); k++) {
        const rg_entry *e = rg_entry_next(NULL, language[k].variant, "cpu");
        if (!e) return 1;
        language[k].of = e->variant;
    }
    if (!mkdtemp(folder)) return 1;
    path_before = strdup(getenv("PATH"));
    RG_FREED char *path = rg_print("%s:%s", folder, path_before);
    setenv("PATH", path, 1);
    return 0;
}

FIXTURE(tear_down) {
    for (int k = 0; k < RG_COUNT(language); k++) stand_in(k, NULL);
    setenv("PATH", path_before, 1);
    free(path_before);
    return rmdir(folder);
}

TESTS(set_up, tear_down)
