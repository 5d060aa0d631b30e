// SPDX-License-Identifier: MIT
// test_record.c: the functions of `regather record`: results that a step continues from, the processors it uses; and that the
// shipped plan has every claim that can be measured. Its output: verify/cases/record.tsv.
#include "../../../bench/record/record.h"
#include "../../../bench/stats/stats.h"
#include "../test_command.h"
#include "../test_program.h"

extern const rg_command rg_cmd_record;

static const char names[] = "kind\tname\teach\tneeds\tgpus\truns\tseconds\tclaims\tshapes\tcommand\n";
static const char small[] =
    "let\tsmall\t-\t-\t-\t-\t-\t-\t-\tw16,h16,r2,k0\n"
    "bench\tcorr-$v\tv=ordered naive\t-\t-\tcore\t2\tL3\t$small\tautocorr:$v --threads 1 --max-seconds 0.01 --rounds 2\n";
static char *said; // the output of record

static int record(const char *options) {
    return run_command(&rg_cmd_record,
        fmt("record --quiet --plan-file %s --work %s --out %s %s", in_dir("plan"), in_dir("work"), in_dir("m"), options), said);
}

static void plan(const char *a, const char *b) { put_text(in_dir("plan"), fmt("%s%s%s", names, a, b)); }

static rg_result rows(const char *name) {
    rg_result r;
    bool cut;
    assert_int_equal(rg_result_read(in_dir(name), &r, &cut), RG_GOOD);
    return r;
}

// Copies NAME to `as`, with `from` replaced by `to` in lines that match `where`.
static void edited(const char *name, const char *as, const char *where, const char *from, const char *to) {
    assert_int_equal(sh("sed '/%s/s/%s/%s/' %s > %s", where, from, to, name, as), 0);
}

TEST(rates_of_a_run_go_to_the_steps_after_it) {
    RG_ENDS(rg_record_free) rg_record r;
    plan(small, "");
    assert_int_equal(record("--budget 5"), RG_GOOD);
    rg_record_step nothing = {.kind = RG_STEP_BENCH};
    assert_int_equal(rg_record_open(&r, in_dir("m"), true), RG_GOOD);
    assert_int_equal(rg_record_seed(&r, &nothing, 0, in_dir("before.tsv")), RG_GOOD);
    assert_int_equal(rg_record_merge(&r, in_dir("m.tsv"), true), RG_GOOD); // as after a step of this run
    assert_int_equal(rg_record_seed(&r, &nothing, 0, in_dir("after.tsv")), RG_GOOD);
    RG_ENDS(rg_result_free) rg_result before = rows("before.tsv"), after = rows("after.tsv");
    assert_int_equal(before.n_rows, 0);                                   // probes of another day do not count
    assert_null(rg_result_head(&before, "input autocorr w16,h16,r2,k0")); // nor its inputs, whose rows are missing
    assert_true(after.n_rows > 0);
    for (int i = 0; i < after.n_rows; i++) assert_true(rg_row_is_probe(&after.row[i]));
    // A run that continues with them measures none again.
    const char *rate = after.row[0].cell[RG_C_RATE];
    edited("after.tsv", "x.tsv", "^probe", rate, "1.25e+15"); // faster than any
    assert_int_equal(sh("%s bench autocorr:ordered --shape w16,h16,r2,k0 --threads 1 --max-seconds 0.01 --rounds 2 --quiet "
                        "--out %s --resume",
                         getenv("REGATHER_PROGRAM"), in_dir("x.tsv")),
        0);
    RG_ENDS(rg_result_free) rg_result with = rows("x.tsv");
    assert_string_equal(with.row[0].cell[RG_C_RATE], "1.25e+15");
}

// A stopped search continues with the configurations in the record for its variant and shape, from a process with as many
// cores.
TEST(a_search_goes_on_where_it_stopped) {
    assert_int_equal(
        sh("regather tune autocorr:simd --shape w16,h16,r2,k0 --threads 1 --tuned none --quiet --out one.tsv > out && "
           "regather tune autocorr:simd --shape w16,h16,r3,k0 --threads 1 --tuned none --quiet --out two.tsv > out"),
        0);
    RG_ENDS(rg_record_free) rg_record r;
    assert_int_equal(rg_record_open(&r, in_dir("s"), false), RG_GOOD);
    assert_int_equal(rg_record_merge(&r, in_dir("one.tsv"), true), RG_GOOD);
    const int n = r.rows.n_rows;
    assert_int_equal(rg_record_merge(&r, in_dir("two.tsv"), true), RG_GOOD);
    assert_true(n > 1 && r.rows.n_rows > n);
    char *word[] = {"autocorr:simd", "--budget", "1", "--shape", "w16,h16,r2,k0", NULL};
    rg_record_step step = {.kind = RG_STEP_TUNE, .word = word, .shapes = "w16,h16,r2,k0"};
    assert_int_equal(rg_record_rows_of(&r, &step), n);
    assert_int_equal(rg_record_seed(&r, &step, 7, in_dir("seed.tsv")), RG_GOOD);
    RG_ENDS(rg_result_free) rg_result seed = rows("seed.tsv");
    assert_int_equal(seed.n_rows, n);
    assert_non_null(strstr(rg_result_head(&seed, "machine"), ", 7 cores"));
    for (int i = 0; i < n; i++) assert_string_equal(seed.row[i].cell[RG_C_SHAPE], "w16,h16,r2,k0");
}

// ---- processors ------------------------------------------------------------------------------------------------------------

// Lists of siblings as Linux writes them: cores with two processors each, numbered in halves or in pairs, or with one.
typedef enum { ALONE, HALVES, PAIRS, BARE } lists;

static const char *list_of(lists kind, int k, int n) {
    return kind == HALVES ? fmt("%d,%d", k % (n / 2), k % (n / 2) + n / 2)
        : kind == PAIRS   ? fmt("%d-%d", k / 2 * 2, k / 2 * 2 + 1)
        : kind == ALONE   ? fmt("%d", k)
                          : "";
}

static char *numbers(const cpu_set_t *set) {
    char *text = rg_print("%s", "");
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET((size_t)c, set)) {
            char *more = rg_print("%s%s%d", text, *text ? " " : "", c);
            free(text);
            text = more;
        }
    return text;
}

static double times_together; // the slowdown of processors that seem to be of different cores
static double slowed(const int cpu[], int n) {
    assert_in_range(cpu[n - 1], 0, 15);
    return times_together;
}

TEST(steps_of_one_core_share_no_core) {
    static const struct {
        int n;
        lists kind;
        bool is_virtual;
        int first; // the first processor that may be used
        int beside;
        const char *cpu, *rest; // processors of steps of one core, in any order, and of other steps
        bool hidden;
        double times; // 0: 2, or not measured
    } machine[] = {
        {16, ALONE, false, 0, 0, "8 9 10 11 12 13 14 15", "0 1 2 3 4 5 6 7", false, 0},
        {16, HALVES, false, 0, 0, "12 13 14 15", "0 1 2 3 8 9 10 11", false, 0},
        {16, PAIRS, false, 0, 0, "9 11 13 15", "0 1 2 3 4 5 6 7", false, 0},
        {16, PAIRS, true, 0, 0, "9 11 13 15", "0 1 2 3 4 5 6 7", false, 0},
        // Right whether the true lists are HALVES or PAIRS.
        {16, ALONE, true, 0, 4, "9 11 13 15", "0 2 4 6", true, 0},
        {16, BARE, true, 0, 4, "9 11 13 15", "0 2 4 6", true, 0},
        {16, ALONE, true, 0, 0, "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", true, 0},
        {16, ALONE, true, 0, 0, "9 11 13 15", "0 2 4 6", false, 1.1},
        {16, ALONE, true, 0, 0, "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", true, 1.3},
        {16, ALONE, true, 0, 0, "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", true, NAN},
        {16, BARE, false, 0, 0, "8 9 10 11 12 13 14 15", "0 1 2 3 4 5 6 7", false, 0},
        {16, ALONE, true, 0, 2, "13 15", "0 1 2 3 4 6 8 9 10 11", true, 0},
        {16, ALONE, false, 0, 64, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "0", false, 0},
        {16, HALVES, false, 12, 0, "14 15", "12 13", false, 0}, // a part of the machine
        {8, ALONE, true, 0, 2, "5 7", "0 2", true, 0},
        {4, ALONE, true, 0, 0, "", "0 1 2 3", true, 0},
        {4, ALONE, false, 0, 0, "2 3", "0 1", false, 0},
        {2, ALONE, true, 0, 0, "", "0 1", false, 0},
        {1, ALONE, false, 0, 8, "", "0", false, 0},
    };
    for (int i = 0; i < RG_COUNT(machine); i++) {
        const int n = machine[i].n;
        const char *siblings[16];
        cpu_set_t usable, used;
        CPU_ZERO(&usable);
        CPU_ZERO(&used);
        for (int k = 0; k < n; k++) siblings[k] = list_of(machine[i].kind, k, n);
        for (int k = machine[i].first; k < n; k++) CPU_SET((size_t)k, &usable);
        rg_cores cores;
        times_together = machine[i].times == 0 ? 2 : machine[i].times;
        rg_cores_share(n, siblings, usable, machine[i].is_virtual, machine[i].beside, slowed, &cores);
        for (int k = 0; k < cores.beside; k++) CPU_SET((size_t)cores.cpu[k], &used);
        RG_FREED char *cpu = numbers(&used), *rest = numbers(&cores.rest);
        if (strcmp(cpu, machine[i].cpu) || strcmp(rest, machine[i].rest) || cores.hidden != machine[i].hidden)
            fail_msg(
                "machine %d: steps of one core on \"%s\", the rest on \"%s\"%s", i, cpu, rest, cores.hidden ? ", hidden" : "");
        assert_int_equal(cores.beside, CPU_COUNT(&used)); // no duplicates
    }
}

static rg_cores shown;
static int show(void *none) {
    const rg_steps plan_of_none = {0};
    (void)none;
    rg_record_show(&plan_of_none, &shown, 0, 0);
    return RG_GOOD;
}

TEST(the_plan_says_what_a_virtual_machine_hides) {
    static const rg_option none[] = {{0}};
    const rg_command command = {.name = "show", .words = "", .option = none, .bytes = sizeof(rg_given), .run = show};
    for (int hidden = 0; hidden < 2; hidden++) {
        shown = (rg_cores){.beside = 4, .hidden = hidden};
        assert_int_equal(run_command(&command, "show", said), RG_GOOD);
        assert_int_equal(strstr(said, "hides which processors share a core") != NULL, hidden);
        assert_non_null(strstr(said, "with at most 4 of one core"));
    }
}

TEST(as_many_beside_another_as_are_asked_for) {
    rg_cores cores;
    plan(small, "");
    for (int asked = 0; asked < 2; asked++) {
        rg_cores_share_here(asked, &cores);
        assert_int_equal(record(asked ? "--plan --beside 1" : "--plan"), RG_GOOD);
        assert_non_null(strstr(said, fmt("with at most %d of one core", cores.beside)));
    }
}

// Of a step that takes the machine for 60 s and one of a core for 100 s, the latter takes 25 s of four such cores.
TEST(a_step_of_one_core_costs_its_share) {
    RG_ENDS(rg_record_plan_free) rg_steps p;
    rg_record none = {.serial = ""};
    plan("table\twhole\t-\t-\t-\talone\t60\tL1\t-\ttrue\n", "table\tone\t-\t-\t-\tcore\t100\tL2\t-\ttrue\n");
    assert_int_equal(rg_record_plan_read(in_dir("plan"), &p), RG_GOOD);
    assert_int_equal(rg_record_plan_weigh(&p, &none, 0), RG_GOOD);
    assert_true(rg_steps_choose(&p, 4, 100) == 100);
    assert_true(!p.step[0].chosen && p.step[1].chosen);
}

TEST(malformed_tables_are_refused) {
    rg_tables t;
    rg_silent = true;
    put_text(in_dir("t"), "no head\n");
    assert_int_equal(rg_tables_read(in_dir("t"), &t), RG_USAGE);
    put_text(in_dir("t"), "# table: a\nx\n# table: a\nx\n");
    assert_int_equal(rg_tables_read(in_dir("t"), &t), RG_USAGE);
    rg_silent = false;
}

// The shipped plan has every claim that a record can test, and no other; all its steps are commands that bench accepts.
TEST(the_shipped_plan_has_every_claim) {
    RG_FREED char *path = rg_share_path("bench/record/plan.tsv"), *claims = rg_share_path("reference/claims.tsv");
    RG_ENDS(rg_record_plan_free) rg_steps shipped;
    rg_record none = {.serial = ""};
    setenv("work", "/tmp", 1);
    RG_ENDS(rg_tsv_free) rg_tsv t;
    assert_int_equal(rg_record_plan_read(path, &shipped), RG_GOOD);
    assert_int_equal(rg_record_plan_weigh(&shipped, &none, 8), RG_GOOD);
    assert_int_equal(rg_tsv_read(claims, &t), RG_GOOD);
    for (int i = 0; i < t.n_rows; i++) {
        const char *id = rg_tsv_cell(&t, i, "id"), *kind = rg_tsv_cell(&t, i, "kind");
        bool found = false;
        for (int k = 0; k < shipped.n && !found; k++)
            found = strstr(fmt(" %s ", rg_record_of(&shipped.step[k])->claims), fmt(" %s ", id)) != NULL;
        // Excludes claims about kernels that the suite does not time, and about the papers themselves.
        const bool can = strcmp(kind, "paper") && strcmp(kind, "criticism") && !strstr(rg_tsv_cell(&t, i, "needs"), "kernel");
        if (found != can)
            fail_msg("claim %s: %s", id, can ? "no step makes it testable" : "a step says that it makes it testable");
    }
    // Given numbers of threads distinguish rows of a GPU.
    const rg_record_step *four = rg_record_of(rg_step_find(&shipped, "job-feed-4"));
    const rg_record_step *more = rg_record_of(rg_step_find(&shipped, "job-feed-16"));
    assert_string_equal(four->key[0].cell[RG_C_PARAMS], "gpus=1;threads=4");
    assert_false(rg_row_same(&four->key[0], &more->key[0]));
}

FIXTURE(set_up) {
    said = rg_alloc(OUTPUT_MAX);
    return test_dir_make(state);
}

TESTS(set_up, test_dir_remove)
