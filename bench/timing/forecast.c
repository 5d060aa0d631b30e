// SPDX-License-Identifier: MIT
// forecast.c: predicts the memory and time of a measurement before it starts.
#include "timing.h"

double rg_free_bytes(const rg_device *device) {
    rg_device_facts facts;
    // A tenth is left to the system, the context and the variants' libraries.
    return device->facts(&facts) ? 0 : 0.9 * (double)facts.free_bytes;
}

// Extents are entries of 16 and more: less may be a kind or a count.
void rg_largest_that_fits(const rg_measurement *measurement, double room, char text[96]) {
    rg_measurement smaller = *measurement;
    const rg_algo *algo = measurement->entry->algo;
    snprintf(text, 96, "none");
    for (int k = 255; k > 0; k--) {
        for (int i = 0; i < RG_DIMS; i++)
            if (measurement->shape.n[i] >= 16) smaller.shape.n[i] = measurement->shape.n[i] * k / 256;
        if ((!algo->invalid || !algo->invalid(&smaller.shape)) && (double)rg_measurement_bytes(&smaller) <= room) {
            rg_shape_print(algo, &smaller.shape, text);
            return;
        }
    }
}

// The time of one call; 0 if no row has it.
static double predicted_s(const rg_out *out, const rg_measurement *measurement) {
    RG_ENDS(rg_row_free) rg_row key = rg_measurement_key(measurement);
    double best = 0;
    for (int i = 0; i < out->n_rows; i++) {
        rg_row like = out->row[i];
        like.cell[RG_C_SHAPE] = key.cell[RG_C_SHAPE];
        if (rg_row_same(&like, &key) && *like.cell[RG_C_RATE]) best = fmax(best, rg_cell_number(&like, RG_C_RATE));
    }
    return best > 0 ? measurement->entry->algo->work(&measurement->shape) / best : 0;
}

void rg_refuse_long(rg_measurement *measurement, const rg_out *out, double most_s) {
    const double call_s = measurement->done ? 0 : predicted_s(out, measurement);
    if (call_s > most_s)
        rg_measurement_end(measurement, RG_SKIP, RG_STOP_LONG_CALL,
            "one call would take about %.3g s at the rate of a smaller shape, --max-call allows %.3g s", call_s, most_s);
}
