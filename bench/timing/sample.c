// SPDX-License-Identifier: MIT
// sample.c: times one measurement. Nothing here chooses what is timed, or prints; sample.h defines scopes and modes.
#include "sample.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"
#include "../machine/sensors.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <sys/resource.h>
#include <time.h>

const char *const rg_scope_name[RG_SCOPES] = {"kernel", "device", "transfer", "pageable", "adding"};
const char *const rg_mode_name[RG_MODES] = {"cold", "hot"};

// A sample of many calls lasts at least this long, so that the clock's tick and the cost of reading it are below 0.01 %.
static const double sample_s = 1e-3;
// One around which energy is read lasts so long that the wait for its end, up to 0.1 ms, is 1 % of it.
static const double energy_s = 10e-3;
// Rounds before the interval of the median or the time may end a measurement. With fewer, a lucky streak could end it, and a
// slow baseline would have no interval.
enum { LEAST_ROUNDS = 4 };
// Untimed calls: on a GPU until its clock has risen, unless it was busy less than stays_up_s ago; then, as on a CPU, until the
// caches have settled.
static const double rise_s = 0.1, settle_s = 0.02, stays_up_s = 0.5;
// An idle device reports that it is idle within idle_s, and within idle_part of the measured time.
static const double idle_s = 50e-6, idle_part = 0.25;
// Calls fill at least this part of a window; the energy of the rest counts as theirs, as it draws no more power than they do.
static const double ENERGY_FILLED = 0.9;
static double gpu_busy_s = -INFINITY; // when this process last used a GPU

// ---- one sample ----------------------------------------------------------------------------------------------------------

static bool on_gpu(const rg_measurement *measurement) { return measurement->device->is_gpu; }

// Resets the arguments that calls change, before every sample.
static int restore(rg_measurement *measurement, const rg_inputs *in) {
    int code = RG_OK;
    for (int i = 0; i < in->algo->n_args && !code; i++)
        if (in->algo->arg[i].direction == RG_INOUT) code = rg_frame_put(&measurement->frame, i, in->arg[i]);
    return code || measurement->scope != RG_ADDING ? code : rg_frame_clear(&measurement->frame);
}

static int get_outputs(rg_measurement *measurement, const rg_inputs *in) {
    int code = RG_OK;
    for (int i = 0; i < in->algo->n_args && !code; i++)
        if (in->algo->arg[i].direction != RG_IN) code = rg_buffer_get(&measurement->frame.buffer[i], in->found[i]);
    return code;
}

// Copies only the elements that the measurement is judged by, if they are few and known: copying gigabytes takes longer than
// the call.
int rg_measurement_outputs(rg_measurement *measurement, const rg_inputs *in) {
    const rg_answer *a = &in->answer;
    if (!measurement->brief || !in->answered || in->answered_seed != in->shape.seed) return get_outputs(measurement, in);
    int code = RG_OK;
    for (int i = 0; i < in->algo->n_args && !code; i++)
        if (in->algo->arg[i].direction != RG_IN)
            code = a->element[i] ? rg_buffer_get_elements(&measurement->frame.buffer[i], in->found[i], a->element[i], a->n[i],
                                       rg_type_bytes(in->algo->arg[i].type(&in->shape)))
                                 : rg_buffer_get(&measurement->frame.buffer[i], in->found[i]);
    return code;
}

static int run_calls(rg_measurement *measurement, int calls) {
    int code = RG_OK;
    for (int i = 0; i < calls && !code; i++)
        code = measurement->scope == RG_ADDING ? rg_frame_add(&measurement->frame) : rg_frame_start(&measurement->frame);
    return code;
}

// How often this thread gave up its core to wait for a thread or for time. Such waits use no CPU time, but are part of the
// call.
static long waits(void) {
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) ? 0 : u.ru_nvcsw;
}

// Pinned memory or, where the measurement has none, that of `in`.
static int take_copies(rg_measurement *measurement, const rg_inputs *in, double *elapsed_s) {
    const rg_algo *algo = in->algo;
    const double start = rg_seconds();
    int code = RG_OK;
    for (int i = 0; i < algo->n_args && !code; i++)
        if (algo->arg[i].direction != RG_OUT)
            code = rg_frame_put(&measurement->frame, i, measurement->pinned[0][i] ? measurement->pinned[0][i] : in->arg[i]);
    if (!code) code = run_calls(measurement, 1);
    if (!code) code = measurement->device->sync();
    for (int i = 0; i < algo->n_args && !code; i++)
        if (algo->arg[i].direction != RG_IN)
            code = rg_buffer_get(
                &measurement->frame.buffer[i], measurement->pinned[1][i] ? measurement->pinned[1][i] : in->found[i]);
    *elapsed_s = rg_seconds() - start;
    return code;
}

// Elapsed time of this many calls (0: an empty measurement) on the current arguments.
static int take_calls(rg_measurement *measurement, int calls, double *elapsed_s) {
    const rg_device *device = measurement->device;
    void *stream = measurement->frame.call.stream;
    double ms = 0;
    const long waited = waits();
    const double cpu_s = rg_cpu_own_s();
    int code = device->event_record(measurement->event[0], stream);
    if (!code) code = run_calls(measurement, calls);
    if (!code) code = device->event_record(measurement->event[1], stream);
    measurement->cpu_s = rg_cpu_own_s() - cpu_s;
    measurement->waited = waits() > waited;
    if (!code) code = device->event_ms(measurement->event[0], measurement->event[1], &ms);
    if (on_gpu(measurement)) gpu_busy_s = rg_seconds();
    *elapsed_s = ms / 1e3;
    return code;
}

// The flush is queued before the first event, so that on a GPU the launch is prepared while the flush still runs.
static int take(rg_measurement *measurement, const rg_inputs *in, int calls, double *elapsed_s) {
    int code = restore(measurement, in);
    if (!code && measurement->mode == RG_COLD && calls) code = measurement->device->flush(measurement->frame.call.stream);
    if (code || !rg_copies(measurement->scope)) return code ? code : take_calls(measurement, calls, elapsed_s);
    code = measurement->device->sync();
    return code ? code : take_copies(measurement, in, elapsed_s);
}

static int measure_overhead(rg_measurement *measurement, const rg_inputs *in) {
    double empty_s[31] = {0};
    rg_summary s;
    int code = RG_OK;
    for (int i = 0; i < RG_COUNT(empty_s) && !code; i++) code = take(measurement, in, 0, &empty_s[i]);
    const rg_samples empty = rg_one_process(empty_s, RG_COUNT(empty_s));
    rg_summarise(&empty, &s);
    measurement->overhead_ns = 1e9 * s.median;
    return code;
}

// Work that the device does after the last event, on another stream, was not measured.
static int take_sample(rg_measurement *measurement, const rg_inputs *in) {
    double elapsed_s = 0;
    int code = take(measurement, in, measurement->batch, &elapsed_s);
    const double start = rg_seconds();
    code = code ? code : measurement->device->sync();
    measurement->late += rg_seconds() - start > idle_s + idle_part * elapsed_s;
    if (!code) measurement->sample_ns[measurement->n++] = (1e9 * elapsed_s - measurement->overhead_ns) / measurement->batch;
    return code;
}

// ---- a measurement
// --------------------------------------------------------------------------------------------------------------

void rg_measurement_end(rg_measurement *measurement, rg_status status, rg_stop stop, const char *format, ...) {
    RG_FORMAT(measurement->detail, sizeof measurement->detail, format);
    measurement->stop = stop;
    measurement->verdict.status = status;
    measurement->done = true;
}

void rg_measurement_fault(rg_measurement *measurement, const char *what, int code) {
    measurement->n = 0;
    rg_measurement_end(measurement, RG_FAIL, RG_STOP_FAULT, "%s: %s", what, measurement->device->error(code));
}

const char *rg_measurement_reason(const rg_measurement *measurement, char text[RG_REASON]) {
    rg_stop_print(measurement->stop, measurement->detail, text);
    return text;
}

size_t rg_measurement_bytes(const rg_measurement *measurement) {
    return rg_frame_bytes(measurement->entry, &measurement->shape, measurement->param);
}

// A single thread stays on the first core. With several, each OpenMP worker stays on one core (libgomp keeps the workers from
// one region to the next), and the calling thread may use the rest.
static void pin(const rg_measurement *measurement) {
    rg_cpu_pin(-1);
    if (on_gpu(measurement) || measurement->threads == 1) {
        rg_cpu_pin(0);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel num_threads(measurement->threads)
    {
        int i = omp_get_thread_num();
        if (i) rg_cpu_pin(i);
    }
#endif
}

// Sets inputs from `in`; outputs stay as the previous call left them, so that a judged call finds what a timed one does.
// prepare and load run while all inputs but the steady ones are poisoned, so that they cannot do the work of a call.
static int put_all(rg_measurement *measurement, const rg_inputs *in) {
    const rg_algo *algo = measurement->entry->algo;
    int code = RG_OK;
    for (int i = 0; i < algo->n_args && !code; i++)
        code = algo->steady >> i & 1           ? rg_frame_put(&measurement->frame, i, in->arg[i])
            : algo->arg[i].direction != RG_OUT ? rg_buffer_poison(&measurement->frame.buffer[i])
                                               : RG_OK;
    const bool first = !measurement->frame.prepared;
    measurement->seed = in->shape.seed;
    for (int i = 0; i < algo->n_args; i++)
        if (measurement->pinned[0][i]) memcpy(measurement->pinned[0][i], in->arg[i], in->bytes[i]);
    const double start = rg_seconds();
    code = code ? code : rg_frame_load(&measurement->frame);
    if (first) measurement->prepare_ns = 1e9 * (rg_seconds() - start);
    for (int i = 0; i < algo->n_args && !code; i++)
        if (algo->arg[i].direction != RG_OUT && !(algo->steady >> i & 1))
            code = rg_frame_put(&measurement->frame, i, in->arg[i]);
    return code;
}

// A call that takes all the time, or on the CPU this process's share of it, is a sample without a call before it: the extra
// work of a first call (starting threads) is below 1 % of it. Not on a GPU, where the first call loads the kernel.
static bool first_counts(const rg_measurement *measurement) {
    return measurement->call_s > measurement->max_s ||
        (measurement->share && !on_gpu(measurement) && measurement->call_s > measurement->max_s / measurement->share);
}

// The number of calls that last this long together; a power of two, so that equal variants get equal batches.
static int batch_of(const rg_measurement *measurement, double least_s) {
    int batch = 1;
    while (batch * measurement->call_s < least_s && batch < 1 << 17) batch *= 2;
    return batch;
}

// Makes untimed calls until clocks and caches have settled; the quickest determines the number of calls of a sample.
static int warm_up(rg_measurement *measurement, const rg_inputs *in) {
    const double start = rg_seconds(), own_s = on_gpu(measurement) && start - gpu_busy_s > stays_up_s ? rise_s : settle_s;
    double elapsed_s, want_s = measurement->warm_s > 0 ? measurement->warm_s : own_s;
    int code = take(measurement, in, 1, &measurement->call_s);
    if (code || first_counts(measurement)) return code;
    while (!code && rg_seconds() - start < want_s) {
        code = take(measurement, in, 1, &elapsed_s);
        measurement->call_s = fmin(measurement->call_s, elapsed_s);
    }
    bool one_by_one = measurement->mode == RG_COLD || rg_copies(measurement->scope);
    for (int i = 0; i < in->algo->n_args; i++) one_by_one |= in->algo->arg[i].direction == RG_INOUT;
    measurement->batch = one_by_one ? 1 : batch_of(measurement, sample_s);
    return code;
}

// Pinned memory of every argument that is copied, touched before the first copy.
static int pin_arguments(rg_measurement *measurement) {
    const rg_algo *algo = measurement->entry->algo;
    for (int i = 0; i < algo->n_args; i++)
        for (int out = 0; out < 2; out++) {
            const size_t bytes =
                (size_t)algo->arg[i].count(&measurement->shape) * rg_type_bytes(algo->arg[i].type(&measurement->shape));
            if (algo->arg[i].direction == (out ? RG_IN : RG_OUT) || !bytes) continue;
            const int code = measurement->device->pinned(&measurement->pinned[out][i], bytes, algo->arg[i].name);
            if (code) return code;
            memset(measurement->pinned[out][i], 0, bytes);
        }
    return RG_OK;
}

int rg_measurement_make(rg_measurement *measurement) {
    int code = RG_OK;
    measurement->batch = 1;
    for (int i = 0; i < 2 && !code; i++) code = measurement->device->event_make(&measurement->event[i]);
    if (!code && measurement->scope == RG_TRANSFER) code = pin_arguments(measurement);
    return code ? code
                : rg_frame_make(&measurement->frame, measurement->entry, measurement->device, &measurement->shape,
                      measurement->param, measurement->threads);
}

void rg_measurement_open(rg_measurement *measurement, const rg_device *device, const rg_inputs *in) {
    measurement->device = device;
    measurement->joules = measurement->energy_s = measurement->energy_calls = measurement->energy_busy = measurement->sensor_W =
        NAN;
    measurement->energy = RG_ENERGY_NOT_ASKED;
    pin(measurement);
    int code = rg_measurement_make(measurement);
    if (code)
        rg_measurement_fault(measurement, "buffers", code);
    else if ((code = put_all(measurement, in)))
        rg_measurement_fault(measurement, "inputs and prepare", code);
    else if ((measurement->scope == RG_KERNEL || measurement->scope == RG_ADDING) && (code = measure_overhead(measurement, in)))
        rg_measurement_fault(measurement, "timer", code);
    else if ((code = warm_up(measurement, in)))
        rg_measurement_fault(measurement, "run", code);
    else if ((measurement->single = first_counts(measurement)))
        measurement->sample_ns[measurement->n++] = 1e9 * measurement->call_s - measurement->overhead_ns;
}

static void read_sensors(rg_measurement *measurement) {
    rg_sensors s;
    rg_sensors_read(measurement->device, &s);
    measurement->clock_MHz += on_gpu(measurement) ? s.sm_MHz : s.cpu_MHz;
    measurement->power_W += s.power_W;
    measurement->temp_C = measurement->visits ? fmax(measurement->temp_C, s.temp_C) : s.temp_C;
    measurement->throttle |= s.throttle;
}

// How often another process took a core from this one.
static long preemptions(void) {
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : u.ru_nivcsw;
}

void rg_measurement_visit(rg_measurement *measurement, const rg_inputs *in) {
    if (measurement->share && measurement->n) { // its first call was the sample
        read_sensors(measurement);
        measurement->visits++;
        return;
    }
    pin(measurement);
    long preempted = preemptions();
    const int visits = measurement->rounds * (measurement->share ? measurement->share : 1);
    const double others_before_s = rg_cpu_others_s();
    double start = rg_seconds(), budget_s = measurement->max_s / visits;
    // The arguments are those it was opened with; every sample resets the ones that calls change.
    int most = RG_SAMPLES_MAX / visits, code = measurement->seed == in->shape.seed ? RG_OK : put_all(measurement, in);
    double untimed_s;
    // A hot time must not depend on what other measurements left in the caches. Calls of 0.1 s and more are not affected.
    if (!code && measurement->mode == RG_HOT && measurement->call_s < 0.1) code = take(measurement, in, 1, &untimed_s);
    for (int i = 0; !code && (i == 0 || (i < most && rg_seconds() - start < budget_s)); i++)
        code = take_sample(measurement, in);
    if (!code) code = measurement->device->sync();
    if (code) {
        rg_measurement_fault(measurement, "run", code);
        return;
    }
    measurement->spent_s += rg_seconds() - start;
    measurement->preempted += preemptions() - preempted;
    measurement->others_s += rg_cpu_others_s() - others_before_s;
    measurement->watched_s += rg_seconds() - start;
    read_sensors(measurement);
    measurement->visits++;
}

int rg_measurement_block(rg_measurement *measurement, const rg_inputs *in, int calls, double *ns, long *preempted) {
    double elapsed_s = 0;
    int code = RG_OK;
    pin(measurement);
    if (measurement->mode == RG_HOT && measurement->call_s < sample_s) code = take(measurement, in, 1, &elapsed_s);
    const long before = preemptions();
    code = code ? code : take(measurement, in, calls, &elapsed_s);
    *preempted = preemptions() - before;
    *ns =
        1e9 * (on_gpu(measurement) || measurement->threads > 1 || measurement->waited ? elapsed_s : measurement->cpu_s) / calls;
    return code;
}

int rg_measurement_call(rg_measurement *measurement, const rg_inputs *in, bool outputs, double *elapsed_s) {
    int code = put_all(measurement, in);
    code = code ? code : take(measurement, in, 1, elapsed_s);
    *elapsed_s -= 1e-9 * measurement->overhead_ns;
    return code || !outputs ? code : rg_measurement_outputs(measurement, in);
}

rg_samples rg_measurement_samples(const rg_measurement *measurement) {
    return measurement->processes ? (rg_samples){measurement->n, measurement->processes, rg_unconst(measurement->sample_ns),
                                        rg_unconst(measurement->past)}
                                  : rg_one_process(measurement->sample_ns, measurement->n);
}

static double interval_width(const rg_measurement *measurement) {
    rg_summary s;
    const rg_samples samples = rg_measurement_samples(measurement);
    rg_summarise(&samples, &s);
    return 2 * rg_relative_width(&s);
}

bool rg_measurement_enough(rg_measurement *measurement) {
    const bool even = measurement->visits % 2 == 0 && measurement->visits >= LEAST_ROUNDS;
    const rg_stop why = !measurement->visits         ? measurement->call_s > measurement->max_s ? RG_STOP_ONE_CALL : RG_STOPS
        : even && interval_width(measurement) < 0.01 ? RG_STOP_INTERVAL
        : even && measurement->spent_s >= measurement->max_s ? RG_STOP_TIME
        : measurement->visits >= measurement->rounds         ? RG_STOP_ROUNDS
                                                             : RG_STOPS;
    if (why != RG_STOPS) measurement->stop = why;
    return why != RG_STOPS;
}

void rg_measurement_share_energy(
    rg_measurement *measurement, const rg_energy *e, double joules, double seconds, double busy_s, double calls) {
    measurement->energy = busy_s < ENERGY_FILLED * seconds ? RG_ENERGY_NOT_FILLED : e->word;
    measurement->energy_devices = e->n_packages ? e->n_packages : 1;
    measurement->energy_s = seconds;
    measurement->energy_calls = calls;
    measurement->energy_busy = busy_s / seconds;
    if (measurement->energy != RG_ENERGY_NOT_FILLED) measurement->joules = joules / calls;
}

// Arguments that calls change are sums and may keep growing: resetting them for each call would take longer than many calls.
void rg_measurement_energy(rg_measurement *measurement, const rg_inputs *in, double window_s) {
    if (measurement->mode == RG_COLD) {
        measurement->energy = RG_ENERGY_COLD;
        return;
    }
    rg_energy e;
    rg_sensors s;
    double joules, seconds, mean_W, elapsed_s, busy_s = 0, calls = 0;
    const int batch = rg_copies(measurement->scope) ? 1 : batch_of(measurement, energy_s);
    int code = restore(measurement, in);
    pin(measurement);
    rg_energy_start(measurement->device, &e);
    for (; !code && !isnan(e.start_J) && rg_seconds() - e.start_s < window_s; calls += batch, busy_s += elapsed_s)
        code = rg_copies(measurement->scope) ? take(measurement, in, batch, &elapsed_s)
                                             : take_calls(measurement, batch, &elapsed_s);
    rg_sensors_read(measurement->device, &s);
    rg_energy_stop(measurement->device, &e, &joules, &seconds, &mean_W);
    measurement->energy = code ? RG_ENERGY_FAULT : e.word;
    if (code || isnan(joules)) return;
    rg_measurement_share_energy(measurement, &e, joules, seconds, busy_s, calls);
    measurement->sensor_W = s.power_W;
}

void rg_measurement_close(rg_measurement *measurement) {
    if (!measurement->device) return;
    for (int i = 0; i < 2; i++)
        if (measurement->event[i]) measurement->device->event_free(measurement->event[i]);
    for (int i = 0; i < RG_ARGS_MAX; i++)
        for (int out = 0; out < 2; out++) {
            if (measurement->pinned[out][i]) measurement->device->unpin(measurement->pinned[out][i]);
            measurement->pinned[out][i] = NULL;
        }
    rg_frame_free(&measurement->frame);
    measurement->device = NULL;
}
