// SPDX-License-Identifier: MIT
#include "choice.h"
#include "../base/core.h"
#include "tuned.h"

const rg_entry *rg_entry_named(const rg_algo *algo, const char *device, const char *name) {
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, algo->name, device));)
        if (strcmp(e->name, name) == 0) return e;
    return NULL;
}

const char *rg_refusal(const rg_entry *e, const rg_shape *shape, int64_t n, const int64_t *param) {
    const char *why = NULL;
    for (int64_t i = 0; i < n && !why; i++) {
        why = e->algo->invalid ? e->algo->invalid(&shape[i]) : NULL;
        if (!why && e->variant->refuse) why = e->variant->refuse(&shape[i], param);
    }
    return why;
}

// given: "NAME=VALUE;...". Returns false with the reason in why.
static bool set_params(
    const rg_entry *e, const char *device, const char *given, const rg_shape *typical, rg_choice *c, char why[160]) {
    c->entry = e;
    if (typical) return rg_params_resolve(e, device, typical, given, c->param, NULL, why);
    return rg_params_parse(e->variant, given, c->param, why);
}

static int choose_requested(const rg_algo *algo, const char *device, const char *requested, const rg_shape *shape, int64_t n,
    const rg_shape *typical, rg_choice *c) {
    char name[96], why[160];
    const char *file = strstr(requested, ".so:"), *colon = strchr(file ? file + 4 : requested, ':');
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - requested) : (int)strlen(requested), requested);
    const rg_entry *e = rg_entry_named(algo, device, name);
    if (!e) {
        RG_FREED char *pattern = rg_print("%s:%s", algo->name, name);
        int code = rg_pattern_check(pattern, device);
        return code != RG_GOOD ? code : rg_fail(RG_USAGE, "no variant %s for --device %s", name, device);
    }
    const char *lacks = rg_unavailable(e);
    if (lacks) return rg_fail(RG_LACKS, "--variant %s: %s", name, lacks);
    if (strcmp(device, "cpu") == 0 && !rg_on_cpu(e))
        return rg_fail(RG_USAGE, "--variant %s: it runs on a GPU, found --device cpu", name);
    if (!set_params(e, device, colon ? colon + 1 : "", typical, c, why))
        return rg_fail(RG_USAGE, "--variant %s: %s", requested, why);
    const char *refused = rg_refusal(e, shape, n, c->param);
    return refused ? rg_fail(RG_USAGE, "--variant %s: %s", requested, refused) : RG_GOOD;
}

// Whether "r>=26,k<=1" holds for all n shapes.
static bool holds(const rg_algo *algo, const char *condition, const rg_shape *shape, int64_t n) {
    for (const char *at = condition; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t name = strcspn(at, "<>");
        const long long bound = atoll(at + name + 2);
        int dim = 0;
        while (dim < RG_DIMS && !(algo->dim[dim] && strlen(algo->dim[dim]) == name && !strncmp(algo->dim[dim], at, name)))
            dim++;
        for (int64_t i = 0; i < n; i++)
            if (dim == RG_DIMS || (at[name] == '<' ? shape[i].n[dim] > bound : shape[i].n[dim] < bound)) return false;
    }
    return true;
}

// Tries a word of the order, which it modifies: "NAME" or "NAME:PARAMETERS", both also with "?CONDITIONS".
static bool can(const rg_algo *algo, char *word, const char *device, const rg_shape *shape, int64_t n, const rg_shape *typical,
    rg_choice *c) {
    char why[160], *condition = strchr(word, '?'), *given = strchr(word, ':');
    if (condition) *condition++ = '\0';
    if (given) *given++ = '\0';
    const rg_entry *e = rg_entry_named(algo, device, word);
    return e && holds(algo, condition, shape, n) && e->origin != RG_PLUGGED_IN && !rg_unavailable(e) &&
        (strcmp(device, "cpu") || rg_on_cpu(e)) && set_params(e, device, given ? given : "", typical, c, why) &&
        !rg_refusal(e, shape, n, c->param);
}

int rg_choose(const rg_algo *algo, const char *device, const char *requested, const rg_shape *shape, int64_t n,
    const rg_shape *typical, rg_choice *c) {
    *c = (rg_choice){0};
    typical = typical || !n ? typical : shape;
    if (requested) return choose_requested(algo, device, requested, shape, n, typical, c);
    bool found = false;
    for (const rg_entry *e = NULL; !algo->order && !found && (e = rg_entry_next(e, algo->name, device));) {
        RG_FREED char *word = rg_print("%s", e->name);
        found = can(algo, word, device, shape, n, typical, c);
    }
    char *order = rg_print("%s", algo->order ? algo->order : ""), *rest = order, *name;
    while (!found && (name = strsep(&rest, " "))) found = can(algo, name, device, shape, n, typical, c);
    free(order);
    return found ? RG_GOOD
                 : rg_fail(RG_LACKS, "no variant of %s can take this size on this machine (see regather list)", algo->name);
}

bool rg_on_cpu(const rg_entry *e) { return e->variant->space == RG_HOST && !e->emulated; }

int rg_entry_device(const rg_entry *e, const char *device, const rg_device **opened) {
    char why[200];
    *opened = rg_on_cpu(e) ? rg_device_cpu() : e->emulated ? rg_device_emulated() : rg_device_open(device, why);
    return *opened ? RG_GOOD : rg_fail(RG_LACKS, "--device %s: %s", device, why);
}
