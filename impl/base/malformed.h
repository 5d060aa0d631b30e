// SPDX-License-Identifier: MIT
// malformed.h: the one-line error of all readers, and how they open files.
#pragma once

#include <stdint.h>
#include <stdio.h>

// "regather: PATH: at byte N: expected ..., found ..."; always RG_USAGE. The format gives the text from "expected" on.
int rg_malformed(const char *path, int64_t byte, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Opens a regular file for reading; *bytes: its length. A gzip file is unpacked into an unnamed temporary file, because readers
// seek. RG_GOOD, or one line and RG_USAGE (missing, unreadable, a directory, a pipe, truncated).
int rg_input_open(const char *path, FILE **, int64_t *bytes);
// Reads such a text file whole, of at most `most` bytes, ended by a 0; malloc'ed. Lines end in LF or CR LF. RG_GOOD, or one line,
// RG_USAGE and NULL.
int rg_input_text(const char *path, int64_t most, char **text, int64_t *bytes);
// Names the format of a file that begins with these n bytes, and a tool that converts it: "an HDF5 file; ...". NULL: none of the
// formats that users mistake for an input of this suite. Static text.
const char *rg_known_as(const void *head, size_t n);
// At most n bytes of p as quoted, printable text for a message; static for each thread.
const char *rg_quote_bytes(const void *p, int n);
