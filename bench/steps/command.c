// SPDX-License-Identifier: MIT
// command.c: the command `steps`: runs those steps of a table, in its order, whose products are missing or old.
#include "steps.h"

#include "../machine/machine.h"
#include "../timing/timing.h"

#include "../../impl/base/options.h"
#include "../../impl/runtime/cpu.h"

typedef struct request {
    rg_given given;
    rg_list set;
    const char *work, *times;
    bool keep_going;

    rg_steps steps;
    rg_steps_run run;
    char *program;
    int number, n, first_fresh, passed, failed; // number: current step, from 1; first_fresh: first one up to date, 0: none
    double said_s;                              // when progress of the running step was last printed
} request;

// ---- files -----------------------------------------------------------------------------------------------------------------

static char *log_of(const request *q, const rg_step *s) { return rg_print("%s/log/%s.log", q->work, s->name); }

// Named by step and product: the same step with another product is a different step.
static char *stamp_of(const request *q, const rg_step *s) {
    RG_FREED char *product = rg_print("%s", s->product);
    for (char *c = product; *c; c++)
        if (*c == '/') *c = '@';
    return rg_print("%s/done/%s@%s", q->work, s->name, product);
}

// The last n lines, 0: all.
static void show_log(const request *q, const rg_step *s, int n, const char *indent) {
    RG_FREED char *path = log_of(q, s), *text = NULL;
    size_t room = 0;
    int lines = 0;
    FILE *f = fopen(path, "r");
    while (f && getline(&text, &room, f) > 0) lines++;
    if (f) rewind(f);
    for (int i = 0; f && getline(&text, &room, f) > 0; i++)
        if (!n || i >= lines - n) fputs(indent, stdout), rg_put_text(stdout, text, (int)strcspn(text, "\n")), putchar('\n');
    if (f) fclose(f);
}

// Writes $made for later steps: the products of finished steps, each with the table's column `report`.
static int write_made(const request *q) {
    rg_file file;
    const int code = rg_file_open(&file, getenv("made"));
    if (code) return code;
    rg_tsv_print(file.stream, "name\tproduct\treport\n");
    for (int i = 0; i < q->steps.n; i++) {
        const rg_step *s = &q->steps.step[i];
        if (s->done && *s->product && !access(s->product, F_OK))
            rg_tsv_print(file.stream, "%s\t%s\t%s\n", s->name, s->product, rg_step_cell(&q->steps, s, "report"));
    }
    return rg_file_commit(&file);
}

// ---- times -----------------------------------------------------------------------------------------------------------------

static void say_time_before(const request *q, const rg_step *s) {
    RG_ENDS(rg_tsv_free) rg_tsv t = {0};
    int found = -1;
    if (!q->times || (!access(q->times, F_OK) && rg_tsv_read(q->times, &t))) return;
    for (int i = 0; i < t.n_rows; i++)
        if (!strcmp(rg_tsv_cell(&t, i, "part"), s->name)) found = i;
    if (found < 0)
        printf("    never run\n");
    else
        printf("    took %s s on %s cores (%s)\n", rg_tsv_cell(&t, found, "seconds"), rg_tsv_cell(&t, found, "cores"),
            rg_tsv_cell(&t, found, "machine"));
}

static int note_time(const request *q, const rg_step *s, int code, double seconds, const char *said) {
    char cpu[128];
    if (!q->times) return RG_GOOD;
    const bool there = access(q->times, F_OK) == 0;
    FILE *f = fopen(q->times, "a");
    if (!f) return rg_fail(RG_USAGE, "%s: cannot write here", q->times);
    rg_cpu_model(cpu);
    if (!there) fprintf(f, "part\tseconds\tcores\texit\tsaid\tcommit\tmachine\n");
    rg_tsv_print(f, "%s\t%.0f\t%d\t%d\t%s\t%s\t%s\n", s->name, seconds, rg_cpu_cores(), code, said, rg_revision(), cpu);
    return fclose(f) ? rg_fail(RG_USAGE, "%s: not written", q->times) : RG_GOOD;
}

// ---- a step ----------------------------------------------------------------------------------------------------------------

static void say_fresh(request *q) {
    if (q->first_fresh) printf("steps %d to %d: up to date\n", q->first_fresh, q->number - 1);
    q->first_fresh = 0;
}

static int begin(rg_steps_run *r, rg_step *s, rg_child *child) {
    request *q = r->of;
    RG_FREED char *stamp = stamp_of(q, s);
    const bool fresh = rg_step_is_fresh(s, stamp, q->program, q->work);
    const char *title = rg_step_cell(&q->steps, s, "title");
    q->number++;
    q->said_s = rg_seconds();
    if (fresh) {
        if (!q->first_fresh) q->first_fresh = q->number;
        child->program = NULL;
        return RG_GOOD;
    }
    say_fresh(q);
    printf("step %d of %d: %s\n", q->number, q->n, *title ? title : s->name);
    say_time_before(q, s);
    fflush(stdout);
    rg_step_drop_old(s, q->program);
    setenv("product", s->product, 1);
    RG_FREED char *folder = rg_print("%.*s", (int)(rg_base_name(s->product) - s->product), s->product);
    const int code = *folder ? rg_make_folder(folder) : RG_GOOD;
    return code ? code : write_made(q);
}

// Prints a line every half minute while a step runs: its time so far and the last line of its output.
static void waiting(rg_steps_run *r, const rg_step *s) {
    request *q = r->of;
    char line[400];
    if (rg_seconds() - q->said_s < 30) return;
    q->said_s = rg_seconds();
    RG_FREED char *log = log_of(q, s);
    rg_last_line(log, "", line, sizeof line);
    printf("    %.0f s: %.80s\n", q->said_s - s->began_s, line);
    fflush(stdout);
}

// The number of rows of a result file that have a time.
static bool count_rows(const char *path, char text[400]) {
    RG_ENDS(rg_tsv_free) rg_tsv t = {0};
    int timed = 0;
    if (access(path, F_OK) || rg_tsv_read(path, &t)) return false;
    for (int i = 0; i < t.n_rows; i++) timed += *rg_tsv_cell(&t, i, "median") != '\0';
    snprintf(text, 400, "%d rows timed, %d without a time", timed, t.n_rows - timed);
    return true;
}

// Describes the result of a step: the rows of a result file, else a line of its output or product, found by its beginning.
static void result_of(const request *q, const rg_step *s, char text[400]) {
    const char *says = rg_step_cell(&q->steps, s, "says");
    RG_FREED char *log = log_of(q, s);
    char line[400] = "";
    if (!strcmp(rg_step_cell(&q->steps, s, "report"), "result") && count_rows(s->product, text)) return;
    if (*says) rg_last_line(s->product, says, line, sizeof line);
    if (!*line) rg_last_line(log, says, line, sizeof line);
    char *at = strncmp(line, "# ", 2) ? line : line + 2, *number = strchr(at, '\t');
    if (number && (!strncmp(at, "whole\t", 6) || !strncmp(at, "region\t", 7)))
        snprintf(text, 400, "%.*s s of work", (int)strspn(number + 1, "0123456789."), number + 1);
    else
        snprintf(text, 400, "%.390s", *at ? at : "done");
    for (char *c = text; *c; c++)
        if (*c == '\t') *c = ' ';
}

// Whether the exit status is a result: 0, or one that the head line "# good: ..." lists.
static bool is_good(const request *q, int code) {
    const char *good = rg_tsv_head(&q->steps.table, "good");
    bool found = code == 0;
    for (char *end; good && *good; good = end) {
        found |= strtol(good, &end, 10) == code && end > good;
        if (end == good) break;
    }
    return found;
}

static int end(rg_steps_run *r, rg_step *s, int code, double seconds) {
    request *q = r->of;
    char text[400];
    if (r->over) return rg_fail(RG_WRONG, "stopped in step %d (%s); the same command goes on there", q->number, s->name);
    s->done = is_good(q, code) && (code == RG_LACKS || !*s->product || !access(s->product, F_OK));
    s->failed = !s->done;
    q->passed += s->done;
    q->failed += s->failed;
    if (s->done && code == RG_LACKS) puts("    not here");
    result_of(q, s, text);
    const int noted = note_time(q, s, code, seconds, text);
    if (s->failed) {
        show_log(q, s, q->keep_going ? 20 : 5, "    ");
        fflush(stdout);
        RG_FREED char *log = log_of(q, s);
        const int failed = rg_fail(RG_USAGE, "step %d failed (%s, exit %d): see %s", q->number, s->name, code, log);
        return q->keep_going ? noted : failed;
    }
    printf("    %s, %.0f s\n", text, seconds);
    RG_FREED char *stamp = stamp_of(q, s);
    FILE *f = fopen(stamp, "w");
    return f && !fclose(f) ? noted : rg_fail(RG_USAGE, "%s/done: cannot write here", q->work);
}

// ---- the command -----------------------------------------------------------------------------------------------------------

static int set_variables(const request *q) {
    int code = rg_steps_variable("steps: --work", "results", q->work);
    for (int i = 0; i < q->set.n && !code; i++) {
        char *name = rg_print("%s", q->set.item[i]), *value = strchr(name, '=');
        if (value) *value++ = '\0';
        code = value ? rg_steps_variable("steps", name, value)
                     : rg_fail(RG_USAGE, "steps: --set: expected NAME=VALUE, found \"%s\"", name);
        free(name);
    }
    RG_FREED char *made = rg_print("%s/done/made.tsv", q->work);
    setenv("made", made, 1);
    setenv("REGATHER", q->program, 1);
    return code;
}

// Selects all steps, or those named.
static int choose(request *q) {
    const rg_list *word = &q->given.word;
    for (int k = 1; k < word->n; k++) {
        rg_step *s = rg_step_find(&q->steps, word->item[k]);
        if (!s) return rg_fail(RG_USAGE, "%s: expected the name of a step, found \"%s\"", word->item[0], word->item[k]);
        s->chosen = true;
    }
    for (int i = 0; i < q->steps.n; i++) {
        q->steps.step[i].chosen |= word->n == 1;
        q->n += q->steps.step[i].chosen;
    }
    return q->n ? RG_GOOD : rg_fail(RG_USAGE, "%s: expected steps, found none", word->item[0]);
}

static int go(request *q) {
    static const char *const folder[] = {"log", "done"};
    int code = set_variables(q);
    for (int i = 0; i < 2 && !code; i++) {
        RG_FREED char *path = rg_print("%s/%s", q->work, folder[i]);
        code = rg_make_folder(path);
    }
    code = code ? code : rg_steps_read(&q->steps, q->given.word.item[0]);
    code = code ? code : choose(q);
    code = code ? code : rg_steps_go(&q->run);
    q->number++;
    say_fresh(q);
    for (int i = 0; i < q->steps.n && !code; i++)
        if (*rg_step_cell(&q->steps, &q->steps.step[i], "show")) show_log(q, &q->steps.step[i], 0, "");
    if (!q->keep_going || code) return code;
    printf("%d passed, %d failed, 0 skipped\n", q->passed, q->failed);
    return q->failed ? RG_WRONG : RG_GOOD;
}

static int run(void *typed) {
    request *q = typed;
    RG_FREED char *log = rg_print("%s/log", q->work);
    q->program = rg_own_program();
    if (!q->program) return rg_fail(RG_LACKS, "steps: /proc/self/exe cannot be read, the program does not know where it is");
    q->run = (rg_steps_run){.steps = &q->steps,
        .folder = log,
        .functions = rg_share_path("bench/steps/functions.sh"),
        .began_s = rg_seconds(),
        .budget_s = INFINITY,
        .begin = begin,
        .end = end,
        .waiting = waiting,
        .of = q};
    const int code = go(q);
    rg_steps_free(&q->steps);
    free(q->run.functions);
    free(q->program);
    return code;
}

static const rg_option options[] = {
    {"work", "DIR", "for logs, DIR/log, and for what is known to be done, DIR/done; $results in the table",
        RG_TO(request, work), .required = true},
    {"set", "NAME=VALUE", "a variable of the table", RG_TO(request, set)},
    {"keep-going", NULL, "go on when a step has failed", RG_TO(request, keep_going)},
    {"times", "FILE.tsv", "say what each step took the last time, and add a row for this one", RG_TO(request, times)},
    {0},
};

const rg_command rg_cmd_steps = {
    .name = "steps",
    .words = "TABLE.tsv [STEP]...",
    .summary = "run a table of steps: those whose products are missing or old",
    .help = "`make reproduce` and `make check-deep` call this command. A row of the table is a step, a command for sh. A\n"
            "step runs only when its product is missing, or older than this program or than its inputs, so that a killed\n"
            "run continues where it stopped. bench/steps/steps.h describes the columns.\n\n"
            "Exit codes: 0 all steps are done; 1 some failed (--keep-going); 2 one failed, or bad usage.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
