// SPDX-License-Identifier: MIT
// test_score.c: archives made here of known times: score's numbers are those that score.awk computes on its own; machines that differ by
// less than their scatter share a rank, another does not; the joules of a machine without a meter are the cap times the time, and say so; costs
// without a price, another workload, wrong runs and too few of them are refused with a line, and nothing is written.
#include "../test.h"
#include "../test_program.h"

static const char workload[] =
    "# title: two jobs\njob\tweight\tcommand\tsize\tunits\treference_s\tmin_runs\tcheck\ttolerance\tinput\n"
    "map\t0.7\treconstruct {in}/particles.star --out {out}.mrc\tsmall\t20:images\t-\t5\tmap\t0.5\tphantom particles --box 16 --images 20\n"
    "sums\t0.3\tautocorr {in}/*.png --max-offset 4 --out {out}\tsmall\t1:photos\t-\t5\tsums\t1e-5\tphantom coarsening --width 32 --height 32\n";
static const char costs[] =
    "# all prices here are invented\n# currency: EUR\n# years: 4\n# electricity_a_kWh: 0.3\n# pue: 1.5\n# utilisation: 0.6\n"
    "machine\tprice\tsupport_a_year\tresidual\tidle_W\tcap_W\n"
    "fast\t9000\t100\t500\t200\t800\nslow\t1000\t0\t0\t50\t150\nagain\t1000\t0\t0\t50\t150\n";

// An archive whose runs of `map` take a, of `sums` b seconds, give or take 2 %; with a power table of these rows.
static void archive(const char *label, double a, double b, const char *power)
{
    assert_int_equal(
        sh("mkdir -p '%s' && cp w.tsv '%s/workload.tsv' && cd '%s' && printf 'path\\tbytes\\tsha256\\n' > MANIFEST && "
           "printf 'key\\tvalue\\nsize\\tsmall\\ndivision\\tbase\\nnonce\\tn\\ncpu\\ta processor\\nprobe cpu fp32\\t%g multiply-adds/s\\n' > machine.tsv && "
           "printf 'job\\truns\\tmedian_s\\n' > summary.tsv && : > log && "
           "printf 'job\\tsource\\tfirst_run\\tlast_run\\twindow_s\\tjoules\\tjoules_a_run\\tmean_W\\n%s' > power.tsv && "
           "awk 'BEGIN { OFS = \"\\t\"; print \"run\", \"job\", \"division\", \"kind\", \"began_s\", \"ended_s\", \"checked_s\", \"wall_s\", \"cpu_s\", "
           "\"others_cpu_s\", \"peak_bytes\", \"code\", \"input_sha256\", \"output_sha256\", \"difference\", \"error\", \"tolerance\", \"nonce\", \"status\"; "
           "for (r = 0; r < 14; r++) { t = (r %% 2 ? %g : %g) * (1 + 0.02 * (r * 5 %% 7 - 3) / 3); "
           "print r + 1, r %% 2 ? \"sums\" : \"map\", \"base\", r < 2 ? \"warm-up\" : \"timed\", 10 * r, 10 * r + t, 10 * r + t, t, t, 0, 1, 0, \"i\", \"o\", 0, 0, 1, \"n\", "
           "\"good\" } }' > runs.tsv && tar czf '../%s.rgz' --format=ustar *",
            label, label, label, 1e10 / a, power, b, a, label),
        0);
}

FIXTURE(make_archives)
{
    if (test_dir_make(state)) return -1;
    put_text(in_dir("w.tsv"), workload);
    put_text(in_dir("costs.tsv"), costs);
    archive("fast", 2, 0.5,
        "map\\tNVML\\t1\\t2\\t60\\t1200\\t600\\t20\\nmap\\tRAPL\\t1\\t2\\t60\\t400\\t200\\t7\\nsums\\tNVML\\t1\\t2\\t60\\t90\\t45\\t2\\n");
    archive("slow", 5, 4, "");
    archive("again", 5.03, 4.02, "");
    return 0;
}

#define SCORE "regather score slow.rgz fast.rgz again.rgz --workload w.tsv --costs costs.tsv --reference slow --out page"

TEST(numbers_are_those_of_another_program)
{
    assert_int_equal(sh(SCORE " > said.score"), 0);
    char *awk = rg_share_path("verify/tests/bench/score.awk");
    assert_int_equal(
        sh("awk -f '%s' -v reference=slow w.tsv costs.tsv slow/runs.tsv slow/power.tsv fast/runs.tsv fast/power.tsv again/runs.tsv "
           "again/power.tsv > again.tsv && test $(wc -l < again.tsv) = 3",
            awk),
        0);
    free(awk);
    // Column by column, by name.
    assert_int_equal(
        sh("awk -F'\\t' 'NR == FNR { for (i = 2; i <= 7; i++) is[$1, i] = $i; next } /^#/ { next } "
           "!head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; next } "
           "{ n = split(\"- score log_se seconds joules total money_a_job\", c, \" \"); rows++; for (i = 2; i <= n; i++) { d = $at[c[i]] / is[$1, i] - 1; "
           "if (!(d * d < 1e-10)) { print $1, c[i], $at[c[i]], is[$1, i] > \"/dev/stderr\"; bad = 1 } } } END { exit bad || rows != 3 }' "
           "again.tsv page/score.tsv"),
        0);
}

// These archives list no file of theirs, among others: said once an archive, here and on the page.
TEST(what_audit_refuses_is_said)
{
    assert_int_equal(sh(SCORE " > said.score 2> warned; grep -c 'regather audit. refuses it: ' warned | grep -qx 3"), 0);
    assert_grep(
        "slow.rgz: .regather audit. refuses it: [0-9]* findings, the first manifest: .* is there and not listed$", "warned");
    assert_int_equal(sh("grep -o 'refuses the archive of [a-z]*, so that' page/index.html | sort -u | wc -l | grep -qx 3"), 0);
}

TEST(ranks_and_ties)
{
    assert_int_equal(
        sh("grep -v '^#' page/score.tsv | cut -f1,4 | tail -n +2 | tr '\\t\\n' '= ' > ranks && grep -q '^fast=1 ' ranks && "
           "grep -q 'slow=2 ' ranks && grep -q 'again=2 ' ranks"),
        0);
    assert_int_equal(sh("awk -F'\\t' '!/^#/ && $1 == \"fast\" { if ($5 > 0.99) ok = 1 } END { exit !ok }' page/score.tsv"), 0);
    assert_int_equal(sh("grep -q 'slow\t.*upper estimate' page/score.tsv"), 0);
    // What GPU boards and CPU packages take is no part of the bill of one machine alone: all are charged by the same rule.
    assert_int_equal(
        sh("grep -q 'fast\t.*upper estimate' page/score.tsv && grep -q 'fast\tmap.*\t800\tNVML + RAPL\t' page/jobs.tsv"), 0);
    assert_int_equal(
        sh("regather score slow.rgz fast.rgz again.rgz --workload w.tsv --reference slow --out bare > said.score && "
           "grep -q 'fast\t.*several sources' bare/score.tsv && grep -q 'slow\t.*none' bare/score.tsv"),
        0);
    assert_int_equal(sh("grep -q 'at most' page/index.html && grep -q 'all prices here are invented' page/index.html"), 0);
    assert_grep("sums on fast: 0.5 s", "page/index.html");
}

// Numbers of several programs or inputs are ranked, and it is said, here and on the page.
TEST(what_archives_do_not_share_is_said)
{
    assert_int_equal(
        sh("mkdir -p other && cp again/* other && sed -i 's/^nonce.*/nonce\tm/' other/machine.tsv && cd other && tar czf ../other.rgz --format=ustar * && "
           "cd .. && regather score slow.rgz other.rgz --workload w.tsv --reference slow --out unlike > said.score"),
        0);
    assert_said("score: Not of one nonce (slow n, other m): what machines differ by may come of that.");
    sh("regather accept slow.rgz other.rgz > s");
    assert_said("other.rgz: nonce m, n in slow.rgz: the difference may come of that");
    assert_int_equal(sh("grep -q 'Not of one nonce' unlike/index.html && ! grep -q 'Not of one' page/index.html"), 0);
}

// Of two machines that are equal, each is the best as often as the other.
TEST(equals_are_best_as_often)
{
    assert_int_equal(
        sh("cp slow.rgz twin.rgz && regather score slow.rgz twin.rgz --workload w.tsv --reference twin --out twins > s && "
           "! grep -q 'less than a second' twins/index.html && "
           "awk -F'\\t' '!/^#/ && $1 != \"machine\" { n++; if ($4 != 1 || $5 < 0.47 || $5 > 0.53 || $6 != 1) bad = 1 } END { exit bad || n != 2 }' twins/score.tsv"),
        0);
}

// 3 % slower is within the promise, 4.9 % may be either, 8 % is not; another workload is no comparison.
TEST(a_delivery)
{
    static const struct {
        const char *label;
        double factor;
        int code;
        const char *word;
    } cases[] = {{"same", 1, 0, "ACCEPTED"}, {"faster", 0.5, 0, "ACCEPTED"}, {"near", 1.049, 3, "UNSURE"},
        {"slower", 1.15, 1, "REFUSED"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        archive(cases[i].label, 5 * cases[i].factor, 4 * cases[i].factor, "");
        assert_int_equal(sh("regather accept slow.rgz %s.rgz > s", cases[i].label), cases[i].code);
        assert_int_equal(sh("grep -q '^%s' s", cases[i].word), 0);
    }
    assert_int_equal(sh("regather accept slow.rgz slower.rgz --gate 50 > s"), 0);
    assert_int_equal(sh("regather accept slow.rgz > s"), 2);
    assert_said("expected PROMISED.rgz --here --out HERE.rgz");
}

TEST(bad_files_are_refused)
{
    static const struct {
        const char *before, *words, *says;
    } cases[] = {{"grep -v ^again costs.tsv > c", "slow.rgz again.rgz --reference slow", "expected a row of machine again"},
        {"sed 's/^slow\\t1000/slow\\t-/' costs.tsv > c", "slow.rgz --reference slow", "a number, 0 or more, in column price"},
        {"(cat costs.tsv; sed -n 's/^slow\\t1000/slow\\t1/p' costs.tsv) > c", "slow.rgz --reference slow",
            "one row of machine slow, found two"},
        {"awk -vOFS='\\t' '$1 == \"slow\" { $5 = $6 + 1 } 1' costs.tsv > c", "slow.rgz --reference slow",
            "slow: expected idle_W up to cap_W"},
        {"awk -vOFS='\\t' '$1 == \"slow\" { $4 = $2 + 1 } 1' costs.tsv > c", "slow.rgz --reference slow",
            "slow: expected a residual up to its price"},
        {"sed '/pue/d' costs.tsv > c", "slow.rgz --reference slow", "expected a line \"# pue: NUMBER\""},
        {"sed '/currency/d' costs.tsv > c", "slow.rgz --reference slow", "# currency"},
        {"cp costs.tsv c", "slow.rgz", "has no reference_s"},
        {"cp costs.tsv c", "slow.rgz --reference nobody", "expected the label of one of the archives, slow, found"},
        {"cp costs.tsv c", "slow.rgz slow.rgz --reference slow", "expected every machine once"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            sh("%s && regather score %s --workload w.tsv --costs c --out none", cases[i].before, cases[i].words), 2);
        assert_said(cases[i].says);
    }
    assert_int_equal(
        sh("sed 's/0.7/0.6/; s/0.3/0.4/' w.tsv > other.tsv && regather score slow.rgz --workload other.tsv --reference slow --out none"),
        2);
    assert_said("expected an archive of workload other.tsv, found another");
    assert_int_equal(
        sh("cp -r slow wrong && cd wrong && sed -i '5s/good/wrong/' runs.tsv && tar czf ../wrong.rgz --format=ustar * && cd .. && "
           "regather score wrong.rgz --workload w.tsv --reference wrong --out none"),
        2);
    assert_said("expected runs that are right, found run 4");
    assert_int_equal(
        sh("cp -r slow few && cd few && sed -i '5,9s/good/busy/' runs.tsv && tar czf ../few.rgz --format=ustar * && cd .. && "
           "regather score few.rgz --workload w.tsv --reference few --out none"),
        2);
    assert_said("others were busy; measure again");
    assert_int_equal(sh("test ! -e none"), 0);
}

// Of a machine without joules and without a cap: no money is known, which is no rank, no place on the front, and no figure, also where
// an earlier run has left its own.
TEST(money_that_is_not_known)
{
    assert_int_equal(
        sh(SCORE " > s && test -s page/fig/front.svg && awk -vOFS='\\t' '$1 == \"slow\" { $5 = $6 = 0 } 1' costs.tsv > c"), 0);
    assert_int_equal(sh("regather score slow.rgz --reference slow --workload w.tsv --costs c --out page > s"), 0);
    assert_int_equal(sh("grep -q 'money unknown: neither joules of all jobs nor cap_W' s && ! grep nan s page/*.tsv >&2 && "
                        "test ! -e page/fig/front.svg && test ! -e page/fig/costs.svg && ! grep -q front.svg page/index.html"),
        0);
    assert_int_equal(sh("regather score slow.rgz again.rgz --reference slow --workload w.tsv --costs c --out page > s"), 0);
    assert_int_equal(sh("awk -F'\\t' '$1 == \"slow\" && $NF != 0 { exit 1 }' page/score.tsv && "
                        "awk -F'\\t' '$1 != \"weights\" && $4 == \"slow\" && $6 != \"-\" { exit 1 }' page/sensitivity.tsv"),
        0);
}

// Those that are shipped as examples: nothing is found in them, score ranks them with the example's costs, and the awk's numbers are its own.
TEST(shipped_archives)
{
    char *kit = rg_share_path("data/machines"), *share = rg_share_path("bench/workloads"),
         *awk = rg_share_path("verify/tests/bench/score.awk");
    assert_int_equal(
        sh("cp '%s'/*.rgz . && n=0 && for a in $(cd '%s' && ls *.rgz); do n=$((n + 1)); l=${a%%.rgz}; "
           "regather audit $a --workload '%s/cryo-em.tsv' --no-again > s; test $? = 3 && grep -q \"^$l: .* 0 findings\" s || exit 9; "
           "mkdir -p k/$l && tar xzf $a -C k/$l && t=\"$t k/$l/runs.tsv k/$l/power.tsv\"; done; test $n -ge 1 && "
           "regather score $(cd '%s' && ls *.rgz) --workload '%s/cryo-em.tsv' --costs '%s/costs.example.tsv' --reference cpu-16xeon --out kitpage 2> warned && ! grep audit warned >&2 && "
           "grep '^# size\\|^job\\|small' '%s/cryo-em.tsv' > small.tsv && awk -f '%s' -v reference=k/cpu-16xeon small.tsv "
           "'%s/costs.example.tsv' $t > k.tsv && test $(wc -l < k.tsv) = $n",
            kit, kit, share, kit, share, share, share, awk, share),
        0);
    assert_int_equal(
        sh("awk -F'\\t' 'NR == FNR { sub(/^k./, \"\", $1); score[$1] = $2; seconds[$1] = $4; next } /^#/ { next } !head { for (i = 1; i <= NF; i++) at[$i] = i; "
           "head = 1; next } { rows++; a = $at[\"score\"] / score[$1] - 1; b = $at[\"seconds\"] / seconds[$1] - 1; if (!(a * a + b * b < 1e-10)) bad = 1 } "
           "END { exit bad || !rows }' k.tsv kitpage/score.tsv"),
        0);
    free(kit), free(share), free(awk);
}

TESTS(make_archives, test_dir_remove)
