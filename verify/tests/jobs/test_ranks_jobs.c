// SPDX-License-Identifier: MIT
// test_ranks_jobs.c: the files of a job of several processes are those of one, byte for byte, also when the work does not
// divide among them and when there is less of it than processes.
#include "../test.h"
#include "../test_data.h"
#include "../test_mpirun.h"

#include <math.h>

static void shell(const char *line)
{
    int code = test_shell(line);
    if (code) print_message("exit %d of: %s\n", code, line);
    assert_int_equal(code, 0);
}

// `regather WORDS` alone and in processes of each number, in folders of its own beside the input's; then their files but for
// the times of stages, the page, which has them too, and the log, which names files in the order in which processes came to them.
static void same_files(const char *words, const int *ranks, int n)
{
    shell(fmt("cd %s && rm -rf alone && mkdir alone && cd alone && %s/regather %s > said 2> /dev/null", test_dir, test_build(),
        words));
    for (int i = 0; i < n; i++) {
        shell(fmt("cd %s && rm -rf several && mkdir several && cd several && %s -n %d %s/regather %s > said 2> ../err || "
                  "cat ../err; cd .. && diff -r -x said -x '*_stages.tsv' -x '*.log' -x '*.html' alone several",
            test_dir, test_mpirun(), ranks[i], test_build(), words));
    }
}

static void phantom(const char *words) { shell(fmt("cd %s && %s/regather phantom %s --quiet", test_dir, test_build(), words)); }

TEST(test_align)
{
    SKIP_WITHOUT_MPIRUN();
    phantom("tilt --out tilt --width 96 --height 80 --images 5 --shift 5");
    same_files("align ../tilt/series.mrc --out t.tsv --aligned a.mrc --tilts ../tilt/series.rawtlt --truth ../tilt/truth.tsv "
               "--shift 8 --rotation 4",
        (const int[]){1, 2, 3, 6}, 4);
}

TEST(test_average)
{
    SKIP_WITHOUT_MPIRUN();
    phantom("subtomograms --out sub --box 16 --images 5 --snr 2");
    same_files("average ../sub/subtomogram_0001.mrc ../sub/subtomogram_0002.mrc ../sub/subtomogram_0003.mrc "
               "../sub/subtomogram_0004.mrc ../sub/subtomogram_0005.mrc --wedge 60 --half-maps --out a.mrc --step 60 "
               "--iterations 2 --everywhere 1 --no-fine --truth ../sub/truth.tsv",
        (const int[]){3, 7}, 2);
}

TEST(test_autocorr)
{
    SKIP_WITHOUT_MPIRUN();
    phantom("coarsening --out photos --width 48 --height 40 --frames 5 --time 20");
    char *photos = rg_print("%s", "");
    for (int i = 1; i <= 5; i++) {
        char *more = rg_print("%s ../photos/coarsening_000%d.png", photos, i);
        free(photos);
        photos = more;
    }
    char *words = rg_print(
        "autocorr%s --max-offset 12 --norm centred --dump-sums --spectrum --times ../photos/times.tsv --out o", photos);
    same_files(words, (const int[]){1, 2, 3, 6}, 4);
    // The first bad photograph in order is complained of, by one line.
    char *line =
        rg_print("cd %s && head -c 100 photos/coarsening_0002.png > bad.png && cp bad.png worse.png && %s -n 3 "
                 "%s/regather autocorr%s ../bad.png ../worse.png --max-offset 12 --out o 2> err; test $? = 2 && grep -c "
                 "'regather: ' err | grep -qx 1 && grep -q 'regather: .*bad.png' err && test ! -e o",
            test_dir, test_mpirun(), test_build(), photos);
    for (char *at = line; (at = strstr(at, " ../"));) memmove(at + 1, at + 4, strlen(at + 4) + 1);
    shell(line);
    free(line);
    free(words);
    free(photos);
}

#define SEARCH "search ../par/particles.star --reference ../par/map.mrc --out s.star --angle 30 --best 2 --batch 2"
#define LONGER                                                                                                                 \
    "search ../par/particles.star --reference ../par/map.mrc --best 3 --batch 1 --threads 1 --angle $angle --out $PWD/s.star"
#define REFINE "refine ../par/particles.star --reference ../par/map.mrc --out r.star --batch 3"

// Also on emulated GPUs, two of which each process has.
TEST(test_particles)
{
    SKIP_WITHOUT_MPIRUN();
    phantom("particles --out par --shape asymmetric --box 24 --images 13 --ctf");
    same_files(SEARCH, (const int[]){2, 5}, 2);
    same_files(REFINE, (const int[]){3, 15}, 2);
    same_files(REFINE " --max-evaluations 5 --device host --gpus 2", (const int[]){2}, 1);
}

// Stopped after a few particles of three processes, gone on with by two: the file of one that was never stopped. Where the
// machine is so busy that the job is done before it is stopped, it gets more work. mpirun may end before its processes, which
// still write a line: $PWD/s.star stands in their command lines alone. Whole lines count; the last one may be cut off.
TEST(test_resume)
{
    SKIP_WITHOUT_MPIRUN();
    phantom("particles --out par --shape asymmetric --box 24 --images 40 --ctf");
    shell(fmt("cd %s && rm -rf alone several && mkdir alone several && cd several && REGATHER=%s/regather MPIRUN=%s && "
              "finished() { sed -n /^batch/p s.star.part 2> /dev/null | wc -l; } && "
              "for angle in 15 10 7; do $MPIRUN -n 3 $REGATHER " LONGER " > /dev/null 2>&1 & job=$!; "
              "while kill -0 $job 2> /dev/null && [ $(finished) -lt 4 ]; do :; done; kill $job; wait $job; "
              "while pgrep -f $PWD/s.star > /dev/null; do sleep 0.1; done; test -e s.star || break; rm -f s.star*; done; "
              "n=$(finished) && test $n -ge 4 && $MPIRUN -n 2 $REGATHER " LONGER " --resume > said 2> err && "
              "grep -q \"resumed.$n \" said && test ! -e s.star.part && grep -v '^# ' s.star > ../a && "
              "cd ../alone && $REGATHER " LONGER " > /dev/null 2> err && grep -v '^# ' s.star | cmp - ../a",
        test_dir, test_build(), test_mpirun()));
}

static float *map_of(const char *name, int64_t *voxels)
{
    size_t bytes = 0;
    char *all = get_file(in_dir(name), &bytes);
    *voxels = ((int64_t)bytes - 1024) / 4;
    return (float *)all;
}

// Both ways of reconstruct, to rounding, also where a process has no row; and in the same number of processes to the bit.
TEST(test_reconstruct)
{
    SKIP_WITHOUT_MPIRUN();
    phantom("particles --out par --shape asymmetric --box 16 --images 5 --ctf");
    static const char *const method[] = {"--method frealign", "--ctf --half-maps --sym C2"};
    for (int m = 0; m < 2; m++)
        for (int ranks = 1; ranks <= 7; ranks += 2) {
            char *line = rg_print(
                "cd %s && for again in a b; do %s -n %d %s/regather reconstruct par/particles.star %s --out "
                "$again.mrc --threads 1 > said 2> err || { cat err; exit 1; }; done; cmp -i 1024 a.mrc b.mrc || exit 1; test %d = 1 && "
                "mv a.mrc one.mrc || true",
                test_dir, test_mpirun(), ranks, test_build(), method[m], ranks);
            int64_t n, same;
            shell(line);
            float *one = map_of("one.mrc", &n), *several = map_of("b.mrc", &same);
            double worst = 0, largest = 0;
            assert_true(n == 16 * 16 * 16 && same == n);
            for (int64_t i = 0; i < n; i++) {
                worst = fmax(worst, fabs((double)one[256 + i] - several[256 + i]));
                largest = fmax(largest, fabs(one[256 + i]));
            }
            assert_true(largest > 0 && worst / largest < 1e-5); // sums of five images in another order
            free(one);
            free(several);
            free(line);
        }
}

TESTS(test_dir_make, test_dir_remove)
