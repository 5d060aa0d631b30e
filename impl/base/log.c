// SPDX-License-Identifier: MIT
// log.c: the plan of a job and the log of one that is done.
#include "log.h"
#include "summary.h"
#include "tsv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the plan ------------------------------------------------------------------------------------------------------------

void rg_plan(const char *what, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    rg_tsv_print(stdout, "%s\t%s\n", what, text);
}

void rg_plan_memory(double bytes, double free_bytes)
{
    rg_plan("memory", "%.3f GiB, %.2f GiB are free", bytes / 0x1p30, free_bytes / 0x1p30);
}

void rg_plan_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? rg_print("%.*s/", (int)(slash - path), path) : rg_print(".");
    struct stat facts;
    const bool there = lstat(path, &facts) == 0, folder_there = access(folder, F_OK) == 0;
    rg_tsv_print(stdout, "file\t%s\t%s\n", path,
                 there && !S_ISREG(facts.st_mode) ? "is no regular file, cannot be written" : there ? "replaced"
                 : folder_there && access(folder, W_OK) != 0 ? "cannot be written here" : folder_there ? "new" : "new, as its folder");
    free(folder);
}

static const rg_placed *placed_named(const rg_placed *placed, int n, const char *name, size_t length)
{
    for (int i = 0; i < n; i++)
        if (strlen(placed[i].option->name) == length && !strncmp(placed[i].option->name, name, length))
            return &placed[i];
    return NULL;
}

// "ctf": a flag that is set or a text that is given; "method=frealign": the word that was chosen; "gnuplot": that program is here.
static bool holds(const rg_placed *placed, int n, const void *options, const char *condition, size_t length)
{
    const size_t name = strcspn(condition, "=? ");
    const rg_placed *p = placed_named(placed, n, condition, name);
    if (!p) {
        char *program = rg_print("%.*s", (int)length, condition), *path = rg_program_path(program);
        free(program);
        free(path);
        return path;
    }
    const char *at = (const char *)options + p->at;
    if (p->option->kind == RG_FLAG)
        return *(const bool *)at;
    if (p->option->kind != RG_CHOICE)
        return *(const char *const *)(const void *)at;
    const char *word = p->option->arg;
    for (int i = *(const int *)(const void *)at; i > 0 && *word; i--)
        word += strcspn(word, "|") + 1;
    return strcspn(word, "|") == length - name - 1 && !strncmp(word, condition + name + 1, length - name - 1);
}

void rg_plan_files(const rg_command *command, const void *options)
{
    rg_placed placed[RG_OPTIONS_MAX];
    const int n = rg_options_of(command, placed);
    for (int i = 0; i < n; i++) {
        const char *beside = placed[i].option->beside;
        const char *out = beside ? *(const char *const *)(const void *)((const char *)options + placed[i].at) : NULL;
        if (!out)
            continue;
        rg_plan_file(out);
        for (const char *at = beside; *at; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " "), name = strcspn(at, "? ");
            bool all = true;
            for (size_t from = name, next; from < length && all; from = next) {
                next = from + 1 + strcspn(at + from + 1, "? ");
                all = holds(placed, n, options, at + from + 1, next - from - 1);
            }
            if (all) {
                char *ending = rg_print("%.*s", (int)name, at), *path = rg_path_beside(out, "", ending);
                rg_plan_file(path);
                free(path);
                free(ending);
            }
            at += length;
        }
    }
    char *page = rg_summary_path(command, options);
    if (page)
        rg_plan_file(page);
    free(page);
}

// ---- the log -------------------------------------------------------------------------------------------------------------

static const char FIRST[] = "# log of regather";

// FNV-1a of the size and of up to four pieces of a MiB, evenly from the file's begin to its end: a log must not take as long as a
// job, and whoever has other data has them here as well. "-" where it cannot be read any more.
static void hash_file(const char *path, int64_t bytes, char text[20])
{
    enum { PIECE = 1 << 20, PIECES = 4 };
    uint64_t hash = 0xCBF29CE484222325u;
    FILE *file = fopen(path, "rb");
    unsigned char *piece = rg_alloc(PIECE);
    snprintf(text, 20, "-");
    for (int k = 0; k < 8; k++)
        hash = (hash ^ ((uint64_t)bytes >> (8 * k) & 255)) * 0x100000001B3u;
    for (int p = 0; file && p < PIECES; p++) {
        const bool all = bytes <= (int64_t)PIECE * PIECES;
        if (fseeko(file, all ? (off_t)p * PIECE : (off_t)((bytes - PIECE) / (PIECES - 1) * p), SEEK_SET) != 0)
            break;
        const size_t got = fread(piece, 1, PIECE, file);
        for (size_t i = 0; i < got; i++)
            hash = (hash ^ piece[i]) * 0x100000001B3u;
    }
    if (file && !ferror(file))
        snprintf(text, 20, "%016" PRIx64, hash);
    if (file)
        fclose(file);
    free(piece);
}

static void print_row(void *to, const char *path, bool written)
{
    struct stat facts;
    char hash[20];
    if (stat(path, &facts) != 0)
        return; // what was read to be gone on with, and is removed when all is done
    hash_file(path, facts.st_size, hash);
    rg_tsv_print(to, "%s\t%s\t%lld\t%s\n", written ? "written" : "read", path, (long long)facts.st_size, hash);
}

static bool is_log(const char *path)
{
    char line[sizeof FIRST] = "";
    FILE *file = fopen(path, "r");
    const bool same = file && fgets(line, sizeof line, file) && !strcmp(line, FIRST);
    if (file)
        fclose(file);
    return same;
}

int rg_log_write(const rg_command *command, const void *options)
{
    rg_placed placed[RG_OPTIONS_MAX];
    const int n = rg_options_of(command, placed);
    const rg_placed *p = placed_named(placed, n, "out", 3);
    const char *out = *(const char *const *)(const void *)((const char *)options + p->at);
    struct stat facts;
    rg_file file;
    if (!rg_files_written())
        return RG_GOOD;
    const bool folder = stat(out, &facts) == 0 && S_ISDIR(facts.st_mode);
    char *path = folder ? rg_print("%s/regather.log", out) : rg_print("%s.log", out);
    int code = RG_GOOD;
    if (access(path, F_OK) == 0 && !is_log(path))
        rg_warn("%s: is there and no log of regather, so no log was written", path);
    else if ((code = rg_file_open(&file, path)) == RG_GOOD) {
        rg_tsv_print(file.stream, "%s\n# command: %s\n# version: %s, revision %s\n", FIRST,
                     ((const rg_given *)options)->line, RG_VERSION, rg_revision());
        fprintf(file.stream, "# hash: FNV-1a of the size (8 bytes, lowest first) and of the file; of one beyond 4 MiB, of four MiB of it, "
                             "evenly from first to last\nwhat\tfile\tbytes\thash\n");
        rg_files_each(print_row, file.stream);
        code = rg_file_commit(&file);
    }
    free(path);
    return code;
}
