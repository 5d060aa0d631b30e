// SPDX-License-Identifier: MIT
// escape.h: text into HTML and Markdown. All text is data: these are the only ways from it to a page. "Rich" text may hold `code`
// between two back quotes on top; a single one stands for itself.
#pragma once

#include <stdio.h>

// Also for the value of an attribute, and for SVG. Controls become blanks, what is no UTF-8 becomes U+FFFD, and & < > " ' ` their
// numbers.
void rg_html_text(FILE *, const char *text);
void rg_html_rich(FILE *, const char *text);
void rg_html_link(FILE *, const char *path); // of a file, relative: a name with a colon is no scheme
void rg_html_base64(FILE *, const char *text);
void rg_markdown_text(FILE *, const char *text); // rich
