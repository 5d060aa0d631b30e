// SPDX-License-Identifier: MIT
// sample.h: a measurement of a benchmark: a variant with its parameters, at one shape, in one scope and mode, and its times.
//
// The measurements of one shape are timed in rounds, each in turn (rounds.c). A visit gives a measurement the inputs of the
// round and a share of its time; its buffers stay allocated between visits. In bench every round is a separate process
// (process.c), and the measurement in the process that writes the file takes over the results of the visit.
#pragma once

#include "../../impl/runtime/call.h"
#include "../../verify/checker/verify.h"
#include "../machine/machine.h"
#include "../stats/stats.h"

// What a time covers. KERNEL: clear() and run() on resident data, minus the cost of an empty measurement. DEVICE: the same as
// elapsed time. TRANSFER: also the copies of the inputs to the device and of the outputs back, with pinned memory (GPU only).
// PAGEABLE: the same with ordinary memory, as in the programs of the papers. ADDING: as KERNEL, but run() alone, which adds to
// the outputs (variants with clear() only). Steady arguments are loaded before the time begins, except in the two scopes with
// copies.
typedef enum { RG_KERNEL, RG_RESIDENT, RG_TRANSFER, RG_PAGEABLE, RG_ADDING, RG_SCOPES } rg_scope;
static inline bool rg_copies(rg_scope s) { return s == RG_TRANSFER || s == RG_PAGEABLE; }
// COLD: caches are flushed before every call. HOT: calls follow each other; a sample has as many as make it last 1 ms.
typedef enum { RG_COLD, RG_HOT, RG_MODES } rg_mode;
extern const char *const rg_scope_name[RG_SCOPES]; // "kernel", "device", "transfer", "pageable", "adding"
extern const char *const rg_mode_name[RG_MODES];

enum { RG_SAMPLES_MAX = 400, RG_ROUNDS_MAX = 100 };

// Inputs of one shape in host memory, filled again for every round and shared by all measurements of the shape. If memory is
// ample, those of the last few seeds are kept, because every measurement of a process is judged by calls on the same inputs.
enum { RG_INPUT_SETS = 3 };
typedef struct rg_input_set {
    uint64_t seed;
    void *arg[RG_ARGS_MAX]; // of the arguments that are not only outputs
} rg_input_set;
typedef struct rg_inputs {
    const rg_algo *algo;
    rg_shape shape;                  // with the seed of the round
    rg_input_set set[RG_INPUT_SETS]; // the last used first
    int n_sets, most_sets;
    double fill_s; // time of the last filling
    size_t bytes[RG_ARGS_MAX];
    void *arg[RG_ARGS_MAX];   // inputs of set[0], and the outputs
    void *found[RG_ARGS_MAX]; // receives a measurement's results for comparison: arg itself, except for INOUT arguments
    bool answered;            // the reference has answered
    uint64_t answered_seed;   // for the inputs of this seed
    rg_answer answer;         // with this
    void *whole[RG_ARGS_MAX]; // for the same inputs, if the answer covers some elements only: all outputs of
    const rg_entry *whole_of; // a variant of this program that passed, whose outputs are in `whole`; NULL: none yet
} rg_inputs;
void rg_inputs_make(rg_inputs *, const rg_algo *, const rg_shape *);
double rg_inputs_bytes(const rg_algo *, const rg_shape *); // predicted host memory, including the reference's answer
void rg_inputs_fill(rg_inputs *, uint64_t seed);           // does nothing if they have this seed
uint64_t rg_inputs_hash(const rg_inputs *);                // FNV-1a of all inputs
void rg_inputs_free(rg_inputs *);

// Other processes that use fewer cores than this do not disturb a measurement: a quiet system does as much.
#define RG_OTHERS_LEAST 0.1

typedef struct rg_measurement {
    const rg_entry *entry;
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    int threads, cores; // HOST: of call->threads, and of the machine
    rg_scope scope;
    rg_mode mode;
    double max_s;       // time limit for samples
    int rounds;         // limit of visits
    int share;          // number of processes that share time and samples; 0: this one has all
    bool brief;         // judged by few elements, because the first of these processes is judged in full
    double warm_s;      // duration of untimed calls before; 0: until clocks settle
    void *const *right; // outputs for the same inputs that passed: every element is compared with them, not some
                        // with the reference; NULL: the reference
    bool tuned;         // some parameters come from data/tuned

    rg_frame frame;
    const rg_device *device; // NULL while closed
    void *event[2];
    void *pinned[2][RG_ARGS_MAX]; // TRANSFER: inputs, and room for outputs; NULL: not copied
    double overhead_ns;           // of an empty measurement, subtracted in scope kernel

    double call_s;            // of one call, from the warm-up
    double cpu_s;             // of all threads of this process, in the last timed calls
    bool waited;              // whether the calling thread waited voluntarily
    double others;            // cores that other processes used while it was judged; NaN: unknown
    int batch;                // calls per sample
    int n, visits, processes; // samples, visits, processes; 0 processes: all samples are from this one
    int past[RG_ROUNDS_MAX];  // of each process, the index after its last sample
    double sample_ns[RG_SAMPLES_MAX], spent_s, prepare_ns;
    double clock_MHz, power_W, temp_C; // sums over visits; the highest temperature; NaN: unreadable
    unsigned throttle;                 // bits of rg_throttle, of all visits
    long preempted;                    // preemptions by other processes during visits
    double others_s,
        watched_s; // time that others spent on the machine's cores during visits, or a hypervisor took; and of visits
    double joules; // of one call; NaN when not measured
    rg_energy_word energy;
    double energy_s, energy_calls, energy_busy, sensor_W; // window, calls in it, the share of it that they took; NaN: none
    int energy_devices;                                   // GPUs or packages

    bool gated;    // verify has run on small shapes
    bool in_file;  // a resumed file has its row
    bool single;   // its first call was its only sample
    uint64_t seed; // of its present inputs
    bool done;     // has a verdict and a reason for stopping
    rg_verdict verdict;
    rg_stop stop;
    char detail[400];      // what went wrong
    int late;              // samples after whose last event the device still had work
    double fresh;          // time of a call on new inputs over the median; 0: not measured
    rg_held_against check; // what the outputs were compared with, and how many of all elements; 0: all
    int64_t checked, elements;
    char against[96]; // the variant that all elements were also compared with; ""
} rg_measurement;
rg_samples rg_measurement_samples(const rg_measurement *); // owned by the measurement

// End a measurement: with a reason and its detail, or as FAIL with the device's text for a code.
void rg_measurement_end(rg_measurement *, rg_status, rg_stop, const char *format, ...) __attribute__((format(printf, 4, 5)));
void rg_measurement_fault(rg_measurement *, const char *what, int code);
const char *rg_measurement_reason(const rg_measurement *, char text[RG_REASON]); // for people; returns text
size_t rg_measurement_bytes(const rg_measurement *);
int rg_measurement_make(rg_measurement *); // buffers and events on measurement->device; RG_OK or a device error
// Makes the buffers, calls prepare (timed), and warms up with these inputs. A fault ends the measurement as FAIL.
void rg_measurement_open(rg_measurement *, const rg_device *, const rg_inputs *);
void rg_measurement_visit(rg_measurement *, const rg_inputs *);
// Times `calls` calls in a row, for a paired comparison. *ns, of one call: by events on a GPU; on one core by the CPU time of
// the process, which stops while another process has the core; elapsed on several cores, and where the kernel waits (for its
// own thread, a lock, a clock). *preempted: how often the core was taken meanwhile. Hot inputs have been read once before.
// RG_OK or a device error.
int rg_measurement_block(rg_measurement *, const rg_inputs *, int calls, double *ns, long *preempted);
// Returns whether the measurement is complete: all rounds, or, after an even number of visits, time or interval; sets stop.
bool rg_measurement_enough(rg_measurement *);
// Times one call on these inputs like a sample. It finds the outputs of the call before. outputs: they are copied into
// in->found at once, before work hidden beside the call could end. RG_OK or a device error.
int rg_measurement_call(rg_measurement *, const rg_inputs *, bool outputs, double *elapsed_s);
int rg_measurement_outputs(rg_measurement *,
    const rg_inputs *); // copies the outputs of the last call; brief: only the elements that the reference has answered
// Repeats the call for at least `window_s` and reads the energy counter before and after: joules / calls, unless calls filled
// too little of those seconds.
void rg_measurement_energy(rg_measurement *, const rg_inputs *, double window_s);
void rg_measurement_share_energy(
    rg_measurement *, const rg_energy *, double joules, double seconds, double busy_s, double calls);
void rg_measurement_close(rg_measurement *);

// judge.c: sets the measurement's verdict, by calls on its own inputs, which follow from the seed. Their time must agree with
// that of the samples. The outputs of the last call are compared with the reference, at as many elements as it computes in a
// fraction of a second, and at all elements with those of another variant. Measurements judged by one seed share the answer.
// Changes the inputs in rg_inputs.
void rg_measurement_judge(rg_measurement *, rg_inputs *, uint64_t seed);

// ---- rounds.c -----------------------------------------------------------------------------------------------------------

// Times measurements of one shape in rounds, each in turn, in alternating order: the only timing loop of bench and tune.
typedef struct rg_rounds {
    const rg_device *gpu; // NULL: no measurement needs one
    uint64_t seed;
    int first;                                    // number of the first round, from which its inputs and order follow
    bool same_inputs;                             // all rounds use the inputs in `in`; else each has new ones
    double energy_s;                              // window of the energy measurement after PASS; 0: none
    bool (*finished)(void *of, rg_measurement *); // called with a judged measurement, still open; false ends the timing
    void (*visited)(void *of);                    // called after every turn
    void *of;
} rg_rounds;

// The measurements must not be done, and their buffers exist at the same time. All are closed on return.
void rg_time_rounds(const rg_rounds *, rg_measurement **measurement, int n, rg_inputs *);
