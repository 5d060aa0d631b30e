// SPDX-License-Identifier: MIT
// trace.h: the parts of `regather trace`, private to verify/.
//
//     trace.c         runs a variant with one input on at a time (by worker.c), judges every pair of input and output
//     trace_place.c   coordinates of elements, the filters --input and --output, what faults have in common
//     trace_write.c   the table of pairs, the points of the picture, the picture
//     trace_object.c  --real-space: the object's map and the right one
//     trace_cases.c   --cases
//     trace_cmd.c     the command
#pragma once

#include "../checker/checker.h"

// The verdict on a pair. The weight of a pair is the change of the output when the input is switched on; the expected weight is
// the reference's. Right: within the variant's tolerance. Missing: zero (or never written) where a weight is expected. Doubled:
// twice the expected weight. Misplaced: a weight where none is expected, or the one expected of another output of this input;
// all wrong weights of an input are misplaced if at least a quarter of the weight is lost at some outputs and gained at others.
// Weight: any other.
typedef enum { RG_W_RIGHT, RG_W_MISSING, RG_W_DOUBLED, RG_W_MISPLACED, RG_W_WEIGHT, RG_TRACE_WORDS } rg_trace_word;
extern const char *const rg_trace_word_name[RG_TRACE_WORDS];

typedef struct rg_trace_pair {
    int64_t input; // element of the traced argument; -1: the output itself, with all inputs off
    int which;     // the output argument
    int64_t output;
    double weight, expected;
    rg_trace_word word;
    bool turned; // the weight is right except for its sign
} rg_trace_pair;

// The variant to trace, and how.
typedef struct rg_trace_how {
    const rg_entry *entry;
    rg_shape shape;
    int64_t param[RG_PARAMS_MAX];
    int threads;
    rg_verify_options options;
} rg_trace_how;

// All pairs of the chosen inputs in which either weight is not 0, grouped by input.
typedef struct rg_pairs {
    const rg_algo *algo;
    rg_shape shape;
    rg_verdict ran; // PASS: all were run with guards and inputs intact
    bool all;       // all were run: the fault of the verdict came later
    int64_t n_inputs, n;
    rg_trace_pair *pair;
    char stands_for[64]; // "y-1": most wrong inputs reach the outputs of the input one row above; "": no such rule
} rg_pairs;

// ---- trace.c -------------------------------------------------------------------------------------------------------------

int rg_trace_open(void); // call before the first worker. RG_GOOD, or one line and RG_LACKS
// Runs these inputs and collects the pairs with these outputs. RG_GOOD, or one line and RG_USAGE: there are none, or too many
// for the memory.
struct rg_filter;
int rg_trace_run(const rg_trace_how *, const struct rg_filter *inputs, const struct rg_filter *outputs, rg_pairs *);
// Sets stands_for; needs the answers of the last run.
void rg_trace_stand_in(const rg_trace_how *, rg_pairs *);
void rg_pairs_free(rg_pairs *);
void rg_pairs_count(const rg_pairs *, int64_t count[RG_TRACE_WORDS]);
const char *rg_pairs_verdict(
    const rg_pairs *); // "right", the word of most faults, "not clean" (an illegal access), or "not all were run"
const rg_trace_pair *rg_pairs_first(
    const rg_pairs *); // the first pair that is not right, preferring those with an input on; or NULL
// Runs the object of the algorithm. found and expected receive the outputs, a buffer per argument, valid until the next run.
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

// "x=0,y=-3,im": selects the places with these coordinates, whatever the others are.
typedef struct rg_filter {
    int n;
    char name[RG_COORDINATES][12];
    int64_t value[RG_COORDINATES];
    char part[12];
} rg_filter;
bool rg_filter_parse(const char *text, rg_filter *, char why[160]); // NULL: every place
bool rg_filter_has(const rg_filter *, const rg_algo *, const rg_shape *, int which, int64_t element);
void rg_pairs_keep(rg_pairs *, const rg_filter *outputs);

// Writes what all faults share and other pairs do not: "output x=0; the sign is turned"; "": nothing.
void rg_pairs_hint(const rg_pairs *, char text[200]);
// Writes the few coordinates at which no pair is right, while some are at the others: "input y=3, output Y0=-3"; "": none.
void rg_pairs_never(const rg_pairs *, char text[200]);

// ---- trace_write.c, trace_object.c, trace_cases.c --------------------------------------------------------------------------

// Writes STEM.tsv, STEM.points.tsv and, with gnuplot, STEM.svg and STEM.png. object: path of the object's slices, or NULL.
int rg_trace_write(const rg_trace_how *, const rg_pairs *, const char *stem, const char *object, const char *command);
void rg_words_print(const int64_t count[RG_TRACE_WORDS], char text[160]); // "12 right, 3 missing"
// Writes STEM.object.tsv; *rms_percent: the distance of the map from the right one, in per cent of its rms.
int rg_trace_object_write(const rg_trace_how *, const char *stem, double *rms_percent);
// Traces all case shapes; prints the table, and writes it to STEM.cases.tsv unless stem is NULL. *wrong: number of faults.
int rg_trace_cases(rg_trace_how, const char *stem, const char *command, int64_t *wrong);
