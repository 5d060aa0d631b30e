// SPDX-License-Identifier: MIT
// trace_place.c: parses the coordinates of elements from the text of the algorithm's where(), "(i=0,x=3,y=-2,re)", so that
// algorithms declare them only once.
#include "trace.h"
#include "../../impl/base/core.h"

static bool take_name(const char *text, size_t length, char name[12]) {
    if (length == 0 || length >= 12) return false;
    memcpy(name, text, length);
    name[length] = 0;
    return true;
}

// Reads one "x=-3" or "re" of length n; false if it is neither.
static bool take_part(const char *text, size_t n, rg_place *p) {
    const char *equals = memchr(text, '=', n);
    char *end;
    if (!equals) return take_name(text, n, p->part);
    if (p->n == RG_COORDINATES || !take_name(text, (size_t)(equals - text), p->name[p->n])) return false;
    p->value[p->n] = strtoll(equals + 1, &end, 10);
    return end == text + n && end > equals + 1 && ++p->n;
}

static bool take_parts(const char *text, rg_place *p) {
    bool good = *text != 0;
    while (*text && good) {
        const size_t n = strcspn(text, ",");
        good = take_part(text, n, p);
        text += n + (text[n] == ',');
    }
    return good;
}

void rg_place_of(const rg_algo *algo, const rg_shape *shape, int which, int64_t element, rg_place *p) {
    char text[64];
    *p = (rg_place){0};
    if (element < 0) {
        snprintf(p->text, sizeof p->text, "none on");
        return;
    }
    snprintf(text, sizeof text, "(element=%lld)", (long long)element);
    if (algo->where) algo->where(shape, which, element, text);
    snprintf(p->text, sizeof p->text, "%.*s", (int)strlen(text) - 2, text + 1);
    take_parts(p->text, p);
}

bool rg_place_get(const rg_place *p, const char *name, int64_t *value) {
    for (int c = 0; c < p->n; c++)
        if (strcmp(p->name[c], name) == 0) {
            *value = p->value[c];
            return true;
        }
    return false;
}

void rg_place_step(const rg_place *from, const rg_place *to, char text[64]) {
    size_t used = 0;
    text[0] = 0;
    for (int c = 0; c < to->n; c++)
        if (from->value[c] != to->value[c] && used < 64)
            used += (size_t)snprintf(
                text + used, 64 - used, "%s%s%+lld", used ? "," : "", to->name[c], (long long)(to->value[c] - from->value[c]));
    if (strcmp(from->part, to->part) != 0 && used < 64) snprintf(text + used, 64 - used, "%s%s", used ? "," : "", to->part);
}

// ---- choosing ------------------------------------------------------------------------------------------------------------

bool rg_filter_parse(const char *text, rg_filter *f, char why[160]) {
    rg_place p = {0};
    *f = (rg_filter){0};
    if (!text) return true;
    if (!take_parts(text, &p)) {
        snprintf(why, 160, "expected coordinates as in x=1,y=-2 (and re or im), found \"%.60s\"", text);
        return false;
    }
    f->n = p.n;
    memcpy(f->name, p.name, sizeof f->name);
    memcpy(f->value, p.value, sizeof f->value);
    memcpy(f->part, p.part, sizeof f->part);
    return true;
}

bool rg_filter_has(const rg_filter *f, const rg_algo *algo, const rg_shape *shape, int which, int64_t element) {
    rg_place p;
    int64_t value;
    if (f->n == 0 && !f->part[0]) return true;
    rg_place_of(algo, shape, which, element, &p);
    for (int c = 0; c < f->n; c++)
        if (!rg_place_get(&p, f->name[c], &value) || value != f->value[c]) return false;
    return !f->part[0] || strcmp(f->part, p.part) == 0;
}

void rg_pairs_keep(rg_pairs *pairs, const rg_filter *outputs) {
    int64_t kept = 0;
    for (int64_t i = 0; i < pairs->n; i++)
        if (rg_filter_has(outputs, pairs->algo, &pairs->shape, pairs->pair[i].which, pairs->pair[i].output))
            pairs->pair[kept++] = pairs->pair[i];
    pairs->n = kept;
}

// ---- what faults have in common --------------------------------------------------------------------------------------------

// One property of pairs: its value in the faults so far, and whether right pairs have other values.
typedef struct common {
    bool same, seen, others;
    char value[12];
} common;

static void note(common *c, bool faulty, const char *value) {
    const bool differs = c->seen && strcmp(c->value, value) != 0;
    if (!faulty)
        c->others |= differs;
    else if (c->seen)
        c->same &= !differs;
    else {
        c->seen = c->same = true;
        snprintf(c->value, sizeof c->value, "%s", value);
    }
}

typedef struct sharing {
    common coordinate[2][RG_COORDINATES], part[2], argument;
    char name[2][RG_COORDINATES][12];
    int64_t faults, turned;
} sharing;

static void look(const rg_pairs *pairs, const rg_trace_pair *p, sharing *s) {
    const bool faulty = p->word != RG_W_RIGHT;
    rg_place at[2];
    rg_place_of(pairs->algo, &pairs->shape, rg_traced_argument(pairs->algo), p->input, &at[0]);
    rg_place_of(pairs->algo, &pairs->shape, p->which, p->output, &at[1]);
    for (int side = 0; side < 2; side++) {
        for (int c = 0; c < at[side].n; c++) {
            char value[12];
            snprintf(value, sizeof value, "%d", (int)at[side].value[c]);
            memcpy(s->name[side][c], at[side].name[c], sizeof s->name[side][c]);
            note(&s->coordinate[side][c], faulty, value);
        }
        note(&s->part[side], faulty, at[side].part);
    }
    note(&s->argument, faulty, pairs->algo->arg[p->which].name);
    s->faults += faulty;
    s->turned += p->turned;
}

static void say(char text[200], const char *before, const char *name, const common *c) {
    if (!c->same || !c->others || !c->value[0]) return;
    const size_t used = strlen(text);
    snprintf(text + used, 200 - used, "%s%s%s%s%s", used ? ", " : "", before, name, *name ? "=" : "", c->value);
}

void rg_pairs_hint(const rg_pairs *pairs, char text[200]) {
    sharing s = {.faults = 0};
    int64_t count[RG_TRACE_WORDS];
    rg_pairs_count(pairs, count);
    text[0] = 0;
    if (count[RG_W_RIGHT] == pairs->n) return;
    for (int right = 0; right < 2; right++) // faults first: right pairs are compared with their value
        for (int64_t i = 0; i < pairs->n; i++)
            if ((pairs->pair[i].word == RG_W_RIGHT) == right) look(pairs, &pairs->pair[i], &s);
    for (int side = 0; side < 2; side++) {
        for (int c = 0; c < RG_COORDINATES; c++)
            say(text, side ? "output " : "input ", s.name[side][c], &s.coordinate[side][c]);
        say(text, side ? "output " : "input ", "", &s.part[side]);
    }
    say(text, "in ", "", &s.argument);
    size_t used = strlen(text);
    if (pairs->stands_for[0])
        used += (size_t)snprintf(
            text + used, 200 - used, "%smost inputs stand where those at %s should", used ? ", " : "", pairs->stands_for);
    if (s.turned > s.faults * 9 / 10 && used < 200) // most, because two that overlap give another sum
        snprintf(text + used, 200 - used, "%sthe sign%s is turned", used ? ", " : "", s.turned < s.faults ? " of most" : "");
}

// ---- what is never right ---------------------------------------------------------------------------------------------------

enum { VALUES = 64, NEVER = 3 }; // per coordinate; one with more values is skipped
typedef struct seen_values {
    int n;
    int64_t value[VALUES + 1];
    bool right[VALUES + 1];
} seen_values;

static void see(seen_values *s, int64_t value, bool right) {
    int i = 0;
    while (i < s->n && s->value[i] != value) i++;
    if (i == s->n && s->n <= VALUES) s->value[s->n++] = value;
    if (i < s->n) s->right[i] |= right;
}

// Writes the values of a coordinate that have no right pair, if they are few.
static void say_never(char text[200], const char *before, const char *name, const seen_values *s) {
    int never = 0;
    for (int i = 0; i < s->n; i++) never += !s->right[i];
    for (int i = 0; i < s->n && never <= NEVER && 2 * never < s->n && s->n <= VALUES; i++) {
        const size_t used = strlen(text);
        if (!s->right[i])
            snprintf(text + used, 200 - used, "%s%s%s=%lld", used ? ", " : "", before, name, (long long)s->value[i]);
    }
}

void rg_pairs_never(const rg_pairs *pairs, char text[200]) {
    RG_FREED seen_values *seen = rg_alloc(2 * RG_COORDINATES * sizeof *seen);
    rg_place at[2] = {{0}};
    text[0] = 0;
    for (int64_t i = 0; i < pairs->n; i++) {
        const rg_trace_pair *p = &pairs->pair[i];
        rg_place_of(pairs->algo, &pairs->shape, rg_traced_argument(pairs->algo), p->input, &at[0]);
        rg_place_of(pairs->algo, &pairs->shape, p->which, p->output, &at[1]);
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < at[side].n; c++)
                see(&seen[side * RG_COORDINATES + c], at[side].value[c], p->word == RG_W_RIGHT);
    }
    for (int side = 0; side < 2; side++)
        for (int c = 0; c < at[side].n; c++)
            say_never(text, side ? "output " : "input ", at[side].name[c], &seen[side * RG_COORDINATES + c]);
}
