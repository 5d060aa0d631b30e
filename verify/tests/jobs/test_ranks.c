// SPDX-License-Identifier: MIT
// test_ranks.c: several processes of one job: shared work, sums, faults, cores. Under mpirun this program is the job itself.
#define OWN_MAIN
#include "../../../impl/jobs/pipeline/pipeline.h"
#include "../../../impl/jobs/pipeline/ranks.h"
#include "../../../impl/runtime/cpu.h"
#include "../test.h"
#include "../test_data.h"
#include "../test_mpirun.h"

#include <sched.h>
#include <time.h>

static void wait_ms(int ms) {
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

// ---- the job's processes -------------------------------------------------------------------------------------------------

typedef struct item {
    int64_t value;
    int rank;
} item;

// Each piece comes with a note: its length.
static void count(void *of, int64_t first, int64_t past, const void *note) {
    const int64_t *length = note;
    *(int64_t *)of += *length == past - first ? *length : -1000;
}

// Two deals in succession; rank 1 is slow. Rank 0 must have every record, and the slow rank fewer pieces.
static bool deals(int64_t n, int slow_ms) {
    bool good = true;
    for (int round = 0; round < 2; round++) {
        RG_FREED item *list = calloc((size_t)(n + 1), sizeof *list);
        int64_t first, past, arrived = 0, of_slow = 0;
        rg_deal d = {.n = n,
            .least = round + 1,
            .record = list,
            .bytes = sizeof *list,
            .note_bytes = 8,
            .arrived = count,
            .of = &arrived};
        rg_deal_begin(&d);
        while (rg_deal_next(&d, &first, &past)) {
            for (int64_t i = first; i < past; i++) {
                wait_ms(rg_rank == 1 ? slow_ms : 1);
                list[i] = (item){3 * i + round, rg_rank};
            }
            const int64_t length = past - first;
            rg_deal_done(&d, first, past, &length);
        }
        good = good && !rg_deal_next(&d, &first, &past);
        good = rg_deal_end(&d, RG_GOOD) == RG_GOOD && good;
        for (int64_t i = 0; i < n && rg_rank == 0; i++) {
            good = good && list[i].value == 3 * i + round;
            of_slow += list[i].rank == 1;
        }
        good = good && (rg_rank > 0 || arrived == n);
        if (slow_ms > 1 && rg_rank == 0) good = good && of_slow < n / rg_ranks();
    }
    return good;
}

static float of_rank(int rank, int64_t i) { return 1 / (float)(1 + rank + i % 1013); }

// The sum by the rule stated in sums.c: the same bits for the same number of processes.
static bool sums(void) {
    enum { N = (1 << 22) + 5 }; // more than one message
    RG_ENDS(rg_buffer_free) rg_buffer sum = {0};
    pl_member alone = {.device = rg_device_cpu(), .threads = 1};
    pl_team t = {.member = &alone, .n = 1};
    alone.team = &t;
    bool good = rg_buffer_make(&sum, rg_device_cpu(), N * sizeof(float), sizeof(float), false, "sum") == RG_OK;
    float *v = sum.base, *term = rg_alloc((size_t)rg_ranks() * sizeof *term);
    double pair[2] = {rg_rank, 1};
    for (int64_t i = 0; i < N; i++) v[i] = of_rank(rg_rank, i);
    good = good && pl_merge(&t, &sum, 1) == RG_GOOD;
    rg_ranks_sum(pair, 2);
    good = good && (rg_rank > 0 || (pair[0] == rg_ranks() * (rg_ranks() - 1) / 2 && pair[1] == rg_ranks()));
    for (int64_t i = 0; i < N && rg_rank == 0; i++) {
        for (int r = 0; r < rg_ranks(); r++) term[r] = of_rank(r, i);
        for (int step = 1; step < rg_ranks(); step *= 2)
            for (int r = 0; r + step < rg_ranks(); r += 2 * step) term[r] += term[r + step];
        good = good && v[i] == term[0];
    }
    for (int64_t i = 0; i < N; i++) v[i] = rg_rank ? 0 : (float)i;
    rg_ranks_share(v, N * sizeof *v);
    for (int64_t i = 0; i < N; i++) good = good && v[i] == (float)i;
    free(term);
    return good;
}

// Writes its process id, and works until it is killed.
static void work_for_ever(const char *folder) {
    rg_file part;
    RG_FREED char *path = rg_print("%s/pid.%d", folder, rg_rank), *out = rg_print("%s/out", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "%ld\n", (long)getpid());
    fclose(f);
    if (rg_rank == 0 && rg_file_open(&part, out) != RG_GOOD) exit(RG_USAGE);
    for (int i = 0; i < 600; i++) wait_ms(100);
}

static int as_job(const char *what, const char *folder) {
    int code = rg_ranks_begin();
    if (code != RG_GOOD) return rg_ranks_end(code);
    if (!strcmp(what, "deals"))
        code = deals(40, 20) && deals(1, 1) && deals(2, 1) ? RG_GOOD : rg_fail(RG_WRONG, "deals");
    else if (!strcmp(what, "sums"))
        code = sums() ? RG_GOOD : rg_fail(RG_WRONG, "sums");
    else if (!strcmp(what, "fail-one") && rg_rank == 1)
        code = rg_fail(RG_USAGE, "the file of process 1 is bad");
    else if (!strcmp(what, "fail-all"))
        code = rg_fail(RG_USAGE, "an option is bad");
    else if (!strcmp(what, "no-memory") && rg_rank == 1)
        free(rg_alloc(SIZE_MAX / 2));
    else if (!strcmp(what, "cores")) {
        cpu_set_t own;
        sched_getaffinity(0, sizeof own, &own);
        rg_ranks_say("cores");
        printf("threads %d, may use %d\n", rg_cpu_cores(), CPU_COUNT(&own));
    } else {
        work_for_ever(folder);
    }
    return rg_ranks_end(code);
}

// ---- tests ---------------------------------------------------------------------------------------------------------------

static const char *program;

// `mpirun OPTIONS -n N this WHAT`: `said` in the test's folder receives stderr, `output` the output of rank 0.
static char *job_line(int n, const char *options, const char *what) {
    return rg_print(
        "%s %s -n %d %s %s %s > %s/output 2> %s/said", test_mpirun(), options, n, program, what, test_dir, test_dir, test_dir);
}

static int job(int n, const char *options, const char *what) {
    RG_FREED char *line = job_line(n, options, what);
    return test_shell(line);
}

// Counts our lines in a file, without those of launchers; prints the file if the number is not the expected one.
static void expect_lines(const char *name, const char *word, int expected) {
    RG_FREED char *text = file_text(in_dir(name));
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) n++;
    if (n != expected) print_message("found %d of \"%s\" in:\n%s\n", n, word, text);
    assert_int_equal(n, expected);
}

TEST(test_alone) {
    int64_t record[5] = {0}, first, past, arrived = 0;
    rg_deal d = {.n = 5, .least = 2, .record = record, .bytes = 8, .note_bytes = 8, .arrived = count, .of = &arrived};
    assert_int_equal(rg_ranks(), 1);
    rg_deal_begin(&d);
    assert_true(rg_deal_next(&d, &first, &past) && first == 0 && past == 5); // no other process: one piece
    rg_deal_done(&d, first, past, &past);                                    // of 5 items
    assert_false(rg_deal_next(&d, &first, &past));
    assert_int_equal(rg_deal_end(&d, RG_GOOD), RG_GOOD);
    assert_true(arrived == 5);
    assert_true(rg_ranks_gpus(4) == 4 && rg_ranks_gpu(4, 3) == 3 && rg_ranks_gpus(0) == 0);
    assert_string_equal(rg_ranks_device("gpu"), "gpu");
}

TEST(test_work_and_sums) {
    SKIP_WITHOUT_MPIRUN();
    static const int ranks[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(job(ranks[i], "", "deals"), RG_GOOD);
        assert_int_equal(job(ranks[i], "", "sums"), RG_GOOD);
    }
}

// One process fails while the others work, all fail in the same way, one has no memory left: one line of ours and its code,
// soon.
TEST(test_failures) {
    SKIP_WITHOUT_MPIRUN();
    static const struct {
        const char *what, *line;
        int code;
    } try[] = {{"fail-one", "regather: the file of process 1 is bad", RG_USAGE},
        {"fail-all", "regather: an option is bad", RG_USAGE}, {"no-memory", "regather: out of memory", RG_LACKS}};
    for (int t = 0; t < 3; t++) {
        double began_s = rg_seconds();
        assert_int_equal(job(3, "", try[t].what), try[t].code);
        assert_true(rg_seconds() - began_s < 15);
        expect_lines("said", try[t].line, 1);
        expect_lines("said", "regather: ", 1);
        assert_int_equal(access(in_dir("out"), F_OK), -1);
    }
}

static int files(const char *pattern) { return test_shell(fmt("exit $(ls %s/%s 2>/dev/null | wc -l)", test_dir, pattern)); }

// The last process and the first one are killed or crash: the launcher ends the job, and no file looks complete.
TEST(test_signals) {
    SKIP_WITHOUT_MPIRUN();
    static const struct {
        const char *signal;
        int rank, parts; // the part of a crash remains until the next run
    } try[] = {{"KILL", 2, 0}, {"SEGV", 0, 1}};
    for (int t = 0; t < 2; t++) {
        char *
            start = job_line(3, "", "for-ever"),
           *line = rg_print(
               "rm -f %s/pid.* %s/out.*; (%s) & job=$!; while [ $(ls %s/pid.* 2>/dev/null | wc -l) -lt 3 ]; do sleep 0.1; done; "
               "sleep 0.2; kill -%s $(cat %s/pid.%d); wait $job",
               test_dir, test_dir, start, test_dir, try[t].signal, test_dir, try[t].rank);
        double began_s = rg_seconds();
        assert_int_not_equal(test_shell(line), RG_GOOD);
        assert_true(rg_seconds() - began_s < 25);
        expect_lines("said", "regather: ", 0);
        assert_int_equal(files("out"), 0);
        assert_int_equal(files("out.*"), try[t].parts);
        free(start);
        free(line);
    }
}

// Open MPI binds a process to a core: it uses its share of mpirun's cores, and prints so. A binding by the user is kept.
TEST(test_cores) {
    SKIP_WITHOUT_MPIRUN();
    int cores = rg_cpu_cores();
    unsetenv("OMPI_MCA_rmaps_base_oversubscribe"); // else Open MPI binds nothing
    bool binds = cores > 1 && job(2, "--bind-to core", "cores") == RG_GOOD;
    if (binds) {
        expect_lines("output", "threads 1, may use 1\n", 1);
        char *words[] = {rg_print("threads %d, may use %d\n", cores, cores),
            rg_print("with %d of %d cores each (mpirun", cores, cores), rg_print("threads %d,", cores / 2)};
        assert_int_equal(job(1, "", "cores"), RG_GOOD);
        expect_lines("output", words[0], 1);
        expect_lines("said", words[1], 1);
        assert_int_equal(job(2, "", "cores"), RG_GOOD);
        expect_lines("output", words[2], 1);
        for (int i = 0; i < 3; i++) free(words[i]);
    }
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    if (!binds) {
        print_message("skipped: no Open MPI that binds two processes to two cores here\n");
        skip();
    }
}

int main(int argc, char **argv) {
    if (argc > 2) return as_job(argv[1], argv[2]);
    program = argv[0];
    return RUN_TESTS(test_dir_make, test_dir_remove);
}
