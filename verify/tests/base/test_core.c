// SPDX-License-Identifier: MIT
// test_core.c: the command line, shapes and parameters as text, whole-or-nothing files, guarded buffers, plug-in checks.
#include "../../../impl/runtime/arena.h"
#include "../../../impl/runtime/command.h"
#include "../../../impl/runtime/table.h"
#include "../test.h"
#include "../test_data.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>

// ---- command line --------------------------------------------------------------------------------------------------------

typedef struct probing {
    rg_given given;
    int64_t number;
    rg_list many;
    bool flag;
} probing;

static int seen_words;
static int64_t seen_number;
static char seen_second[8];

static int probe_run(void *options) {
    const probing *p = options;
    seen_words = p->given.word.n;
    seen_number = p->number;
    snprintf(seen_second, sizeof seen_second, "%s", p->many.n > 1 ? p->many.item[1] : "");
    return RG_GOOD;
}

static const rg_option probe_options[] = {{"number", "N", "a number", RG_TO(probing, number), 0, 10, "5"},
    {"many", "TEXT", "repeated", RG_TO(probing, many)}, {"flag", NULL, "a flag", RG_TO(probing, flag)}, {0}};
static const rg_command probe = {
    .name = "probe", .words = "[WORD]...", .summary = "", .option = probe_options, .bytes = sizeof(probing), .run = probe_run};

static int type(int argc, const char *const *word) {
    char *argv[8] = {(char *)"probe"};
    for (int i = 0; i < argc; i++) argv[i + 1] = rg_unconst(word[i]);
    return rg_command_run(&probe, argc + 1, argv);
}
#define TYPE(...) type(RG_COUNT(((const char *const[]){__VA_ARGS__})), (const char *const[]){__VA_ARGS__})

TEST(test_command_line) {
    assert_int_equal(TYPE("a", "--number", "7", "b", "--many=x", "--many", "y"), RG_GOOD);
    assert_int_equal(seen_words, 2);
    assert_int_equal(seen_number, 7);
    assert_string_equal(seen_second, "y");
    assert_int_equal(TYPE("--", "--number"), RG_GOOD);
    assert_int_equal(seen_words, 1);
    assert_int_equal(seen_number, 5);
    assert_int_equal(TYPE("--number", "11"), RG_USAGE);
    assert_int_equal(TYPE("--number", "7x"), RG_USAGE);
    assert_int_equal(TYPE("--number"), RG_USAGE);
    assert_int_equal(TYPE("--number", "1", "--number", "2"), RG_USAGE);
    assert_int_equal(TYPE("--flag=3"), RG_USAGE);
    assert_int_equal(TYPE("--unknown"), RG_USAGE);
    assert_int_equal(TYPE("-x"), RG_USAGE);
    assert_int_equal(TYPE("--plugin", "/nonexistent.so"), RG_USAGE);
}

// ---- shapes and parameters -------------------------------------------------------------------------------------------------

TEST(test_shapes) {
    const rg_algo *algo = rg_algo_find("autocorr");
    rg_shape shape = {.seed = 1};
    char why[160], text[96];
    assert_true(rg_shape_parse(algo, "w750,h1500,r250,k1", &shape, why));
    assert_int_equal(shape.n[1], 1500);
    rg_shape_print(algo, &shape, text);
    assert_string_equal(text, "w750,h1500,r250,k1");
    assert_true(rg_shape_parse(algo, "k0,r1,h4,w3", &shape, why));
    assert_int_equal(shape.n[0], 3);
    const char *const bad[] = {"", "w750", "w1,w1,h1,r0,k0", "w,h,r,k", "w3,h4,r1,k0,z1", "w3,h4,r-1,k0", "w3,h4,r9,k0",
        "w3 h4", "w99999999999999999999,h1,r0,k0"};
    for (int i = 0; i < RG_COUNT(bad); i++) assert_false(rg_shape_parse(algo, bad[i], &shape, why));
    assert_true(rg_shape_parse(algo, "width=3,h=4,max-offset=1,kind=cross+16bit", &shape, why));
    assert_int_equal(shape.n[3], 3);
    const char *const worse[] = {"width=3,h=4,max-offset=1,kind=cros", "width3,h4,r1,k0", "width=3,w=3,h=4,r=1,k=0",
        "w=,h4,r1,k0", "w=3,h=4,r=1,k=0x", "width=3,height=4,max-offset=+1,kind=plain"};
    for (int i = 0; i < RG_COUNT(worse); i++) assert_false(rg_shape_parse(algo, worse[i], &shape, why));
}

// A shape described for users is read back as the same one, for every algorithm at every check and bench shape.
TEST(test_shapes_in_words) {
    char text[192], why[160];
    for (int a = 0; a < rg_algo_count(); a++) {
        const rg_algo *algo = rg_algo_at(a);
        for (int i = 0; i < algo->n_check_shapes + algo->n_bench_shapes; i++) {
            const rg_shape *s =
                i < algo->n_check_shapes ? &algo->check_shape[i] : &algo->bench_shape[i - algo->n_check_shapes].shape;
            rg_shape read;
            rg_shape_describe(algo, s, text);
            if (!rg_shape_parse(algo, text, &read, why)) print_message("%s: %s\n", algo->name, why);
            assert_memory_equal(read.n, s->n, sizeof read.n);
        }
    }
    rg_shape turned;
    assert_true(rg_shape_parse(rg_algo_find("align3d"), "w8,h8,d8,m1,outside=ignore,turn=y+90", &turned, why));
    assert_int_equal(turned.n[5], 1 + 361 + 180 + 90);
    rg_shape_describe(rg_algo_find("align3d"), &turned, text);
    assert_string_equal(text, "width=8,height=8,depth=8,transforms=1,outside=ignore,turn=y+90");
}

static const int64_t blocks[] = {64, 128};
static const rg_param block = {"block", blocks, 2, 128, "threads"};
static int run_nothing(rg_call *call) { return (void)call, RG_OK; }
static const rg_variant tuned = {.abi = RG_ABI,
    .bytes = sizeof(rg_variant),
    .algo = "autocorr",
    .name = "tuned",
    .idea = "none",
    .space = RG_HOST,
    .needs = "",
    .param = &block,
    .n_params = 1,
    .run = run_nothing};

TEST(test_params) {
    int64_t value[RG_PARAMS_MAX];
    char why[160], text[192];
    assert_true(rg_params_parse(&tuned, "-", value, why));
    assert_int_equal(value[0], 128);
    assert_true(rg_params_parse(&tuned, "block=64", value, why));
    rg_params_print(&tuned, value, text);
    assert_string_equal(text, "block=64");
    assert_false(rg_params_parse(&tuned, "block=96", value, why));
    assert_non_null(strstr(why, "takes 64 128"));
    assert_false(rg_params_parse(&tuned, "blok=64", value, why));
    assert_false(rg_params_parse(&tuned, "block", value, why));
}

// ---- files ----------------------------------------------------------------------------------------------------------------

TEST(test_files_whole_or_nothing) {
    char *folder = test_folder();
    RG_FREED char *path = rg_print("%s/a/b/out.tsv", folder), *sub = rg_print("%s/a/b", folder);
    rg_file file;
    assert_int_equal(rg_file_open(&file, path), RG_USAGE); // folder missing
    assert_int_equal(rg_make_folder(sub), RG_GOOD);
    assert_int_equal(rg_file_open(&file, path), RG_GOOD);
    fputs("half", file.stream);
    assert_int_not_equal(access(path, F_OK), 0); // not there until it is complete
    rg_file_abandon(&file);
    assert_int_equal(rmdir(sub), 0); // and nothing remains
    assert_int_equal(rg_make_folder(sub), RG_GOOD);
    assert_int_equal(rg_file_open(&file, path), RG_GOOD);
    fputs("whole", file.stream);
    assert_int_equal(rg_file_commit(&file), RG_GOOD);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(rg_make_folder(path), RG_USAGE); // a file has the folder's name

    // A full disk: a limit on the file size makes write fail in the same way.
    struct rlimit old, low = {1024, 1024};
    getrlimit(RLIMIT_FSIZE, &old);
    low.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(rg_file_open(&file, path), RG_GOOD);
    for (int i = 0; i < 3000; i++) fputs("0123456789", file.stream);
    setrlimit(RLIMIT_FSIZE, &low);
    assert_int_equal(rg_file_commit(&file), RG_USAGE);
    setrlimit(RLIMIT_FSIZE, &old);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 5); // the old file is unchanged
    assert_int_equal(test_folder_remove(folder), 0);
}

// ---- guarded buffers --------------------------------------------------------------------------------------------------------

TEST(test_guards) {
    bool hit;
    for (int unaligned = 0; unaligned < 2; unaligned++) {
        RG_ENDS(rg_buffer_free) rg_buffer b;
        assert_int_equal(rg_buffer_make(&b, rg_device_cpu(), 100, 4, unaligned, "bytes"), RG_OK);
        assert_int_equal((uintptr_t)b.base % 256, unaligned ? 4 : 0);
        assert_int_equal(rg_buffer_poison(&b), RG_OK);
        assert_int_equal(((unsigned char *)b.base)[99], 0xFF);
        rg_buffer_guard(&b, &hit);
        assert_false(hit);
        for (int side = 0; side < 2; side++) {
            char *at = (char *)b.base + (side ? 100 : -1), kept = *at;
            *at ^= 1;
            assert_int_equal(rg_buffer_guard(&b, &hit), side ? 100 : -1);
            assert_true(hit);
            *at = kept;
        }
    }
}

// ---- plug-ins -------------------------------------------------------------------------------------------------------------

TEST(test_patterns) {
    assert_int_equal(rg_pattern_check("", NULL), RG_GOOD);
    assert_int_equal(rg_pattern_check("autocorr", NULL), RG_GOOD);
    assert_int_equal(rg_pattern_check("autocorr:naive", NULL), RG_GOOD);
    assert_int_equal(rg_pattern_check("autocorr:nonesuch", NULL), RG_USAGE);
    assert_int_equal(rg_pattern_check("nonesuch", NULL), RG_USAGE);
    const rg_entry *e = rg_entry_next(NULL, "autocorr:naive", "gpu");
    assert_non_null(e);
    assert_null(rg_entry_next(e, "autocorr:naive", "gpu"));
    assert_null(rg_unavailable(e));
    assert_int_equal(rg_plugin_load("/etc/passwd"), RG_USAGE);
}

// A copy of a built-in variant, built with visible symbols, would be bound to the built-in one; with hidden ones it is not.
TEST(test_plugin_of_a_built_in_name) {
    char *folder = test_folder();
    static const char *const flags[] = {"", "-fvisibility=hidden"};
    static const int expected[] = {RG_USAGE, RG_GOOD};
    for (int hidden = 0; hidden < 2; hidden++) {
        RG_FREED char *object = rg_print("%s/%d.so", folder, hidden);
        RG_FREED char *build = rg_print(
            "printf '#include \"%%s/impl/autocorr/naive.c\"\n"
            "RG_PLUGIN = {&RG_VARIANT_SYMBOL(autocorr_naive), NULL};\n' \"$PWD\" | cc -std=c11 -shared -fPIC %s -x c -o %s - 2> /dev/null",
            flags[hidden], object);
        if (system(build) != 0) skip(); // no compiler, or not in the project's folder
        RG_FREED char *cut = rg_print("%s/cut.so", folder), *copy = rg_print("cp %s %s", object, cut);
        struct stat facts;
        assert_int_equal(stat(object, &facts), 0);
        for (int part = 1; part < 8; part++) { // a truncated file is refused without being executed
            assert_int_equal(system(copy), 0);
            assert_int_equal(truncate(cut, facts.st_size * (8 - part) / 8), 0);
            assert_int_equal(rg_plugin_load(cut), RG_USAGE);
            unlink(cut);
        }
        assert_int_equal(rg_plugin_load(object), expected[hidden]);
        unlink(object);
    }
    assert_int_equal(test_folder_remove(folder), 0);
    assert_non_null(rg_entry_next(NULL, "autocorr:1.so:naive", "gpu"));
}

// ---- text from outside
// -------------------------------------------------------------------------------------------------------

static const struct {
    const char *text, *shown, *word;
} hostile[] = {
    {"plain-1.2_a/b", "plain-1.2_a/b", "plain-1.2_a/b"}, {"a b", "a b", "'a b'"}, {"", "", "''"},
    {"it's", "it's", "'it'\\''s'"}, {"$(touch ran)`id`;%s|<>", "$(touch ran)`id`;%s|<>", "'$(touch ran)`id`;%s|<>'"},
    {"\x1b]0;title\a\x1b[2J\r\n\t\x7f", "\\x1b]0;title\\x07\\x1b[2J\\x0d\\x0a\\x09\\x7f",
        "'\\x1b]0;title\\x07\\x1b[2J\\x0d\\x0a\\x09\\x7f'"},
    {"\xc3\x85ngstr\xc3\xb6m \xe2\x82\xac \xf0\x9f\x94\xac", "\xc3\x85ngstr\xc3\xb6m \xe2\x82\xac \xf0\x9f\x94\xac",
        "'\xc3\x85ngstr\xc3\xb6m \xe2\x82\xac \xf0\x9f\x94\xac'"},
    {"\xc2\x9b[2J\x9b\xe5", "\\xc2\\x9b[2J\\x9b\\xe5", "'\\xc2\\x9b[2J\\x9b\\xe5'"}, // CSI in one character, and Latin 1
    {"gpj\xe2\x80\xae.crm", "gpj\\xe2\\x80\\xae.crm", "'gpj\\xe2\\x80\\xae.crm'"},   // written from right to left
    {"\xc0\x9b\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82", "\\xc0\\x9b\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe2\\x82",
        "'\\xc0\\x9b\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe2\\x82'"}, // invalid UTF-8
};

TEST(test_hostile_texts) {
    for (int i = 0; i < RG_COUNT(hostile); i++) {
        char *text[2];
        size_t n[2];
        FILE *f[2] = {open_memstream(&text[0], &n[0]), open_memstream(&text[1], &n[1])};
        rg_put_text(f[0], hostile[i].text, -1);
        rg_put_word(f[1], hostile[i].text);
        fclose(f[0]);
        fclose(f[1]);
        assert_string_equal(text[0], hostile[i].shown);
        assert_string_equal(text[1], hostile[i].word);
        free(text[0]);
        free(text[1]);
        catch_stderr();
        rg_fail(RG_USAGE, "%s: not here", hostile[i].text);
        RG_FREED char *line = rg_print("regather: %s: not here\n", hostile[i].shown);
        assert_string_equal(caught(), line);
    }
    RG_FREED char *cut;
    size_t n;
    FILE *f = open_memstream(&cut, &n);
    rg_put_text(f, "\xe2\x82\xac", 2); // does not read past its limit
    fclose(f);
    assert_string_equal(cut, "\\xe2\\x82");
}

// An error that ends the program is printed even in a silent thread.
TEST(test_the_end_is_said) {
    int status;
    catch_stderr();
    const pid_t child = fork();
    if (child == 0) {
        rg_silent = true;
        rg_end(RG_LACKS, "memory that is not there");
    }
    waitpid(child, &status, 0);
    assert_string_equal(caught(), "regather: memory that is not there\n");
    assert_int_equal(WEXITSTATUS(status), RG_LACKS);
}

// Words that a table, a STAR file or a log cannot contain are refused.
TEST(test_names_with_control_bytes) {
    static const char *const bad[] = {"a\nb", "a\tb", "\x1b[2J", "--many=a\rb", "a\x7f"};
    for (int i = 0; i < RG_COUNT(bad); i++) assert_refused(TYPE("good", bad[i]), "expected words without control bytes");
    assert_int_equal(TYPE("a b", "it's", "%s%n", "$(touch ran)", "--many", "\xc3\x85|<>`id`"), RG_GOOD);
}
