// SPDX-License-Identifier: MIT
// driver.c: runs a fuzz target with libFuzzer's options: TARGET [-runs=N] [-max_total_time=S] [-seed=N] FILE|FOLDER... First
// every file unchanged (-runs=0: only this), then damaged files, which follow from the seed and are the same in every run. A
// crash, an abort of the target or a sanitizer's report ends it; the input is then in crash-SEED-RUN.
#include "../../impl/suite.h"
#include "fuzz.h"

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>

typedef struct seed_file {
    uint8_t *bytes;
    size_t n;
} seed_file;

enum { SEEDS_MOST = 4096, ROOM = 1 << 16 };
static seed_file given[SEEDS_MOST];
static int n_given;
static int (*target)(const uint8_t *, size_t); // the target of this name, here fuzz_NAME
static uint8_t now[2 * ROOM];
static volatile size_t now_bytes;
static volatile uint64_t now_run, now_seed;

static void crashed(int number) {
    char name[64];
    snprintf(name, sizeof name, "crash-%llu-%llu", (unsigned long long)now_seed, (unsigned long long)now_run);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0 && write(file, now, now_bytes) == (ssize_t)now_bytes) dprintf(STDERR_FILENO, "written: %s\n", name);
    raise(number); // SA_RESETHAND: now it ends the program
}

static void take(const char *path) {
    struct stat facts;
    fuzz_expect(stat(path, &facts) == 0);
    if (S_ISDIR(facts.st_mode)) {
        RG_FREED struct dirent **entry;
        const int n = scandir(path, &entry, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            RG_FREED char *file = rg_print("%s/%s", path, entry[i]->d_name);
            if (entry[i]->d_name[0] != '.') take(file);
            free(entry[i]);
        }
    } else if (n_given < SEEDS_MOST) {
        given[n_given].bytes = (uint8_t *)fuzz_get(path, &given[n_given].n);
        n_given++;
    }
}

// Difficult values for headers and tables.
static const uint32_t feared[] = {0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x10000, 0xFFFF, 1024, 4};
static const char *const word[] = {"\n", "\t", "\r\n", "#", "\"", "'", "-", "nan", "inf", "1e300", "-1e-320",
    "9223372036854775808", "0x1p-1074", "data_", "loop_", "_", "@", "%s", "$(", "\x1b[2J", "\xff", "99999999", ".", "1e", ";",
    ",", "=", ":"};

static size_t insert(uint8_t *bytes, size_t n, size_t at, const void *what, size_t length) {
    if (n + length > ROOM) return n;
    memmove(bytes + at + length, bytes + at, n - at);
    memcpy(bytes + at, what, length);
    return n + length;
}

// Makes one to eight edits: a bit, a byte, a number of 32 bits, a word, a stretch removed, doubled, zeroed or copied from
// another file, a truncation.
static size_t damage(uint8_t *bytes, size_t n, uint64_t seed) {
    uint64_t turn = 0;
    const int edits = 1 + (int)(rg_bits(seed, turn++) % 8);
    for (int e = 0; e < edits && n > 0; e++) {
        const uint64_t bits = rg_bits(seed, turn++), more = rg_bits(seed, turn++);
        // Half of the edits are in the first 256 bytes, where headers are.
        size_t at = (size_t)((bits >> 8) % (bits & 1 && n > 256 ? 256 : n)), length = (size_t)(more % 64);
        length = at + length > n ? n - at : length;
        switch (bits >> 1 & 15) {
        case 0:
        case 1: bytes[at] ^= (uint8_t)(1u << (more >> 8 & 7)); break;
        case 2:
        case 3: bytes[at] = (uint8_t)(more >> 8); break;
        case 4:
        case 5:
            at = n < 4 ? 0 : at + 4 > n ? n - 4 : at & ~(size_t)3;
            for (size_t b = 0; b < 4 && at + b < n; b++)
                bytes[at + b] = (uint8_t)(feared[(more >> 8) % RG_COUNT(feared)] >> 8 * (more >> 60 & 1 ? b : 3 - b));
            break;
        case 6:
        case 7:
        case 8: n = insert(bytes, n, at, word[more % RG_COUNT(word)], strlen(word[more % RG_COUNT(word)])); break;
        case 9: memmove(bytes + at, bytes + at + length, n - at - length), n -= length; break;
        case 10: n = insert(bytes, n, at, bytes + at, length); break;
        case 11: memset(bytes + at, 0, length); break;
        case 12: {
            const seed_file *other = &given[(more >> 8) % (uint64_t)n_given];
            const size_t from = other->n ? (size_t)((more >> 20) % other->n) : 0;
            n = insert(bytes, n, at, other->bytes + from, other->n - from < length ? other->n - from : length);
            break;
        }
        case 13: bytes[at] = (uint8_t)('0' + more % 10); break;
        default:
            if (more & 7) // else a truncation
                bytes[at] = (uint8_t)(32 + more % 95);
            else
                n = at;
        }
    }
    return n;
}

static void run(const uint8_t *bytes, size_t n) {
    RG_FREED uint8_t *exact = rg_alloc(n ? n : 1); // exact, so that ASan finds a read past the end
    memcpy(exact, bytes, n);
    target(exact, n);
}

int main(int argc, char **argv) {
    uint64_t runs = UINT64_MAX / 2, seed = 1, done = 0;
    double seconds = 1e9;
    bool limited = false;
    RG_FREED char *function = rg_print("fuzz_%s", argc > 1 ? argv[1] : "");
    *(void **)&target = dlsym(RTLD_DEFAULT, function);
    for (int i = 2; i < argc; i++)
        if (!strncmp(argv[i], "-runs=", 6))
            runs = strtoull(argv[i] + 6, NULL, 10), limited = true;
        else if (!strncmp(argv[i], "-max_total_time=", 16))
            seconds = atof(argv[i] + 16), limited = true;
        else if (!strncmp(argv[i], "-seed=", 6))
            seed = strtoull(argv[i] + 6, NULL, 10);
        else
            take(argv[i]);
    if (!target || !n_given || !limited)
        return rg_fail(RG_USAGE,
            "usage: %s TARGET [-runs=N] [-max_total_time=S] [-seed=N] FILE|FOLDER..., TARGET a file of verify/fuzz, "
            "-runs or -max_total_time needed",
            argv[0]);
    const struct sigaction on = {.sa_handler = crashed, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    const int number[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
    for (int i = 0; i < RG_COUNT(number); i++) sigaction(number[i], &on, NULL);
    FILE *kept = stderr;
    stderr = fopen("/dev/null", "w"); // hides thousands of errors; sanitizers write to the descriptor
    now_seed = seed;
    const double began_s = rg_seconds();
    for (uint64_t i = 0; i < (uint64_t)n_given + runs && rg_seconds() - began_s < seconds; i++, done++) {
        const seed_file *from = &given[i < (uint64_t)n_given ? i : rg_bits(seed, 2 * i) % (uint64_t)n_given];
        now_run = i;
        now_bytes = from->n < ROOM ? from->n : ROOM;
        memcpy(now, from->bytes, now_bytes);
        if (i >= (uint64_t)n_given) now_bytes = damage(now, now_bytes, rg_bits(seed, 2 * i + 1));
        run(now, now_bytes);
    }
    fclose(stderr);
    stderr = kept;
    printf("Done %llu runs in %.0f second(s)\n", (unsigned long long)done, rg_seconds() - began_s);
    return 0;
}
