// SPDX-License-Identifier: MIT
// row.c: writes a measurement as a row of the result file. Missing values are empty cells; `stop` or `energy` gives the reason.
#include "timing.h"

#include "../../impl/runtime/source.h"
#include "../compare/validate.h"

void rg_set_cell(rg_row *row, rg_column column, const char *format, ...) {
    char text[768];
    RG_FORMAT(text, sizeof text, format);
    free(row->cell[column]);
    row->cell[column] = rg_print("%s", text);
}

void rg_set_number(rg_row *row, rg_column column, double value) {
    if (isfinite(value)) rg_set_cell(row, column, fabs(value) >= 1e6 && fabs(value) < 1e15 ? "%.0f" : "%.7g", value);
}

rg_row rg_measurement_key(const rg_measurement *measurement) {
    const rg_variant *v = measurement->entry->variant;
    char shape[96], params[192];
    rg_row row = rg_row_empty();
    rg_shape_print(measurement->entry->algo, &measurement->shape, shape);
    rg_params_print(v, measurement->param, params);
    rg_set_cell(&row, RG_C_ALGO, "%s", measurement->entry->algo->name);
    rg_set_cell(&row, RG_C_VARIANT, "%s", measurement->entry->name);
    rg_set_cell(&row, RG_C_SHAPE, "%s", shape);
    if (v->space == RG_HOST)
        rg_set_cell(
            &row, RG_C_PARAMS, "threads=%d%s%s", measurement->threads, v->n_params ? ";" : "", v->n_params ? params : "");
    else
        rg_set_cell(&row, RG_C_PARAMS, "%s", params);
    rg_set_cell(&row, RG_C_SPACE, "%s", v->space == RG_HOST ? "host" : "device");
    rg_set_cell(&row, RG_C_SCOPE, "%s", rg_scope_name[measurement->scope]);
    rg_set_cell(&row, RG_C_MODE, "%s", rg_mode_name[measurement->mode]);
    return row;
}

void rg_set_times(rg_row *row, const rg_samples *samples, double work) {
    rg_summary s;
    rg_summarise(samples, &s);
    rg_set_cell(row, RG_C_N, "%d", s.n);
    rg_set_number(row, RG_C_MIN, s.min);
    rg_set_number(row, RG_C_Q1, s.q1);
    rg_set_number(row, RG_C_MEDIAN, s.median);
    rg_set_number(row, RG_C_Q3, s.q3);
    rg_set_number(row, RG_C_MAX, s.max);
    rg_set_number(row, RG_C_INTERVAL, 200 * rg_relative_width(&s));
    rg_set_number(row, RG_C_RATE, work / (s.median / 1e9));
    // Seven digits: the resolution that stats.c assumes.
    char *text = rg_alloc((size_t)samples->n * 24 + 1), *at = text;
    for (int i = 0, process = 0; i < samples->n; i++) {
        const bool next = samples->processes > 1 && i == samples->past[process];
        const double ns = samples->ns[i];
        process += next;
        at += sprintf(at, "%s%.*f", !i ? "" : next ? "|" : ";", ns >= 1e6 ? 0 : ns >= 1e3 ? 3 : 6, ns);
    }
    free(row->cell[RG_C_SAMPLES]);
    row->cell[RG_C_SAMPLES] = text;
}

// The resource that limits this call on this machine, and how near the call came to that limit. The bound is unknown if a
// resource has no measured rate, because it might be the limit.
static void set_bound(rg_row *row, const rg_measurement *measurement, const rg_rates *rates, double median_s) {
    const rg_variant *v = measurement->entry->variant;
    if (!v->cost || !rates || rg_copies(measurement->scope) || measurement->scope == RG_ADDING) // cost() includes clearing
        return;
    rg_cost cost = {{0}};
    v->cost(&measurement->shape, measurement->param, &cost);
    double longest_s = 0;
    int limit = -1;
    for (int r = 0; r < RG_RESOURCES; r++) {
        if (!(cost.amount[r] > 0)) continue;
        double needs_s = cost.amount[r] / rates->per_s[r];
        if (isnan(needs_s)) {
            rg_set_cell(row, RG_C_BOUND, "%s", rg_resource_name[r]); // not measured: without a fraction
            return;
        }
        if (needs_s > longest_s) {
            longest_s = needs_s;
            limit = r;
        }
    }
    if (limit < 0) return;
    // No call is faster than its bound: the rate was measured too low, or cost() states too much.
    const double fraction = longest_s / median_s;
    rg_set_cell(row, RG_C_BOUND, "%s", rg_resource_name[limit]);
    rg_set_number(row, fraction > RG_FRACTION_MOST ? RG_C_ABOVE : RG_C_FRACTION, fraction);
    if (!(fraction > RG_FRACTION_REFUSED)) return;
    rg_set_cell(row, RG_C_STATUS, "%s", rg_status_name[RG_FAIL]);
    rg_set_cell(row, RG_C_STOP, "%s", rg_stop_word[RG_STOP_ABOVE_BOUND].word);
    for (rg_column c = RG_C_N; c <= RG_C_MAX; c++) rg_set_cell(row, c, "%s", "");
    rg_set_cell(row, RG_C_INTERVAL, "%s", "");
    rg_set_cell(row, RG_C_RATE, "%s", "");
    rg_set_cell(row, RG_C_SAMPLES, "%s", "");
}

static void set_others(rg_row *row, double others) {
    if (!isfinite(others)) return;
    rg_set_number(row, RG_C_OTHERS, fmax(others, 0));
    rg_set_cell(row, RG_C_CORES, "%d", (int)sysconf(_SC_NPROCESSORS_ONLN));
}

static void set_sensors(rg_row *row, const rg_measurement *measurement) {
    const unsigned held = measurement->throttle & ~(1u << RG_THROTTLE_NONE);
    char words[RG_REASON];
    rg_throttle_print(held ? held : measurement->throttle, false, words);
    rg_set_cell(row, RG_C_THROTTLE, "%s", words);
    if (measurement->visits) {
        rg_set_number(row, RG_C_CLOCK, measurement->clock_MHz / measurement->visits);
        rg_set_number(row, RG_C_TEMP, measurement->temp_C);
        rg_set_number(row, RG_C_POWER, measurement->power_W / measurement->visits);
    }
    rg_set_cell(row, RG_C_ENERGY, "%s", rg_energy_of[measurement->energy].word);
    rg_set_number(row, RG_C_JOULES, measurement->joules);
    rg_set_number(row, RG_C_ENERGY_S, measurement->energy_s);
    rg_set_number(row, RG_C_ENERGY_CALLS, measurement->energy_calls);
    rg_set_number(row, RG_C_ENERGY_BUSY, measurement->energy_busy);
    rg_set_number(row, RG_C_SENSOR_W, measurement->sensor_W);
    if (measurement->energy_devices) rg_set_cell(row, RG_C_ENERGY_DEVICES, "%d", measurement->energy_devices);
}

static void set_times(rg_row *row, const rg_measurement *measurement, const rg_rates *rates) {
    const rg_samples samples = rg_measurement_samples(measurement);
    rg_set_times(row, &samples, measurement->entry->algo->work(&measurement->shape));
    set_bound(row, measurement, rates, rg_cell_number(row, RG_C_MEDIAN) / 1e9);
    rg_set_cell(row, RG_C_ROUNDS, "%d", measurement->processes ? measurement->processes : measurement->visits);
    rg_set_cell(row, RG_C_CALLS, "%d", measurement->batch);
    rg_set_cell(row, RG_C_PREEMPTED, "%ld", measurement->preempted);
    if (measurement->fresh > 0) rg_set_number(row, RG_C_FRESH, measurement->fresh);
    if (measurement->watched_s >= 0.5) // the kernel counts in ticks of 10 ms
        set_others(row, measurement->others_s / measurement->watched_s);
    set_sensors(row, measurement);
    rg_set_number(row, RG_C_PREPARE, measurement->prepare_ns);
    char source[64];
    rg_entry_source(measurement->entry, source);
    rg_set_cell(row, RG_C_SOURCE, "%s", source);
}

char *rg_input_key(const rg_row *row) {
    char *const *c = row->cell;
    if (strcmp(c[RG_C_SCOPE], "job")) return rg_print("input %s %s", c[RG_C_ALGO], c[RG_C_SHAPE]);
    return rg_print("input %s %s, %s %.*s", c[RG_C_ALGO], c[RG_C_SHAPE], c[RG_C_WORK], (int)strcspn(c[RG_C_RATE_UNIT], "/"),
        c[RG_C_RATE_UNIT]);
}

rg_row rg_measurement_row(const rg_measurement *measurement, const rg_rates *rates) {
    const rg_algo *algo = measurement->entry->algo;
    rg_row row = rg_measurement_key(measurement);
    rg_set_cell(&row, RG_C_UNIT, "ns");
    rg_set_number(&row, RG_C_WORK, algo->work(&measurement->shape));
    rg_set_number(&row, RG_C_TRAFFIC, algo->traffic_bytes(&measurement->shape));
    rg_set_cell(&row, RG_C_RATE_UNIT, "%s", algo->rate_unit);
    rg_set_cell(&row, RG_C_STATUS, "%s", rg_status_name[measurement->verdict.status]);
    rg_set_cell(&row, RG_C_STOP, "%s", rg_stop_word[measurement->stop].word);
    rg_set_cell(&row, RG_C_DETAIL, "%s", measurement->detail);
    if (measurement->stop == RG_STOP_BUSY) set_others(&row, measurement->others);
    if (measurement->verdict.status != RG_SKIP) {
        rg_set_number(&row, RG_C_PEAK_BYTES, (double)rg_measurement_bytes(measurement));
        rg_set_number(&row, RG_C_ERROR, measurement->verdict.error);
        rg_set_number(&row, RG_C_TOL, measurement->verdict.tol);
    }
    // Only rows that passed have a time.
    if (measurement->verdict.status == RG_PASS && measurement->n) {
        set_times(&row, measurement, rates);
        rg_set_cell(&row, RG_C_CHECK, "%s", rg_held_against_word[measurement->check].word);
        if (measurement->elements) rg_set_cell(&row, RG_C_CHECKED, "%lld", (long long)measurement->checked);
        if (measurement->elements) rg_set_cell(&row, RG_C_ELEMENTS, "%lld", (long long)measurement->elements);
        rg_set_cell(&row, RG_C_AGAINST, "%s", measurement->against);
    }
    return row;
}

void rg_head_source(rg_head *head, const rg_entry *e) {
    char *key = rg_print("source %s:%s", e->algo->name, e->name), text[64];
    rg_entry_source(e, text);
    rg_head_add(head, key, "%s", text);
    free(key);
}

rg_row rg_probe_row(const char *space, int threads, int resource, double per_s) {
    rg_row row = rg_row_empty();
    rg_set_cell(&row, RG_C_ALGO, "probe");
    rg_set_cell(&row, RG_C_VARIANT, "%s", rg_resource_name[resource]);
    rg_set_cell(&row, RG_C_SHAPE, "-");
    if (threads)
        rg_set_cell(&row, RG_C_PARAMS, "threads=%d", threads);
    else
        rg_set_cell(&row, RG_C_PARAMS, "-");
    rg_set_cell(&row, RG_C_SPACE, "%s", space);
    rg_set_cell(&row, RG_C_SCOPE, "kernel");
    rg_set_cell(&row, RG_C_MODE, "hot");
    rg_set_number(&row, RG_C_RATE, per_s);
    rg_set_cell(&row, RG_C_RATE_UNIT, "%s", rg_resource_unit[resource]);
    rg_set_cell(&row, RG_C_STOP, "%s", rg_stop_word[isnan(per_s) ? RG_STOP_NO_PROBE : RG_STOP_PROBE].word);
    return row;
}
