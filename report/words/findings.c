// SPDX-License-Identifier: MIT
// findings.c: writes the findings: the sentences of reference/found.tsv for the first screen, those of findings.tsv for the
// cards and the titles of figures.
#include "words.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

void rg_say_digits(double value, char text[32]) {
    const double step = fabs(value) < 1000 ? 0 : pow(10, floor(log10(fabs(value))) - 2);
    snprintf(text, 32, step > 0 ? "%.0f" : "%.3g", step > 0 ? step * round(value / step) : value);
    if (value < 1 && !strcmp(text, "1")) // a value below 1 is not printed as 1
        snprintf(text, 32, "%.5g", fmin(value, 0.99999));
}

void rg_say_amount(double value, const char *unit, char text[48]) {
    static const struct {
        double size;
        const char *prefix;
    } step[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
    char of[31];
    int i = 0;
    while (i + 1 < RG_COUNT(step) && value < step[i].size) i++;
    snprintf(of, sizeof of, "%s", unit);
    *text = 0;
    if (isfinite(value))
        snprintf(text, 48, "%.3g %s%s%s", value / step[i].size, step[i].prefix, *step[i].prefix ? " " : "", of);
}

void rg_fill_in(const char *from, const rg_known_word *word, int words, char *to, size_t room) {
    size_t n = 0;
    *to = 0;
    while (*from && n + 1 < room) {
        int k = 0;
        while (k < words && strncmp(from, word[k].word, strlen(word[k].word))) k++;
        const bool known = k < words;
        const char *text = known ? word[k].text : from;
        n += (size_t)snprintf(to + n, room - n, "%.*s", known ? (int)strlen(text) : 1, text);
        from += known ? strlen(word[k].word) : 1;
    }
}

// Writes the measured value, with its interval if that is wide.
static void say_measured(const rg_judgement *j, bool interval, char text[128]) {
    char low[32], high[32];
    rg_say_digits(j->value, text);
    rg_say_digits(j->low, low);
    rg_say_digits(j->high, high);
    if (interval && isfinite(j->high) && j->low > 0 && j->high > RG_WIDE * j->low)
        snprintf(text + strlen(text), 128 - strlen(text), " (between %s and %s)", low, high);
}

// Copies `from` with {ours}, {paper} and {open} replaced: the measured value, the published one, why there is no verdict.
static void fill(const char *from, const rg_judgement *j, const char *paper, char *to, size_t room) {
    char ours[128], low[32], high[32], open[80] = ", timed once";
    rg_say_digits(j->low, low);
    rg_say_digits(j->high, high);
    if (isfinite(j->low) && isfinite(j->high)) snprintf(open, sizeof open, ", interval %s to %s", low, high);
    say_measured(j, !strstr(from, "{open}"), ours);
    const rg_known_word word[] = {{"{ours}", ours}, {"{paper}", paper}, {"{open}", open}};
    rg_fill_in(from, word, RG_COUNT(word), to, room);
}

// Returns the column of findings.tsv for a claim's outcome; NULL: not measured.
static const char *side_of(const rg_judgement *j) {
    static const char *const side[RG_OUTCOMES] = {"holds", "holds", "holds", "fails", "holds", "open", NULL, NULL, NULL};
    return isnan(j->value) ? NULL : side[j->outcome];
}

bool rg_finding(const rg_ledger *l, const char *id, int machine, char *text, size_t room) {
    const int claim = rg_claim_of(&l->claims, id);
    *text = 0;
    if (claim < 0 || !l->verdict) return false;
    const rg_judgement *j = rg_verdict_on(l, claim, machine);
    if (!side_of(j)) return false;
    char paper[96], over[32] = "not timed";
    snprintf(paper, sizeof paper, "%.40s", rg_published(&l->claims, claim, "value"));
    if (j->over_autovec > 0) rg_say_digits(j->over_autovec, over);
    if (j->over_autovec != 0) // a ratio to scalar C is never given alone
        snprintf(paper + strlen(paper), sizeof paper - strlen(paper), "; over a compiler's vectors: %s", over);
    const int row = rg_tsv_find(&l->findings, "id", id);
    if (row >= 0) fill(rg_tsv_cell(&l->findings, row, side_of(j)), j, paper, text, room);
    return *text;
}

// ---- findings (reference/found.tsv) ----------------------------------------------------------------------------------------

// Writes "91 % of the machine's texture rate", of the claim's second variant, if it was timed without copies.
static bool say_bound(const rg_ledger *l, int claim, int machine, char text[128]) {
    const rg_row *row = rg_pick(rg_rows_on(l, machine), rg_claim_cell(&l->claims, claim, "denominator"),
        rg_verdict_on(l, claim, machine)->size, "kernel,device");
    const double reached = row ? rg_cell_number(row, RG_C_FRACTION) : NAN;
    if (!isnan(reached)) snprintf(text, 128, "%.0f %% of the machine's %.40s rate", 100 * reached, row->cell[RG_C_BOUND]);
    return !isnan(reached);
}

static bool say_slot(const rg_ledger *l, const char *slot, int machine, char text[128]) {
    char id[16];
    int count[RG_OUTCOMES];
    rg_count_outcomes(l, machine, NULL, false, count);
    for (int o = 0; o < RG_OUTCOMES; o++)
        if (*slot == '#' && !strcmp(slot + 1, rg_outcome_name[o])) return snprintf(text, 128, "%d", count[o]) > 0;
    snprintf(id, sizeof id, "%.*s", (int)strcspn(slot, "."), slot);
    const int claim = rg_claim_of(&l->claims, id);
    const char *part = slot + strlen(id);
    if (claim < 0) return false;
    if (!strcmp(part, ".bound")) return say_bound(l, claim, machine, text);
    if (*part)
        snprintf(text, 128, "%.100s", rg_published(&l->claims, claim, "value"));
    else
        say_measured(rg_verdict_on(l, claim, machine), true, text);
    return *part || side_of(rg_verdict_on(l, claim, machine));
}

// Whether every claim of "ID+ ID- ID" has the outcome of its sign; to: "ID, ID, ID".
static bool stand(const rg_ledger *l, const char *list, int machine, char *to, size_t room) {
    char id[16];
    size_t n = 0;
    bool all = true;
    while (all && rg_next_piece(&list, ' ', id, sizeof id)) {
        const char sign = id[strlen(id) - 1], *wanted = sign == '+' ? "holds" : sign == '-' ? "fails" : NULL;
        if (wanted) id[strlen(id) - 1] = 0;
        const int claim = rg_claim_of(&l->claims, id);
        const char *side = claim < 0 ? NULL : side_of(rg_verdict_on(l, claim, machine));
        all = claim >= 0 && (!wanted || (side && !strcmp(side, wanted)));
        n += (size_t)snprintf(to + n, room - n, "%s%s", n ? ", " : "", id);
    }
    return all;
}

static bool state(const rg_ledger *l, int row, int machine, rg_statement *s) {
    char slot[32], value[128];
    *s = (rg_statement){.figure = rg_tsv_cell(&l->found, row, "figure"), .machine = machine};
    bool all = stand(l, rg_tsv_cell(&l->found, row, "claims"), machine, s->claims, sizeof s->claims);
    size_t n = 0;
    for (const char *c = rg_tsv_cell(&l->found, row, "text"); all && *c && n + 1 < RG_SAY;) {
        const size_t plain = strcspn(c, "{"), length = strcspn(c + plain, "}");
        n += (size_t)snprintf(s->text + n, RG_SAY - n, "%.*s", (int)plain, c);
        c += plain;
        if (!*c) break;
        snprintf(slot, sizeof slot, "%.*s", (int)length - 1, c + 1);
        all = say_slot(l, slot, machine, value) && n < RG_SAY;
        if (all) n += (size_t)snprintf(s->text + n, RG_SAY - n, "%s", value);
        c += length + (c[length] == '}');
    }
    return all && n < RG_SAY;
}

bool rg_next_statement(const rg_ledger *l, int *row, rg_statement *s) {
    bool said = false;
    while (!said && *row < l->found.n_rows) {
        const char *place = rg_tsv_cell(&l->found, *row, "place");
        int end = *row;
        while (end < l->found.n_rows && !strcmp(rg_tsv_cell(&l->found, end, "place"), place)) end++;
        for (int m = 0; m < l->n_machines && !said; m++)
            for (int i = *row; i < end && !said; i++) said = state(l, i, m, s);
        *row = end;
    }
    return said;
}

// ---- cards -----------------------------------------------------------------------------------------------------------------

bool rg_sentences(const rg_ledger *l, const char *paper, int machine, int most, char text[RG_SAY]) {
    size_t n = 0;
    *text = 0;
    for (int i = 0; i < l->findings.n_rows && most > 0; i++) {
        const char *id = rg_tsv_cell(&l->findings, i, "id");
        char one[RG_SAY / 2];
        if (!rg_is_of(&l->claims, rg_claim_of(&l->claims, id), paper) || !rg_finding(l, id, machine, one, sizeof one) ||
            n + strlen(one) + 2 > RG_SAY)
            continue;
        n += (size_t)snprintf(text + n, RG_SAY - n, "%s%s", n ? " " : "", one);
        most--;
    }
    if (!n) snprintf(text, RG_SAY, "No claim of this paper was measured here.");
    return n > 0;
}

// Counts the sentences and points of charts that the machine has for the paper.
static int known(const rg_ledger *l, const char *paper, int machine) {
    char text[400];
    int n = 0;
    for (int i = 0; i < l->findings.n_rows; i++) {
        const char *id = rg_tsv_cell(&l->findings, i, "id");
        const int claim = rg_claim_of(&l->claims, id);
        if (!rg_is_of(&l->claims, claim, paper)) continue;
        n += rg_finding(l, id, machine, text, sizeof text);
        n += *rg_tsv_cell(&l->findings, i, "label") && !isnan(rg_verdict_on(l, claim, machine)->value);
    }
    return n;
}

int rg_speaks_of(const rg_ledger *l, const char *paper) {
    enum { ENOUGH = 3 };
    int best = 0, most = known(l, paper, 0);
    for (int m = 1; m < l->n_machines && most < ENOUGH; m++) {
        const int n = known(l, paper, m);
        if (n > most) {
            best = m;
            most = n;
        }
    }
    for (int m = best + 1; best && m < l->n_machines; m++) // the reference machine with the most
        if (known(l, paper, m) > known(l, paper, best)) best = m;
    return best;
}
