// SPDX-License-Identifier: MIT
// jobs.c: `duel --job`: two whole commands, files to files, by turns. Each run is a process of its own, so that a pair of runs is one
// observation of rule.h.
#include "duel.h"

#include "../timing/job_run.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct team {
    const rg_duel *duel;
    const char *command[2]; // old, new
    char *const *program;
    char folder[2][4096];
    char *line[2];
    rg_job_run run[2];      // of the pair
    double log_ratio[RG_CLOCKS][RG_DUEL_PROCESSES_MOST], sum_s[RG_CLOCKS][2];
    int n, first;
    char outputs[200];      // how those of both were compared
    rg_file *file;          // stream NULL: none
} team;

static double seconds(const rg_job_run *run, int clock) { return clock == RG_CLOCK_CPU ? run->cpu_s : run->wall_s; }

// ---- outputs -------------------------------------------------------------------------------------------------------------

static bool ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n >= m && !strcmp(name + n - m, ending);
}

// What differs from run to run and is no result: where time went, and plots, whose tables are compared.
static bool is_output(const char *name) { return strcmp(name, "log") && !ends_with(name, "_stages.tsv") && !ends_with(name, ".svg"); }

static char *whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *bytes = NULL;
    size_t room = 1 << 16;
    for (*n = 0; f && (bytes = realloc(bytes, room)); room *= 2) {
        *n += fread(bytes + *n, 1, room - *n, f);
        if (*n < room)
            break;
    }
    if (f)
        fclose(f);
    return bytes;
}

// Without what names the run: comments of tables ("# command: ...") and the labels of MRC headers (bytes 220 to 1023).
static void leave_out_labels(const char *name, char *bytes, size_t *n)
{
    static const char *const map[] = {".mrc", ".mrcs", ".map", ".rec", ".st"}, *const table[] = {".tsv", ".star", ".par"};
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        if (ends_with(name, map[i]) && *n >= 1024)
            memset(bytes + 220, 0, 1024 - 220);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (ends_with(name, table[i])) {
            size_t kept = 0;
            for (size_t at = 0, past; at < *n; at = past) {
                const char *end = memchr(bytes + at, '\n', *n - at);
                past = end ? (size_t)(end - bytes) + 1 : *n;
                if (bytes[at] != '#') {
                    memmove(bytes + kept, bytes + at, past - at);
                    kept += past - at;
                }
            }
            *n = kept;
        }
}

static bool same_file(const char *a, const char *b)
{
    size_t n[2];
    char *bytes[2] = {whole(a, &n[0]), whole(b, &n[1])};
    for (int i = 0; i < 2; i++)
        if (bytes[i])
            leave_out_labels(i ? b : a, bytes[i], &n[i]);
    const bool same = bytes[0] && bytes[1] && n[0] == n[1] && !memcmp(bytes[0], bytes[1], n[0]);
    free(bytes[0]);
    free(bytes[1]);
    return same;
}

// Every file of one folder against its fellow, folders in it too; the first that differs goes to `which`.
static int compare_folders(const char *a, const char *b, bool both_ways, int *files, char which[200])
{
    DIR *d = opendir(a);
    int differ = 0;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct stat is;
        char *in_a = rg_print("%s/%s", a, entry->d_name), *in_b = rg_print("%s/%s", b, entry->d_name);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !is_output(entry->d_name) || stat(in_a, &is)) {
            ;
        } else if (S_ISDIR(is.st_mode)) {
            differ += compare_folders(in_a, in_b, both_ways, files, which);
        } else {
            ++*files;
            // The way back is for those that only one has.
            if (both_ways ? !same_file(in_a, in_b) : stat(in_b, &is) != 0) {
                if (!differ++ && !*which)
                    snprintf(which, 200, "%s", entry->d_name);
            }
        }
        free(in_a), free(in_b);
    }
    if (d)
        closedir(d);
    return differ;
}

// `command` with {old} and {new} as what the two have written, or files that begin so.
static char *check_line(const team *t, const char *command)
{
    static const char *const word[] = {"{old}", "{new}"};
    char *line = rg_print("%s", command);
    for (int i = 0; i < 2; i++)
        for (char *at; (at = strstr(line, word[i]));) {
            *at = '\0';
            char *longer = rg_print("%s%s/out%s", line, t->folder[i], at + strlen(word[i]));
            free(line);
            line = longer;
        }
    return line;
}

static int compare_outputs(team *t)
{
    if (t->duel->check) {
        char *line = check_line(t, t->duel->check);
        const int status = system(line);
        free(line);
        snprintf(t->outputs, sizeof t->outputs, "outputs pass --check");
        return status == 0 ? RG_GOOD : rg_fail(RG_WRONG, "duel: BROKEN: the outputs do not pass --check");
    }
    int files = 0, back = 0;
    char which[200] = "";
    int differ = compare_folders(t->folder[0], t->folder[1], true, &files, which);
    differ += compare_folders(t->folder[1], t->folder[0], false, &back, which);
    if (differ)
        return rg_fail(RG_WRONG, "duel: BROKEN: %d of %d outputs differ, %s the first; where they may, say how much by --check", differ,
                       files > back ? files : back, which);
    snprintf(t->outputs, sizeof t->outputs, files ? "%d outputs equal" : "no outputs in {out}", files);
    return RG_GOOD;
}

// ---- pairs ---------------------------------------------------------------------------------------------------------------

static int run_one(team *t, int side)
{
    char said[200];
    t->run[side] = rg_job_run_once(t->line[side], t->program[side], t->folder[side], -1);
    const int code = t->run[side].code;
    if (!code)
        return RG_GOOD;
    rg_job_last_line(t->folder[side], said);
    return rg_fail(code == RG_USAGE || code == RG_LACKS ? code : RG_WRONG, "duel: %s%s: exit status %d: %s",
                   code == RG_USAGE || code == RG_LACKS ? "" : "BROKEN: ", t->command[side], code, said);
}

static int run_pair(team *t, int number)
{
    t->first = (int)(rg_bits(t->duel->given.seed, (uint64_t)number) >> 63);
    int code = run_one(t, t->first);
    code = code ? code : run_one(t, !t->first);
    return code ? code : compare_outputs(t);
}

static void note(team *t)
{
    for (int clock = 0; clock < RG_CLOCKS; clock++) {
        const double s[2] = {seconds(&t->run[0], clock), seconds(&t->run[1], clock)};
        t->log_ratio[clock][t->n] = log(s[1] / s[0]);
        t->sum_s[clock][0] += s[0];
        t->sum_s[clock][1] += s[1];
    }
    t->n++;
    if (t->file->stream)
        rg_tsv_print(t->file->stream, "%d\t%s\t%.6f\t%.6f\t%.6f\t%.6f\t%.0f\t%.0f\n", t->n, t->first ? "new" : "old", t->run[0].wall_s,
                     t->run[1].wall_s, t->run[0].cpu_s, t->run[1].cpu_s, t->run[0].peak_bytes, t->run[1].peak_bytes);
}

// ---- the duel ------------------------------------------------------------------------------------------------------------

static int conclude(const team *t, rg_word outcome)
{
    char text[RG_CLOCKS][160];
    const char *const name[RG_CLOCKS] = {"wall", "CPU"};
    for (int clock = 0; clock < RG_CLOCKS; clock++) {
        const rg_ratio r = rg_duel_ratio(t->log_ratio[clock], t->n);
        char time[2][32];
        for (int i = 0; i < 2; i++)
            rg_duration(1e9 * t->sum_s[clock][i] / t->n, time[i]);
        snprintf(text[clock], sizeof text[clock], "%s %s -> %s, %.4g [%.4g, %.4g]", name[clock], time[0], time[1], r.ratio, r.low, r.high);
    }
    const int clock = t->duel->clock;
    printf("%s%-9s%s %s -> %s: %s, gate %.3g %%, %d pairs; %s; %s%s\n", rg_colour(stdout, rg_word_colour[outcome]), rg_word_of[outcome],
           rg_colour(stdout, "off"), t->command[0], t->command[1], text[clock], 100 * t->duel->gate, t->n, text[!clock], t->outputs,
           outcome != RG_UNDECIDED                ? ""
           : t->n == RG_DUEL_PROCESSES_MOST ? "; the interval crosses the gate after all pairs: choose another gate"
                                            : "; time is up: give more by --max-seconds");
    return rg_duel_code(outcome);
}

static int fight(team *t)
{
    rg_ratio ratio = {NAN, 0, INFINITY};
    rg_word outcome = RG_UNDECIDED;
    rg_progress progress;
    if (t->file->stream)
        rg_tsv_print(t->file->stream, "pair\tfirst\told_s\tnew_s\told_cpu_s\tnew_cpu_s\told_peak_bytes\tnew_peak_bytes\n");
    int code = run_pair(t, 0); // brings files into the page cache, and is not counted
    const double began_s = rg_seconds();
    rg_progress_begin(&progress, "duel", "pairs", RG_DUEL_PROCESSES_MOST);
    while (!code && outcome == RG_UNDECIDED && t->n < RG_DUEL_PROCESSES_MOST && (t->n == 0 || rg_seconds() - began_s < t->duel->max_s)) {
        code = run_pair(t, t->n + 1);
        if (code)
            break;
        note(t);
        outcome = rg_duel_judge(t->log_ratio[t->duel->clock], t->n, t->duel->gate, &ratio);
        rg_progress_at(&progress, t->n);
    }
    rg_progress_end(&progress);
    return code ? code : conclude(t, outcome);
}

int rg_duel_jobs(const rg_duel *d, char *const program[2], rg_file *file)
{
    team t = {.duel = d, .command = {d->given.word.item[0], d->given.word.item[d->given.word.n - 1]}, .program = program, .file = file};
    int code = RG_GOOD, made = 0;
    while (made < 2 && !(code = rg_job_folder_make(t.folder[made]))) {
        t.line[made] = rg_job_line(t.command[made], t.folder[made]);
        made++;
    }
    code = code ? code : fight(&t);
    for (int i = 0; i < made; i++) {
        rg_job_folder_remove(t.folder[i]);
        free(t.line[i]);
    }
    return code;
}
