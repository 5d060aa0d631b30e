// SPDX-License-Identifier: MIT
// test_trace.c: trace's weights against their definition, outputs never written, and the gallery of a report;
// verify/cases/trace.tsv has right and wrong kernels.
#include "../../trace/trace.h"
#include "../../../impl/gridding/kernel.h"
#include "../../../report/page/page.h"
#include "../test.h"
#include "../test_build.h"
#include "../test_command.h"

extern const rg_command rg_cmd_trace;
static char output[OUTPUT_MAX], *folder;

FIXTURE(set_up) { return (folder = test_folder()) ? 0 : -1; }

FIXTURE(tear_down) { return test_folder_remove(folder); }

__attribute__((format(printf, 1, 2))) static int trace(const char *format, ...) {
    char words[2048] = "trace ";
    RG_FORMAT(words + 6, sizeof words - 6, format);
    return run_command(&rg_cmd_trace, words, output);
}

static rg_tsv table(const char *name) {
    rg_tsv t;
    assert_int_equal(rg_tsv_read(fmt("%s/%s.tsv", folder, name), &t), RG_GOOD);
    return t;
}

// The central pixel is at the central voxel for any direction: weights are those of the kernel, by hand.
TEST(weights_are_those_of_the_kernel) {
    assert_int_equal(trace("gridding:naive_gather --params table=0 --input i=0,x=0,y=0 --out %s", folder), RG_GOOD);
    RG_ENDS(rg_tsv_free) rg_tsv t = table("naive_gather");
    int found = 0;
    for (int i = 0; i < t.n_rows; i++) {
        int x, y, z;
        assert_int_equal(sscanf(rg_tsv_cell(&t, i, "output_at"), "x=%d,y=%d,z=%d", &x, &y, &z), 3);
        assert_string_equal(rg_tsv_cell(&t, i, "input_at"), "i=0,x=0,y=0,re"); // without imaginary part
        const double w = gr_kernel_exact((x * x + y * y + z * z) / (1.9 * 1.9));
        assert_true(fabs(rg_tsv_number(&t, i, "weight") - w) < 1e-6);
        found += w > 0;
    }
    assert_int_equal(found, t.n_rows);
    // G.re and W of the 27 nearest voxels, those stored with x >= 0: |v|^2 <= 3 < 3.61
    assert_int_equal(found, 2 * 18);
}

static int nothing(rg_call *call) {
    (void)call;
    return RG_OK;
}
static const rg_variant never = {RG_VARIANT_OF("gridding", "never", RG_OTHER, RG_HOST, "writes nothing"), .run = nothing};

// Poison of reals is NaN: wrong even where 0 is expected.
TEST(what_was_never_written_is_nowhere_right) {
    assert_int_equal(rg_table_add(&never, RG_PLUGGED_IN, false, "never.so"), RG_GOOD);
    assert_int_equal(trace("gridding:never.so:never --input i=0,x=1,y=1 --real-space --out %s", folder), RG_WRONG);
    assert_non_null(strstr(output, ": weight not a number, expected "));
    assert_non_null(strstr(output, "the object's map has values that are not a number"));
    RG_ENDS(rg_tsv_free) rg_tsv t = table("never.points");
    assert_true(t.n_rows > 100);
    for (int i = 0; i < t.n_rows; i++) assert_string_equal(rg_tsv_cell(&t, i, "verdict"), "missing");
}

TEST(the_gallery_shows_what_trace_left) {
    RG_FREED // The header has a command of more than 600 letters.
        char *traces = rg_print("%s/traces", folder);
    RG_FREED char *fig = rg_print("%s/fig", folder);
    RG_FREED char *text = NULL;
    size_t size;
    assert_int_equal(trace("gridding:gridding.so:gridding_edge_open --plugin %s/broken/gridding.so --input i=%0600d --out %s",
                         test_build(), 0, traces),
        RG_WRONG);
    assert_int_equal(rg_make_folder(fig), RG_GOOD);
    const rg_report r = {.out = folder, .traces = traces};
    rg_data *page = rg_data_new();
    FILE *to = open_memstream(&text, &size);
    assert_int_equal(rg_lay_gallery(&r, page), RG_GOOD);
    assert_int_equal(rg_fill(to, "index.html", page), RG_GOOD);
    fclose(to);
    rg_data_free(page);
    assert_non_null(strstr(text, "Said to be missing: "));
    assert_non_null(strstr(text, "the last column of voxels is never reached"));
    assert_non_null(strstr(text, "All faults have in common: output x=5."));
    RG_FREED char *gnuplot = rg_program_path("gnuplot"), *png = rg_print("%s/trace_gridding_edge_open.png", fig);
    assert_true(!gnuplot == !!access(png, R_OK));
    assert_true(!gnuplot == !strstr(text, "src=\"./fig/trace_gridding_edge_open.svg\""));
}

TESTS(set_up, tear_down)
