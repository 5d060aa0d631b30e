// SPDX-License-Identifier: MIT
// gallery.c: what faults of an index look like: the pictures that `regather trace --out` left in a folder, each with what its
// table says of it.
#include "../../impl/base/core.h"
#include "../../impl/suite.h"
#include "content.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// NAME.tsv of NAME.svg; NAME.points.tsv and the like belong to it.
static int is_table(const struct dirent *entry)
{
    const char *dot = strchr(entry->d_name, '.');
    return dot && dot != entry->d_name && !strcmp(dot, ".tsv");
}

// A plug-in whose every index is right is wrong in another way, of which there is no picture; but for the control.
static bool is_shown(const rg_report *r, const char *name)
{
    char *path = rg_print("%s/%s.tsv", r->traces, name);
    rg_tsv t = {0};
    const bool read = rg_tsv_read(path, &t) == RG_GOOD;
    const char *verdict = read ? rg_tsv_head(&t, "verdict") : NULL, *variant = read ? rg_tsv_head(&t, "variant") : NULL;
    const bool shown =
        !verdict || !variant || strcmp(verdict, "right") || !strstr(variant, ".so:") || rg_ends_with(name, "_right");
    rg_tsv_free(&t);
    free(path);
    return shown;
}

static int copy_pictures(const rg_report *r, const char *name)
{
    int code = RG_GOOD;
    for (int svg = 0; svg < 2 && code == RG_GOOD; svg++) {
        const char *kind = svg ? "svg" : "png";
        char *from = rg_print("%s/%s.%s", r->traces, name, kind), *to = rg_print("fig/trace_%s.%s", name, kind);
        code = access(from, R_OK) ? RG_GOOD : rg_copy_beside(r->out, from, to); // without gnuplot there are none
        free(from);
        free(to);
    }
    return code;
}

static void write_one(const rg_report *r, rg_page *p, const char *name)
{
    static const char *const key[] = {"idea", "verdict", "pairs", "in common"};
    const char *said[RG_COUNT(key)];
    char *path = rg_print("%s/%s.tsv", r->traces, name);
    rg_tsv t = {0};
    if (p->code == RG_GOOD) p->code = rg_tsv_read(path, &t);
    for (int i = 0; i < RG_COUNT(key); i++) {
        said[i] = rg_tsv_head(&t, key[i]);
        said[i] = said[i] ? said[i] : "";
    }
    char *caption = rg_print("`%s`: %.200s. Said to be %.200s: %.200s.%s%.200s%s", name, said[0], said[1], said[2],
        *said[3] ? " All faults have in common: " : "", said[3], *said[3] ? "." : "");
    rg_tsv_free(&t);
    char *alt = rg_print("Inputs and outputs of %s, each marked right, missing, doubled, misplaced or of another weight", name);
    char *figure = rg_print("fig/trace_%s", name), *picture = rg_print("%s/%s.png", r->out, figure);
    char *svg = rg_print("%s.svg", figure);
    const rg_page_figure shown = {
        .title = name, .subtitle = caption, .wide = svg, .alt = alt, .width = 1000, .height = 700, .whole = true};
    if (access(picture, R_OK) == 0)
        p->make->figures(p, &shown, 1);
    else
        p->make->paragraph(p, caption);
    free(svg);
    free(picture);
    free(path);
    free(caption);
    free(alt);
    free(figure);
}

static int each_table(const rg_report *r, rg_page *p)
{
    struct dirent **entry;
    int n = scandir(r->traces, &entry, is_table, alphasort), code = RG_GOOD;
    if (n < 0) return rg_fail(RG_USAGE, "%s: expected a folder of `regather trace`, found none", r->traces);
    for (int i = 0; i < n; i++) {
        char *name = rg_print("%.*s", (int)strlen(entry[i]->d_name) - 4, entry[i]->d_name);
        if (is_shown(r, name)) {
            if (p)
                write_one(r, p, name);
            else if (code == RG_GOOD)
                code = copy_pictures(r, name);
        }
        free(name);
        free(entry[i]);
    }
    free(entry);
    return code;
}

int rg_copy_gallery(const rg_report *r) { return r->traces ? each_table(r, NULL) : RG_GOOD; }

void rg_write_gallery(const rg_report *r, rg_page *p)
{
    if (!r->traces) return;
    p->make->heading(p, 2, "faults", "What faults of an index look like");
    p->make->paragraph(p,
        "Kernels that are wrong on purpose, as `regather trace` shows them. One pixel of the image at a time is "
        "1 (then i), all others 0; every pair of pixel and voxel is compared with the reference. Above, all "
        "pixels and the voxels that they reach; then the pixel that fares worst alone; below, the map that the "
        "kernel makes of a known object, beside the right one. Division by the weights hides most of such "
        "faults from the eye: the difference is drawn enlarged.");
    p->make->fold(p, "The gallery: a picture a fault");
    each_table(r, p);
    p->make->fold_end(p);
}
