// SPDX-License-Identifier: MIT
// core.h: what every command shares: exit codes, the one way of complaining, the clock, progress, files written whole.
#pragma once

// Of the C library, what most sources use: none that includes this header asks for them again.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RG_VERSION "0.2"

// Exit codes of every command (DESIGN).
enum { RG_GOOD = 0, RG_WRONG = 1, RG_USAGE = 2, RG_UNSURE = 3, RG_LACKS = 4 };

// Prints "regather: ..." as one line on stderr and returns code, so that callers write   return rg_fail(RG_USAGE, "...").
int rg_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same, and ends the program, in a thread that is silent, too: nobody else would say why.
void rg_end(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
// Bytes of the UTF-8 character at `text`, of `most` (below 0: up to its end), 0 where it is none (RFC 3629).
int rg_utf8(const char *text, int most, uint32_t *character);
bool rg_is_control(uint32_t character); // of ASCII, or of the 32 behind it
// What names and files say is data also to a terminal: their control bytes are printed as \xNN, here, by rg_fail and rg_warn,
// and by rg_tsv_print (tsv.h), which prints tables on stdout. So are bytes that are no UTF-8, and characters that turn the
// direction of writing. most: of text, -1 all.
void rg_put_text(FILE *, const char *text, int most);
// A word as sh reads it back: between quotes where it needs them.
void rg_put_word(FILE *, const char *word);
// A thread that looks ahead sets it while what it complains of may never be reached: rg_fail and rg_warn then print nothing.
extern _Thread_local bool rg_silent;
// Threads that do one task share it: of the lines of rg_fail among them only the first is printed. NULL: the thread is alone.
extern _Thread_local atomic_bool *rg_has_failed;
void rg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern void (*rg_warned)(const char *text); // is told of every warning; NULL: nobody

// ---- one job of several processes ----------------------------------------------------------------------------------------

// What jobs/pipeline/ranks.c sets where mpirun or srun started more than one.
extern int rg_rank;               // of this process; only 0 warns, draws progress and prints
extern int rg_processes_here;     // of the job on this machine, which share its memory
extern bool (*rg_may_fail)(void); // whether this process may print its error: one of them does; NULL: yes

// ---- time and progress ---------------------------------------------------------------------------------------------------

double rg_seconds(void); // monotonic

// One line on stderr, redrawn at most 5 times a second, first after 2 s; no terminal: a new one every 30 s. Not with --quiet.
// "verify autocorr 37/120  12.1/s  7 s left". rg_progress_end erases it.
typedef struct rg_progress {
    const char *what, *unit;
    double done, total, began_s, drawn_s;
    bool shown;
} rg_progress;
void rg_progress_begin(rg_progress *, const char *what, const char *unit, double total);
void rg_progress_at(rg_progress *, double done);
void rg_progress_end(rg_progress *);
extern bool rg_quiet;
// ANSI colour when f is a terminal and NO_COLOR is unset, else "". name: "green" "red" "yellow" "dim" "off".
const char *rg_colour(FILE *f, const char *name);

// ---- small helpers -------------------------------------------------------------------------------------------------------

void *rg_alloc(size_t bytes); // zeroed; on failure one line and exit RG_LACKS
// Before a declaration: where its block ends, `end` is called with its address; of pointers, NULL or malloc'ed, free with each.
#define RG_ENDS(end) __attribute__((cleanup(end)))
#define RG_FREED RG_ENDS(rg_freed)
void rg_freed(void *pointer);
// With room for an element of so many bytes behind its n; an array grows by this alone, from NULL. Fails as rg_alloc does.
void *rg_grow(void *array, int64_t n, size_t bytes);
// The pointer without its const, for an interface that lacks it and writes nothing there.
static inline void *rg_unconst(const void *p) { return (void *)(uintptr_t)p; }
// Reads what strtod reads, and says whether it is a finite number in decimals, which a microscopist's file has: strtod takes
// hexadecimal ones, "inf" and "nan" as well.
bool rg_decimal(const char *text, char **end, double *value);
int rg_ascending(const void *, const void *);                                  // of two doubles, for qsort and bsearch
char *rg_print(const char *format, ...) __attribute__((format(printf, 1, 2))); // malloc'ed text
char *rg_print_list(const char *format, va_list) __attribute__((format(printf, 1, 0)));
// Behind a counted word: "%d row%s", n, rg_plural(n).
static inline const char *rg_plural(int64_t n) { return n == 1 ? "" : "s"; }
// "w750,h1500,r250,k0" from and to a shape, for files; parse fails with a reason in why[]. For people, and read as well:
// "width=750,height=1500,max-offset=250,kind=cross".
struct rg_algo;
struct rg_shape;
void rg_shape_print(const struct rg_algo *, const struct rg_shape *, char text[96]);
void rg_shape_describe(const struct rg_algo *, const struct rg_shape *, char text[192]);
bool rg_shape_parse(const struct rg_algo *, const char *text, struct rg_shape *, char why[160]);
// "block=128;isa=2" for a variant's parameters ("-" when it has none), from and to values; missing ones take the default.
struct rg_variant;
void rg_params_print(const struct rg_variant *, const int64_t *param, char text[192]);
bool rg_params_parse(const struct rg_variant *, const char *text, int64_t *param, char why[160]);
bool rg_params_set(const struct rg_variant *, const char *text, int64_t *param, char why[160]); // missing ones stay as they are
void rg_params_standard(const struct rg_variant *, int64_t *param);

// A file written whole or not at all: rg_file_open gives a stream to PATH.regather-part in the same folder, rg_file_commit
// flushes, checks every error (a full disk shows here), renames, syncs the folder; rg_file_abandon removes it. Both free *file.
// PATH must be new or a regular file, and none that this command has read. The part is locked while it is open: a second run to
// the same PATH is refused; what a killed run left of it, the next one empties. Messages name the path.
typedef struct rg_file {
    FILE *stream;
    char *path, *part;
} rg_file;
int rg_file_open(rg_file *, const char *path);
int rg_file_commit(rg_file *);
int rg_file_end(rg_file *, int code); // committed when all went well, else abandoned; the code
void rg_file_abandon(rg_file *);
char *rg_file_bytes(
    const char *path, size_t *n);             // all that a file holds and a zero behind it, malloc'ed; NULL: it cannot be read
int rg_file_append(FILE *, const char *from); // what another file holds. RG_GOOD, or one line and RG_USAGE: it cannot be read
// Whether a file can be made there, asked before the work, once of each output and by one process of a run; NULL can. RG_GOOD, or
// one line and RG_USAGE. Until the command ends or opens it, the name is locked as above.
int rg_file_can_write(const char *path);
// A command's inputs are known from begin to end (rg_command_run calls them; they nest): rg_input_open tells of every file that
// it opens. One that is read to be gone on with (--resume, data/tuned) is told of first, and may be written again.
struct stat;
void rg_files_begin(void);
void rg_files_end(void);
// The program ends early, by this thread: what is being written is removed, and other threads write nothing more. At exit, too.
void rg_files_abandon(void);
void rg_file_read_begins(const char *path, const struct stat *);
void rg_file_continues(const char *path);
// The files that it has read, then those that it has written, each once; whether there is one of the latter.
void rg_files_each(void (*)(void *of, const char *path, bool written), void *of);
bool rg_files_written(void);
bool rg_file_is_written(const char *path); // whether this one is
extern bool rg_dry_run;                    // nothing is written: no file is opened, no folder is made
// A file that goes with `path`: its name up to the last dot, then suffix, then ending (NULL: that of `path`).
char *rg_path_beside(const char *path, const char *suffix, const char *extension);
int rg_file_open_beside(rg_file *, const char *path, const char *suffix, const char *extension);
// The commit that this program was built from, "-dirty" behind it where the tree differed; "unknown" without git.
const char *rg_revision(void);
// Full path of a file that ships with the program (plots/NAME.gp, reference/claims.tsv, data/machines): under $REGATHER_SHARE,
// else the source tree of this build, else PREFIX/share/regather. malloc'ed; the first that exists, else the first candidate.
char *rg_share_path(const char *relative);
bool rg_ends_with(const char *text, const char *end);
const char *rg_base_name(const char *path); // what stands after the last slash
// Path of a program found in PATH, malloc'ed, or NULL.
char *rg_program_path(const char *name);
int rg_make_folder(const char *path); // like mkdir -p; RG_GOOD or one line and RG_USAGE
