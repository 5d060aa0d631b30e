// SPDX-License-Identifier: MIT
// test_files.h: for test programs: text files written and read whole, temporary folders, and stderr as text.
#pragma once

#include "../../impl/base/core.h"
#include "test.h"

// Makes a temporary folder for the test's files; the caller removes it.
static inline char *test_folder(void) {
    char *path = rg_print("%s", "/tmp/regather-test-XXXXXX");
    return mkdtemp(path);
}

// Removes the folder and its contents, and frees its name; 0: success.
static inline int test_folder_remove(char *folder) {
    const int code = system(fmt("rm -rf -- '%s'", folder));
    free(folder);
    return code;
}

// Writes a file; its folder is made if it does not exist.
static inline void put_text(const char *path, const char *text) {
    char *folder = rg_print("%s", path), *slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        assert_int_equal(rg_make_folder(folder), RG_GOOD);
    }
    free(folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

// The whole file and a 0 after it, malloc'ed; NULL if it does not exist.
static inline char *get_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *bytes = rg_alloc(*n + 1);
    *n = fread(bytes, 1, *n, f);
    fclose(f);
    return bytes;
}

// The same for a file that must exist.
static inline char *file_text(const char *path) {
    size_t n;
    char *text = get_file(path, &n);
    if (!text) fail_msg("there is no %s", path);
    return text;
}

// Whether a file contains these words; if not, prints it.
static inline bool file_has(const char *path, const char *words) {
    size_t n;
    char *text = get_file(path, &n);
    const bool found = text && strstr(text, words);
    if (!found) print_message("no \"%s\" in %s:\n%s\n", words, path, text ? text : "(no such file)");
    free(text);
    return found;
}

static char caught_text[8192];
static int kept_stderr = -1;
static FILE *caught_file;

static inline void catch_stderr(void) {
    fflush(stderr);
    caught_file = tmpfile();
    kept_stderr = dup(STDERR_FILENO);
    dup2(fileno(caught_file), STDERR_FILENO);
}

// The text written to stderr since catch_stderr.
static inline const char *caught(void) {
    fflush(stderr);
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    rewind(caught_file);
    caught_text[fread(caught_text, 1, sizeof caught_text - 1, caught_file)] = '\0';
    fclose(caught_file);
    return caught_text;
}
