// SPDX-License-Identifier: MIT
// duels.c: how often `regather duel` was right about kernels of known slowness: the tables of verify/duels.sh, NAME.duels.tsv.
#include "../../impl/suite.h"
#include "content.h"

void rg_write_duels(const rg_report *r, rg_page *p)
{
    static const char *const column[] = {"Machine", "Device", "Kernel", "Planted", "Gate", "Busy loops beside it", "Duels",
        "SAME", "FASTER", "SLOWER", "UNSURE", "Other", "Median time", "Required", "Met"};
    static const char *const of_table[] = {"device", "kernel", "planted_percent", "gate", "busy", "duels", "SAME", "FASTER",
        "SLOWER", "UNSURE", "other", "median_s", "required", "met"};
    bool begun = false;
    for (int m = 0; m < r->ledger.n_machines; m++) {
        const rg_tsv *t = rg_table_of(rg_rows_on(&r->ledger, m), "duels");
        for (int i = 0; t && i < t->n_rows; i++) {
            const char *cell[RG_COUNT(column)] = {rg_machine_name(&r->ledger.machine[m], "this machine")};
            for (int c = 0; c < RG_COUNT(of_table); c++) cell[c + 1] = rg_tsv_cell(t, i, of_table[c]);
            char planted[24], time[24];
            snprintf(planted, sizeof planted, "%.10s %%", cell[3]);
            snprintf(time, sizeof time, "%.10s s", cell[12]);
            cell[3] = planted;
            cell[12] = time;
            if (!begun) {
                p->make->heading(p, 3, NULL, "Duels of known outcome");
                p->make->table(p,
                    "`verify/duels.sh`: duels of a kernel with itself, and with itself slowed down by a calibrated loop, while "
                    "other processes want the same cores.",
                    "nnnrrrrrrrrrrln", column, RG_COUNT(column));
            }
            begun = true;
            p->make->row(p, cell, RG_COUNT(column));
        }
    }
    if (begun) p->make->table_end(p);
}
