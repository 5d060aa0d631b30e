// SPDX-License-Identifier: MIT
// test_repeat.c: one command, one seed, the same bytes: every job five times under load, on one thread and on two. Each run is
// a process of its own, so that no plan of FFTW is handed on; two others keep the processors busy, so that timings differ.
#include "../test.h"
#include "../test_program.h"

#include <signal.h>
#include <sys/wait.h>

enum { LOADS = 2, RUNS = 5 };
static pid_t load[LOADS];

FIXTURE(begin)
{
    int failed = test_dir_make(state) ||
        sh("regather phantom particles --out p --shape d7 --box 48 --images 6 --sigma 1 --ctf --snr 1 > log") ||
        sh("regather phantom subtomograms --out s --box 16 --images 3 --wedge 60 > log");
    for (int i = 0; i < LOADS && !failed; i++)
        if ((load[i] = fork()) == 0)
            for (volatile unsigned long spin = 0;; spin++) {}
    return failed;
}

FIXTURE(end)
{
    for (int i = 0; i < LOADS; i++)
        if (load[i] > 0) {
            kill(load[i], SIGKILL);
            waitpid(load[i], NULL, 0);
        }
    return test_dir_remove(state);
}

// Files of a run in a folder of its own, less lines that hold the command, and less stages and the page, which have times, and the
// log, which has their hash. Figures follow from the tables.
static void assert_repeats(const char *words)
{
    assert_int_equal(sh("rm -rf r"), 0);
    for (int threads = 1; threads <= 2; threads++)
        for (int run = 0; run < RUNS; run++) {
            const char *to = threads == 1 && run == 0 ? "one" : "other";
            int code = sh("mkdir r && regather %s --threads %d --device cpu --quiet > said.log && "
                          "rm -f r/*stages.tsv r/*.svg r/*.log r/*.html && "
                          "sed -i '/^# *command/d' r/* && rm -rf %s && mv r %s && diff -r one %s",
                words, threads, to, to, to);
            if (code) print_message("%s: run %d on %d threads: exit or difference %d\n", words, run + 1, threads, code);
            assert_int_equal(code, 0);
        }
}

TEST(test_search)
{
    assert_repeats("search p/particles.star --reference p/map.mrc --out r/new.star --sym D7 --angle 45 --best 2 --seed 5");
}

TEST(test_refine) { assert_repeats("refine p/particles.star --reference p/map.mrc --out r/new.star"); }

TEST(test_average)
{
    assert_repeats("average s/subtomogram_0001.mrc s/subtomogram_0002.mrc s/subtomogram_0003.mrc --wedge 60 --iterations 1 "
                   "--out r/avg.mrc");
}

TEST(test_reconstruct)
{
    assert_repeats("reconstruct p/particles.star --out r/map.mrc --half-maps --ctf");
    assert_repeats("reconstruct p/particles.star --out r/map.mrc --method frealign");
}

TEST(test_align) { assert_repeats("align p/particles.mrcs --out r/t.tsv --aligned r/a.mrc"); }

TESTS(begin, end)
