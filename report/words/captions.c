// SPDX-License-Identifier: MIT
// captions.c: titles and subtitles of figures.
#include "words.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

void rg_say_best(const char *label, int64_t at, const rg_row *row, const char *from, char *to, size_t room) {
    char x[32], time[32], rate[48], fraction[32], energy[48], part[32];
    snprintf(x, sizeof x, "%lld", (long long)at);
    rg_duration(row->timed_ns, time);
    rg_say_amount(rg_cell_number(row, RG_C_RATE), row->cell[RG_C_RATE_UNIT], rate);
    snprintf(fraction, sizeof fraction, "%.0f %%", 100 * rg_cell_number(row, RG_C_FRACTION));
    snprintf(energy, sizeof energy, "%.3g J a million pixels",
        1e6 * rg_cell_number(row, RG_C_JOULES) / rg_cell_number(row, RG_C_WORK));
    snprintf(part, sizeof part, "%.2g %%", 100 * rg_cell_number(row, RG_C_ERROR) / rg_cell_number(row, RG_C_TOL));
    const rg_known_word word[] = {{"{series}", label}, {"{x}", x}, {"{time}", time}, {"{rate}", rate}, {"{fraction}", fraction},
        {"{energy}", energy}, {"{part}", part}};
    rg_fill_in(from, word, RG_COUNT(word), to, room);
}

void rg_say_scope(const rg_scopes *s, char *to, size_t room) {
    size_t n = 0;
    *to = 0;
    if (s->width > 0 && s->height > 0)
        n = (size_t)snprintf(to, room, "%lld x %lld pixels. ", (long long)s->width, (long long)s->height);
    if (*s->host && *s->device && (*s->besides || strcmp(s->host, s->device)))
        snprintf(to + n, room - n, "Scope: %.20s (CPU), %.20s%s%.20s (GPU).", s->host, s->device, *s->besides ? " or " : "",
            s->besides);
    else if (*s->host || *s->device)
        snprintf(to + n, room - n, "Scope: %.20s.", *s->host ? s->host : s->device);
}

void rg_say_map(const char *title, int64_t side, bool truth, double correlation, char *to, char *about, size_t room) {
    snprintf(
        about, room, "%lld voxels a side%s.", (long long)side, truth ? ", the map scaled to the truth by least squares" : "");
    if (isfinite(correlation)) snprintf(to, room, "%.120s: correlation %.4f with the truth", title, correlation);
}

void rg_say_subtitle(const rg_bench_machine *m, const char *subtitle, const char *about, char *to, size_t room) {
    snprintf(to, room, "%.60s%s%.190s%s%.80s", m ? rg_machine_name(m, "This machine") : "", m ? ". " : "", subtitle,
        *about ? " " : "", about);
}

void rg_say_undrawn(rg_undrawn why, const rg_bench_machine *m, const char *panel, const int points[2], char *to, size_t room) {
    switch (why) {
    case RG_FEW_POINTS:
        snprintf(
            to, room, "%s has %d of the %d points that it needs", rg_machine_name(m, "this machine"), points[0], points[1]);
        break;
    case RG_EMPTY_PANEL: snprintf(to, room, "its panel \"%.60s\" would be empty", panel); break;
    case RG_NO_GNUPLOT: snprintf(to, room, "gnuplot is not installed (package gnuplot-nox)"); break;
    case RG_GNUPLOT_FAILED: snprintf(to, room, "gnuplot failed: see fig/gnuplot.log"); break;
    }
}

void rg_say_fault(const char *name, const char *const said[4], char text[RG_SAY]) {
    snprintf(text, RG_SAY, "`%s`: %.180s. Said to be %.180s: %.180s.%s%.180s%s", name, said[0], said[1], said[2],
        *said[3] ? " All faults have in common: " : "", said[3], *said[3] ? "." : "");
}

void rg_say_fault_alt(const char *name, char text[RG_SAY]) {
    snprintf(
        text, RG_SAY, "Inputs and outputs of %s, each marked right, missing, doubled, misplaced or of another weight", name);
}
