// SPDX-License-Identifier: MIT
// options.h: the command line as data. A row declares an option once: its type, unit, range, default and place in the command's
// struct. The parser, its checks, --help, regather(1) and the test that types wrong values are made from these rows.
#pragma once

#include "core.h"

typedef struct rg_list {
    int n;
    const char **item;
} rg_list;
typedef struct rg_mask {
    uint32_t bits;
} rg_mask;

// The type of an option's value, which follows from the type of its place, see RG_TO.
typedef enum {
    RG_FLAG,    // bool
    RG_INTEGER, // int64_t, uint64_t
    RG_REAL,    // double
    RG_PAIR,    // double[2]: "A:B" or "A,B", with the separator of `arg`; a single number counts for both
    RG_TEXT,    // const char *
    RG_TEXTS,   // rg_list: may be repeated
    RG_CHOICE,  // int or an enum: the index, from 0, of the word in the list of `arg`, "raw|overlap|centred"
    RG_CHOICES, // rg_mask: a bit for each word; several are separated by commas, or repeated
    RG_GROUP,   // not an option but those of `group`, whose struct is at that place
} rg_kind;

typedef struct rg_option {
    const char *name; // "max-offset"
    const char *arg;  // "R", the words of an RG_CHOICE; NULL: a flag
    const char *doc;  // without unit, range, default and requirements, which --help adds
    rg_kind kind;
    size_t at;             // offset in the struct
    long double low, high; // range of numbers, both ends included
    const char *standard;  // the default as a user types it; NULL: 0 or NULL, NaN for a real, -1 for a word
    const char *unit;      // "degrees"
    const char *otherwise; // the default in words, if it depends on the input or on other options: "the width"
    const char *needs;     // "out": that option too; "method=frealign": only with that word; ".par": only with such a file
    const char *endings;   // extensions of a file's name, preferred first: ".mrc .map"; others are refused
    const char *beside;    // of an output file: the files beside it, "_stages.tsv .svg?gnuplot"; after "?" their
                           // condition: an option, "method=frealign", or an installed program
    const char *excludes;  // options that it excludes, separated by blanks
    bool required;
    const struct rg_option *group;
} rg_option;

// Kind and place of an option: RG_TO(ac_job, norm). A type that no option has does not compile.
#define RG_TO(type, member)                                                                                                    \
    .kind = _Generic(((type *)0)->member, bool: RG_FLAG, int64_t: RG_INTEGER, uint64_t: RG_INTEGER, double: RG_REAL,           \
                     double *: RG_PAIR, const char *: RG_TEXT, rg_list: RG_TEXTS, int: RG_CHOICE, unsigned: RG_CHOICE,             \
                     rg_mask: RG_CHOICES),                                                                                    \
    .at = offsetof(type, member)
#define RG_OPTIONS_OF(table, type, member)                                                                                     \
    { .name = "", .kind = RG_GROUP, .at = offsetof(type, member), .group = table }

// The input of every command: the first member of its struct.
typedef struct rg_given {
    const char *line; // the whole command as typed, for the heads of files
    char **argv;      // its words, ended by NULL; argv[0] is the command's name
    rg_list word;     // words that are not options
    rg_list plugin;
    const char *device, *device_typed; // device: "gpu" if not given; device_typed: then NULL
    int64_t threads;                   // 0: not given
    int64_t cores;                     // cores that this process may use
    uint64_t seed;
    bool help, quiet, dry_run, no_page;
    const char *page; // --page; NULL: not given
} rg_given;
// Joins the words with blanks, "" if there are none. RG_GOOD, or one line and RG_USAGE if text is too small.
int rg_given_words(const rg_given *, char *text, size_t size);
static inline int rg_given_threads(const rg_given *g) { return (int)(g->threads ? g->threads : g->cores); }

// Options of every job about devices and variants: --gpus, --variant, --gpu-memory.
typedef struct rg_computing {
    int64_t gpus;           // 0: all that --device names
    rg_list variant;        // NAME[:PARAMETERS], or ALGO:NAME[:PARAMETERS]
    const char *gpu_memory; // stored in REGATHER_GPU_MEMORY, where the devices' ledger reads it; NULL: not given
} rg_computing;
extern const rg_option rg_computing_options[];
// The --variant of a job with one algorithm, without "ALGO:"; NULL: not given. RG_GOOD, or one line and RG_USAGE.
int rg_computing_variant(const rg_computing *, const char *algo, const char **variant);
// The number of GPUs that share the work, of `there` that the job can use; 0: it computes on the CPU. RG_GOOD, or one line and
// a code.
int rg_computing_gpus(const rg_computing *, int there, int *gpus);

typedef struct rg_command {
    const char *name;
    const char *words;                     // the words before the options: "PHOTO...", "A.mrc B.mrc", "[ALGO[:VARIANT]]"
    const char *summary;                   // one line
    const char *help;                      // paragraphs, plain text
    const rg_option *option;               // its own options, without the common ones; ended by a NULL name
    size_t bytes;                          // size of the struct that begins with an rg_given
    int (*run)(void *);                    // runs the command; the struct is 0 except for the options
    bool job;                              // has --out FILE or DIR, --dry-run, and a log beside its output
    bool page;                             // a job: writes a page about what it did and found (summary.h)
    bool one_process;                      // a job: no forked child computes, so the GPU's driver may start in this process
    bool (*no_forks)(const void *options); // the same, if it depends on the options
    const struct rg_command *const *kind;  // subcommands, named "phantom tilt"; ended by NULL
    const struct rg_command *of;           // for a subcommand: its command
} rg_command;

// Lists the options of a command as the user sees them, groups expanded, the common ones last; returns their number.
typedef struct rg_placed {
    const rg_option *option;
    size_t at;
} rg_placed;
enum { RG_OPTIONS_MAX = 64 };
int rg_options_of(const rg_command *, rg_placed placed[RG_OPTIONS_MAX]);

// Makes the command's struct from its command line, where argv[0] is its name; free it with rg_options_free, also after a
// failure. RG_GOOD, or one line and RG_USAGE. With --help nothing else is required.
int rg_options_parse(const rg_command *, int argc, char **argv, void **options);
void rg_options_free(const rg_command *, void *options);
// Checks an option whose default and range follow from the input: NaN becomes the default. RG_GOOD, or one line and RG_USAGE.
int rg_option_within(const char *name, double *value, double standard, double low, double high);

void rg_command_help(const rg_command *, FILE *);
void rg_command_man(const rg_command *const *, FILE *); // writes regather(1) in man macros, from the same data

// Finds the name nearest to an unknown word: start with {0}, call rg_nearer for every name; name stays NULL if none is near.
typedef struct rg_near {
    const char *name;
    int distance;
} rg_near;
void rg_nearer(const char *word, size_t length, const char *name, rg_near *near);
// "did you mean --shape? ", with `before` the dashes; "": no name is near.
const char *rg_near_words(const rg_near *, const char *before, char text[96]);
