// SPDX-License-Identifier: MIT
#include "pick.h"
#include "core.h"

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
