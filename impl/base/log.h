// SPDX-License-Identifier: MIT
// log.h: the plan of a job, for --dry-run, and the log beside its output.
#pragma once

#include "memory.h"
#include "options.h"

// A row of the plan on stdout: "memory<tab>1.25 GiB".
void rg_plan(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
// "WHAT<tab>1.250 GiB, 20.10 GiB are free; FITS 123 fits".
void rg_plan_memory(const char *what, double bytes, double there, rg_memory_need *, const void *of, const char *fits);
// The parts of that memory: "WHAT: NAME<tab>0.250 GiB".
void rg_plan_needs(const char *what, const rg_needs *);
// "file<tab>PATH<tab>new", or "replaced", or the reason why it cannot be written.
void rg_plan_file(const char *path);
// The files that the options name: those with `beside`, and the files beside them.
void rg_plan_files(const rg_command *, const void *options);

// "# note: TEXT" in the log, and TEXT on stderr unless --quiet, such as the source of an input.
void rg_log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A line of the next log: predicted and taken bytes of a device's memory.
void rg_log_memory(const char *device, double predicted, double taken);
// Writes OUT.log, or OUT/regather.log where --out is a folder: the command, the version, and a row for each file read or written,
// with its size and hash (hash.h). Writes nothing if the command wrote no file, and never replaces a file that is not such a log.
// RG_GOOD, or one line and RG_USAGE.
int rg_log_write(const rg_command *, const void *options);
