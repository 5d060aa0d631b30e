// SPDX-License-Identifier: MIT
// test_result.c: what is written is read back, and older formats are converted. Malformed files: verify/cases/malformed.tsv.
#define OWN_MAIN
#include "../test.h"
#include "../../../impl/suite.h"
#include "../test_command.h"

static char *folder, *path;

static int read_text(const char *text, rg_result *result, bool *cut) {
    put_text(path, text);
    return rg_result_read(path, result, cut);
}

static char *whole_file(void) {
    rg_row row[2] = {test_row("naive", "device", 9, 1000), test_row("simd", "device", 9, 100)};
    test_set(&row[1], RG_C_DETAIL, "tab\tand\nnewline");
    test_set(&row[1], RG_C_ERROR, "");
    FILE *f = rg_result_open(path, "w");
    char *const key[] = {rg_unconst("format"), rg_unconst("machine"), rg_unconst("input autocorr w64,h64,r8,k0")},
                *const value[] = {rg_unconst(RG_RESULT_FORMAT), rg_unconst("a machine"), rg_unconst("fnv1a 00ff")};
    rg_result_write_head(f, 3, key, value);
    for (int i = 0; i < 2; i++) {
        rg_result_write_row(f, &row[i]);
        rg_row_free(&row[i]);
    }
    fclose(f);
    return file_text(path);
}

TEST(written_and_read_back) {
    free(whole_file());
    RG_ENDS(rg_result_free) rg_result r;
    bool cut = true;
    assert_int_equal(rg_result_read(path, &r, &cut), RG_GOOD);
    assert_false(cut);
    assert_int_equal(r.n_rows, 2);
    assert_string_equal(rg_result_head(&r, "machine"), "a machine");
    assert_string_equal(rg_result_head(&r, "input autocorr w64,h64,r8,k0"), "fnv1a 00ff");
    assert_null(rg_result_head(&r, "mach"));
    assert_string_equal(r.row[1].cell[RG_C_DETAIL], "tab\\x09and\\x0anewline");
    assert_string_equal(r.row[0].cell[RG_C_PARAMS], "threads=1;isa=2");
    assert_true(isnan(rg_cell_number(&r.row[1], RG_C_ERROR)));
    assert_true(rg_cell_number(&r.row[0], RG_C_MEDIAN) == 1004.444444);
    rg_samples samples = rg_row_samples(&r.row[0]);
    assert_true(samples.n == 9 && samples.processes == 1 && samples.past[0] == 9);
    assert_true(samples.ns[0] == 1000 && fabs(samples.ns[1] - 1000 * (1 + 0.07 / 9)) < 1e-3);
    rg_samples_free(&samples);
    test_set(&r.row[0], RG_C_SAMPLES, "1;2|3|4;5;6");
    samples = rg_row_samples(&r.row[0]);
    assert_true(
        samples.n == 6 && samples.processes == 3 && samples.past[0] == 2 && samples.past[1] == 3 && samples.past[2] == 6);
    assert_true(samples.ns[1] == 2 && samples.ns[2] == 3 && samples.ns[3] == 4);
    rg_samples_free(&samples);
    assert_false(rg_row_same(&r.row[0], &r.row[1]));
    assert_true(rg_row_same(&r.row[0], &r.row[0]));
}

TEST(columns_are_the_contract) {
    RG_FREED char *text = whole_file();
    assert_non_null(strstr(text,
        "\nalgo\tvariant\tshape\tparams\tspace\tscope\tmode\tstatus\tstop\tdetail\tn\tmin\tq1\tmedian\tq3\tmax\tunit\tinterval\t"
        "rounds\tcalls\twork\ttraffic\trate\trate_unit\tbound\tfraction\tabove\terror\ttol\tcheck\tchecked\telements\tagainst\t"
        "others\tcores\tpreempted\tthrottle\tfresh\tclock\ttemp\tpower\tprepare\tenergy\tjoules\tenergy_s\tenergy_calls\t"
        "energy_busy\tenergy_devices\tsensor_W\tpeak_bytes\tgpu_peak_bytes\tsamples\tsource\tmade\n"));
}

// Cells of formats 1 to 4 that were sentences, and their cells in format 5 as NAME=CELL.
static const struct {
    const char *status, *stop, *energy, *check, *bound, *now;
} sentence[] = {
    {"PASS",
        "time; 95 % interval 7.2 % of the median; 6 processes, 2 calls a sample; power 170.2 W; throttle power cap, hw thermal; a "
        "call on fresh inputs took 3.21 times as long; others on 5.64 of 16 cores; preempted 3 times: the machine was busy",
        "not asked for (--energy)", "128 of 250 elements held against the reference, all against gather", "memory",
        "stop=time interval=7.2 rounds=6 calls=2 power=170.2 throttle=power_cap,hw_thermal fresh=3.21 others=5.64 cores=16 "
        "preempted=3 energy=not_asked check=reference checked=128 elements=250 against=gather bound=memory"},
    {"PASS", "rounds; too few samples for an interval; 1 round, 1 calls a sample; throttle unknown (the CPU tells no reason)",
        "NVML total energy, board; 5 s x 500 W = 2500 J in 100 calls; the power sensor says 450 W",
        "every element held against the reference", "unknown (faster than fp32 allows)",
        "stop=rounds interval= rounds=1 calls=1 throttle=unknown energy=nvml energy_s=5 energy_calls=100 sensor_W=450 "
        "check=reference checked= bound=fp32"},
    {"PASS",
        "interval; 2 rounds, 1 calls a sample; 1.3 times faster than its bound: was the machine busy while fp32 was probed?",
        "RAPL, 2 packages; 5 s x 500 W = 2500 J in 100 calls", "every element held against another configuration's", "",
        "stop=interval above=1.3 energy=rapl energy_devices=2 energy_s=5 check=configuration"},
    {"PASS", "time (one run takes longer than --max-seconds); 1 process",
        "NVML total energy, board x 4, window 5.0 s of 100 runs, mean 500 W",
        "2 outputs of every run against those of the first; test -s", "unknown (atomic not measured)",
        "stop=one_call rounds=1 energy=nvml energy_devices=4 energy_s=5 energy_calls=100 check=runs checked=2 against=test_-s "
        "bound=atomic"},
    {"SKIP", "memory: needs 9 GB, has 8 GB", "", "", "", "stop=memory detail=needs_9_GB,_has_8_GB energy= check="},
    {"SKIP", "the machine is too busy to tell: others had 2.00 cores", "", "", "", "stop=busy detail=others_had_2.00_cores"},
    {"SKIP", "scope adding: run clears what it adds to, or writes every output", "", "", "", "stop=no_clear detail="},
    {"FAIL", "after timing: element 3", "", "", "", "stop=wrong detail=element_3"},
    {"FAIL", "exit status 2: no", "", "exit status alone: the command has no {out}", "", "stop=exit detail=2:_no check=exit"},
    {"SKIP", "no GPU", "none: this GPU has no NVML energy counter", "true", "",
        "stop=other detail=no_GPU energy=no_counter check=command against=true"},
    {"", "best sustained rate of the probe", "", "", "", "stop=probe detail="},
};

// In older formats, the copies of scope transfer were of pageable memory.
TEST(sentences_of_older_formats_become_columns) {
    for (int i = 0; i < RG_COUNT(sentence); i++) {
        RG_ENDS(rg_result_free) rg_result r;
        bool cut;
        RG_FREED char *old = rg_print(
            "# format: 4\nalgo\tvariant\tshape\tparams\tspace\tscope\tmode\tn\tmin\tq1\tmedian\tq3\tmax\tunit\twork\ttraffic\t"
            "rate\trate_unit\tbound\tfraction\terror\ttol\tstatus\tclock\ttemp\tjoules\tenergy_source\tpeak_bytes\tprepare\t"
            "stop\tsamples\tsource\tcheck\tgpu_peak_bytes\tmade\n"
            "a\tv\ts\tp\thost\ttransfer\thot\t1\t\t\t5\t\t\tns\t\t\t\t\t%s\t\t\t\t%s\t\t\t25\t%s\t\t\t%s\t5\tx\t%s\t\t\n",
            sentence[i].bound, sentence[i].status, sentence[i].energy, sentence[i].stop, sentence[i].check);
        assert_int_equal(read_text(old, &r, &cut), RG_GOOD);
        assert_string_equal(r.row[0].cell[RG_C_SCOPE], "pageable");
        assert_string_equal(r.row[0].cell[RG_C_MEDIAN], "5");
        RG_FREED char *now = rg_print("%s", sentence[i].now);
        for (char *word = strtok(now, " "); word; word = strtok(NULL, " ")) {
            char *value = strchr(word, '=');
            int c = 0;
            *value++ = '\0';
            while (strcmp(rg_column_name[c], word)) c++;
            RG_FREED char *cell = rg_print("%s", r.row[0].cell[c]);
            for (char *at = cell; *at; at++) *at = *at == ' ' ? '_' : *at;
            if (strcmp(cell, value)) fail_msg("sentence %d: expected %s=%s, found \"%s\"", i, word, value, cell);
        }
    }
}

TEST(unfinished_line_is_dropped) {
    RG_FREED char *text = whole_file();
    RG_ENDS(rg_result_free) rg_result r;
    bool cut;
    text[strlen(text) - 1] = '\0'; // all but its newline: it may still be incomplete
    assert_int_equal(read_text(text, &r, &cut), RG_GOOD);
    assert_true(cut);
    assert_int_equal(r.n_rows, 1);
}

int main(void) {
    folder = test_folder();
    path = rg_print("%s/f.tsv", folder);
    int failed = RUN_TESTS(NULL, NULL);
    return failed + test_folder_remove(folder);
}
