// SPDX-License-Identifier: MIT
// write.c: writes the files of the report.
#include "page.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

static int write_template(const rg_report *r, const char *name, const char *template, rg_data *d) {
    RG_FREED char *path = rg_print("%s/%s", r->out, name);
    return rg_fill_file(path, template, d);
}

// Writes every claim on every machine.
static int write_ledger(const rg_report *r) {
    const rg_ledger *l = &r->ledger;
    RG_FREED char *path = rg_print("%s/ledger.tsv", r->out);
    rg_file file;
    const int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    fputs("machine\tid\tpaper\taddition\tverdict\tpublished\tunit\tours\tlow\thigh\tsize\tscope\tfails\tdecided\tnote\n",
        file.stream);
    for (int m = 0; m < l->n_machines; m++)
        for (int i = 0; i < l->claims.claim.n_rows; i++) {
            const rg_judgement *v = rg_verdict_on(l, i, m);
            const double value[3] = {v->value, v->low, v->high};
            char number[3][32] = {"", "", ""}, why[RG_SAY];
            rg_say_why(&l->claims, i, v, why);
            for (int k = 0; k < 3; k++)
                if (isfinite(value[k])) snprintf(number[k], sizeof number[k], "%.6g", value[k]);
            const char *cell[] = {rg_machine_name(&l->machine[m], "this"), rg_claim_cell(&l->claims, i, "id"),
                rg_claim_cell(&l->claims, i, "paper"), rg_is_addition(&l->claims, i) ? "yes" : "no",
                rg_outcome_name[v->outcome], rg_published(&l->claims, i, "value"), rg_published(&l->claims, i, "unit"),
                number[0], number[1], number[2], v->size, v->scope, rg_claim_cell(&l->claims, i, "fails"), why,
                rg_claim_cell(&l->claims, i, "note")};
            for (int c = 0; c < RG_COUNT(cell); c++) {
                rg_tsv_print(file.stream, "%s", *cell[c] ? cell[c] : "-");
                fputc(c + 1 < RG_COUNT(cell) ? '\t' : '\n', file.stream);
            }
        }
    return rg_file_commit(&file);
}

int rg_write_pages(const rg_report *r) {
    rg_data *index = rg_data_new();
    int code = rg_lay_index(r, index);
    if (code == RG_GOOD) code = write_template(r, "index.html", "index.html", index);
    if (code == RG_GOOD) code = write_template(r, "REPORT.md", "report.md", index);
    rg_data_free(index);
    if (code == RG_GOOD) code = write_ledger(r);
    for (int m = 0; code == RG_GOOD && m < r->ledger.n_machines; m++) {
        char name[32];
        rg_data *d = rg_data_new();
        snprintf(name, sizeof name, "machine-%d.html", m);
        rg_lay_machine(r, m, d);
        code = write_template(r, name, "machine.html", d);
        rg_data_free(d);
    }
    return code;
}
