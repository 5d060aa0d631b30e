// SPDX-License-Identifier: MIT
// cpu.h: which of the features named in rg_variant.needs this processor and system have.
#ifndef RG_CPU_H
#define RG_CPU_H

#include <stdbool.h>

// "avx2" (with fma), "avx512" (f, bw, dq, vl), "avx512vnni"; false for unknown names.
bool rg_cpu_has(const char *feature);
// From now on rg_cpu_has() answers in this thread for a processor with these features ("avx2 avx512"), to know what a variant did
// on the machine of a result file; NULL: for this processor again.
void rg_cpu_as(const char *features);
void rg_cpu_model(char text[128]); // the processor's name; "unknown (...)"
int rg_cpu_cores(void);            // that this process may use
void rg_cpu_share(int cores);      // from now on as many: the rest belongs to other processes of one job
// Pins the calling thread to the i-th core that the process was allowed at first; -1 gives all of them back. Threads made
// afterwards inherit it, so a parallel region pins its threads one by one.
void rg_cpu_pin(int core);

#endif
