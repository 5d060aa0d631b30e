// SPDX-License-Identifier: MIT
// compared.c: see compared.h. Text from the files is escaped for each format.
#include "compared.h"

#include "../../impl/base/core.h"

char *rg_pair_name(const rg_pair_of_rows *p) {
    char *const *c = (p->b ? p->b : p->a)->cell;
    return rg_print(
        "%s:%s %s %s %s %s", c[RG_C_ALGO], c[RG_C_VARIANT], c[RG_C_SHAPE], c[RG_C_PARAMS], c[RG_C_SCOPE], c[RG_C_MODE]);
}

static const char *cell(const rg_row *row, rg_column column) { return row ? row->cell[column] : ""; }

static void put_real(FILE *f, double value, char end) {
    if (isfinite(value)) fprintf(f, "%.6g", value);
    putc(end, f);
}

int rg_compared_tsv(const rg_compared *c, const char *path) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code) return code;
    FILE *f = file.stream;
    rg_tsv_print(f, "# A: %s\n# B: %s\n# compared: %s\n# gate: %g\n# summary: %s\n", c->path[0], c->path[1], c->title, c->gate,
        c->summary);
    rg_tsv_print(
        f, "verdict\talgo\tvariant\tshape\tparams_A\tparams_B\tscope\tmode\tmedian_A_ns\tmedian_B_ns\tratio\tlow\thigh\twhy\n");
    for (int i = 0; i < c->n; i++) {
        const rg_pair_of_rows *p = &c->pair[i];
        char *const *r = (p->b ? p->b : p->a)->cell;
        rg_tsv_print(f, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t", rg_change_name[p->word], r[RG_C_ALGO], r[RG_C_VARIANT],
            r[RG_C_SHAPE], cell(p->a, RG_C_PARAMS), cell(p->b, RG_C_PARAMS), r[RG_C_SCOPE], r[RG_C_MODE],
            cell(p->a, RG_C_MEDIAN), cell(p->b, RG_C_MEDIAN));
        put_real(f, p->ratio.ratio, '\t');
        put_real(f, p->ratio.low, '\t');
        put_real(f, p->ratio.high, '\t');
        rg_tsv_print(f, "%s\n", p->why);
    }
    return rg_file_commit(&file);
}

// Prints text in XML: its five special characters by name, characters invalid in XML 1.0 as '?'.
static void put_xml(FILE *f, const char *text) {
    static const char special[] = "<>&\"'";
    static const char *const name[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (; *text; text++) {
        const char *at = strchr(special, *text);
        if (at)
            fputs(name[at - special], f);
        else
            putc((unsigned char)*text < 32 || (unsigned char)*text == 127 ? '?' : *text, f);
    }
}

static bool is_failure(const rg_pair_of_rows *p) { return p->word == RG_SLOWER || p->word == RG_BROKEN; }

static bool is_missing(const rg_compared *c, const rg_pair_of_rows *p) { return p->word == RG_ONLY_A && !c->allow_missing; }

int rg_compared_junit(const rg_compared *c, const char *path) {
    rg_file file;
    int code = rg_file_open(&file, path), failures = c->count[RG_SLOWER] + c->count[RG_BROKEN], skipped = 0, errors = 0;
    if (code) return code;
    FILE *f = file.stream;
    for (int i = 0; i < c->n; i++)
        if (is_missing(c, &c->pair[i]))
            errors++;
        else
            skipped += !is_failure(&c->pair[i]) && c->pair[i].word != RG_SAME && c->pair[i].word != RG_FASTER;
    fprintf(f,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"regather compare\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
        c->n, failures, errors, skipped);
    for (int i = 0; i < c->n; i++) {
        const rg_pair_of_rows *p = &c->pair[i];
        RG_FREED char *name = rg_pair_name(p);
        RG_FREED char *ratio = isfinite(p->ratio.ratio)
            ? rg_print("%s: B / A = %.4g [%.4g, %.4g]%s%s", rg_change_name[p->word], p->ratio.ratio, p->ratio.low,
                  p->ratio.high, *p->why ? "; " : "", p->why)
            : rg_print("%s%s%s", rg_change_name[p->word], *p->why ? ": " : "", p->why);
        fputs("  <testcase classname=\"compare\" name=\"", f);
        put_xml(f, name);
        fputs("\">", f);
        if (p->word == RG_SAME || p->word == RG_FASTER) {
            fputs("<system-out>", f);
            put_xml(f, ratio);
            fputs("</system-out>", f);
        } else {
            fprintf(f, "<%s message=\"", is_failure(p) ? "failure" : is_missing(c, p) ? "error" : "skipped");
            put_xml(f, ratio);
            fputs("\"/>", f);
        }
        fputs("</testcase>\n", f);
    }
    fputs("</testsuite>\n", f);
    return rg_file_commit(&file);
}

// Prints text in a cell of a Markdown table: special characters after a backslash, control bytes as '?'.
static void put_markdown(FILE *f, const char *text) {
    for (; *text; text++) {
        if (strchr("\\`*_{}[]<>()#+!|&~@:", *text)) putc('\\', f);
        putc((unsigned char)*text < 32 || (unsigned char)*text == 127 ? '?' : *text, f);
    }
}

int rg_compared_markdown(const rg_compared *c, const char *path) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code) return code;
    FILE *f = file.stream;
    fputs("### ", f);
    put_markdown(f, c->summary);
    fputs("\n\n", f);
    put_markdown(f, c->title);
    fprintf(f, ", gate %.3g %%\n\n| verdict | measurement | A | B | B / A | 95 %% interval |\n|---|---|---|---|---|---|\n",
        100 * c->gate);
    for (int i = 0; i < c->n; i++) {
        const rg_pair_of_rows *p = &c->pair[i];
        char *name = rg_pair_name(p), time[2][32] = {"", ""};
        if (p->a) rg_duration(rg_cell_number(p->a, RG_C_MEDIAN), time[0]);
        if (p->b) rg_duration(rg_cell_number(p->b, RG_C_MEDIAN), time[1]);
        fprintf(f, is_failure(p) || is_missing(c, p) ? "| **%s** | " : "| %s | ", rg_change_name[p->word]);
        put_markdown(f, name);
        fprintf(f, " | %s | %s | ", time[0], time[1]);
        if (isfinite(p->ratio.ratio))
            fprintf(f, "%.4g | %.4g to %.4g%s", p->ratio.ratio, p->ratio.low, p->ratio.high, *p->why ? "; " : "");
        else
            fputs(" | ", f);
        put_markdown(f, p->why);
        fputs(" |\n", f);
        free(name);
    }
    return rg_file_commit(&file);
}
