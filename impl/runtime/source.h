// SPDX-License-Identifier: MIT
// source.h: which text a variant or a job was compiled from, as a hash: times of a kernel are stale exactly when it changed.
#pragma once

#include "table.h"

typedef struct rg_source {
    const rg_variant *variant;
    const char *sha256; // of its file and the headers that this includes, 16 digits
} rg_source;
extern const rg_source rg_sources[]; // of all built-in variants, ended by NULL; written by sources.sh

typedef struct rg_job_source {
    const char *command, *sha256; // of its code, the formats' and the kernels' that it may call
} rg_job_source;
extern const rg_job_source rg_job_sources[]; // of all commands in impl/jobs, ended by NULL

// "sha256 ..." of a built-in variant, "fnv1a ..." of the shared object of a plug-in, else "unknown (reason)".
void rg_entry_source(const rg_entry *, char text[64]);
// "sha256 ..." of a job, by the name of its command, else "unknown (reason)".
void rg_job_source_of(const char *command, char text[64]);
