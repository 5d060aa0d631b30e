// SPDX-License-Identifier: MIT
// cpu.h: features of this processor and system, as rg_variant.needs names them, and its cores.
#ifndef RG_CPU_H
#define RG_CPU_H

#include <stdbool.h>

// "avx2" (with fma), "avx512" (f, bw, dq, vl), "avx512vnni"; false for unknown names.
bool rg_cpu_has(const char *feature);
// Makes rg_cpu_has() of this thread answer for a processor with these features ("avx2 avx512"), to find out what a variant did on
// the machine of a result file. NULL: for this processor again.
void rg_cpu_as(const char *features);
void rg_cpu_model(char text[128]); // the processor's name; "unknown (...)"
int rg_cpu_cores(void);            // that this process may use
void rg_cpu_share(int cores);      // use so many from now on: other processes of the job have the rest
// Pins the calling thread to the i-th core of those that the process had at its start; -1: to all of them. New threads inherit
// this, so a parallel region pins its threads one by one.
void rg_cpu_pin(int core);

#endif
