// SPDX-License-Identifier: MIT
// test_headers.c: comments of impl/ hold no measurement of their own and heads name their files (verify/headers.sh); files that
// comments name are there (verify/named.sh); what is not so is found.
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_data.h"

TEST(test_this_tree)
{
    char *here = rg_share_path("."), text[4096];
    if (run_script("verify/headers.sh", here, text)) fail_msg("%s", text);
    free(here);
}

TEST(test_measurements_are_found)
{
    static const struct {
        const char *text;
        bool good;
    } comment[] = {
        {"// Bound: 10 operations a pair, one of each atomic a voxel; rounds to 5 % of nothing.", true},
        {"// A second image waits 10 seconds, or 12 items/s.", true},
        {"// Takes 12 ms here.", false},
        {"int x; // 3.5 us", false},
        {"// 1.2e9 pixels/s at side 257", false},
        {"// AVX2 is 15 % slower.", false},
        {"// Outcome: as predicted.", false},
        {"// Measured: data/machines/none.tsv.", false},
        {"// Takes 12 ms by\n// data/machines/there.tsv.", true},
        {"// Measured: data/machines/there.tsv.\n\n// And 7 us.", false},
        {"// SPDX-License-Identifier: MIT\n// a.c: what it is.", true},
        {"// SPDX-License-Identifier: MIT\n// job_a.c: what it was.", false},
    };
    char text[4096];
    put_text(in_dir("data/machines/there.tsv"), "1\n");
    for (int i = 0; i < RG_COUNT(comment); i++) {
        put_text(in_dir("impl/a.c"), comment[i].text);
        if ((run_script("verify/headers.sh", test_dir, text) == 0) != comment[i].good)
            fail_msg("%s: %s", comment[i].text, text);
    }
}

TEST(test_files_named_are_there)
{
    static const struct {
        const char *file, *text;
        bool good;
    } comment[] = {
        {"impl/a.c", "// As b.h has it; impl/b.h, and plots/NAME.gp.", true},
        {"impl/a.c", "int x; // see nosuch.c", false},
        {"impl/a.c", "// As other/b.h has it.", false},
        {"impl/a.sh", "# As nosuch.awk says.", false},
    };
    char *here = rg_share_path("."), text[4096];
    if (run_script("verify/named.sh", here, text)) fail_msg("%s", text);
    put_text(in_dir("impl/b.h"), "");
    for (int i = 0; i < RG_COUNT(comment); i++) {
        put_text(in_dir(comment[i].file), comment[i].text);
        if ((run_script("verify/named.sh", test_dir, text) == 0) != comment[i].good) fail_msg("%s: %s", comment[i].text, text);
        put_text(in_dir(comment[i].file), "");
    }
    free(here);
}

TESTS(test_dir_make, test_dir_remove)
