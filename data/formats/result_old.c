// SPDX-License-Identifier: MIT
// result_old.c: converts result files of formats 1 to 4 to the columns of format 5. Their sentences hold what is in columns
// now; no other file parses a sentence. The part that no column holds goes to `detail`.
#include "result.h"

#include "../../impl/base/core.h"
#include "../../impl/suite.h"

// Format 1 ends at `samples`, 2 at `source`, 3 at `gpu_peak_bytes`. -1: a sentence.
static const struct {
    const char *name;
    int now;
} old[] = {{"algo", RG_C_ALGO}, {"variant", RG_C_VARIANT}, {"shape", RG_C_SHAPE}, {"params", RG_C_PARAMS},
    {"space", RG_C_SPACE}, {"scope", RG_C_SCOPE}, {"mode", RG_C_MODE}, {"n", RG_C_N}, {"min", RG_C_MIN}, {"q1", RG_C_Q1},
    {"median", RG_C_MEDIAN}, {"q3", RG_C_Q3}, {"max", RG_C_MAX}, {"unit", RG_C_UNIT}, {"work", RG_C_WORK},
    {"traffic", RG_C_TRAFFIC}, {"rate", RG_C_RATE}, {"rate_unit", RG_C_RATE_UNIT}, {"bound", -1}, {"fraction", RG_C_FRACTION},
    {"error", RG_C_ERROR}, {"tol", RG_C_TOL}, {"status", RG_C_STATUS}, {"clock", RG_C_CLOCK}, {"temp", RG_C_TEMP},
    {"joules", RG_C_JOULES}, {"energy_source", -1}, {"peak_bytes", RG_C_PEAK_BYTES}, {"prepare", RG_C_PREPARE}, {"stop", -1},
    {"samples", RG_C_SAMPLES}, {"source", RG_C_SOURCE}, {"check", -1}, {"gpu_peak_bytes", RG_C_GPU_PEAK_BYTES},
    {"made", RG_C_MADE}};
enum { BOUND = 18, ENERGY = 26, STOP = 29, CHECK = 32, COLUMNS = RG_COUNT(old) };

int rg_result_old_columns(const rg_tsv *t) {
    const bool older = t->n_columns == 31 || t->n_columns == 32 || t->n_columns == 34; // formats 1, 2, 3
    const int columns = older ? t->n_columns : COLUMNS;
    for (int c = 0; c < columns || c < t->n_columns; c++) {
        const char *expected = c < columns ? old[c].name : "the end of the column names";
        const char *found = c < t->n_columns ? t->column[c] : "the end of the line";
        if (strcmp(expected, found)) return rg_tsv_line_fault(t, t->names_line, expected, found);
    }
    return RG_GOOD;
}

// ---- pieces of sentences
// -----------------------------------------------------------------------------------------------------

typedef struct piece {
    const char *at;
    size_t n;
} piece;

static piece whole(const char *text) { return (piece){text, strlen(text)}; }

static bool begins(piece p, const char *with) { return p.n >= strlen(with) && !strncmp(p.at, with, strlen(with)); }

static bool is(piece p, const char *what) { return p.n == strlen(what) && begins(p, what); }

// The first part of *text, up to the mark of two characters or the end; moves *text past both.
static piece next_piece(const char **text, const char *mark) {
    const char *end = strstr(*text, mark);
    const piece p = {*text, end ? (size_t)(end - *text) : strlen(*text)};
    *text += p.n + (end ? 2 : 0);
    return p;
}

static void set(rg_row *row, int column, piece p) {
    free(row->cell[column]);
    row->cell[column] = rg_print("%.*s", (int)p.n, p.at);
}

static void set_text(rg_row *row, int column, const char *text) { set(row, column, whole(text)); }

// Matches a pattern in which # is a number, "power # W". Returns how many numbers it stored in `number`; 0: no match.
enum { NUMBERS = 6 };
static int match(piece p, const char *pattern, piece number[NUMBERS]) {
    const char *at = p.at, *end = p.at + p.n;
    int n = 0;
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (at == end || *at++ != *pattern) return 0;
            continue;
        }
        number[n] = (piece){at, strspn(at, "0123456789.+-e")};
        if (!number[n].n || at + number[n].n > end) return 0;
        at += number[n++].n;
    }
    return at == end ? n : 0;
}

// ---- stop ------------------------------------------------------------------------------------------------------------------

static void take_throttle(rg_row *row, piece p) {
    char *text = rg_print("%.*s", (int)p.n, p.at), words[RG_REASON];
    unsigned set = 0;
    for (const char *at = text; *at;) { // "power cap, hw thermal", "unknown (why)"
        const piece one = next_piece(&at, ", ");
        int word = 0;
        while (word < RG_THROTTLE_OTHER && !is(one, rg_throttle_word[word].phrase)) word++;
        if (begins(one, "unknown")) at = "", word = RG_THROTTLE_UNKNOWN;
        set |= 1u << word;
    }
    rg_throttle_print(set, false, words);
    set_text(row, RG_C_THROTTLE, words);
    free(text);
}

static void take_piece(rg_row *row, piece p) {
    static const struct {
        const char *pattern;
        int column[2];
    } known[] = {{"95 % interval # % of the median", {RG_C_INTERVAL}},
        {"# rounds, # calls a sample", {RG_C_ROUNDS, RG_C_CALLS}}, {"# round, # calls a sample", {RG_C_ROUNDS, RG_C_CALLS}},
        {"# processes, # calls a sample", {RG_C_ROUNDS, RG_C_CALLS}},
        {"# process, # calls a sample", {RG_C_ROUNDS, RG_C_CALLS}}, {"# processes", {RG_C_ROUNDS}},
        {"# process", {RG_C_ROUNDS}}, {"power # W", {RG_C_POWER}}, {"others on # of # cores", {RG_C_OTHERS, RG_C_CORES}},
        {"preempted # times: the machine was busy", {RG_C_PREEMPTED}},
        {"a call on fresh inputs took # times as long", {RG_C_FRESH}}};
    static const char above[] = " times faster than its bound: was the machine busy while ";
    piece number[NUMBERS];
    for (int i = 0; i < RG_COUNT(known); i++) {
        const int n = match(p, known[i].pattern, number);
        for (int k = 0; k < n; k++) set(row, known[i].column[k], number[k]);
        if (n) return;
    }
    const char *at = strstr(p.at, above);
    if (begins(p, "throttle "))
        take_throttle(row, (piece){p.at + strlen("throttle "), p.n - strlen("throttle ")});
    else if (at && at < p.at + p.n)
        set(row, RG_C_ABOVE, (piece){p.at, (size_t)(at - p.at)});
    else if (!is(p, "too few samples for an interval")) {
        RG_FREED char *had = row->cell[RG_C_DETAIL];
        row->cell[RG_C_DETAIL] = rg_print("%s%s%.*s", had, *had ? "; " : "", (int)p.n, p.at);
    }
}

// Beginnings of the sentences of rows without a time; the detail, if any, follows.
static void take_untimed(rg_row *row, const char *text) {
    static const struct {
        const char *begin;
        rg_stop stop;
        bool all; // the word is the whole sentence
    } known[] = {{"best sustained rate of the probe", RG_STOP_PROBE, true},
        {"not measured: the probe has no such resource here", RG_STOP_NO_PROBE, true},
        {"median false difference of ", RG_STOP_SELF_TEST, false}, {"not timed: verify ", RG_STOP_UNVERIFIED, false},
        {"not timed: it takes none of the small shapes", RG_STOP_NO_SHAPE, true}, {"not timed: ", RG_STOP_UNVERIFIED, false},
        {"after timing: wrote outside of ", RG_STOP_OVERRUN, false},
        {"after timing: a call on inputs not seen before takes ", RG_STOP_KEPT, false},
        {"after timing: the device goes on after the last event in ", RG_STOP_LATE, false},
        {"after timing: a call takes ", RG_STOP_TOO_FAST, false}, {"after timing: ", RG_STOP_WRONG, false},
        {"the machine is too busy to tell: ", RG_STOP_BUSY, false},
        {"scope transfer: the data of a CPU variant", RG_STOP_NO_COPIES, true},
        {"scope adding: run clears what it adds to", RG_STOP_NO_CLEAR, true}, {"memory: ", RG_STOP_MEMORY, false},
        {"time: one call would take about ", RG_STOP_LONG_CALL, false},
        {"nothing was written that begins with {out}", RG_STOP_NO_OUTPUT, true},
        {"outputs of two runs differ by ", RG_STOP_UNLIKE, false}, {"the outputs do not pass --check, ", RG_STOP_CHECK, false},
        {"exit status ", RG_STOP_EXIT, false}, {"signal ", RG_STOP_CRASH, false}, {"", RG_STOP_OTHER, false}};
    int k = 0;
    while (!begins(whole(text), known[k].begin)) k++;
    set_text(row, RG_C_STOP, rg_stop_word[known[k].stop].word);
    if (!known[k].all) set_text(row, RG_C_DETAIL, text + strlen(known[k].begin));
}

static void take_stop(rg_row *row, const char *text) {
    static const struct {
        const char *begin;
        rg_stop stop;
    } known[] = {{"time", RG_STOP_TIME}, {"rounds", RG_STOP_ROUNDS}, {"interval", RG_STOP_INTERVAL},
        {"time (one call takes longer than --max-seconds)", RG_STOP_ONE_CALL},
        {"time (one run takes longer than --max-seconds)", RG_STOP_ONE_CALL}};
    const char *rest = text;
    const piece first = next_piece(&rest, "; ");
    int k = 0;
    while (k < RG_COUNT(known) && !is(first, known[k].begin)) k++;
    if (k < RG_COUNT(known)) {
        set_text(row, RG_C_STOP, rg_stop_word[known[k].stop].word);
        while (*rest) take_piece(row, next_piece(&rest, "; "));
    } else if (*text) {
        take_untimed(row, text);
    }
}

// ---- energy, check, bound --------------------------------------------------------------------------------------------------

// The length of the window: joules of all calls over their watts, which were printed with more digits.
static void set_window(rg_row *row, piece calls, piece watts) {
    const double joules = rg_cell_number(row, RG_C_JOULES) * strtod(calls.at, NULL);
    char text[32];
    snprintf(text, sizeof text, "%.7g", joules / strtod(watts.at, NULL));
    set(row, RG_C_ENERGY_CALLS, calls);
    set_text(row, RG_C_ENERGY_S, text);
}

static void take_energy(rg_row *row, const char *text) {
    static const struct {
        const char *begin;
        rg_energy_word word;
    } known[] = {{"not asked", RG_ENERGY_NOT_ASKED}, {"NVML total energy gave", RG_ENERGY_NO_TOTAL}, {"NVML", RG_ENERGY_NVML},
        {"RAPL gave no total", RG_ENERGY_NO_TOTAL}, {"RAPL,", RG_ENERGY_RAPL}, {"RAPL", RG_ENERGY_RAPL_CLOSED},
        {"no RAPL", RG_ENERGY_NO_RAPL}, {"not measured in mode cold", RG_ENERGY_COLD}, {"of ", RG_ENERGY_NOT_FILLED},
        {"this GPU has no NVML", RG_ENERGY_NO_COUNTER}, {"", RG_ENERGY_FAULT}};
    if (!*text) return;
    if (begins(whole(text), "none: ")) text += strlen("none: ");
    int k = 0;
    while (!begins(whole(text), known[k].begin)) k++;
    set_text(row, RG_C_ENERGY, rg_energy_of[known[k].word].word);
    const char *rest = text;
    piece n[NUMBERS];
    const piece source = next_piece(&rest, "; "), window = next_piece(&rest, "; "), sensor = next_piece(&rest, "; ");
    if (match(source, "RAPL, # package", n) || match(source, "RAPL, # packages", n) ||
        match(source, "NVML total energy, board x #, window # s of # runs, mean # W", n) ||
        match(source, "RAPL, # packages, window # s of # runs, mean # W", n) ||
        match(source, "RAPL, # package, window # s of # runs, mean # W", n))
        set(row, RG_C_ENERGY_DEVICES, n[0]);
    if (match(source, "NVML total energy, board x #, window # s of # runs, mean # W", n) ||
        match(source, "RAPL, # packages, window # s of # runs, mean # W", n) ||
        match(source, "RAPL, # package, window # s of # runs, mean # W", n))
        set_window(row, n[2], n[3]);
    if (match(window, "# s x # W = # J in # calls", n)) set_window(row, n[3], n[1]);
    if (match(sensor, "the power sensor says # W", n)) set(row, RG_C_SENSOR_W, n[0]);
}

static void take_check(rg_row *row, const char *text) {
    static const char all[] = ", all against ";
    const char *rest = text, *other = strstr(text, all);
    const piece first = next_piece(&rest, "; "), sampled = {text, other ? (size_t)(other - text) : strlen(text)};
    piece n[NUMBERS];
    rg_held_against check = RG_HELD_COMMAND;
    if (is(whole(text), "every element held against the reference"))
        check = RG_HELD_REFERENCE, rest = "";
    else if (is(whole(text), "every element held against another configuration's"))
        check = RG_HELD_CONFIGURATION, rest = "";
    else if (match(sampled, "# of # elements held against the reference", n)) {
        check = RG_HELD_REFERENCE;
        set(row, RG_C_CHECKED, n[0]);
        set(row, RG_C_ELEMENTS, n[1]);
        rest = other ? other + strlen(all) : "";
    } else if (match(first, "# outputs of every run against those of the first", n)) {
        check = RG_HELD_RUNS;
        set(row, RG_C_CHECKED, n[0]);
    } else if (match(first, "# outputs of the only run, with none to compare", n)) {
        check = RG_HELD_ONE_RUN;
        set(row, RG_C_CHECKED, n[0]);
    } else if (is(whole(text), "exit status alone: the command has no {out}"))
        check = RG_HELD_EXIT, rest = "";
    else
        rest = text;
    set_text(row, RG_C_CHECK, *text ? rg_held_against_word[check].word : "");
    set_text(row, RG_C_AGAINST, rest);
}

// "memory", "unknown (memory not measured)", "unknown (faster than memory allows)"
static void take_bound(rg_row *row, const char *text) {
    static const char *const begin[] = {"unknown (faster than ", "unknown ("};
    for (int i = 0; i < RG_COUNT(begin); i++)
        if (begins(whole(text), begin[i])) {
            text += strlen(begin[i]);
            set(row, RG_C_BOUND, (piece){text, strcspn(text, " ")});
            return;
        }
    set_text(row, RG_C_BOUND, text);
}

int rg_result_old_row(const rg_tsv *t, int i, rg_row *row) {
    const char *const *cell = (const char *const *)t->cell + (size_t)i * (size_t)t->n_columns;
    *row = rg_row_empty();
    for (int c = 0; c < t->n_columns; c++) {
        const char *expected = old[c].now < 0 ? NULL : rg_cell_fault((rg_column)old[c].now, cell[c]);
        if (expected) return rg_tsv_fault_at(t, i, c, expected);
        if (old[c].now >= 0) set_text(row, old[c].now, cell[c]);
    }
    if (!strcmp(cell[RG_C_SCOPE], "transfer")) set_text(row, RG_C_SCOPE, "pageable"); // it copied pageable memory
    take_bound(row, cell[BOUND]);
    take_energy(row, cell[ENERGY]);
    take_stop(row, cell[STOP]);
    if (t->n_columns > CHECK) take_check(row, cell[CHECK]);
    return RG_GOOD;
}
