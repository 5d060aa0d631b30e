// SPDX-License-Identifier: MIT
// judge_rows.c: claims that rows of `bench` and `verify` decide: ratios and rates of times, and whether results are right.
#include "judge.h"

#include "../../bench/stats/stats.h"
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Why no row of spec can be used: what its rows say instead of PASS, or that there are none.
static void say_missing(const rg_bench_machine *m, const char *spec, char *text, size_t room)
{
    RG_EACH_ROW(row, m)
    {
        if (rg_matches(row, spec) && strcmp(row->cell[RG_C_STATUS], "PASS")) {
            snprintf(text, room, "`%s`: %s %s", spec, row->cell[RG_C_STATUS], row->cell[RG_C_STOP]);
            return;
        }
    }
    snprintf(text, room, "no row of `%s` in the files of this machine: not measured", spec);
}

// Where one side is a host's, which copies nothing, the scope is that of the device.
static void say_where(const rg_measure *a, const rg_measure *b, rg_judgement *j)
{
    snprintf(j->size, sizeof j->size, "%s", a->row->cell[RG_C_SHAPE]);
    const rg_row *row = b && strcmp(b->row->cell[RG_C_SPACE], "host") ? b->row : a->row;
    snprintf(j->scope, sizeof j->scope, "%.40s", row->cell[RG_C_SCOPE]);
}

// Rows that spec speaks of at the shape, in the scope and mode of the one that was picked: sets of parameters, most often.
static int configurations(const rg_bench_machine *m, const char *spec, const rg_measure *picked)
{
    static const int same[] = {RG_C_SHAPE, RG_C_SCOPE, RG_C_MODE};
    int n = 0;
    RG_EACH_ROW(row, m)
    {
        bool one = rg_timed(row) && rg_matches(row, spec);
        for (int c = 0; c < RG_COUNT(same) && one; c++) one = !strcmp(row->cell[same[c]], picked->row->cell[same[c]]);
        n += one;
    }
    return n;
}

static rg_judgement judge_ratio(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
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
            same               ? "both sides are one row: no other configuration was timed"
                : one && other ? "both were timed, but at no common size and scope"
                               : why_a);
        return j;
    }
    j.value = rg_time_ratio(&a, &b, &j.low, &j.high);
    char value[32], low[32], high[32];
    rg_print_ratio(j.value, value);
    rg_print_ratio(j.low, low);
    rg_print_ratio(j.high, high);
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
    rg_judge_number(q, &j);
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
    rg_judgement j = rg_unjudged();
    rg_measure a;
    const char *shape = rg_common_shape(q->machine, q->a, q->a, q->size, q->scopes);
    if (!shape || strncmp(shape, q->size, strlen(q->size)) || !rg_pick(q->machine, q->a, shape, q->scopes, &a)) {
        say_missing(q->machine, q->a, j.why, sizeof j.why - 64);
        if (shape) snprintf(j.why, sizeof j.why, "`%s` was not timed at %s", q->a, q->size);
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
    rg_judge_number(q, &j);
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
        rg_judge_number(q, &j);
    }
    return j;
}

// At how many offsets images of one size were timed, counted up to three, and the largest of them.
static int offsets_timed(const rg_comparison *q, const char *spec, const rg_measure *like, int64_t *largest)
{
    int64_t seen[3];
    int n = 0;
    *largest = 0;
    RG_EACH_ROW(row, q->machine)
    {
        const rg_measure b = rg_measure_of(walk.file, row);
        if (!rg_timed(b.row) || !rg_plain(b.row) || !rg_matches(b.row, spec) || b.width != like->width ||
            b.height != like->height)
            continue;
        *largest = b.r > *largest ? b.r : *largest;
        bool known = false;
        for (int s = 0; s < n; s++) known |= seen[s] == b.r;
        if (!known && n < RG_COUNT(seen)) seen[n++] = b.r;
    }
    return n;
}

// The image size with the most pixels at which a variant was timed at three offsets or more: *width is 0 when there is none.
static void curve_reach(const rg_comparison *q, const char *spec, int64_t *width, int64_t *height, int64_t *reach)
{
    int64_t largest;
    *width = *height = *reach = 0;
    RG_EACH_ROW(row, q->machine)
    {
        const rg_measure a = rg_measure_of(walk.file, row);
        if (!rg_timed(a.row) || !rg_plain(a.row) || !rg_matches(a.row, spec) || a.width * a.height <= *width * *height ||
            offsets_timed(q, spec, &a, &largest) < 3)
            continue;
        *width = a.width;
        *height = a.height;
        *reach = largest;
    }
}

// Curves of time against R: how far they all reach, as a part of the width.
static rg_judgement judge_curves(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
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
    j.outcome = n < all ? RG_NOT_CALLED : rg_shown(rg_outcome_of(least, least, least, q->low, q->high, q->direction));
    snprintf(
        j.why, sizeof j.why, "all curves have to reach %.2g of the width%s%s", q->low, *without ? "; without " : "", without);
    return j;
}

// ---- whether results are right, and whether there are any ------------------------------------------------------------------

static bool is_failure(const char *status)
{
    return !strcmp(status, "FAIL") || !strcmp(status, "CRASH") || !strcmp(status, "TIMEOUT");
}

// Rows of spec, of shapes that begin so, whose status is_failure (or PASS).
static int count_status(const rg_bench_machine *m, const char *spec, const char *size, bool failures)
{
    int n = 0;
    RG_EACH_ROW(row, m)
    {
        const char *status = row->cell[RG_C_STATUS];
        n += (failures ? is_failure(status) : !strcmp(status, "PASS")) && rg_matches(row, spec) &&
            !strncmp(row->cell[RG_C_SHAPE], size, strlen(size));
    }
    return n;
}

// Every variant of the list has passed the checker somewhere and failed nowhere: its results are the reference's.
static rg_judgement judge_equal(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    char spec[96], missing[200] = "";
    int good = 0, all = 0;
    for (const char *at = q->a; rg_next_piece(&at, ',', spec, sizeof spec); all++) {
        int passed = 0;
        RG_EACH_ROW(row, q->machine)
        {
            if (!rg_matches(row, spec)) continue;
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
        if (!passed) snprintf(missing + strlen(missing), sizeof missing - strlen(missing), "%s%s", *missing ? ", " : "", spec);
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
    rg_judgement j = rg_unjudged();
    RG_EACH_ROW(row, q->machine)
    {
        if (!rg_matches(row, q->a) || strcmp(row->cell[RG_C_STATUS], "FAIL")) continue;
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

static rg_judgement judge_present(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    rg_measure a;
    const char *shape = rg_common_shape(q->machine, q->a, q->a, q->size, q->scopes);
    if (!shape || !rg_pick(q->machine, q->a, shape, q->scopes, &a)) {
        say_missing(q->machine, q->a, j.why, sizeof j.why);
        if (count_status(q->machine, q->a, "", true)) j.outcome = RG_CONTRADICTED;
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
    rg_judgement j = rg_unjudged();
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
    rg_judge_number(q, &j);
    return j;
}

// The mean of the ratios over turns, size "PREFIX;FIRST;LAST;COUNT": shapes PREFIX and a number from FIRST to LAST. Of fewer
// than COUNT of them there is a number, but no mean over the range.
static rg_judgement judge_mean(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
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
    rg_print_ratio(j.value, value);
    rg_print_ratio(j.low, low);
    rg_print_ratio(j.high, high);
    snprintf(j.ours, sizeof j.ours, "%s x [%s, %s], mean of %d turns", value, low, high, n);
    snprintf(j.size, sizeof j.size, "%.32s%d..%d", prefix, first, last);
    rg_judge_number(q, &j);
    if (n < least) {
        j.outcome = RG_NOT_CALLED;
        snprintf(j.why, sizeof j.why, "%d turns were timed, the mean of the range needs %d", n, least);
    }
    return j;
}

static rg_judgement judge_agree(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    double worst = -1, error = 0;
    int shapes = 0;
    RG_EACH_ROW(row, q->machine)
    {
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
    rg_judge_exact(q, &j);
    return j;
}

static rg_judgement judge_configs(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
    int most = 0;
    for (int f = 0; f < q->machine->n_files; f++) {
        const rg_result *file = &q->machine->file[f];
        for (int i = 0; i < file->n_rows; i++) {
            int n = 0;
            if (!rg_timed(&file->row[i]) || !rg_matches(&file->row[i], q->a)) continue;
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
    RG_EACH_ROW(row, m)
    {
        if (isnan(rg_cell_number(best->row, RG_C_JOULES)) && rg_timed(row) && !strcmp(row->cell[RG_C_SHAPE], shape) &&
            !strcmp(row->cell[RG_C_SCOPE], scope) && rg_matches(row, spec) &&
            strncmp(row->cell[RG_C_ENERGY_SOURCE], "not asked", 9))
            *best = rg_measure_of(walk.file, row);
    }
}

static rg_judgement judge_energy(const rg_comparison *q)
{
    rg_judgement j = rg_unjudged();
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
        int used = snprintf(
            j.why, sizeof j.why, "no energy of `%s`: %.120s", without->cell[RG_C_VARIANT], without->cell[RG_C_ENERGY_SOURCE]);
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
    rg_judge_number(q, &j);
    return j;
}

// No ratio to scalar C stands alone: the same over the autovec variant of its algorithm, which a compiler made of plain loops.
static void say_autovec(rg_judgement (*judge)(const rg_comparison *), const rg_comparison *q, rg_judgement *j)
{
    char spec[400];
    const char *naive = strstr(q->a, ":naive");
    if (!naive || isnan(j->value)) return;
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
    else if (rg_pick_pair(
                 q->machine, spec, q->b, j->size, j->scope, &a, &b)) // at this size, also where both were timed at a larger
        j->over_autovec = rg_time_ratio(&a, &b, &low, &high);
    if (!isnan(j->over_autovec)) {
        rg_print_ratio(j->over_autovec, value);
        strcat(value, " x");
    }
    const size_t used = strlen(j->ours);
    snprintf(j->ours + used, sizeof j->ours - used, "; over autovec %s", value);
}

bool rg_judge_rows(const char *kind, const rg_comparison *q, rg_judgement *j)
{
    static const rg_judge_kind kinds[] = {{"ratio", judge_ratio}, {"rate", judge_rate}, {"scaling", judge_scaling},
        {"curves", judge_curves}, {"equal", judge_equal}, {"fault", judge_fault}, {"present", judge_present},
        {"growth", judge_growth}, {"agree", judge_agree}, {"configs", judge_configs}, {"energy", judge_energy},
        {"mean", judge_mean}, {"refutes", judge_refutes}};
    for (int k = 0; k < RG_COUNT(kinds); k++)
        if (!strcmp(kinds[k].kind, kind)) {
            *j = kinds[k].judge(q);
            if (kinds[k].judge == judge_ratio || kinds[k].judge == judge_mean) say_autovec(kinds[k].judge, q, j);
            return true;
        }
    return false;
}
