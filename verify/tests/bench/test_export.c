// SPDX-License-Identifier: MIT
// test_export.c: the command `export`: its JSON has the fields that Google Benchmark's readers look for; its CSV is one that
// Apache Otava reads.
#include "../test.h"
#include "../test_command.h"

#include <ctype.h>

extern const rg_command rg_cmd_export;
static char *folder, *path, text[OUTPUT_MAX];

// ---- a strict JSON reader (RFC 8259): past the value, or NULL -----------------------------------------------------------

static const char *value(const char *p);
static const char *blank(const char *p) { return p + strspn(p, " \t\r\n"); }

static const char *string(const char *p)
{
    if (*p++ != '"') return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 32 || (unsigned char)*p > 126) return NULL;
        if (*p != '\\') continue;
        if (!*++p || !strchr("\"\\/bfnrtu", *p)) return NULL;
        for (int i = 0; *p == 'u' && i < 4; i++)
            if (!isxdigit((unsigned char)p[i + 1])) return NULL;
    }
    return p + 1;
}

static const char *number(const char *p)
{
    p += *p == '-';
    if (!isdigit((unsigned char)*p) || (*p == '0' && isdigit((unsigned char)p[1]))) return NULL;
    p += strspn(p, "0123456789");
    if (*p == '.') {
        if (!isdigit((unsigned char)*++p)) return NULL;
        p += strspn(p, "0123456789");
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        if (!isdigit((unsigned char)*p)) return NULL;
        p += strspn(p, "0123456789");
    }
    return p;
}

static const char *members(const char *p, char end, bool named)
{
    p = blank(p + 1);
    if (*p == end) return p + 1;
    for (;;) {
        if (named) {
            if (!(p = string(blank(p))) || *(p = blank(p)) != ':') return NULL;
            p++;
        }
        if (!(p = value(blank(p)))) return NULL;
        p = blank(p);
        if (*p == end) return p + 1;
        if (*p++ != ',') return NULL;
    }
}

static const char *value(const char *p)
{
    static const char *const word[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (!strncmp(p, word[i], strlen(word[i]))) return p + strlen(word[i]);
    return *p == '{' ? members(p, '}', true) : *p == '[' ? members(p, ']', false) : *p == '"' ? string(p) : number(p);
}

static bool is_json(const char *p)
{
    p = value(blank(p));
    return p && !*blank(p);
}

static int count(const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

// ---- the tests -----------------------------------------------------------------------------------------------------------

TEST(the_reader_can_refuse)
{
    assert_true(is_json("{\"a\": [1, -0.5e3, null, \"\\u00e9\\\"\\\\x01\"]}"));
    static const char *const wrong[] = {
        "{\"a\": nan}", "{\"a\": 1,}", "[1 2]", "{a: 1}", "[01]", "\"\t\"", "[1] x", "[", "\"\\x\"", "[.5]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(is_json(wrong[i]));
}

static void write_rows(void)
{
    rg_row row[4] = {test_row("naive", "device", 9, 1000), test_row("si\"md\\", "device", 12, 100),
        test_row("gather", "device", 0, 0), test_row("memory", "kernel", 0, 0)};
    test_set(&row[1], RG_C_DETAIL, "caf\xc3\xa9 \"quoted\"");
    test_set(&row[2], RG_C_STATUS, "SKIP");
    test_set(&row[2], RG_C_PARAMS, "threads=all;isa=2 \"wide\";tile=8x8");
    test_set(&row[2], RG_C_MEDIAN, "");
    test_set(&row[2], RG_C_DETAIL, "no GPU: \"none\" \x01 found");
    test_set(&row[3], RG_C_ALGO, "probe");
    test_write(path, "regather 0.1", "00ff", row, 4);
}

static int export(const char *format)
{
    int code = run_command(&rg_cmd_export, fmt("export %s --format %s", path, format), text);
    return code;
}

TEST(gbench_is_json_with_its_fields)
{
    write_rows();
    assert_int_equal(export("gbench"), RG_GOOD);
    assert_true(is_json(text));
    assert_int_equal(count("\"run_type\": \"iteration\""), 9 + 12 + 1);
    assert_int_equal(count("\"aggregate_name\": \"median\""), 2);
    assert_int_equal(count("\"real_time\""), 9 + 12 + 2 + 1);
    assert_int_equal(count("\"cpu_time\""), count("\"real_time\""));
    assert_int_equal(count("\"time_unit\": \"ns\""), count("\"real_time\""));
    assert_int_equal(count("\"iterations\""), count("\"real_time\""));
    assert_int_equal(count("\"skipped\": true"), 1);
    assert_int_equal(count("\"repetition_index\": 11"), 1);
    assert_non_null(strstr(text, "\"context\""));
    assert_non_null(strstr(text, "\"host_name\": \"a machine\""));
    assert_non_null(strstr(text, "autocorr/naive/w64,h64,r8,k0/threads=1;isa=2/device/hot_median"));
    assert_null(strstr(text, "probe"));
}

TEST(an_empty_file_is_json_too)
{
    test_write(path, "regather 0.1", "00ff", NULL, 0);
    assert_int_equal(export("gbench"), RG_GOOD);
    assert_true(is_json(text));
}

TEST(bad_usage_is_refused_and_leaves_nothing)
{
    write_rows();
    assert_int_equal(export("xml"), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_export, "export --format gbench", text), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_export, "export /nonexistent.tsv --format gbench", text), RG_USAGE);
    char *out = rg_print("%s/no-such-folder/x.json", folder),
         *words = rg_print("export %s --format gbench --out %s", path, out);
    assert_int_equal(run_command(&rg_cmd_export, words, text), RG_USAGE);
    assert_int_not_equal(access(out, F_OK), 0);
    free(words);
    free(out);
}

// ---- csv -----------------------------------------------------------------------------------------------------------------

enum { RUNS = 24, STEP = 14 };

// The k-th commit, dated the other way round than its run and named so: simd is 5 % slower from STEP on, naive is not timed by
// the first, noise is 1 %.
static void write_run(int k, const char *machine)
{
    char *const head[5][2] = {{"suite", "regather 0.1"}, {"machine", rg_unconst(machine)},
        {"revision", rg_unconst(fmt("c%04d", k))}, {"revision_date", rg_unconst(fmt("2026-10-%02dT12:00:00Z", k + 1))},
        {"date", rg_unconst(fmt("2026-11-%02dT12:00:00Z", RUNS - k))}};
    rg_row row[3] = {test_row("simd", "device", 11, (k >= STEP ? 1.05e5 : 1e5) * (1 + 0.002 * (k * 7 % 5 - 2))),
        test_row("naive", "device", 11, 1e6), test_row("autovec", "device", 11, 2e5 * (1 + 0.002 * (k * 3 % 5 - 2)))};
    if (!k) {
        test_set(&row[1], RG_C_STATUS, "SKIP");
        test_set(&row[1], RG_C_MEDIAN, "");
    }
    test_write_under(fmt("%s/r%02d.tsv", folder, RUNS - k), 5, head, row, 3);
}

static const char *all_runs(void)
{
    static char words[RUNS * 100];
    size_t n = (size_t)sprintf(words, "export --format csv");
    for (int k = 0; k < RUNS; k++) n += (size_t)snprintf(words + n, sizeof words - n, " %s/r%02d.tsv", folder, k + 1);
    return words;
}

TEST(csv_is_in_the_order_of_commits)
{
    for (int k = 0; k < RUNS; k++) write_run(k, "a \"machine\"");
    assert_int_equal(run_command(&rg_cmd_export, all_runs(), text), RG_GOOD);
    static const char head[] = "\"time\",\"revision\",\"autocorr:simd w64,h64,r8,k0 threads=1;isa=2 device hot\","
                               "\"autocorr:autovec w64,h64,r8,k0 threads=1;isa=2 device hot\"\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0); // naive is not there: not every file has timed it
    char *line = text + strlen(head);
    for (int k = 0; k < RUNS; k++, line = strchr(line, '\n') + 1) {
        const char *begin = fmt("\"2026-10-%02dT12:00:00Z\",\"c%04d\",\"", k + 1, k);
        assert_int_equal(strncmp(line, begin, strlen(begin)), 0);
        assert_float_equal(atof(line + strlen(begin)), k >= STEP ? 1.055e5 : 1.005e5, 1e3);
    }
    assert_string_equal(line, "");
}

// Where Apache Otava is (pip install apache-otava), it reads that, and finds the step at its commit and no other.
TEST(otava_finds_the_step)
{
    char *otava = rg_program_path("otava");
    if (!otava) skip();
    assert_int_equal(run_command(&rg_cmd_export, fmt("%s --out %s/runs.csv", all_runs(), folder), text), RG_GOOD);
    put_text(fmt("%s/otava.yaml", folder),
        fmt("tests:\n  simd:\n    type: csv\n    file: %s/runs.csv\n    time_column: time\n    attributes: [revision]\n"
            "    metrics: [\"autocorr:simd w64,h64,r8,k0 threads=1;isa=2 device hot\", "
            "\"autocorr:autovec w64,h64,r8,k0 threads=1;isa=2 device hot\"]\n",
            folder));
    assert_int_equal(
        system(fmt(
            "OTAVA_CONFIG=%s/otava.yaml otava analyze simd --since=2026-01-01 --output json > %s/found.json", folder, folder)),
        0);
    char *found = file_text(fmt("%s/found.json", folder));
    assert_non_null(strstr(found, "\"revision\": \"c0014\""));
    assert_non_null(strstr(found, "\"index\": 14"));
    assert_null(strstr(strstr(found, "\"index\"") + 1, "\"index\""));
    assert_null(strstr(found, "autovec"));
    free(found), free(otava);
}

TEST(files_that_are_no_series_are_refused)
{
    write_run(5, "another");
    assert_int_equal(run_command(&rg_cmd_export, all_runs(), text), RG_USAGE);
    write_rows(); // a head without a date
    assert_int_equal(export("csv"), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_export, fmt("export %s %s --format gbench", path, path), text), RG_USAGE);
}

int main(void)
{
    folder = test_folder();
    path = rg_print("%s/f.tsv", folder);
    int failed = RUN_TESTS(NULL, NULL);
    if (system(fmt("rm -r %s", folder))) return 1;
    return failed;
}
