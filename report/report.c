// SPDX-License-Identifier: MIT
// report.c: the command `regather report`: files -> rows -> verdicts -> words -> page. Every number of a report is read from a
// file: result files, the job's own tables, the published numbers and the list of claims. Nothing here measures.
#include "page/page.h"

#include "../impl/base/core.h"
#include "../impl/suite.h"

// The parsed command line.
typedef struct request {
    rg_given given;
    const char *machines, *traces, *pages, *claims, *out;
    rg_named_files named;
    rg_list map;
    bool no_figures, stale;
} request;

static int make_report(rg_report *r, const request *q) {
    RG_FREED char *shipped = rg_share_path("data/machines"), *fig = rg_print("%s/fig", r->out);
    const char *machines = q->machines ? q->machines : shipped;
    int code = rg_ledger_read(&r->ledger, q->claims);
    if (code == RG_GOOD) code = rg_figures_read(&r->figures);
    if (code == RG_GOOD) code = rg_ledger_add_here(&r->ledger, &q->named);
    if (code == RG_GOOD) code = rg_ledger_add_references(&r->ledger, machines);
    if (code == RG_GOOD) code = rg_make_folder(fig);
    if (code == RG_GOOD) rg_ledger_judge(&r->ledger);
    if (code == RG_GOOD) rg_warn_left_out(&r->ledger);
    if (code == RG_GOOD && !q->no_figures) code = rg_figures_draw(&r->figures);
    if (code == RG_GOOD) code = rg_write_pages(r);
    if (code == RG_GOOD && !rg_quiet) rg_print_summary(&r->ledger, r->out, stdout);
    return code;
}

static int run(void *options) {
    request *q = options;
    rg_report r = {.out = q->out,
        .traces = q->traces,
        .pages = q->pages,
        .ledger = {.up_to = q->stale ? RG_STALE : RG_UNSOURCED},
        .figures = {.ledger = &r.ledger, .out = q->out, .n_maps = q->map.n, .map = q->map.item}};
    q->named.result = q->given.word;
    int code = make_report(&r, q);
    rg_figures_free(&r.figures);
    rg_ledger_free(&r.ledger);
    return code;
}

static const rg_option options[] = {
    {"machines", "DIR",
        "result files of reference machines, shown beside this one (NAME.tsv, NAME.verify.tsv, tables as "
        "NAME.TABLE.tsv)",
        RG_TO(request, machines)},
    {"verify", "V.tsv", "what `regather verify --out` wrote on this machine", RG_TO(request, named.checks)},
    {"table", "NAME=FILE.tsv",
        "a small table of a job (stages, FSC, scaling), by the name that claims and figures use; or a record's "
        "FILE.tables.tsv",
        RG_TO(request, named.table)},
    {"map", "NAME=FILE.mrc", "a map of a job, which figures show by this name; NAME.truth=FILE.mrc: what it should be",
        RG_TO(request, map)},
    {"pages", "DIR", "pages of jobs (NAME.html), which are kept beside this one and linked", RG_TO(request, pages)},
    {"traces", "DIR", "what `regather trace --out` wrote for kernels that are wrong on purpose", RG_TO(request, traces)},
    {"claims", "FILE", "the claims to judge", RG_TO(request, claims)},
    {"out", "DIR", "where index.html, REPORT.md and fig/ go", RG_TO(request, out), 0, 0, "report"},
    {"stale", NULL, "also show rows timed before their kernel changed, and mark them", RG_TO(request, stale)},
    {"no-figures", NULL, "draw no figures", RG_TO(request, no_figures)},
    {0},
};

const rg_command rg_cmd_report = {
    .name = "report",
    .words = "RESULT.tsv...",
    .summary = "result files beside the papers' numbers, as a page with verdicts and figures",
    .help = "Reads result files of this machine and of reference machines, the papers' numbers and the list of claims.\n"
            "Writes DIR/index.html, DIR/REPORT.md, DIR/ledger.tsv and DIR/fig/*.svg. The report names the file behind\n"
            "every number. Rows whose kernel has changed since they were timed (the rows hold hashes of the sources) are\n"
            "left out with a warning. With --stale they count, and verdicts that rest on them are marked STALE.\n\n"
            "A claim is judged reproduced, order of magnitude, direction only, contradicted today, exists, not called (no\n"
            "interval, or one that holds both answers), not testable here, or paper inconsistent. reference/claims.tsv\n"
            "gives each claim's operands, bounds, their reason, and a result that would contradict it. The output ends\n"
            "with counts by paper and the contradicted claims; ledger.tsv has all. Without gnuplot the figures are left\n"
            "out, and the report says so. A single RESULT.tsv that `record` made, or that has NAME.tables.tsv and other\n"
            "NAME.*.tsv beside it, is a reference machine: the page then shows that machine, with all of its files.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
