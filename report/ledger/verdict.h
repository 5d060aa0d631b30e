// SPDX-License-Identifier: MIT
// verdict.h: the verdict on a claim, as data. Only report/words turns it into sentences.
#pragma once

#include "machine.h"

typedef enum {
    RG_REPRODUCED,   // between the bounds
    RG_ORDER,        // between bounds of half a decade either way
    RG_DIRECTION,    // outside the bounds; the whole interval is on the paper's side
    RG_CONTRADICTED, // the whole interval is on the other side, or a FAIL
    RG_EXISTS,       // shown to run or to exist; no number of the paper is compared
    RG_NOT_CALLED,   // measured, but without an interval or with one that allows both answers
    RG_NOT_TESTABLE, // not measured here: no such device, not run
    RG_INCONSISTENT, // the paper's own numbers or formulae disagree
    RG_CRITICISED,   // consistent, but a reader should know
    RG_OUTCOMES
} rg_outcome;

// A part of a text that outlives the verdict: of claims.tsv, of a row, of a table.
typedef struct rg_text {
    const char *at;
    int n;
} rg_text;

// The reason of a verdict, with its operands text[] and number[] in this order.
typedef enum {
    RG_BY_NOTHING,         // a defect of the paper
    RG_BY_NUMBER,          // value and interval against the claim's side and bounds
    RG_BY_NO_LIMIT,        // no number could contradict it
    RG_BY_UNKNOWN_KIND,    // kind
    RG_BY_BAD_SPEC,        // text of claims.tsv that is not TABLE key=value COLUMN
    RG_BY_BAD_TURNS,       // text of claims.tsv that is not PREFIX;FIRST;LAST;COUNT
    RG_BY_NO_ROW,          // spec
    RG_BY_STATUS,          // spec, status, why it has no time, the detail
    RG_BY_ONE_ROW,         // both sides are one row
    RG_BY_NO_COMMON_SIZE,  // of two sides
    RG_BY_NO_COMMON_SCOPE, // of two sizes
    RG_BY_FEW_TRIED,       // number of configurations, number expected
    RG_BY_UNEQUAL_WORK,    // pieces of a, of b
    RG_BY_MIXED_STAGES,
    RG_BY_OTHER_SIZE, // spec, size at which it was not timed
    RG_BY_NO_CURVE,
    RG_BY_REACH,      // least part of the width; list of specs without a curve
    RG_BY_FAILED_ROW, // shape
    RG_BY_EQUAL,
    RG_BY_UNCHECKED, // list of unchecked specs
    RG_BY_CAUGHT,    // the checker's reason
    RG_BY_NOT_CAUGHT,
    RG_BY_RUNNING,
    RG_BY_NO_PLACE, // spec, other spec or "", shape, scopes
    RG_BY_TURNS_ONCE,
    RG_BY_FEW_TURNS,  // timed, needed
    RG_BY_NEVER_BOTH, // spec, spec
    RG_BY_WRONG,      // wrong configurations, number that must be right
    RG_BY_NO_ENERGY,  // variant, why, the other variant or "", its joules
    RG_BY_NO_TABLE,   // table
    RG_BY_FEW_IMAGES, // table; images (NaN: unknown), number expected
    RG_BY_NO_COLUMN,  // table, column
    RG_BY_NO_CELL,    // table, column, key, value, shape or ""
    RG_BY_NO_PHOTO,
    RG_BY_FEW_SERIES,
    RG_BY_NO_SECOND_RUN,
    RG_BY_NO_GROWTH,
    RG_BY_UNKNOWN_QUANTITY, // name
} rg_reason;
typedef struct rg_why {
    rg_reason reason;
    rg_text text[5];
    double number[2];
    char list[200]; // specs, separated by commas
} rg_why;

// Further measured quantities beside value and interval: number[] and text[] in this order.
typedef enum {
    RG_OURS_NOTHING,
    RG_OURS_RATIO,      // tried of a, of b; seconds: fixed of a, whole of a, fixed of b, whole of b (NaN)
    RG_OURS_RATE,       // images a second
    RG_OURS_SCALING,    // speed-up, cores
    RG_OURS_CURVES,     // R, curves, of how many
    RG_OURS_EQUAL,      // variants that are equal, of how many
    RG_OURS_UNEQUAL,    // spec, status
    RG_OURS_CAUGHT,     // largest error, 0: none was reported
    RG_OURS_TIME,       // ns
    RG_OURS_GROWTH,     // at the large size, at the small; unit of both, "": ratios
    RG_OURS_MEAN,       // turns; turns of the range that divides it, 0: none
    RG_OURS_AGREEMENT,  // error, sizes
    RG_OURS_CONFIGS,    // number of configurations
    RG_OURS_ENERGY,     // J a call of a, of b, W of a host in both
    RG_OURS_CELL,       // unit
    RG_OURS_CELLS,      // of a, of b
    RG_OURS_LEAST,      // rows
    RG_OURS_CROSSING,   // frequency of a, of b
    RG_OURS_PHOTOS,     // with R_max, of how many; pixels in the first, in the last
    RG_OURS_INTERCEPT,  // series
    RG_OURS_RECIPROCAL, // scatter of the spectrum's length, of R_max, as parts of the growth; series
    RG_OURS_DIFFERENCE, // runs, photos
} rg_form;
typedef struct rg_ours {
    rg_form form;
    rg_text text[2];
    double number[6];
} rg_ours;

typedef struct rg_judgement {
    rg_outcome outcome;
    double value, low, high; // our value and its interval; NaN: none
    rg_ours ours;
    rg_why why;
    char size[64], scope[40];
    double over_autovec;   // for a ratio to scalar C: the same ratio to autovec, NaN: not timed; else 0
    rg_knowledge rests_on; // the worst knowledge of rows that the outcome depends on
} rg_judgement;
