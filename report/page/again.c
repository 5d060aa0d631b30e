// SPDX-License-Identifier: MIT
// again.c: the command that measures a claim again, and what a machine lacks for those that were not tested.
#include "../../impl/runtime/table.h"
#include "content.h"
#include <stdlib.h>
#include <string.h>

static bool mentions(const rg_report *r, int claim, const char *word)
{
    return strstr(rg_claim_cell(r, claim, "numerator"), word) || strstr(rg_claim_cell(r, claim, "denominator"), word);
}

// Whether the claim's rows or tables are of more than one GPU.
static bool needs_gpus(const rg_report *r, int claim)
{
    static const char *const word[] = {"gpus=2", "gpus=4", "gpus=8", "s11_", "s9gpu2", "s9gpu4", "fr_merged"};
    for (int i = 0; i < RG_COUNT(word); i++)
        if (mentions(r, claim, word[i])) return true;
    return false;
}

static bool needs_gpu(const rg_report *r, int claim)
{
    for (int i = 0; i < rg_entry_count(); i++) {
        const rg_entry *e = rg_entry_at(i);
        char spec[160];
        snprintf(spec, sizeof spec, "%s:%s", e->algo->name, e->name);
        if (!e->emulated && e->variant->space == RG_DEVICE && mentions(r, claim, spec)) return true;
    }
    return mentions(r, claim, "gpus=1") || mentions(r, claim, "_gpu") || mentions(r, claim, "s9");
}

// ---- what is lacking ------------------------------------------------------------------------------------------------------

typedef enum { OCTAVE, GPUS, ENERGY, SERIES, WRONG, GPU, RUN, NEEDS } need;
static const char *const need_name[NEEDS] = {"GNU Octave", "several GPUs", "energy counters", "the series of photographs",
    "kernels that are wrong on purpose", "a GPU", "a longer run"};

static bool has_gpu(const rg_bench_machine *m)
{
    RG_EACH_ROW(row, m)
    if (rg_timed(row) && !strcmp(row->cell[RG_C_SPACE], "device")) return true;
    return false;
}

// What the machine lacks, not all that the claim asks for: of a claim over Octave it may be a GPU, of one over a GPU a core's
// time.
static need need_of(const rg_report *r, int claim, int machine)
{
    const char *kind = rg_claim_cell(r, claim, "kind");
    return strstr(rg_judged(r, claim, machine)->why, ":octave") ? OCTAVE
        : needs_gpus(r, claim)                                  ? GPUS
        : !strcmp(kind, "energy")                               ? ENERGY
        : !strcmp(kind, "job") || !strcmp(kind, "peaks")        ? SERIES
        : !strcmp(kind, "fault")                                ? WRONG
        : needs_gpu(r, claim) && !has_gpu(&r->machine[machine]) ? GPU
                                                                : RUN;
}

void rg_untested(const rg_report *r, int machine, const char *paper, char *text, size_t room)
{
    int count[NEEDS] = {0}, all = 0;
    size_t n = 0;
    *text = 0;
    for (int i = 0; i < r->claims.claim.n_rows; i++)
        if (rg_is_of(r, i, paper) && !rg_is_addition(&r->claims, i) && rg_judged(r, i, machine)->outcome == RG_NOT_TESTABLE) {
            count[need_of(r, i, machine)]++;
            all++;
        }
    if (!all) return;
    n += (size_t)snprintf(
        text, room, "Not testable on %s: %d. Needed: ", rg_machine_name(&r->machine[machine], "this machine"), all);
    for (int k = 0, said = 0; k < NEEDS && n < room; k++)
        if (count[k]) n += (size_t)snprintf(text + n, room - n, "%s%s (%d)", said++ ? ", " : "", need_name[k], count[k]);
    if (n < room && all > count[GPUS]) n += (size_t)snprintf(text + n, room - n, "; then `make reproduce`");
    if (n < room && count[GPUS]) n += (size_t)snprintf(text + n, room - n, "; `regather record --out NAME`");
    if (n < room) snprintf(text + n, room - n, ".");
}

// ---- the command ------------------------------------------------------------------------------------------------------------

// Whether text is a shape, and nothing more: "w750,h1500,r250,k0".
static bool is_shape(const char *text)
{
    return strchr(text, ',') && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789,-")];
}

void rg_again(const rg_report *r, int claim, int machine, char *text, size_t room)
{
    static const char *const timed[] = {"ratio", "rate", "scaling", "growth", "mean", "energy"};
    const char *kind = rg_claim_cell(r, claim, "kind"), *spec = rg_claim_cell(r, claim, "numerator");
    const rg_judgement *j = rg_judged(r, claim, machine);
    char algo[48];
    bool is_timed = false;
    snprintf(algo, sizeof algo, "%.*s", (int)strcspn(spec, ":"), spec);
    for (int i = 0; i < RG_COUNT(timed); i++) is_timed |= !strcmp(kind, timed[i]);
    if (needs_gpus(r, claim)) {
        snprintf(text, room, "regather record --out NAME");
    } else if (!strcmp(kind, "equal") && rg_algo_find(algo)) {
        snprintf(text, room, "regather verify %s", algo);
    } else if (!strcmp(kind, "configs") && rg_algo_find(algo)) {
        snprintf(text, room, "regather tune %.*s", (int)strcspn(spec, " @"), spec);
    } else if (is_timed && rg_algo_find(algo)) {
        size_t n = (size_t)snprintf(text, room, "regather bench %s", algo);
        bool shaped = false;
        char shape[sizeof j->size];
        for (const char *at = j->size; n < room && rg_next_piece(&at, ';', shape, sizeof shape);)
            if (is_shape(shape)) {
                n += (size_t)snprintf(text + n, room - n, " --shape %s", shape);
                shaped = true;
            }
        if (!shaped && n < room) n += (size_t)snprintf(text + n, room - n, " --preset paper");
        if (*j->scope && strcmp(j->scope, "device") && !strpbrk(j->scope, " ,;") && n < room)
            n += (size_t)snprintf(text + n, room - n, " --scope %s", j->scope);
        if (!strcmp(kind, "energy") && n < room) snprintf(text + n, room - n, " --energy");
    } else {
        snprintf(text, room, "make reproduce");
    }
}
