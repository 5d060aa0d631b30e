// SPDX-License-Identifier: MIT
// claims.c: judges what a paper claims against one machine's files: the rule, and the kinds of claims that files of jobs decide.
//
// reference/claims.tsv says, as data, which rows a claim compares, on which side of which limit the paper's statement stands
// and between which bounds a number counts as the paper's. The side goes first: a number beyond it is contradicted whatever the
// bounds.
#include "judge.h"

#include "../../bench/stats/stats.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rg_outcome_name[RG_OUTCOMES] = {"reproduced", "order of magnitude", "direction only", "contradicted today",
    "exists", "not called", "not testable here", "paper inconsistent"};

// papers.tsv stands in reference/, the numbers of each paper in reference/published/.
int rg_claims_read(const char *claims_path, const char *papers_path, rg_claims *c)
{
    *c = (rg_claims){0};
    int code = rg_tsv_read(claims_path, &c->claim);
    if (code == RG_GOOD) code = rg_tsv_read(papers_path, &c->paper);
    if (code == RG_GOOD && c->paper.n_rows > RG_PAPERS_MOST)
        code = rg_fail(RG_USAGE, "%s: expected at most %d papers, found %d", papers_path, RG_PAPERS_MOST, c->paper.n_rows);
    for (int i = 0; i < c->paper.n_rows && code == RG_GOOD; i++) {
        char *path = rg_print("%.*spublished/%s", (int)(rg_base_name(papers_path) - papers_path), papers_path,
            rg_tsv_cell(&c->paper, i, "published"));
        code = rg_tsv_read(path, &c->published[i]);
        free(path);
    }
    if (code != RG_GOOD) rg_claims_free(c);
    return code;
}

void rg_claims_free(rg_claims *c)
{
    for (int i = 0; i < RG_PAPERS_MOST; i++) rg_tsv_free(&c->published[i]);
    rg_tsv_free(&c->paper);
    rg_tsv_free(&c->claim);
}

int rg_paper_of(const rg_claims *c, const char *paper) { return rg_tsv_find(&c->paper, "paper", paper); }

const char *rg_published_number(const rg_claims *c, int paper, const char *id, const char *column)
{
    const int row = paper < 0 || !*id ? -1 : rg_tsv_find(&c->published[paper], "id", id);
    return row < 0 ? "" : rg_tsv_cell(&c->published[paper], row, column);
}

const char *rg_published(const rg_claims *c, int claim, const char *column)
{
    const int paper = rg_paper_of(c, rg_tsv_cell(&c->claim, claim, "paper"));
    return rg_published_number(c, paper, rg_tsv_cell(&c->claim, claim, "published"), column);
}

bool rg_is_addition(const rg_claims *c, int claim)
{
    return !*rg_tsv_cell(&c->claim, claim, "published") && strcmp(rg_tsv_cell(&c->claim, claim, "kind"), "paper");
}

static bool on_side(double value, const char *direction)
{
    double limit = strtod(direction + 1, NULL);
    return direction[0] == '>' ? value > limit : value < limit;
}

// Half a decade either way is a factor of ten between the bounds; a factor of two either way is four.
static bool wide(double low, double high) { return high > 5 * low && low > 0; }

// A bound that is not given is NaN and does not bind.
static bool inside(double value, double low, double high) { return !(value < low) && !(value > high); }

rg_outcome rg_outcome_of(
    double value, double interval_low, double interval_high, double low, double high, const char *direction)
{
    if (isnan(value)) return RG_NOT_TESTABLE;
    if (!isfinite(interval_low) || !isfinite(interval_high)) return RG_NOT_CALLED;
    const rg_outcome good = wide(low, high) ? RG_ORDER : RG_REPRODUCED;
    if (!*direction) { // the bounds are all that the paper says
        bool overlaps = !(interval_high < low) && !(interval_low > high);
        return inside(value, low, high) ? good : overlaps ? RG_NOT_CALLED : RG_CONTRADICTED;
    }
    bool on_low = on_side(interval_low, direction), on_high = on_side(interval_high, direction);
    if (on_low != on_high) return RG_NOT_CALLED; // a ratio that may be 1 has no direction
    return !on_low ? RG_CONTRADICTED : inside(value, low, high) ? good : RG_DIRECTION;
}

rg_judgement rg_unjudged(void) { return (rg_judgement){.outcome = RG_NOT_TESTABLE, .value = NAN, .low = NAN, .high = NAN}; }

void rg_judge_number(const rg_comparison *q, rg_judgement *j)
{
    char bounds[96];
    j->outcome = rg_outcome_of(j->value, j->low, j->high, q->low, q->high, q->direction);
    if (isfinite(q->high) && !isfinite(q->low))
        snprintf(bounds, sizeof bounds, "to %.4g", q->high);
    else if (isfinite(q->high))
        snprintf(bounds, sizeof bounds, "from %.4g to %.4g", q->low, q->high);
    else
        snprintf(bounds, sizeof bounds, "from %.4g", q->low);
    const char *good = rg_outcome_name[wide(q->low, q->high) ? RG_ORDER : RG_REPRODUCED], *side = *q->direction ? "; " : "";
    if (j->outcome == RG_CONTRADICTED)
        snprintf(j->why, sizeof j->why, "the paper has %s%s%s; ours lies beyond with its whole interval", q->direction,
            *q->direction ? ", " : "", bounds);
    else if (j->outcome == RG_NOT_CALLED && isfinite(j->low) && isfinite(j->high))
        snprintf(j->why, sizeof j->why, "the interval reaches over %s%s: %.4g to %.4g",
            *q->direction ? "the limit " : "the bounds ", *q->direction ? q->direction + 1 : bounds, j->low, j->high);
    else if (j->outcome == RG_NOT_CALLED)
        snprintf(j->why, sizeof j->why, "measured once: a number without an interval has no verdict");
    else
        snprintf(j->why, sizeof j->why, "counts as %s %s%s%s", good, bounds, side, q->direction);
    if ((j->outcome == RG_REPRODUCED || j->outcome == RG_ORDER) && (j->low < q->low || j->high > q->high))
        snprintf(j->why + strlen(j->why), sizeof j->why - strlen(j->why), "; the interval reaches beyond");
}

void rg_judge_exact(const rg_comparison *q, rg_judgement *j)
{
    j->low = j->high = j->value;
    rg_judge_number(q, j);
}

void rg_print_ratio(double ratio, char text[32]) { snprintf(text, 32, ratio < 1000 ? "%.3g" : "%.0f", ratio); }

rg_outcome rg_shown(rg_outcome outcome) { return outcome == RG_REPRODUCED || outcome == RG_ORDER ? RG_EXISTS : outcome; }

// ---- jobs: their files, and the small tables that they leave: stages, scaling, FSC ------------------------------------------

static rg_judgement judge_job(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    if (!q->job || q->job->n == 0) {
        snprintf(
            j.why, sizeof j.why, "%s", q->machine->here ? "no job folder was given" : "the job is judged on this machine only");
        return j;
    }
    rg_job_quantity(q->job, q->a, &j);
    if (!isnan(j.value)) {
        if (isnan(j.low)) // of finished files: the next look at them says the same
            rg_judge_exact(q, &j);
        else
            rg_judge_number(q, &j);
        snprintf(j.size, sizeof j.size, "%d photos", q->job->growth[0].n_rows);
        snprintf(j.scope, sizeof j.scope, "job");
    }
    return j;
}

// A quantity of the job that says whether there is a thing, not how large it is.
static rg_judgement judge_peaks(const rg_comparison *q)
{
    rg_judgement j = judge_job(q);
    j.outcome = rg_shown(j.outcome);
    return j;
}

// The numbers that "TABLE key=value COLUMN" names, one a row of that key (repeats of a run), of those whose column `shape` is
// `shape` where that is not ""; none with the reason in why.
static rg_samples table_samples(const rg_bench_machine *m, const char *spec, const char *shape, char *why, size_t room)
{
    char table[48] = "", key[80] = "", column[48] = "";
    rg_samples s = {.processes = 1};
    if (sscanf(spec, "%47s %79s %47s", table, key, column) != 3 || !strchr(key, '=')) {
        snprintf(why, room, "claims.tsv: expected TABLE key=value COLUMN, found \"%s\"", spec);
        return s;
    }
    const rg_tsv *t = rg_machine_table(m, table);
    if (!t) {
        snprintf(why, room, "no table `%s` among the files of this machine: not measured", table);
        return s;
    }
    char *value = strchr(key, '=');
    *value++ = 0;
    s.ns = rg_alloc((size_t)(t->n_rows + 1) * sizeof *s.ns);
    for (int i = 0; i < t->n_rows; i++)
        if (!strcmp(rg_tsv_cell(t, i, key), value) && isfinite(rg_tsv_number(t, i, column)) &&
            (!*shape || !strcmp(rg_tsv_cell(t, i, "shape"), shape)))
            s.ns[s.n++] = rg_tsv_number(t, i, column);
    if (!s.n)
        snprintf(why, room, "table `%s` has no number %s where %s is %s%s%s: not measured", table, column, key, value,
            *shape ? " and shape is " : "", shape);
    return s;
}

double rg_table_cell(const rg_bench_machine *m, const char *spec, char *why, size_t room)
{
    rg_samples samples = table_samples(m, spec, "", why, room);
    rg_summary s;
    rg_summarise(&samples, &s);
    rg_samples_free(&samples);
    return s.median;
}

static rg_judgement judge_cell(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    rg_samples a = table_samples(q->machine, q->a, q->size, j.why, sizeof j.why), b = {0};
    if (a.n && *q->b) b = table_samples(q->machine, q->b, q->size, j.why, sizeof j.why);
    if (a.n && (b.n || !*q->b)) {
        rg_summary x, y = {.median = 1};
        rg_summarise(&a, &x);
        if (b.n) rg_summarise(&b, &y);
        j.value = x.median / y.median;
        if (!b.n) {
            rg_median_interval(&a, &j.low, &j.high);
            snprintf(j.ours, sizeof j.ours, "%.4g %.40s", j.value, q->unit);
        } else {
            rg_ratio ratio = rg_ratio_of_medians(&a, &b, 1);
            j.low = ratio.low > 0 ? ratio.low : NAN; // 0 and infinity: a single run on one side
            j.high = ratio.high;
            char text[32];
            rg_print_ratio(j.value, text);
            snprintf(j.ours, sizeof j.ours, "%s x (%.4g / %.4g)", text, x.median, y.median);
        }
        snprintf(j.scope, sizeof j.scope, "job");
        snprintf(j.size, sizeof j.size, "%.63s", q->size);
        rg_judge_number(q, &j);
    }
    rg_samples_free(&a);
    rg_samples_free(&b);
    return j;
}

// An error against the truth, an FSC: the same command and seed give it again.
static rg_judgement judge_exact_cell(const rg_comparison *q)
{
    rg_judgement j = judge_cell(q);
    if (!isnan(j.value)) rg_judge_exact(q, &j);
    return j;
}

static rg_judgement judge_least(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    char table[48] = "", column[48] = "";
    const rg_tsv *t = sscanf(q->a, "%47s %47s", table, column) == 2 ? rg_machine_table(q->machine, table) : NULL;
    double least = INFINITY;
    for (int i = 0; t && i < t->n_rows; i++) least = fmin(least, rg_tsv_number(t, i, column)); // passes over what is no number
    if (isinf(least)) {
        snprintf(
            j.why, sizeof j.why, "no table `%s` with numbers %s among the files of this machine: not measured", table, column);
        return j;
    }
    j.value = least;
    snprintf(j.ours, sizeof j.ours, "%.7g at least, in %d row%s", least, t->n_rows, rg_s(t->n_rows));
    snprintf(j.scope, sizeof j.scope, "job");
    rg_judge_exact(q, &j);
    return j;
}

// Frequency at which the curve first falls below one half, between two shells; the last one when it never does.
static double crossing(const rg_tsv *t)
{
    double last = NAN, before = NAN, frequency = NAN;
    for (int i = 0; i < t->n_rows; i++) {
        double fsc = rg_tsv_number(t, i, "fsc"), at = rg_tsv_number(t, i, "frequency");
        if (isnan(fsc) || isnan(at)) continue;
        if (fsc < 0.5 && !isnan(before)) return last + (at - last) * (before - 0.5) / (before - fsc);
        before = fsc;
        last = frequency = at;
    }
    return frequency;
}

static rg_judgement judge_crossing(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    const rg_tsv *a = rg_machine_table(q->machine, q->a), *b = rg_machine_table(q->machine, q->b);
    if (!a || !b) {
        snprintf(j.why, sizeof j.why, "no table `%s` among the files of this machine: not measured", a ? q->b : q->a);
        return j;
    }
    double fa = crossing(a), fb = crossing(b);
    j.value = fa / fb;
    snprintf(j.ours, sizeof j.ours, "FSC = 0.5 at %.4g and %.4g", fa, fb);
    snprintf(j.scope, sizeof j.scope, "job");
    rg_judge_exact(q, &j);
    return j;
}

// ---- a claim --------------------------------------------------------------------------------------------------------------

static rg_judgement judge_paper(const rg_comparison *q)
{
    (void)q;
    rg_judgement j = rg_unjudged();
    j.outcome = RG_INCONSISTENT;
    return j;
}

rg_judgement rg_judge_as(const char *kind, const rg_comparison *q)
{
    static const rg_judge_kind jobs[] = {{"paper", judge_paper}, {"job", judge_job}, {"peaks", judge_peaks},
        {"cell", judge_cell}, {"exact", judge_exact_cell}, {"least", judge_least}, {"crossing", judge_crossing}};
    for (int k = 0; k < RG_COUNT(jobs); k++)
        if (!strcmp(jobs[k].kind, kind)) return jobs[k].judge(q);
    rg_judgement j = rg_unjudged();
    if (!rg_judge_rows(kind, q, &j)) snprintf(j.why, sizeof j.why, "claims.tsv has the unknown kind \"%s\"", kind);
    return j;
}

rg_judgement rg_judge(const rg_claims *c, int i, const rg_bench_machine *m, const rg_job_files *job)
{
    const rg_tsv *t = &c->claim;
    const rg_comparison q = {m, job, rg_tsv_cell(t, i, "numerator"), rg_tsv_cell(t, i, "denominator"),
        rg_tsv_cell(t, i, "size"), rg_tsv_cell(t, i, "scope"), rg_tsv_cell(t, i, "direction"), rg_published(c, i, "unit"),
        rg_tsv_number(t, i, "low"), rg_tsv_number(t, i, "high")};
    return rg_judge_as(rg_tsv_cell(t, i, "kind"), &q);
}
