// SPDX-License-Identifier: MIT
// source.h: hashes of the sources of variants and jobs. A kernel's times are stale exactly when its hash has changed.
#pragma once

#include "table.h"

typedef struct rg_source {
    const rg_variant *variant;
    const char *sha256; // of its file and the headers it includes, 16 digits
} rg_source;
extern const rg_source rg_sources[]; // of all built-in variants, ended by NULL; written by sources.sh

typedef struct rg_job_source {
    const char *command, *sha256; // of its code, the formats and the kernels that it may call
} rg_job_source;
extern const rg_job_source rg_job_sources[]; // of all commands in impl/jobs, ended by NULL

// "sha256 ..." for a built-in variant, "fnv1a ..." of a plug-in's shared object, else "unknown (reason)".
void rg_entry_source(const rg_entry *, char text[64]);
// "sha256 ..." for a job, by the name of its command, else "unknown (reason)".
void rg_job_source_of(const char *command, char text[64]);
