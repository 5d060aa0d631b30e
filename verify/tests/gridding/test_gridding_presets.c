// SPDX-License-Identifier: MIT
// test_gridding_presets.c: the published configurations of gather equal Table 3 of Strelak et al. 2019 and run here, and those
// that Table 2 forbids are refused by name.
#include "../../../impl/base/core.h"
#include "../../../impl/runtime/table.h"
#include "../test.h"

static const rg_variant *gather(void) {
    const rg_entry *e = rg_entry_next(NULL, "gridding:gather", "host");
    assert_non_null(e);
    return e->variant;
}

static const rg_shape shape = {{257, 52, 1, 19, 0}, 1};

// In the order of Table 3's rows: BLOCK_DIM, ATOMICS, GRID_DIM_Z, PRECOMP_INT, SHARED_INT, SHARED_IMG, TILE_SIZE.
static const struct {
    const char *gpu;
    int64_t param[7];
} published[] = {
    {"P100", {20, 1, 1, 1, 1, 0, 4}},
    {"GTX1070", {16, 1, 1, 1, 1, 0, 2}},
    {"GTX750", {8, 1, 8, 1, 0, 0, 4}},
    {"GTX680", {16, 1, 1, 0, 0, 0, 8}},
};

TEST(presets_are_table_3) {
    RG_FREED char *path = rg_share_path("impl/gridding/presets.tsv");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[512], algo[32], variant[32], name[32], params[192], why[160];
    int rows = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || strncmp(line, "algo\t", 5) == 0) continue;
        assert_int_equal(sscanf(line, "%31[^\t]\t%31[^\t]\t%31[^\t]\t%191[^\t]", algo, variant, name, params), 4);
        assert_string_equal(algo, "gridding");
        assert_string_equal(variant, "gather");
        assert_in_range(rows, 0, RG_COUNT(published) - 1);
        assert_string_equal(name, published[rows].gpu);
        int64_t param[RG_PARAMS_MAX] = {0};
        assert_true(rg_params_parse(gather(), params, param, why));
        assert_memory_equal(param, published[rows].param, sizeof published[rows].param);
        assert_null(gather()->refuse(&shape, param));
        rows++;
    }
    assert_int_equal(rows, RG_COUNT(published));
    fclose(f);
}

static void assert_refused(const char *params, const char *word) {
    int64_t param[RG_PARAMS_MAX] = {0};
    char why[160];
    assert_true(rg_params_parse(gather(), params, param, why));
    const char *reason = gather()->refuse(&shape, param);
    assert_non_null(reason);
    assert_non_null(strstr(reason, word));
}

TEST(table_2_forbids) {
    assert_refused("ATOMICS=0;GRID_DIM_Z=4", "GRID_DIM_Z");
    assert_refused("PRECOMP_INT=0;SHARED_INT=1", "PRECOMP_INT");
    assert_refused("PRECOMP_INT=1;SHARED_INT=1;SHARED_IMG=1;TILE_SIZE=1", "SHARED_IMG");
    assert_refused("SHARED_IMG=1;TILE_SIZE=2", "TILE_SIZE");
    assert_refused("BLOCK_DIM=12;TILE_SIZE=8", "divide");
}

// GRID_DIM_Z 1, 4, 8, 16 with atomics and 1 without; three ways to a weight with every tile size that divides BLOCK_DIM; two
// ways, and tiles of 1, with the image in shared memory: 445. Added here are GRID_DIM_Z 32, 128 and 512 and one more way.
TEST(table_2_leaves) {
    const rg_variant *v = gather();
    int64_t param[RG_PARAMS_MAX] = {0}, index[RG_PARAMS_MAX] = {0};
    int allowed = 0, of_table_2 = 0, k = 0;
    while (k < v->n_params) {
        for (int i = 0; i < v->n_params; i++) param[i] = v->param[i].value[index[i]];
        const int fits = v->refuse(&shape, param) == NULL;
        allowed += fits;
        of_table_2 += fits && param[2] <= 16 && param[3] <= 1;
        for (k = 0; k < v->n_params && ++index[k] == v->param[k].n_values; k++) index[k] = 0;
    }
    int pairs = 0;
    for (int b = 8; b <= 32; b += 4)
        for (int t = 1; t <= 8; t *= 2) pairs += b % t == 0;
    assert_int_equal(of_table_2, 5 * (3 * pairs + 2 * 7));
    assert_int_equal(of_table_2, 445);
    assert_int_equal(allowed, 8 * (4 * pairs + 3 * 7));
}
