// SPDX-License-Identifier: MIT
// test_align.h: for test programs of the job align: runs it and reads its transforms.
#pragma once

#include "../../../impl/jobs/align/align.h"
#include "../test_command.h"
#include "../test_data.h"

extern const rg_command rg_cmd_align;
static char printed[OUTPUT_MAX];

static inline void assert_near(double found, double expected, double within) {
    if (!(fabs(found - expected) <= within)) print_message("found %.9g, expected %.9g within %g\n", found, expected, within);
    assert_true(fabs(found - expected) <= within);
}

// Runs `regather align WORDS`; its table is t.tsv in the test's folder.
static inline int align(const char *words) {
    int code = run_command(&rg_cmd_align, fmt("align %s --quiet --threads 1 --out %s", words, in_dir("t.tsv")), printed);
    return code;
}

// Row i of t.tsv in the test's folder.
static inline rg_similarity row_of(const rg_tsv *t, int i) {
    return (rg_similarity){rg_tsv_number(t, i, "rotation_deg"), rg_tsv_number(t, i, "shift_x_px"),
        rg_tsv_number(t, i, "shift_y_px"), rg_tsv_number(t, i, "scale")};
}
