// SPDX-License-Identifier: MIT
// test_procure.c: shipped workloads are good, and every run counts. Bad ones, kits, archives and forgeries of them:
// verify/cases/procure.tsv.
#include "../../../bench/procure/archive.h"
#include "../../../bench/procure/measure.h"
#include "../test.h"
#include "../test_program.h"

TEST(shipped_workloads_are_good) {
    static const char *const name[] = {"cryo-em", "colloids", "papers"};
    for (int i = 0; i < 3; i++)
        for (rg_size size = RG_SMALL; size < RG_SIZES; size++) {
            RG_ENDS(rg_workload_free) rg_workload w;
            RG_FREED char *path = rg_share_path(fmt("bench/workloads/%s.tsv", name[i]));
            assert_int_equal(rg_workload_read(path, size, &w), RG_GOOD);
        }
}

// A short job runs again while another has too few runs that count. The median includes all its runs.
TEST(every_run_counts) {
    RG_FREED char *text;
    size_t bytes;
    int n;
    FILE *f = open_memstream(&text, &bytes);
    fprintf(f, "job\tkind\twall_s\tstatus\n");
    for (int i = 0; i < 2501; i++) fprintf(f, "short\ttimed\t%d\tgood\nlong\ttimed\t1\tbusy\n", i + 1);
    fclose(f);
    rg_archive a = {0};
    assert_int_equal(rg_tsv_parse("runs.tsv", text, bytes, &a.runs), RG_GOOD);
    free(rg_archive_times(&a, "short", &n));
    assert_int_equal(n, 2501);
    assert_true(rg_archive_median(&a, "short") == 1251);
    free(rg_archive_times(&a, "long", &n));
    assert_int_equal(n, 0);
    rg_tsv_free(&a.runs);
}

TESTS(test_dir_make, test_dir_remove)
