// SPDX-License-Identifier: MIT
// escape.c: see escape.h.
#include "escape.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

// RFC 4648.
void rg_html_base64(FILE *out, const char *text)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t n = strlen(text), i = 0; i < n; i += 3) {
        const uint32_t three = (uint32_t)(unsigned char)text[i] << 16 |
            (i + 1 < n ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0) | (i + 2 < n ? (unsigned char)text[i + 2] : 0);
        for (size_t k = 0; k < 4; k++) putc(i + k > n ? '=' : digit[three >> (18 - 6 * k) & 63], out);
    }
}

// What means something to a Markdown reader is escaped, HTML too; a cell ends at '|'. `code` passes as it is, between two back
// quotes.
void rg_markdown_text(FILE *out, const char *text)
{
    const char *end = NULL; // of the code that is open
    for (; *text; text++) {
        if (!end && *text == '`' && (end = strchr(text + 1, '`')))
            putc('`', out);
        else if (text == end) {
            end = NULL;
            putc('`', out);
        } else if ((unsigned char)*text < 32 || *text == 127)
            putc(' ', out);
        else if (*text == '|')
            fputs("\\|", out);
        else if (!end && (*text == '<' || *text == '&'))
            fputs(*text == '<' ? "&lt;" : "&amp;", out);
        else if (!end && strchr("*_[]`\\", *text))
            fprintf(out, "\\%c", *text);
        else
            putc(*text, out);
    }
}
