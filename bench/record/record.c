// SPDX-License-Identifier: MIT
// record.c: the command `record`. In order: what the plan asks of this machine and the record lacks; what of it fits the time,
// by value a second; then step by step in processes of their own, those of one core beside each other and beside a GPU's. Each
// writes a file of its own beside the record, which takes it over when it ends, or is found, however it ended.
#include "record.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct request {
    rg_given given;
    const char *out, *plan, *work;
    rg_list merge, step;
    double budget_min;
    int64_t beside;
    bool resume, plan_alone;
} request;

enum { CORES_MOST = 64, CORES_LEAST = 4 }; // so many steps of one core at a time; fewer cores have one step at a time

typedef struct recorder {
    const request *q;
    rg_record record;
    rg_record_plan plan;
    char *program, *work, *words;
    double began_s, budget_s;
    int gpus, beside; // GPUs; steps of one core that run at a time beside another one
    int cores[CORES_MOST];
    cpu_set_t rest; // what no step of one core shares a core with
    double expected_s;
    bool over; // the time is
    int ordered, rows_new;
} recorder;

static volatile sig_atomic_t stopped;
static void stop(int number) { stopped = number; }

// ---- files of steps --------------------------------------------------------------------------------------------------------

static char *file_of(const recorder *r, const rg_record_step *s, const char *ending)
{
    return rg_print("%s.step-%s%s", r->q->out, s->name, ending);
}

static char *read_whole(const char *path)
{
    struct stat at;
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &at) || !S_ISREG(at.st_mode)) {
        if (f)
            fclose(f);
        return NULL;
    }
    char *text = rg_alloc((size_t)at.st_size + 1);
    text[fread(text, 1, (size_t)at.st_size, f)] = '\0';
    fclose(f);
    return text;
}

// Tables that steps may read: of this run, or of an earlier one on another machine.
static int show_tables(const recorder *r)
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

// What a step left, whole or not: its rows, or its table when it ended well.
static int take_over(recorder *r, rg_record_step *s, bool ended)
{
    int code = RG_GOOD;
    static const char *const ending[] = {".tsv.part", ".tsv"}; // a part is the file with more
    bool taken = false;
    for (int i = 0; i < RG_COUNT(ending); i++) {
        char *path = file_of(r, s, ending[i]);
        if (access(path, F_OK) == 0) {
            if (s->kind == RG_STEP_TABLE && ended && i) {
                char *text = read_whole(path);
                if (text && *text)
                    rg_tables_put(&r->record.tables, s->name, text);
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

// Of a run that was killed, by the names of its steps.
static int take_over_left(recorder *r)
{
    int code = RG_GOOD;
    for (int i = 0; i < r->plan.n && !code; i++)
        code = take_over(r, &r->plan.step[i], false);
    return code;
}

static void note_seconds(recorder *r, const rg_record_step *s, double seconds)
{
    const char *had = rg_tables_find(&r->record.tables, "record_seconds");
    char *line = rg_print("%s\t", s->name), *out = NULL;
    size_t bytes;
    FILE *f = open_memstream(&out, &bytes);
    for (const char *at = had ? had : "step\tseconds_a_row\n"; *at;) {
        const size_t n = strcspn(at, "\n");
        if (strncmp(at, line, strlen(line)))
            fprintf(f, "%.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    fprintf(f, "%s%.3g\n", line, seconds / (s->missing > 0 ? s->missing : 1));
    fclose(f);
    rg_tables_put(&r->record.tables, "record_seconds", out);
    free(out);
    free(line);
}

// ---- processes of steps ----------------------------------------------------------------------------------------------------

static void be_step(const recorder *r, const rg_record_step *s, const char *product, char **word)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // no step goes on without this process, which takes over what it makes
    if (s->core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(r->cores[s->core], &set);
        sched_setaffinity(0, sizeof set, &set);
    } else if (r->beside && s->runs == RG_RUNS_GPU) {
        sched_setaffinity(0, sizeof r->rest, &r->rest);
    }
    char *log = rg_print("%s/%s.log", r->work, s->name);
    int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), from = open("/dev/null", O_RDONLY);
    dup2(from, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    setenv("REGATHER", r->program, 1);
    setenv("REGATHER_PAGE", "no", 1);
    setenv("work", r->work, 1);
    setenv("label", rg_base_name(r->q->out), 1);
    setenv("product", product, 1);
    if (word)
        execv(r->program, word);
    char *line = rg_print(". \"$0\" && { %s\n}", s->command); // a path is data, also one with a quote
    execl("/bin/sh", "sh", "-c", line, r->words, (char *)NULL);
    _exit(127);
}

static int rows_there(const recorder *r, const rg_record_step *s)
{
    int n = 0;
    for (int k = 0; k < s->n_keys; k++)
        n += rg_record_has(&r->record, &s->key[k], s->energy);
    return n;
}

static int begin(recorder *r, rg_record_step *s)
{
    char *product = file_of(r, s, ".tsv"), *line = NULL, **word = NULL;
    int code = RG_GOOD;
    if (s->n_keys)
        s->missing = s->n_keys - rows_there(r, s); // another step may have measured some of them
    const bool seeded = s->missing < s->n_keys && rg_result_head(&r->record.rows, "machine");
    if (s->kind == RG_STEP_BENCH || s->kind == RG_STEP_TUNE) {
        line = rg_print("regather %s %s --quiet --out %s%s", s->kind == RG_STEP_TUNE ? "tune" : "bench", s->command, product,
                        seeded ? " --resume" : "");
        word = rg_record_words(line);
    }
    if (seeded)
        code = rg_record_seed(&r->record, s->key, s->n_keys, s->energy, s->core >= 0 ? 1 : 0, product);
    fflush(NULL);
    s->began_s = rg_seconds();
    s->pid = code ? -1 : fork();
    if (s->pid == 0)
        be_step(r, s, product, word);
    free(word);
    free(line);
    free(product);
    return s->pid > 0 ? RG_GOOD : rg_fail(RG_LACKS, "record: step %s could not be started", s->name);
}

static void say(const recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const recorder *r, const char *format, ...)
{
    char text[400], left[64] = "";
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const double spent = rg_seconds() - r->began_s;
    if (isfinite(r->budget_s))
        snprintf(left, sizeof left, " of %d:%02d", (int)r->budget_s / 60, (int)r->budget_s % 60);
    printf("%d:%02d%s  %s\n", (int)spent / 60, (int)spent % 60, left, text);
    fflush(stdout);
}

// Of all that was chosen: how far, how fast, how long still.
static void say_ended(recorder *r, const rg_record_step *s, double seconds, const char *how)
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
    say(r, "%s: %s, %.0f s; %.1f rows a minute, %d steps and about %.0f s of them left", s->name, how, seconds,
        60 * r->rows_new / fmax(spent, 1), left, left_s);
}

static int end(recorder *r, rg_record_step *s, int status)
{
    const double seconds = rg_seconds() - s->began_s;
    const int before = rows_there(r, s), exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    s->pid = 0;
    // A failed check, or what this machine lacks, is a result all the same.
    const bool good = exit == RG_GOOD || exit == RG_WRONG || exit == RG_LACKS;
    int code = take_over(r, s, good);
    s->core = -1;
    const int rows = rows_there(r, s) - before;
    r->rows_new += rows > 0 ? rows : 0;
    s->done = good && (s->kind != RG_STEP_TABLE || rg_tables_find(&r->record.tables, s->name));
    s->failed = !s->done && !r->over;
    if (s->kind == RG_STEP_TUNE && s->done) {
        char *text = rg_print("step\tseconds\n%s\t%.3g\n", s->name, seconds);
        rg_tables_put(&r->record.tables, s->name, text);
        free(text);
    }
    if (s->done && s->kind != RG_STEP_DATA)
        note_seconds(r, s, seconds);
    code = code ? code : rg_record_save(&r->record);
    code = code || s->kind != RG_STEP_TABLE ? code : show_tables(r);
    char how[64];
    if (s->done)
        snprintf(how, sizeof how, s->kind == RG_STEP_BENCH ? "%d rows" : "done", rows);
    else if (r->over)
        snprintf(how, sizeof how, "stopped, with %d rows", rows);
    else
        snprintf(how, sizeof how, "FAILED, exit %d", exit);
    say_ended(r, s, seconds, how);
    if (s->failed) {
        char *log = rg_print("%s/%s.log", r->work, s->name), *text = read_whole(log);
        const size_t n = text ? strlen(text) : 0;
        if (n)
            rg_put_text(stderr, text + (n > 600 ? n - 600 : 0), -1), fputc('\n', stderr);
        free(text);
        free(log);
    }
    return code;
}

// ---- choosing --------------------------------------------------------------------------------------------------------------

static bool each_need(const recorder *r, const rg_record_step *s, bool (*keep_on)(rg_record_step *, void *), void *of)
{
    char *needs = rg_print("%s", s->needs);
    bool all = true;
    for (char *rest = needs, *need; all && (need = strsep(&rest, " "));)
        if (*need)
            all = keep_on(&r->plan.step[rg_record_plan_find(&r->plan, need)], of);
    free(needs);
    return all;
}

// Time of what was chosen: files for others first, then what one core does beside what a GPU does, then what has the machine
// alone.
typedef struct load {
    const recorder *r;
    double alone_s, gpu_s, core_s, longest_core_s, added_s;
} load;

static bool add_load(rg_record_step *s, void *of)
{
    load *l = of;
    if (s->done || s->chosen)
        return true;
    if (s->why)
        return false;
    const bool core = l->r->beside && s->runs == RG_RUNS_CORE && s->kind != RG_STEP_DATA;
    *(core ? &l->core_s : l->r->beside && s->runs == RG_RUNS_GPU ? &l->gpu_s : &l->alone_s) += s->cost_s;
    l->longest_core_s = core ? fmax(l->longest_core_s, s->cost_s) : l->longest_core_s;
    l->added_s += s->cost_s;
    return each_need(l->r, s, add_load, l);
}

static double whole_s(const load *l)
{
    const double cores_s = l->r->beside ? fmax(l->core_s / l->r->beside, l->longest_core_s) : 0;
    return l->alone_s + fmax(l->gpu_s, cores_s);
}

static bool choose(rg_record_step *s, void *of)
{
    recorder *r = of;
    if (s->done || s->chosen)
        return true;
    s->chosen = true;
    s->order = ++r->ordered;
    return each_need(r, s, choose, r);
}

static void choose_steps(recorder *r)
{
    load so_far = {.r = r};
    for (rg_record_step *best = r->plan.step; best;) {
        double best_rate = 0;
        load best_load = so_far;
        best = NULL;
        for (int i = 0; i < r->plan.n; i++) {
            rg_record_step *s = &r->plan.step[i];
            load with = so_far;
            with.added_s = 0;
            if (s->done || s->chosen || s->why || s->kind == RG_STEP_DATA)
                continue;
            if (!add_load(s, &with))
                s->why = "what it needs cannot be had";
            else if (whole_s(&with) <= r->budget_s && s->value / fmax(with.added_s, 1) > best_rate) {
                best = s;
                best_rate = s->value / fmax(with.added_s, 1);
                best_load = with;
            }
        }
        so_far = best_load;
        if (best)
            choose(best, r);
    }
    for (int i = 0; i < r->plan.n; i++)
        if (!r->plan.step[i].done && !r->plan.step[i].chosen && !r->plan.step[i].why)
            r->plan.step[i].why = "no time";
    r->expected_s = whole_s(&so_far);
}

static int by_order(const void *a, const void *b)
{
    const rg_record_step *x = *(rg_record_step *const *)a, *y = *(rg_record_step *const *)b;
    return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : (x > y) - (x < y);
}

static void show_plan(const recorder *r)
{
    static const char *const runs[] = {"core", "gpu", "alone"};
    int done = 0, n = 0, left = 0;
    rg_record_step **shown = rg_alloc((size_t)(r->plan.n + 1) * sizeof *shown);
    for (int i = 0; i < r->plan.n; i++) {
        rg_record_step *s = &r->plan.step[i];
        done += s->done;
        left += !s->done && !s->chosen && s->kind != RG_STEP_DATA;
        if (s->chosen)
            shown[n++] = s;
    }
    qsort(shown, (size_t)n, sizeof *shown, by_order);
    printf(
        "%d steps of the plan are in the record. These %d fit, in about %.0f s with at most %d of one core beside another:\n",
        done, n, r->expected_s, r->beside);
    for (int i = 0; i < n; i++)
        printf("  %-28s %-6s %6.0f s %5d row%s  %s\n", shown[i]->name, runs[shown[i]->runs], shown[i]->cost_s,
               shown[i]->missing, shown[i]->missing == 1 ? " " : "s", *shown[i]->claims ? shown[i]->claims : "(for others)");
    if (left)
        printf("These %d are not begun:\n", left);
    for (int i = 0; i < r->plan.n; i++) {
        const rg_record_step *s = &r->plan.step[i];
        if (s->done || s->chosen || s->kind == RG_STEP_DATA)
            continue;
        char why[80];
        snprintf(why, sizeof why, "it needs %d GPU%s, here %s %d", s->gpus, s->gpus > 1 ? "s" : "", r->gpus == 1 ? "is" : "are",
                 r->gpus);
        printf("  %-28s %-6s %6.0f s %5d row%s  %s: %s\n", s->name, runs[s->runs], s->cost_s, s->missing,
               s->missing == 1 ? " " : "s", s->gpus > r->gpus ? why : s->why, s->claims);
    }
    free(shown);
    fflush(stdout);
}

// ---- the run ---------------------------------------------------------------------------------------------------------------

static bool is_ready(rg_record_step *need, void *of)
{
    rg_record_step **first = of;
    if (!need->done && !*first)
        *first = need;
    return need->done;
}

// Files for others come first, then cores and a GPU beside each other, then what has the machine alone.
static int turn_of(const recorder *r, const rg_record_step *s)
{
    return s->kind == RG_STEP_DATA ? 0 : r->beside && s->runs != RG_RUNS_ALONE ? 1 : 2;
}

// The next step that may begin now beside those that run; NULL: none.
static rg_record_step *next_step(recorder *r)
{
    int cores = 0, others = 0, alone = 0, turn = 3;
    bool taken[CORES_MOST] = {false};
    rg_record_step *best = NULL;
    for (int i = 0; i < r->plan.n; i++) {
        rg_record_step *s = &r->plan.step[i], *need = NULL;
        if (s->pid > 0 && s->core >= 0)
            taken[s->core] = ++cores;
        else if (s->pid > 0)
            others++;
        alone += s->pid > 0 && turn_of(r, s) != 1;
        s->ready = s->chosen && !s->done && !s->failed && s->pid <= 0 && each_need(r, s, is_ready, &need);
        s->failed |= need && need->failed;
        if (s->ready && turn_of(r, s) < turn)
            turn = turn_of(r, s);
    }
    for (int i = 0; i < r->plan.n; i++) {
        rg_record_step *s = &r->plan.step[i];
        if (!s->ready || turn_of(r, s) != turn)
            continue;
        const bool may = turn != 1 ? !others && !cores : s->runs == RG_RUNS_CORE ? !alone && cores < r->beside : !others;
        if (may && (!best || s->value / fmax(s->cost_s, 1) > best->value / fmax(best->cost_s, 1)))
            best = s;
    }
    if (best && turn == 1 && best->runs == RG_RUNS_CORE)
        for (best->core = 0; taken[best->core];)
            best->core++;
    return best;
}

static int running(const recorder *r)
{
    int n = 0;
    for (int i = 0; i < r->plan.n; i++)
        n += r->plan.step[i].pid > 0;
    return n;
}

static int run_steps(recorder *r)
{
    int code = RG_GOOD;
    for (;;) {
        r->over = stopped || rg_seconds() - r->began_s > r->budget_s;
        for (rg_record_step *s; !r->over && !code && (s = next_step(r));) {
            const double left_s = r->budget_s - (rg_seconds() - r->began_s);
            if (s->cost_s > left_s) {
                s->chosen = false;
                s->core = -1;
                s->why = "no time";
                say(r, "%s: not begun, it takes about %.0f s", s->name, s->cost_s);
                continue;
            }
            code = begin(r, s);
            if (!code && !running(r))
                break;
        }
        if (!running(r))
            return code;
        int status;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        for (int i = 0; i < r->plan.n; i++) {
            rg_record_step *s = &r->plan.step[i];
            if (s->pid <= 0)
                continue;
            if (r->over)
                kill(-s->pid, SIGKILL);
            if (pid == s->pid) {
                const int failed = end(r, s, status);
                code = code ? code : failed;
            }
        }
        if (pid <= 0)
            usleep(20000);
    }
}

// The processors that are one core to the system, this one among them: two that share one take up to 1.5 times as long.
static cpu_set_t core_of(int cpu)
{
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(cpu, &core);
    char *path = rg_print("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "r");
    int from, to;
    while (f && fscanf(f, "%d", &from) == 1) { // "0,8" or "0-1"
        if (fscanf(f, "-%d", &to) != 1)
            to = from;
        for (int c = from < 0 ? 0 : from; c <= to && c < CPU_SETSIZE; c++)
            CPU_SET(c, &core);
        if (fgetc(f) != ',')
            break;
    }
    if (f)
        fclose(f);
    free(path);
    return core;
}

static void without(cpu_set_t *set, cpu_set_t core)
{
    CPU_AND(&core, &core, set);
    CPU_XOR(set, set, &core);
}

// One processor of each core for steps of one core, from the last one on; the other cores are the rest's.
static void share_cores(recorder *r, int64_t beside)
{
    cpu_set_t left;
    int cpu[CPU_SETSIZE], n = 0;
    sched_getaffinity(0, sizeof left, &left);
    r->rest = left;
    for (int c = CPU_SETSIZE - 1; c >= 0; c--)
        if (CPU_ISSET(c, &left)) {
            without(&left, core_of(c));
            cpu[n++] = c;
        }
    r->beside = (int)fmin(fmin(n - 1, CORES_MOST), beside ? (double)beside : n < CORES_LEAST ? 0 : n / 2);
    for (int k = 0; k < r->beside; k++)
        without(&r->rest, core_of(r->cores[k] = cpu[k]));
}

static int prepare(recorder *r)
{
    const request *q = r->q;
    char why[200], *standard = rg_share_path("bench/record/plan.tsv");
    r->words = rg_share_path("bench/record/words.sh");
    r->program = rg_own_program();
    r->work = q->work ? rg_print("%s", q->work)
                      : rg_print("%s/regather-record", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    for (const char *text = q->out; text; text = text == q->out ? r->work : NULL)
        for (const char *c = text; *c; c++) // stands in the words of commands
            if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+,:=@%~-", *c))
                return rg_fail(RG_USAGE, "record: expected a name of letters, digits and _./+,:=@%%~- alone, found \"%s\"",
                               text);
    char *tables = rg_print("%s/tables", r->work);
    int code = rg_make_folder(tables);
    free(tables);
    code = code ? code : rg_record_plan_read(q->plan ? q->plan : standard, r->work, &r->plan);
    free(standard);
    r->gpus = strcmp(q->given.device, "cpu") ? rg_gpu_count(why) : 0;
    share_cores(r, q->beside);
    return code;
}

// The head of this machine and run, by a process that may open the GPU: this one starts others all the time.
static int write_head(const char *path, const request *q)
{
    char why[200];
    rg_head head;
    rg_head_make(&head, strcmp(q->given.device, "cpu") ? rg_device_open(q->given.device, why) : NULL, q->given.seed,
                 q->given.line);
    FILE *f = rg_result_open(path, "w");
    if (f)
        rg_result_write_head(f, head.n, head.key, head.value);
    return f && fclose(f) == 0 ? RG_GOOD : rg_fail(RG_USAGE, "%s: cannot write here: %s", path, strerror(errno));
}

static int take_head(recorder *r)
{
    char *path = rg_print("%s/head.tsv", r->work);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(write_head(path, r->q));
    int status = -1;
    waitpid(child, &status, 0);
    const int code = child > 0 && status == 0 ? rg_record_here(&r->record, path)
                                              : rg_fail(RG_LACKS, "record: this machine cannot be read");
    free(path);
    return code;
}

static int outcome(const recorder *r)
{
    int left = 0, failed = 0;
    char mixed[400];
    for (int i = 0; i < r->plan.n; i++) {
        failed += r->plan.step[i].failed;
        left += !r->plan.step[i].done && r->plan.step[i].kind != RG_STEP_DATA &&
                (!r->plan.step[i].why || !strcmp(r->plan.step[i].why, "no time"));
    }
    if (rg_record_mixed(&r->record, mixed) > 1)
        printf("the record is of several machines of one kind: %s\n", mixed);
    printf("%s: %d rows, %d tables; %d steps are left\n", r->record.path, r->record.rows.n_rows, r->record.tables.n, left);
    return failed ? RG_WRONG : left ? RG_UNSURE : RG_GOOD;
}

static bool is_asked_for(const request *q, const char *name)
{
    for (int i = 0; i < q->step.n; i++)
        if (!strncmp(q->step.item[i], name, strlen(q->step.item[i])))
            return true;
    return !q->step.n;
}

static int record(recorder *r)
{
    const request *q = r->q;
    int code = rg_record_open(&r->record, q->out, q->resume || q->plan_alone || q->merge.n);
    if (!code && !q->plan_alone)
        code = take_head(r);
    if (!code && !q->plan_alone)
        code = take_over_left(r);
    for (int i = 0; !code && i < q->merge.n; i++) {
        const char *path = q->merge.item[i], *end = strstr(path, ".tables.tsv");
        rg_tables tables = {0};
        if (!end || end[strlen(".tables.tsv")])
            code = rg_record_merge(&r->record, path, false);
        else
            code = rg_tables_read(path, &tables);
        for (int k = 0; k < tables.n; k++)
            if (!rg_tables_find(&r->record.tables, tables.table[k].name))
                rg_tables_put(&r->record.tables, tables.table[k].name, tables.table[k].text);
        rg_tables_free(&tables);
    }
    if (!code && !q->plan_alone)
        code = rg_record_save(&r->record);
    code = code ? code : rg_record_plan_weigh(&r->plan, &r->record, r->gpus);
    if (code)
        return code;
    for (int i = 0; i < r->plan.n; i++)
        if (r->plan.step[i].kind != RG_STEP_DATA && !is_asked_for(q, r->plan.step[i].name))
            r->plan.step[i].why = "not asked for";
    choose_steps(r);
    show_plan(r);
    if (q->plan_alone)
        return RG_GOOD;
    code = show_tables(r);
    code = code ? code : run_steps(r);
    return code ? code : outcome(r);
}

static int run(void *options)
{
    const request *q = options;
    recorder r = {.q = q, .began_s = rg_seconds(), .budget_s = isnan(q->budget_min) ? INFINITY : 60 * q->budget_min};
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int code = prepare(&r);
    code = code ? code : record(&r);
    rg_record_free(&r.record);
    rg_record_plan_free(&r.plan);
    free(r.program);
    free(r.work);
    free(r.words);
    return code;
}

static const rg_option options[] = {
    {"out", "NAME", "the record: NAME.tsv has its rows, NAME.tables.tsv its tables", RG_TO(request, out), .required = true},
    {"budget", "MIN", "begin only what ends within so many minutes, and stop then", RG_TO(request, budget_min), 0, 100000,
     .otherwise = "none", .unit = "minutes"},
    {"resume", NULL, "go on with the record: what it lacks, and rows whose kernels have changed", RG_TO(request, resume)},
    {"beside", "N", "so many steps of one core at a time beside another one", RG_TO(request, beside), 1, CORES_MOST,
     .otherwise = "half of the cores, from four on"},
    {"merge", "FILE", "take over rows, or tables (*.tables.tsv), measured on other machines of this kind",
     RG_TO(request, merge)},
    {"step", "NAME", "only steps whose names begin so", RG_TO(request, step)},
    {"plan", NULL, "say what would be measured, and measure nothing", RG_TO(request, plan_alone)},
    {"plan-file", "FILE", "the table of steps", RG_TO(request, plan), .otherwise = "bench/record/plan.tsv"},
    {"work", "DIR", "where the jobs' files go", RG_TO(request, work), .otherwise = "regather-record in /dev/shm or /tmp"},
    {0},
};

const rg_command rg_cmd_record = {
    .name = "record",
    .words = "",
    .summary = "measure a machine for data/machines: what claims, figures and tables want of it, by value a second",
    .help = "Measures what a table of steps asks for (bench/record/plan.tsv: rows to time, parameters to tune, jobs, tables\n"
            "of jobs) and the record has not yet: a row whose kernel has the same source now is not measured again. Before\n"
            "anything runs it says which steps fit the time, those first that make most claims testable a second, and why\n"
            "the others do not: no time, no such GPU. What a step takes is known from the last time (table record_seconds),\n"
            "else from the plan.\n\n"
            "Steps of one core run beside each other and beside a GPU's on machines of four cores and more; what needs the\n"
            "whole machine comes after them. A run may be killed at any moment: it loses what was being timed. With\n"
            "--resume it goes on, also on another machine of the same kind that has the files. Each row says in the column\n"
            "`made` which machine (a hash of its serial number), driver, clocks, revision and time; the head says when they\n"
            "are several.\n\n"
            "--merge takes over what was measured elsewhere; rows without the hash of their kernel's source, of another\n"
            "source than today's, or of fewer than five processes are left out, and said. Exit codes: 0 all of the plan\n"
            "that is possible here is in the record, 1 a step failed, 2 bad usage, 3 steps are left: the same command with\n"
            "--resume goes on.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
