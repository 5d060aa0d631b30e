// SPDX-License-Identifier: MIT
#include "stacks.h"
#include "../../impl/base/hash.h"

#include <sys/stat.h>

// ---- where a stack is -----------------------------------------------------------------------------------------------------

// A project may have thousands of stacks, one a micrograph: a warning names the first and counts the others.
#define SAY_FIRST(count, ...) ((count)++ ? (void)0 : rg_warn(__VA_ARGS__))

static void say_others(const char *star_path, int64_t count, const char *what) {
    if (count > 1) rg_warn("%s: %" PRId64 " other stack%s %s, too", star_path, count - 1, count > 2 ? "s are" : " is", what);
}

// The file that a program which looks beside the STAR file first would use as the stack.
static void warn_of_another(const char *star_path, int folder, const char *name, rg_stack_names *known) {
    struct stat here, beside;
    RG_FREED char *other = rg_print("%.*s%s", folder, star_path, name);
    if (!stat(name, &here) && !stat(other, &beside) && (here.st_ino != beside.st_ino || here.st_dev != beside.st_dev))
        SAY_FIRST(known->here, "%s: \"%s\" is taken from here, as RELION does; %s is another file", star_path, name, other);
}

// The name in the folder given by the first n characters of `folder`, if such a file is readable; else NULL.
static char *in_folder(const char *folder, int n, const char *name) {
    char *path = rg_print("%.*s%s", n, folder, name);
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

// Looks in the order of stacks.h; NULL: not found.
static char *stack_path(const char *star_path, const char *name, rg_stack_names *known) {
    // From the current folder, if the STAR file's path is relative to it; the root's parent is the root.
    static const char above[] = "../../../../../../../../../../../../";
    const char *slash = strrchr(star_path, '/'), *base = strrchr(name, '/');
    const int folder = slash ? (int)(slash - star_path + 1) : 0;
    char *path = in_folder("", 0, name);
    bool moved = false;
    if (folder && *name != '/') warn_of_another(star_path, folder, name, known);
    for (int n = folder; n && !path && *name != '/';) {
        path = in_folder(star_path, n, name);
        moved = n < folder;
        for (n--; n && star_path[n - 1] != '/';) n--;
    }
    for (int n = 3; n < (int)sizeof above && !path && *name != '/' && *star_path != '/'; n += 3) {
        path = in_folder(above, n, name);
        moved = true;
    }
    if (!path) {
        path = in_folder(star_path, folder, base ? base + 1 : name);
        moved = true;
    }
    if (path && moved) SAY_FIRST(known->moved, "%s: no \"%s\"; %s is taken", star_path, name, path);
    return path;
}

// ---- each found and checked once ------------------------------------------------------------------------------------------

static int check_stack(rg_particles *p, const char *path, int64_t line) {
    static const double CALIBRATED = 0.1; // a pixel size that was measured later differs by less
    rg_mrc mrc;
    int code = rg_mrc_open(&mrc, path);
    if (code != RG_GOOD) return code;
    if (mrc.nx != mrc.ny)
        code = rg_fail(
            RG_USAGE, "%s: expected square images, found %" PRId64 " columns and %" PRId64 " rows", path, mrc.nx, mrc.ny);
    else if (p->side && mrc.nx != p->side)
        code = rg_star_fault(p->path, line,
            "expected images of %" PRId64 " pixels a side as in the first stack, found %" PRId64 " in %s", p->side, mrc.nx,
            path);
    if (code == RG_GOOD && !(p->pixel_A > 0) && !p->side && mrc.voxel_A[0] > 0)
        p->pixel_A = rg_mrc_voxel_A(&mrc, false);
    else if (code == RG_GOOD && p->n_stacks == 1 && mrc.voxel_A[0] > 0 && mrc.voxel_A[0] != 1 // 1: unknown
        && fabs(mrc.voxel_A[0] / p->pixel_A - 1) > CALIBRATED)
        rg_warn(
            "%s: a pixel of %g A, by the header of %s of %g A; the first is used", p->path, p->pixel_A, path, mrc.voxel_A[0]);
    p->side = mrc.nx;
    p->stack[p->n_stacks - 1].images = mrc.nz;
    rg_mrc_close(&mrc);
    return code;
}

static rg_stack_name *slot_of(const rg_stack_names *k, const char *name) {
    size_t i = rg_fnv1a(RG_FNV1A, name, strlen(name)) & (k->room - 1);
    while (k->slot[i].name && strcmp(k->slot[i].name, name) != 0) i = (i + 1) & (k->room - 1);
    return &k->slot[i];
}

static void grow(rg_stack_names *k) {
    rg_stack_names larger = {.room = k->room ? 2 * k->room : 64, .n = k->n};
    larger.slot = rg_alloc(larger.room * sizeof *larger.slot);
    for (size_t i = 0; i < k->room; i++)
        if (k->slot[i].name) *slot_of(&larger, k->slot[i].name) = k->slot[i];
    free(k->slot);
    *k = larger;
}

int rg_particles_stack(rg_particles *p, rg_stack_names *known, const char *name, int64_t line, int *stack) {
    if (2 * (size_t)known->n >= known->room) grow(known);
    rg_stack_name *slot = slot_of(known, name);
    if (slot->name) {
        *stack = slot->stack;
        return RG_GOOD;
    }
    const bool suffixed = rg_ends_with(name, ":mrcs") || rg_ends_with(name, ":mrc");
    RG_FREED char *file = rg_print("%s", name);
    if (suffixed) *strrchr(file, ':') = '\0';
    char *path = stack_path(p->path, file, known);
    const char *colon = strrchr(name, ':');
    if (!path && colon && !suffixed && !strchr(colon, '/'))
        return rg_star_fault(
            p->path, line, "expected the name of a stack, with :mrcs or :mrc after it or nothing, found \"%s\"", name);
    if (!path)
        return rg_star_fault(p->path, line,
            "expected the stack \"%s\" here, beside the STAR file or in a folder above, "
            "found none",
            name);
    p->stack = rg_grow(p->stack, p->n_stacks, sizeof *p->stack);
    p->stack[p->n_stacks++] = (rg_particle_stack){.path = path};
    *slot = (rg_stack_name){name, p->n_stacks - 1};
    known->n++;
    *stack = slot->stack;
    return check_stack(p, path, line);
}

void rg_particles_stacks_end(const rg_particles *p, rg_stack_names *known) {
    say_others(p->path, known->here, "taken from here");
    say_others(p->path, known->moved, "elsewhere than named");
    free(known->slot);
    *known = (rg_stack_names){0};
}
