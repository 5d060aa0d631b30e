// SPDX-License-Identifier: MIT
// file.c: files written whole or not at all, never over an input or a file that another run writes; folders; paths of files
// that ship with the program.
#include "core.h"
#include "revision.h"

#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

// ---- files being written ---------------------------------------------------------------------------------------------------

// Parts: unfinished files beside their final path, and paths that a command has claimed for later (idle). The signal handler
// reads the table; a child of verify must not remove its parent's parts. Parts beyond PARTS are written, too, but remain if the
// job is stopped, until the next run that writes there.
enum { PARTS = 256 };
static struct slot {
    char *volatile path;
    volatile pid_t pid;
    int fd;
    dev_t device;
    ino_t inode;
    bool idle;
} part[PARTS];

// Files that this command has read. A file that it reads only to continue it (own) may be written again.
typedef struct known {
    dev_t device;
    ino_t inode;
    bool own;
    char *path;
    struct timespec changed; // when it was read
} known;
static known **input;
static size_t n_inputs;
static char **written; // by this command, in the order of the commits
static size_t n_written;
static void *inputs_by_inode, *written_by_path; // trees of tsearch
bool rg_dry_run;
static int commands_running;
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER; // for all of these

// Does not lock: the program may end while the lock is held.
static void remove_parts(void) {
    for (int i = 0; i < PARTS; i++)
        if (part[i].path && part[i].pid == getpid()) unlink(part[i].path);
}

// The thread or signal that ends the program removes unfinished files. Other threads that start or finish a file wait until the
// program has ended: no new part appears, and none reports one that has been removed. A part that a thread is making is waited
// for, so that it is in the table; the wait is limited, because in a forked child no thread makes it.
static _Atomic bool ending;
static _Atomic int making; // parts that are open and not yet in the table
static _Thread_local bool ends_here, makes_here;
void rg_files_abandon(void) {
    const struct timespec moment = {.tv_nsec = 1000000};
    ending = true;
    ends_here = true;
    for (int waited = 0; making > makes_here && waited < 1000; waited++) nanosleep(&moment, NULL);
    remove_parts();
}

static void stay_when_ending(void) {
    while (ending && !ends_here) pause();
}

static void stopped(int number) {
    rg_files_abandon();
    raise(number); // SA_RESETHAND: now it ends the program
}

static void release_claims(void) {
    pthread_mutex_lock(&files_lock);
    for (int i = 0; i < PARTS; i++)
        if (part[i].path && part[i].idle && part[i].pid == getpid()) {
            RG_FREED char *path = part[i].path;
            unlink(path);
            part[i].path = NULL;
            close(part[i].fd);
        }
    pthread_mutex_unlock(&files_lock);
}

static const int number[] = {SIGINT, SIGTERM, SIGHUP};

// Only if the signal would end the program: nohup and a caller's own handler stay in effect.
static void watch(void) {
    for (int i = 0; i < 3; i++) {
        struct sigaction now, ours = {.sa_handler = stopped, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
        if (sigaction(number[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(number[i], &ours, NULL);
    }
    atexit(rg_files_abandon); // claims, and files unfinished when memory ran out
}

static void part_begins(char *path, int fd, bool idle) {
    struct stat facts = {0};
    fstat(fd, &facts);
    pthread_mutex_lock(&files_lock);
    for (int i = 0; i < PARTS; i++)
        if (!part[i].path) {
            part[i].fd = fd;
            part[i].device = facts.st_dev;
            part[i].inode = facts.st_ino;
            part[i].idle = idle;
            part[i].pid = getpid();
            part[i].path = path;
            break;
        }
    pthread_mutex_unlock(&files_lock);
}

static void part_ends(const char *path) {
    pthread_mutex_lock(&files_lock);
    for (int i = 0; i < PARTS; i++)
        if (part[i].path == path) part[i].path = NULL;
    pthread_mutex_unlock(&files_lock);
}

// This command's claim on this part, or NULL; the lock is held.
static struct slot *claim_on(const char *path) {
    struct stat facts;
    if (stat(path, &facts) == 0)
        for (int i = 0; i < PARTS; i++)
            if (part[i].path && part[i].idle && part[i].pid == getpid() && part[i].device == facts.st_dev &&
                part[i].inode == facts.st_ino)
                return &part[i];
    return NULL;
}

// Removes this command's claim and returns its descriptor; -1: there is none.
static int take_claim(const char *path) {
    int fd = -1;
    pthread_mutex_lock(&files_lock);
    struct slot *claim = claim_on(path);
    if (claim) {
        fd = claim->fd;
        free(claim->path);
        claim->path = NULL;
    }
    pthread_mutex_unlock(&files_lock);
    return fd;
}

// ---- files read ------------------------------------------------------------------------------------------------------------

static int by_inode(const void *a, const void *b) {
    const known *k = a, *l = b;
    return k->device == l->device ? (k->inode > l->inode) - (k->inode < l->inode) : k->device < l->device ? -1 : 1;
}

static int by_path(const void *a, const void *b) { return strcmp(a, b); }

static void add(void **tree, const void *key, int (*order)(const void *, const void *)) {
    if (!tsearch(key, tree, order)) rg_end(RG_LACKS, "out of memory for the names of files");
}

static void free_known(void *of) {
    known *k = of;
    free(k->path);
    free(k);
}

static known *known_of(dev_t device, ino_t inode) {
    const known wanted = {.device = device, .inode = inode};
    known *const *found = tfind(&wanted, &inputs_by_inode, by_inode);
    return found ? *found : NULL;
}

// A file system reuses the inode number of a deleted file. An input is gone if its path now has another inode and this file has
// another modification time; with the same time it would be the input, moved.
static bool is_gone(const known *k, const struct stat *facts) {
    struct stat there;
    return stat(k->path, &there) == 0 && (there.st_ino != k->inode || there.st_dev != k->device) &&
        (facts->st_mtim.tv_sec != k->changed.tv_sec || facts->st_mtim.tv_nsec != k->changed.tv_nsec);
}

static void remember(const char *path, const struct stat *facts, bool own) {
    known *k = known_of(facts->st_dev, facts->st_ino);
    if (k && !is_gone(k, facts)) {
        k->own |= own;
        return;
    }
    if (k) {
        free(k->path);
        *k = (known){facts->st_dev, facts->st_ino, own, rg_print("%s", path), facts->st_mtim};
        return;
    }
    k = rg_alloc(sizeof *k);
    *k = (known){facts->st_dev, facts->st_ino, own, rg_print("%s", path), facts->st_mtim};
    input = rg_grow(input, (int64_t)n_inputs, sizeof *input);
    input[n_inputs++] = k;
    add(&inputs_by_inode, k, by_inode);
}

static bool is_written(const char *path) { return tfind(path, &written_by_path, by_path); }

// A file that the command has written is not an input.
void rg_file_read_begins(const char *path, const struct stat *facts) {
    pthread_mutex_lock(&files_lock);
    if (commands_running && !is_written(path)) remember(path, facts, false);
    pthread_mutex_unlock(&files_lock);
}

void rg_file_continues(const char *path) {
    struct stat facts;
    pthread_mutex_lock(&files_lock);
    if (commands_running && stat(path, &facts) == 0) remember(path, &facts, true);
    pthread_mutex_unlock(&files_lock);
}

void rg_files_begin(void) {
    pthread_mutex_lock(&files_lock);
    commands_running++;
    pthread_mutex_unlock(&files_lock);
}

void rg_files_end(void) {
    pthread_mutex_lock(&files_lock);
    const bool last = --commands_running == 0;
    if (last) {
        tdestroy(inputs_by_inode, free_known);
        tdestroy(written_by_path, free);
        inputs_by_inode = written_by_path = NULL;
        free(input);
        free(written);
        input = NULL;
        written = NULL;
        n_inputs = n_written = 0;
        rg_dry_run = false;
    }
    pthread_mutex_unlock(&files_lock);
    if (last) release_claims();
}

static void remember_written(const char *path) {
    pthread_mutex_lock(&files_lock);
    if (commands_running > 0 && !is_written(path)) {
        written = rg_grow(written, (int64_t)n_written, sizeof *written);
        written[n_written++] = rg_print("%s", path);
        add(&written_by_path, written[n_written - 1], by_path);
    }
    pthread_mutex_unlock(&files_lock);
}

bool rg_files_written(void) { return n_written > 0; }

bool rg_file_is_written(const char *path) {
    pthread_mutex_lock(&files_lock);
    const bool is = is_written(path);
    pthread_mutex_unlock(&files_lock);
    return is;
}

void rg_files_each(void (*each)(void *of, const char *path, bool written), void *of) {
    for (size_t i = 0; i < n_inputs; i++) each(of, input[i]->path, false);
    for (size_t i = 0; i < n_written; i++) each(of, written[i], true);
}

// ---- files ---------------------------------------------------------------------------------------------------------------

// The target must be a new name or a regular file that this command has not read: nothing else is replaced.
static int check_target(const char *path) {
    struct stat facts;
    if (lstat(path, &facts) != 0) return RG_GOOD; // other faults of the name are reported when the part is opened
    if (!S_ISREG(facts.st_mode))
        return rg_fail(RG_USAGE, "%s: cannot write here: is a %s; expected a regular file or a new name", path,
            S_ISDIR(facts.st_mode)        ? "directory"
                : S_ISLNK(facts.st_mode)  ? "symbolic link"
                : S_ISFIFO(facts.st_mode) ? "fifo"
                : S_ISSOCK(facts.st_mode) ? "socket"
                                          : "device");
    pthread_mutex_lock(&files_lock);
    const known *k = known_of(facts.st_dev, facts.st_ino);
    const bool is_input = k && !k->own && !is_gone(k, &facts);
    pthread_mutex_unlock(&files_lock);
    return is_input ? rg_fail(RG_USAGE, "%s: cannot write here: is an input of this command", path) : RG_GOOD;
}

// Opens and locks the part. The lock ends with the descriptor, also if the process is killed; the content that a killed run
// left is removed here. On a file system without locks the part is not locked.
static int lock_part(const char *path, const char *name, int *fd) {
    struct stat facts, named;
    for (bool same = false; !same;) {
        *fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (*fd < 0) return rg_fail(RG_USAGE, "%s: cannot write here: %s", path, strerror(errno));
        const bool held = flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        const bool regular = fstat(*fd, &facts) == 0 && S_ISREG(facts.st_mode);
        // Another run may have renamed or removed it between open and lock.
        same = !regular || held || (stat(name, &named) == 0 && named.st_ino == facts.st_ino && named.st_dev == facts.st_dev);
        if (same && regular && !held && ftruncate(*fd, 0) == 0) break;
        close(*fd);
        if (same)
            return held ? rg_fail(RG_USAGE, "%s: cannot write here: another run is writing it (%s is locked)", path, name)
                        : rg_fail(RG_USAGE, "%s: cannot write here: %s is in the way", path, name);
    }
    return RG_GOOD;
}

// A new name is durable once its folder is on disk, too. File systems that cannot sync a folder return an error and do not need
// it.
static void sync_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    RG_FREED char *folder = slash ? rg_print("%.*s/", (int)(slash - path), path) : rg_print(".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static void forget(rg_file *file) {
    part_ends(file->part);
    free(file->path);
    free(file->part);
    *file = (rg_file){0};
}

// Makes the part of `path`, open, locked and in the table; signals are blocked meanwhile.
static int make_part(const char *path, bool idle, char **name, int *fd) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t signals, before;
    *name = rg_print("%s.regather-part", path);
    pthread_once(&once, watch);
    sigemptyset(&signals);
    for (int i = 0; i < 3; i++) sigaddset(&signals, number[i]);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    makes_here = true;
    making++;
    if (ending && !ends_here) {
        making--;
        stay_when_ending();
    }
    *fd = take_claim(*name);
    const int code = *fd < 0 ? lock_part(path, *name, fd) : RG_GOOD;
    if (code == RG_GOOD) part_begins(*name, *fd, idle);
    making--;
    makes_here = false;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != RG_GOOD) free(*name);
    return code;
}

int rg_file_open(rg_file *file, const char *path) {
    *file = (rg_file){0};
    int code = rg_dry_run ? rg_fail(RG_USAGE, "internal: %s would be written by --dry-run", path) : check_target(path);
    char *name;
    int fd;
    if (code != RG_GOOD || (code = make_part(path, false, &name, &fd)) != RG_GOOD) return code;
    *file = (rg_file){.stream = fdopen(fd, "wb"), .path = rg_print("%s", path), .part = name};
    if (!file->stream) rg_end(RG_LACKS, "out of memory");
    return RG_GOOD;
}

int rg_file_commit(rg_file *file) {
    errno = 0;
    bool whole = !ferror(file->stream) && fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
    int why = errno, code = whole ? check_target(file->path) : RG_GOOD; // it may have changed meanwhile
    // Renamed before it is closed, because closing releases the lock.
    if (whole && code == RG_GOOD && rename(file->part, file->path) != 0) {
        whole = false;
        why = errno;
    }
    if (!whole || code != RG_GOOD) {
        stay_when_ending();
        unlink(file->part);
    } else {
        sync_folder(file->path);
        remember_written(file->path);
    }
    if (fclose(file->stream) != 0 && whole && code == RG_GOOD)
        code = rg_fail(RG_USAGE, "%s: not written: %s", file->path, strerror(errno));
    if (!whole) // the errno of an earlier failed write is lost
        code = rg_fail(RG_USAGE, "%s: not written: %s", file->path, why ? strerror(why) : "a write failed, is the disk full?");
    forget(file);
    return code;
}

int rg_file_end(rg_file *file, int code) {
    if (code == RG_GOOD) return rg_file_commit(file);
    rg_file_abandon(file);
    return code;
}

void rg_file_abandon(rg_file *file) {
    unlink(file->part);
    fclose(file->stream);
    forget(file);
}

int rg_file_can_write(const char *path) {
    rg_file file;
    int code = path ? check_target(path) : RG_GOOD, fd;
    if (!path || code != RG_GOOD || rg_dry_run) return code;
    pthread_mutex_lock(&files_lock);
    const bool claims = commands_running > 0;
    pthread_mutex_unlock(&files_lock);
    if (!claims) {
        code = rg_file_open(&file, path);
        if (code == RG_GOOD) rg_file_abandon(&file);
        return code;
    }
    char *name = rg_print("%s.regather-part", path);
    pthread_mutex_lock(&files_lock);
    const bool claimed = claim_on(name);
    pthread_mutex_unlock(&files_lock);
    free(name);
    return claimed ? rg_fail(RG_USAGE, "%s: cannot write here: another output of this command goes there", path)
                   : make_part(path, true, &name, &fd);
}

int rg_make_folder(const char *path) {
    if (rg_dry_run) return RG_GOOD;
    RG_FREED char *copy = rg_print("%s", path);
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
    return failed ? rg_fail(RG_USAGE, "%s: cannot make this folder: %s", path, strerror(why)) : RG_GOOD;
}

const char *rg_revision(void) { return RG_GIT_REVISION; }

char *rg_path_beside(const char *path, const char *suffix, const char *extension) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int stem = dot && dot > (slash ? slash : path) ? (int)(dot - path) : (int)strlen(path);
    return rg_print("%.*s%s%s", stem, path, suffix, extension ? extension : path + stem);
}

char *rg_file_bytes(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    char *bytes = NULL;
    size_t room = 1 << 16;
    for (*n = 0; f && (bytes = realloc(bytes, room)); room *= 2) {
        *n += fread(bytes + *n, 1, room - 1 - *n, f);
        bytes[*n] = '\0';
        if (*n < room - 1) break;
    }
    if (f) fclose(f);
    return bytes;
}

int rg_file_append(FILE *to, const char *from) {
    char block[1 << 14];
    FILE *in = fopen(from, "rb");
    for (size_t n; in && (n = fread(block, 1, sizeof block, in)) > 0;) fwrite(block, 1, n, to);
    const int code = in && !ferror(in) ? RG_GOOD : rg_fail(RG_USAGE, "%s: cannot be read: %s", from, strerror(errno));
    if (in) fclose(in);
    return code;
}

int rg_file_open_beside(rg_file *file, const char *path, const char *suffix, const char *extension) {
    RG_FREED char *beside = rg_path_beside(path, suffix, extension);
    return rg_file_open(file, beside);
}

bool rg_ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

const char *rg_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *rg_share_path(const char *relative) {
    const char *own = getenv("REGATHER_SHARE");
    const char *const root[] = {own ? own : RG_SOURCE_DIR, RG_SOURCE_DIR, RG_PREFIX "/share/regather"};
    for (int i = 0; i < 3; i++) {
        char *path = rg_print("%s/%s", root[i], relative);
        if (access(path, R_OK) == 0) return path;
        free(path);
    }
    return rg_print("%s/%s", root[0], relative);
}

char *rg_program_path(const char *name) {
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
