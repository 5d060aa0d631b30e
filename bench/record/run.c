// SPDX-License-Identifier: MIT
// run.c: runs the steps of the plan. Each writes its own file beside the record, which takes it over when the step ends,
// however it ended, or when a later run finds it.
#include "record.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/source.h"

#include <sys/stat.h>

// ---- files of steps --------------------------------------------------------------------------------------------------------

static char *file_of(const rg_record_run *r, const rg_step *s, const char *ending) {
    return rg_print("%s.step-%s%s", r->out, s->name, ending);
}

// Steps may read only tables of this record, not of another one made in the same folder.
static void forget_tables(const rg_record_run *r) { rg_shell("rm -f -- \"$0\"/tables/*.tsv", r->work); }

// From this run, or an earlier one on another machine.
static int show_tables(const rg_record_run *r) {
    int code = RG_GOOD;
    for (int i = 0; i < r->record.tables.n && !code; i++) {
        RG_FREED char *path = rg_print("%s/tables/%s.tsv", r->work, r->record.tables.table[i].name);
        rg_file file;
        code = rg_file_open(&file, path);
        if (!code) {
            fputs(r->record.tables.table[i].text, file.stream);
            code = rg_file_commit(&file);
        }
    }
    return code;
}

static char *jobs_file(const rg_record_run *r, const rg_step *s) { return rg_print("%s/%s.jobs", r->work, s->name); }

// The table below the hashes of the jobs that the step ran; freed by the caller.
static char *with_sources(const rg_record_run *r, const rg_step *s, const char *text) {
    size_t bytes;
    RG_FREED char *path = jobs_file(r, s), *jobs = rg_file_bytes(path, &bytes);
    char *whole = NULL, now[64];
    FILE *f = open_memstream(&whole, &bytes);
    for (const rg_job_source *j = rg_job_sources; jobs && j->command; j++) {
        RG_FREED char *line = rg_print("\n%s\n", j->command), *among = rg_print("\n%s", jobs);
        rg_job_source_of(j->command, now);
        if (strstr(among, line)) fprintf(f, "# source %s: %s\n", j->command, now);
    }
    fputs(text, f);
    fclose(f);
    return whole;
}

// Stores the results of a step, even unfinished ones: its rows, or its table if it ended well.
static int take_over(rg_record_run *r, rg_step *s, bool ended) {
    int code = RG_GOOD;
    static const char *const ending[] = {".tsv.part", ".tsv"}; // a part has more rows
    bool taken = false;
    struct stat there; // empty where a run was killed before the head
    for (int i = 0; i < RG_COUNT(ending); i++) {
        RG_FREED char *path = file_of(r, s, ending[i]);
        if (access(path, F_OK) == 0) {
            if (rg_record_of(s)->kind == RG_STEP_TABLE && ended && i) {
                size_t n;
                RG_FREED char *text = rg_file_bytes(path, &n), *whole = text && *text ? with_sources(r, s, text) : NULL;
                if (whole) rg_tables_put(&r->record.tables, s->name, whole);
            } else if (rg_record_of(s)->kind != RG_STEP_TABLE && !taken && stat(path, &there) == 0 && there.st_size) {
                code = rg_record_merge(&r->record, path, true);
                taken = true;
            }
            unlink(path);
        }
    }
    return code;
}

int rg_record_take_left(rg_record_run *r) {
    int code = RG_GOOD;
    for (int i = 0; i < r->plan.n && !code; i++) code = take_over(r, &r->plan.step[i], false);
    return code;
}

// If a step measured only few of its rows again, each has more than its share of the time for processes and inputs.
static void note_seconds(rg_record_run *r, const rg_step *s, double seconds) {
    const char *had = rg_tables_find(&r->record.tables, "record_seconds");
    const int missing = rg_record_of(s)->missing;
    if (2 * missing < rg_record_of(s)->n_keys) return;
    RG_FREED char *line = rg_print("%s\t", s->name), *out = NULL;
    size_t bytes;
    FILE *f = open_memstream(&out, &bytes);
    for (const char *at = had ? had : "step\tseconds_a_row\n"; *at;) {
        const size_t n = strcspn(at, "\n");
        if (strncmp(at, line, strlen(line))) fprintf(f, "%.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    fprintf(f, "%s%.3g\n", line, seconds / (missing > 0 ? missing : 1));
    fclose(f);
    rg_tables_put(&r->record.tables, "record_seconds", out);
}

// ---- processes of steps ----------------------------------------------------------------------------------------------------

// The files that bench and tune continue from and write to; the command of other steps is for sh.
static int begin(rg_steps_run *run, rg_step *s, rg_child *child) {
    rg_record_run *r = run->of;
    rg_record_step *own = rg_record_of(s);
    RG_FREED char *product = file_of(r, s, ".tsv"), *jobs = jobs_file(r, s);
    int code = RG_GOOD, n = 0;
    if (own->n_keys)
        own->missing = own->n_keys - rg_record_rows_of(&r->record, own); // another step may have measured some of them
    setenv("REGATHER", r->program, 1);
    setenv("REGATHER_PAGE", "no", 1);
    setenv("label", rg_base_name(r->out), 1);
    setenv("product", product, 1);
    setenv("jobs", jobs, 1);
    unlink(jobs);
    if (own->word) {
        const bool seeded = rg_result_head(&r->record.rows, "machine");
        const int cores = s->core >= 0 ? 1 : run->cores.beside && s->runs == RG_RUNS_GPU ? CPU_COUNT(&run->cores.rest) : 0;
        while (own->word[n]) n++;
        free(r->line);
        r->line = rg_alloc((size_t)(n + 8) * sizeof *r->line);
        r->line[0] = "regather";
        r->line[1] = own->kind == RG_STEP_TUNE ? "tune" : "bench";
        memcpy(r->line + 2, own->word, (size_t)n * sizeof *r->line);
        memcpy(r->line + 2 + n, (const char *[]){"--quiet", "--out", getenv("product"), seeded ? "--resume" : NULL},
            4 * sizeof *r->line);
        child->program = r->program;
        child->word = r->line;
        if (seeded) code = rg_record_seed(&r->record, own, cores, product);
    }
    return code;
}

__attribute__((format(printf, 2, 3))) static void say(const rg_record_run *r, const char *format, ...) {
    char text[400], left[64] = "";
    RG_FORMAT(text, sizeof text, format);
    const double spent = rg_seconds() - r->run.began_s;
    if (isfinite(r->run.budget_s))
        snprintf(left, sizeof left, " of %d:%02d", (int)r->run.budget_s / 60, (int)r->run.budget_s % 60);
    printf("%d:%02d%s  %s\n", (int)spent / 60, (int)spent % 60, left, text);
    fflush(stdout);
}

// Prints the progress of all chosen steps: done, rate, time left.
static void say_ended(rg_record_run *r, const rg_step *s, double seconds, const char *how) {
    double left_s = 0;
    int left = 0;
    for (int i = 0; i < r->plan.n; i++) {
        const rg_step *k = &r->plan.step[i];
        if (k->chosen && !k->done && !k->failed) {
            left++;
            left_s += k->pid > 0 ? fmax(0, k->cost_s - (rg_seconds() - k->began_s)) : k->cost_s;
        }
    }
    const double spent = rg_seconds() - r->run.began_s;
    say(r, "%s: %s, %.0f s; %.1f rows a minute, %d step%s and about %.0f s of them left", s->name, how, seconds,
        60 * r->rows_new / fmax(spent, 1), left, rg_plural(left), left_s);
}

static int end(rg_steps_run *run, rg_step *s, int exit, double seconds) {
    rg_record_run *r = run->of;
    const rg_record_step *own = rg_record_of(s);
    const int before = rg_record_rows_of(&r->record, own);
    // A failed check, or a missing device or library, is a result, too.
    const bool good = exit == RG_GOOD || exit == RG_WRONG || exit == RG_LACKS;
    int code = take_over(r, s, good);
    const int rows = rg_record_rows_of(&r->record, own) - before;
    r->rows_new += rows > 0 ? rows : 0;
    s->done = good && (rg_record_of(s)->kind != RG_STEP_TABLE || rg_tables_find(&r->record.tables, s->name));
    s->failed = !s->done && !r->run.over;
    if (rg_record_of(s)->kind == RG_STEP_TUNE && s->done) {
        RG_FREED char *text = rg_print("step\tseconds\n%s\t%.3g\n", s->name, seconds);
        rg_tables_put(&r->record.tables, s->name, text);
    }
    if (s->done && rg_record_of(s)->kind != RG_STEP_DATA) note_seconds(r, s, seconds);
    code = code ? code : rg_record_save(&r->record);
    code = code || rg_record_of(s)->kind != RG_STEP_TABLE ? code : show_tables(r);
    char how[64];
    if (s->done)
        snprintf(how, sizeof how, rg_record_of(s)->kind == RG_STEP_BENCH ? "%d row%s" : "done", rows, rg_plural(rows));
    else if (r->run.over)
        snprintf(how, sizeof how, "stopped, with %d row%s", rows, rg_plural(rows));
    else
        snprintf(how, sizeof how, "FAILED, exit %d", exit);
    say_ended(r, s, seconds, how);
    if (s->failed) {
        size_t n = 0;
        RG_FREED char *log = rg_print("%s/%s.log", r->work, s->name), *text = rg_file_bytes(log, &n);
        if (n) rg_put_text(stderr, text + (n > 600 ? n - 600 : 0), -1), fputc('\n', stderr);
    }
    return code;
}

// ---- the run ---------------------------------------------------------------------------------------------------------------

static void no_time(rg_steps_run *run, const rg_step *s) {
    say(run->of, "%s: not begun, it takes about %.0f s", s->name, s->cost_s);
}

int rg_record_run_steps(rg_record_run *r) {
    r->run.steps = &r->plan;
    r->run.folder = r->work;
    r->run.begin = begin;
    r->run.end = end;
    r->run.no_time = no_time;
    r->run.of = r;
    forget_tables(r);
    const int code = show_tables(r);
    return code ? code : rg_steps_go(&r->run);
}
