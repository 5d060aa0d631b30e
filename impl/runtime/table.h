// SPDX-License-Identifier: MIT
// table.h: the function table as the harness sees it: built-in variants, their emulated twins, and plug-ins, as one list.
#pragma once

#include "../suite.h"
#include <stdbool.h>

typedef enum { RG_BUILT_IN, RG_EMULATION, RG_PLUGGED_IN } rg_origin;

typedef struct rg_entry {
    const rg_algo *algo;
    const rg_variant *variant;
    rg_origin origin;
    bool emulated;      // a DEVICE variant compiled for the host (RG_EMULATION, or a plug-in built with -DRG_EMULATED)
    const char *plugin; // its file as it was given, while that text lives; NULL of any other
    char name[96];      // what rows and --variant call it: "gather", or "mine.so:gather" from a plug-in
} rg_entry;

int rg_algo_count(void);
const rg_algo *rg_algo_at(int i);
const rg_algo *rg_algo_find(const char *name); // NULL when unknown

// Why a descriptor may not stand in the table (version, names, functions, words of needs, parameters, shapes), or NULL.
enum { RG_FAULT = 240 };
const char *rg_algo_fault(const rg_algo *, char why[RG_FAULT]);
const char *rg_variant_fault(const rg_variant *, char why[RG_FAULT]);
// The one way into the table, for built-in variants (plugin NULL) as for those of a plug-in's file: checked, and unlike all
// that stand there. RG_GOOD, or one line and RG_USAGE; a fault of a built-in one ends the program.
int rg_table_add(const rg_variant *, rg_origin, bool emulated, const char *plugin);

extern const char *const rg_resource_name[RG_RESOURCES]; // "memory", "shared", "fp32", ... as in the column `bound`

// Entries in the order of variants.def, then emulated twins (same names, origin RG_EMULATION), then plug-ins.
int rg_entry_count(void);
const rg_entry *rg_entry_at(int i);
const rg_entry *rg_entry_find(const char *algo, const char *name); // the first, whether or not it can run here; NULL: none

// Walks the entries that a pattern ("", "autocorr", "autocorr:gather", "autocorr:mine.so:gather", or several with a blank
// between) and a device name choose. device "host" takes the emulated twins only; anything else leaves them out. Usage:
//   for (const rg_entry *e = NULL; (e = rg_entry_next(e, pattern, device)); ) ...
const rg_entry *rg_entry_next(const rg_entry *after, const char *pattern, const char *device);
// RG_GOOD, or one line and RG_USAGE when the pattern names an unknown algorithm or variant (the known ones are listed).
int rg_pattern_check(const char *pattern, const char *device);

// NULL when the entry can run on this machine now, else the reason ("needs avx512vnni", "no GPU: ...").
const char *rg_unavailable(const rg_entry *);

// How names begin of the variants of a plug-in's file, "mine.so": what could not be typed as part of a word, or ends one, is '_'.
void rg_plugin_name(const char *path, char name[96]);
// Loads the variants of one plug-in. RG_GOOD, or one line and RG_USAGE.
int rg_plugin_load(const char *path);
