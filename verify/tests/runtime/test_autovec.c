// SPDX-License-Identifier: MIT
// test_autovec.c: the autovec variants are vector code with the present compiler, without vector code by hand: a baseline that
// became scalar unnoticed would make every speed-up over it too large.
#include "../../../impl/base/core.h"
#include "../../../impl/runtime/table.h"
#include "../test.h"
#include "../test_listing.h"

// The functions that RG_AUTOVEC compiles: folder, calling algorithms, first part of the name.
static const struct {
    const char *folder, *algos, *function;
} compiled[] = {
    {"autocorr/", "autocorr", "autocorr_row"},
    {"autocorr/printed_", "autocorr_printed", "printed_row"},
    {"gridding/", "gridding", "gridding_plane"},
    {"affine/", "affine2d", "affine_band"},
    {"affine/", "align2d", "align2d_lines"},
    {"affine/", "align3d", "align3d_lines"},
    {"frealign/compare/", "cc3m presb sigma2 ccoef", "compare_trial"},
    {"frealign/turn/", "ccp", "ccp_section"},
    {"frealign/turn/", "ccp", "ccp_rotation"},
    {"frealign/insert/", "pinsert_s", "insert_slab"},
    {"frealign/ctf/", "ctfapply", "ctfapply_particle"},
};

TEST(compilers_make_vectors) {
#ifdef __SANITIZE_ADDRESS__
    skip(); // a check between any two accesses prevents vectors
#endif
    need_objdump();
    for (int i = 0; i < RG_COUNT(compiled); i++)
        for (int avx512 = 0; avx512 < 2; avx512++) {
            RG_FREED char *name = rg_print("%s_%s", compiled[i].function, avx512 ? "avx512" : "avx2");
            census c = look(name);
            print_message("%-24s %5d instructions, %4d of them packed arithmetic, %4d in wide registers\n", name,
                c.instructions, c.vector, c.wide);
            assert_true(c.instructions > 50);
            assert_true(c.wide >= 6);
        }
}

TEST(every_one_is_looked_at) {
    int found = 0;
    for (int i = 0; i < rg_entry_count(); i++) {
        const rg_entry *e = rg_entry_at(i);
        int known = 0;
        if (strcmp(e->name, "autovec")) continue;
        for (int k = 0; k < RG_COUNT(compiled); k++) known |= strstr(compiled[k].algos, e->algo->name) != NULL;
        assert_true(known);
        found++;
    }
    assert_int_equal(found, 13);
}

// No intrinsics, no vector types: the source is plain C.
TEST(nothing_is_by_hand) {
    for (int i = 0; i < RG_COUNT(compiled); i++) {
        char *file = rg_print("impl/%sautovec.c", compiled[i].folder), *path = rg_share_path(file), line[400];
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f))
            assert_true(!strstr(line, "_mm") && !strstr(line, "immintrin") && !strstr(line, "vector_size"));
        fclose(f);
        free(path);
        free(file);
    }
}
