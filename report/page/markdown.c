// SPDX-License-Identifier: MIT
// markdown.c: the report as REPORT.md, in the Markdown that code hosts show.
#include "../report.h"

// Text is HTML to a Markdown reader: '<' and '&' are escaped, '|' would end a cell. `code` passes as it is.
static void put(const rg_page *p, const char *text)
{
    bool code = false;
    for (; *text; text++) {
        code ^= *text == '`';
        if (*text == '|')
            fputs("\\|", p->out);
        else if (*text == '<' && !code)
            fputs("&lt;", p->out);
        else if (*text == '*' && !code)
            fputs("\\*", p->out);
        else
            putc(*text, p->out);
    }
}

static void end_list(rg_page *p)
{
    if (p->listing)
        putc('\n', p->out);
    p->listing = false;
}

static void begin(rg_page *p, const char *title)
{
    fputs("# ", p->out);
    put(p, title);
    fputs("\n\n", p->out);
}

static void heading(rg_page *p, int level, const char *text)
{
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
    for (int i = 0; i < n; i++)
        fputs(align[i] == 'r' ? "|---:" : align[i] == 'c' ? "|:---:" : "|:---", p->out);
    fputs("|\n", p->out);
}

static void table_end(rg_page *p)
{
    putc('\n', p->out);
}

static void figure(rg_page *p, const char *path, const char *alt, const char *caption)
{
    end_list(p);
    fprintf(p->out, "![");
    put(p, alt);
    fprintf(p->out, "](%s.png)\n\n", path);
    paragraph(p, caption);
}

static void end(rg_page *p)
{
    end_list(p);
}

const rg_page_make rg_markdown = {begin, heading, paragraph, item, table, row, table_end, figure, end};
