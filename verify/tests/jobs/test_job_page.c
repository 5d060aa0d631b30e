// SPDX-License-Identifier: MIT
// test_job_page.c: the page that a job writes beside its output: what was done and found, with plots; nothing of a name
// becomes markup; the same again but for times; whole or not at all; by the first of several processes; none where nobody
// wants one.
#include "../../../impl/suite.h"
#include "../test.h"
#include "../test_mpirun.h"
#include "../test_program.h"

// Each of the words, which a line end divides.
static void assert_has(const char *name, const char *words)
{
    char *page = file_text(in_dir(name)), *all = rg_print("%s", words);
    for (char *word = strtok(all, "\n"); word; word = strtok(NULL, "\n"))
        if (!strstr(page, word)) fail_msg("%s lacks \"%s\"", name, word);
    free(page);
    free(all);
}

static int count(const char *name, const char *word)
{
    int n = 0;
    char *page = file_text(in_dir(name));
    for (const char *at = page; (at = strstr(at, word)); at++) n++;
    free(page);
    return n;
}

static bool is_there(const char *name) { return access(in_dir(name), F_OK) == 0; }
static bool has_gnuplot(void)
{
    char *path = rg_program_path("gnuplot");
    free(path);
    return path;
}

FIXTURE(make)
{
    unsetenv("REGATHER_PAGE");
    return test_dir_make(NULL) ||
        sh("regather phantom coarsening --out c --width 64 --height 64 --time 15 --frames 3 --quiet "
           "&& "
           "regather phantom particles --out p --box 24 --images 9 --ctf --shape d7 --quiet && "
           "regather phantom tilt --out t --width 64 --images 3 --snr 20 --shift 2 --rotation 1 "
           "--quiet && "
           "regather phantom subtomograms --out s --box 16 --images 3 --quiet");
}

TEST(every_job_says_what_it_did_and_found)
{
    static const struct {
        const char *words, *page, *has;
        int plots;
    } job[] = {{"autocorr c/*.png --norm centred --max-offset 24 --times c/times.tsv --out ac", "ac/regather.html",
                   "3 photographs\nR_max = slope x time: slope\n"
                   "(standard error of\nautocorr:\nC2D of coarsening_0003\n>ac/rmax.tsv</a>",
                   4},
        {"reconstruct p/particles.star --half-maps --out m.mrc", "m.html",
            "Where the Fourier shell correlation of the half maps\n"
            "one standard deviation\nA map of 24^3 voxels\nCentral section of the map: y and z\nViews come "
            "from\n>m_stages.tsv</a>\ngridding:",
            5},
        {"reconstruct p/particles.star --method frealign --out f.mrc", "f.html",
            "Where the Fourier shell correlation of the half maps\npinsert_s:", 5},
        {"refine p/particles.star --reference p/map.mrc --out r.star", "r.html",
            "standard deviation over 9 particles\nof noise alone\n"
            "Scores of the particles\ncc3m:",
            3},
        {"search p/particles.star --reference p/map.mrc --sym D7 --angle 45 --best 1 --out q.star", "q.html",
            "Mean coefficient\nccp:", 3},
        {"align t/series.mrc --truth t/truth.tsv --no-fine --rotation 2 --shift 4 --scale 1:1 --out a.tsv", "a.html",
            "against the truth, <code>rotation_deg\nThe mean of 3 images as they are aligned\nleast\n", 6},
        {"average s/subtomogram_*.mrc --no-fine --iterations 1 --step 60 --out v.mrc", "v.html",
            "how far its pose is settled\n"
            "over 3 particles\n<code>--half-maps</code>\nCentral section of the average",
            3},
        {"fsc m_half1.mrc m_half2.mrc --out fsc.tsv", "fsc.html", "falls below 0.143\nCentral section of the second map", 7}};
    for (int i = 0; i < RG_COUNT(job); i++) {
        if (sh("regather %s --device cpu --quiet > out", job[i].words)) fail_msg("regather %s", job[i].words);
        assert_has(job[i].page, job[i].has);
        assert_has(job[i].page,
            "<h2 id=\"found\">What was found</h2>\n<h2 "
            "id=\"times\">\n<td>machine</td>\nrevision\n<td>whole</td>\nlang=\"en\"");
        assert_int_equal(count(job[i].page, "src=\"data:image/svg+xml;base64,"), has_gnuplot() ? job[i].plots : 0);
        assert_int_equal(count(job[i].page, "<img "), count(job[i].page, " alt=\""));
        // needs no other file
        assert_int_equal(count(job[i].page, "src=\"") + count(job[i].page, "<link "), has_gnuplot() ? job[i].plots : 0);
    }
    assert_int_equal(sh("grep -q '^written\tm.html\t' m.mrc.log && ! grep -q '^read\tm.mrc\t' m.mrc.log"), 0);
}

TEST(warnings_stand_on_it)
{
    assert_int_equal(sh("regather autocorr c/coarsening_0003.png --max-offset 24 --prominence 1 --device cpu --quiet --out w "
                        "> out"),
        0);
    assert_has("w/regather.html", "No photograph has an R_max by <code>--norm raw</code>");
    assert_int_equal(sh("regather autocorr c/*.png --max-offset 24 --device cpu --quiet --out w > out"), 0);
    if (count("said", "warning: ")) assert_has("w/regather.html", "<h3>Warnings</h3>");
}

// But for the date and the seconds.
TEST(the_same_again)
{
    static const char strip[] = "sed -e '/class=\"run\"/d' -e '/id=\"times\"/,/id=\"files\"/d'";
    assert_int_equal(sh("regather reconstruct p/particles.star --half-maps --device cpu --quiet --out m.mrc > out && %s "
                        "m.html > one && "
                        "regather reconstruct p/particles.star --half-maps --device cpu --quiet --out m.mrc > out && %s "
                        "m.html > two && "
                        "cmp one two && test $(wc -c < one) -gt 20000",
                         strip, strip),
        0);
}

TEST(names_are_no_markup)
{
    static const char name[] = "<script>alert(1)<|script>\"'`x` & %s";
    FILE *f = fopen(in_dir("name"), "w");
    fputs(name, f);
    fclose(f);
    assert_int_equal(sh("n=$(cat name); cp c/coarsening_0001.png \"$n.png\" && cp c/coarsening_0002.png \"z$n.png\" && "
                        "regather autocorr \"$n.png\" \"z$n.png\" --max-offset 16 --device cpu --quiet --out \"d$n\" > out && "
                        "cp \"d$n/regather.html\" hostile.html && regather autocorr \"$n.png\" --max-offset 16 --device cpu "
                        "--quiet --out e "
                        "--page \"$n.html\" > out && cat \"$n.html\" >> hostile.html && rm -r -- *\"$n\"*"),
        0);
    assert_int_equal(count("hostile.html", "<script>alert"), 0);
    assert_int_equal(count("hostile.html", "<script>"), 2); // the page's own, of two pages
    assert_true(count("hostile.html", "&#60;script&#62;alert(1)") >= 4);
}

TEST(whole_or_not_at_all)
{
    static const struct {
        const char *words, *page;
    } bad[] = {{"regather autocorr absent.png --max-offset 8 --device cpu --out n1", "n1/regather.html"},
        // the map does not fit
        {"(ulimit -f 40; regather reconstruct p/particles.star --device cpu --quiet --out n2.mrc)", "n2.html"},
        // only the page
        {"(ulimit -f 160; regather reconstruct p/particles.star --device cpu --quiet --out n6.mrc)", "n6.html"},
        {"regather reconstruct p/particles.star --device cpu --out n3.mrc --page absent/n3.html", "n3.mrc"},
        {"regather reconstruct p/particles.star --device cpu --out n4.mrc --page n4.txt", "n4.mrc"},
        {"regather reconstruct p/particles.star --device cpu --out n5.mrc --page n5.html --no-page", "n5.mrc"}};
    for (int i = 0; i < RG_COUNT(bad); i++) {
        assert_int_equal(sh("%s > out", bad[i].words), RG_USAGE);
        assert_false(is_there(bad[i].page));
    }
    assert_int_equal(sh("test -z \"$(find . -name '*.regather-part')\""), 0);
}

TEST(where_it_goes)
{
    static const char job[] = "regather reconstruct p/particles.star --device cpu --quiet";
    assert_int_equal(sh("%s --no-page --out k1.mrc > out && test ! -e k1.html", job), 0);
    assert_int_equal(sh("REGATHER_PAGE=no; export REGATHER_PAGE; %s --out k2.mrc > out && test ! -e k2.html && "
                        "%s --out k2.mrc --page k3.html > out && test -e k3.html && test ! -e k2.html",
                         job, job),
        0);
    assert_int_equal(sh("%s --dry-run --out k4.mrc > out && grep -q '^file\tk4.html\tnew$' out && test ! -e k4.html", job), 0);
    // What somebody else has put there stays, and that is said.
    assert_int_equal(sh("echo mine > k5.html && %s --out k5.mrc > out && test \"$(cat k5.html)\" = mine", job), 0);
    assert_said("k5.html: is there and no page of regather");
    assert_int_equal(sh("%s --out k5.mrc --page k5.html > out && grep -q 'What was found' k5.html", job), 0);
}

TEST(the_report_keeps_and_links_it)
{
    char *record = rg_share_path("data/machines/h200-16xeon.tsv");
    assert_int_equal(
        sh("mkdir pages none && cp m.html pages/reconstruct.html && cp a.html 'pages/a\"><b>.html' && regather report '%s' --machines none "
           "--no-figures --pages pages --out rep --quiet > out; test $? = 0 && cmp m.html rep/job-reconstruct.html",
            record),
        0);
    assert_has("rep/index.html",
        "<a href=\"./job-reconstruct.html\">reconstruct</a>\n<a href=\"./job-a%22%3E%3Cb%3E.html\">a&#34;&#62;&#60;b&#62;</a>");
    assert_int_equal(
        sh("regather report '%s' --machines none --no-figures --pages absent --out rep2 --quiet > out", record), RG_USAGE);
    free(record);
}

TEST(without_gnuplot_it_says_so)
{
    assert_int_equal(sh("PATH=/nowhere \"$REGATHER\" reconstruct p/particles.star --device cpu --quiet --out g.mrc > out"), 0);
    assert_has("g.html", "No plots: there is no gnuplot here");
    assert_int_equal(count("g.html", "<img "), 0);
}

TEST(gone_on_with)
{
    static const char job[] = "regather autocorr c/*.png --max-offset 12 --device cpu --quiet --out o";
    assert_int_equal(sh("%s > out && sed -n '/id=\"found\"/,/<.ul>/p' o/regather.html > one && rm o/regather.html "
                        "o/coarsening_0002.c1d.tsv && "
                        "%s --resume > out && sed -n '/id=\"found\"/,/<.ul>/p' o/regather.html | cmp - one && test -s one",
                         job, job),
        0);
}

TEST(of_several_processes_the_first_writes_it)
{
    SKIP_WITHOUT_MPIRUN();
    assert_int_equal(sh("mpirun -n 2 \"$REGATHER\" autocorr c/*.png --max-offset 12 --device cpu --quiet --out mpi > out && "
                        "test $(find . -path './mpi/*.html' | wc -l) = 1"),
        0);
    assert_has("mpi/regather.html", "3 photographs\n</html>");
}

TESTS(make, test_dir_remove)
