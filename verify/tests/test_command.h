// SPDX-License-Identifier: MIT
// test_command.h: for test programs of commands: runs one in this process and returns its output as text.
#pragma once

#include "../../bench/timing/timing.h"
#include "../../data/formats/result.h"
#include "../../impl/runtime/command.h"
#include "test_build.h"
#include "test_files.h"

enum { OUTPUT_MAX = 1 << 20 };

// Exit code of `regather ARGV...`, ended by NULL. text receives what it printed on stdout.
static inline int run_argv(const rg_command *command, char **argv, char *text) {
    int argc = 0;
    char *program = rg_print("%s/regather", test_build()); // for commands that start regather themselves
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

// The same for one text, whose words are separated by single blanks.
static inline int run_command(const rg_command *command, const char *words, char *text) {
    char *line = rg_print("%s", words), *argv[64];
    int argc = 0;
    for (char *at = strtok(line, " "); at && argc < 63; at = strtok(NULL, " ")) argv[argc++] = at;
    argv[argc] = NULL;
    int code = run_argv(command, argv, text);
    free(line);
    return code;
}

// A row of variant `name` with n samples, `ns` times 1 to 1.01, in the order of a small permutation.
static inline rg_row test_row(const char *name, const char *scope, int n, double ns) {
    rg_row row = rg_row_empty();
    char *samples = rg_print("%s", "");
    for (int i = 0; i < n; i++) {
        char *more = rg_print("%s%s%.3f", samples, i ? ";" : "", ns * (1 + 0.01 * (i * 7 % n) / n));
        free(samples);
        samples = more;
    }
    const struct {
        rg_column column;
        const char *text;
    } cell[] = {{RG_C_ALGO, "autocorr"}, {RG_C_VARIANT, name}, {RG_C_SHAPE, "w64,h64,r8,k0"}, {RG_C_PARAMS, "threads=1;isa=2"},
        {RG_C_SPACE, "host"}, {RG_C_SCOPE, scope}, {RG_C_MODE, "hot"}, {RG_C_UNIT, "ns"}, {RG_C_RATE_UNIT, "multiply-adds/s"},
        {RG_C_STATUS, "PASS"}, {RG_C_STOP, "interval"}, {RG_C_RATE, "1e9"}, {RG_C_SAMPLES, samples}, {RG_C_N, fmt("%d", n)},
        {RG_C_MEDIAN, fmt("%.6f", n ? ns * (1 + 0.01 * ((n - 1) / 2 + n / 2) / 2.0 / n) : ns)}};
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        free(row.cell[cell[i].column]);
        row.cell[cell[i].column] = rg_print("%s", cell[i].text);
    }
    free(samples);
    rg_row_set_time(&row);
    return row;
}

static inline void test_set(rg_row *row, rg_column column, const char *text) {
    free(row->cell[column]);
    row->cell[column] = rg_print("%s", text);
    rg_row_set_time(row);
}
