// SPDX-License-Identifier: MIT
// cores.c: which processors steps of one core run on, and which are left for others beside them. Who shares a core is what the
// system says or, on a virtual machine that hides it, what it takes them together.
#include "record.h"

#include "../../impl/base/core.h"
#include "../machine/sensors.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CORES_LEAST = 4 }; // fewer have one step at a time

// This processor and those of a list like "0,8" or "0-1".
static cpu_set_t with(int cpu, const char *list)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    for (char *end; *list; list = end + (*end == ',')) {
        const long from = strtol(list, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;
        if (end == list)
            break;
        for (long c = from < 0 ? 0 : from; c <= to && c < CPU_SETSIZE; c++)
            CPU_SET(c, &set);
    }
    return set;
}

static void without(cpu_set_t *set, cpu_set_t core)
{
    CPU_AND(&core, &core, set);
    CPU_XOR(set, set, &core);
}

// ---- who shares a core, by measurement -------------------------------------------------------------------------------------

// Two processors of one core take about twice as long together as one alone for arithmetic that one of them can fill the core with;
// two cores take no longer.
static const double SHARE_FROM = 1.5, APART_UP_TO = 1.2;
enum { CHAINS = 24, STEPS = 100000, TRIES = 5 }; // chains: more than the latency of an operation on two units

static double arithmetic_s(void)
{
    double best_s = INFINITY, x[CHAINS];
    for (int i = 0; i < TRIES; i++) {
        const double start = rg_seconds();
        for (int k = 0; k < CHAINS; k++)
            x[k] = k;
        for (int step = 0; step < STEPS; step++)
            for (int k = 0; k < CHAINS; k++)
                x[k] = x[k] * 0.999 + 0.001;
        for (int k = 0; k < CHAINS; k++)
            *(volatile double *)&x[k];
        best_s = fmin(best_s, rg_seconds() - start);
    }
    return best_s;
}

static void stay_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

typedef struct neighbour {
    int cpu;
    atomic_int runs, ends;
} neighbour;
static void *keep_busy(void *of)
{
    neighbour *n = of;
    stay_on(n->cpu);
    for (n->runs = 1; !n->ends;)
        arithmetic_s();
    return NULL;
}

// How many times as long processor a takes while b works.
static double slowed_by(int a, int b)
{
    neighbour n = {.cpu = b};
    pthread_t thread;
    stay_on(a);
    const double alone_s = arithmetic_s();
    if (pthread_create(&thread, NULL, keep_busy, &n))
        return NAN;
    while (!n.runs)
        ;
    const double beside_s = arithmetic_s();
    n.ends = 1;
    pthread_join(thread, NULL);
    return beside_s / alone_s;
}

static int next_to(int k, int n) { return (void)n, k ^ 1; }
static int half_on(int k, int n) { return (k + n / 2) % n; }

// Whether every two processors that the numbering has on one core share it (1), none of them (0), or neither can be said (-1).
static int holds(int mate(int k, int n), int n, cpu_set_t usable, double times_of(int, int))
{
    int pairs = 0, share = 0, apart = 0;
    for (int k = 0; k < n; k++) {
        const int m = mate(k, n);
        if (m <= k || m >= n || !CPU_ISSET(k, &usable) || !CPU_ISSET(m, &usable))
            continue;
        const double times = times_of(k, m);
        pairs++;
        share += times > SHARE_FROM;
        apart += times < APART_UP_TO;
    }
    return pairs && share == pairs ? 1 : pairs && apart == pairs ? 0 : -1;
}

void rg_record_siblings(int n, cpu_set_t usable, double slowed_by(int, int), char list[][RG_SIBLINGS])
{
    const int next = holds(next_to, n, usable, slowed_by), half = holds(half_on, n, usable, slowed_by);
    if (next < 0 || half < 0 || next + half != 1)
        return;
    for (int k = 0; k < n; k++) {
        const int m = next ? next_to(k, n) : half_on(k, n);
        if (m < n)
            snprintf(list[k], RG_SIBLINGS, "%d,%d", k < m ? k : m, k < m ? m : k);
    }
}

// ---- whose turn is where ---------------------------------------------------------------------------------------------------

// One processor of each core for steps of one core, from the last one on, on half of the cores; the other cores are the rest's.
// Two that share a core take up to twice as long. A virtual machine in which none is said to share one may hide it, and its host
// may move processors from core to core as well: there nothing goes on beside a step unless it is asked for, and then a
// processor's core is what it is by either usual numbering, 2 k and 2 k + 1 or k and k + n / 2.
void rg_record_share(int n, const char *const siblings[], cpu_set_t usable, bool is_virtual, int64_t beside, rg_record_cores *c)
{
    cpu_set_t core[CPU_SETSIZE], left = usable;
    int cpu[CPU_SETSIZE], cores = 0;
    c->hidden = is_virtual && n >= CORES_LEAST;
    for (int k = 0; k < n; k++) {
        core[k] = with(k, siblings[k]);
        c->hidden &= CPU_COUNT(&core[k]) == 1;
    }
    for (int k = 0; c->hidden && k < n; k++) {
        CPU_SET(k ^ 1, &core[k]);
        CPU_SET((k + n / 2) % n, &core[k]);
    }
    for (int k = n - 1; k >= 0; k--)
        if (CPU_ISSET(k, &left)) {
            without(&left, core[k]);
            cpu[cores++] = k;
        }
    const double half = cores < CORES_LEAST || c->hidden ? 0 : cores / 2;
    c->beside = (int)fmin(fmax(0, fmin(cores - 1, RG_BESIDE_MOST)), beside ? (double)beside : half);
    c->rest = usable;
    for (int k = 0; k < c->beside; k++)
        without(&c->rest, core[c->cpu[k] = cpu[k]]);
}

void rg_record_share_here(int64_t beside, rg_record_cores *c)
{
    static char text[CPU_SETSIZE][RG_SIBLINGS], flags[8192];
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
    rg_record_share(n, siblings, usable, is_virtual, beside, c);
    if (!c->hidden)
        return;
    rg_record_siblings(n, usable, slowed_by, text);
    sched_setaffinity(0, sizeof usable, &usable);
    rg_record_share(n, siblings, usable, is_virtual, beside, c);
}
