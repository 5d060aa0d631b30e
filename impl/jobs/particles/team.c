// SPDX-License-Identifier: MIT
// team.c: chooses the routines' variants, and opens the engines that run them.
#include "particles.h"
#include "../../runtime/choice.h"
#include "../../runtime/tuned.h"

static const char *const routine_name[FR_ROUTINES] = {"ctfapply", "ccp", "sigma2", "cc3m", "presb", "ccoef", "pinsert_s"};

// Returns the --variant ALGO:NAME[:PARAMS] for this routine, or NULL.
static const char *requested_for(const rg_list *variant, const char *name) {
    size_t length = strlen(name);
    for (int i = 0; i < variant->n; i++)
        if (strncmp(variant->item[i], name, length) == 0 && variant->item[i][length] == ':')
            return variant->item[i] + length + 1;
    return NULL;
}

static int pick(fr_routine *r, const char *name, const rg_list *variant, const char *device, const rg_shape *typical) {
    rg_choice choice;
    int code = rg_choose(rg_algo_find(name), device, requested_for(variant, name), NULL, 0, typical, &choice);
    r->entry = choice.entry;
    memcpy(r->param, choice.param, sizeof r->param);
    return code;
}

static int check_requested(const rg_list *variant) {
    for (int i = 0; i < variant->n; i++) {
        bool known = false;
        char words[96];
        rg_near near = {0};
        for (int r = 0; r < FR_ROUTINES; r++) {
            known = known || requested_for(&(rg_list){1, variant->item + i}, routine_name[r]);
            rg_nearer(variant->item[i], strcspn(variant->item[i], ":"), routine_name[r], &near);
        }
        if (!known)
            return rg_fail(RG_USAGE,
                "--variant: expected ctfapply:, cc3m: or another routine and a variant's name, found \"%s\"; %ssee `regather list`",
                variant->item[i], rg_near_words(&near, "", words));
    }
    return RG_GOOD;
}

// Picks the variants of all routines, the same for every engine; *first: the first of them.
static int pick_all(fr_routine routine[FR_ROUTINES], const rg_list *variant, const char *device, int64_t side,
    unsigned routines, const rg_entry **first) {
    const rg_shape typical = {
        .n = {
            [FR_SIDE] = side, [FR_PARTICLES] = 128, [FR_KIND] = FR_V9, [FR_TRIALS] = 1, [FR_OUTER] = side / 3, [FR_INNER] = 1}};
    int code = check_requested(variant);
    bool on[2] = {false, false}; // RG_HOST, RG_DEVICE
    for (int r = 0; r < FR_ROUTINES && code == RG_GOOD; r++) {
        if (!(routines >> r & 1)) continue;
        code = pick(&routine[r], routine_name[r], variant, device, &typical);
        if (code == RG_GOOD) on[routine[r].entry->variant->space == RG_DEVICE] = true;
        *first = *first ? *first : routine[r].entry;
    }
    return code != RG_GOOD || !(on[0] && on[1])
        ? code
        : rg_fail(RG_USAGE, "--variant: all routines must run on the same device; --device cpu takes those of the CPU");
}

const fr_job_steps *fr_steps(const rg_device *device) {
    if (!device->is_gpu) return &fr_steps_cpu;
#if HAVE_CUDA
    return device->is_emulated ? &fr_steps_emulated : &fr_steps_gpu;
#else
    return &fr_steps_emulated;
#endif
}

int fr_team_open(fr_team *t, const rg_given *given, const rg_computing *computing, const fr_files *files, unsigned routines,
    int64_t most, bool even, double began_s) {
    fr_routine routine[FR_ROUTINES] = {0};
    pl_devices of = {.device = given->device,
        .gpus = computing->gpus,
        .threads = rg_given_threads(given),
        .most = most,
        .even = even,
        .began_s = began_s};
    *t = (fr_team){.given = given, .files = files, .source = fr_images_source(files)};
    int code = pick_all(routine, &computing->variant, of.device, files->particles.side, routines, &of.entry);
    code = code == RG_GOOD ? pl_team_open(&t->team, &of) : code;
    if (code != RG_GOOD) return code;
    t->team.source = &t->source;
    for (int r = 0; r < FR_ROUTINES; r++)
        if (routine[r].entry) t->team.call_name[r] = t->name[r] = rg_print("%s:%s", routine_name[r], routine[r].entry->name);
    t->engine = rg_alloc((size_t)t->team.n * sizeof *t->engine);
    for (int i = 0; i < t->team.n; i++) {
        t->engine[i] = (fr_engine){.member = &t->team.member[i], .files = files};
        memcpy(t->engine[i].routine, routine, sizeof routine);
    }
    return RG_GOOD;
}

void fr_team_plan_time(const fr_team *t, int routine, const rg_shape *typical, double particles) {
    const rg_entry *e = t->engine->routine[routine].entry;
    rg_plan_time(
        e, t->given->device, typical, e->algo->work(typical) * particles / (double)typical->n[FR_PARTICLES] / t->team.n);
}

static int close_engine(pl_member *m, void *context) {
    fr_engine_close(&((fr_team *)context)->engine[m->index]);
    return RG_GOOD;
}

void fr_team_close(fr_team *t) {
    if (t->engine && t->team.member->device) pl_team_run(&t->team, close_engine, t);
    pl_team_close(&t->team);
    for (int r = 0; r < FR_ROUTINES; r++) free(t->name[r]);
    free(t->engine);
    t->engine = NULL;
}

int fr_team_report(const fr_team *t, const char *out) {
    const rg_particles *p = &t->files->particles;
    RG_FREED char *note = rg_print(
        "# command: %s\n# %" PRId64 " image%s of %" PRId64 "^2 pixels\n", t->given->line, p->n, rg_plural(p->n), p->side);
    return pl_stages_write(&t->team, out, note);
}
