// SPDX-License-Identifier: MIT
// page_html.c: a page as HTML that needs nothing from anywhere: style and script inside, figures beside it.
#include "page.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- escaping ------------------------------------------------------------------------------------------------------------

// Bytes of the UTF-8 character at text, 0 where it is none (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF).
static int utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char low, high, least, most;
        int n;
    } form[] = {{0x00, 0x7f, 0x80, 0xbf, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        if (text[0] < form[i].low || text[0] > form[i].high) continue;
        for (int k = 1; k < form[i].n; k++)
            if (text[k] < (k == 1 ? form[i].least : 0x80) || text[k] > (k == 1 ? form[i].most : 0xbf)) return 0;
        return form[i].n;
    }
    return 0;
}

// One character, escaped; what follows it.
static const char *put_one(FILE *out, const char *text)
{
    const unsigned char c = (unsigned char)*text;
    const int n = utf8_length((const unsigned char *)text);
    const bool c1 = n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0; // controls beyond ASCII
    if (c < 32 || c == 127 || c1)
        putc(' ', out);
    else if (strchr("&<>\"'`", c))
        fprintf(out, "&#%d;", c);
    else if (n == 0)
        fputs("\xef\xbf\xbd", out);
    else
        fwrite(text, 1, (size_t)n, out);
    return text + (n ? n : 1);
}

void rg_html_text(FILE *out, const char *text)
{
    while (*text) text = put_one(out, text);
}

void rg_html_rich(FILE *out, const char *text)
{
    while (*text) {
        const char *end = *text == '`' ? strchr(text + 1, '`') : NULL;
        if (!end) {
            text = put_one(out, text);
            continue;
        }
        fputs("<code>", out);
        for (text++; text < end;) text = put_one(out, text);
        fputs("</code>", out);
        text++;
    }
}

void rg_html_link(FILE *out, const char *path)
{
    fputs(*path == '/' ? "" : "./", out);
    for (; *path; path++)
        if (isalnum((unsigned char)*path) || strchr("/._-", *path))
            putc(*path, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*path);
}

// ---- elements ------------------------------------------------------------------------------------------------------------

static void end_list(rg_page *p)
{
    if (p->listing) fputs("</ul>\n", p->out);
    p->listing = false;
}

static void element(rg_page *p, const char *tag, const char *text)
{
    end_list(p);
    fprintf(p->out, "<%s>", tag);
    rg_html_rich(p->out, text);
    fprintf(p->out, "</%s>\n", tag);
}

static void heading(rg_page *p, int level, const char *id, const char *text)
{
    end_list(p);
    fprintf(p->out, "<h%d%s", level, id ? " id=\"" : "");
    if (id) {
        rg_html_text(p->out, id);
        putc('"', p->out);
    }
    putc('>', p->out);
    rg_html_rich(p->out, text);
    fprintf(p->out, "</h%d>\n", level);
}

static void paragraph(rg_page *p, const char *text) { element(p, "p", text); }

static void item(rg_page *p, const char *text)
{
    if (!p->listing) fputs("<ul>\n", p->out);
    p->listing = true;
    fputs("<li>", p->out);
    rg_html_rich(p->out, text);
    fputs("</li>\n", p->out);
}

static const char *align_class(const rg_page *p, int i)
{
    return p->align[i] == 'r' ? " class=\"r\"" : p->align[i] == 'c' ? " class=\"c\"" : p->align[i] == 'n' ? " class=\"n\"" : "";
}

static void table(rg_page *p, const char *caption, const char *align, const char *const *column, int n)
{
    end_list(p);
    p->align = align;
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table>\n<caption>", p->out);
    rg_html_rich(p->out, caption);
    fputs("</caption>\n<thead><tr>", p->out);
    for (int i = 0; i < n; i++) {
        fprintf(p->out, "<th scope=\"col\"%s>", align_class(p, i));
        rg_html_rich(p->out, column[i]);
        fputs("</th>", p->out);
    }
    fputs("</tr></thead>\n<tbody>\n", p->out);
}

// Of a cell; -1: none.
static int label_of(const rg_page *p, const char *text)
{
    for (int i = 0; i < p->n_labels; i++)
        if (!strcmp(text, p->label[i])) return i;
    return -1;
}

static void row(rg_page *p, const char *const *cell, int n)
{
    fputs("<tr>", p->out);
    for (int i = 0; i < n; i++) {
        const int label = label_of(p, cell[i]);
        fprintf(p->out, "<td%s>", align_class(p, i));
        if (label >= 0) // the word stays, colour only helps
            fprintf(p->out, "<span class=\"v v%d\">", label);
        rg_html_rich(p->out, cell[i]);
        fputs(label >= 0 ? "</span></td>" : "</td>", p->out);
    }
    fputs("</tr>\n", p->out);
}

static void table_end(rg_page *p) { fputs("</tbody></table></div>\n", p->out); }

static void link_to(rg_page *p, const char *path, const char *text)
{
    if (!path || !*path) return;
    fputs("<a href=\"", p->out);
    rg_html_link(p->out, path);
    fprintf(p->out, "\">%s</a> ", text);
}

// RFC 4648.
static void put_base64(FILE *out, const char *text)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t n = strlen(text), i = 0; i < n; i += 3) {
        const uint32_t three = (uint32_t)(unsigned char)text[i] << 16 |
            (i + 1 < n ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0) | (i + 2 < n ? (unsigned char)text[i + 2] : 0);
        for (size_t k = 0; k < 4; k++) putc(i + k > n ? '=' : digit[three >> (18 - 6 * k) & 63], out);
    }
}

static void figure(rg_page *p, const rg_page_figure *f)
{
    const bool broad =
        !f->svg && !(f->narrow && *f->narrow); // its text would be too small on a phone: it is moved in its frame there
    fprintf(p->out, "<figure class=\"%s%s%s\">\n<figcaption><b>", f->picture ? "picture" : "lines", f->whole ? " whole" : "",
        broad ? " broad" : "");
    rg_html_rich(p->out, f->title);
    fputs("</b><span>", p->out);
    rg_html_rich(p->out, f->subtitle);
    fputs("</span></figcaption>\n<picture>", p->out);
    if (f->narrow && *f->narrow) {
        fputs("<source media=\"(max-width:40rem)\" srcset=\"", p->out);
        rg_html_link(p->out, f->narrow);
        fputs("\">", p->out);
    }
    fputs(f->svg ? "<img src=\"data:image/svg+xml;base64," : "<img src=\"", p->out);
    if (f->svg)
        put_base64(p->out, f->svg);
    else
        rg_html_link(p->out, f->wide);
    if (broad) fprintf(p->out, "\" style=\"--wide:%dpx", f->width);
    fprintf(p->out, "\" width=\"%d\" height=\"%d\" loading=\"lazy\" alt=\"", f->width, f->height);
    rg_html_text(p->out, f->alt);
    fputs("\"></picture>\n<p class=\"from\">", p->out);
    link_to(p, f->data, "data");
    link_to(p, f->script, "gnuplot script");
    fputs("</p></figure>\n", p->out);
}

static void figures(rg_page *p, const rg_page_figure *f, int n)
{
    end_list(p);
    fprintf(p->out, "<div class=\"figures%s\">\n", n && f->svg ? " held" : "");
    for (int i = 0; i < n; i++) figure(p, &f[i]);
    fputs("</div>\n", p->out);
}

static void fold(rg_page *p, const char *summary)
{
    end_list(p);
    fputs("<details><summary>", p->out);
    rg_html_rich(p->out, summary);
    fputs("</summary>\n", p->out);
}

static void fold_end(rg_page *p)
{
    end_list(p);
    fputs("</details>\n", p->out);
}

const rg_page_make rg_html = {heading, paragraph, item, table, row, table_end, figures, fold, fold_end};

// ---- the whole -----------------------------------------------------------------------------------------------------------

// A file that ships with the program, as it is.
static int put_file(rg_page *p, const char *shared)
{
    char *path = rg_share_path(shared);
    const int code = rg_file_append(p->out, path);
    free(path);
    return code;
}

int rg_html_begin(rg_page *p, const char *title)
{
    // The policy: nothing is loaded from elsewhere, not even by what might slip through the escaping.
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' file: data:; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n" RG_PAGE_MARK " " RG_VERSION "\">\n",
        p->out);
    element(p, "title", title);
    fputs("<style>\n", p->out);
    int code = put_file(p, "plots/page.css");
    fputs("</style>\n<script>\n", p->out);
    if (code == RG_GOOD) code = put_file(p, "plots/page.js");
    fputs("</script>\n</head>\n<body>\n", p->out);
    return code;
}

void rg_html_end(rg_page *p)
{
    end_list(p);
    fputs("</body>\n</html>\n", p->out);
}
