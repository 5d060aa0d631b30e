// SPDX-License-Identifier: MIT
// rows.h: which rows of a machine a claim, a table or a figure speaks of.
//
// A spec is "autocorr:simd threads=1 isa<512@w750;k0", several separated by '|' (any of them): algorithm, variant, parameters,
// and after '@' parts of the shape ("i<53", "s!420": not 420). threads=all is any number above one. Times are compared only
// within one machine and one shape. Of several parameter sets the fastest stands for the variant, as a user would run it.
#pragma once

#include "machine.h"

// The next piece of the list at *at, to its end or the mark, which is passed over; false at the end of the list.
bool rg_next_piece(const char **at, char mark, char *text, size_t room);

bool rg_timed(const rg_row *);        // has passed and has a time
bool rg_plain(const rg_row *);        // the papers' kind of input: 8 bits, one image (k0)
bool rg_has_interval(const rg_row *); // two samples at least, of one process or of two
bool rg_on_gpu(const rg_row *);
bool rg_is_failure(const char *status);                                        // FAIL, CRASH, TIMEOUT
bool rg_shaped(const char *shape, const char *wanted, const char *separators); // has every part that is wanted
bool rg_matches(const rg_row *, const char *spec);

// The fastest timed row of spec at exactly this shape, by the first of `scopes` ("pageable,device") that has one, hot before
// cold; NULL when there is none. A host, which copies nothing, has both scopes with copies where it has `device`.
const rg_row *rg_pick(rg_rows, const char *spec, const char *shape, const char *scopes);
// Both at one shape and in one scope, the first of `scopes` in which there are both. false also where one row alone is all that
// there is of both: it says nothing of itself.
bool rg_pick_pair(rg_rows, const char *a, const char *b, const char *shape, const char *scopes, const rg_row *pair[2]);
// The shape that rows of both specs have in common: one that begins with `size`, then one at which both have an interval, then
// the most work. NULL when they have none.
const char *rg_common_shape(rg_rows, const char *a, const char *b, const char *size, const char *scopes);
// A row of the spec that has failed, been skipped or crashed; NULL: none.
const rg_row *rg_not_passed(rg_rows, const char *spec);
// Rows of spec, of shapes that begin with size, that have passed, or are failures.
int rg_count_status(rg_rows, const char *spec, const char *size, bool failures);
// Rows of spec at the shape, in the scope and mode of the one that was picked: sets of parameters, most often.
int rg_configurations(rg_rows, const char *spec, const rg_row *picked);
