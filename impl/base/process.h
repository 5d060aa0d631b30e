// SPDX-License-Identifier: MIT
// process.h: starts child processes, waits for them across interrupts, and gives their end as one number.
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct rg_child {
    const char *program;
    const char *const *word;   // its arguments, the first its name; ended by NULL
    const char *log;           // receives stdout and stderr, stdin is empty; NULL: inherits all three
    void (*prepare)(void *of); // called in the child before the program starts: environment, processors; may be NULL
    void *of;
} rg_child;
// The process, or -1. A program that cannot be started exits with 127. The child inherits open files, unless they have O_CLOEXEC.
pid_t rg_child_start(const rg_child *);
// Waits for the child. Returns its exit status, 128 + the signal that ended it, or -1 if there is no such child. used, unless NULL,
// receives the time and memory of the child and of the children that it waited for.
int rg_child_wait(pid_t, struct rusage *used);
// The same without waiting; false: it still runs.
bool rg_child_ended(pid_t, int *code);
// Starts and waits; -1 if it cannot be started. rg_shell: a line for sh, with its $0.
int rg_child_run(const rg_child *);
int rg_shell(const char *line, const char *zero);
// The last line of a log that begins with this text and is not empty; "": none.
void rg_last_line(const char *path, const char *begins, char *line, size_t bytes);
