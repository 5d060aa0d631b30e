// page.h: one text, two makes of page: HTML, which holds its style and script inside, and Markdown.
//
// All text is data. rg_html_text is the one way from text to HTML, to an attribute's value and to SVG; rg_html_link the one way
// to an address. "Rich" text may hold `code` between two back quotes on top; a single one stands for itself.
#ifndef RG_PAGE_H
#define RG_PAGE_H

#include "core.h"

typedef struct rg_page rg_page;

// A picture with what it says. Paths are relative to the page; NULL or "" where there is none.
typedef struct rg_page_figure {
    const char *title, *subtitle; // rich: what was found, with its number; machine, size, scope
    const char *wide, *narrow;    // SVG for a desk and for a phone
    const char *svg;              // or its text, which the page holds: as narrow as a phone, so that several stand in a row
    const char *alt;              // what one would see
    const char *data, *script;    // the TSV that it shows, and the .gp that draws it again
    int width, height;            // of wide, in pixels
    bool picture;                 // of things, not of lines: its colours stay as they are in the dark scheme
    bool whole;                   // as broad as the page
} rg_page_figure;

typedef struct rg_page_make {
    void (*heading)(rg_page *, int level, const char *id, const char *text); // id: NULL, or a word that links name
    void (*paragraph)(rg_page *, const char *text);
    void (*item)(rg_page *, const char *text);
    void (*table)(rg_page *, const char *caption, const char *align, const char *const *column,
        int n); // align "lrcn", one each
    void (*row)(rg_page *, const char *const *cell, int n);
    void (*table_end)(rg_page *);
    void (*figures)(rg_page *, const rg_page_figure *, int n); // beside each other where there is room
    void (*fold)(rg_page *, const char *summary);              // what follows shows when it is opened
    void (*fold_end)(rg_page *);
} rg_page_make;

struct rg_page {
    FILE *out;
    const rg_page_make *make;
    const char *align;        // of the open table
    bool listing;             // inside a list
    int code;                 // RG_GOOD, or one line was said of what the page shows and could not be read
    const char *const *label; // cells that are one of these words, n_labels of them, are set as labels of class v0, v1, ...
    int n_labels;
};
extern const rg_page_make rg_html, rg_markdown;

// Every page of this program says so in its head: no other file is written over where nobody has named it.
#define RG_PAGE_MARK "<meta name=\"generator\" content=\"regather"
// The head of an HTML page up to <body>, with plots/page.css and plots/page.js inside. RG_GOOD, or one line and RG_USAGE.
int rg_html_begin(rg_page *, const char *title);
void rg_html_end(rg_page *);
// Controls become blanks, what is no UTF-8 becomes U+FFFD, and & < > " ' ` their numbers.
void rg_html_text(FILE *, const char *text);
void rg_html_rich(FILE *, const char *text);
void rg_html_link(FILE *, const char *path); // of a file, relative: a name with a colon is no scheme

#endif
