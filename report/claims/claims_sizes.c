// SPDX-License-Identifier: MIT
// claims_sizes.c: claims on more rows than one pair: growth with size, agreement over sizes, parameter sets, energy.
#include "../../impl/base/core.h"
#include "claims.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Time of a over time of b at one shape, or the rate of a; NaN with the reason in j->why.
static double at_shape(const rg_asked_claim *q, const char *shape, rg_judgement *j, char *text, size_t room)
{
    rg_measure a, b;
    bool single = !*q->b;
    if (!rg_pick(q->machine, q->a, shape, q->scopes, &a) || (!single && !rg_pick(q->machine, q->b, shape, q->scopes, &b))) {
        snprintf(j->why, sizeof j->why, "not both timed at %s", shape);
        return NAN;
    }
    double value = single ? rg_cell_number(a.row, RG_C_RATE) : a.median_ns / b.median_ns;
    if (single)
        rg_amount(value, a.row->cell[RG_C_RATE_UNIT], text);
    else
        snprintf(text, room, "%.3g x", value);
    rg_say_where(&a, single ? NULL : &b, j);
    return value;
}

rg_judgement rg_judge_growth(const rg_asked_claim *q)
{
    rg_judgement j = rg_untested();
    char small[96], small_text[64] = "", big_text[64] = "";
    size_t length = strcspn(q->size, ";");
    snprintf(small, sizeof small, "%.*s", (int)length, q->size);
    const char *big = q->size + length + (q->size[length] == ';');
    double s = at_shape(q, small, &j, small_text, sizeof small_text);
    double b = isnan(s) ? NAN : at_shape(q, big, &j, big_text, sizeof big_text);
    if (isnan(b))
        return j;
    j.value = b / s;
    snprintf(j.ours, sizeof j.ours, "%.3g x: %.30s at the large size, %.30s at the small", j.value, big_text, small_text);
    snprintf(j.size, sizeof j.size, "%.63s", q->size);
    rg_judge_number(q, &j);
    return j;
}

rg_judgement rg_judge_agree(const rg_asked_claim *q)
{
    rg_judgement j = rg_untested();
    double worst = -1, error = 0;
    int shapes = 0;
    for (int f = 0; f < q->machine->n_files; f++)
        for (int i = 0; i < q->machine->file[f].n_rows; i++) {
            const rg_row *row = &q->machine->file[f].row[i];
            rg_measure a, b;
            if (!rg_timed(row) || !rg_asked(row, q->a) || !rg_pick(q->machine, q->a, row->cell[RG_C_SHAPE], q->scopes, &a) ||
                !rg_pick(q->machine, q->b, row->cell[RG_C_SHAPE], q->scopes, &b) || a.row != row)
                continue;
            double sum = rg_cell_number(a.row, RG_C_ERROR) + rg_cell_number(b.row, RG_C_ERROR);
            double allowed = rg_cell_number(a.row, RG_C_TOL) + rg_cell_number(b.row, RG_C_TOL);
            shapes++;
            if (sum / allowed > worst) {
                worst = sum / allowed;
                error = sum;
                rg_say_where(&a, &b, &j);
            }
        }
    if (!shapes) {
        snprintf(j.why, sizeof j.why, "`%s` and `%s` were not both timed at any size", q->a, q->b);
        return j;
    }
    j.value = worst;
    snprintf(j.ours, sizeof j.ours, "differ by %.2g at most, %.0f %% of what rounding allows; %d sizes", error, 100 * worst,
             shapes);
    rg_judge_number(q, &j);
    return j;
}

rg_judgement rg_judge_configs(const rg_asked_claim *q)
{
    rg_judgement j = rg_untested();
    int most = 0;
    for (int f = 0; f < q->machine->n_files; f++) {
        const rg_result *file = &q->machine->file[f];
        for (int i = 0; i < file->n_rows; i++) {
            int n = 0;
            if (!rg_timed(&file->row[i]) || !rg_asked(&file->row[i], q->a))
                continue;
            for (int k = 0; k < file->n_rows; k++)
                n += rg_timed(&file->row[k]) && rg_asked(&file->row[k], q->a) &&
                     !strcmp(file->row[k].cell[RG_C_SHAPE], file->row[i].cell[RG_C_SHAPE]) &&
                     !strcmp(file->row[k].cell[RG_C_MODE], file->row[i].cell[RG_C_MODE]);
            if (n > most) {
                most = n;
                snprintf(j.size, sizeof j.size, "%.63s", file->row[i].cell[RG_C_SHAPE]);
            }
            break; // one shape a file: what `tune` writes
        }
    }
    if (!most) {
        rg_say_missing(q->machine, q->a, j.why, sizeof j.why);
        return j;
    }
    j.value = most;
    snprintf(j.ours, sizeof j.ours, "%d configurations right and timed", most);
    rg_judge_number(q, &j);
    return j;
}

// The fastest row may be of a run that did not ask for energy: then any that has joules, else any that says why there are none.
static void prefer_energy(const rg_bench_machine *m, const char *spec, rg_measure *best)
{
    const char *shape = best->row->cell[RG_C_SHAPE], *scope = best->row->cell[RG_C_SCOPE];
    for (int f = 0; f < m->n_files; f++)
        for (int i = 0; i < m->file[f].n_rows && isnan(rg_cell_number(best->row, RG_C_JOULES)); i++) {
            const rg_row *row = &m->file[f].row[i];
            if (rg_timed(row) && !strcmp(row->cell[RG_C_SHAPE], shape) && !strcmp(row->cell[RG_C_SCOPE], scope) &&
                rg_asked(row, spec) && strncmp(row->cell[RG_C_ENERGY_SOURCE], "not asked", 9))
                *best = rg_measure_of(&m->file[f], row);
        }
}

rg_judgement rg_judge_energy(const rg_asked_claim *q)
{
    rg_judgement j = rg_untested();
    rg_measure a, b;
    const char *shape = rg_common_shape(q->machine, q->a, q->b, q->size, q->scopes);
    if (!shape || !rg_pick(q->machine, q->a, shape, q->scopes, &a) || !rg_pick(q->machine, q->b, shape, q->scopes, &b)) {
        rg_say_missing(q->machine, q->a, j.why, sizeof j.why);
        return j;
    }
    prefer_energy(q->machine, q->a, &a);
    prefer_energy(q->machine, q->b, &b);
    double x = rg_cell_number(a.row, RG_C_JOULES), y = rg_cell_number(b.row, RG_C_JOULES);
    if (isnan(x) || isnan(y)) {
        const rg_row *without = isnan(x) ? a.row : b.row, *with = isnan(x) ? b.row : a.row;
        int used = snprintf(j.why, sizeof j.why, "no energy of `%s`: %.120s", without->cell[RG_C_VARIANT],
                            without->cell[RG_C_ENERGY_SOURCE]);
        if (!isnan(x) || !isnan(y))
            snprintf(j.why + used, sizeof j.why - (size_t)used, "; `%s` takes %s J a call", with->cell[RG_C_VARIANT],
                     with->cell[RG_C_JOULES]);
        return j;
    }
    j.value = x / y;
    snprintf(j.ours, sizeof j.ours, "%.3g x: %.4g J / %.4g J a call", j.value, x, y);
    rg_say_where(&a, &b, &j);
    rg_judge_number(q, &j);
    return j;
}
