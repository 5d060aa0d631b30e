// SPDX-License-Identifier: MIT
// plot.c: runs gnuplot on a script of plots/.
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int rg_gnuplot(const char *gnuplot, const char *script, const char *svg, const char *const *argument)
{
    enum { MOST = 16 };
    char *path = rg_share_path(script), *part = rg_print("%s.part-%ld", svg, (long)getpid());
    char *word[MOST] = {(char *)(uintptr_t)gnuplot, "-c"};
    int n = 2, status = -1;
    word[n++] = path;
    word[n++] = part;
    for (int i = 0; argument[i] && n < MOST - 1; i++)
        word[n++] = (char *)(uintptr_t)argument[i];
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    int failed = posix_spawn(&child, gnuplot, &quiet, NULL, word, environ);
    posix_spawn_file_actions_destroy(&quiet);
    while (!failed && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    int code = RG_GOOD;
    if (failed || status != 0 || rename(part, svg) != 0) {
        code = rg_fail(RG_USAGE, "%s: not written: gnuplot failed on %s", svg, path);
        unlink(part);
    }
    free(path);
    free(part);
    return code;
}
