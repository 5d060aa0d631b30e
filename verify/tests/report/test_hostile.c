// SPDX-License-Identifier: MIT
// test_hostile.c: what a file is called and what stands in it is data for every command: nothing of it runs, speaks to the terminal,
// or becomes markup of what is written.
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_command.h"
#include "../test_program.h"

static void assert_nothing_ran(const char *what)
{
    if (access(in_dir("ran"), F_OK) == 0) fail_msg("something ran: %s", what);
}

static void assert_no_control(const char *file)
{
    size_t n = 0;
    char *text = get_file(in_dir(file), &n);
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)text[i] < 32 && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
            fail_msg("%s: a control byte %d in: %.200s", file, text[i], text);
    free(text);
}

static void assert_lacks(const char *file, const char *words)
{
    char *text = file_text(in_dir(file));
    if (strstr(text, words)) fail_msg("%s has %s", file, words);
    free(text);
}

// One name with all that means something to a shell, to gnuplot, to printf or to markup, and a first character that does.
TEST(test_names)
{
    static const char *const name[] = {"a 'b\" $(touch ran)`touch ran`;touch ran|touch ran&%s%n<b>@RUN#\\", "|touch ran"};
    assert_int_equal(
        sh("regather phantom particles --out p --box 16 --images 4 --quiet && regather phantom coarsening --out c --width 32 "
           "--height 32 --time 1 --frames 1 --quiet"),
        0);
    for (int i = 0; i < RG_COUNT(name); i++) {
        FILE *f = fopen(in_dir("name"), "w");
        fputs(name[i], f);
        fclose(f);
        // The shell reads the name from a file, as one word.
        const int code =
            sh("n=./$(cat name); b=$(cat name); mkdir -p -- \"$n\" && cp p/* \"$n\" && cp c/*.png \"$n/$b.png\" && "
               "regather fsc \"$n/map.mrc\" p/map.mrc --out \"$n/f.tsv\" --quiet > out && "
               "regather reconstruct \"$n/particles.star\" --out \"$n/$b.mrc\" --device cpu --quiet >> out && "
               "regather autocorr \"$n/$b.png\" --max-offset 8 --device cpu --out \"$n/ac\" --quiet >> out && "
               "regather refine \"$n/absent.star\" --reference \"$n\" --out \"$n/r.star\" --quiet; test $? = 2 && "
               "head -n 3 \"$n/f.tsv\" > head && cat \"$n\"/*.svg \"$n\"/ac/*.svg > all.svg");
        if (code) print_message("%s\n", name[i]);
        assert_int_equal(code, 0);
        assert_nothing_ran(name[i]);
        assert_no_control("out");
        assert_no_control("said");
        assert_lacks("all.svg", "<b>");
        // The command in the head is one that sh reads as the words that were typed.
        assert_int_equal(
            sh("c=$(sed -n 's/^# command: regather fsc //p' head); eval \"set -- $c\"; test \"$1\" = \"./$(cat name)/map.mrc\""),
            0);
        assert_nothing_ran(name[i]);
    }
    static const char *const refused[] = {"a\\nb", "a\\tb", "\\033[2J", "a\\rb"};
    for (int i = 0; i < RG_COUNT(refused); i++) {
        assert_int_equal(sh("n=$(printf '%sx'); regather fsc p/map.mrc p/map.mrc --out \"$n.tsv\"", refused[i]), RG_USAGE);
        assert_said("expected words without control bytes");
        assert_no_control("said");
    }
}

// A result file that somebody sends.
TEST(test_contents)
{
    static const char bad[] = "<script>`touch ran`$(touch ran)'\x1b]0;x\x07\x1b[2J|\"";
    for (int i = 0; i < 2; i++) {
        rg_row row = test_row("simd", "kernel", 20, 1000 + i);
        test_set(&row, RG_C_VARIANT, bad);
        test_set(&row, RG_C_DETAIL, bad);
        test_write(in_dir(i ? "b.tsv" : "a.tsv"), "regather 0.1", "0123456789abcdef", &row, 1);
    }
    const int code = sh("regather compare a.tsv b.tsv --markdown c.md --junit c.xml --out c.tsv > out");
    assert_true(code <= 3);
    sh("regather export a.tsv --format gbench > out.json; regather report a.tsv --out page --quiet > out2; cat page/*.html > all.html 2> /dev/null");
    assert_nothing_ran("contents");
    assert_no_control("out");
    assert_no_control("out2");
    assert_no_control("out.json");
    assert_no_control("said");
    for (int i = 0; i < 2; i++) // written when the files were believed
        if (access(in_dir(i ? "c.md" : "c.xml"), F_OK) == 0) {
            assert_no_control(i ? "c.md" : "c.xml");
            assert_lacks(i ? "c.md" : "c.xml", i ? " <script" : "<script");
        }
    assert_lacks("all.html", "<script>`");
    // Of particles: a name that is none.
    const char star[] = "data_\nloop_\n_rlnImageName\n_rlnAngleRot\n_rlnAngleTilt\n_rlnAnglePsi\n1@$(touch\x1b[2J.mrcs 1 2 3\n";
    put_file("s.star", star, sizeof star - 1);
    assert_int_equal(sh("regather reconstruct s.star --out m.mrc --quiet"), RG_USAGE);
    assert_no_control("said");
    assert_said("\\x1b[2J");
    assert_nothing_ran("a STAR file");
}

// A plug-in is code, and says so.
TEST(test_plugin)
{
    assert_int_equal(
        sh("for so in \"${REGATHER%%/*}\"/broken/*.so; do :; done; test -e \"$so\" || exit 77; regather list --plugin \"$so\" > out"),
        0);
    assert_said("a plug-in is code, which runs with your rights");
}

TESTS(test_dir_make, test_dir_remove)
