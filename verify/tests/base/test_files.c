// SPDX-License-Identifier: MIT
// test_files.c: outputs never destroy another run's file; files left by a killed run; verify/cases/files.tsv has the commands.
#include "../test.h"
#include "../test_program.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

// A map of a phantom.
FIXTURE(make_inputs) {
    return test_dir_make(state) ||
        sh("regather phantom particles --out . --images 8 --box 16 --pixel 3 --ctf --seed 1 --quiet > log");
}

// The lock belongs to a process that is stopped, then killed: writing is refused, then allowed.
TEST(test_second_run) {
    int ready[2], status;
    RG_FREED char *path = rg_print("%s", in_dir("two.tsv"));
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        rg_file file;
        int code = rg_file_open(&file, path);
        fputs("half", file.stream);
        fflush(file.stream);
        if (write(ready[1], &code, 1) == 1) pause();
        _exit(1);
    }
    char one;
    assert_int_equal(read(ready[0], &one, 1), 1);
    assert_int_equal(sh("regather fsc map.mrc map.mrc --out two.tsv"), RG_USAGE);
    assert_said("another run is writing it");
    assert_int_equal(access(path, F_OK), -1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(sh("test -s two.tsv.regather-part"), 0); // the remaining file has a known name
    assert_int_equal(sh("regather fsc map.mrc map.mrc --out two.tsv > log && grep -q '^shell' two.tsv"), 0);
    assert_int_equal(sh("grep half two.tsv"), 1);
    assert_int_equal(sh("! ls -A | grep regather-part"), 0);
}

// A program that ends early because memory has run out leaves no unfinished file.
TEST(test_exit) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        rg_file file;
        if (rg_file_open(&file, "left.tsv") == RG_GOOD) fputs("half", file.stream);
        exit(RG_LACKS);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == RG_LACKS);
    assert_int_equal(sh("test ! -e left.tsv && ! ls -A | grep left"), 0);
}

static pthread_barrier_t gate;
static void *ends(void *unused) {
    pthread_barrier_wait(&gate);
    rg_end(RG_LACKS, "the end");
    return unused;
}

// If several threads end the program at the same time, one prints.
TEST(test_ends_together) {
    enum { THREADS = 4, TIMES = 20 };
    for (int i = 0; i < TIMES; i++) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            pthread_t thread[THREADS];
            if (!freopen(in_dir("ends"), "w", stderr) || pthread_barrier_init(&gate, NULL, THREADS) != 0) _exit(99);
            for (int k = 0; k < THREADS; k++) pthread_create(&thread[k], NULL, ends, NULL);
            for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
            _exit(99);
        }
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == RG_LACKS);
        assert_int_equal(sh("test \"$(cat ends)\" = 'regather: the end'"), 0);
    }
}

// A claim lasts until the command ends, and is found under another spelling of the name.
TEST(test_claim) {
    RG_FREED char *path = rg_print("%s", in_dir("claimed.tsv")), *same = rg_print("%s/./claimed.tsv", test_dir);
    rg_file file;
    rg_files_begin();
    assert_int_equal(rg_file_can_write(path), RG_GOOD);
    assert_refused(rg_file_can_write(same), "another output");
    assert_int_equal(sh("regather fsc map.mrc map.mrc --out claimed.tsv"), RG_USAGE);
    assert_int_equal(rg_file_open(&file, same), RG_GOOD);
    assert_refused(rg_file_can_write(path), "another run");
    fputs("text\n", file.stream);
    assert_int_equal(rg_file_commit(&file), RG_GOOD);
    assert_int_equal(rg_file_can_write(path), RG_GOOD);
    rg_files_end();
    assert_refused(rg_file_can_write("/dev/null"), "is a device");
    assert_int_equal(sh("test -s claimed.tsv && ! ls -A | grep regather-part"), 0);
    // anything else with the part's name is not removed
    assert_int_equal(sh("ln -s target claimed.tsv.regather-part; regather fsc map.mrc map.mrc --out claimed.tsv"), RG_USAGE);
    assert_int_equal(sh("test -L claimed.tsv.regather-part && rm claimed.tsv.regather-part"), 0);
}

// A new file may get the inode number of a replaced input without being an input; the input under another name still is.
TEST(test_number_given_again) {
    struct stat facts;
    rg_file file;
    assert_int_equal(sh("echo 1 > read.tsv && echo 2 > new.tsv"), 0);
    RG_FREED char *path = rg_print("%s", in_dir("new.tsv")), *read = rg_print("%s", in_dir("read.tsv"));
    assert_int_equal(stat(path, &facts), 0);
    rg_files_begin();
    rg_file_read_begins(read, &facts); // as if it had had the number and time of new.tsv
    assert_refused(rg_file_open(&file, path), "is an input of this command");
    facts.st_mtim.tv_sec -= 1;
    rg_files_end();
    rg_files_begin();
    rg_file_read_begins(read, &facts);
    assert_int_equal(rg_file_open(&file, path), RG_GOOD);
    rg_file_abandon(&file);
    assert_int_equal(stat(path, &facts), 0);
    rg_file_read_begins(path, &facts); // now it is one
    assert_refused(rg_file_open(&file, path), "is an input of this command");
    rg_files_end();
}

TESTS(make_inputs, test_dir_remove)
