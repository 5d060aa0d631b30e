// SPDX-License-Identifier: MIT
// export.c: the command `export`: writes a result file as Google Benchmark JSON, or many as a CSV table for change-point tools.
//
// gbench: every raw sample is a repetition, so that Google Benchmark's own compare.py can test two files, and the median is an
// aggregate. csv: the format of Apache Otava's CsvImporter: a line per run, a column per metric, no empty cell.
#include "validate.h"
#include "../../data/formats/result.h"
#include "../../impl/base/core.h"
#include "../../impl/base/options.h"

#include <ctype.h>

typedef struct exporting {
    rg_given given;
    enum { GBENCH, CSV } format; // as --format has them
    const char *out;
} exporting;

static const rg_option options[] = {
    {"format", "gbench|csv", "Google Benchmark JSON, or a CSV table of many files", RG_TO(exporting, format), .required = true},
    {"out", "FILE", "where to write it", RG_TO(exporting, out), .otherwise = "standard output"},
    {0},
};

// ---- JSON ----------------------------------------------------------------------------------------------------------------

// Bytes that are not valid UTF-8 would make the whole file unreadable: those above 127 are escaped as Latin-1.
static void put_string(FILE *f, const char *text) {
    putc('"', f);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(f, "\\%c", *p);
        else if (*p < 32 || *p > 126)
            fprintf(f, "\\u%04x", *p);
        else
            putc(*p, f);
    }
    putc('"', f);
}

static void put_text_field(FILE *f, const char *name, const char *text) {
    put_string(f, name);
    fputs(": ", f);
    put_string(f, text);
}

// JSON has neither NaN nor infinity: such a value is null.
static void put_number(FILE *f, double value) {
    if (isfinite(value))
        fprintf(f, "%.10g", value);
    else
        fputs("null", f);
}

static bool measured(const rg_row *row) { return !rg_row_is_probe(row) && !rg_row_is_self_test(row); }

static bool passed(const rg_row *row) { return !strcmp(row->cell[RG_C_STATUS], "PASS"); }

// ---- Google Benchmark ----------------------------------------------------------------------------------------------------

// The columns other than times, as counters; empty ones are left out.
static void put_counters(FILE *f, const rg_row *row) {
    static const rg_column counter[] = {RG_C_RATE, RG_C_WORK, RG_C_TRAFFIC, RG_C_FRACTION, RG_C_ERROR, RG_C_JOULES,
        RG_C_PEAK_BYTES, RG_C_CLOCK, RG_C_TEMP, RG_C_PREPARE};
    for (size_t i = 0; i < sizeof counter / sizeof *counter; i++)
        if (*row->cell[counter[i]]) {
            fprintf(f, ",\n      \"%s\": ", rg_column_name[counter[i]]);
            put_number(f, rg_cell_number(row, counter[i]));
        }
}

static int threads_of(const rg_row *row) {
    bool host = !strcmp(row->cell[RG_C_SPACE], "host") && !strncmp(row->cell[RG_C_PARAMS], "threads=", 8);
    return host ? atoi(row->cell[RG_C_PARAMS] + 8) : 1;
}

static void put_names(FILE *f, const rg_row *row, const char *suffix) {
    RG_FREED char *run = rg_print("%s/%s/%s/%s/%s/%s", row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT], row->cell[RG_C_SHAPE],
        row->cell[RG_C_PARAMS], row->cell[RG_C_SCOPE], row->cell[RG_C_MODE]);
    RG_FREED char *name = rg_print("%s%s", run, suffix);
    fputs("    {\n      ", f);
    put_text_field(f, "name", name);
    fputs(",\n      ", f);
    put_text_field(f, "run_name", run);
}

// cpu_time is real_time: a row does not measure the CPU's work while a GPU computes.
static void put_repetition(FILE *f, const rg_row *row, int family, double ns, int n, int i) {
    put_names(f, row, "");
    fprintf(f, ",\n      \"family_index\": %d,\n      \"per_family_instance_index\": 0,\n      \"run_type\": \"iteration\"",
        family);
    fprintf(f, ",\n      \"repetitions\": %d,\n      \"repetition_index\": %d,\n      \"threads\": %d", n, i, threads_of(row));
    fputs(",\n      \"iterations\": 1,\n      \"real_time\": ", f);
    put_number(f, ns);
    fputs(",\n      \"cpu_time\": ", f);
    put_number(f, ns);
    fputs(",\n      \"time_unit\": \"ns\"", f);
    put_counters(f, row);
    fputs("\n    }", f);
}

static void put_median(FILE *f, const rg_row *row, int family, int n) {
    put_names(f, row, "_median");
    fprintf(f, ",\n      \"family_index\": %d,\n      \"per_family_instance_index\": 0,\n      \"run_type\": \"aggregate\"",
        family);
    fprintf(
        f, ",\n      \"repetitions\": %d,\n      \"threads\": %d,\n      \"aggregate_name\": \"median\"", n, threads_of(row));
    fprintf(f, ",\n      \"aggregate_unit\": \"time\",\n      \"iterations\": %d,\n      \"real_time\": ", n);
    put_number(f, rg_cell_number(row, RG_C_MEDIAN));
    fputs(",\n      \"cpu_time\": ", f);
    put_number(f, rg_cell_number(row, RG_C_MEDIAN));
    fputs(",\n      \"time_unit\": \"ns\"", f);
    put_counters(f, row);
    fputs("\n    }", f);
}

static void put_untimed(FILE *f, const rg_row *row, int family) {
    put_names(f, row, "");
    fprintf(f, ",\n      \"family_index\": %d,\n      \"per_family_instance_index\": 0,\n      \"run_type\": \"iteration\"",
        family);
    fprintf(f, ",\n      \"repetitions\": 1,\n      \"repetition_index\": 0,\n      \"threads\": %d", threads_of(row));
    bool skipped = !strcmp(row->cell[RG_C_STATUS], "SKIP");
    fprintf(f, ",\n      \"%s\": true,\n      ", skipped ? "skipped" : "error_occurred");
    char reason[RG_REASON];
    rg_row_reason(row, reason);
    RG_FREED char *message = rg_print("%s: %s", row->cell[RG_C_STATUS], reason);
    put_text_field(f, skipped ? "skip_message" : "error_message", message);
    fputs(
        ",\n      \"iterations\": 0,\n      \"real_time\": 0,\n      \"cpu_time\": 0,\n      \"time_unit\": \"ns\"\n    }", f);
}

static const char *head(const rg_result *r, const char *key, const char *standard) {
    const char *value = rg_result_head(r, key);
    return value ? value : standard;
}

static void put_context(FILE *f, const rg_result *r) {
    fputs("  \"context\": {\n    ", f);
    put_text_field(f, "date", head(r, "date", "unknown"));
    fputs(",\n    ", f);
    put_text_field(f, "host_name", head(r, "machine", "unknown"));
    fputs(",\n    ", f);
    put_text_field(f, "executable", head(r, "command", "regather"));
    int cores = atoi(head(r, "cores", "1"));
    fprintf(f, ",\n    \"num_cpus\": %d,\n    \"mhz_per_cpu\": 0,\n    \"cpu_scaling_enabled\": %s", cores > 0 ? cores : 1,
        strcmp(head(r, "governor", ""), "performance") ? "true" : "false");
    fputs(",\n    \"caches\": [],\n    \"load_avg\": [],\n    \"library_build_type\": \"release\"", f);
    for (int i = 0; i < r->n_head; i++) {
        static const char *const taken[] = {"date", "executable", "caches"};
        bool repeated = false;
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) repeated |= !strcmp(r->head_key[i], taken[k]);
        fputs(",\n    ", f);
        RG_FREED char *key = rg_print("%s%s", repeated ? "regather_" : "", r->head_key[i]);
        put_text_field(f, key, r->head_value[i]);
    }
    fputs("\n  },\n", f);
}

static void write_gbench(FILE *f, const rg_result *r) {
    const char *comma = "\n";
    fputs("{\n", f);
    put_context(f, r);
    fputs("  \"benchmarks\": [", f);
    for (int i = 0; i < r->n_rows; i++) {
        const rg_row *row = &r->row[i];
        if (!measured(row)) continue;
        fputs(comma, f);
        comma = ",\n";
        RG_ENDS(rg_samples_free) rg_samples samples = rg_row_samples(row);
        for (int k = 0; k < samples.n; k++) {
            put_repetition(f, row, i, samples.ns[k], samples.n, k);
            fputs(comma, f);
        }
        if (passed(row) && samples.n)
            put_median(f, row, i, samples.n);
        else
            put_untimed(f, row, i);
    }
    fputs("\n  ]\n}\n", f);
}

// ---- CSV -----------------------------------------------------------------------------------------------------------------

typedef struct dated {
    const char *committed, *date; // "" where its head has none
    const rg_result *file;
} dated;

static int in_time(const void *x, const void *y) {
    const dated *a = x, *b = y;
    const int order = strcmp(a->committed, b->committed);
    return order ? order : strcmp(a->date, b->date);
}

// The dates of the commits if every head has one, else those of the runs.
static int sort_files(const rg_result *file, int n, dated *of) {
    bool all = true;
    for (int i = 0; i < n; i++) {
        of[i] = (dated){head(&file[i], "revision_date", ""), head(&file[i], "date", ""), &file[i]};
        all &= isdigit((unsigned char)*of[i].committed) != 0; // else "unknown (why)"
    }
    for (int i = 0; i < n; i++) {
        if (!all) of[i].committed = of[i].date;
        if (!*of[i].committed)
            return rg_fail(RG_USAGE, "%s: expected the date of the run in the head, found none", file[i].path);
    }
    qsort(of, (size_t)n, sizeof *of, in_time);
    return RG_GOOD;
}

static const rg_row *find_timed(const rg_result *r, const rg_row *like) {
    for (int i = 0; i < r->n_rows; i++)
        if (rg_row_same(&r->row[i], like) && rg_row_is_timed(&r->row[i])) return &r->row[i];
    return NULL;
}

// Whether it was timed in every file, on the same inputs.
static bool is_series(const dated *of, int n, const rg_row *row) {
    RG_FREED char *key = rg_print("input %s %s", row->cell[RG_C_ALGO], row->cell[RG_C_SHAPE]);
    bool same = true;
    for (int i = 0; i < n && same; i++)
        same = find_timed(of[i].file, row) && !strcmp(head(of[i].file, key, ""), head(of->file, key, ""));
    return same;
}

static void put_field(FILE *f, const char *text) {
    putc('"', f);
    for (; *text; text++) fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, f);
    putc('"', f);
}

static int write_csv(FILE *f, const rg_result *file, int n) {
    RG_FREED dated *of = rg_alloc((size_t)n * sizeof *of);
    RG_FREED const rg_row **series = rg_alloc((size_t)(file->n_rows + 1) * sizeof *series);
    int n_series = 0, left_out = 0, code = sort_files(file, n, of);
    for (int i = 0; i < file->n_rows && !code; i++) {
        const rg_row *row = &file->row[i];
        if (!measured(row)) continue;
        if (is_series(of, n, row))
            series[n_series++] = row;
        else
            left_out++;
    }
    if (!code && !n_series)
        code = rg_fail(RG_USAGE, "export: expected a measurement that every file has timed, found none in %d files", n);
    if (!code && left_out)
        rg_warn("left out: %d row%s that not every file has timed on the same inputs", left_out, rg_plural(left_out));
    for (int i = -1; i < n && !code; i++) {
        put_field(f, i < 0 ? "time" : of[i].committed);
        putc(',', f);
        put_field(f, i < 0 ? "revision" : head(of[i].file, "revision", "unknown"));
        for (int k = 0; k < n_series; k++) {
            char *const *c = series[k]->cell;
            RG_FREED char *name = i < 0 ? rg_print("%s:%s %s %s %s %s", c[RG_C_ALGO], c[RG_C_VARIANT], c[RG_C_SHAPE],
                                              c[RG_C_PARAMS], c[RG_C_SCOPE], c[RG_C_MODE])
                                        : rg_print("%.10g", rg_cell_number(find_timed(of[i].file, series[k]), RG_C_MEDIAN));
            putc(',', f);
            put_field(f, name);
        }
        putc('\n', f);
    }
    return code;
}

// ---- the command ---------------------------------------------------------------------------------------------------------

static int write_out(const exporting *e, const rg_result *file, int n) {
    rg_file out = {.stream = stdout};
    int code = e->out ? rg_file_open(&out, e->out) : RG_GOOD;
    if (code) return code;
    if (e->format == CSV)
        code = write_csv(out.stream, file, n);
    else
        write_gbench(out.stream, file);
    if (code && e->out)
        rg_file_abandon(&out);
    else if (e->out)
        code = rg_file_commit(&out);
    else if (!code && (fflush(stdout) || ferror(stdout)))
        code = rg_fail(RG_USAGE, "standard output: not written: %s", strerror(errno));
    return code;
}

// Times of different machines are no series.
static int check_alike(const rg_result *first, const rg_result *r) {
    const char *expected = head(first, "machine", ""), *found = head(r, "machine", "");
    if (!strcmp(expected, found)) return RG_GOOD;
    return rg_fail(RG_USAGE, "%s: expected machine \"%s\", as in %s, found \"%s\"", r->path, expected, first->path, found);
}

static int run(void *typed) {
    const exporting *e = typed;
    const int n = e->given.word.n;
    if (n > 1 && e->format != CSV) return rg_fail(RG_USAGE, "export: expected one file for gbench, found %d", n);
    RG_FREED rg_result *file = rg_alloc((size_t)n * sizeof *file);
    int n_read = 0, code = RG_GOOD;
    while (n_read < n && !code) {
        rg_result *r = &file[n_read];
        bool cut;
        code = rg_result_read(e->given.word.item[n_read], r, &cut);
        if (code) break;
        n_read++;
        if (cut) rg_warn("%s: its last line is incomplete and ignored", r->path);
        code = rg_validate(r);
        code = code ? code : check_alike(file, r);
    }
    code = code ? code : write_out(e, file, n);
    while (n_read > 0) rg_result_free(&file[--n_read]);
    return code;
}

const rg_command rg_cmd_export = {
    .name = "export",
    .words = "F.tsv...",
    .summary = "result files in the formats of other tools",
    .help = "gbench: one file as Google Benchmark JSON, with times in ns. Every raw sample is a repetition, so that\n"
            "tools/compare.py of Google Benchmark can compare two files. The median is an aggregate; rates, errors, joules\n"
            "and the rest are counters. Failed rows have error_occurred, skipped rows have skipped.\n\n"
            "csv: files of many commits as the table that Apache Otava reads to find where a series changed. It has one\n"
            "line a file, ordered by the date of the commit, or of the run where a head lacks that date. The columns are\n"
            "time, revision, and the median in ns of every row that all files have timed. The files must be of one machine.\n\n"
            "Rows of the algorithms probe and self-test, which describe the machine and the method, are left out.",
    .option = options,
    .bytes = sizeof(exporting),
    .run = run,
};
