// SPDX-License-Identifier: MIT
#include "malformed.h"
#include "core.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int rg_malformed(const char *path, int64_t byte, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return rg_fail(RG_USAGE, "%s: at byte %" PRId64 ": %s", path, byte, text);
}

int rg_input_open(const char *path, FILE **file, int64_t *bytes)
{
    struct stat facts;
    *file = NULL;
    if (stat(path, &facts) != 0)
        return rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(facts.st_mode))
        return rg_fail(RG_USAGE, "%s: is a directory; name the files in it", path);
    if (!S_ISREG(facts.st_mode))
        return rg_fail(RG_USAGE, "%s: is no regular file; sizes are checked before reading, so save it to a file first", path);
    *file = fopen(path, "rb");
    if (!*file)
        return rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    *bytes = facts.st_size;
    return RG_GOOD;
}

int rg_input_text(const char *path, int64_t most, char **text, int64_t *bytes)
{
    FILE *file;
    *text = NULL;
    int code = rg_input_open(path, &file, bytes);
    if (code != RG_GOOD)
        return code;
    if (*bytes > most) {
        fclose(file);
        return rg_fail(RG_USAGE, "%s: expected at most %" PRId64 " bytes, found %" PRId64, path, most, *bytes);
    }
    *text = rg_alloc((size_t)*bytes + 1);
    int64_t got = (int64_t)fread(*text, 1, (size_t)*bytes, file);
    const char *zero = memchr(*text, 0, (size_t)got);
    fclose(file);
    if (got != *bytes)
        code = rg_malformed(path, got, "expected %" PRId64 " bytes, found a read error", *bytes);
    else if (zero)
        code = rg_malformed(path, zero - *text, "expected text, found a byte 0");
    if (code != RG_GOOD) {
        free(*text);
        *text = NULL;
    }
    return code;
}

const char *rg_quote_bytes(const void *p, int n)
{
    static _Thread_local char text[80];
    const unsigned char *byte = p;
    size_t used = 0;
    text[used++] = '"';
    for (int i = 0; i < n && used + 6 < sizeof text; i++) {
        if (byte[i] >= 32 && byte[i] < 127 && byte[i] != '"' && byte[i] != '\\')
            text[used++] = (char)byte[i];
        else
            used += (size_t)snprintf(text + used, 5, "\\x%02x", byte[i]);
    }
    text[used++] = '"';
    text[used] = '\0';
    return text;
}
