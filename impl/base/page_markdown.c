// SPDX-License-Identifier: MIT
// page_markdown.c: a page in the Markdown that code hosts show.
#include "page.h"
#include <string.h>

// What means something to a Markdown reader is escaped, HTML too; a cell ends at '|'. `code` passes as it is, between two back
// quotes.
static void put(const rg_page *p, const char *text)
{
    const char *end = NULL; // of the code that is open
    for (; *text; text++) {
        if (!end && *text == '`' && (end = strchr(text + 1, '`')))
            putc('`', p->out);
        else if (text == end) {
            end = NULL;
            putc('`', p->out);
        } else if ((unsigned char)*text < 32 || *text == 127)
            putc(' ', p->out);
        else if (*text == '|')
            fputs("\\|", p->out);
        else if (!end && (*text == '<' || *text == '&'))
            fputs(*text == '<' ? "&lt;" : "&amp;", p->out);
        else if (!end && strchr("*_[]`\\", *text))
            fprintf(p->out, "\\%c", *text);
        else
            putc(*text, p->out);
    }
}

static void end_list(rg_page *p)
{
    if (p->listing) putc('\n', p->out);
    p->listing = false;
}

static void heading(rg_page *p, int level, const char *id, const char *text)
{
    (void)id;
    end_list(p);
    fprintf(p->out, "%.*s ", level, "####");
    put(p, text);
    fputs("\n\n", p->out);
}

static void paragraph(rg_page *p, const char *text)
{
    end_list(p);
    put(p, text);
    fputs("\n\n", p->out);
}

static void item(rg_page *p, const char *text)
{
    p->listing = true;
    fputs("- ", p->out);
    put(p, text);
    putc('\n', p->out);
}

static void row(rg_page *p, const char *const *cell, int n)
{
    for (int i = 0; i < n; i++) {
        fputs("| ", p->out);
        put(p, cell[i]);
        putc(' ', p->out);
    }
    fputs("|\n", p->out);
}

static void table(rg_page *p, const char *caption, const char *align, const char *const *column, int n)
{
    paragraph(p, caption);
    row(p, column, n);
    for (int i = 0; i < n; i++) fputs(align[i] == 'r' ? "|---:" : align[i] == 'c' ? "|:---:" : "|:---", p->out);
    fputs("|\n", p->out);
}

static void table_end(rg_page *p) { putc('\n', p->out); }

static void figures(rg_page *p, const rg_page_figure *f, int n)
{
    for (int i = 0; i < n; i++) {
        end_list(p);
        fputs("**", p->out);
        put(p, f[i].title);
        fputs("** ", p->out);
        put(p, f[i].subtitle);
        fputs("\n\n![", p->out);
        put(p, f[i].alt);
        fputs("](", p->out);
        rg_html_link(p->out, f[i].wide);
        fputs(")\n\n", p->out);
    }
}

static void fold(rg_page *p, const char *summary) { paragraph(p, summary); }

static void fold_end(rg_page *p) { end_list(p); }

const rg_page_make rg_markdown = {heading, paragraph, item, table, row, table_end, figures, fold, fold_end};
