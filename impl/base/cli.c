// SPDX-License-Identifier: MIT
// cli.c: the command line. Options are data; the parser, --help and the man page are made from the same tables.
#include "core.h"
#include "tsv.h"
#include "../gpu/device.h"
#include "../runtime/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rg_cli {
    const rg_command *command;
    char *line;
    int n_words, n_values;
    const char **word;
    struct { const rg_option *option; const char *text; } *value;
};

const rg_option rg_common_options[] = {
    {"help", NULL, "print this and exit", false},
    {"quiet", NULL, "no progress line", false},
    {"seed", "N", "seed of every random choice (default 1); printed in every result", false},
    {"threads", "N", "CPU threads (default: all this process may use)", false},
    {"device", "NAME", "gpu (default), gpu0.. or host, the emulated GPU: where device variants run; cpu: without them", false},
    {"plugin", "FILE.so", "load variants from a plug-in; may be repeated", true},
    {NULL, NULL, NULL, false},
};

static const rg_option *option_named(const rg_command *command, const char *name, size_t length)
{
    const rg_option *const table[] = {command->option, rg_common_options};
    for (int t = 0; t < 2; t++)
        for (const rg_option *o = table[t]; o && o->name; o++)
            if (strlen(o->name) == length && !strncmp(o->name, name, length))
                return o;
    return NULL;
}

// Edits (a letter more, less or another, two swapped) that make `name` of a word of `length`; names are short.
static int edits(const char *word, int length, const char *name)
{
    enum { LONGEST = 32 };
    int row[3][LONGEST + 1], *before = row[0], *last = row[1], *now = row[2], n = (int)strlen(name);
    if (n > LONGEST || length > LONGEST)
        return LONGEST;
    for (int j = 0; j <= n; j++)
        last[j] = j;
    for (int i = 1; i <= length; i++) {
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            bool same = word[i - 1] == name[j - 1];
            int best = last[j - 1] + !same;
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[n];
}

// A third of the letters may be wrong; a beginning is as near as one edit.
void rg_nearer(const char *word, size_t length, const char *name, rg_near *near)
{
    int n = (int)length, distance = n > 1 && !strncmp(word, name, length) ? 1 : edits(word, n, name);
    if (distance <= (n + 2) / 3 && (!near->name || distance < near->distance))
        *near = (rg_near){name, distance};
}

static const rg_option *declared(const rg_cli *cli, const char *name)
{
    const rg_option *option = option_named(cli->command, name, strlen(name));
    if (!option) {
        rg_fail(RG_USAGE, "internal: command %s asks for undeclared option --%s", cli->command->name, name);
        abort();
    }
    return option;
}

const char *rg_cli_nth(const rg_cli *cli, const char *name, int nth)
{
    const rg_option *option = declared(cli, name);
    for (int i = 0; i < cli->n_values; i++)
        if (cli->value[i].option == option && nth-- == 0)
            return cli->value[i].text;
    return NULL;
}

const char *rg_cli_text(const rg_cli *cli, const char *name, const char *standard)
{
    const char *text = rg_cli_nth(cli, name, 0);
    return text ? text : standard;
}

bool rg_cli_flag(const rg_cli *cli, const char *name) { return rg_cli_nth(cli, name, 0) != NULL; }
int rg_cli_count(const rg_cli *cli) { return cli->n_words; }
const char *rg_cli_word(const rg_cli *cli, int i) { return i < cli->n_words ? cli->word[i] : NULL; }
const char *rg_cli_line(const rg_cli *cli) { return cli->line; }

int rg_cli_int(const rg_cli *cli, const char *name, int64_t standard, int64_t low, int64_t high, int64_t *value)
{
    const char *text = rg_cli_text(cli, name, NULL);
    *value = standard;
    if (!text)
        return RG_GOOD;
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (errno || end == text || *end || *value < low || *value > high)
        return rg_fail(RG_USAGE, "--%s: expected a whole number from %lld to %lld, found \"%s\"", name, (long long)low,
                       (long long)high, text);
    return RG_GOOD;
}

int rg_cli_real(const rg_cli *cli, const char *name, double standard, double low, double high, double *value)
{
    const char *text = rg_cli_text(cli, name, NULL);
    *value = standard;
    if (!text)
        return RG_GOOD;
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= low && *value <= high))
        return rg_fail(RG_USAGE, "--%s: expected a number from %g to %g, found \"%s\"", name, low, high, text);
    return RG_GOOD;
}

static int unknown_option(const rg_command *command, const char *name, size_t length)
{
    const rg_option *const table[] = {command->option, rg_common_options};
    rg_near near = {0};
    for (int t = 0; t < 2; t++)
        for (const rg_option *o = table[t]; o && o->name; o++)
            rg_nearer(name, length, o->name, &near);
    return rg_fail(RG_USAGE, "%s: unknown option --%.*s; %s%s%ssee 'regather %s --help'", command->name, (int)length, name,
                   near.name ? "did you mean --" : "", near.name ? near.name : "", near.name ? "? " : "", command->name);
}

// Whether a list of words, a blank between two, has this one.
static bool listed(const char *words, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = words; (at = strstr(at, name)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

int rg_cli_only_with(const rg_cli *cli, const char *names, const char *what)
{
    for (int i = 0; i < cli->n_values; i++)
        if (listed(names, cli->value[i].option->name))
            return rg_fail(RG_USAGE, "%s: --%s goes with %s only", cli->command->name, cli->value[i].option->name, what);
    return RG_GOOD;
}

int rg_cli_takes(const rg_cli *cli, const char *names, const char *what)
{
    for (int i = 0; i < cli->n_values; i++) {
        const char *name = cli->value[i].option->name;
        if (option_named(&(rg_command){0}, name, strlen(name)) || listed(names, name))
            continue;
        return rg_fail(RG_USAGE, "%s %s: takes no --%s (see regather %s --help)", cli->command->name, what, name,
                       cli->command->name);
    }
    return RG_GOOD;
}

// A device that is asked for by name must be there: no job goes on quietly without it.
static int check_device(const rg_cli *cli)
{
    char why[200];
    const char *name = rg_cli_text(cli, "device", NULL);
    if (!name)
        return RG_GOOD;
    int index = rg_device_index(name);
    if (index == RG_DEVICE_UNKNOWN)
        return rg_fail(RG_USAGE, "--device: expected gpu, gpu0, gpu1, ..., host or cpu, found \"%s\"", name);
    int there = index < 0 ? 0 : rg_gpu_count(why);
    if (index < there || index < 0)
        return RG_GOOD;
    return there ? rg_fail(RG_LACKS, "--device %s: this machine has gpu0 to gpu%d", name, there - 1)
                 : rg_fail(RG_LACKS, "--device %s: %s", name, why);
}

static int take_option(rg_cli *cli, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2;
    size_t length = strcspn(name, "=");
    const rg_option *option = option_named(cli->command, name, length);
    if (!option)
        return unknown_option(cli->command, name, length);
    for (int k = 0; k < cli->n_values && !option->many; k++)
        if (cli->value[k].option == option)
            return rg_fail(RG_USAGE, "%s: --%s given twice", cli->command->name, option->name);
    const char *text = name[length] == '=' ? name + length + 1 : NULL;
    if (!option->arg && text)
        return rg_fail(RG_USAGE, "%s: --%s takes no value", cli->command->name, option->name);
    if (option->arg && !text) {
        if (*i + 1 >= argc)
            return rg_fail(RG_USAGE, "%s: --%s needs a value: --%s %s", cli->command->name, option->name, option->name,
                           option->arg);
        text = argv[++*i];
    }
    cli->value[cli->n_values].option = option;
    cli->value[cli->n_values++].text = text ? text : "";
    return RG_GOOD;
}

static int parse(rg_cli *cli, int argc, char **argv)
{
    bool words_only = false;
    for (int i = 1; i < argc; i++) {
        if (!words_only && !strcmp(argv[i], "--")) {
            words_only = true;
        } else if (!words_only && !strcmp(argv[i], "-h")) {
            argv[i] = (char *)"--help";
            i--;
        } else if (!words_only && !strncmp(argv[i], "--", 2)) {
            int code = take_option(cli, argc, argv, &i);
            if (code)
                return code;
        } else if (!words_only && argv[i][0] == '-' && argv[i][1]) {
            return rg_fail(RG_USAGE, "%s: unknown option %s; see 'regather %s --help'", cli->command->name, argv[i],
                           cli->command->name);
        } else {
            cli->word[cli->n_words++] = argv[i];
        }
    }
    return RG_GOOD;
}

static char *join(int argc, char **argv)
{
    char *line = NULL;
    size_t length;
    FILE *to = open_memstream(&line, &length);
    if (!to)
        exit(rg_fail(RG_LACKS, "out of memory"));
    fputs("regather", to);
    for (int i = 0; i < argc; i++)
        rg_tsv_print(to, " %s", argv[i]); // for heads of files: one line, whatever a name holds
    fclose(to);
    return line;
}

int rg_cli_run(const rg_command *command, int argc, char **argv)
{
    rg_cli cli = {.command = command, .line = join(argc, argv)};
    cli.word = rg_alloc((size_t)argc * sizeof *cli.word);
    cli.value = rg_alloc((size_t)argc * sizeof *cli.value);
    int code = parse(&cli, argc, argv);
    if (!code && rg_cli_flag(&cli, "help")) {
        rg_command_help(command, stdout);
    } else if (!code) {
        rg_quiet = rg_cli_flag(&cli, "quiet");
        if (command->one_process)
            rg_gpu_ask_here();
        code = check_device(&cli);
        for (int i = 0; !code && rg_cli_nth(&cli, "plugin", i); i++)
            code = rg_plugin_load(rg_cli_nth(&cli, "plugin", i));
        if (!code)
            code = command->run(&cli);
    }
    free(cli.line);
    free(cli.word);
    free(cli.value);
    return code;
}

// ---- help and manual from the same data ----------------------------------------------------------------------------------

static void options_help(const rg_option *o, FILE *out)
{
    for (; o && o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        fprintf(out, strlen(left) > 26 ? "  %s\n  %-26s %s\n" : "  %-26s %.0s%s\n", left, "", o->doc);
    }
}

void rg_command_help(const rg_command *c, FILE *out)
{
    fprintf(out, "regather %s: %s\n\nusage: regather %s %s\n\n", c->name, c->summary, c->name, c->usage);
    if (c->help && *c->help)
        fprintf(out, "%s\n\n", c->help);
    if (c->option && c->option->name) {
        fprintf(out, "options:\n");
        options_help(c->option, out);
        fputc('\n', out);
    }
    fprintf(out, "common options:\n");
    options_help(rg_common_options, out);
    fprintf(out, "\nexit: 0 good, 1 a check failed or something is slower, 2 bad usage or bad input, 3 unsure,\n"
                 "      4 the machine lacks what was asked for\n");
}

// Text for troff: a backslash doubled, a line that begins with a dot or quote shielded.
static void roff(FILE *out, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        line_start = *text == '\n';
    }
    fputc('\n', out);
}

static void roff_options(const rg_option *o, FILE *out)
{
    for (; o && o->name; o++) {
        fprintf(out, ".TP\n\\fB\\-\\-");
        for (const char *c = o->name; *c; c++)
            fputs(*c == '-' ? "\\-" : (char[]){*c, 0}, out);
        fprintf(out, "\\fR%s%s%s\n", o->arg ? " \\fI" : "", o->arg ? o->arg : "", o->arg ? "\\fR" : "");
        roff(out, o->doc);
    }
}

void rg_command_man(const rg_command *const *command, FILE *out)
{
    fprintf(out, ".TH REGATHER 1 \"\" \"regather %s\" \"User Commands\"\n.SH NAME\nregather \\- GPU imaging kernels of four papers: "
                 "reproduced, checked, timed, compared\n.SH SYNOPSIS\n.B regather\n.I COMMAND\n[options]\n.SH COMMANDS\n", RG_VERSION);
    for (const rg_command *const *c = command; *c; c++) {
        fprintf(out, ".SS regather %s ", (*c)->name);
        roff(out, (*c)->usage);
        roff(out, (*c)->summary);
        fprintf(out, ".PP\n.nf\n");
        roff(out, (*c)->help ? (*c)->help : "");
        fprintf(out, ".fi\n");
        roff_options((*c)->option, out);
    }
    fprintf(out, ".SH COMMON OPTIONS\n");
    roff_options(rg_common_options, out);
    fprintf(out, ".SH EXIT STATUS\n0 good; 1 a check failed or something is slower; 2 bad usage or bad input; 3 unsure; "
                 "4 the machine lacks what was asked for.\n");
}
