// SPDX-License-Identifier: MIT
// test_fsc.c: the description of a curve of Fourier shell correlation.
#include "../../../data/geometry/fsc.h"
#include "../../../data/phantoms/noise.h"
#include "../test.h"

enum { SIDE = 64, SHELLS = SIDE / 2 + 1 };

static void assert_words(const double *fsc, double level, const char *words) {
    char *text = rg_fsc_words(SIDE, 2, fsc, level);
    if (strcmp(text, words) != 0) printf("%s\n", text);
    assert_string_equal(text, words);
    free(text);
}

TEST(test_words) {
    double fsc[SHELLS];
    for (int s = 0; s < SHELLS; s++) fsc[s] = 0.8;
    assert_words(fsc, 0.5, "above at all shells, to 4 A"); // 128 A / 32
    for (int s = 0; s < SHELLS; s++) fsc[s] = -0.1;
    assert_words(fsc, 0.143, "below at all shells, from 128 A on");
    // Shells 1 and 2 have 18 and 62 frequencies: 0.9 -+ 0.0448 and -0.1 -+ 0.1257, on whose lines 0.5 lies at 1.329 and 1.484.
    fsc[1] = 0.9;
    assert_words(fsc, 0.5, "91.43 A (0.01094 per A, 0.01038 to 0.01159 within one standard deviation of FSC)");
    // The first shell is less than its deviation above the level, and shell 6 is an outlier, not the lower end.
    fsc[1] = 0.6;
    fsc[6] = 0.7;
    assert_words(fsc, 0.5, "112 A (0.008929 per A, below the first shell to 0.01052 within one standard deviation of FSC)");
}

// A straight line: the ends are a deviation above and below the level, from the number of the shell's frequencies.
TEST(test_deviation) {
    double fsc[SHELLS], low, high, level = 0.5;
    int64_t n = 0;
    for (int s = 0; s < SHELLS; s++) fsc[s] = 1 - s / 32.0;
    for (int z = -16; z <= 16; z++)
        for (int y = -16; y <= 16; y++)
            for (int x = -16; x <= 16; x++) n += floor(sqrt(x * x + y * y + z * z) + 0.5) == 16;
    char *text = rg_fsc_words(SIDE, 2, fsc, level);
    assert_int_equal(sscanf(text, "8 A (0.125 per A, %lf to %lf within", &low, &high), 2);
    free(text);
    const double deviation = (1 - level * level) / sqrt((double)n) * 32 / 128; // slope 1/32 a shell, a shell 1/128 per A
    assert_true(fabs(0.125 - low - deviation) < 0.1 * deviation && fabs(high - 0.125 - deviation) < 0.1 * deviation);
}

// Amplitudes and shells below stay; above, the phases are independent of the old ones.
TEST(test_randomise) {
    for (int side = 15; side <= 16; side++) {
        enum { MOST = 16 * 16 * 16 };
        static float map[MOST], changed[MOST], again[MOST];
        double fsc[9], before = 0, after = 0;
        for (int i = 0; i < side * side * side; i++) map[i] = (float)(rg_uniform(7, (uint64_t)i) - 0.5);
        rg_fsc_randomise(side, map, 4, 1, changed);
        rg_fsc_randomise(side, map, 4, 1, again);
        assert_memory_equal(changed, again, sizeof map[0] * (size_t)(side * side * side));
        rg_fsc(side, map, changed, fsc);
        for (int s = 1; s < 4; s++) assert_true(fabs(fsc[s] - 1) < 1e-5);
        for (int s = 4; s <= side / 2; s++)
            assert_true(fabs(fsc[s]) < 0.4); // 4 deviations of a shell of some 200 frequencies, half of them mates
        for (int i = 0; i < side * side * side; i++) {
            before += map[i] * map[i];
            after += changed[i] * changed[i];
        }
        assert_true(fabs(after / before - 1) < 1e-4); // Parseval
        rg_fsc_randomise(side, map, side, 1, changed);
        for (int i = 0; i < side * side * side; i++) assert_true(fabs(changed[i] - map[i]) < 1e-5);
    }
}

// Two maps with a common broad blob and independent noise: a hard mask spreads the blob's frequencies over all shells, where
// the maps then seem to agree; after the correction they do not.
TEST(test_mask) {
    enum { N = 32, ALL = N * N * N };
    static float map[2][ALL], masked[2][ALL];
    double plain[N / 2 + 1], of_mask[N / 2 + 1], random[N / 2 + 1], corrected[N / 2 + 1], mean[2] = {0};
    for (int random_phases = 0; random_phases < 2; random_phases++) {
        for (int m = 0; m < 2; m++) {
            for (int i = 0; i < ALL; i++) {
                const double x = i % N - N / 2, y = i / N % N - N / 2, z = i / N / N - N / 2;
                map[m][i] = (float)(20 * exp(-(x * x + y * y + z * z) / 50) + rg_uniform(3 + (uint64_t)m, (uint64_t)i) - 0.5);
            }
            memcpy(masked[m], map[m], sizeof map[m]);
            if (random_phases) rg_fsc_randomise(N, masked[m], 5, 11 + (uint64_t)m, masked[m]);
            for (int i = 0; i < ALL; i++)
                masked[m][i] *= abs(i % N - N / 2) < 5 && abs(i / N % N - N / 2) < 5 && abs(i / N / N - N / 2) < 5;
        }
        rg_fsc(N, masked[0], masked[1], random_phases ? random : of_mask);
    }
    rg_fsc(N, map[0], map[1], plain);
    rg_fsc_correct(N, of_mask, random, 5, corrected);
    for (int s = 0; s <= N / 2; s++) {
        if (s < 7) assert_true(corrected[s] == of_mask[s]);
        mean[0] += s < 8 ? 0 : of_mask[s] / 9;
        mean[1] += s < 8 ? 0 : corrected[s] / 9;
    }
    printf("mean beyond shell 7: masked %.3f, corrected %.3f; unmasked at shell 12 %.3f\n", mean[0], mean[1], plain[12]);
    assert_true(mean[0] > 0.5 && fabs(mean[1]) < 0.2 && fabs(plain[12]) < 0.2);
}
