// SPDX-License-Identifier: MIT
// test_tune.c: the space of parameters and the order of the search on made-up costs; and the command on a CPU variant.
#include "../../../impl/runtime/search.h"
#include "../../../impl/runtime/table.h"
#include "../../checker/verify.h"
#include "../test.h"
#include "../test_build.h"
#include "../test_command.h"

#include <math.h>
#include <sys/wait.h>

extern const rg_command rg_cmd_tune;
static char text[OUTPUT_MAX];

static const int64_t ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const rg_param params[] = {{"a", ten, 10, 5, ""}, {"b", ten, 10, 5, ""}, {"c", ten, 10, 5, ""}};
static const char *refuse(const rg_shape *s, const int64_t *p)
{
    return p[0] > p[1] ? "a must not exceed b" : p[2] == s->n[0] ? "c is taken" : NULL;
}
static const rg_variant variant = {.algo = "sum", .name = "x", .param = params, .n_params = 3, .refuse = refuse};
static const rg_shape shape = {.n = {9}};

// Smallest at (2, 7, 3).
static double bowl(const int64_t *p) { return 1 + fabs((double)p[0] - 2) + fabs((double)p[1] - 7) + fabs((double)p[2] - 3); }

TEST(test_space)
{
    rg_search s;
    assert_null(rg_search_begin(&s, &variant, &shape, RG_SEARCH_EXHAUSTIVE, 0, 1));
    assert_int_equal(s.combinations, 1000);
    assert_int_equal(s.n, 55 * 9);
    assert_int_equal(s.refused, 1000 - 55 * 9);
    assert_int_equal(s.n_refusals, 2);
    assert_string_equal(s.refusal[0].reason, "c is taken"); // of a = b = 0, the first
    assert_int_equal(s.refusal[0].count, 55);
    assert_int_equal(s.refusal[1].count, 450);
    for (int i = 0; i < s.n; i++) assert_null(refuse(&shape, s.config[i]));
    rg_search_end(&s);
    const uint64_t some[] = {1 << 4 | 1 << 8, UINT64_MAX, 1 << 1};
    assert_null(rg_search_begin_among(&s, &variant, &shape, RG_SEARCH_EXHAUSTIVE, 0, 1, some));
    assert_int_equal(s.combinations, 20);
    assert_int_equal(s.n, 6 + 2); // b = 4..9 of a = 4, 8 and 9 of 8
    for (int i = 0; i < s.n; i++) assert_true((s.config[i][0] == 4 || s.config[i][0] == 8) && s.config[i][2] == 1);
    rg_search_end(&s);
    const uint64_t refused[] = {1 << 9, 1, 1};
    assert_non_null(rg_search_begin_among(&s, &variant, &shape, RG_SEARCH_EXHAUSTIVE, 0, 1, refused));
    rg_search_end(&s);
}

// Runs a search to its end on bowl(); every configuration at most once.
static void run_search(rg_search *s, rg_search_kind kind, int most, uint64_t seed)
{
    assert_null(rg_search_begin(s, &variant, &shape, kind, most, seed));
    for (int i; (i = rg_search_next(s)) >= 0;) {
        assert_true(isnan(s->cost[i]));
        rg_search_tell(s, i, bowl(s->config[i]));
    }
}

TEST(test_exhaustive)
{
    rg_search s;
    run_search(&s, RG_SEARCH_EXHAUSTIVE, 0, 1);
    assert_int_equal(s.tried, s.n);
    assert_true(s.cost[s.best] == 1);
    rg_search_end(&s);
    run_search(&s, RG_SEARCH_RANDOM, 0, 1);
    assert_int_equal(s.tried, s.n);
    rg_search_end(&s);
}

// In a tenth of the space a local search comes to the bottom of a bowl, where a random one seldom does.
TEST(test_local)
{
    int local = 0, random = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rg_search s;
        run_search(&s, RG_SEARCH_LOCAL, 100, seed);
        assert_int_equal(s.tried, 100);
        local += s.cost[s.best] == 1;
        rg_search_end(&s);
        run_search(&s, RG_SEARCH_RANDOM, 100, seed);
        random += s.cost[s.best] == 1;
        rg_search_end(&s);
    }
    assert_true(local >= 16);
    assert_true(random <= 10);
}

TEST(test_failures)
{
    rg_search s;
    assert_null(rg_search_begin(&s, &variant, &shape, RG_SEARCH_LOCAL, 10, 1));
    int first = rg_search_next(&s);
    const int64_t standard[RG_PARAMS_MAX] = {5, 5, 5};
    assert_int_equal(first, rg_search_find(&s, standard)); // never worse than without a search
    for (int i = first; i >= 0; i = rg_search_next(&s)) rg_search_tell(&s, i, INFINITY);
    assert_int_equal(s.tried, 10);
    assert_int_equal(s.best, -1);
    const int64_t no[] = {9, 0, 0};
    assert_int_equal(rg_search_find(&s, no), -1);
    rg_search_end(&s);
}

// ---- the command -----------------------------------------------------------------------------------------------------------

static char *folder;

FIXTURE(set_up)
{
    folder = test_folder();
    return folder == NULL;
}

FIXTURE(tear_down) { return test_folder_remove(folder); }

// In a child, as the checker forks its workers, which a process that has used OpenMP threads may not.
static int run_in_child(const char *line)
{
    int end[2], status;
    size_t n = 0;
    assert_int_equal(pipe(end), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(120); // whatever happens, the test ends
        int code = run_command(&rg_cmd_tune, line, text);
        _exit(write(end[1], text, strlen(text)) == (ssize_t)strlen(text) ? code : 99);
    }
    close(end[1]);
    for (ssize_t got; (got = read(end[0], text + n, sizeof text - 1 - n)) > 0;) n += (size_t)got;
    text[n] = 0;
    close(end[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int tune(const char *words)
{
    int code = run_in_child(
        fmt("tune gridding:simd_gather --shape s17,i2,o1,b19,k0 --threads 1 --quiet --tuned %s %s", folder, words));
    return code;
}

static int rows_of(const char *path, const char *status)
{
    rg_result r;
    bool cut;
    int n = 0;
    assert_int_equal(rg_result_read(path, &r, &cut), RG_GOOD);
    for (int i = 0; i < r.n_rows; i++) {
        n += !strcmp(r.row[i].cell[RG_C_STATUS], status);
        for (int k = 0; k < i; k++) assert_false(rg_row_same(&r.row[i], &r.row[k]));
    }
    rg_result_free(&r);
    return n;
}

TEST_BETWEEN(test_command, set_up, tear_down)
{
    char *out = rg_print("%s/t.tsv", folder), *words = rg_print("--out %s", out);
    const rg_entry *e = rg_entry_next(NULL, "gridding:simd_gather", "cpu");
    int configurations = 0; // a CPU may lack the widest instructions
    rg_shape small;
    char why[160];
    assert_true(rg_shape_parse(e->algo, "s17,i2,o1,b19,k0", &small, why));
    for (int i = 0; i < e->variant->param[0].n_values; i++)
        configurations += !e->variant->refuse(&small, &e->variant->param[0].value[i]);
    for (int p = 1; p < e->variant->n_params; p++) configurations *= e->variant->param[p].n_values;
    assert_int_equal(tune(words), RG_GOOD);
    assert_non_null(strstr(text, "default"));
    assert_non_null(strstr(text, "best configuration: "));
    assert_int_equal(rows_of(out, "PASS"), configurations);
    // Resumed: nothing is left to try, and the rows stay.
    assert_int_equal(tune(fmt("--resume %s", words)), RG_GOOD);
    assert_int_equal(rows_of(out, "PASS"), configurations);
    assert_int_equal(tune("--configs 1"), RG_GOOD);
    assert_non_null(strstr(text, "1 of "));
    // Without parameters, its rate is what --dry-run of a job asks for.
    assert_int_equal(run_in_child(fmt("tune autocorr:naive --shape w16,h16,r2,k0 --quiet --tuned %s", folder)), RG_GOOD);
    assert_non_null(strstr(text, "best configuration: "));
    free(words);
    free(out);
}

TEST_BETWEEN(test_search_options, set_up, tear_down)
{
    char *out = rg_print("%s/s.tsv", folder);
    assert_int_equal(tune("--search random --configs 2 --seed 5"), RG_GOOD);
    assert_non_null(strstr(text, "random search, seed 5"));
    assert_int_equal(tune("--budget 0.001"), RG_GOOD);
    assert_non_null(strstr(text, "local search, seed 1"));
    assert_non_null(strstr(text, "\n1 of "));
    assert_int_equal(tune(fmt("--configs 1 --energy --out %s", out)), RG_GOOD); // joules, or why there are none
    rg_result r;
    bool cut;
    assert_int_equal(rg_result_read(out, &r, &cut), RG_GOOD);
    bool told = false;
    for (int i = 0; i < r.n_rows; i++)
        told |= !rg_row_is_probe(&r.row[i]) && rg_cell_word(&r.row[i], RG_C_ENERGY) > RG_ENERGY_NOT_ASKED;
    assert_true(told);
    rg_result_free(&r);
    free(out);
}

// A configuration that gives wrong sums has no time, and the others do.
TEST_BETWEEN(test_wrong_plugin, set_up, tear_down)
{
    char *plugin = rg_print("%s/broken/autocorr_sums.so", test_build());
    assert_int_equal(access(plugin, R_OK), 0);
    char *out = rg_print("%s/p.tsv", folder);
    char *line = rg_print("tune autocorr:autocorr_sums.so:parameter --shape w32,h32,r4,k0 --quiet --tuned none --plugin %s "
                          "--out %s",
        plugin, out);
    assert_int_equal(run_in_child(line), RG_WRONG);
    assert_true(rows_of(out, "FAIL") >= 1);
    assert_true(rows_of(out, "PASS") >= 1);
    free(line);
    free(out);
    free(plugin);
}

TEST(test_refused)
{
    static const struct {
        const char *words;
        int code;
    } wrong[] = {{"tune", RG_USAGE}, {"tune gridding", RG_USAGE}, {"tune gridding:nosuch", RG_USAGE},
        {"tune gridding:simd_gather --shape s16", RG_USAGE}, {"tune gridding:simd_gather --search best", RG_USAGE},
        {"tune gridding:simd_gather --resume", RG_USAGE}, {"tune gridding:simd_gather --param isa=7", RG_USAGE},
        {"tune gridding:simd_gather --configs 0", RG_USAGE}, {"tune gridding:gather --device host", RG_LACKS},
        {"tune gridding:gather --device cpu", RG_LACKS}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(run_command(&rg_cmd_tune, wrong[i].words, text), wrong[i].code);
}

// ---- one configuration against another ---------------------------------------------------------------------------------------

enum { ELEMENTS = 200000 };
static rg_type real(const rg_shape *s) { return (void)s, RG_F32; }
static int64_t elements(const rg_shape *s) { return (void)s, ELEMENTS; }
static rg_tolerance thousandth(const rg_shape *s) { return (void)s, (rg_tolerance){RG_BOUND, 1e-3, 0, "made up"}; }
static void where(const rg_shape *s, int which, int64_t element, char at[64])
{
    (void)s, (void)which;
    snprintf(at, 64, "(%lld)", (long long)element);
}

// Last: it uses OpenMP threads, which do not survive a fork.
TEST(test_alike)
{
    static float found[ELEMENTS], right[ELEMENTS];
    const rg_arg args[] = {{"sum", RG_OUT, real, elements}};
    const rg_algo algo = {.name = "sum", .dim = {"n"}, .arg = args, .n_args = 1, .tolerance = thousandth, .where = where};
    const rg_entry entry = {.algo = &algo, .variant = &variant};
    const int64_t param[RG_PARAMS_MAX] = {0};
    void *const a[] = {found}, *const b[] = {right};
    for (int i = 0; i < ELEMENTS; i++) found[i] = right[i] = (float)(i % 100);
    assert_int_equal(rg_compare_alike(&entry, &shape, param, a, b).status, RG_PASS);
    found[77] += 1.5e-3f; // each may be a thousandth off
    rg_verdict v = rg_compare_alike(&entry, &shape, param, a, b);
    assert_int_equal(v.status, RG_PASS);
    assert_true(v.error > 1.4e-3 && v.error < 1.6e-3);
    found[199999] = NAN;
    found[150001] += 2.5e-3f;
    v = rg_compare_alike(&entry, &shape, param, a, b);
    assert_int_equal(v.status, RG_FAIL);
    assert_non_null(strstr(v.reason, "(150001)")); // the first, whichever thread finds one
    found[150001] = right[150001];
    assert_int_equal(rg_compare_alike(&entry, &shape, param, a, b).status, RG_FAIL);
}

TESTS(NULL, NULL)
