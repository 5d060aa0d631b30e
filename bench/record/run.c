// SPDX-License-Identifier: MIT
// run.c: the chosen steps, in processes of their own, those of one core beside each other and beside a GPU's. Each writes a
// file of its own beside the record, which takes it over when it ends, or is found, however it ended.
#include "record.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static void stop(int number) { stopped = number; }

// ---- files of steps --------------------------------------------------------------------------------------------------------

static char *file_of(const rg_record_run *r, const rg_record_step *s, const char *ending)
{
    return rg_print("%s.step-%s%s", r->out, s->name, ending);
}

static char *read_whole(const char *path)
{
    struct stat at;
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &at) || !S_ISREG(at.st_mode)) {
        if (f) fclose(f);
        return NULL;
    }
    char *text = rg_alloc((size_t)at.st_size + 1);
    text[fread(text, 1, (size_t)at.st_size, f)] = '\0';
    fclose(f);
    return text;
}

// Tables that steps may read are of this record, and of no other that was made in the same folder.
static void forget_tables(const rg_record_run *r)
{
    char *folder = rg_print("%s/tables", r->work);
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (rg_ends_with(entry->d_name, ".tsv")) {
            char *path = rg_print("%s/%s", folder, entry->d_name);
            unlink(path);
            free(path);
        }
    if (d) closedir(d);
    free(folder);
}

// Of this run, or of an earlier one on another machine.
static int show_tables(const rg_record_run *r)
{
    int code = RG_GOOD;
    for (int i = 0; i < r->record.tables.n && !code; i++) {
        char *path = rg_print("%s/tables/%s.tsv", r->work, r->record.tables.table[i].name);
        rg_file file;
        code = rg_file_open(&file, path);
        if (!code) {
            fputs(r->record.tables.table[i].text, file.stream);
            code = rg_file_commit(&file);
        }
        free(path);
    }
    return code;
}

static char *jobs_file(const rg_record_run *r, const rg_record_step *s) { return rg_print("%s/%s.jobs", r->work, s->name); }

// The table below the hashes of the jobs that the step ran; freed by the caller.
static char *with_sources(const rg_record_run *r, const rg_record_step *s, const char *text)
{
    char *path = jobs_file(r, s), *jobs = read_whole(path), *whole = NULL;
    size_t bytes;
    FILE *f = open_memstream(&whole, &bytes);
    for (const rg_job_source *j = rg_job_sources; jobs && j->command; j++) {
        char *line = rg_print("\n%s\n", j->command), *among = rg_print("\n%s", jobs), now[64];
        rg_job_source_of(j->command, now);
        if (strstr(among, line)) fprintf(f, "# source %s: %s\n", j->command, now);
        free(line);
        free(among);
    }
    fputs(text, f);
    fclose(f);
    free(jobs);
    free(path);
    return whole;
}

// What a step left, whole or not: its rows, or its table when it ended well.
static int take_over(rg_record_run *r, rg_record_step *s, bool ended)
{
    int code = RG_GOOD;
    static const char *const ending[] = {".tsv.part", ".tsv"}; // a part is the file with more
    bool taken = false;
    for (int i = 0; i < RG_COUNT(ending); i++) {
        char *path = file_of(r, s, ending[i]);
        if (access(path, F_OK) == 0) {
            if (s->kind == RG_STEP_TABLE && ended && i) {
                char *text = read_whole(path), *whole = text && *text ? with_sources(r, s, text) : NULL;
                if (whole) rg_tables_put(&r->record.tables, s->name, whole);
                free(whole);
                free(text);
            } else if (s->kind != RG_STEP_TABLE && !taken) {
                code = rg_record_merge(&r->record, path, true);
                taken = true;
            }
            unlink(path);
        }
        free(path);
    }
    return code;
}

int rg_record_run_begin(rg_record_run *r)
{
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int code = RG_GOOD;
    for (int i = 0; i < r->plan.n && !code; i++) code = take_over(r, &r->plan.step[i], false);
    return code;
}

// Of a step that measured few of its rows again, each has more than its share of what processes and inputs take.
static void note_seconds(rg_record_run *r, const rg_record_step *s, double seconds)
{
    const char *had = rg_tables_find(&r->record.tables, "record_seconds");
    if (2 * s->missing < s->n_keys) return;
    char *line = rg_print("%s\t", s->name), *out = NULL;
    size_t bytes;
    FILE *f = open_memstream(&out, &bytes);
    for (const char *at = had ? had : "step\tseconds_a_row\n"; *at;) {
        const size_t n = strcspn(at, "\n");
        if (strncmp(at, line, strlen(line))) fprintf(f, "%.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    fprintf(f, "%s%.3g\n", line, seconds / (s->missing > 0 ? s->missing : 1));
    fclose(f);
    rg_tables_put(&r->record.tables, "record_seconds", out);
    free(out);
    free(line);
}

// ---- processes of steps ----------------------------------------------------------------------------------------------------

static void be_step(const rg_record_run *r, const rg_record_step *s, const char *product, char **word)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // no step goes on without this process, which takes over what it makes
    if (s->core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(r->cores.cpu[s->core], &set);
        sched_setaffinity(0, sizeof set, &set);
    } else if (r->cores.beside && s->runs == RG_RUNS_GPU) {
        sched_setaffinity(0, sizeof r->cores.rest, &r->cores.rest);
    }
    char *log = rg_print("%s/%s.log", r->work, s->name);
    int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), from = open("/dev/null", O_RDONLY);
    dup2(from, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    setenv("REGATHER", r->program, 1);
    setenv("REGATHER_PAGE", "no", 1);
    setenv("work", r->work, 1);
    setenv("label", rg_base_name(r->out), 1);
    setenv("product", product, 1);
    char *jobs = jobs_file(r, s);
    unlink(jobs);
    setenv("jobs", jobs, 1);
    if (word) execv(r->program, word);
    char *line = rg_print(". \"$0\" && { %s\n}", s->command); // a path is data, also one with a quote
    execl("/bin/sh", "sh", "-c", line, r->words, (char *)NULL);
    _exit(127);
}

static int begin(rg_record_run *r, rg_record_step *s)
{
    char *product = file_of(r, s, ".tsv"), *line = NULL, **word = NULL;
    int code = RG_GOOD;
    if (s->n_keys) s->missing = s->n_keys - rg_record_rows_of(&r->record, s); // another step may have measured some of them
    const bool rows = s->kind == RG_STEP_BENCH || s->kind == RG_STEP_TUNE;
    const bool seeded = rows && rg_result_head(&r->record.rows, "machine");
    const int cores = s->core >= 0 ? 1 : r->cores.beside && s->runs == RG_RUNS_GPU ? CPU_COUNT(&r->cores.rest) : 0;
    if (rows) {
        line = rg_print("regather %s %s --quiet --out %s%s", s->kind == RG_STEP_TUNE ? "tune" : "bench", s->command, product,
            seeded ? " --resume" : "");
        word = rg_record_words(line);
    }
    if (seeded) code = rg_record_seed(&r->record, s, cores, product);
    fflush(NULL);
    s->began_s = rg_seconds();
    s->pid = code ? -1 : fork();
    if (s->pid == 0) be_step(r, s, product, word);
    free(word);
    free(line);
    free(product);
    return s->pid > 0 ? RG_GOOD : rg_fail(RG_LACKS, "record: step %s could not be started", s->name);
}

static void say(const rg_record_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const rg_record_run *r, const char *format, ...)
{
    char text[400], left[64] = "";
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const double spent = rg_seconds() - r->began_s;
    if (isfinite(r->budget_s)) snprintf(left, sizeof left, " of %d:%02d", (int)r->budget_s / 60, (int)r->budget_s % 60);
    printf("%d:%02d%s  %s\n", (int)spent / 60, (int)spent % 60, left, text);
    fflush(stdout);
}

// Of all that was chosen: how far, how fast, how long still.
static void say_ended(rg_record_run *r, const rg_record_step *s, double seconds, const char *how)
{
    double left_s = 0;
    int left = 0;
    for (int i = 0; i < r->plan.n; i++) {
        const rg_record_step *k = &r->plan.step[i];
        if (k->chosen && !k->done && !k->failed) {
            left++;
            left_s += k->pid > 0 ? fmax(0, k->cost_s - (rg_seconds() - k->began_s)) : k->cost_s;
        }
    }
    const double spent = rg_seconds() - r->began_s;
    say(r, "%s: %s, %.0f s; %.1f rows a minute, %d step%s and about %.0f s of them left", s->name, how, seconds,
        60 * r->rows_new / fmax(spent, 1), left, rg_s(left), left_s);
}

static int end(rg_record_run *r, rg_record_step *s, int status)
{
    const double seconds = rg_seconds() - s->began_s;
    const int before = rg_record_rows_of(&r->record, s),
              exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    s->pid = 0;
    // A failed check, or what this machine lacks, is a result all the same.
    const bool good = exit == RG_GOOD || exit == RG_WRONG || exit == RG_LACKS;
    int code = take_over(r, s, good);
    s->core = -1;
    const int rows = rg_record_rows_of(&r->record, s) - before;
    r->rows_new += rows > 0 ? rows : 0;
    s->done = good && (s->kind != RG_STEP_TABLE || rg_tables_find(&r->record.tables, s->name));
    s->failed = !s->done && !r->over;
    if (s->kind == RG_STEP_TUNE && s->done) {
        char *text = rg_print("step\tseconds\n%s\t%.3g\n", s->name, seconds);
        rg_tables_put(&r->record.tables, s->name, text);
        free(text);
    }
    if (s->done && s->kind != RG_STEP_DATA) note_seconds(r, s, seconds);
    code = code ? code : rg_record_save(&r->record);
    code = code || s->kind != RG_STEP_TABLE ? code : show_tables(r);
    char how[64];
    if (s->done)
        snprintf(how, sizeof how, s->kind == RG_STEP_BENCH ? "%d row%s" : "done", rows, rg_s(rows));
    else if (r->over)
        snprintf(how, sizeof how, "stopped, with %d row%s", rows, rg_s(rows));
    else
        snprintf(how, sizeof how, "FAILED, exit %d", exit);
    say_ended(r, s, seconds, how);
    if (s->failed) {
        char *log = rg_print("%s/%s.log", r->work, s->name), *text = read_whole(log);
        const size_t n = text ? strlen(text) : 0;
        if (n) rg_put_text(stderr, text + (n > 600 ? n - 600 : 0), -1), fputc('\n', stderr);
        free(text);
        free(log);
    }
    return code;
}

// ---- the run ---------------------------------------------------------------------------------------------------------------

static bool is_ready(rg_record_step *need, void *of)
{
    rg_record_step **first = of;
    if (!need->done && !*first) *first = need;
    return need->done;
}

// Files for others come first, then cores and a GPU beside each other, then what has the machine alone.
static int turn_of(const rg_record_run *r, const rg_record_step *s)
{
    return s->kind == RG_STEP_DATA ? 0 : r->cores.beside && s->runs != RG_RUNS_ALONE ? 1 : 2;
}

// Of those that may begin, the one of more value a second; of steps of one core the longest, since nothing goes on beside the last
// one but what is left of it.
static bool is_before(const rg_record_step *a, const rg_record_step *b)
{
    const bool core = a->runs == RG_RUNS_CORE && b->runs == RG_RUNS_CORE;
    return core ? a->cost_s > b->cost_s : a->value / fmax(a->cost_s, 1) > b->value / fmax(b->cost_s, 1);
}

// The next step that may begin now beside those that run; NULL: none.
static rg_record_step *next_step(rg_record_run *r)
{
    int cores = 0, others = 0, alone = 0, turn = 3;
    bool taken[RG_BESIDE_MOST] = {false};
    rg_record_step *best = NULL;
    for (int i = 0; i < r->plan.n; i++) {
        rg_record_step *s = &r->plan.step[i], *need = NULL;
        if (s->pid > 0 && s->core >= 0)
            taken[s->core] = ++cores;
        else if (s->pid > 0)
            others++;
        alone += s->pid > 0 && turn_of(r, s) != 1;
        s->ready = s->chosen && !s->done && !s->failed && s->pid <= 0 && rg_record_each_need(&r->plan, s, is_ready, &need);
        s->failed |= need && need->failed;
        if (s->ready && turn_of(r, s) < turn) turn = turn_of(r, s);
    }
    for (int i = 0; i < r->plan.n; i++) {
        rg_record_step *s = &r->plan.step[i];
        if (!s->ready || turn_of(r, s) != turn) continue;
        const bool may = turn != 1 ? !others && !cores : s->runs == RG_RUNS_CORE ? !alone && cores < r->cores.beside : !others;
        if (may && (!best || is_before(s, best))) best = s;
    }
    if (best && turn == 1 && best->runs == RG_RUNS_CORE)
        for (best->core = 0; taken[best->core];) best->core++;
    return best;
}

static int running(const rg_record_run *r)
{
    int n = 0;
    for (int i = 0; i < r->plan.n; i++) n += r->plan.step[i].pid > 0;
    return n;
}

int rg_record_run_steps(rg_record_run *r)
{
    forget_tables(r);
    int code = show_tables(r);
    for (;;) {
        r->over = stopped || rg_seconds() - r->began_s > r->budget_s;
        for (rg_record_step *s; !r->over && !code && (s = next_step(r));) {
            const double left_s = r->budget_s - (rg_seconds() - r->began_s);
            if (s->cost_s > left_s) {
                s->chosen = false;
                s->core = -1;
                s->why = RG_NO_TIME;
                say(r, "%s: not begun, it takes about %.0f s", s->name, s->cost_s);
                continue;
            }
            code = begin(r, s);
            if (!code && !running(r)) break;
        }
        if (!running(r)) return code;
        int status;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        for (int i = 0; i < r->plan.n; i++) {
            rg_record_step *s = &r->plan.step[i];
            if (s->pid <= 0) continue;
            if (r->over) kill(-s->pid, SIGKILL);
            if (pid == s->pid) {
                const int failed = end(r, s, status);
                code = code ? code : failed;
            }
        }
        if (pid <= 0) usleep(20000);
    }
}
