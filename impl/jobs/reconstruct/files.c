// SPDX-License-Identifier: MIT
// files.c: writes maps to files piece by piece, while the disk writes the piece before.
#include "reconstruct.h"
#include "../../../data/geometry/fsc.h"
#include "../../../data/geometry/volume.h"
#include "../../base/summary.h"
#include "../../base/tsv.h"

#include <fcntl.h>

enum { PIECE_BYTES = 32 << 20 };

// Starts writing the system's pages to disk early, so that little is left to wait for at the end.
static void *flush_pieces(void *of) {
    sync_file_range(fileno(((rc_file *)of)->out.file.stream), 0, 0, SYNC_FILE_RANGE_WRITE);
    return NULL;
}

static void finish_flushing(rc_file *w) {
    if (w->is_flushing) pthread_join(w->flusher, NULL);
    w->is_flushing = false;
}

static void *take_room(void *of) {
    rg_mrc_write_room(&((rc_file *)of)->out);
    return NULL;
}

static void *write_piece(void *of) {
    rc_file *w = of;
    w->code = rg_mrc_write_sections(&w->out, w->at, w->n, w->threads);
    finish_flushing(w);
    w->is_flushing = pthread_create(&w->flusher, NULL, flush_pieces, w) == 0;
    return NULL;
}

static void finish_piece(rc_file *w) {
    if (w->is_writing) pthread_join(w->thread, NULL);
    w->is_writing = false;
}

static int copy_piece(rc_file *w, const pl_member *m, const float *map, int which) {
    const int64_t plane = w->side * w->side, left = w->side - w->next, n = left < w->sections ? left : w->sections;
    float *piece = w->piece[which];
    int error = m->device->download(piece, map + w->next * plane, (size_t)(n * plane) * sizeof *piece);
    finish_piece(w);
    w->at = piece;
    w->n = n;
    w->next += n;
    if (error) return pl_failed(m, "copying the map", error);
    if (pthread_create(&w->thread, NULL, write_piece, w) != 0) rg_end(RG_LACKS, "no thread that writes could be made");
    w->is_writing = true;
    return RG_GOOD;
}

int rc_files_open(rc_files *f, const char *out, const char *suffix, int64_t side, double pixel_A, int threads) {
    const int64_t plane_bytes = side * side * (int64_t)sizeof(float), sections = PIECE_BYTES / plane_bytes;
    rc_file *w = &f->file[f->n];
    *w = (rc_file){.side = side, .sections = sections < 1 ? 1 : sections < side ? sections : side, .threads = threads};
    RG_FREED char *path = rg_path_beside(out, suffix, NULL);
    int code = rg_mrc_write_begin(&w->out, path, side, side, side, RG_MRC_FLOAT32, pixel_A, true);
    if (code != RG_GOOD) return code;
    f->n++;
    w->is_writing = pthread_create(&w->thread, NULL, take_room, w) == 0;
    return RG_GOOD;
}

int rc_files_add(rc_files *f, pl_member *m, const float *map) {
    const rg_device *d = m->device;
    const double since_s = rg_seconds();
    rc_file *w = &f->file[f->added++];
    int code = RG_GOOD;
    for (int i = 0; i < RC_PIECES && code == RG_GOOD; i++)
        code = pl_failed(m, "pinning memory",
            d->pinned(&w->piece[i], (size_t)(w->sections * w->side * w->side) * sizeof(float), "pinned map"));
    for (int which = 0; w->next < w->side && code == RG_GOOD && w->code == RG_GOOD; which = !which)
        code = copy_piece(w, m, map, which);
    finish_piece(w);
    for (int i = 0; i < RC_PIECES; i++)
        if (w->piece[i]) d->unpin(w->piece[i]);
    pl_lap(m, PL_WRITE, since_s);
    return code > w->code ? code : w->code;
}

int rc_files_end(rc_files *f, pl_member *m, int code) {
    const double since_s = rg_seconds();
    for (int i = 0; i < f->n; i++) {
        finish_piece(&f->file[i]);
        finish_flushing(&f->file[i]);
        if (code == RG_GOOD)
            code = rg_mrc_write_commit(&f->file[i].out);
        else
            rg_mrc_write_abandon(&f->file[i].out);
    }
    pl_lap(m, PL_WRITE, since_s);
    return code;
}

// ---- the job's page ------------------------------------------------------------------------------------------------------

static void show_table(const char *path, const rg_volume *map) {
    rg_tsv t;
    RG_FREED double *fsc = rg_alloc((size_t)(map->side / 2 + 1) * sizeof *fsc);
    if (rg_summary_has(rg_tsv_read(path, &t))) {
        for (int s = 0; s < t.n_rows && s <= map->side / 2; s++) fsc[s] = rg_tsv_number(&t, s, "fsc");
        rg_fsc_show("the half maps", map->side, map->voxel_A > 0 ? map->voxel_A : 1, fsc);
        rg_tsv_free(&t);
    }
}

static void show_halves(const char *out) {
    rg_volume half[2] = {{0}};
    int code = RG_GOOD;
    for (int h = 0; h < 2 && code == RG_GOOD; h++) {
        RG_FREED char *path = rg_path_beside(out, h ? "_half2" : "_half1", NULL);
        code = rg_volume_read(path, &half[h]);
    }
    if (rg_summary_has(code)) {
        RG_FREED double *fsc = rg_alloc((size_t)(half[0].side / 2 + 1) * sizeof *fsc);
        rg_fsc(half[0].side, half[0].value, half[1].value, fsc);
        rg_fsc_show(
            "the half maps (one set of poses: an upper bound)", half[0].side, half[0].voxel_A > 0 ? half[0].voxel_A : 1, fsc);
    }
    free(half[0].value);
    free(half[1].value);
}

static void say_next(const char *out, const rg_particles *p, bool halves, bool invert, const char *fsc) {
    char *half[2] = {rg_path_beside(out, "_half1", NULL), rg_path_beside(out, "_half2", NULL)};
    rg_summary_look(out, "the map, in a viewer as ChimeraX or 3dmod");
    if (!halves)
        rg_summary_next("two half maps, with the other options of this run; their correlation says how fine the map is",
            (const char *const[]){"regather", "reconstruct", p->path, "--out", out, "--half-maps", NULL});
    else if (!rg_file_is_written(fsc))
        rg_summary_next("how fine the map is", (const char *const[]){"regather", "fsc", half[0], half[1], "--out", fsc, NULL});
    else
        rg_summary_look(fsc, "the correlation of the half maps, shell by shell");
    if (!p->lacks_ctf)
        rg_summary_next("better poses, by this map",
            (const char *const[]){
                "regather", "refine", p->path, "--reference", out, "--out", "NEW.star", invert ? "--invert" : "", NULL});
    free(half[0]);
    free(half[1]);
}

void rc_show(const rc_run *run, const char *variant) {
    const rg_particles *p = run->particles;
    const bool halves = run->halves == 2;
    const char *out = run->typed->out;
    enum { SIDE_MOST = 256 }; // reading and transforming larger maps takes as long as making them on a GPU
    RG_FREED char *table = rg_path_beside(out, "_fsc", ".tsv");
    rg_volume map = {0};
    rg_summary_did("particles", "%" PRId64 " of %" PRId64 "^2 pixels of %g A", p->n, p->side, p->pixel_A);
    rg_summary_did("variant", "%s", variant);
    rg_summary_found(
        "A map of %" PRId64 "^3 voxels of %g A from %" PRId64 " image%s.", p->side, p->pixel_A, p->n, rg_plural(p->n));
    if (!halves)
        rg_summary_found("How fine it is, one map does not say: `--half-maps` makes two, whose correlation does.");
    else if (p->side > SIDE_MOST)
        rg_summary_found("How fine it is, the correlation of its half maps says: `regather fsc` compares the two files.");
    // One map, or two and their transforms.
    if (p->side <= SIDE_MOST && rg_summary_affords(28 * pow((double)p->side, 3)) && rg_summary_has(rg_volume_read(out, &map))) {
        if (rg_file_is_written(table))
            show_table(table, &map);
        else if (halves)
            show_halves(out);
        rg_volume_show(&map, "the map");
    }
    rg_summary_directions(p->n, &p->row->rot_deg, &p->row->tilt_deg, sizeof *p->row);
    say_next(out, p, halves, run->typed->invert, table);
    free(map.value);
}
