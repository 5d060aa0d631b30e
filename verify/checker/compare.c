// SPDX-License-Identifier: MIT
// compare.c: decides whether an output is right, and describes the fault if it is not.
#include "checker.h"
#include "../../impl/base/core.h"

const char *const rg_status_name[RG_STATUSES] = {"FAIL", "PASS", "SKIP", "CRASH", "TIMEOUT"};

static int64_t integer_at(rg_type t, const void *p, int64_t i) {
    switch (t) {
    case RG_U8: return ((const uint8_t *)p)[i];
    case RG_U16: return ((const uint16_t *)p)[i];
    case RG_I32: return ((const int32_t *)p)[i];
    default: return ((const int64_t *)p)[i];
    }
}

static double real_at(rg_type t, const void *p, int64_t i) {
    if (t == RG_F32) return ((const float *)p)[i];
    return t == RG_F64 ? ((const double *)p)[i] : (double)integer_at(t, p, i);
}

static bool is_real(rg_type t) { return t == RG_F32 || t == RG_F64; }

static const void *element(rg_type t, const void *p, int64_t i) { return (const char *)p + (size_t)i * rg_type_bytes(t); }

static bool same_bits(rg_type t, const void *p, int64_t i, const void *q, int64_t j) {
    return memcmp(element(t, p, i), element(t, q, j), rg_type_bytes(t)) == 0;
}

// |found - expected|: of integers as an unsigned difference, which cannot overflow; of reals NaN when either is NaN, 0 for
// equal infinities.
static double distance(rg_type t, const void *found, const void *expected, int64_t i) {
    if (!is_real(t)) {
        const int64_t f = integer_at(t, found, i), e = integer_at(t, expected, i);
        return (double)(f > e ? (uint64_t)f - (uint64_t)e : (uint64_t)e - (uint64_t)f);
    }
    const double f = real_at(t, found, i), e = real_at(t, expected, i);
    return f == e ? 0 : fabs(f - e);
}

double rg_value_at(rg_type t, const void *p, int64_t i) { return real_at(t, p, i); }

double rg_allowed(const rg_tolerance *tolerance, double expected) {
    return tolerance->kind == RG_EXACT ? 0 : tolerance->absolute + tolerance->relative * fabs(expected);
}

static void tally_add(rg_tally *to, const rg_tally *more) {
    if (more->failed != to->failed ? more->failed
                                   : more->error > to->error || (more->error == to->error && more->tol > to->tol))
        *to = *more;
}

bool rg_element_passes(
    rg_type t, const void *found, const void *expected, int64_t i, const rg_tolerance *tolerance, rg_tally *tally) {
    const double e = real_at(t, expected, i);
    const double err = distance(t, found, expected, i);
    const double tol = rg_allowed(tolerance, e);
    bool passes = err <= tol; // false for NaN
    if (tolerance->kind == RG_EXACT)
        passes = same_bits(t, found, i, expected, i) && !isnan(e);
    else if (isinf(e)) // an infinite bound would accept anything
        passes = same_bits(t, found, i, expected, i);
    tally_add(tally, &(rg_tally){isnan(err) ? INFINITY : err, tol, !passes});
    return passes;
}

int64_t rg_first_fault(rg_type t, const void *found, const void *expected, int64_t n, const rg_tolerance *tolerance,
    rg_tally *tally, int64_t *wrong) {
    int64_t first = -1;
    *wrong = 0;
    for (int64_t i = 0; i < n; i++)
        if (!rg_element_passes(t, found, expected, i, tolerance, tally)) {
            if (first < 0) first = i;
            ++*wrong;
        }
    return first;
}

static void value_print(rg_type t, const void *p, int64_t i, char text[40]) {
    if (is_real(t))
        snprintf(text, 40, "%.*g", t == RG_F32 ? 9 : 17, real_at(t, p, i));
    else
        snprintf(text, 40, "%" PRId64, integer_at(t, p, i));
}

// Prints the value expected at i and, where a bound applies, the error: "0.1518, off by 2.2e-05 where 1.4e-07 is allowed".
static void expected_print(
    rg_type t, const void *found, const void *expected, int64_t i, const rg_tolerance *tolerance, char text[120]) {
    const double off = distance(t, found, expected, i);
    value_print(t, expected, i, text);
    if (tolerance->kind != RG_EXACT && isfinite(off))
        snprintf(text + strlen(text), 120 - strlen(text), ", off by %.3g where %.3g is allowed", off,
            rg_allowed(tolerance, real_at(t, expected, i)));
}

bool rg_is_poison(rg_type t, const void *p, int64_t i) {
    const unsigned char *byte = element(t, p, i);
    for (size_t k = 0; k < rg_type_bytes(t); k++)
        if (byte[k] != 0xFF) return false;
    return true;
}

// The one other element whose right value was found at i. -1: none, or more than two (symmetric outputs have two).
static int64_t right_for(rg_type t, const void *found, const void *expected, int64_t n, int64_t i) {
    int64_t first = -1;
    int hits = 0;
    for (int64_t j = 0; j < n && hits < 3; j++)
        if (same_bits(t, found, i, expected, j)) {
            if (first < 0) first = j;
            hits++;
        }
    return hits < 3 ? first : -1;
}

static void where(const rg_algo *algo, const rg_shape *shape, int which, int64_t i, char text[64]) {
    if (algo->where)
        algo->where(shape, which, i, text);
    else
        snprintf(text, 64, "[%" PRId64 "]", i);
}

// Whether an integer is the expected value plus poison, which is -1 as a number: added to an output that was never cleared. A
// real plus poison, a NaN, is poison again.
// with poison, a NaN, is poison again.
static bool added_to_poison(rg_type t, const void *found, const void *expected, int64_t n) {
    int64_t i = 0;
    while (i < n && !is_real(t) && integer_at(t, found, i) == integer_at(t, expected, i) - 1) i++;
    return n > 1 && i == n;
}

static void never_written_print(const rg_arg *arg, rg_type t, const char *place, const char *should, char *text, size_t size) {
    snprintf(text, size, "%s%s was never written%s, expected %s", arg->name, place,
        is_real(t) ? ", or added to before it was set" : "", should);
}

void rg_fault_print(const rg_algo *algo, const rg_shape *shape, int which, int64_t i, const void *found, const void *expected,
    const void *previous, const rg_tolerance *tolerance, char *text, size_t size) {
    const rg_arg *arg = &algo->arg[which];
    const rg_type t = arg->type(shape);
    const int64_t n = arg->count(shape);
    char place[64] = "", is[40], should[120], hint[120] = "";
    where(algo, shape, which, i, place);
    value_print(t, found, i, is);
    expected_print(t, found, expected, i, tolerance, should);
    if (rg_is_poison(t, found, i)) {
        never_written_print(arg, t, place, should, text, size);
        return;
    }
    const int64_t other = right_for(t, found, expected, n, i);
    if (previous && memcmp(found, previous, (size_t)n * rg_type_bytes(t)) == 0) {
        snprintf(hint, sizeof hint, "; the whole output is the answer to the inputs before these");
    } else if (added_to_poison(t, found, expected, n)) {
        snprintf(hint, sizeof hint, "; all are one too small, as if added to before they were set");
    } else if (other >= 0) {
        char there[64] = "";
        where(algo, shape, which, other, there);
        snprintf(hint, sizeof hint, "; that is right for %s", there);
    }
    snprintf(text, size, "%s%s is %s, expected %s%s", arg->name, place, is, should, hint);
}

rg_tolerance rg_tolerance_of(const rg_entry *entry, const rg_shape *shape, const int64_t *param) {
    rg_tolerance own, of = entry->algo->tolerance(shape);
    if (!entry->variant->tolerance) return of;
    own = entry->variant->tolerance(shape, param);
    if (entry->origin != RG_PLUGGED_IN) return own;
    if (of.kind == RG_EXACT) return of;
    own.absolute = own.absolute <= of.absolute ? own.absolute : of.absolute; // false for NaN
    own.relative = own.relative <= of.relative ? own.relative : of.relative;
    return own;
}

// ---- outputs of a run timed by bench -------------------------------------------------------------------------------------

static bool is_output(const rg_arg *arg) { return arg->direction != RG_IN; }

// Compares the known elements of output `which`. False, with the reason in the verdict, if one fails.
static bool known_elements(const rg_entry *entry, const rg_shape *shape, const rg_tolerance *tolerance, void *const *arg,
    int which, const rg_answer *answer, rg_tally *tally, rg_verdict *v) {
    const rg_algo *algo = entry->algo;
    const rg_type t = algo->arg[which].type(shape);
    for (int64_t k = 0; k < answer->n[which]; k++) {
        const int64_t e = answer->element[which][k];
        const void *found = element(t, arg[which], e), *right = element(t, answer->value[which], k);
        if (rg_element_passes(t, found, right, 0, tolerance, tally)) continue;
        char place[64] = "", is[40], should[120];
        where(algo, shape, which, e, place);
        value_print(t, found, 0, is);
        expected_print(t, found, right, 0, tolerance, should);
        if (rg_is_poison(t, found, 0))
            never_written_print(&algo->arg[which], t, place, should, v->reason, sizeof v->reason);
        else
            snprintf(v->reason, sizeof v->reason, "%s%s is %s, expected %s", algo->arg[which].name, place, is, should);
        return false;
    }
    return true;
}

// Compares output `which` in chunks, with all threads: reports the first fault and the largest error.
static bool all_elements(const rg_entry *entry, const rg_shape *shape, const rg_tolerance *tolerance, void *const *arg,
    int which, const void *right, rg_tally *tally, rg_verdict *v) {
    enum { CHUNK = 1 << 16 };
    const rg_arg *a = &entry->algo->arg[which];
    const rg_type type = a->type(shape);
    const size_t bytes = rg_type_bytes(type);
    const int64_t n = a->count(shape);
    int64_t first = n;
#pragma omp parallel for schedule(dynamic) if (n > CHUNK)
    for (int64_t at = 0; at < n; at += CHUNK) {
        const char *found = (const char *)arg[which] + (size_t)at * bytes, *known = (const char *)right + (size_t)at * bytes;
        rg_tally own = {0};
        int64_t wrong;
        const int64_t i = rg_first_fault(type, found, known, n - at < CHUNK ? n - at : CHUNK, tolerance, &own, &wrong);
#pragma omp critical
        {
            if (i >= 0 && at + i < first) first = at + i;
            tally_add(tally, &own);
        }
    }
    if (first < n)
        rg_fault_print(entry->algo, shape, which, first, arg[which], right, NULL, tolerance, v->reason, sizeof v->reason);
    return first == n;
}

rg_verdict rg_compare_outputs(
    const rg_entry *entry, const rg_shape *shape, const int64_t *param, void *const *arg, const rg_answer *answer) {
    const rg_algo *algo = entry->algo;
    rg_verdict v = {.status = RG_FAIL, .reason = "not compared"};
    const rg_tolerance tolerance = rg_tolerance_of(entry, shape, param);
    rg_tally tally = {0};
    bool good = true;
    for (int k = 0; k < algo->n_args && good; k++)
        if (is_output(&algo->arg[k]))
            good = answer->element[k] ? known_elements(entry, shape, &tolerance, arg, k, answer, &tally, &v)
                                      : all_elements(entry, shape, &tolerance, arg, k, answer->value[k], &tally, &v);
    v.error = tally.error;
    v.tol = tally.tol;
    const char *violated = good && algo->invariant && !answer->brief ? algo->invariant(shape, arg) : NULL;
    if (violated)
        snprintf(v.reason, sizeof v.reason, "invariant: %s", violated);
    else if (good) {
        v.status = RG_PASS;
        v.reason[0] = 0;
    }
    return v;
}

rg_verdict rg_compare_alike(
    const rg_entry *entry, const rg_shape *shape, const int64_t *param, void *const *arg, void *const *right) {
    const rg_algo *algo = entry->algo;
    rg_verdict v = {.status = RG_FAIL, .reason = "not compared"};
    rg_tolerance tolerance = rg_tolerance_of(entry, shape, param);
    rg_tally tally = {0};
    tolerance.absolute *= 2;
    tolerance.relative *= 2;
    bool good = true;
    for (int k = 0; k < algo->n_args && good; k++)
        if (is_output(&algo->arg[k])) good = all_elements(entry, shape, &tolerance, arg, k, right[k], &tally, &v);
    v.error = tally.error;
    v.tol = tally.tol;
    if (good) {
        v.status = RG_PASS;
        v.reason[0] = 0;
    }
    return v;
}
