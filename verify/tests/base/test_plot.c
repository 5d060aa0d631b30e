// SPDX-License-Identifier: MIT
// test_plot.c: the inputs of a figure reach gnuplot unchanged, and only as text, numbers and file names.
#define OWN_MAIN
#include "../../../impl/base/plot.h"
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_data.h"

FIXTURE(in_folder) {
    return test_dir_make(state) || chdir(test_dir); // relative names, and files that a command would leave
}

FIXTURE(out_of_folder) { return chdir("/") || test_dir_remove(state); }

static bool here(const char *name) { return access(name, F_OK) == 0; }

// Runs a script of these commands; text receives what it wrote to OUT.
static int run(const rg_plot *p, const char *commands, const char *out, char text[4096]) {
    put_text(in_dir("script.gp"), commands);
    int code = rg_plot_run(p, "script.gp", out, NULL);
    FILE *f = code == RG_GOOD ? fopen(out, "r") : NULL;
    text[f ? fread(text, 1, 4095, f) : 0] = 0;
    if (f) fclose(f);
    return code;
}

static const char *const hostile[] = {"`touch ran`", "$(touch ran)", "';system('touch ran');a='",
    "\";system(\"touch ran\");a=\"", "|touch ran", "<touch ran", "@RUN", "a\nsystem(\"touch ran\")\n", "back\\slash\\",
    "{/:Bold #%d}", "''", "-", ""};

TEST(test_texts_come_as_they_are) {
    char text[4096], *all = rg_print("%s", "");
    RG_ENDS(rg_plot_free) rg_plot p = {0};
    rg_plot_text(&p, "RUN", "system('touch ran')");
    rg_plot_texts(&p, "TEXTS", RG_COUNT(hostile), hostile);
    for (int i = 0; i < RG_COUNT(hostile); i++) {
        char *more = rg_print("%s%s\n", all, hostile[i]);
        free(all);
        all = more;
    }
    for (char *c = strstr(all, "a\nsystem"); c && *c && c < strstr(all, "back"); c++) // a control byte is a blank
        *c = *c == '\n' && c + 1 < strstr(all, "back") ? ' ' : *c;
    assert_int_equal(run(&p, "set print OUT\ndo for [i = 1 : |TEXTS|] { print TEXTS[i] }\n", "text.svg", text), RG_GOOD);
    assert_string_equal(text, all);
    assert_false(here("ran"));
    free(all);
}

TEST(test_numbers) {
    char text[4096];
    RG_ENDS(rg_plot_free) rg_plot p = {0};
    rg_plot_number(&p, "A", 0.1);
    rg_plot_number(&p, "B", NAN);
    rg_plot_numbers(&p, "C", 3, (const double[]){1, INFINITY, -2.5e-3});
    static const char commands[] = "set print OUT\nprint TERM, A == 0.1, B == B, |C|, C[1] + C[3], C[2] == C[2]\n";
    assert_int_equal(run(&p, commands, "n.svg", text), RG_GOOD);
    assert_string_equal(text, "svg 1 0 3 0.9975 0\n");
}

// Data and pictures with names that gnuplot would run as commands.
TEST(test_paths_are_files) {
    char text[4096];
    static const char *const name[] = {"<touch ran", "|touch ran", "-", "+", "$ran", "~", "a 'b' `c`"};
    for (int i = 0; i < RG_COUNT(name); i++) {
        RG_ENDS(rg_plot_free) rg_plot p = {0};
        put_file(name[i], "1 2\n", 4);
        rg_plot_path(&p, "DATA", name[i]);
        assert_int_equal(run(&p, "stats DATA nooutput\nset print OUT\nprint STATS_max_y\n", "d.svg", text), RG_GOOD);
        assert_string_equal(text, "2.0\n");
        assert_int_equal(run(&p, "set terminal svg\nset output OUT\nplot DATA\n", fmt("%s.svg", name[i]), text), RG_GOOD);
        assert_non_null(strstr(text, "<svg"));
        assert_false(here("ran") || here("ran.svg"));
    }
}

// The tests above can fail: an unescaped name does become a command.
TEST(test_of_the_test) {
    char text[4096];
    RG_ENDS(rg_plot_free) rg_plot p = {0};
    rg_plot_text(&p, "DATA", "<touch ran; echo 1 2");
    assert_int_equal(run(&p, "set terminal svg\nset output OUT\nplot DATA\n", "t.svg", text), RG_GOOD);
    assert_true(here("ran"));
    assert_int_equal(unlink("ran"), 0);
}

TEST(test_failure_leaves_nothing) {
    char text[4096];
    rg_plot p = {0};
    assert_int_equal(run(&p, "set terminal svg\nset output OUT\nplot 1, ,\n", "bad.svg", text), RG_WRONG);
    assert_false(here("bad.svg"));
    // A truncated picture, as on a full disk, for which gnuplot's exit code is 0.
    static const char *const cut[] = {"set terminal svg\nset output OUT\nplot 1\nunset output\nsystem('truncate -s -9 '.OUT)\n",
        "set terminal png\nset output OUT\nplot 1\nunset output\nsystem('truncate -s -9 '.OUT)\n"};
    for (int i = 0; i < RG_COUNT(cut); i++) assert_int_equal(run(&p, cut[i], i ? "bad.png" : "bad.svg", text), RG_WRONG);
    assert_false(here("bad.svg") || here("bad.png"));
    catch_stderr();
    assert_int_equal(rg_plot_draw(&p, "absent.gp", "bad.svg"), RG_GOOD);
    assert_non_null(strstr(caught(), "warning: bad.svg: not drawn: gnuplot failed on"));
    RG_FREED char *path = rg_print("%s", getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(run(&p, "plot 1\n", "bad.svg", text), RG_LACKS);
    catch_stderr();
    int code = rg_plot_draw(&p, "fsc.gp", "bad.svg");
    assert_non_null(strstr(caught(), "bad.svg: not drawn: no gnuplot here"));
    assert_int_equal(code, RG_GOOD);
    setenv("PATH", path, 1);
}

// Poses that do not change, as for one subtomogram against itself: a logarithmic axis has no 0.
TEST(test_no_change) {
    static const char table[] = "iteration\tmedian_turn_deg\tmedian_move_px\tmean_correlation\n1\t0\t0\t1\n";
    rg_plot p = {0};
    put_text(in_dir("still.tsv"), table);
    rg_plot_path(&p, "DATA", "still.tsv");
    assert_int_equal(rg_plot_draw(&p, "average.gp", "still.svg"), RG_GOOD);
    assert_true(here("still.svg"));
}

int main(void) {
    char *gnuplot = rg_program_path("gnuplot");
    if (!gnuplot) {
        print_message("skipped: no gnuplot here\n");
        return 0;
    }
    free(gnuplot);
    return RUN_TESTS(in_folder, out_of_folder);
}
