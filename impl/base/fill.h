// SPDX-License-Identifier: MIT
// fill.h: pages are templates with slots, which one filler fills from data. What is data never becomes markup: the filler escapes
// it by the ending of the template, .html or .md. In a template, names are looked up in the item at hand, then around it:
//   {{name}}            a text; rich: `code` between two back quotes is set as code, a single one stands for itself
//   {{'name}}           the same without code: for an attribute, for SVG
//   {{@name}}           the address of a file, relative: a name with a colon is no scheme
//   {{64 name}}         in base 64
//   {{#name}}..{{/name}}  once for each item of the list, or once where there is a text that is not ""; {{^name}}: where there is none
//   {{>FILE}}           another template; {{<FILE}}: a file as it is
// A line that holds one of the last two kinds alone is not printed.
#pragma once

#include "core.h"

// Every page of this program says so in its head: no other file is written over where nobody has named it.
#define RG_PAGE_MARK "<meta name=\"generator\" content=\"regather"

typedef struct rg_data rg_data; // names with texts and lists of data
rg_data *rg_data_new(void);
void rg_data_free(rg_data *);
// A text by printf's rules. Names of texts and lists last as long as the data.
void rg_set(rg_data *, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
rg_data *rg_add(rg_data *, const char *list);                    // one more item of the list
void rg_add_text(rg_data *, const char *list, const char *text); // an item whose text is "text"
bool rg_has(const rg_data *, const char *name);

// A table of any columns, an item of the list `tables` for table.html and table.md: align "lrcn", one each.
rg_data *rg_add_table(rg_data *, const char *caption, const char *align, const char *const *column, int n);
void rg_add_row(rg_data *table, const char *const *cell, int n);

// plots/TEMPLATE filled, with {{version}} and {{revision}} of this program. RG_GOOD, or one line and RG_USAGE where a template cannot
// be read.
int rg_fill(FILE *out, const char *template, rg_data *);
// The same as a file, written whole or not at all.
int rg_fill_file(const char *path, const char *template, rg_data *);

// ---- escape.c -----------------------------------------------------------------------------------------------------------

// Text into HTML and Markdown. All text is data: these are the only ways from it to a page. "Rich" text may hold `code`
// between two back quotes on top; a single one stands for itself.

// Also for the value of an attribute, and for SVG. Controls become blanks, what is no UTF-8 becomes U+FFFD, and & < > " ' ` their
// numbers.
void rg_html_text(FILE *, const char *text);
void rg_html_rich(FILE *, const char *text);
void rg_html_link(FILE *, const char *path); // of a file, relative: a name with a colon is no scheme
void rg_html_base64(FILE *, const char *text);
void rg_markdown_text(FILE *, const char *text); // rich
