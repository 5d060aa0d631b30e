// SPDX-License-Identifier: MIT
// test_compare_files.c: the command `compare`: its four verdicts, its exit codes, and what it refuses to mix.
#include "../test.h"
#include "../test_command.h"

extern const rg_command rg_cmd_compare;
static char *folder, *path_a, *path_b, *words, text[OUTPUT_MAX];

static void write_a(rg_row row) { test_write(path_a, "regather 0.1", "00ff", &row, 1); }
static void write_b(rg_row row) { test_write(path_b, "regather 0.1", "00ff", &row, 1); }

static int compare(void) { return run_command(&rg_cmd_compare, words, text); }

TEST(alike_is_same)
{
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "device", 60, 1000));
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
    assert_non_null(strstr(text, "1 same, 0 faster, 0 slower, 0 unsure, 0 broken"));
    write_b(test_row("simd", "device", 60, 1020)); // 2 % is within the gate
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
}

TEST(ten_percent_slower_is_slower)
{
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "device", 60, 1100));
    assert_int_equal(compare(), RG_WRONG);
    assert_non_null(strstr(text, "SLOWER"));
    assert_non_null(strstr(text, "1.1 ["));
    assert_int_equal(run_command(&rg_cmd_compare, fmt("%s --gate 20%%", words), text), RG_GOOD);
    assert_non_null(strstr(text, "SAME"));
}

TEST(ten_percent_faster_is_faster)
{
    write_a(test_row("simd", "device", 60, 1100));
    write_b(test_row("simd", "device", 60, 1000));
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "FASTER"));
    assert_null(strstr(text, "SLOWER"));
}

TEST(too_few_samples_are_unsure_and_say_what_next)
{
    write_a(test_row("simd", "device", 1, 1000));
    write_b(test_row("simd", "device", 1, 1100));
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, "UNSURE"));
    assert_non_null(
        strstr(text, "regather bench autocorr:simd --shape w64,h64,r8,k0 --scope device --mode hot --threads 1 --param isa=2"));
    // Right at the gate no number of samples helps.
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "device", 60, 1050));
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, "choose another"));
}

// A row whose samples are all of one process, as files before format 3 have them.
static rg_row row_of_one_process(double ns)
{
    rg_row row = test_row("simd", "device", 60, ns);
    for (char *bar; (bar = strchr(row.cell[RG_C_SAMPLES], '|'));) *bar = ';';
    return row;
}

TEST(one_process_says_less)
{
    const struct {
        double ns;
        bool one;
        const char *gate, *word;
    } cases[] = {{1000, false, "2%", "SAME"}, {1000, true, "2%", "UNSURE"}, {1000, true, "5%", "SAME"},
        {1030, false, "1%", "SLOWER"}, {1030, true, "1%", "UNSURE"}, {1060, true, "1%", "SLOWER"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_a(test_row("simd", "device", 60, 1000));
        write_b(cases[i].one ? row_of_one_process(cases[i].ns) : test_row("simd", "device", 60, cases[i].ns));
        char *gated = rg_print("%s --gate %s", words, cases[i].gate);
        run_command(&rg_cmd_compare, gated, text);
        assert_non_null(strstr(text, cases[i].word));
        assert_int_equal(strstr(text, ", one process\n") != NULL, cases[i].one);
        free(gated);
    }
}

// What a row says of its machine.
typedef struct machine_state {
    const char *others, *throttle, *MHz;
} machine_state;

// The same two times, of files that say different things of their machines.
static int compare_states(const machine_state *a, double ns_a, const machine_state *b, double ns_b)
{
    const machine_state *const of[2] = {a, b};
    const double ns[2] = {ns_a, ns_b};
    for (int i = 0; i < 2; i++) {
        rg_row row = test_row("simd", "device", 60, ns[i]);
        test_set(&row, RG_C_OTHERS, of[i]->others);
        test_set(&row, RG_C_CORES, *of[i]->others ? "2" : "");
        test_set(&row, RG_C_THROTTLE, of[i]->throttle);
        test_set(&row, RG_C_CLOCK, of[i]->MHz);
        test_write(i ? path_b : path_a, "regather 0.1", "00ff", &row, 1);
    }
    return compare();
}

TEST(load_that_came_or_went_confounds)
{
    static const machine_state quiet = {"0.03", "", ""}, busy = {"1.50", "", ""}, silent = {"", "", ""},
                               free_fast = {"", "none", "1980"}, capped = {"", "power_cap", "1755"},
                               hot = {"", "hw_thermal", "1755"}, free_slow = {"", "none", "1755"};
    const struct {
        const machine_state *a, *b;
        double ns_b;
        const char *word;
    } cases[] = {
        {&quiet, &quiet, 1100, "SLOWER"},
        {&busy, &busy, 1100, "SLOWER"}, // alike
        {&quiet, &busy, 1100, "UNSURE"},
        {&busy, &quiet, 900, "UNSURE"},  // load may have done it
        {&quiet, &busy, 1000, "UNSURE"}, // or hidden it
        {&quiet, &busy, 900, "FASTER"},
        {&busy, &quiet, 1100, "SLOWER"}, // in spite of it
        {&quiet, &busy, 20000, "SLOWER"},
        {&silent, &busy, 1100, "SLOWER"}, // more than it could; and a file that does not say
        {&free_fast, &capped, 1120, "UNSURE"},
        {&free_fast, &capped, 1300, "SLOWER"},
        {&free_fast, &free_slow, 1120, "SLOWER"},
        {&hot, &free_fast, 890, "UNSURE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int code = compare_states(cases[i].a, 1000, cases[i].b, cases[i].ns_b);
        if (strncmp(strchr(text, '\n') + 1, cases[i].word, 6)) print_error("case %d: %s", (int)i, text);
        assert_memory_equal(strchr(text, '\n') + 1, cases[i].word, 6);
        assert_int_equal(code, *cases[i].word == 'S' ? RG_WRONG : *cases[i].word == 'U' ? RG_UNSURE : RG_GOOD);
        assert_int_equal(strstr(text, "that may be all of it") != NULL, *cases[i].word == 'U');
    }
    compare_states(&quiet, 1000, &busy, 1100);
    assert_non_null(strstr(text, "          other processes had 0.03 of 2 cores in A, 1.50 of 2 in B"));
    compare_states(&free_fast, 1000, &capped, 1120);
    assert_non_null(strstr(text, "the clock was at 1980 MHz in A, 1755 in B, held down by power cap"));
}

TEST(probes_that_drifted_confound)
{
    for (int drift = 0; drift < 2; drift++) {
        for (int i = 0; i < 2; i++) {
            rg_row row[2] = {test_row("simd", "device", 60, i ? 1100 : 1000), test_row("memory", "kernel", 1, 1)};
            test_set(&row[0], RG_C_BOUND, "memory");
            test_set(&row[1], RG_C_ALGO, "probe");
            test_set(&row[1], RG_C_PARAMS, "threads=1");
            test_set(&row[1], RG_C_RATE, i && drift ? "0.88e10" : "1e10");
            for (rg_column c = RG_C_N; c <= RG_C_MAX; c++) test_set(&row[1], c, "");
            test_set(&row[1], RG_C_SAMPLES, "");
            test_set(&row[1], RG_C_STATUS, "");
            test_write(i ? path_b : path_a, "regather 0.1", "00ff", row, 2);
        }
        assert_int_equal(compare(), drift ? RG_UNSURE : RG_WRONG);
        assert_int_equal(strstr(text, "the probe of memory ran at 1e+10 /s in A, 8.8e+09 in B") != NULL, drift);
    }
}

TEST(slower_outweighs_unsure)
{
    rg_row a[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 1, 100)};
    rg_row b[2] = {test_row("naive", "device", 60, 1200), test_row("simd", "device", 1, 100)};
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    test_write(path_b, "regather 0.1", "00ff", b, 2);
    assert_int_equal(compare(), RG_WRONG);
    assert_non_null(strstr(text, "1 slower, 1 unsure"));
}

TEST(different_things_are_refused)
{
    write_a(test_row("simd", "device", 60, 1000));
    write_b(test_row("simd", "transfer", 60, 1000));
    assert_int_equal(compare(), RG_USAGE);
    rg_row row = test_row("simd", "device", 60, 1000);
    test_write(path_b, "regather 0.1", "00fe", &row, 1);
    assert_int_equal(compare(), RG_USAGE);
    row = test_row("simd", "device", 60, 1000);
    test_write(path_b, "regather 0.2", "00ff", &row, 1);
    assert_int_equal(compare(), RG_USAGE);
    rg_row twice[2] = {test_row("simd", "device", 60, 1000), test_row("simd", "device", 60, 1200)};
    test_write(path_b, "regather 0.1", "00ff", twice, 2);
    assert_int_equal(compare(), RG_USAGE);
    write_b(test_row("gather", "device", 60, 1000));
    assert_int_equal(compare(), RG_USAGE); // no row in common
    assert_int_equal(run_command(&rg_cmd_compare, "compare one.tsv", text), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_compare, fmt("%s --gate none", words), text), RG_USAGE);
}

// Such as maps that each machine has made for its own refinement: the other rows are compared all the same.
TEST(a_job_with_other_inputs_is_unsure)
{
    for (int i = 0; i < 2; i++) {
        const char *path = i ? path_b : path_a;
        rg_row row[2] = {test_row("simd", "device", 60, 1000), test_row("default", "job", 60, 1000)};
        test_set(&row[1], RG_C_WORK, "5");
        test_set(&row[1], RG_C_RATE, "4975538"); // a second, by the median
        test_write(path, "regather 0.1", "00ff", row, 2);
        char *rest = file_text(path);
        FILE *f = fopen(path, "w");
        fprintf(f, "# input autocorr w64,h64,r8,k0, 5 multiply-adds: fnv1a 000%d of 3 files\n%s", i, rest);
        fclose(f);
        free(rest);
    }
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, "SAME      autocorr:simd"));
    assert_non_null(
        strstr(text, "UNSURE    autocorr:default w64,h64,r8,k0 threads=1;isa=2 job hot: the job was given other inputs"));
}

TEST(rows_of_one_file_are_listed)
{
    rg_row a[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 60, 100)};
    rg_row b[2] = {test_row("naive", "device", 60, 1000), test_row("fftw", "device", 60, 100)};
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    test_write(path_b, "regather 0.1", "00ff", b, 2);
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "only in A autocorr:simd"));
    assert_non_null(strstr(text, "only in B autocorr:fftw"));
}

TEST(what_no_longer_passes_is_broken)
{
    write_a(test_row("simd", "device", 60, 1000));
    rg_row row = test_row("simd", "device", 0, 0);
    test_set(&row, RG_C_STATUS, "FAIL");
    test_set(&row, RG_C_MEDIAN, "");
    write_b(row);
    assert_int_equal(compare(), RG_WRONG);
    assert_non_null(strstr(text, "BROKEN"));
    // What this machine cannot run is no fault.
    rg_row a[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 60, 100)};
    rg_row b[2] = {test_row("naive", "device", 60, 1000), test_row("simd", "device", 0, 0)};
    test_set(&b[1], RG_C_STATUS, "SKIP");
    test_set(&b[1], RG_C_MEDIAN, "");
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    test_write(path_b, "regather 0.1", "00ff", b, 2);
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "only in A autocorr:simd"));
}

// A file of a machine of so many cores, of a commit, where simd was tuned to isa=2 or was not.
static void write_machine(const char *path, const char *cores, const char *revision, const char *tuned, rg_row *row, int n)
{
    char *const head[7][2] = {{"suite", "regather 0.1"}, {"machine", rg_unconst(cores)}, {"revision", rg_unconst(revision)},
        {"cores", rg_unconst(cores)}, {"input autocorr w64,h64,r8,k0", "fnv1a 00"},
        {"source autocorr:simd", rg_unconst(revision)}, {"tuned autocorr:simd w64,h64,r8,k0", rg_unconst(tuned)}};
    for (int i = 0; i < n; i++) test_set(&row[i], RG_C_SOURCE, revision);
    test_write_under(path, tuned ? 7 : 6, head, row, n);
}

static rg_row row_with(const char *params, double ns)
{
    rg_row row = test_row("simd", "device", 60, ns);
    test_set(&row, RG_C_PARAMS, params);
    return row;
}

TEST(rows_are_paired_by_what_they_are)
{
    rg_row a[2] = {row_with("threads=1;isa=0", 1000), row_with("threads=4;isa=0", 300)};
    rg_row b[3] = {row_with("threads=1;isa=2", 1000), row_with("threads=16;isa=2", 100), row_with("threads=4;isa=7", 300)};
    write_machine(path_a, "4 of 4 usable, 4 threads", "aaaa", "isa=0", a, 2);
    write_machine(path_b, "16 of 16 usable, 16 threads", "bbbb", "isa=2", b, 3);
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "two machines and two commits: A 4 of 4 usable, 4 threads, aaaa; B 16 of 16"));
    assert_non_null(strstr(text, "; the source of 1 of 1 kernel changed"));
    assert_non_null(strstr(text, "1 same, 1 faster, 0 slower, 0 unsure, 0 broken, 0 only in A, 1 only in B"));
    assert_non_null(strstr(text, "Of 2 rows B is slower in 0, faster in 1 (best autocorr:simd w64,h64,r8,k0 threads=16;isa=2"));
    // Tuned on one machine only: the values decide.
    rg_row c[1] = {row_with("threads=1;isa=2", 1000)}, d[1] = {row_with("threads=1;isa=2", 1000)};
    write_machine(path_a, "4 of 4 usable, 4 threads", "aaaa", "isa=2", c, 1);
    write_machine(path_b, "4 of 4 usable, 4 threads", "aaaa", NULL, d, 1);
    assert_int_equal(compare(), RG_GOOD);
    assert_non_null(strstr(text, "two runs of commit aaaa on 4 of 4"));
    assert_non_null(strstr(text, "1 same"));
}

TEST(names_may_be_mapped)
{
    rg_row a[2] = {test_row("mine", "device", 60, 1000), test_row("simd", "device", 60, 2000)},
           b = test_row("simd", "device", 60, 1000);
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    write_b(b);
    char *mapped = rg_print("%s --map mine=simd", words), *unknown = rg_print("%s --map yours=simd", words),
         *half = rg_print("%s --map mine", words);
    assert_int_equal(run_command(&rg_cmd_compare, mapped, text), RG_GOOD);
    assert_non_null(strstr(text, "1 same, 0 faster, 0 slower, 0 unsure, 0 broken, 0 only in A, 0 only in B"));
    rg_row few[1] = {test_row("mine", "device", 1, 1000)};
    b = test_row("simd", "device", 1, 1100);
    test_write(path_a, "regather 0.1", "00ff", few, 1);
    write_b(b);
    assert_int_equal(run_command(&rg_cmd_compare, mapped, text), RG_UNSURE); // each file is measured again under its own name
    assert_non_null(strstr(text, "next, for both files: regather bench autocorr:simd "));
    assert_non_null(strstr(text, "for A it is autocorr:mine\n"));
    assert_int_equal(run_command(&rg_cmd_compare, unknown, text), RG_USAGE);
    assert_int_equal(run_command(&rg_cmd_compare, half, text), RG_USAGE);
    free(mapped), free(unknown), free(half);
}

// A name is text in every format: no tag, no link, no further column.
TEST(verdicts_are_written_for_others)
{
    static const char hostile[] = "<b>|x|&\"[y](z)";
    rg_row a[2] = {test_row("simd", "device", 60, 1000), test_row(hostile, "device", 60, 1000)};
    rg_row b[2] = {test_row("simd", "device", 60, 1100), test_row(hostile, "device", 60, 1000)};
    test_write(path_a, "regather 0.1", "00ff", a, 2);
    test_write(path_b, "regather 0.1", "00ff", b, 2);
    char *line = rg_print("%s --out %s/o.tsv --junit %s/o.xml --markdown %s/o.md", words, folder, folder, folder);
    assert_int_equal(run_command(&rg_cmd_compare, line, text), RG_WRONG);
    char *path = rg_print("%s/o.tsv", folder);
    rg_tsv t;
    assert_int_equal(rg_tsv_read(path, &t), RG_GOOD);
    assert_int_equal(t.n_rows, 2);
    assert_string_equal(rg_tsv_cell(&t, 0, "verdict"), "SLOWER");
    assert_true(rg_tsv_number(&t, 0, "ratio") > 1.09 && rg_tsv_number(&t, 0, "low") > 1.05);
    assert_string_equal(rg_tsv_cell(&t, 1, "variant"), hostile);
    rg_tsv_free(&t);
    unlink(path);
    free(path);
    char *xml = file_text(path = rg_print("%s/o.xml", folder));
    assert_non_null(strstr(xml, "tests=\"2\" failures=\"1\" skipped=\"0\""));
    assert_non_null(strstr(xml, "<failure message=\"SLOWER: B / A = 1.1 ["));
    assert_non_null(strstr(xml, "&lt;b&gt;|x|&amp;&quot;[y](z)"));
    unlink(path), free(path), free(xml);
    char *md = file_text(path = rg_print("%s/o.md", folder));
    assert_non_null(strstr(md, "| **SLOWER** | autocorr\\:simd"));
    assert_non_null(strstr(md, "\\<b\\>\\|x\\|\\&\"\\[y\\]\\(z\\)"));
    unlink(path), free(path), free(md), free(line);
}

TEST(the_next_command_names_the_plugin)
{
    write_a(test_row("mine.so:mine", "device", 1, 1000));
    write_b(test_row("mine.so:mine", "device", 1, 1100));
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(
        text, "regather bench autocorr:mine.so:mine --shape w64,h64,r8,k0 --scope device --mode hot --plugin FOLDER/mine.so "));
    assert_non_null(strstr(text, " --out F.tsv, FOLDER being where the plug-in lies"));
    // That of the command in a head, where it is there, and of --plugin.
    char *place = rg_print("%s/a b", folder), *plugin = rg_print("%s/a b/mine.so", folder), *of_b = file_text(path_b);
    assert_int_equal(rg_make_folder(place), RG_GOOD);
    fclose(fopen(plugin, "w"));
    FILE *f = fopen(path_b, "w");
    fprintf(f, "# command: regather bench autocorr --quiet '--plugin=%s' --out b.tsv\n%s", plugin, of_b);
    fclose(f);
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, fmt(" --mode hot --plugin '%s' --threads", plugin)));
    assert_null(strstr(text, "FOLDER"));
    f = fopen(path_b, "w"); // not a pattern, whatever a shell would make of it
    fprintf(f, "# command: regather bench autocorr --plugin %s/a*/mine.so --out b.tsv\n%s", folder, of_b);
    fclose(f);
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, " --plugin FOLDER/mine.so "));
    unlink(plugin), rmdir(place), free(plugin), free(place), free(of_b);
    char *right = rg_print("%s/broken/autocorr_sums.so", test_build());
    write_a(test_row("autocorr_sums.so:right", "device", 1, 1000));
    write_b(test_row("autocorr_sums.so:right", "device", 1, 1100));
    assert_int_equal(run_command(&rg_cmd_compare, fmt("%s --plugin %s", words, right), text), RG_UNSURE);
    assert_non_null(strstr(text, fmt(" --mode hot --plugin %s --threads", right)));
    free(right);
    rg_row a = test_row("default", "job", 1, 1000), b = test_row("default", "job", 1, 1100);
    write_a(a);
    write_b(b);
    assert_int_equal(compare(), RG_UNSURE);
    assert_non_null(strstr(text, "the command of its head"));
}

int main(void)
{
    folder = test_folder();
    path_a = rg_print("%s/a.tsv", folder);
    path_b = rg_print("%s/b.tsv", folder);
    words = rg_print("compare %s %s", path_a, path_b);
    int failed = RUN_TESTS(NULL, NULL);
    unlink(path_a);
    unlink(path_b);
    rmdir(folder);
    return failed;
}
