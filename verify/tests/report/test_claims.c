// SPDX-License-Identifier: MIT
// test_claims.c: the kinds of claims that look at more than two rows or at tables, on made-up rows and tables.
#include "../../../report/report.h"
#include "../test.h"
#include "../test_command.h"
#include <math.h>

enum { ROWS = 8 };
static rg_row row[ROWS];
static rg_result file;
static rg_bench_machine machine;
static char *folder;

static void add(const char *variant, const char *shape, const char *params, double ns, double rate)
{
    rg_row *r = &row[file.n_rows++];
    char text[32];
    *r = test_row(variant, "device", 8, ns);
    test_set(r, RG_C_SHAPE, shape);
    test_set(r, RG_C_PARAMS, params);
    test_set(r, RG_C_UNIT, "ns");
    snprintf(text, sizeof text, "%g", rate);
    test_set(r, RG_C_RATE, text);
}

static void put(rg_column column, const char *value) { test_set(&row[file.n_rows - 1], column, value); }

static void add_table(const char *name, const char *text)
{
    char *path = rg_print("%s/%s.tsv", folder, name);
    put_text(path, text);
    machine.table = realloc(machine.table, (size_t)(machine.n_tables + 1) * sizeof *machine.table);
    struct rg_named_table *t = &machine.table[machine.n_tables++];
    *t = (struct rg_named_table){0};
    snprintf(t->name, sizeof t->name, "%s", name);
    assert_int_equal(rg_tsv_read(path, &t->tsv), RG_GOOD);
    free(path);
}

static rg_comparison asked(const char *a, const char *b, const char *size, double low, double high, const char *direction)
{
    return (rg_comparison){&machine, NULL, a, b, size, "kernel,device", direction, "s", low, high};
}

FIXTURE(set_up)
{
    folder = test_folder();
    file = (rg_result){.path = "made.tsv", .row = row};
    machine = (rg_bench_machine){.n_files = 1, .file = &file};
    return folder == NULL;
}

FIXTURE(tear_down)
{
    for (int i = 0; i < file.n_rows; i++) rg_row_free(&row[i]);
    for (int i = 0; i < machine.n_tables; i++) rg_tsv_free(&machine.table[i].tsv);
    free(machine.table);
    return test_folder_remove(folder);
}

TEST_BETWEEN(test_growth, set_up, tear_down)
{
    add("scatter", "s9", "-", 3000, 1e9);
    add("gather", "s9", "-", 1000, 1e9);
    add("scatter", "s99", "-", 60000, 2e9);
    add("gather", "s99", "-", 10000, 3e9);
    rg_comparison q = asked("autocorr:scatter", "autocorr:gather", "s9;s99", 1, NAN, ">0.9");
    rg_judgement j = rg_judge_as("growth", &q);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_true(fabs(j.value - 2) < 1e-6); // 6 at the large size, 3 at the small
    q = asked("autocorr:gather", "", "s9;s99", 1.1, 1.4, ">1");
    j = rg_judge_as("growth", &q);
    assert_true(fabs(j.value - 3) < 1e-9); // of the rates
    assert_int_equal(j.outcome, RG_DIRECTION);
    q = asked("autocorr:scatter", "autocorr:gather", "s9;s999", 1, NAN, ">0.9");
    assert_int_equal(rg_judge_as("growth", &q).outcome, RG_NOT_TESTABLE);
    // Both sizes are of one scope, unless the claim gives each its own.
    add("owned", "s9", "-", 1000, 1e9);
    put(RG_C_SPACE, "device"); // a host's time has no copies: it is of both scopes
    add("owned", "s99", "-", 1000, 3e9);
    put(RG_C_SPACE, "device");
    put(RG_C_SCOPE, "transfer");
    q = asked("autocorr:owned", "", "s9;s99", 1.1, 4, ">1");
    q.scopes = "transfer,device";
    j = rg_judge_as("growth", &q);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "no common scope"));
    q.scopes = "device;transfer";
    assert_true(fabs(rg_judge_as("growth", &q).value - 3) < 1e-9);
}

TEST_BETWEEN(test_agree, set_up, tear_down)
{
    const char *const error[] = {"1e-6", "2e-6", "5e-6", "1e-6"};
    for (int i = 0; i < 4; i++) {
        add(i % 2 ? "gather" : "scatter", i < 2 ? "s9" : "s99", "-", 1000, 1e9);
        put(RG_C_ERROR, error[i]);
        put(RG_C_TOL, "5e-6");
    }
    rg_comparison q = asked("autocorr:scatter", "autocorr:gather", "", NAN, 1, "<10");
    rg_judgement j = rg_judge_as("agree", &q);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_true(fabs(j.value - 0.6) < 1e-9); // the worse size: 6e-6 of 1e-5
    assert_string_equal(j.size, "s99");
    test_set(&row[2], RG_C_ERROR, "5e-5");
    assert_int_equal(rg_judge_as("agree", &q).outcome, RG_DIRECTION);
}

// A variant that nobody checked is not one that differs.
TEST_BETWEEN(test_equal, set_up, tear_down)
{
    add("gather", "s9", "-", 1000, 1e9);
    rg_comparison q = asked("autocorr:gather,autocorr:scatter", "", "", NAN, NAN, "-");
    rg_judgement j = rg_judge_as("equal", &q);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_string_equal(j.ours, "1 of 2 variants were checked, and equal the reference");
    add("scatter", "s9", "-", 1000, 1e9);
    assert_string_equal(rg_judge_as("equal", &q).ours, "2 of 2 variants equal the reference");
}

TEST_BETWEEN(test_configs, set_up, tear_down)
{
    add("gather", "s9", "b=1", 1000, 1e9);
    add("gather", "s9", "b=2", 1000, 1e9);
    add("gather", "s9", "b=3", 1000, 1e9);
    put(RG_C_STATUS, "FAIL");
    add("gather", "s99", "b=1", 1000, 1e9); // another shape is no further configuration
    rg_comparison q = asked("autocorr:gather", "", "", 2, 2, ">1");
    rg_judgement j = rg_judge_as("configs", &q);
    assert_true(j.value == 2);
    assert_int_equal(j.outcome, RG_CONTRADICTED); // one is wrong
    test_set(&row[2], RG_C_STATUS, "SKIP");
    assert_int_equal(rg_judge_as("configs", &q).outcome, RG_REPRODUCED);
    q.low = q.high = 3;
    assert_int_equal(rg_judge_as("configs", &q).outcome, RG_NOT_CALLED); // not all were run
    q = asked("autocorr:gather b<2", "", "", 1, 1, ">1");
    assert_true(rg_judge_as("configs", &q).value == 1); // b=1 alone
    // The best of a kind: of how many stands beside.
    test_set(&row[2], RG_C_STATUS, "PASS");
    q = asked("autocorr:gather b<2", "autocorr:gather", "s9", 1, 2, ">0.5");
    assert_non_null(strstr(rg_judge_as("ratio", &q).ours, "; the best of 1 over the best of 3"));
    // That none of three is faster than the first says nothing.
    j = rg_judge_as("ratio", &q);
    assert_int_equal(j.outcome, RG_NOT_CALLED);
    assert_true(isnan(j.value));
    // One row alone is no ratio to itself: 1, with the narrowest interval that there is.
    test_set(&row[1], RG_C_STATUS, "SKIP");
    test_set(&row[2], RG_C_STATUS, "SKIP");
    j = rg_judge_as("ratio", &q);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "both sides are one row"));
}

// A ratio to scalar C says beside it what a compiler of today makes of the same loops.
TEST_BETWEEN(test_autovec, set_up, tear_down)
{
    add("naive", "s9", "threads=1", 8000, 1e9);
    add("gather", "s9", "-", 1000, 1e9);
    add("autovec", "s99", "threads=1", 500, 1e9); // another size
    rg_comparison q = asked("autocorr:naive threads=1", "autocorr:gather", "", 4, 16, ">1");
    rg_judgement j = rg_judge_as("ratio", &q);
    assert_true(fabs(j.value - 8) < 1e-9);
    assert_non_null(strstr(j.ours, "; over autovec not timed"));
    add("autovec", "s9", "threads=1", 2000, 1e9);
    j = rg_judge_as("ratio", &q);
    assert_non_null(strstr(j.ours, "; over autovec 2 x"));
    // A compiler's vectors have the time for larger sizes than scalar C: the ratio stays that of the size which the claim is of.
    add("autovec", "s99", "threads=1", 5000, 9e9);
    add("gather", "s99", "-", 1000, 9e9);
    assert_non_null(strstr(rg_judge_as("ratio", &q).ours, "; over autovec 2 x"));
    q.a = "autocorr:autovec";
    assert_null(strstr(rg_judge_as("ratio", &q).ours, "over autovec"));
}

TEST(shapes_have_their_parts)
{
    assert_true(rg_shaped("s500,p200", "s500;p<201", ";"));
    assert_false(rg_shaped("s500,p200", "s500;p>200", ";"));
    assert_true(rg_shaped("s500,p200", "s!420", ","));
    assert_false(rg_shaped("s420,p14440", "s!420", ",")); // of another paper
}

TEST_BETWEEN(test_energy, set_up, tear_down)
{
    add("naive", "s9", "-", 1000, 1e9);
    add("gather", "s9", "-", 1000, 1e9);
    put(RG_C_JOULES, "0.5");
    rg_comparison q = asked("autocorr:naive", "autocorr:gather", "", 3, 30, ">1");
    test_set(&row[0], RG_C_ENERGY_SOURCE, "no RAPL here");
    rg_judgement j = rg_judge_as("energy", &q);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "no RAPL here"));
    test_set(&row[0], RG_C_JOULES, "5");
    j = rg_judge_as("energy", &q);
    assert_true(fabs(j.value - 10) < 1e-9);
    assert_int_equal(j.outcome, RG_ORDER);
    // Faster rows of a run that did not ask for energy do not hide those that did.
    add("naive", "s9", "-", 900, 1e9);
    put(RG_C_ENERGY_SOURCE, "not asked for (--energy)");
    add("gather", "s9", "-", 900, 1e9);
    put(RG_C_ENERGY_SOURCE, "not asked for (--energy)");
    assert_true(fabs(rg_judge_as("energy", &q).value - 10) < 1e-9);
    test_set(&row[0], RG_C_JOULES, "");
    j = rg_judge_as("energy", &q);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "no RAPL here"));
    assert_non_null(strstr(j.why, "`gather` takes 0.5 J"));
}

TEST_BETWEEN(test_cell, set_up, tear_down)
{
    add_table("one", "stage\tbusy_s\nregion\t8\nwhole\t10\nempty\t-\n");
    add_table("two", "stage\tbusy_s\nregion\t5\n");
    rg_comparison q = asked("one stage=whole busy_s", "", "", NAN, 12, "<100");
    rg_judgement j = rg_judge_as("cell", &q);
    assert_true(j.value == 10);
    assert_int_equal(j.outcome, RG_NOT_CALLED); // of a single run
    assert_int_equal(rg_judge_as("exact", &q).outcome, RG_REPRODUCED);
    q = asked("one stage=region busy_s", "two stage=region busy_s", "", 1.8, 2, ">1");
    j = rg_judge_as("cell", &q);
    assert_true(fabs(j.value - 1.6) < 1e-9);
    assert_int_equal(j.outcome, RG_NOT_CALLED);
    // Rows of one key are repeats.
    add_table("shaped", "part\tshape\tcpu\nccp\ts100,p2\t60\nccp\ts500,p24\t90\n");
    q = asked("shaped part=ccp cpu", "", "s500,p24", 89, NAN, "");
    assert_true(rg_judge_as("cell", &q).value == 90); // of that shape alone
    q.size = "s500,p1";
    j = rg_judge_as("cell", &q);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "shape is s500,p1: not measured"));
    add_table("three", "stage\tbusy_s\nregion\t8\nwhole\t10\nwhole\t10.1\nregion\t8.2\nregion\t8.1\n");
    add_table("four", "stage\tbusy_s\nregion\t5\nregion\t5.1\nregion\t4.9\n");
    q = asked("three stage=region busy_s", "four stage=region busy_s", "", 1.8, 2, ">1");
    j = rg_judge_as("cell", &q);
    assert_true(fabs(j.value - 8.1 / 5) < 1e-9 && j.low > 1.5 && j.low < j.value && j.high > j.value);
    assert_int_equal(j.outcome, RG_DIRECTION);
    const char *const missing[] = {
        "five stage=whole busy_s", "one stage=none busy_s", "one stage=empty busy_s", "one stage=whole none", "one whole"};
    for (int i = 0; i < (int)(sizeof missing / sizeof *missing); i++) {
        q = asked(missing[i], "", "", NAN, 12, "<100");
        j = rg_judge_as("cell", &q);
        assert_int_equal(j.outcome, RG_NOT_TESTABLE);
        assert_true(*j.why);
    }
}

TEST_BETWEEN(test_crossing, set_up, tear_down)
{
    add_table("a", "frequency\tfsc\n0\t1\n0.1\t0.9\n0.2\t0.1\n");
    add_table("b", "frequency\tfsc\n0\t1\n0.1\t0.9\n0.2\t0.7\n");
    rg_comparison q = asked("a", "a", "", 0.99, 1.01, ">0.9");
    rg_judgement j = rg_judge_as("crossing", &q);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    q = asked("a", "b", "", 0.99, 1.01, ">0.9");
    j = rg_judge_as("crossing", &q); // a falls below one half at 0.15, b nowhere: its last frequency
    assert_true(fabs(j.value - 0.75) < 1e-9);
    assert_int_equal(j.outcome, RG_CONTRADICTED);
    q = asked("a", "c", "", 0.99, 1.01, ">0.9");
    assert_int_equal(rg_judge_as("crossing", &q).outcome, RG_NOT_TESTABLE);
}

TEST_BETWEEN(test_least, set_up, tear_down)
{
    add_table("same", "shell\tfsc\n0\t-\n1\t0.99\n2\t0.96\n3\t1\n");
    rg_comparison q = asked("same fsc", "", "", 0.97, NAN, ">0.9");
    rg_judgement j = rg_judge_as("least", &q);
    assert_true(j.value == 0.96);
    assert_int_equal(j.outcome, RG_DIRECTION);
    const char *const missing[] = {"other fsc", "same none", "same"};
    for (int i = 0; i < 3; i++) {
        q = asked(missing[i], "", "", 0.97, NAN, ">0.9");
        assert_int_equal(rg_judge_as("least", &q).outcome, RG_NOT_TESTABLE);
    }
}

// Jobs are compared at the same number of particles: of different ones there is a number, by particles a second, but no
// verdict. Where two numbers were timed, what a job takes without any particle stands beside: 400 and 320 ns here.
TEST_BETWEEN(test_equal_work, set_up, tear_down)
{
    add("default", "s500", "gpus=0;threads=1", 1000, 1);
    put(RG_C_WORK, "2");
    add("default", "s500", "gpus=1", 600, 1);
    put(RG_C_WORK, "24");
    rg_comparison q = asked("autocorr:default gpus=0 threads=1@s500", "autocorr:default gpus=1@s500", "", 10, 30, ">1");
    q.scopes = "device";
    rg_judgement j = rg_judge_as("ratio", &q);
    assert_true(fabs(j.value - 20) < 1e-9);
    assert_int_equal(j.outcome, RG_NOT_CALLED);
    assert_non_null(strstr(j.why, "unequal work, 2 against 24"));
    static const struct {
        const char *params, *shape, *work;
        double ns;
    } rows[] = {{"gpus=0;threads=1", "s500,p24", "24", 7600}, {"gpus=1", "s500,p24", "24", 440},
        {"gpus=0;threads=1", "s500,p4", "4", 1600}, {"gpus=1", "s500,p4", "4", 340}};
    for (int i = 0; i < 4; i++) {
        add("default", rows[i].shape, rows[i].params, rows[i].ns, 1);
        put(RG_C_WORK, rows[i].work);
    }
    j = rg_judge_as("ratio", &q);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    assert_string_equal(j.size, "s500,p24");
    assert_true(fabs(j.value - 7600.0 / 440) < 0.01);
    const char *fixed = strstr(j.ours, "fixed costs");
    double core_s, gpu_s;
    assert_non_null(fixed);
    assert_int_equal(sscanf(fixed, "fixed costs %lf of %*f s and %lf", &core_s, &gpu_s), 2);
    assert_true(fabs(core_s / 400e-9 - 1) < 0.02 && fabs(gpu_s / 320e-9 - 1) < 0.02); // times scatter by half a percent
    q.a = "autocorr:default gpus=0 threads=1@s50";                                    // another size
    assert_int_equal(rg_judge_as("ratio", &q).outcome, RG_NOT_TESTABLE);
    q.a = "autocorr:default gpus=0 threads=1@s500;p5"; // a part that no shape has
    assert_int_equal(rg_judge_as("ratio", &q).outcome, RG_NOT_TESTABLE);
}

// A kind of input other than the first is compared where the claim names it, and only there.
TEST_BETWEEN(test_kinds_of_input, set_up, tear_down)
{
    add("naive", "s500,p1,k64,t1", "threads=1", 6000, 1);
    add("gather", "s500,p1,k64,t1", "-", 600, 1);
    add("naive", "s56,p1,k0,t1", "threads=1", 100, 1);
    add("gather", "s56,p1,k0,t1", "-", 50, 1);
    rg_comparison q = asked("autocorr:naive threads=1", "autocorr:gather", "s500,p1,k64,t1", 5, 20, ">1");
    rg_judgement j = rg_judge_as("ratio", &q);
    assert_true(fabs(j.value - 10) < 1e-9);
    assert_string_equal(j.size, "s500,p1,k64,t1");
    q.size = "s500,p1,k0,t1";
    assert_true(fabs(rg_judge_as("ratio", &q).value - 2) < 1e-9);
}

// Means over turns: of the ratios, and called only where the whole range was timed.
TEST_BETWEEN(test_mean, set_up, tear_down)
{
    add("naive", "s1,t1", "-", 2000, 1);
    add("gather", "s1,t1", "-", 1000, 1);
    add("naive", "s1,t2", "-", 4000, 1);
    add("gather", "s1,t2", "-", 1000, 1);
    rg_comparison q = asked("autocorr:naive", "autocorr:gather", "s1,t;1;3;2", 2.5, 3.5, ">1");
    rg_judgement j = rg_judge_as("mean", &q);
    assert_true(fabs(j.value - 3) < 1e-6 && j.low > 2.9 && j.low < 3 && j.high > 3 && j.high < 3.1);
    assert_int_equal(j.outcome, RG_REPRODUCED);
    q.size = "s1,t;1;3;3";
    j = rg_judge_as("mean", &q);
    assert_int_equal(j.outcome, RG_NOT_CALLED);
    assert_non_null(strstr(j.why, "needs 3"));
    add("naive", "s1,t3", "-", 9000, 1); // timed once: it does not count
    put(RG_C_SAMPLES, "9000");
    add("gather", "s1,t3", "-", 1000, 1);
    j = rg_judge_as("mean", &q);
    assert_int_equal(j.outcome, RG_NOT_CALLED);
    assert_true(fabs(j.value - 3) < 1e-6 && j.low > 2.9);
    q.size = "s1,t;3;3;1";
    j = rg_judge_as("mean", &q);
    assert_int_equal(j.outcome, RG_NOT_TESTABLE);
    assert_non_null(strstr(j.why, "timed once"));
    q.size = "s1,t;1";
    assert_int_equal(rg_judge_as("mean", &q).outcome, RG_NOT_TESTABLE);
}

TESTS(NULL, NULL)
