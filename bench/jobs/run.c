// SPDX-License-Identifier: MIT
#include "run.h"

#include "../../impl/base/core.h"
#include "../../impl/base/process.h"
#include "../machine/sensors.h"

#include <poll.h>
#include <sys/syscall.h>

static void show_only(int gpus) {
    char list[256] = "";
    for (int g = 0, length = 0; g < gpus; g++)
        length += snprintf(list + length, sizeof list - (size_t)length, "%s%d", g ? "," : "", g);
    setenv("CUDA_VISIBLE_DEVICES", list, 1);
}

// Waits for the end of a process, looking at the memory of the GPUs meanwhile. Kernels before 5.3 have no handle to wait for.
static double watch_gpus(pid_t child, double before) {
    double most = before;
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    while (ended.fd >= 0 && poll(&ended, 1, 50) == 0) most = fmax(most, rg_gpus_used_bytes());
    if (ended.fd >= 0) close(ended.fd);
    return ended.fd >= 0 ? most - before : NAN;
}

static void be_job(void *of) {
    const int *gpus = of;
    if (*gpus >= 0) show_only(*gpus);
    setenv("REGATHER_PAGE", "no", 0); // a page is for people, and its date differs from run to run
}

static rg_job_run run_line(const char *line, const char *program, const char *log, int gpus) {
    struct rusage used = {0};
    const char *const word[] = {"sh", "-c", line, program, NULL};
    const rg_child job = {.program = "/bin/sh", .word = word, .log = log, .prepare = be_job, .of = &gpus};
    const double gpu_bytes = gpus ? rg_gpus_used_bytes() : NAN, began_s = rg_seconds();
    const pid_t child = rg_child_start(&job);
    const double gpu_peak_bytes = child > 0 && !isnan(gpu_bytes) ? watch_gpus(child, gpu_bytes) : NAN;
    const int code = rg_child_wait(child, &used);
    return (rg_job_run){
        .code = code < 0 ? RG_LACKS : code,
        .wall_s = rg_seconds() - began_s,
        .cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
            1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
        .preempted = used.ru_nivcsw,
        .peak_bytes = 1024.0 * (double)used.ru_maxrss,
        .gpu_peak_bytes = gpu_peak_bytes,
    };
}

int rg_job_folder_make(char folder[4096]) {
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, 4096, "%.3000s/regather-job-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    return mkdtemp(folder) ? RG_GOOD : rg_fail(RG_USAGE, "%s: cannot be made: %s", folder, strerror(errno));
}

void rg_job_folder_remove(const char *folder) { rg_shell("rm -rf -- \"$0\"", folder); }

char *rg_job_put(const char *text, const char *word, const char *another) {
    char *put = NULL;
    size_t bytes;
    FILE *f = open_memstream(&put, &bytes);
    for (const char *at; (at = strstr(text, word)); text = at + strlen(word))
        fprintf(f, "%.*s%s", (int)(at - text), text, another);
    fputs(text, f);
    fclose(f);
    return put;
}

char *rg_job_put_out(const char *text, const char *word, const char *folder) {
    RG_FREED char *out = rg_print("%s/out", folder);
    return rg_job_put(text, word, out);
}

rg_job_run rg_job_run_once(const char *program, const char *command, const char *folder, int gpus) {
    RG_FREED char *log = rg_print("%s/log", folder), *words = rg_print("exec \"$0\" %s --quiet", command),
                  *line = rg_job_put_out(words, "{out}", folder);
    rg_shell("rm -rf -- \"$0\"/out*", folder);
    rg_job_run run = run_line(line, program, log, gpus);
    if (run.code) rg_last_line(log, "", run.said, sizeof run.said);
    run.said[strcspn(run.said, "\t")] = '\0';
    return run;
}

const char *rg_job_run_again(
    const char *program, const char *command, char first[4096], const char *folder, int gpus, rg_job_run *run) {
    const bool is_first = !*first;
    *run = (rg_job_run){.code = RG_USAGE, .said = "there is no folder for its outputs"};
    if (is_first && rg_job_folder_make(first)) return *first = '\0', folder;
    if (is_first) folder = first;
    *run = rg_job_run_once(program, command, folder, gpus);
    return folder;
}
