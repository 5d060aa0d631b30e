// SPDX-License-Identifier: MIT
// topology.c: finds sockets, cores and caches of this machine, by hwloc if compiled in (it also works where /sys is bare), else
// from /sys/devices/system/cpu; and the CPU's name, SIMD levels and governor.
#include "sensors.h"
#include "../../impl/runtime/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_cache(rg_topology *t, int level, char kind, size_t bytes) {
    for (int i = 0; i < t->n_caches; i++) {
        if (t->cache[i].level == level && t->cache[i].kind == kind && t->cache[i].bytes == bytes) {
            t->cache[i].count++;
            return;
        }
    }
    if (t->n_caches < RG_CACHES_MAX) t->cache[t->n_caches++] = (rg_cache){level, 1, kind, bytes};
}

#if HAVE_HWLOC
#include <hwloc.h>

void rg_topology_read(rg_topology *t) {
    memset(t, 0, sizeof *t);
    hwloc_topology_t h;
    if (hwloc_topology_init(&h) != 0) return;
    hwloc_topology_set_icache_types_filter(h, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(h) == 0) {
        int sockets = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PACKAGE), cores = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_CORE);
        t->sockets = sockets > 0 ? sockets : 0;
        t->cores = cores > 0 ? cores : 0;
        t->threads = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU);
        for (hwloc_obj_type_t type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L3ICACHE; type++) {
            for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(h, type, o));) {
                const struct hwloc_cache_attr_s *cache = &o->attr->cache;
                char kind = cache->type == HWLOC_OBJ_CACHE_DATA ? 'd' : cache->type == HWLOC_OBJ_CACHE_UNIFIED ? 'u' : 'i';
                add_cache(t, (int)cache->depth, kind, (size_t)cache->size);
            }
        }
    }
    hwloc_topology_destroy(h);
}

#else

// A thing shared by several CPUs is counted at the first of them that its list names ("0-3,8-11" begins with that one).
static bool first_of(const char *list, int cpu) {
    char *end;
    long first = strtol(list, &end, 10);
    return end != list && first == cpu;
}

static void read_caches(rg_topology *t, int cpu) {
    static const char root[] = "/sys/devices/system/cpu/cpu";
    for (int i = 0; i < RG_CACHES_MAX; i++) {
        char shared[256], level[16], type[32], size[32];
        if (!rg_line(size, sizeof size, "%s%d/cache/index%d/size", root, cpu, i) ||
            !rg_line(level, sizeof level, "%s%d/cache/index%d/level", root, cpu, i) ||
            !rg_line(type, sizeof type, "%s%d/cache/index%d/type", root, cpu, i) ||
            !rg_line(shared, sizeof shared, "%s%d/cache/index%d/shared_cpu_list", root, cpu, i)) {
            continue;
        }
        if (first_of(shared, cpu)) {
            char *unit;
            size_t bytes = (size_t)strtoull(size, &unit, 10);
            bytes <<= *unit == 'M' ? 20 : *unit == 'K' ? 10 : 0;
            add_cache(t, atoi(level), type[0] == 'D' ? 'd' : type[0] == 'I' ? 'i' : 'u', bytes);
        }
    }
}

void rg_topology_read(rg_topology *t) {
    memset(t, 0, sizeof *t);
    long n = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < n; cpu++) {
        char list[256];
        if (!rg_line(list, sizeof list, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)) continue;
        t->threads++;
        t->cores += first_of(list, cpu);
        if (rg_line(list, sizeof list, "/sys/devices/system/cpu/cpu%d/topology/core_siblings_list", cpu))
            t->sockets += first_of(list, cpu);
        read_caches(t, cpu);
    }
}
#endif

size_t rg_topology_last_cache(const rg_topology *t) {
    int level = 0;
    size_t bytes = 0;
    for (int i = 0; i < t->n_caches; i++) {
        if (t->cache[i].level > level) {
            level = t->cache[i].level;
            bytes = 0;
        }
        if (t->cache[i].level == level && t->cache[i].kind != 'i') bytes += t->cache[i].bytes * (size_t)t->cache[i].count;
    }
    return bytes;
}

void rg_topology_caches(const rg_topology *t, char text[160]) {
    size_t at = 0;
    snprintf(text, 160, "unknown (/sys tells no caches)");
    for (int level = 1; level <= 4; level++) {
        for (int i = 0; i < t->n_caches && at < 130; i++) {
            const rg_cache *c = &t->cache[i];
            if (c->level != level || c->kind == 'i') continue;
            bool mega = c->bytes >= 1u << 20;
            at += (size_t)snprintf(text + at, 160 - at, "%sL%d%s %zu %s x %d", at ? ", " : "", level, c->kind == 'd' ? "d" : "",
                c->bytes >> (mega ? 20 : 10), mega ? "MiB" : "KiB", c->count);
        }
    }
}

void rg_cpu_simd(char text[96]) {
    static const char *const level[] = {"avx2", "avx512", "avx512vnni", "amx"};
    size_t at = 0;
    snprintf(text, 96, "none of avx2, avx512, avx512vnni, amx");
    for (int i = 0; i < RG_COUNT(level); i++)
        if (rg_cpu_has(level[i])) at += (size_t)snprintf(text + at, 96 - at, "%s%s", at ? " " : "", level[i]);
}

void rg_cpu_governor(char text[128]) {
    if (!rg_line(text, 128, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
        snprintf(text, 128, "unknown (no cpufreq: virtual machine, or clocks left to the firmware)");
}
