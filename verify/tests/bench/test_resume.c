// SPDX-License-Identifier: MIT
// test_resume.c: a bench killed by SIGKILL leaves every finished row whole, and --resume completes the file without repeating
// any.
#include "../test.h"
#include "../test_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

extern const rg_command rg_cmd_bench;

// Rows in all, one a shape; finished ones before the kill. With so much time a row every shape has processes of its own, which end
// after their samples all the same.
enum { WANTED = 6, ENOUGH = 2 };
static char *folder, *path, *part, *words;

// Starts `regather bench ...` as a process of its own group, silent.
static pid_t start(const char *line)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid) return pid;
    setpgid(0, 0);
    static char text[OUTPUT_MAX];
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    _exit(run_command(&rg_cmd_bench, line, text));
}

static int run(const char *line)
{
    int status = 0;
    pid_t pid = start(line);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count_rows(const rg_result *r)
{
    int n = 0;
    for (int i = 0; i < r->n_rows; i++) n += !strcmp(r->row[i].cell[RG_C_ALGO], "autocorr");
    return n;
}

static int finished_rows(void)
{
    rg_result r;
    bool cut;
    if (access(part, F_OK) || rg_result_read(part, &r, &cut)) return 0;
    int n = count_rows(&r);
    rg_result_free(&r);
    return n;
}

// Kills the run as soon as some rows are finished and others are not.
static void kill_half_way(void)
{
    pid_t pid = start(words);
    for (int i = 0; i < 6000 && finished_rows() < ENOUGH; i++) usleep(10000);
    kill(-pid, SIGKILL);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static const rg_row *same_row(const rg_result *r, const rg_row *key, int *times)
{
    const rg_row *found = NULL;
    *times = 0;
    for (int i = 0; i < r->n_rows; i++)
        if (rg_row_same(&r->row[i], key)) {
            found = &r->row[i];
            ++*times;
        }
    return found;
}

TEST(killed_and_resumed)
{
    kill_half_way();
    assert_int_not_equal(access(path, F_OK), 0); // the name of a whole file is not used before it is whole
    rg_result before, after;
    bool cut;
    assert_int_equal(rg_result_read(part, &before, &cut), RG_GOOD);
    int kept = count_rows(&before);
    assert_in_range(kept, ENOUGH, WANTED - 1);
    FILE *f = fopen(part, "a"); // as if the kill had hit the middle of a write
    fputs("autocorr\tnaive\tw9,h", f);
    fclose(f);
    assert_int_equal(run(words), RG_USAGE); // an unfinished file is not overwritten unasked
    char *resumed = rg_print("%s --resume", words);
    assert_int_equal(run(resumed), RG_GOOD);
    assert_int_not_equal(access(part, F_OK), 0);
    assert_int_equal(rg_result_read(path, &after, &cut), RG_GOOD);
    assert_false(cut);
    assert_int_equal(count_rows(&after), WANTED);
    for (int i = 0; i < after.n_rows; i++) {
        int times;
        same_row(&after, &after.row[i], &times);
        assert_int_equal(times, 1);
    }
    for (int i = 0; i < before.n_rows; i++) { // probes too: one file has one set of rates
        int times;
        const rg_row *now = same_row(&after, &before.row[i], &times);
        assert_non_null(now);
        for (int c = 0; c < RG_COLUMNS; c++) assert_string_equal(now->cell[c], before.row[i].cell[c]);
    }
    // Resuming a finished file measures nothing and leaves it whole.
    assert_int_equal(run(resumed), RG_GOOD);
    rg_result again;
    assert_int_equal(rg_result_read(path, &again, &cut), RG_GOOD);
    assert_int_equal(again.n_rows, after.n_rows);
    assert_string_equal(again.row[again.n_rows - 1].cell[RG_C_SAMPLES], after.row[after.n_rows - 1].cell[RG_C_SAMPLES]);
    // What did not pass, or not for others, is looked at again.
    char *edit = rg_print(
        "awk -F'\t' -v OFS='\t' '/^#/ { print; next } !head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; print; next } "
        "$1 == \"autocorr\" && ++n < 3 { $at[\"status\"] = n == 1 ? \"FAIL\" : \"SKIP\"; $at[\"stop\"] = n == 1 ? \"wrong\" : \"busy\"; "
        "$at[\"samples\"] = $at[\"median\"] = $at[\"source\"] = \"\" } { print }' "
        "%s > %s.e && mv %s.e %s",
        path, path, path, path);
    assert_int_equal(system(edit), 0);
    assert_int_equal(run(resumed), RG_GOOD);
    rg_result_free(&again);
    assert_int_equal(rg_result_read(path, &again, &cut), RG_GOOD);
    assert_int_equal(count_rows(&again), WANTED);
    for (int i = 0; i < again.n_rows; i++) assert_true(rg_row_is_probe(&again.row[i]) || rg_row_is_timed(&again.row[i]));
    free(edit);
    // Another seed means other inputs: such a file is not gone on with.
    assert_int_equal(run(fmt("%s --resume --seed 2", words)), RG_USAGE);
    assert_int_not_equal(access(part, F_OK), 0);
    free(resumed);
    rg_result_free(&before);
    rg_result_free(&after);
    rg_result_free(&again);
}

int main(void)
{
    folder = test_folder();
    path = rg_print("%s/f.tsv", folder);
    part = rg_print("%s.part", path);
    const char *pattern = "bench autocorr:naive --device cpu --threads 1 --max-seconds 200 --rounds 4 --quiet --out %s";
    char *line = rg_print(pattern, path);
    words = line;
    for (int i = 0; i < WANTED; i++) {
        char *more = rg_print("%s --shape w64,h%d,r4,k0", words, 40 + i);
        free(words);
        words = more;
    }
    int failed = RUN_TESTS(NULL, NULL);
    unlink(path);
    unlink(part);
    rmdir(folder);
    return failed;
}
