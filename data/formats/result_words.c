// SPDX-License-Identifier: MIT
// result_words.c: the names of columns and the closed sets of words, from the lists of result_words.h, and the check of a cell.
#include "result.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

#define X(name, text, kind) #text,
const char *const rg_column_name[RG_COLUMNS] = {
#include "result_columns.def"
};
#undef X
#define X(name, word, phrase) {word, phrase},
const rg_word rg_stop_word[RG_STOPS] = {RG_STOP_LIST(X)}, rg_throttle_word[RG_THROTTLES] = {RG_THROTTLE_LIST(X)},
              rg_energy_of[RG_ENERGIES] = {RG_ENERGY_LIST(X)}, rg_held_against_word[RG_HELDS] = {RG_HELD_LIST(X)};
#undef X

enum { NAME, TEXT, NUMBER, SAMPLES, STATUS, STOP, THROTTLE, ENERGY, CHECK };
#define X(name, text, kind) kind,
static const int kind_of[RG_COLUMNS] = {
#include "result_columns.def"
};
#undef X
static const rg_word status_word[] = {{"PASS", ""}, {"FAIL", ""}, {"SKIP", ""}, {"CRASH", ""}, {"TIMEOUT", ""}};
static const struct {
    const rg_word *word;
    int n;
    const char *expected;
} set_of[] = {[STATUS] = {status_word, RG_COUNT(status_word), "PASS, FAIL, SKIP, CRASH, TIMEOUT or nothing"},
    [STOP] = {rg_stop_word, RG_STOPS, "a word for why sampling ended, as time, or nothing"},
    [THROTTLE] = {rg_throttle_word, RG_THROTTLES, "words for why the clock was held down, as none, or nothing"},
    [ENERGY] = {rg_energy_of, RG_ENERGIES, "a word for the source of joules, as nvml, or nothing"},
    [CHECK] = {rg_held_against_word, RG_HELDS, "a word for what outputs were held against, as reference, or nothing"}};

static int word_at(int kind, const char *text, size_t length) {
    for (int i = 0; kind >= STATUS && i < set_of[kind].n; i++)
        if (strlen(set_of[kind].word[i].word) == length && !strncmp(set_of[kind].word[i].word, text, length)) return i;
    return -1;
}

int rg_cell_word(const rg_row *row, rg_column column) {
    return word_at(kind_of[column], row->cell[column], strlen(row->cell[column]));
}

// Bits of the words in a cell; -1 if one is unknown.
static int set_in(int kind, const char *text) {
    int set = 0;
    while (*text) {
        const size_t length = strcspn(text, ",");
        const int word = word_at(kind, text, length);
        if (word < 0) return -1;
        set |= 1 << word;
        text += length + (text[length] == ',');
    }
    return set;
}

unsigned rg_row_throttle(const rg_row *row) {
    const int set = set_in(THROTTLE, row->cell[RG_C_THROTTLE]);
    return set < 0 ? 0 : (unsigned)set;
}

void rg_throttle_print(unsigned set, bool phrases, char text[RG_REASON]) {
    size_t n = 0;
    *text = '\0';
    for (int i = 0; i < RG_THROTTLES; i++)
        if (set >> i & 1)
            n += (size_t)snprintf(text + n, RG_REASON - n, "%s%s",
                !n            ? ""
                    : phrases ? ", "
                              : ",",
                phrases ? rg_throttle_word[i].phrase : rg_throttle_word[i].word);
}

void rg_stop_print(rg_stop stop, const char *detail, char text[RG_REASON]) {
    const char *phrase = rg_stop_word[stop].phrase;
    snprintf(text, RG_REASON, "%s%s%s", phrase, *phrase && *detail ? ": " : "", detail);
}

void rg_row_reason(const rg_row *row, char text[RG_REASON]) {
    const int stop = rg_cell_word(row, RG_C_STOP);
    rg_stop_print(stop < 0 ? RG_STOP_OTHER : (rg_stop)stop, row->cell[RG_C_DETAIL], text);
}

// ---- what a cell may hold --------------------------------------------------------------------------------------------------

// Reads a finite number from *text up to one of ends; moves *text past it.
static bool next_number(const char **text, const char *ends) {
    char *past;
    errno = 0;
    const double value = strtod(*text, &past);
    if (past == *text || !isfinite(value) || !strchr(ends, *past)) // which finds the text's end, too
        return false;
    *text = past;
    return true;
}

static bool is_sample_list(const char *text) {
    for (;;) {
        if (!next_number(&text, ";|")) return false;
        if (!*text++) return true;
    }
}

const char *rg_cell_fault(rg_column column, const char *text) {
    const int kind = kind_of[column];
    const char *number = text;
    if (!*text) return kind == NAME ? "a name" : NULL; // empty is always allowed, but for the names
    if (kind == NUMBER && !next_number(&number, "")) return "a finite number or nothing";
    if (kind == SAMPLES && !is_sample_list(text)) return "numbers separated by semicolons, or by bars between processes";
    if (kind == THROTTLE ? set_in(kind, text) < 0 : kind >= STATUS && word_at(kind, text, strlen(text)) < 0)
        return set_of[kind].expected;
    return NULL;
}
