// SPDX-License-Identifier: MIT
// log.c: the plan of a job before it runs, and its log afterwards.
#include "log.h"
#include "hash.h"
#include "summary.h"
#include "tsv.h"

#include <sys/stat.h>

// ---- the plan ------------------------------------------------------------------------------------------------------------

void rg_plan(const char *what, const char *format, ...) {
    va_list list;
    va_start(list, format);
    RG_FREED char *text = rg_print_list(format, list);
    va_end(list);
    rg_tsv_print(stdout, "%s\t%s\n", what, text);
}

void rg_plan_memory(const char *what, double bytes, double there, rg_memory_need *need, const void *of, const char *fits) {
    RG_FREED char *largest = rg_memory_fits(there, need, of, fits);
    rg_plan(what, "%.3f GiB, %.2f GiB are free; %s", bytes / 0x1p30, there / 0x1p30, largest);
}

void rg_plan_needs(const char *what, const rg_needs *needs) {
    for (int i = 0; i < needs->n; i++) {
        RG_FREED char *name = rg_print("%s: %s", what, needs->row[i].name);
        rg_plan(name, "%.3f GiB", needs->row[i].bytes / 0x1p30);
    }
}

void rg_plan_file(const char *path) {
    const char *slash = strrchr(path, '/');
    RG_FREED char *folder = slash ? rg_print("%.*s/", (int)(slash - path), path) : rg_print(".");
    struct stat facts;
    const bool there = lstat(path, &facts) == 0, folder_there = access(folder, F_OK) == 0;
    rg_tsv_print(stdout, "file\t%s\t%s\n", path,
        there && !S_ISREG(facts.st_mode)                ? "is no regular file, cannot be written"
            : there                                     ? "replaced"
            : folder_there && access(folder, W_OK) != 0 ? "cannot be written here"
            : folder_there                              ? "new"
                                                        : "new, as its folder");
}

static const rg_placed *placed_named(const rg_placed *placed, int n, const char *name, size_t length) {
    for (int i = 0; i < n; i++)
        if (strlen(placed[i].option->name) == length && !strncmp(placed[i].option->name, name, length)) return &placed[i];
    return NULL;
}

// Whether a condition holds: "ctf": the flag is set or the text is given; "method=frealign": the word is chosen; "gnuplot": the
// program is installed.
static bool holds(const rg_placed *placed, int n, const void *options, const char *condition, size_t length) {
    const size_t name = strcspn(condition, "=? ");
    const rg_placed *p = placed_named(placed, n, condition, name);
    if (!p) {
        RG_FREED char *program = rg_print("%.*s", (int)length, condition), *path = rg_program_path(program);
        return path;
    }
    const char *at = (const char *)options + p->at;
    if (p->option->kind == RG_FLAG) return *(const bool *)at;
    if (p->option->kind != RG_CHOICE) return *(const char *const *)(const void *)at;
    const char *word = p->option->arg;
    for (int i = *(const int *)(const void *)at; i > 0 && *word; i--) word += strcspn(word, "|") + 1;
    return strcspn(word, "|") == length - name - 1 && !strncmp(word, condition + name + 1, length - name - 1);
}

static const char FIRST[] = "# log of regather";

static bool is_log(const char *path) {
    char line[sizeof FIRST] = "";
    FILE *file = fopen(path, "r");
    const bool same = file && fgets(line, sizeof line, file) && !strcmp(line, FIRST);
    if (file) fclose(file);
    return same;
}

// OUT.log beside a file OUT, OUT/regather.log in a folder; malloc'ed.
static char *log_path(const rg_command *command, const void *options) {
    rg_placed placed[RG_OPTIONS_MAX];
    const rg_placed *p = placed_named(placed, rg_options_of(command, placed), "out", 3);
    const char *out = *(const char *const *)(const void *)((const char *)options + p->at);
    return rg_print(p->option->endings ? "%s.log" : "%s/regather.log", out);
}

void rg_plan_files(const rg_command *command, const void *options) {
    rg_plan("time of the whole job", "not known; measured by: regather bench --job with these words");
    rg_placed placed[RG_OPTIONS_MAX];
    const int n = rg_options_of(command, placed);
    for (int i = 0; i < n; i++) {
        const char *beside = placed[i].option->beside;
        const char *out = beside ? *(const char *const *)(const void *)((const char *)options + placed[i].at) : NULL;
        if (!out) continue;
        rg_plan_file(out);
        for (const char *at = beside; *at; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " "), name = strcspn(at, "? ");
            bool all = true;
            for (size_t from = name, next; from < length && all; from = next) {
                next = from + 1 + strcspn(at + from + 1, "? ");
                all = holds(placed, n, options, at + from + 1, next - from - 1);
            }
            if (all) {
                RG_FREED char *ending = rg_print("%.*s", (int)name, at), *path = rg_path_beside(out, "", ending);
                rg_plan_file(path);
            }
            at += length;
        }
    }
    RG_FREED char *page = rg_summary_path(command, options), *log = log_path(command, options);
    if (page) rg_plan_file(page);
    if (access(log, F_OK) != 0 || is_log(log)) rg_plan_file(log);
}

// ---- the log -------------------------------------------------------------------------------------------------------------

static char **note; // lines of the log
static int64_t n_notes;

static void add_note(char *line) {
    note = rg_grow(note, n_notes, sizeof *note);
    note[n_notes++] = line;
}

void rg_log_note(const char *format, ...) {
    va_list list;
    va_start(list, format);
    RG_FREED char *text = rg_print_list(format, list);
    va_end(list);
    if (!rg_quiet) rg_tsv_print(stderr, "%s\n", text);
    add_note(rg_print("# note: %s", text));
}

void rg_log_memory(const char *device, double predicted, double taken) {
    add_note(rg_print("# memory of %s: %.0f bytes predicted, %.0f bytes taken", device, predicted, taken));
}

// The files of this command, in the order in which it used them.
typedef struct rows {
    rg_hashed *file;
    bool *written;
    size_t n;
} rows;

static void add_row(void *of, const char *path, bool written) {
    rows *r = of;
    struct stat facts;
    if (stat(path, &facts) != 0) return; // a file that was read to be continued and is removed at the end
    r->file = rg_grow(r->file, (int64_t)r->n, sizeof *r->file);
    r->written = rg_grow(r->written, (int64_t)r->n, sizeof *r->written);
    r->file[r->n] = (rg_hashed){.path = path, .bytes = facts.st_size};
    r->written[r->n++] = written;
}

static void print_rows(FILE *to, int threads) {
    rows r = {0};
    double bytes = 0, began_s = rg_seconds();
    rg_files_each(add_row, &r);
    rg_hash_files(r.file, r.n, threads);
    for (size_t i = 0; i < r.n; i++) bytes += (double)r.file[i].bytes;
    fprintf(to,
        "# hash: XXH64 of the whole file (xxhsum -H1); of one beyond %lld MiB the XXH64 of its pieces' hashes, 8 bytes each, "
        "lowest first\n# hashed: %.3g MB in %.3f s\nwhat\tfile\tbytes\thash\n",
        (long long)(RG_HASH_PIECE >> 20), bytes / 1e6, rg_seconds() - began_s);
    for (size_t i = 0; i < r.n; i++) {
        rg_tsv_print(to, "%s\t%s\t%lld\t", r.written[i] ? "written" : "read", r.file[i].path, (long long)r.file[i].bytes);
        fprintf(to, r.file[i].unread ? "-\n" : "%016" PRIx64 "\n", r.file[i].hash);
    }
    free(r.file);
    free(r.written);
}

int rg_log_write(const rg_command *command, const void *options) {
    rg_file file;
    if (!rg_files_written()) return RG_GOOD;
    RG_FREED char *path = log_path(command, options);
    int code = RG_GOOD;
    if (access(path, F_OK) == 0 && !is_log(path))
        rg_warn("%s: exists and is not a log of regather; no log was written", path);
    else if ((code = rg_file_open(&file, path)) == RG_GOOD) {
        rg_tsv_print(file.stream, "%s\n# command: %s\n# version: %s, revision %s\n", FIRST, ((const rg_given *)options)->line,
            RG_VERSION, rg_revision());
        for (int64_t i = 0; i < n_notes; i++) rg_tsv_print(file.stream, "%s\n", note[i]);
        print_rows(file.stream, rg_given_threads(options));
        code = rg_file_commit(&file);
    }
    for (int64_t i = 0; i < n_notes; i++) free(note[i]);
    free(note);
    note = NULL;
    n_notes = 0;
    return code;
}
