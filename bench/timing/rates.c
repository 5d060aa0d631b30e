// SPDX-License-Identifier: MIT
// rates.c: measures, in the same run, the rates that the bounds of a plan's measurements need (timing.h).
#include "timing.h"

#include "../../impl/runtime/cpu.h"

static bool is_host(const rg_measurement *measurement) { return measurement->entry->variant->space == RG_HOST; }

static rg_row row_of(const rg_measurement *measurement, int resource, double per_s) {
    return rg_probe_row(
        is_host(measurement) ? "host" : "device", is_host(measurement) ? measurement->threads : 0, resource, per_s);
}

void rg_rates_known(const rg_out *out, const rg_measurement *measurement, rg_rates *rates) {
    for (int r = 0; r < RG_RESOURCES; r++) {
        RG_ENDS(rg_row_free) rg_row key = row_of(measurement, r, NAN);
        const rg_row *found = rg_out_find(out, &key);
        rates->per_s[r] = found ? rg_cell_number(found, RG_C_RATE) : NAN;
    }
}

static unsigned missing(const rg_out *out, const rg_measurement *measurement) {
    rg_cost cost = {{0}};
    unsigned wanted = 0;
    if (!measurement->done && measurement->entry->variant->cost)
        measurement->entry->variant->cost(&measurement->shape, measurement->param, &cost);
    for (int r = 0; r < RG_RESOURCES; r++) {
        if (!(cost.amount[r] > 0)) continue;
        RG_ENDS(rg_row_free) rg_row key = row_of(measurement, r, NAN);
        wanted |= rg_out_find(out, &key) ? 0 : 1u << r;
    }
    return wanted;
}

// The best of three runs of each probe: other load can only lower a rate.
static int measure(const rg_measurement *measurement, const rg_device *gpu, unsigned wanted, rg_rates *best) {
    int code = RG_OK;
    rg_cpu_pin(-1);
    for (int i = 0; i < 3 && !code; i++) {
        rg_rates rates;
        if (is_host(measurement))
            rg_probe_cpu(measurement->threads, wanted, &rates);
        else
            code = rg_probe_gpu(gpu, wanted, &rates);
        for (int r = 0; r < RG_RESOURCES && !code; r++)
            best->per_s[r] = i ? fmax(best->per_s[r], rates.per_s[r]) : rates.per_s[r];
    }
    return code;
}

static bool same_rates(const rg_measurement *a, const rg_measurement *b) {
    return is_host(a) == is_host(b) && (!is_host(a) || a->threads == b->threads);
}

int rg_rates_measure(rg_out *out, const rg_bench_plan *l, const rg_device *gpu) {
    int failed = RG_GOOD;
    for (int i = 0; i < l->n && !failed; i++) {
        const rg_measurement *measurement = &l->measurement[i];
        unsigned wanted = 0;
        int first = 0;
        while (!same_rates(&l->measurement[first], measurement)) first++;
        for (int k = i; k < l->n && first == i; k++)
            if (same_rates(&l->measurement[k], measurement)) wanted |= missing(out, &l->measurement[k]);
        if (!wanted) continue;
        rg_rates rates;
        int code = measure(measurement, gpu, wanted, &rates);
        if (code) rg_warn("bench: the probes of the GPU failed: %s", gpu->error(code));
        for (int r = 0; r < RG_RESOURCES && !failed; r++)
            if (wanted & 1u << r) failed = rg_out_add(out, row_of(measurement, r, code ? NAN : rates.per_s[r]));
    }
    return failed;
}
