// SPDX-License-Identifier: MIT
// test_naive_scalar.c: naive and ordered are scalar code, as the compiler in use has made them. The baseline of every speed-up
// would otherwise depend on the mood of an optimiser. Reads the disassembly of this very program, which holds both.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// vector counts packed arithmetic. Moves do not matter: a compiler may copy the mirrored half of the plane two sums at a time.
typedef struct census {
    int instructions, multiplications, vector;
} census;

static int is_packed_arithmetic(const char *line)
{
    static const char *const part[] = {"pmul", "pmadd", "padd", "pdp", "mulp", "addp", "fmadd"};
    for (int i = 0; i < (int)(sizeof part / sizeof part[0]); i++)
        if (strstr(line, part[i])) return 1;
    return 0;
}

static census look(const char *function)
{
    census c = {0};
    char command[300], line[600], self[200];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = 0;
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn --disassemble=%s '%s'", function, self);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!strchr(line, '\t')) continue;
        c.instructions++;
        c.multiplications += strstr(line, "imul") != NULL;
        c.vector += is_packed_arithmetic(line);
    }
    assert_int_equal(pclose(f), 0);
    return c;
}

static void need_objdump(void)
{
#ifndef __x86_64__
    print_message("reads x86-64 only\n");
    skip();
#endif
    if (system("objdump --version > /dev/null 2>&1") == 0) return;
    print_message("no objdump here: install binutils\n");
    skip();
}

static void plain_c_is_scalar(void **state)
{
    (void)state;
    need_objdump();
    const char *function[] = {"naive_run", "ordered_run"};
    for (int i = 0; i < 2; i++) {
        census c = look(function[i]);
        assert_true(c.instructions > 20);
        assert_true(c.multiplications >= 2); // of 8-bit and of 16-bit pixels
        assert_int_equal(c.vector, 0);
    }
}

// The same look does see vector code where there is some.
static void vector_code_is_seen(void **state)
{
    (void)state;
    need_objdump();
    assert_true(look("avx2_narrow6").vector > 6); // at least one for each of its six offsets, whatever the options
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_c_is_scalar), cmocka_unit_test(vector_code_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
