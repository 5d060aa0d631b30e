// SPDX-License-Identifier: MIT
// process.h: child processes: started, waited for across interrupts, their end as one number.
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct rg_child {
    const char *program;
    const char *const *word;   // its arguments, the first its name; ended by NULL
    const char *log;           // a file that gets stdout and stderr, stdin is empty; NULL: all three as here
    void (*prepare)(void *of); // called in the child, before the program: environment, processors; NULL: nothing
    void *of;
} rg_child;
// The process, or -1. A program that cannot be started ends as 127. Other files that are open here are the child's too, unless
// they are opened with O_CLOEXEC.
pid_t rg_child_start(const rg_child *);
// Waits until it has ended: its exit status, 128 + the signal that ended it, or -1 where there is no such child. used: the time and
// memory of it and of those that it has waited for; NULL: not asked.
int rg_child_wait(pid_t, struct rusage *used);
// The same of one that may still run; false: it does.
bool rg_child_ended(pid_t, int *code);
// Starts and waits; -1 where it cannot be started. rg_shell: a line for sh, with its $0.
int rg_child_run(const rg_child *);
int rg_shell(const char *line, const char *zero);
// The last line of a log that is not empty and begins so, "" any; "" where there is none.
void rg_last_line(const char *path, const char *begins, char *line, size_t bytes);
