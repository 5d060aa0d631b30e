// SPDX-License-Identifier: MIT
// record.c: the command `record`. It finds the rows that the plan needs on this machine and the record lacks (plan.c, store.c),
// chooses steps that fit the time (bench/steps/choose.c), and runs them (run.c).
#include "record.h"

#include "../../impl/base/core.h"
#include "../../impl/base/process.h"
#include "../compare/validate.h"

#include <fcntl.h>
#include <sys/file.h>

typedef struct request {
    rg_given given;
    const char *out, *plan, *work;
    rg_list merge, step;
    double budget_min, widest_pct;
    int64_t beside;
    bool resume, plan_alone;
} request;

static int prepare(rg_record_run *r, const request *q) {
    RG_FREED char *standard = rg_share_path("bench/record/plan.tsv");
    r->run.functions = rg_share_path("bench/steps/functions.sh");
    r->program = rg_own_program();
    r->work =
        q->work ? rg_print("%s", q->work) : rg_print("%s/regather-record", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (rg_ends_with(q->out, ".tsv"))
        return rg_fail(RG_USAGE, "record: expected the record's name without .tsv, found \"%s\"", q->out);
    RG_FREED char *tables = rg_print("%s/tables", r->work);
    int code = rg_steps_variable("record", "out", q->out);
    code = code ? code : rg_steps_variable("record", "work", r->work);
    code = code ? code : rg_make_folder(tables);
    RG_FREED char *whole = realpath(r->work, NULL); // mpirun needs a whole path
    if (whole) setenv("TMPDIR", whole, 1);          // there bench puts the outputs of jobs
    code = code ? code : rg_record_plan_read(q->plan ? q->plan : standard, &r->plan);
    rg_cores_share_here(q->beside, &r->run.cores);
    return code;
}

// Gets the head of this machine and run from a process that may open the GPU; this one must not, as it starts processes.
static int write_head(const char *path, const request *q) {
    char why[200];
    rg_head head;
    rg_head_make(
        &head, strcmp(q->given.device, "cpu") ? rg_device_open(q->given.device, why) : NULL, q->given.seed, q->given.line);
    FILE *f = rg_result_open(path, "w");
    if (f) rg_result_write_head(f, head.n, head.key, head.value);
    return f && fclose(f) == 0 ? RG_GOOD : rg_fail(RG_USAGE, "%s: cannot write here: %s", path, strerror(errno));
}

static int take_head(rg_record_run *r, const request *q) {
    RG_FREED char *path = rg_print("%s/head.tsv", r->work);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(write_head(path, q));
    return rg_child_wait(child, NULL) == RG_GOOD ? rg_record_here(&r->record, path)
                                                 : rg_fail(RG_LACKS, "record: this machine cannot be read");
}

static int outcome(const rg_record_run *r) {
    int left = 0, failed = 0;
    char mixed[400];
    for (int i = 0; i < r->plan.n; i++) {
        failed += r->plan.step[i].failed;
        left += !r->plan.step[i].done && !r->plan.step[i].first &&
            (!r->plan.step[i].why || !strcmp(r->plan.step[i].why, RG_NO_TIME));
    }
    if (rg_record_mixed(&r->record, mixed) > 1) printf("the record is of several machines of one kind: %s\n", mixed);
    printf("%s: %d row%s, %d table%s; %d step%s left\n", r->record.path, r->record.rows.n_rows,
        rg_plural(r->record.rows.n_rows), r->record.tables.n, rg_plural(r->record.tables.n), left, rg_plural(left));
    return failed ? RG_WRONG : left ? RG_UNSURE : RG_GOOD;
}

static bool is_asked_for(const request *q, const char *name) {
    for (int i = 0; i < q->step.n; i++)
        if (!strncmp(q->step.item[i], name, strlen(q->step.item[i]))) return true;
    return !q->step.n;
}

static int check_asked_for(const rg_steps *plan, const request *q) {
    for (int k = 0; k < q->step.n; k++) {
        bool any = false;
        for (int i = 0; i < plan->n; i++) any |= !strncmp(q->step.item[k], plan->step[i].name, strlen(q->step.item[k]));
        if (!any) return rg_fail(RG_USAGE, "record: --step: no step of the plan begins with \"%s\"", q->step.item[k]);
    }
    return RG_GOOD;
}

// Locks the folder while it is open: the steps of two runs would overwrite each other's files.
static int lock_work(rg_record_run *r) {
    r->folder = open(r->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->folder >= 0 && flock(r->folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return rg_fail(RG_USAGE,
            "record: %s: another run measures with this folder; two at once would disturb each other's times", r->work);
    return RG_GOOD;
}

// Locks the record, as each of two runs would drop the other's rows. The record is rewritten after every step, so the lock,
// held until the command ends, is on a name beside it.
static int lock_record(const request *q) {
    RG_FREED char *path = rg_print("%s.record", q->out);
    return rg_file_can_write(path);
}

// Whether a table may have been made with a GPU: its step needs one, or uses a GPU's results if there are any ("step?").
// Unknown for a table that no step makes.
static bool may_be_of_gpu(const rg_steps *plan, const char *name) {
    for (int i = 0; i < plan->n; i++)
        if (!strcmp(plan->step[i].name, name))
            return rg_record_of(&plan->step[i])->gpus > 0 || strchr(plan->step[i].needs, '?');
    return true;
}

static int merge(rg_record *record, const rg_steps *plan, const char *path) {
    const char *end = strstr(path, ".tables.tsv");
    if (!end || end[strlen(".tables.tsv")]) return rg_record_merge(record, path, false);
    RG_ENDS(rg_tables_free) rg_tables tables = {0};
    const int code = rg_tables_read(path, &tables);
    for (int k = 0; k < tables.n; k++) {
        const char *name = tables.table[k].name, *had = rg_tables_find(&record->tables, name);
        if ((!had || rg_table_is_stale(had)) && !(record->without_gpu && may_be_of_gpu(plan, name)))
            rg_tables_put(&record->tables, name, tables.table[k].text);
    }
    return code;
}

static int record(rg_record_run *r, const request *q) {
    char why[200];
    const int gpus = strcmp(q->given.device, "cpu") ? rg_gpu_count(why) : 0;
    const bool measures = !q->plan_alone && q->budget_min != 0; // else any machine suffices
    int code = check_asked_for(&r->plan, q);
    if (!code && measures) code = lock_work(r);
    if (!code && !q->plan_alone) code = lock_record(q);
    code = code ? code : rg_record_open(&r->record, q->out, q->resume || q->plan_alone || q->merge.n);
    r->record.without_gpu = !strcmp(q->given.device, "cpu");
    r->record.widest = isnan(q->widest_pct) ? 0 : q->widest_pct / 100;
    if (!code && measures) code = take_head(r, q);
    if (!code && measures) code = rg_record_take_left(r);
    for (int i = 0; !code && i < q->merge.n; i++) code = merge(&r->record, &r->plan, q->merge.item[i]);
    if (!code && !q->plan_alone) code = rg_record_save(&r->record);
    code = code ? code : rg_record_plan_weigh(&r->plan, &r->record, gpus);
    if (code) return code;
    for (int i = 0; i < r->plan.n; i++)
        if (!r->plan.step[i].first && !is_asked_for(q, r->plan.step[i].name)) r->plan.step[i].why = "not asked for";
    const double expected_s = rg_steps_choose(&r->plan, r->run.cores.beside, r->run.budget_s);
    rg_record_show(&r->plan, &r->run.cores, gpus, expected_s);
    if (q->plan_alone) return RG_GOOD;
    while (measures && !code) {
        code = rg_record_run_steps(r);
        const double left_s = r->run.budget_s - (rg_seconds() - r->run.began_s);
        if (code || r->run.over || !rg_steps_choose_again(&r->plan, r->run.cores.beside, left_s)) break;
    }
    return code ? code : outcome(r);
}

static int run(void *options) {
    const request *q = options;
    rg_record_run r = {.out = q->out, .folder = -1};
    r.run.began_s = rg_seconds();
    r.run.budget_s = isnan(q->budget_min) ? INFINITY : 60 * q->budget_min;
    int code = prepare(&r, q);
    code = code ? code : record(&r, q);
    if (r.folder >= 0) close(r.folder);
    rg_record_free(&r.record);
    rg_record_plan_free(&r.plan);
    free(r.program);
    free(r.work);
    free(r.line);
    free(r.run.functions);
    return code;
}

static const rg_option options[] = {
    {"out", "NAME", "the record: NAME.tsv has its rows, NAME.tables.tsv its tables", RG_TO(request, out), .required = true},
    {"budget", "MIN", "start only what ends within this many minutes", RG_TO(request, budget_min), 0, 100000,
        .otherwise = "none", .unit = "minutes"},
    {"resume", NULL, "continue the record: measure what it lacks, and what belongs to changed kernels or jobs",
        RG_TO(request, resume)},
    {"widest", "PCT", "measure a row again when its 95 % interval is wider than this share of the median; the narrower stays",
        RG_TO(request, widest_pct), 0.1, 1000, .otherwise = "any", .unit = "%"},
    {"beside", "N", "steps of one core that run at the same time", RG_TO(request, beside), 1, RG_BESIDE_MOST,
        .otherwise = "half of the cores, from four on, if it is known who shares them"},
    {"merge", "FILE", "take over rows, or tables (*.tables.tsv), measured on other machines of this kind",
        RG_TO(request, merge)},
    {"step", "NAME", "only steps whose names begin like this", RG_TO(request, step)},
    {"plan", NULL, "print what would be measured, and stop", RG_TO(request, plan_alone)},
    {"plan-file", "FILE", "the table of steps", RG_TO(request, plan), .otherwise = "bench/record/plan.tsv"},
    {"work", "DIR", "folder for the jobs' files", RG_TO(request, work), .otherwise = "regather-record in /dev/shm or /tmp"},
    {0},
};

const rg_command rg_cmd_record = {
    .name = "record",
    .words = "",
    .summary = "measure a machine for data/machines: what claims, figures and tables need, the most useful steps first",
    .help = "Measures what a table of steps asks for (bench/record/plan.tsv: rows to time, parameters to tune, jobs, tables\n"
            "of jobs) and the record does not have yet. A row whose kernel has the same source today is not measured again.\n"
            "Before anything runs, record says which steps fit the time, those first that make most claims testable per\n"
            "second, and why the others do not fit: no time, no such GPU. The duration of a step is that of the last time\n"
            "(table record_seconds), else that of the plan.\n\n"
            "On machines of four cores and more, steps of one core run beside each other and beside a GPU's. Steps that\n"
            "need the whole machine run before them or, if they use their results, last. A virtual machine may hide which\n"
            "processors share a core. Steps then run beside each other only if a test shows them to be as fast together as\n"
            "alone, or if --beside asks for it.\n"
            "record may be killed at any moment and loses only what was being timed. --resume continues, also on another\n"
            "machine of the same kind that has the files. The column `made` of each row names the machine (a hash of its\n"
            "serial number), driver, clocks, revision and time; the head says when there were several. A record made with\n"
            "--device cpu can take with --merge what the CPU of a machine with a GPU measured.\n\n"
            "--merge takes over rows that were measured elsewhere. Rows without the hash of their kernel's source, with\n"
            "another source than today's, or of fewer than five processes are left out, and listed. With --budget 0 nothing\n"
            "is measured, so that any machine can merge the pieces of another. Exit codes: 0 the record holds all of the\n"
            "plan that is possible here; 1 a step failed; 2 bad usage; 3 steps are left, which the same command with\n"
            "--resume runs.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
