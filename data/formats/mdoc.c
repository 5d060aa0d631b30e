// SPDX-License-Identifier: MIT
// mdoc.c: reads SerialEM's .mdoc, and finds the order of acquisition.
#include "mdoc.h"
#include "../../impl/base/core.h"
#include "../../impl/base/malformed.h"

#include <time.h>

enum { TEXT_MAX = 1 << 24 };
static const double A_PER_UM = -1e4; // SerialEM's underfocus is negative, in micrometres

enum { TILT, DOSE, PRIOR, DEFOCUS, TARGET, KEYS };
static const char *const key_of[KEYS] = {"TiltAngle", "ExposureDose", "PriorRecordDose", "Defocus", "TargetDefocus"};

// An image as in its section.
typedef struct section {
    double value[KEYS]; // NaN: absent
    double z, time_s;   // ZValue; DateTime, whose differences count; NaN: absent
} section;

typedef struct reading {
    rg_mdoc *mdoc;
    section *image; // as many as mdoc->n
    bool elsewhere; // below a heading of another kind
    bool dated;     // an image has a DateTime, maybe in an unknown format
} reading;

// "30-Nov-15  15:21:38" or "30-Nov-2015  15:21:38".
static double time_of(const char *text) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm t = {.tm_isdst = 0};
    char month[4];
    if (sscanf(text, "%d-%3s-%d %d:%d:%d", &t.tm_mday, month, &t.tm_year, &t.tm_hour, &t.tm_min, &t.tm_sec) != 6) return NAN;
    const char *at = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!at) return NAN;
    t.tm_mon = (int)(at - months) / 3;
    t.tm_year += t.tm_year < 100 ? 100 : -1900;
    return (double)timegm(&t);
}

static void add_image(reading *r, const char *z) {
    char *end;
    section *now = (r->image = rg_grow(r->image, r->mdoc->n, sizeof *r->image)) + r->mdoc->n;
    for (int k = 0; k < KEYS; k++) now->value[k] = NAN;
    now->time_s = NAN;
    if (!rg_decimal(z, &end, &now->z)) now->z = (double)r->mdoc->n;
    r->mdoc->n++;
}

// Reads "KEY = VALUE" of the last image, or of the series before the first. False if a number was expected.
static bool take(reading *r, const char *key, const char *text) {
    char *end;
    double value;
    const bool number = rg_decimal(text, &end, &value) && !end[strspn(end, " \t\r")];
    if (!strcmp(key, "Voltage")) {
        r->mdoc->voltage_kV = value;
        return number && value >= 1 && value <= 1e4;
    }
    if (!r->mdoc->n) return true;
    section *now = &r->image[r->mdoc->n - 1];
    if (!strcmp(key, "DateTime")) {
        now->time_s = time_of(text);
        r->dated = true;
    }
    for (int k = 0; k < KEYS; k++)
        if (!strcmp(key, key_of[k])) {
            now->value[k] = value;
            return number;
        }
    return true; // not used here
}

static bool all_have(const reading *r, int key) {
    for (int64_t i = 0; i < r->mdoc->n; i++)
        if (isnan(r->image[i].value[key])) return false;
    return true;
}

// SerialEM writes 0 for a camera whose dose was never calibrated.
static bool is_zero_somewhere(const reading *r, int key) {
    for (int64_t i = 0; i < r->mdoc->n; i++)
        if (r->image[i].value[key] <= 0) return true;
    return false;
}

// Whether image a was taken before image b, according to `by`; equal ones in the order of their ZValues.
static bool before(const reading *r, rg_mdoc_order by, int64_t a, int64_t b) {
    const section *x = &r->image[a], *y = &r->image[b];
    const double first = by == RG_MDOC_PRIOR_DOSE ? x->value[PRIOR] - y->value[PRIOR]
        : by == RG_MDOC_DATE_TIME                 ? x->time_s - y->time_s
                                                  : 0;
    if (first != 0) return first < 0;
    return x->z != y->z ? x->z < y->z : a < b;
}

static void take_doses(const char *path, const reading *r) {
    rg_mdoc *m = r->mdoc;
    bool timed = true, prior = all_have(r, PRIOR);
    double most = 0;
    for (int64_t i = 0; i < m->n; i++) {
        timed &= !isnan(r->image[i].time_s);
        most = fmax(most, r->image[i].value[PRIOR]);
    }
    prior = prior && (most > 0 || m->n == 1);
    m->order = prior ? RG_MDOC_PRIOR_DOSE : timed ? RG_MDOC_DATE_TIME : RG_MDOC_Z_VALUE;
    if (m->order == RG_MDOC_Z_VALUE && r->dated)
        rg_warn("%s: not every image has a DateTime as 30-Nov-15 15:21:38: the order of acquisition is that of ZValue", path);
    const bool dose = all_have(r, DOSE) && !is_zero_somewhere(r, DOSE);
    for (int64_t i = 0; i < m->n; i++) {
        rg_mdoc_image *image = &m->image[i];
        image->dose = dose ? r->image[i].value[DOSE] : NAN;
        image->prior_dose = prior ? r->image[i].value[PRIOR] : 0;
        for (int64_t k = 0; k < m->n; k++)
            if (before(r, m->order, k, i)) {
                image->taken_before++;
                if (!prior) image->prior_dose += dose ? r->image[k].value[DOSE] : NAN;
            }
        if (!prior && !dose) image->prior_dose = NAN; // also for the first
    }
}

static void take_images(const char *path, const reading *r) {
    rg_mdoc *m = r->mdoc;
    m->image = rg_alloc((size_t)m->n * sizeof *m->image);
    m->target_defocus = all_have(r, TARGET);
    for (int64_t i = 0; i < m->n; i++) {
        const double *value = r->image[i].value;
        m->image[i].tilt_deg = value[TILT];
        m->image[i].defocus_A = A_PER_UM * value[m->target_defocus ? TARGET : DEFOCUS]; // not a mixture of the two
    }
    take_doses(path, r);
}

static int parse(const char *path, char *text, reading *r) {
    char *rest = text;
    while (rest) {
        char *line = strsep(&rest, "\n"), *equals = strchr(line, '=');
        const int64_t at = line - text;
        line += strspn(line, " \t");
        if (!strncmp(line, "[ZValue", 7)) {
            add_image(r, line + strcspn(line, "=") + (strchr(line, '=') != NULL));
            r->elsewhere = false;
            continue;
        }
        if (*line == '[') r->elsewhere = strncmp(line, "[T", 2); // frame sets, montages; not titles
        if (*line == '[' || !equals || r->elsewhere) continue;
        char *key = line, *value = equals + 1 + strspn(equals + 1, " \t");
        while (equals > key && (equals[-1] == ' ' || equals[-1] == '\t')) equals--;
        *equals = '\0';
        if (!take(r, key, value))
            return rg_malformed(
                path, at, "expected a number for %s, found %s", key, rg_quote_bytes(value, (int)strnlen(value, 40)));
    }
    return r->mdoc->n ? RG_GOOD : rg_malformed(path, 0, "expected [ZValue = 0] and more images of an .mdoc file, found none");
}

int rg_mdoc_read(const char *path, rg_mdoc *m) {
    char *text;
    int64_t bytes;
    *m = (rg_mdoc){.voltage_kV = NAN};
    reading r = {.mdoc = m};
    int code = rg_input_text(path, TEXT_MAX, &text, &bytes);
    if (code == RG_GOOD) code = parse(path, text, &r);
    free(text);
    if (code == RG_GOOD) take_images(path, &r);
    free(r.image);
    if (code != RG_GOOD) rg_mdoc_free(m);
    return code;
}

const char *rg_mdoc_order_name(rg_mdoc_order order) {
    static const char *const name[] = {"ZValue", "DateTime", "PriorRecordDose"};
    return name[order];
}

void rg_mdoc_free(rg_mdoc *m) {
    free(m->image);
    *m = (rg_mdoc){.voltage_kV = NAN};
}
