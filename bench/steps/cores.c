// SPDX-License-Identifier: MIT
// cores.c: chooses the processors for steps of one core, and those left for other steps. The system says which processors share
// a core; on a virtual machine that hides it, they are timed.
#include "steps.h"

#include "../../impl/base/core.h"
#include "../machine/sensors.h"

#include <pthread.h>

enum { CORES_LEAST = 4 }; // fewer have one step at a time
// Two processors of one core take about twice as long together as one alone; two cores take a little longer, at a lower clock.
static const double AS_FAST = 1.2;

// This processor and those of a list like "0,8" or "0-1".
static cpu_set_t with(int cpu, const char *list) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    for (char *end; *list; list = end + (*end == ',')) {
        const long from = strtol(list, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;
        if (end == list) break;
        for (long c = from < 0 ? 0 : from; c <= to && c < CPU_SETSIZE; c++) CPU_SET((size_t)c, &set);
    }
    return set;
}

static void without(cpu_set_t *set, cpu_set_t core) {
    CPU_AND(&core, &core, set);
    CPU_XOR(set, set, &core);
}

// ---- what processors take together -----------------------------------------------------------------------------------------

enum { CHAINS = 24, STEPS = 100000, TRIES = 5 }; // chains: more than the latency of an operation on two units

// Arithmetic with which one processor fills a core.
static double arithmetic_s(void) {
    double best_s = INFINITY, x[CHAINS];
    for (int i = 0; i < TRIES; i++) {
        const double start = rg_seconds();
        for (int k = 0; k < CHAINS; k++) x[k] = k;
        for (int step = 0; step < STEPS; step++)
            for (int k = 0; k < CHAINS; k++) x[k] = x[k] * 0.999 + 0.001;
        for (int k = 0; k < CHAINS; k++) *(volatile double *)&x[k];
        best_s = fmin(best_s, rg_seconds() - start);
    }
    return best_s;
}

typedef struct worker {
    int cpu, *working; // number of threads that have not measured yet
    double times;      // time relative to that alone
} worker;

static void measure(worker *w) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)w->cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    w->times = arithmetic_s() / w->times;
}

static void *work(void *of) {
    worker *w = of;
    measure(w);
    for (__atomic_sub_fetch(w->working, 1, __ATOMIC_SEQ_CST); __atomic_load_n(w->working, __ATOMIC_SEQ_CST) > 0;)
        arithmetic_s();
    return NULL;
}

static int by_times(const void *a, const void *b) {
    const double x = ((const worker *)a)->times, y = ((const worker *)b)->times;
    return (x > y) - (x < y);
}

// The median, since a guest of the same host may slow some.
static double slowed_together(const int cpu[], int n) {
    worker w[CPU_SETSIZE];
    pthread_t thread[CPU_SETSIZE];
    int working = n, started = 0;
    for (int k = 0; k < n; k++) {
        w[k] = (worker){cpu[k], &working, 1};
        measure(&w[k]);
    }
    while (started < n && !pthread_create(&thread[started], NULL, work, &w[started])) started++;
    __atomic_sub_fetch(&working, n - started, __ATOMIC_SEQ_CST);
    for (int k = 0; k < started; k++) pthread_join(thread[k], NULL);
    qsort(w, (size_t)n, sizeof *w, by_times);
    return started < n ? NAN : w[n / 2].times;
}

// ---- whose turn is where ---------------------------------------------------------------------------------------------------

// Selects one processor of each core for steps of one core, from the last one on, on half of the cores; the other cores are for
// the rest. Two that share a core take up to twice as long. A virtual machine that reports no sharing may hide it, and its host
// may move processors between cores. There, cores are assumed by both usual numberings, 2 k and 2 k + 1, and k and k + n / 2,
// and no step runs beside another, unless the user asks for it or one processor of each such core is as fast together with the
// others as alone.
void rg_cores_share(int n, const char *const siblings[], cpu_set_t usable, bool is_virtual, int64_t beside,
    double slowed(const int cpu[], int n), rg_cores *c) {
    cpu_set_t core[CPU_SETSIZE], left = usable;
    int cpu[CPU_SETSIZE] = {0}, cores = 0;
    c->hidden = is_virtual && n >= CORES_LEAST;
    for (int k = 0; k < n; k++) {
        core[k] = with(k, siblings[k]);
        c->hidden &= CPU_COUNT(&core[k]) == 1;
    }
    for (int k = 0; c->hidden && k < n; k++) {
        CPU_SET((size_t)(k ^ 1), &core[k]);
        CPU_SET((size_t)((k + n / 2) % n), &core[k]);
    }
    for (int k = n - 1; k >= 0; k--)
        if (CPU_ISSET((size_t)k, &left)) {
            without(&left, core[k]);
            cpu[cores++] = k;
        }
    c->hidden = c->hidden && !(slowed(cpu, cores) < AS_FAST);
    const double half = cores < CORES_LEAST || c->hidden ? 0 : cores / 2;
    c->beside = (int)fmin(fmax(0, fmin(cores - 1, RG_BESIDE_MOST)), beside ? (double)beside : half);
    c->rest = usable;
    for (int k = 0; k < c->beside; k++) without(&c->rest, core[c->cpu[k] = cpu[k]]);
}

void rg_cores_share_here(int64_t beside, rg_cores *c) {
    static char text[CPU_SETSIZE][64], flags[8192];
    const char *siblings[CPU_SETSIZE];
    const long there = sysconf(_SC_NPROCESSORS_CONF);
    const int n = (int)(there < CPU_SETSIZE ? there : CPU_SETSIZE);
    for (int k = 0; k < n; k++) {
        rg_line(text[k], sizeof text[k], "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", k);
        siblings[k] = text[k];
    }
    // The flag is x86's; Xen's paravirtual machines have the folder.
    const bool is_virtual = access("/sys/hypervisor/type", F_OK) == 0 ||
        (rg_proc_field("/proc/cpuinfo", "flags", flags, sizeof flags) && strstr(flags, " hypervisor"));
    cpu_set_t usable;
    sched_getaffinity(0, sizeof usable, &usable);
    rg_cores_share(n, siblings, usable, is_virtual, beside, slowed_together, c);
    sched_setaffinity(0, sizeof usable, &usable);
}
