// SPDX-License-Identifier: MIT
// fill.h: fills templates of pages with data. Data never becomes markup: it is escaped for the template's ending, .html or .md. Names
// in a template are looked up in the current item, then in those around it:
//   {{name}}            a text; rich: `code` between two back quotes is set as code, a single one stands for itself
//   {{'name}}           the same without code: for an attribute, for SVG
//   {{@name}}           the address of a file, relative: a name with a colon is no scheme
//   {{64 name}}         in base 64
//   {{#name}}..{{/name}}  once for each item of the list, or once where there is a text that is not ""; {{^name}}: where there is none
//   {{>FILE}}           another template; {{<FILE}}: a file as it is
// A line with only a tag of the last two kinds is not printed.
#pragma once

#include "core.h"

// The head of every page of this program has this mark; no other file is replaced unless the user named it.
#define RG_PAGE_MARK "<meta name=\"generator\" content=\"regather"

typedef struct rg_data rg_data; // names with texts and lists of data
rg_data *rg_data_new(void);
void rg_data_free(rg_data *);
// Sets a text by printf's rules. The names of texts and lists must stay valid as long as the data.
void rg_set(rg_data *, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
rg_data *rg_add(rg_data *, const char *list);                    // appends an item to the list
void rg_add_text(rg_data *, const char *list, const char *text); // an item whose text is "text"
bool rg_has(const rg_data *, const char *name);

// Appends a table to the list `tables`, for table.html and table.md. align: one of "lrcn" a column.
rg_data *rg_add_table(rg_data *, const char *caption, const char *align, const char *const *column, int n);
void rg_add_row(rg_data *table, const char *const *cell, int n);

// Fills plots/TEMPLATE, with {{version}} and {{revision}} of this program. RG_GOOD, or one line and RG_USAGE if a template cannot be
// read.
int rg_fill(FILE *out, const char *template, rg_data *);
// The same into a file, written whole or not at all.
int rg_fill_file(const char *path, const char *template, rg_data *);

// ---- escape.c -----------------------------------------------------------------------------------------------------------

// Escapes text for HTML and Markdown; a page has no other way to print data. In "rich" text, two back quotes enclose `code`; a single
// one is printed.

// Also for attributes and SVG. Control characters become blanks, invalid UTF-8 becomes U+FFFD, and & < > " ' ` become numeric
// references.
void rg_html_text(FILE *, const char *text);
void rg_html_rich(FILE *, const char *text);
void rg_html_link(FILE *, const char *path); // of a file, relative: a name with a colon is no scheme
void rg_html_base64(FILE *, const char *text);
void rg_markdown_text(FILE *, const char *text); // rich
