// SPDX-License-Identifier: MIT
#include "pick.h"
#include "../base/core.h"
#include "tuned.h"

#include <stdlib.h>
#include <string.h>

const rg_entry *rg_pick_named(const rg_algo *algo, const char *device, const char *name)
{
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, algo->name, device));)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

int rg_pick_asked(const rg_algo *algo, const char *device, const char *asked, const rg_entry **entry, int64_t *param)
{
    char name[96], why[160];
    const char *colon = strstr(asked, ".so:") ? strchr(strstr(asked, ".so:") + 4, ':') : strchr(asked, ':');
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - asked) : (int)strlen(asked), asked);
    const rg_entry *e = rg_pick_named(algo, device, name);
    if (!e) {
        char *pattern = rg_print("%s:%s", algo->name, name);
        int code = rg_pattern_check(pattern, device);
        free(pattern);
        return code != RG_GOOD ? code : rg_fail(RG_USAGE, "no variant %s for --device %s", name, device);
    }
    const char *lacks = rg_unavailable(e);
    if (lacks)
        return rg_fail(RG_LACKS, "--variant %s: %s", name, lacks);
    rg_params_standard(e->variant, param);
    if (colon && !rg_params_parse(e->variant, colon + 1, param, why))
        return rg_fail(RG_USAGE, "--variant %s: %s", asked, why);
    *entry = e;
    return RG_GOOD;
}

// NULL when the variant takes the shape, else why not.
static const char *refusal(const rg_algo *algo, const rg_shape *shape, const rg_variant *v, const int64_t *param)
{
    const char *why = algo->invalid(shape);
    return why || !v->refuse ? why : v->refuse(shape, param);
}

// The tuned parameters of this processor for the call expected, or the defaults.
static void resolve(const rg_entry *e, const char *device, const rg_shape *call, int64_t *param)
{
    char why[160];
    if (!rg_params_resolve(e, device, call, "", param, NULL, why))
        rg_params_standard(e->variant, param);
}

int rg_pick_variant(const rg_algo *algo, const rg_shape *least, const rg_shape *call, const char *device, const char *asked,
                    const char *const *order, int n, const rg_entry **entry, int64_t *param)
{
    if (asked) {
        int code = rg_pick_asked(algo, device, asked, entry, param);
        if (code == RG_GOOD && !strchr(asked, '='))
            resolve(*entry, device, call, param);
        const char *why = code == RG_GOOD ? refusal(algo, least, (*entry)->variant, param) : NULL;
        return why ? rg_fail(RG_USAGE, "--variant %s: %s", asked, why) : code;
    }
    for (int i = 0; i < n; i++) {
        const rg_entry *e = rg_pick_named(algo, device, order[i]);
        if (!e || rg_unavailable(e))
            continue;
        resolve(e, device, call, param);
        if (refusal(algo, least, e->variant, param))
            continue;
        *entry = e;
        return RG_GOOD;
    }
    return rg_fail(RG_LACKS, "no variant of %s can take images of this size on this machine (see regather list)", algo->name);
}

int rg_pick_for(const rg_algo *algo, const rg_shape *shape, const char *device, const char *asked, const char *const *order,
                int n, rg_picked *picked)
{
    char why[200];
    int code = rg_pick_variant(algo, shape, shape, device, asked, order, n, &picked->entry, picked->param);
    if (code != RG_GOOD)
        return code;
    const rg_entry *e = picked->entry;
    bool is_host = e->variant->space == RG_HOST && !e->emulated;
    picked->device = is_host ? rg_device_cpu() : e->emulated ? rg_device_emulated() : rg_device_open(device, why);
    return picked->device ? RG_GOOD : rg_fail(RG_LACKS, "--device %s: %s", device, why);
}
