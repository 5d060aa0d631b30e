// SPDX-License-Identifier: MIT
// test_bench.c: a measurement from its buffers to its row, with small variants defined here, right and wrong. The command:
// verify/cases/bench.tsv.
#include <time.h>
#include "../../../bench/timing/timing.h"
#include "../test.h"

// ---- an algorithm: out[i] = 3 in[i] + i ------------------------------------------------------------------------------------

static rg_type int_type(const rg_shape *s) { return (void)s, RG_I32; }
static int64_t count_n(const rg_shape *s) { return s->n[0]; }
static double work_n(const rg_shape *s) { return (double)s->n[0]; }
static rg_tolerance exact(const rg_shape *s) { return (void)s, (rg_tolerance){RG_EXACT, 0, 0, "integers"}; }

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    (void)pattern;
    for (int64_t i = 0; i < s->n[0]; i++) ((int32_t *)arg[0])[i] = (int32_t)(rg_bits(s->seed, (uint64_t)i) & 0xFFFF);
}

static void triple(const rg_shape *s, void *const *arg) {
    for (int64_t i = 0; i < s->n[0]; i++) ((int32_t *)arg[1])[i] = 3 * ((const int32_t *)arg[0])[i] + (int32_t)i;
}

static const rg_arg args[] = {{"in", RG_IN, int_type, count_n}, {"out", RG_OUT, int_type, count_n}};
static rg_algo algo = {
    .abi = RG_ABI,
    .bytes = sizeof(rg_algo),
    .name = "triple",
    .formula = "out = 3 in + i",
    .dim = {"n"},
    .arg = args,
    .n_args = 2,
    .fill = fill,
    .reference = triple,
    .tolerance = exact,
    .traffic_bytes = work_n,
    .work = work_n,
    .rate_unit = "elements/s",
};

static int calls, prepared, finished;
static int run_right(rg_call *c) { return calls++, triple(c->shape, c->arg), RG_OK; }
static int run_null(rg_call *c) { return (void)c, RG_OK; }
static int run_error(rg_call *c) { return (void)c, RG_E_STATE; }
static int run_past(rg_call *c) {
    triple(c->shape, c->arg);
    ((volatile int32_t *)c->arg[1])[c->shape->n[0]] = 1;
    return RG_OK;
}
static int run_replay(rg_call *c) // computes once, then returns the same answer
{
    static int32_t kept[4096];
    static int have;
    if (!have++) triple(c->shape, (void *const[]){c->arg[0], kept});
    memcpy(c->arg[1], kept, (size_t)c->shape->n[0] * sizeof *kept);
    return RG_OK;
}
static int run_add(rg_call *c) // its sums wrap around if they are not cleared
{
    int32_t right[4096];
    triple(c->shape, (void *const[]){c->arg[0], right});
    for (int64_t i = 0; i < c->shape->n[0]; i++) ((uint32_t *)c->arg[1])[i] += (uint32_t)right[i];
    return RG_OK;
}
static int cleared, loaded;
static int clear(rg_call *c) { return cleared++, memset(c->arg[1], 0, (size_t)c->shape->n[0] * sizeof(int32_t)), RG_OK; }
static int load(rg_call *c) { return (void)c, loaded++, RG_OK; }
static int run_slow(rg_call *c) { return usleep(60000), triple(c->shape, c->arg), RG_OK; }
static int prepare(rg_call *c) { return (void)c, prepared++, usleep(3000), RG_OK; }
static void finish(rg_call *c) { (void)c, finished++; }
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    c->amount[RG_MEM_BYTES] = 8.0 * (double)s->n[0];
    c->amount[RG_I32_MAD] = (double)s->n[0];
}

static rg_variant variant = {.abi = RG_ABI,
    .bytes = sizeof(rg_variant),
    .algo = "triple",
    .name = "x",
    .idea = "",
    .role = RG_SIMD,
    .space = RG_HOST,
    .needs = "",
    .cost = cost,
    .prepare = prepare,
    .finish = finish};
static rg_entry entry = {.algo = &algo, .variant = &variant, .name = "x"};

static rg_measurement lane_of(int64_t n, rg_scope scope, double max_s, int rounds) {
    return (rg_measurement){.entry = &entry,
        .shape = {.n = {n}},
        .threads = 1,
        .cores = 1,
        .scope = scope,
        .mode = RG_HOT,
        .max_s = max_s,
        .rounds = rounds};
}

static void begin(rg_measurement *measurement, const rg_algo *of, uint64_t seed, rg_inputs *in) {
    rg_inputs_make(in, of, &measurement->shape);
    rg_inputs_fill(in, seed);
}

// One visit and its verdict.
static void visit_once(rg_measurement *measurement, const rg_device *device, rg_inputs *in) {
    rg_measurement_open(measurement, device, in);
    rg_measurement_visit(measurement, in);
    rg_measurement_judge(measurement, in, 1);
}

// A whole measurement with this run(), judged and closed.
static rg_measurement timed_lane(int (*run)(rg_call *), rg_scope scope, rg_mode mode, double max_s) {
    rg_measurement measurement = lane_of(4096, scope, max_s, 4);
    measurement.mode = mode;
    RG_ENDS(rg_inputs_free) rg_inputs in;
    calls = prepared = finished = cleared = loaded = 0;
    variant.run = run;
    begin(&measurement, &algo, 100, &in);
    rg_measurement_open(&measurement, rg_device_cpu(), &in);
    for (int round = 0; !measurement.done && !rg_measurement_enough(&measurement); round++) {
        rg_inputs_fill(&in, 100 + (uint64_t)round);
        rg_measurement_visit(&measurement, &in);
    }
    if (!measurement.done) rg_measurement_judge(&measurement, &in, 1);
    rg_measurement_close(&measurement);
    return measurement;
}

TEST(a_right_variant_has_times) {
    rg_measurement measurement = timed_lane(run_right, RG_RESIDENT, RG_HOT, 0.2);
    assert_int_equal(measurement.verdict.status, RG_PASS);
    assert_in_range(measurement.n, 6, RG_SAMPLES_MAX);
    assert_int_equal(measurement.visits % 2, 0);
    assert_true(prepared == 1 && finished == 1);
    assert_true(measurement.prepare_ns >= 3e6);
    assert_true(calls >= measurement.n * measurement.batch && measurement.batch > 10); // microseconds each: many calls a sample
    rg_rates rates;
    for (int r = 0; r < RG_RESOURCES; r++) rates.per_s[r] = NAN;
    rates.per_s[RG_MEM_BYTES] = 1e14;
    rates.per_s[RG_I32_MAD] = 1e11;
    rg_row row = rg_measurement_row(&measurement, &rates);
    double median = rg_cell_number(&row, RG_C_MEDIAN);
    assert_true(measurement.batch * median > 0.3e6); // a sample lasts about 1 ms
    assert_string_equal(row.cell[RG_C_PARAMS], "threads=1");
    assert_string_equal(row.cell[RG_C_SCOPE], "device");
    assert_string_equal(row.cell[RG_C_BOUND], "int32");
    assert_true(
        fabs(rg_cell_number(&row, RG_C_FRACTION) * median / 40.96 - 1) < 1e-4); // 4096 multiply-adds at 100 a nanosecond
    assert_true(fabs(rg_cell_number(&row, RG_C_RATE) * median / 4096e9 - 1) < 1e-4);
    rg_samples samples = rg_row_samples(&row);
    assert_true(samples.n == measurement.n && samples.processes == 1);
    rg_samples_free(&samples);
    rg_row_free(&row);
    rates.per_s[RG_I32_MAD] = 4096e9 / median / 2; // a call cannot be faster than the machine: the rate was too low
    row = rg_measurement_row(&measurement, &rates);
    assert_string_equal(row.cell[RG_C_BOUND], "int32");
    assert_string_equal(row.cell[RG_C_FRACTION], "");
    assert_true(fabs(rg_cell_number(&row, RG_C_ABOVE) - 2) < 1e-3);
    rg_row_free(&row);
    rates.per_s[RG_I32_MAD] = 4096e9 / median / 5; // nor five times faster than a measured rate
    row = rg_measurement_row(&measurement, &rates);
    assert_string_equal(row.cell[RG_C_STATUS], "FAIL");
    assert_string_equal(row.cell[RG_C_STOP], "above_bound");
    assert_true(fabs(rg_cell_number(&row, RG_C_ABOVE) - 5) < 1e-3);
    assert_true(!*row.cell[RG_C_MEDIAN] && !*row.cell[RG_C_RATE] && !*row.cell[RG_C_SAMPLES]);
    rg_row_free(&row);
    rates.per_s[RG_I32_MAD] = 1e11;
    rates.per_s[RG_MEM_BYTES] = NAN; // it might be the limit: no bound is stated
    row = rg_measurement_row(&measurement, &rates);
    assert_string_equal(row.cell[RG_C_FRACTION], "");
    rg_row_free(&row);
}

TEST(wrong_variants_have_no_times) {
    static int (*const wrong[])(rg_call *) = {run_null, run_error, run_past, run_replay};
    static const rg_stop stop[] = {RG_STOP_WRONG, RG_STOP_FAULT, RG_STOP_OVERRUN, RG_STOP_WRONG};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rg_measurement measurement = timed_lane(wrong[i], RG_RESIDENT, RG_HOT, 0.1);
        assert_int_equal(measurement.verdict.status, RG_FAIL);
        assert_true(measurement.done && measurement.stop == stop[i] && *measurement.detail);
        RG_ENDS(rg_row_free) rg_row row = rg_measurement_row(&measurement, NULL);
        assert_string_equal(row.cell[RG_C_STATUS], "FAIL");
        assert_string_equal(row.cell[RG_C_MEDIAN], "");
        assert_string_equal(row.cell[RG_C_SAMPLES], "");
        assert_string_equal(row.cell[RG_C_RATE], "");
    }
}

// ---- an algorithm whose calls add to what they find: sum[i] += in[i] -------------------------------------------------------

static int asked;
static void add_up(const rg_shape *s, void *const *arg) {
    for (int64_t i = 0; i < s->n[0]; i++) ((int32_t *)arg[1])[i] += ((const int32_t *)arg[0])[i];
}
static void reference_sum(const rg_shape *s, void *const *arg) { asked++, add_up(s, arg); }
static void fill_sum(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    fill(s, pattern, arg);
    for (int64_t i = 0; i < s->n[0]; i++) ((int32_t *)arg[1])[i] = (int32_t)(s->seed + (uint64_t)i);
}
static int run_sum(rg_call *c) { return add_up(c->shape, c->arg), RG_OK; }
static int run_sum_twice(rg_call *c) { return add_up(c->shape, c->arg), add_up(c->shape, c->arg), RG_OK; }

// The reference is computed once for all lanes.
TEST(lanes_share_one_answer) {
    static const rg_arg sum_args[] = {{"in", RG_IN, int_type, count_n}, {"sum", RG_INOUT, int_type, count_n}};
    rg_algo summing = algo;
    rg_variant one = variant, two = variant;
    summing.arg = sum_args;
    summing.fill = fill_sum;
    summing.reference = reference_sum;
    one.run = run_sum;
    two.run = run_sum_twice;
    const rg_entry entries[] = {
        {.algo = &summing, .variant = &one, .name = "one"}, {.algo = &summing, .variant = &two, .name = "two"}};
    RG_ENDS(rg_inputs_free) rg_inputs in;
    asked = 0;
    rg_inputs_make(&in, &summing, &(rg_shape){.n = {512}});
    for (int i = 0; i < 4; i++) { // right, wrong, and both again with other inputs
        rg_measurement measurement = lane_of(512, RG_RESIDENT, 0.02, 2);
        measurement.entry = &entries[i % 2];
        rg_inputs_fill(&in, 100 + (uint64_t)i / 2);
        visit_once(&measurement, rg_device_cpu(), &in);
        rg_measurement_close(&measurement);
        assert_int_equal(measurement.verdict.status, i % 2 ? RG_FAIL : RG_PASS);
        assert_int_equal(((int32_t *)in.arg[1])[7], (int32_t)(in.shape.seed + 7)); // unchanged for the next measurement
    }
    assert_int_equal(asked, 1);
}

// reference_at is called for more and more elements while there is time: for all if they are few, and at least for 64.
static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double element_s; // CPU time of this thread, since the machine may be busy
static void triple_at(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *out) {
    (void)s;
    assert_int_equal(which, 1);
    for (int64_t k = 0; k < n; k++) ((int32_t *)out)[k] = 3 * ((const int32_t *)arg[0])[element[k]] + (int32_t)element[k];
    for (const double until = thread_seconds() + (double)n * element_s; thread_seconds() < until;)
        ;
}

TEST(the_answer_is_as_long_as_the_time) {
    static const struct {
        int64_t n;
        double element_s;
        int64_t least, most;
    } cases[] = {{100000, 1e-3, 64, 64}, {100000, 2e-6, 4096, 65536}, {4096, 0, 4096, 4096}};
    rg_algo sampled = algo;
    sampled.reference_at = triple_at;
    for (int i = 0; i < RG_COUNT(cases); i++) {
        RG_ENDS(rg_inputs_free) rg_inputs in;
        RG_ENDS(rg_answer_free) rg_answer answer;
        rg_inputs_make(&in, &sampled, &(rg_shape){.n = {cases[i].n}});
        rg_inputs_fill(&in, 1);
        element_s = cases[i].element_s;
        rg_answer_make(&answer, &sampled, &in.shape, in.arg, 0.1, 1);
        assert_in_range(answer.n[1], cases[i].least, cases[i].most);
        assert_true(answer.n[0] == 0 && answer.element[1]);
        triple(&in.shape, in.arg);
        assert_int_equal(rg_compare_outputs(&entry, &in.shape, NULL, in.arg, &answer).status, RG_PASS);
        ((int32_t *)in.arg[1])[answer.element[1][63]]++;
        rg_verdict v = rg_compare_outputs(&entry, &in.shape, NULL, in.arg, &answer);
        assert_int_equal(v.status, RG_FAIL);
        assert_ptr_equal(strstr(v.reason, "out["), v.reason);
    }
}

// Processes after the first check few elements, and copy only those.
TEST(few_elements_are_copied_alone) {
    static int (*const run[])(rg_call *) = {run_right, run_null};
    enum { N = 100000 };
    algo.reference_at = triple_at;
    element_s = 1e-4;
    for (int wrong = 0; wrong < 2; wrong++) {
        rg_measurement measurement = lane_of(N, RG_RESIDENT, 0.1, 1);
        measurement.share = 6;
        measurement.brief = true;
        RG_ENDS(rg_inputs_free) rg_inputs in;
        int64_t copied = 0;
        variant.run = run[wrong];
        begin(&measurement, &algo, 100, &in);
        visit_once(&measurement, rg_device_cpu(), &in);
        assert_int_equal(in.answer.n[1], 16);
        for (int64_t i = 0; i < N; i++) copied += ((int32_t *)in.found[1])[i] != 0;
        assert_in_range(copied, 9, 16); // a corner may occur twice
        assert_int_equal(measurement.verdict.status, wrong ? RG_FAIL : RG_PASS);
        rg_measurement_close(&measurement);
    }
    algo.reference_at = NULL;
}

// The few elements include the corners of an output, and some on its edges.
enum { COLUMNS = 300, ROWS = 200 };
static void where_in_rows(const rg_shape *s, int which, int64_t e, char place[64]) {
    (void)s, (void)which;
    snprintf(place, 64, "(x=%d,y=%d)", (int)(e % COLUMNS), (int)(e / COLUMNS));
}

TEST(corners_are_always_asked_for) {
    rg_algo sampled = algo;
    RG_ENDS(rg_inputs_free) rg_inputs in;
    RG_ENDS(rg_answer_free) rg_answer answer;
    bool corner[4] = {false};
    int edges = 0;
    sampled.reference_at = triple_at;
    sampled.where = where_in_rows;
    rg_inputs_make(&in, &sampled, &(rg_shape){.n = {COLUMNS * ROWS}});
    rg_inputs_fill(&in, 1);
    element_s = 1e-4;
    rg_answer_make(&answer, &sampled, &in.shape, in.arg, 0, 1);
    assert_int_equal(answer.n[1], 16);
    for (int k = 0; k < 16; k++) {
        const int64_t x = answer.element[1][k] % COLUMNS, y = answer.element[1][k] / COLUMNS;
        assert_in_range(answer.element[1][k], 0, COLUMNS * ROWS - 1);
        if ((x == 0 || x == COLUMNS - 1) && (y == 0 || y == ROWS - 1)) corner[(x > 0) + 2 * (y > 0)] = true;
        edges += x == 0 || x == COLUMNS - 1 || y == 0 || y == ROWS - 1;
    }
    assert_true(corner[0] && corner[1] && corner[2] && corner[3]);
    assert_true(edges >= 8);
}

// A device that still works after the last event has worked outside the measured time.
static int still_busy(void) { return usleep(3000), RG_OK; }

TEST(work_after_the_last_event_is_no_time) {
    rg_device busy = *rg_device_cpu();
    rg_measurement measurement = lane_of(4096, RG_RESIDENT, 0.1, 2);
    rg_inputs in;
    busy.sync = still_busy;
    variant.run = run_right;
    begin(&measurement, &algo, 1, &in);
    visit_once(&measurement, &busy, &in);
    rg_measurement_close(&measurement);
    rg_inputs_free(&in);
    assert_int_equal(measurement.verdict.status, RG_FAIL);
    assert_true(measurement.done && !measurement.n);
    assert_int_equal(measurement.stop, RG_STOP_LATE);
}

TEST(modes_and_scopes) {
    rg_measurement measurement = timed_lane(run_right, RG_KERNEL, RG_HOT, 0.1);
    assert_true(measurement.overhead_ns > 0 && measurement.overhead_ns < 1e5);
    measurement = timed_lane(run_right, RG_RESIDENT, RG_COLD, 0.5);
    assert_int_equal(measurement.verdict.status, RG_PASS);
    assert_int_equal(measurement.batch, 1);
}

// Times of every scope but `adding`, which clears before a sample, include clearing; a judged call is cleared in all of them.
TEST(adding_leaves_clearing_out) {
    variant.clear = clear;
    rg_measurement measurement = timed_lane(run_add, RG_ADDING, RG_HOT, 0.1);
    assert_int_equal(measurement.verdict.status, RG_PASS);
    assert_true(measurement.batch > 10 && cleared < measurement.n * measurement.batch);
    assert_string_equal(rg_scope_name[measurement.scope], "adding");
    measurement = timed_lane(run_add, RG_KERNEL, RG_HOT, 0.1);
    assert_int_equal(measurement.verdict.status, RG_PASS);
    assert_true(cleared >= measurement.n * measurement.batch);
    variant.clear = NULL;
}

// Each call copies its outputs, also calls on inputs that are only timed.
TEST(a_call_with_its_copies_is_judged_by_its_own_outputs) {
    for (int scope = RG_TRANSFER; scope <= RG_PAGEABLE; scope++) {
        assert_int_equal(timed_lane(run_right, (rg_scope)scope, RG_HOT, 0.1).verdict.status, RG_PASS);
        assert_int_equal(timed_lane(run_null, (rg_scope)scope, RG_HOT, 0.1).verdict.status, RG_FAIL);
    }
}

// Scope transfer copies from and to pinned memory, which has the measurement's inputs before the time begins.
TEST(copies_of_scope_transfer_are_of_pinned_memory) {
    for (int scope = RG_TRANSFER; scope <= RG_PAGEABLE; scope++) {
        const bool pins = scope == RG_TRANSFER;
        double elapsed_s;
        RG_ENDS(rg_inputs_free) rg_inputs in;
        rg_measurement measurement = lane_of(64, (rg_scope)scope, 0, 0);
        variant.run = run_right;
        begin(&measurement, &algo, 1, &in);
        rg_measurement_open(&measurement, rg_device_cpu(), &in);
        assert_true((measurement.pinned[0][0] != NULL) == pins && (measurement.pinned[1][1] != NULL) == pins);
        assert_true(!measurement.pinned[1][0] && !measurement.pinned[0][1]);
        memset(in.found[1], 0, in.bytes[1]);
        if (pins) memset(measurement.pinned[0][0], 0, in.bytes[0]); // a call copies its inputs again
        assert_int_equal(rg_measurement_call(&measurement, &in, false, &elapsed_s), RG_OK);
        if (pins) assert_memory_equal(measurement.pinned[0][0], in.arg[0], in.bytes[0]);
        const int32_t *out = pins ? measurement.pinned[1][1] : in.found[1];
        assert_int_equal(out[5], 3 * ((const int32_t *)in.arg[0])[5] + 5);
        assert_true((((const int32_t *)in.found[1])[5] != 0) != pins);
        rg_measurement_close(&measurement);
        assert_null(measurement.pinned[0][0]);
    }
}

// Steady inputs are loaded with prepare, and once for the fresh inputs of every further visit and every judged call, outside
// the measured time.
TEST(steady_inputs_are_loaded_before_the_time_begins) {
    algo.steady = 1u;
    variant.load = load;
    rg_measurement measurement = timed_lane(run_right, RG_RESIDENT, RG_HOT, 0.1);
    assert_int_equal(measurement.verdict.status, RG_PASS);
    assert_in_range(loaded, 1 + measurement.visits, measurement.visits + 16);
    algo.steady = 0;
    variant.load = NULL;
}

TEST(a_call_longer_than_the_time_is_one_sample) {
    rg_measurement measurement = timed_lane(run_slow, RG_RESIDENT, RG_HOT, 0.02);
    assert_int_equal(measurement.verdict.status, RG_PASS);
    assert_int_equal(measurement.n, 1);
    assert_true(measurement.sample_ns[0] >= 60e6);
    assert_int_equal(measurement.stop, RG_STOP_ONE_CALL);
    measurement = timed_lane(run_slow, RG_RESIDENT, RG_HOT, 0.2); // a little more than two calls
    assert_true(measurement.n >= 2 && measurement.visits % 2 == 0);
    assert_int_equal(measurement.stop, RG_STOP_TIME);
}

TEST(energy_is_measured_or_says_why_not) {
    rg_measurement measurement = lane_of(64, RG_RESIDENT, 0.1, 2);
    RG_ENDS(rg_inputs_free) rg_inputs in;
    variant.run = run_right;
    begin(&measurement, &algo, 1, &in);
    rg_measurement_open(&measurement, rg_device_cpu(), &in);
    rg_measurement_energy(&measurement, &in, 0.3);
    assert_true(isnan(measurement.joules) ||
        (measurement.joules > 0 && measurement.energy == RG_ENERGY_RAPL && measurement.energy_s > 0 &&
            measurement.energy_calls > 0));
    assert_true(measurement.energy != RG_ENERGY_NOT_ASKED);
    measurement.mode = RG_COLD;
    measurement.joules = NAN;
    rg_measurement_energy(&measurement, &in, 0.3);
    assert_true(isnan(measurement.joules));
    assert_int_equal(measurement.energy, RG_ENERGY_COLD);
    // 10 J in a second that 1000 calls filled; then in one that was mostly spent otherwise.
    const rg_energy counter = {.word = RG_ENERGY_RAPL, .n_packages = 2};
    rg_measurement_share_energy(&measurement, &counter, 10, 1, 0.99, 1000);
    assert_float_equal(measurement.joules, 0.01, 1e-9);
    assert_true(measurement.energy == RG_ENERGY_RAPL && measurement.energy_devices == 2 && measurement.energy_s == 1 &&
        measurement.energy_calls == 1000);
    measurement.joules = NAN;
    rg_measurement_share_energy(&measurement, &counter, 10, 1, 0.005, 10);
    assert_true(isnan(measurement.joules));
    assert_true(measurement.energy == RG_ENERGY_NOT_FILLED && measurement.energy_busy == 0.005);
    rg_measurement_close(&measurement);
}

TEST(inputs_follow_the_seed) {
    RG_ENDS(rg_inputs_free) rg_inputs in;
    rg_inputs_make(&in, &algo, &(rg_shape){.n = {64}});
    rg_inputs_fill(&in, 1);
    uint64_t one = rg_inputs_hash(&in);
    memset(in.arg[1], 7, in.bytes[1]); // the hash excludes outputs
    assert_true(one == rg_inputs_hash(&in));
    rg_inputs_fill(&in, 2);
    assert_true(one != rg_inputs_hash(&in));
    rg_inputs_fill(&in, 1);
    assert_true(one == rg_inputs_hash(&in));
    // The sets of the last seeds are kept and only change places; one more replaces the oldest.
    void *first = in.arg[0];
    for (uint64_t seed = 1; seed <= RG_INPUT_SETS; seed++) rg_inputs_fill(&in, seed);
    assert_int_equal(in.n_sets, RG_INPUT_SETS);
    ((int32_t *)first)[0] ^= 1; // so that a set filled again is seen
    rg_inputs_fill(&in, 1);
    assert_ptr_equal(in.arg[0], first);
    assert_ptr_equal(in.found[0], first);
    assert_true(one != rg_inputs_hash(&in));
    for (uint64_t seed = 2; seed <= RG_INPUT_SETS + 1; seed++) rg_inputs_fill(&in, seed);
    rg_inputs_fill(&in, 1);
    assert_true(one == rg_inputs_hash(&in));
}

TEST(memory_is_predicted) {
    rg_measurement measurement = {.entry = &entry, .shape = {.n = {1 << 20}}};
    char fits[96];
    assert_true((double)rg_measurement_bytes(&measurement) >= 8.0 * (1 << 20));
    assert_true(rg_inputs_bytes(&algo, &measurement.shape) == 12.0 * (1 << 20)); // in, out and the expected out
    rg_largest_that_fits(&measurement, 4.2e6, fits);                             // half of it, and space for the guards
    int64_t n = atoll(fits + 1);
    assert_true(fits[0] == 'n' && 8 * n < 4200000 && 8 * n > 4100000);
    rg_largest_that_fits(&measurement, 100, fits);
    assert_string_equal(fits, "none");
}
