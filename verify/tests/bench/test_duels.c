// SPDX-License-Identifier: MIT
// test_duels.c: verify/duels.sh with a stand-in for `regather duel`: shards, going on, what it counts and when it fails; and its table
// in the report.
#include "../test.h"
#include "../test_program.h"
#include "../../../impl/base/tsv.h"

// A build whose duels are decided by their seed: of equals SAME, but the tenth UNSURE and the fourth what $FOURTH says. It hangs
// behind seed $LAST.
FIXTURE(set_up)
{
    char *readme = rg_share_path("README.md");
    *strrchr(readme, '/') = '\0';
    setenv("TREE", readme, 1);
    setenv("BUILT", test_build(), 1);
    unsetenv("DUELS_CORES");
    free(readme);
    return test_dir_make(state) ||
        sh("mkdir build && cat > build/regather <<'END'\n"
           "#!/bin/sh\n"
           "[ \"$1\" != --cflags ] || exec \"$BUILT/regather\" --cflags\n"
           "words=$* seed=0 n=1\n"
           "while [ $# -gt 1 ]; do\n"
           "    case $1 in --out) echo '# machine: a stand-in' > \"$2\" ;; --seed) seed=$2 ;; --repeat) n=$2 ;; esac\n"
           "    shift\n"
           "done\n"
           "for _ in $(seq $n); do\n"
           "    case $seed in 10) same=UNSURE ;; 4) same=${FOURTH:-SAME} ;; *) same=SAME ;; esac\n"
           "    case \"$words\" in *percent=0*) word=$same ;; *) word=SLOWER ;; esac\n"
           "    echo \"$word   old -> new, w32, 5 of them preempted and dropped, 1.5 s\"\n"
           "    echo $seed \"$words\" >> \"$CALLS\"\n"
           "    [ \"$seed\" != \"${LAST:-}\" ] || exec sleep 99\n"
           "    seed=$((seed + 1))\n"
           "done\n"
           "END\n"
           "chmod +x build/regather");
}

static int duels(const char *before)
{
    return sh(
        "export CALLS=\"$PWD/calls\"; : > calls; touch -d '1 minute ago' build/regather; %s \"$TREE/verify/duels.sh\" build 10 0 > table",
        before);
}

TEST(shards_share_the_duels_and_go_on)
{
    rg_tsv t;
    assert_int_equal(duels("DUELS_TIME=0"), RG_UNSURE); // nothing is begun
    assert_int_equal(sh("test ! -s calls"), 0);
    // Stopped in the middle, all rows but for one as far; on a busy machine, which is not so far by then, with more time.
    for (int time_s = 2; time_s <= 32; time_s *= 4) {
        char *before = rg_print("LAST=7 DUELS_TIME=%d DUELS_CORES=0", time_s);
        assert_int_equal(sh("rm -rf build/duels"), 0);
        assert_int_equal(duels(before), RG_UNSURE);
        free(before);
        if (!sh("test $(sort -u calls | wc -l) -ge 25")) break;
    }
    assert_int_equal(sh("test $(sort -u calls | wc -l) = 25"), 0);
    assert_int_equal(duels("DUELS_CORES='0 0'"), RG_GOOD);
    assert_int_equal(sh("test $(sort -u calls | wc -l) = 15"), 0);
    assert_int_equal(rg_tsv_read(in_dir("table"), &t), RG_GOOD);
    assert_int_equal(t.n_rows, 4);
    assert_string_equal(rg_tsv_head(&t, "machine"), "a stand-in");
    for (int i = 0; i < 4; i++) {
        const bool planted = rg_tsv_number(&t, i, "planted_percent") > 0;
        assert_int_equal(rg_tsv_number(&t, i, "duels"), 10);
        assert_int_equal(rg_tsv_number(&t, i, "SAME"), planted ? 0 : 9);
        assert_int_equal(rg_tsv_number(&t, i, "UNSURE"), planted ? 0 : 1);
        assert_int_equal(rg_tsv_number(&t, i, "SLOWER"), planted ? 10 : 0);
        assert_string_equal(rg_tsv_cell(&t, i, "median_s"), "1.5");
        assert_string_equal(rg_tsv_cell(&t, i, "met"), "yes");
    }
    rg_tsv_free(&t);
    assert_int_equal(duels(""), RG_GOOD); // all is done
    assert_int_equal(sh("test ! -s calls"), 0);
}

TEST(the_table_stands_in_the_report)
{
    assert_int_equal(
        sh("mkdir machines && cp table machines/other-machine.duels.tsv && "
           "regather report \"$TREE/data/machines/h200-16xeon.tsv\" --machines machines --no-figures --quiet --out report > log"),
        RG_GOOD);
    assert_grep("<td[^>]*>other-machine</td>.*w32,h32,r2,k0.*at most 10 % UNSURE.*yes", "report/index.html");
    assert_grep("other-machine.*w192,h192,r13,k0.*at least 99 % SLOWER", "report/REPORT.md");
}

// A new build begins anew; one wrong verdict fails it.
TEST(a_wrong_verdict_fails)
{
    assert_int_equal(sh("export CALLS=\"$PWD/calls\"; : > calls; sleep 1; touch build/regather; "
                        "FOURTH=FASTER \"$TREE/verify/duels.sh\" build 10 0 > table"),
        RG_WRONG);
    assert_int_equal(sh("test $(sort -u calls | wc -l) = 40"), 0);
    assert_int_equal(sh("awk -F'\\t' '$3 == 0 && $8 == 1 && $14 == \"no\" { n++ } END { exit n != 2 }' table"), 0);
}

TESTS(set_up, test_dir_remove)
