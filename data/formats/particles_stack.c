// SPDX-License-Identifier: MIT
#include "particles_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// As named; else beside the STAR file, with the folders of the name; else, for projects that were moved, without them.
static char *stack_path(const char *star_path, const char *name)
{
    const char *slash = strrchr(star_path, '/'), *base = strrchr(name, '/');
    int folder = slash ? (int)(slash - star_path + 1) : 0;
    char *path = rg_print("%s", name);
    for (int attempt = 0; attempt < 2 && access(path, R_OK) != 0; attempt++) {
        free(path);
        path = rg_print("%.*s%s", folder, star_path, attempt && base ? base + 1 : name);
        if (attempt && access(path, R_OK) == 0)
            rg_warn("%s: no \"%s\"; %s is taken", star_path, name, path);
    }
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static int check_stack(rg_particles *p, const char *path, int64_t line)
{
    rg_mrc mrc;
    int code = rg_mrc_open(&mrc, path);
    if (code != RG_GOOD)
        return code;
    if (mrc.nx != mrc.ny)
        code = rg_fail(RG_USAGE, "%s: expected square images, found %" PRId64 " columns and %" PRId64 " rows", path, mrc.nx,
                       mrc.ny);
    else if (p->side && mrc.nx != p->side)
        code = rg_star_fault(p->path, line, "expected images of %" PRId64 " pixels a side as in the first stack, found %" PRId64
                             " in %s", p->side, mrc.nx, path);
    if (code == RG_GOOD && !(p->pixel_A > 0) && !p->side && mrc.voxel_A[0] > 0)
        p->pixel_A = mrc.voxel_A[0];
    p->side = mrc.nx;
    p->stack[p->n_stacks - 1].images = mrc.nz;
    rg_mrc_close(&mrc);
    return code;
}

static rg_stack_name *slot_of(const rg_stack_names *k, const char *name)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    size_t i = hash & (k->room - 1);
    while (k->slot[i].name && strcmp(k->slot[i].name, name) != 0)
        i = (i + 1) & (k->room - 1);
    return &k->slot[i];
}

static void grow(rg_stack_names *k)
{
    rg_stack_names larger = {.room = k->room ? 2 * k->room : 64, .n = k->n};
    larger.slot = rg_alloc(larger.room * sizeof *larger.slot);
    for (size_t i = 0; i < k->room; i++)
        if (k->slot[i].name)
            *slot_of(&larger, k->slot[i].name) = k->slot[i];
    free(k->slot);
    *k = larger;
}

int rg_particles_stack(rg_particles *p, rg_stack_names *known, const char *name, int64_t line, int *stack)
{
    if (2 * (size_t)known->n >= known->room)
        grow(known);
    rg_stack_name *slot = slot_of(known, name);
    if (slot->name) {
        *stack = slot->stack;
        return RG_GOOD;
    }
    char *path = stack_path(p->path, name);
    if (!path)
        return rg_star_fault(p->path, line, "expected the stack \"%s\" here or beside the STAR file, found none", name);
    p->stack = realloc(p->stack, (size_t)(p->n_stacks + 1) * sizeof *p->stack);
    if (!p->stack)
        exit(rg_fail(RG_LACKS, "out of memory for the list of stacks"));
    p->stack[p->n_stacks++] = (rg_particle_stack){.path = path};
    *slot = (rg_stack_name){name, p->n_stacks - 1};
    known->n++;
    *stack = slot->stack;
    return check_stack(p, path, line);
}

// Subsets of a stack are common, so images without a row are no error; that they are left out is said.
void rg_particles_unnamed(const rg_particles *p)
{
    int64_t **seen = rg_alloc((size_t)p->n_stacks * sizeof *seen), unnamed = 0, first = -1;
    int first_stack = 0;
    for (int s = 0; s < p->n_stacks; s++)
        seen[s] = rg_alloc((size_t)(p->stack[s].images / 64 + 1) * sizeof **seen);
    for (int64_t i = 0; i < p->n; i++)
        seen[p->row[i].stack][p->row[i].image / 64] |= (int64_t)(UINT64_C(1) << p->row[i].image % 64);
    for (int s = 0; s < p->n_stacks; s++) {
        for (int64_t i = 0; i < p->stack[s].images; i++)
            if (!(seen[s][i / 64] >> i % 64 & 1)) {
                first_stack = unnamed ? first_stack : s;
                first = unnamed++ ? first : i;
            }
        free(seen[s]);
    }
    free(seen);
    if (unnamed)
        rg_warn("%s: %" PRId64 " rows; %" PRId64 " images of its stacks have no row and are left out, the first is image %"
                PRId64 " of %s", p->path, p->n, unnamed, first + 1, p->stack[first_stack].path);
}
