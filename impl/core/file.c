// SPDX-License-Identifier: MIT
// file.c: files that are written whole or not at all, folders, and the paths of what ships with the program.
#include "core.h"
#include "revision.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int rg_file_open(rg_file *file, const char *path)
{
    file->path = rg_print("%s", path);
    file->part = rg_print("%s.part-%ld", path, (long)getpid());
    file->stream = fopen(file->part, "wb");
    if (file->stream)
        return RG_GOOD;
    int code = rg_fail(RG_USAGE, "%s: cannot write here: %s", path, strerror(errno));
    free(file->path);
    free(file->part);
    return code;
}

int rg_file_commit(rg_file *file)
{
    errno = 0;
    bool whole = !ferror(file->stream) && fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
    int why = errno;
    whole = fclose(file->stream) == 0 && whole;
    if (!why)
        why = errno;
    if (whole && rename(file->part, file->path) != 0) {
        whole = false;
        why = errno;
    }
    int code = RG_GOOD;
    if (!whole) {
        // errno of a write that failed before is gone.
        code = rg_fail(RG_USAGE, "%s: not written: %s", file->path, why ? strerror(why) : "a write failed, is the disk full?");
        unlink(file->part);
    }
    free(file->path);
    free(file->part);
    file->stream = NULL;
    return code;
}

void rg_file_send(rg_file *file)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (fflush(file->stream) == 0) // what fails shows at commit
        sync_file_range(fileno(file->stream), 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)file;
#endif
}

void rg_file_abandon(rg_file *file)
{
    fclose(file->stream);
    unlink(file->part);
    free(file->path);
    free(file->part);
    file->stream = NULL;
}

int rg_make_folder(const char *path)
{
    char *copy = rg_print("%s", path);
    int failed = 0;
    for (char *at = copy + 1; *at && !failed; at++)
        if (*at == '/') {
            *at = 0;
            failed = mkdir(copy, 0777) && errno != EEXIST;
            *at = '/';
        }
    failed = failed || (mkdir(copy, 0777) && errno != EEXIST);
    int why = errno;
    struct stat status;
    if (!failed && (stat(copy, &status) || !S_ISDIR(status.st_mode))) {
        failed = 1;
        why = ENOTDIR;
    }
    free(copy);
    return failed ? rg_fail(RG_USAGE, "%s: cannot make this folder: %s", path, strerror(why)) : RG_GOOD;
}

const char *rg_revision(void) { return RG_GIT_REVISION; }

char *rg_share_path(const char *relative)
{
    const char *own = getenv("REGATHER_SHARE");
    const char *const root[] = {own ? own : RG_SOURCE_DIR, RG_SOURCE_DIR, RG_PREFIX "/share/regather"};
    for (int i = 0; i < 3; i++) {
        char *path = rg_print("%s/%s", root[i], relative);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return rg_print("%s/%s", root[0], relative);
}

char *rg_program_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        char *candidate = rg_print("%.*s/%s", (int)length, at, name);
        struct stat status;
        if (length && access(candidate, X_OK) == 0 && stat(candidate, &status) == 0 && S_ISREG(status.st_mode))
            return candidate;
        free(candidate);
        at += length + (at[length] == ':');
    }
    return NULL;
}
