// SPDX-License-Identifier: MIT
// test_job_memory.c: what each job says that it needs, against what it takes: more than it says is a job that dies of it, and much
// less one that is refused for nothing.
#include "../../../impl/gpu/ledger.h"
#include "../../../impl/jobs/matching/matching.h"
#include "../../../impl/suite.h"
#include "../../../data/geometry/volume.h"
#include "../test.h"
#include "../test_program.h"

#include <math.h>
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
    hold(base, 16, "phantom coarsening --out u --width 800 --height 800 --time 1 --frames 1");
    hold(base, 26, "align t/series.mrc --out a.tsv --no-fine --rotation 0 --scale 1:1 --shift 1 --aligned a.mrc");
    hold(base, 20,
        "average s/subtomogram_0001.mrc s/subtomogram_0002.mrc --out v.mrc --iterations 1 --step 60 --no-fine --wedge 60");
    hold(base, 26, "fsc p/map.mrc p/map.mrc --out f.tsv");
    hold(base, 26, "refine p/particles.star --reference p/map.mrc --out r.star --device cpu --high 30");
    hold(base, 36,
        "search p/particles.star --reference p/map.mrc --out r.star --device cpu --sym D7 --angle 30 --best 2 --high 30");
    hold(base, 26, "reconstruct p/particles.star --method frealign --sym D7 --out m.mrc --device cpu");
}

// ---- memory of a GPU, here the emulated one ------------------------------------------------------------------------------------

typedef struct of_gpu {
    double predicted, taken; // bytes
} of_gpu;

// What the log of a job says; `out` is the log's path without ".log".
static of_gpu logged(const char *log)
{
    of_gpu m = {0, 0};
    char *text = file_text(in_dir(log)), *line = strstr(text, "# memory of host: ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "# memory of host: %lf bytes predicted, %lf bytes taken", &m.predicted, &m.taken), 2);
    free(text);
    return m;
}

// The words of a job at each of three shapes, its result, and the log of it.
static const struct {
    const char *words[3], *out, *log;
} on_gpu[] = {
    {{"reconstruct a/particles.star --per-operator --sym D2", "reconstruct b/particles.star --per-operator --sym D7 --ctf",
         "reconstruct c/particles.star --per-operator --sym O --half-maps"},
        "per_operator.mrc", "per_operator.mrc.log"},
    {{"reconstruct a/particles.star --sym O", "reconstruct b/particles.star --sym I1 --ctf --half-maps",
         "reconstruct c/particles.star --sym T --padding 1"},
        "lattice.mrc", "lattice.mrc.log"},
    {{"reconstruct a/particles.star --method frealign", "reconstruct b/particles.star --method frealign --sym D7",
         "reconstruct c/particles.star --method frealign --sym O"},
        "frealign.mrc", "frealign.mrc.log"},
    {{"search a/particles.star --reference a/map.mrc --angle 45 --best 1 --max-evaluations 4",
         "search b/particles.star --reference b/map.mrc --sym D7 --angle 30 --best 2 --max-evaluations 4",
         "search c/particles.star --reference c/map.mrc --sym O --angle 30 --best 1 --batch 3 --max-evaluations 4"},
        "search.star", "search.star.log"},
    {{"refine a/particles.star --reference a/map.mrc --max-evaluations 6",
         "refine b/particles.star --reference b/map.mrc --restarts 1 --max-evaluations 6",
         "refine c/particles.star --reference c/map.mrc --batch 4 --max-evaluations 6"},
        "refine.star", "refine.star.log"},
    {{"align t/series.mrc --no-fine --rotation 0 --scale 1:1 --shift 2",
         "align t/series.mrc --no-fine --rotation 2 --scale 1:1 --shift 2 --aligned aligned.mrc",
         "align w/series.mrc --no-fine --rotation 0 --scale 1:1 --shift 2"},
        "align.tsv", "align.tsv.log"},
    {{"autocorr o/coarsening_0001.png --max-offset 8",
         "autocorr o/coarsening_0001.png o/coarsening_0002.png --max-offset 30 --variant gather",
         "autocorr o/coarsening_0001.png --max-offset 12 --variant scatter"},
        "autocorr", "autocorr/regather.log"},
};

// Of all voxels, over the largest.
static double maps_apart(const char *a, const char *b)
{
    rg_volume v[2];
    double most = 0, largest = 0;
    assert_int_equal(rg_volume_read(a, &v[0]), RG_GOOD);
    assert_int_equal(rg_volume_read(b, &v[1]), RG_GOOD);
    for (int64_t i = 0; i < v[0].side * v[0].side * v[0].side; i++) {
        most = fmax(most, fabs(v[0].value[i] - v[1].value[i]));
        largest = fmax(largest, fabs(v[0].value[i]));
    }
    free(v[0].value);
    free(v[1].value);
    return most / largest;
}

// With less and less memory the jobs that make maps do the same in smaller pieces, down to where they say in one line what they
// lack.
static void with_less(const char *words, const char *out, const char *log, double all, int *smaller, int *refused)
{
    static const double share[] = {0.97, 0.9, 0.6};
    char *kept = rg_print("%s", in_dir("kept.mrc")), *found = rg_print("%s", in_dir(out));
    assert_int_equal(rename(found, kept), 0);
    for (int s = 0; s < RG_COUNT(share); s++) {
        int code;
        setenv("REGATHER_GPU_MEMORY", fmt("%.3fMiB", 18 + share[s] * all / 0x1p20), 1);
        peak_GiB(fmt("%s --out %s --device host", words, out), &code, 0);
        unsetenv("REGATHER_GPU_MEMORY");
        char *said = file_text(in_dir("said"));
        print_message("%.2f of %.0f bytes: exit %d: %s\n", share[s], all, code, words);
        if (code == RG_GOOD) {
            assert_true(logged(log).taken <= share[s] * all);
            assert_true(maps_apart(kept, found) < 1e-5);
            ++*smaller;
        } else {
            assert_int_equal(code, RG_LACKS);
            assert_true(strstr(said, " need ") && strstr(said, "GiB are free; ") && strstr(said, " fits\n"));
            assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); // one line
            ++*refused;
        }
        free(said);
    }
    free(kept);
    free(found);
}

TEST(test_taken)
{
    int smaller = 0, refused = 0;
    run_once("phantom particles --out a --box 16 --images 3 --shape asymmetric --ctf --snr 1");
    run_once("phantom particles --out b --box 24 --images 4 --shape d7 --ctf --snr 1");
    run_once("phantom particles --out c --box 32 --images 2 --shape icosahedral --ctf --snr 1");
    run_once("phantom tilt --out t --width 64 --images 2 --shift 1");
    run_once("phantom tilt --out w --width 96 --images 2 --shift 1");
    run_once("phantom coarsening --out o --width 96 --height 80 --time 1 --frames 2");
    for (int j = 0; j < RG_COUNT(on_gpu); j++)
        for (int shape = 0; shape < 3; shape++) {
            const char *words = on_gpu[j].words[shape];
            run_once(fmt("%s --out %s --device host", words, on_gpu[j].out));
            const of_gpu m = logged(on_gpu[j].log);
            print_message("%10.0f bytes of %10.0f predicted (%.3f): %s\n", m.taken, m.predicted, m.predicted / m.taken, words);
            assert_true(m.taken > 0 && m.taken <= m.predicted && m.predicted <= 1.1 * m.taken);
            if (shape == 1 && !strncmp(words, "reconstruct", 11))
                with_less(words, on_gpu[j].out, on_gpu[j].log, m.taken, &smaller, &refused);
        }
    assert_true(smaller >= 4 && refused >= 1);
}

// Average, whose alignments an emulated GPU takes minutes for: its scorers alone, a transform a call and several, with a texture
// and without.
TEST(test_scorers)
{
    static const struct {
        int64_t side;
        const char *variant;
    } of[] = {{20, "batch"}, {48, "batch"}, {70, "batch_mixed"}, {70, "batch_texture"}};
    for (int s = 0; s < RG_COUNT(of); s++) {
        const aj_levels how = {.dims = 3, .threads = 1, .batch = 8, .fine = true, .device = "host", .asked = of[s].variant};
        const rg_device *device = rg_device_emulated();
        aj_scorer scorer[AJ_LEVELS] = {{.dims = 0}};
        aj_pyramid p;
        rg_needs needs;
        int64_t batch;
        aj_pyramid_size(&p, (const int64_t[3]){of[s].side, of[s].side, of[s].side}, 32);
        assert_int_equal(aj_scorers_fit(&how, &p, &batch, &needs, &device), RG_GOOD);
        rg_ledger_begin(device);
        assert_int_equal(aj_scorers_make(scorer, &how, &p), RG_GOOD);
        const double taken = (double)rg_ledger_peak(device);
        print_message(
            "%10.0f bytes of %10.0f predicted: align3d:%s of %d^3\n", taken, needs.bytes, of[s].variant, (int)of[s].side);
        assert_true(taken <= needs.bytes && needs.bytes <= 1.1 * taken);
        for (int l = 0; l < p.levels; l++) aj_scorer_free(&scorer[l]);
        assert_int_equal(rg_ledger_taken(device), 0);
    }
}

TESTS(test_dir_make, test_dir_remove)
