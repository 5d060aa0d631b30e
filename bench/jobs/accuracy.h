// SPDX-License-Identifier: MIT
// accuracy.h: whether a job's outputs are right, and which of their values go into an archive to be computed again elsewhere.
#pragma once

#include "../procure/workload.h"

#include "../../impl/base/core.h"
#include "../../impl/base/sha256.h"

// The nonce is any word; the seed of inputs and samples is 63 bits of its SHA-256.
uint64_t rg_nonce_seed(const char *nonce);

// The error that workload.h defines, of a run that wrote FOLDER/out*, its input in IN. NaN where a file is missing or unlike.
double rg_job_error(const rg_work *, const char *in, const char *folder, uint64_t seed);

// At most RG_SAMPLES_A_FILE values of each of the first RG_SAMPLED_FILES files below a folder, at places that follow from the
// seed: of maps and images their values, of text its numbers. One line a value: "file<tab>place<tab>value", under these column
// names.
enum { RG_SAMPLES_A_FILE = 256, RG_SAMPLED_FILES = 64 };
char *rg_job_samples(const char *folder, uint64_t seed);

// Two such tables: rows whose files or places differ, or whose values do: by more than 1e-3 of the largest of that file, in
// text of the number itself or of 1; in transforms by 0.01 of it (a search ends a few thousandths of a pixel elsewhere when
// sums are rounded in another order), in poses by 0.02 of it or of 10. Of text and images RG_MAY_DIFFER may: grey values are
// rounded, angles wrap.
typedef struct rg_alike {
    int n, differ, files_differ; // files_differ: those with too many
    char first[160];             // "out.mrc at 1234: 0.5, here 0.7"
} rg_alike;
#define RG_MAY_DIFFER 0.05
rg_alike rg_samples_alike(const rg_tsv *theirs, const rg_tsv *here);
