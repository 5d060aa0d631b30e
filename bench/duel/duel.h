// SPDX-License-Identifier: MIT
// duel.h: runs two kernels in turns. One process decides (duel.c), others compute on request (serve.c), so that addresses,
// clocks and builds differ between processes and not between blocks.
#pragma once

#include "../timing/timing.h"
#include "../stats/rule.h"

// A serving process: `regather duel --serve first|again WORD...` reads one command per line, "SIDE CALLS", and answers each
// with "NS PREEMPTED HELD" for a block of that many calls of its SIDE-th word (HELD: by builds that know it). Its first line is
// "ready SHAPE CALLS..." (the calls of one block of each word) or "stop CODE REASON".
typedef enum { RG_SERVE_FIRST, RG_SERVE_AGAIN } rg_serving; // first: verifies and judges before "ready"

// The time that decides between whole commands.
typedef enum { RG_CLOCK_WALL, RG_CLOCK_CPU, RG_CLOCKS } rg_clock;

typedef struct rg_duel {
    rg_given given;
    const char *gate_text, *shape, *out, *old_build, *check;
    int mode;  // an rg_mode
    int serve; // an rg_serving; -1: this process decides
    int clock; // an rg_clock
    bool job;
    int64_t repeat;
    double max_s, gate;
} rg_duel;

// A word of the command line, and the measurement to time. Must not move: the options point into it.
typedef struct rg_duel_side {
    rg_bench_options options;
    rg_bench_plan plan;
    rg_measurement *measurement;
    const char *item[RG_PARAMS_MAX + 1];
    char text[512];
} rg_duel_side;
int rg_duel_side_make(const rg_duel *, const char *word, rg_duel_side *); // RG_GOOD, or one line and its exit code
int rg_duel_serve(const rg_duel *);
// Runs whole commands by the programs of old and new; writes the pairs to the file if it is open. Returns the exit code of
// `duel`.
int rg_duel_jobs(const rg_duel *, char *const program[2], rg_file *);
static inline int rg_duel_code(rg_change w) { return w == RG_SLOWER ? RG_WRONG : w == RG_UNDECIDED ? RG_UNSURE : RG_GOOD; }
