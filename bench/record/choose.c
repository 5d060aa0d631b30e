// SPDX-License-Identifier: MIT
// choose.c: which steps of the plan fit the time, by value a second, and what is said of them.
#include "record.h"

#include "../../impl/base/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Time of what was chosen: files for others first, then what one core does beside what a GPU does, then what has the machine
// alone.
typedef struct load {
    rg_record_plan *plan;
    int beside, ordered;
    double alone_s, gpu_s, core_s, longest_core_s, added_s;
} load;

static bool add_load(rg_record_step *s, void *of)
{
    load *l = of;
    if (s->done || s->chosen) return true;
    if (s->why) return false;
    const bool core = l->beside && s->runs == RG_RUNS_CORE && s->kind != RG_STEP_DATA;
    *(core ? &l->core_s : l->beside && s->runs == RG_RUNS_GPU ? &l->gpu_s : &l->alone_s) += s->cost_s;
    l->longest_core_s = core ? fmax(l->longest_core_s, s->cost_s) : l->longest_core_s;
    l->added_s += s->cost_s;
    return rg_record_each_need(l->plan, s, add_load, l);
}

static double whole_s(const load *l)
{
    const double cores_s = l->beside ? fmax(l->core_s / l->beside, l->longest_core_s) : 0;
    return l->alone_s + fmax(l->gpu_s, cores_s);
}

static bool choose(rg_record_step *s, void *of)
{
    load *l = of;
    if (s->done || s->chosen) return true;
    s->chosen = true;
    s->order = ++l->ordered;
    return rg_record_each_need(l->plan, s, choose, l);
}

bool rg_record_choose_again(rg_record_plan *plan, int beside, double left_s)
{
    bool any = false;
    for (int i = 0; i < plan->n; i++) {
        rg_record_step *s = &plan->step[i];
        if (s->done || s->failed || !s->why || strcmp(s->why, RG_NO_TIME)) continue;
        s->why = NULL;
        s->chosen = false;
    }
    rg_record_choose(plan, beside, left_s);
    for (int i = 0; i < plan->n; i++) any |= plan->step[i].chosen && !plan->step[i].done && !plan->step[i].failed;
    return any;
}

double rg_record_choose(rg_record_plan *plan, int beside, double budget_s)
{
    load so_far = {.plan = plan, .beside = beside};
    for (rg_record_step *best = plan->step; best;) {
        double best_rate = 0;
        load best_load = so_far;
        best = NULL;
        for (int i = 0; i < plan->n; i++) {
            rg_record_step *s = &plan->step[i];
            load with = so_far;
            with.added_s = 0;
            if (s->done || s->chosen || s->why || s->kind == RG_STEP_DATA) continue;
            if (!add_load(s, &with))
                s->why = "what it needs cannot be had";
            else if (whole_s(&with) <= budget_s && s->value / fmax(with.added_s, 1) > best_rate) {
                best = s;
                best_rate = s->value / fmax(with.added_s, 1);
                best_load = with;
            }
        }
        so_far = best_load;
        if (best) choose(best, &so_far);
    }
    for (int i = 0; i < plan->n; i++)
        if (!plan->step[i].done && !plan->step[i].chosen && !plan->step[i].why) plan->step[i].why = RG_NO_TIME;
    return whole_s(&so_far);
}

static int by_order(const void *a, const void *b)
{
    const rg_record_step *x = *(rg_record_step *const *)a, *y = *(rg_record_step *const *)b;
    return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : (x > y) - (x < y);
}

void rg_record_show(const rg_record_plan *plan, const rg_record_cores *cores, int gpus, double expected_s)
{
    static const char *const runs[] = {"core", "gpu", "alone"};
    int done = 0, n = 0, left = 0;
    rg_record_step **shown = rg_alloc((size_t)(plan->n + 1) * sizeof *shown);
    for (int i = 0; i < plan->n; i++) {
        rg_record_step *s = &plan->step[i];
        done += s->done;
        left += !s->done && !s->chosen && s->kind != RG_STEP_DATA;
        if (s->chosen) shown[n++] = s;
    }
    qsort(shown, (size_t)n, sizeof *shown, by_order);
    if (cores->hidden)
        puts(cores->beside ? "A virtual machine that hides which processors share a core: times of one core may be too long."
                           : "A virtual machine that hides which processors share a core: one step at a time.");
    printf(
        "%d step%s of the plan %s in the record. These %d fit, in about %.0f s with at most %d of one core beside another:\n",
        done, rg_s(done), done == 1 ? "is" : "are", n, expected_s, cores->beside);
    for (int i = 0; i < n; i++)
        printf("  %-28s %-6s %6.0f s %5d row%s  %s\n", shown[i]->name, runs[shown[i]->runs], shown[i]->cost_s,
            shown[i]->missing, shown[i]->missing == 1 ? " " : "s", *shown[i]->claims ? shown[i]->claims : "(for others)");
    if (left) printf("These %d are not begun:\n", left);
    for (int i = 0; i < plan->n; i++) {
        const rg_record_step *s = &plan->step[i];
        if (s->done || s->chosen || s->kind == RG_STEP_DATA) continue;
        char why[80];
        snprintf(why, sizeof why, "it needs %d GPU%s, here %s %d", s->gpus, rg_s(s->gpus), gpus == 1 ? "is" : "are", gpus);
        printf("  %-28s %-6s %6.0f s %5d row%s  %s: %s\n", s->name, runs[s->runs], s->cost_s, s->missing,
            s->missing == 1 ? " " : "s", s->gpus > gpus ? why : s->why, s->claims);
    }
    free(shown);
    fflush(stdout);
}
