// SPDX-License-Identifier: MIT
#include "malformed.h"
#include "core.h"

#include <sys/stat.h>
#if HAVE_ZLIB
#include <zlib.h>
#endif

int rg_malformed(const char *path, int64_t byte, const char *format, ...) {
    char text[400];
    RG_FORMAT(text, sizeof text, format);
    return rg_fail(RG_USAGE, "%s: at byte %" PRId64 ": %s", path, byte, text);
}

const char *rg_known_as(const void *head, size_t n) {
    static const struct {
        const char *magic;
        size_t length;
        const char *text;
    } known[] = {
        {"\x89HDF\r\n\x1a\n", 8, "an HDF5 file; e2proc3d.py IN.hdf OUT.mrc of EMAN2 converts those of EMAN2 and Chimera"},
        {"\x93NUMPY", 6, "an array of NumPy, as cryoSPARC's .cs files are; csparc2star.py of pyem makes a STAR file of those"},
        {"\x89PNG\r\n\x1a\n", 8, "a PNG picture"},
        {"II*\0", 4, "a TIFF picture"},
        {"MM\0*", 4, "a TIFF picture"},
        {"II+\0", 4, "a TIFF picture"},
        {"MM\0+", 4, "a TIFF picture"},
        {"P1\n", 3, "a PBM bitmap; pbmtopgm 1 1 of netpbm makes a PGM picture of it"},
        {"P4\n", 3, "a PBM bitmap; pbmtopgm 1 1 of netpbm makes a PGM picture of it"},
        {"P7\n", 3, "a PAM picture; pamtopnm of netpbm makes a PGM or PPM picture of it"},
        {"Pf\n", 3, "a PFM picture; tifffile or ImageMagick make a TIFF picture of floats of it"},
        {"#LSX", 4, "a list of EMAN2; e2proclst.py and e2proc2d.py make a stack of it"},
        {"II\x97\1", 4, "a series of TIA or EMISPEC; e2proc2d.py IN.ser OUT.mrc of EMAN2 converts it"},
        {"\xFF\xD8\xFF", 3, "a JPEG picture; convert IN.jpg OUT.png of ImageMagick converts it"},
        {"\0\0\0\3", 4, "perhaps a DM3 file; dm2mrc IN.dm3 OUT.mrc of IMOD converts those"},
        {"\0\0\0\4", 4, "perhaps a DM4 file; dm2mrc IN.dm4 OUT.mrc of IMOD converts those"},
        {"BZh", 3, "a file of bzip2; bunzip2 unpacks it"},
        {"\xFD"
         "7zXZ",
            5, "a file of xz; unxz unpacks it"},
        {"\x28\xB5\x2F\xFD", 4, "a file of zstd; unzstd unpacks it"},
        {"PK\3\4", 4, "a zip archive; unzip unpacks it"},
        {"\xEF\xBB\xBF", 3, "a byte order mark; save the text as UTF-8 without it"},
        {"\xFF\xFE", 2, "text in UTF-16; save it as UTF-8"},
        {"\xFE\xFF", 2, "text in UTF-16; save it as UTF-8"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= known[i].length && memcmp(head, known[i].magic, known[i].length) == 0) return known[i].text;
    return NULL;
}

#if HAVE_ZLIB
// Replaces *file, which is in gzip format, by a temporary file with the unpacked content.
static int unpack(const char *path, FILE **file, int64_t *bytes) {
    enum { PIECE = 1 << 18 };
    FILE *plain = tmpfile();
    gzFile packed = gzdopen(dup(fileno(*file)), "rb");
    char *piece = rg_alloc(PIECE);
    int code = RG_GOOD, got = 0, fault;
    if (!plain || !packed) code = rg_fail(RG_USAGE, "%s: cannot be unpacked: no temporary file can be made", path);
    for (*bytes = 0; code == RG_GOOD && (got = gzread(packed, piece, PIECE)) > 0; *bytes += got)
        if (fwrite(piece, 1, (size_t)got, plain) != (size_t)got)
            code = rg_fail(RG_USAGE, "%s: cannot be unpacked into a temporary file: %s", path, strerror(errno));
    if (code == RG_GOOD && (got < 0 || (gzerror(packed, &fault), fault != Z_OK && fault != Z_STREAM_END)))
        code = rg_malformed(path, (int64_t)gzoffset(packed), "expected a whole file of gzip, found it damaged or cut off");
    if (code == RG_GOOD && fflush(plain) != 0)
        code = rg_fail(RG_USAGE, "%s: cannot be unpacked into a temporary file: %s", path, strerror(errno));
    free(piece);
    if (packed) gzclose(packed);
    fclose(*file);
    *file = plain;
    if (code == RG_GOOD) {
        rewind(plain);
        return RG_GOOD;
    }
    if (plain) fclose(plain);
    *file = NULL;
    return code;
}
#else
static int unpack(const char *path, FILE **file, int64_t *bytes) {
    fclose(*file);
    *file = NULL;
    *bytes = 0;
    return rg_fail(RG_USAGE, "%s: is a file of gzip, and this program was built without zlib (see regather doctor)", path);
}
#endif

int rg_input_open(const char *path, FILE **file, int64_t *bytes) {
    struct stat facts;
    unsigned char magic[3];
    *file = NULL;
    if (stat(path, &facts) != 0) return rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(facts.st_mode)) return rg_fail(RG_USAGE, "%s: is a directory; name the files in it", path);
    if (!S_ISREG(facts.st_mode))
        return rg_fail(RG_USAGE, "%s: is no regular file; sizes are checked before reading, so save it to a file first", path);
    *file = fopen(path, "rb");
    if (!*file) return rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    rg_file_read_begins(path, &facts);
    *bytes = facts.st_size;
    const bool packed = fread(magic, 1, 3, *file) == 3 && memcmp(magic, "\x1f\x8b\x08", 3) == 0;
    rewind(*file);
    return packed ? unpack(path, file, bytes) : RG_GOOD;
}

// The first CR that is not part of CR LF; NULL: none. As a line end it would hide the next lines; in a comment, all of them.
static const char *lone_cr(const char *text) {
    while ((text = strchr(text, '\r')) && strchr("\r\n", text[1])) // also true at the end of the text
        text++;
    return text;
}

int rg_input_text(const char *path, int64_t most, char **text, int64_t *bytes) {
    FILE *file;
    *text = NULL;
    int code = rg_input_open(path, &file, bytes);
    if (code != RG_GOOD) return code;
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
    else if (rg_known_as(*text, (size_t)got))
        code = rg_malformed(path, 0, "expected text, found %s", rg_known_as(*text, (size_t)got));
    else if (zero)
        code = rg_malformed(path, zero - *text, "expected text, found %s",
            got >= 212 && memcmp(*text + 208, "MAP ", 4) == 0 ? "an MRC file" : "a byte 0");
    else if (lone_cr(*text))
        code = rg_malformed(path, lone_cr(*text) - *text,
            "expected lines that end in LF or CR LF, found a CR alone, as in files "
            "of old Macs; tr '\\r' '\\n' < FILE > NEW");
    if (code != RG_GOOD) {
        free(*text);
        *text = NULL;
    }
    return code;
}

const char *rg_quote_bytes(const void *p, int n) {
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
