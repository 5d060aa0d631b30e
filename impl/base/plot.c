// SPDX-License-Identifier: MIT
#include "plot.h"
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// ---- variables -----------------------------------------------------------------------------------------------------------

static void set(rg_plot *p, char *assignment)
{
    p->set = realloc(p->set, (size_t)(p->n + 1) * sizeof *p->set);
    if (!p->set)
        exit(rg_fail(RG_LACKS, "out of memory"));
    p->set[p->n++] = assignment;
}

// The one way from text to gnuplot: strings between single quotes, in which gnuplot knows no escape, no `command` and no
// @macro; a quote stands between two of them, by its number ('' would end the string where it begins one, gnuplot 5.4).
static char *quoted(const char *text)
{
    static const char quote[] = "'.\"\\047\".'";
    char *to = rg_alloc(sizeof quote * strlen(text) + 3), *at = to;
    *at++ = '\'';
    for (; *text; text++)
        if (*text == '\'')
            at = stpcpy(at, quote);
        else
            *at++ = (unsigned char)*text < 32 || *text == 127 ? ' ' : *text;
    *at = '\'';
    return to;
}

// gnuplot opens a pipe for a file name that begins with < or |, and - + $ ~ mean something else there: what is not absolute
// gets a folder.
static char *plain_path(const char *path) { return rg_print("%s%s", *path == '/' ? "" : "./", path); }

static void set_one(rg_plot *p, const char *name, const char *text, bool path)
{
    char *file = path ? plain_path(text) : NULL, *value = quoted(file ? file : text);
    set(p, rg_print("%s=%s", name, value));
    free(file);
    free(value);
}

static void set_all(rg_plot *p, const char *name, int n, const char *const *text, bool path)
{
    set(p, rg_print("array %s[%d]", name, n));
    for (int i = 0; i < n; i++) {
        char *element = rg_print("%s[%d]", name, i + 1);
        set_one(p, element, text[i], path);
        free(element);
    }
}

void rg_plot_text(rg_plot *p, const char *name, const char *text) { set_one(p, name, text, false); }

void rg_plot_path(rg_plot *p, const char *name, const char *path) { set_one(p, name, path, true); }

void rg_plot_texts(rg_plot *p, const char *name, int n, const char *const *text) { set_all(p, name, n, text, false); }

void rg_plot_paths(rg_plot *p, const char *name, int n, const char *const *path) { set_all(p, name, n, path, true); }

void rg_plot_number(rg_plot *p, const char *name, double number)
{
    set(p, isfinite(number) ? rg_print("%s=%.17g", name, number) : rg_print("%s=NaN", name));
}

void rg_plot_numbers(rg_plot *p, const char *name, int n, const double *number)
{
    set(p, rg_print("array %s[%d]", name, n));
    for (int i = 0; i < n; i++) {
        char *element = rg_print("%s[%d]", name, i + 1);
        rg_plot_number(p, element, number[i]);
        free(element);
    }
}

void rg_plot_free(rg_plot *p)
{
    for (int i = 0; i < p->n; i++)
        free(p->set[i]);
    free(p->set);
    *p = (rg_plot){0};
}

// ---- gnuplot -------------------------------------------------------------------------------------------------------------

static int spawn(const char *gnuplot, const rg_plot *own, const rg_plot *given, const char *script, const char *log)
{
    char **word = rg_alloc((size_t)(2 * (own->n + given->n) + 3) * sizeof *word), *path = plain_path(script);
    int n = 0, status = -1;
    word[n++] = (char *)(uintptr_t)gnuplot;
    for (int i = 0; i < own->n + given->n; i++) {
        word[n++] = (char *)(uintptr_t)"-e";
        word[n++] = i < own->n ? own->set[i] : given->set[i - own->n];
    }
    word[n] = path;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    pid_t child;
    int failed = posix_spawn(&child, gnuplot, &files, NULL, word, environ);
    posix_spawn_file_actions_destroy(&files);
    while (!failed && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    free(word);
    free(path);
    return failed ? -1 : status;
}

int rg_plot_run(const rg_plot *p, const char *script, const char *path, const char *log)
{
    char *gnuplot = rg_program_path("gnuplot");
    if (!gnuplot)
        return RG_LACKS;
    const char *dot = strrchr(path, '.'), *slash = strrchr(script, '/');
    char *folder = slash ? rg_print("%.*s", (int)(slash - script), script) : rg_print(".");
    struct stat drawn;
    rg_plot own = {0};
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code == RG_GOOD) {
        rg_plot_path(&own, "OUT", file.part);
        rg_plot_path(&own, "PLOTS", folder);
        rg_plot_text(&own, "TERM", dot ? dot + 1 : "");
        // gnuplot opens and fills the same file; one that it left empty is no figure.
        const bool good = spawn(gnuplot, &own, p, script, log) == 0 && fstat(fileno(file.stream), &drawn) == 0
                          && drawn.st_size > 0;
        if (good)
            code = rg_file_commit(&file);
        else
            rg_file_abandon(&file);
        code = good ? code : RG_USAGE;
    }
    rg_plot_free(&own);
    free(gnuplot);
    free(folder);
    return code;
}

int rg_plot_draw(rg_plot *p, const char *script, const char *path)
{
    char *relative = rg_print("plots/%s", script), *full = rg_share_path(relative);
    int code = rg_plot_run(p, full, path, NULL);
    if (code == RG_LACKS) {
        rg_warn("%s: not drawn: no gnuplot here (see regather doctor)", path);
        code = RG_GOOD;
    } else if (code != RG_GOOD) {
        code = rg_fail(code, "%s: not written: gnuplot failed on %s", path, full);
    }
    rg_plot_free(p);
    free(relative);
    free(full);
    return code;
}
