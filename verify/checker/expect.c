// SPDX-License-Identifier: MIT
// expect.c: tests the checker. Kernels that are wrong on purpose must be caught with the right status for the right reason.
//
// The table has a row per kernel, columns plugin variant devices status word. On each of the devices (cpu, gpu, host) the
// kernel's first fault must have that status and a reason that contains the word; status PASS demands the opposite, a right
// kernel that must not be blamed. A plug-in's kernel that no line names is an error; one whose lines name other devices is
// skipped.
#include "checker.h"
#include "../../impl/base/core.h"
#include "../../impl/base/tsv.h"

typedef struct expectation {
    const char *plugin, *variant, *devices, *status, *word; // "" : any word
    bool met;
} expectation;

enum { CONTROL_CASES = 20 };

typedef struct table {
    rg_tsv tsv; // owns the words
    expectation *line;
    int n;
} table;

static int read_table(const char *path, table *t) {
    int code = rg_tsv_read(path, &t->tsv);
    if (code != RG_GOOD) return code;
    code = rg_tsv_needs(&t->tsv, "plugin variant devices status word");
    if (code != RG_GOOD) {
        rg_tsv_free(&t->tsv);
        return code;
    }
    t->n = t->tsv.n_rows;
    t->line = rg_alloc((size_t)t->n * sizeof *t->line);
    for (int i = 0; i < t->n; i++)
        t->line[i] = (expectation){rg_tsv_cell(&t->tsv, i, "plugin"), rg_tsv_cell(&t->tsv, i, "variant"),
            rg_tsv_cell(&t->tsv, i, "devices"), rg_tsv_cell(&t->tsv, i, "status"), rg_tsv_cell(&t->tsv, i, "word"), false};
    return RG_GOOD;
}

static const char *device_of(const rg_entry *e) { return e->variant->space == RG_HOST ? "cpu" : e->emulated ? "host" : "gpu"; }

// The entry's line for a device; "": for any device.
static expectation *find(const table *t, const rg_entry *e, const char *device) {
    for (int i = 0; i < t->n; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s:%s", t->line[i].plugin, t->line[i].variant);
        if (strcmp(name, e->name) == 0 && strstr(t->line[i].devices, device)) return &t->line[i];
    }
    return NULL;
}

// The first verdict other than PASS and SKIP, else PASS. A control, which must pass, runs only the first cases, which include
// the smallest and the largest shapes.
static rg_verdict first_fault(const rg_entry *e, const rg_verify_options *how, bool control) {
    RG_ENDS(rg_plan_free) rg_plan plan;
    rg_verdict last = {.status = RG_FAIL, .reason = "no case was run"};
    const rg_narrow all = {0};
    bool passed = false;
    rg_plan_make(&plan, e, &all, how->seed);
    for (int i = 0; i < plan.n && !(control && i == CONTROL_CASES); i++) {
        const rg_case kind = {.steps = plan.item[i].steps, .patterns = plan.item[i].patterns};
        rg_verify_options each = *how;
        each.patterns = rg_patterns_of(e, &kind, how->patterns);
        each.once = kind.patterns != 0;
        each.single = plan.item[i].any;
        const rg_verdict v = rg_verify_case(e, &plan.item[i].shape, plan.item[i].param, plan.item[i].threads, &each);
        passed |= v.status == RG_PASS;
        last = passed ? (rg_verdict){.status = RG_PASS} : v;
        if (v.status != RG_PASS && v.status != RG_SKIP) {
            last = v;
            break;
        }
    }
    return last;
}

typedef struct outcome {
    int passed, failed, skipped;
} outcome;

static void check(const table *t, const rg_entry *e, const rg_verify_options *how, outcome *o) {
    const char *lacks = rg_unavailable(e);
    expectation *x = find(t, e, device_of(e));
    if (!x && find(t, e, "")) return;
    if (!x) {
        o->failed++;
        printf("MISSED  %-40s is not in the table\n", e->name);
        return;
    }
    x->met = true;
    if (lacks) {
        o->skipped++;
        printf("SKIP    %-40s %s\n", e->name, lacks);
        return;
    }
    const rg_verdict v = first_fault(e, how, strcmp(x->status, "PASS") == 0);
    const bool right = strcmp(rg_status_name[v.status], x->status) == 0 && (!*x->word || strstr(v.reason, x->word));
    right ? o->passed++ : o->failed++;
    printf("%s  %-40s %s  %s\n", right ? "caught" : "MISSED", e->name, rg_status_name[v.status], v.reason);
    if (!right) printf("        expected %s with \"%s\" in the reason\n", x->status, x->word);
    fflush(stdout);
}

// Counts the lines of this device whose plug-in was not given. Lines for the GPU are skipped if there is none.
static void check_absent(const table *t, bool host, outcome *o) {
    char why[200];
    for (int i = 0; i < t->n; i++) {
        const expectation *x = &t->line[i];
        const bool gpu = strstr(x->devices, "gpu"), cpu = strstr(x->devices, "cpu");
        if (x->met || (host ? !strstr(x->devices, "host") : !gpu && !cpu)) continue;
        if (!host && gpu && rg_gpu_count(why) < 1) {
            o->skipped++;
            continue;
        }
        o->failed++;
        printf("MISSED  %s:%s: the plug-in was not given\n", x->plugin, x->variant);
    }
}

int rg_expect(const char *path, const rg_verify_options *how) {
    table t;
    outcome o = {0, 0, 0};
    const int code = read_table(path, &t);
    if (code) return code;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", how->device));)
        if (e->origin == RG_PLUGGED_IN) check(&t, e, how, &o);
    check_absent(&t, strcmp(how->device, "host") == 0, &o);
    rg_verify_end();
    rg_tsv_free(&t.tsv);
    free(t.line);
    printf("%d passed, %d failed, %d skipped\n", o.passed, o.failed, o.skipped);
    return o.failed ? RG_WRONG : o.passed ? RG_GOOD : RG_LACKS;
}
