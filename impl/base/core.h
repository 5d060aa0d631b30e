// SPDX-License-Identifier: MIT
// core.h: shared by all commands: exit codes, errors and warnings, the clock, progress, files written whole or not at all.
#pragma once

// Headers of the C library that most sources need; a source that includes this one does not include them again.
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

// Exit codes of all commands (manual page, EXIT STATUS).
enum { RG_GOOD = 0, RG_WRONG = 1, RG_USAGE = 2, RG_UNSURE = 3, RG_LACKS = 4 };

// Prints one line, "regather: ...", on stderr and returns code: return rg_fail(RG_USAGE, "...");
int rg_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same, then ends the program. Prints in a silent thread, too, because nothing else would give the reason.
void rg_end(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
// Bytes of the UTF-8 character at `text` (RFC 3629), 0 if it is invalid. Reads at most `most` bytes; below 0: up to the end of text.
int rg_utf8(const char *text, int most, uint32_t *character);
bool rg_is_control(uint32_t character); // of ASCII, or one of the 32 after it
// Prints text from names and files, which a terminal must not obey: control bytes, invalid UTF-8 and characters that change the
// direction of writing become \xNN. rg_fail, rg_warn and rg_tsv_print (tsv.h) do the same. most: bytes of text, -1 all.
void rg_put_text(FILE *, const char *text, int most);
// Prints a word as sh reads it, quoted where necessary.
void rg_put_word(FILE *, const char *word);
// Set by a thread that reads ahead: its errors may never matter, so rg_fail and rg_warn print nothing.
extern _Thread_local bool rg_silent;
// Shared by the threads of one task: only the first error among them is printed. NULL: a task of one thread.
extern _Thread_local atomic_bool *rg_has_failed;
void rg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern void (*rg_warned)(const char *text); // called with every warning; may be NULL

// ---- one job of several processes ----------------------------------------------------------------------------------------

// jobs/pipeline/ranks.c sets these where mpirun or srun started more than one process.
extern int rg_rank;               // of this process; only rank 0 warns, draws progress and prints
extern int rg_processes_here;     // processes of the job on this machine, which share its memory
extern bool (*rg_may_fail)(void); // whether this process may print its error, as only one does; NULL: yes

// ---- time and progress ---------------------------------------------------------------------------------------------------

double rg_seconds(void); // monotonic

// Progress on stderr: "verify autocorr 37/120  12.1/s  7 s left". On a terminal, one line, redrawn at most 5 times a second from
// 2 s on, erased by rg_progress_end; elsewhere a line every 30 s. Silent with --quiet.
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
// In front of a declaration. RG_ENDS: `end` is called with the variable's address at the end of its block. RG_FREED: a pointer, NULL
// or malloc'ed, is freed there.
#define RG_ENDS(end) __attribute__((cleanup(end)))
#define RG_FREED RG_ENDS(rg_freed)
void rg_freed(void *pointer);
// In a function with printf's arguments: prints its `format` and what follows into `text` of `size` bytes.
#define RG_FORMAT(text, size, format)                                                                                          \
    do {                                                                                                                       \
        va_list list_;                                                                                                         \
        va_start(list_, format);                                                                                               \
        vsnprintf(text, size, format, list_);                                                                                  \
        va_end(list_);                                                                                                         \
    } while (0)
// Grows `array` so that element n, of `bytes`, fits. Start with NULL, and grow by one. Fails as rg_alloc does.
void *rg_grow(void *array, int64_t n, size_t bytes);
// Drops const, for interfaces that lack it and do not write.
static inline void *rg_unconst(const void *p) { return (void *)(uintptr_t)p; }
// Reads as strtod, and returns whether the text is a finite decimal number: strtod also accepts hexadecimal, "inf" and "nan".
bool rg_decimal(const char *text, char **end, double *value);
int rg_ascending(const void *, const void *);                                  // of two doubles, for qsort and bsearch
char *rg_print(const char *format, ...) __attribute__((format(printf, 1, 2))); // malloc'ed text
char *rg_print_list(const char *format, va_list) __attribute__((format(printf, 1, 0)));
// The plural's s: "%d row%s", n, rg_plural(n).
static inline const char *rg_plural(int64_t n) { return n == 1 ? "" : "s"; }
// Shapes as text: print writes "w750,h1500,r250,k0", describe "width=750,height=1500,max-offset=250,kind=cross". parse reads both;
// it returns false with a reason in why[].
struct rg_algo;
struct rg_shape;
void rg_shape_print(const struct rg_algo *, const struct rg_shape *, char text[96]);
void rg_shape_describe(const struct rg_algo *, const struct rg_shape *, char text[192]);
bool rg_shape_parse(const struct rg_algo *, const char *text, struct rg_shape *, char why[160]);
// Parameters of a variant as text, "block=128;isa=2" ("-": it has none). parse gives missing ones their default.
struct rg_variant;
void rg_params_print(const struct rg_variant *, const int64_t *param, char text[192]);
bool rg_params_parse(const struct rg_variant *, const char *text, int64_t *param, char why[160]);
bool rg_params_set(
    const struct rg_variant *, const char *text, int64_t *param, char why[160]); // missing ones keep their values
void rg_params_standard(const struct rg_variant *, int64_t *param);

// A file written whole or not at all. rg_file_open opens PATH.regather-part in the same folder. rg_file_commit flushes, checks every
// error (a full disk shows here), renames, and syncs the folder; rg_file_abandon removes the part. Both free *file. PATH must be
// new or a regular file that this command has not read. The part is locked while open, so that a second run to the same PATH is
// refused; the next run empties what a killed one left. Messages name the path.
typedef struct rg_file {
    FILE *stream;
    char *path, *part;
} rg_file;
int rg_file_open(rg_file *, const char *path);
int rg_file_commit(rg_file *);
int rg_file_end(rg_file *, int code); // commits if code is RG_GOOD, else abandons; returns the code
void rg_file_abandon(rg_file *);
char *rg_file_bytes(const char *path, size_t *n); // the file's bytes and a 0 after them, malloc'ed; NULL: it cannot be read
int rg_file_append(FILE *, const char *from);     // another file's bytes. RG_GOOD, or one line and RG_USAGE
// Checks before the work that a file can be made at path (NULL: it can). Called once for each output, by one process of a run.
// RG_GOOD, or one line and RG_USAGE. The name is locked, as above, until the command opens it or ends.
int rg_file_can_write(const char *path);
// Between begin and end (rg_command_run calls them; they nest) the program keeps a list of a command's inputs. rg_input_open adds
// every file that it opens. rg_file_continues, called first, allows a file to be read and written again (--resume, data/tuned).
struct stat;
void rg_files_begin(void);
void rg_files_end(void);
// Called when the program ends early, and at exit: removes unfinished files and stops the writes of other threads.
void rg_files_abandon(void);
void rg_file_read_begins(const char *path, const struct stat *);
void rg_file_continues(const char *path);
// Calls back for every file read, then for every file written, each once. rg_files_written: whether any was written.
void rg_files_each(void (*)(void *of, const char *path, bool written), void *of);
bool rg_files_written(void);
bool rg_file_is_written(const char *path); // whether this one was
extern bool rg_dry_run;                    // --dry-run: no file is opened for writing, no folder is made
// The name of a file beside `path`: path up to its last dot, suffix, and extension (NULL: that of path).
char *rg_path_beside(const char *path, const char *suffix, const char *extension);
int rg_file_open_beside(rg_file *, const char *path, const char *suffix, const char *extension);
// The commit of this build, followed by "-dirty" where the tree differed; "unknown" without git.
const char *rg_revision(void);
// Path of a file that ships with the program (plots/NAME.gp, reference/claims.tsv, data/machines): the first that exists under
// $REGATHER_SHARE, the source tree of this build, PREFIX/share/regather; else the first candidate. malloc'ed.
char *rg_share_path(const char *relative);
bool rg_ends_with(const char *text, const char *end);
const char *rg_base_name(const char *path); // the part after the last slash
// Path of a program found in PATH, malloc'ed, or NULL.
char *rg_program_path(const char *name);
int rg_make_folder(const char *path); // like mkdir -p; RG_GOOD or one line and RG_USAGE
