// SPDX-License-Identifier: MIT
// core.c: errors and warnings, the clock, progress, memory, and the text of shapes and parameters.
#include "core.h"
#include "../suite.h"

#include <sys/mman.h>
#include <ctype.h>
#include <time.h>

bool rg_quiet;
int rg_rank, rg_processes_here = 1;
bool (*rg_may_fail)(void);

_Thread_local bool rg_silent;
_Thread_local atomic_bool *rg_has_failed;

int rg_utf8(const char *at, int most, uint32_t *character) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *text = (const unsigned char *)at;
    const int n = *text < 0x80 ? 1 : *text < 0xC2 ? 0 : *text < 0xE0 ? 2 : *text < 0xF0 ? 3 : *text < 0xF5 ? 4 : 0;
    uint32_t c = n > 1 ? *text & (0x7Fu >> n) : *text;
    if (!n || (most >= 0 && n > most)) return 0;
    for (int i = 1; i < n; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (text[i] & 0x3F);
    }
    *character = c;
    return c < least[n] || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF ? 0 : n;
}

bool rg_is_control(uint32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

// Bytes of the character at text (of `most` bytes) if a terminal only displays it; 0: a control character, or invalid UTF-8.
static int shown(const char *text, int most) {
    uint32_t c;
    const int n = rg_utf8(text, most, &c);
    if (!n || rg_is_control(c) || c == 0x2028 || c == 0x2029) return 0;
    const bool turns = c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return turns ? 0 : n;
}

void rg_put_text(FILE *f, const char *text, int most) {
    while (most && *text) {
        size_t run = 0; // written at once: the command of a long series is in each of its files
        for (int n; most && (n = shown(text + run, most)); run += (size_t)n) most -= most > 0 ? n : 0;
        fwrite(text, 1, run, f);
        text += run;
        if (!most || !*text) break;
        fprintf(f, "\\x%02x", (unsigned)(unsigned char)*text++);
        most -= most > 0;
    }
}

void rg_put_word(FILE *f, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%^";
    const bool quoted = !*word || word[strspn(word, plain)];
    fputs(quoted ? "'" : "", f);
    for (size_t n; *word; word += n) {
        n = *word == '\'' ? 1 : strcspn(word, "'");
        if (*word == '\'')
            fputs("'\\''", f);
        else
            rg_put_text(f, word, (int)n);
    }
    fputs(quoted ? "'" : "", f);
}

// Prints one line, as a whole also if several threads print; a text longer than any path is cut.
static void complain(const char *kind, const char *format, va_list list) {
    char text[8192];
    vsnprintf(text, sizeof text, format, list);
    fflush(stdout);
    flockfile(stderr);
    fprintf(stderr, "%sregather: %s", isatty(STDERR_FILENO) ? "\r\033[K" : "", kind);
    rg_put_text(stderr, text, -1);
    fputc('\n', stderr);
    funlockfile(stderr);
}

int rg_fail(int code, const char *format, ...) {
    va_list list;
    if (rg_silent || (rg_has_failed && atomic_exchange(rg_has_failed, true)) || (rg_may_fail && !rg_may_fail())) return code;
    va_start(list, format);
    complain("", format, list);
    va_end(list);
    return code;
}

// If several threads end the program at the same time, the first one does and prints.
void rg_end(int code, const char *format, ...) {
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    static _Thread_local bool ends_here;
    va_list list;
    while (atomic_flag_test_and_set(&ending) && !ends_here) pause();
    ends_here = true;
    rg_silent = false;
    if (!rg_may_fail || rg_may_fail()) {
        va_start(list, format);
        complain("", format, list);
        va_end(list);
    }
    exit(code);
}

void (*rg_warned)(const char *text);

void rg_warn(const char *format, ...) {
    va_list list;
    if (rg_silent || rg_rank > 0) return;
    va_start(list, format);
    complain("warning: ", format, list);
    va_end(list);
    if (rg_warned) {
        char text[8192];
        va_start(list, format);
        vsnprintf(text, sizeof text, format, list);
        va_end(list);
        rg_warned(text);
    }
}

// Requests large blocks in pages of 2 MiB, for 512 times fewer page faults.
enum { HUGE_BYTES = 2 << 20, HUGE_FROM_BYTES = 64 << 20 };

void *rg_alloc(size_t bytes) {
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p) rg_end(RG_LACKS, "out of memory: %zu bytes were requested", bytes);
    const uintptr_t past = (uintptr_t)p + bytes, first = ((uintptr_t)p + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
    if (bytes >= HUGE_FROM_BYTES) madvise((void *)first, (past - first) & ~(size_t)(HUGE_BYTES - 1), MADV_HUGEPAGE); // a hint
    return p;
}

void rg_freed(void *pointer) {
    void *was;
    memcpy(&was, pointer, sizeof was);
    free(was);
}

bool rg_decimal(const char *text, char **end, double *value) {
    *value = strtod(text, end);
    const size_t n = (size_t)(*end - text);
    return n && isfinite(*value) && !memchr(text, 'x', n) && !memchr(text, 'X', n);
}

int rg_ascending(const void *x, const void *y) {
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

void *rg_grow(void *array, int64_t n, size_t bytes) {
    if (n & (n - 1)) // a power of two is full
        return array;
    void *more = realloc(array, (n ? 2 * (size_t)n : 1) * bytes);
    if (!more) rg_end(RG_LACKS, "out of memory");
    return more;
}

char *rg_print_list(const char *format, va_list list) {
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0) rg_end(RG_LACKS, "out of memory");
    return text;
}

char *rg_print(const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = rg_print_list(format, list);
    va_end(list);
    return text;
}

double rg_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *rg_colour(FILE *f, const char *name) {
    static const char *const code[][2] = {{"green", "\033[32m"}, {"red", "\033[31m"}, {"yellow", "\033[33m"},
        {"dim", "\033[2m"}, {"bold", "\033[1m"}, {"off", "\033[0m"}};
    if (!isatty(fileno(f)) || getenv("NO_COLOR")) return "";
    for (int i = 0; i < RG_COUNT(code); i++)
        if (!strcmp(code[i][0], name)) return code[i][1];
    return "";
}

// ---- progress ------------------------------------------------------------------------------------------------------------

void rg_progress_begin(rg_progress *p, const char *what, const char *unit, double total) {
    *p = (rg_progress){.what = what, .unit = unit, .total = total, .began_s = rg_seconds()};
}

void rg_progress_at(rg_progress *p, double done) {
    enum { LINE_EVERY_S = 30 }; // if no line can be redrawn
    const double now = rg_seconds(), spent = now - p->began_s, since = now - (p->drawn_s > 0 ? p->drawn_s : p->began_s);
    const bool terminal = isatty(STDERR_FILENO);
    p->done = done;
    if (rg_quiet || (terminal ? spent < 2 || now - p->drawn_s < 0.2 : since < LINE_EVERY_S)) return;
    p->drawn_s = now;
    p->shown = terminal;
    double rate = done / spent;
    fprintf(stderr, terminal ? "\r\033[K%s %.0f/%.0f" : "regather: %s %.0f/%.0f", p->what, done, p->total);
    if (done > 0) fprintf(stderr, "  %.3g %s/s  %.0f s left", rate, p->unit, ceil((p->total - done) / rate));
    if (!terminal) fputc('\n', stderr);
    fflush(stderr);
}

void rg_progress_end(rg_progress *p) {
    if (p->shown) fprintf(stderr, "\r\033[K");
    p->shown = false;
}

// ---- shapes and parameters as text --------------------------------------------------------------------------------------

void rg_shape_print(const rg_algo *algo, const rg_shape *shape, char text[96]) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < RG_DIMS && algo->dim[i]; i++)
        used += (size_t)snprintf(text + used, 96 - used, "%s%s%" PRId64, i ? "," : "", algo->dim[i], shape->n[i]);
}

void rg_shape_describe(const rg_algo *algo, const rg_shape *shape, char text[192]) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < RG_DIMS && algo->dim[i] && used < 192; i++) {
        char value[32];
        if (!algo->dim_text || !algo->dim_text(i, shape->n[i], value)) snprintf(value, sizeof value, "%" PRId64, shape->n[i]);
        used += (size_t)snprintf(
            text + used, 192 - used, "%s%s=%s", i ? "," : "", algo->dim_name[i] ? algo->dim_name[i] : algo->dim[i], value);
    }
}

// Finds the value of dimension i with this text; values that have a word are small. Returns false if there is none.
static bool dim_value(const rg_algo *algo, int i, const char *text, size_t length, int64_t *value) {
    enum { WORDS_END = 2048 };
    char word[32], *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (!errno && end == text + length && length) return true;
    for (*value = 0; algo->dim_text && *value < WORDS_END; ++*value)
        if (algo->dim_text(i, *value, word) && strlen(word) == length && !strncmp(word, text, length)) return true;
    return false;
}

// Items "w750", "w=750" or "width=750" separated by commas; each name at most once, all of them present.
bool rg_shape_parse(const rg_algo *algo, const char *text, rg_shape *shape, char why[160]) {
    bool seen[RG_DIMS] = {false};
    memset(shape->n, 0, sizeof shape->n);
    for (const char *at = text; *at;) {
        const size_t item = strcspn(at, ","), name = strcspn(at, "=,");
        bool good = false;
        for (int i = 0; i < RG_DIMS && algo->dim[i] && !good; i++) {
            const char *const of[] = {algo->dim[i], algo->dim_name[i]};
            for (int k = 0; k < 2 && !good; k++) {
                const size_t length = of[k] ? strlen(of[k]) : 0, past = length + (name < item);
                const bool meant = length && !strncmp(at, of[k], length) && (name < item ? name == length : k == 0);
                good = meant && !seen[i] && item > past && !isspace((unsigned char)at[past]) && at[past] != '+' &&
                    dim_value(algo, i, at + past, item - past, &shape->n[i]);
                seen[i] |= good;
            }
        }
        if (!good) {
            snprintf(why, 160, "shape \"%s\": at \"%.40s\" expected one of the sizes of %s, each once", text, at, algo->name);
            return false;
        }
        at += item + (at[item] == ',');
    }
    for (int i = 0; i < RG_DIMS && algo->dim[i]; i++)
        if (!seen[i]) {
            snprintf(why, 160, "shape \"%s\": size \"%s\" is missing", text, algo->dim[i]);
            return false;
        }
    const char *invalid = algo->invalid ? algo->invalid(shape) : NULL;
    if (invalid) snprintf(why, 160, "shape \"%s\": %s", text, invalid);
    return !invalid;
}

void rg_params_standard(const rg_variant *v, int64_t *param) {
    for (int i = 0; i < v->n_params; i++) param[i] = v->param[i].standard;
}

void rg_params_print(const rg_variant *v, const int64_t *param, char text[192]) {
    size_t used = 0;
    snprintf(text, 192, "-");
    for (int i = 0; i < v->n_params && used < 192; i++)
        used += (size_t)snprintf(text + used, 192 - used, "%s%s=%" PRId64, i ? ";" : "", v->param[i].name, param[i]);
}

static const rg_param *param_named(const rg_variant *v, const char *name, size_t length) {
    for (int i = 0; i < v->n_params; i++)
        if (strlen(v->param[i].name) == length && !strncmp(v->param[i].name, name, length)) return &v->param[i];
    return NULL;
}

bool rg_params_parse(const rg_variant *v, const char *text, int64_t *param, char why[160]) {
    rg_params_standard(v, param);
    return rg_params_set(v, text, param, why);
}

bool rg_params_set(const rg_variant *v, const char *text, int64_t *param, char why[160]) {
    if (!strcmp(text, "-")) return true;
    for (const char *at = text; *at;) {
        size_t name = strcspn(at, "=");
        const rg_param *p = at[name] == '=' ? param_named(v, at, name) : NULL;
        if (!p) {
            snprintf(why, 160, "%s:%s has no parameter \"%.*s\"", v->algo, v->name, (int)strcspn(at, "=;"), at);
            return false;
        }
        char *end;
        int64_t value = strtoll(at + name + 1, &end, 10);
        bool known = false;
        for (int i = 0; i < p->n_values; i++) known |= p->value[i] == value;
        if (end == at + name + 1 || (*end && *end != ';') || !known) {
            size_t used = (size_t)snprintf(why, 160, "parameter %s of %s:%s takes", p->name, v->algo, v->name);
            for (int i = 0; i < p->n_values && used < 150; i++)
                used += (size_t)snprintf(why + used, 160 - used, " %" PRId64, p->value[i]);
            snprintf(why + (used < 140 ? used : 140), 20, ", not %.8s", at + name + 1);
            return false;
        }
        param[p - v->param] = value;
        at = *end ? end + 1 : end;
    }
    return true;
}
