// SPDX-License-Identifier: MIT
#include "series.h"
#include "../../impl/base/malformed.h"
#include "mrc.h"

enum { MRC_HEADER = 1024 };
static const rg_grey_range REAL = {.real = true}; // cameras write counts of electrons, signed or in floating point

static int is_mrc(const char *path, int *answer) {
    unsigned char header[MRC_HEADER];
    FILE *file;
    int64_t bytes;
    int code = rg_input_open(path, &file, &bytes);
    if (code != RG_GOOD) return code;
    size_t got = fread(header, 1, sizeof header, file);
    fclose(file);
    *answer = got == sizeof header && rg_mrc_plausible(header, bytes);
    return RG_GOOD;
}

// Sides and images of one file; a picture is read to get its sides.
static int look(
    const char *path, int mrc, int64_t *pages, rg_image_place **place, int64_t *width, int64_t *height, double *pixel_A) {
    rg_mrc m;
    rg_image image;
    if (!mrc) {
        int code = rg_image_places(path, pages, place);
        if (code == RG_GOOD) code = rg_image_read(path, 0, &REAL, &image);
        if (code != RG_GOOD) return code;
        *width = image.width;
        *height = image.height;
        *pixel_A = 0;
        rg_image_free(&image);
        return RG_GOOD;
    }
    int code = rg_mrc_open(&m, path);
    if (code != RG_GOOD) return code;
    if (m.space_group >= 401 || (m.space_group == 1 && m.nx == m.ny && m.nx == m.nz && m.nx > 1))
        code = rg_fail(RG_USAGE,
            "%s: expected images, found a %s of %" PRId64 " x %" PRId64 " x %" PRId64 " voxels (space group %d)", path,
            m.space_group == 1 ? "volume" : "stack of volumes", m.nx, m.ny, m.nz, m.space_group);
    *pages = m.nz;
    *width = m.nx;
    *height = m.ny;
    *pixel_A = rg_mrc_voxel_A(&m, false);
    rg_mrc_close(&m);
    return code;
}

int rg_series_open(rg_series *s, int64_t n_paths, const char *const *path) {
    *s = (rg_series){0};
    for (int64_t f = 0; f < n_paths; f++) {
        int mrc = 0;
        int64_t pages = 0, width = 0, height = 0;
        double pixel_A = 0;
        rg_image_place *place = NULL;
        int code = is_mrc(path[f], &mrc);
        if (code == RG_GOOD) code = look(path[f], mrc, &pages, &place, &width, &height, &pixel_A);
        if (code == RG_GOOD && f && (width != s->width || height != s->height))
            code = rg_fail(RG_USAGE,
                "%s: expected images of %" PRId64 " x %" PRId64 " pixels as in %s, found %" PRId64 " x %" PRId64, path[f],
                s->width, s->height, path[0], width, height);
        if (code == RG_GOOD && f && mrc == s->rows_down)
            code = rg_fail(RG_USAGE, "%s: expected %s as %s, found %s: their rows go the other way", path[f],
                mrc ? "a picture" : "an MRC file", path[0], mrc ? "an MRC file" : "a picture");
        if (code != RG_GOOD) {
            free(place);
            rg_series_close(s);
            return code;
        }
        if (!f) *s = (rg_series){.width = width, .height = height, .pixel_A = pixel_A, .rows_down = !mrc};
        for (int64_t p = 0; p < pages; p++) {
            s->image = rg_grow(s->image, s->n, sizeof *s->image);
            s->image[s->n++] = (rg_series_image){path[f], place ? place[p] : (rg_image_place){.page = p}, mrc};
        }
        free(place);
    }
    return RG_GOOD;
}

void rg_series_close(rg_series *s) {
    free(s->image);
    s->image = NULL;
}

static int read_picture(const rg_series *s, const rg_series_image *at, float *image) {
    rg_image picture;
    int code = rg_image_read_place(at->path, &at->place, &REAL, &picture);
    if (code != RG_GOOD) return code;
    if (picture.width != s->width || picture.height != s->height)
        code = rg_fail(RG_USAGE,
            "%s: expected page %" PRId64 " to be of %" PRId64 " x %" PRId64 " pixels, found %" PRId64 " x %" PRId64, at->path,
            at->place.page + 1, s->width, s->height, picture.width, picture.height);
    for (int64_t i = 0; code == RG_GOOD && i < s->width * s->height; i++)
        image[i] = picture.bits == 8 ? ((const uint8_t *)picture.pixel)[i]
            : picture.bits == 16     ? ((const uint16_t *)picture.pixel)[i]
                                     : ((const float *)picture.pixel)[i];
    rg_image_free(&picture);
    return code;
}

int rg_series_read(const rg_series *s, int64_t i, int varies, float *image) {
    const rg_series_image *at = &s->image[i];
    rg_mrc m;
    int code, differs = !varies;
    if (at->is_mrc) {
        code = rg_mrc_open(&m, at->path);
        if (code == RG_GOOD) {
            code = rg_mrc_section(&m, at->place.page, image);
            rg_mrc_close(&m);
        }
    } else {
        code = read_picture(s, at, image);
    }
    int finite = 1;
    for (int64_t p = 0; code == RG_GOOD && p < s->width * s->height; p++) {
        differs |= image[p] != image[0];
        finite &= isfinite(image[p]) != 0;
    }
    for (int64_t p = 0; !finite && code == RG_GOOD; p++)
        if (!isfinite(image[p]))
            code =
                rg_fail(RG_USAGE, "%s: image %" PRId64 ": expected finite values, found %s at pixel (%" PRId64 ", %" PRId64 ")",
                    at->path, at->place.page + 1, isnan(image[p]) ? "NaN" : "infinity", p % s->width, p / s->width);
    if (code == RG_GOOD && !differs)
        code = rg_fail(RG_USAGE,
            "%s: image %" PRId64 ": expected an image, found the constant %g, whose correlation is "
            "undefined",
            at->path, at->place.page + 1, image[0]);
    return code;
}
