// SPDX-License-Identifier: MIT
// file.c: files that are written whole or not at all, folders, and the paths of what ships with the program.
#include "core.h"
#include "revision.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- a job that is stopped leaves no part behind --------------------------------------------------------------------------

// What the handler reads: parts that are open, and whose process made them (a child of verify must not delete its parent's).
// Parts beyond the table's room are written as well, but stay when the job is stopped.
enum { PARTS = 256 };
static struct { char *volatile path; volatile pid_t pid; } part[PARTS];
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;

static void stopped(int number)
{
    for (int i = 0; i < PARTS; i++)
        if (part[i].path && part[i].pid == getpid())
            unlink(part[i].path);
    raise(number); // SA_RESETHAND: now it ends the program
}

// Only where the signal would end the program: nohup and a caller's own handler stay as they are.
static void watch(void)
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction now, ours = {.sa_handler = stopped, .sa_flags = SA_RESETHAND | SA_NODEFER};
        if (sigaction(number[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(number[i], &ours, NULL);
    }
}

static void part_begins(char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    pthread_mutex_lock(&parts_lock);
    for (int i = 0; i < PARTS; i++)
        if (!part[i].path) {
            part[i].pid = getpid();
            part[i].path = path;
            break;
        }
    pthread_mutex_unlock(&parts_lock);
}

static void part_ends(const char *path)
{
    pthread_mutex_lock(&parts_lock);
    for (int i = 0; i < PARTS; i++)
        if (part[i].path == path)
            part[i].path = NULL;
    pthread_mutex_unlock(&parts_lock);
}

// ---- files ---------------------------------------------------------------------------------------------------------------

static void forget(rg_file *file)
{
    part_ends(file->part);
    free(file->path);
    free(file->part);
    *file = (rg_file){0};
}

int rg_file_open(rg_file *file, const char *path)
{
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) // else only the last step, the renaming, would fail
        return rg_fail(RG_USAGE, "%s: cannot write here: is a directory", path);
    file->path = rg_print("%s", path);
    file->part = rg_print("%s.part-%ld", path, (long)getpid());
    part_begins(file->part);
    file->stream = fopen(file->part, "wb");
    if (file->stream)
        return RG_GOOD;
    int code = rg_fail(RG_USAGE, "%s: cannot write here: %s", path, strerror(errno));
    forget(file);
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
    forget(file);
    return code;
}

void rg_file_abandon(rg_file *file)
{
    fclose(file->stream);
    unlink(file->part);
    forget(file);
}

int rg_file_can_write(const char *path)
{
    rg_file file;
    int code = path ? rg_file_open(&file, path) : RG_GOOD;
    if (path && code == RG_GOOD)
        rg_file_abandon(&file);
    return code;
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

char *rg_path_beside(const char *path, const char *suffix, const char *ending)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int stem = dot && dot > (slash ? slash : path) ? (int)(dot - path) : (int)strlen(path);
    return rg_print("%.*s%s%s", stem, path, suffix, ending ? ending : path + stem);
}

int rg_file_open_beside(rg_file *file, const char *path, const char *suffix, const char *ending)
{
    char *beside = rg_path_beside(path, suffix, ending);
    int code = rg_file_open(file, beside);
    free(beside);
    return code;
}

const char *rg_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

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
