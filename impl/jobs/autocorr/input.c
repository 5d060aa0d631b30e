// SPDX-License-Identifier: MIT
// input.c: lists the photographs, their names and times. Each is read once here before any work begins.
#include "../../../data/formats/mrc.h"
#include "../../base/hash.h"
#include "../../base/memory.h"
#include "../../base/tsv.h"
#include "../pipeline/ranks.h"
#include "autocorr.h"

#include <search.h>

// Detects an edited photograph, not a forged one.
uint64_t ac_hash(const rg_image *image) {
    const uint64_t pixels = rg_hash(image->pixel, (size_t)(image->width * image->height) * (size_t)(image->bits / 8)),
                   all[4] = {(uint64_t)image->width, (uint64_t)image->height, (uint64_t)image->bits, pixels};
    return rg_fnv1a(RG_FNV1A, all, sizeof all);
}

rg_image ac_widen(const rg_image *image) {
    int64_t n = image->width * image->height;
    rg_image wide = {image->width, image->height, 16, rg_alloc((size_t)n * sizeof(uint16_t))};
    for (int64_t i = 0; i < n; i++) ((uint16_t *)wide.pixel)[i] = ((const uint8_t *)image->pixel)[i];
    return wide;
}

static char *name_of(const char *path, int64_t page, int64_t pages) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    int length = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
    char *name = pages > 1 ? rg_print("%.*s_%04" PRId64, length, base, page + 1) : rg_print("%.*s", length, base);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < 32) // a tab or a newline would break the rows of rmax.tsv
            *c = '_';
    return name;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static int add_photo(ac_job *job, const char *path, const rg_image_place *place, int64_t pages) {
    job->photo = rg_grow(job->photo, job->n_photos, sizeof *job->photo);
    ac_photo *photo = &job->photo[job->n_photos++];
    *photo = (ac_photo){.path = path, .place = *place, .pages = pages, .name = name_of(path, place->page, pages), .time = NAN};
    const char *const *first = tsearch(photo->name, &job->names, by_name);
    if (!first) rg_end(RG_LACKS, "out of memory for the names of photographs");
    for (int64_t i = 0; *first != photo->name && i + 1 < job->n_photos; i++)
        if (strcmp(job->photo[i].name, photo->name) == 0)
            return rg_fail(RG_USAGE, "%s and %s would both be written as %s/%s.*; rename one or give them folders of their own",
                job->photo[i].path, path, job->out, photo->name);
    return RG_GOOD;
}

static int list_photos(ac_job *job) {
    for (int i = 0; i < job->given.word.n; i++) {
        const char *path = job->given.word.item[i];
        int64_t pages;
        rg_image_place *place;
        int code = rg_image_places(path, &pages, &place);
        for (int64_t page = 0; code == RG_GOOD && page < pages; page++) code = add_photo(job, path, &place[page], pages);
        free(place);
        if (code != RG_GOOD) return code;
    }
    return RG_GOOD;
}

static int examine(ac_job *job, ac_photo *photo, const rg_image *image) {
    int64_t w = image->width, h = image->height, longest = w > h ? w : h;
    int bits = job->cross.pixel && job->cross.bits > image->bits ? job->cross.bits : image->bits;
    photo->hash = ac_hash(image);
    photo->shape =
        (rg_shape){.n = {w, h, job->r, (job->cross.pixel ? AC_CROSS : 0) | (bits == 16 ? AC_16BIT : 0)}, .seed = job->seed};
    if (job->r >= longest)
        return rg_fail(RG_USAGE,
            "%s: --max-offset %" PRId64 " is larger than the photograph of %" PRId64 " x %" PRId64
            " pixels allows, which is %" PRId64,
            photo->path, job->r, w, h, longest - 1);
    if (job->cross.pixel && (job->cross.width != w || job->cross.height != h))
        return rg_fail(RG_USAGE, "%s is %" PRId64 " x %" PRId64 " pixels, the other photograph %s %" PRId64 " x %" PRId64,
            photo->path, w, h, job->cross_path, job->cross.width, job->cross.height);
    const char *invalid = job->algo->invalid(&photo->shape);
    return invalid ? rg_fail(RG_USAGE, "%s: %s", photo->path, invalid) : RG_GOOD;
}

// Both photographs of a cross-correlation need the same bits: if any has 16, all get them.
static void widen_all(ac_job *job) {
    bool wide = false;
    for (int64_t i = 0; i < job->n_photos; i++) wide = wide || (job->photo[i].shape.n[AC_KIND] & AC_16BIT);
    if (!wide || !job->cross.pixel) return;
    if (job->cross.bits == 8) {
        rg_image cross = ac_widen(&job->cross);
        rg_image_free(&job->cross);
        job->cross = cross;
    }
    for (int64_t i = 0; i < job->n_photos; i++) job->photo[i].shape.n[AC_KIND] |= AC_16BIT;
}

static bool keeps(const rg_image *mask, int64_t i) {
    return mask->bits == 32 ? ((const float *)mask->pixel)[i] > 0 : ac_grey(mask, i) > 0;
}

int ac_read(const ac_job *job, const char *path, const rg_image_place *place, rg_image *image) {
    int code = rg_image_read_place(path, place, &job->range, image);
    if (code != RG_GOOD || !job->mask.pixel) return code;
    const int64_t n = image->width * image->height;
    if (job->mask.width != image->width || job->mask.height != image->height) {
        code = rg_fail(RG_USAGE, "%s: expected a mask of %" PRId64 " x %" PRId64 " pixels as %s, found %" PRId64 " x %" PRId64,
            job->mask_path, image->width, image->height, path, job->mask.width, job->mask.height);
        rg_image_free(image);
        return code;
    }
    int64_t sum = 0, kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (keeps(&job->mask, i)) {
            sum += ac_grey(image, i);
            kept++;
        }
    const int64_t mean = (sum + kept / 2) / kept;
    for (int64_t i = 0; i < n; i++)
        if (!keeps(&job->mask, i)) {
            if (image->bits == 8)
                ((uint8_t *)image->pixel)[i] = (uint8_t)mean;
            else
                ((uint16_t *)image->pixel)[i] = (uint16_t)mean;
        }
    return RG_GOOD;
}

// --cross and --mask take one photograph each; in a file with several the choice would be ambiguous.
static int expect_one_page(const char *path) {
    int64_t pages;
    const int code = rg_image_pages(path, &pages);
    return code == RG_GOOD && pages > 1 ? rg_fail(RG_USAGE, "%s: expected one photograph, found %" PRId64, path, pages) : code;
}

static int read_mask(ac_job *job) {
    int64_t kept = 0;
    int code = expect_one_page(job->mask_path);
    if (code == RG_GOOD) // without the photographs' grey range, in which 0 may be a valid grey
        code = rg_image_read(job->mask_path, 0, &(rg_grey_range){.real = true}, &job->mask);
    if (code != RG_GOOD) return code;
    const int64_t n = job->mask.width * job->mask.height;
    if (job->mask.bits == 32) rg_mrc_mask_bytes(job->mask.pixel, n);
    for (int64_t i = 0; i < n; i++) kept += keeps(&job->mask, i);
    return kept >= (n + 3) / 4
        ? RG_GOOD
        : rg_fail(RG_USAGE, "%s: expected a mask that keeps a quarter of the pixels, found %" PRId64 " of %" PRId64,
              job->mask_path, kept, n);
}

// Decoding is as slow as everything else, so decoded photographs are kept, in this share of the free memory.
static const double KEPT = 0.25;

static int read_one(ac_job *job, ac_photo *photo) {
    rg_image image;
    int code = ac_read(job, photo->path, &photo->place, &image);
    if (code == RG_GOOD) {
        code = examine(job, photo, &image);
        const double bytes = (double)(image.width * image.height) * image.bits / 8;
        bool keeps = false;
#pragma omp critical(ac_kept)
        if (code == RG_GOOD && job->keep_bytes >= bytes) {
            job->keep_bytes -= bytes;
            keeps = true;
        }
        if (keeps)
            photo->kept = image;
        else
            rg_image_free(&image);
    }
    return code;
}

// Result of examining a photograph.
typedef struct ac_seen {
    bool is_bad;
    uint64_t hash;
    rg_shape shape;
} ac_seen;

// Reads the photographs of one piece; stops at the first bad one.
static void read_piece(ac_job *job, int64_t first, int64_t past, ac_seen *seen, rg_progress *progress) {
    int64_t bad = past;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 1)
    for (int64_t i = first; i < past; i++) {
        int64_t first_bad;
#pragma omp atomic read
        first_bad = bad;
        if (first_bad < i) continue;
        rg_silent = true;
        int mine = read_one(job, &job->photo[i]);
        rg_silent = false;
        seen[i] = (ac_seen){mine != RG_GOOD, job->photo[i].hash, job->photo[i].shape};
#pragma omp critical(ac_done)
        {
            if (mine != RG_GOOD && i < bad)
#pragma omp atomic write
                bad = i;
            rg_progress_at(progress, progress->done + 1);
        }
    }
}

// Several threads and processes may each find a bad photograph; the first in order is read again to print its one error.
static int read_all(ac_job *job) {
    int code = RG_GOOD;
    if (job->cross_path) {
        code = expect_one_page(job->cross_path);
        if (code == RG_GOOD) code = ac_read(job, job->cross_path, &(rg_image_place){0}, &job->cross);
        job->cross_hash = code == RG_GOOD ? ac_hash(&job->cross) : 0;
    }
    if (code != RG_GOOD) return code;
    rg_progress progress;
    int64_t first, past;
    job->keep_bytes = KEPT * rg_memory_free();
    ac_seen *seen = rg_alloc((size_t)job->n_photos * sizeof *seen);
    rg_deal deal = {.n = job->n_photos, .least = job->threads, .record = seen, .bytes = sizeof *seen};
    rg_progress_begin(&progress, "reading", "photographs", (double)job->n_photos);
    rg_deal_begin(&deal);
    while (rg_deal_next(&deal, &first, &past)) {
        progress.done = (double)deal.done;
        read_piece(job, first, past, seen, &progress);
        rg_deal_done(&deal, first, past, NULL);
    }
    rg_deal_end(&deal, RG_GOOD);
    rg_progress_end(&progress);
    rg_ranks_share(seen, (size_t)job->n_photos * sizeof *seen);
    for (int64_t i = 0; i < job->n_photos && code == RG_GOOD; i++) {
        job->photo[i].hash = seen[i].hash;
        job->photo[i].shape = seen[i].shape;
        if (seen[i].is_bad)
            code = read_one(job, &job->photo[i]) != RG_GOOD
                ? RG_USAGE
                : rg_fail(RG_USAGE, "%s: changed while it was read", job->photo[i].path);
    }
    free(seen);
    if (code == RG_GOOD) widen_all(job);
    return code;
}

// times.tsv: columns photo and time; a photo is named with or without its folder and ending.
static int read_times(ac_job *job, const char *path) {
    rg_tsv t;
    int code = rg_tsv_read(path, &t);
    if (code == RG_GOOD) code = rg_tsv_needs(&t, "photo time");
    for (int row = 0; code == RG_GOOD && row < t.n_rows; row++) {
        const char *who = rg_tsv_cell(&t, row, "photo");
        RG_FREED char *name = name_of(who, 0, 1);
        double time = rg_tsv_number(&t, row, "time");
        if (!isfinite(time))
            code = rg_fail(RG_USAGE, "%s: line %d: expected a time for %s, found \"%s\"", path, t.row_line[row], who,
                rg_tsv_cell(&t, row, "time"));
        for (int64_t i = 0; i < job->n_photos && code == RG_GOOD; i++)
            if (strcmp(job->photo[i].name, name) == 0 || strcmp(job->photo[i].name, who) == 0) job->photo[i].time = time;
    }
    rg_tsv_free(&t);
    for (int64_t i = 0; i < job->n_photos && code == RG_GOOD; i++)
        if (isnan(job->photo[i].time))
            code = rg_fail(RG_USAGE, "%s: expected a time for %s, found none", path, job->photo[i].name);
    job->has_times = true;
    return code;
}

int ac_input(ac_job *job) {
    const double began_s = rg_seconds();
    int code = list_photos(job);
    if (code == RG_GOOD && job->mask_path) code = read_mask(job);
    if (code == RG_GOOD) code = read_all(job);
    job->read_s = rg_seconds() - began_s;
    return code == RG_GOOD && job->times ? read_times(job, job->times) : code;
}

static void keep_name(void *of) { (void)of; } // freed below

void ac_input_free(ac_job *job) {
    tdestroy(job->names, keep_name);
    for (int64_t i = 0; i < job->n_photos; i++) {
        free(job->photo[i].name);
        rg_image_free(&job->photo[i].kept);
    }
    free(job->photo);
    rg_image_free(&job->cross);
    rg_image_free(&job->mask);
}
