// SPDX-License-Identifier: MIT
// job_pages.c: the pages that jobs have written (--pages), kept beside the report and linked: the aligned series before and
// after, views, scores and maps of the very run.
#include "../../impl/base/core.h"
#include "content.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int is_page(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);
    return n > 5 && !strcmp(e->d_name + n - 5, ".html");
}

// Copies them, or with a stream writes their links.
static int each_page(const rg_report *r, FILE *html)
{
    struct dirent **entry;
    const int n = scandir(r->pages, &entry, is_page, alphasort);
    int code = RG_GOOD;
    if (n < 0) return rg_fail(RG_USAGE, "%s: expected a folder of jobs' pages, found none", r->pages);
    for (int i = 0; i < n; i++) {
        char *from = rg_print("%s/%s", r->pages, entry[i]->d_name), *to = rg_print("job-%s", entry[i]->d_name);
        if (html) {
            fputs(i ? ", <a href=\"" : "<p>What the jobs of this run found, each on a page of its own: <a href=\"", html);
            rg_html_link(html, to);
            fputs("\">", html);
            entry[i]->d_name[strlen(entry[i]->d_name) - 5] = '\0';
            rg_html_text(html, entry[i]->d_name);
            fputs(i + 1 < n ? "</a>" : "</a>.</p>\n", html);
        } else if (code == RG_GOOD) {
            code = rg_copy_beside(r->out, from, to);
        }
        free(from);
        free(to);
        free(entry[i]);
    }
    free(entry);
    return code;
}

int rg_copy_pages(const rg_report *r) { return r->pages ? each_page(r, NULL) : RG_GOOD; }

void rg_write_pages(const rg_report *r, FILE *html)
{
    if (r->pages) each_page(r, html);
}
