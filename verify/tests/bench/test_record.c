// SPDX-License-Identifier: MIT
// test_record.c: `regather record` with small plans: what it measures and what not again, what it takes over from other
// machines and from a run that was killed, what does not fit the time; which processors it uses; and that the shipped plan knows
// every claim that can be measured.
#include "../../../bench/compare/believe.h"
#include "../../../bench/record/record.h"
#include "../../../bench/stats/stats.h"
#include "../test_command.h"
#include "../test_program.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>

extern const rg_command rg_cmd_record;

static const char names[] = "kind\tname\teach\tneeds\tgpus\truns\tseconds\tclaims\tshapes\tcommand\n";
static const char small[] =
    "let\tsmall\t-\t-\t-\t-\t-\t-\t-\tw16,h16,r2,k0\n"
    "bench\tcorr-$v\tv=ordered naive\t-\t-\tcore\t2\tL3\t$small\tautocorr:$v --threads 1 --max-seconds 0.01 --rounds 2\n";
static const char tables[] = "data\timage\t-\t-\t-\tcore\t1\t-\t-\techo made >> $work/image\n"
                             "table\tnumbers\t-\timage\t-\talone\t1\tF9a\t-\tprintf '# head\\npart\\tcpu\\na\\t%s\\n' $(wc -l "
                             "< $work/image) > $product\n"
                             "table\tsome\t-\timage gpus?\t-\talone\t1\tF9d\t-\tprintf 'x\\n%s\\n' $(ls "
                             "$work/tables | grep -c other) > $product\n"
                             "table\tlong\t-\t-\t-\talone\t1000\tF9b\t-\tfalse\n"
                             "bench\tgpus\t-\t-\t64\tgpu\t1\tF9c\t-\tgridding:gather --max-seconds 0.1\n";
static char *said; // what record printed on stdout

static int record(const char *options)
{
    return run_command(&rg_cmd_record,
        fmt("record --quiet --plan-file %s --work %s --out %s %s", in_dir("plan"), in_dir("work"), in_dir("m"), options), said);
}

static void plan(const char *a, const char *b) { put_text(in_dir("plan"), fmt("%s%s%s", names, a, b)); }

static rg_result rows(const char *name)
{
    rg_result r;
    bool cut;
    assert_int_equal(rg_result_read(in_dir(name), &r, &cut), RG_GOOD);
    return r;
}

static const rg_row *row_of(const rg_result *r, const char *variant)
{
    for (int i = 0; i < r->n_rows; i++)
        if (!strcmp(r->row[i].cell[RG_C_VARIANT], variant)) return &r->row[i];
    return NULL;
}

// NAME with `from` replaced by `to` in its lines that hold `where`, as another file.
static void edited(const char *name, const char *as, const char *where, const char *from, const char *to)
{
    assert_int_equal(sh("sed '/%s/s/%s/%s/' %s > %s", where, from, to, name, as), 0);
}

TEST(what_is_there_is_not_measured_again)
{
    plan(small, "");
    assert_int_equal(record("--budget 5"), RG_GOOD);
    rg_result first = rows("m.tsv");
    const rg_row *ordered = row_of(&first, "ordered");
    assert_non_null(ordered);
    assert_non_null(row_of(&first, "naive"));
    assert_non_null(strstr(ordered->cell[RG_C_MADE], "serial "));
    assert_non_null(strstr(ordered->cell[RG_C_MADE], ", revision "));
    assert_int_equal(record(""), RG_USAGE); // it is not overwritten
    assert_int_equal(record("--resume"), RG_GOOD);
    assert_non_null(strstr(said, "2 steps of the plan are in the record. These 0 fit"));
    rg_result again = rows("m.tsv");
    assert_string_equal(row_of(&again, "ordered")->cell[RG_C_SAMPLES], ordered->cell[RG_C_SAMPLES]);
    rg_result_free(&again);
    // Another source of one kernel: that one alone.
    edited("m.tsv", "x", "ordered", "sha256 [0-9a-f]*", "sha256 0123456789abcdef");
    assert_int_equal(sh("mv x m.tsv"), 0);
    assert_int_equal(record("--resume"), RG_GOOD);
    again = rows("m.tsv");
    assert_string_not_equal(row_of(&again, "ordered")->cell[RG_C_SAMPLES], ordered->cell[RG_C_SAMPLES]);
    assert_string_equal(row_of(&again, "ordered")->cell[RG_C_SOURCE], ordered->cell[RG_C_SOURCE]);
    assert_string_equal(row_of(&again, "naive")->cell[RG_C_SAMPLES], row_of(&first, "naive")->cell[RG_C_SAMPLES]);
    assert_int_equal(rg_believe(&again), RG_GOOD);
    const bool wide = rg_row_width(row_of(&again, "ordered")) > 10 ||
        rg_row_width(row_of(&again, "naive")) > 10; // two processes beside others' work
    rg_result_free(&again);
    assert_int_equal(sh("cp m.tsv x"), 0);
    // Rows with an interval that is wider than what is asked for are measured again; the narrower of two stays.
    assert_int_equal(record("--resume --widest 1000 --plan"), RG_GOOD);
    assert_int_equal(strstr(said, "2 steps of the plan are in the record") != NULL, !wide);
    assert_int_equal(record("--resume --widest 0.1 --plan"), RG_GOOD);
    assert_null(strstr(said, "2 steps of the plan are in the record"));
    assert_int_equal(record("--resume --widest 0.1"), RG_GOOD);
    again = rows("m.tsv");
    rg_result_free(&first);
    first = rows("x");
    assert_true(rg_row_width(row_of(&again, "naive")) <= rg_row_width(row_of(&first, "naive")));
    assert_true(rg_row_width(row_of(&again, "ordered")) <= rg_row_width(row_of(&first, "ordered")));
    // Also when a file is merged.
    assert_int_equal(sh("mv m.tsv narrow.tsv && cp x m.tsv"), 0);
    record(fmt("--resume --budget 0 --widest 0.1 --merge %s", in_dir("narrow.tsv")));
    rg_result_free(&first);
    first = rows("m.tsv");
    assert_string_equal(row_of(&first, "naive")->cell[RG_C_SAMPLES], row_of(&again, "naive")->cell[RG_C_SAMPLES]);
    assert_string_equal(row_of(&first, "ordered")->cell[RG_C_SAMPLES], row_of(&again, "ordered")->cell[RG_C_SAMPLES]);
    rg_result_free(&again);
    rg_result_free(&first);
}

// Two pieces, one of another machine of the kind; a file of another kind, of rows without hashes, and what a killed run left.
TEST(rates_of_a_run_go_to_the_steps_after_it)
{
    rg_record r;
    rg_record_step nothing = {.kind = RG_STEP_BENCH};
    assert_int_equal(rg_record_open(&r, in_dir("m"), true), RG_GOOD);
    assert_int_equal(rg_record_seed(&r, &nothing, 0, in_dir("before.tsv")), RG_GOOD);
    assert_int_equal(rg_record_merge(&r, in_dir("m.tsv"), true), RG_GOOD); // as of a step of this run
    assert_int_equal(rg_record_seed(&r, &nothing, 0, in_dir("after.tsv")), RG_GOOD);
    rg_result before = rows("before.tsv"), after = rows("after.tsv");
    assert_int_equal(before.n_rows, 0);                                   // another day's machine is not trusted
    assert_null(rg_result_head(&before, "input autocorr w16,h16,r2,k0")); // nor its inputs, of rows that are not there
    assert_true(after.n_rows > 0);
    for (int i = 0; i < after.n_rows; i++) assert_true(rg_row_is_probe(&after.row[i]));
    // A run that goes on with them measures none of them again.
    const char *rate = after.row[0].cell[RG_C_RATE];
    edited("after.tsv", "x.tsv", "^probe", rate, "1.25e+15"); // faster than any
    assert_int_equal(sh("%s bench autocorr:ordered --shape w16,h16,r2,k0 --threads 1 --max-seconds 0.01 --rounds 2 --quiet "
                        "--out %s --resume",
                         getenv("REGATHER_PROGRAM"), in_dir("x.tsv")),
        0);
    rg_result with = rows("x.tsv");
    assert_string_equal(with.row[0].cell[RG_C_RATE], "1.25e+15");
    rg_result_free(&with);
    rg_record_free(&r);
    rg_result_free(&after);
    rg_result_free(&before);
}

TEST(pieces_become_one_record)
{
    assert_int_equal(sh("awk -F'\\t' '/^#/ || $2 != \"naive\"' m.tsv > a.tsv; awk -F'\\t' '/^#/ || $2 != \"ordered\"' m.tsv | "
                        "sed '/naive/s/serial [0-9a-z]*/serial 11111111/' > b.tsv; rm m.tsv"),
        0);
    assert_int_equal(record(fmt("--merge %s --merge %s", in_dir("a.tsv"), in_dir("b.tsv"))), RG_GOOD);
    rg_result r = rows("m.tsv");
    assert_non_null(strstr(row_of(&r, "naive")->cell[RG_C_MADE], "serial 11111111"));
    assert_non_null(rg_result_head(&r, "mixed"));
    assert_non_null(strstr(said, "several machines of one kind"));
    rg_result_free(&r);
    edited("a.tsv", "c.tsv", "^# machine", ": ", ": another ");
    assert_int_equal(record(fmt("--resume --merge %s", in_dir("c.tsv"))), RG_USAGE);
    edited("b.tsv", "c.tsv", "^# input", "fnv1a [0-9a-f]*", "fnv1a 0123456789abcdef"); // of another image
    assert_int_equal(sh("cp a.tsv m.tsv"), 0);
    assert_int_equal(record(fmt("--resume --merge %s", in_dir("c.tsv"))), RG_USAGE);
    r = rows("m.tsv");
    assert_null(row_of(&r, "naive"));
    rg_result_free(&r);
    // Pieces of another kind of machine come together on any, which measures nothing.
    edited("a.tsv", "m.tsv", "^# machine", ": ", ": another ");
    edited("b.tsv", "c.tsv", "^# machine", ": ", ": another ");
    assert_int_equal(record(fmt("--resume --merge %s", in_dir("c.tsv"))), RG_USAGE);
    assert_int_equal(record(fmt("--resume --budget 0 --merge %s", in_dir("c.tsv"))), RG_GOOD);
    r = rows("m.tsv");
    assert_non_null(row_of(&r, "naive"));
    assert_non_null(row_of(&r, "ordered"));
    rg_result_free(&r);
    // An energy that the record lacks is taken, with its row.
    assert_int_equal(
        sh("rm m.*tsv; cp b.tsv m.tsv; awk -F'\\t' -v OFS='\\t' '/^algo/ { for (i = 1; i <= NF; i++) if ($i == \"joules\") at = i } "
           "$2 == \"naive\" { $at = 0.5 } { print }' b.tsv > c.tsv"),
        0);
    assert_int_equal(record(fmt("--resume --budget 0 --merge %s", in_dir("c.tsv"))), RG_UNSURE);
    r = rows("m.tsv");
    assert_string_equal(row_of(&r, "naive")->cell[RG_C_JOULES], "0.5");
    rg_result_free(&r);
    // A record of a CPU takes what its CPU did where a GPU was beside it, and nothing of the GPU.
    for (int gpu = 1; gpu >= 0; gpu--) {
        assert_int_equal(sh("rm m.*tsv; cp a.tsv m.tsv; sed '/^# machine/s/$/, NVIDIA H200/; /naive/s/host/%s/' b.tsv > c.tsv",
                             gpu ? "device" : "host"),
            0);
        assert_int_equal(record(fmt("--resume --budget 0 --merge %s", in_dir("c.tsv"))), gpu ? RG_UNSURE : RG_GOOD);
        r = rows("m.tsv");
        assert_int_equal(row_of(&r, "naive") == NULL, gpu);
        rg_result_free(&r);
    }
    // Where there is no record yet, the head is that of the file without its GPU.
    assert_int_equal(
        sh("rm m.*tsv; sed '/^# machine/s/$/, NVIDIA H200/; /^# gpu:/s/:.*/: NVIDIA H200/; /naive/s/host/device/' b.tsv > c.tsv; "
           "printf '# table: numbers\na\n1\n# table: gpus\na\n1\n# table: some\na\n1\n' > c.tables.tsv"),
        0);
    plan(small, tables); // with a step that needs GPUs
    assert_int_equal(
        record(fmt("--device cpu --budget 0 --merge %s --merge %s", in_dir("c.tsv"), in_dir("c.tables.tsv"))), RG_UNSURE);
    plan(small, "");
    assert_int_equal(sh("! grep H200 m.tsv && grep -q '^# gpu: none' m.tsv && ! grep -q naive m.tsv"), 0);
    assert_int_equal(
        sh("grep -q 'table: numbers' m.tables.tsv && ! grep -Eq 'table: (gpus|some)' m.tables.tsv && rm m.tables.tsv"), 0);
    edited("m.tsv", "c.tsv", "^# machine", "$", ", NVIDIA H200");
    assert_int_equal(sh("mv c.tsv m.tsv"), 0);
    assert_int_equal(record(fmt("--resume --budget 0 --merge %s", in_dir("b.tsv"))), RG_USAGE); // the other way round, nothing
    // As a killed run leaves it: the file of a step, its last row cut.
    assert_int_equal(
        sh("rm m.*tsv; cp b.tsv m.tsv; { cat a.tsv; printf 'autocorr\\tnaive'; } > m.step-corr-ordered.tsv.part"), 0);
    assert_int_equal(record("--resume --plan"), RG_GOOD);
    assert_non_null(strstr(said, "1 step of the plan is in the record"));
    assert_int_equal(record("--resume"), RG_GOOD);
    assert_non_null(strstr(said, "2 steps of the plan are in the record"));
    assert_int_not_equal(access(in_dir("m.step-corr-ordered.tsv.part"), F_OK), 0);
}

// A search that was stopped goes on with the configurations that the record has of its variant and shape, in a process of so many
// cores.
TEST(a_search_goes_on_where_it_stopped)
{
    assert_int_equal(
        sh("regather tune autocorr:simd --shape w16,h16,r2,k0 --threads 1 --tuned none --quiet --out one.tsv > out && "
           "regather tune autocorr:simd --shape w16,h16,r3,k0 --threads 1 --tuned none --quiet --out two.tsv > out"),
        0);
    rg_record r;
    assert_int_equal(rg_record_open(&r, in_dir("s"), false), RG_GOOD);
    assert_int_equal(rg_record_merge(&r, in_dir("one.tsv"), true), RG_GOOD);
    const int n = r.rows.n_rows;
    assert_int_equal(rg_record_merge(&r, in_dir("two.tsv"), true), RG_GOOD);
    assert_true(n > 1 && r.rows.n_rows > n);
    char *word[] = {"autocorr:simd", "--budget", "1", "--shape", "w16,h16,r2,k0", NULL};
    rg_record_step step = {.kind = RG_STEP_TUNE, .word = word, .shapes = "w16,h16,r2,k0"};
    assert_int_equal(rg_record_rows_of(&r, &step), n);
    assert_int_equal(rg_record_seed(&r, &step, 7, in_dir("seed.tsv")), RG_GOOD);
    rg_result seed = rows("seed.tsv");
    assert_int_equal(seed.n_rows, n);
    assert_non_null(strstr(rg_result_head(&seed, "machine"), ", 7 cores"));
    for (int i = 0; i < n; i++) assert_string_equal(seed.row[i].cell[RG_C_SHAPE], "w16,h16,r2,k0");
    rg_result_free(&seed);
    rg_record_free(&r);
}

TEST(what_does_not_fit_is_said)
{
    plan(tables, "");
    assert_int_equal(sh("rm -f m.*tsv; rm -rf work; mkdir -p work/tables; echo x > work/tables/other.tsv"), 0);
    char *words = rg_share_path("bench/steps/functions.sh");
    assert_int_equal(sh("mkdir -p \"it's \\$HOME/bench/steps\" && cp '%s' \"it's \\$HOME/bench/steps\"", words), 0);
    assert_int_equal(setenv("REGATHER_SHARE", in_dir("it's $HOME"), 1), 0); // a path is no shell text
    assert_int_equal(record("--budget 1"), RG_UNSURE);                      // `long` is left
    unsetenv("REGATHER_SHARE");
    free(words);
    assert_non_null(strstr(said, "no time: F9b"));
    assert_non_null(strstr(said, "it needs 64 GPUs"));
    rg_tables t;
    assert_int_equal(rg_tables_read(in_dir("m.tables.tsv"), &t), RG_GOOD);
    assert_string_equal(rg_tables_find(&t, "numbers"), "# head\npart\tcpu\na\t1\n");
    // What it needs of 64 GPUs is not to be had here, and tables of another record are no tables of this one.
    assert_string_equal(rg_tables_find(&t, "some"), "x\n0\n");
    assert_non_null(strstr(rg_tables_find(&t, "record_seconds"), "numbers\t"));
    rg_tables_free(&t);
    assert_int_equal(record("--resume --step long"), RG_WRONG); // it fails
    assert_int_equal(sh("rm m.tables.tsv"), 0);
}

TEST(time_that_is_left_is_used)
{
    plan("table\tone\t-\t-\t-\talone\t50\tS9c\t-\tprintf 'x\\n1\\n' > $product\n"
         "table\ttwo\t-\tone\t-\talone\t50\tS9d\t-\tprintf 'x\\n2\\n' > $product\n"
         "table\tlong\t-\t-\t-\talone\t70\tF9b\t-\tfalse\n",
        "");
    assert_int_equal(sh("rm -f m.*tsv; rm -rf work"), 0);
    assert_int_equal(record("--budget 1"), RG_UNSURE); // one minute: at first for one of them
    assert_non_null(strstr(said, "These 1 fit"));
    assert_int_equal(sh("grep -q '^# table: one' m.tables.tsv && grep -q '^# table: two' m.tables.tsv && rm m.tables.tsv"), 0);
}

// What 24 cores would take stands behind what these took, of every run: words do not change what the next one finds.
TEST(words_of_a_step_leave_one_another_alone)
{
    plan("table\tcores\t-\t-\t-\talone\t1\tS9c\t-\tprintf '# a job\\nstage\\tbusy_s\\nwhole\\t24\\n' > $work/s.tsv && "
         "over 2 $work/s.tsv $product true && of_24_cores $product\n",
        "");
    assert_int_equal(sh("rm -f m.*tsv; rm -rf work"), 0);
    assert_int_equal(record(""), RG_GOOD);
    rg_tables t;
    assert_int_equal(rg_tables_read(in_dir("m.tables.tsv"), &t), RG_GOOD);
    const char *first = strstr(rg_tables_find(&t, "cores"), "\nwhole\t24\nwhole@24\t");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "\nwhole\t24\nwhole@24\t"));
    rg_tables_free(&t);
    assert_int_equal(sh("rm m.tables.tsv"), 0);
}

// Tables of jobs have the hash of the job above their rows.
TEST(shares_of_jobs_stand_beside_each_other)
{
    plan("table\tshare_one\t-\t-\t-\talone\t1\tF9a\t-\tregather fsc --help > $work/help && "
         "printf 'part\\tcolumn\\tpercent\\trun\\nsearch.ccp\\tcpu\\t40\\t1\\nsearch.cc3m\\tcpu\\t60\\t1\\n' > $product\n"
         "table\tfr\t-\tshare_one\t-\talone\t1\tF9d\t-\tshares s500 search=p24 search.both=search.ccp+search.cc3m > $product\n",
        "");
    assert_int_equal(sh("rm -f m.*tsv; rm -rf work"), 0);
    assert_int_equal(record("--budget 1"), RG_GOOD);
    rg_tables t;
    assert_int_equal(rg_tables_read(in_dir("m.tables.tsv"), &t), RG_GOOD);
    assert_non_null(strstr(rg_tables_find(&t, "fr"), "\nsearch.cc3m\ts500,p24\t60\t-\n"));
    assert_non_null(strstr(rg_tables_find(&t, "fr"), "\nsearch.both\ts500,p24\t100\t-\n"));
    rg_tables_free(&t);
    assert_int_equal(sh("rm m.tables.tsv"), 0);
}

// A table is stale when the code of a job that its step ran is another one, and with it what is made of it.
TEST(tables_of_a_job_that_has_changed_are_made_again)
{
    plan("table\tone\t-\t-\t-\talone\t1\tS9c\t-\tregather fsc --help > $work/help && printf 'x\\n1\\n' > $product\n"
         "table\ttwo\t-\tone\t-\talone\t1\tS9d\t-\tprintf 'x\\n2\\n' > $product\n",
        "");
    assert_int_equal(sh("rm -f m.*tsv; rm -rf work"), 0);
    assert_int_equal(record(""), RG_GOOD);
    assert_int_equal(sh("grep -A 1 '^# table: one' m.tables.tsv | grep -qx '# source fsc: sha256 [0-9a-f]*' && "
                        "test $(grep -c '^# source' m.tables.tsv) = 1"),
        0);
    assert_int_equal(record("--resume --plan"), RG_GOOD);
    assert_non_null(strstr(said, "2 steps of the plan are in the record"));
    assert_int_equal(sh("sed -i '/^# source/s/sha256 .*/sha256 0123456789abcdef/' m.tables.tsv"), 0);
    assert_int_equal(record("--resume"), RG_GOOD);
    assert_non_null(strstr(said, "0 steps of the plan are in the record"));
    assert_int_equal(sh("! grep -q 0123456789abcdef m.tables.tsv && rm m.tables.tsv"), 0);
}

// What the ledger says of S8b, which is decided by a table.
static bool ledger_says(const char *options, const char *verdict, const char *decided)
{
    assert_int_equal(sh("regather report b.tsv --machines machines --no-figures --quiet --out p %s", options), RG_GOOD);
    rg_tsv ledger;
    assert_int_equal(rg_tsv_read(in_dir("p/ledger.tsv"), &ledger), RG_GOOD);
    bool said_so = false;
    for (int i = 0; i < ledger.n_rows; i++)
        said_so |= !strcmp(rg_tsv_cell(&ledger, i, "machine"), "kind") && !strcmp(rg_tsv_cell(&ledger, i, "id"), "S8b") &&
            !strcmp(rg_tsv_cell(&ledger, i, "verdict"), verdict) && strstr(rg_tsv_cell(&ledger, i, "decided"), decided);
    rg_tsv_free(&ledger);
    return said_so;
}

TEST(the_report_knows_its_tables)
{
    assert_int_equal(sh("mkdir machines && printf '# table: other\\na\\n1\\n# table: truth\\nshell\\tfsc\\n22\\t0.9995\\n' "
                        "> machines/kind.tables.tsv"),
        0);
    assert_true(ledger_says("", "reproduced", ""));
    assert_int_equal(sh("sed -i 's/^# table: truth/&\\n# source fsc: sha256 0123456789abcdef/' machines/kind.tables.tsv"), 0);
    assert_true(ledger_says("", "not testable here", ""));
    assert_true(ledger_says("--stale", "reproduced", "STALE: "));
    char *tree = rg_share_path("verify/stale.sh");
    assert_int_equal(sh("\"%s\" \"%s\" machines v1 > out", tree, test_build()), RG_WRONG); // at a release
    free(tree);
    assert_grep("^stale: machines/kind.tables.tsv: 1 table .*: fsc$", "out");
}

// ---- processors ------------------------------------------------------------------------------------------------------------

// Lists of siblings as Linux writes them: of cores with two processors each, numbered by turns or beside each other, or of one.
typedef enum { ALONE, HALVES, PAIRS, BARE } lists;

static const char *list_of(lists kind, int k, int n)
{
    return kind == HALVES ? fmt("%d,%d", k % (n / 2), k % (n / 2) + n / 2)
        : kind == PAIRS   ? fmt("%d-%d", k / 2 * 2, k / 2 * 2 + 1)
        : kind == ALONE   ? fmt("%d", k)
                          : "";
}

static char *numbers(const cpu_set_t *set)
{
    char *text = rg_print("%s", "");
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, set)) {
            char *more = rg_print("%s%s%d", text, *text ? " " : "", c);
            free(text);
            text = more;
        }
    return text;
}

static double times_together; // what it takes processors of several cores, as they seem
static double slowed(const int cpu[], int n)
{
    assert_in_range(cpu[n - 1], 0, 15);
    return times_together;
}

TEST(steps_of_one_core_share_no_core)
{
    static const struct {
        int n;
        lists kind;
        bool is_virtual;
        int first; // processor that may be used
        int beside;
        const char *cpu, *rest; // those of steps of one core, in any order, and the others'
        bool hidden;
        double times; // 0: 2, or not asked
    } machine[] = {
        {16, ALONE, false, 0, 0, "8 9 10 11 12 13 14 15", "0 1 2 3 4 5 6 7", false},
        {16, HALVES, false, 0, 0, "12 13 14 15", "0 1 2 3 8 9 10 11", false},
        {16, PAIRS, false, 0, 0, "9 11 13 15", "0 1 2 3 4 5 6 7", false},
        {16, PAIRS, true, 0, 0, "9 11 13 15", "0 1 2 3 4 5 6 7", false},
        // Right whether they are in truth as HALVES or as PAIRS.
        {16, ALONE, true, 0, 4, "9 11 13 15", "0 2 4 6", true},
        {16, BARE, true, 0, 4, "9 11 13 15", "0 2 4 6", true},
        {16, ALONE, true, 0, 0, "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", true},
        {16, ALONE, true, 0, 0, "9 11 13 15", "0 2 4 6", false, 1.1},
        {16, ALONE, true, 0, 0, "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", true, 1.3},
        {16, ALONE, true, 0, 0, "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", true, NAN},
        {16, BARE, false, 0, 0, "8 9 10 11 12 13 14 15", "0 1 2 3 4 5 6 7", false},
        {16, ALONE, true, 0, 2, "13 15", "0 1 2 3 4 6 8 9 10 11", true},
        {16, ALONE, false, 0, 64, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "0", false},
        {16, HALVES, false, 12, 0, "14 15", "12 13", false}, // a part of the machine
        {8, ALONE, true, 0, 2, "5 7", "0 2", true},
        {4, ALONE, true, 0, 0, "", "0 1 2 3", true},
        {4, ALONE, false, 0, 0, "2 3", "0 1", false},
        {2, ALONE, true, 0, 0, "", "0 1", false},
        {1, ALONE, false, 0, 8, "", "0", false},
    };
    for (int i = 0; i < RG_COUNT(machine); i++) {
        const int n = machine[i].n;
        const char *siblings[16];
        cpu_set_t usable, used;
        CPU_ZERO(&usable);
        CPU_ZERO(&used);
        for (int k = 0; k < n; k++) siblings[k] = list_of(machine[i].kind, k, n);
        for (int k = machine[i].first; k < n; k++) CPU_SET(k, &usable);
        rg_cores cores;
        times_together = machine[i].times == 0 ? 2 : machine[i].times;
        rg_cores_share(n, siblings, usable, machine[i].is_virtual, machine[i].beside, slowed, &cores);
        for (int k = 0; k < cores.beside; k++) CPU_SET(cores.cpu[k], &used);
        char *cpu = numbers(&used), *rest = numbers(&cores.rest);
        if (strcmp(cpu, machine[i].cpu) || strcmp(rest, machine[i].rest) || cores.hidden != machine[i].hidden)
            fail_msg(
                "machine %d: steps of one core on \"%s\", the rest on \"%s\"%s", i, cpu, rest, cores.hidden ? ", hidden" : "");
        assert_int_equal(cores.beside, CPU_COUNT(&used)); // none twice
        free(cpu);
        free(rest);
    }
}

static rg_cores shown;
static int show(void *none)
{
    const rg_steps plan_of_none = {0};
    (void)none;
    rg_record_show(&plan_of_none, &shown, 0, 0);
    return RG_GOOD;
}

TEST(the_plan_says_what_a_virtual_machine_hides)
{
    static const rg_option none[] = {{0}};
    const rg_command command = {.name = "show", .words = "", .option = none, .bytes = sizeof(rg_given), .run = show};
    for (int hidden = 0; hidden < 2; hidden++) {
        shown = (rg_cores){.beside = 4, .hidden = hidden};
        assert_int_equal(run_command(&command, "show", said), RG_GOOD);
        assert_int_equal(strstr(said, "hides which processors share a core") != NULL, hidden);
        assert_non_null(strstr(said, "with at most 4 of one core"));
    }
}

TEST(as_many_beside_another_as_are_asked_for)
{
    rg_cores cores;
    plan(small, "");
    for (int asked = 0; asked < 2; asked++) {
        rg_cores_share_here(asked, &cores);
        assert_int_equal(record(asked ? "--plan --beside 1" : "--plan"), RG_GOOD);
        assert_non_null(strstr(said, fmt("with at most %d of one core", cores.beside)));
    }
}

static void refused(const char *line, const char *why)
{
    plan(line, "");
    assert_int_equal(sh("regather record --plan-file plan --work work --out m --plan"), RG_USAGE);
    assert_said(why);
}

TEST(malformed_plans_are_refused)
{
    refused("bench\ta\t-\tb\t-\tcore\t1\t-\t-\tautocorr\n", "a needs \"b\", which no step is called");
    refused("bench\ta\t-\t-\t-\tcore\t-\t-\t-\tautocorr\n", "expected seconds above 0");
    refused("bench\ta\t-\t-\t-\tsome\t1\t-\t-\tautocorr\n", "expected core, gpu or alone");
    refused("other\ta\t-\t-\t-\tcore\t1\t-\t-\tautocorr\n", "expected let, data, bench, tune or table");
    refused("bench\ta\t-\t-\t-\tcore\t1\t-\t-\tautocorr:none\n", "the plan's step a is no command of bench");
    refused("bench\ta\tv=1 1\t-\t-\tcore\t1\t-\t-\tautocorr\n", "expected a name of its own");
    put_text(in_dir("t"), "no head\n");
    rg_tables t;
    rg_silent = true;
    assert_int_equal(rg_tables_read(in_dir("t"), &t), RG_USAGE);
    put_text(in_dir("t"), "# table: a\nx\n# table: a\nx\n");
    assert_int_equal(rg_tables_read(in_dir("t"), &t), RG_USAGE);
    rg_silent = false;
}

// Two runs in one folder would take each other's files and time each other's work. Who only looks or merges takes nothing from there.
TEST(a_folder_is_of_one_run_at_a_time)
{
    plan(tables, "");
    assert_int_equal(sh("rm -f m.*tsv; rm -rf work; mkdir -p work/tables; echo x > work/tables/other.tsv"), 0);
    const int folder = open(in_dir("work"), O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(folder, LOCK_EX), 0);
    assert_int_equal(sh("regather record --plan-file plan --work work --out m --budget 1"), RG_USAGE);
    assert_said("work: another run measures with this folder");
    assert_int_equal(sh("test -e m.tsv"), 1);
    assert_int_equal(record("--plan"), RG_GOOD);
    assert_int_equal(record("--budget 0"), RG_UNSURE);
    assert_int_equal(close(folder), 0);
    assert_int_equal(sh("test -e work/tables/other.tsv"), 0);
    assert_int_equal(record("--budget 1"), RG_UNSURE); // and again: the folder is free
    assert_int_equal(record("--budget 1 --resume"), RG_UNSURE);
    assert_int_equal(sh("rm m.*tsv"), 0);
}

// Two runs with folders of their own that write one record; who only looks at it may.
TEST(a_record_is_of_one_run_at_a_time)
{
    plan(tables, "");
    const int other = open(in_dir("m.record.regather-part"), O_RDWR | O_CREAT, 0666);
    assert_int_equal(flock(other, LOCK_EX), 0);
    assert_int_equal(sh("regather record --plan-file plan --work work --out m --budget 1"), RG_USAGE);
    assert_said("m.record: cannot write here: another run is writing it");
    assert_int_equal(sh("regather record --plan-file plan --work work --out m --budget 0"), RG_USAGE);
    assert_int_equal(sh("test -e m.tsv"), 1);
    assert_int_equal(record("--plan"), RG_GOOD);
    assert_int_equal(close(other), 0);
    assert_int_equal(record("--budget 1"), RG_UNSURE);
    assert_int_equal(sh("rm m.*tsv; test -e m.record.regather-part"), 1);
}

TEST(names_that_cannot_be_meant_are_refused)
{
    plan(tables, "");
    assert_int_equal(sh("regather record --plan-file plan --work work --out m --step numbres"), RG_USAGE);
    assert_said("no step of the plan begins with \"numbres\"");
    assert_int_equal(sh("regather record --plan-file plan --work work --out m.tsv --budget 0"), RG_USAGE);
    assert_said("the record's name without .tsv, found \"m.tsv\"");
    assert_int_equal(sh("test -e m.tsv || test -e m.tsv.tsv"), 1);
}

// A figure that takes moments waits for a claim that takes all the time there is.
TEST(claims_come_before_figures)
{
    plan("table\tfigure\t-\t-\t-\talone\t4\tfig6\t-\tfalse\n", "table\tclaim\t-\t-\t-\talone\t58\tF9a\t-\tfalse\n");
    assert_int_equal(sh("rm -f m.*tsv"), 0);
    assert_int_equal(record("--budget 1 --plan"), RG_GOOD);
    const char *left = strstr(said, "are not begun");
    assert_non_null(left);
    assert_non_null(strstr(left, "figure"));
    assert_null(strstr(left, "claim "));
}

// What is known of a step's time is of most of its rows.
TEST(a_step_of_few_rows_tells_no_seconds)
{
    plan("bench\tall\t-\t-\t-\tcore\t2\tL3\tw16,h16,r2,k0\tautocorr:ordered autocorr:naive autocorr:autovec --threads 1 "
         "--max-seconds 0.01 --rounds 2\n",
        "");
    assert_int_equal(sh("rm -f m.*tsv"), 0);
    assert_int_equal(record("--budget 5"), RG_GOOD);
    assert_int_equal(sh("sed -i 's/^all\t.*/all\t7.77/' m.tables.tsv && grep -q '^all.7.77' m.tables.tsv"), 0);
    for (int every = 0; every < 2; every++) {
        edited("m.tsv", "x", every ? "autocorr" : "ordered", "sha256 [0-9a-f]*", "sha256 0123456789abcdef");
        assert_int_equal(sh("mv x m.tsv"), 0);
        assert_int_equal(record("--resume"), RG_GOOD);
        assert_int_equal(sh("grep -q '^all.7.77' m.tables.tsv") == 0, !every);
    }
}

// Every claim that a record can make testable is in the shipped plan, and no other; all its steps are commands that bench
// takes.
TEST(the_shipped_plan_has_every_claim)
{
    char *path = rg_share_path("bench/record/plan.tsv"), *claims = rg_share_path("reference/claims.tsv");
    rg_steps shipped;
    rg_record none = {.serial = ""};
    setenv("work", "/tmp", 1);
    rg_tsv t;
    assert_int_equal(rg_record_plan_read(path, &shipped), RG_GOOD);
    assert_int_equal(rg_record_plan_weigh(&shipped, &none, 8), RG_GOOD);
    assert_int_equal(rg_tsv_read(claims, &t), RG_GOOD);
    for (int i = 0; i < t.n_rows; i++) {
        const char *id = rg_tsv_cell(&t, i, "id"), *kind = rg_tsv_cell(&t, i, "kind");
        bool found = false;
        for (int k = 0; k < shipped.n && !found; k++)
            found = strstr(fmt(" %s ", rg_record_of(&shipped.step[k])->claims), fmt(" %s ", id)) != NULL;
        // Of a job's folder, which a record has not, and of the papers themselves.
        const bool can = strcmp(kind, "paper") && strcmp(kind, "job") && strcmp(kind, "peaks");
        if (found != can)
            fail_msg("claim %s: %s", id, can ? "no step makes it testable" : "a step says that it makes it testable");
    }
    rg_tsv_free(&t);
    rg_record_plan_free(&shipped);
    free(path);
    free(claims);
}

FIXTURE(set_up)
{
    said = rg_alloc(OUTPUT_MAX);
    return test_dir_make(state);
}

TESTS(set_up, test_dir_remove)
