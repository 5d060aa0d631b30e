// SPDX-License-Identifier: MIT
// test_listing.h: the machine code of a function of build/regather, as objdump lists it.
#pragma once

#include "test_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// vector: packed arithmetic; wide: that in registers of 32 or 64 bytes. Moves do not count: a compiler may copy the mirrored
// half of the plane two sums at a time.
typedef struct census {
    int instructions, multiplications, vector, wide;
} census;

static int is_packed_arithmetic(const char *line) {
    static const char *const part[] = {"pmul", "pmadd", "padd", "pdp", "mulp", "addp", "fmadd"};
    for (int i = 0; i < (int)(sizeof part / sizeof part[0]); i++) {
        const char *at = strstr(line, part[i]);
        if (at && !(at[strcspn(at, " \t") - 1] == 's' || at[strcspn(at, " \t") - 2] == 's')) return 1; // vfmadd231ss is scalar
    }
    return 0;
}

static census look(const char *function) {
    census c = {0};
    char command[PATH_MAX + 200], line[600];
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn --disassemble=%s '%s/regather'", function, test_build());
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!strchr(line, '\t')) continue;
        c.instructions++;
        c.multiplications += strstr(line, "imul") != NULL;
        c.vector += is_packed_arithmetic(line);
        c.wide += is_packed_arithmetic(line) && (strstr(line, "%ymm") || strstr(line, "%zmm"));
    }
    assert_int_equal(pclose(f), 0);
    return c;
}

static void need_objdump(void) {
#ifndef __x86_64__
    print_message("reads x86-64 only\n");
    skip();
#endif
    if (system("objdump --version > /dev/null 2>&1") == 0) return;
    print_message("no objdump here: install binutils\n");
    skip();
}
