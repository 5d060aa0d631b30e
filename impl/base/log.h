// SPDX-License-Identifier: MIT
// log.h: what a job is about to do, for --dry-run, and what it has done, for the log beside its output.
#pragma once

#include "memory.h"
#include "options.h"

// A row of the plan on stdout: "memory<tab>1.25 GiB".
void rg_plan(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
// "WHAT<tab>1.250 GiB, 20.10 GiB are free; FITS 123 fits".
void rg_plan_memory(const char *what, double bytes, double there, rg_memory_need *, const void *of, const char *fits);
// What of that memory is for what: "WHAT: NAME<tab>0.250 GiB".
void rg_plan_needs(const char *what, const rg_needs *);
// "file<tab>PATH<tab>new", or "replaced", or why it cannot be written.
void rg_plan_file(const char *path);
// The files that the rows of the options name: those with `beside`, and what goes beside them.
void rg_plan_files(const rg_command *, const void *options);

// "# note: TEXT" in the log, and TEXT on stderr unless --quiet: what a job took from where.
void rg_log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A line of the next log: what was predicted that this command takes of a device's memory, and what it took, in bytes.
void rg_log_memory(const char *device, double predicted, double taken);
// OUT.log, or OUT/regather.log where --out is a folder: the command, the program's version, and a row for each file that this
// command has read or written, with its size and the hash of all of it (hash.h). Nothing where nothing was written. A file of
// that name that is no such log is not written over. RG_GOOD, or one line and RG_USAGE.
int rg_log_write(const rg_command *, const void *options);
