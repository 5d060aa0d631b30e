// SPDX-License-Identifier: MIT
// test_cheats.c: kernels of verify/broken that cheat on time. Each passes the checker at small shapes, and bench has to refuse it a
// time, in the words of its row of expected.tsv (devices: bench).
#include "../../../impl/base/tsv.h"
#include "../test.h"
#include "../../../data/formats/result.h"
#include "../test_program.h"

#include <signal.h>
#include <sys/prctl.h>

static bool is_there(const char *path) { return access(path, R_OK) == 0; }

static void check_row(const rg_tsv *table, int i)
{
    const char *file = rg_tsv_cell(table, i, "plugin"), *variant = rg_tsv_cell(table, i, "variant");
    const bool gpu = strstr(file, "_gpu");
    const char *plugin = fmt("%s/broken/%s%s", test_build(), gpu ? "gpu/" : "", file), *out = in_dir("cheat.tsv");
    if (gpu && !is_there(plugin)) return; // built where there is a GPU
    const int code = sh("regather bench autocorr:%s:%s --plugin %s --device %s --shape %s --scope device --mode hot --rounds 2 "
                        "--max-seconds 0.2 --seed 1 --quiet --out cheat.tsv > out",
        file, variant, plugin, gpu ? "gpu" : "cpu",
        !strcmp(variant, "cheat_pair")                             ? "w2048,h1024,r16,k0"
            : strstr("cheat_thread cheat_large_poisoned", variant) ? "w512,h256,r16,k0"
                                                                   : "w256,h256,r4,k0");
    if (gpu && code == RG_LACKS) return; // a build folder of another machine
    rg_result r;
    bool cut;
    assert_int_equal(rg_result_read(out, &r, &cut), RG_GOOD);
    for (int k = 0; k < r.n_rows; k++) {
        char *const *c = r.row[k].cell;
        if (rg_row_is_probe(&r.row[k])) continue;
        char reason[RG_REASON];
        rg_row_reason(&r.row[k], reason);
        if (strcmp(c[RG_C_STATUS], rg_tsv_cell(table, i, "status")) || !strstr(reason, rg_tsv_cell(table, i, "word")))
            fail_msg("%s: %s, median %s ns: %s (%s)", variant, c[RG_C_STATUS], c[RG_C_MEDIAN], reason, c[RG_C_CHECK]);
        assert_string_equal(c[RG_C_MEDIAN], "");
    }
    assert_int_equal(code, RG_WRONG);
    rg_result_free(&r);
    unlink(out);
}

TEST(what_cheats_on_time_has_none)
{
    rg_tsv table;
    int rows = 0;
    assert_int_equal(rg_tsv_read("verify/broken/expected.tsv", &table), RG_GOOD);
    for (int i = 0; i < table.n_rows; i++)
        if (!strcmp(rg_tsv_cell(&table, i, "devices"), "bench")) {
            check_row(&table, i);
            rows++;
        }
    assert_true(rows >= 5);
    rg_tsv_free(&table);
}

// Two threads that wait for each other, on cores that others have, too: a right kernel has a time, or none for that reason.
TEST(a_busy_machine_makes_no_cheat)
{
    pid_t busy[16];
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), n = cores < 8 ? 2 * cores : 16;
    for (int i = 0; i < n; i++)
        if ((busy[i] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // none goes on when this program is killed
            for (;;)
                ;
        }
    int code = RG_GOOD;
    for (int seed = 1; seed <= 3 && (code == RG_GOOD || code == RG_UNSURE); seed++)
        code = sh("regather bench autocorr:simd --device cpu --threads 2 --shape w160,h120,r8,k0 --scope device --mode hot "
                  "--max-seconds 0.5 --seed %d --quiet --out busy.tsv > out; code=$?; rm -f busy.tsv; exit $code",
            seed);
    for (int i = 0; i < n; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    if (code != RG_GOOD && code != RG_UNSURE) fail_msg("exit code %d: %s", code, file_text(in_dir("out")));
}

TESTS(test_dir_make, test_dir_remove)
