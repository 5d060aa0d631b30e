// SPDX-License-Identifier: MIT
// claims.h: private to claims*.c: a claim as it is judged, and the kinds that look at more than two rows.
#ifndef RG_CLAIMS_H
#define RG_CLAIMS_H

#include "../report.h"

typedef struct rg_asked_claim {
    const rg_bench_machine *machine;
    const rg_job_files *job;
    const char *a, *b, *size, *scopes, *direction;
    const char *unit; // of the published number
    double low, high;
} rg_asked_claim;

rg_judgement rg_untested(void);
void rg_judge_number(const rg_asked_claim *, rg_judgement *);   // outcome and why, from value and its interval
void rg_say_where(const rg_measure *a, const rg_measure *b, rg_judgement *);
void rg_say_missing(const rg_bench_machine *, const char *spec, char *text, size_t room);
void rg_print_ratio(double ratio, char text[32]); // three digits, without a power of ten

rg_judgement rg_judge_ratio(const rg_asked_claim *);
// claims_sizes.c: how a ratio (or a rate, when b is empty) changes from one shape to another ("SMALL;BIG" in size).
rg_judgement rg_judge_growth(const rg_asked_claim *);
// The sum of the errors of two variants, whose results differ by no more, as a part of the sum of what is allowed them.
rg_judgement rg_judge_agree(const rg_asked_claim *);
rg_judgement rg_judge_configs(const rg_asked_claim *); // parameter sets of one variant that passed, at one shape
rg_judgement rg_judge_energy(const rg_asked_claim *);  // ratio of the joules of a call
// claims_tables.c: cells of tables, "TABLE key=value COLUMN"; and where two FSC curves fall below one half.
rg_judgement rg_judge_cell(const rg_asked_claim *);
rg_judgement rg_judge_least(const rg_asked_claim *); // smallest number of a column, "TABLE COLUMN"
rg_judgement rg_judge_crossing(const rg_asked_claim *);

#endif
