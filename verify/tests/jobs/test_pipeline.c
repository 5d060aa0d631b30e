// SPDX-License-Identifier: MIT
// test_pipeline.c: rows through feeds and teams, sums over any number of devices, failing readers and devices, the table of
// stages.
#include "../../../impl/jobs/pipeline/pipeline.h"
#include "../../../impl/runtime/choice.h"
#include "../test.h"
#include "../test_data.h"

enum { VALUES = 3 }; // numbers of an image: its row, and twice that

typedef struct world {
    int64_t bad[2]; // unreadable rows; -1: none
    int reads_bad;  // the number of failed reads, after which a row is readable if `heals`
    bool heals;
    int64_t each, *seen; // images a batch; how often each row came
    int slots, fails;    // fails: the member that fails, -1: none
    int64_t rows;
} world;

static int read_row(const void *context, void *reader, int64_t row, void *const part[PL_PARTS], int64_t at) {
    world *w = rg_unconst(context);
    float *value = (float *)part[0] + at * VALUES;
    (void)reader;
    usleep((useconds_t)(row * 7 % 5) * 50); // lets readers overtake each other
    for (int i = 0; i < VALUES; i++) value[i] = (float)((i + 1) * row);
    ((double *)part[2])[at] = -(double)row;
    if ((row != w->bad[0] && row != w->bad[1]) || (w->heals && __atomic_fetch_add(&w->reads_bad, 1, __ATOMIC_RELAXED)))
        return RG_GOOD;
    return rg_fail(RG_USAGE, "row %d is bad", (int)row);
}

static int work_on_rows(pl_member *m, void *context) {
    world *w = context;
    RG_ENDS(pl_feed_end) pl_feed feed = {0};
    pl_slot *s;
    int64_t first, n = pl_share(w->rows, m->index, m->team->n, &first), expected = first;
    RG_FREED int64_t *row = rg_alloc((size_t)(n + 1) * sizeof *row);
    int code = RG_GOOD;
    for (int64_t i = 0; i < n; i++) row[i] = first + i;
    for (int twice = 0; twice < 2 && n && code == RG_GOOD; twice++) { // the second time in the memory of the first
        code = pl_feed_begin(&feed, m, row, n, w->each, w->slots);
        for (expected = first; code == RG_GOOD; pl_feed_release(&feed, s)) {
            code = pl_feed_next(&feed, &s);
            if (code != RG_GOOD || !s) break;
            for (int64_t i = 0; i < s->n; i++, expected++) {
                assert_true(s->row[i] == expected && ((float *)s->part[0])[i * VALUES + 2] == (float)(3 * expected));
                assert_true(((double *)s->part[2])[i] == -(double)expected);
                __atomic_fetch_add(&w->seen[expected], 1, __ATOMIC_RELAXED);
            }
            if (w->fails == m->index) code = rg_fail(RG_WRONG, "device %d fails", m->index);
        }
    }
    return code;
}

static const rg_entry *entry_of(const char *device) {
    const rg_entry *e = rg_entry_named(rg_algo_find("gridding"), device, strcmp(device, "cpu") ? "scatter" : "naive_scatter");
    assert_non_null(e);
    return e;
}

// Runs a job of this many rows; returns its code. Every row must have come `seen` times, unless that is negative.
static int job(world *w, const char *device, int64_t gpus, int threads, int seen, int members) {
    pl_team t;
    const pl_source source = {
        .path = "list", .context = w, .read = read_row, .part_bytes = {VALUES * sizeof(float), 0, sizeof(double)}};
    assert_int_equal(
        pl_team_open(
            &t, &(pl_devices){.entry = entry_of(device), .device = device, .gpus = gpus, .most = w->rows, .threads = threads}),
        RG_GOOD);
    t.source = &source;
    w->seen = rg_alloc((size_t)w->rows * sizeof *w->seen);
    assert_int_equal(t.n, members);
    int code = pl_team_run(&t, work_on_rows, w);
    for (int64_t i = 0; i < w->rows && seen >= 0; i++) assert_int_equal(w->seen[i], seen);
    pl_team_close(&t);
    free(w->seen);
    return code;
}

// Batches that do not divide the rows, one device and many, more devices than rows, one slot and more than there are batches.
TEST(test_rows) {
    for (int64_t rows = 1; rows < 30; rows += 4)
        for (int64_t each = 1; each < 12; each += 3)
            for (int slots = 1; slots < 6; slots += 2)
                for (int threads = 1; threads < 9; threads += 7) {
                    world w = {{-1, -1}, .each = each, .slots = slots, .fails = -1, .rows = rows};
                    assert_int_equal(job(&w, "cpu", 0, threads, 2, 1), RG_GOOD);
                    assert_int_equal(job(&w, "host", 3, threads, 2, rows < 3 ? (int)rows : 3), RG_GOOD);
                }
    for (int of = 1; of < 9; of++) {
        int64_t first, next = 0;
        for (int i = 0; i < of; i++, next += pl_share(5, i - 1, of, &first)) {
            assert_true(pl_share(5, i, of, &first) <= (5 + of - 1) / of);
            assert_int_equal(first, next);
        }
        assert_int_equal(next, 5);
    }
}

// The first of two bad rows is reported, once, whichever reader meets one first; earlier batches are processed.
TEST(test_bad_rows) {
    for (int again = 0; again < 20; again++)
        for (int gpus = 1; gpus < 4; gpus++) {
            world w = {{17, 9}, .each = 4, .slots = 3, .fails = -1, .rows = 23};
            catch_stderr();
            int code = gpus == 1 ? job(&w, "cpu", 0, 8, -1, 1) : job(&w, "host", gpus, 8, -1, gpus);
            const char *said = caught();
            assert_int_equal(code, RG_USAGE);
            assert_non_null(strstr(said, "row 9 is bad"));
            assert_null(strstr(said, "row 17 is bad"));
        }
    world w = {{11, -1}, .heals = true, .each = 4, .slots = 3, .fails = -1, .rows = 23};
    catch_stderr();
    assert_int_equal(job(&w, "cpu", 0, 8, -1, 1), RG_USAGE);
    assert_non_null(strstr(caught(), "list: row 12 could not be read at first; the file is changing"));
}

// A device that fails during work ends the job with its code; one that does not open is reported once, and runs no task.
TEST(test_bad_devices) {
    world w = {{-1, -1}, .each = 2, .slots = 2, .fails = 1, .rows = 23};
    catch_stderr();
    assert_int_equal(job(&w, "host", 3, 2, -1, 3), RG_WRONG);
    assert_non_null(strstr(caught(), "device 1 fails"));
    RG_ENDS(pl_team_close) pl_team t;
    rg_entry of_gpu = *entry_of("host");
    of_gpu.emulated = false;
    const pl_devices none = {.entry = &of_gpu, .device = "gpu63", .most = 4, .threads = 1};
    assert_int_equal(pl_team_open(&t, &none), RG_GOOD);
    catch_stderr();
    assert_int_equal(pl_team_run(&t, work_on_rows, NULL), RG_LACKS); // work_on_rows would end the program
    assert_int_equal(pl_team_run(&t, work_on_rows, NULL), RG_LACKS);
    const char *said = caught(), *once = strstr(said, "gpu63");
    assert_non_null(once);
    assert_null(strstr(once + 5, "regather:"));
}

static int make_sum(pl_member *m, void *context) {
    rg_buffer *sum = (rg_buffer *)context + 3 * m->index;
    float value[5];
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < 5; i++) value[i] = (float)((100 * p + i + 1) << m->index);
        if (p == 2 || p == m->index % 2 || m->team->n == 1) { // parts 0 and 1: of even and of odd members
            assert_int_equal(rg_buffer_make(&sum[p], m->device, sizeof value, sizeof(float), false, "sum"), RG_OK);
            assert_int_equal(rg_buffer_put(&sum[p], value), RG_OK);
        }
    }
    return RG_GOOD;
}

// Sums that all members have, and sums of every other one, with any number of devices.
TEST(test_merge) {
    for (int n = 1; n < 10; n++) {
        RG_ENDS(pl_team_close) pl_team t;
        rg_buffer sum[3 * 10] = {{0}};
        assert_int_equal(
            pl_team_open(&t, &(pl_devices){.entry = entry_of("host"), .device = "host", .gpus = n, .most = n, .threads = 2}),
            RG_GOOD);
        assert_int_equal(pl_team_run(&t, make_sum, sum), RG_GOOD);
        assert_int_equal(pl_merge(&t, sum, 3), RG_GOOD);
        for (int p = 0; p < 3; p++) {
            float found[5];
            assert_int_equal(rg_buffer_get(&sum[p], found), RG_OK);
            for (int i = 0; i < 5; i++) {
                float expected = 0;
                for (int m = 0; m < n; m++) expected += p == 2 || p == m % 2 || n == 1 ? (float)((100 * p + i + 1) << m) : 0;
                assert_true(found[i] == expected);
            }
        }
        for (int i = 0; i < 3 * n; i++) rg_buffer_free(&sum[i]);
    }
}

static int stages(pl_member *m, void *context) {
    (void)context;
    m->stage[PL_READ].busy_s = 1 + m->index;
    m->stage[PL_READ].needs.amount[RG_F32_MAD] = m->index ? 2.5e9 : 7;
    m->stage[PL_READ].needs.amount[RG_MEM_BYTES] = 3;
    m->stage[PL_READ].calls = 2;
    m->stage[PL_CALL + 1].calls = 3;
    return RG_GOOD;
}

// For several devices: the longest time, the resources of that device's calls, and the number of all calls; stages never
// entered are not listed.
TEST(test_stages) {
    size_t size;
    RG_ENDS(pl_team_close) pl_team t;
    assert_int_equal(
        pl_team_open(&t,
            &(pl_devices){
                .entry = entry_of("host"), .device = "host", .gpus = 2, .most = 9, .threads = 4, .began_s = rg_seconds() - 8}),
        RG_GOOD);
    t.call_name[1] = "sums:simd";
    assert_int_equal(pl_team_run(&t, stages, NULL), RG_GOOD);
    assert_int_equal(pl_stages_write(&t, in_dir("out.mrc"), "# command: none\n"), RG_GOOD);
    RG_FREED char *text = get_file(in_dir("out_stages.tsv"), &size);
    assert_non_null(strstr(text, "# command: none\n# on 2 x "));
    assert_non_null(strstr(text, "stage\tbusy_s\tshare\tcalls\tneeds\n"));
    assert_non_null(strstr(text, "\nread\t2.0000\t0.2"));
    assert_non_null(strstr(text, "\t4\tmemory=3 fp32=2.5e+09\nsums:simd\t0.0000\t0.0000\t6\t-\nwhole\t8."));
    assert_null(strstr(text, "insert"));
}

TESTS(test_dir_make, test_dir_remove)
