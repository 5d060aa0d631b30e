// SPDX-License-Identifier: MIT
// test_duel_rule.c: Student's t against its table, and simulated duels of known truth: how often the rule gives a wrong
// verdict.
#include "../../../bench/stats/rule.h"
#include "../../../bench/stats/stats.h"
#include "../../../impl/suite.h"
#include "../test.h"

// Normal numbers from a counter (Box and Muller 1958).
static uint64_t draw;
static double uniform(void) { return ((double)(rg_bits(13, draw++) >> 11) + 0.5) / 0x1p53; }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }

// A simulated process: its addresses (1 % between processes), a clock that drifts by 5 % while it runs, 1.5 % of noise a block,
// every tenth block up to twice as long, and preemption, which lengthens a fifth of the blocks.
static double simulated_process(double truth, double between) {
    enum { PAIRS = 40 };
    rg_pair pair[PAIRS];
    const double own = between * normal(), drift = 0.05 * normal();
    int kept;
    for (int i = 0; i < PAIRS; i++) {
        pair[i] = (rg_pair){.calls = {100, 100}, .first = uniform() < 0.5};
        for (int turn = 0; turn < 2; turn++) {
            const int side = turn ? !pair[i].first : pair[i].first;
            pair[i].preempted[side] = uniform() < 0.2;
            pair[i].ns[side] = 1e4 *
                exp(drift * (2 * i + turn) / (2 * PAIRS) + 0.015 * normal() + (side ? log(truth) + own : 0)) *
                (uniform() < 0.1 ? 1 + uniform() : 1) * (pair[i].preempted[side] ? 1.1 : 1);
        }
    }
    const double ratio = rg_process_ratio(pair, PAIRS, &kept);
    assert_in_range(kept, 9, PAIRS);
    return ratio;
}

static void simulate(int duels, double truth, double between, double gate, int count[RG_CHANGES], int *processes) {
    *processes = 0;
    for (int w = 0; w < RG_CHANGES; w++) count[w] = 0;
    for (int i = 0; i < duels; i++) {
        double log_ratio[RG_DUEL_PROCESSES_MOST];
        rg_ratio r;
        rg_change word = RG_UNDECIDED;
        int n = 0;
        while (word == RG_UNDECIDED && n < RG_DUEL_PROCESSES_MOST) {
            log_ratio[n++] = simulated_process(truth, between);
            word = rg_duel_judge(log_ratio, n, gate, &r);
        }
        *processes += n;
        count[word]++;
    }
}

TEST(student_is_that_of_the_table) {
    assert_true(fabs(rg_student(0.975, 1) - 12.706) < 1e-3);
    assert_true(fabs(rg_student(0.975, 2) - 4.303) < 1e-3);
    assert_true(fabs(rg_student(0.975, 10) - 2.228) < 1e-3);
    assert_true(fabs(rg_student(0.975, 5) - 2.571) < 1e-3);
    assert_true(fabs(rg_student(0.9995, 4) - 8.610) < 1e-3);
    assert_true(fabs(rg_student(0.995, 1000) - 2.581) < 1e-3);
}

enum { DUELS = 2000 };

// Exactly at the gate, every verdict but UNSURE is wrong; allowed is one in 100 duels. 2,000 duels leave 0.3 % of scatter.
TEST(the_stated_error_holds_at_the_gate) {
    int count[RG_CHANGES], processes;
    simulate(DUELS, 1.02, 0.01, 0.02, count, &processes);
    assert_true(count[RG_SLOWER] + count[RG_SAME] <= 0.013 * DUELS);
    assert_int_equal(count[RG_FASTER], 0);
}

TEST(equals_are_the_same) {
    int count[RG_CHANGES], processes;
    simulate(DUELS, 1, 0.01, 0.02, count, &processes);
    assert_int_equal(count[RG_SLOWER] + count[RG_FASTER], 0);
    assert_true(count[RG_SAME] >= 0.99 * DUELS);
    assert_true(processes <= 12 * DUELS);
}

TEST(what_is_slower_is_found) {
    int count[RG_CHANGES], processes;
    simulate(DUELS, 1.05, 0.01, 0.02, count, &processes);
    assert_true(count[RG_SLOWER] >= 0.99 * DUELS);
    simulate(DUELS / 4, 1 / 1.05, 0.01, 0.02, count, &processes);
    assert_true(count[RG_FASTER] >= 0.99 * DUELS / 4);
}

// Nine of ten processes agree: without the variation between processes, the interval would be that of the pairs, too narrow.
TEST(processes_that_differ_leave_it_open) {
    int count[RG_CHANGES], processes;
    simulate(DUELS / 4, 1, 0.15, 0.02, count, &processes);
    assert_true(count[RG_SLOWER] + count[RG_FASTER] <= 0.01 * DUELS / 4);
    assert_true(count[RG_UNDECIDED] >= 0.9 * DUELS / 4);
}

TEST(pairs_of_unlike_preemption_are_dropped) {
    rg_pair pair[3] = {
        {{100, 102}, {1, 1}, {0, 0}, {0}, 0}, {{100, 200}, {1, 1}, {0, 1}, {0}, 0}, {{300, 306}, {1, 1}, {2, 2}, {0}, 1}};
    int kept;
    assert_true(fabs(exp(rg_process_ratio(pair, 3, &kept)) - 1.02) < 1e-9);
    assert_int_equal(kept, 2);
    assert_true(isnan(rg_process_ratio(pair + 1, 1, &kept)));
    assert_int_equal(kept, 0);
    const rg_pair held = {{100, 102}, {1, 1}, {0, 0}, {0, 1}, 0}, both = {{100, 102}, {1, 1}, {0, 0}, {1, 1}, 0};
    assert_true(!rg_pair_kept(&held) && rg_pair_kept(&both));
    const rg_pair longer = {{20e6, 21e6}, {1, 1}, {5, 7}, {0}, 0}, too_many = {{20e6, 21e6}, {1, 1}, {5, 8}, {0}, 0};
    assert_true(rg_pair_kept(&longer) && !rg_pair_kept(&too_many));
}
