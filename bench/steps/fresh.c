// SPDX-License-Identifier: MIT
// fresh.c: checks whether a step's product is newer than its inputs.
#include "steps.h"

#include "../../impl/base/core.h"

#include <fts.h>
#include <sys/stat.h>

static bool is_later(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

// Whether a file, or one in this folder, is newer; ignores folder/log and folder/done.
static bool has_newer(const char *path, const struct timespec *than, const char *folder) {
    RG_FREED char *logs = rg_print("%s/log", folder), *done = rg_print("%s/done", folder);
    char *const root[] = {rg_unconst(path), NULL};
    FTS *files = fts_open(root, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    bool newer = false;
    for (FTSENT *e; files && !newer && (e = fts_read(files));)
        if (e->fts_info == FTS_D && (!strcmp(e->fts_path, logs) || !strcmp(e->fts_path, done)))
            fts_set(files, e, FTS_SKIP);
        else
            newer = e->fts_info == FTS_F && is_later(&e->fts_statp->st_mtim, than);
    if (files) fts_close(files);
    return newer;
}

bool rg_step_is_fresh(const rg_step *s, const char *stamp, const char *program, const char *folder) {
    struct stat is;
    if (!*s->product || access(s->product, F_OK) || stat(stamp, &is) || has_newer(program, &is.st_mtim, folder)) return false;
    RG_FREED char *needs = rg_print("%s", s->needs);
    bool fresh = true;
    for (char *rest = needs, *need; fresh && (need = strsep(&rest, " "));)
        if (strchr(need, '/')) fresh = !has_newer(need, &is.st_mtim, folder);
    return fresh;
}

void rg_step_drop_old(const rg_step *s, const char *program) {
    struct stat is, its;
    RG_FREED char *part = rg_print("%s.part", s->product);
    const char *const file[] = {s->product, part};
    for (int i = 0; i < 2 && !stat(program, &its); i++)
        if (!stat(file[i], &is) && S_ISREG(is.st_mode) &&
            (is_later(&its.st_mtim, &is.st_mtim) || (i && !strstr(s->command, "--resume"))))
            unlink(file[i]);
}
