// SPDX-License-Identifier: MIT
// options.h: the command line as data. An option is declared once, in a row that has its type, unit, range, default and place
// in the command's own struct; the parser, its checks, --help, regather(1) and the test that types wrong values are made from
// it.
#pragma once

#include "core.h"

typedef struct rg_list {
    int n;
    const char **item;
} rg_list;
typedef struct rg_mask {
    uint32_t bits;
} rg_mask;

// What an option's value is; it follows from the type of its place, see RG_TO.
typedef enum {
    RG_FLAG,    // bool
    RG_INTEGER, // int64_t, uint64_t
    RG_REAL,    // double
    RG_PAIR,    // double[2]: "A:B" or "A,B", as `arg` has it between its two words; one number stands for both
    RG_TEXT,    // const char *
    RG_TEXTS,   // rg_list: may be repeated
    RG_CHOICE,  // int or an enum: the place, from 0, of the word among those that `arg` lists, as in "raw|overlap|centred"
    RG_CHOICES, // rg_mask: a bit for each of them; several with commas, or repeated
    RG_GROUP,   // no option but those of `group`, whose struct stands at that place
} rg_kind;

typedef struct rg_option {
    const char *name; // "max-offset"
    const char *arg;  // "R", the words of a RG_CHOICE; NULL of a flag
    const char *doc;  // without unit, range, default and what it needs, which --help adds
    rg_kind kind;
    size_t at;             // where in the struct
    long double low, high; // of numbers, both included
    const char *standard;  // as it would be typed; NULL: 0 or NULL, NaN of a real, -1 of a word
    const char *unit;      // "degrees"
    const char *otherwise; // the default in words, where it follows from the input or from other options: "the width"
    const char *needs;     // "out": that option too; "method=frealign": only with that word; ".par": only with such a file
    const char *endings;   // of a file's name, in what order it is liked: ".mrc .map"; another name is refused
    const char *beside; // of a file that is written: those that go with it, "_stages.tsv .svg?gnuplot"; behind each "?" what it
                        // takes: an option, "method=frealign", or a program that is here
    const char *excludes; // options that it cannot stand beside, a blank between two
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
    {                                                                                                                          \
        .name = "", .kind = RG_GROUP, .at = offsetof(type, member), .group = table                                             \
    }

// What every command is given: the first member of its struct.
typedef struct rg_given {
    const char *line; // the whole command as typed, for the heads of files
    char **argv;      // its words, ended by NULL; argv[0] is the command's name
    rg_list word;     // what is no option
    rg_list plugin;
    const char *device, *device_typed; // "gpu" when it was not typed; then device_typed is NULL
    int64_t threads;                   // 0: not typed
    int64_t cores;                     // that this process may use
    uint64_t seed;
    bool help, quiet, dry_run, no_page;
    const char *page; // --page; NULL: not typed
} rg_given;
// The words with a blank between two, "" without any. RG_GOOD, or one line and RG_USAGE when they are longer.
int rg_given_words(const rg_given *, char *text, size_t size);
static inline int rg_given_threads(const rg_given *g) { return (int)(g->threads ? g->threads : g->cores); }

// Who computes: --gpus and --variant of every job.
typedef struct rg_computing {
    int64_t gpus;           // 0: all that --device names
    rg_list variant;        // NAME[:PARAMETERS], or ALGO:NAME[:PARAMETERS]
    const char *gpu_memory; // also REGATHER_GPU_MEMORY, from where the devices' ledger has it; NULL: not typed
} rg_computing;
extern const rg_option rg_computing_options[];
// The one --variant of a job that computes with one algorithm, without "ALGO:"; NULL: not typed. RG_GOOD, or one line and
// RG_USAGE.
int rg_computing_variant(const rg_computing *, const char *algo, const char **variant);
// How many GPUs share the work, of `there` that it can use, 0: none, it computes on the CPU. RG_GOOD, or one line and a code.
int rg_computing_gpus(const rg_computing *, int there, int *gpus);

typedef struct rg_command {
    const char *name;
    const char *words;       // what stands before the options: "PHOTO...", "A.mrc B.mrc", "[ALGO[:VARIANT]]"
    const char *summary;     // one line
    const char *help;        // paragraphs, plain text
    const rg_option *option; // besides the common ones; ended by a NULL name
    size_t bytes;            // of the struct that begins with an rg_given
    int (*run)(void *);      // it, zeroes but for the options
    bool job;                // --out FILE or DIR, --dry-run, and a log beside what it writes
    bool page;               // a job: it says in a page what it did and found (summary.h)
    bool one_process;        // a job: no fork() that goes on computing, so that the GPU's driver may start in this process
    bool (*no_forks)(const void *options); // the same, where it follows from the options
    const struct rg_command *const *kind;  // commands of their own, named "phantom tilt"; ended by NULL
    const struct rg_command *of;           // of a kind: the command
} rg_command;

// Options of a command as the user sees them, groups resolved, the common ones last; returns how many.
typedef struct rg_placed {
    const rg_option *option;
    size_t at;
} rg_placed;
enum { RG_OPTIONS_MAX = 64 };
int rg_options_of(const rg_command *, rg_placed placed[RG_OPTIONS_MAX]);

// The command's struct from its command line, argv[0] being its name; free it with rg_options_free, also after a failure.
// RG_GOOD, or one line and RG_USAGE. With --help nothing else is asked for.
int rg_options_parse(const rg_command *, int argc, char **argv, void **options);
void rg_options_free(const rg_command *, void *options);
// An option whose default and range follow from the input: NaN becomes the default. RG_GOOD, or one line and RG_USAGE.
int rg_option_within(const char *name, double *value, double standard, double low, double high);

void rg_command_help(const rg_command *, FILE *);
void rg_command_man(const rg_command *const *, FILE *); // regather(1) in man macros, from the same data

// The name nearest to a word that is none: begin with {0}, offer every name; name stays NULL when none is near.
typedef struct rg_near {
    const char *name;
    int distance;
} rg_near;
void rg_nearer(const char *word, size_t length, const char *name, rg_near *near);
// "did you mean --shape? ", the dashes being `before`; nothing where no name is near.
const char *rg_near_words(const rg_near *, const char *before, char text[96]);
