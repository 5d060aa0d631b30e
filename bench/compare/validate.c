// SPDX-License-Identifier: MIT
#include "validate.h"

#include "../machine/machine.h"
#include "../timing/timing.h"
#include "../stats/stats.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"
#include "../../impl/runtime/source.h"

typedef struct belief {
    const rg_result *file;
    const rg_row *row;
    bool now; // format 2
    int faults;
} belief;

__attribute__((format(printf, 2, 3))) static void fault(belief *b, const char *format, ...) {
    char text[400];
    char *const *c = b->row->cell;
    RG_FORMAT(text, sizeof text, format);
    rg_fail(RG_USAGE, "%s: cannot be believed: %s:%s %s %s %s %s: %s", b->file->path, c[RG_C_ALGO], c[RG_C_VARIANT],
        c[RG_C_SHAPE], c[RG_C_PARAMS], c[RG_C_SCOPE], c[RG_C_MODE], text);
    b->faults++;
}

// Numbers are written with seven digits, so values computed from several agree to a few units of the seventh.
static bool agree(double a, double b) { return fabs(a - b) <= 3e-6 * fmax(fabs(a), fabs(b)); }

static void check_summary(belief *b, const rg_samples *samples) {
    rg_summary s;
    rg_summarise(samples, &s);
    const struct {
        rg_column column;
        double of_samples;
    } cell[] = {{RG_C_N, s.n}, {RG_C_MIN, s.min}, {RG_C_Q1, s.q1}, {RG_C_MEDIAN, s.median}, {RG_C_Q3, s.q3}, {RG_C_MAX, s.max}};
    for (int i = 0; i < RG_COUNT(cell); i++) {
        double found = rg_cell_number(b->row, cell[i].column);
        if (!isnan(found) && !agree(found, cell[i].of_samples)) {
            fault(b, "its samples give %s %.7g, found %.7g", rg_column_name[cell[i].column], cell[i].of_samples, found);
            return;
        }
    }
    double work = rg_cell_number(b->row, RG_C_WORK), rate = rg_cell_number(b->row, RG_C_RATE);
    if (work > 0 && !isnan(rate) && !agree(rate, work / (s.median / 1e9)))
        fault(b, "expected rate work / median = %.7g, found %.7g", work / (s.median / 1e9), rate);
}

// The number of calls in a sample, which is their elapsed time divided by it.
static double calls_a_sample(const rg_row *row) {
    const double calls = rg_cell_number(row, RG_C_CALLS);
    return calls >= 1 ? calls : 1;
}

static void check_clock(belief *b, const rg_samples *samples) {
    const bool kernel = !strcmp(b->row->cell[RG_C_SCOPE], "kernel"); // an empty measurement was subtracted
    const char *key = strcmp(b->row->cell[RG_C_SPACE], "device") ? "clock_tick_ns" : "gpu_tick_ns";
    const char *said = rg_result_head(b->file, key);
    double tick = said ? strtod(said, NULL) : 0, least = INFINITY;
    for (int i = 0; i < samples->n; i++) least = fmin(least, samples->ns[i]);
    if (kernel) return;
    if (least <= 0)
        fault(b, "expected times above 0, found a sample of %.7g ns", least);
    else if (least * calls_a_sample(b->row) < tick * (1 - 1e-3)) // the tick has four digits
        fault(b, "the clock ticks in steps of %.4g ns, found a sample of %.7g ns over %.0f calls", tick,
            least * calls_a_sample(b->row), calls_a_sample(b->row));
}

static void check_hashes(belief *b) {
    char *const *c = b->row->cell;
    RG_FREED char *input = rg_input_key(b->row), *source = rg_print("source %s:%s", c[RG_C_ALGO], c[RG_C_VARIANT]);
    const char *head = rg_result_head(b->file, source);
    const bool job = !strcmp(c[RG_C_SCOPE], "job");
    if (!rg_result_head(b->file, input)) fault(b, "expected the hash of its inputs in the head, found no line \"%s\"", input);
    if (job && !*c[RG_C_CHECK])
        fault(b, "expected the check that its outputs have passed, found none");
    else if (job)
        ;
    else if (!head)
        fault(b, "expected the hash of its source in the head, found no line \"%s\"", source);
    else if (strcmp(head, c[RG_C_SOURCE]))
        fault(b, "expected the source that the head names, \"%s\", found \"%s\"", head, c[RG_C_SOURCE]);
}

// The rate of the file's own probe for the processor of the row; NaN: none.
static double probed(const belief *b, const char *resource) {
    const char *params = b->row->cell[RG_C_PARAMS], *space = b->row->cell[RG_C_SPACE];
    const size_t threads = strcmp(space, "host") ? 0 : strcspn(params, ";");
    for (int i = 0; i < b->file->n_rows; i++) {
        const rg_row *p = &b->file->row[i];
        const char *of = p->cell[RG_C_PARAMS];
        if (rg_row_is_probe(p) && !strcmp(p->cell[RG_C_VARIANT], resource) && !strcmp(p->cell[RG_C_SPACE], space) &&
            (!threads || (strlen(of) == threads && !strncmp(of, params, threads))))
            return rg_cell_number(p, RG_C_RATE);
    }
    return NAN;
}

static const rg_entry *entry_of(const rg_row *row) { return rg_entry_find(row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT]); }

// Checks the row's bound, and its median against the variant's cost() if this program has the variant.
static void check_bound(belief *b) {
    const double fraction = rg_cell_number(b->row, RG_C_FRACTION), median_s = rg_cell_number(b->row, RG_C_MEDIAN) / 1e9;
    const char *bound = b->row->cell[RG_C_BOUND], *params = b->row->cell[RG_C_PARAMS];
    if (!(fraction <= RG_FRACTION_MOST)) {
        if (!isnan(fraction)) fault(b, "expected at most %g of its bound by %s, found %.4g", RG_FRACTION_MOST, bound, fraction);
        return; // without a fraction the row says that its bound is not known
    }
    const rg_entry *e = entry_of(b->row);
    rg_shape shape = {0};
    int64_t param[RG_PARAMS_MAX];
    char why[160];
    if (!e || !e->variant->cost) return;
    if (!strcmp(b->row->cell[RG_C_SPACE], "host")) params += strcspn(params, ";") + (params[strcspn(params, ";")] == ';');
    if (!rg_shape_parse(e->algo, b->row->cell[RG_C_SHAPE], &shape, why) ||
        !rg_params_parse(e->variant, *params ? params : "-", param, why))
        return; // another version of the variant
    rg_cost cost = {{0}};
    rg_cpu_as(rg_result_head(b->file, "simd")); // isa=0 is the best of that machine
    e->variant->cost(&shape, param, &cost);
    rg_cpu_as(NULL);
    for (int r = 0; r < RG_RESOURCES; r++) {
        double rate = probed(b, rg_resource_name[r]);
        if (cost.amount[r] / rate > RG_FRACTION_MOST * median_s) {
            fault(b, "its %s at the rate of the probe takes %.4g ns, found a median of %.4g ns", rg_resource_name[r],
                1e9 * cost.amount[r] / rate, 1e9 * median_s);
            return;
        }
    }
}

// A clock counts whole nanoseconds for all calls of a sample (a process may have made twice or four times as many). Of the
// samples whose seven digits resolve these steps (*told), counts those that lie between steps, as scaled times do.
static void count_steps(const rg_row *row, const rg_samples *samples, int *told, int *between) {
    static const double TOLD = 0.05, OFF = 0.15; // parts of a step; 70 % of arbitrary numbers are farther off than OFF
    for (int p = 0, first = 0; p < samples->processes; first = samples->past[p++]) {
        int least = samples->n, of = 0;
        for (double calls = calls_a_sample(row); calls <= 4 * calls_a_sample(row); calls *= 2) {
            int off = 0, n = 0;
            for (int i = first; i < samples->past[p]; i++) {
                const double ns = samples->ns[i], steps = ns * calls;
                if (!(ns > 0) || 0.5 * pow(10, floor(log10(ns)) - 6) * calls > TOLD) continue;
                n++;
                off += fabs(steps - round(steps)) > OFF;
            }
            if (n && off < least) least = off, of = n;
        }
        *told += of;
        *between += of ? least : 0;
    }
}

// In honest files at most a ninth of the rows lies between the steps (processes whose samples had other numbers of calls);
// after scaling by 0.8, 0.9 or 0.95, nine tenths do. With ten rows, either mistake is rarer than one in a thousand.
static void look_for_scaling(const rg_result *file) {
    enum { ROWS = 10, SAMPLES = 10 };
    int rows = 0, scaled = 0;
    for (int i = 0; i < file->n_rows; i++) {
        const rg_row *row = &file->row[i];
        const char *scope = row->cell[RG_C_SCOPE]; // GPU events and jobs have other steps
        if (!rg_row_is_timed(row) || rg_row_is_probe(row) || rg_row_is_self_test(row) || strcmp(row->cell[RG_C_UNIT], "ns") ||
            !strcmp(scope, "job") || !strcmp(scope, "kernel") || !strcmp(scope, "adding"))
            continue;
        rg_samples samples = rg_row_samples(row);
        int told = 0, between = 0;
        count_steps(row, &samples, &told, &between);
        rg_samples_free(&samples);
        rows += told >= SAMPLES;
        scaled += told >= SAMPLES && 2 * between > told;
    }
    if (rows >= ROWS && 2 * scaled > rows)
        rg_warn("%s: of %d rows that show the clock's steps %d have times between them: were the times scaled?", file->path,
            rows, scaled);
}

static void check_row(belief *b) {
    rg_samples samples = rg_row_samples(b->row);
    if (samples.n == 0) {
        fault(b, "expected the samples of its median, found none");
        return;
    }
    check_summary(b, &samples);
    check_clock(b, &samples);
    rg_samples_free(&samples);
    const bool job = !strcmp(b->row->cell[RG_C_SCOPE], "job"); // has no hashes before format 3
    if (rg_result_format(b->file) > (job ? 2 : 1)) check_hashes(b);
    if (b->now && !job && !rg_row_is_stale(b->row)) // else cost() describes another version
        check_bound(b);
}

bool rg_row_is_stale(const rg_row *row) {
    const char *then = row->cell[RG_C_SOURCE];
    const bool job = !strcmp(row->cell[RG_C_SCOPE], "job");
    const rg_entry *e = job ? NULL : entry_of(row);
    char now[64] = "";
    if (!*then || !strncmp(then, "unknown", 7) || (!job && !e && strchr(row->cell[RG_C_VARIANT], ':'))) return false;
    if (job)
        rg_job_source_of(row->cell[RG_C_ALGO], now);
    else if (e)
        rg_entry_source(e, now);
    return strcmp(then, now) != 0;
}

bool rg_table_is_stale(const char *text) {
    for (; *text == '#'; text += strcspn(text, "\n"), text += *text == '\n') {
        char job[64], then[64], now[64];
        if (sscanf(text, "# source %63[^:\n]: %63[^\n]", job, then) == 2 && (rg_job_source_of(job, now), strcmp(then, now)))
            return true;
    }
    return false;
}

bool rg_row_is_unsourced(const rg_row *row) {
    const char *then = row->cell[RG_C_SOURCE];
    return (!*then || !strncmp(then, "unknown", 7)) && row->timed_ns > 0 && !rg_row_is_probe(row) &&
        strcmp(row->cell[RG_C_SCOPE], "job") && !strchr(row->cell[RG_C_VARIANT], ':');
}

int rg_validate(const rg_result *file) {
    belief b = {.file = file, .now = rg_result_format(file) > 1};
    for (int i = 0; i < file->n_rows; i++) {
        b.row = &file->row[i];
        if (!rg_row_is_probe(b.row) && !rg_row_is_self_test(b.row) && rg_row_is_timed(b.row)) check_row(&b);
    }
    look_for_scaling(file);
    return b.faults ? RG_USAGE : RG_GOOD;
}

const char *rg_validate_lacks(const rg_result *file) {
    return rg_result_format(file) > 1 ? "" : "an older file, without the hashes of sources and the clock's step";
}
