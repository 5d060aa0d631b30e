// SPDX-License-Identifier: MIT
// test_export.c: the command `export`: what it writes is JSON, with the fields that readers of each format look for.
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
    test_set(&row[1], RG_C_STOP, "caf\xc3\xa9 \"quoted\"");
    test_set(&row[2], RG_C_STATUS, "SKIP");
    test_set(&row[2], RG_C_PARAMS, "threads=all;isa=2 \"wide\";tile=8x8");
    test_set(&row[2], RG_C_MEDIAN, "");
    test_set(&row[2], RG_C_STOP, "no GPU: \"none\" \x01 found");
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

TEST(t4_is_json_with_its_fields)
{
    write_rows();
    assert_int_equal(export("t4"), RG_GOOD);
    assert_true(is_json(text));
    assert_int_equal(count("\"configuration\""), 3);
    assert_int_equal(count("\"times\""), 3);
    assert_int_equal(count("\"invalidity\": \"correct\""), 2);
    assert_int_equal(count("\"invalidity\": \"constraints\""), 1);
    assert_int_equal(count("\"correctness\": 1"), 2);
    assert_int_equal(count("\"correctness\": 0"), 1);
    assert_int_equal(count("\"isa\": 2"), 2);
    assert_int_equal(count("\"threads\": \"all\", \"isa\": \"2 \\\"wide\\\"\", \"tile\": \"8x8\""), 1);
    assert_non_null(strstr(text, "\"schema_version\": \"1.0.0\""));
    assert_non_null(strstr(text, "\"runtimes\": [0.001, ")); // 1000 ns in ms
}

TEST(an_empty_file_is_json_too)
{
    test_write(path, "regather 0.1", "00ff", NULL, 0);
    assert_int_equal(export("gbench"), RG_GOOD);
    assert_true(is_json(text));
    assert_int_equal(export("t4"), RG_GOOD);
    assert_true(is_json(text));
}

TEST(bad_usage_is_refused_and_leaves_nothing)
{
    write_rows();
    assert_int_equal(export("xml"), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_export, "export --format t4", text), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_export, "export /nonexistent.tsv --format t4", text), RG_USAGE);
    char *out = rg_print("%s/no-such-folder/x.json", folder), *words = rg_print("export %s --format t4 --out %s", path, out);
    assert_int_equal(run_command(&rg_cmd_export, words, text), RG_USAGE);
    assert_int_not_equal(access(out, F_OK), 0);
    free(words);
    free(out);
}

int main(void)
{
    folder = test_folder();
    path = rg_print("%s/f.tsv", folder);
    int failed = RUN_TESTS(NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
