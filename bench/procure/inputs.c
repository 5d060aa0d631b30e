// SPDX-License-Identifier: MIT
// inputs.c: makes the inputs of a workload, and a job's command on them: see measure.h.
#include "measure.h"

int rg_inputs_generate(rg_inputs_made *m, const rg_workload *w, const char *program, const char *folder, uint64_t seed) {
    int code = RG_GOOD;
    *m = (rg_inputs_made){.workload = w, .program = program, .folder = folder, .seed = seed};
    for (int j = 0; j < w->n && !code; j++) {
        const int first = w->job[j].input_of;
        m->in[j] = rg_print("%s/in%d", folder, first);
        if (first == j) {
            RG_FREED char *command = rg_print("%s --seed %" PRIu64 " --out %s", w->job[j].input, seed, m->in[j]);
            const rg_job_run run = rg_job_run_once(program, command, folder, -1);
            if (run.code)
                code = rg_fail(RG_WRONG, "%s: its input cannot be made: exit status %d: %s", w->job[j].job, run.code, run.said);
            else
                rg_job_outputs_hash(m->in[j], m->hash[j]);
        } else {
            memcpy(m->hash[j], m->hash[first], sizeof m->hash[j]);
        }
    }
    return code;
}

void rg_inputs_made_free(rg_inputs_made *m) {
    for (int j = 0; j < RG_JOBS_MOST; j++) free(m->in[j]);
    *m = (rg_inputs_made){0};
}

char *rg_job_command(const rg_inputs_made *m, int job, const char *more) {
    RG_FREED char *words = rg_print("%s%s%s", m->workload->job[job].command, *more ? " " : "", more);
    return rg_job_put(words, "{in}", m->in[job]);
}
