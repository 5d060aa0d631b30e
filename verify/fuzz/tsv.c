// SPDX-License-Identifier: MIT
// tsv.c: any bytes as a table, which is written, read back and written again, the same.
#include "../../impl/base/tsv.h"
#include "fuzz.h"

static void put(const char *path, const rg_tsv *t) {
    FILE *f = fopen(path, "w");
    fuzz_expect(f);
    for (int i = 0; i < t->n_head; i++) rg_tsv_print(f, "%s\n", t->head[i].text);
    for (int i = -1; i < t->n_rows; i++)
        for (int c = 0; c < t->n_columns; c++)
            rg_tsv_print(f, "%s%c", i < 0 ? t->column[c] : t->cell[i * t->n_columns + c], c + 1 < t->n_columns ? '\t' : '\n');
    fuzz_expect(fclose(f) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const char *first = fuzz_out("first.tsv"), *second = fuzz_out("second.tsv");
    rg_tsv t, copy;
    int code = rg_tsv_read(fuzz_path(bytes, n), &t);
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    if (code != RG_GOOD) return 0;
    bool empty = false; // a table of one column has no line for an empty cell
    for (int i = 0; i < t.n_rows * t.n_columns; i++) {
        fuzz_expect(!strpbrk(t.cell[i], "\t\n"));
        empty |= t.n_columns == 1 && !*t.cell[i];
    }
    for (int c = 0; c < t.n_columns; c++) empty |= !*t.column[c] || *t.column[0] == '#';
    put(first, &t);
    if (!empty) {
        fuzz_expect(rg_tsv_read(first, &copy) == RG_GOOD && copy.n_rows == t.n_rows && copy.n_columns == t.n_columns);
        put(second, &copy);
        fuzz_same_files(first, second);
        rg_tsv_free(&copy);
    }
    rg_tsv_free(&t);
    return 0;
}
