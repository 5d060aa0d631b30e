// SPDX-License-Identifier: MIT
// report.c: the command `regather report`: result files in, one page and one Markdown file out, and the claims on the terminal.
#include "report.h"
#include "../bench/compare/believe.h"
#include "../data/formats/tables.h"
#include "../impl/base/options.h"
#include "../impl/base/tsv.h"
#include "../impl/suite.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static rg_result *new_file(rg_bench_machine *m)
{
    m->file = rg_more(m->file, m->n_files, sizeof *m->file);
    return &m->file[m->n_files];
}

static struct rg_named_table *new_table(rg_bench_machine *m, const char *name, int length)
{
    m->table = rg_more(m->table, m->n_tables, sizeof *m->table);
    m->table[m->n_tables] = (struct rg_named_table){0};
    snprintf(m->table[m->n_tables].name, sizeof m->table->name, "%.*s", length, name);
    return &m->table[m->n_tables];
}

static bool is_tables(const char *path) { return strstr(path, ".tables.tsv") != NULL; }

// All tables of a record's file, under their own names.
static int add_tables(rg_bench_machine *m, const char *path)
{
    rg_tables tables;
    int code = rg_tables_read(path, &tables);
    for (int i = 0; code == RG_GOOD && i < tables.n; i++) {
        const char *name = tables.table[i].name, *text = tables.table[i].text;
        rg_tsv t;
        char *where = rg_print("%s, table %s", path, name);
        code = rg_tsv_parse(where, text, strlen(text), &t);
        free(where);
        if (code == RG_GOOD && !strcmp(name, "verify")) { // rows of the checker, not a job's
            code = rg_verify_of(&t, new_file(m));
            m->n_files += code == RG_GOOD;
            rg_tsv_free(&t);
        } else if (code == RG_GOOD) {
            struct rg_named_table *table = new_table(m, name, (int)strlen(name));
            table->tsv = t;
            table->stale = rg_table_is_stale(text);
            m->n_stale_tables += table->stale;
            m->n_tables++;
        }
    }
    rg_tables_free(&tables);
    return code;
}

typedef enum { ANY, RESULT, VERIFY, TABLE } kind; // ANY: a result file when it has its columns, else a table

// One file to the machine; a table gets the name.
static int add(rg_bench_machine *m, const char *path, kind what, const char *name, int length)
{
    rg_tsv t;
    bool cut = false;
    if (what == ANY && is_tables(path)) return add_tables(m, path);
    int code = what == TABLE ? rg_tsv_read(path, &t) : rg_tsv_read_cut(path, &t, &cut);
    if (code != RG_GOOD) return code;
    if (cut) rg_warn("%s: the last row is not whole and is left out", path);
    const bool result = t.n_columns > RG_C_SPACE && !strcmp(t.column[RG_C_SPACE], rg_column_name[RG_C_SPACE]);
    if (what == TABLE || (what == ANY && !result)) {
        new_table(m, name, length)->tsv = t;
        m->n_tables++;
        return RG_GOOD;
    }
    code = what == VERIFY ? rg_verify_of(&t, new_file(m)) : rg_result_of(&t, new_file(m));
    m->n_files += code == RG_GOOD;
    if (code == RG_GOOD && what != VERIFY) code = rg_believe(&m->file[m->n_files - 1]);
    rg_tsv_free(&t);
    return code;
}

const char *rg_machine_name(const rg_bench_machine *m, const char *here) { return m->here ? here : m->label; }

const rg_tsv *rg_machine_table(const rg_bench_machine *m, const char *name)
{
    for (int i = 0; i < m->n_tables; i++)
        if (!strcmp(m->table[i].name, name) && (!m->table[i].stale || m->shows_stale)) return &m->table[i].tsv;
    return NULL;
}

static rg_bench_machine *new_machine(rg_report *r, bool here)
{
    r->machine = rg_more(r->machine, r->n_machines, sizeof *r->machine);
    r->machine[r->n_machines] = (rg_bench_machine){.here = here};
    return &r->machine[r->n_machines++];
}

// "h200.tsv", "h200.verify.tsv" and the table "h200.stages.tsv" are one machine, h200.
static void set_label(rg_bench_machine *m, const char *name)
{
    snprintf(m->label, sizeof m->label, "%.*s", (int)strcspn(name, "."), name);
}

static bool same_file(const char *a, const char *b)
{
    struct stat of[2];
    return stat(a, &of[0]) == 0 && stat(b, &of[1]) == 0 && of[0].st_dev == of[1].st_dev && of[0].st_ino == of[1].st_ino;
}

static int add_reference(rg_report *r, const char *folder, const char *name)
{
    rg_bench_machine named, *m = NULL;
    set_label(&named, name);
    for (int i = 0; i < r->n_machines; i++)
        if (!r->machine[i].here && !strcmp(r->machine[i].label, named.label)) m = &r->machine[i];
    if (!m) {
        m = new_machine(r, false);
        set_label(m, name);
    }
    char *path = rg_print("%s/%s", folder, name);
    const char *rest = name + strcspn(name, ".") + 1;
    int code = RG_GOOD;
    if (m->n_files == 0 || !same_file(path, m->file[0].path)) // not the one that was named
        code = add(m, path, rg_ends_with(name, ".verify.tsv") ? VERIFY : ANY, rest, (int)strlen(rest) - (int)strlen(".tsv"));
    free(path);
    return code;
}

static int is_tsv(const struct dirent *entry) { return entry->d_name[0] != '.' && rg_ends_with(entry->d_name, ".tsv"); }

static int add_references(rg_report *r, const char *folder)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_tsv, alphasort);
    int code = n < 0 ? rg_fail(RG_USAGE, "--machines: %s: cannot be read: %s", folder, strerror(errno)) : RG_GOOD;
    for (int i = 0; i < n; i++) {
        if (code == RG_GOOD) code = add_reference(r, folder, entry[i]->d_name);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return code;
}

// What was typed.
typedef struct request {
    rg_given given;
    const char *machines, *traces, *pages, *claims, *out;
    rg_list verify, job, table, map;
    bool no_figures, stale;
} request;

// When what was named is the file of a reference machine, the page is about that machine, and has all of its files.
static int add_here(rg_report *r, const request *q, const char *folder)
{
    rg_bench_machine *m = new_machine(r, true);
    int code = RG_GOOD;
    for (int i = 0; i < q->given.word.n && code == RG_GOOD; i++) code = add(m, q->given.word.item[i], RESULT, NULL, 0);
    for (int i = 0; code == RG_GOOD && i < q->verify.n; i++) code = add(m, q->verify.item[i], VERIFY, NULL, 0);
    for (int i = 0; code == RG_GOOD && i < q->table.n; i++) {
        const char *given = q->table.item[i], *equals = strchr(given, '=');
        code = equals          ? add(m, equals + 1, TABLE, given, (int)(equals - given))
            : is_tables(given) ? add_tables(m, given)
                               : rg_fail(RG_USAGE, "--table: expected NAME=FILE.tsv, found \"%s\"", given);
    }
    const char *name = code == RG_GOOD ? rg_result_head(&m->file[0], "machine") : NULL;
    snprintf(m->label, sizeof m->label, "%s", name ? name : "a machine that the files do not name");
    char *path = rg_print("%s/%s", folder, rg_base_name(q->given.word.item[0]));
    if (code == RG_GOOD && q->given.word.n == 1 && same_file(path, q->given.word.item[0])) {
        m->here = false;
        set_label(m, rg_base_name(path));
    }
    free(path);
    return code;
}

// A page by its name; machine -1: none's own.
static int write_one(const rg_report *r, const char *name, int machine)
{
    char *path = rg_print("%s/%s", r->out, name);
    const bool html = strstr(name, ".html");
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code == RG_GOOD) {
        rg_page page = {
            .out = file.stream, .make = html ? &rg_html : &rg_markdown, .label = rg_outcome_name, .n_labels = RG_OUTCOMES};
        if (machine >= 0)
            code = rg_write_machine_page(r, machine, &page);
        else if (html)
            code = rg_write_index(r, &page);
        else if (rg_ends_with(name, ".md"))
            rg_write_markdown(r, &page);
        else
            rg_write_ledger(r, file.stream);
        code = rg_file_end(&file, code ? code : page.code);
    }
    free(path);
    return code;
}

static int write_all(const rg_report *r)
{
    static const char *const name[] = {"index.html", "REPORT.md", "ledger.tsv"};
    int code = RG_GOOD;
    for (int i = 0; code == RG_GOOD && i < RG_COUNT(name); i++) code = write_one(r, name[i], -1);
    for (int m = 0; code == RG_GOOD && m < r->n_machines; m++) {
        char page[32];
        snprintf(page, sizeof page, "machine-%d.html", m);
        code = write_one(r, page, m);
    }
    return code;
}

static void release(rg_report *r)
{
    for (int m = 0; m < r->n_machines; m++) {
        for (int f = 0; f < r->machine[m].n_files; f++) rg_result_free(&r->machine[m].file[f]);
        free(r->machine[m].file);
        for (int t = 0; t < r->machine[m].n_tables; t++) rg_tsv_free(&r->machine[m].table[t].tsv);
        free(r->machine[m].table);
    }
    free(r->machine);
    free(r->figure);
    free(r->judgement);
    rg_job_files_free(&r->job);
    rg_claims_free(&r->claims);
    rg_tsv_free(&r->findings);
}

// Each once: a page asks for them several times, and each goes through all rows.
static void judge(rg_report *r)
{
    const int claims = r->claims.claim.n_rows;
    r->judgement = rg_alloc((size_t)claims * (size_t)r->n_machines * sizeof *r->judgement);
    for (int i = 0; i < claims; i++)
        for (int m = 0; m < r->n_machines; m++)
            r->judgement[i * r->n_machines + m] = rg_judge(&r->claims, i, &r->machine[m], r->machine[m].here ? &r->job : NULL);
}

// What is known of the kernel that a row timed: that it has not changed since, nothing, that it has.
enum { IS_TODAYS, IS_UNKNOWN, IS_STALE, KERNELS };
static int kernel_of(const rg_row *row)
{
    return rg_row_is_stale(row) ? IS_STALE : rg_row_is_unsourced(row) ? IS_UNKNOWN : IS_TODAYS;
}

// Orders rows by that; up_to[k]: how many are of k or below.
static void part_by_kernel(rg_result *file, int up_to[KERNELS])
{
    rg_row *row = rg_alloc((size_t)(file->n_rows + 1) * sizeof *row);
    int n = 0;
    for (int k = 0; k < KERNELS; k++) {
        for (int i = 0; i < file->n_rows; i++)
            if (kernel_of(&file->row[i]) == k) row[n++] = file->row[i];
        up_to[k] = n;
    }
    memcpy(file->row, row, (size_t)n * sizeof *row);
    free(row);
}

static rg_judgement *judge_up_to(rg_report *r, int (*up_to)[KERNELS], int k)
{
    for (int m = 0, n = 0; m < r->n_machines; m++) {
        r->machine[m].shows_stale = k == IS_STALE;
        for (int f = 0; f < r->machine[m].n_files; f++) r->machine[m].file[f].n_rows = up_to[n++][k];
    }
    judge(r);
    return r->judgement;
}

// What comes out otherwise with rows of kernels up to k than with better known ones alone says so.
static void mark_less_known(const rg_report *r, rg_judgement *const by[KERNELS], int last)
{
    static const char *const mark[KERNELS] = {NULL, "SOURCE NOT KNOWN: rests on times without the hash of their kernel. ",
        "STALE: rests on times before the kernel changed. "};
    for (int i = 0; i < r->claims.claim.n_rows * r->n_machines; i++) {
        rg_judgement *j = &by[last][i];
        char why[sizeof j->why];
        int k = last;
        while (k > 0 && by[k][i].outcome == by[k - 1][i].outcome && !strcmp(by[k][i].ours, by[k - 1][i].ours)) k--;
        if (k == 0) continue;
        snprintf(why, sizeof why, "%s%.240s", mark[k], j->why);
        memcpy(j->why, why, sizeof why);
    }
}

// By rows of today's kernels alone, then with those that do not say of which they are, then with stale ones, or without: freed.
static void judge_by_kernels(rg_report *r)
{
    int n = 0, (*up_to)[KERNELS];
    for (int m = 0; m < r->n_machines; m++) n += r->machine[m].n_files;
    up_to = rg_alloc((size_t)(n + 1) * sizeof *up_to);
    n = 0;
    for (int m = 0; m < r->n_machines; m++)
        for (int f = 0; f < r->machine[m].n_files; f++, n++) {
            rg_result *file = &r->machine[m].file[f];
            part_by_kernel(file, up_to[n]);
            const int stale = up_to[n][IS_STALE] - up_to[n][IS_UNKNOWN], unknown = up_to[n][IS_UNKNOWN] - up_to[n][IS_TODAYS];
            r->machine[m].n_stale += stale;
            r->machine[m].n_unsourced += unknown;
            if (stale)
                rg_warn("%s: %d of %d rows were timed before their kernels changed: %s", file->path, stale, up_to[n][IS_STALE],
                    r->stale ? "what rests on them is marked" : "left out, --stale shows them");
            for (int i = up_to[n][IS_UNKNOWN]; !r->stale && i < up_to[n][IS_STALE]; i++) rg_row_free(&file->row[i]);
        }
    for (int m = 0; m < r->n_machines; m++)
        if (r->machine[m].n_stale_tables)
            rg_warn("%s: %d of %d tables are of before their jobs changed: %s", rg_machine_name(&r->machine[m], "this machine"),
                r->machine[m].n_stale_tables, r->machine[m].n_tables,
                r->stale ? "what rests on them is marked" : "left out, --stale shows them");
    rg_judgement *by[KERNELS] = {NULL};
    const int last = r->stale ? IS_STALE : IS_UNKNOWN;
    for (int k = 0; k <= last; k++) by[k] = judge_up_to(r, up_to, k);
    mark_less_known(r, by, last);
    for (int k = 0; k < last; k++) free(by[k]);
    free(up_to);
}

static int make_report(rg_report *r, const request *q)
{
    char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv");
    char *shipped = rg_share_path("data/machines"), *plots = rg_share_path("plots");
    const char *machines = q->machines ? q->machines : shipped;
    char *fig = rg_print("%s/fig", r->out);
    r->plots = plots;
    int code = rg_claims_read(q->claims ? q->claims : claims, papers, &r->claims);
    if (code == RG_GOOD) code = rg_check_maps(r);
    if (code == RG_GOOD) code = rg_findings_read(r, q->claims != NULL);
    if (code == RG_GOOD) code = add_here(r, q, machines);
    if (code == RG_GOOD) code = add_references(r, machines);
    for (int i = 0; code == RG_GOOD && i < q->job.n; i++) code = rg_job_files_add(&r->job, q->job.item[i]);
    if (code == RG_GOOD) code = rg_make_folder(fig);
    if (code == RG_GOOD) judge_by_kernels(r);
    if (code == RG_GOOD && !q->no_figures) code = rg_draw(r);
    if (code == RG_GOOD) code = rg_copy_gallery(r);
    if (code == RG_GOOD) code = rg_copy_pages(r);
    if (code == RG_GOOD) code = write_all(r);
    if (code == RG_GOOD && !rg_quiet) {
        rg_print_claims(r, stdout);
        rg_tsv_print(stdout, "written: %s/index.html, %s/REPORT.md, %s/ledger.tsv\n", r->out, r->out, r->out);
    }
    free(claims);
    free(papers);
    free(shipped);
    free(plots);
    free(fig);
    return code;
}

static int run(void *options)
{
    const request *q = options;
    rg_report r = {
        .out = q->out, .traces = q->traces, .pages = q->pages, .stale = q->stale, .n_maps = q->map.n, .map = q->map.item};
    int code = make_report(&r, q);
    release(&r);
    return code;
}

static const rg_option options[] = {
    {"machines", "DIR",
        "result files of reference machines, shown beside this one (NAME.tsv, NAME.verify.tsv, tables as "
        "NAME.TABLE.tsv)",
        RG_TO(request, machines)},
    {"verify", "V.tsv", "what `regather verify --out` wrote on this machine", RG_TO(request, verify)},
    {"job", "DIR", "what `regather autocorr --out` wrote for a series; again for the same series by another variant",
        RG_TO(request, job)},
    {"table", "NAME=FILE.tsv",
        "a small table of a job (stages, FSC, scaling) that claims and figures know by this name; or a record's "
        "FILE.tables.tsv",
        RG_TO(request, table)},
    {"map", "NAME=FILE.mrc", "a map of a job, which figures show by this name; NAME.truth=FILE.mrc: what it should be",
        RG_TO(request, map)},
    {"pages", "DIR", "pages of jobs (NAME.html), which are kept beside this one and linked", RG_TO(request, pages)},
    {"traces", "DIR", "what `regather trace --out` wrote for kernels that are wrong on purpose", RG_TO(request, traces)},
    {"claims", "FILE", "the claims to judge", RG_TO(request, claims)},
    {"out", "DIR", "where index.html, REPORT.md and fig/ go", RG_TO(request, out), 0, 0, "report"},
    {"stale", NULL, "show rows that were timed before their kernel changed, too, and mark them", RG_TO(request, stale)},
    {"no-figures", NULL, "leave gnuplot out", RG_TO(request, no_figures)},
    {0},
};

const rg_command rg_cmd_report = {
    .name = "report",
    .words = "RESULT.tsv...",
    .summary = "result files beside the papers' numbers, as a page with verdicts and figures",
    .help = "Reads result files of this machine, those of reference machines, the papers' numbers and the list of\n"
            "claims, and writes DIR/index.html, DIR/REPORT.md, DIR/ledger.tsv and DIR/fig/*.svg. Every number\n"
            "comes out of a file that the report names. Rows whose kernel has another source now than when they\n"
            "were timed (hashes in the rows) are left out, with a warning; with --stale they count, and verdicts\n"
            "that rest on them say STALE. Claims are judged reproduced, order of magnitude, direction only,\n"
            "contradicted today, exists, not called (no interval, or one that holds both answers), not testable\n"
            "here or paper inconsistent; reference/claims.tsv says by which side and bounds, why, and what result\n"
            "would make each fail. Ends with the table of claims. Without gnuplot the figures are left out and\n"
            "the report says so. RESULT.tsv may be a reference machine's own file: the page is then of that\n"
            "machine, with all of its files.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
