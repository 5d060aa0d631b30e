// SPDX-License-Identifier: MIT
// test_mpirun.h: for test programs that start several processes of a job.
#pragma once

#include "../../impl/base/core.h"
#include "test_build.h"

#include <sys/wait.h>

// mpirun with more processes than cores, also for root, also in a container; NULL if it is missing.
static inline const char *test_mpirun(void) {
    static char *path;
    static const char *const variable[][2] = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        {"OMPI_MCA_rmaps_base_oversubscribe", "1"}, {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
        // MPI's libraries do not free all their memory; the program handles signals and failed allocations itself
        {"ASAN_OPTIONS", "detect_leaks=0:handle_segv=0:allocator_may_return_null=1"}};
    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) setenv(variable[i][0], variable[i][1], 1);
    path = path ? path : rg_program_path("mpirun");
    return HAVE_MPI ? path : NULL;
}

// The exit code of a shell command.
static inline int test_shell(const char *line) {
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define SKIP_WITHOUT_MPIRUN()                                                                                                  \
    do {                                                                                                                       \
        if (!test_mpirun()) {                                                                                                  \
            print_message("skipped: %s\n", HAVE_MPI ? "no mpirun here" : "built without MPI");                                 \
            skip();                                                                                                            \
        }                                                                                                                      \
    } while (0)
