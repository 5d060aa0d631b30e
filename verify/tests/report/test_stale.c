// SPDX-License-Identifier: MIT
// test_stale.c: rows that were timed before their kernel changed, by the hash of its source: the report leaves them out or marks what
// rests on them, bench --resume times them again and no others, and verify/stale.sh counts them in shipped records.
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_program.h"
#include "../../../data/formats/result.h"
#include "../../../impl/base/tsv.h"

#define BENCH                                                                                                                  \
    "regather bench autocorr:naive autocorr:ordered --device cpu --threads 1 --shape w32,h32,r2,k0 --rounds 2 --max-seconds 0.05 --quiet --out f.tsv"

// A file in which the kernel of autocorr:ordered was another one, at another commit.
FIXTURE(set_up)
{
    char *readme = rg_share_path("README.md");
    *strrchr(readme, '/') = '\0';
    setenv("TREE", readme, 1);
    setenv("BUILT", test_build(), 1);
    free(readme);
    return test_dir_make(state) ||
        sh(BENCH
            " > out && awk -F'\\t' -v OFS='\\t' '"
            "/^# revision: / { print \"# revision: abc\"; next } "
            "/^# source autocorr:ordered: / { print \"# source autocorr:ordered: sha256 0123456789abcdef\"; next } "
            "$1 == \"autocorr\" && $2 == \"ordered\" { $(NF - 1) = \"sha256 0123456789abcdef\" } { print }' f.tsv > old.tsv && mkdir none");
}

// What the ledger says of L3, of naive and ordered.
static int verdict(const char *options, char text[400])
{
    rg_tsv t;
    const int code = sh("regather report old.tsv --machines none --no-figures --quiet %s --out page 2> err", options);
    assert_int_equal(rg_tsv_read(in_dir("page/ledger.tsv"), &t), RG_GOOD);
    const int row = rg_tsv_find(&t, "id", "L3");
    assert_true(row >= 0);
    snprintf(text, 400, "%s: %s", rg_tsv_cell(&t, row, "verdict"), rg_tsv_cell(&t, row, "decided"));
    rg_tsv_free(&t);
    return code;
}

TEST(the_report_leaves_them_out_or_marks_them)
{
    char text[400];
    assert_int_equal(verdict("", text), RG_GOOD);
    assert_ptr_equal(strstr(text, "not testable here"), text);
    assert_int_equal(
        sh("grep -q 'old.tsv: 1 of .* rows were timed before their kernels changed: left out' err && grep -q 'rows timed before their kernels changed, and left out: 1' page/index.html"),
        0);
    assert_int_equal(verdict("--stale", text), RG_GOOD);
    assert_null(strstr(text, "not testable here"));
    assert_non_null(strstr(text, ": STALE: "));
    assert_int_equal(
        sh("sed '1,$s/x/x/' f.tsv > old.f && mv old.tsv kept && mv old.f old.tsv"), 0); // nothing of this one is stale
    assert_int_equal(verdict("--stale", text), RG_GOOD);
    assert_null(strstr(text, "STALE"));
    assert_int_equal(sh("mv kept old.tsv && test ! -s err"), 0);
}

// One claim alone is judged; and those that need what the checker said of a wrong kernel, or a job's folder.
TEST(claims_of_ones_own_and_what_decides_them)
{
    static const struct {
        const char *ids, *options, *says;
    } report[] = {{"L3", "--claims own.tsv", "^this\tL3\t"}, {"S13b", "--claims own.tsv", "^this\tS13b\t.*not testable here"},
        {"S13b", "--claims own.tsv --verify v.tsv", "^this\tS13b\t.*\treproduced\t"},
        {"L9", "--claims own.tsv", "^this\tL9\t.*no job folder was given"},
        {"L9", "--claims own.tsv --job job", "^this\tL9\t.*\t3 photos\tjob\t"}};
    assert_int_equal(sh("regather phantom coarsening --width 64 --height 64 --time 40 --frames 3 --out series --quiet > out && "
                        "regather autocorr series/*.png --max-offset 24 --norm centred --device cpu --out job --quiet > out"),
        0);
    assert_int_equal(sh("regather verify gridding:gridding.so:gridding_transposed --smoke --quiet --out v.tsv "
                        "--plugin \"$BUILT/broken/gridding.so\" > out"),
        RG_WRONG);
    for (int i = 0; i < RG_COUNT(report); i++) {
        assert_int_equal(sh("grep '^#\\|^id\t\\|^%s\t' \"$TREE/reference/claims.tsv\" > own.tsv && "
                            "regather report f.tsv --machines none --no-figures --quiet %s --out page 2> err",
                             report[i].ids, report[i].options),
            RG_GOOD);
        assert_grep(report[i].says, "page/ledger.tsv");
        assert_int_equal(sh("test $(grep -vc '^#' page/ledger.tsv) = 2"), 0); // the names of its columns, and this one
    }
}

TEST(the_report_says_which_verdicts_rest_on_rows_without_a_hash)
{
    char text[400];
    assert_int_equal(sh("mv old.tsv kept && sed '/autocorr.ordered/s/sha256 [0-9a-f]*/unknown/' f.tsv > old.tsv"), 0);
    assert_int_equal(verdict("", text), RG_GOOD);
    assert_null(strstr(text, "not testable here"));
    assert_non_null(strstr(text, ": SOURCE NOT KNOWN: "));
    assert_int_equal(sh("grep -q 'rows without a hash .*: 1' page/index.html && mv kept old.tsv"), 0);
}

TEST(they_alone_are_timed_again)
{
    rg_result before, after;
    bool cut;
    assert_int_equal(rg_result_read(in_dir("f.tsv"), &before, &cut), RG_GOOD);
    assert_int_equal(sh("mv f.tsv g.tsv && cp old.tsv f.tsv && " BENCH " --resume > out"), RG_GOOD);
    assert_int_equal(rg_result_read(in_dir("f.tsv"), &after, &cut), RG_GOOD);
    assert_int_equal(after.n_rows, before.n_rows);
    assert_string_equal(rg_result_head(&after, "revision"), rg_result_head(&before, "revision"));
    assert_string_equal(rg_result_head(&after, "source autocorr:ordered"), rg_result_head(&before, "source autocorr:ordered"));
    assert_non_null(strstr(rg_result_head(&after, "rows_before"), "of revision abc"));
    int again = 0;
    for (int i = 0; i < after.n_rows; i++)
        for (int k = 0; k < before.n_rows; k++)
            if (rg_row_same(&after.row[i], &before.row[k]) &&
                strcmp(after.row[i].cell[RG_C_SAMPLES], before.row[k].cell[RG_C_SAMPLES])) {
                again++;
                assert_string_equal(after.row[i].cell[RG_C_VARIANT], "ordered");
            }
    assert_int_equal(again, 1);
    rg_result_free(&before);
    rg_result_free(&after);
    assert_int_equal(sh("mv g.tsv f.tsv"), 0);
}

TEST(shipped_records_are_looked_through)
{
    assert_int_equal(
        sh("mkdir records && cp f.tsv records/one.tsv && \"$TREE/verify/stale.sh\" \"$BUILT\" records v1 > out"), RG_GOOD);
    assert_int_equal(sh("cp old.tsv records/two.tsv && \"$TREE/verify/stale.sh\" \"$BUILT\" records > out"), RG_GOOD);
    assert_grep("^stale: records/two.tsv: 1 row .*autocorr:ordered", "out");
    assert_int_equal(sh("\"$TREE/verify/stale.sh\" \"$BUILT\" records v1 > out"), RG_WRONG); // at a release
    assert_int_equal(sh("rm records/two.tsv; sed '/^# source/d; s/sha256 [0-9a-f]*//' f.tsv > records/three.tsv; "
                        "\"$TREE/verify/stale.sh\" \"$BUILT\" records v1 > out"),
        RG_WRONG); // or without hashes
    assert_grep("^stale: records/three.tsv: 2 rows without the hash", "out");
}

TEST(rows_of_jobs_too)
{
    assert_int_equal(
        sh("regather phantom coarsening --width 32 --height 32 --time 9 --frames 2 --out two --quiet > out && "
           "regather bench --job 'autocorr two/*.png --max-offset 8 --device cpu --out {out}' --gpus 0 --work 2:photographs "
           "--shape w32 --rounds 2 --max-seconds 60 --quiet --out records/job.tsv > out && rm records/three.tsv"),
        RG_GOOD);
    assert_int_equal(sh("\"$TREE/verify/stale.sh\" \"$BUILT\" records v1 > out"), RG_GOOD);
    assert_int_equal(sh("sed -i '/^autocorr/s/sha256 [0-9a-f]*/sha256 0123456789abcdef/' records/job.tsv; "
                        "\"$TREE/verify/stale.sh\" \"$BUILT\" records v1 > out"),
        RG_WRONG);
    assert_grep("^stale: records/job.tsv: 1 row .*: autocorr$", "out");
    assert_int_equal(sh("regather report records/job.tsv --machines none --no-figures --quiet --out page 2> err"), RG_GOOD);
    assert_grep("job.tsv: 1 of .* rows were timed before their kernels changed: left out", "err");
}

// Which jobs have another hash when a line is added to a file.
TEST(a_job_is_its_folder_and_what_it_calls)
{
    static const struct {
        const char *file, *line, *jobs;
    } edit[] = {
        {"impl/jobs/refine/grid.c", "int another;", "refine search "},
        {"impl/jobs/fsc.c", "int another;", "fsc "},
        {"impl/jobs/matching/score.c", "int another;", "align average "},
        {"impl/gridding/simd_gather.c", "int another;", "reconstruct "},
        {"impl/frealign/turn/simd.c", "int another;", "reconstruct refine search "},
        {"data/formats/mrc.c", "int another;", "align autocorr average fsc reconstruct refine search "},
        {"data/formats/result.c", "int another;", ""},
        {"impl/gridding/simd_gather.c", "// another", ""},
    };
    const char *const sources = "cd tree && \"$TREE/impl/runtime/sources.sh\" ../k.o | grep '{\"' > ../%s";
    assert_int_equal(sh("mkdir -p tree/data && cp -r \"$TREE/impl\" tree && cp -r \"$TREE/data/formats\" tree/data && "
                        "echo 'int k;' > k.c && cc -MMD -c k.c -o k.o"),
        0);
    assert_int_equal(sh(sources, "before"), 0);
    for (int i = 0; i < RG_COUNT(edit); i++) {
        assert_int_equal(sh("cp tree/%s kept && echo '%s' >> tree/%s", edit[i].file, edit[i].line, edit[i].file), 0);
        assert_int_equal(sh(sources, "after"), 0);
        assert_int_equal(sh("mv kept tree/%s && test \"$(grep -vxFf before after | cut -d '\"' -f 2 | tr '\\n' ' ')\" = '%s'",
                             edit[i].file, edit[i].jobs),
            0);
    }
}

// The hash that sources.sh gives a kernel of this text and that of a header, in FROM/hash.
static void hash_of(const char *from, const char *kernel, const char *header)
{
    char folder[24], path[2][32];
    snprintf(folder, sizeof folder, "%s/impl", from);
    snprintf(path[0], sizeof path[0], "%s/k.c", folder);
    snprintf(path[1], sizeof path[1], "%s/k.h", folder);
    assert_int_equal(sh("mkdir -p %s", folder), 0);
    put_text(in_dir(path[0]), kernel);
    put_text(in_dir(path[1]), header);
    assert_int_equal(
        sh("cd %s && cc -MMD -c impl/k.c -o k.o && \"$TREE/impl/runtime/sources.sh\" k.o | grep '&rg_variant_k,' > hash", from),
        0);
}

TEST(comments_and_lines_are_not_the_kernel)
{
    static const struct {
        const char *kernel, *header;
        bool same;
    } other[] = {
        {"#include \"k.h\" // why\n/* an \"idea\"\n of two lines */\nchar rg_variant_k[] = \"a // b\";\nint\n  f(void) { return '\"' + ONE; }\n",
            "// head\n#define ONE 1\n", true},
        {"#include \"k.h\"\nchar rg_variant_k[] = \"a // c\";\nint f(void) { return '\"' + ONE; }\n", "#define ONE 1\n", false},
        {"#include \"k.h\"\nchar rg_variant_k[] = \"a // b\";\nint f(void) { return '\"' - ONE; }\n", "#define ONE 1\n", false},
        {"#include \"k.h\"\nchar rg_variant_k[] = \"a // b\";\nint f(void) { return '\"' + ONE; }\n", "#define ONE 2\n", false},
    };
    hash_of(
        "one", "#include \"k.h\"\nchar rg_variant_k[] = \"a // b\";\nint f(void) { return '\"' + ONE; }\n", "#define ONE 1\n");
    for (int i = 0; i < RG_COUNT(other); i++) {
        hash_of("two", other[i].kernel, other[i].header);
        if (!sh("cmp -s one/hash two/hash") != other[i].same) fail_msg("%d: %s", i, other[i].kernel);
    }
}

// As `make check` asks: of the records of its own tree, at whatever commit that is.
TEST(a_release_is_the_commit_of_its_tag)
{
    if (sh("command -v git > out")) {
        print_message("skipped: no git\n");
        skip();
    }
    for (const char *const *name = (const char *const[]){"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", NULL}; *name; name++)
        unsetenv(*name); // set where a hook runs this
    assert_int_equal(sh("mkdir -p tree/verify tree/data/machines && cp \"$TREE/verify/stale.sh\" tree/verify && "
                        "cp old.tsv tree/data/machines && cp -r tree inner && mv inner tree && cd tree && git init -q . && "
                        "git config user.name a && git config user.email a@b && git add -A && git commit -qm one"),
        0);
    assert_int_equal(sh("tree/verify/stale.sh \"$BUILT\" > out"), RG_GOOD);
    assert_int_equal(sh("grep -q '^stale: data/machines/old.tsv: 1 row ' out && git -C tree tag v1.0"), 0);
    assert_int_equal(sh("tree/verify/stale.sh \"$BUILT\" > out"), RG_WRONG);
    assert_int_equal(sh("grep -q '^v1.0 is a release' out && git -C tree commit -q --allow-empty -m two"), 0);
    assert_int_equal(sh("tree/verify/stale.sh \"$BUILT\" > out"), RG_GOOD);                          // after it
    assert_int_equal(sh("git -C tree tag trial && tree/verify/stale.sh \"$BUILT\" > out"), RG_GOOD); // no release
    assert_int_equal(sh("git -C tree tag -a v1.1 -m two && tree/verify/stale.sh \"$BUILT\" > out"), RG_WRONG);
    assert_int_equal(sh("tree/inner/verify/stale.sh \"$BUILT\" > out"), RG_GOOD); // another project's tag
    assert_int_equal(sh("cp f.tsv tree/data/machines/old.tsv && tree/verify/stale.sh \"$BUILT\" > out"), RG_GOOD);
}

TESTS(set_up, test_dir_remove)
