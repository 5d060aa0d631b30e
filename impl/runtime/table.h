// SPDX-License-Identifier: MIT
// table.h: the function table: built-in variants, their emulated twins, and plug-ins, in one list.
#pragma once

#include "../suite.h"
#include <stdbool.h>

typedef enum { RG_BUILT_IN, RG_EMULATION, RG_PLUGGED_IN } rg_origin;

typedef struct rg_entry {
    const rg_algo *algo;
    const rg_variant *variant;
    rg_origin origin;
    bool emulated;      // a DEVICE variant compiled for the host (RG_EMULATION, or a plug-in built with -DRG_EMULATED)
    const char *plugin; // its file as given, valid as long as that text; NULL if not of a plug-in
    char name[96];      // in rows and --variant: "gather", or "mine.so:gather" of a plug-in
} rg_entry;

int rg_algo_count(void);
const rg_algo *rg_algo_at(int i);
const rg_algo *rg_algo_find(const char *name); // NULL when unknown

// Why a descriptor is invalid (version, names, functions, words of needs, parameters, shapes), or NULL.
enum { RG_FAULT = 240 };
const char *rg_algo_fault(const rg_algo *, char why[RG_FAULT]);
const char *rg_variant_fault(const rg_variant *, char why[RG_FAULT]);
// Adds a variant, built-in (plugin NULL) or of a plug-in's file, after checking it and that its name is new. RG_GOOD, or one line
// and RG_USAGE; a fault in a built-in variant ends the program.
int rg_table_add(const rg_variant *, rg_origin, bool emulated, const char *plugin);

extern const char *const rg_resource_name[RG_RESOURCES]; // "memory", "shared", "fp32", ... as in the column `bound`

// Entries in the order of variants.def, then emulated twins (same names, origin RG_EMULATION), then plug-ins.
int rg_entry_count(void);
const rg_entry *rg_entry_at(int i);
const rg_entry *rg_entry_find(const char *algo, const char *name); // the first, even if it cannot run here; NULL: none

// Walks the entries that match a pattern ("", "autocorr", "autocorr:gather", "autocorr:mine.so:gather", or several, separated by
// blanks) and a device name. Device "host" selects the emulated twins, any other name leaves them out. Usage:
//   for (const rg_entry *e = NULL; (e = rg_entry_next(e, pattern, device)); ) ...
const rg_entry *rg_entry_next(const rg_entry *after, const char *pattern, const char *device);
// RG_GOOD, or one line and RG_USAGE if the pattern names an unknown algorithm or variant; the line lists the known ones.
int rg_pattern_check(const char *pattern, const char *device);

// NULL if the entry can run on this machine now, else the reason ("needs avx512vnni", "no GPU: ...").
const char *rg_unavailable(const rg_entry *);

// The prefix of a plug-in's variants, from its file name: "mine.so". Characters that cannot be part of a word become '_'.
void rg_plugin_name(const char *path, char name[96]);
// Loads the variants of a plug-in. RG_GOOD, or one line and RG_USAGE.
int rg_plugin_load(const char *path);
