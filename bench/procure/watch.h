// SPDX-License-Identifier: MIT
// watch.h: what else goes on while a job runs, and what it draws.
#pragma once

#include "../machine/sensors.h"

// CPU seconds that the CPUs of this process spent on anything since the system came up (/proc/stat); NaN where it does not
// tell.
double rg_watch_cpu_s(void);
// The processes of this system with their CPU seconds, and in words those that used most since then, but for this one:
// "1.8 of 2 cores: cc1 (4711) 0.9, ld (4712) 0.4"; of those that have ended since, nobody knows the name.
typedef struct rg_watched {
    int n;
    struct rg_watched_one {
        int pid;
        double cpu_s;
        char name[32];
    } * one;
} rg_watched;
rg_watched rg_watch_processes(void);
void rg_watch_say(const rg_watched *before, double others_s, double seconds, char text[300]);

// Joules over a window from up to three sources. A meter at the outlet holds what the other two see and is never added to them.
typedef enum { RG_POWER_GPU, RG_POWER_CPU, RG_POWER_METER, RG_POWERS } rg_power;
extern const char *const rg_power_name[RG_POWERS]; // "NVML", "RAPL", "meter"
typedef struct rg_window {
    int gpus;          // 0: none
    const char *meter; // a command for sh that prints watts and ends; NULL: none
    rg_energy of_cpu;
    double gpus_J, began_s, meter_J, meter_read_s, meter_W; // what the meter has given so far
    char why[RG_POWERS][160];                               // of a source that gives nothing
} rg_window;
// Whether any source gives joules here, and for each that does not, why.
bool rg_window_can(rg_window *, int gpus, const char *meter);
void rg_window_begin(rg_window *);
void rg_window_read_meter(rg_window *); // call about once a second, from one thread
void rg_window_end(rg_window *, double joules[RG_POWERS], double *seconds);
