// SPDX-License-Identifier: MIT
#include "bundle.h"
#include "malformed.h"

#include <ctype.h>
#include <sys/stat.h>
#if HAVE_ZLIB
#include <zlib.h>
#endif

enum { BLOCK = 512 };

// Fields of a ustar header, all text; numbers are octal.
typedef struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6], version[2], user[32],
        group[32], major[8], minor[8], prefix[155], rest[12];
} header;
_Static_assert(sizeof(header) == BLOCK, "a header is one block");

static unsigned sum_of(const header *h) {
    const unsigned char *byte = (const unsigned char *)h;
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof *h; i++) sum += i >= offsetof(header, sum) && i < offsetof(header, type) ? ' ' : byte[i];
    return sum;
}

// What is expected of a path that is not accepted; NULL: it is accepted.
static const char *path_fault(const char *path) {
    if (!*path || strlen(path) > RG_BUNDLE_PATH_MOST) return "a path of 1 to 99 bytes";
    if (*path == '/') return "a relative path";
    for (const char *at = path; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._+=@-/", *at)) return "a path of letters, digits and ._+=@-/";
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        const size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && *part == '.') || (n == 2 && !strncmp(part, "..", 2)))
            return "a path without \"..\", \".\" and empty parts";
    }
    return NULL;
}

// ---- reading -------------------------------------------------------------------------------------------------------------

const rg_bundled *rg_bundle_find(const rg_bundle *b, const char *path) {
    for (int i = 0; i < b->n; i++)
        if (!strcmp(b->file[i].path, path)) return &b->file[i];
    return NULL;
}

// Adds a file or replaces its content; the bundle owns `bytes` from now on.
static void bundle_put(rg_bundle *b, const char *path, char *bytes, size_t n) {
    rg_bundled *f = rg_unconst(rg_bundle_find(b, path));
    if (f) {
        free(f->bytes);
    } else {
        b->file = rg_grow(b->file, b->n, sizeof *b->file);
        f = &b->file[b->n++];
        snprintf(f->path, sizeof f->path, "%s", path);
    }
    f->bytes = bytes;
    f->n = n;
}

void rg_bundle_free(rg_bundle *b) {
    for (int i = 0; i < b->n; i++) free(b->file[i].bytes);
    free(b->file);
    free(b->path);
    *b = (rg_bundle){0};
}

#if HAVE_ZLIB
// Unpacks the whole content, within the bounds.
static int inflate_all(const char *path, char **bytes, size_t *n) {
    struct stat is;
    size_t room = 1 << 16;
    int got = 0, error;
    if (stat(path, &is) || !S_ISREG(is.st_mode))
        return rg_fail(
            RG_USAGE, "%s: expected a regular file, found %s", path, errno && stat(path, &is) ? strerror(errno) : "none");
    gzFile f = gzopen(path, "rb");
    if (!f) return rg_fail(RG_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    if (gzdirect(f)) {
        gzclose(f);
        return rg_fail(RG_USAGE, "%s: expected an archive of `regather measure` (a gzipped tar), found no gzip file", path);
    }
    // The first MiB does not count: small tables with many equal rows compress well.
    const double most = (double)is.st_size * (double)RG_BUNDLE_RATIO_MOST + (1 << 20);
    *bytes = malloc(room);
    for (*n = 0; *bytes && (got = gzread(f, *bytes + *n, (unsigned)(room - *n))) > 0;) {
        *n += (size_t)got;
        if (*n > RG_BUNDLE_BYTES_MOST || (double)*n > most) break;
        if (*n == room) *bytes = realloc(*bytes, room *= 2);
    }
    if (!*bytes) rg_end(RG_LACKS, "out of memory");
    gzerror(f, &error);
    gzclose(f);
    if (got == 0 && error == Z_OK) return RG_GOOD;
    const int code = got > 0
        ? rg_fail(RG_USAGE, "%s: expected at most %d MiB of content and %d times the file's size, found more", path,
              RG_BUNDLE_BYTES_MOST >> 20, RG_BUNDLE_RATIO_MOST)
        : rg_fail(RG_USAGE, "%s: expected a whole gzip file, found one that is cut or damaged", path);
    free(*bytes);
    return code;
}

// Reads a number of octal digits; -1: it is none.
static int64_t octal(const char *text, int n) {
    int64_t value = 0;
    int i = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '7'; i++) value = 8 * value + (text[i] - '0');
    return i && (i == n || !text[i] || text[i] == ' ') ? value : -1;
}

// Reads the file whose header is at `at`, which moves to the next header.
static int one_file(rg_bundle *b, const char *bytes, size_t n, size_t *at) {
    header h;
    char name[sizeof h.name + 1] = "";
    memcpy(&h, bytes + *at, sizeof h);
    memcpy(name, h.name, sizeof h.name);
    const int64_t size = octal(h.size, sizeof h.size);
    if (memcmp(h.magic, "ustar", 5) || octal(h.sum, sizeof h.sum) != (int64_t)sum_of(&h))
        return rg_malformed(b->path, (int64_t)*at, "expected a header of a tar file, found %s", rg_quote_bytes(h.name, 20));
    if ((h.type != '0' && h.type) || *h.prefix || *h.link)
        return rg_malformed(b->path, (int64_t)*at, "expected a regular file with a short name, found %s of type %d",
            rg_quote_bytes(name, (int)strlen(name)), h.type);
    const char *fault = path_fault(name);
    if (fault)
        return rg_malformed(b->path, (int64_t)*at, "expected %s, found %s", fault, rg_quote_bytes(name, (int)strlen(name)));
    if (rg_bundle_find(b, name)) return rg_malformed(b->path, (int64_t)*at, "expected every path once, found %s again", name);
    *at += BLOCK;
    if (size < 0 || (uint64_t)size > n - *at)
        return rg_malformed(b->path, (int64_t)*at, "expected the content of %s, found the end of the file", name);
    if (b->n == RG_BUNDLE_FILES_MOST)
        return rg_fail(RG_USAGE, "%s: expected at most %d files, found more", b->path, RG_BUNDLE_FILES_MOST);
    char *copy = rg_alloc((size_t)size + 1);
    memcpy(copy, bytes + *at, (size_t)size);
    bundle_put(b, name, copy, (size_t)size);
    *at += ((size_t)size + BLOCK - 1) / BLOCK * BLOCK;
    return RG_GOOD;
}

int rg_bundle_read(const char *path, rg_bundle *b) {
    char *bytes = NULL;
    size_t n = 0, at = 0;
    *b = (rg_bundle){0};
    int code = inflate_all(path, &bytes, &n);
    if (code) return code;
    b->path = rg_print("%s", path);
    while (!code && at + BLOCK <= n && bytes[at]) code = one_file(b, bytes, n, &at);
    if (!code && (at + BLOCK > n || !b->n))
        code = rg_malformed(
            path, (int64_t)at, b->n ? "expected the end of a tar file, found that of the file" : "expected files, found none");
    free(bytes);
    if (code) rg_bundle_free(b);
    return code;
}
#else
int rg_bundle_read(const char *path, rg_bundle *b) {
    *b = (rg_bundle){0};
    return rg_fail(RG_LACKS, "%s: this build has no zlib, which reads archives: apt install zlib1g-dev, then make", path);
}
#endif

// ---- writing -------------------------------------------------------------------------------------------------------------

#if HAVE_ZLIB
// Compresses bytes into the file; end: flushes the coder.
static void put(rg_pack *p, const void *bytes, size_t n, bool end) {
    unsigned char out[1 << 14];
    z_stream *z = p->coder;
    z->next_in = rg_unconst(bytes);
    z->avail_in = (unsigned)n;
    for (bool more = n || end; more && !p->failed; more = z->avail_out == 0) {
        z->next_out = out;
        z->avail_out = sizeof out;
        if (deflate(z, end ? Z_FINISH : Z_NO_FLUSH) < Z_OK) p->failed = "zlib cannot compress it";
        errno = 0;
        if (fwrite(out, 1, sizeof out - z->avail_out, p->file.stream) != sizeof out - z->avail_out)
            p->failed = errno ? strerror(errno) : "a write failed, is the disk full?";
    }
}

static void end_coder(rg_pack *p) {
    deflateEnd(p->coder);
    free(p->coder);
}

int rg_pack_begin(rg_pack *p, const char *path) {
    z_stream *z = rg_alloc(sizeof *z);
    *p = (rg_pack){.coder = z};
    const bool made = deflateInit2(z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK; // + 16: a gzip header
    int code = made ? rg_file_open(&p->file, path) : rg_fail(RG_LACKS, "%s: no memory to compress", path);
    if (code) end_coder(p);
    return code;
}
#else
static void put(rg_pack *p, const void *bytes, size_t n, bool end) { (void)p, (void)bytes, (void)n, (void)end; }
static void end_coder(rg_pack *p) { (void)p; }
int rg_pack_begin(rg_pack *p, const char *path) {
    *p = (rg_pack){0};
    return rg_fail(RG_LACKS, "%s: this build has no zlib, which writes archives: apt install zlib1g-dev, then make", path);
}
#endif

static void put_header(rg_pack *p, const char *path, size_t n, int mode) {
    header h = {0};
    snprintf(h.name, sizeof h.name, "%s", path);
    snprintf(h.mode, sizeof h.mode, "%07o", (unsigned)mode & 0777);
    snprintf(h.uid, sizeof h.uid, "%07o", 0);
    snprintf(h.gid, sizeof h.gid, "%07o", 0);
    snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)n & 077777777777);
    snprintf(h.mtime, sizeof h.mtime, "%011o", 0); // the same content makes the same file
    h.type = '0';
    memcpy(h.magic, "ustar", 6);
    memcpy(h.version, "00", 2);
    snprintf(h.sum, sizeof h.sum, "%06o", sum_of(&h) & 0777777);
    h.sum[7] = ' ';
    put(p, &h, sizeof h, false);
}

static void put_padding(rg_pack *p, size_t n) {
    static const char zero[BLOCK];
    put(p, zero, (BLOCK - n % BLOCK) % BLOCK, false);
}

static int abandoned(rg_pack *p, int code) {
    end_coder(p);
    rg_file_abandon(&p->file);
    return code;
}

int rg_pack_add(rg_pack *p, const char *path, const void *bytes, size_t n, int mode) {
    const char *fault = path_fault(path);
    if (fault) return abandoned(p, rg_fail(RG_USAGE, "%s: expected %s, found \"%s\"", p->file.path, fault, path));
    put_header(p, path, n, mode);
    put(p, bytes, n, false);
    put_padding(p, n);
    return RG_GOOD;
}

int rg_pack_add_file(rg_pack *p, const char *path, const char *from, int mode) {
    struct stat is;
    unsigned char part[1 << 14];
    FILE *f = fopen(from, "rb");
    const char *fault = path_fault(path);
    if (fault || !f || fstat(fileno(f), &is)) {
        fault = fault ? fault : strerror(errno);
        if (f) fclose(f);
        return abandoned(p, rg_fail(RG_USAGE, "%s: cannot be packed: %s", from, fault));
    }
    size_t left = (size_t)is.st_size;
    put_header(p, path, left, mode);
    for (size_t n; left && (n = fread(part, 1, left < sizeof part ? left : sizeof part, f)) > 0; left -= n)
        put(p, part, n, false);
    fclose(f);
    put_padding(p, (size_t)is.st_size);
    return left ? abandoned(p, rg_fail(RG_USAGE, "%s: cannot be packed: it became shorter meanwhile", from)) : RG_GOOD;
}

int rg_pack_commit(rg_pack *p) {
    static const char end[2 * BLOCK];
    put(p, end, sizeof end, false);
    put(p, NULL, 0, true);
    if (p->failed) return abandoned(p, rg_fail(RG_USAGE, "%s: cannot be written: %s", p->file.path, p->failed));
    end_coder(p);
    return rg_file_commit(&p->file);
}
