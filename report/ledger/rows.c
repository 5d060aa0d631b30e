// SPDX-License-Identifier: MIT
#include "rows.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

bool rg_next_piece(const char **at, char mark, char *text, size_t room) {
    const char *end = strchrnul(*at, mark);
    if (!**at) return false;
    snprintf(text, room, "%.*s", (int)(end - *at), *at);
    *at = end + (*end != '\0');
    return true;
}

bool rg_timed(const rg_row *row) { return row->timed_ns > 0; }

bool rg_plain(const rg_row *row) { return rg_cell_part(row->cell[RG_C_SHAPE], "k", 0) == 0; }

bool rg_has_interval(const rg_row *row) { return strpbrk(row->cell[RG_C_SAMPLES], ";|") != NULL; }

bool rg_on_gpu(const rg_row *row) { return !strcmp(row->cell[RG_C_SPACE], "device"); }

bool rg_is_failure(const char *status) {
    return !strcmp(status, "FAIL") || !strcmp(status, "CRASH") || !strcmp(status, "TIMEOUT");
}

bool rg_shaped(const char *shape, const char *wanted, const char *separators) {
    char part[32];
    for (const char *at = wanted; *at; at += strspn(at, separators)) {
        size_t length = strcspn(at, separators), letters = strcspn(at, "0123456789");
        const char sign = letters && letters < length ? at[letters - 1] : 0;
        const bool open = sign == '<' || sign == '>' || sign == '!';
        snprintf(part, sizeof part, "%.*s", (int)(letters < length ? letters : length) - open, at);
        const int64_t found = rg_cell_part(shape, part, -1), named = strtoll(at + letters, NULL, 10);
        if (sign == '!'       ? found == named
                : sign == '>' ? found <= named
                : sign == '<' ? found < 0 || found >= named
                              : found != named)
            return false;
        at += length;
    }
    return true;
}

// Matches one alternative, "autocorr:simd threads=1 isa=2@w750;k0": algorithm and variant are equal, every further word is a
// parameter that holds ("isa<512": smaller), and the shape has the parts after '@'.
static bool matches_one(const rg_row *row, const char *spec, size_t length) {
    char text[200];
    const size_t algo = strlen(row->cell[RG_C_ALGO]), variant = strlen(row->cell[RG_C_VARIANT]);
    if (length <= algo || spec[algo] != ':' || strncmp(spec, row->cell[RG_C_ALGO], algo) ||
        strcspn(spec + algo + 1, " @|") != variant || strncmp(spec + algo + 1, row->cell[RG_C_VARIANT], variant))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)(length - algo - 1 - variant), spec + algo + 1 + variant);
    char *parts = strchr(text, '@');
    if (parts) {
        *parts++ = 0;
        if (!rg_shaped(row->cell[RG_C_SHAPE], parts, ";")) return false;
    }
    const int64_t threads = rg_row_threads(row, 1);
    for (char *rest, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strpbrk(word, "=<");
        if (!equals) return false;
        const bool below = *equals == '<';
        if (!strcmp(word, "threads=all")) {
            if (threads < 2) return false;
            continue;
        }
        int64_t wanted = strtoll(equals + 1, NULL, 10);
        equals[0] = '=';
        equals[1] = 0;
        int64_t found = strcmp(word, "threads=") ? rg_cell_part(row->cell[RG_C_PARAMS], word, -1) : threads;
        if (below ? found < 0 || found >= wanted : found != wanted) return false;
    }
    return true;
}

bool rg_matches(const rg_row *row, const char *spec) {
    for (const char *at = spec; *at;) {
        size_t length = strcspn(at, "|");
        if (matches_one(row, at, length)) return true;
        at += length + (at[length] == '|');
    }
    return false;
}

static int mode_rank(const rg_row *row) { return !strcmp(row->cell[RG_C_MODE], "cold") ? 1 : 0; }

// A host copies nothing to a device, so its `device` time also counts for both scopes with copies.
static bool in_scope(const rg_row *row, const char *scope, size_t length) {
    const char *own = row->cell[RG_C_SCOPE];
    if (strlen(own) == length && !strncmp(own, scope, length)) return true;
    const bool copies = length == 8 && (!strncmp(scope, "transfer", 8) || !strncmp(scope, "pageable", 8));
    return copies && !strcmp(row->cell[RG_C_SPACE], "host") && !strcmp(own, "device");
}

const rg_row *rg_pick(rg_rows rows, const char *spec, const char *shape, const char *scopes) {
    const rg_row *best = NULL;
    for (const char *scope = scopes; *scope && !best;) {
        const size_t length = strcspn(scope, ",");
        for (rg_cursor at = {.rows = rows}; rg_next(&at);) {
            if (!rg_timed(at.row) || strcmp(at.row->cell[RG_C_SHAPE], shape) || !in_scope(at.row, scope, length) ||
                !rg_matches(at.row, spec))
                continue; // cheapest first
            const int rank = best ? mode_rank(at.row) - mode_rank(best) : -1;
            if (rank < 0 || (rank == 0 && at.row->timed_ns < best->timed_ns)) best = at.row;
        }
        scope += length + (scope[length] == ',');
    }
    return best;
}

// Whether there are other rows of a or b at this shape and scope than `best`, the fastest of both.
static bool has_others(rg_rows rows, const char *a, const char *b, const char *shape, const char *scope, const rg_row *best) {
    bool others = false;
    for (rg_cursor at = {.rows = rows}; !others && rg_next(&at);)
        others = at.row != best && rg_timed(at.row) && !strcmp(at.row->cell[RG_C_SHAPE], shape) &&
            in_scope(at.row, scope, strlen(scope)) && (rg_matches(at.row, a) || rg_matches(at.row, b));
    return others;
}

bool rg_pick_pair(rg_rows rows, const char *a, const char *b, const char *shape, const char *scopes, const rg_row *pair[2]) {
    char scope[24];
    while (rg_next_piece(&scopes, ',', scope, sizeof scope)) {
        pair[0] = rg_pick(rows, a, shape, scope);
        pair[1] = pair[0] ? rg_pick(rows, b, shape, scope) : NULL;
        if (pair[1] && (pair[0] != pair[1] || !strcmp(a, b) || has_others(rows, a, b, shape, scope, pair[0]))) return true;
    }
    return false;
}

// Work of a row; if the file lacks it, the sums of a correlation.
static double work_of(const rg_row *row) {
    const char *shape = row->cell[RG_C_SHAPE];
    const double work = rg_cell_number(row, RG_C_WORK), side = 2.0 * (double)rg_cell_part(shape, "r", -1) + 1;
    return isnan(work) ? (double)rg_cell_part(shape, "w", -1) * (double)rg_cell_part(shape, "h", -1) * side * side : work;
}

const char *rg_common_shape(rg_rows rows, const char *a, const char *b, const char *size, const char *scopes) {
    const char *best = NULL;
    double best_work = -1;
    int best_rank = -1;
    const int64_t kind = rg_cell_part(size, "k", 0); // kind of input: 0, the papers', unless the claim names another
    for (rg_cursor at = {.rows = rows}; rg_next(&at);) {
        const char *shape = at.row->cell[RG_C_SHAPE];
        const rg_row *pair[2];
        if (!rg_timed(at.row) || rg_cell_part(shape, "k", 0) != kind || !rg_matches(at.row, a) ||
            !rg_pick_pair(rows, a, b, shape, scopes, pair))
            continue;
        const double work = work_of(at.row);
        const int rank =
            2 * (*size && !strncmp(shape, size, strlen(size))) + (rg_has_interval(pair[0]) && rg_has_interval(pair[1]));
        if (rank > best_rank || (rank == best_rank && work > best_work)) {
            best_rank = rank;
            best_work = work;
            best = shape;
        }
    }
    return best;
}

const rg_row *rg_not_passed(rg_rows rows, const char *spec) {
    for (rg_cursor at = {.rows = rows}; rg_next(&at);)
        if (rg_matches(at.row, spec) && strcmp(at.row->cell[RG_C_STATUS], "PASS")) return at.row;
    return NULL;
}

int rg_count_status(rg_rows rows, const char *spec, const char *size, bool failures) {
    int n = 0;
    for (rg_cursor at = {.rows = rows}; rg_next(&at);) {
        const char *status = at.row->cell[RG_C_STATUS];
        n += (failures ? rg_is_failure(status) : !strcmp(status, "PASS")) && rg_matches(at.row, spec) &&
            !strncmp(at.row->cell[RG_C_SHAPE], size, strlen(size));
    }
    return n;
}

int rg_configurations(rg_rows rows, const char *spec, const rg_row *picked) {
    static const int same[] = {RG_C_SHAPE, RG_C_SCOPE, RG_C_MODE};
    int n = 0;
    for (rg_cursor at = {.rows = rows}; rg_next(&at);) {
        bool one = rg_timed(at.row) && rg_matches(at.row, spec);
        for (int c = 0; c < RG_COUNT(same) && one; c++) one = !strcmp(at.row->cell[same[c]], picked->cell[same[c]]);
        n += one;
    }
    return n;
}
