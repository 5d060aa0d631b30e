// SPDX-License-Identifier: MIT
// run.c: runs the chosen steps in child processes: steps of one core beside each other and beside a GPU step.
#include "steps.h"

#include "../../impl/base/core.h"

#include <signal.h>
#include <sys/prctl.h>

static volatile sig_atomic_t stopped;
static void stop(int number) { stopped = number; }

// ---- whose turn it is ------------------------------------------------------------------------------------------------------

static bool is_ready(rg_step *need, void *of) {
    rg_step **first = of;
    if (!need->done && !*first) *first = need;
    return need->done;
}

static bool shares(const rg_steps_run *r, const rg_step *s) { return r->cores.beside && s->runs != RG_RUNS_ALONE && !s->first; }

static bool is_of_whole(rg_step *need, void *run) { return !shares(run, need); }

// Files for other steps come first; then steps that need the whole machine, as one of a core that takes longer than expected
// would keep them waiting; then steps on cores and a GPU side by side, and those that need the whole machine and one of these.
enum { FILES, WHOLE, SHARED, LAST, NONE };
static int turn_of(rg_steps_run *r, const rg_step *s) {
    return s->first ? FILES : shares(r, s) ? SHARED : rg_step_each_need(r->steps, s, is_of_whole, r) ? WHOLE : LAST;
}

// Of the steps that may begin, the one with more value a second, then the first in the table; of steps of one core the longest,
// since the last one to end keeps the others waiting.
static bool is_before(const rg_step *a, const rg_step *b) {
    const bool core = a->runs == RG_RUNS_CORE && b->runs == RG_RUNS_CORE;
    return core ? a->cost_s > b->cost_s : a->value / fmax(a->cost_s, 1) > b->value / fmax(b->cost_s, 1);
}

// The next step that may begin now beside the running ones; NULL: none.
static rg_step *next_step(rg_steps_run *r) {
    int cores = 0, others = 0, alone = 0, turn = NONE;
    bool taken[RG_BESIDE_MOST] = {false};
    rg_step *best = NULL;
    for (int i = 0; i < r->steps->n; i++) {
        rg_step *s = &r->steps->step[i], *need = NULL;
        if (s->pid > 0 && s->core >= 0)
            taken[s->core] = ++cores;
        else if (s->pid > 0)
            others++;
        alone += s->pid > 0 && turn_of(r, s) != SHARED;
        s->ready = s->chosen && !s->done && !s->failed && s->pid <= 0 && rg_step_each_need(r->steps, s, is_ready, &need);
        s->failed |= need && need->failed;
        if (s->ready && turn_of(r, s) < turn) turn = turn_of(r, s);
    }
    for (int i = 0; i < r->steps->n; i++) {
        rg_step *s = &r->steps->step[i];
        if (!s->ready || turn_of(r, s) != turn) continue;
        const bool may = turn != SHARED ? !others && !cores
            : s->runs == RG_RUNS_CORE   ? !alone && cores < r->cores.beside
                                        : !others;
        if (may && (!best || is_before(s, best))) best = s;
    }
    if (best && turn == SHARED && best->runs == RG_RUNS_CORE)
        for (best->core = 0; taken[best->core];) best->core++;
    return best;
}

// ---- processes -------------------------------------------------------------------------------------------------------------

typedef struct place {
    const rg_steps_run *run;
    const rg_step *step;
} place;

static void be_step(void *of) {
    const place *p = of;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // steps end with this process, which collects their results
    if (p->step->core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)p->run->cores.cpu[p->step->core], &set);
        sched_setaffinity(0, sizeof set, &set);
    } else if (p->run->cores.beside && p->step->runs == RG_RUNS_GPU) {
        sched_setaffinity(0, sizeof p->run->cores.rest, &p->run->cores.rest);
    }
}

static int end(rg_steps_run *r, rg_step *s, int code) {
    s->pid = 0;
    code = r->end(r, s, code, rg_seconds() - s->began_s);
    s->core = -1;
    return code;
}

static int begin(rg_steps_run *r, rg_step *s) {
    place p = {r, s};
    RG_FREED char *log = rg_print("%s/%s.log", r->folder, s->name), *line = rg_print(". \"$0\" && { %s\n}", s->command);
    const char *const word[] = {"sh", "-c", line, r->functions, NULL}; // a path is data, also one with a quote
    rg_child child = {.program = "/bin/sh", .word = word, .log = log, .prepare = be_step, .of = &p};
    rg_step_set_variables(s);
    int code = r->begin(r, s, &child);
    s->began_s = rg_seconds();
    if (!code && child.program) {
        s->pid = rg_child_start(&child);
        if (s->pid < 0) code = rg_fail(RG_LACKS, "step %s could not be started", s->name);
    } else if (!code) {
        s->done = true;
    }
    return code;
}

static int running(const rg_steps_run *r) {
    int n = 0;
    for (int i = 0; i < r->steps->n; i++) n += r->steps->step[i].pid > 0;
    return n;
}

static void begin_all(rg_steps_run *r, int *code) {
    for (rg_step *s; !*code && !r->over && (s = next_step(r));) {
        if (s->cost_s <= r->budget_s - (rg_seconds() - r->began_s)) {
            *code = begin(r, s);
            continue;
        }
        s->chosen = false;
        s->core = -1;
        s->why = RG_NO_TIME;
        if (r->no_time) r->no_time(r, s);
    }
}

int rg_steps_go(rg_steps_run *r) {
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (int code = RG_GOOD;;) {
        r->over = stopped || rg_seconds() - r->began_s > r->budget_s;
        begin_all(r, &code);
        if (!running(r)) return code;
        for (int i = 0; i < r->steps->n; i++) {
            rg_step *s = &r->steps->step[i];
            int ended;
            if (s->pid <= 0) continue;
            if (r->over) kill(-s->pid, SIGKILL);
            if (rg_child_ended(s->pid, &ended)) {
                const int failed = end(r, s, ended);
                code = code ? code : failed;
            } else if (r->waiting) {
                r->waiting(r, s);
            }
        }
        usleep(20000);
    }
}
