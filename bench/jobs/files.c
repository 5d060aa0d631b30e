// SPDX-License-Identifier: MIT
#include "run.h"

#include "../../data/formats/mrc.h"
#include "../../impl/base/hash.h"

#include <dirent.h>
#include <sys/stat.h>
#include <wordexp.h>

// What differs from run to run and is no result: where time went, what was read and written, and plots, whose tables are
// compared.
static bool is_output(const char *name) {
    return strcmp(name, "log") && !rg_ends_with(name, ".log") && !rg_ends_with(name, "_stages.tsv") &&
        !rg_ends_with(name, ".svg");
}

bool rg_job_is_map(const char *name) {
    static const char *const map[] = {".mrc", ".mrcs", ".map", ".rec", ".st"};
    bool any = false;
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) any |= rg_ends_with(name, map[i]);
    return any;
}

static bool is_table(const char *name) {
    return rg_ends_with(name, ".tsv") || rg_ends_with(name, ".star") || rg_ends_with(name, ".par");
}

// Leaves out text that names the run: comments of tables ("# command: ...") and labels of MRC headers (bytes 220 to 1023).
static void leave_out_labels(const char *name, char *bytes, size_t *n) {
    if (rg_job_is_map(name) && *n >= 1024) memset(bytes + 220, 0, 1024 - 220);
    if (!is_table(name)) return;
    size_t kept = 0;
    for (size_t at = 0, past; at < *n; at = past) {
        const char *end = memchr(bytes + at, '\n', *n - at);
        past = end ? (size_t)(end - bytes) + 1 : *n;
        if (bytes[at] != '#') {
            memmove(bytes + kept, bytes + at, past - at);
            kept += past - at;
        }
    }
    bytes[ *n = kept] = '\0';
}

// ---- inputs --------------------------------------------------------------------------------------------------------------

typedef struct inputs {
    uint64_t hash;
    int files;
    char *last; // stack hashed last: rows of a stack follow each other
} inputs;

static bool is_file(const char *path) {
    struct stat is;
    return !stat(path, &is) && S_ISREG(is.st_mode);
}

// Stacks may be larger than memory; tables are not. The maker and revision of a file are not part of the input.
static void hash_file(inputs *in, const char *path) {
    if (is_table(path)) {
        size_t n = 0;
        RG_FREED char *bytes = rg_file_bytes(path, &n);
        if (bytes) leave_out_labels(path, bytes, &n);
        in->hash = rg_fnv1a(in->hash, bytes, bytes ? n : 0);
    } else {
        FILE *f = fopen(path, "rb");
        char block[1 << 14];
        bool first = true;
        for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0; first = false) {
            if (first) leave_out_labels(path, block, &n);
            in->hash = rg_fnv1a(in->hash, block, n);
        }
        if (f) fclose(f);
    }
    in->files++;
}

// Hashes the stacks that rows of a STAR file name ("000001@stack.mrcs"), in its folder or the current one.
static void hash_stacks(inputs *in, const char *star) {
    FILE *f = fopen(star, "r");
    RG_FREED char *line = NULL;
    size_t room = 0;
    const char *slash = strrchr(star, '/');
    while (f && getline(&line, &room, f) > 0) {
        char *name = strchr(line, '@');
        if (!name++) continue;
        name[strcspn(name, " \t\r\n")] = '\0';
        RG_FREED char *beside = rg_print("%.*s%s", slash ? (int)(slash + 1 - star) : 0, star, name);
        const char *path = is_file(beside) ? beside : name;
        if ((!in->last || strcmp(in->last, path)) && is_file(path)) {
            hash_file(in, path);
            free(in->last);
            in->last = rg_print("%s", path);
        }
    }
    if (f) fclose(f);
}

void rg_job_inputs_hash(const char *command, char text[96]) {
    inputs in = {.hash = RG_FNV1A};
    wordexp_t words;
    RG_FREED char *line = rg_print("%s", command);
    for (char *out; (out = strstr(line, "{out}"));) // braces are the shell's own
        memcpy(out, "-----", 5);
    if (wordexp(line, &words, WRDE_NOCMD)) {
        snprintf(text, 96, "unknown (its command is more than words)");
    } else {
        for (size_t i = 0; i < words.we_wordc; i++)
            if (is_file(words.we_wordv[i])) {
                hash_file(&in, words.we_wordv[i]);
                if (rg_ends_with(words.we_wordv[i], ".star")) hash_stacks(&in, words.we_wordv[i]);
            }
        wordfree(&words);
        snprintf(text, 96, "fnv1a %016" PRIx64 " of %d file%s", in.hash, in.files, rg_plural(in.files));
    }
    free(in.last);
}

// ---- outputs -------------------------------------------------------------------------------------------------------------

static double map_difference(const char *a, const char *b) {
    rg_mrc m[2];
    double largest = 0, most = 0;
    if (rg_mrc_open(&m[0], a)) return INFINITY;
    if (rg_mrc_open(&m[1], b)) {
        rg_mrc_close(&m[0]);
        return INFINITY;
    }
    bool whole = m[0].nx == m[1].nx && m[0].ny == m[1].ny && m[0].nz == m[1].nz;
    const size_t n = (size_t)(m[0].nx * m[0].ny);
    float *section[2] = {rg_alloc(n * sizeof(float)), rg_alloc(n * sizeof(float))};
    for (int64_t z = 0; whole && z < m[0].nz; z++) {
        for (int i = 0; i < 2; i++) whole &= rg_mrc_section(&m[i], z, section[i]) == RG_GOOD;
        for (size_t i = 0; i < n && whole; i++) {
            const double difference = fabs((double)section[0][i] - section[1][i]);
            whole = isfinite(difference);
            largest = fmax(largest, difference);
            most = fmax(most, fabs(section[0][i]));
        }
    }
    for (int i = 0; i < 2; i++) {
        free(section[i]);
        rg_mrc_close(&m[i]);
    }
    return !whole ? INFINITY : largest > 0 ? largest / most : 0;
}

// Compares word by word; words other than numbers must be the same.
static double text_difference(char *a, char *b) {
    static const char blank[] = " \t\r\n,;";
    double largest = 0;
    char *rest[2], *x = strtok_r(a, blank, &rest[0]), *y = strtok_r(b, blank, &rest[1]), *past[2];
    for (; x && y && isfinite(largest); x = strtok_r(NULL, blank, &rest[0]), y = strtok_r(NULL, blank, &rest[1])) {
        const double u = strtod(x, &past[0]), v = strtod(y, &past[1]);
        if (!strcmp(x, y)) continue;
        const double difference = *past[0] || *past[1] ? INFINITY : fabs(u - v) / fmax(1, fmax(fabs(u), fabs(v)));
        largest = isnan(difference) ? INFINITY : fmax(largest, difference);
    }
    return x || y ? INFINITY : largest;
}

// Headers but for their labels, which come before the values.
static bool same_heads(const char *a, const char *b) {
    char head[2][1024] = {{0}};
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(i ? b : a, "rb");
        size_t n = f ? fread(head[i], 1, sizeof head[i], f) : 0;
        leave_out_labels(a, head[i], &n);
        if (f) fclose(f);
    }
    return !memcmp(head[0], head[1], sizeof head[0]);
}

// NaN is not a result, even if both files have it. differ: they are not the same.
static double file_difference(const char *a, const char *b, bool *differ) {
    if (rg_job_is_map(a)) {
        const double difference = map_difference(a, b);
        *differ = difference != 0 || !same_heads(a, b);
        return difference;
    }
    size_t n[2];
    char *bytes[2] = {rg_file_bytes(a, &n[0]), rg_file_bytes(b, &n[1])};
    for (int i = 0; i < 2; i++)
        if (bytes[i]) leave_out_labels(i ? b : a, bytes[i], &n[i]);
    *differ = !bytes[0] || !bytes[1] || n[0] != n[1] || memcmp(bytes[0], bytes[1], n[0]);
    const bool text = bytes[0] && bytes[1] && !memchr(bytes[0], 0, n[0]) && !memchr(bytes[1], 0, n[1]);
    const double difference = !*differ ? 0 : text ? text_difference(bytes[0], bytes[1]) : INFINITY;
    free(bytes[0]);
    free(bytes[1]);
    return difference;
}

// ---- lists, comparisons and hashes of them --------------------------------------------------------------------------------

static void list(const char *folder, const char *below, rg_job_list *l) {
    struct dirent **entry;
    RG_FREED char *at = rg_print("%s/%s", folder, below);
    const int n = scandir(at, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        char *path = rg_print("%s%s%s", below, *below ? "/" : "", name), *full = rg_print("%s/%s", folder, path);
        struct stat is;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !is_output(name) || stat(full, &is)) {
            free(path);
        } else if (S_ISDIR(is.st_mode)) {
            list(folder, path, l);
            free(path);
        } else {
            l->name = rg_grow(l->name, l->n, sizeof *l->name);
            l->name[l->n++] = path;
        }
        free(full);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

rg_job_list rg_job_outputs_list(const char *folder) {
    rg_job_list l = {0};
    list(folder, "", &l);
    return l;
}

void rg_job_list_free(rg_job_list *l) {
    for (int i = 0; i < l->n; i++) free(l->name[i]);
    free(l->name);
    *l = (rg_job_list){0};
}

static void count(rg_job_outputs *found, const char *name, double difference, bool differ) {
    found->files++;
    found->largest = fmax(found->largest, difference);
    if (differ && !found->differ++) snprintf(found->first, sizeof found->first, "%.199s", name);
}

rg_job_outputs rg_job_outputs_compare(const char *folder, const char *other) {
    rg_job_outputs found = {0};
    RG_ENDS(rg_job_list_free) rg_job_list here = rg_job_outputs_list(folder), there = rg_job_outputs_list(other);
    RG_FREED double *difference = rg_alloc(sizeof *difference * (size_t)here.n);
    RG_FREED bool *differ = rg_alloc(sizeof *differ * (size_t)here.n);
    // on all cores: thousands of maps of photographs are seconds of one
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < here.n; i++) {
        RG_FREED char *a = rg_print("%s/%s", folder, here.name[i]), *b = rg_print("%s/%s", other, here.name[i]);
        differ[i] = !is_file(b);
        difference[i] = differ[i] ? INFINITY : file_difference(a, b, &differ[i]);
    }
    for (int i = 0; i < here.n; i++) count(&found, here.name[i], difference[i], differ[i]);
    for (int i = 0; i < there.n; i++) {
        RG_FREED char *a = rg_print("%s/%s", folder, there.name[i]);
        if (!is_file(a)) count(&found, there.name[i], INFINITY, true);
    }
    return found;
}

void rg_job_outputs_hash(const char *folder, char hex[65]) {
    RG_ENDS(rg_job_list_free) rg_job_list l = rg_job_outputs_list(folder);
    rg_sha256 all;
    rg_sha256_begin(&all);
    for (int i = 0; i < l.n; i++) {
        size_t n = 0;
        RG_FREED char *path = rg_print("%s/%s", folder, l.name[i]), *bytes = rg_file_bytes(path, &n);
        if (bytes) leave_out_labels(path, bytes, &n);
        rg_sha256_add(&all, l.name[i], strlen(l.name[i]) + 1);
        rg_sha256_add(&all, bytes, bytes ? n : 0);
    }
    rg_sha256_end(&all, hex);
}
