// SPDX-License-Identifier: MIT
// tables.c: shows the papers' tables beside ours, as reference/tables.tsv lists them: one line per group of rows.
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include "page.h"

enum { COLUMNS_MOST = 16, TEXT = 240 };

// A line of tables.tsv for one of its rows ("500"), which replaces every {}.
typedef struct listed_row {
    const rg_report *report;
    int machine;
    rg_rows rows;
    const rg_tsv *list;
    int line;
    char name[32];
} listed_row;

// Reads the next piece up to a comma, with {} filled in. false at the end.
static bool next_piece(const char **at, const char *name, char text[TEXT]) {
    size_t n = 0;
    if (!**at) return false;
    for (; **at && **at != ','; (*at)++) {
        bool here = (*at)[0] == '{' && (*at)[1] == '}';
        n += (size_t)snprintf(text + n, TEXT - n, "%.*s", here ? (int)strlen(name) : 1, here ? name : *at);
        *at += here;
        n = n < TEXT ? n : TEXT - 1;
    }
    *at += **at == ',';
    return true;
}

static const char *cell(const listed_row *l, const char *column) { return rg_tsv_cell(l->list, l->line, column); }

// Writes "58428 +- 960", with the error if the paper prints one.
static void published(const listed_row *l, const char *id, char *text, size_t room) {
    const rg_claims *c = &l->report->ledger.claims;
    const int paper = rg_paper_of(c, cell(l, "paper"));
    const char *error = rg_published_number(c, paper, id, "error");
    snprintf(text, room, "%s%s%s", rg_published_number(c, paper, id, "value"), *error ? " +- " : "", error);
}

// Number of pieces in a row's time: its work (pieces "work"), or the product of parts of its shape ("p;t").
static double pieces_of(const rg_row *row, const char *pieces) {
    double n = 1;
    if (!strcmp(pieces, "work")) return rg_cell_number(row, RG_C_WORK);
    for (char part[8]; rg_next_piece(&pieces, ';', part, sizeof part);)
        n *= (double)rg_cell_part(row->cell[RG_C_SHAPE], part, 1);
    return n;
}

// Nanoseconds of `count` pieces, from the fastest row that matches spec; *fewer if the row has fewer.
static double time_of(const listed_row *l, const char *spec, double count, bool *fewer) {
    double best = NAN;
    for (rg_cursor at = {.rows = l->rows}; rg_next(&at);) {
        const bool of = rg_timed(at.row) && rg_matches(at.row, spec);
        const rg_row *a = of ? rg_pick(l->rows, spec, at.row->cell[RG_C_SHAPE], cell(l, "scope")) : NULL;
        if (!a) continue;
        const double pieces = pieces_of(a, cell(l, "pieces")), ns = a->timed_ns / pieces * count;
        if (ns > 0 && !(ns >= best)) {
            best = ns;
            *fewer = pieces < count;
        }
    }
    return best;
}

// Writes the judgement of the claim with this id, or with this published number; false and "not run" if it has no number.
static bool claimed(const listed_row *l, const char *id, char text[TEXT]) {
    const rg_report *r = l->report;
    snprintf(text, TEXT, "not run");
    for (int i = 0; r->ledger.verdict && i < r->ledger.claims.claim.n_rows; i++) {
        const rg_judgement *j = rg_verdict_on(&r->ledger, i, l->machine);
        const bool named = !strcmp(rg_claim_cell(&r->ledger.claims, i, "id"), id);
        if ((!named && strcmp(rg_claim_cell(&r->ledger.claims, i, "published"), id)) || isnan(j->value)) continue;
        char said[RG_SAY];
        rg_say_ours(j, said);
        snprintf(text, TEXT, "%.160s", said);
        return true;
    }
    return false;
}

// Writes our value in the table's unit: a judged claim, a cell of a job's table, or a time. false and "not run" if there is
// none.
static bool ours(const listed_row *l, const char *spec, char text[TEXT]) {
    static const struct {
        const char *unit;
        double ns;
    } known[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double count = rg_tsv_number(l->list, l->line, "count"), value = NAN, ns = 1;
    bool fewer = false;
    for (int i = 0; i < RG_COUNT(known); i++)
        if (!strcmp(known[i].unit, cell(l, "unit"))) ns = known[i].ns;
    if (!strncmp(spec, "claim ", 6)) return claimed(l, spec + 6, text);
    value = strcspn(spec, ":") < strcspn(spec, " ") ? time_of(l, spec, isnan(count) ? 1 : count, &fewer) / ns
                                                    : rg_table_cell(l->rows, spec);
    if (isnan(value))
        snprintf(text, TEXT, "not run");
    else
        snprintf(text, TEXT, value < 1000 ? "%.3g%s" : "%.0f%s", value, fewer ? " *" : "");
    return !isnan(value);
}

// Splits LABEL=WHAT pieces of a column into their labels or what they stand for, from text[n] on. Returns the new n.
static int split(const listed_row *l, const char *column, bool labels, char text[COLUMNS_MOST][TEXT], int n) {
    char piece[TEXT];
    for (const char *at = cell(l, column); n < COLUMNS_MOST && next_piece(&at, l->name, piece); n++) {
        const char *equals = strchr(piece, '=');
        if (labels)
            snprintf(text[n], TEXT, "%.*s", equals ? (int)(equals - piece) : TEXT - 1, piece);
        else
            snprintf(text[n], TEXT, "%s", equals ? equals + 1 : "");
    }
    return n;
}

// Lays out the rows of the table that starts at line l->line; table NULL: only returns whether this machine measured any.
static bool rows(listed_row l, rg_data *table) {
    const int first = l.line;
    bool any = false;
    for (; l.line < l.list->n_rows && (l.line == first || !*cell(&l, "table")); l.line++) // and its lines without a caption
        for (const char *at = cell(&l, "rows"); rg_next_piece(&at, ',', l.name, sizeof l.name);) {
            char text[COLUMNS_MOST][TEXT];
            const char *cells[COLUMNS_MOST], *group = cell(&l, "group");
            if (!next_piece(&group, l.name, text[0])) continue;
            int theirs = split(&l, "published", false, text, 1), n = split(&l, "ours", false, text, theirs);
            for (int c = 0; c < n; c++) cells[c] = text[c];
            bool known = false; // known from the paper or from here
            for (int c = 1; c < theirs; c++) {
                char id[TEXT];
                memcpy(id, text[c], TEXT);
                published(&l, id, text[c], TEXT);
                known |= *text[c] != 0;
            }
            for (int c = theirs; c < n; c++) {
                char spec[TEXT];
                memcpy(spec, text[c], TEXT);
                bool here = ours(&l, spec, text[c]);
                any |= here;
                known |= here;
            }
            if (table && known) rg_add_row(table, cells, n);
        }
    return any;
}

static void lay_table(listed_row l, rg_data *d) {
    char caption[600], align[COLUMNS_MOST + 1] = "n", label[COLUMNS_MOST][TEXT];
    const char *column[COLUMNS_MOST];
    snprintf(label[0], TEXT, "%.80s", cell(&l, "key"));
    int theirs = split(&l, "published", true, label, 1), n = split(&l, "ours", true, label, theirs);
    for (int c = 0; c < n; c++) {
        if (c >= 1 && c < theirs) {
            char text[TEXT];
            memcpy(text, label[c], TEXT);
            snprintf(label[c], TEXT, "paper: %.200s", text);
        }
        column[c] = label[c];
        align[c] = c ? 'r' : 'n';
    }
    align[n] = 0;
    snprintf(caption, sizeof caption, "%.400s %s: %.96s.", cell(&l, "table"),
        l.rows.machine->here ? "This machine" : "Reference machine", l.rows.machine->label);
    rows(l, rg_add_table(d, caption, align, column, n));
}

int rg_lay_tables(const rg_report *r, rg_data *d, const char *paper) {
    RG_ENDS(rg_tsv_free) rg_tsv list = {0};
    RG_FREED char *path = rg_share_path("reference/tables.tsv");
    const int code = rg_tsv_read(path, &list);
    for (int i = 0; code == RG_GOOD && i < list.n_rows; i++) {
        if (strcmp(rg_tsv_cell(&list, i, "paper"), paper) || !*rg_tsv_cell(&list, i, "table")) continue;
        for (int m = 0; m < r->ledger.n_machines; m++) {
            const listed_row l = {r, m, rg_rows_on(&r->ledger, m), &list, i, ""};
            if (rows(l, NULL)) lay_table(l, d);
        }
    }
    return code;
}
