// SPDX-License-Identifier: MIT
// say.c: writes counts, untested claims and what they need, the command that repeats a claim, samples, what is left out.
#include "words.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

const char rg_report_title[] = "Scatter or gather: papers on GPU imaging kernels, measured again";

const char rg_report_lead[] =
    "Scatter: each input adds to the outputs that it touches. Gather: each output collects the inputs that it needs. Which is faster, "
    "and by how much, was measured.";

const char *const rg_reading[] = {
    "reproduced: our number lies on the side that the paper says and between the bounds that `reference/claims.tsv` gives "
    "with their reason. order of magnitude: the same with bounds of half a decade either way. direction only: outside the "
    "bounds, on the paper's side with the whole interval. contradicted today: on the other side with the whole interval, "
    "or a FAIL of the checker; the reason stands beside it. exists: shown to run or to be there, no number is met. not "
    "called: measured, but without an interval, or with one that holds both answers. not testable here: the rows are "
    "missing and the reason is given; no number of another machine takes their place. paper inconsistent: the paper "
    "contradicts itself. criticism: it does not, but a reader should know.",
    "Claims rest on a published number or sentence; what has none is an addition of this project and counted apart. Fails "
    "at: the result that makes the claim fail, which a test feeds to the judge.",
    "Every time is a median of samples taken in turn with all other variants; the interval holds 95 %. A variant is timed "
    "only after it has passed the checker in the same build.",
    "Scope: kernel is the kernel alone, device works on data that are already there, transfer (pinned memory) and pageable add the copies to and from "
    "the GPU, job goes from files to files. Mode: cold begins with an emptied cache, hot does not.",
    "Bound and Reached: the resource that limits the variant, by its stated need and the rate measured on the same machine "
    "in the same run, and the part of that rate that it reaches.",
    "Ratios between a CPU and a GPU of another decade say little about a pair of today: the ratio shows which way of "
    "computing wins, the absolute rates show by how much here.",
    "Times on a shared or virtual machine move with its neighbours: the A/A self-test shows by how much.",
    "Where a size differs from the paper's, the tables name it: small inputs sit in caches that the paper's leave.",
    "Reference machines were measured elsewhere and are shown beside this one, never instead of it.", NULL};

void rg_say_counts(const rg_ledger *l, int machine, const char *paper, char text[RG_SAY]) {
    size_t at = 0;
    *text = 0;
    for (int additions = 0; additions < 2; additions++) {
        int count[RG_OUTCOMES], n = rg_count_outcomes(l, machine, paper, additions, count);
        const char *separator = ": ";
        if (n && at < RG_SAY)
            at += (size_t)snprintf(text + at, RG_SAY - at, "%s%d %s", additions ? "; " : "", n,
                additions ? "additions of this project" : "claims");
        for (int o = 0; o < RG_OUTCOMES && at < RG_SAY; o++)
            if (count[o]) {
                at += (size_t)snprintf(text + at, RG_SAY - at, "%s%d %s", separator, count[o], rg_outcome_name[o]);
                separator = ", ";
            }
    }
}

// ---- another machine beside the page's ---------------------------------------------------------------------------------------

void rg_say_beside(const rg_ledger *l, int machine, char text[RG_SAY]) {
    enum { LEAST = 10 }; // rows of which quarters say something
    size_t at = 0;
    *text = 0;
    for (int gpu = 1; machine && gpu >= 0; gpu--) {
        rg_estimate half;
        char value[32], low[32], high[32];
        const int n = rg_times_beside(rg_rows_on(l, machine), rg_rows_on(l, 0), gpu, &half);
        if (n < LEAST) continue;
        rg_say_digits(half.value, value);
        rg_say_digits(half.low, low);
        rg_say_digits(half.high, high);
        at += (size_t)snprintf(text + at, RG_SAY - at,
            "%s%d times %s are %s of those of %s in the median (half of them %s to %s)", at ? "; " : "", n,
            gpu ? "on its GPU" : "on one core", value, rg_machine_name(&l->machine[0], "this machine"), low, high);
    }
}

// ---- needs of a claim: the words of the column `needs` of claims.tsv -------------------------------------------------------

typedef enum { OCTAVE, GPUS, ENERGY, SERIES, KERNEL, WRONG, GPU, RUN, NEEDS } need;
static const struct {
    const char *word, *text;
} needs[NEEDS] = {{"octave", "GNU Octave"}, {"gpus", "several GPUs"}, {"energy", "energy counters"},
    {"series", "the series of photographs"}, {"kernel", "a kernel that the suite does not time"},
    {"wrong", "kernels that are wrong on purpose"}, {"gpu", "a GPU"}, {"", "a longer run"}};

static bool has(rg_rows rows, need what) {
    bool any = false;
    for (rg_cursor at = {.rows = rows}; !any && rg_next(&at);)
        any = rg_timed(at.row) &&
            (what == GPU ? rg_on_gpu(at.row) : what == OCTAVE && !strcmp(at.row->cell[RG_C_VARIANT], "octave"));
    return any;
}

// Returns the first need of the claim that the machine lacks: over Octave perhaps a GPU, over a GPU a core's time.
static need need_of(const rg_ledger *l, int claim, int machine) {
    char word[16];
    for (const char *at = rg_claim_cell(&l->claims, claim, "needs"); rg_next_piece(&at, ' ', word, sizeof word);)
        for (int k = 0; k < RUN; k++)
            if (!strcmp(word, needs[k].word) && !has(rg_rows_on(l, machine), (need)k)) return (need)k;
    return RUN;
}

void rg_say_untested(const rg_ledger *l, int machine, const char *paper, char text[RG_SAY]) {
    int count[NEEDS] = {0}, all = 0;
    size_t n = 0;
    *text = 0;
    for (int i = 0; i < l->claims.claim.n_rows; i++)
        if (rg_is_of(&l->claims, i, paper) && !rg_is_addition(&l->claims, i) &&
            rg_verdict_on(l, i, machine)->outcome == RG_NOT_TESTABLE) {
            count[need_of(l, i, machine)]++;
            all++;
        }
    if (!all) return;
    n += (size_t)snprintf(
        text, RG_SAY, "Not testable on %s: %d. Needed: ", rg_machine_name(&l->machine[machine], "this machine"), all);
    for (int k = 0, said = 0; k < NEEDS; k++)
        if (count[k]) n += (size_t)snprintf(text + n, RG_SAY - n, "%s%s (%d)", said++ ? ", " : "", needs[k].text, count[k]);
    if (all > count[GPUS]) n += (size_t)snprintf(text + n, RG_SAY - n, "; then `make reproduce`");
    if (count[GPUS]) n += (size_t)snprintf(text + n, RG_SAY - n, "; `regather record --out NAME`");
    snprintf(text + n, RG_SAY - n, ".");
}

// ---- the command -----------------------------------------------------------------------------------------------------------

// Whether text is only a shape: "w750,h1500,r250,k0".
static bool is_shape(const char *text) {
    return strchr(text, ',') && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789,-")];
}

void rg_say_command(const rg_ledger *l, int claim, int machine, char text[RG_SAY]) {
    const rg_judgement *v = rg_verdict_on(l, claim, machine);
    const char *command = rg_claim_cell(&l->claims, claim, "again");
    char shape[sizeof v->size], shapes[RG_SAY / 2] = "", scope[64] = "";
    for (const char *at = v->size; rg_next_piece(&at, ';', shape, sizeof shape);)
        if (is_shape(shape)) snprintf(shapes + strlen(shapes), sizeof shapes - strlen(shapes), " --shape %s", shape);
    if (*v->scope && strcmp(v->scope, "device") && !strpbrk(v->scope, " ,;"))
        snprintf(scope, sizeof scope, " --scope %s", v->scope);
    const rg_known_word word[] = {{" {shape}", *shapes ? shapes : " --preset paper"}, {" {scope}", scope}};
    rg_fill_in(*command ? command : "make reproduce", word, RG_COUNT(word), text, RG_SAY);
}

// ---- samples, and rows that are left out -----------------------------------------------------------------------------------

void rg_say_samples(const rg_ledger *l, int claim, int machine, char text[RG_SAY]) {
    static const char *const side[] = {"numerator", "denominator"};
    const rg_judgement *v = rg_verdict_on(l, claim, machine);
    size_t n = 0;
    *text = 0;
    for (int k = 0; k < 2 && *v->size; k++) {
        const char *spec = rg_claim_cell(&l->claims, claim, side[k]), *scopes = rg_claim_cell(&l->claims, claim, "scope");
        const rg_row *row = *spec ? rg_pick(rg_rows_on(l, machine), spec, v->size, scopes) : NULL;
        char median[32];
        if (!row) continue;
        RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(row);
        rg_duration(row->timed_ns, median);
        n += (size_t)snprintf(text + n, RG_SAY - n, "%s%s %s: %s, median of %d", n ? "; " : "", row->cell[RG_C_VARIANT],
            row->cell[RG_C_PARAMS], median, samples.n);
    }
}

void rg_say_machine_title(const rg_bench_machine *m, char text[RG_SAY]) {
    snprintf(text, RG_SAY, "%s: all that was measured", rg_machine_name(m, "This machine"));
}

bool rg_say_left_out(const rg_ledger *l, int machine, int k, char text[RG_SAY]) {
    const rg_bench_machine *m = &l->machine[machine];
    int on_tables = 0;
    for (int i = 0; m->alone && i < l->claims.claim.n_rows; i++)
        on_tables += rg_verdict_on(l, i, machine)->why.reason == RG_BY_NO_TABLE;
    const struct {
        int n;
        const char *what;
    } said[] = {
        {on_tables, "a record without its tables, NAME.tables.tsv, beside it; claims that rest on them and are not testable"},
        {rg_machine_rows(m, RG_STALE),
            l->up_to == RG_STALE ? "rows timed before their kernels changed (verdicts that rest on them say STALE)"
                                 : "rows timed before their kernels changed, and left out"},
        {rg_machine_stale_tables(m), "tables of before their jobs changed (shown with --stale alone)"},
        {rg_machine_rows(m, RG_UNSOURCED),
            "rows without a hash of their kernel's source, so that nobody can tell whether it is "
            "today's (verdicts that rest on them say SOURCE NOT KNOWN)"}};
    for (int i = 0; i < RG_COUNT(said); i++)
        if (said[i].n && k-- == 0) {
            snprintf(text, RG_SAY, "%s: %s: %d.", rg_machine_name(m, "This machine"), said[i].what, said[i].n);
            return true;
        }
    return false;
}

void rg_warn_left_out(const rg_ledger *l) {
    const char *done = l->up_to == RG_STALE ? "what rests on them is marked" : "left out, --stale shows them";
    for (int m = 0; m < l->n_machines; m++)
        for (int f = 0; f < l->machine[m].n_files; f++) {
            const rg_row_file *file = &l->machine[m].file[f];
            const int stale = file->up_to[RG_STALE] - file->up_to[RG_UNSOURCED];
            if (stale)
                rg_warn("%s: %d of %d rows were timed before their kernels changed: %s", file->result.path, stale,
                    file->up_to[RG_STALE], done);
        }
    char text[RG_SAY];
    if (l->machine[0].alone && rg_say_left_out(l, 0, 0, text)) rg_warn("%s", text);
    for (int m = 0; m < l->n_machines; m++)
        if (rg_machine_stale_tables(&l->machine[m]))
            rg_warn("%s: %d of %d tables date from before their jobs changed: %s",
                rg_machine_name(&l->machine[m], "this machine"), rg_machine_stale_tables(&l->machine[m]),
                l->machine[m].n_tables, done);
}

// ---- the terminal ----------------------------------------------------------------------------------------------------------

void rg_print_summary(const rg_ledger *l, const char *folder, FILE *out) {
    enum { CONTRADICTED_MOST = 8 };
    static const char *const head[RG_OUTCOMES] = {"reproduced", "order", "direction", "contradicted", "exists", "not called",
        "not testable", "inconsistent", "criticism"};
    const rg_claims *c = &l->claims;
    char text[RG_SAY];
    int shown = 0, all = 0;
    rg_tsv_print(out, "%s, claims by verdict:\n", l->machine[0].label);
    fprintf(out, "%-14s", "");
    for (int o = 0; o < RG_OUTCOMES; o++) fprintf(out, "  %s", head[o]);
    for (int p = 0; p < c->paper.n_rows; p++) {
        int count[RG_OUTCOMES];
        const char *paper = rg_paper_cell(c, p, "paper");
        rg_count_outcomes(l, 0, paper, false, count);
        rg_tsv_print(out, "\n%s", paper);
        fprintf(out, "%*s", 14 - (int)strlen(paper), "");
        for (int o = 0; o < RG_OUTCOMES; o++) fprintf(out, "  %*d", (int)strlen(head[o]), count[o]);
    }
    fputc('\n', out);
    for (int i = 0; i < c->claim.n_rows; i++) {
        const rg_judgement *v = rg_verdict_on(l, i, 0);
        if (v->outcome != RG_CONTRADICTED || rg_is_addition(c, i) || ++all > CONTRADICTED_MOST) continue;
        if (!shown++) fprintf(out, "%s:\n", rg_outcome_name[RG_CONTRADICTED]);
        rg_say_ours(v, text);
        rg_tsv_print(out, "  %-5s printed %s %s, here %.80s\n", rg_claim_cell(c, i, "id"), rg_published(c, i, "value"),
            rg_published(c, i, "unit"), text);
    }
    if (all > shown) fprintf(out, "  and %d more\n", all - shown);
    rg_say_untested(l, 0, NULL, text);
    if (*text) rg_tsv_print(out, "%s\n", text);
    rg_tsv_print(out, "every claim: %s/ledger.tsv; the page: %s/index.html, %s/REPORT.md\n", folder, folder, folder);
}
