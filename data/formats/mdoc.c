// SPDX-License-Identifier: MIT
#include "mdoc.h"
#include "../../impl/base/core.h"
#include "../../impl/base/malformed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 24 };
static const double A_PER_UM = -1e4; // SerialEM's underfocus is negative, in micrometres

static const struct {
    const char *key;
    size_t at; // in rg_mdoc_image; the first of two keys goes before the second
    double times;
} of_image[] = {{"TiltAngle", offsetof(rg_mdoc_image, tilt_deg), 1}, {"ExposureDose", offsetof(rg_mdoc_image, dose), 1},
    {"PriorRecordDose", offsetof(rg_mdoc_image, prior_dose), 1}, {"Defocus", offsetof(rg_mdoc_image, defocus_A), A_PER_UM},
    {"TargetDefocus", offsetof(rg_mdoc_image, defocus_A), A_PER_UM}};
enum { DOSE = 1, TARGET = 4 };

static void add_image(rg_mdoc *m)
{
    m->image = rg_more(m->image, m->n, sizeof *m->image);
    m->image[m->n++] = (rg_mdoc_image){NAN, NAN, NAN, NAN};
}

// "KEY = VALUE" of the image that is last, or of the series before the first. False where a number was expected.
static bool take(rg_mdoc *m, const char *key, const char *text)
{
    char *end;
    double value;
    const bool number = rg_decimal(text, &end, &value) && !end[strspn(end, " \t\r")];
    if (!m->n && !strcmp(key, "Voltage")) {
        m->voltage_kV = value;
        return number && value >= 1 && value <= 1e4;
    }
    for (int k = 0; m->n && k < (int)(sizeof of_image / sizeof *of_image); k++) {
        double *to = (double *)(void *)((char *)&m->image[m->n - 1] + of_image[k].at);
        if (strcmp(key, of_image[k].key)) continue;
        if (k != TARGET || isnan(*to)) *to = of_image[k].times * value;
        if (k == DOSE && value <= 0) // SerialEM's word for a camera whose dose was never calibrated
            *to = NAN;
        return number;
    }
    return true; // of no use here
}

static int parse(const char *path, char *text, rg_mdoc *m)
{
    char *rest = text;
    while (rest) {
        char *line = strsep(&rest, "\n"), *equals = strchr(line, '=');
        const int64_t at = line - text;
        line += strspn(line, " \t");
        if (!strncmp(line, "[ZValue", 7)) {
            add_image(m);
            continue;
        }
        if (*line == '[' || !equals) // titles, frame sets, montages; blank lines
            continue;
        char *key = line, *value = equals + 1 + strspn(equals + 1, " \t");
        while (equals > key && (equals[-1] == ' ' || equals[-1] == '\t')) equals--;
        *equals = '\0';
        if (!take(m, key, value))
            return rg_malformed(
                path, at, "expected a number for %s, found %s", key, rg_quote_bytes(value, (int)strnlen(value, 40)));
    }
    return m->n ? RG_GOOD : rg_malformed(path, 0, "expected [ZValue = 0] and more images of an .mdoc file, found none");
}

int rg_mdoc_read(const char *path, rg_mdoc *m)
{
    char *text;
    int64_t bytes;
    *m = (rg_mdoc){.voltage_kV = NAN};
    int code = rg_input_text(path, TEXT_MAX, &text, &bytes);
    if (code == RG_GOOD) code = parse(path, text, m);
    free(text);
    double taken = 0;
    for (int64_t i = 0; i < m->n; i++) {
        if (isnan(m->image[i].prior_dose)) m->image[i].prior_dose = taken;
        taken += m->image[i].dose;
    }
    if (code != RG_GOOD) rg_mdoc_free(m);
    return code;
}

void rg_mdoc_free(rg_mdoc *m)
{
    free(m->image);
    *m = (rg_mdoc){.voltage_kV = NAN};
}
