// SPDX-License-Identifier: MIT
// generations.c: draws one ratio over the generations of hardware, a column per GPU: first those of the papers, with their
// printed numbers ("GPU=CLAIM:ID of published/", none if a paper prints none), then those of the machines, by the claims of the
// series.
#include "figures.h"
#include "../../impl/base/core.h"

enum { GPUS_MOST = 24, KERNELS_MOST = 8, NAME = 48 };

typedef struct columns {
    const rg_ledger *ledger;
    FILE *out;
    int gpus, kernels, points;
    char gpu[GPUS_MOST][NAME], kernel[KERNELS_MOST][NAME];
    int claim[KERNELS_MOST];
    bool has[GPUS_MOST][KERNELS_MOST];
} columns;

// Column of the GPU, from 0; -1: no room.
static int place_of(columns *c, const char *gpu) {
    int i = 0;
    while (i < c->gpus && strcmp(c->gpu[i], gpu)) i++;
    if (i == GPUS_MOST) return -1;
    if (i == c->gpus) snprintf(c->gpu[c->gpus++], NAME, "%.*s", NAME - 1, gpu);
    return i;
}

// Draws the first number of a kernel on a GPU; this machine's come before others'.
static void add_point(columns *c, int gpu, int kernel, double value, double low, double high, bool printed) {
    if (gpu < 0 || !(value > 0) || c->has[gpu][kernel]) return;
    c->has[gpu][kernel] = true;
    c->points += !printed;
    fprintf(c->out, "%d\t%d\t%.6g\t%.6g\t%.6g\t%d\n", gpu + 1, kernel + 1, value, low, high, printed);
}

static void add_printed(columns *c, const char *list) {
    char one[120];
    while (rg_next_piece(&list, ',', one, sizeof one)) {
        char *id = strchr(one, '='), *number = strchr(one, ':');
        if (id) *id++ = 0;
        const int gpu = place_of(c, one);
        if (!id || !number) continue;
        *number++ = 0;
        const int claim = rg_claim_of(&c->ledger->claims, id);
        for (int k = 0; claim >= 0 && k < c->kernels; k++)
            if (c->claim[k] == claim) {
                const int paper = rg_paper_of(&c->ledger->claims, rg_claim_cell(&c->ledger->claims, claim, "paper"));
                add_point(c, gpu, k, atof(rg_published_number(&c->ledger->claims, paper, number, "value")), NAN, NAN, true);
            }
    }
}

// Adds "H100 (2026)", from "NVIDIA H100 80GB HBM3" and the day of the measurement.
static void add_machine(columns *c, int machine) {
    const rg_bench_machine *m = &c->ledger->machine[machine];
    const char *gpu = rg_machine_head(m, "gpu"), *maker = "NVIDIA ";
    char name[NAME];
    if (!strncmp(gpu, maker, strlen(maker))) gpu += strlen(maker);
    snprintf(name, NAME, "%.*s (%.4s)", (int)strcspn(gpu, " "), gpu, rg_machine_head(m, "date"));
    for (int k = 0; k < c->kernels; k++) {
        const rg_judgement *j = rg_verdict_on(c->ledger, c->claim[k], machine);
        if (isfinite(j->value)) add_point(c, place_of(c, name), k, j->value, j->low, j->high, false);
    }
}

void rg_find_generations(const rg_listed *l, const char *name, rg_found *found) {
    columns c = {.ledger = l->all->ledger};
    const char *gpu[GPUS_MOST], *kernel[KERNELS_MOST];
    char one[120];
    for (const char *at = rg_listed_cell(l, "series"); rg_next_piece(&at, ',', one, sizeof one) && c.kernels < KERNELS_MOST;) {
        const char *id = strchr(one, '=');
        c.claim[c.kernels] = id ? rg_claim_of(&c.ledger->claims, id + 1) : -1;
        if (c.claim[c.kernels] >= 0) snprintf(c.kernel[c.kernels++], NAME, "%.*s", (int)strcspn(one, "="), one);
    }
    snprintf(found->data, sizeof found->data, "%.100s.tsv", name);
    RG_FREED char *path = rg_print("%s/fig/%s", l->all->out, found->data);
    rg_file file;
    if ((found->code = rg_file_open(&file, path)) != RG_GOOD) return;
    c.out = file.stream;
    fputs("gpu\tkernel\tratio\tlow\thigh\tprinted\n", c.out);
    add_printed(&c, rg_listed_cell(l, "marks"));
    rg_plot_number(&found->plot, "PAPERS", c.gpus);
    for (int m = 0; m < c.ledger->n_machines; m++) add_machine(&c, m);
    found->code = rg_file_commit(&file);
    found->points = c.points;
    found->keys = c.kernels;
    for (int i = 0; i < c.gpus; i++) gpu[i] = c.gpu[i];
    for (int i = 0; i < c.kernels; i++) kernel[i] = c.kernel[i];
    if (!c.points) return;
    rg_plot_path(&found->plot, "DATA", found->data);
    rg_plot_text(&found->plot, "RATIO", rg_listed_cell(l, "base"));
    rg_plot_texts(&found->plot, "GPUS", c.gpus, gpu);
    rg_plot_texts(&found->plot, "KERNELS", c.kernels, kernel);
}
