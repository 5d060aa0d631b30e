// SPDX-License-Identifier: MIT
// store.c: the record of a machine: rows and tables of many runs, on one machine or on several of its kind, in two files. Each
// row says in `made` where, when and by which revision it was measured; the head is that of the last run.
#include "record.h"

#include "../compare/validate.h"
#include "../machine/sensors.h"
#include "../stats/stats.h"
#include "../../impl/base/core.h"

enum { PROCESSES_LEAST = 5 }; // fewer give no useful interval

static bool begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

// ---- this machine ----------------------------------------------------------------------------------------------------------

static uint32_t hashed(const char *text) {
    uint32_t hash = 2166136261u; // FNV-1a
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash;
}

// Identifies a machine among those of its kind: a hash of its GPUs' serial numbers, or of the system's if it has no GPU.
// Hashed, since records are passed on.
static void read_serial(char text[48]) {
    char why[160], all[64 * 16] = "", one[96];
    const rg_nvml *nvml = rg_nvml_load(why);
    unsigned n = 0;
    if (nvml && nvml->count && nvml->by_index && nvml->uuid && nvml->count(&n) == 0)
        for (unsigned i = 0; i < n && strlen(all) + sizeof one < sizeof all; i++) {
            void *gpu;
            if (nvml->by_index(i, &gpu) == 0 && nvml->uuid(gpu, one, sizeof one) == 0) strcat(all, one);
        }
    FILE *f = *all ? NULL : fopen("/etc/machine-id", "r");
    if (f && !fgets(all, sizeof all, f)) *all = '\0';
    if (f) fclose(f);
    if (*all)
        snprintf(text, 48, "serial %08x", hashed(all));
    else
        snprintf(text, 48, "serial unknown");
}

static const char *said(const rg_result *r, const char *key) {
    const char *value = rg_result_head(r, key);
    return value ? value : "unknown";
}

// The cell `made` of a row of this file.
static char *made_of(const rg_record *r, const rg_result *file, bool own) {
    const char *driver = said(file, "gpu_driver"), *clocks = said(file, "gpu_clocks");
    const bool gpu = strncmp(driver, "none", 4) != 0;
    return rg_print("%s, %s %s, %s %s, revision %s, %s", own ? r->serial : "serial unknown", gpu ? "driver" : "kernel",
        gpu ? driver : said(file, "kernel"), gpu ? "clocks" : "governor", gpu ? clocks : said(file, "governor"),
        said(file, "revision"), said(file, "date"));
}

int rg_record_mixed(const rg_record *r, char text[400]) {
    struct {
        char name[48];
        int rows;
    } known[16];
    int n = 0;
    for (int i = 0; i < r->rows.n_rows; i++) {
        const char *made = r->rows.row[i].cell[RG_C_MADE];
        char name[48];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(made, ","), made);
        int k = 0;
        while (k < n && strcmp(known[k].name, name)) k++;
        if (!*name || (k == n && n == RG_COUNT(known))) continue;
        if (k == n) {
            snprintf(known[n].name, sizeof known->name, "%s", name);
            known[n++].rows = 0;
        }
        known[k].rows++;
    }
    int at = 0;
    *text = '\0';
    for (int k = 0; k < n && at < 330; k++)
        at += snprintf(text + at, 400 - (size_t)at, "%s%s: %d row%s", k ? "; " : "", known[k].name, known[k].rows,
            rg_plural(known[k].rows));
    return n;
}

// ---- head ------------------------------------------------------------------------------------------------------------------

static void set_head(rg_result *r, const char *key, const char *value) {
    for (int i = 0; i < r->n_head; i++)
        if (!strcmp(r->head_key[i], key)) {
            free(r->head_value[i]);
            r->head_value[i] = rg_print("%s", value);
            return;
        }
    r->head_key = rg_grow(r->head_key, r->n_head, sizeof *r->head_key);
    r->head_value = rg_grow(r->head_value, r->n_head, sizeof *r->head_value);
    r->head_key[r->n_head] = rg_print("%s", key);
    r->head_value[r->n_head++] = rg_print("%s", value);
}

// The text after the cores in a machine's name ("..., 7 cores, GPU"); NULL if it is no such name.
static const char *past_cores(const char *machine) {
    const char *at = strstr(machine + strcspn(machine, ","), " cores");
    return at ? at + strlen(" cores") : NULL;
}

static bool is_of_gpu(const char *key) { return begins(key, "gpu") || !strcmp(key, "cuda_runtime"); }

// Sets the head lines of the machine and of the run; those of single rows are set with the rows.
static void take_head(rg_record *r, const rg_result *file) {
    for (int i = 0; i < file->n_head; i++)
        if (!begins(file->head_key[i], "input ") && !begins(file->head_key[i], "source ") &&
            !begins(file->head_key[i], "tuned ") && strcmp(file->head_key[i], "rows_before") &&
            strcmp(file->head_key[i], "search") && strcmp(file->head_key[i], "mixed"))
            set_head(&r->rows, file->head_key[i],
                r->without_gpu && is_of_gpu(file->head_key[i]) ? "none (CPU run)" : file->head_value[i]);
    set_head(&r->rows, "format", RG_RESULT_FORMAT);
    const char *machine = said(&r->rows, "machine"), *gpu = past_cores(machine);
    if (gpu && r->without_gpu) {
        RG_FREED char *alone = rg_print("%.*s", (int)(gpu - machine), machine);
        set_head(&r->rows, "machine", alone);
    }
}

int rg_record_here(rg_record *r, const char *path) {
    RG_ENDS(rg_result_free) rg_result file;
    bool cut;
    int code = rg_result_read(path, &file, &cut);
    const char *here = code ? NULL : said(&file, "machine"), *of = rg_result_head(&r->rows, "machine");
    if (!code && of && strcmp(of, here))
        code = rg_fail(RG_USAGE, "%s: it is of \"%s\", this machine is \"%s\"", r->path, of, here);
    if (!code) take_head(r, &file);
    return code;
}

// ---- rows ------------------------------------------------------------------------------------------------------------------

static rg_row *find(const rg_record *r, const rg_row *key) {
    for (int i = 0; i < r->rows.n_rows; i++)
        if (rg_row_same(&r->rows.row[i], key)) return &r->rows.row[i];
    return NULL;
}

static bool is_job(const rg_row *row) { return !strcmp(row->cell[RG_C_SCOPE], "job"); }
static int processes(const rg_row *row) {
    RG_ENDS(rg_samples_free) rg_samples s = rg_row_samples(row);
    return s.processes;
}

// Why an earlier row is not good enough today; NULL: it is.
static const char *lacks(const rg_row *row) {
    if (rg_row_is_probe(row)) return NULL;
    if (!rg_row_is_timed(row)) return "without a time";
    if (rg_row_is_stale(row)) return "timed before the kernel changed";
    if (!is_job(row) && !*row->cell[RG_C_SOURCE]) return "without the hash of the kernel's source";
    if (is_job(row) && !*row->cell[RG_C_CHECK]) return "without the check that the outputs passed";
    return NULL;
}

bool rg_record_has(const rg_record *r, const rg_row *key, bool energy) {
    const rg_row *row = find(r, key);
    if (!row) return false;
    if (!strcmp(row->cell[RG_C_STATUS], "SKIP") && rg_cell_word(row, RG_C_STOP) != RG_STOP_BUSY)
        return true;                                   // with a reason, which another run would repeat
    const int source = rg_cell_word(row, RG_C_ENERGY); // the counter that was asked for, or why there is none
    return !lacks(row) && (!energy || *row->cell[RG_C_JOULES] || source > RG_ENERGY_NOT_ASKED);
}

bool rg_record_is_wide(const rg_record *r, const rg_row *key) {
    const rg_row *row = r->widest > 0 ? find(r, key) : NULL;
    return row && rg_row_is_timed(row) && rg_row_width(row) > r->widest;
}

static void put(rg_record *r, rg_row row) {
    rg_row *there = find(r, &row);
    if (there) {
        rg_row_free(there);
        *there = row;
        return;
    }
    r->rows.row = rg_grow(r->rows.row, r->rows.n_rows, sizeof *r->rows.row);
    r->rows.row[r->rows.n_rows++] = row;
}

// Drops the rows of an input that has changed since.
static void drop_rows_of(rg_record *r, const char *input) {
    int n = 0;
    for (int i = 0; i < r->rows.n_rows; i++) {
        RG_FREED char *of = rg_input_key(&r->rows.row[i]);
        if (strcmp(of, input))
            r->rows.row[n++] = r->rows.row[i];
        else
            rg_row_free(&r->rows.row[i]);
    }
    rg_warn("%s: left out: %d row%s of another \"%s\"", r->path, r->rows.n_rows - n, rg_plural(r->rows.n_rows - n), input);
    r->rows.n_rows = n;
}

// Copies the hashes that make the row valid (validate.h) from its file's head. A row of other inputs is another measurement:
// rows of this run replace those.
static int take_hashes(rg_record *r, const rg_result *file, const rg_row *row, bool own) {
    RG_FREED char *input = rg_input_key(row), *source = rg_print("source %s:%s", row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT]);
    const char *now = rg_result_head(file, input), *had = rg_result_head(&r->rows, input), *of = rg_result_head(file, source);
    int code = RG_GOOD;
    const bool differs = now && had && strcmp(now, had);
    if (differs && own) drop_rows_of(r, input);
    if (differs && !own)
        code = rg_fail(RG_USAGE, "%s: %s is \"%s\", in the record it is \"%s\": it takes a record of another name", file->path,
            input, now, had);
    else if (now)
        set_head(&r->rows, input, now);
    if (!code && of && !is_job(row)) set_head(&r->rows, source, of);
    return code;
}

static rg_row copy_of(const rg_row *row, const char *made) {
    rg_row copy = *row;
    for (int c = 0; c < RG_COLUMNS; c++) copy.cell[c] = rg_print("%s", c == RG_C_MADE && !*row->cell[c] ? made : row->cell[c]);
    return copy;
}

// Keeps the better of two probes: it is the best sustained rate seen so far, and no row may be faster than it allows.
static void take_probe(rg_record *r, const rg_row *row, const char *made, bool own) {
    const rg_row *had = find(r, row);
    rg_row copy = copy_of(row, made);
    int k = 0;
    while (k < r->n_probes && !rg_row_same(&r->probe[k], row)) k++;
    if (own && k == r->n_probes) {
        r->probe = rg_grow(r->probe, r->n_probes, sizeof *r->probe);
        r->probe[r->n_probes++] = copy_of(row, made);
    }
    if (had && !(rg_cell_number(row, RG_C_RATE) > rg_cell_number(had, RG_C_RATE)) && *had->cell[RG_C_RATE])
        rg_row_free(&copy);
    else
        put(r, copy);
}

static int take_row(rg_record *r, const rg_result *file, const rg_row *row, const char *made, bool own) {
    const rg_row *had = find(r, row);
    if (rg_row_is_probe(row)) return take_probe(r, row, made, own), RG_GOOD;
    // Rows that this run measured, or was refused, are kept; those of another file only if the record lacks them or has a wider
    // interval. Seeded rows come back unchanged.
    const bool same = had && !strcmp(had->cell[RG_C_SAMPLES], row->cell[RG_C_SAMPLES]) &&
        !strcmp(had->cell[RG_C_JOULES], row->cell[RG_C_JOULES]);
    const bool wide = had && rg_record_is_wide(r, had) && !lacks(had),
               narrower = wide && rg_row_width(had) <= rg_row_width(row);
    const bool more = had && *row->cell[RG_C_JOULES] && !*had->cell[RG_C_JOULES]; // the record has no energy
    if (same || narrower || (!own && had && !lacks(had) && !more && !wide)) return RG_GOOD;
    const int code = take_hashes(r, file, row, own);
    if (!code) put(r, copy_of(row, made));
    return code;
}

// Whether both are one kind of machine. The number of usable cores may differ: rows of one core or of a GPU do not depend on
// it. `here` may have no GPU, or use none: rows of the CPU are the same with one.
static bool is_one_kind(const char *here, const char *machine) {
    const size_t n = strcspn(here, ","), m = strcspn(machine, ",");
    const char *gpu = past_cores(here), *its_gpu = past_cores(machine);
    return n == m && !strncmp(here, machine, n) && gpu && its_gpu && (!*gpu || !strcmp(gpu, its_gpu));
}

static bool is_of_all_cores(const rg_row *row) {
    const char *threads = strstr(row->cell[RG_C_PARAMS], "threads=");
    return is_job(row) ? !threads || atoi(threads + strlen("threads=")) > 1
                       : !strcmp(row->cell[RG_C_SPACE], "host") && threads && atoi(threads + strlen("threads=")) > 1;
}

int rg_record_merge(rg_record *r, const char *path, bool own) {
    RG_ENDS(rg_result_free) rg_result file;
    bool cut;
    int code = rg_result_read(path, &file, &cut);
    code = code ? code : rg_validate(&file);
    const char *machine = code ? NULL : said(&file, "machine");
    const bool first = !rg_result_head(&r->rows, "machine");
    if (!code && first) take_head(r, &file);
    const char *here = rg_result_head(&r->rows, "machine");
    if (!code && !own && !first && !is_one_kind(here, machine))
        code = rg_fail(RG_USAGE, "%s: it is of \"%s\", the record of \"%s\"", path, machine, here);
    RG_FREED char *made = code ? NULL : made_of(r, &file, own);
    const bool tuning = !code && rg_result_head(&file, "search"); // `tune` has only a first look at each
    const char *reason[8];
    int left_out[8] = {0}, reasons = 0;
    for (int i = 0; !code && i < file.n_rows; i++) {
        const rg_row *row = &file.row[i];
        const bool recorded = own || *row->cell[RG_C_MADE]; // by a step of the plan, whose rows are final
        const char *why = here && past_cores(here) && !*past_cores(here) && !strcmp(row->cell[RG_C_SPACE], "device")
            ? "of a GPU, in a record of none"
            : recorded && !rg_row_is_timed(row) ? NULL
                                                : lacks(row);
        if (!why && !recorded && !tuning && !rg_row_is_probe(row) && processes(row) < PROCESSES_LEAST)
            why = "of fewer than 5 processes";
        if (!why && !own && here && strncmp(here, machine, strlen(here)) && is_of_all_cores(row))
            why = "of another number of cores";
        if (!why) {
            code = take_row(r, &file, row, made, own);
            continue;
        }
        int k = 0;
        while (k < reasons && reason[k] != why) k++;
        reasons += k == reasons;
        reason[k] = why;
        left_out[k]++;
    }
    for (int k = 0; k < reasons; k++)
        rg_warn("%s: left out: %d row%s %s", path, left_out[k], rg_plural(left_out[k]), reason[k]);
    return code;
}

// ---- files -----------------------------------------------------------------------------------------------------------------

static int save_rows(rg_record *r) {
    char mixed[400];
    if (rg_record_mixed(r, mixed) > 1) set_head(&r->rows, "mixed", mixed);
    rg_file file;
    rg_file_continues(r->path);
    int code = rg_file_open(&file, r->path);
    if (code) return code;
    rg_result_write_head(file.stream, r->rows.n_head, r->rows.head_key, r->rows.head_value);
    for (int i = 0; i < r->rows.n_rows; i++) rg_result_write_row(file.stream, &r->rows.row[i]);
    code = rg_result_seal(file.stream, r->path);
    return rg_file_end(&file, code);
}

int rg_record_save(rg_record *r) {
    int code = rg_result_head(&r->rows, "machine") ? save_rows(r) : RG_GOOD; // else no row is measured yet
    rg_file_continues(r->tables_path);
    return code || !r->tables.n ? code : rg_tables_write(r->tables_path, &r->tables);
}

int rg_record_open(rg_record *r, const char *name, bool resume) {
    *r = (rg_record){.path = rg_print("%s.tsv", name), .tables_path = rg_print("%s.tables.tsv", name)};
    read_serial(r->serial);
    r->rows.path = rg_print("%s", r->path);
    const bool there = access(r->path, F_OK) == 0, tables = access(r->tables_path, F_OK) == 0;
    if ((there || tables) && !resume)
        return rg_fail(
            RG_USAGE, "%s: there is a record of this name: go on with it by --resume", there ? r->path : r->tables_path);
    int code = there ? rg_record_merge(r, r->path, false) : RG_GOOD;
    if (!code && tables) code = rg_tables_read(r->tables_path, &r->tables);
    return code;
}

// Whether a row that the step continues with is of this input.
static bool is_of_step(const rg_record *r, const rg_record_step *step, const char *input) {
    bool found = false;
    for (int i = 0; i < r->rows.n_rows && !found; i++) {
        RG_FREED char *of = rg_input_key(&r->rows.row[i]);
        found = !strcmp(of, input) && rg_record_step_has(r, step, &r->rows.row[i]);
    }
    return found;
}

int rg_record_seed(const rg_record *r, const rg_record_step *step, int cores, const char *path) {
    FILE *f = rg_result_open(path, "w");
    if (!f) return rg_fail(RG_USAGE, "%s: cannot write here: %s", path, strerror(errno));
    // A process that may use only some cores names the machine by them.
    RG_FREED char *machine = rg_print("%s", said(&r->rows, "machine"));
    const char *at = strstr(machine, " cores");
    while (at && at > machine && at[-1] != ' ') at--;
    RG_FREED char *named =
        at && cores ? rg_print("%.*s%d%s", (int)(at - machine), machine, cores, strstr(at, " cores")) : rg_print("%s", machine);
    RG_FREED char **key = rg_alloc((size_t)(r->rows.n_head + 1) * sizeof *key),
                  **value = rg_alloc((size_t)(r->rows.n_head + 1) * sizeof *value);
    int n = 0;
    for (int i = 0; i < r->rows.n_head; i++) {
        key[n] = r->rows.head_key[i];
        if (begins(key[n], "input ") && !is_of_step(r, step, key[n]))
            continue; // for rows of another run, whose input may have changed since
        value[n] = strcmp(key[n], "machine") ? r->rows.head_value[i] : named;
        n++;
    }
    rg_result_write_head(f, n, key, value);
    for (int i = 0; i < r->rows.n_rows; i++)
        if (rg_record_step_has(r, step, &r->rows.row[i])) rg_result_write_row(f, &r->rows.row[i]);
    for (int i = 0; i < r->n_probes; i++) rg_result_write_row(f, &r->probe[i]);
    const bool bad = ferror(f) != 0;
    return fclose(f) == 0 && !bad ? RG_GOOD : rg_fail(RG_USAGE, "%s: not written: %s", path, strerror(errno));
}

void rg_record_free(rg_record *r) {
    rg_result_free(&r->rows);
    rg_tables_free(&r->tables);
    for (int i = 0; i < r->n_probes; i++) rg_row_free(&r->probe[i]);
    free(r->probe);
    free(r->path);
    free(r->tables_path);
}
