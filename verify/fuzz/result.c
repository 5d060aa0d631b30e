// SPDX-License-Identifier: MIT
// result.c: any bytes as a result file, whose rows are written, read back and written again, the same.
#include "../../data/formats/result.h"
#include "fuzz.h"

// Written in the present format, whatever the old one was.
static void put(const char *path, const rg_result *r) {
    FILE *f = rg_result_open(path, "w");
    fuzz_expect(f);
    for (int i = 0; i < r->n_head; i++)
        if (!strcmp(r->head_key[i], "format")) *r->head_value[i] = *RG_RESULT_FORMAT;
    if (rg_result_format(r) == 1) rg_tsv_print(f, "# format: %s\n", RG_RESULT_FORMAT);
    rg_result_write_head(f, r->n_head, r->head_key, r->head_value);
    for (int i = 0; i < r->n_rows; i++) rg_result_write_row(f, &r->row[i]);
    fuzz_expect(!ferror(f) && fclose(f) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const char *first = fuzz_out("first.tsv"), *second = fuzz_out("second.tsv");
    rg_result result = {0}, copy;
    bool cut;
    int code = rg_result_read(fuzz_path(bytes, n), &result, &cut);
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    if (code != RG_GOOD) return 0;
    for (int i = 0; i < result.n_rows; i++) {
        RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(&result.row[i]);
        fuzz_expect(samples.n >= 0);
    }
    put(first, &result);
    fuzz_expect(rg_result_read(first, &copy, &cut) == RG_GOOD && !cut && copy.n_rows == result.n_rows);
    put(second, &copy);
    fuzz_same_files(first, second);
    rg_result_free(&copy);
    rg_result_free(&result);
    return 0;
}
