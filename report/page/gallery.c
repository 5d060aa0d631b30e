// SPDX-License-Identifier: MIT
// gallery.c: adds results of other commands to the page: pictures of index faults from `regather trace --out`, each with a
// summary of its table; and pages of jobs.
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include "page.h"
#include <dirent.h>

// Selects NAME.tsv of NAME.svg; NAME.points.tsv and the like belong to it.
static int is_table(const struct dirent *entry) {
    const char *dot = strchr(entry->d_name, '.');
    return dot && dot != entry->d_name && !strcmp(dot, ".tsv");
}

// A plug-in with right indices has another kind of fault, which a picture cannot show. The control is shown anyway.
static bool is_shown(const rg_report *r, const char *name) {
    RG_FREED char *path = rg_print("%s/%s.tsv", r->traces, name);
    RG_ENDS(rg_tsv_free) rg_tsv t = {0};
    const bool read = rg_tsv_read(path, &t) == RG_GOOD;
    const char *verdict = read ? rg_tsv_head(&t, "verdict") : NULL, *variant = read ? rg_tsv_head(&t, "variant") : NULL;
    const bool shown =
        !verdict || !variant || strcmp(verdict, "right") || !strstr(variant, ".so:") || rg_ends_with(name, "_right");
    return shown;
}

static int copy_pictures(const rg_report *r, const char *name) {
    int code = RG_GOOD;
    for (int svg = 0; svg < 2 && code == RG_GOOD; svg++) {
        const char *kind = svg ? "svg" : "png";
        RG_FREED char *from = rg_print("%s/%s.%s", r->traces, name, kind), *to = rg_print("fig/trace_%s.%s", name, kind);
        code = access(from, R_OK) ? RG_GOOD : rg_copy_beside(r->out, from, to); // none without gnuplot
    }
    return code;
}

static int lay_fault(const rg_report *r, rg_data *d, const char *name) {
    static const char *const key[] = {"idea", "verdict", "pairs", "in common"};
    const char *said[RG_COUNT(key)];
    RG_FREED char *path = rg_print("%s/%s.tsv", r->traces, name), *picture = rg_print("%s/fig/trace_%s.png", r->out, name);
    char text[RG_SAY];
    RG_ENDS(rg_tsv_free) rg_tsv t = {0};
    const int code = rg_tsv_read(path, &t);
    for (int i = 0; i < RG_COUNT(key); i++) {
        said[i] = rg_tsv_head(&t, key[i]);
        said[i] = said[i] ? said[i] : "";
    }
    rg_say_fault(name, said, text);
    rg_set(d, "title", "%s", name);
    rg_set(d, "subtitle", "%s", text);
    rg_set(d, "wide", "%s", "");
    if (access(picture, R_OK) == 0) rg_set(d, "wide", "fig/trace_%s.svg", name);
    rg_say_fault_alt(name, text);
    rg_set(d, "alt", "%s", text);
    rg_set(d, "class", "lines whole%s", " broad");
    rg_set(d, "broad", "%s", "yes");
    rg_set(d, "width", "%d", 1000);
    rg_set(d, "height", "%d", 700);
    for (const char *const *none = (const char *const[]){"narrow", "svg", "data", "script", NULL}; *none; none++)
        rg_set(d, *none, "%s", "");
    return code;
}

int rg_lay_gallery(const rg_report *r, rg_data *d) {
    struct dirent **entry;
    if (!r->traces) return RG_GOOD;
    rg_data *faults = rg_add(d, "faults");
    int n = scandir(r->traces, &entry, is_table, alphasort), code = RG_GOOD;
    if (n < 0) return rg_fail(RG_USAGE, "%s: expected a folder of `regather trace`, found none", r->traces);
    for (int i = 0; i < n; i++) {
        RG_FREED char *name = rg_print("%.*s", (int)strlen(entry[i]->d_name) - 4, entry[i]->d_name);
        if (code == RG_GOOD && is_shown(r, name)) {
            code = copy_pictures(r, name);
            if (code == RG_GOOD) code = lay_fault(r, rg_add(faults, "fault"), name);
        }
        free(entry[i]);
    }
    free(entry);
    return code;
}

// ---- pages that jobs have written (--pages): the aligned series, views, scores and maps of the very run ---------------------

static int is_page(const struct dirent *e) { return rg_ends_with(e->d_name, ".html") && strlen(e->d_name) > strlen(".html"); }

int rg_lay_job_pages(const rg_report *r, rg_data *d) {
    struct dirent **entry;
    const int n = r->pages ? scandir(r->pages, &entry, is_page, alphasort) : 0;
    rg_data *list = n > 0 ? rg_add(d, "job_pages") : NULL;
    int code = n < 0 ? rg_fail(RG_USAGE, "%s: expected a folder of jobs' pages, found none", r->pages) : RG_GOOD;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        RG_FREED char *from = rg_print("%s/%s", r->pages, name), *to = rg_print("job-%s", name);
        rg_data *page = rg_add(list, "page");
        rg_set(page, "file", "%s", to);
        rg_set(page, "name", "%.*s", (int)(strlen(name) - strlen(".html")), name);
        if (code == RG_GOOD) code = rg_copy_beside(r->out, from, to);
        free(entry[i]);
    }
    if (r->pages && n >= 0) free(entry);
    return code;
}
