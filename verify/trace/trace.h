// SPDX-License-Identifier: MIT
// trace.h: the parts of `regather trace`, private to verify/.
//
//     trace.c         runs a variant with one input on at a time (by worker.c) and judges every pair of input and output
//     trace_place.c   where elements stand: coordinates, what --input and --output choose, what faults have in common
//     trace_write.c   the table of pairs, the points of the picture, the picture
//     trace_object.c  --real-space: the object's map beside the right one
//     trace_cases.c   --cases
//     trace_cmd.c     the command
#pragma once

#include "../checker/checker.h"

// What is said of a pair. The weight of a pair is what switching the input on changes in the output, expected the same of the
// reference. Right: within the variant's tolerance. Missing: nothing where something is expected (or never written). Doubled:
// twice what is expected. Misplaced: something where nothing is expected, or what is expected of another output of this input;
// all wrong weights of an input are, when a quarter of them or more is lost at some outputs and gained at others. Weight: any
// other.
typedef enum { RG_W_RIGHT, RG_W_MISSING, RG_W_DOUBLED, RG_W_MISPLACED, RG_W_WEIGHT, RG_TRACE_WORDS } rg_trace_word;
extern const char *const rg_trace_word_name[RG_TRACE_WORDS];

typedef struct rg_trace_pair {
    int64_t input; // element of the traced argument; -1: with none on the output itself is looked at
    int which;     // argument of the output
    int64_t output;
    double weight, expected;
    rg_trace_word word;
    bool turned; // the weight is right but for its sign
} rg_trace_pair;

// How a variant is to be traced.
typedef struct rg_trace_how {
    const rg_entry *entry;
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    int threads;
    rg_verify_options options;
} rg_trace_how;

// All pairs of the inputs asked for in which either weight is not 0, input by input.
typedef struct rg_pairs {
    const rg_algo *algo;
    rg_shape shape;
    rg_verdict ran; // PASS when all were run with guards and inputs intact
    bool all;       // were run: what the verdict says came after them
    int64_t n_inputs, n;
    rg_trace_pair *pair;
    char stands_for[64]; // "y-1": most wrong inputs reach what the input one row above should; "" when that is not so
} rg_pairs;

// ---- trace.c -------------------------------------------------------------------------------------------------------------

int rg_trace_open(void); // before the first worker. RG_GOOD, or one line and RG_LACKS
// The pairs of these inputs and outputs. RG_GOOD, or one line and RG_USAGE when there are none, or too many for the memory.
struct rg_filter;
int rg_trace_run(const rg_trace_how *, const struct rg_filter *inputs, const struct rg_filter *outputs, rg_pairs *);
// Sets stands_for, as long as the answers of the last run are there.
void rg_trace_stand_in(const rg_trace_how *, rg_pairs *);
void rg_pairs_free(rg_pairs *);
void rg_pairs_count(const rg_pairs *, int64_t count[RG_TRACE_WORDS]);
const char *rg_pairs_verdict(
    const rg_pairs *); // "right", the word of most faults, "not clean" for an access that was caught, or "not all were run"
const rg_trace_pair *rg_pairs_first(const rg_pairs *); // the first that is not right, those with an input on first; NULL: none
// Runs the object of the algorithm; found and expected get the outputs, one buffer an argument, valid until the next run.
rg_verdict rg_trace_object(const rg_trace_how *, void *found[RG_ARGS_MAX], void *expected[RG_ARGS_MAX]);

// ---- trace_place.c -------------------------------------------------------------------------------------------------------

enum { RG_COORDINATES = 6 };
typedef struct rg_place {
    int n;
    char name[RG_COORDINATES][12]; // "x"
    int64_t value[RG_COORDINATES];
    char part[12]; // "re", "im" or ""
    char text[64]; // "i=0,x=3,y=-2,re"
} rg_place;
void rg_place_of(const rg_algo *, const rg_shape *, int which, int64_t element, rg_place *); // element -1: "none on"
void rg_place_step(const rg_place *from, const rg_place *to, char text[64]);                 // "x+1,y-1", "im"
bool rg_place_get(const rg_place *, const char *name, int64_t *value);

// "x=0,y=-3,im": the places that have these coordinates, whatever the others are.
typedef struct rg_filter {
    int n;
    char name[RG_COORDINATES][12];
    int64_t value[RG_COORDINATES];
    char part[12];
} rg_filter;
bool rg_filter_parse(const char *text, rg_filter *, char why[160]); // NULL: every place
bool rg_filter_has(const rg_filter *, const rg_algo *, const rg_shape *, int which, int64_t element);
void rg_pairs_keep(rg_pairs *, const rg_filter *outputs);

// What all faults share and other pairs do not: "output x=0; the sign is turned"; "" when that is nothing.
void rg_pairs_hint(const rg_pairs *, char text[200]);
// The few coordinates at which no pair is right, while at the others some are: "input y=3, output Y0=-3"; "" when there is none.
void rg_pairs_never(const rg_pairs *, char text[200]);

// ---- trace_write.c, trace_object.c, trace_cases.c --------------------------------------------------------------------------

// STEM.tsv, STEM.points.tsv, and with gnuplot STEM.svg and STEM.png; object: path of the object's slices, NULL without.
int rg_trace_write(const rg_trace_how *, const rg_pairs *, const char *stem, const char *object, const char *command);
void rg_words_print(const int64_t count[RG_TRACE_WORDS], char text[160]); // "12 right, 3 missing"
// STEM.object.tsv, and how far the map is from the right one, in per cent of its rms.
int rg_trace_object_write(const rg_trace_how *, const char *stem, double *rms_percent);
// All case shapes; prints the table, and writes it to STEM.cases.tsv unless stem is NULL. *wrong counts faults.
int rg_trace_cases(rg_trace_how, const char *stem, const char *command, int64_t *wrong);
