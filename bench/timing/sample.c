// SPDX-License-Identifier: MIT
// sample.c: takes the times of one lane. Nothing here chooses what is timed or prints; sample.h says what the scopes and modes
// mean.

#include "sample.h"

#include "../../impl/base/core.h"
#include "../../impl/runtime/cpu.h"
#include "../machine/sensors.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *const rg_scope_name[RG_SCOPES] = {"kernel", "device", "transfer", "pageable", "adding"};
const char *const rg_mode_name[RG_MODES] = {"cold", "hot"};

// A sample of many calls lasts at least this long, so that the clock's tick and the cost of reading it are below 0.01 %.
static const double sample_s = 1e-3;
// And those that energy is read around so long that the wait for their end, up to 0.1 ms, is 1 % of it.
static const double energy_s = 10e-3;
// Rounds before the interval of the median or the time may end a lane: with fewer, a lucky streak would, and a slow baseline
// would have no interval.
enum { LEAST_ROUNDS = 4 };
// Untimed calls: of a GPU until its clock is up, unless it was busy so lately that it still is; then, as on a CPU, until the
// caches are as they will be.
static const double rise_s = 0.1, settle_s = 0.02, stays_up_s = 0.5;
// A device that has nothing left to do says so within this, and within this part of the measured time.
static const double idle_s = 50e-6, idle_part = 0.25;
// The rest of a window's energy would be told as that of its calls: it draws no more than they do.
static const double ENERGY_FILLED = 0.9;
static double gpu_busy_s = -INFINITY; // when this process last used a GPU

// ---- one sample ----------------------------------------------------------------------------------------------------------

static bool on_gpu(const rg_lane *lane) { return lane->device->is_gpu; }

// What every sample begins with: arguments that calls change, as they were given.
static int restore(rg_lane *lane, const rg_inputs *in)
{
    int code = RG_OK;
    for (int i = 0; i < in->algo->n_args && !code; i++)
        if (in->algo->arg[i].direction == RG_INOUT) code = rg_frame_put(&lane->frame, i, in->arg[i]);
    return code || lane->scope != RG_ADDING ? code : rg_frame_clear(&lane->frame);
}

static int get_outputs(rg_lane *lane, const rg_inputs *in)
{
    int code = RG_OK;
    for (int i = 0; i < in->algo->n_args && !code; i++)
        if (in->algo->arg[i].direction != RG_IN) code = rg_buffer_get(&lane->frame.buffer[i], in->found[i]);
    return code;
}

// Of a lane that is judged by few elements, which are known by now, those alone: a volume of gigabytes takes longer than its call.
int rg_lane_outputs(rg_lane *lane, const rg_inputs *in)
{
    const rg_answer *a = &in->answer;
    if (!lane->brief || !in->answered || in->answered_seed != in->shape.seed) return get_outputs(lane, in);
    int code = RG_OK;
    for (int i = 0; i < in->algo->n_args && !code; i++)
        if (in->algo->arg[i].direction != RG_IN)
            code = a->element[i] ? rg_buffer_get_elements(&lane->frame.buffer[i], in->found[i], a->element[i], a->n[i],
                                       rg_type_bytes(in->algo->arg[i].type(&in->shape)))
                                 : rg_buffer_get(&lane->frame.buffer[i], in->found[i]);
    return code;
}

static int run_calls(rg_lane *lane, int calls)
{
    int code = RG_OK;
    for (int i = 0; i < calls && !code; i++)
        code = lane->scope == RG_ADDING ? rg_frame_add(&lane->frame) : rg_frame_start(&lane->frame);
    return code;
}

// How often this thread let the core go of its own accord, to wait for another or for time. No CPU time is in that, and it
// is the kernel's all the same.
static long waits(void)
{
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) ? 0 : u.ru_nvcsw;
}

// Pinned memory or, where the lane has none, that of `in`.
static int take_copies(rg_lane *lane, const rg_inputs *in, double *elapsed_s)
{
    const rg_algo *algo = in->algo;
    const double start = rg_seconds();
    int code = RG_OK;
    for (int i = 0; i < algo->n_args && !code; i++)
        if (algo->arg[i].direction != RG_OUT)
            code = rg_frame_put(&lane->frame, i, lane->pinned[0][i] ? lane->pinned[0][i] : in->arg[i]);
    if (!code) code = run_calls(lane, 1);
    if (!code) code = lane->device->sync();
    for (int i = 0; i < algo->n_args && !code; i++)
        if (algo->arg[i].direction != RG_IN)
            code = rg_buffer_get(&lane->frame.buffer[i], lane->pinned[1][i] ? lane->pinned[1][i] : in->found[i]);
    *elapsed_s = rg_seconds() - start;
    return code;
}

// Elapsed time of so many calls (0: of an empty measurement) on what is there.
static int take_calls(rg_lane *lane, int calls, double *elapsed_s)
{
    const rg_device *device = lane->device;
    void *stream = lane->frame.call.stream;
    double ms = 0;
    const long waited = waits();
    const double cpu_s = rg_cpu_own_s();
    int code = device->event_record(lane->event[0], stream);
    if (!code) code = run_calls(lane, calls);
    if (!code) code = device->event_record(lane->event[1], stream);
    lane->cpu_s = rg_cpu_own_s() - cpu_s;
    lane->waited = waits() > waited;
    if (!code) code = device->event_ms(lane->event[0], lane->event[1], &ms);
    if (on_gpu(lane)) gpu_busy_s = rg_seconds();
    *elapsed_s = ms / 1e3;
    return code;
}

// The flush is queued before the first event, so that on a GPU the launch is prepared while the flush still runs.
static int take(rg_lane *lane, const rg_inputs *in, int calls, double *elapsed_s)
{
    int code = restore(lane, in);
    if (!code && lane->mode == RG_COLD && calls) code = lane->device->flush(lane->frame.call.stream);
    if (code || !rg_copies(lane->scope)) return code ? code : take_calls(lane, calls, elapsed_s);
    code = lane->device->sync();
    return code ? code : take_copies(lane, in, elapsed_s);
}

static int measure_overhead(rg_lane *lane, const rg_inputs *in)
{
    double empty_s[31] = {0};
    rg_summary s;
    int code = RG_OK;
    for (int i = 0; i < RG_COUNT(empty_s) && !code; i++) code = take(lane, in, 0, &empty_s[i]);
    const rg_samples empty = rg_one_process(empty_s, RG_COUNT(empty_s));
    rg_summarise(&empty, &s);
    lane->overhead_ns = 1e9 * s.median;
    return code;
}

// What the device still does after the last event, on another stream, is work that was not measured.
static int take_sample(rg_lane *lane, const rg_inputs *in)
{
    double elapsed_s = 0;
    int code = take(lane, in, lane->batch, &elapsed_s);
    const double start = rg_seconds();
    code = code ? code : lane->device->sync();
    lane->late += rg_seconds() - start > idle_s + idle_part * elapsed_s;
    if (!code) lane->sample_ns[lane->n++] = (1e9 * elapsed_s - lane->overhead_ns) / lane->batch;
    return code;
}

// ---- a lane --------------------------------------------------------------------------------------------------------------

void rg_lane_end(rg_lane *lane, rg_status status, rg_stop stop, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(lane->detail, sizeof lane->detail, format, list);
    va_end(list);
    lane->stop = stop;
    lane->verdict.status = status;
    lane->done = true;
}

void rg_lane_fault(rg_lane *lane, const char *what, int code)
{
    lane->n = 0;
    rg_lane_end(lane, RG_FAIL, RG_STOP_FAULT, "%s: %s", what, lane->device->error(code));
}

const char *rg_lane_reason(const rg_lane *lane, char text[RG_REASON])
{
    rg_stop_print(lane->stop, lane->detail, text);
    return text;
}

size_t rg_lane_bytes(const rg_lane *lane) { return rg_frame_bytes(lane->entry, &lane->shape, lane->param); }

// One thread stays on the first core. Of several, the workers of OpenMP stay each on its own (libgomp keeps them from one
// region to the next); the calling thread may use what is left.
static void pin(const rg_lane *lane)
{
    rg_cpu_pin(-1);
    if (on_gpu(lane) || lane->threads == 1) {
        rg_cpu_pin(0);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel num_threads(lane->threads)
    {
        int i = omp_get_thread_num();
        if (i) rg_cpu_pin(i);
    }
#endif
}

// Inputs as they are in `in`, and nothing in the outputs. What prepare and load do comes while all arguments but the steady
// ones are poisoned, so that nothing of a call is done there.
static int put_all(rg_lane *lane, const rg_inputs *in)
{
    const rg_algo *algo = lane->entry->algo;
    int code = RG_OK;
    for (int i = 0; i < algo->n_args && !code; i++)
        code = algo->steady >> i & 1 ? rg_frame_put(&lane->frame, i, in->arg[i]) : rg_buffer_poison(&lane->frame.buffer[i]);
    const bool first = !lane->frame.prepared;
    lane->seed = in->shape.seed;
    for (int i = 0; i < algo->n_args; i++)
        if (lane->pinned[0][i]) memcpy(lane->pinned[0][i], in->arg[i], in->bytes[i]);
    const double start = rg_seconds();
    code = code ? code : rg_frame_load(&lane->frame);
    if (first) lane->prepare_ns = 1e9 * (rg_seconds() - start);
    for (int i = 0; i < algo->n_args && !code; i++)
        if (algo->arg[i].direction != RG_OUT && !(algo->steady >> i & 1)) code = rg_frame_put(&lane->frame, i, in->arg[i]);
    return code;
}

// A call that takes all the time there is, or on the CPU this process's share of it, is a sample without another one before it:
// what a first call does besides (the start of threads) is below 1 % of it. On a GPU it loads the kernel.
static bool first_counts(const rg_lane *lane)
{
    return lane->call_s > lane->max_s || (lane->share && !on_gpu(lane) && lane->call_s > lane->max_s / lane->share);
}

// Calls of that time together; a power of two, so that equal variants get equal batches.
static int batch_of(const rg_lane *lane, double least_s)
{
    int batch = 1;
    while (batch * lane->call_s < least_s && batch < 1 << 17) batch *= 2;
    return batch;
}

// Untimed calls until clocks and caches have settled; the quickest tells how many calls make a sample.
static int warm_up(rg_lane *lane, const rg_inputs *in)
{
    const double start = rg_seconds(), own_s = on_gpu(lane) && start - gpu_busy_s > stays_up_s ? rise_s : settle_s;
    double elapsed_s, want_s = lane->warm_s > 0 ? lane->warm_s : own_s;
    int code = take(lane, in, 1, &lane->call_s);
    if (code || first_counts(lane)) return code;
    while (!code && rg_seconds() - start < want_s) {
        code = take(lane, in, 1, &elapsed_s);
        lane->call_s = fmin(lane->call_s, elapsed_s);
    }
    bool one_by_one = lane->mode == RG_COLD || rg_copies(lane->scope);
    for (int i = 0; i < in->algo->n_args; i++) one_by_one |= in->algo->arg[i].direction == RG_INOUT;
    lane->batch = one_by_one ? 1 : batch_of(lane, sample_s);
    return code;
}

// Pinned memory of every argument that is copied, touched before the first copy.
static int pin_arguments(rg_lane *lane)
{
    const rg_algo *algo = lane->entry->algo;
    for (int i = 0; i < algo->n_args; i++)
        for (int out = 0; out < 2; out++) {
            const size_t bytes = (size_t)algo->arg[i].count(&lane->shape) * rg_type_bytes(algo->arg[i].type(&lane->shape));
            if (algo->arg[i].direction == (out ? RG_IN : RG_OUT) || !bytes) continue;
            const int code = lane->device->pinned(&lane->pinned[out][i], bytes, algo->arg[i].name);
            if (code) return code;
            memset(lane->pinned[out][i], 0, bytes);
        }
    return RG_OK;
}

int rg_lane_make(rg_lane *lane)
{
    int code = RG_OK;
    lane->batch = 1;
    for (int i = 0; i < 2 && !code; i++) code = lane->device->event_make(&lane->event[i]);
    if (!code && lane->scope == RG_TRANSFER) code = pin_arguments(lane);
    return code ? code : rg_frame_make(&lane->frame, lane->entry, lane->device, &lane->shape, lane->param, lane->threads);
}

void rg_lane_open(rg_lane *lane, const rg_device *device, const rg_inputs *in)
{
    lane->device = device;
    lane->joules = lane->energy_s = lane->energy_calls = lane->energy_busy = lane->sensor_W = NAN;
    lane->energy = RG_ENERGY_NOT_ASKED;
    pin(lane);
    int code = rg_lane_make(lane);
    if (code)
        rg_lane_fault(lane, "buffers", code);
    else if ((code = put_all(lane, in)))
        rg_lane_fault(lane, "inputs and prepare", code);
    else if ((lane->scope == RG_KERNEL || lane->scope == RG_ADDING) && (code = measure_overhead(lane, in)))
        rg_lane_fault(lane, "timer", code);
    else if ((code = warm_up(lane, in)))
        rg_lane_fault(lane, "run", code);
    else if ((lane->single = first_counts(lane)))
        lane->sample_ns[lane->n++] = 1e9 * lane->call_s - lane->overhead_ns;
}

static void read_sensors(rg_lane *lane)
{
    rg_sensors s;
    rg_sensors_read(lane->device, &s);
    lane->clock_MHz += on_gpu(lane) ? s.sm_MHz : s.cpu_MHz;
    lane->power_W += s.power_W;
    lane->temp_C = lane->visits ? fmax(lane->temp_C, s.temp_C) : s.temp_C;
    lane->throttle |= s.throttle;
}

// How often another process took a core from this one.
static long preemptions(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : u.ru_nivcsw;
}

void rg_lane_visit(rg_lane *lane, const rg_inputs *in)
{
    if (lane->share && lane->n) { // its first call was the sample
        read_sensors(lane);
        lane->visits++;
        return;
    }
    pin(lane);
    long preempted = preemptions();
    const int visits = lane->rounds * (lane->share ? lane->share : 1);
    const double others_before_s = rg_cpu_others_s();
    double start = rg_seconds(), budget_s = lane->max_s / visits;
    // What it was opened with it has, but for arguments that calls change, which every sample is given anew.
    int most = RG_SAMPLES_MAX / visits, code = lane->seed == in->shape.seed ? RG_OK : put_all(lane, in);
    double untimed_s;
    // What other lanes left in the caches is no part of a hot time. Calls of 0.1 s and more do not notice.
    if (!code && lane->mode == RG_HOT && lane->call_s < 0.1) code = take(lane, in, 1, &untimed_s);
    for (int i = 0; !code && (i == 0 || (i < most && rg_seconds() - start < budget_s)); i++) code = take_sample(lane, in);
    if (!code) code = lane->device->sync();
    if (code) {
        rg_lane_fault(lane, "run", code);
        return;
    }
    lane->spent_s += rg_seconds() - start;
    lane->preempted += preemptions() - preempted;
    lane->others_s += rg_cpu_others_s() - others_before_s;
    lane->watched_s += rg_seconds() - start;
    read_sensors(lane);
    lane->visits++;
}

int rg_lane_block(rg_lane *lane, const rg_inputs *in, int calls, double *ns, long *preempted)
{
    double elapsed_s = 0;
    int code = RG_OK;
    pin(lane);
    if (lane->mode == RG_HOT && lane->call_s < sample_s) code = take(lane, in, 1, &elapsed_s);
    const long before = preemptions();
    code = code ? code : take(lane, in, calls, &elapsed_s);
    *preempted = preemptions() - before;
    *ns = 1e9 * (on_gpu(lane) || lane->threads > 1 || lane->waited ? elapsed_s : lane->cpu_s) / calls;
    return code;
}

int rg_lane_call(rg_lane *lane, const rg_inputs *in, bool outputs, double *elapsed_s)
{
    int code = put_all(lane, in);
    code = code ? code : take(lane, in, 1, elapsed_s);
    *elapsed_s -= 1e-9 * lane->overhead_ns;
    return code || !outputs ? code : rg_lane_outputs(lane, in);
}

rg_samples rg_lane_samples(const rg_lane *lane)
{
    return lane->processes ? (rg_samples){lane->n, lane->processes, rg_unconst(lane->sample_ns), rg_unconst(lane->past)}
                           : rg_one_process(lane->sample_ns, lane->n);
}

static double interval_width(const rg_lane *lane)
{
    rg_summary s;
    const rg_samples samples = rg_lane_samples(lane);
    rg_summarise(&samples, &s);
    return 2 * rg_relative_width(&s);
}

bool rg_lane_enough(rg_lane *lane)
{
    const bool even = lane->visits % 2 == 0 && lane->visits >= LEAST_ROUNDS;
    const rg_stop why = !lane->visits          ? lane->call_s > lane->max_s ? RG_STOP_ONE_CALL : RG_STOPS
        : even && interval_width(lane) < 0.01  ? RG_STOP_INTERVAL
        : even && lane->spent_s >= lane->max_s ? RG_STOP_TIME
        : lane->visits >= lane->rounds         ? RG_STOP_ROUNDS
                                               : RG_STOPS;
    if (why != RG_STOPS) lane->stop = why;
    return why != RG_STOPS;
}

void rg_lane_share_energy(rg_lane *lane, const rg_energy *e, double joules, double seconds, double busy_s, double calls)
{
    lane->energy = busy_s < ENERGY_FILLED * seconds ? RG_ENERGY_NOT_FILLED : e->word;
    lane->energy_devices = e->n_packages ? e->n_packages : 1;
    lane->energy_s = seconds;
    lane->energy_calls = calls;
    lane->energy_busy = busy_s / seconds;
    if (lane->energy != RG_ENERGY_NOT_FILLED) lane->joules = joules / calls;
}

// Arguments that calls change are sums, which may go on growing: to give each call its own again takes longer than many a call.
void rg_lane_energy(rg_lane *lane, const rg_inputs *in, double window_s)
{
    if (lane->mode == RG_COLD) {
        lane->energy = RG_ENERGY_COLD;
        return;
    }
    rg_energy e;
    rg_sensors s;
    double joules, seconds, mean_W, elapsed_s, busy_s = 0, calls = 0;
    const int batch = rg_copies(lane->scope) ? 1 : batch_of(lane, energy_s);
    int code = restore(lane, in);
    pin(lane);
    rg_energy_start(lane->device, &e);
    for (; !code && !isnan(e.start_J) && rg_seconds() - e.start_s < window_s; calls += batch, busy_s += elapsed_s)
        code = rg_copies(lane->scope) ? take(lane, in, batch, &elapsed_s) : take_calls(lane, batch, &elapsed_s);
    rg_sensors_read(lane->device, &s);
    rg_energy_stop(lane->device, &e, &joules, &seconds, &mean_W);
    lane->energy = code ? RG_ENERGY_FAULT : e.word;
    if (code || isnan(joules)) return;
    rg_lane_share_energy(lane, &e, joules, seconds, busy_s, calls);
    lane->sensor_W = s.power_W;
}

void rg_lane_close(rg_lane *lane)
{
    if (!lane->device) return;
    for (int i = 0; i < 2; i++)
        if (lane->event[i]) lane->device->event_free(lane->event[i]);
    for (int i = 0; i < RG_ARGS_MAX; i++)
        for (int out = 0; out < 2; out++) {
            if (lane->pinned[out][i]) lane->device->unpin(lane->pinned[out][i]);
            lane->pinned[out][i] = NULL;
        }
    rg_frame_free(&lane->frame);
    lane->device = NULL;
}
