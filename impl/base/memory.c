// SPDX-License-Identifier: MIT
// memory.c: how much main memory a job may use, and how many cores its control groups allow.
#include "memory.h"
#include "core.h"

#include <sys/resource.h>

// Reads the number after "key" in a file of lines "key number"; key "": the first word of the file. False: there is none
// ("max").
static bool number_in(const char *path, const char *key, double *value) {
    char line[256], name[64];
    FILE *f = fopen(path, "r");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        found = *key ? sscanf(line, "%63s %lf", name, value) == 2 && !strcmp(name, key) : sscanf(line, "%lf", value) == 1;
    if (f) fclose(f);
    return found;
}

// The amount that a control group has left; INFINITY: no limit.
typedef double rg_left_of_group(const char *folder, bool v2);

// Memory left of the group's limit; file cache that can be reclaimed counts as free.
static double memory_of_group(const char *folder, bool v2) {
    double limit = INFINITY, used = 0, cache = 0;
    char *path[] = {rg_print("%s/%s", folder, v2 ? "memory.max" : "memory.limit_in_bytes"),
        rg_print("%s/%s", folder, v2 ? "memory.current" : "memory.usage_in_bytes"), rg_print("%s/memory.stat", folder)};
    const bool limited = number_in(path[0], "", &limit) && number_in(path[1], "", &used);
    number_in(path[2], v2 ? "inactive_file" : "total_inactive_file", &cache);
    for (int i = 0; i < 3; i++) free(path[i]);
    return limited ? fmax(0, limit - used + cache) : INFINITY;
}

// Cores, as the share of each period that the group may use.
static double cores_of_group(const char *folder, bool v2) {
    double quota_us = 0, period_us = 0;
    char *path[] = {rg_print("%s/%s", folder, v2 ? "cpu.max" : "cpu.cfs_quota_us"), rg_print("%s/cpu.cfs_period_us", folder)};
    FILE *f = v2 ? fopen(path[0], "r") : NULL;
    const bool limited = v2 ? f && fscanf(f, "%lf %lf", &quota_us, &period_us) == 2
                            : number_in(path[0], "", &quota_us) && number_in(path[1], "", &period_us);
    if (f) fclose(f);
    for (int i = 0; i < 2; i++) free(path[i]);
    return limited && quota_us > 0 && period_us > 0 ? quota_us / period_us : INFINITY;
}

static bool names_controller(const char *names, const char *end, const char *controller) {
    const size_t n = strlen(controller);
    for (const char *at = names; at < end; at += strcspn(at, ",:") + 1)
        if (strcspn(at, ",:") == n && !strncmp(at, controller, n)) return true;
    return false;
}

// The smallest amount left by the group of this process and its parents. Inside a container the path may be that of the host,
// of which only the top is visible.
static double left_of_groups(const char *self, const char *mounted, const char *controller, rg_left_of_group *left_of_group) {
    char line[4096], path[4096];
    double left = INFINITY;
    RG_FREED char *file = rg_print("%s/cgroup", self);
    FILE *f = fopen(file, "r");
    while (f && fgets(line, sizeof line, f)) {
        const bool v2 = !strncmp(line, "0::", 3);
        const char *colon = strchr(line, ':'), *names = colon ? colon + 1 : NULL, *at = names ? strchr(names, ':') : NULL;
        if (!at || (!v2 && !names_controller(names, at, controller))) continue;
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        for (bool top = false; !top;) {
            top = !*path || !strcmp(path, "/");
            for (int unified = 0; unified < 1 + v2; unified++) { // beside version 1, version 2 has a separate folder
                RG_FREED char *folder =
                    rg_print("%s%s%s%s", mounted, v2 ? unified ? "/unified" : "" : "/", v2 ? "" : controller, top ? "" : path);
                left = fmin(left, left_of_group(folder, v2));
            }
            char *slash = strrchr(path, '/');
            *(slash ? slash : path) = 0;
        }
    }
    if (f) fclose(f);
    return left;
}

// Memory left of the process limits of addresses and of data: both include the stacks of threads.
static double left_of_limits(void) {
    struct rlimit limit, stack;
    double page = (double)sysconf(_SC_PAGESIZE), size = 0, data = 0, left = INFINITY;
    const bool known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    const double stacks = (known ? (double)stack.rlim_cur : 0x1p23) * (double)sysconf(_SC_NPROCESSORS_ONLN);
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lf %*f %*f %*f %*f %lf", &size, &data) != 2) size = data = 0;
    if (f) fclose(f);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        left = fmin(left, (double)limit.rlim_cur - page * size);
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        left = fmin(left, (double)limit.rlim_cur - page * data);
    return fmax(0, left - stacks);
}

double rg_memory_free_of(const char *proc, const char *mounted) {
    double free_kib = INFINITY;
    RG_FREED char *info = rg_print("%s/meminfo", proc), *self = rg_print("%s/self", proc);
    // MemAvailable counts reclaimable cache as free.
    const double machine = number_in(info, "MemAvailable:", &free_kib)
        ? 1024 * free_kib
        : (double)sysconf(_SC_PAGESIZE) * (double)sysconf(_SC_AVPHYS_PAGES);
    const double shared = fmin(machine, left_of_groups(self, mounted, "memory", memory_of_group)) / rg_processes_here;
    return fmin(shared, left_of_limits());
}

double rg_cores_quota_of(const char *proc, const char *mounted) {
    RG_FREED char *self = rg_print("%s/self", proc);
    return left_of_groups(self, mounted, "cpu", cores_of_group);
}

double rg_cores_quota(void) { return rg_cores_quota_of("/proc", "/sys/fs/cgroup"); }
double rg_memory_free(void) { return rg_memory_free_of("/proc", "/sys/fs/cgroup"); }

// ---- sizes as text -------------------------------------------------------------------------------------------------------

static const char *const unit[] = {"B", "KiB", "MiB", "GiB"};
enum { UNITS = sizeof unit / sizeof *unit };

bool rg_memory_size(const char *text, double *bytes) {
    char *end;
    double n, each = 1;
    if (!rg_decimal(text, &end, &n) || n <= 0) return false;
    end += strspn(end, " ");
    for (int u = 0; u < UNITS; u++, each *= 1024)
        if (!strcmp(end, unit[u])) return *bytes = n * each, n * each < 0x1p62;
    return false;
}

const char *rg_memory_text(double bytes, char text[32]) {
    int u = 0;
    for (; u < UNITS - 1 && bytes >= 1024; u++) bytes /= 1024;
    snprintf(text, 32, "%.3g %s", bytes, unit[u]);
    return text;
}

// ---- memory of jobs ------------------------------------------------------------------------------------------------------

static double whole(rg_memory_need *need, const void *of, int64_t size) { return need(of, size) + RG_MEMORY_RESERVE; }

void rg_need(rg_needs *needs, const char *name, double bytes) {
    int i = 0;
    while (i < needs->n && strcmp(needs->row[i].name, name)) i++;
    if (!(bytes > 0)) return;
    if (i == RG_NEEDS_MAX) rg_end(RG_WRONG, "more than %d kinds of memory", RG_NEEDS_MAX);
    needs->n = i < needs->n ? needs->n : i + 1;
    needs->row[i].name = name;
    needs->row[i].bytes += bytes;
    needs->bytes += bytes;
}

void rg_needs_most(rg_needs *most, const rg_needs *held, const rg_needs *stage) {
    rg_needs both = *held;
    for (int i = 0; i < stage->n; i++) rg_need(&both, stage->row[i].name, stage->row[i].bytes);
    if (both.bytes > most->bytes) *most = both;
}

// The largest size that fits; 0: none.
static int64_t largest_that_fits(double there, rg_memory_need *need, const void *of) {
    int64_t low = 0, high = 1; // low fits or is 0; high does not fit
    while (high < INT32_MAX && whole(need, of, high) <= there) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(whole(need, of, middle) <= there ? &low : &high) = middle;
    }
    return low;
}

char *rg_memory_fits(double there, rg_memory_need *need, const void *of, const char *fits) {
    const int64_t largest = largest_that_fits(there, need, of);
    return largest ? rg_print("%s %" PRId64 " fits", fits, largest) : rg_print("none fits");
}

int rg_memory_allows(
    double there, rg_memory_need *need, const void *of, int64_t size, const char *fits, const char *what, ...) {
    const double bytes = whole(need, of, size);
    if (bytes <= there) return RG_GOOD;
    char text[400], *largest = rg_memory_fits(there, need, of, fits);
    RG_FORMAT(text, sizeof text, what);
    int code =
        rg_fail(RG_LACKS, "%s need %.3g GiB of memory, %.3g GiB are free; %s", text, bytes / 0x1p30, there / 0x1p30, largest);
    free(largest);
    return code;
}
