// SPDX-License-Identifier: MIT
// test_ci.c: .ci/duels on two builds of which one says that a kernel's source was another, and the shell parts of .ci/templates with
// stand-ins for git and make.
#include "../test.h"
#include "../test_build.h"
#include "../test_command.h"

#include <sys/wait.h>
#include <unistd.h>

static char *folder;

// Exit status of a shell's line with BUILD, ROOT and TMP set.
static int shell(const char *line)
{
    char source[4096];
    setenv("BUILD", test_build(), 1);
    setenv("SOURCE", getcwd(source, sizeof source) ? source : "", 1); // the tests run in the source's folder
    setenv("TMP", folder, 1);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *name, const char *what) { return file_has(fmt("%s/%s", folder, name), what); }

TEST(only_what_changed_is_dueled)
{
    assert_int_equal(
        shell(
            "mkdir -p \"$TMP/old\" && ln -s \"$BUILD/regather\" \"$TMP/old/regather\" && cp \"$BUILD/sources.c\" \"$TMP/old/\" && "
            "\"$SOURCE/.ci/duels\" \"$TMP/old\" \"$BUILD\" \"$TMP/a.md\" 50% > /dev/null"),
        0);
    assert_true(says("a.md", "| SAME | all | no kernel's source changed |"));
    assert_int_equal(
        shell("sed -i 's/\\(rg_variant_autocorr_printed_naive, \"\\)[0-9a-f]*/\\10123456789abcdef/' \"$TMP/old/sources.c\" && "
              "\"$SOURCE/.ci/duels\" \"$TMP/old\" \"$BUILD\" \"$TMP/b.md\" 90% > /dev/null"),
        0);
    assert_true(says("b.md", "| SAME | autocorr_printed:naive | SAME "));
    // One that was not there before is verified.
    assert_int_equal(shell("sed -i '/rg_variant_autocorr_printed_naive, /d' \"$TMP/old/sources.c\" && "
                           "\"$SOURCE/.ci/duels\" \"$TMP/old\" \"$BUILD\" \"$TMP/c.md\" > /dev/null"),
        0);
    assert_true(says("c.md", "| new | autocorr_printed:naive | verified"));
    // One of a GPU is verified on the emulated one where there is none.
    assert_int_equal(
        shell(
            "cp \"$BUILD/sources.c\" \"$TMP/old/\" && sed -i 's/_autocorr_gather, \"[0-9a-f]*/_autocorr_gather, \"0123456789abcdef/' "
            "\"$TMP/old/sources.c\" && \"$SOURCE/.ci/duels\" \"$TMP/old\" \"$BUILD\" \"$TMP/e.md\" 90% > /dev/null"),
        0);
    assert_true(shell("\"$BUILD/regather\" list --table variants autocorr:gather | grep -q '	-	[^	]*$'") == 0 ||
        says("e.md", "| verified | autocorr:gather | on the emulated GPU, not timed: "));
    assert_int_equal(shell("\"$SOURCE/.ci/duels\" /nonexistent \"$BUILD\" \"$TMP/d.md\" 2> /dev/null"), 2);
}

// The lines below `mark`, which are indented deeper, as `sh -e` runs them in a folder of stand-ins; duels there exits with CODE.
static int run_part(const char *template, const char *mark, int code)
{
    char *line = rg_print(
        "rm -rf \"$TMP/w\" && mkdir -p \"$TMP/w/.ci\" \"$TMP/bin\" && cd \"$TMP/w\" && "
        "for p in git make; do printf '#!/bin/sh\\necho %%s \"$@\" >> calls\\n' $p > \"$TMP/bin/$p\"; done && "
        "printf '#!/bin/sh\\necho setup >> calls\\n' > .ci/setup && "
        "printf '#!/bin/sh\\necho duels \"$@\" >> calls; echo table > \"$3\"; exit %d\\n' > .ci/duels && chmod +x .ci/* \"$TMP\"/bin/* && "
        "awk -v mark='%s' 'inside && $0 !~ /^[ ]*$/ { match($0, /^ */); if (RLENGTH <= depth) exit; print } "
        "index($0, mark) { match($0, /^ */); depth = RLENGTH; inside = 1 }' \"$SOURCE/.ci/templates/%s\" > part.sh && test -s part.sh && "
        "BEFORE=abc CI_MERGE_REQUEST_DIFF_BASE_SHA=abc GITHUB_STEP_SUMMARY=summary PATH=\"$TMP/bin:$PATH\" sh -e part.sh > /dev/null",
        code, mark, template);
    int status = shell(line);
    free(line);
    return status;
}

TEST(templates_build_both_and_fail_on_slower)
{
    static const struct {
        const char *file, *mark;
        int unsure;
    } part[] = {{"github.yml", "run: |", 0}, {"gitlab.yml", "- |", 3}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_part(part[i].file, part[i].mark, 0), 0);
        assert_true(says("w/calls", "git worktree add --detach build-before abc\nmake -C build-before"));
        assert_true(says("w/calls", "duels build-before/build build duels.md"));
        assert_int_equal(run_part(part[i].file, part[i].mark, 1), 1);
        assert_int_equal(run_part(part[i].file, part[i].mark, 3), part[i].unsure); // there allow_failure has the 3
        assert_true(says(i ? "w/duels.md" : "w/summary", "table"));
    }
}

int main(void)
{
    folder = test_folder();
    int failed = RUN_TESTS(NULL, NULL);
    return failed + test_folder_remove(folder);
}
