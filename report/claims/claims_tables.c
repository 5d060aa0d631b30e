// SPDX-License-Identifier: MIT
// claims_tables.c: claims on the small tables that jobs leave: stages, scaling, FSC (report.h, rg_machine_table).
#include "../../impl/base/core.h"
#include "claims.h"
#include <math.h>
#include <string.h>

static int row_of(const rg_tsv *t, const char *key, const char *value)
{
    for (int i = 0; i < t->n_rows; i++)
        if (!strcmp(rg_tsv_cell(t, i, key), value))
            return i;
    return -1;
}

double rg_table_cell(const rg_bench_machine *m, const char *spec, char *why, size_t room)
{
    char table[48] = "", key[80] = "", column[48] = "";
    if (sscanf(spec, "%47s %79s %47s", table, key, column) != 3 || !strchr(key, '=')) {
        snprintf(why, room, "claims.tsv: expected TABLE key=value COLUMN, found \"%s\"", spec);
        return NAN;
    }
    const rg_tsv *t = rg_machine_table(m, table);
    if (!t) {
        snprintf(why, room, "no table `%s` among the files of this machine: not measured", table);
        return NAN;
    }
    char *value = strchr(key, '=');
    *value++ = 0;
    int row = row_of(t, key, value);
    double number = row < 0 ? NAN : rg_tsv_number(t, row, column);
    if (isnan(number))
        snprintf(why, room, "table `%s` has no number %s where %s is %s", table, column, key, value);
    return number;
}

rg_judgement rg_judge_cell(const rg_asked_claim *q)
{
    rg_judgement j = rg_untested();
    double a = rg_table_cell(q->machine, q->a, j.why, sizeof j.why), b = 1;
    if (!isnan(a) && *q->b)
        b = rg_table_cell(q->machine, q->b, j.why, sizeof j.why);
    if (isnan(a) || isnan(b))
        return j;
    j.value = a / b;
    if (*q->b) {
        char ratio[32];
        rg_print_ratio(j.value, ratio);
        snprintf(j.ours, sizeof j.ours, "%s x (%.4g / %.4g)", ratio, a, b);
    } else {
        snprintf(j.ours, sizeof j.ours, "%.4g %.40s", a, q->unit);
    }
    snprintf(j.scope, sizeof j.scope, "job");
    rg_judge_number(q, &j);
    return j;
}

rg_judgement rg_judge_least(const rg_asked_claim *q)
{
    rg_judgement j = rg_untested();
    char table[48] = "", column[48] = "";
    const rg_tsv *t = sscanf(q->a, "%47s %47s", table, column) == 2 ? rg_machine_table(q->machine, table) : NULL;
    double least = INFINITY;
    for (int i = 0; t && i < t->n_rows; i++)
        least = fmin(least, rg_tsv_number(t, i, column)); // passes over what is no number
    if (isinf(least)) {
        snprintf(j.why, sizeof j.why, "no table `%s` with numbers %s among the files of this machine: not measured", table,
                 column);
        return j;
    }
    j.value = least;
    snprintf(j.ours, sizeof j.ours, "%.7g at least, in %d rows", least, t->n_rows);
    snprintf(j.scope, sizeof j.scope, "job");
    rg_judge_number(q, &j);
    return j;
}

// Frequency at which the curve first falls below one half, between two shells; the last one when it never does.
static double crossing(const rg_tsv *t)
{
    double last = NAN, before = NAN, frequency = NAN;
    for (int i = 0; i < t->n_rows; i++) {
        double fsc = rg_tsv_number(t, i, "fsc"), at = rg_tsv_number(t, i, "frequency");
        if (isnan(fsc) || isnan(at))
            continue;
        if (fsc < 0.5 && !isnan(before))
            return last + (at - last) * (before - 0.5) / (before - fsc);
        before = fsc;
        last = frequency = at;
    }
    return frequency;
}

rg_judgement rg_judge_crossing(const rg_asked_claim *q)
{
    rg_judgement j = rg_untested();
    const rg_tsv *a = rg_machine_table(q->machine, q->a), *b = rg_machine_table(q->machine, q->b);
    if (!a || !b) {
        snprintf(j.why, sizeof j.why, "no table `%s` among the files of this machine: not measured", a ? q->b : q->a);
        return j;
    }
    double fa = crossing(a), fb = crossing(b);
    j.value = fa / fb;
    snprintf(j.ours, sizeof j.ours, "FSC = 0.5 at %.4g and %.4g", fa, fb);
    snprintf(j.scope, sizeof j.scope, "job");
    rg_judge_number(q, &j);
    return j;
}
