// SPDX-License-Identifier: MIT
// main.c: the commands and their dispatch; `list` and `man` themselves.
#include "base/core.h"
#include "runtime/table.h"
#include "runtime/tuned.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND(id) extern const rg_command rg_cmd_##id;
#include "commands.def"
#undef COMMAND

static const rg_command *const commands[] = {
#define COMMAND(id) &rg_cmd_##id,
#include "commands.def"
#undef COMMAND
    NULL,
};

// ---- list ----------------------------------------------------------------------------------------------------------------

static void list_variant(const rg_entry *e, const char *device)
{
    const char *lacks = rg_unavailable(e);
    printf("  %-18s %s%-9s%s %s", e->name, rg_colour(stdout, lacks ? "yellow" : "green"),
           lacks ? "not here" : e->emulated ? "emulated" : "here", rg_colour(stdout, "off"), e->variant->idea);
    if (lacks)
        printf("  [%s]", lacks);
    putchar('\n');
    for (int i = 0; i < e->variant->n_params; i++) {
        const rg_param *p = &e->variant->param[i];
        printf("  %-28s %s%s = %lld of", "", rg_colour(stdout, "dim"), p->name, (long long)p->standard);
        for (int k = 0; k < p->n_values; k++)
            printf(" %lld", (long long)p->value[k]);
        printf(": %s%s\n", p->doc, rg_colour(stdout, "off"));
    }
    rg_tuned_print(e, device, stdout);
}

static int list_run(const rg_cli *cli)
{
    const char *pattern = rg_cli_count(cli) ? rg_cli_word(cli, 0) : "", *device = rg_cli_text(cli, "device", "gpu");
    int code = rg_pattern_check(pattern, device);
    if (code)
        return code;
    for (int i = 0; i < rg_algo_count(); i++) {
        const rg_algo *algo = rg_algo_at(i);
        bool headed = false;
        for (const rg_entry *e = NULL; (e = rg_entry_next(e, pattern, device));) {
            if (e->algo != algo)
                continue;
            if (!headed)
                printf("%s%s%s: %s\n", rg_colour(stdout, "bold"), algo->name, rg_colour(stdout, "off"), algo->formula);
            headed = true;
            list_variant(e, device);
        }
    }
    return RG_GOOD;
}

const rg_command rg_cmd_list = {
    "list", "[ALGO[:VARIANT]] [--device host]", "the function table: algorithm, variant, idea, available here or why not",
    "Each variant is one way of computing its algorithm. With --device host the CUDA variants are listed as they run emulated on\n"
    "the CPU, for checking only. The values a parameter may take follow its default; what `regather tune` found for this machine's\n"
    "processor (data/tuned) follows them, by shape, and takes the defaults' place.",
    NULL, list_run, false,
};

// ---- man -----------------------------------------------------------------------------------------------------------------

static int man_run(const rg_cli *cli)
{
    (void)cli;
    rg_command_man(commands, stdout);
    return RG_GOOD;
}

const rg_command rg_cmd_man = {
    "man", "", "print the manual page regather(1), made from the same text as --help", "Try: regather man | man -l -", NULL, man_run, false,
};

// ---- dispatch ------------------------------------------------------------------------------------------------------------

static void help(FILE *out)
{
    fprintf(out, "regather " RG_VERSION ": four papers on GPU imaging kernels, reproduced, checked, timed, compared\n\n"
                 "usage: regather COMMAND [options]\n\n");
    for (const rg_command *const *c = commands; *c; c++)
        fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
    fprintf(out, "\n'regather COMMAND --help' explains each. 'make reproduce' does everything.\n");
}

int main(int argc, char **argv)
{
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
    for (const rg_command *const *c = commands; *c; c++)
        if (!strcmp(argv[1], (*c)->name)) {
            int code = rg_cli_run(*c, argc - 1, argv + 1);
            if (fflush(stdout) && !code) // a full disk behind a pipe or redirection must not read as success
                code = rg_fail(RG_USAGE, "standard output: cannot write");
            return code;
        }
    rg_near near = {0};
    for (const rg_command *const *c = commands; *c; c++)
        rg_nearer(argv[1], strlen(argv[1]), (*c)->name, &near);
    return rg_fail(RG_USAGE, "unknown command \"%s\"; %s%s%s'regather --help' lists them", argv[1],
                   near.name ? "did you mean " : "", near.name ? near.name : "", near.name ? "? " : "");
}
