// SPDX-License-Identifier: MIT
// test_files.c: outputs never destroy what they did not make: devices, fifos, links, inputs, another run's file; what a killed
// run leaves; standard streams that are closed or full. The program itself is run, by a shell, in the test's folder.
#include "../test.h"
#include "../test_program.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

// Two maps and particles of a phantom: inputs of all jobs here.
FIXTURE(make_inputs)
{
    return test_dir_make(state) ||
        sh("regather phantom particles --out . --images 8 --box 16 --pixel 3 --ctf --seed 1 --quiet > log");
}

// What stands at the name is still there, of its kind, and nothing beside it.
TEST(test_kinds)
{
    assert_int_equal(sh("mkfifo fifo.tsv; ln -s target link.tsv; : > target; mkdir folder.tsv"), 0);
    static const char *const name[] = {"fifo.tsv", "link.tsv", "folder.tsv"}, *const kind[] = {"-p", "-L", "-d"};
    static const char *const words[] = {"fifo", "symbolic link", "directory"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sh("regather fsc map.mrc map.mrc --out %s", name[i]), RG_USAGE);
        assert_said(words[i]);
        assert_int_equal(sh("test %s %s && ! ls -A | grep regather-part", kind[i], name[i]), 0);
    }
    assert_refused(rg_file_can_write("/dev/null"), "is a device");
    // a folder in which a link leads to an output is another matter: only the last name counts
    assert_int_equal(sh("ln -s folder.tsv way && regather fsc map.mrc map.mrc --out way/f.tsv > log && test -s way/f.tsv"), 0);
}

// By device and inode: also under another name.
TEST(test_inputs)
{
    static const char *const line[] = {
        "fsc map.mrc map.mrc --out map.tsv",
        "reconstruct particles.star --out stack.mrc --variant naive_gather --device cpu",
        "reconstruct particles.star --out star.mrc --variant naive_gather --device cpu",
        "refine particles.star --reference map.mrc --out map.star --device cpu",
        "search particles.star --reference map.mrc --out particles.star --device cpu",
        "average map.mrc map.mrc --reference map.mrc --out map.mrc",
        "average map.mrc other.mrc --out other.mrc --dry-run", // said before the work
        "average map.mrc other.mrc --reference first.mrc --out first.mrc --dry-run",
        "average map.mrc all_half2.mrc --half-maps --out all.mrc --dry-run",
        "align particles.mrcs --out stack.tsv",
    };
    assert_int_equal(sh("for f in other first all_half2; do cp map.mrc $f.mrc; done; "
                        "ln map.mrc map.tsv; ln map.mrc map.star; ln particles.mrcs stack.mrc; ln particles.mrcs stack.tsv; "
                        "ln particles.star star.mrc; cat *.mrc *.mrcs *.star | cksum > before"),
        0);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        int code = sh("regather %s --quiet > log", line[i]);
        if (code != RG_USAGE) print_message("%s: exit %d\n", line[i], code);
        assert_int_equal(code, RG_USAGE);
        assert_said("input of this command");
        assert_int_equal(sh("cat *.mrc *.mrcs *.star | cksum | cmp - before && ! ls -A | grep regather-part"), 0);
    }
}

// The lock is held by a process that is stopped, then killed: refused, then not.
TEST(test_second_run)
{
    int ready[2], status;
    char *path = rg_print("%s", in_dir("two.tsv"));
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
    assert_int_equal(sh("test -s two.tsv.regather-part"), 0); // what is left has a known name
    assert_int_equal(sh("regather fsc map.mrc map.mrc --out two.tsv > log && grep -q '^shell' two.tsv"), 0);
    assert_int_equal(sh("grep half two.tsv"), 1);
    assert_int_equal(sh("! ls -A | grep regather-part"), 0);
    free(path);
}

// A program that ends in the middle, because memory has run out, leaves no part.
TEST(test_exit)
{
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
static void *ends(void *unused)
{
    pthread_barrier_wait(&gate);
    rg_end(RG_LACKS, "the end");
    return unused;
}

// Of threads that end the program at the same time one speaks.
TEST(test_ends_together)
{
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

// A claim holds until the command ends, and is found again under another spelling of the name.
TEST(test_claim)
{
    char *path = rg_print("%s", in_dir("claimed.tsv")), *same = rg_print("%s/./claimed.tsv", test_dir);
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
    assert_int_equal(sh("test -s claimed.tsv && ! ls -A | grep regather-part"), 0);
    // something else that has the part's name is nobody's leftover
    assert_int_equal(sh("ln -s target claimed.tsv.regather-part; regather fsc map.mrc map.mrc --out claimed.tsv"), RG_USAGE);
    assert_int_equal(sh("test -L claimed.tsv.regather-part && rm claimed.tsv.regather-part"), 0);
    free(path);
    free(same);
}

// Text for a closed stdout goes nowhere, and not into the first file that is opened.
TEST(test_closed_streams)
{
    assert_int_equal(sh("regather fsc map.mrc map.mrc --out open.tsv > log && grep -v '^#' open.tsv > open"), 0);
    assert_int_equal(sh("regather fsc map.mrc map.mrc --out closed.tsv <&- >&- 2>&-"), 0);
    assert_int_equal(sh("grep -v '^#' closed.tsv | cmp - open"), 0);
    assert_int_equal(sh("regather bench autocorr:naive --shape w8,h8,r2,k0 --max-seconds 1 --out b.tsv >&- 2>&-"), 0);
    assert_int_equal(sh("grep -v '^#' b.tsv | cut -f 1 | grep -v -x -e algo -e autocorr -e probe"), 1); // no row but these
}

TEST(test_full_stdout)
{
    SKIP_WITHOUT("/dev/full");
    static const char *const line[] = {
        "--help",
        "help",
        "--version",
        "--cflags",
        "list",
        "man",
        "doctor",
        "list --table variants",
        "verify --help",
        "fsc map.mrc map.mrc --out full.tsv",
        "phantom --help",
    };
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        int code = sh("regather %s > /dev/full", line[i]);
        if (!code) print_message("regather %s > /dev/full: exit 0\n", line[i]);
        assert_int_not_equal(code, 0);
        assert_said("standard output: cannot write");
    }
}

// Beyond the limit of a file's size: one line and exit 2, nothing left. dash counts blocks of 512 bytes.
TEST(test_file_limit)
{
    assert_int_equal(sh("ulimit -f 8; regather phantom particles --out big --images 64 --box 16 --quiet > log"), RG_USAGE);
    assert_said("big");
    assert_int_equal(sh("! ls -A big | grep -e regather-part -e mrcs"), 0);
}

// A figure's file that cannot be read or written ends a report: one line, and no page without that figure.
TEST(test_report)
{
    assert_int_equal(sh("regather bench autocorr:naive --shape w8,h8,r2,k0 --max-seconds 1 --out r.tsv --quiet > log"), 0);
    static const char *const before[] = {":", "mkdir -p page/fig/map_clean.tsv"}, *const map[] = {"nowhere.mrc", "map.mrc"};
    static const char *const words[] = {"nowhere.mrc: ", "is a directory"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sh("%s; regather report r.tsv --map clean=%s --out page --quiet 2> told; code=$?; cat told >&2; "
                            "test $(grep -vc warning: told) = 1 && ! test -e page/index.html && exit $code",
                             before[i], map[i]),
            RG_USAGE);
        assert_said(words[i]);
    }
}

// Inputs that never end, or never begin: refused at once.
TEST(test_endless)
{
    static const char *const line[] = {
        "compare %s %s",
        "export %s --format gbench",
        "report %s --out page",
        "verify autocorr:naive --expect %s",
        "verify autocorr:naive --plugin %s",
        "fsc %s map.mrc --out e.tsv",
        "reconstruct %s --out e.mrc",
        "align %s --out e.tsv",
    };
    static const char *const input[] = {"pipe", "/dev/zero"};
    assert_int_equal(sh("mkfifo pipe"), 0);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        for (size_t k = 0; k < sizeof input / sizeof *input; k++) {
            char *words = rg_print(line[i], input[k], input[k]);
            int code = sh("timeout 5 \"$REGATHER\" %s > log", words);
            if (code != RG_USAGE) print_message("%s: exit %d\n", words, code);
            assert_int_equal(code, RG_USAGE);
            assert_said("regular file");
            free(words);
        }
    assert_int_equal(sh("regather report --machines missing --out page > log"), RG_USAGE);
}

TESTS(make_inputs, test_dir_remove)
