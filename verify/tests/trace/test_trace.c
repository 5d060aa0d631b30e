// SPDX-License-Identifier: MIT
// test_trace.c: what `regather trace` says of kernels that are right and of those that are wrong on purpose.
#include "../../trace/trace.h"
#include "../../../impl/gridding/kernel.h"
#include "../../../report/page/content.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../test.h"
#include "../test_build.h"
#include "../test_command.h"

extern const rg_command rg_cmd_trace;
static char output[OUTPUT_MAX], *folder;
static const char *built; // its folder broken/ has the plug-ins

FIXTURE(set_up)
{
    built = test_build();
    folder = test_folder();
    return folder ? 0 : -1;
}

FIXTURE(tear_down)
{
    const int code = system(fmt("rm -r %s", folder));
    free(folder);
    return code;
}

__attribute__((format(printf, 1, 2))) static int trace(const char *format, ...)
{
    char words[2048] = "trace ";
    va_list list;
    va_start(list, format);
    vsnprintf(words + 6, sizeof words - 6, format, list);
    va_end(list);
    return run_command(&rg_cmd_trace, words, output);
}

// A kernel of verify/broken/, whose plug-in is loaded once, with more words after it.
static int trace_broken(const char *algo, const char *plugin, const char *name, const char *more)
{
    char *variant = rg_print("%s.so:%s", plugin, name), *load = rg_print(" --plugin %s/broken/%s.so", built, plugin);
    for (int i = 0; i < rg_entry_count(); i++)
        if (strcmp(rg_entry_at(i)->name, variant) == 0) load[0] = 0;
    const int code = trace("%s:%s%s %s", algo, variant, load, more);
    free(variant);
    free(load);
    return code;
}

static rg_tsv table(const char *name)
{
    rg_tsv t;
    assert_int_equal(rg_tsv_read(fmt("%s/%s.tsv", folder, name), &t), RG_GOOD);
    return t;
}

static int rows_with(const rg_tsv *t, const char *column, const char *text)
{
    int n = 0;
    for (int i = 0; i < t->n_rows; i++) n += strcmp(rg_tsv_cell(t, i, column), text) == 0;
    return n;
}

// A table of more rows than that, which all have this verdict.
static void assert_all(const char *name, int rows, const char *verdict)
{
    rg_tsv t = table(name);
    assert_true(t.n_rows > rows);
    assert_int_equal(rows_with(&t, "verdict", verdict), t.n_rows);
    rg_tsv_free(&t);
}

// ---- right kernels -------------------------------------------------------------------------------------------------------

TEST(right_kernels_are_right)
{
    static const char *const right[] = {"gridding:naive_scatter", "gridding:naive_gather", "gridding:simd_scatter",
        "gridding:simd_gather", "autocorr:naive", "autocorr:fftw", "autocorr_printed:naive"};
    for (int i = 0; i < RG_COUNT(right); i++) {
        assert_int_equal(trace("%s --out %s", right[i], folder), RG_GOOD);
        assert_non_null(strstr(output, "inputs: right ("));
        assert_all(strchr(right[i], ':') + 1, 500, "right");
    }
}

// The pixel at the centre stands on the voxel at the centre, whatever the direction: weights are those of the kernel, by hand.
TEST(weights_are_those_of_the_kernel)
{
    assert_int_equal(trace("gridding:naive_gather --params table=0 --input i=0,x=0,y=0 --out %s", folder), RG_GOOD);
    rg_tsv t = table("naive_gather");
    int found = 0;
    for (int i = 0; i < t.n_rows; i++) {
        int x, y, z;
        assert_int_equal(sscanf(rg_tsv_cell(&t, i, "output_at"), "x=%d,y=%d,z=%d", &x, &y, &z), 3);
        assert_string_equal(rg_tsv_cell(&t, i, "input_at"), "i=0,x=0,y=0,re"); // it has no imaginary part
        const double w = gr_kernel_exact((x * x + y * y + z * z) / (1.9 * 1.9));
        assert_true(fabs(rg_tsv_number(&t, i, "weight") - w) < 1e-6);
        found += w > 0;
    }
    assert_int_equal(found, t.n_rows);
    // G.re and W of the 27 voxels nearest to it, of which those with x >= 0 are stored: |v|^2 <= 3 < 3.61
    assert_int_equal(found, 2 * 18);
    rg_tsv_free(&t);
}

// A sum of a dark photograph but for one pixel of 1 is the other's pixel that meets it, which says where it stands.
TEST(autocorr_shows_the_pixel_that_is_met)
{
    assert_int_equal(trace("autocorr:naive --input x=2,y=1 --output X0=1,Y0=-1 --out %s", folder), RG_GOOD);
    rg_tsv t = table("naive");
    assert_int_equal(t.n_rows, 1);
    assert_string_equal(rg_tsv_cell(&t, 0, "input"), "11"); // 1 * 9 + 2
    assert_string_equal(rg_tsv_cell(&t, 0, "output_at"), "X0=1,Y0=-1");
    assert_true(rg_tsv_number(&t, 0, "weight") == 1 + (1 + 41 * 2 + 11) % 251);
    rg_tsv_free(&t);
    // The reverse: all pixels of a that reach the offset (4, 0) have a partner four columns to the left.
    assert_int_equal(trace("autocorr:naive --output X0=4,Y0=0 --out %s", folder), RG_GOOD);
    t = table("naive");
    assert_int_equal(t.n_rows, (9 - 4) * 7);
    rg_tsv_free(&t);
}

// ---- wrong kernels -------------------------------------------------------------------------------------------------------

TEST(broken_gridding_gets_its_word)
{
    static const struct {
        const char *name, *word, *common;
    } broken[] = {
        {"gridding_border_clipped", "missing", ""},
        {"gridding_centre", "misplaced", "most inputs stand where those at y-1 should"},
        {"gridding_corners", "misplaced", ""},
        {"gridding_ctf_once", "weight", "in W, the sign is turned"},
        {"gridding_edge_open", "missing", "output x=5"},
        {"gridding_lost_update", "missing", ""},
        {"gridding_mates_doubled", "doubled", "input x=0"},
        {"gridding_mates_missing", "missing", "output x=0"},
        {"gridding_not_conjugated", "weight", "input im, output im, in G, the sign of most is turned"},
        {"gridding_right", "right", ""},
        {"gridding_table_truncated", "weight", ""},
        {"gridding_transposed", "misplaced", ""},
        {"gridding_window_short", "missing", ""},
    };
    for (int i = 0; i < RG_COUNT(broken); i++) {
        char *out = rg_print("--out %s", folder), *word = rg_print("inputs: %s (", broken[i].word);
        const bool right = strcmp(broken[i].word, "right") == 0;
        assert_int_equal(trace_broken("gridding", "gridding", broken[i].name, out), right ? RG_GOOD : RG_WRONG);
        assert_non_null(strstr(output, word));
        assert_true((strstr(output, "first: image(i=0,") != NULL) == !right);
        char *common = rg_print("in common: %s\n", broken[i].common);
        assert_true(broken[i].common[0] ? strstr(output, common) != NULL : strstr(output, "in common") == NULL);
        rg_tsv t = table(broken[i].name);
        assert_true(rows_with(&t, "verdict", broken[i].word) > 0);
        rg_tsv_free(&t);
        free(out);
        free(word);
        free(common);
    }
}

// The faults of one kernel, row by row: only voxels of the plane x = 0, and only those that a mate should have reached.
TEST(rows_say_where)
{
    assert_int_equal(trace_broken("gridding", "gridding", "gridding_edge_open", fmt("--out %s", folder)), RG_WRONG);
    rg_tsv t = table("gridding_edge_open");
    int missing = 0, at_edge = 0;
    for (int i = 0; i < t.n_rows; i++) {
        const bool edge = strncmp(rg_tsv_cell(&t, i, "output_at"), "x=5,", 4) == 0;
        const double weight = rg_tsv_number(&t, i, "weight"), expected = rg_tsv_number(&t, i, "expected");
        if (strcmp(rg_tsv_cell(&t, i, "verdict"), "missing") == 0) {
            assert_true(edge && weight == 0 && fabs(expected) > 1e-5);
            missing++;
        } else {
            assert_true(fabs(weight - expected) < 1e-3 * fabs(expected) + 1e-4);
        }
        at_edge += edge && fabs(expected) > 1e-3;
    }
    assert_true(missing >= at_edge && at_edge > 50);
    rg_tsv_free(&t);
}

// Where what is misplaced belongs, and where no pair is right when faults have nothing in common.
TEST(the_wrong_index_is_said)
{
    trace_broken("autocorr", "autocorr_sums", "transposed", "");
    assert_non_null(
        strstr(output, "-> sums(X0=-3,Y0=-4): weight 139, expected 179: misplaced; that is right for (X0=-4,Y0=-3)\n"));
    trace_broken("autocorr", "autocorr_sums", "off_by_one", "");
    assert_non_null(strstr(output, "; that is right for (X0=-3,Y0=-4)\n"));
    trace_broken("autocorr", "autocorr_sums", "half_plane", "");
    assert_null(strstr(output, "that is right for"));
    char *out = rg_print("--out %s", folder), *svg = rg_print("%s/gridding_corners.svg", folder);
    trace_broken("gridding", "gridding", "gridding_corners", out);
    assert_non_null(strstr(output, "    no pair is right at: output z=-5\n"));
    if (access(svg, R_OK) == 0) { // drawn where there is gnuplot
        char *drawn = file_text(svg);
        assert_non_null(strstr(drawn, "No pair is right at: output z=-5"));
        free(drawn);
    }
    free(out);
    free(svg);
}

TEST(broken_autocorr_gets_its_word)
{
    static const struct {
        const char *name, *word;
    } broken[] = {{"null", "missing"}, {"transposed", "misplaced"}, {"sign", "misplaced"}, {"last_row", "missing"},
        {"off_by_one", "misplaced"}, {"right", "right"}};
    for (int i = 0; i < RG_COUNT(broken); i++) {
        trace_broken("autocorr", "autocorr_sums", broken[i].name, "");
        assert_non_null(strstr(output, fmt("inputs: %s (", broken[i].word)));
    }
}

// What no output tells: a kernel that dies, one that edits its inputs, one that writes past the end, a race.
TEST(other_faults_are_named)
{
    assert_int_equal(trace_broken("autocorr", "autocorr_process", "segfault", ""), RG_WRONG);
    assert_non_null(strstr(output, "CRASH: input none on, run 1: SIGSEGV"));
    // Nor does the table say that it is right, or a picture of an earlier run stay beside it.
    assert_int_equal(system(fmt("cd %s && touch autocorr_process-segfault.svg autocorr_process-segfault.png", folder)), 0);
    assert_int_equal(trace_broken("autocorr", "autocorr_process", "segfault", fmt("--out %s", folder)), RG_WRONG);
    assert_int_equal(
        system(fmt(
            "cd %s && grep -qx '# verdict: not all were run' autocorr_process-segfault.tsv && "
            "grep -q '^# run: CRASH: .*SIGSEGV' autocorr_process-segfault.tsv && ! test -e autocorr_process-segfault.svg && ! test -e autocorr_process-segfault.png",
            folder)),
        0);
    assert_int_equal(trace_broken("autocorr", "autocorr_memory", "edited_input", ""), RG_WRONG);
    assert_non_null(strstr(output, "was written"));
    assert_int_equal(trace_broken("autocorr", "autocorr_memory", "past_end", ""), RG_WRONG);
    assert_non_null(strstr(output, "past the end"));
#ifndef __SANITIZE_ADDRESS__ // then the emulator does not look
    assert_int_equal(trace("gridding:gridding_gpu.so:gridding_no_atomics --device host --plugin "
                           "%s/broken/host/gridding_gpu.so",
                         built),
        RG_WRONG);
    assert_non_null(strstr(output, "race: "));
#endif
}

static int nothing(rg_call *call)
{
    (void)call;
    return RG_OK;
}
static const rg_variant never = {RG_VARIANT_OF("gridding", "never", RG_OTHER, RG_HOST, "writes nothing"), .run = nothing};

// Poison of reals is no number: not where 0 is right either.
TEST(what_was_never_written_is_nowhere_right)
{
    assert_int_equal(rg_table_add(&never, RG_PLUGGED_IN, false, "never.so"), RG_GOOD);
    assert_int_equal(trace("gridding:never.so:never --input i=0,x=1,y=1 --real-space --out %s", folder), RG_WRONG);
    assert_non_null(strstr(output, ": weight not a number, expected "));
    assert_non_null(strstr(output, "the object's map has values that are not a number"));
    assert_all("never.points", 100, "missing");
}

// Of two algorithms each has variants of that name.
TEST(several_algorithms_in_one_folder)
{
    assert_int_equal(trace("autocorr:naive sigma2:naive --out %s", folder), RG_GOOD);
    rg_tsv t = table("autocorr-naive");
    rg_tsv_free(&t);
    t = table("sigma2-naive");
    rg_tsv_free(&t);
}

// ---- cases, maps, usage --------------------------------------------------------------------------------------------------

TEST(cases_are_stepped_through)
{
    assert_int_equal(trace("gridding:simd_gather --cases --out %s", folder), RG_GOOD);
    rg_tsv t = table("simd_gather.cases");
    assert_int_equal(rows_with(&t, "case", "refused"), 3); // sides 4, 6 and 8
    assert_int_equal(rows_with(&t, "case", "tilted plane"), 3);
    for (int i = 0; i < t.n_rows; i++) {
        const bool refused = strcmp(rg_tsv_cell(&t, i, "case"), "refused") == 0;
        const bool empty = strcmp(rg_tsv_cell(&t, i, "case"), "pixels beyond the circle") == 0;
        assert_true((rg_tsv_number(&t, i, "right") > 100) == (!refused && !empty));
        assert_true(!refused || strstr(rg_tsv_cell(&t, i, "reason"), "odd"));
    }
    rg_tsv_free(&t);
    // A fault of the plane x = 0 is one of its row only, where the plane is tilted or seen from the side.
    assert_int_equal(trace_broken("gridding", "gridding", "gridding_mates_missing", fmt("--cases --out %s", folder)), RG_WRONG);
    t = table("gridding_mates_missing.cases");
    for (int i = 0; i < t.n_rows; i++) {
        if (strcmp(rg_tsv_cell(&t, i, "case"), "voxels of the plane x = 0") == 0)
            assert_true(rg_tsv_number(&t, i, "missing") > 100);
        if (strcmp(rg_tsv_cell(&t, i, "case"), "pixel at the centre") == 0) assert_true(rg_tsv_number(&t, i, "missing") == 0);
    }
    rg_tsv_free(&t);
    assert_int_equal(trace("autocorr:simd --cases"), RG_GOOD);
}

static double map_difference(const char *name)
{
    trace_broken("gridding", "gridding", name, fmt("--input i=0,x=1,y=1 --real-space --out %s", folder));
    const char *line = strstr(output, "the object's map differs by ");
    assert_non_null(line);
    return strtod(line + strlen("the object's map differs by "), NULL);
}

TEST(the_object_shows_the_fault)
{
    assert_true(map_difference("gridding_right") < 0.01);
    assert_true(map_difference("gridding_transposed") > 10);
    assert_true(map_difference("gridding_ctf_once") > 10);
}

TEST(usage)
{
    assert_int_equal(trace("%s", ""), RG_USAGE);
    assert_int_equal(trace("nothing"), RG_USAGE);
    assert_int_equal(trace("gridding:naive_gather --shape s8,i1,o1,b19,k1"), RG_USAGE);
    assert_int_equal(trace("gridding:naive_gather --input x"), RG_USAGE);
    assert_int_equal(trace("gridding:naive_gather --input x=99"), RG_USAGE);
    assert_int_equal(trace("gridding:naive_gather --output q=0"), RG_USAGE);
    assert_int_equal(trace("gridding:naive_gather --real-space"), RG_USAGE);
    assert_int_equal(trace("autocorr:naive --real-space --out %s", folder), RG_USAGE);
    assert_int_equal(trace("gridding:naive_gather --cases --input x=0"), RG_USAGE);
    assert_int_equal(trace("gridding:naive_gather --shape s257,i20,o1,b19,k1"), RG_USAGE); // 140 GB of answers
}

// ---- the gallery ---------------------------------------------------------------------------------------------------------

TEST(the_gallery_shows_what_trace_left)
{
    // A command of 600 letters and more stands in the head that is read.
    char *out = rg_print("--input i=%0600d --out %s/traces", 0, folder), *traces = rg_print("%s/traces", folder);
    char *fig = rg_print("%s/fig", folder);
    char *text = NULL;
    size_t size;
    assert_int_equal(trace_broken("gridding", "gridding", "gridding_edge_open", out), RG_WRONG);
    assert_int_equal(rg_make_folder(fig), RG_GOOD);
    const rg_report r = {.out = folder, .traces = traces};
    rg_page page = {.out = open_memstream(&text, &size), .make = &rg_markdown};
    assert_int_equal(rg_copy_gallery(&r), RG_GOOD);
    rg_write_gallery(&r, &page);
    fclose(page.out);
    assert_non_null(strstr(text, "Said to be missing: "));
    assert_non_null(strstr(text, "the last column of voxels is never reached"));
    assert_non_null(strstr(text, "All faults have in common: output x=5."));
    char *gnuplot = rg_program_path("gnuplot"), *png = rg_print("%s/trace_gridding_edge_open.png", fig);
    assert_true(!gnuplot == !!access(png, R_OK));
    assert_true(!gnuplot == !strstr(text, "](./fig/trace_gridding_edge_open.svg)"));
    free(gnuplot);
    free(png);
    free(text);
    free(out);
    free(traces);
    free(fig);
}

TESTS(set_up, tear_down)
