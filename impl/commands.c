// SPDX-License-Identifier: MIT
// commands.c: lists and dispatches the commands; implements `list` and `man`.
#include "jobs/pipeline/ranks.h"
#include "runtime/command.h"
#include "runtime/table.h"
#include "runtime/tuned.h"
#include "revision.h"

#include <fcntl.h>
#include <signal.h>

#define COMMAND(id) extern const rg_command rg_cmd_##id;
#include "commands.def"
#undef COMMAND

const rg_command *const rg_commands[] = {
#define COMMAND(id) &rg_cmd_##id,
#include "commands.def"
#undef COMMAND
    NULL,
};

// ---- list ----------------------------------------------------------------------------------------------------------------

static void list_variant(const rg_entry *e, const char *device) {
    const char *lacks = rg_unavailable(e);
    printf("  %-18s %s%-9s%s %s", e->name, rg_colour(stdout, lacks ? "yellow" : "green"),
        lacks             ? "not here"
            : e->emulated ? "emulated"
                          : "here",
        rg_colour(stdout, "off"), e->variant->idea);
    if (lacks) printf("  [%s]", lacks);
    putchar('\n');
    for (int i = 0; i < e->variant->n_params; i++) {
        const rg_param *p = &e->variant->param[i];
        printf("  %-28s %s%s = %lld of", "", rg_colour(stdout, "dim"), p->name, (long long)p->standard);
        for (int k = 0; k < p->n_values; k++) printf(" %lld", (long long)p->value[k]);
        printf(": %s%s\n", p->doc, rg_colour(stdout, "off"));
    }
    rg_tuned_print(e, device, stdout);
}

// Prints "fftw:plan=0?r>=26 simd" as "fftw:plan=0 where r>=26; simd".
static void list_order(const rg_algo *a) {
    printf("  a job runs the first that is here and takes its shapes: ");
    for (const char *at = a->order; *at; at++) fputs(*at == '?' ? " where " : *at == ' ' ? "; " : (char[]){*at, 0}, stdout);
    putchar('\n');
}

// ---- the same as tables, for scripts: "-" is empty

static void words(const char *const *word) {
    if (!word) putchar('-');
    for (; word && *word; word++) printf("%s%s", *word, word[1] ? " " : "");
}

static void list_algorithms(const char *pattern, const char *device) {
    const rg_algo *last = NULL;
    printf("algo\tpaper\tsmoke\tbroken\tpresets\tformula\n");
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, pattern, device));) {
        const rg_algo *a = e->algo;
        if (a == last) continue;
        last = a;
        printf("%s\t%s\t", a->name, a->paper);
        for (int i = 0; i < a->n_smoke_shapes; i++) {
            char shape[96];
            rg_shape_print(a, &a->smoke_shape[i], shape);
            printf("%s%s", i ? " " : "", shape);
        }
        putchar('\t');
        words(a->broken);
        printf("\t%s\t%s\n", a->presets ? a->presets : "-", a->formula);
    }
}

static void list_variants(const char *pattern, const char *device) {
    printf("algo\tvariant\tspace\tneeds\tlacks\tidea\n");
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, pattern, device));) {
        const char *lacks = rg_unavailable(e);
        printf("%s\t%s\t%s\t%s\t%s\t%s\n", e->algo->name, e->name,
            e->variant->space == RG_HOST ? "cpu"
                : e->emulated            ? "host"
                                         : "gpu",
            e->variant->needs && *e->variant->needs ? e->variant->needs : "-", lacks ? lacks : "-", e->variant->idea);
    }
}

typedef struct listing {
    rg_given given;
    enum { PEOPLE = -1, ALGORITHMS, VARIANTS } table;
} listing;

static const rg_option list_options[] = {
    {"table", "algorithms|variants", "the same as a table with tabs, for scripts", RG_TO(listing, table)},
    {0},
};

static int list_run(void *options) {
    const listing *l = options;
    const char *device = l->given.device;
    char pattern[512];
    int code = rg_given_words(&l->given, pattern, sizeof pattern);
    code = code ? code : rg_pattern_check(pattern, device);
    if (code) return code;
    if (l->table != PEOPLE) {
        (l->table == ALGORITHMS ? list_algorithms : list_variants)(pattern, device);
        return RG_GOOD;
    }
    for (int i = 0; i < rg_algo_count(); i++) {
        const rg_algo *algo = rg_algo_at(i);
        bool headed = false;
        for (const rg_entry *e = NULL; (e = rg_entry_next(e, pattern, device));) {
            if (e->algo != algo) continue;
            if (!headed) printf("%s%s%s: %s\n", rg_colour(stdout, "bold"), algo->name, rg_colour(stdout, "off"), algo->formula);
            headed = true;
            list_variant(e, device);
        }
        if (headed && algo->order) list_order(algo);
    }
    return RG_GOOD;
}

const rg_command rg_cmd_list = {
    .name = "list",
    .words = "[ALGO[:VARIANT]]...",
    .summary = "the function table: algorithm, variant, idea, available here or why not",
    .help = "Each variant is one way to compute its algorithm. With --device host the list shows the CUDA variants as\n"
            "they run emulated on the CPU, for checks only. The values of each parameter follow its default. Values that\n"
            "`regather tune` found for this machine's processor (data/tuned) come next, by shape, and replace the defaults.",
    .option = list_options,
    .bytes = sizeof(listing),
    .run = list_run,
};

// ---- man -----------------------------------------------------------------------------------------------------------------

static int man_run(void *options) {
    (void)options;
    rg_command_man(rg_commands, stdout);
    return RG_GOOD;
}

const rg_command rg_cmd_man = {
    .name = "man",
    .words = "",
    .summary = "print the manual page regather(1), made from the same text as --help",
    .help = "Try: regather man | man -l -",
    .bytes = sizeof(rg_given),
    .run = man_run,
};

// ---- flags to compile plug-ins ---------------------------------------------------------------------------------------------

// Uses the headers beside an installed program, else those of its source. needs: words of a descriptor's .needs.
static int cflags(const char *language, const char *needs) {
    static const char *const of_language[][2] = {
        {"c", RG_PLUGIN_C}, {"c++", RG_PLUGIN_CXX}, {"cuda", RG_PLUGIN_CUDA}, {"emulated", RG_PLUGIN_EMULATED}};
    static const char *const of_need[][2] = {RG_PLUGIN_NEEDS};
    const char *flags = NULL;
    char program[4096] = "", text[600] = "", *words = rg_print("%s", needs), *rest = words;
    for (size_t i = 0; i < sizeof of_language / sizeof *of_language; i++)
        if (!strcmp(language, of_language[i][0])) flags = of_language[i][1];
    int code = flags ? RG_GOOD : rg_fail(RG_USAGE, "--cflags: expected c, c++, cuda or emulated, found \"%s\"", language);
    for (char *word; !code && *needs && (word = strsep(&rest, ","));) {
        const char *more = NULL;
        for (size_t i = 0; i < sizeof of_need / sizeof *of_need; i++)
            if (!strcmp(word, of_need[i][0])) more = of_need[i][1];
        if (more && *language == 'c' && strcmp(language, "cuda"))
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s", more);
        else
            code =
                rg_fail(RG_USAGE, "--cflags %s: expected avx2, avx512 or avx512vnni of c or c++, found \"%s\"", language, word);
    }
    free(words);
    if (code) return code;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    for (int up = 0; up < 2 && length > 0; up++) *strrchr(program, '/') = '\0';
    RG_FREED char *installed = rg_print("%s/include/regather", program), *header = rg_print("%s/suite.h", installed);
    const char *include = access(header, R_OK) ? RG_SOURCE_DIR "/impl" : installed;
    printf("%s%s -I%s", flags, text, include);
    if (!strcmp(language, "emulated")) printf(" -I%s/gpu/emulator", include);
    putchar('\n');
    return RG_GOOD;
}

// ---- dispatch ------------------------------------------------------------------------------------------------------------

static void help(FILE *out) {
    fprintf(out,
        "regather " RG_VERSION ": four papers on GPU imaging kernels, reproduced, checked, timed, compared\n\n"
        "usage: regather COMMAND [options]\n\n");
    for (const rg_command *const *c = rg_commands; *c; c++) fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
    fprintf(out,
        "\n'regather COMMAND --help' explains each. 'make reproduce' does everything.\n"
        "'regather --cflags [c|c++|cuda|emulated] [NEEDS]' prints what a plug-in is compiled with, of intrinsics with NEEDS\n"
        "as its descriptor has them: avx2, avx512, avx512vnni.\n");
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        help(stderr);
        return RG_USAGE;
    }
    if (!strcmp(argv[1], "help") && argc > 2) { // regather help COMMAND
        argv[1] = argv[2];
        argv[2] = (char *)"--help";
        argc = 3;
    } else if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        help(stdout);
        return RG_GOOD;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("regather " RG_VERSION ", commit %s\n", rg_revision());
        return RG_GOOD;
    }
    if (!strcmp(argv[1], "--cflags")) return cflags(argc > 2 ? argv[2] : "c", argc > 3 ? argv[3] : "");
    for (const rg_command *const *c = rg_commands; *c; c++)
        if (!strcmp(argv[1], (*c)->name)) {
            if (!(*c)->one_process) return rg_command_run(*c, argc - 1, argv + 1);
            int code = rg_ranks_begin();
            return rg_ranks_end(code ? code : rg_command_run(*c, argc - 1, argv + 1));
        }
    char words[96];
    rg_near near = {0};
    for (const rg_command *const *c = rg_commands; *c; c++) rg_nearer(argv[1], strlen(argv[1]), (*c)->name, &near);
    return rg_fail(
        RG_USAGE, "unknown command \"%s\"; %s'regather --help' lists them", argv[1], rg_near_words(&near, "", words));
}

int rg_main(int argc, char **argv) {
    // If the caller closed a standard stream, a file opened later must not get its number: text of the stream would go into the
    // file.
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
    signal(SIGXFSZ, SIG_IGN); // a write beyond `ulimit -f` then fails with a message, as on a full disk
    int code = dispatch(argc, argv);
    const bool printed = fflush(stdout) == 0 && !ferror(stdout);
    // a full disk at the end of a pipe or redirection must not look like success
    return printed || code ? code : rg_fail(RG_USAGE, "standard output: cannot write");
}
