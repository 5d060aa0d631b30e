// SPDX-License-Identifier: MIT
// choose.c: chooses the steps that fit the time, by value per second.
#include "steps.h"

#include "../../impl/base/core.h"

// The time of the chosen steps: files for other steps and steps that need the whole machine, one after the other, then steps of
// one core beside those of a GPU.
typedef struct load {
    rg_steps *steps;
    int beside, ordered;
    double alone_s, gpu_s, core_s, longest_core_s, added_s; // added_s: a step of one core has its share of those beside it
} load;

static bool add_load(rg_step *s, void *of) {
    load *l = of;
    if (s->done || s->chosen) return true;
    if (s->why || s->absent) return false;
    const bool core = l->beside && s->runs == RG_RUNS_CORE && !s->first;
    *(core ? &l->core_s : l->beside && s->runs == RG_RUNS_GPU ? &l->gpu_s : &l->alone_s) += s->cost_s;
    l->longest_core_s = core ? fmax(l->longest_core_s, s->cost_s) : l->longest_core_s;
    l->added_s += core ? s->cost_s / l->beside : s->cost_s;
    return rg_step_each_need(l->steps, s, add_load, l);
}

static double whole_s(const load *l) {
    const double cores_s = l->beside ? fmax(l->core_s / l->beside, l->longest_core_s) : 0;
    return l->alone_s + fmax(l->gpu_s, cores_s);
}

static bool choose(rg_step *s, void *of) {
    load *l = of;
    if (s->done || s->chosen) return true;
    s->chosen = true;
    s->order = ++l->ordered;
    return rg_step_each_need(l->steps, s, choose, l);
}

bool rg_steps_choose_again(rg_steps *steps, int beside, double left_s) {
    bool any = false;
    for (int i = 0; i < steps->n; i++) {
        rg_step *s = &steps->step[i];
        if (s->done || s->failed || !s->why || strcmp(s->why, RG_NO_TIME)) continue;
        s->why = NULL;
        s->chosen = false;
    }
    rg_steps_choose(steps, beside, left_s);
    for (int i = 0; i < steps->n; i++) any |= steps->step[i].chosen && !steps->step[i].done && !steps->step[i].failed;
    return any;
}

double rg_steps_choose(rg_steps *steps, int beside, double budget_s) {
    load so_far = {.steps = steps, .beside = beside};
    for (rg_step *best = steps->step; best;) {
        double best_rate = 0;
        load best_load = so_far;
        best = NULL;
        for (int i = 0; i < steps->n; i++) {
            rg_step *s = &steps->step[i];
            load with = so_far;
            with.added_s = 0;
            if (s->done || s->chosen || s->why || s->first) continue;
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
    for (int i = 0; i < steps->n; i++)
        if (!steps->step[i].done && !steps->step[i].chosen && !steps->step[i].why) steps->step[i].why = RG_NO_TIME;
    return whole_s(&so_far);
}
