// SPDX-License-Identifier: MIT
// stages.c: writes the table of the stages' times, the same for all jobs. Stages overlap, so they may add up to more than the
// whole.
#include "pipeline.h"
#include "../../base/summary.h"

static const char *const stage_name[PL_STAGES] = {[PL_OPEN] = "open",
    [PL_SETUP] = "setup",
    [PL_REFERENCE] = "reference",
    [PL_READ] = "read",
    [PL_PREPARE] = "prepare",
    [PL_COPY] = "copy",
    [PL_INSERT] = "insert",
    [PL_STEP] = "step",
    [PL_ADD] = "add",
    [PL_MERGE] = "merge",
    [PL_MAP] = "map",
    [PL_FSC] = "fsc",
    [PL_WRITE] = "write"};

// "fp32=1.2e+12 memory=3e+09", or "-".
static void put_needs(FILE *f, const rg_cost *c) {
    const char *apart = "";
    for (int r = 0; r < RG_RESOURCES; r++)
        if (c->amount[r] > 0) {
            fprintf(f, "%s%s=%.4g", apart, rg_resource_name[r], c->amount[r]);
            apart = " ";
        }
    fprintf(f, "%s\n", *apart ? "" : "-");
}

static void put_stages(const pl_team *t, FILE *f, double whole_s, bool summary) {
    fprintf(f, "stage\tbusy_s\tshare\tcalls\tneeds\n");
    for (int s = 0; s < PL_STAGES; s++) {
        const char *name = s >= PL_CALL && s < PL_CALL + PL_CALLS ? t->call_name[s - PL_CALL] : stage_name[s];
        double busy_s = 0;
        int64_t calls = 0;
        int longest = 0;
        for (int i = 0; i < t->n; i++) {
            longest = t->member[i].stage[s].busy_s > busy_s ? i : longest;
            busy_s = t->member[longest].stage[s].busy_s;
            calls += t->member[i].stage[s].calls;
        }
        if (name && (busy_s > 0 || calls) && summary) rg_summary_stage(name, busy_s);
        if (name && (busy_s > 0 || calls)) {
            fprintf(f, "%s\t%.4f\t%.4f\t%" PRId64 "\t", name, busy_s, busy_s / whole_s, calls);
            put_needs(f, &t->member[longest].stage[s].needs);
        }
    }
    if (t->region_s > 0) fprintf(f, "region\t%.4f\t%.4f\t1\t-\n", t->region_s, t->region_s / whole_s);
    fprintf(f, "whole\t%.4f\t1.0000\t1\t-\n", whole_s);
}

int pl_stages_write(const pl_team *t, const char *out, const char *note) {
    const double whole_s = rg_seconds() - t->of.began_s;
    rg_device_facts facts;
    rg_file file;
    int code = pl_failed(t->member, "its name", t->member->device->facts(&facts));
    if (code != RG_GOOD) return code;
    code = rg_file_open_beside(&file, out, "_stages", ".tsv");
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "%s# on %d x %s, %d thread%s each\n# device: %s\n# threads: %d\n", note, t->n, facts.name,
        t->member->threads, rg_plural(t->member->threads), t->member->device->name, t->member->threads);
    put_stages(t, file.stream, whole_s, true);
    put_stages(t, stdout, whole_s, false);
    rg_summary_stage("whole", whole_s);
    rg_summary_did(
        "computed on", "%d x %s, %d thread%s each", t->n, facts.name, t->member->threads, rg_plural(t->member->threads));
    return rg_file_commit(&file);
}
