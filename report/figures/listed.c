// SPDX-License-Identifier: MIT
// listed.c: a row of plots/figures.tsv for one machine, and the files of its figure.
#include "figures.h"

#include "../../impl/base/core.h"

const char *rg_listed_cell(const rg_listed *l, const char *column) { return rg_tsv_cell(&l->all->list, l->row, column); }

rg_rows rg_listed_rows(const rg_listed *l) { return rg_rows_on(l->all->ledger, l->machine); }

int rg_copy_to_fig(const rg_listed *l, const char *from, const char *name) {
    RG_FREED char *path = rg_print("fig/%s", name);
    return rg_copy_beside(l->all->out, from, path);
}

int rg_copy_beside(const char *out, const char *from, const char *name) {
    RG_FREED char *to = rg_print("%s/%s", out, name);
    rg_file file;
    int code = rg_file_open(&file, to);
    if (code == RG_GOOD) code = rg_file_end(&file, rg_file_append(file.stream, from));
    return code;
}
