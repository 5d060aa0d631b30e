// SPDX-License-Identifier: MIT
// command.c: runs a command.
#include "command.h"
#include "../base/hash.h"
#include "../base/log.h"
#include "../base/summary.h"
#include "../gpu/device.h"
#include "cpu.h"
#include "predicted.h"
#include "table.h"

#include <pthread.h>

// A device that is named must exist: no job silently continues without it.
static int check_device(const char *name) {
    char why[200];
    if (!name) return RG_GOOD;
    int index = rg_device_index(name);
    if (index == RG_DEVICE_UNKNOWN)
        return rg_fail(RG_USAGE, "--device: expected gpu, gpu0, gpu1, ..., host or cpu, found \"%s\"", name);
    int there = index < 0 ? 0 : rg_gpu_count(why);
    if (index < there || index < 0) return RG_GOOD;
    return there ? rg_fail(RG_LACKS, "--device %s: this machine has gpu0 to gpu%d", name, there - 1)
                 : rg_fail(RG_LACKS, "--device %s: %s", name, why);
}

static int run_kind(const rg_command *command, int argc, char **argv) {
    const size_t name = strlen(command->name) + 1; // a kind is called "phantom tilt"
    char words[96];
    rg_near near = {0};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        rg_command_help(command, stdout);
        return RG_GOOD;
    }
    for (const rg_command *const *kind = command->kind; *kind && argc > 1; kind++) {
        if (!strcmp((*kind)->name + name, argv[1])) return rg_command_run(*kind, argc - 1, argv + 1);
        rg_nearer(argv[1], strlen(argv[1]), (*kind)->name + name, &near);
    }
    return rg_fail(RG_USAGE, "%s: expected a KIND first, found \"%s\"; %s'regather %s --help' lists them", command->name,
        argc > 1 ? argv[1] : "nothing", rg_near_words(&near, "", words), command->name);
}

// Checks before the work that the page can be written where it was requested; its default is beside the output.
static int begin_summary(const rg_command *command, const void *options) {
    const rg_given *given = options;
    RG_FREED char *path = rg_rank > 0 ? NULL : rg_summary_path(command, options); // also for a plan: it says what a page needs
    int code = path && given->page && !given->dry_run ? rg_file_can_write(path) : RG_GOOD;
    rg_summary_begin(path, !rg_quiet && !given->dry_run);
    return code;
}

static int end_summary(const rg_command *command, const void *options) {
    const rg_given *given = options;
    char cpu[128];
    rg_summary_say(command, options);
    rg_cpu_model(cpu);
    rg_summary_did("machine", "%s, %lld core%s for this process", cpu, (long long)given->cores, rg_plural(given->cores));
    rg_summary_did("program", "regather " RG_VERSION ", revision %s, compiled by %s " __VERSION__, rg_revision(),
        __VERSION__[0] >= '0' && __VERSION__[0] <= '9' ? "GCC" : "");
    return rg_summary_write(command, options);
}

// Waiting threads of libgomp spin for milliseconds and take cores from working threads, unless libgomp has more threads than
// there are processors. Two sleeping threads make this so where a job has one thread per processor.
static void *sleep_for_ever(void *none) {
#pragma omp parallel num_threads(2)
    for (;;) pause();
    return none;
}

static void let_threads_sleep(void) {
    pthread_t thread;
    if (HAVE_OPENMP && !pthread_create(&thread, NULL, sleep_for_ever, NULL)) pthread_detach(thread);
}

int rg_command_run(const rg_command *command, int argc, char **argv) {
    void *options;
    if (command->kind) return run_kind(command, argc, argv);
    rg_files_begin();
    int code = rg_options_parse(command, argc, argv, &options);
    rg_given *given = options;
    if (!code && given->help) {
        rg_command_help(command, stdout);
    } else if (!code) {
        rg_quiet = rg_rank > 0 || given->quiet;
        given->cores = rg_cpu_cores();
        if (command->one_process || (command->no_forks && command->no_forks(options))) rg_gpu_query_here();
        code = check_device(given->device_typed);
        for (int i = 0; !code && i < given->plugin.n; i++) code = rg_plugin_load(given->plugin.item[i]);
        rg_dry_run = given->dry_run;
        if (!code && command->page) code = begin_summary(command, options);
        if (!code && command->job) let_threads_sleep();
        if (!code) code = command->run(options);
        rg_predicted_log();
        if (!code && given->dry_run && rg_rank == 0)
            rg_plan_files(command, options);
        else if (!code && command->job && rg_rank == 0) {
            code = end_summary(command, options);
            code = code ? code : rg_log_write(command, options);
        }
        if (command->page) rg_summary_end();
    }
    rg_options_free(command, options);
    rg_hash_end();
    rg_files_end();
    return code;
}
