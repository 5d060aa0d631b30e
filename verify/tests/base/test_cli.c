// SPDX-License-Identifier: MIT
// test_cli.c: every option of every command by its row, and that a stopped job leaves no unfinished file; verify/cases/cli.tsv
// has errors in command lines.
#include "../../../impl/gpu/device.h"
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_command.h"
#include "../test_data.h"

#include <signal.h>
#include <sys/wait.h>

static char output[OUTPUT_MAX];

// First, because it needs the handlers unset.
TEST(test_stopped) {
    static const int number[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        int status;
        RG_FREED char *part = NULL, *path = rg_print("%s", in_dir("stopped.tsv"));
        pid_t child = fork();
        if (child == 0) {
            rg_file file;
            signal(number[i], SIG_DFL); // a job in the background of a shell ignores it
            _exit(rg_file_open(&file, path) != RG_GOOD || access(file.part, F_OK) != 0 || raise(number[i]));
        }
        part = rg_print("%s.regather-part", path);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number[i]);
        assert_int_not_equal(access(part, F_OK), 0);
    }
}

TEST(test_names) {
    rg_near near = {0};
    rg_nearer("recontsruct", 11, "search", &near);
    assert_null(near.name);
    rg_nearer("recontsruct", 11, "reconstruct", &near);
    assert_string_equal(near.name, "reconstruct");
    assert_int_equal(near.distance, 1);
    assert_int_equal(rg_device_index("gpu"), 0);
    assert_int_equal(rg_device_index("gpu12"), 12);
    assert_int_equal(rg_device_index("cpu"), RG_DEVICE_NO_GPU);
    assert_int_equal(rg_device_index("gpu-1"), RG_DEVICE_UNKNOWN);
    assert_int_equal(rg_device_index("gpu1x"), RG_DEVICE_UNKNOWN);
}

// ---- every option of every command, by its row ----------------------------------------------------------------------------

// One line that names the option, and exit 2.
static void refused(const rg_command *command, const char *option, const char *value) {
    RG_FREED char *words =
        value ? rg_print("%s --%s=%s", command->name, option, value) : rg_print("%s --%s", command->name, option);
    char *argv[] = {rg_unconst(command->name), strstr(words, " --") + 1, NULL};
    assert_refused(run_argv(command, argv, output), fmt("--%s", option));
}

static void wrong_number(const rg_command *command, const rg_option *o, const char *format, long double value) {
    char text[80];
    snprintf(text, sizeof text, format, value);
    refused(command, o->name, text);
}

static void wrong_values(const rg_command *command, const rg_option *o) {
    const bool whole = o->kind == RG_INTEGER;
    switch (o->kind) {
    case RG_INTEGER:
    case RG_REAL:
        assert_true(o->low < o->high);
        wrong_number(command, o, whole ? "%.0Lf" : "%Lg", whole ? o->low - 1 : o->low - fabsl(o->low) / 8 - 1);
        wrong_number(command, o, whole ? "%.0Lf" : "%Lg", whole ? o->high + 1 : o->high + fabsl(o->high) / 8 + 1);
        refused(command, o->name, whole ? "1.5" : "nan");
        refused(command, o->name, "1x");
        refused(command, o->name, "");
        break;
    case RG_PAIR:
        refused(command, o->name, "1;2");
        refused(command, o->name, "nan");
        break;
    case RG_CHOICE:
    case RG_CHOICES:
        refused(command, o->name, "neither");
        refused(command, o->name, "");
        break;
    case RG_FLAG: refused(command, o->name, "1"); break;
    default: break;
    }
    if (o->arg) refused(command, o->name, NULL);
}

// Options named in a row exist, and an option has one row.
static void check_row(const rg_placed *placed, int n, int i) {
    const rg_option *o = placed[i].option;
    char named[200];
    snprintf(named, sizeof named, "%s %s", o->excludes ? o->excludes : "", o->needs && *o->needs != '.' ? o->needs : "");
    for (char *name = strtok(named, " "); name; name = strtok(NULL, " ")) {
        bool there = false;
        char *word = strchr(name, '=');
        if (word) *word++ = '\0';
        for (int k = 0; k < n; k++)
            there |= !strcmp(placed[k].option->name, name) && (!word || strstr(placed[k].option->arg, word));
        assert_true(there);
    }
    for (int k = 0; k < n; k++) assert_true(k == i || strcmp(placed[k].option->name, o->name));
    assert_true((o->arg == NULL) == (o->kind == RG_FLAG));
    assert_true(!o->standard || !o->otherwise);
    assert_true(!o->unit || o->kind == RG_INTEGER || o->kind == RG_REAL || o->kind == RG_PAIR);
}

static char *named; // every --option in a test or a case, a line each

static void every_option(const rg_command *command) {
    rg_placed placed[RG_OPTIONS_MAX];
    const int n = rg_options_of(command, placed);
    for (const rg_command *const *kind = command->kind; kind && *kind; kind++) every_option(*kind);
    for (int i = 0; i < n && !command->kind; i++) {
        if (!strstr(named, fmt("\n--%s\n", placed[i].option->name)))
            fail_msg("no test has --%s of %s", placed[i].option->name, command->name);
        check_row(placed, n, i);
        wrong_values(command, placed[i].option);
    }
}

TEST(test_every_option) {
    RG_FREED char *tests = rg_share_path("verify");
    named = rg_alloc(OUTPUT_MAX);
    FILE *f = popen(fmt("cd '%s' && grep -rhoE -e '--[a-z0-9-]+' tests cases | sort -u", tests), "r");
    assert_non_null(f);
    *named = '\n';
    named[1 + fread(named + 1, 1, OUTPUT_MAX - 2, f)] = '\0';
    assert_int_equal(pclose(f), 0);
    for (const rg_command *const *command = rg_commands; *command; command++) every_option(*command);
    free(named);
}

// A folder has the name of the output: reported at once, not after the work.
TEST(test_folder_for_file) {
    rg_file file;
    assert_refused(rg_file_open(&file, test_dir), "cannot write here: is a directory");
    assert_refused(rg_file_can_write(test_dir), "is a directory");
    assert_int_equal(rg_file_can_write(in_dir("fine.tsv")), RG_GOOD);
    assert_int_not_equal(access(in_dir("fine.tsv"), F_OK), 0);
}

TESTS(test_dir_make, test_dir_remove)
