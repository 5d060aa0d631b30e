// SPDX-License-Identifier: MIT
// test_fsc.c: what is said of a curve of Fourier shell correlation.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../data/geometry/fsc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, SHELLS = SIDE / 2 + 1 };

static void assert_words(const double *fsc, double level, const char *words)
{
    char *text = rg_fsc_words(SIDE, 2, fsc, level);
    if (strcmp(text, words) != 0)
        printf("%s\n", text);
    assert_string_equal(text, words);
    free(text);
}

static void test_words(void **state)
{
    (void)state;
    double fsc[SHELLS];
    for (int s = 0; s < SHELLS; s++)
        fsc[s] = 0.8;
    assert_words(fsc, 0.5, "above at all shells, to 4 A"); // 128 A / 32
    for (int s = 0; s < SHELLS; s++)
        fsc[s] = -0.1;
    assert_words(fsc, 0.143, "below at all shells, from 128 A on");
    // Shells 1 and 2 have 18 and 62 frequencies: 0.9 -+ 0.0448 and -0.1 -+ 0.1257, on whose lines 0.5 lies at 1.329 and 1.484.
    fsc[1] = 0.9;
    assert_words(fsc, 0.5, "91.43 A (0.01094 per A, 0.01038 to 0.01159 within one standard deviation of FSC)");
}

// A straight line: the ends are where it stands a deviation above and below the level, by counting the shell's frequencies.
static void test_deviation(void **state)
{
    (void)state;
    double fsc[SHELLS], low, high, level = 0.5;
    int64_t n = 0;
    for (int s = 0; s < SHELLS; s++)
        fsc[s] = 1 - s / 32.0;
    for (int z = -16; z <= 16; z++)
        for (int y = -16; y <= 16; y++)
            for (int x = -16; x <= 16; x++)
                n += floor(sqrt(x * x + y * y + z * z) + 0.5) == 16;
    char *text = rg_fsc_words(SIDE, 2, fsc, level);
    assert_int_equal(sscanf(text, "8 A (0.125 per A, %lf to %lf within", &low, &high), 2);
    free(text);
    const double deviation = (1 - level * level) / sqrt((double)n) * 32 / 128; // slope 1/32 a shell, a shell 1/128 per A
    assert_true(fabs(0.125 - low - deviation) < 0.1 * deviation && fabs(high - 0.125 - deviation) < 0.1 * deviation);
}

int main(void)
{
    const struct CMUnitTest test[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_deviation)};
    return cmocka_run_group_tests(test, NULL, NULL);
}
