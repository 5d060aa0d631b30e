// SPDX-License-Identifier: MIT
// test_dry_run.c: --dry-run of every job writes nothing and names the files that the job then writes; the log beside them says with
// which command, from what, and notices another input.
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_command.h"
#include "../test_data.h"

#include <dirent.h>
#include <sys/stat.h>

extern const rg_command rg_cmd_phantom, rg_cmd_align, rg_cmd_average, rg_cmd_autocorr, rg_cmd_reconstruct, rg_cmd_search,
    rg_cmd_refine, rg_cmd_fsc;
static char printed[OUTPUT_MAX];

static int entries(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

// Whether the text has the line "WORD<tab>PATH<tab>...".
static bool has_row(const char *text, const char *word, const char *path)
{
    const bool found = strstr(text, fmt("%s\t%s\t", word, path));
    return found;
}

static int count(const char *text, const char *begin)
{
    int n = strncmp(text, begin, strlen(begin)) == 0;
    for (const char *at = text; (at = strchr(at, '\n'));) n += strncmp(++at, begin, strlen(begin)) == 0;
    return n;
}

static void run(const rg_command *command, const char *words)
{
    assert_int_equal(run_command(command, words, printed), RG_GOOD);
}

// `words` without --out; `log` is the log's name in the test's folder.
static void compare(const rg_command *command, const char *words, const char *out, const char *log)
{
    char *line = rg_print("%s --quiet --out %s", words, in_dir(out)), *dry = rg_print("%s --dry-run", line), *plan;
    const int before = entries(test_dir);
    run(command, dry);
    plan = rg_print("%s", printed);
    assert_int_equal(entries(test_dir), before);
    assert_non_null(strstr(plan, "memory"));
    assert_non_null(strstr(plan, "GiB are free; "));
    assert_non_null(strstr(plan, "\ntime of "));
    run(command, line);
    char *text = file_text(in_dir(log));
    assert_int_equal(strncmp(text, "# log of regather\n# command: regather ", 38), 0);
    assert_true(has_row(plan, "file", in_dir(log)));
    assert_int_equal(count(text, "written\t") + 1, count(plan, "file\t"));
    for (char *at = strstr(text, "\nwritten\t"); at; at = strstr(at, "\nwritten\t")) {
        at += strlen("\nwritten\t");
        char *path = rg_print("%.*s", (int)strcspn(at, "\t"), at);
        if (!has_row(plan, "file", path)) print_message("%s was written, and --dry-run has not said so:\n%s", path, plan);
        assert_true(has_row(plan, "file", path));
        free(path);
    }
    run(command, dry);
    assert_non_null(strstr(printed, "\treplaced"));
    free(text);
    free(plan);
    free(dry);
    free(line);
}

TEST(make)
{
    unsetenv("REGATHER_PAGE"); // the page is one of the files
    char *words[] = {
        rg_print("phantom tilt --quiet --width 64 --images 3 --snr 20 --shift 3 --rotation 1 --out %s", in_dir("tilt")),
        rg_print("phantom subtomograms --quiet --box 24 --images 3 --out %s", in_dir("sub")),
        rg_print("phantom coarsening --quiet --model B --time 200 --width 96 --height 96 --frames 2 --format pgm --out %s",
            in_dir("photo")),
        rg_print("phantom particles --quiet --box 32 --images 6 --ctf --shape d7 --out %s", in_dir("part"))};
    for (int i = 0; i < RG_COUNT(words); i++) {
        run(&rg_cmd_phantom, words[i]);
        free(words[i]);
    }
}

TEST(test_phantoms)
{
    compare(&rg_cmd_phantom, "phantom tilt --width 32 --images 2", "pt", "pt/regather.log");
    compare(&rg_cmd_phantom, "phantom subtomograms --box 16 --images 2", "ps", "ps/regather.log");
    compare(
        &rg_cmd_phantom, "phantom coarsening --model B --time 10 --width 32 --height 32 --frames 2", "pc", "pc/regather.log");
    compare(&rg_cmd_phantom, "phantom particles --box 16 --images 2", "pp", "pp/regather.log");
}

TEST(test_align)
{
    compare(&rg_cmd_align,
        fmt("align %s --rotation 2 --scale 1:1 --shift 5 --no-fine --truth %s --aligned %s --xf %s", in_dir("tilt/series.mrc"),
            in_dir("tilt/truth.tsv"), in_dir("al.mrc"), in_dir("al.xf")),
        "a.tsv", "a.tsv.log");
}

TEST(test_average)
{
    compare(&rg_cmd_average,
        fmt("average %s %s --no-fine --iterations 1 --step 60 --half-maps", in_dir("sub/subtomogram_0001.mrc"),
            in_dir("sub/subtomogram_0002.mrc")),
        "avg.mrc", "avg.mrc.log");
}

TEST(test_reconstruct)
{
    compare(&rg_cmd_reconstruct, fmt("reconstruct %s --half-maps --ctf --device cpu", in_dir("part/particles.star")), "r.mrc",
        "r.mrc.log");
    compare(&rg_cmd_reconstruct,
        fmt("reconstruct %s --method frealign --half-maps --device cpu", in_dir("part/particles.star")), "f.mrc", "f.mrc.log");
}

TEST(test_refine)
{
    compare(&rg_cmd_refine,
        fmt("refine %s --reference %s --device cpu --max-evaluations 10", in_dir("part/particles.star"),
            in_dir("part/map.mrc")),
        "n.star", "n.star.log");
    compare(&rg_cmd_search,
        fmt("search %s --reference %s --device cpu --angle 45 --best 1 --sym D7", in_dir("part/particles.star"),
            in_dir("part/map.mrc")),
        "s.star", "s.star.log");
}

// Its memory is the maps'.
TEST(test_fsc) { compare(&rg_cmd_fsc, fmt("fsc %s %s", in_dir("r.mrc"), in_dir("f.mrc")), "f.tsv", "f.tsv.log"); }

TEST(test_autocorr)
{
    const int before = entries(test_dir);
    compare(&rg_cmd_autocorr,
        fmt("autocorr %s %s --max-offset 40 --norm centred", in_dir("photo/coarsening_0001.pgm"),
            in_dir("photo/coarsening_0002.pgm")),
        "results", "results/regather.log");
    assert_int_equal(entries(test_dir), before + 1);
}

// Without the line that says how long its hashes took.
static char *log_of(const char *path)
{
    char *text = file_text(path), *line = strstr(text, "# hashed: ");
    assert_non_null(line);
    char *after = strchr(line, '\n') + 1;
    memmove(line, after, strlen(after) + 1);
    return text;
}

// The same job gives the same log; another input, another hash in its row alone; a file that is no log stays.
TEST(test_log)
{
    char *words = rg_print("fsc %s %s --quiet --no-page --out %s", in_dir("r.mrc"), in_dir("f.mrc"), in_dir("l.tsv"));
    run(&rg_cmd_fsc, words);
    char *first = log_of(in_dir("l.tsv.log"));
    run(&rg_cmd_fsc, words);
    char *same = log_of(in_dir("l.tsv.log"));
    assert_string_equal(first, same);
    FILE *f = fopen(in_dir("f.mrc"), "r+b");
    fseek(f, -2, SEEK_END);
    fputc(1, f);
    fclose(f);
    run(&rg_cmd_fsc, words);
    char *other = log_of(in_dir("l.tsv.log"));
    assert_string_not_equal(first, other);
    const char *r[2] = {strstr(first, "r.mrc\t"), strstr(other, "r.mrc\t")},
               *m[2] = {strstr(first, "f.mrc\t"), strstr(other, "f.mrc\t")};
    assert_memory_equal(r[0], r[1], strcspn(r[0], "\n"));
    assert_memory_not_equal(m[0], m[1], strcspn(m[0], "\n"));
    put_file("l.tsv.log", "mine\n", 5);
    catch_stderr();
    run(&rg_cmd_fsc, words);
    assert_non_null(strstr(caught(), "is there and no log of regather"));
    char *kept = file_text(in_dir("l.tsv.log"));
    assert_string_equal(kept, "mine\n");
    free(first);
    free(same);
    free(other);
    free(kept);
    free(words);
}

TESTS(test_dir_make, test_dir_remove)
