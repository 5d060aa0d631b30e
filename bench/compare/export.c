// SPDX-License-Identifier: MIT
// export.c: the command `export`: a result file as Google Benchmark JSON or as the auto-tuners' T4 JSON.
//
// gbench: every raw sample is a repetition, so that Google Benchmark's own compare.py can test two files, and the median an
// aggregate. t4 (results-schema.json of TuningSchema): one result a row; runtimes in milliseconds.

#include "export.h"
#include "believe.h"
#include "../../impl/base/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct exporting {
    rg_given given;
    rg_export_format format;
    const char *out;
} exporting;

static const rg_option options[] = {
    {"format", "gbench|t4", "Google Benchmark JSON, or the auto-tuners' T4 JSON", RG_TO(exporting, format), .required = true},
    {"out", "F.json", "where to write it", RG_TO(exporting, out), .otherwise = "standard output"},
    {0},
};

// ---- JSON ----------------------------------------------------------------------------------------------------------------

// Bytes that are not valid UTF-8 would make the whole file unreadable: those above 127 are escaped as Latin-1.
static void put_string(FILE *f, const char *text)
{
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

static void put_text_field(FILE *f, const char *name, const char *text)
{
    put_string(f, name);
    fputs(": ", f);
    put_string(f, text);
}

// JSON has neither NaN nor infinity: such a value is null.
static void put_number(FILE *f, double value)
{
    if (isfinite(value))
        fprintf(f, "%.10g", value);
    else
        fputs("null", f);
}

static bool measured(const rg_row *row) { return !rg_row_is_probe(row) && !rg_row_is_self_test(row); }

static bool passed(const rg_row *row) { return !strcmp(row->cell[RG_C_STATUS], "PASS"); }

// ---- Google Benchmark ----------------------------------------------------------------------------------------------------

// What the columns hold beside the times, as counters: only those that are there.
static void put_counters(FILE *f, const rg_row *row)
{
    static const rg_column counter[] = {RG_C_RATE, RG_C_WORK, RG_C_TRAFFIC, RG_C_FRACTION, RG_C_ERROR, RG_C_JOULES,
        RG_C_PEAK_BYTES, RG_C_CLOCK, RG_C_TEMP, RG_C_PREPARE};
    for (size_t i = 0; i < sizeof counter / sizeof *counter; i++)
        if (*row->cell[counter[i]]) {
            fprintf(f, ",\n      \"%s\": ", rg_column_name[counter[i]]);
            put_number(f, rg_cell_number(row, counter[i]));
        }
}

static int threads_of(const rg_row *row)
{
    bool host = !strcmp(row->cell[RG_C_SPACE], "host") && !strncmp(row->cell[RG_C_PARAMS], "threads=", 8);
    return host ? atoi(row->cell[RG_C_PARAMS] + 8) : 1;
}

static void put_names(FILE *f, const rg_row *row, const char *suffix)
{
    char *run = rg_print("%s/%s/%s/%s/%s/%s", row->cell[RG_C_ALGO], row->cell[RG_C_VARIANT], row->cell[RG_C_SHAPE],
        row->cell[RG_C_PARAMS], row->cell[RG_C_SCOPE], row->cell[RG_C_MODE]);
    char *name = rg_print("%s%s", run, suffix);
    fputs("    {\n      ", f);
    put_text_field(f, "name", name);
    fputs(",\n      ", f);
    put_text_field(f, "run_name", run);
    free(name);
    free(run);
}

// cpu_time is real_time: what the CPU does while a GPU computes is not what a row measures.
static void put_repetition(FILE *f, const rg_row *row, int family, double ns, int n, int i)
{
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

static void put_median(FILE *f, const rg_row *row, int family, int n)
{
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

static void put_untimed(FILE *f, const rg_row *row, int family)
{
    put_names(f, row, "");
    fprintf(f, ",\n      \"family_index\": %d,\n      \"per_family_instance_index\": 0,\n      \"run_type\": \"iteration\"",
        family);
    fprintf(f, ",\n      \"repetitions\": 1,\n      \"repetition_index\": 0,\n      \"threads\": %d", threads_of(row));
    bool skipped = !strcmp(row->cell[RG_C_STATUS], "SKIP");
    fprintf(f, ",\n      \"%s\": true,\n      ", skipped ? "skipped" : "error_occurred");
    char *message = rg_print("%s: %s", row->cell[RG_C_STATUS], row->cell[RG_C_STOP]);
    put_text_field(f, skipped ? "skip_message" : "error_message", message);
    free(message);
    fputs(
        ",\n      \"iterations\": 0,\n      \"real_time\": 0,\n      \"cpu_time\": 0,\n      \"time_unit\": \"ns\"\n    }", f);
}

static const char *head(const rg_result *r, const char *key, const char *standard)
{
    const char *value = rg_result_head(r, key);
    return value ? value : standard;
}

static void put_context(FILE *f, const rg_result *r)
{
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
        char *key = rg_print("%s%s", repeated ? "regather_" : "", r->head_key[i]);
        put_text_field(f, key, r->head_value[i]);
        free(key);
    }
    fputs("\n  },\n", f);
}

static void write_gbench(FILE *f, const rg_result *r)
{
    const char *comma = "\n";
    fputs("{\n", f);
    put_context(f, r);
    fputs("  \"benchmarks\": [", f);
    for (int i = 0; i < r->n_rows; i++) {
        const rg_row *row = &r->row[i];
        if (!measured(row)) continue;
        fputs(comma, f);
        comma = ",\n";
        rg_samples samples = rg_row_samples(row);
        for (int k = 0; k < samples.n; k++) {
            put_repetition(f, row, i, samples.ns[k], samples.n, k);
            fputs(comma, f);
        }
        if (passed(row) && samples.n)
            put_median(f, row, i, samples.n);
        else
            put_untimed(f, row, i);
        rg_samples_free(&samples);
    }
    fputs("\n  ]\n}\n", f);
}

// ---- T4 ------------------------------------------------------------------------------------------------------------------

// "name=value;..." as members; a value that is no number (none so far) stays text.
static void put_configuration(FILE *f, const rg_row *row)
{
    static const rg_column part[] = {RG_C_ALGO, RG_C_VARIANT, RG_C_SHAPE, RG_C_SPACE, RG_C_SCOPE, RG_C_MODE};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        fputs(i ? ", " : "", f);
        put_text_field(f, rg_column_name[part[i]], row->cell[part[i]]);
    }
    for (const char *at = row->cell[RG_C_PARAMS]; *at && *at != '-'; at += strcspn(at, ";"), at += *at == ';') {
        const int name = (int)strcspn(at, "=;");
        const char *value = at + name + (at[name] == '=');
        char *key = rg_print("%.*s", name, at), *text = rg_print("%.*s", (int)strcspn(value, ";"), value), *past;
        const double number = strtod(text, &past);
        fputs(", ", f);
        put_string(f, key);
        fputs(": ", f);
        if (*text && !*past && isfinite(number))
            put_number(f, number);
        else
            put_string(f, text);
        free(key);
        free(text);
    }
}

static const char *invalidity(const rg_row *row)
{
    static const char *const word[][2] = {
        {"PASS", "correct"}, {"FAIL", "correctness"}, {"SKIP", "constraints"}, {"CRASH", "runtime"}, {"TIMEOUT", "timeout"}};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (!strcmp(row->cell[RG_C_STATUS], word[i][0])) return word[i][1];
    return "constraints";
}

static void put_measurements(FILE *f, const rg_row *row)
{
    const struct {
        rg_column column;
        const char *unit;
        double scale;
    } kept[] = {{RG_C_MEDIAN, "ms", 1e-6}, {RG_C_PREPARE, "ms", 1e-6}, {RG_C_RATE, row->cell[RG_C_RATE_UNIT], 1},
        {RG_C_FRACTION, "", 1}, {RG_C_ERROR, "", 1}, {RG_C_JOULES, "J", 1}, {RG_C_CLOCK, "MHz", 1}, {RG_C_TEMP, "C", 1},
        {RG_C_PEAK_BYTES, "B", 1}};
    const char *comma = "";
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (*row->cell[kept[i].column]) {
            fprintf(f, "%s\n        {", comma);
            put_text_field(f, "name", rg_column_name[kept[i].column]);
            fputs(", \"value\": ", f);
            put_number(f, rg_cell_number(row, kept[i].column) * kept[i].scale);
            fputs(", ", f);
            put_text_field(f, "unit", kept[i].unit);
            putc('}', f);
            comma = ",";
        }
}

static void put_result(FILE *f, const rg_result *r, const rg_row *row)
{
    fputs("    {\n      ", f);
    put_text_field(f, "timestamp", head(r, "date", "unknown"));
    fputs(",\n      \"configuration\": {", f);
    put_configuration(f, row);
    fputs("},\n      \"objectives\": [\"median\"],\n      \"times\": {\"runtimes\": [", f);
    rg_samples samples = rg_row_samples(row);
    for (int i = 0; i < samples.n; i++) {
        fputs(i ? ", " : "", f);
        put_number(f, samples.ns[i] / 1e6);
    }
    rg_samples_free(&samples);
    fputs("]},\n      ", f);
    put_text_field(f, "invalidity", invalidity(row));
    fprintf(f, ",\n      \"correctness\": %d,\n      \"measurements\": [", passed(row));
    put_measurements(f, row);
    fputs("]\n    }", f);
}

static void write_t4(FILE *f, const rg_result *r)
{
    const char *comma = "\n";
    fputs("{\n  \"schema_version\": \"1.0.0\",\n  \"results\": [", f);
    for (int i = 0; i < r->n_rows; i++)
        if (measured(&r->row[i])) {
            fputs(comma, f);
            comma = ",\n";
            put_result(f, r, &r->row[i]);
        }
    fputs("\n  ]\n}\n", f);
}

// ---- the command ---------------------------------------------------------------------------------------------------------

int rg_export(const rg_result *r, rg_export_format format, const char *out)
{
    rg_file file = {.stream = stdout};
    int code = RG_GOOD;
    if (out) code = rg_file_open(&file, out);
    if (!code) (format == RG_GBENCH ? write_gbench : write_t4)(file.stream, r);
    if (!code && out)
        code = rg_file_commit(&file);
    else if (!code && (fflush(stdout) || ferror(stdout)))
        code = rg_fail(RG_USAGE, "standard output: not written: %s", strerror(errno));
    return code;
}

static int run(void *options)
{
    const exporting *e = options;
    rg_result r;
    bool cut;
    int code = rg_result_read(e->given.word.item[0], &r, &cut);
    if (code) return code;
    if (cut) rg_warn("%s: its last line is unfinished and left out", r.path);
    code = rg_believe(&r);
    code = code ? code : rg_export(&r, e->format, e->out);
    rg_result_free(&r);
    return code;
}

const rg_command rg_cmd_export = {
    .name = "export",
    .words = "F.tsv",
    .summary = "a result file in the formats of other tools",
    .help = "gbench: Google Benchmark JSON, times in ns. Every raw sample is a repetition of its own, so that\n"
            "tools/compare.py of Google Benchmark can compare two files; the median is an aggregate; rates, errors,\n"
            "joules and the rest are counters. Rows that failed have error_occurred, those that were skipped have\n"
            "skipped.\n\n"
            "t4: the auto-tuners' result format (TuningSchema, version 1.0.0), one result a row, runtimes in ms,\n"
            "invalidity from the status (PASS correct, FAIL correctness, CRASH runtime, TIMEOUT timeout, SKIP\n"
            "constraints).\n\n"
            "Rows of the algorithms probe and self-test, which describe the machine and the method, are left out.",
    .option = options,
    .bytes = sizeof(exporting),
    .run = run,
};
