// SPDX-License-Identifier: MIT
// worker.c: the child process in which a variant runs, and the verdict on its death.
//
// The parent sends a job (one case) over a socket. The worker answers with notes, what it does next and how long that may take,
// and finally with a verdict. Without a verdict there is no PASS: a worker that dies is a CRASH; one that stays silent past its
// limit is killed, a TIMEOUT; the next case gets a new worker. A worker serves one variant, so that a GPU context is made only
// once. The limit does not count the time that a worker waited for a core, so that no verdict depends on the machine's load. An
// endless loop still exceeds it, if later; a sleeping thread waits for no core.
#include "checker.h"
#include "../../impl/base/core.h"
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

// In a build that counts branches (make coverage), a worker writes its counts when its socket closes, so it is not killed
// earlier.
extern void __gcov_dump(void) __attribute__((weak));

typedef struct note {
    bool is_verdict;
    char what[128]; // phase
    double limit_s; // of the phase; 0: the limit of the case
    rg_verdict verdict;
    bool is_last; // the device reports an error that persists: the next case needs a new process
} note;

static struct worker {
    pid_t pid; // 0: none
    int socket;
    const rg_entry *entry;
    rg_entry copy; // a copy made at the fork
    char device[32];
} worker;

// ---- the child -----------------------------------------------------------------------------------------------------------

static int parent_socket;

static void tell_phase(const char *what, double limit_s) {
    note n = {.is_verdict = false, .limit_s = limit_s};
    snprintf(n.what, sizeof n.what, "%s", what);
    if (send(parent_socket, &n, sizeof n, MSG_NOSIGNAL) != (ssize_t)sizeof n) _exit(RG_WRONG);
}

static const rg_device *open_device(const rg_entry *entry, const char *name, char why[200]) {
    if (entry->variant->space == RG_HOST) return rg_device_cpu();
    return rg_device_open(name, why);
}

// Resets signals to their default action, so that the parent sees them by name even under a sanitizer's handler.
static void plain_death(pid_t parent) {
    const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (int i = 0; i < RG_COUNT(fatal); i++) signal(fatal[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(RG_WRONG);
}

static void tell_last(const rg_verdict *verdict) {
    note n = {.is_verdict = true, .verdict = *verdict, .is_last = true};
    send(parent_socket, &n, sizeof n, MSG_NOSIGNAL);
    _exit(RG_WRONG);
}

// Replaces the words of the command in /proc/self/cmdline by those of another command (bench, a job), drawn for each case: no
// kernel can be right for `verify` only.
static void look_ordinary(uint64_t drawn) {
    static const char words[][16] = {"regather bench", "regather align", "regather refine", "regather search"};
    static char *from, *past; // start and end of the words; NULL before the first case
    unsigned long first = 0, end = 0;
    char line[1024] = "", *at = line;
    FILE *f = from ? NULL : fopen("/proc/self/stat", "r");
    if (f && fgets(line, sizeof line, f)) at = strrchr(line, ')');
    if (f) fclose(f);
    for (int field = 2; at && field < 48; field++) at = strchr(at + 1, ' ');
    if (at && sscanf(at, " %lu %lu", &first, &end) == 2) from = (char *)first, past = (char *)end;
    const char *word = words[drawn % RG_COUNT(words)];
    if (past - from <= (ptrdiff_t)strlen(word)) return;
    memset(from, 0, (size_t)(past - from));
    memcpy(from, word, strlen(word));
    from[strcspn(word, " ")] = '\0';
}

__attribute__((noreturn)) static void serve(const rg_entry *entry, const char *device_name) {
    char why[200] = "";
    tell_phase("opening the device", 120);
    const rg_device *device = open_device(entry, device_name, why);
    if (device && !device->is_gpu) rg_examine_fences(tell_last);
    setvbuf(stdout, NULL, _IOLBF, 0); // a kernel's output is printed even if the process is killed
    rg_job job;
    for (uint64_t i = 0; recv(parent_socket, &job, sizeof job, 0) == (ssize_t)sizeof job; i++) {
        note n = {.is_verdict = true, .verdict = {.status = RG_FAIL}};
        if (device) look_ordinary(rg_bits(job.seed, i));
        if (device)
            rg_examine(entry, device, &job, tell_phase, &n.verdict);
        else
            snprintf(n.verdict.reason, sizeof n.verdict.reason, "device %s cannot be opened: %.180s", device_name, why);
        n.is_last = device && !device->is_emulated && device->sync() != RG_OK;
        if (send(parent_socket, &n, sizeof n, MSG_NOSIGNAL) != (ssize_t)sizeof n) break;
    }
    if (__gcov_dump) __gcov_dump();
    _exit(RG_GOOD);
}

// ---- the parent ----------------------------------------------------------------------------------------------------------

// Waits at most 5 s: a kernel that runs on a GPU can keep a killed process alive; it is then left to the system.
static int reap(int *status) {
    for (int i = 0; i < 500; i++) {
        const pid_t p = waitpid(worker.pid, status, WNOHANG);
        if (p) return p == worker.pid ? 0 : -1;
        usleep(10000);
    }
    return -1;
}

static void forget(bool kill_it) {
    int status;
    close(worker.socket);
    if (kill_it && !__gcov_dump) kill(worker.pid, SIGKILL);
    reap(&status);
    worker = (struct worker){0};
}

void rg_verify_end(void) {
    if (worker.pid) forget(true);
}

static bool is_current(const rg_entry *entry, const char *device) {
    return worker.pid && worker.entry == entry && memcmp(&worker.copy, entry, sizeof *entry) == 0 &&
        strcmp(worker.device, device) == 0;
}

static int start(const rg_entry *entry, const char *device) {
    int pair[2];
    if (is_current(entry, device)) return RG_GOOD;
    rg_verify_end();
    rg_problem_store_open();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return rg_fail(RG_LACKS, "verify: no socket: %s", strerror(errno));
    fflush(NULL);
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        close(pair[0]);
        close(pair[1]);
        return rg_fail(RG_LACKS, "verify: no child process: %s", strerror(errno));
    }
    if (pid == 0) {
        close(pair[0]);
        parent_socket = pair[1];
        plain_death(parent);
        serve(entry, device);
    }
    close(pair[1]);
    worker = (struct worker){.pid = pid, .socket = pair[0], .entry = entry};
    memcpy(&worker.copy, entry, sizeof *entry);
    snprintf(worker.device, sizeof worker.device, "%s", device);
    return RG_GOOD;
}

static rg_verdict died(const char *what) {
    rg_verdict v = {.status = RG_CRASH};
    int status = 0;
    if (reap(&status))
        snprintf(v.reason, sizeof v.reason, "%s: the process went away", what);
    else if (WIFSIGNALED(status))
        snprintf(
            v.reason, sizeof v.reason, "%s: SIG%s (%s)", what, sigabbrev_np(WTERMSIG(status)), strsignal(WTERMSIG(status)));
    else
        snprintf(v.reason, sizeof v.reason, "%s: the process ended itself with status %d", what, WEXITSTATUS(status));
    close(worker.socket);
    worker = (struct worker){0};
    return v;
}

static rg_verdict timed_out(const char *what, double limit_s) {
    rg_verdict v = {.status = RG_TIMEOUT};
    snprintf(v.reason, sizeof v.reason, "%s: no end after %g s", what, limit_s);
    forget(true);
    return v;
}

// Seconds that a process was ready to run without a core (Linux: the second number of schedstat, ns), of its thread that waited
// longest, since the others wait for it. 0 if the kernel does not report it; then the limit is plain time.
static double queued_s(pid_t pid) {
    char path[64];
    double longest_ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *d; threads && (d = readdir(threads));) {
        char file[sizeof path + sizeof d->d_name + 16];
        double ran_ns, waited_ns;
        snprintf(file, sizeof file, "%s/%s/schedstat", path, d->d_name);
        FILE *f = d->d_name[0] == '.' ? NULL : fopen(file, "r");
        if (f && fscanf(f, "%lf %lf", &ran_ns, &waited_ns) == 2 && waited_ns > longest_ns) longest_ns = waited_ns;
        if (f) fclose(f);
    }
    if (threads) closedir(threads);
    return longest_ns * 1e-9;
}

// Whether the worker sent something within allowed_s, not counting the time it waited for a core.
static bool heard(double allowed_s) {
    struct pollfd p = {.fd = worker.socket, .events = POLLIN};
    const double began = rg_seconds(), queued_before = queued_s(worker.pid);
    for (double left_s = allowed_s; left_s > 0;) {
        const int ready = poll(&p, 1, (int)(left_s * 1000) + 1);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
        left_s = allowed_s - (rg_seconds() - began - (queued_s(worker.pid) - queued_before));
    }
    return false;
}

static rg_verdict converse(const rg_job *job, double limit_s) {
    note n = {.what = "starting", .limit_s = 120};
    if (send(worker.socket, job, sizeof *job, MSG_NOSIGNAL) != (ssize_t)sizeof *job) return died("before the case");
    for (;;) {
        const double allowed_s = n.limit_s > 0 ? n.limit_s : limit_s;
        if (!heard(allowed_s)) return timed_out(n.what, allowed_s);
        char what[sizeof n.what];
        memcpy(what, n.what, sizeof what);
        if (recv(worker.socket, &n, sizeof n, 0) != (ssize_t)sizeof n) return died(what);
        if (n.is_verdict && n.is_last) rg_verify_end();
        if (n.is_verdict) return n.verdict;
    }
}

static rg_verdict ask(const rg_entry *entry, rg_job job, const int64_t *param, const rg_verify_options *options) {
    rg_verdict v = {.status = RG_FAIL, .reason = "not run"};
    const char *unavailable = rg_unavailable(entry);
    if (unavailable) {
        v.status = RG_SKIP;
        snprintf(v.reason, sizeof v.reason, "%s", unavailable);
        return v;
    }
    job.seed = options->seed;
    job.no_refuse = options->no_refuse;
    job.once = options->once;
    job.single = options->single;
    job.patterns = options->patterns ? options->patterns : (1u << (RG_STEPS + 1)) - 1;
    for (int k = 0; k < entry->variant->n_params; k++) job.item.param[k] = param[k];
    const char *device = entry->emulated ? "host" : options->device ? options->device : "gpu";
    if (start(entry, device)) {
        snprintf(v.reason, sizeof v.reason, "the worker process cannot be started");
        return v;
    }
    return converse(&job, options->limit_s > 0 ? options->limit_s : RG_LIMIT_S);
}

rg_verdict rg_verify_case(
    const rg_entry *entry, const rg_shape *shape, const int64_t *param, int threads, const rg_verify_options *options) {
    return ask(entry, (rg_job){.item = {.shape = *shape, .threads = threads}}, param, options);
}

rg_verdict rg_show_case(const rg_entry *entry, const rg_shape *shape, const int64_t *param, int threads, rg_show *show,
    const rg_verify_options *options) {
    return ask(entry, (rg_job){.item = {.shape = *shape, .threads = threads}, .show = show}, param, options);
}
