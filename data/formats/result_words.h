// SPDX-License-Identifier: MIT
// result_words.h: the columns of result files, and the closed sets of words of some of them.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define X(name, text, kind) RG_C_##name,
typedef enum {
#include "result_columns.def"
    RG_COLUMNS
} rg_column;
#undef X
extern const char *const rg_column_name[RG_COLUMNS];

// ---- closed sets of words: each as written in a file, and as shown to people ---------------------------------------

// The reason why sampling ended, then the reasons why a row has no time.
#define RG_STOP_LIST(X)                                                                                                        \
    X(TIME, "time", "time")                                                                                                    \
    X(ROUNDS, "rounds", "rounds")                                                                                              \
    X(INTERVAL, "interval", "interval")                                                                                        \
    X(ONE_CALL, "one_call", "time (one call takes longer than --max-seconds)")                                                 \
    X(PROBE, "probe", "best sustained rate of the probe")                                                                      \
    X(SELF_TEST, "self_test", "median false difference of pairs of a variant with itself")                                     \
    X(UNVERIFIED, "unverified", "not timed: verify")                                                                           \
    X(NO_SHAPE, "no_shape", "not timed: it takes none of the small shapes on which it could be verified")                      \
    X(WRONG, "wrong", "after timing")                                                                                          \
    X(OVERRUN, "overrun", "after timing: wrote outside of its arguments")                                                      \
    X(KEPT, "kept", "after timing: answers are kept, or made outside of the time")                                             \
    X(LATE, "late", "after timing: the device goes on after the last event, work outside of the call's stream")                \
    X(TOO_FAST, "too_fast", "after timing: nothing moves its bytes in that time")                                              \
    X(ABOVE_BOUND, "above_bound", "after timing: faster than its bound allows on this machine")                                \
    X(BUSY, "busy", "the machine is too busy to tell")                                                                         \
    X(FAULT, "fault", "fault")                                                                                                 \
    X(CRASH, "crash", "a signal ended the process that timed the variants of this shape")                                      \
    X(LACKS, "lacks", "not here")                                                                                              \
    X(REFUSED, "refused", "refused")                                                                                           \
    X(NO_COPIES, "no_copies", "scope with copies: the data of a CPU variant are where it computes")                            \
    X(NO_CLEAR, "no_clear", "scope adding: run clears what it adds to, or writes every output")                                \
    X(MEMORY, "memory", "memory")                                                                                              \
    X(LONG_CALL, "long_call", "time: longer than --max-call allows")                                                           \
    X(NO_PROBE, "no_probe", "not measured: the probe has no such resource here")                                               \
    X(NO_OUTPUT, "no_output", "nothing was written that begins with {out}")                                                    \
    X(UNLIKE, "unlike", "outputs of two runs differ")                                                                          \
    X(CHECK, "check", "the outputs do not pass --check")                                                                       \
    X(EXIT, "exit", "exit status")                                                                                             \
    X(GPUS, "gpus", "too few GPUs")                                                                                            \
    X(OTHER, "other", "")
// Reasons why the clock was throttled, a set; UNKNOWN: the processor does not say.
#define RG_THROTTLE_LIST(X)                                                                                                    \
    X(NONE, "none", "none")                                                                                                    \
    X(IDLE, "idle", "idle")                                                                                                    \
    X(APPLICATION, "application", "application clocks")                                                                        \
    X(POWER_CAP, "power_cap", "power cap")                                                                                     \
    X(HW_SLOWDOWN, "hw_slowdown", "hw slowdown")                                                                               \
    X(SYNC_BOOST, "sync_boost", "sync boost")                                                                                  \
    X(SW_THERMAL, "sw_thermal", "sw thermal")                                                                                  \
    X(HW_THERMAL, "hw_thermal", "hw thermal")                                                                                  \
    X(POWER_BRAKE, "power_brake", "power brake")                                                                               \
    X(DISPLAY, "display", "display clocks")                                                                                    \
    X(OTHER, "other", "another reason")                                                                                        \
    X(UNKNOWN, "unknown", "unknown")
#define RG_ENERGY_LIST(X)                                                                                                      \
    X(NOT_ASKED, "not_asked", "not asked for (--energy)")                                                                      \
    X(NVML, "nvml", "NVML total energy, board")                                                                                \
    X(RAPL, "rapl", "RAPL")                                                                                                    \
    X(COLD, "cold", "not measured in mode cold: the flush would count")                                                        \
    X(NO_COUNTER, "no_counter", "no NVML energy counter")                                                                      \
    X(NO_RAPL, "no_rapl", "no RAPL package in /sys/class/powercap (virtual machine, or: sudo modprobe intel_rapl_msr)")        \
    X(RAPL_CLOSED, "rapl_closed", "RAPL not readable: sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj")              \
    X(NO_TOTAL, "no_total", "the counter gave no total: it stood still, was reset or wrapped")                                 \
    X(NOT_FILLED, "not_filled", "calls took too little of the time that the counter was read around")                          \
    X(FAULT, "fault", "a call failed")
#define RG_HELD_LIST(X)                                                                                                        \
    X(REFERENCE, "reference", "the reference")                                                                                 \
    X(CONFIGURATION, "configuration", "another configuration's outputs")                                                       \
    X(RUNS, "runs", "every run against the outputs of the first")                                                              \
    X(ONE_RUN, "one_run", "the only run, with none to compare")                                                                \
    X(COMMAND, "command", "a command")                                                                                         \
    X(EXIT, "exit", "exit status alone: the command has no {out}")
#define X(name, word, phrase) RG_STOP_##name,
typedef enum { RG_STOP_LIST(X) RG_STOPS } rg_stop;
#undef X
#define X(name, word, phrase) RG_THROTTLE_##name,
typedef enum { RG_THROTTLE_LIST(X) RG_THROTTLES } rg_throttle;
#undef X
#define X(name, word, phrase) RG_ENERGY_##name,
typedef enum { RG_ENERGY_LIST(X) RG_ENERGIES } rg_energy_word;
#undef X
#define X(name, word, phrase) RG_HELD_##name,
typedef enum { RG_HELD_LIST(X) RG_HELDS } rg_held_against;
#undef X

typedef struct rg_word {
    const char *word, *phrase;
} rg_word;
extern const rg_word rg_stop_word[RG_STOPS], rg_throttle_word[RG_THROTTLES], rg_energy_of[RG_ENERGIES],
    rg_held_against_word[RG_HELDS];
enum { RG_REASON = 640 };
void rg_stop_print(rg_stop, const char *detail, char text[RG_REASON]); // "memory: needs 12 GB, has 8 GB"
// Prints a set, a bit for each word, as words with commas or as phrases, "power cap, hw thermal"; "": empty.
void rg_throttle_print(unsigned set, bool phrases, char text[RG_REASON]);
// Returns what the cell should hold; NULL: it is valid.
const char *rg_cell_fault(rg_column, const char *text);

#ifdef __cplusplus
}
#endif
