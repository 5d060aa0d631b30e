// SPDX-License-Identifier: MIT
// cpu.c: processor features, cores and pinning.
#include "cpu.h"
#include "../base/memory.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Thread_local const char *as; // features of a different processor

void rg_cpu_as(const char *features) { as = features; }

static bool has_word(const char *words, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

bool rg_cpu_has(const char *feature) {
    if (as) return has_word(as, feature);
#if defined(__x86_64__)
    // GCC and Clang look at CPUID and at XCR0, so a feature counts only when the system saves its registers.
    __builtin_cpu_init();
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (!strcmp(feature, "avx2")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!strcmp(feature, "avx512")) return avx512;
    if (!strcmp(feature, "avx512vnni")) return avx512 && __builtin_cpu_supports("avx512vnni");
#endif
    (void)feature;
    return false;
}

void rg_cpu_model(char text[128]) {
    static const char *const key[] = {"model name", "CPU part"};
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    snprintf(text, 128, "unknown (/proc/cpuinfo names no model)");
    for (bool found = false; f && !found && fgets(line, sizeof line, f);)
        for (size_t i = 0; i < sizeof key / sizeof *key && !found; i++) {
            const char *value = !strncmp(line, key[i], strlen(key[i])) ? strchr(line, ':') : NULL;
            found = value && sscanf(value + 1, " %127[^\n]", text) == 1;
        }
    if (f) fclose(f);
}

// The cores that the process may use at its start: pinning changes the system's answer.
static cpu_set_t allowed;
static double quota; // whole cores: one more thread would be stopped during its work while others wait for it
static void look(void) {
    quota = fmax(1, floor(rg_cores_quota()));
    if (sched_getaffinity(0, sizeof allowed, &allowed) || CPU_COUNT(&allowed) == 0)
        for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++) CPU_SET((size_t)i, &allowed);
}

static const cpu_set_t *first_allowed(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    return &allowed;
}

static int share; // 0: all of them
void rg_cpu_share(int cores) { share = cores; }
int rg_cpu_cores(void) {
    const int all = CPU_COUNT(first_allowed());
    return share ? share : (int)fmin(quota, all);
}

void rg_cpu_pin(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0, nth = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, first_allowed()) && (nth++ == core || core < 0)) CPU_SET((size_t)i, &one);
    if (CPU_COUNT(&one) > 0) sched_setaffinity(0, sizeof one, &one);
}
