// SPDX-License-Identifier: MIT
// duel.c: `duel --job`: runs two whole commands, files to files, in turns. Each run is a process, so a pair of runs is one
// observation of bench/stats/rule.h.
#include "run.h"

#include "../duel/duel.h"
#include "../../impl/base/process.h"

typedef struct team {
    const rg_duel *duel;
    const char *command[2]; // old, new
    char *const *program;
    char folder[2][4096];
    rg_job_run run[2]; // of the pair
    double log_ratio[RG_CLOCKS][RG_DUEL_PROCESSES_MOST], sum_s[RG_CLOCKS][2];
    int n, first;
    char outputs[200]; // how those of both were compared
    rg_file *file;     // stream NULL: none
} team;

static double seconds(const rg_job_run *run, int clock) { return clock == RG_CLOCK_CPU ? run->cpu_s : run->wall_s; }

// ---- outputs -------------------------------------------------------------------------------------------------------------

// `command` with {old} and {new} replaced by the outputs of the two, or by the prefix of their names.
static char *check_line(const team *t, const char *command) {
    RG_FREED char *of_old = rg_job_put_out(command, "{old}", t->folder[0]);
    return rg_job_put_out(of_old, "{new}", t->folder[1]);
}

static int compare_outputs(team *t) {
    if (t->duel->check) {
        RG_FREED char *line = check_line(t, t->duel->check);
        const int code = rg_shell(line, NULL);
        snprintf(t->outputs, sizeof t->outputs, "outputs pass --check");
        return code == 0 ? RG_GOOD : rg_fail(RG_WRONG, "duel: BROKEN: the outputs do not pass --check");
    }
    const rg_job_outputs found = rg_job_outputs_compare(t->folder[0], t->folder[1]);
    if (found.differ)
        return rg_fail(RG_WRONG,
            "duel: BROKEN: %d of %d output%s differ%s, %s the first; where they may, say how much by --check", found.differ,
            found.files, rg_plural(found.files), found.differ == 1 ? "s" : "", found.first);
    snprintf(t->outputs, sizeof t->outputs, found.files ? "%d output%s equal" : "no outputs in {out}", found.files,
        rg_plural(found.files));
    return RG_GOOD;
}

// ---- pairs ---------------------------------------------------------------------------------------------------------------

static int run_one(team *t, int side) {
    t->run[side] = rg_job_run_once(t->program[side], t->command[side], t->folder[side], -1);
    const int code = t->run[side].code;
    if (!code) return RG_GOOD;
    return rg_fail(code == RG_USAGE || code == RG_LACKS ? code : RG_WRONG, "duel: %s%s: exit status %d: %s",
        code == RG_USAGE || code == RG_LACKS ? "" : "BROKEN: ", t->command[side], code, t->run[side].said);
}

static int run_pair(team *t, int number) {
    t->first = (int)(rg_bits(t->duel->given.seed, (uint64_t)number) >> 63);
    int code = run_one(t, t->first);
    code = code ? code : run_one(t, !t->first);
    return code ? code : compare_outputs(t);
}

static void note(team *t) {
    for (int clock = 0; clock < RG_CLOCKS; clock++) {
        const double s[2] = {seconds(&t->run[0], clock), seconds(&t->run[1], clock)};
        t->log_ratio[clock][t->n] = log(s[1] / s[0]);
        t->sum_s[clock][0] += s[0];
        t->sum_s[clock][1] += s[1];
    }
    t->n++;
    if (t->file->stream)
        rg_tsv_print(t->file->stream, "%d\t%s\t%.6f\t%.6f\t%.6f\t%.6f\t%.0f\t%.0f\n", t->n, t->first ? "new" : "old",
            t->run[0].wall_s, t->run[1].wall_s, t->run[0].cpu_s, t->run[1].cpu_s, t->run[0].peak_bytes, t->run[1].peak_bytes);
}

// ---- the duel ------------------------------------------------------------------------------------------------------------

static int conclude(const team *t, rg_change outcome) {
    char text[RG_CLOCKS][160];
    const char *const name[RG_CLOCKS] = {"wall", "CPU"};
    for (int clock = 0; clock < RG_CLOCKS; clock++) {
        const rg_ratio r = rg_duel_ratio(t->log_ratio[clock], t->n);
        char time[2][32];
        for (int i = 0; i < 2; i++) rg_duration(1e9 * t->sum_s[clock][i] / t->n, time[i]);
        snprintf(text[clock], sizeof text[clock], "%s %s -> %s, %.4g [%.4g, %.4g]", name[clock], time[0], time[1], r.ratio,
            r.low, r.high);
    }
    const int clock = t->duel->clock;
    printf("%s%-9s%s %s -> %s: %s, gate %.3g %%, %d pair%s; %s; %s%s\n", rg_colour(stdout, rg_change_colour[outcome]),
        rg_change_name[outcome], rg_colour(stdout, "off"), t->command[0], t->command[1], text[clock], 100 * t->duel->gate, t->n,
        rg_plural(t->n), text[!clock], t->outputs,
        outcome != RG_UNDECIDED              ? ""
            : t->n == RG_DUEL_PROCESSES_MOST ? "; the interval crosses the gate after all pairs: choose another gate"
                                             : "; time is up: give more by --max-seconds");
    return rg_duel_code(outcome);
}

static int fight(team *t) {
    rg_ratio ratio = {NAN, 0, INFINITY};
    rg_change outcome = RG_UNDECIDED;
    rg_progress progress;
    if (t->file->stream)
        rg_tsv_print(t->file->stream, "pair\tfirst\told_s\tnew_s\told_cpu_s\tnew_cpu_s\told_peak_bytes\tnew_peak_bytes\n");
    int code = run_pair(t, 0); // not counted: brings files into the page cache
    const double began_s = rg_seconds();
    rg_progress_begin(&progress, "duel", "pairs", RG_DUEL_PROCESSES_MOST);
    while (!code && outcome == RG_UNDECIDED && t->n < RG_DUEL_PROCESSES_MOST &&
        (t->n == 0 || rg_seconds() - began_s < t->duel->max_s)) {
        code = run_pair(t, t->n + 1);
        if (code) break;
        note(t);
        outcome = rg_duel_judge(t->log_ratio[t->duel->clock], t->n, t->duel->gate, &ratio);
        rg_progress_at(&progress, t->n);
    }
    rg_progress_end(&progress);
    return code ? code : conclude(t, outcome);
}

int rg_duel_jobs(const rg_duel *d, char *const program[2], rg_file *file) {
    team t = {.duel = d,
        .command = {d->given.word.item[0], d->given.word.item[d->given.word.n - 1]},
        .program = program,
        .file = file};
    int code = RG_GOOD, made = 0;
    while (made < 2 && !(code = rg_job_folder_make(t.folder[made]))) made++;
    code = code ? code : fight(&t);
    for (int i = 0; i < made; i++) rg_job_folder_remove(t.folder[i]);
    return code;
}
