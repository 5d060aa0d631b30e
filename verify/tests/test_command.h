// SPDX-License-Identifier: MIT
// test_command.h: for test programs of commands: runs one in this process with what it prints on stdout brought back as text.
#ifndef RG_TEST_COMMAND_H
#define RG_TEST_COMMAND_H

#include "../../bench/timing/timing.h"
#include "../../data/formats/result.h"
#include "../../impl/runtime/command.h"
#include "test_build.h"
#include "test_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20 };

// Exit code of `regather ARGV...`, ended by NULL. What it printed is in text.
static inline int run_argv(const rg_command *command, char **argv, char *text)
{
    int argc = 0;
    char *program = rg_print("%s/regather", test_build()); // for commands that start processes of their own
    setenv("REGATHER_PROGRAM", program, 1);
    free(program);
    while (argv[argc]) argc++;
    fflush(stdout);
    FILE *caught = tmpfile();
    int kept = dup(STDOUT_FILENO);
    dup2(fileno(caught), STDOUT_FILENO);
    int code = rg_command_run(command, argc, argv);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(caught);
    size_t n = fread(text, 1, OUTPUT_MAX - 1, caught);
    text[n] = '\0';
    fclose(caught);
    return code;
}

// The same of one text, whose words are separated by single blanks.
static inline int run_command(const rg_command *command, const char *words, char *text)
{
    char *line = rg_print("%s", words), *argv[64];
    int argc = 0;
    for (char *at = strtok(line, " "); at && argc < 63; at = strtok(NULL, " ")) argv[argc++] = at;
    argv[argc] = NULL;
    int code = run_argv(command, argv, text);
    free(line);
    return code;
}

// A row of variant `name` whose n samples are `ns` times 1 to 1.01, in the order of a small permutation; 20 and more are those of
// processes that took ten each.
static inline rg_row test_row(const char *name, const char *scope, int n, double ns)
{
    rg_row row = rg_row_empty();
    const struct {
        rg_column column;
        const char *text;
    } fixed[] = {{RG_C_ALGO, "autocorr"}, {RG_C_VARIANT, name}, {RG_C_SHAPE, "w64,h64,r8,k0"}, {RG_C_PARAMS, "threads=1;isa=2"},
        {RG_C_SPACE, "host"}, {RG_C_SCOPE, scope}, {RG_C_MODE, "hot"}, {RG_C_UNIT, "ns"}, {RG_C_RATE_UNIT, "multiply-adds/s"},
        {RG_C_STATUS, "PASS"}, {RG_C_STOP, "interval"}, {RG_C_RATE, "1e9"}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        free(row.cell[fixed[i].column]);
        row.cell[fixed[i].column] = rg_print("%s", fixed[i].text);
    }
    char *samples = rg_print("%s", "");
    for (int i = 0; i < n; i++) {
        char *more = rg_print("%s%s%.3f", samples,
            !i                           ? ""
                : n >= 20 && i % 10 == 0 ? "|"
                                         : ";",
            ns * (1 + 0.01 * (i * 7 % n) / n));
        free(samples);
        samples = more;
    }
    free(row.cell[RG_C_SAMPLES]);
    row.cell[RG_C_SAMPLES] = samples;
    free(row.cell[RG_C_N]);
    row.cell[RG_C_N] = rg_print("%d", n);
    free(row.cell[RG_C_MEDIAN]);
    row.cell[RG_C_MEDIAN] = rg_print("%.6f", n ? ns * (1 + 0.01 * ((n - 1) / 2 + n / 2) / 2.0 / n) : ns);
    rg_row_set_time(&row);
    return row;
}

static inline void test_set(rg_row *row, rg_column column, const char *text)
{
    free(row->cell[column]);
    row->cell[column] = rg_print("%s", text);
    rg_row_set_time(row);
}

// Writes the rows under this head, with the format, and an input and a source for each row that has none; and frees them.
static inline void test_write_under(const char *path, int n_head, char *const (*head)[2], rg_row *row, int n)
{
    FILE *f = rg_result_open(path, "w");
    fprintf(f, "# format: %s\n", RG_RESULT_FORMAT);
    for (int i = 0; i < n_head; i++) rg_tsv_print(f, "# %s: %s\n", head[i][0], head[i][1]);
    for (int i = 0; i < n; i++) {
        char **c = row[i].cell;
        bool known = false;
        if (rg_row_is_probe(&row[i])) continue;
        char *input = rg_input_key(&row[i]);
        for (int k = 0; k < n_head; k++) known |= !strcmp(head[k][0], input);
        if (!known) rg_tsv_print(f, "# %s: fnv1a 00\n", input);
        free(input);
        if (rg_row_is_job(&row[i]) && !*c[RG_C_CHECK]) test_set(&row[i], RG_C_CHECK, "exit");
        if (*c[RG_C_SOURCE]) continue;
        test_set(&row[i], RG_C_SOURCE, "unknown");
        rg_tsv_print(f, "# source %s:%s: unknown\n", c[RG_C_ALGO], c[RG_C_VARIANT]);
    }
    rg_result_write_head(f, 0, NULL, NULL);
    for (int i = 0; i < n; i++) {
        rg_result_write_row(f, &row[i]);
        rg_row_free(&row[i]);
    }
    fclose(f);
}

// The same under a head of suite, machine and one input hash.
static inline void test_write(const char *path, const char *suite, const char *hash, rg_row *row, int n)
{
    char input[60];
    snprintf(input, sizeof input, "fnv1a %s", hash);
    char *const head[3][2] = {{"suite", rg_unconst(suite)}, {"machine", "a machine"}, {"input autocorr w64,h64,r8,k0", input}};
    test_write_under(path, 3, head, row, n);
}

#endif
