// SPDX-License-Identifier: MIT
// table.c: the function table: variants.def read twice for declarations and arrays, and the plug-ins loaded beside it.
#include "table.h"
#include "../base/core.h"
#include "cpu.h"
#include "../gpu/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ALGO(id) extern const rg_algo rg_algo_##id;
#define HOST(id) extern const rg_variant rg_variant_##id;
#if HAVE_CUDA
#define CUDA(id) extern const rg_variant rg_variant_##id, rg_emulated_##id;
#else
#define CUDA(id) extern const rg_variant rg_emulated_##id;
#endif
#include "../variants.def"
#undef ALGO
#undef HOST
#undef CUDA

static const rg_algo *const algos[] = {
#define ALGO(id) &rg_algo_##id,
#define HOST(id)
#define CUDA(id)
#include "../variants.def"
#undef ALGO
#undef HOST
#undef CUDA
    NULL,
};

// Without CUDA the emulated twins stand in the list too, so that `list` names every variant; they are then marked as lacking.
static const rg_variant *const variants[] = {
#define ALGO(id)
#define HOST(id) &rg_variant_##id,
#if HAVE_CUDA
#define CUDA(id) &rg_variant_##id,
#else
#define CUDA(id) &rg_emulated_##id,
#endif
#include "../variants.def"
#undef HOST
#undef CUDA
    NULL,
#define HOST(id)
#define CUDA(id) &rg_emulated_##id,
#include "../variants.def"
#undef ALGO
#undef HOST
#undef CUDA
    NULL,
};

static rg_entry *entry;
static int n_entries;

static void add(const rg_variant *v, rg_origin origin, bool emulated, const char *prefix)
{
    entry = realloc(entry, (size_t)(n_entries + 1) * sizeof *entry);
    if (!entry)
        exit(rg_fail(RG_LACKS, "out of memory"));
    rg_entry *e = &entry[n_entries++];
    *e = (rg_entry){.algo = rg_algo_find(v->algo), .variant = v, .origin = origin, .emulated = emulated};
    snprintf(e->name, sizeof e->name, "%s%s%s", prefix, *prefix ? ":" : "", v->name);
}

static void build(void)
{
    if (n_entries)
        return;
    int i = 0;
    for (; variants[i]; i++)
        add(variants[i], RG_BUILT_IN, false, "");
    for (i++; i < RG_COUNT(variants) && variants[i]; i++)
        add(variants[i], RG_EMULATION, true, "");
}

int rg_algo_count(void) { return RG_COUNT(algos) - 1; }
const rg_algo *rg_algo_at(int i) { return algos[i]; }

const rg_algo *rg_algo_find(const char *name)
{
    for (int i = 0; algos[i]; i++)
        if (!strcmp(algos[i]->name, name))
            return algos[i];
    return NULL;
}

int rg_entry_count(void)
{
    build();
    return n_entries;
}

const rg_entry *rg_entry_at(int i)
{
    build();
    return &entry[i];
}

static bool chosen(const rg_entry *e, const char *pattern, const char *device)
{
    bool host = device && !strcmp(device, "host");
    if (e->emulated != host)
        return false;
    if (!pattern || !*pattern)
        return true;
    size_t algo = strcspn(pattern, ":");
    if (strlen(e->algo->name) != algo || strncmp(e->algo->name, pattern, algo))
        return false;
    return !pattern[algo] || !strcmp(pattern + algo + 1, e->name);
}

const rg_entry *rg_entry_next(const rg_entry *after, const char *pattern, const char *device)
{
    build();
    for (const rg_entry *e = after ? after + 1 : entry; e < entry + n_entries; e++)
        if (chosen(e, pattern, device))
            return e;
    return NULL;
}

int rg_pattern_check(const char *pattern, const char *device)
{
    if (rg_entry_next(NULL, pattern, device))
        return RG_GOOD;
    const char *const other[] = {"host", "gpu"};
    for (int i = 0; i < 2 && strchr(pattern, ':'); i++) {
        const rg_entry *e = rg_entry_next(NULL, pattern, other[i]);
        if (e && !e->emulated && e->variant->space == RG_HOST)
            return rg_fail(RG_USAGE, "variant \"%s\" runs on the CPU: leave --device host out", pattern);
        if (e) // of one .cu file there are two plug-ins
            return rg_fail(RG_USAGE, "variant \"%s\" was built for --device %s, not %s (make plugin SRC=... builds both)", pattern,
                           other[i], device ? device : "gpu");
    }
    char known[600] = "";
    size_t algo = strcspn(pattern, ":"), used = 0;
    bool algo_known = false;
    for (int i = 0; algos[i]; i++)
        algo_known |= strlen(algos[i]->name) == algo && !strncmp(algos[i]->name, pattern, algo);
    if (algo_known && !pattern[algo])
        return rg_fail(RG_USAGE, "algorithm \"%s\" has no variant for device %s", pattern, device ? device : "gpu");
    for (int i = 0; !algo_known && algos[i] && used < 560; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", algos[i]->name);
    for (const rg_entry *e = NULL; algo_known && used < 500 && (e = rg_entry_next(e, "", device));)
        if (strlen(e->algo->name) == algo && !strncmp(e->algo->name, pattern, algo))
            used += (size_t)snprintf(known + used, sizeof known - used, " %s", e->name);
    return rg_fail(RG_USAGE, algo_known ? "unknown variant \"%s\"; this algorithm has:%s" : "unknown algorithm \"%s\"; there are:%s",
                   pattern, known);
}

// ---- what this machine can run ---------------------------------------------------------------------------------------------

// exact: a name that ends in "a" promises instructions of this very architecture, which later ones need not have.
static const char *gpu_lacks(int sm, bool exact)
{
    static char why[200];
    static int found = -1, found_sm;
    if (found < 0) {
        found = rg_gpu_count(why);
        found_sm = found > 0 ? rg_gpu_sm(0) : 0;
    }
    if (found < 1)
        return why;
    if (exact ? found_sm == sm : found_sm >= sm)
        return NULL;
    snprintf(why, sizeof why, "needs sm_%d%s, this GPU is sm_%d", sm, exact ? "a" : "", found_sm);
    return why;
}

static const char *need_lacks(const char *need)
{
    static char why[96];
    if (!strncmp(need, "sm_", 3))
        return gpu_lacks(atoi(need + 3), need[strlen(need) - 1] == 'a');
    char *program = NULL;
    bool here = rg_cpu_has(need) || (program = rg_program_path(need)) ||
                (!strcmp(need, "octave") && (program = rg_program_path("octave-cli")));
    free(program);
    snprintf(why, sizeof why, "needs %s", need);
    return here ? NULL : why;
}

const char *rg_unavailable(const rg_entry *e)
{
    if (e->emulated)
        return NULL; // needs names GPU features, and cuda_hopper.h has those of one architecture emulated too
    if (e->variant->space == RG_DEVICE && gpu_lacks(0, false))
        return gpu_lacks(0, false);
    char needs[128];
    snprintf(needs, sizeof needs, "%s", e->variant->needs ? e->variant->needs : "");
    for (char *rest = needs, *need; (need = strsep(&rest, ", "));) {
        const char *why = *need ? need_lacks(need) : NULL;
        if (why)
            return why;
    }
    return NULL;
}

// ---- plug-ins ------------------------------------------------------------------------------------------------------------

static const char *variant_fault(const rg_variant *v)
{
    static char why[200];
    if (v->abi != RG_ABI || v->bytes != sizeof(rg_variant)) {
        snprintf(why, sizeof why, "a variant was built for version %u of suite.h with %u bytes, this program has version %u with %zu",
                 v->abi, v->bytes, RG_ABI, sizeof(rg_variant));
        return why;
    }
    if (!v->algo || !v->name || !v->idea || !v->run)
        return "a variant lacks its algorithm, name, idea or run function";
    if (!rg_algo_find(v->algo)) {
        snprintf(why, sizeof why, "variant \"%s\" names an unknown algorithm \"%s\"", v->name, v->algo);
        return why;
    }
    if (v->n_params < 0 || v->n_params > RG_PARAMS_MAX || (v->n_params && !v->param))
        return "a variant's parameters are damaged";
    return NULL;
}

// A plug-in whose symbols are visible gets this program's variant for its own of the same name, and would be timed as it.
static bool built_in(const rg_variant *v)
{
    for (int i = 0; i < n_entries; i++)
        if (entry[i].variant == v && entry[i].origin != RG_PLUGGED_IN)
            return true;
    return false;
}

static int add_plugged(const char *path, const rg_variant *const *list, bool emulated)
{
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    int before = n_entries;
    for (; *list; list++) {
        const char *why = variant_fault(*list);
        if (why)
            return rg_fail(RG_USAGE, "%s: %s", path, why);
        if (built_in(*list))
            return rg_fail(RG_USAGE, "%s: \"%s:%s\" is this program's own, which stands before the plug-in's: build that with "
                           "-fvisibility=hidden, as `make plugin` does", path, (*list)->algo, (*list)->name);
        for (int i = 0; i < before; i++)
            if (entry[i].origin == RG_PLUGGED_IN && entry[i].emulated == emulated && entry[i].algo == rg_algo_find((*list)->algo) &&
                !strncmp(entry[i].name, file, strlen(file)) && !strcmp(entry[i].variant->name, (*list)->name))
                return rg_fail(RG_USAGE, "%s: variant \"%s:%s\" was already loaded from a plug-in of the same name", path, file, (*list)->name);
        add(*list, RG_PLUGGED_IN, emulated, file);
    }
    return RG_GOOD;
}

int rg_plugin_load(const char *path)
{
    build();
    char *full = strchr(path, '/') ? rg_print("%s", path) : rg_print("./%s", path);
    void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    free(full);
    if (!handle)
        return rg_fail(RG_USAGE, "plug-in %s: %s", path, dlerror());
    const rg_variant *const *native = dlsym(handle, "rg_plugin"), *const *emulated = dlsym(handle, "rg_plugin_emulated");
    if (!native && !emulated)
        return rg_fail(RG_USAGE, "%s: no symbol rg_plugin; a plug-in ends in RG_PLUGIN = { &..., NULL };", path);
    int code = native ? add_plugged(path, native, false) : RG_GOOD;
    return !code && emulated ? add_plugged(path, emulated, true) : code;
}
