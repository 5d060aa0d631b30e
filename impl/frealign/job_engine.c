// SPDX-License-Identifier: MIT
// job_engine.c: buffers on the job's device that the routines share, so that particles stay where they are between routines.
#include "job.h"
#include "../core/cpu.h"
#include "../core/pick.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const routine_name[FR_DOES] = {"ctfapply", "cc3m", "ccp", "pinsert_s"};
static const char *const fixed_order[] = {"batch", "scatter_v4", "scatter", "simd",
                                          "naive"}; // from experience the fastest first

// --variant ALGO:NAME[:PARAMS] that is meant for this routine, NULL when there is none.
static const char *asked_for(const rg_cli *cli, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; rg_cli_nth(cli, "variant", i); i++) {
        const char *text = rg_cli_nth(cli, "variant", i);
        if (strncmp(text, name, length) == 0 && text[length] == ':')
            return text + length + 1;
    }
    return NULL;
}

static int pick(fr_call *c, const rg_cli *cli, const char *device)
{
    c->algo = rg_algo_find(c->name);
    const char *asked = asked_for(cli, c->name);
    if (asked)
        return rg_pick_asked(c->algo, device, asked, &c->entry, c->param);
    for (int i = 0; i < RG_COUNT(fixed_order) && !c->entry; i++) {
        const rg_entry *e = rg_pick_named(c->algo, device, fixed_order[i]);
        if (e && !rg_unavailable(e) && (strcmp(device, "cpu") != 0 || e->variant->space == RG_HOST))
            c->entry = e;
    }
    if (!c->entry)
        return rg_fail(RG_LACKS, "no variant of %s can run on this machine (see regather list)", c->name);
    rg_params_standard(c->entry->variant, c->param);
    return RG_GOOD;
}

static int check_asked(const rg_cli *cli)
{
    for (int i = 0; rg_cli_nth(cli, "variant", i); i++) {
        const char *text = rg_cli_nth(cli, "variant", i);
        bool known = false;
        for (int r = 0; r < FR_DOES; r++)
            known =
                known || (strncmp(text, routine_name[r], strlen(routine_name[r])) == 0 && text[strlen(routine_name[r])] == ':');
        if (!known)
            return rg_fail(RG_USAGE,
                           "--variant: expected ctfapply:, cc3m:, ccp: or pinsert_s: and a variant's name, found \"%s\"", text);
    }
    return RG_GOOD;
}

int fr_engine_open(fr_engine *e, const rg_cli *cli, unsigned routines)
{
    const char *name = rg_cli_text(cli, "device", "gpu");
    int64_t threads;
    bool host = true, device = true;
    char why[200];
    *e = (fr_engine){0};
    int code = rg_cli_int(cli, "threads", rg_cpu_cores(), 1, 4096, &threads);
    code = code == RG_GOOD ? check_asked(cli) : code;
    for (int r = 0; r < FR_DOES; r++)
        e->does[r].name = routine_name[r];
    for (int r = 0; r < FR_DOES && code == RG_GOOD; r++) {
        if (!(routines >> r & 1))
            continue;
        code = pick(&e->does[r], cli, name);
        const rg_entry *entry = e->does[r].entry;
        if (code == RG_GOOD && entry->variant->space == RG_HOST)
            device = false;
        else
            host = false;
    }
    if (code != RG_GOOD)
        return code;
    if (!host && !device)
        return rg_fail(RG_USAGE, "--variant: all routines must run on the same device; --device cpu takes those of the CPU");
    e->threads = (int)threads;
    e->device = host ? rg_device_cpu() : strcmp(name, "host") == 0 ? rg_device_emulated() : rg_device_open(name, why);
    return e->device ? RG_GOOD : rg_fail(RG_LACKS, "--device %s: %s", name, why);
}

static int device_failed(const fr_engine *e, const char *doing, int code)
{
    return rg_fail(RG_WRONG, "%s: %s: %s", e->device->name, doing, e->device->error(code));
}

static int make(const fr_engine *e, rg_buffer *b, int64_t floats)
{
    int code = rg_buffer_make(b, e->device, (size_t)floats * sizeof(float), sizeof(float), false);
    return code == RG_OK ? RG_GOOD : device_failed(e, "no memory for its buffers", code);
}

int fr_engine_size(fr_engine *e, int64_t side, int64_t batch, int64_t trials, const float *f3, int64_t out,
                   const float setting[FR_SETTINGS])
{
    int64_t pixels = side * side, stored = fr_stored(side), nodes = f3 ? 2 * fr_voxels(side) : 0;
    rg_device_facts facts;
    double bytes = 4 * ((double)batch * (double)(pixels + 5 * stored + FR_POSE_FLOATS * trials) + (double)(nodes + out));
    if (e->device->facts(&facts) != RG_OK)
        return rg_fail(RG_LACKS, "the free memory of %s is not known", e->device->name);
    if (bytes > (double)facts.free_bytes)
        return rg_fail(RG_LACKS,
                       "%" PRId64 " images of %" PRId64 " pixels a side need %.2f GiB of %s memory, %.2f GiB are free; "
                       "take fewer with --batch",
                       batch, side, bytes / 0x1p30, e->device->name, (double)facts.free_bytes / 0x1p30);
    const struct {
        rg_buffer *buffer;
        int64_t floats;
    } need[] = {{&e->image, batch * pixels},
                {&e->optics, batch * FR_OPTICS},
                {&e->shift, 2 * batch},
                {&e->setting, FR_SETTINGS},
                {&e->ssnr, side / 2 + 1},
                {&e->d, 2 * batch * stored},
                {&e->x, 2 * batch * stored},
                {&e->c, batch * stored},
                {&e->f3, nodes},
                {&e->pose, batch * trials * FR_POSE_FLOATS},
                {&e->out, out}};
    int code = RG_GOOD;
    for (int i = 0; i < RG_COUNT(need) && code == RG_GOOD; i++)
        code = make(e, need[i].buffer, need[i].floats);
    if (code != RG_GOOD)
        return code;
    e->side = side;
    e->batch = batch;
    e->host_image = rg_alloc((size_t)(batch * pixels) * sizeof(float));
    e->host_optics = rg_alloc((size_t)(batch * FR_OPTICS) * sizeof(float));
    e->host_shift = rg_alloc((size_t)(2 * batch) * sizeof(float));
    float *ssnr = rg_alloc((size_t)(side / 2 + 1) * sizeof *ssnr);
    for (int64_t k = 1; k <= side / 2; k++) { // FREALIGN's, where no table of an earlier round is there
        double r = (double)k / (double)side * setting[0] / (double)side;
        ssnr[k] = (float)exp(-r * r);
    }
    int error = rg_buffer_put(&e->ssnr, ssnr);
    error = error ? error : rg_buffer_put(&e->setting, setting);
    error = error || !f3 ? error : rg_buffer_put(&e->f3, f3);
    free(ssnr);
    return error ? device_failed(e, "copying the reference", error) : RG_GOOD;
}

static void forget(fr_call *c)
{
    if (c->ready && c->entry->variant->finish)
        c->entry->variant->finish(&c->call);
    rg_buffer_free(&c->scratch);
    c->ready = false;
}

void fr_engine_close(fr_engine *e)
{
    for (int r = 0; r < FR_DOES; r++)
        forget(&e->does[r]);
    rg_buffer *all[] = {&e->image, &e->optics, &e->shift, &e->setting, &e->ssnr, &e->d,
                        &e->x,     &e->c,      &e->f3,    &e->pose,    &e->out};
    for (int i = 0; i < RG_COUNT(all); i++)
        rg_buffer_free(all[i]);
    free(e->host_image);
    free(e->host_optics);
    free(e->host_shift);
}

static int get_ready(fr_engine *e, fr_call *c, const rg_shape *shape, void *const *arg)
{
    const rg_variant *v = c->entry->variant;
    size_t bytes = (size_t)c->algo->n_args * sizeof *arg;
    if (c->ready && memcmp(&c->shape, shape, sizeof *shape) == 0 && memcmp(c->arg, arg, bytes) == 0)
        return RG_GOOD;
    forget(c);
    c->shape = *shape;
    memcpy(c->arg, arg, bytes);
    const char *why = c->algo->invalid(shape);
    why = why || !v->refuse ? why : v->refuse(shape, c->param);
    if (why)
        return rg_fail(RG_USAGE, "%s:%s: %s", c->name, c->entry->name, why);
    size_t scratch = v->scratch ? v->scratch(shape, c->param) : 0;
    int error = rg_buffer_make(&c->scratch, e->device, scratch, 1, false);
    if (error)
        return rg_fail(RG_LACKS, "%s:%s: no %.2f GiB of memory for its scratch", c->name, c->entry->name,
                       (double)scratch / 0x1p30);
    c->call = (rg_call){.shape = &c->shape, .param = c->param, .arg = c->arg, .scratch = scratch ? c->scratch.base : NULL,
                        .threads = v->flags & RG_THREADED ? e->threads : 1};
    error = v->prepare ? v->prepare(&c->call) : RG_OK;
    c->ready = true;
    return error ? device_failed(e, "it cannot be prepared", error) : RG_GOOD;
}

int fr_engine_run(fr_engine *e, int which, const rg_shape *shape, void *const *arg)
{
    fr_call *c = &e->does[which];
    double since_s = rg_seconds();
    int code = get_ready(e, c, shape, arg);
    if (code == RG_GOOD) {
        int error = c->entry->variant->run(&c->call), sticky = e->device->sync();
        error = error ? error : sticky;
        code = error ? device_failed(e, c->name, error) : RG_GOOD;
    }
    c->spent_s += rg_seconds() - since_s;
    c->runs++;
    return code;
}

static int read_image(fr_engine *e, fr_files *f, int64_t i, int64_t slot)
{
    int64_t pixels = e->side * e->side;
    float *image = e->host_image + slot * pixels;
    const rg_particle *q = &f->particles.row[i];
    int code = rg_particles_image(&f->particles, i, image);
    bool constant = true;
    for (int64_t p = 1; p < pixels && constant; p++)
        constant = image[p] == image[0];
    if (code == RG_GOOD && constant)
        code = rg_fail(RG_USAGE, "%s: image %" PRId64 ": expected a picture, found %g everywhere",
                       f->particles.stack[q->stack].path, q->image + 1, image[0]);
    fr_optics_of(f, i, e->host_optics + slot * FR_OPTICS);
    const double turn = 2 * 3.14159265358979323846 / (double)e->side;
    e->host_shift[2 * slot] = (float)(-q->origin_x_px * turn); // a particle stands at minus its origin
    e->host_shift[2 * slot + 1] = (float)(-q->origin_y_px * turn);
    return code;
}

// What ctfapply has no room for: c times exp(-|B| g^2 / 4) of those rows that have a B-factor.
static int damp(fr_engine *e, const fr_files *f, int64_t first, int64_t step, int64_t n)
{
    const int64_t stored = fr_stored(e->side);
    const double width_A = (double)e->side * f->particles.pixel_A;
    bool any = false;
    for (int64_t i = 0; i < n; i++)
        any = any || f->particles.row[first + i * step].ctf.b_factor_A2 != 0;
    if (!any)
        return RG_GOOD;
    float *c = rg_alloc((size_t)(n * stored) * sizeof *c);
    int error = e->device->download(c, e->c.base, (size_t)(n * stored) * sizeof *c);
#pragma omp parallel for num_threads(e->threads)
    for (int64_t i = 0; i < n; i++) {
        const double b = fabs(f->particles.row[first + i * step].ctf.b_factor_A2) / (4 * width_A * width_A);
        for (int64_t k = 0; k < stored; k++) {
            const int64_t x = fr_i(e->side, k), y = fr_j(e->side, k);
            c[i * stored + k] *= (float)exp(-b * (double)(x * x + y * y));
        }
    }
    error = error ? error : e->device->upload(e->c.base, c, (size_t)(n * stored) * sizeof *c);
    free(c);
    return error ? device_failed(e, "copying the CTF", error) : RG_GOOD;
}

int fr_engine_load(fr_engine *e, fr_files *f, int64_t first, int64_t step, int64_t n, int64_t kind)
{
    double since_s = rg_seconds();
    int code = RG_GOOD;
    for (int64_t i = 0; i < n && code == RG_GOOD; i++)
        code = read_image(e, f, first + i * step, i);
    if (code != RG_GOOD)
        return code;
    size_t pixels = (size_t)(e->side * e->side);
    int error = e->device->upload(e->image.base, e->host_image, (size_t)n * pixels * sizeof(float));
    error = error ? error : e->device->upload(e->optics.base, e->host_optics, (size_t)n * FR_OPTICS * sizeof(float));
    error = error ? error : e->device->upload(e->shift.base, e->host_shift, (size_t)n * 2 * sizeof(float));
    e->read_s += rg_seconds() - since_s;
    if (error)
        return device_failed(e, "copying images", error);
    const rg_shape shape = {.n = {[FR_SIDE] = e->side, [FR_PARTICLES] = n, [FR_KIND] = kind & (FR_SQUARED | FR_RINGS),
                                  [FR_TRIALS] = 1}};
    void *const arg[] = {e->image.base, e->optics.base, e->shift.base, e->setting.base,
                         e->ssnr.base,  e->d.base,      e->x.base,     e->c.base};
    code = fr_engine_run(e, FR_DO_APPLY, &shape, arg);
    return code == RG_GOOD ? damp(e, f, first, step, n) : code;
}

void fr_engine_report(const fr_engine *e, double whole_s)
{
    double rest_s = whole_s - e->read_s;
    printf("stage\tseconds\tshare\tcalls\nread\t%.3f\t%.1f %%\t-\n", e->read_s, 100 * e->read_s / whole_s);
    for (int r = 0; r < FR_DOES; r++) {
        const fr_call *c = &e->does[r];
        if (!c->runs)
            continue;
        printf("%s:%s\t%.3f\t%.1f %%\t%" PRId64 "\n", c->name, c->entry->name, c->spent_s, 100 * c->spent_s / whole_s, c->runs);
        rest_s -= c->spent_s;
    }
    printf("rest\t%.3f\t%.1f %%\t-\nwhole\t%.3f\t100.0 %%\t-\n", rest_s, 100 * rest_s / whole_s, whole_s);
}
