// SPDX-License-Identifier: MIT
// findings.c: what was found, in the sentences of reference/findings.tsv: for the cards and the titles of figures.
#include "words.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

void rg_say_digits(double value, char text[32])
{
    const double step = fabs(value) < 1000 ? 0 : pow(10, floor(log10(fabs(value))) - 2);
    snprintf(text, 32, step > 0 ? "%.0f" : "%.3g", step > 0 ? step * round(value / step) : value);
    if (value < 1 && !strcmp(text, "1")) // less than 1 is not printed as 1
        snprintf(text, 32, "%.5g", fmin(value, 0.99999));
}

void rg_say_amount(double value, const char *unit, char text[48])
{
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

void rg_fill_in(const char *from, const rg_known_word *word, int words, char *to, size_t room)
{
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

// `from` with {ours}, {paper} and {open} filled in: what was measured, the published number, why it is not called.
static void fill(const char *from, const rg_judgement *j, const char *paper, char *to, size_t room)
{
    char ours[128], low[32], high[32], open[80] = ", timed once";
    rg_say_digits(j->value, ours);
    rg_say_digits(j->low, low);
    rg_say_digits(j->high, high);
    const bool known = isfinite(j->low) && isfinite(j->high), wide = known && j->high > RG_WIDE * j->low && j->low > 0;
    if (known) snprintf(open, sizeof open, ", interval %s to %s", low, high);
    if (wide && !strstr(from, "{open}"))
        snprintf(ours + strlen(ours), sizeof ours - strlen(ours), " (between %s and %s)", low, high);
    const rg_known_word word[] = {{"{ours}", ours}, {"{paper}", paper}, {"{open}", open}};
    rg_fill_in(from, word, RG_COUNT(word), to, room);
}

bool rg_finding(const rg_ledger *l, const char *id, int machine, char *text, size_t room)
{
    static const char *const column[RG_OUTCOMES] = {"holds", "holds", "holds", "fails", "holds", "open", NULL, NULL, NULL};
    const int claim = rg_claim_of(&l->claims, id);
    *text = 0;
    if (claim < 0 || !l->verdict) return false;
    const rg_judgement *j = rg_verdict_on(l, claim, machine);
    if (!column[j->outcome] || isnan(j->value)) return false;
    char paper[96], over[32] = "not timed";
    snprintf(paper, sizeof paper, "%.40s", rg_published(&l->claims, claim, "value"));
    if (j->over_autovec > 0) rg_say_digits(j->over_autovec, over);
    if (j->over_autovec != 0) // no ratio to scalar C stands alone
        snprintf(paper + strlen(paper), sizeof paper - strlen(paper), "; over a compiler's vectors: %s", over);
    const int row = rg_tsv_find(&l->findings, "id", id);
    if (row >= 0) fill(rg_tsv_cell(&l->findings, row, column[j->outcome]), j, paper, text, room);
    return *text;
}

bool rg_sentences(const rg_ledger *l, const char *paper, int machine, int most, char text[RG_SAY])
{
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

// Sentences and points of charts that the machine has of the paper.
static int known(const rg_ledger *l, const char *paper, int machine)
{
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

int rg_speaks_of(const rg_ledger *l, const char *paper)
{
    enum { ENOUGH = 3 };
    int best = 0, most = known(l, paper, 0);
    for (int m = 1; m < l->n_machines && most < ENOUGH; m++) {
        const int n = known(l, paper, m);
        if (n > most) {
            best = m;
            most = n;
        }
    }
    for (int m = best + 1; best && m < l->n_machines; m++) // of the reference machines, the one with most
        if (known(l, paper, m) > known(l, paper, best)) best = m;
    return best;
}
