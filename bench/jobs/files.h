// SPDX-License-Identifier: MIT
// files.h: what a job reads and what it writes.
#pragma once

#include <stdbool.h>

// Of the files that the words of a command name, and of the stacks that their STAR files name: "fnv1a 0123456789abcdef of 3
// files", or "unknown (reason)".
void rg_job_inputs_hash(const char *command, char text[96]);

// The outputs below two folders, file by file: what differs from run to run and is no result is left out (times of stages,
// plots, what names the run in heads and labels).
typedef struct rg_job_outputs {
    int files, differ; // all, and those that are not the same
    double largest; // difference of two numbers: of maps over the map's largest value, of tables over the larger of both and 1;
                    // inf where files are not of one form
    char first[200]; // name of the first that differs
} rg_job_outputs;
rg_job_outputs rg_job_outputs_compare(const char *folder, const char *other);

// The names of a folder's outputs, in order, of those in folders below as "sub/name"; free it.
typedef struct rg_job_list {
    int n;
    char **name;
} rg_job_list;
rg_job_list rg_job_outputs_list(const char *folder);
void rg_job_list_free(rg_job_list *);
bool rg_job_is_map(const char *name); // by its ending
// SHA-256 of names and contents of all outputs below a folder, without what names the run.
void rg_job_outputs_hash(const char *folder, char hex[65]);
