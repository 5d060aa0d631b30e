// SPDX-License-Identifier: MIT
// judge_times.c: judges claims on times: ratios of two variants, over sizes, turns and cores; rates; energy.
#include "judge.h"

#include "../../impl/base/core.h"

// Sets size and scope. If one side is a host's, which copies nothing, the scope is the device's.
static void set_place(rg_judgement *v, const rg_row *a, const rg_row *b) {
    const rg_row *row = b && strcmp(b->cell[RG_C_SPACE], "host") ? b : a;
    snprintf(v->size, sizeof v->size, "%s", a->cell[RG_C_SHAPE]);
    snprintf(v->scope, sizeof v->scope, "%s", row->cell[RG_C_SCOPE]);
}

// ---- one pair of rows ----------------------------------------------------------------------------------------------------

static bool pick_common(const rg_comparison *q, const rg_row *pair[2]) {
    const char *shape = rg_common_shape(q->rows, q->a, q->b, q->size, q->scopes);
    return shape && rg_pick_pair(q->rows, q->a, q->b, shape, q->scopes, pair);
}

static rg_why no_pair(const rg_comparison *q) {
    const char *one = rg_common_shape(q->rows, q->a, q->a, q->size, q->scopes);
    const char *other = rg_common_shape(q->rows, q->b, q->b, q->size, q->scopes);
    const rg_row *of_a = one && other ? rg_pick(q->rows, q->a, one, q->scopes) : NULL;
    if (of_a && of_a == rg_pick(q->rows, q->b, one, q->scopes)) return (rg_why){.reason = RG_BY_ONE_ROW};
    return one && other ? (rg_why){.reason = RG_BY_NO_COMMON_SIZE} : rg_missing(q->rows, one ? q->b : q->a);
}

// A ratio to scalar C is never given alone, but with the ratio to autovec, plain loops vectorised by the compiler.
static bool over_autovec(const rg_comparison *q, char spec[400]) {
    const char *naive = strstr(q->a, ":naive");
    if (naive) snprintf(spec, 400, "%.*s:autovec%s", (int)(naive - q->a), q->a, naive + strcspn(naive, " @|"));
    return naive && !strstr(q->b, ":autovec"); // compared already
}

static void set_over_autovec(const rg_comparison *q, rg_judgement *v) {
    char spec[400];
    const rg_row *pair[2];
    if (isnan(v->value) || !over_autovec(q, spec)) return;
    // At this size, even if both were timed at a larger one.
    v->over_autovec = rg_pick_pair(q->rows, spec, q->b, v->size, v->scope, pair) ? rg_time_ratio(pair[0], pair[1]).value : NAN;
}

static rg_judgement judge_pair(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    const rg_row *pair[2];
    if (!pick_common(q, pair)) {
        v.why = no_pair(q);
        return v;
    }
    const rg_row *a = pair[0], *b = pair[1];
    const int of_a = rg_configurations(q->rows, q->a, a), of_b = rg_configurations(q->rows, q->b, b);
    const int tried = of_a > of_b ? of_a : of_b;
    v.ours = (rg_ours){RG_OURS_RATIO,
        .number = {of_a, of_b, rg_fixed_ns(q->rows, q->a, a) / 1e9, a->timed_ns / 1e9, rg_fixed_ns(q->rows, q->b, b) / 1e9,
            b->timed_ns / 1e9}};
    set_place(&v, a, b);
    rg_judge_number(q, rg_time_ratio(a, b), &v);
    if (a == b && tried < RG_SEARCHED) {
        rg_refuse(RG_BY_FEW_TRIED, tried, RG_SEARCHED, &v);
        v.value = v.low = v.high = NAN; // not a point of a figure
    }
    if (fabs(rg_more_work(a, b) - 1) > 1e-9) // fixed costs weigh more with less work
        rg_refuse(RG_BY_UNEQUAL_WORK, rg_cell_number(a, RG_C_WORK), rg_cell_number(b, RG_C_WORK), &v);
    return v;
}

static rg_judgement judge_ratio(const rg_comparison *q) {
    rg_judgement v = judge_pair(q);
    set_over_autovec(q, &v);
    return v;
}

// Judges images per second at one shape.
static rg_judgement judge_rate(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    const char *shape = rg_common_shape(q->rows, q->a, q->a, q->size, q->scopes);
    const bool of_size = shape && !strncmp(shape, q->size, strlen(q->size));
    const rg_row *a = of_size ? rg_pick(q->rows, q->a, shape, q->scopes) : NULL;
    if (!a) {
        v.why = shape ? (rg_why){RG_BY_OTHER_SIZE, .text = {rg_text_of(q->a), rg_text_of(q->size)}} : rg_missing(q->rows, q->a);
        return v;
    }
    v.ours.form = RG_OURS_RATE;
    set_place(&v, a, NULL);
    rg_judge_number(q, rg_calls_a_second(a), &v);
    return v;
}

// Judges the speed on all threads over one thread, as a fraction of the number of threads.
static rg_judgement judge_scaling(const rg_comparison *q) {
    rg_judgement v = judge_pair(q);
    const rg_row *b = isfinite(v.value) ? rg_pick(q->rows, q->b, v.size, q->scopes) : NULL;
    if (!b) return v;
    const int threads = rg_row_threads(b, 1);
    v.ours = (rg_ours){RG_OURS_SCALING, .number = {v.value, threads}};
    rg_judge_number(q, (rg_estimate){v.value / threads, v.low / threads, v.high / threads}, &v);
    return v;
}

// The fastest row may lack energy. Returns a row that has joules, otherwise one that gives the reason why there are none.
static const rg_row *with_energy(rg_rows rows, const char *spec, const rg_row *best) {
    for (rg_cursor at = {.rows = rows}; isnan(rg_cell_number(best, RG_C_JOULES)) && rg_next(&at);)
        if (rg_timed(at.row) && !strcmp(at.row->cell[RG_C_SHAPE], best->cell[RG_C_SHAPE]) &&
            !strcmp(at.row->cell[RG_C_SCOPE], best->cell[RG_C_SCOPE]) && rg_matches(at.row, spec) &&
            rg_cell_word(at.row, RG_C_ENERGY) != RG_ENERGY_NOT_ASKED)
            best = at.row;
    return best;
}

static rg_judgement judge_energy(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    const rg_row *pair[2];
    if (!pick_common(q, pair)) {
        v.why = rg_missing(q->rows, q->a);
        return v;
    }
    const rg_row *a = with_energy(q->rows, q->a, pair[0]), *b = with_energy(q->rows, q->b, pair[1]);
    const double x = rg_cell_number(a, RG_C_JOULES) + q->host_W * a->timed_ns / 1e9;
    const double y = rg_cell_number(b, RG_C_JOULES) + q->host_W * b->timed_ns / 1e9;
    if (isnan(x) || isnan(y)) {
        const rg_row *without = isnan(x) ? a : b, *with = isnan(x) ? b : a;
        const bool one = !isnan(x) || !isnan(y);
        const int word = rg_cell_word(without, RG_C_ENERGY);
        v.why = (rg_why){RG_BY_NO_ENERGY,
            .text = {rg_text_of(without->cell[RG_C_VARIANT]), rg_text_of(word < 0 ? "" : rg_energy_of[word].phrase),
                rg_text_of(one ? with->cell[RG_C_VARIANT] : ""), rg_text_of(with->cell[RG_C_JOULES])}};
        return v;
    }
    // Joules are power times time, summed over calls that are timed one by one, so only the spread of times is known.
    const rg_estimate time = rg_time_ratio(a, b);
    const double part = x / y / time.value;
    v.ours = (rg_ours){RG_OURS_ENERGY, .number = {x, y, q->host_W}};
    set_place(&v, a, b);
    rg_judge_number(q, (rg_estimate){x / y, time.low * part, time.high * part}, &v);
    return v;
}

// ---- several pairs -------------------------------------------------------------------------------------------------------

// Time of a over time of b at one shape, or the rate of a; NaN with the reason in v->why. The interval is relative to the
// value, or for a single row to its median.
static rg_estimate at_shape(const rg_comparison *q, rg_text shape, rg_text scopes, rg_judgement *v) {
    char at[96], in[96];
    const rg_row *pair[2] = {NULL, NULL};
    snprintf(at, sizeof at, "%.*s", shape.n, shape.at);
    snprintf(in, sizeof in, "%.*s", scopes.n, scopes.at);
    if (!*q->b)
        pair[0] = rg_pick(q->rows, q->a, at, in);
    else if (!rg_pick_pair(q->rows, q->a, q->b, at, in, pair))
        pair[0] = NULL;
    if (!pair[0]) {
        v->why = (rg_why){RG_BY_NO_PLACE, .text = {rg_text_of(q->a), rg_text_of(q->b), shape, scopes}};
        return RG_NO_ESTIMATE;
    }
    set_place(v, pair[0], *q->b ? pair[1] : NULL);
    if (*q->b) {
        const rg_estimate ratio = rg_time_ratio(pair[0], pair[1]);
        return (rg_estimate){ratio.value, ratio.low / ratio.value, ratio.high / ratio.value};
    }
    RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(pair[0]);
    const rg_estimate of = rg_median_of(&samples);
    const double median = rg_cell_number(pair[0], RG_C_MEDIAN);
    v->ours.text[0] = rg_text_of(pair[0]->cell[RG_C_RATE_UNIT]);
    return (rg_estimate){rg_cell_number(pair[0], RG_C_RATE) * median / of.value, of.value / of.high, of.value / of.low};
}

// Judges the ratio, or the rate, at a large size over that at a small one. One scope for both, unless the claim gives each its
// own: "device;transfer".
static rg_judgement judge_growth(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    const rg_text small = rg_text_to(q->size, ";");
    const rg_text big = rg_text_of(q->size + small.n + (q->size[small.n] == ';'));
    const char *own = strchr(q->scopes, ';');
    rg_estimate s = RG_NO_ESTIMATE, b = RG_NO_ESTIMATE;
    for (const char *at = q->scopes; *at && *at != ';' && isnan(b.value);) {
        const rg_text scope = rg_text_to(at, ",;");
        s = at_shape(q, small, scope, &v);
        b = isnan(s.value) ? s : at_shape(q, big, own ? rg_text_of(own + 1) : scope, &v);
        at += scope.n;
        at += *at == ',';
    }
    if (isnan(b.value)) {
        const rg_text any = rg_text_of(q->scopes);
        if (!own && !isnan(at_shape(q, small, any, &v).value) && !isnan(at_shape(q, big, any, &v).value))
            v.why = (rg_why){.reason = RG_BY_NO_COMMON_SCOPE};
        return v;
    }
    v.ours.form = RG_OURS_GROWTH;
    v.ours.number[0] = b.value;
    v.ours.number[1] = s.value;
    snprintf(v.size, sizeof v.size, "%s", q->size);
    // Two sizes are independent measurements: half widths of logarithms add in quadrature.
    const double value = b.value / s.value, down = hypot(log(b.low), log(s.high)), up = hypot(log(b.high), log(s.low));
    rg_judge_number(q, (rg_estimate){value, value * exp(-down), value * exp(up)}, &v);
    return v;
}

// Mean of the ratios over turns, size "PREFIX;FIRST;LAST;COUNT": shapes PREFIX with COUNT numbers from FIRST to LAST, evenly
// spaced; others, timed for another claim, do not count. With fewer there is a number, but no mean over the range.
static rg_judgement mean_of(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    char prefix[64];
    int first, last, least, n = 0, once = 0; // once: a side was timed only once, so there is no interval
    if (sscanf(q->size, "%63[^;];%d;%d;%d", prefix, &first, &last, &least) != 4) {
        v.why = (rg_why){RG_BY_BAD_TURNS, .text = {rg_text_of(q->size)}};
        return v;
    }
    double sum = 0, squares = 0;
    const int step = least > 1 ? (last - first) / (least - 1) : 1;
    for (int turn = first; turn <= last; turn += step) {
        const rg_row *pair[2];
        RG_FREED char *shape = rg_print("%s%d", prefix, turn);
        const bool timed = rg_pick_pair(q->rows, q->a, q->b, shape, q->scopes, pair);
        if (!timed) continue;
        const rg_estimate ratio = rg_time_ratio(pair[0], pair[1]);
        if (!isfinite(ratio.low) || !isfinite(ratio.high)) {
            once++;
            continue;
        }
        sum += ratio.value;
        squares += (ratio.high - ratio.low) * (ratio.high - ratio.low) / 4; // turns are independent measurements, as in growth
        set_place(&v, pair[0], pair[1]);
        n++;
    }
    if (!n) {
        const char *one = once ? NULL : rg_common_shape(q->rows, q->a, q->a, prefix, q->scopes);
        v.why = once ? (rg_why){.reason = RG_BY_TURNS_ONCE} : rg_missing(q->rows, one ? q->b : q->a);
        return v;
    }
    v.ours = (rg_ours){RG_OURS_MEAN, .number = {n}};
    snprintf(v.size, sizeof v.size, "%.32s%d..%d", prefix, first, last);
    const double mean = sum / n, half = sqrt(squares) / n;
    rg_judge_number(q, (rg_estimate){mean, mean - half, mean + half}, &v);
    if (n < least) rg_refuse(RG_BY_FEW_TURNS, n, least, &v);
    return v;
}

// Size "PREFIX;FIRST;LAST;COUNT/FIRST;LAST;COUNT": the mean over the first range over the mean over the second.
static rg_judgement judge_means(const rg_comparison *q, const char *slash) {
    RG_FREED char *first = rg_print("%.*s", (int)(slash - q->size), q->size);
    RG_FREED char *second = rg_print("%.*s;%s", (int)strcspn(q->size, ";"), q->size, slash + 1);
    rg_comparison one = *q;
    one.size = first;
    rg_judgement v = mean_of(&one);
    one.size = second;
    const rg_judgement over = mean_of(&one);
    if (v.why.reason != RG_BY_NUMBER) return v; // no number, or too few turns
    if (over.why.reason != RG_BY_NUMBER) return over;
    const double value = v.value / over.value;
    const double half = hypot((v.high - v.low) / v.value, (over.high - over.low) / over.value) / 2;
    v.ours.number[1] = over.ours.number[0];
    rg_judge_number(q, (rg_estimate){value, value * (1 - half), value * (1 + half)}, &v);
    return v;
}

static rg_judgement judge_mean(const rg_comparison *q) {
    const char *slash = strchr(q->size, '/');
    if (slash) return judge_means(q, slash);
    rg_judgement v = mean_of(q);
    char spec[400];
    rg_comparison over = *q;
    over.a = spec;
    if (!isnan(v.value) && over_autovec(q, spec)) v.over_autovec = mean_of(&over).value;
    return v;
}

// ---- variants that run, and their reach -----------------------------------------------------------------------------------

static rg_judgement judge_present(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    const char *shape = rg_common_shape(q->rows, q->a, q->a, q->size, q->scopes);
    const rg_row *a = shape ? rg_pick(q->rows, q->a, shape, q->scopes) : NULL;
    if (!a) {
        v.why = rg_missing(q->rows, q->a);
        if (rg_count_status(q->rows, q->a, "", true)) v.outcome = RG_CONTRADICTED;
        return v;
    }
    v.outcome = RG_EXISTS;
    v.value = a->timed_ns;
    v.ours = (rg_ours){RG_OURS_TIME, .number = {a->timed_ns}};
    v.why = (rg_why){.reason = RG_BY_RUNNING};
    set_place(&v, a, NULL);
    return v;
}

static int64_t part_of(const rg_row *row, const char *name) { return rg_cell_part(row->cell[RG_C_SHAPE], name, -1); }

static bool is_of_curve(const rg_row *row, const char *spec) { return rg_timed(row) && rg_plain(row) && rg_matches(row, spec); }

// The largest offset at which images of this size were timed; -1 if fewer than three were.
static int64_t reach_of(rg_rows rows, const char *spec, int64_t width, int64_t height) {
    int64_t seen[3], largest = 0;
    int n = 0;
    for (rg_cursor at = {.rows = rows}; rg_next(&at);) {
        if (!is_of_curve(at.row, spec) || part_of(at.row, "w") != width || part_of(at.row, "h") != height) continue;
        const int64_t r = part_of(at.row, "r");
        largest = r > largest ? r : largest;
        bool known = false;
        for (int s = 0; s < n; s++) known |= seen[s] == r;
        if (!known && n < 3) seen[n++] = r;
    }
    return n < 3 ? -1 : largest;
}

// Judges curves of time against R: the offset that all reach, as a fraction of the width, for the largest image with a curve.
static rg_judgement judge_curves(const rg_comparison *q) {
    rg_judgement v = rg_unjudged();
    char spec[96], without[200] = "";
    double least = INFINITY;
    int n = 0, all = 0;
    for (const char *at = q->a; rg_next_piece(&at, ',', spec, sizeof spec); all++) {
        int64_t width = 0, height = 0, reach = 0;
        for (rg_cursor row = {.rows = q->rows}; rg_next(&row);) {
            if (!is_of_curve(row.row, spec)) continue;
            const int64_t w = part_of(row.row, "w"), h = part_of(row.row, "h");
            const int64_t r = w * h > width * height ? reach_of(q->rows, spec, w, h) : -1;
            if (r >= 0) width = w, height = h, reach = r;
        }
        if (!width) {
            rg_add_to_list(without, spec);
            continue;
        }
        n++;
        if ((double)reach / (double)width < least) {
            least = (double)reach / (double)width;
            v.ours = (rg_ours){RG_OURS_CURVES, .number = {(double)reach}};
            snprintf(v.size, sizeof v.size, "w%lld,h%lld", (long long)width, (long long)height);
        }
    }
    if (n == 0) {
        v.why = (rg_why){.reason = RG_BY_NO_CURVE};
        return v;
    }
    v.ours.number[1] = n;
    v.ours.number[2] = all;
    rg_judge_number(q, (rg_estimate){least, least, least}, &v);
    v.outcome = n < all ? RG_NOT_CALLED : rg_shown(v.outcome);
    v.why = (rg_why){RG_BY_REACH, .number = {q->low}};
    memcpy(v.why.list, without, sizeof v.why.list);
    return v;
}

const rg_claim_kind rg_kinds_of_times[] = {{"ratio", judge_ratio}, {"rate", judge_rate}, {"scaling", judge_scaling},
    {"energy", judge_energy}, {"growth", judge_growth}, {"mean", judge_mean}, {"present", judge_present},
    {"curves", judge_curves}, {NULL, NULL}};
