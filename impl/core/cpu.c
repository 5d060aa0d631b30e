// SPDX-License-Identifier: MIT
// cpu.c: processor features, cores and pinning.
#include "cpu.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

bool rg_cpu_has(const char *feature)
{
#if defined(__x86_64__)
    // GCC and Clang look at CPUID and at XCR0, so a feature counts only when the system saves its registers.
    __builtin_cpu_init();
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    if (!strcmp(feature, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!strcmp(feature, "avx512"))
        return avx512;
    if (!strcmp(feature, "avx512vnni"))
        return avx512 && __builtin_cpu_supports("avx512vnni");
#endif
    (void)feature;
    return false;
}

int rg_cpu_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

// The cores that the process might use when it started: pinning narrows the set, so it is asked for once.
void rg_cpu_pin(int core)
{
    static cpu_set_t allowed;
    static bool known;
    if (!known)
        known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0, nth = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed) && nth++ == core)
            CPU_SET(i, &one);
    if (core < 0)
        one = allowed;
    if (known && CPU_COUNT(&one) > 0)
        sched_setaffinity(0, sizeof one, &one);
}
