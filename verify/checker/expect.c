// SPDX-License-Identifier: MIT
// expect.c: testing the tester. Kernels that are wrong on purpose must be caught with the right status for the right reason.
//
// The table has a line a kernel: plug-in, variant, devices, status, word; separated by tabs, '#' begins a comment. On each of
// the devices (cpu, gpu, host) the kernel's first fault must have that status and a reason that contains the word; status PASS
// asks for the opposite, a right kernel that must not be blamed. A plugged-in kernel that no line names is an error; one whose
// lines name other devices is left alone.
#include "checker.h"
#include "../../impl/base/core.h"
#include <stdlib.h>
#include <string.h>

typedef struct expectation {
    char plugin[64], variant[64], devices[32], status[16], word[80];
    bool met;
} expectation;

enum { LINES_MAX = 256, CONTROL_CASES = 20 };

typedef struct table {
    expectation line[LINES_MAX];
    int n;
} table;

static int read_table(const char *path, table *t)
{
    FILE *f = fopen(path, "r");
    char text[512];
    int number = 0, code = RG_GOOD;
    if (!f)
        return rg_fail(RG_USAGE, "%s: cannot be read", path);
    while (!code && fgets(text, sizeof text, f)) {
        number++;
        if (text[0] == '#' || text[0] == '\n')
            continue;
        expectation *x = &t->line[t->n];
        *x = (expectation){.met = false};
        if (t->n == LINES_MAX || sscanf(text, "%63[^\t]\t%63[^\t]\t%31[^\t]\t%15[^\t]\t%79[^\t\n]", x->plugin, x->variant,
                                        x->devices, x->status, x->word) != 5)
            code = rg_fail(RG_USAGE, "%s, line %d: expected plug-in, variant, devices, status and word, found \"%.60s\"", path,
                           number, text);
        t->n++;
    }
    fclose(f);
    return code;
}

static const char *device_of(const rg_entry *e)
{
    return e->variant->space == RG_HOST ? "cpu" : e->emulated ? "host" : "gpu";
}

static expectation *find(table *t, const rg_entry *e)
{
    for (int i = 0; i < t->n; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s:%s", t->line[i].plugin, t->line[i].variant);
        if (strcmp(name, e->name) == 0 && strstr(t->line[i].devices, device_of(e)))
            return &t->line[i];
    }
    return NULL;
}

// The first verdict that is no PASS and no SKIP, else PASS. A control, which must pass, is checked at the first cases only: the
// smallest shapes and the largest.
static rg_verdict first_fault(const rg_entry *e, const rg_verify_options *how, bool control)
{
    rg_plan plan;
    rg_verdict last = {.status = RG_FAIL, .reason = "no case was run"};
    const rg_narrow all = {0};
    bool passed = false;
    rg_plan_make(&plan, e, &all, how->seed);
    for (int i = 0; i < plan.n && !(control && i == CONTROL_CASES); i++) {
        const rg_verdict v = rg_verify_case(e, &plan.item[i].shape, plan.item[i].param, plan.item[i].threads, how);
        passed |= v.status == RG_PASS;
        last = passed ? (rg_verdict){.status = RG_PASS} : v;
        if (v.status != RG_PASS && v.status != RG_SKIP) {
            last = v;
            break;
        }
    }
    rg_plan_free(&plan);
    return last;
}

typedef struct outcome {
    int passed, failed, skipped;
} outcome;

// Whether any line of the table names the kernel, for whatever device.
static bool is_known(const table *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strncmp(name, t->line[i].plugin, strlen(t->line[i].plugin)) == 0)
            return true;
    return false;
}

static void check(const table *t, const rg_entry *e, expectation *x, const rg_verify_options *how, outcome *o)
{
    const char *lacks = rg_unavailable(e);
    if (!x && is_known(t, e->name))
        return;
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
    const bool right = strcmp(rg_status_name[v.status], x->status) == 0 &&
                       (strcmp(x->word, "-") == 0 || strstr(v.reason, x->word));
    right ? o->passed++ : o->failed++;
    printf("%s  %-40s %s  %s\n", right ? "caught" : "MISSED", e->name, rg_status_name[v.status], v.reason);
    if (!right)
        printf("        expected %s with \"%s\" in the reason\n", x->status, x->word);
    fflush(stdout);
}

// Lines of this device whose plug-in was not given: on the GPU they are skipped when there is none.
static void check_absent(const table *t, bool host, outcome *o)
{
    char why[200];
    for (int i = 0; i < t->n; i++) {
        const expectation *x = &t->line[i];
        const bool gpu = strstr(x->devices, "gpu"), cpu = strstr(x->devices, "cpu");
        if (x->met || (host ? !strstr(x->devices, "host") : !gpu && !cpu))
            continue;
        if (!host && gpu && rg_gpu_count(why) < 1) {
            o->skipped++;
            continue;
        }
        o->failed++;
        printf("MISSED  %s:%s: the plug-in was not given\n", x->plugin, x->variant);
    }
}

int rg_expect(const char *path, const rg_verify_options *how)
{
    table *t = rg_alloc(sizeof *t);
    outcome o = {0, 0, 0};
    const int code = read_table(path, t);
    if (code) {
        free(t);
        return code;
    }
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", how->device));)
        if (e->origin == RG_PLUGGED_IN)
            check(t, e, find(t, e), how, &o);
    check_absent(t, strcmp(how->device, "host") == 0, &o);
    rg_verify_end();
    free(t);
    printf("%d passed, %d failed, %d skipped\n", o.passed, o.failed, o.skipped);
    return o.failed ? RG_WRONG : o.passed ? RG_GOOD : RG_LACKS;
}
