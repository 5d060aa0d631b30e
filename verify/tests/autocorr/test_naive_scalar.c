// SPDX-License-Identifier: MIT
// test_naive_scalar.c: naive and ordered are scalar code with the present compiler; else the baseline of every speed-up would
// depend on its optimiser. Reads the disassembly of build/regather.
#include "../test.h"

#include "../test_listing.h"

TEST(plain_c_is_scalar) {
    need_objdump();
    const char *function[] = {"naive_run", "ordered_run"};
    for (int i = 0; i < 2; i++) {
        census c = look(function[i]);
        assert_true(c.instructions > 20);
        assert_true(c.multiplications >= 2); // for 8-bit and for 16-bit pixels
        assert_int_equal(c.vector, 0);
    }
}

// The same test does find vector code.
TEST(vector_code_is_seen) {
    need_objdump();
    assert_true(look("avx2_narrow6").vector > 6); // at least one for each of its six offsets, whatever the options
}
