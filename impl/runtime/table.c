// SPDX-License-Identifier: MIT
// table.c: the function table: built from variants.def, with the plug-ins that are loaded.
#include "table.h"
#include "../base/core.h"
#include "../base/options.h"
#include "../base/malformed.h"
#include "../base/process.h"
#include "../base/tsv.h"
#include "cpu.h"
#include "../gpu/device.h"

#include <dlfcn.h>
#include <link.h>

// Without CUDA the list has the emulated twins, too, so that `list` names every variant; they are marked as unavailable.
#if HAVE_CUDA
#define RG_OF_GPU(id) rg_variant_##id
#else
#define RG_OF_GPU(id) rg_emulated_##id
#endif

#define ALGO(id) extern const rg_algo rg_algo_##id;
#define HOST(id) extern const rg_variant rg_variant_##id;
#define CUDA(id) extern const rg_variant RG_OF_GPU(id), rg_emulated_##id;
#include "../variants.def"

static const rg_algo *const algos[] = {
#define ALGO(id) &rg_algo_##id,
#include "../variants.def"
    NULL,
};

static const rg_variant *const variants[] = {
#define HOST(id) &rg_variant_##id,
#define CUDA(id) &RG_OF_GPU(id),
#include "../variants.def"
    NULL,
#define CUDA(id) &rg_emulated_##id,
#include "../variants.def"
    NULL,
};

const char *const rg_resource_name[RG_RESOURCES] = {[RG_MEM_BYTES] = "memory",
    [RG_SHARED_BYTES] = "shared",
    [RG_F32_MAD] = "fp32",
    [RG_F64_MAD] = "fp64",
    [RG_I32_MAD] = "int32",
    [RG_I16_MAD] = "int16",
    [RG_I8_MAD] = "int8",
    [RG_MATRIX_I8_MAD] = "matrix_int8",
    [RG_ATOMIC] = "atomic",
    [RG_ATOMIC_16B] = "atomic16",
    [RG_ATOMIC_MEM] = "atomic_mem",
    [RG_TEXTURE] = "texture"};
static rg_entry *entry;
static int n_entries;

// ---- checks of entries -----------------------------------------------------------------------------------------------------

// What a CPU variant may need. A GPU variant needs sm_NN, followed by "a" for the instructions of that architecture alone, or a
// library by its file name.
static const char *const host_needs[] = {"avx2", "avx512", "avx512vnni", "octave", "numpy"};

#define WRONG(...) return snprintf(why, RG_FAULT, __VA_ARGS__), why

// Names become words on command lines and parts of file names.
static bool is_name(const char *text) {
    return text && *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text);
}

static bool is_library(const char *need) { return !strncmp(need, "lib", 3) && strstr(need, ".so."); }

static bool need_known(const char *need, rg_space space) {
    if (space == RG_DEVICE) {
        size_t digits = !strncmp(need, "sm_", 3) ? strspn(need + 3, "0123456789") : 0;
        return (digits > 1 && (!need[3 + digits] || !strcmp(need + 3 + digits, "a"))) || is_library(need);
    }
    for (int i = 0; i < RG_COUNT(host_needs); i++)
        if (!strcmp(need, host_needs[i])) return true;
    return false;
}

const char *rg_algo_fault(const rg_algo *a, char why[RG_FAULT]) {
    if (a->abi != RG_ABI || a->bytes != sizeof(rg_algo))
        WRONG("an algorithm was built for version %u of suite.h with %u bytes, this program has version %u with %zu", a->abi,
            a->bytes, RG_ABI, sizeof(rg_algo));
    if (!is_name(a->name)) WRONG("an algorithm's name is \"%s\": expected a-z, 0-9 and _", a->name ? a->name : "");
    if (!a->paper || !a->formula || !a->dim[0] || !a->rate_unit)
        WRONG("algorithm \"%s\" lacks its paper, formula, dimensions or unit", a->name);
    if (!a->fill || !a->reference || !a->tolerance || !a->where || !a->traffic_bytes || !a->work)
        WRONG("algorithm \"%s\" lacks fill, reference, tolerance, where, traffic_bytes or work", a->name);
    bool direction[3] = {false};
    for (int i = 0; a->arg && i < a->n_args && i < RG_ARGS_MAX; i++) {
        if (!a->arg[i].name || !a->arg[i].type || !a->arg[i].count)
            WRONG("algorithm \"%s\": argument %d lacks its name, type or count", a->name, i);
        direction[a->arg[i].direction] = true;
    }
    for (int i = 0; i < RG_ARGS_MAX; i++)
        if (a->steady >> i & 1 && (i >= a->n_args || a->arg[i].direction != RG_IN))
            WRONG("algorithm \"%s\": argument %d is no input, and cannot be steady", a->name, i);
    if (a->n_args > RG_ARGS_MAX || !(direction[RG_OUT] || direction[RG_INOUT]))
        WRONG("algorithm \"%s\" has %d arguments: expected at most %d, one of them an output", a->name, a->n_args, RG_ARGS_MAX);
    if (a->n_check_shapes < 1 || a->n_bench_shapes < 1 || a->n_smoke_shapes < 1)
        WRONG("algorithm \"%s\" lacks shapes to check, to time or for a smoke test", a->name);
    for (int i = 0; a->invalid && i < a->n_smoke_shapes; i++)
        if (a->invalid(&a->smoke_shape[i]))
            WRONG("algorithm \"%s\": shape %d of the smoke test: %s", a->name, i, a->invalid(&a->smoke_shape[i]));
    return NULL;
}

static const char *param_fault(const rg_variant *v, int i, char why[RG_FAULT]) {
    const rg_param *p = &v->param[i];
    bool standard = false;
    if (!p->name || !*p->name || strpbrk(p->name, "=; \t") || !p->doc || !p->value || p->n_values < 1)
        WRONG("variant \"%s:%s\": parameter %d lacks its name, doc or values", v->algo, v->name, i);
    for (int k = 0; k < p->n_values; k++) standard |= p->value[k] == p->standard;
    if (!standard)
        WRONG("variant \"%s:%s\": the standard %s = %lld is none of its values", v->algo, v->name, p->name,
            (long long)p->standard);
    for (int k = 0; k < i; k++)
        if (!strcmp(v->param[k].name, p->name)) WRONG("variant \"%s:%s\" has two parameters \"%s\"", v->algo, v->name, p->name);
    return NULL;
}

const char *rg_variant_fault(const rg_variant *v, char why[RG_FAULT]) {
    if (v->abi != RG_ABI || v->bytes != sizeof(rg_variant))
        WRONG("a variant was built for version %u of suite.h with %u bytes, this program has version %u with %zu", v->abi,
            v->bytes, RG_ABI, sizeof(rg_variant));
    if (!is_name(v->name) || !v->algo)
        WRONG("a variant's name is \"%s\": expected a-z, 0-9 and _, and an algorithm", v->name ? v->name : "");
    if (!rg_algo_find(v->algo)) WRONG("variant \"%s\" names an unknown algorithm \"%s\"", v->name, v->algo);
    if (!v->run || !v->idea || !*v->idea) WRONG("variant \"%s:%s\" lacks its idea or its run function", v->algo, v->name);
    if (strpbrk(v->idea, "\t\n\r")) WRONG("variant \"%s:%s\": its idea is not one line without tabs", v->algo, v->name);
    if ((unsigned)v->role > RG_OTHER || (unsigned)v->space > RG_DEVICE ||
        v->flags & ~(uint32_t)(RG_UNORDERED | RG_THREADED | RG_COPIES_FIRST))
        WRONG("variant \"%s:%s\": unknown role, space or flag", v->algo, v->name);
    char needs[128];
    if (v->needs && strlen(v->needs) >= sizeof needs) WRONG("variant \"%s:%s\" needs too many words", v->algo, v->name);
    snprintf(needs, sizeof needs, "%s", v->needs ? v->needs : "");
    for (char *rest = needs, *need; (need = strsep(&rest, ","));)
        if (*needs && !need_known(need, v->space))
            WRONG("variant \"%s:%s\" needs \"%s\": expected %s", v->algo, v->name, need,
                v->space == RG_DEVICE ? "sm_NN or sm_NNa" : "avx2, avx512, avx512vnni, octave or numpy");
    if (v->load && !rg_algo_find(v->algo)->steady)
        WRONG("variant \"%s:%s\" has load, but no argument of the algorithm is steady", v->algo, v->name);
    if (v->n_params < 0 || v->n_params > RG_PARAMS_MAX || (v->n_params && !v->param))
        WRONG("variant \"%s:%s\" has %d parameters: expected 0 to %d", v->algo, v->name, v->n_params, RG_PARAMS_MAX);
    for (int i = 0; i < v->n_params; i++)
        if (param_fault(v, i, why)) return why;
    return NULL;
}

// ---- building it -----------------------------------------------------------------------------------------------------------

void rg_plugin_name(const char *path, char name[96]) {
    snprintf(name, 96, "%s", rg_base_name(path));
    for (char *c = name; *c; c++)
        if (strchr(" \t:;,=\"'", *c)) *c = '_';
}

int rg_table_add(const rg_variant *v, rg_origin origin, bool emulated, const char *plugin) {
    char why[RG_FAULT], file[96] = "";
    const char *in = plugin ? plugin : "variants.def";
    rg_entry e = {.variant = v, .origin = origin, .emulated = emulated, .plugin = plugin};
    if (rg_variant_fault(v, why)) return rg_fail(RG_USAGE, "%s: %s", in, why);
    e.algo = rg_algo_find(v->algo);
    if (plugin) rg_plugin_name(plugin, file);
    snprintf(e.name, sizeof e.name, "%s%s%s", file, plugin ? ":" : "", v->name);
    for (int i = 0; i < n_entries; i++) {
        // If a plug-in's symbols are visible, this program's variant replaces the plug-in's variant of the same name, and would
        // be timed instead of it.
        if (plugin && entry[i].variant == v && entry[i].origin != RG_PLUGGED_IN)
            return rg_fail(RG_USAGE,
                "%s: \"%s:%s\" is this program's own, which stands before the plug-in's: build that with "
                "-fvisibility=hidden, as `make plugin` does",
                plugin, v->algo, v->name);
        if (entry[i].algo == e.algo && entry[i].emulated == emulated && !strcmp(entry[i].name, e.name))
            return rg_fail(RG_USAGE, "%s: there are two variants \"%s:%s\"", in, v->algo, e.name);
    }
    entry = rg_grow(entry, n_entries, sizeof *entry);
    entry[n_entries++] = e;
    return RG_GOOD;
}

static void build(void) {
    char why[RG_FAULT];
    if (n_entries) return;
    for (int i = 0; algos[i]; i++) {
        if (rg_algo_fault(algos[i], why)) rg_end(RG_USAGE, "variants.def: %s", why);
        if (rg_algo_find(algos[i]->name) != algos[i])
            rg_end(RG_USAGE, "variants.def: there are two algorithms \"%s\"", algos[i]->name);
    }
    int i = 0, code = RG_GOOD;
    for (; !code && variants[i]; i++) code = rg_table_add(variants[i], RG_BUILT_IN, false, NULL);
    for (i++; !code && i < RG_COUNT(variants) && variants[i]; i++) code = rg_table_add(variants[i], RG_EMULATION, true, NULL);
    if (code) exit(code);
}

int rg_algo_count(void) { return RG_COUNT(algos) - 1; }
const rg_algo *rg_algo_at(int i) { return algos[i]; }

const rg_algo *rg_algo_find(const char *name) {
    for (int i = 0; algos[i]; i++)
        if (!strcmp(algos[i]->name, name)) return algos[i];
    return NULL;
}

int rg_entry_count(void) {
    build();
    return n_entries;
}

const rg_entry *rg_entry_at(int i) {
    build();
    return &entry[i];
}

const rg_entry *rg_entry_find(const char *algo, const char *name) {
    for (int i = 0; i < rg_entry_count(); i++)
        if (!strcmp(entry[i].algo->name, algo) && !strcmp(entry[i].name, name)) return &entry[i];
    return NULL;
}

// Whether a word of a pattern, n characters long, selects the entry.
static bool word_chooses(const char *word, size_t n, const rg_entry *e) {
    const size_t algo = strlen(e->algo->name), name = strlen(e->name);
    if (n < algo || strncmp(word, e->algo->name, algo)) return false;
    return n == algo || (n == algo + 1 + name && word[algo] == ':' && !strncmp(word + algo + 1, e->name, name));
}

static bool chosen(const rg_entry *e, const char *pattern, const char *device) {
    const bool host = device && !strcmp(device, "host");
    bool any = !pattern || !*pattern;
    for (const char *at = pattern; !any && *at; at += strspn(at, " ")) {
        any = word_chooses(at, strcspn(at, " "), e);
        at += strcspn(at, " ");
    }
    return any && e->emulated == host;
}

const rg_entry *rg_entry_next(const rg_entry *after, const char *pattern, const char *device) {
    build();
    for (const rg_entry *e = after ? after + 1 : entry; e < entry + n_entries; e++)
        if (chosen(e, pattern, device)) return e;
    return NULL;
}

static int word_check(const char *pattern, const char *device) {
    if (rg_entry_next(NULL, pattern, device)) return RG_GOOD;
    const char *const other[] = {"host", "gpu"};
    for (int i = 0; i < 2 && strchr(pattern, ':'); i++) {
        const rg_entry *e = rg_entry_next(NULL, pattern, other[i]);
        if (e && !e->emulated && e->variant->space == RG_HOST)
            return rg_fail(RG_USAGE, "variant \"%s\" runs on the CPU: leave --device host out", pattern);
        if (e) // a .cu file gives two plug-ins
            return rg_fail(RG_USAGE, "variant \"%s\" was built for --device %s, not %s (make plugin SRC=... builds both)",
                pattern, other[i], device ? device : "gpu");
    }
    char known[600] = "", words[96];
    rg_near near = {0};
    size_t algo = strcspn(pattern, ":"), used = 0;
    bool algo_known = false;
    for (int i = 0; algos[i]; i++) algo_known |= strlen(algos[i]->name) == algo && !strncmp(algos[i]->name, pattern, algo);
    if (algo_known && !pattern[algo])
        return rg_fail(RG_USAGE, "algorithm \"%s\" has no variant for device %s", pattern, device ? device : "gpu");
    for (int i = 0; !algo_known && algos[i] && used < 560; i++) {
        rg_nearer(pattern, algo, algos[i]->name, &near);
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", algos[i]->name);
    }
    for (const rg_entry *e = NULL; algo_known && used < 500 && (e = rg_entry_next(e, "", device));)
        if (strlen(e->algo->name) == algo && !strncmp(e->algo->name, pattern, algo)) {
            rg_nearer(pattern + algo + 1, strlen(pattern + algo + 1), e->name, &near);
            used += (size_t)snprintf(known + used, sizeof known - used, " %s", e->name);
        }
    RG_FREED char *before = rg_print("%.*s", algo_known ? (int)algo + 1 : 0, pattern);
    rg_near_words(&near, before, words);
    return rg_fail(RG_USAGE,
        algo_known ? "unknown variant \"%s\"; %sthis algorithm has:%s" : "unknown algorithm \"%s\"; %sthere are:%s", pattern,
        words, known);
}

int rg_pattern_check(const char *pattern, const char *device) {
    int code = RG_GOOD;
    char *words = rg_print("%s", pattern), *rest = words;
    for (char *word; !code && (word = strsep(&rest, " "));) code = word_check(word, device);
    free(words);
    return code;
}

// ---- requirements of variants ----------------------------------------------------------------------------------------------

// exact: a name that ends in "a" requires instructions of exactly this architecture, which later ones may lack.
static const char *gpu_lacks(int sm, bool exact) {
    static char why[200];
    static int found = -1, found_sm;
    if (found < 0) {
        found = rg_gpu_count(why);
        found_sm = found > 0 ? rg_gpu_sm(0) : 0;
    }
    if (found < 1) return why;
    if (exact ? found_sm == sm : found_sm >= sm) return NULL;
    snprintf(why, sizeof why, "needs sm_%d%s, this GPU is sm_%d", sm, exact ? "a" : "", found_sm);
    return why;
}

// Whether Python can import NumPy: tested once, by importing it, because no path shows it.
static const char *numpy_lacks(void) {
    static int found = -1;
    RG_FREED char *python = found < 0 ? rg_program_path("python3") : NULL;
    if (found < 0) found = python && !rg_shell("python3 -c 'import numpy' > /dev/null 2>&1 < /dev/null", "sh");
    return found ? NULL : "needs numpy, which python3 here cannot import";
}

static const char *need_lacks(const char *need) {
    static char why[96];
    if (!strncmp(need, "sm_", 3)) return gpu_lacks(atoi(need + 3), need[strlen(need) - 1] == 'a');
    if (!strcmp(need, "numpy")) return numpy_lacks();
    snprintf(why, sizeof why, "needs %s", need);
    if (is_library(need)) {
        void *library = dlopen(need, RTLD_LAZY | RTLD_LOCAL);
        if (!library) return why;
        return dlclose(library), NULL;
    }
    RG_FREED char *program = NULL;
    bool here = rg_cpu_has(need) || (program = rg_program_path(need)) ||
        (!strcmp(need, "octave") && (program = rg_program_path("octave-cli")));
    return here ? NULL : why;
}

const char *rg_unavailable(const rg_entry *e) {
    if (e->emulated) return NULL; // `needs` names GPU features; hopper.h emulates those of a single architecture, too
    if (e->variant->space == RG_DEVICE && gpu_lacks(0, false)) return gpu_lacks(0, false);
    char needs[128];
    snprintf(needs, sizeof needs, "%s", e->variant->needs ? e->variant->needs : "");
    for (char *rest = needs, *need; (need = strsep(&rest, ","));) {
        const char *why = *need ? need_lacks(need) : NULL;
        if (why) return why;
    }
    return NULL;
}

// ---- plug-ins ------------------------------------------------------------------------------------------------------------

// The number of variants in the list, without its last NULL; -1: no NULL before its end, as given by the file's symbol table.
static int plugged(const rg_variant *const *list) {
    Dl_info info;
    void *found = NULL;
    const bool known = dladdr1(list, &info, &found, RTLD_DL_SYMENT) && found;
    const ElfW(Sym) *symbol = found;
    for (int i = 0; known && i < (int)(symbol->st_size / sizeof *list); i++)
        if (!list[i]) return i;
    return -1;
}

static int add_plugged(const char *path, const rg_variant *const *list, bool emulated) {
    const int n = plugged(list);
    int code = n > 0 ? RG_GOOD
                     : rg_fail(RG_USAGE, "%s: its rg_plugin[] %s NULL: expected &RG_VARIANT_SYMBOL(...), NULL", path,
                           n ? "does not end with" : "begins with");
    for (int i = 0; i < n && !code; i++) code = rg_table_add(list[i], RG_PLUGGED_IN, emulated, path);
    return code;
}

// dlopen maps the segments that the headers list without checking the file's length: a truncated file would end the program by
// SIGBUS.
static int check_whole(const char *path) {
    FILE *file;
    int64_t bytes, least = 0;
    ElfW(Ehdr) head;
    int code = rg_input_open(path, &file, &bytes);
    if (code != RG_GOOD) return code;
    const bool is_elf = fread(&head, sizeof head, 1, file) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
        head.e_phentsize == sizeof(ElfW(Phdr)) && fseeko(file, (off_t)head.e_phoff, SEEK_SET) == 0;
    ElfW(Phdr) part;
    for (int i = 0; is_elf && i < head.e_phnum && fread(&part, sizeof part, 1, file) == 1; i++)
        if (part.p_type == PT_LOAD && (int64_t)(part.p_offset + part.p_filesz) > least)
            least = (int64_t)(part.p_offset + part.p_filesz);
    fclose(file);
    return is_elf && bytes < least
        ? rg_malformed(path, bytes, "expected a shared object of at least %lld bytes, found its end", (long long)least)
        : RG_GOOD;
}

int rg_plugin_load(const char *path) {
    build();
    char *full = strchr(path, '/') ? rg_print("%s", path) : rg_print("./%s", path);
    int whole = check_whole(full);
    void *handle = whole == RG_GOOD ? dlopen(full, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(full);
    if (whole != RG_GOOD) return whole;
    if (!handle) return rg_fail(RG_USAGE, "plug-in %s: %s", path, dlerror());
    const rg_variant *const *native = dlsym(handle, "rg_plugin"), *const *emulated = dlsym(handle, "rg_plugin_emulated");
    if (!native && !emulated)
        return rg_fail(RG_USAGE, "%s: no symbol rg_plugin; a plug-in ends in RG_PLUGIN = { &..., NULL };", path);
    if (!rg_quiet && rg_rank == 0)
        rg_tsv_print(stderr, "regather: loaded %s: a plug-in is code, which runs with your rights\n", path);
    int code = native ? add_plugged(path, native, false) : RG_GOOD;
    return !code && emulated ? add_plugged(path, emulated, true) : code;
}
