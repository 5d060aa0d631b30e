// SPDX-License-Identifier: MIT
// sample.h: one measurement of a benchmark: a variant with its parameters, at one shape, in one scope and mode, and the times taken
// of it.
//
// Lanes of one shape are timed in rounds, each in turn (rounds.c). A visit gives a measurement the inputs of the round and a share of
// its time; between visits its buffers stay where they are. For bench every round is a process of its own (process.c), whose
// visit the measurement of the process that writes the file takes over.
#pragma once

#include "../../impl/runtime/call.h"
#include "../../verify/checker/verify.h"
#include "../machine/machine.h"
#include "../stats/stats.h"

// What a time covers. KERNEL: clear() and run() on resident data, less the cost of an empty measurement. DEVICE: the same as
// elapsed. TRANSFER: with the inputs copied to the device before and the outputs copied back after it, from and to pinned memory
// (GPU only). PAGEABLE: the same from and to ordinary memory, as in the programs of the papers. ADDING: as KERNEL, of run()
// alone, which adds to what stands in the outputs (variants with clear() only). Steady arguments are loaded before the time
// begins, but in the two scopes with copies.
typedef enum { RG_KERNEL, RG_RESIDENT, RG_TRANSFER, RG_PAGEABLE, RG_ADDING, RG_SCOPES } rg_scope;
static inline bool rg_copies(rg_scope s) { return s == RG_TRANSFER || s == RG_PAGEABLE; }
// COLD: caches flushed before every call. HOT: calls follow each other, as many to a sample as make it last 1 ms.
typedef enum { RG_COLD, RG_HOT, RG_MODES } rg_mode;
extern const char *const rg_scope_name[RG_SCOPES]; // "kernel", "device", "transfer", "pageable", "adding"
extern const char *const rg_mode_name[RG_MODES];

enum { RG_SAMPLES_MAX = 400, RG_ROUNDS_MAX = 100 };

// Inputs of one shape in host memory, filled anew for every round; all measurements of the shape get the same. Where there is ample
// memory those of the last few seeds are kept: every measurement of a process is judged by calls on the same ones.
enum { RG_INPUT_SETS = 3 };
typedef struct rg_input_set {
    uint64_t seed;
    void *arg[RG_ARGS_MAX]; // of the arguments that are no outputs alone
} rg_input_set;
typedef struct rg_inputs {
    const rg_algo *algo;
    rg_shape shape;                  // with the seed of the round
    rg_input_set set[RG_INPUT_SETS]; // the last used first
    int n_sets, most_sets;
    double fill_s; // that the last filling took
    size_t bytes[RG_ARGS_MAX];
    void *arg[RG_ARGS_MAX];   // those of set[0], and the outputs
    void *found[RG_ARGS_MAX]; // where a measurement's results are brought for comparison: arg itself but for INOUT arguments
    bool answered;            // the reference has been asked
    uint64_t answered_seed;   // about the inputs of this seed
    rg_answer answer;         // and says so
    void *whole[RG_ARGS_MAX]; // about the same inputs, where the answer is of some elements: all outputs of `whole_of`, a
                              // variant of
    const rg_entry *whole_of; // this program that has passed; NULL: none yet
} rg_inputs;
void rg_inputs_make(rg_inputs *, const rg_algo *, const rg_shape *);
double rg_inputs_bytes(const rg_algo *, const rg_shape *); // host memory, predicted, with the reference's answer
void rg_inputs_fill(rg_inputs *, uint64_t seed);           // nothing to do when they are of this seed
uint64_t rg_inputs_hash(const rg_inputs *);                // FNV-1a of all inputs
void rg_inputs_free(rg_inputs *);

// Others who have fewer cores disturb nobody: a quiet system does that for itself.
#define RG_OTHERS_LEAST 0.1

typedef struct rg_measurement {
    const rg_entry *entry;
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    int threads, cores; // HOST: of call->threads, and all there are
    rg_scope scope;
    rg_mode mode;
    double max_s;       // time for samples
    int rounds;         // at most so many visits
    int share;          // time and samples are those of so many processes, of which this is one; 0: of this one
    bool brief;         // judged by few elements: the first of these processes is judged in full
    double warm_s;      // untimed calls before; 0: as long as clocks take to settle
    void *const *right; // outputs for the same inputs that have been judged: every element is compared with them instead of
                        // some with the reference; NULL: the reference
    bool tuned;         // some parameters come from data/tuned

    rg_frame frame;
    const rg_device *device; // NULL while closed
    void *event[2];
    void *pinned[2][RG_ARGS_MAX]; // TRANSFER: the inputs, and where the outputs go; NULL: not copied
    double overhead_ns;           // of an empty measurement, taken off in scope kernel

    double call_s;            // of one call, from the warm-up
    double cpu_s;             // of all threads of this process, in the calls timed last
    bool waited;              // and whether the calling one did, of its own accord
    double others;            // cores that others had while it was judged; NaN: not known
    int batch;                // calls to a sample
    int n, visits, processes; // samples, visits, processes taken over; 0: all samples are of this one
    int past[RG_ROUNDS_MAX];  // of each of them, the place after its last sample
    double sample_ns[RG_SAMPLES_MAX], spent_s, prepare_ns;
    double clock_MHz, power_W, temp_C; // sums over visits, and the highest temperature; NaN when unreadable
    unsigned throttle;                 // bits of rg_throttle, of all visits
    long preempted;                    // times that another process took a core during visits
    double others_s,
        watched_s; // time that others spent on the machine's cores during visits, or a hypervisor took; and of visits
    double joules; // of one call; NaN when not measured
    rg_energy_word energy;
    double energy_s, energy_calls, energy_busy, sensor_W; // window, calls in it, the part of it that they took; NaN: none
    int energy_devices;                                   // GPUs or packages

    bool gated;    // has been through verify on small shapes
    bool in_file;  // a resumed file has its row
    bool single;   // its first call was its only sample
    uint64_t seed; // of the inputs that it has
    bool done;     // has a verdict and a reason for stopping
    rg_verdict verdict;
    rg_stop stop;
    char detail[400];      // what went wrong
    int late;              // samples after whose last event the device still had work to do
    double fresh;          // how many times the median a call on inputs takes that the measurement has not seen; 0: not asked
    rg_held_against check; // what the outputs were held against, and how many of all elements; 0: every one
    int64_t checked, elements;
    char against[96]; // the variant that all were held against besides; ""
} rg_measurement;
rg_samples rg_measurement_samples(const rg_measurement *); // in the measurement, not to be freed

// Ends a measurement: with a reason and its detail, or as FAIL with what its device says of a code.
void rg_measurement_end(rg_measurement *, rg_status, rg_stop, const char *format, ...) __attribute__((format(printf, 4, 5)));
void rg_measurement_fault(rg_measurement *, const char *what, int code);
const char *rg_measurement_reason(const rg_measurement *, char text[RG_REASON]); // for people; returns text
size_t rg_measurement_bytes(const rg_measurement *);
int rg_measurement_make(rg_measurement *); // buffers and events on measurement->device; RG_OK or a device error
// Buffers, prepare (timed), warm-up with these inputs. On a fault the measurement is ended as FAIL.
void rg_measurement_open(rg_measurement *, const rg_device *, const rg_inputs *);
void rg_measurement_visit(rg_measurement *, const rg_inputs *);
// So many calls in a row, for a comparison by turns: ns of one by events on a GPU, by the CPU time of the process on one core,
// which stands still while another process has the core, elapsed on several and where the kernel waits (for a thread of its own,
// a lock, a clock); and how often the core was taken meanwhile. Hot inputs have been read once more before. RG_OK or a device error.
int rg_measurement_block(rg_measurement *, const rg_inputs *, int calls, double *ns, long *preempted);
// Whether the measurement has had enough: all its rounds or, after an even number of visits, time or interval; sets stop.
bool rg_measurement_enough(rg_measurement *);
// One call on these inputs, timed as a sample is, which finds in the outputs what the call before left; its outputs, if they are wanted, are copied into in->found
// at once, before what works on beside it could end. RG_OK or a device error.
int rg_measurement_call(rg_measurement *, const rg_inputs *, bool outputs, double *elapsed_s);
int rg_measurement_outputs(
    rg_measurement *, const rg_inputs *); // those of the last call; brief: the elements that the reference has answered
// Repeats the call for a window of at least `window_s` and reads the energy counter around it: joules / calls, unless calls were
// busy for too little of those seconds.
void rg_measurement_energy(rg_measurement *, const rg_inputs *, double window_s);
void rg_measurement_share_energy(
    rg_measurement *, const rg_energy *, double joules, double seconds, double busy_s, double calls);
void rg_measurement_close(rg_measurement *);

// judge.c: the measurement's verdict, by calls on inputs of its own that follow from the seed. Their time has to be that of the
// samples, and the outputs of the last of them are held against the reference, at as many elements as it gives in a fraction of
// a second, and at all against those of another variant. Lanes that are judged by one seed share the answer. Leaves other
// inputs in rg_inputs.
void rg_measurement_judge(rg_measurement *, rg_inputs *, uint64_t seed);

// ---- rounds.c -----------------------------------------------------------------------------------------------------------

// Measurements of one shape timed in rounds, each in turn, in alternating order: the one timing loop of bench and tune.
typedef struct rg_rounds {
    const rg_device *gpu; // NULL when no measurement needs one
    uint64_t seed;
    int first;                                    // number of the first round: what its inputs and its order follow from
    bool same_inputs;                             // those that `in` holds, in all rounds; else fresh ones in each
    double energy_s;                              // window of the energy measurement of measurements that passed; 0: none
    bool (*finished)(void *of, rg_measurement *); // a measurement with its verdict, still open; false ends the timing
    void (*visited)(void *of);                    // after every turn
    void *of;
} rg_rounds;

// The measurements, not done yet, have all room at once. All are closed on return.
void rg_time_rounds(const rg_rounds *, rg_measurement **measurement, int n, rg_inputs *);
