// SPDX-License-Identifier: MIT
// test_figures.c: names, heads and cells of files are data in every figure: no command runs, and the figure is drawn.
#include "../../../data/geometry/volume.h"
#include "../../../impl/runtime/table.h"
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_command.h"
#include "../test_data.h"

#include <dirent.h>

extern const rg_command rg_cmd_report;

static char output[OUTPUT_MAX];

// Every way in which gnuplot or a shell would take a text for a command; each leaves a file that begins with "ran".
#define HOSTILE "`touch ran1` $(touch ran2) ';system('touch ran3');a=' \";system(\"touch ran4\");a=\" @a \\"

#define OUT "|touch ran11 '`touch ran12`'"

static bool any_ran(void)
{
    struct dirent *e;
    DIR *folder = opendir(".");
    bool any = false;
    while ((e = readdir(folder))) any |= !strncmp(e->d_name, "ran", 3);
    closedir(folder);
    return any;
}

// Times of one image against the offset, of variants with such names, on a machine with such a name.
static void put_results(const char *path)
{
    static const char *const variant[] = {
        "gather", "`touch${IFS}ran5`", "<touch", "$(touch${IFS}ran6)", "|touch", "system('touch')", HOSTILE, "two words"};
    char *const head[2][2] = {{"suite", "regather 0.1"}, {"machine", HOSTILE}};
    rg_row row[3 * RG_COUNT(variant)];
    int n = 0;
    for (int v = 0; v < RG_COUNT(variant); v++)
        for (int r = 8; r <= 32; r *= 2, n++) {
            row[n] = test_row(variant[v], v ? "device" : "pageable", 9, 1000.0 * r * (v + 1));
            char shape[64];
            snprintf(shape, sizeof shape, "w64,h64,r%d,k0", r);
            test_set(&row[n], RG_C_SHAPE, shape);
            test_set(&row[n], RG_C_SPACE, v ? "host" : "device");
            test_set(&row[n], RG_C_FRACTION, "0.5");
            test_set(&row[n], RG_C_BOUND, HOSTILE);
        }
    test_write_under(path, 2, head, row, n);
}

TEST(test_hostile_names)
{
    char *gnuplot = rg_program_path("gnuplot");
    if (!gnuplot) skip();
    free(gnuplot);
    assert_int_equal(chdir(test_dir), 0);
    put_results("<touch ran7");
    put_text("<touch ran8", "stage\tbusy_s\nregion `touch ran9`\t1\n$(touch ran9)\t2\nread\t1\nwhole\t3\n");
    put_text("'$(touch ran10)'.tsv", "stage\tbusy_s\nregion\t1\nwhole\t2\n");
    float voxel[512];
    for (int i = 0; i < 512; i++) voxel[i] = (float)(i % 64);
    assert_int_equal(rg_volume_write("<touch ran14", &(rg_volume){8, 1, voxel}), RG_GOOD);
    assert_int_equal(mkdir("none", 0777), 0);
    char *argv[] = {"report", "<touch ran7", "--out", OUT, "--machines", "none", "--quiet", "--table", "s9=<touch ran8",
        "--table", "s11_1='$(touch ran10)'.tsv", "--table", "s11_2='$(touch ran10)'.tsv", "--table",
        "s11_4='$(touch ran10)'.tsv", "--table", "';system('touch ran13')#=<touch ran8", "--map", "clean=<touch ran14", "--map",
        "clean.truth=<touch ran14", NULL};
    assert_int_equal(run_argv(&rg_cmd_report, argv, output), RG_GOOD);
    assert_false(any_ran());
    static const char *const drawn[] = {"fig6", "fig9", "roofline", "gridding_stages", "gridding_scaling", "map_clean"};
    static const char *const ending[] = {".svg", "-narrow.svg", ".gp"};
    for (int i = 0; i < RG_COUNT(drawn) * RG_COUNT(ending); i++) {
        char *path = rg_print(OUT "/fig/%s%s", drawn[i / RG_COUNT(ending)], ending[i % RG_COUNT(ending)]);
        if (access(path, R_OK)) fail_msg("%s: not there", path);
        free(path);
    }
    // Drawn again by hand, with its title: the words that would be commands are words still.
    assert_int_equal(chdir(OUT "/fig"), 0);
    for (int i = 0; i < RG_COUNT(drawn); i++) {
        char *command = rg_print("gnuplot %s.gp", drawn[i]), *png = rg_print("%s.png", drawn[i]);
        assert_int_equal(system(command), 0);
        assert_int_equal(access(png, R_OK), 0);
        assert_false(any_ran());
        free(command);
        free(png);
    }
    assert_int_equal(chdir("../.."), 0);
    size_t length;
    char *text = get_file(OUT "/REPORT.md", &length);
    assert_non_null(strstr(text, "correlation 1.0000 with the truth")); // of a map with itself
    free(text);
    assert_false(any_ran());
    assert_int_equal(chdir("/"), 0);
}

// No script of plots/ can make a command of a text: the words that do so do not occur, but in comments.
TEST(test_scripts_make_no_commands)
{
    static const char *const word[] = {"eval", "system", "`", "@", "\"<", "'<", "\"|", "'|", "ARG"};
    char *folder = rg_share_path("plots");
    DIR *open = opendir(folder);
    int scripts = 0;
    for (struct dirent *e; (e = readdir(open));) {
        size_t n;
        if (!strstr(e->d_name, ".gp")) continue;
        char *path = rg_print("%s/%s", folder, e->d_name), *text = get_file(path, &n);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            for (int i = 0; *line != '#' && i < RG_COUNT(word); i++)
                if (strstr(line, word[i])) fail_msg("%s: has \"%s\": %s", e->d_name, word[i], line);
        scripts++;
        free(text);
        free(path);
    }
    closedir(open);
    free(folder);
    assert_true(scripts > 25);
}

// A script that calls a variant or an algorithm by its name would have to be changed with it: names stand in figures.tsv, variants.tsv.
TEST(test_scripts_name_no_variant)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char *folder = rg_share_path("plots");
    DIR *open = opendir(folder);
    int words = 0;
    for (struct dirent *e; (e = readdir(open));) {
        size_t n;
        if (!strstr(e->d_name, ".gp")) continue;
        char *path = rg_print("%s/%s", folder, e->d_name), *text = get_file(path, &n);
        for (char *line = text, *end; *line; line = end) {
            end = line + strcspn(line, "\n");
            end += *end != 0;
            for (char *at = line; *line != '#' && at < end; at += strcspn(at, letters), words++) {
                const size_t length = strspn(at, letters);
                for (int i = 0; length && i < rg_entry_count(); i++) {
                    const rg_entry *v = rg_entry_at(i);
                    if ((strlen(v->name) == length && !strncmp(v->name, at, length)) ||
                        (strlen(v->algo->name) == length && !strncmp(v->algo->name, at, length)))
                        fail_msg("%s names %s: %.*s", e->d_name, v->name, (int)(end - line), line);
                }
                at += length;
            }
        }
        free(text);
        free(path);
    }
    closedir(open);
    free(folder);
    assert_true(words > 1000);
}

// A map of a name that no figure has would be left out in silence.
TEST(test_unknown_maps)
{
    char *argv[] = {"report", "none.tsv", "--machines", ".", "--map", "cleen.truth=m.mrc", "--no-figures", "--quiet", "--out",
        "page", NULL};
    assert_int_equal(run_argv(&rg_cmd_report, argv, output), RG_USAGE);
    assert_int_equal(access("page/index.html", F_OK), -1);
}

// Joules are asked of one row of a variant; the fastest, with other parameters, may have none.
TEST(test_energy_of_slower_rows)
{
    static const char *const variant[] = {"scatter", "scatter_v2", "gather", "owned"};
    char *gnuplot = rg_program_path("gnuplot");
    if (!gnuplot) skip();
    free(gnuplot);
    assert_int_equal(chdir(test_dir), 0);
    char *const head[1][2] = {{"suite", "regather 0.1"}};
    rg_row row[2 * RG_COUNT(variant)];
    for (int i = 0; i < RG_COUNT(row); i++) {
        row[i] = test_row(variant[i / 2], "kernel", 9, i % 2 ? 2000 : 1000);
        test_set(&row[i], RG_C_ALGO, "gridding");
        test_set(&row[i], RG_C_SHAPE, "s257,i52,o1,b19,k0");
        test_set(&row[i], RG_C_PARAMS, i % 2 ? "TILE_SIZE=4" : "TILE_SIZE=8");
        test_set(&row[i], RG_C_JOULES, i % 2 ? "0.5" : "");
    }
    test_write_under("energy.tsv", 1, head, row, RG_COUNT(row));
    if (access("none", F_OK)) assert_int_equal(mkdir("none", 0777), 0);
    char *argv[] = {"report", "energy.tsv", "--machines", "none", "--out", "energy", "--quiet", NULL};
    assert_int_equal(run_argv(&rg_cmd_report, argv, output), RG_GOOD);
    char *points = file_text("energy/fig/gridding_energy.tsv");
    for (int v = 0; v < RG_COUNT(variant); v++) assert_non_null(strstr(points, variant[v]));
    free(points);
    assert_int_equal(chdir("/"), 0);
}

TESTS(test_dir_make, test_dir_remove)
