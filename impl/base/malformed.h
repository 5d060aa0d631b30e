// SPDX-License-Identifier: MIT
// malformed.h: the one line that every reader writes about a file it cannot take.
#pragma once

#include <stdint.h>
#include <stdio.h>

// "regather: PATH: at byte N: expected ..., found ..."; always RG_USAGE. The format gives the text from "expected" on.
int rg_malformed(const char *path, int64_t byte, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Opens a regular file for reading, *bytes long; of a file of gzip its content, kept in a temporary file without a name, since
// readers go to and fro. RG_GOOD, or one line and RG_USAGE (missing, unreadable, a directory, a pipe, cut off).
int rg_input_open(const char *path, FILE **, int64_t *bytes);
// The whole of such a file of text, of at most `most` bytes, ended by a 0; malloc'ed. Lines end in LF or CR LF. RG_GOOD, or one
// line, RG_USAGE and NULL.
int rg_input_text(const char *path, int64_t most, char **text, int64_t *bytes);
// What a file that begins with these n bytes is and which tool makes of it what this suite reads: "an HDF5 file; ...". NULL:
// none of those that people confuse with an input of this suite. Static text.
const char *rg_known_as(const void *head, size_t n);
// At most n bytes of p as printable text for a message, quoted; the text is static for each thread.
const char *rg_quote_bytes(const void *p, int n);
