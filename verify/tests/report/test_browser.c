// SPDX-License-Identifier: MIT
// test_browser.c: the page in a real browser, headless Chromium, as broad as a desk and as a phone: nothing overflows, the first screen
// has the cards, filters, menu and sorting work, text is large and strong enough in both schemes, the console is silent, and without
// its script all is there. verify/browser/probe.html looks; a page that is wrong on purpose shows that it can see. Screenshots stay in
// BUILD/browser. A page of a job is looked at alike. Skipped, with that word, where there is no Chromium.
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_command.h"
#include "../test_data.h"

#include <libgen.h>
#include <limits.h>

extern const rg_command rg_cmd_report, rg_cmd_trace, rg_cmd_phantom, rg_cmd_reconstruct;

static char output[OUTPUT_MAX], folder[PATH_MAX];
static const char *browser;

static char *run_browser(const char *words)
{
    FILE *f = popen(fmt("timeout 120 %s --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files "
                        "--user-data-dir='%s/profile' --virtual-time-budget=20000 --enable-logging=stderr %s 2>'%s/log.txt'",
                        browser, folder, words, folder),
        "r");
    char *text = rg_alloc(OUTPUT_MAX);
    assert_non_null(f);
    text[fread(text, 1, OUTPUT_MAX - 1, f)] = 0;
    const int status = pclose(f);
    if (status) fail_msg("the browser ended with %d; see %s/log.txt", status, folder);
    return text;
}

// What the probe says of a page, a line a check.
static char *probe(const char *page)
{
    char *html = rg_share_path("verify/browser/probe.html");
    char *words = rg_print("--dump-dom 'file://%s?file://%s/%s'", html, folder, page), *text = run_browser(words);
    char *begin = strstr(text, "<pre id=\"said\">"), *end = begin ? strstr(begin, "</pre>") : NULL;
    if (!end || !strstr(begin, "\nend: ok")) fail_msg("the probe did not come to its end");
    *end = 0;
    memmove(text, begin + strlen("<pre id=\"said\">"), strlen(begin + strlen("<pre id=\"said\">")) + 1);
    free(html);
    free(words);
    return text;
}

FIXTURE(make_pages)
{
    static const char *const name[] = {"chromium", "chromium-browser", "google-chrome"};
    for (int i = 0; i < RG_COUNT(name) && !browser; i++) {
        char *path = rg_program_path(name[i]);
        browser = path ? name[i] : NULL;
        free(path);
    }
    if (!browser) {
        print_message("no chromium on this machine: the page was not looked at\n");
        return 0;
    }
    char program[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    snprintf(folder, sizeof folder, "%.4000s/../../../browser", dirname(program));
    assert_int_equal(rg_make_folder(folder), RG_GOOD);
    char *real = realpath(folder, NULL), *record = rg_share_path("data/machines/h200-16xeon.tsv");
    snprintf(folder, sizeof folder, "%s", real);
    char *traces = rg_print("%s/traces", folder),
         *trace[] = {"trace", "gridding:simd_gather", "--quiet", "--out", traces, NULL};
    assert_int_equal(run_argv(&rg_cmd_trace, trace, output), RG_GOOD);
    char *argv[] = {"report", record, "--traces", traces, "--quiet", "--out", folder, NULL};
    assert_int_equal(run_argv(&rg_cmd_report, argv, output), RG_GOOD);
    char *particles = rg_print("%s/particles", folder), *star = rg_print("%s/particles.star", particles),
         *map = rg_print("%s/job.mrc", folder);
    char *page = rg_print("%s/job.html", folder);
    char *make[] = {"phantom", "particles", "--box", "32", "--images", "40", "--out", particles, "--quiet", NULL};
    char *job[] = {"reconstruct", star, "--half-maps", "--device", "cpu", "--out", map, "--page", page, "--quiet", NULL};
    assert_int_equal(run_argv(&rg_cmd_phantom, make, output), RG_GOOD);
    assert_int_equal(run_argv(&rg_cmd_reconstruct, job, output), RG_GOOD);
    free(particles);
    free(star);
    free(map);
    free(page);
    free(real);
    free(record);
    free(traces);
    return 0;
}

static void look(const char *page, int checks_least)
{
    size_t n;
    char *text = probe(page), *log_path = rg_print("%s/log.txt", folder);
    int checks = 0, faults = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), checks++)
        if (strlen(line) < 4 || strcmp(line + strlen(line) - 4, ": ok")) {
            print_error("%s\n", line);
            faults++;
        }
    assert_int_equal(faults, 0);
    assert_true(checks >= checks_least);
    char *log = get_file(log_path, &n);
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, ":CONSOLE") && !strstr(line, "allow-scripts")) // the frame without script says that it has none
            fail_msg("console: %s", line);
    free(log);
    free(log_path);
    free(text);
}

TEST(the_page_is_as_it_should_be)
{
    if (!browser) skip();
    look("index.html", 40); // with rows, filters, sizes and contrast at two widths
}

TEST(so_is_that_of_a_job)
{
    if (!browser) skip();
    look("job.html", 20);
}

TEST(the_probe_sees_what_is_wrong)
{
    size_t n;
    if (!browser) skip();
    char *from = rg_print("%s/index.html", folder), *to = rg_print("%s/wrong.html", folder), *page = get_file(from, &n);
    FILE *f = fopen(to, "w");
    assert_non_null(f);
    fputs(page, f);
    fputs(
        "<style>.where{color:#bbb}.counts{font-size:8px}.card{min-height:950px}.v0{display:none}</style><div style='width:2000px;height:4000px'>x</div>"
        "<img src=x alt=''>",
        f);
    assert_int_equal(fclose(f), 0);
    char *text = probe("wrong.html");
    static const char *const check[] = {"no overflow at 1400: ", "no overflow at 400: ", "first screen at 1400: ",
        "height at 1400: ", "sizes at 1400: ", "contrast at 400: ", "pictures say what they show at 400: "};
    for (int i = 0; i < RG_COUNT(check); i++) {
        const char *at = strstr(text, check[i]);
        if (!at || !strncmp(at + strlen(check[i]), "ok", 2))
            fail_msg("the probe took a page for right that is wrong in \"%s\"", check[i]);
    }
    assert_int_equal(remove(to), 0);
    free(from);
    free(to);
    free(page);
    free(text);
}

TEST(screenshots)
{
    static const struct {
        const char *page;
        int width, height;
    } of[] = {{"index", 1400, 900}, {"index", 400, 2600}, {"job", 1400, 1600}};
    if (!browser) skip();
    for (int i = 0; i < RG_COUNT(of); i++) {
        char *png = rg_print("%s/%s-%d.png", folder, of[i].page, of[i].width);
        free(run_browser(fmt(
            "--window-size=%d,%d '--screenshot=%s' 'file://%s/%s.html'", of[i].width, of[i].height, png, folder, of[i].page)));
        assert_int_equal(access(png, R_OK), 0);
        free(png);
    }
}

TESTS(make_pages, NULL)
