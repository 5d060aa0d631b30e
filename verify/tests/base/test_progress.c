// SPDX-License-Identifier: MIT
// test_progress.c: if stderr is not a terminal, a long command prints a line every half minute, with rate and time left.
#include "../../../impl/base/core.h"
#include "../test.h"

TEST(a_line_every_half_minute) {
    char text[400] = "";
    FILE *caught = tmpfile();
    const int kept = dup(STDERR_FILENO);
    assert_non_null(caught);
    dup2(fileno(caught), STDERR_FILENO);
    rg_progress p;
    rg_progress_begin(&p, "verify", "cases", 100);
    rg_progress_at(&p, 1); // too early
    p.began_s -= 40;
    rg_progress_at(&p, 20);
    rg_progress_at(&p, 21); // too soon after the last
    p.drawn_s -= 31;
    rg_quiet = true;
    rg_progress_at(&p, 22);
    rg_quiet = false;
    rg_progress_end(&p); // nothing to erase
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(caught);
    text[fread(text, 1, sizeof text - 1, caught)] = 0;
    fclose(caught);
    assert_int_equal(strncmp(text, "regather: verify 20/100  0.5 cases/s  160 s left\n", 22), 0);
    assert_non_null(strstr(text, " s left\n"));
    assert_null(strchr(strchr(text, '\n') + 1, '\n')); // one line
    assert_null(strchr(text, 27));
}
