// SPDX-License-Identifier: MIT
// test_job_memory.c: what each job says that it needs, against what it takes: more than it says is a job that dies of it, and much
// less one that is refused for nothing.
#include "../test.h"
#include "../test_program.h"

#include <sys/resource.h>

// Largest resident memory in GiB of `regather WORDS --quiet`; `said` has its last words.
static double peak_GiB(const char *words, int *code, int limit_MiB)
{
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit data = {(rlim_t)limit_MiB << 20, (rlim_t)limit_MiB << 20};
        char *line = rg_print("exec %s/regather %s --quiet > /dev/null 2> said", test_build(), words);
        if (chdir(test_dir) || (limit_MiB && setrlimit(RLIMIT_DATA, &data))) _exit(99);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(99);
    }
    struct rusage used;
    int status;
    assert_int_equal(wait4(child, &status, 0, &used), child);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return (double)used.ru_maxrss / 0x1p20;
}

// The least limit of data in MiB with which the program starts: libraries have data of their own, CUDA's hundreds of MiB.
static int start_MiB(void)
{
    int code = -1, limit_MiB = 0;
    while (code != 0 && limit_MiB < 2048) peak_GiB("--version", &code, limit_MiB += 4);
    assert_int_equal(code, 0);
    return limit_MiB;
}

static void run_once(const char *words)
{
    int code;
    peak_GiB(words, &code, 0);
    assert_int_equal(code, 0);
}

// more_MiB: of data than the program starts with, so little that the job is refused after its inputs were looked at.
static void hold(double base_GiB, int more_MiB, const char *words)
{
    static int start;
    int code;
    start = start ? start : start_MiB();
    peak_GiB(words, &code, start + more_MiB);
    char *said = file_text(in_dir("said")), *need = strstr(said, " need ");
    if (code != RG_LACKS || !need || !strstr(said, "GiB are free; ") || !strstr(said, " fits\n"))
        print_message("%s: exit %d, %s", words, code, said);
    assert_int_equal(code, RG_LACKS);
    assert_true(need && strstr(said, "GiB are free; ") && (strstr(said, " fits\n")));
    const double predicted = atof(need + 6), used = peak_GiB(words, &code, 0) - base_GiB;
    print_message("%.4f GiB of %.4f predicted: %s\n", used, predicted, words);
    assert_int_equal(code, 0);
    assert_true(used <= predicted);
    assert_true(used > 0.5 * predicted);
    free(said);
}

TEST(test_predictions)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); // shadow memory is memory, too
#endif
    int code;
    const double base = peak_GiB("--version", &code, 0);
    run_once("phantom particles --out p --box 128 --images 12 --shape d7 --ctf --snr 1");
    run_once("phantom tilt --out t --width 1600 --images 2");
    run_once("phantom subtomograms --out s --box 80 --images 2");
    hold(base, 16, "phantom tilt --out u --width 1600 --images 1");
    hold(base, 16, "phantom subtomograms --out u --box 128 --images 1 --wedge 60");
    hold(base, 16, "phantom coarsening --out u --width 1000 --height 1000 --time 1 --frames 1");
    hold(base, 26, "align t/series.mrc --out a.tsv --no-fine --rotation 0 --scale 1:1 --shift 4 --aligned a.mrc");
    hold(base, 20,
        "average s/subtomogram_0001.mrc s/subtomogram_0002.mrc --out v.mrc --iterations 1 --step 45 --no-fine --wedge 60");
    hold(base, 26, "fsc p/map.mrc p/map.mrc --out f.tsv");
    hold(base, 26, "refine p/particles.star --reference p/map.mrc --out r.star --device cpu --high 30");
    hold(base, 36,
        "search p/particles.star --reference p/map.mrc --out r.star --device cpu --sym D7 --angle 30 --best 2 --high 30");
    hold(base, 26, "reconstruct p/particles.star --method frealign --sym D7 --out m.mrc --device cpu");
}

TESTS(test_dir_make, test_dir_remove)
