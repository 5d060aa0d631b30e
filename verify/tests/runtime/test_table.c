// SPDX-License-Identifier: MIT
// test_table.c: invalid entries of the function table are refused in one line, built-in or plugged in.
#include "../../../impl/runtime/table.h"
#include "../test.h"
#include "../test_data.h"

static int run(rg_call *call) {
    (void)call;
    return RG_OK;
}
static const int64_t blocks[] = {8, 16};
static const rg_param good_params[] = {{"block", blocks, 2, 8, ""}};
static const rg_variant good = {
    RG_VARIANT_OF("autocorr", "test", RG_SIMD, RG_HOST, "a test"), .needs = "avx2", RG_PARAMS(good_params), .run = run};

static void assert_wrong(const rg_variant *v, const char *word) {
    assert_refused(rg_table_add(v, RG_BUILT_IN, false, NULL), word);
    assert_refused(rg_table_add(v, RG_PLUGGED_IN, false, "mine.so"), word);
}

#define WRONG_VARIANT(word, change)                                                                                            \
    do {                                                                                                                       \
        rg_variant v = good;                                                                                                   \
        change;                                                                                                                \
        assert_wrong(&v, word);                                                                                                \
    } while (0)

TEST(test_variants) {
    char why[RG_FAULT];
    int before = rg_entry_count();
    assert_null(rg_variant_fault(&good, why));
    WRONG_VARIANT("version 7", v.abi = 7);
    WRONG_VARIANT("bytes", v.bytes -= 8);
    WRONG_VARIANT("expected a-z", v.name = "a b");
    WRONG_VARIANT("expected a-z", v.name = NULL);
    WRONG_VARIANT("unknown algorithm \"autocorrelation\"", v.algo = "autocorrelation");
    WRONG_VARIANT("run function", v.run = NULL);
    WRONG_VARIANT("idea", v.idea = "");
    WRONG_VARIANT("idea is not one line", v.idea = "one\ntwo");
    WRONG_VARIANT("unknown role, space or flag", v.role = (rg_role)9);
    WRONG_VARIANT("unknown role, space or flag", v.flags = 1u << 30);
    WRONG_VARIANT("needs \"avx3\": expected avx2", v.needs = "avx2,avx3");
    WRONG_VARIANT("needs \"sm_80\": expected avx2", v.needs = "sm_80");
    WRONG_VARIANT("needs \" avx2\"", v.needs = " avx2");
    WRONG_VARIANT("needs \"avx2\": expected sm_NN", v.space = RG_DEVICE);
    WRONG_VARIANT("needs \"sm_90b\"", (v.space = RG_DEVICE, v.needs = "sm_90b"));
    WRONG_VARIANT("no argument of the algorithm is steady", v.load = run);
    WRONG_VARIANT("99 parameters", v.n_params = 99);
    WRONG_VARIANT("1 parameters", v.param = NULL);
    const rg_param off[] = {{"block", blocks, 2, 9, ""}}, nameless[] = {{NULL, blocks, 2, 8, ""}},
                   none[] = {{"block", blocks, 0, 8, ""}};
    const rg_param twice[] = {good_params[0], good_params[0]};
    WRONG_VARIANT("the standard block = 9 is none of its values", v.param = off);
    WRONG_VARIANT("parameter 0 lacks", v.param = nameless);
    WRONG_VARIANT("parameter 0 lacks", v.param = none);
    WRONG_VARIANT("two parameters \"block\"", (v.param = twice, v.n_params = 2));
    assert_int_equal(rg_entry_count(), before);
    rg_variant v = good;
    v.name = "naive";
    assert_refused(rg_table_add(&v, RG_BUILT_IN, false, NULL), "there are two variants \"autocorr:naive\"");
    assert_int_equal(rg_table_add(&v, RG_PLUGGED_IN, false, "mine.so"), RG_GOOD); // different from the built-in one
    assert_refused(
        rg_table_add(&v, RG_PLUGGED_IN, false, "other/mine.so"), "there are two variants \"autocorr:mine.so:naive\"");
    const rg_entry *own = rg_entry_next(NULL, "autocorr:naive", "gpu");
    assert_refused(rg_table_add(own->variant, RG_PLUGGED_IN, false, "thief.so"), "is this program's own");
    assert_int_equal(rg_entry_count(), before + 1);
}

static void assert_algo(const rg_algo *a, const char *word) {
    char why[RG_FAULT];
    const char *fault = rg_algo_fault(a, why);
    assert_non_null(fault);
    if (!strstr(fault, word)) fail_msg("expected \"%s\" in: %s", word, fault);
}

#define WRONG_ALGO(word, change)                                                                                               \
    do {                                                                                                                       \
        rg_algo a = *rg_algo_find("autocorr");                                                                                 \
        change;                                                                                                                \
        assert_algo(&a, word);                                                                                                 \
    } while (0)

TEST(test_algorithms) {
    char why[RG_FAULT];
    for (int i = 0; i < rg_algo_count(); i++) assert_null(rg_algo_fault(rg_algo_at(i), why));
    WRONG_ALGO("version", a.abi++);
    WRONG_ALGO("expected a-z", a.name = "Auto");
    WRONG_ALGO("lacks its paper", a.paper = NULL);
    WRONG_ALGO("lacks fill", a.reference = NULL);
    WRONG_ALGO("one of them an output", a.n_args = 1);
    WRONG_ALGO("argument 2 is no input", a.steady = 1u << 2);
    WRONG_ALGO("lacks shapes", a.n_smoke_shapes = 0);
    const rg_shape empty = {{0}, 1};
    WRONG_ALGO("shape 0 of the smoke test", a.smoke_shape = &empty);
    const rg_arg nameless[] = {{NULL, RG_OUT, NULL, NULL}};
    WRONG_ALGO("argument 0", a.arg = nameless);
}

static char *text_of(const char *shared) {
    char *path = rg_share_path(shared), *text = file_text(path);
    free(path);
    return text;
}

// Names in an algorithm exist: its paper's section, its wrong kernels, its presets.
TEST(test_names) {
    RG_FREED char *paper_text = text_of("reference/papers.tsv"), *expected_text = text_of("verify/broken/expected.tsv");
    for (int i = 0; i < rg_algo_count(); i++) {
        const rg_algo *a = rg_algo_at(i);
        RG_FREED char *row = rg_print("\n%s\t", a->paper),
                      *presets = rg_share_path(a->presets ? a->presets : "reference/papers.tsv");
        assert_non_null(strstr(paper_text, row));
        assert_int_equal(access(presets, R_OK), 0);
        for (const char *const *broken = a->broken; broken && *broken; broken++)
            assert_non_null(strstr(expected_text, fmt(".so\t%s\t", *broken)));
    }
}
