// SPDX-License-Identifier: MIT
// test_procure.c: bad workloads are refused by line; a kit holds what may be handed on and says which glibc it needs; a tiny workload
// is measured into an archive that audit finds nothing wrong with, and forgeries of it, hashes made anew, are each named.
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

// No MPI, no glibc; the version that run.sh asks for is the newest that any file of the kit names, by readelf.
TEST(a_kit)
{
    put_text(in_dir("tiny.tsv"), fmt("%s%s", names, tiny));
    assert_int_equal(
        sh("regather kit --workload tiny.tsv --size small --out kit.tar.gz --quiet > kit.said && tar xzf kit.tar.gz && test -x kit/run.sh"),
        0);
    assert_int_equal(
        sh("! ls kit/lib | grep -E 'libmpi|libopen-|libc[.]|ld-linux' && test -s kit/RULES.md && cmp kit/workload.tsv tiny.tsv"),
        0);
    assert_int_equal(
        sh("newest=$(readelf -V kit/bin/regather kit/lib/* | grep -o 'GLIBC_2[.][0-9]*' | sort -Vu | tail -n 1) && "
           "grep -q \"needs glibc ${newest#GLIBC_} or newer\" kit/run.sh && grep -q \"glibc ${newest#GLIBC_} or newer\" kit.said"),
        0);
    assert_int_equal(sh("sed 's/-ge [0-9]*/-ge 999/' kit/run.sh > kit/old.sh && sh kit/old.sh --seed x --out old.rgz"), 4);
    assert_said("run.sh: needs glibc");
    assert_int_equal(sh("test ! -e old.rgz"), 0);
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

// ---- forgeries -------------------------------------------------------------------------------------------------------------

// Exit 3 where others are busy on this machine: then too few runs count, which is no finding.
TEST(an_archive)
{
    const int code = sh("kit/run.sh --seed nonce-1 --seconds 0 --meter 'echo 100' --window 1 --quiet --out A.rgz");
    assert_true(code == 0 || code == 3);
    const int audited = sh("regather audit A.rgz --nonce nonce-1 --workload tiny.tsv --quiet > good.said");
    if (audited != 3) // a window of 1 s is an open question, and the one here when none was busy
        sh("cat good.said >&2; cat said >&2");
    assert_int_equal(audited, 3);
    assert_int_equal(sh("test $(grep -c 'energy.*window of 1.* the rules ask for 60 s' good.said) = 2"), 0);
    assert_grep("^A: .*0 findings", "good.said");
    assert_int_equal(sh("test $(tar xzOf A.rgz power.tsv | grep -c meter) = 2"), 0);
    assert_int_equal(
        sh("cp A.rgz empty.rgz && : > x.asc && touch A.rgz.minisig && regather audit A.rgz --no-again > s; rm A.rgz.minisig; "
           "grep -q 'minisign -Vm' s && grep -q 'not computed again' s"),
        0);
}

#define UNPACK "rm -rf f && mkdir f && tar xzf A.rgz -C f && "
#define PACK(to) "tar czf ../" to ".rgz --format=ustar --owner=0 --group=0 $(find . -type f | sed 's,^./,,')"

// All hashes made anew, as a forger would: the log's chain, and MANIFEST.
#define CHAIN                                                                                                                  \
    "c= && while read -r line; do text=${line%% *} && c=$(printf '%%s%%s' \"$c\" \"$text\" | sha256sum | cut -d' ' -f1) && "   \
    "printf '%%s %%.16s\\n' \"$text\" \"$c\"; done < f/log > e && mv e f/log && "
#define HASH                                                                                                                     \
    "(cd f && rm MANIFEST && printf 'path\\tbytes\\tsha256\\n' > ../M && for p in $(find . -type f | sed 's,^./,,'); do "        \
    "printf '%%s\\t%%s\\t%%s\\n' $p $(wc -c < $p) $(sha256sum < $p | cut -d' ' -f1); done >> ../M && mv ../M MANIFEST && " PACK( \
        "F") ")"

// Edits a file of the archive by an awk program.
static int forged(const char *file, const char *program, const char *rule)
{
    const bool again = strstr(rule, "puts\tof"); // inputs, outputs

    assert_int_equal(
        sh(UNPACK "awk -F'\\t' -v OFS='\\t' '%s' f/%s > e && ! cmp -s e f/%s && mv e f/%s && " HASH, program, file, file, file),
        0);
    return sh("regather audit F.rgz --nonce nonce-1 --quiet %s > forged.said", again ? "" : "--no-again");
}
#define ASSERT_NAMED(file, program, rule)                                                                                      \
    do {                                                                                                                       \
        assert_int_equal(forged(file, program, rule), 1);                                                                      \
        assert_grep("^F\t" rule, "forged.said");                                                                               \
    } while (0)

TEST(a_time_is_forged) { ASSERT_NAMED("runs.tsv", "$1 == 4 { $8 = 0.9 * $8; $6 = $5 + $8 } { print }", "times\trun 4"); }
TEST(a_time_and_its_log_are_forged) { ASSERT_NAMED("log", "/run 4 / { sub(/ended /, \"ended 9\") } { print }", "log\tline"); }
TEST(a_median_is_forged)
{
    ASSERT_NAMED("summary.tsv", "NR > 1 { if ($3 == \"-\") $2++; else $3 = 0.8 * $3 } { print }", "medians");
}
TEST(an_output_is_forged) { ASSERT_NAMED("outputs/map.tsv", "NR == 20 { $3 = $3 + 1 } { print }", "outputs\tof map"); }
TEST(a_slow_run_is_removed) { ASSERT_NAMED("runs.tsv", "NR != 6", "runs"); }
TEST(a_slow_run_is_removed_and_others_are_counted_anew)
{
    ASSERT_NAMED("runs.tsv", "NR == 6 { next } NR > 6 { $1-- } { print }", "runs\tthe log has");
}
TEST(another_nonce) { ASSERT_NAMED("machine.tsv", "$1 == \"nonce\" { $2 = \"nonce-2\" } { print }", "nonce\texpected"); }

TEST(energy_is_shared_by_more_runs)
{
    ASSERT_NAMED("power.tsv", "NR > 1 { n = $4 - $3 + 1; $4 += n; $7 /= 2 } { print }", "energy\t.*not the runs");
}
TEST(energy_is_negative)
{
    ASSERT_NAMED("power.tsv", "NR > 1 { $6 = -$6; $7 = -$7; $8 = -$8 } { print }", "energy\t.*do not fit");
}
TEST(a_window_is_shorter_than_its_runs)
{
    ASSERT_NAMED("power.tsv", "NR > 1 { $5 /= 2; $8 *= 2 } { print }", "energy\t.*its runs took");
}
TEST(no_cores_are_stated) { ASSERT_NAMED("machine.tsv", "$1 != \"usable_cores\"", "rates\tmachine.tsv has no usable_cores"); }
TEST(no_memory_is_stated) { ASSERT_NAMED("runs.tsv", "NR > 1 { $12 = \"-\" } { print }", "rates\trun 1 "); }

// A table and a log that say the same, the log's chain made anew: what neither may say is found all the same.
TEST(a_table_and_its_log_are_forged)
{
    static const struct {
        const char *run, *row, *line, *says;
    } cases[] = {// A slow run does not count, because others disturbed it, or because: by its own columns nobody did.
        {"$1 == 4", "$10 = \"0.001\"; $NF = \"busy\"", "sub(/ (good|busy) /, \" busy \")",
            "rules\trun 4 of .* does not count, as busy"},
        {"$1 == 4", "$10 = \"0.001\"; $NF = \"slow\"", "sub(/ (good|busy) /, \" slow \")",
            "rules\trun 4 of .* does not count, as slow"},
        // A fast run of the windows of energy counts.
        {"$4 == \"energy\"", "$4 = \"timed\"", "sub(/ energy /, \" timed \")", "rules\trun [0-9]* is timed, behind"}};
    for (int i = 0; i < RG_COUNT(cases); i++) {
        assert_int_equal(
            sh(UNPACK "run=$(awk -F'\t' '%s { n = $1 } END { print n }' f/runs.tsv) && "
                      "awk -F'\t' -v OFS='\t' -v run=$run '$1 == run { %s } { print }' f/runs.tsv > e && mv e f/runs.tsv && "
                      "awk -v run=$run '$2 == \"run\" && $3 == run { %s } { print }' f/log > e && mv e f/log && " CHAIN HASH,
                cases[i].run, cases[i].row, cases[i].line),
            0);
        assert_int_equal(sh("regather audit F.rgz --no-again > forged.said"), 1);
        assert_grep(fmt("^F\t%s", cases[i].says), "forged.said");
        assert_int_equal(sh("grep -q 'F\tlog' forged.said"), 1);
    }
}

// Nobody knows whether others used the CPUs: a question, no finding.
TEST(others_were_not_seen)
{
    if (sh("tar xzOf A.rgz runs.tsv | grep -q 'good$'")) // others were busy all the time
        skip();
    assert_int_equal(forged("runs.tsv", "NR > 1 && $NF == \"good\" { $10 = \"-\" } { print }", "rules"), 3);
    assert_grep("nobody saw whether others", "forged.said");
}

TEST(inputs_of_another_nonce) { ASSERT_NAMED("inputs/map.tsv", "NR > 1 { $3 = -$3 } { print }", "inputs\tof map"); }

TEST(a_file_is_exchanged)
{
    assert_int_equal(sh(UNPACK "cd f && echo more >> log && " PACK("F")), 0);
    assert_int_equal(sh("regather audit F.rgz --no-again > forged.said"), 1);
    assert_grep("manifest\tlog is not the file", "forged.said");
}

// A promise that is a hundred times slower than this machine is kept, one that is a hundred times faster is not; where others are busy,
// nothing can be said.
TEST(a_delivery_here)
{
    for (int faster = 0; faster < 2; faster++) {
        assert_int_equal(sh(UNPACK "awk -F'\t' -v OFS='\t' 'NR > 1 { $8 *= %g; if ($4 == \"timed\") $NF = \"good\" } "
                                   "{ print }' f/runs.tsv > e && mv e f/runs.tsv && cd f && " PACK("P"),
                             faster ? 0.01 : 100),
            0);
        const int code = sh("regather accept P.rgz %s > s", faster ? "H.rgz" : "--here --seconds 0 --out H.rgz --quiet");
        assert_true(code == faster || code == (faster ? 2 : 3)); // too few runs count: measured again, or read
        if (code == faster) assert_int_equal(sh("grep -q %s s", faster ? "REFUSED" : "ACCEPTED"), 0);
    }
}

// A peak run adds its options to the commands, hands on the sources that it names, and is held against a peak run.
TEST(a_peak_archive)
{
    assert_int_equal(sh("echo how > how.txt && printf 'job\toptions\tsources\nsums\t--variant naive\thow.txt\n' > peak.tsv && "
                        "sed 's/naive/nobody/' peak.tsv > wrong.tsv"),
        0);
#define MEASURE "regather measure --workload tiny.tsv --nonce nonce-1 --seconds 0 --quiet "
    assert_int_equal(sh(MEASURE "--peak wrong.tsv --out W.rgz"), 1);
    const int code = sh(MEASURE "--peak peak.tsv --out K.rgz");
    assert_true(code == 0 || code == 3);
    assert_int_equal(
        sh("test $(tar xzOf K.rgz sources/how.txt) = how && tar xzOf K.rgz runs.tsv | awk -F'\t' 'NR > 1 && $3 != \"peak\" { exit 1 }'"),
        0);
    assert_int_equal(sh("regather accept K.rgz A.rgz"), 2);
    assert_said("expected peak as in K.rgz, found base");
    if (code == 3) // others were busy: nothing can be held against it
        skip();
    assert_int_not_equal(sh("regather accept K.rgz --here --seconds 0 --peak peak.tsv --quiet --out L.rgz > s"), 2);
    assert_int_equal(sh("tar xzOf L.rgz machine.tsv | grep -q '^division\tpeak'"), 0);
}

TEST(foreign_archives_are_refused)
{
    assert_int_equal(sh("echo hello > hello && tar czf foreign.rgz --format=ustar hello && regather audit foreign.rgz"), 2);
    assert_said("expected an archive of `regather measure`, found no MANIFEST in it");
    assert_int_equal(sh("regather measure --workload tiny.tsv --nonce 'a b' --out x.rgz"), 2);
    assert_said("--nonce: expected");
    assert_int_equal(sh("regather measure --workload tiny.tsv --nonce a --meter false --out x.rgz"), 2);
    assert_said("--meter: expected a command that prints watts");
    assert_int_equal(sh("test ! -e x.rgz && test -z \"$(find . -name '*regather-part')\""), 0);
}

TESTS(test_dir_make, test_dir_remove)
