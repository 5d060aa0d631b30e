// SPDX-License-Identifier: MIT
// test_predict.c: records of two made machines, one twice as fast as the other in all, give back that law and its error exactly; what lies
// beyond them is said to be extrapolated; rates without a unit, and none, are refused; a grid gives the map and the border.
#include "../test.h"
#include "../test_program.h"

// Whatever cost() says, the bound of a shape scales with 1 / rate.
static const char head[] = "algo\tvariant\tshape\tparams\tspace\tscope\tmode\tmedian\trate\trate_unit\tstatus\n";

static void record(const char *name, double rate, double slow)
{
    static const struct {
        const char *shape;
        double ns;
    } row[] = {{"s33,i4,o1,b19,k0", 1e6}, {"s65,i8,o1,b19,k0", 8e6}};
    char *text = rg_print("%sprobe\tfp32\t-\tthreads=2\thost\tkernel\thot\t\t%g\tmultiply-adds/s\t\n", head, rate);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            char *longer = rg_print("%sgridding\tsimd_%s\t%s\tthreads=2;isa=0\thost\tkernel\thot\t%g\t\t\tPASS\n", text,
                k ? "gather" : "scatter", row[i].shape, row[i].ns * slow * (k ? 1.5 : 1) * 1e10 / rate);
            free(text);
            text = longer;
        }
    put_text(in_dir(name), text);
    free(text);
}

FIXTURE(make_records)
{
    if (test_dir_make(state)) return -1;
    assert_int_equal(sh("mkdir -p records"), 0);
    record("records/a.tsv", 1e10, 1);
    record("records/b.one.tsv", 2e10, 1.1);
    const char tables[] = "# table: a\nx\ty\n1\t2\n# table: b\nx\n1\n"; // of a record
    put_text(in_dir("records/a.tables.tsv"), tables);
    return 0;
}

static void machine(const char *text)
{
    const char *all = fmt("key\tvalue\n%s", text);
    put_text(in_dir("m.tsv"), all);
}

// Of `predict`: a cell of the row of simd_scatter at the first size of the paper, and of how many machines.
static double cell(const char *column)
{
    assert_int_equal(
        sh("awk -F'\\t' '/^#/ { next } !n { for (i = 1; i <= NF; i++) at[$i] = i; n = 1; next } $2 == \"gridding:simd_scatter\" "
           "{ print $at[\"%s\"] + 0; exit }' p.tsv > cell && test -s cell",
            column),
        0);
    char *text = file_text(in_dir("cell"));
    const double value = atof(text);
    free(text);
    return value;
}

TEST(the_shipped_records_predict)
{
    machine("probe cpu fp32\t2e10 multiply-adds/s\nprobe cpu memory\t1e10 B/s\n");
    assert_int_equal(sh("regather predict --probes m.tsv --out p.tsv && grep -q 'gridding:simd_gather' p.tsv"), 0);
}

TEST(the_error_is_that_of_the_machine_left_out)
{
    machine("probe cpu fp32\t2e10 multiply-adds/s\n");
    assert_int_equal(sh("regather predict --probes m.tsv --records records --out p.tsv"), 0);
    assert_float_equal(cell("factor"), 1.1, 1e-3);
    assert_float_equal(cell("machines"), 2, 0);
    const double at_b = cell("predicted_s");
    machine("probe cpu fp32\t1e10 multiply-adds/s\n");
    assert_int_equal(sh("regather predict --probes m.tsv --records records --out p.tsv"), 0);
    assert_float_equal(cell("predicted_s") / at_b, 2, 1e-3);
}

TEST(what_lies_beyond_is_said)
{
    machine("probe cpu fp32\t1e12 multiply-adds/s\n");
    assert_int_equal(
        sh("regather predict --probes m.tsv --records records --out p.tsv && grep -q 'simd_scatter.*fp32, rates were 1e+10 to 2e+10' p.tsv"),
        0);
    assert_int_equal(
        sh("mkdir -p one && cp records/a.tsv one && regather predict --probes m.tsv --records one | grep -q 'simd_scatter.*size.*one machine'"),
        0);
    machine("probe cpu int32\t1e12 multiply-adds/s\n");
    assert_int_equal(
        sh("regather predict --probes m.tsv --records records | grep -q 'simd_scatter.*has no row \"probe cpu fp32\"'"), 0);
    machine("probe gpu fp32\t1e12 multiply-adds/s\n"); // a row of a GPU asks nothing of a processor
    assert_int_equal(sh("regather predict --probes m.tsv --records records > p && ! grep simd_scatter p >&2"), 0);
}

TEST(bad_rates_are_refused)
{
    machine("probe cpu fp32\t1e12\n");
    assert_int_equal(sh("regather predict --probes m.tsv --records records"), 2);
    assert_said("m.tsv: line 2: expected a number and multiply-adds/s");
    machine("cpu\ta processor\n");
    assert_int_equal(sh("regather predict --probes m.tsv --records records"), 2);
    assert_said("expected rows of key \"probe cpu memory\"");
    assert_int_equal(sh("regather predict --records records"), 2);
    assert_said("expected --probes MACHINE.tsv, or --grid");
    assert_int_equal(
        sh("regather predict --grid records/a.tsv --out map --records records > alone && test -s map/crossover.tsv && "
           "grep -q 'of 2 sizes; predicted right at 2 of 2' alone"),
        0); // by b
    assert_int_equal(
        sh("regather predict --grid one/a.tsv --out map --records one | grep -q 'no row of both in the records, so no prediction'"),
        0);
    assert_int_equal(
        sh("sed '/gather/d' records/a.tsv > g.tsv && regather predict --grid g.tsv --out none --records records"), 2);
    assert_said("a variant named scatter and of one named gather");
    assert_int_equal(sh("test ! -e none"), 0);
}

static void rows_of(const char *name, const char *sides, const char *images)
{
    assert_int_equal(
        sh("{ head -n 2 records/a.tsv; for s in %s; do for i in %s; do printf "
           "'gridding\\tsimd_%%s\\ts%%d,i%%d,o1,b19,k0\\tthreads=2;isa=0\\thost\\tkernel\\thot\\t%%d\\t\\t\\tPASS\\n' "
           "scatter $s $i $((i * 1000000)) gather $s $i $((i * 500000 + 2400000)); done; done; } > %s",
            sides, images, name),
        0);
}

// The bound of a side grows as the number of images: scatter takes 1 ms an image, gather half and a start of 2.4 ms, so that they cross
// between 4 and 5. At side 65, of four times the bound, the same times are not what side 33 predicts.
TEST(a_map_and_its_border)
{
    assert_int_equal(sh("mkdir -p law"), 0);
    rows_of("law/x.tsv", "33", "2 4 8 16");
    rows_of("grid.tsv", "33 65", "2 16");
    assert_int_equal(
        sh("regather predict --grid grid.tsv --out map --records law > said.map && "
           "grep -q 'simd_scatter is faster at 2 of 4 sizes; predicted right at 3 of 4' said.map || { cat said.map >&2; exit 9; }"),
        0);
    assert_int_equal(
        sh("awk -F'\t' '$2 == 33 { n++; bad = !($3 > 4 && $3 < 5) } END { exit bad || n != 1 }' map/border.tsv"), 0);
    assert_int_equal(sh("awk -F'\t' '!/^#/ && $1 == 1 { n++ } END { exit n != 4 }' map/crossover.tsv"), 0);
    assert_int_equal(sh("! command -v gnuplot > /dev/null || grep -q '</svg>' map/crossover.svg"), 0);
}

TESTS(make_records, test_dir_remove)
