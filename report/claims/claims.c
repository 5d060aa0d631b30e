// SPDX-License-Identifier: MIT
// claims.c: judges what a paper claims against the rows of one machine's files.
//
// reference/claims.tsv says, as data, which rows a claim compares, on which side of which limit the paper's statement stands
// and between which bounds a number counts as the paper's. The side goes first: a number beyond it is contradicted whatever the
// bounds.
#include "../../bench/timing/stats.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include "../report.h"
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
    if (code == RG_GOOD)
        code = rg_tsv_read(papers_path, &c->paper);
    if (code == RG_GOOD && c->paper.n_rows > RG_PAPERS_MOST)
        code = rg_fail(RG_USAGE, "%s: expected at most %d papers, found %d", papers_path, RG_PAPERS_MOST, c->paper.n_rows);
    for (int i = 0; i < c->paper.n_rows && code == RG_GOOD; i++) {
        char *path = rg_print("%.*spublished/%s", (int)(rg_base_name(papers_path) - papers_path), papers_path,
                              rg_tsv_cell(&c->paper, i, "published"));
        code = rg_tsv_read(path, &c->published[i]);
        free(path);
    }
    if (code != RG_GOOD)
        rg_claims_free(c);
    return code;
}

void rg_claims_free(rg_claims *c)
{
    for (int i = 0; i < RG_PAPERS_MOST; i++)
        rg_tsv_free(&c->published[i]);
    rg_tsv_free(&c->paper);
    rg_tsv_free(&c->claim);
}

int rg_paper_of(const rg_claims *c, const char *paper)
{
    return rg_tsv_find(&c->paper, "paper", paper);
}

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
static bool wide(double low, double high)
{
    return high > 5 * low && low > 0;
}

// A bound that is not given is NaN and does not bind.
static bool inside(double value, double low, double high)
{
    return !(value < low) && !(value > high);
}

rg_outcome rg_outcome_of(double value, double interval_low, double interval_high, double low, double high,
                         const char *direction)
{
    if (isnan(value))
        return RG_NOT_TESTABLE;
    if (!isfinite(interval_low) || !isfinite(interval_high))
        return RG_NOT_CALLED;
    const rg_outcome good = wide(low, high) ? RG_ORDER : RG_REPRODUCED;
    if (!*direction) { // the bounds are all that the paper says
        bool overlaps = !(interval_high < low) && !(interval_low > high);
        return inside(value, low, high) ? good : overlaps ? RG_NOT_CALLED : RG_CONTRADICTED;
    }
    bool on_low = on_side(interval_low, direction), on_high = on_side(interval_high, direction);
    if (on_low != on_high)
        return RG_NOT_CALLED; // a ratio that may be 1 has no direction
    return !on_low ? RG_CONTRADICTED : inside(value, low, high) ? good : RG_DIRECTION;
}

// Why no row of spec can be used: what its rows say instead of PASS, or that there are none.
static void say_missing(const rg_bench_machine *m, const char *spec, char *text, size_t room)
{
    RG_EACH_ROW(row, m) {
        if (rg_matches(row, spec) && strcmp(row->cell[RG_C_STATUS], "PASS")) {
            snprintf(text, room, "`%s`: %s %s", spec, row->cell[RG_C_STATUS], row->cell[RG_C_STOP]);
            return;
        }
    }
    snprintf(text, room, "no row of `%s` in the files of this machine: not measured", spec);
}

static rg_judgement untested(void)
{
    return (rg_judgement){.outcome = RG_NOT_TESTABLE, .value = NAN, .low = NAN, .high = NAN};
}

static void judge_number(const rg_comparison *q, rg_judgement *j)
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

// A number that the same command, seed and files give again: its interval is itself.
static void judge_exact(const rg_comparison *q, rg_judgement *j)
{
    j->low = j->high = j->value;
    judge_number(q, j);
}

// Where one side is a host's, which copies nothing, the scope is that of the device.
static void say_where(const rg_measure *a, const rg_measure *b, rg_judgement *j)
{
    snprintf(j->size, sizeof j->size, "%s", a->row->cell[RG_C_SHAPE]);
    const rg_row *row = b && strcmp(b->row->cell[RG_C_SPACE], "host") ? b->row : a->row;
    snprintf(j->scope, sizeof j->scope, "%.40s", row->cell[RG_C_SCOPE]);
}

// Three digits, without a power of ten.
static void print_ratio(double ratio, char text[32])
{
    snprintf(text, 32, ratio < 1000 ? "%.3g" : "%.0f", ratio);
}

// Rows that spec speaks of at the shape, in the scope and mode of the one that was picked: sets of parameters, most often.
static int configurations(const rg_bench_machine *m, const char *spec, const rg_measure *picked)
{
    static const int same[] = {RG_C_SHAPE, RG_C_SCOPE, RG_C_MODE};
    int n = 0;
    RG_EACH_ROW(row, m) {
        bool one = rg_timed(row) && rg_matches(row, spec);
        for (int c = 0; c < RG_COUNT(same) && one; c++)
            one = !strcmp(row->cell[same[c]], picked->row->cell[same[c]]);
        n += one;
    }
    return n;
}

static rg_judgement judge_ratio(const rg_comparison *q)
{
    rg_judgement j = untested();
    rg_measure a, b;
    const char *shape = rg_common_shape(q->machine, q->a, q->b, q->size, q->scopes);
    if (!shape || !rg_pick_pair(q->machine, q->a, q->b, shape, q->scopes, &a, &b)) {
        char why_a[160];
        const char *one = rg_common_shape(q->machine, q->a, q->a, q->size, q->scopes);
        const char *other = rg_common_shape(q->machine, q->b, q->b, q->size, q->scopes);
        say_missing(q->machine, one ? q->b : q->a, why_a, sizeof why_a);
        const bool same = one && other && rg_pick(q->machine, q->a, one, q->scopes, &a) &&
                          rg_pick(q->machine, q->b, one, q->scopes, &b) && a.row == b.row;
        snprintf(j.why, sizeof j.why, "%s",
                 same           ? "both sides are one row: no other configuration was timed"
                 : one && other ? "both were timed, but at no common size and scope"
                                : why_a);
        return j;
    }
    j.value = rg_time_ratio(&a, &b, &j.low, &j.high);
    char value[32], low[32], high[32];
    print_ratio(j.value, value);
    print_ratio(j.low, low);
    print_ratio(j.high, high);
    if (isfinite(j.low) && isfinite(j.high))
        snprintf(j.ours, sizeof j.ours, "%s x [%s, %s]", value, low, high);
    else
        snprintf(j.ours, sizeof j.ours, "%s x (no interval: a single sample)", value);
    const int of_a = configurations(q->machine, q->a, &a), of_b = configurations(q->machine, q->b, &b);
    if (of_a > 2 || of_b > 2) // a search tells as much of a kind as it has tried of it
        snprintf(j.ours + strlen(j.ours), sizeof j.ours - strlen(j.ours), "; the best of %d over the best of %d", of_a, of_b);
    const double fixed_a = rg_fixed_ns(q->machine, q->a, &a), fixed_b = rg_fixed_ns(q->machine, q->b, &b);
    if (isfinite(fixed_a) && isfinite(fixed_b))
        snprintf(j.ours + strlen(j.ours), sizeof j.ours - strlen(j.ours), "; fixed costs %.3g of %.3g s and %.3g of %.3g s",
                 fixed_a / 1e9, a.median_ns / 1e9, fixed_b / 1e9, b.median_ns / 1e9);
    say_where(&a, &b, &j);
    judge_number(q, &j);
    const int tried = of_a > of_b ? of_a : of_b;
    if (a.row == b.row && tried < RG_SEARCHED) {
        j.outcome = RG_NOT_CALLED;
        j.value = j.low = j.high = NAN; // no point of a figure
        snprintf(j.why, sizeof j.why, "one row is the best of both sides; of a kind %d configurations were tried, expected %d",
                 tried, RG_SEARCHED);
    }
    if (fabs(rg_more_work(&a, &b) - 1) > 1e-9) {
        j.outcome = RG_NOT_CALLED;
        snprintf(j.why, sizeof j.why, "unequal work, %s against %s pieces: fixed costs weigh more where there is less of it",
                 a.row->cell[RG_C_WORK], b.row->cell[RG_C_WORK]);
    }
    return j;
}

// Images per second of one shape.
static rg_judgement judge_rate(const rg_comparison *q)
{
    rg_judgement j = untested();
    rg_measure a;
    const char *shape = rg_common_shape(q->machine, q->a, q->a, q->size, q->scopes);
    if (!shape || strncmp(shape, q->size, strlen(q->size)) || !rg_pick(q->machine, q->a, shape, q->scopes, &a)) {
        say_missing(q->machine, q->a, j.why, sizeof j.why - 64);
        if (shape)
            snprintf(j.why, sizeof j.why, "`%s` was not timed at %s", q->a, q->size);
        return j;
    }
    j.value = 1e9 / a.median_ns;
    rg_samples samples = rg_row_samples(a.row);
    rg_median_interval(&samples, &j.low, &j.high);
    const double ns = rg_row_ns(a.row, RG_C_MEDIAN) / rg_cell_number(a.row, RG_C_MEDIAN), slow = ns * j.high;
    j.high = 1e9 / (ns * j.low);
    j.low = 1e9 / slow;
    rg_samples_free(&samples);
    snprintf(j.ours, sizeof j.ours, "%.4g images/s [%.4g, %.4g]", j.value, j.low, j.high);
    say_where(&a, NULL, &j);
    judge_number(q, &j);
    return j;
}

// Speed on all threads over one thread, as a part of the number of threads.
static rg_judgement judge_scaling(const rg_comparison *q)
{
    rg_judgement j = judge_ratio(q);
    rg_measure b;
    if (isfinite(j.value) && rg_pick(q->machine, q->b, j.size, q->scopes, &b)) {
        double speed_up = j.value;
        j.value /= b.threads;
        j.low /= b.threads;
        j.high /= b.threads;
        snprintf(j.ours, sizeof j.ours, "%.3g x on %d cores: %.0f %% [%.0f, %.0f]", speed_up, b.threads, 100 * j.value,
                 100 * j.low, 100 * j.high);
        judge_number(q, &j);
    }
    return j;
}

// At how many offsets images of one size were timed, counted up to three, and the largest of them.
static int offsets_timed(const rg_comparison *q, const char *spec, const rg_measure *like, int64_t *largest)
{
    int64_t seen[3];
    int n = 0;
    *largest = 0;
    RG_EACH_ROW(row, q->machine) {
        const rg_measure b = rg_measure_of(walk.file, row);
        if (!rg_timed(b.row) || !rg_plain(b.row) || !rg_matches(b.row, spec) || b.width != like->width ||
            b.height != like->height)
            continue;
        *largest = b.r > *largest ? b.r : *largest;
        bool known = false;
        for (int s = 0; s < n; s++)
            known |= seen[s] == b.r;
        if (!known && n < RG_COUNT(seen))
            seen[n++] = b.r;
    }
    return n;
}

// The image size with the most pixels at which a variant was timed at three offsets or more: *width is 0 when there is none.
static void curve_reach(const rg_comparison *q, const char *spec, int64_t *width, int64_t *height, int64_t *reach)
{
    int64_t largest;
    *width = *height = *reach = 0;
    RG_EACH_ROW(row, q->machine) {
        const rg_measure a = rg_measure_of(walk.file, row);
        if (!rg_timed(a.row) || !rg_plain(a.row) || !rg_matches(a.row, spec) || a.width * a.height <= *width * *height ||
            offsets_timed(q, spec, &a, &largest) < 3)
            continue;
        *width = a.width;
        *height = a.height;
        *reach = largest;
    }
}

// What was shown to exist is no measured number that agrees.
static rg_outcome exists(rg_outcome outcome)
{
    return outcome == RG_REPRODUCED || outcome == RG_ORDER ? RG_EXISTS : outcome;
}

// Curves of time against R: how far they all reach, as a part of the width.
static rg_judgement judge_curves(const rg_comparison *q)
{
    rg_judgement j = untested();
    char spec[96], without[200] = "";
    double least = INFINITY;
    int n = 0, all = 0;
    for (const char *at = q->a; rg_next_piece(&at, ',', spec, sizeof spec); all++) {
        int64_t width, height, reach;
        curve_reach(q, spec, &width, &height, &reach);
        if (!width) {
            snprintf(without + strlen(without), sizeof without - strlen(without), "%s%s", *without ? ", " : "", spec);
            continue;
        }
        n++;
        if ((double)reach / (double)width < least) {
            least = (double)reach / (double)width;
            snprintf(j.ours, sizeof j.ours, "R to %lld, %.2g of the width", (long long)reach, least);
            snprintf(j.size, sizeof j.size, "w%lld,h%lld", (long long)width, (long long)height);
        }
    }
    if (n == 0) {
        snprintf(j.why, sizeof j.why, "no variant was timed at three offsets or more");
        return j;
    }
    snprintf(j.ours + strlen(j.ours), sizeof j.ours - strlen(j.ours), "; %d of %d curves", n, all);
    j.value = j.low = j.high = least;
    j.outcome = n < all ? RG_NOT_CALLED : exists(rg_outcome_of(least, least, least, q->low, q->high, q->direction));
    snprintf(j.why, sizeof j.why, "all curves have to reach %.2g of the width%s%s", q->low,
             *without ? "; without " : "", without);
    return j;
}

static bool is_failure(const char *status)
{
    return !strcmp(status, "FAIL") || !strcmp(status, "CRASH") || !strcmp(status, "TIMEOUT");
}

// Rows of spec, of shapes that begin so, whose status is_failure (or PASS).
static int count_status(const rg_bench_machine *m, const char *spec, const char *size, bool failures)
{
    int n = 0;
    RG_EACH_ROW(row, m) {
        const char *status = row->cell[RG_C_STATUS];
        n += (failures ? is_failure(status) : !strcmp(status, "PASS")) && rg_matches(row, spec) &&
             !strncmp(row->cell[RG_C_SHAPE], size, strlen(size));
    }
    return n;
}

// Every variant of the list has passed the checker somewhere and failed nowhere: its results are the reference's.
static rg_judgement judge_equal(const rg_comparison *q)
{
    rg_judgement j = untested();
    char spec[96], missing[200] = "";
    int good = 0, all = 0;
    for (const char *at = q->a; rg_next_piece(&at, ',', spec, sizeof spec); all++) {
        int passed = 0;
        RG_EACH_ROW(row, q->machine) {
            if (!rg_matches(row, spec))
                continue;
            const char *status = row->cell[RG_C_STATUS];
            passed += !strcmp(status, "PASS");
            if (is_failure(status)) {
                j.outcome = RG_CONTRADICTED;
                snprintf(j.ours, sizeof j.ours, "%.60s: %.40s", spec, status);
                snprintf(j.why, sizeof j.why, "one row has failed: %s", row->cell[RG_C_SHAPE]);
                return j;
            }
        }
        good += passed > 0;
        if (!passed)
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), "%s%s", *missing ? ", " : "", spec);
    }
    if (good < all)
        snprintf(j.ours, sizeof j.ours, "%d of %d variants were checked, and equal the reference", good, all);
    else
        snprintf(j.ours, sizeof j.ours, "%d of %d variants equal the reference", good, all);
    if (good == all) {
        j.outcome = RG_REPRODUCED;
        j.value = 0;
        snprintf(j.why, sizeof j.why, "integer sums are compared bit for bit, others within their stated bound");
    } else {
        snprintf(j.why, sizeof j.why, "no passed row of %s", missing);
    }
    return j;
}

// The paper says that the results differ: that they are equal refutes it.
static rg_judgement judge_refutes(const rg_comparison *q)
{
    rg_judgement j = judge_equal(q);
    if (j.outcome == RG_REPRODUCED)
        j.outcome = RG_CONTRADICTED;
    else if (j.outcome == RG_CONTRADICTED)
        j.outcome = RG_REPRODUCED;
    return j;
}

// A fault that the paper's own code has and that the checker has to show: a FAIL with its error.
static rg_judgement judge_fault(const rg_comparison *q)
{
    rg_judgement j = untested();
    RG_EACH_ROW(row, q->machine) {
        if (!rg_matches(row, q->a) || strcmp(row->cell[RG_C_STATUS], "FAIL"))
            continue;
        j.outcome = RG_REPRODUCED;
        j.value = rg_cell_number(row, RG_C_ERROR);
        if (j.value > 0)
            snprintf(j.ours, sizeof j.ours, "caught: largest error %.6g", j.value);
        else
            snprintf(j.ours, sizeof j.ours, "caught");
        snprintf(j.size, sizeof j.size, "%s", row->cell[RG_C_SHAPE]);
        snprintf(j.why, sizeof j.why, "the checker says FAIL: %s", row->cell[RG_C_STOP]);
        return j;
    }
    if (count_status(q->machine, q->a, q->size, false)) {
        j.outcome = RG_CONTRADICTED;
        snprintf(j.why, sizeof j.why, "the checker says PASS where the fault should show");
    } else {
        say_missing(q->machine, q->a, j.why, sizeof j.why);
    }
    return j;
}

static rg_judgement judge_job(const rg_comparison *q)
{
    rg_judgement j = untested();
    if (!q->job || q->job->n == 0) {
        snprintf(j.why, sizeof j.why, "%s",
                 q->machine->here ? "no job folder was given" : "the job is judged on this machine only");
        return j;
    }
    rg_job_quantity(q->job, q->a, &j);
    if (!isnan(j.value)) {
        if (isnan(j.low)) // of finished files: the next look at them says the same
            judge_exact(q, &j);
        else
            judge_number(q, &j);
        snprintf(j.size, sizeof j.size, "%d photos", q->job->growth[0].n_rows);
        snprintf(j.scope, sizeof j.scope, "job");
    }
    return j;
}

// A quantity of the job that says whether there is a thing, not how large it is.
static rg_judgement judge_peaks(const rg_comparison *q)
{
    rg_judgement j = judge_job(q);
    j.outcome = exists(j.outcome);
    return j;
}

static rg_judgement judge_present(const rg_comparison *q)
{
    rg_judgement j = untested();
    rg_measure a;
    const char *shape = rg_common_shape(q->machine, q->a, q->a, q->size, q->scopes);
    if (!shape || !rg_pick(q->machine, q->a, shape, q->scopes, &a)) {
        say_missing(q->machine, q->a, j.why, sizeof j.why);
        if (count_status(q->machine, q->a, "", true))
            j.outcome = RG_CONTRADICTED;
        return j;
    }
    j.outcome = RG_EXISTS;
    j.value = a.median_ns;
    char time[32];
    rg_duration(a.median_ns, time);
    snprintf(j.ours, sizeof j.ours, "%s", time);
    say_where(&a, NULL, &j);
    snprintf(j.why, sizeof j.why, "runs, gives the reference's sums, and was timed");
    return j;
}

// ---- more rows than one pair: growth with size, agreement over sizes, parameter sets, energy -------------------------------

// Time of a over time of b at one shape, or the rate of a; NaN with the reason in j->why. The relative ends of the interval are
// of the ratio; of a single row they are of its median.
static double at_shape(const rg_comparison *q, const char *shape, rg_judgement *j, double end[2], char *text, size_t room)
{
    rg_measure a, b;
    bool single = !*q->b;
    if (single ? !rg_pick(q->machine, q->a, shape, q->scopes, &a)
               : !rg_pick_pair(q->machine, q->a, q->b, shape, q->scopes, &a, &b)) {
        snprintf(j->why, sizeof j->why, "no row of `%s`%s%s%s at %s in scope %s: not measured", q->a, single ? "" : " and `",
                 q->b, single ? "" : "`", shape, q->scopes);
        return NAN;
    }
    double value;
    if (single) {
        value = rg_cell_number(a.row, RG_C_RATE);
        double low, high, median = rg_cell_number(a.row, RG_C_MEDIAN);
        rg_samples samples = rg_row_samples(a.row);
        rg_median_interval(&samples, &low, &high);
        rg_samples_free(&samples);
        end[0] = median / high;
        end[1] = median / low;
        rg_amount(value, a.row->cell[RG_C_RATE_UNIT], text);
    } else {
        value = rg_time_ratio(&a, &b, &end[0], &end[1]);
        end[0] /= value;
        end[1] /= value;
        snprintf(text, room, "%.3g x", value);
    }
    say_where(&a, single ? NULL : &b, j);
    return value;
}

static rg_judgement judge_growth(const rg_comparison *q)
{
    rg_judgement j = untested();
    char small[96], small_text[64] = "", big_text[64] = "";
    size_t length = strcspn(q->size, ";");
    snprintf(small, sizeof small, "%.*s", (int)length, q->size);
    const char *big = q->size + length + (q->size[length] == ';');
    double end_small[2], end_big[2], s = NAN, b = NAN;
    // One scope for both sizes, unless the claim gives each its own: "device;transfer".
    const char *own = strchr(q->scopes, ';');
    for (const char *at = q->scopes; *at && *at != ';' && isnan(b); at += *at == ',') {
        char scope[24];
        snprintf(scope, sizeof scope, "%.*s", (int)strcspn(at, ",;"), at);
        at += strcspn(at, ",;");
        rg_comparison one = *q;
        one.scopes = scope;
        s = at_shape(&one, small, &j, end_small, small_text, sizeof small_text);
        one.scopes = own ? own + 1 : scope;
        b = isnan(s) ? NAN : at_shape(&one, big, &j, end_big, big_text, sizeof big_text);
    }
    if (isnan(b)) {
        if (!own && !isnan(at_shape(q, small, &j, end_small, small_text, sizeof small_text)) &&
            !isnan(at_shape(q, big, &j, end_big, big_text, sizeof big_text)))
            snprintf(j.why, sizeof j.why, "both sizes were timed, but in no common scope");
        return j;
    }
    // Two sizes are measured apart: the half widths, as logarithms, add in quadrature.
    j.value = b / s;
    j.low = j.value * exp(-hypot(log(end_big[0]), log(end_small[1])));
    j.high = j.value * exp(hypot(log(end_big[1]), log(end_small[0])));
    snprintf(j.ours, sizeof j.ours, "%.3g x [%.3g, %.3g]: %.24s at the large size, %.24s at the small", j.value, j.low, j.high,
             big_text, small_text);
    snprintf(j.size, sizeof j.size, "%.63s", q->size);
    judge_number(q, &j);
    return j;
}

// The mean of the ratios over turns, size "PREFIX;FIRST;LAST;COUNT": shapes PREFIX and a number from FIRST to LAST. Of fewer
// than COUNT of them there is a number, but no mean over the range.
static rg_judgement judge_mean(const rg_comparison *q)
{
    rg_judgement j = untested();
    char prefix[64];
    int first, last, least, n = 0;
    if (sscanf(q->size, "%63[^;];%d;%d;%d", prefix, &first, &last, &least) != 4) {
        snprintf(j.why, sizeof j.why, "claims.tsv: expected the size PREFIX;FIRST;LAST;COUNT, found \"%s\"", q->size);
        return j;
    }
    double sum = 0, squares = 0;
    int once = 0; // a side of so many was timed once: no interval would hold them
    for (int turn = first; turn <= last; turn++) {
        rg_measure a, b;
        char *shape = rg_print("%s%d", prefix, turn);
        if (rg_pick_pair(q->machine, q->a, q->b, shape, q->scopes, &a, &b)) {
            double low, high;
            const double ratio = rg_time_ratio(&a, &b, &low, &high);
            once += !(isfinite(low) && isfinite(high));
            if (isfinite(low) && isfinite(high)) {
                sum += ratio;
                squares += (high - low) * (high - low) / 4; // turns are measured apart: half widths add in quadrature
                say_where(&a, &b, &j);
                n++;
            }
        }
        free(shape);
    }
    if (!n && once) {
        snprintf(j.why, sizeof j.why, "every turn was timed once: no interval");
        return j;
    }
    if (!n) {
        const char *one = rg_common_shape(q->machine, q->a, q->a, prefix, q->scopes);
        say_missing(q->machine, one ? q->b : q->a, j.why, sizeof j.why);
        return j;
    }
    j.value = sum / n;
    j.low = j.value - sqrt(squares) / n;
    j.high = j.value + sqrt(squares) / n;
    char value[32], low[32], high[32];
    print_ratio(j.value, value);
    print_ratio(j.low, low);
    print_ratio(j.high, high);
    snprintf(j.ours, sizeof j.ours, "%s x [%s, %s], mean of %d turns", value, low, high, n);
    snprintf(j.size, sizeof j.size, "%.32s%d..%d", prefix, first, last);
    judge_number(q, &j);
    if (n < least) {
        j.outcome = RG_NOT_CALLED;
        snprintf(j.why, sizeof j.why, "%d turns were timed, the mean of the range needs %d", n, least);
    }
    return j;
}

static rg_judgement judge_agree(const rg_comparison *q)
{
    rg_judgement j = untested();
    double worst = -1, error = 0;
    int shapes = 0;
    RG_EACH_ROW(row, q->machine) {
        rg_measure a, b;
        if (!rg_timed(row) || !rg_matches(row, q->a) ||
            !rg_pick_pair(q->machine, q->a, q->b, row->cell[RG_C_SHAPE], q->scopes, &a, &b) || a.row != row)
            continue;
        double sum = rg_cell_number(a.row, RG_C_ERROR) + rg_cell_number(b.row, RG_C_ERROR);
        double allowed = rg_cell_number(a.row, RG_C_TOL) + rg_cell_number(b.row, RG_C_TOL);
        shapes++;
        if (sum / allowed > worst) {
            worst = sum / allowed;
            error = sum;
            say_where(&a, &b, &j);
        }
    }
    if (!shapes) {
        snprintf(j.why, sizeof j.why, "`%s` and `%s` were not both timed at any size", q->a, q->b);
        return j;
    }
    j.value = worst;
    snprintf(j.ours, sizeof j.ours, "differ by %.2g at most, %.0f %% of what rounding allows; %d size%s", error, 100 * worst,
             shapes, rg_s(shapes));
    judge_exact(q, &j);
    return j;
}

static rg_judgement judge_configs(const rg_comparison *q)
{
    rg_judgement j = untested();
    int most = 0;
    for (int f = 0; f < q->machine->n_files; f++) {
        const rg_result *file = &q->machine->file[f];
        for (int i = 0; i < file->n_rows; i++) {
            int n = 0;
            if (!rg_timed(&file->row[i]) || !rg_matches(&file->row[i], q->a))
                continue;
            for (int k = 0; k < file->n_rows; k++)
                n += rg_timed(&file->row[k]) && rg_matches(&file->row[k], q->a) &&
                     !strcmp(file->row[k].cell[RG_C_SHAPE], file->row[i].cell[RG_C_SHAPE]) &&
                     !strcmp(file->row[k].cell[RG_C_MODE], file->row[i].cell[RG_C_MODE]);
            if (n > most) {
                most = n;
                snprintf(j.size, sizeof j.size, "%.63s", file->row[i].cell[RG_C_SHAPE]);
            }
            break; // one shape a file: what `tune` writes
        }
    }
    const int wrong = count_status(q->machine, q->a, "", true);
    if (!most && !wrong) {
        say_missing(q->machine, q->a, j.why, sizeof j.why);
        return j;
    }
    j.value = j.low = j.high = most;
    snprintf(j.ours, sizeof j.ours, "%d configuration%s right and timed", most, rg_s(most));
    j.outcome = wrong ? RG_CONTRADICTED : most < q->low ? RG_NOT_CALLED : RG_REPRODUCED;
    snprintf(j.why, sizeof j.why, "%d wrong; all %.0f have to be right", wrong, q->low);
    return j;
}

// The fastest row may be of a run that did not ask for energy: then any that has joules, else any that says why there are none.
static void prefer_energy(const rg_bench_machine *m, const char *spec, rg_measure *best)
{
    const char *shape = best->row->cell[RG_C_SHAPE], *scope = best->row->cell[RG_C_SCOPE];
    RG_EACH_ROW(row, m) {
        if (isnan(rg_cell_number(best->row, RG_C_JOULES)) && rg_timed(row) && !strcmp(row->cell[RG_C_SHAPE], shape) &&
            !strcmp(row->cell[RG_C_SCOPE], scope) && rg_matches(row, spec) && strncmp(row->cell[RG_C_ENERGY_SOURCE], "not asked", 9))
            *best = rg_measure_of(walk.file, row);
    }
}

static rg_judgement judge_energy(const rg_comparison *q)
{
    rg_judgement j = untested();
    rg_measure a, b;
    const char *shape = rg_common_shape(q->machine, q->a, q->b, q->size, q->scopes);
    if (!shape || !rg_pick_pair(q->machine, q->a, q->b, shape, q->scopes, &a, &b)) {
        say_missing(q->machine, q->a, j.why, sizeof j.why);
        return j;
    }
    prefer_energy(q->machine, q->a, &a);
    prefer_energy(q->machine, q->b, &b);
    double x = rg_cell_number(a.row, RG_C_JOULES), y = rg_cell_number(b.row, RG_C_JOULES);
    if (isnan(x) || isnan(y)) {
        const rg_row *without = isnan(x) ? a.row : b.row, *with = isnan(x) ? b.row : a.row;
        int used = snprintf(j.why, sizeof j.why, "no energy of `%s`: %.120s", without->cell[RG_C_VARIANT],
                            without->cell[RG_C_ENERGY_SOURCE]);
        if (!isnan(x) || !isnan(y))
            snprintf(j.why + used, sizeof j.why - (size_t)used, "; `%s` takes %s J a call", with->cell[RG_C_VARIANT],
                     with->cell[RG_C_JOULES]);
        return j;
    }
    // Joules are power times time, summed over the calls whose times are known one by one: their spread is what can be known.
    const double time = rg_time_ratio(&a, &b, &j.low, &j.high);
    j.value = x / y;
    j.low *= j.value / time;
    j.high *= j.value / time;
    snprintf(j.ours, sizeof j.ours, "%.3g x: %.4g J / %.4g J a call", j.value, x, y);
    say_where(&a, &b, &j);
    judge_number(q, &j);
    return j;
}

// ---- small tables that jobs leave: stages, scaling, FSC --------------------------------------------------------------------

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
    rg_judgement j = untested();
    rg_samples a = table_samples(q->machine, q->a, q->size, j.why, sizeof j.why), b = {0};
    if (a.n && *q->b)
        b = table_samples(q->machine, q->b, q->size, j.why, sizeof j.why);
    if (a.n && (b.n || !*q->b)) {
        rg_summary x, y = {.median = 1};
        rg_summarise(&a, &x);
        if (b.n)
            rg_summarise(&b, &y);
        j.value = x.median / y.median;
        if (!b.n) {
            rg_median_interval(&a, &j.low, &j.high);
            snprintf(j.ours, sizeof j.ours, "%.4g %.40s", j.value, q->unit);
        } else {
            rg_ratio ratio = rg_ratio_of_medians(&a, &b, 1);
            j.low = ratio.low > 0 ? ratio.low : NAN; // 0 and infinity: a single run on one side
            j.high = ratio.high;
            char text[32];
            print_ratio(j.value, text);
            snprintf(j.ours, sizeof j.ours, "%s x (%.4g / %.4g)", text, x.median, y.median);
        }
        snprintf(j.scope, sizeof j.scope, "job");
        snprintf(j.size, sizeof j.size, "%.63s", q->size);
        judge_number(q, &j);
    }
    rg_samples_free(&a);
    rg_samples_free(&b);
    return j;
}

// An error against the truth, an FSC: the same command and seed give it again.
static rg_judgement judge_exact_cell(const rg_comparison *q)
{
    rg_judgement j = judge_cell(q);
    if (!isnan(j.value))
        judge_exact(q, &j);
    return j;
}

static rg_judgement judge_least(const rg_comparison *q)
{
    rg_judgement j = untested();
    char table[48] = "", column[48] = "";
    const rg_tsv *t = sscanf(q->a, "%47s %47s", table, column) == 2 ? rg_machine_table(q->machine, table) : NULL;
    double least = INFINITY;
    for (int i = 0; t && i < t->n_rows; i++)
        least = fmin(least, rg_tsv_number(t, i, column)); // passes over what is no number
    if (isinf(least)) {
        snprintf(j.why, sizeof j.why, "no table `%s` with numbers %s among the files of this machine: not measured", table,
                 column);
        return j;
    }
    j.value = least;
    snprintf(j.ours, sizeof j.ours, "%.7g at least, in %d row%s", least, t->n_rows, rg_s(t->n_rows));
    snprintf(j.scope, sizeof j.scope, "job");
    judge_exact(q, &j);
    return j;
}

// Frequency at which the curve first falls below one half, between two shells; the last one when it never does.
static double crossing(const rg_tsv *t)
{
    double last = NAN, before = NAN, frequency = NAN;
    for (int i = 0; i < t->n_rows; i++) {
        double fsc = rg_tsv_number(t, i, "fsc"), at = rg_tsv_number(t, i, "frequency");
        if (isnan(fsc) || isnan(at))
            continue;
        if (fsc < 0.5 && !isnan(before))
            return last + (at - last) * (before - 0.5) / (before - fsc);
        before = fsc;
        last = frequency = at;
    }
    return frequency;
}

static rg_judgement judge_crossing(const rg_comparison *q)
{
    rg_judgement j = untested();
    const rg_tsv *a = rg_machine_table(q->machine, q->a), *b = rg_machine_table(q->machine, q->b);
    if (!a || !b) {
        snprintf(j.why, sizeof j.why, "no table `%s` among the files of this machine: not measured", a ? q->b : q->a);
        return j;
    }
    double fa = crossing(a), fb = crossing(b);
    j.value = fa / fb;
    snprintf(j.ours, sizeof j.ours, "FSC = 0.5 at %.4g and %.4g", fa, fb);
    snprintf(j.scope, sizeof j.scope, "job");
    judge_exact(q, &j);
    return j;
}

static rg_judgement judge_paper(const rg_comparison *q)
{
    (void)q;
    rg_judgement j = untested();
    j.outcome = RG_INCONSISTENT;
    return j;
}

// No ratio to scalar C stands alone: the same over the autovec variant of its algorithm, which a compiler made of plain loops.
static void say_autovec(rg_judgement (*judge)(const rg_comparison *), const rg_comparison *q, rg_judgement *j)
{
    char spec[400];
    const char *naive = strstr(q->a, ":naive");
    if (!naive || isnan(j->value))
        return;
    const char *rest = naive + strcspn(naive, " @|");
    snprintf(spec, sizeof spec, "%.*s:autovec%s", (int)(naive - q->a), q->a, rest);
    rg_comparison over = *q;
    over.a = spec;
    rg_measure a, b;
    double low, high;
    char value[32] = "not timed";
    j->over_autovec = NAN;
    if (judge == judge_mean)
        j->over_autovec = judge(&over).value;
    else if (rg_pick_pair(q->machine, spec, q->b, j->size, j->scope, &a, &b)) // at this size, also where both were timed at a larger
        j->over_autovec = rg_time_ratio(&a, &b, &low, &high);
    if (!isnan(j->over_autovec)) {
        print_ratio(j->over_autovec, value);
        strcat(value, " x");
    }
    const size_t used = strlen(j->ours);
    snprintf(j->ours + used, sizeof j->ours - used, "; over autovec %s", value);
}

rg_judgement rg_judge_as(const char *kind, const rg_comparison *q)
{
    static const struct { const char *kind; rg_judgement (*judge)(const rg_comparison *); } kinds[] = {
        {"ratio", judge_ratio}, {"rate", judge_rate},   {"scaling", judge_scaling}, {"curves", judge_curves},
        {"equal", judge_equal}, {"fault", judge_fault}, {"job", judge_job},         {"present", judge_present},
        {"paper", judge_paper}, {"growth", judge_growth}, {"agree", judge_agree}, {"configs", judge_configs},
        {"energy", judge_energy}, {"cell", judge_cell}, {"least", judge_least}, {"crossing", judge_crossing},
        {"mean", judge_mean}, {"exact", judge_exact_cell}, {"refutes", judge_refutes}, {"peaks", judge_peaks}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(kinds[k].kind, kind)) {
            rg_judgement judged = kinds[k].judge(q);
            if (kinds[k].judge == judge_ratio || kinds[k].judge == judge_mean)
                say_autovec(kinds[k].judge, q, &judged);
            return judged;
        }
    rg_judgement j = untested();
    snprintf(j.why, sizeof j.why, "claims.tsv has the unknown kind \"%s\"", kind);
    return j;
}

rg_judgement rg_judge(const rg_claims *c, int i, const rg_bench_machine *m, const rg_job_files *job)
{
    const rg_tsv *t = &c->claim;
    const rg_comparison q = {m, job, rg_tsv_cell(t, i, "numerator"), rg_tsv_cell(t, i, "denominator"),
                             rg_tsv_cell(t, i, "size"), rg_tsv_cell(t, i, "scope"), rg_tsv_cell(t, i, "direction"),
                             rg_published(c, i, "unit"), rg_tsv_number(t, i, "low"), rg_tsv_number(t, i, "high")};
    return rg_judge_as(rg_tsv_cell(t, i, "kind"), &q);
}
