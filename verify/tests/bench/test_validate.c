// SPDX-License-Identifier: MIT
// test_validate.c: a file that bench wrote is believed; the same file with one thing forged is refused, by compare and by export,
// with a line that names the row and what was expected; a file of format 1 is read, and compare says what it lacks.
#include "../../../bench/compare/validate.h"
#include "../../../bench/timing/timing.h"
#include "../test.h"
#include "../test_command.h"

#include <math.h>

extern const rg_command rg_cmd_bench, rg_cmd_compare, rg_cmd_export;
static char *folder, *honest, *forged, text[OUTPUT_MAX];
static const char *said;
enum { MOST = 64 };

typedef struct file {
    rg_result r;
    char *key[MOST], *value[MOST];
    int n;
    rg_row *row; // the first timed one
} file;

static void read_honest(file *f)
{
    bool cut;
    memset(f, 0, sizeof *f);
    assert_int_equal(rg_result_read(honest, &f->r, &cut), RG_GOOD);
    for (; f->n < f->r.n_head; f->n++) {
        f->key[f->n] = f->r.head_key[f->n];
        f->value[f->n] = f->r.head_value[f->n];
    }
    for (int i = 0; i < f->r.n_rows && !f->row; i++) f->row = rg_row_is_probe(&f->r.row[i]) ? NULL : &f->r.row[i];
    assert_non_null(f->row);
}

static void drop(file *f, const char *start)
{
    int kept = 0;
    for (int i = 0; i < f->n; i++)
        if (strncmp(f->key[i], start, strlen(start))) {
            f->key[kept] = f->key[i];
            f->value[kept++] = f->value[i];
        }
    assert_true(kept < f->n);
    f->n = kept;
}

static void set(file *f, const char *key, const char *value)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->key[i], key)) f->value[i] = rg_unconst(value);
}

// The file as it is now, and what `compare FORGED FORGED` says; `export` has to agree.
static int judged(file *f)
{
    FILE *out = rg_result_open(forged, "w");
    rg_result_write_head(out, f->n, f->key, f->value);
    for (int i = 0; i < f->r.n_rows; i++) rg_result_write_row(out, &f->r.row[i]);
    fclose(out);
    rg_result_free(&f->r);
    catch_stderr();
    int code = run_command(&rg_cmd_compare, fmt("compare %s %s --gate 99%%", forged, forged), text);
    said = caught();
    static char exported[OUTPUT_MAX];
    assert_int_equal(
        run_command(&rg_cmd_export, fmt("export %s --format gbench", forged), exported) == RG_USAGE, code == RG_USAGE);
    return code;
}

TEST(what_bench_wrote_is_believed)
{
    file f;
    read_honest(&f);
    assert_int_equal(rg_validate(&f.r), RG_GOOD);
    assert_string_equal(rg_validate_lacks(&f.r), "");
    assert_int_not_equal(judged(&f), RG_USAGE);
}

// Every sample set to 1 us: the summary is not theirs.
TEST(other_samples)
{
    file f;
    read_honest(&f);
    test_set(f.row, RG_C_SAMPLES, "1000;1000;1000;1000");
    test_set(f.row, RG_C_N, "4");
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "cannot be believed: autocorr:naive w40,h40,r4,k0"));
    assert_non_null(strstr(said, "its samples give"));
}

static void scale(rg_row *row, rg_column column, double by)
{
    char number[40];
    snprintf(number, sizeof number, "%.9g", by * rg_cell_number(row, column));
    test_set(row, column, number);
}

// The whole row made so many times as fast, its summary and rate with it.
static void quicken(file *f, double by)
{
    rg_samples samples = rg_row_samples(f->row);
    for (int i = 0; i < samples.n; i++) samples.ns[i] /= by;
    rg_set_times(f->row, &samples, rg_cell_number(f->row, RG_C_WORK));
    rg_samples_free(&samples);
}

TEST(other_median)
{
    file f;
    read_honest(&f);
    scale(f.row, RG_C_MEDIAN, 0.9);
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "its samples give median"));
    read_honest(&f);
    scale(f.row, RG_C_RATE, 1.1);
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "expected rate work / median"));
}

TEST(faster_than_the_probes)
{
    file f;
    read_honest(&f);
    test_set(f.row, RG_C_BOUND, "int32");
    test_set(f.row, RG_C_FRACTION, "1.3");
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "of its bound by int32, found 1.3"));
    // A hundred times as fast, everything in the row agreeing: the variant's own cost() tells.
    read_honest(&f);
    test_set(f.row, RG_C_FRACTION, "0.5");
    quicken(&f, 1e3);
    test_set(f.row, RG_C_CALLS, "1");
    set(&f, "clock_tick_ns", "0.001");
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "at the rate of the probe takes"));
}

TEST(below_the_clock)
{
    file f;
    read_honest(&f);
    test_set(f.row, RG_C_FRACTION, "");
    quicken(&f, 1e9);
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "the clock ticks in steps of"));
}

TEST(without_hashes)
{
    file f;
    read_honest(&f);
    drop(&f, "input ");
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "hash of its inputs"));
    read_honest(&f);
    drop(&f, "source ");
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "hash of its source"));
    read_honest(&f);
    test_set(f.row, RG_C_SOURCE, "sha256 0123456789abcdef");
    assert_int_equal(judged(&f), RG_USAGE);
    assert_non_null(strstr(said, "expected the source that the head names"));
}

// Files made before are read, and are held against what they have.
TEST(an_older_file)
{
    char *old = file_text("data/machines/h200x4-64xeon.autocorr_job.tsv");
    rg_result r;
    bool cut;
    put_text(forged, old);
    assert_int_equal(rg_result_read(forged, &r, &cut), RG_GOOD);
    assert_int_equal(rg_result_format(&r), 1);
    assert_int_equal(run_command(&rg_cmd_compare, fmt("compare %s %s --gate 99%%", forged, forged), text), RG_UNSURE);
    assert_non_null(strstr(text, "A is an older file, without the hashes of sources"));
    char *median = rg_print("\t%s\t", r.row[0].cell[RG_C_MEDIAN]), *found = strstr(old, median);
    assert_non_null(found);
    found[1] = found[1] == '9' ? '8' : '9';
    put_text(forged, old);
    assert_int_equal(run_command(&rg_cmd_compare, fmt("compare %s %s --gate 99%%", forged, forged), text), RG_USAGE);
    free(median);
    free(old);
    rg_result_free(&r);
    file f;
    read_honest(&f);
    set(&f, "format", "9");
    assert_int_equal(judged(&f), RG_USAGE);
}

int main(void)
{
    folder = test_folder();
    honest = rg_print("%s/honest.tsv", folder);
    forged = rg_print("%s/forged.tsv", folder);
    char *words =
        rg_print("bench autocorr:naive --device cpu --threads 1 --max-seconds 0.2 --rounds 4 --quiet --shape w40,h40,r4,k0 "
                 "--out %s",
            honest);
    const int code = run_command(&rg_cmd_bench, words, text);
    free(words);
    if (code) return 1;
    int failed = RUN_TESTS(NULL, NULL);
    return failed + test_folder_remove(folder);
}
