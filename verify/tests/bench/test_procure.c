// SPDX-License-Identifier: MIT
// test_procure.c: bad workloads are refused by line, shipped ones are good, and every run counts. Kits, archives and forgeries of
// them: verify/cases/procure.tsv.
#include "../../../bench/procure/archive.h"
#include "../../../bench/procure/measure.h"
#include "../test.h"
#include "../test_program.h"

static const char names[] = "job\tweight\tcommand\tsize\tunits\treference_s\tmin_runs\tcheck\ttolerance\tinput\n";
static const char tiny[] =
    "map\t0.5\treconstruct {in}/particles.star --out {out}.mrc --sym I1\tsmall\t20:images\t1\t5\tmap\t0.5\tphantom particles --box 16 --images 20\n"
    "sums\t0.5\tautocorr {in}/*.png --max-offset 4 --out {out}\tsmall\t1:photos\t1\t5\tsums\t1e-5\tphantom coarsening --threads 1 --width 32 "
    "--height 32 --frames 1 --time 4\n";

TEST(bad_workloads_are_refused)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {{"\t0.5\t", "\t0.4\t", "weights of size small that sum to 1, found 0.9"},
        {"\t0.5\t", "\t-1\t", "a number above 0, at most 1 in column weight"},
        {"reconstruct {in}", "sh {in}", "in column command"}, {"--sym I1", "--sym `id`", "words of letters"},
        {"--sym I1", "--sym $(id)", "words of letters"}, {"--sym I1", "--mask /etc/passwd", "relative paths"},
        {"--sym I1", "--mask ../x", "no \"..\""}, {"--sym I1", "--plugin x.so", "no --plugin"},
        {"--sym I1", "--page index.html", "no file but {in}"}, {"--sym I1", "--out a", "one --out"},
        {"--images 20", "--images 20 --page a.html", "no file in"}, {"\tsmall\t", "\thuge\t", "small, medium or full"},
        {"20:images", "20", "N:UNIT"}, {"\t1\t5\tmap", "\t1\t4\tmap", "a whole number from 5 to 1000"},
        {"\t1\t5\tmap", "\t1\t1001\tmap", "a whole number from 5 to 1000"},
        {"\tmap\t0.5\tphantom", "\tlooks\t0.5\tphantom", "in column check"},
        {"\tmap\t0.5\tphantom", "\tmap\t0\tphantom", "in column tolerance"},
        {"phantom particles", "rm particles", "in column input"}, {"--images 20", "--images 20 --out x", "in column input"},
        {"sums\t0.5", "map\t0.5", "every job once"}, {"\tcheck\t", "\tproof\t", "a column named check"}};
    rg_workload w;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *all = fmt("%s%s", names, tiny), *at = strstr(all, cases[i].from);
        assert_non_null(at);
        const char *text = fmt("%.*s%s%s", (int)(at - all), all, cases[i].to, at + strlen(cases[i].from));
        assert_refused(rg_workload_parse("w.tsv", text, strlen(text), RG_SMALL, &w), cases[i].says);
    }
    const char *all = fmt("%s%s", names, tiny);
    assert_refused(rg_workload_parse("w.tsv", all, strlen(all), RG_FULL, &w), "jobs of size full, found none");
}

TEST(shipped_workloads_are_good)
{
    static const char *const name[] = {"cryo-em", "colloids", "papers"};
    for (int i = 0; i < 3; i++)
        for (rg_size size = RG_SMALL; size < RG_SIZES; size++) {
            rg_workload w;
            char *path = rg_share_path(fmt("bench/workloads/%s.tsv", name[i]));
            assert_int_equal(rg_workload_read(path, size, &w), RG_GOOD);
            rg_workload_free(&w);
            free(path);
        }
}

// A short job is run again for as long as another has too few runs that count: all its runs are in the median, however many they are.
TEST(every_run_counts)
{
    char *text;
    size_t bytes;
    int n;
    FILE *f = open_memstream(&text, &bytes);
    fprintf(f, "job\tkind\twall_s\tstatus\n");
    for (int i = 0; i < 2501; i++) fprintf(f, "short\ttimed\t%d\tgood\nlong\ttimed\t1\tbusy\n", i + 1);
    fclose(f);
    rg_archive a = {0};
    assert_int_equal(rg_tsv_parse("runs.tsv", text, bytes, &a.runs), RG_GOOD);
    free(rg_archive_times(&a, "short", &n));
    assert_int_equal(n, 2501);
    assert_true(rg_archive_median(&a, "short") == 1251);
    free(rg_archive_times(&a, "long", &n));
    assert_int_equal(n, 0);
    rg_tsv_free(&a.runs);
    free(text);
}

TESTS(test_dir_make, test_dir_remove)
