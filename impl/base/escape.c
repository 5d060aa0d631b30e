// SPDX-License-Identifier: MIT
#include "fill.h"
#include "core.h"

#include <ctype.h>

// Prints one character, escaped; returns the rest.
static const char *put_one(FILE *out, const char *text) {
    uint32_t c;
    const int n = rg_utf8(text, -1, &c);
    if (n && rg_is_control(c))
        putc(' ', out);
    else if (strchr("&<>\"'`", *text))
        fprintf(out, "&#%d;", *text);
    else if (n == 0)
        fputs("\xef\xbf\xbd", out);
    else
        fwrite(text, 1, (size_t)n, out);
    return text + (n ? n : 1);
}

void rg_html_text(FILE *out, const char *text) {
    while (*text) text = put_one(out, text);
}

void rg_html_rich(FILE *out, const char *text) {
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

void rg_html_link(FILE *out, const char *path) {
    fputs(*path == '/' ? "" : "./", out);
    for (; *path; path++)
        if (isalnum((unsigned char)*path) || strchr("/._-", *path))
            putc(*path, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*path);
}

// RFC 4648.
void rg_html_base64(FILE *out, const char *text) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t n = strlen(text), i = 0; i < n; i += 3) {
        const uint32_t three = (uint32_t)(unsigned char)text[i] << 16 |
            (i + 1 < n ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0) | (i + 2 < n ? (unsigned char)text[i + 2] : 0);
        for (size_t k = 0; k < 4; k++) putc(i + k > n ? '=' : digit[three >> (18 - 6 * k) & 63], out);
    }
}

// Escapes Markdown's special characters and HTML; '|' is escaped because it ends a cell. `code` between two backquotes is
// copied unchanged.
void rg_markdown_text(FILE *out, const char *text) {
    const char *end = NULL; // end of the open code
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
