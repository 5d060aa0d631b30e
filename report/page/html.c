// SPDX-License-Identifier: MIT
// html.c: the report as one self-contained page: style inside, no script, figures beside it in fig/.
#include "../report.h"
#include <string.h>

static const char style[] =
    ":root{--ink:#1c2430;--soft:#5b6675;--line:#dde2e8;--wash:#f6f8fa;--link:#0b5cad}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:68rem;padding:2rem 1.25rem 4rem;color:var(--ink);background:#fff;"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    "h1{font-size:2rem;line-height:1.2;margin:.2rem 0 .6rem;letter-spacing:-.01em}\n"
    "h2{font-size:1.35rem;margin:2.8rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--line)}\n"
    "h3{font-size:1.05rem;margin:1.8rem 0 .4rem}\n"
    "p,li{max-width:46rem}\np{margin:.5rem 0}\nul{padding-left:1.2rem}\n"
    "code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
    "background:var(--wash);padding:.05em .3em;border-radius:3px}\n"
    ".wide{overflow-x:auto;margin:.8rem 0 1.6rem}\n"
    "table{border-collapse:collapse;width:100%;font-size:.875rem;line-height:1.4;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--soft);padding:.2rem 0 .5rem}\n"
    "th{text-align:left;font-weight:600;color:var(--soft);border-bottom:2px solid var(--line);"
    "vertical-align:bottom;white-space:nowrap}\n"
    "th,td{padding:.4rem .7rem .4rem 0}\n"
    "td{border-bottom:1px solid var(--line);vertical-align:top}\n"
    "tbody tr:hover{background:var(--wash)}\n"
    ".r{text-align:right;white-space:nowrap}\n.c{text-align:center}\n.n{white-space:nowrap}\n"
    ".v{display:inline-block;padding:.05rem .5rem;border-radius:1rem;font-size:.8rem;font-weight:600;white-space:nowrap}\n"
    ".v0{background:#d8eee4;color:#0b5a40}\n.v1{background:#dff0ee;color:#0b5560}\n.v2{background:#dcebf9;color:#0b4a86}\n"
    ".v3{background:#fbe0d3;color:#96340a}\n.v4{background:#e9efdc;color:#47591b}\n.v5{background:#f7efcf;color:#6b5406}\n"
    ".v6{background:#eceff3;color:#4d5866}\n.v7{background:#f4e4f0;color:#7a2763}\n"
    "figure{margin:1.2rem 0 2.2rem}\nfigure img{width:100%;max-width:56rem;height:auto;display:block}\n"
    "figcaption{color:var(--soft);font-size:.9rem;max-width:46rem;margin-top:.4rem}\n"
    "@media(max-width:40rem){body{font-size:15px;padding:1rem .8rem 3rem}h1{font-size:1.5rem}table{font-size:.8rem}}\n"
    "@media print{body{max-width:none;font-size:10pt;padding:0}.wide{overflow:visible}table{font-size:7.5pt}"
    "h2{break-after:avoid}"
    "figure,tr{break-inside:avoid}th,.r,.n,.v{white-space:normal}}\n";

static void put(const rg_page *p, const char *text)
{
    bool code = false;
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", p->out); break;
        case '<': fputs("&lt;", p->out); break;
        case '>': fputs("&gt;", p->out); break;
        case '"': fputs("&quot;", p->out); break;
        case '`':
            fputs(code ? "</code>" : "<code>", p->out);
            code = !code;
            break;
        default: putc(*text, p->out);
        }
}

static void end_list(rg_page *p)
{
    if (p->listing)
        fputs("</ul>\n", p->out);
    p->listing = false;
}

static void element(rg_page *p, const char *tag, const char *text)
{
    end_list(p);
    fprintf(p->out, "<%s>", tag);
    put(p, text);
    fprintf(p->out, "</%s>\n", tag);
}

static void begin(rg_page *p, const char *title)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n", p->out);
    element(p, "title", title);
    fprintf(p->out, "<style>\n%s</style>\n</head>\n<body>\n", style);
    element(p, "h1", title);
}

static void heading(rg_page *p, int level, const char *text)
{
    const char tag[] = {'h', (char)('0' + level), 0};
    element(p, tag, text);
}

static void paragraph(rg_page *p, const char *text)
{
    element(p, "p", text);
}

static void item(rg_page *p, const char *text)
{
    if (!p->listing)
        fputs("<ul>\n", p->out);
    p->listing = true;
    fputs("<li>", p->out);
    put(p, text);
    fputs("</li>\n", p->out);
}

static const char *align_class(const rg_page *p, int i)
{
    return p->align[i] == 'r' ? "r" : p->align[i] == 'c' ? "c" : p->align[i] == 'n' ? "n" : "";
}

static void table(rg_page *p, const char *caption, const char *align, const char *const *column, int n)
{
    end_list(p);
    p->align = align;
    fputs("<div class=\"wide\"><table>\n<caption>", p->out);
    put(p, caption);
    fputs("</caption>\n<thead><tr>", p->out);
    for (int i = 0; i < n; i++) {
        fprintf(p->out, "<th scope=\"col\" class=\"%s\">", align_class(p, i));
        put(p, column[i]);
        fputs("</th>", p->out);
    }
    fputs("</tr></thead>\n<tbody>\n", p->out);
}

// A cell that is a verdict is set as a label: the word stays, colour only helps.
static int outcome(const char *text)
{
    for (int i = 0; i < RG_OUTCOMES; i++)
        if (!strcmp(text, rg_outcome_name[i]))
            return i;
    return -1;
}

static void row(rg_page *p, const char *const *cell, int n)
{
    fputs("<tr>", p->out);
    for (int i = 0; i < n; i++) {
        int o = outcome(cell[i]);
        fprintf(p->out, "<td class=\"%s\">", align_class(p, i));
        if (o >= 0)
            fprintf(p->out, "<span class=\"v v%d\">", o);
        put(p, cell[i]);
        fputs(o >= 0 ? "</span></td>" : "</td>", p->out);
    }
    fputs("</tr>\n", p->out);
}

static void table_end(rg_page *p)
{
    fputs("</tbody></table></div>\n", p->out);
}

static void figure(rg_page *p, const char *path, const char *alt, const char *caption)
{
    end_list(p);
    fprintf(p->out, "<figure><a href=\"%s.svg\"><img src=\"%s.svg\" alt=\"", path, path);
    put(p, alt);
    fputs("\" width=\"1000\" height=\"700\" loading=\"lazy\"></a>\n<figcaption>", p->out);
    put(p, caption);
    fputs("</figcaption></figure>\n", p->out);
}

static void end(rg_page *p)
{
    end_list(p);
    fputs("</body>\n</html>\n", p->out);
}

const rg_page_make rg_html = {begin, heading, paragraph, item, table, row, table_end, figure, end};
