// SPDX-License-Identifier: MIT
// test_verify_cmd.c: the command `verify` as typed, its file, its exit codes, and the cases that it plans.
#include "../../checker/checker.h"
#include "../../../impl/base/tsv.h"
#include "../../../impl/runtime/command.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../test.h"
#include "../test_program.h"

extern const rg_command rg_cmd_verify;

static int type(int argc, const char *const *word)
{
    char *argv[12] = {(char *)"verify"};
    for (int i = 0; i < argc; i++) argv[i + 1] = (char *)word[i];
    return rg_command_run(&rg_cmd_verify, argc + 1, argv);
}
#define VERIFY(...) type(RG_COUNT(((const char *const[]){__VA_ARGS__})), (const char *const[]){__VA_ARGS__})

TEST(exit_codes)
{
    assert_int_equal(VERIFY("autocorr:naive", "--shape", "w7,h5,r3,k0"), RG_GOOD);
    assert_int_equal(VERIFY("autocorr:naive", "--shape", "w7,h5,r9,k0"), RG_USAGE);
    assert_int_equal(VERIFY("autocorr:naive", "--shape", "w7"), RG_USAGE);
    assert_int_equal(VERIFY("autocorr:naive", "--params", "block=3"), RG_USAGE);
    assert_int_equal(VERIFY("autocorr:naive", "--pattern", "bright"), RG_USAGE);
    assert_int_equal(VERIFY("autocorr:naive", "autocorr:nobody"), RG_USAGE);
    assert_int_equal(VERIFY("autocorr:nobody"), RG_USAGE);
    assert_int_equal(VERIFY("--expect", "/nonexistent/table.tsv"), RG_USAGE);
}

// One shape, one thread: a head, the column names and one row, that says PASS in its seventh column.
TEST(rows_are_written)
{
    char path[] = "/tmp/regather-verify-XXXXXX", line[512];
    int rows = 0, passes = 0, fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(VERIFY("autocorr:naive", "--shape", "w7,h5,r3,k0", "--seed", "12", "--out", path), RG_GOOD);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') continue;
        if (rows++ == 0)
            assert_string_equal(line, "algo\tvariant\tshape\tparams\tthreads\tdevice\tstatus\terror\ttol\tseconds\treason\n");
        else
            passes += strstr(line, "autocorr\tnaive\tw7,h5,r3,k0\t-\t1\tcpu\tPASS\t0\t0\t") == line;
    }
    fclose(f);
    unlink(path);
    assert_int_equal(rows, 2);
    assert_int_equal(passes, 1);
}

static size_t endless(const rg_shape *shape, const int64_t *param)
{
    (void)shape;
    (void)param;
    return (size_t)1 << 45;
}

// Several words choose all that they name, each shape being that of every one's algorithm.
TEST(several_words)
{
    assert_int_equal(
        sh("regather verify autocorr:naive autocorr_printed:naive autocorr:ordered --smoke --quiet > words"), RG_GOOD);
    assert_int_equal(sh("grep -c '^PASS.*autocorr:naive' words > /dev/null && grep -q '^PASS.*autocorr_printed:naive' words && "
                        "grep -q '^PASS.*autocorr:ordered' words && test $(grep -c ^PASS words) = 3"),
        0);
    assert_int_equal(sh("regather verify autocorr:naive gridding:naive_gather --shape w7,h5,r3,k0 --quiet > words"), RG_USAGE);
    assert_said("--shape w7,h5,r3,k0: ");
    assert_int_equal(sh("regather list autocorr:simd gridding:simd_gather --table variants | wc -l | grep -qx 3"), 0);
}

// What stands below a FAIL runs as it is printed: the case again, and the trace that shows the fault.
TEST(commands_of_a_failure_run_as_printed)
{
    static const char *const broken[] = {"autocorr:autocorr_sums.so:off_by_one", "gridding:gridding.so:gridding_transposed"};
    for (int i = 0; i < RG_COUNT(broken); i++) {
        const char *name = strchr(broken[i], ':') + 1;
        assert_int_equal(sh("regather verify %s --quiet --plugin '%s/broken/%.*s' > words", broken[i], test_build(),
                             (int)strcspn(name, ":"), name),
            RG_WRONG);
        assert_int_equal(sh("eval \"$(sed -n 's/^    repeat: //p' words)\" > again"), RG_WRONG);
        assert_grep("^FAIL", "again");
        assert_int_equal(sh("eval \"$(sed -n 's/^    trace: //p' words)\" > traced"), RG_WRONG);
        assert_grep("first: .* expected ", "traced");
    }
    // A plug-in in a file whose name does not stand in the variant's as it is, and a limit of one's own.
    assert_int_equal(sh("cp '%s/broken/autocorr_sums.so' \"off by o'ne.so\"", test_build()), 0);
    assert_int_equal(
        sh("regather verify autocorr:off_by_o_ne.so:off_by_one --smoke --limit 7 --quiet --plugin \"off by o'ne.so\" > words"),
        RG_WRONG);
    assert_int_equal(sh("eval \"$(sed -n 's/^    repeat: //p' words)\" > again"), RG_WRONG);
    assert_int_equal(sh("grep -q '^FAIL' again && grep -c ' --limit 7 ' words | grep -qx 2"), 0);
    assert_int_equal(sh("eval \"$(sed -n 's/^    trace: //p' words)\" > traced"), RG_WRONG);
    // A file's name that a shell would run.
    assert_int_equal(sh("cp '%s/broken/autocorr_sums.so' '$(touch ran)&`touch ran`.so'", test_build()), 0);
    assert_int_equal(
        sh("regather verify 'autocorr:$(touch_ran)&`touch_ran`.so:off_by_one' --smoke --quiet --plugin '$(touch ran)&`touch ran`.so' "
           "> words"),
        RG_WRONG);
    assert_int_equal(sh("touch_ran() { touch ran; }; eval \"$(sed -n 's/^    repeat: //p' words)\" > again"), RG_WRONG);
    assert_int_equal(sh("grep -q '^FAIL' again && ! test -e ran"), 0);
    assert_int_equal(sh("touch_ran() { touch ran; }; eval \"$(sed -n 's/^    trace: //p' words)\" > traced"), RG_WRONG);
    assert_int_equal(sh("! test -e ran"), 0);
    // At a shape that is too large to be traced whole.
    assert_int_equal(sh("regather verify %s --shape w65,h33,r16,k0 --quiet --plugin '%s/broken/autocorr_sums.so' > words",
                         broken[0], test_build()),
        RG_WRONG);
    assert_int_equal(
        sh("grep -q '^    trace: .* --input y=16 ' words && eval \"$(sed -n 's/^    trace: //p' words)\" > traced"), RG_WRONG);
    assert_grep(" 65 inputs: ", "traced");
}

// Sums too large for their type need all inputs at once; an access is seen at either end; a plug-in's wider bound does not count.
TEST(what_is_said_of_a_failure_leads_to_it)
{
    assert_int_equal(
        sh("regather verify autocorr:autocorr_sums.so:overflow_32bit --shape w33,h1025,r2,k0 --quiet --plugin '%s/broken/autocorr_sums.so' "
           "> words",
            test_build()),
        RG_WRONG);
    assert_int_equal(sh("grep -q ': maximum, ' words && grep -q '^    repeat: ' words && ! grep '^    trace: ' words >&2"), 0);
    assert_int_equal(
        sh("regather verify autocorr:autocorr_memory.so:over_read --smoke --quiet --plugin '%s/broken/autocorr_memory.so' > words",
            test_build()),
        RG_WRONG);
    assert_int_equal(sh("eval \"$(sed -n 's/^    trace: //p' words)\" > traced"), RG_WRONG);
    assert_int_equal(sh("! grep 'error 0' words >&2"), 0);
    assert_grep("inputs: not clean (", "traced");
    assert_grep("FAIL: input none on, unaligned base: a: accessed past the end", "traced");
    assert_int_equal(
        sh("regather verify autocorr:autocorr_cheats.so:cheat_tolerance --smoke --quiet --plugin '%s/broken/autocorr_cheats.so' > words",
            test_build()),
        RG_WRONG);
    assert_grep("its own bound is wider than that of autocorr", "words");
    assert_int_equal(sh("regather trace gridding:naive_gather --input x=99 > words"), RG_USAGE);
    assert_said("--input: expected places of image from i=0,x=0,y=-5,re to i=0,x=5,y=5,im, found none there");
    assert_int_equal(sh("regather trace gridding:naive_gather --output q=0 > words"), RG_USAGE);
    assert_said("--output: expected places of G from x=0,y=-5,z=-5,re to x=5,y=5,z=5,im, found none there");
}

// What is given up is not called failed, and no case of it is traced. How many cases that takes depends on how busy the machine is.
TEST(endless_kernels_are_given_up)
{
    assert_int_equal(
        sh("regather verify autocorr:autocorr_process.so:endless --quiet --limit 0.2 --plugin '%s/broken/autocorr_process.so' > words",
            test_build()),
        RG_WRONG);
    assert_int_equal(sh("grep -qE '^TIMEOUT .* [12] TIMEOUT' words && ! grep -E ' FAIL|trace: ' words >&2"), 0);
    assert_grep("not run: [0-9]* cases, after [0-9.]* s in crashes and endless runs", "words");
}

static int verify_broken(const char *kernel, const char *options)
{
    return sh("regather verify autocorr:autocorr_sums.so:%s --quiet --verbose --plugin '%s/broken/autocorr_sums.so' %s", kernel,
        test_build(), options);
}

// A line a case; no case after the first that fails; of the sizes of thresholds none or only those; one kind of inputs, where the kernel
// is wrong and where it is right; and what a variant refuses.
TEST(options_choose_the_cases)
{
    assert_int_equal(verify_broken("null", "> all"), RG_WRONG);
    assert_int_equal(verify_broken("null", "--stop > stopped"), RG_WRONG);
    assert_int_equal(
        sh("test $(grep -c '^  FAIL .* threads 1 ' all) -gt 10 && test $(grep -c '^  FAIL .* threads 1 ' stopped) = 1"), 0);
    for (int check = 0; check < 2; check++)
        assert_int_equal(
            sh("regather verify autocorr_printed:autovec --quiet --verbose --thresholds %s > cases && "
               "test $(grep -c ' w3,h326,r1,g255 ' cases) -%s 0 && test $(grep -c ' w3,h' cases) -%s $(grep -c '^  ' cases)",
                check ? "check" : "none", check ? "gt" : "eq", check ? "eq" : "lt"),
            0);
    assert_int_equal(verify_broken("overflow_32bit", "--shape w257,h301,r2,k0 --pattern random > cases"), RG_GOOD);
    assert_int_equal(verify_broken("overflow_32bit", "--shape w257,h301,r2,k0 --pattern maximum > cases"), RG_WRONG);
    for (int anyway = 0; anyway < 2; anyway++) {
        assert_int_equal(sh("regather verify autocorr_printed:autovec --quiet --shape w33100,h1,r1,g255 %s > cases",
                             anyway ? "--no-refuse" : ""),
            anyway ? RG_WRONG : RG_USAGE);
        assert_grep(anyway ? "^FAIL" : "^SKIP.*at most 32,768 pixels", "cases");
    }
    assert_grep("repeat: .* --no-refuse$", "cases");
}

// ---- plans ---------------------------------------------------------------------------------------------------------------

static const int64_t few[] = {1, 2, 3}, many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const rg_param small_grid[] = {{"a", few, 3, 2, ""}, {"b", few, 3, 1, ""}};
static const rg_param large_grid[] = {{"a", many, 10, 0, ""}, {"b", many, 10, 5, ""}, {"c", many, 10, 9, ""}};

static rg_entry entry_of(rg_variant *v, const rg_param *param, int n, uint32_t flags)
{
    *v = (rg_variant){.abi = RG_ABI,
        .bytes = sizeof *v,
        .algo = "autocorr",
        .name = "planned",
        .param = param,
        .n_params = n,
        .flags = flags};
    return (rg_entry){.algo = rg_algo_find("autocorr"), .variant = v, .name = "planned"};
}

static int cases_with(const rg_plan *p, int param, int64_t value)
{
    int n = 0;
    for (int i = 0; i < p->n; i++) n += p->item[i].param[param] == value;
    return n;
}

// A bound says where it comes from, which is what is printed beside a slack above 30.
TEST(every_bound_has_a_reason)
{
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", "cpu"));) {
        int64_t param[RG_PARAMS_MAX];
        rg_params_standard(e->variant, param);
        for (int i = 0; i < e->algo->n_check_shapes; i++) {
            const rg_tolerance t = rg_tolerance_of(e, &e->algo->check_shape[i], param);
            if (!t.reason || strlen(t.reason) < 8)
                fail_msg("%s:%s: a bound of %g + %g |x| without a reason", e->algo->name, e->name, t.absolute, t.relative);
        }
    }
}

// The same seed draws the same shapes, valid and of no check shape; another draws others.
TEST(shapes_are_drawn_from_the_seed)
{
    const rg_algo *known = NULL;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", "cpu"));) {
        rg_plan p[3];
        const rg_narrow all = {0};
        if (e->algo == known) continue; // variants of an algorithm get the same
        known = e->algo;
        int drawn = 0, same = 0;
        for (int i = 0; i < 3; i++) rg_plan_make(&p[i], e, &all, i < 2 ? 7 : 8);
        assert_int_equal(p[0].n, p[1].n);
        for (int k = 0; k < p[0].n; k++) {
            const rg_case *c = &p[0].item[k];
            assert_memory_equal(c->shape.n, p[1].item[k].shape.n, sizeof c->shape.n);
            if (!c->drawn) continue;
            drawn++;
            assert_true(!e->algo->invalid || !e->algo->invalid(&c->shape));
            assert_true(c->steps && k < p[0].first);
            for (int i = 0; i < e->algo->n_check_shapes; i++)
                assert_true(memcmp(c->shape.n, e->algo->check_shape[i].n, sizeof c->shape.n));
            same += k < p[2].n && p[2].item[k].drawn && !memcmp(c->shape.n, p[2].item[k].shape.n, sizeof c->shape.n);
        }
        if (drawn < 1 || drawn > 4) fail_msg("%s:%s: %d shapes drawn", e->algo->name, e->name, drawn);
        assert_true(same < drawn);
        for (int i = 0; i < 3; i++) rg_plan_free(&p[i]);
    }
}

TEST(plans_cover_shapes_and_threads)
{
    rg_variant v;
    rg_entry e = entry_of(&v, NULL, 0, RG_THREADED);
    const rg_narrow all = {0}, two = {.threads = 2};
    rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    assert_int_equal(p.all.shapes, e.algo->n_check_shapes + 5); // and that of the smoke test, and four that are drawn
    for (int i = 0; i < e.algo->n_check_shapes; i++) {
        int found[2] = {0, 0};
        for (int k = 0; k < p.n; k++)
            if (memcmp(p.item[k].shape.n, e.algo->check_shape[i].n, sizeof p.item[k].shape.n) == 0)
                found[p.item[k].threads > 1]++;
        assert_true(found[0] >= 1 && found[1] >= 1);
    }
    rg_plan_free(&p);
    rg_plan_make(&p, &e, &two, 1);
    assert_int_equal(p.all.shapes, e.algo->n_check_shapes + 5);
    for (int i = 0; i < p.n; i++) assert_int_equal(p.item[i].threads, 2);
    rg_plan_free(&p);
}

TEST(plans_cover_parameters)
{
    rg_variant v;
    rg_entry e = entry_of(&v, small_grid, 2, 0);
    const rg_narrow all = {0};
    rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    int pairs = 0;
    for (int64_t a = 1; a <= 3; a++)
        for (int64_t b = 1; b <= 3; b++)
            for (int i = 0; i < p.n; i++)
                if (p.item[i].param[0] == a && p.item[i].param[1] == b) {
                    pairs++;
                    break;
                }
    assert_int_equal(pairs, 9);
    assert_int_equal(p.all.values, 6);
    assert_int_equal(p.all.pairs, 9);
    rg_plan_free(&p);
    e = entry_of(&v, large_grid, 3, 0);
    rg_plan_make(&p, &e, &all, 1);
    assert_true(p.n < 1000);
    assert_int_equal(p.all.values, 30);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 10; i++) assert_true(cases_with(&p, k, many[i]) > 0);
    rg_plan_free(&p);
}

// Every value of a parameter and every kind, at a shape that is not the largest, before any budget; what was left out is a number.
TEST(plans_begin_with_what_is_cheap_and_different)
{
    rg_variant v;
    rg_entry e = entry_of(&v, large_grid, 3, 0);
    const rg_narrow all = {0};
    rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    assert_true(p.first < 40);
    bool *ran = calloc((size_t)p.n, sizeof *ran);
    for (int i = 0; i < p.first; i++) ran[i] = true;
    const rg_coverage first = rg_plan_coverage(&p, &e, ran);
    assert_int_equal(first.values, p.all.values);
    assert_int_equal(first.kinds, p.all.kinds);
    assert_int_equal(first.cases, p.first);
    assert_true(first.shapes < p.all.shapes && first.pairs < p.all.pairs);
    for (int i = 0; i < p.n; i++) ran[i] = true;
    const rg_coverage whole = rg_plan_coverage(&p, &e, ran);
    assert_int_equal(whole.shapes, p.all.shapes);
    assert_int_equal(whole.cases, p.all.cases);
    for (int i = 0; i < p.n; i++)
        ran[i] = i < p.first && !p.item[i].brief; // without the combinations that were chosen for their values
    assert_true(rg_plan_coverage(&p, &e, ran).values < p.all.values);
    free(ran);
    rg_plan_free(&p);
}

// SHARED_INT = 1 is refused beside the standard PRECOMP_INT = 2: every value is planned with others beside which it is not.
static const char *only_together(const rg_shape *s, const int64_t *param)
{
    return (void)s, param[0] == 3 && param[1] != 2 ? "3 only with 2" : param[0] == 2 && param[1] == 2 ? "2 never with 2" : NULL;
}

TEST(plans_find_places_for_values_refused_alone)
{
    rg_variant v;
    rg_entry e = entry_of(&v, small_grid, 2, 0);
    v.refuse = only_together;
    const rg_narrow all = {0};
    rg_plan p;
    rg_plan_make(&p, &e, &all, 1);
    bool met = false;
    for (int i = 0; i < p.first; i++) met |= p.item[i].param[0] == 3 && p.item[i].param[1] == 2;
    assert_true(met);
    assert_int_equal(p.all.values, 6);
    assert_int_equal(p.all.pairs, 6);
    rg_plan_free(&p);
}

// Every row of verify/thresholds.tsv: cells that can be read, variants that exist, shapes that are valid and that none of them
// refuses; sizes that every run takes are among the first of the plan, with the row's inputs alone, and those that take long in
// none.
static void count_case(void *of, const rg_case *c)
{
    int *n = of;
    assert_true(c->patterns != 0);
    ++*n;
}

TEST(thresholds_are_planned)
{
    rg_tsv t;
    const rg_narrow all = {0}, none = {.thresholds = RG_NO_THRESHOLDS}, deep = {.thresholds = RG_DEEP};
    char *path = rg_share_path("verify/thresholds.tsv"), name[64];
    assert_int_equal(rg_tsv_read(path, &t), RG_GOOD);
    assert_true(t.n_rows > 20);
    for (int row = 0; row < t.n_rows; row++) {
        const char *words = rg_tsv_cell(&t, row, "variants"), *when = rg_tsv_cell(&t, row, "when");
        assert_true(strcmp(when, "check") == 0 || strcmp(when, "deep") == 0);
        assert_true(*rg_tsv_cell(&t, row, "what") && *rg_tsv_cell(&t, row, "above") && *rg_tsv_cell(&t, row, "why"));
        for (int used; sscanf(words, " %63s%n", name, &used) == 1; words += used) {
            char *pattern = rg_print("%s:%s", rg_tsv_cell(&t, row, "algo"), name);
            const rg_entry *e = rg_entry_next(NULL, pattern, "gpu");
            assert_non_null(e);
            int64_t param[RG_PARAMS_MAX];
            char why[160];
            assert_true(rg_params_parse(e->variant, rg_tsv_cell(&t, row, "params"), param, why));
            for (int k = 0; k < 3; k++) {
                const char *cell = rg_tsv_cell(&t, row, k == 0 ? "below" : k == 1 ? "at" : "above");
                rg_shape shape;
                if (!*cell) continue;
                assert_true(rg_shape_parse(e->algo, cell, &shape, why));
                if (e->algo->invalid) assert_null(e->algo->invalid(&shape));
                if (e->variant->refuse) assert_null(e->variant->refuse(&shape, param));
            }
            free(pattern);
        }
    }
    const rg_entry *e = rg_entry_next(NULL, "autocorr:gather", "gpu");
    int cheap = 0, long_ones = 0;
    rg_thresholds(e, false, count_case, &cheap);
    rg_thresholds(e, true, count_case, &long_ones);
    assert_true(cheap > 5 && long_ones > 0);
    rg_plan with, without, alone;
    rg_plan_make(&with, e, &all, 1);
    rg_plan_make(&without, e, &none, 1);
    rg_plan_make(&alone, e, &deep, 1);
    assert_int_equal(with.first, without.first + cheap);
    assert_int_equal(with.n, without.n + cheap);
    assert_int_equal(alone.n, long_ones);
    rg_plan_free(&with);
    rg_plan_free(&without);
    rg_plan_free(&alone);
    rg_tsv_free(&t);
    free(path);
}

// More scratch than any machine has: how much it was.
TEST(a_scratch_without_end_is_said)
{
    const rg_entry *known = rg_entry_next(NULL, "autocorr:naive", "cpu");
    rg_variant v = *known->variant;
    rg_entry e = *known;
    v.scratch = endless;
    e.variant = &v;
    const rg_verify_options how = {.seed = 1};
    const rg_verdict said = rg_verify_case(&e, &(rg_shape){{7, 5, 3, 0}, 1}, (int64_t[RG_PARAMS_MAX]){0}, 1, &how);
    assert_int_equal(said.status, RG_FAIL);
    assert_non_null(strstr(said.reason, "making the buffers, 3.28e+04 GiB with its scratch: out of memory"));
    rg_verify_end();
}

// More than a GiB of arguments: one run whose outputs are sampled; more than there is memory: skipped, with both numbers.
TEST(large_cases_are_sampled_or_skipped)
{
    const rg_entry *e = rg_entry_next(NULL, "affine2d:naive", "cpu");
    rg_shape s = {{16, 16, 1 << 22, 0, 0}, 1};
    assert_true(rg_is_large(e, &s));
    s.n[2] = 1;
    assert_false(rg_is_large(e, &s));
    s = (rg_shape){{1024, 1024, 1 << 20, 0, 0}, 1}; // 4 TiB
    const rg_verify_options how = {.seed = 1};
    const rg_verdict v = rg_verify_case(e, &s, (int64_t[RG_PARAMS_MAX]){0}, 1, &how);
    assert_int_equal(v.status, RG_SKIP);
    assert_non_null(strstr(v.reason, "needs 4096"));
    assert_non_null(strstr(v.reason, "GiB are free"));
    rg_verify_end();
    assert_int_equal(VERIFY("affine2d:naive", "--shape", "w1024,h1024,m1048576,o0,t0"), RG_LACKS);
}

TESTS(test_dir_make, test_dir_remove)
