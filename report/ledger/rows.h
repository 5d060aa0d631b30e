// SPDX-License-Identifier: MIT
// rows.h: selects the rows of a machine for a claim, a table or a figure.
//
// A spec is "autocorr:simd threads=1 isa<512@w750;k0"; '|' separates alternatives. It gives algorithm, variant, parameters, and
// after '@' parts of the shape ("i<53", "s!420": not 420). threads=all is any number above one. Times are compared only within
// one machine and one shape. The fastest of several parameter sets represents the variant, as a user would run it.
#pragma once

#include "machine.h"

// Copies the next piece of the list at *at, up to the mark, which is skipped, or the end; false at the end of the list.
bool rg_next_piece(const char **at, char mark, char *text, size_t room);

bool rg_timed(const rg_row *);        // passed and has a time
bool rg_plain(const rg_row *);        // the papers' kind of input: 8 bits, one image (k0)
bool rg_has_interval(const rg_row *); // at least two samples, of one process or of two
bool rg_on_gpu(const rg_row *);
bool rg_is_failure(const char *status);                                        // FAIL, CRASH, TIMEOUT
bool rg_shaped(const char *shape, const char *wanted, const char *separators); // has all wanted parts
bool rg_matches(const rg_row *, const char *spec);

// The fastest timed row of spec at exactly this shape, in the first of `scopes` ("pageable,device") that has one, hot before
// cold; or NULL. A host row of scope `device` also counts for the scopes with copies, because a host copies nothing.
const rg_row *rg_pick(rg_rows, const char *spec, const char *shape, const char *scopes);
// Picks both rows at one shape, in the first of `scopes` that has both. false also if the only rows are one and the same, which
// cannot be compared with itself.
bool rg_pick_pair(rg_rows, const char *a, const char *b, const char *shape, const char *scopes, const rg_row *pair[2]);
// A shape that rows of both specs share: preferably one that begins with `size`, then one at which both have an interval, then
// the one with the most work. NULL: none.
const char *rg_common_shape(rg_rows, const char *a, const char *b, const char *size, const char *scopes);
// A row of the spec that failed, was skipped or crashed; or NULL.
const rg_row *rg_not_passed(rg_rows, const char *spec);
// Counts rows of spec, of shapes that begin with size, that passed, or, with `failures`, that failed.
int rg_count_status(rg_rows, const char *spec, const char *size, bool failures);
// Counts rows of spec with the shape, scope and mode of `picked`: usually sets of parameters.
int rg_configurations(rg_rows, const char *spec, const rg_row *picked);
