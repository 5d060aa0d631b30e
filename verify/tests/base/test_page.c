// SPDX-License-Identifier: MIT
// test_page.c: names and cells are data on a page: no text becomes an element, an attribute, a script or a URL scheme.
#include "../../../impl/base/fill.h"
#include "../../../impl/suite.h"
#include "../test.h"

static char *with(void (*put)(FILE *, const char *), const char *text) {
    char *to = NULL;
    size_t length;
    FILE *f = open_memstream(&to, &length);
    put(f, text);
    fclose(f);
    return to;
}

#define IS(put, text, wanted)                                                                                                  \
    do {                                                                                                                       \
        char *found = with(put, text);                                                                                         \
        assert_string_equal(found, wanted);                                                                                    \
        free(found);                                                                                                           \
    } while (0)

TEST(text_is_no_markup) {
    IS(rg_html_text, "<script>alert(\"1\")</script>", "&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;");
    IS(rg_html_text, "a & b ' ` c", "a &#38; b &#39; &#96; c");
    IS(rg_html_text, "&lt;", "&#38;lt;");
    IS(rg_html_text, "\" onload=\"x", "&#34; onload=&#34;x");
    IS(rg_html_text, "a\tb\nc\x1b[31m\x7f", "a b c [31m ");
    IS(rg_html_text,
        "Str\xc5\x99"
        "el\xc3\xa1k",
        "Str\xc5\x99"
        "el\xc3\xa1k");
    IS(rg_html_text,
        "\xc2\x9b"
        "31m",
        " 31m"); // a control character outside ASCII
    // Invalid UTF-8: a lone continuation byte, an overlong '<', a surrogate, a truncated character before a quote.
    IS(rg_html_text, "\x80", "\xef\xbf\xbd");
    IS(rg_html_text, "\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd");
    IS(rg_html_text, "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    IS(rg_html_text, "\xe2\x82\"x", "\xef\xbf\xbd\xef\xbf\xbd&#34;x");
}

TEST(back_quotes_pair_or_stand_for_themselves) {
    IS(rg_html_rich, "a `b` c", "a <code>b</code> c");
    IS(rg_html_rich, "a ` b", "a &#96; b");
    IS(rg_html_rich, "`<b>` `", "<code>&#60;b&#62;</code> &#96;");
}

TEST(links_are_files) {
    IS(rg_html_link, "fig/a-b_1.svg", "./fig/a-b_1.svg");
    IS(rg_html_link, "javascript:alert(1)", "./javascript%3Aalert%281%29");
    IS(rg_html_link, "a b\"<'`?#\xc5\x99.svg", "./a%20b%22%3C%27%60%3F%23%C5%99.svg");
}

// Every template, with hostile text in every slot.
static char *whole(const char *template, const char *text) {
    static const char *const slot[] = {"title", "subtitle", "wide", "narrow", "alt", "data", "script", "class", "caption"};
    const char *const cell[] = {text};
    char *to = NULL;
    size_t length;
    FILE *out = open_memstream(&to, &length);
    rg_data *d = rg_data_new();
    for (int i = 0; i < RG_COUNT(slot); i++) rg_set(d, slot[i], "%s", text);
    rg_data *table = rg_add_table(d, text, "l", cell, 1);
    rg_add_row(table, cell, 1);
    rg_add_text(d, "left_out", text);
    rg_add_text(d, "found", text);
    assert_int_equal(rg_fill(out, template, d), RG_GOOD);
    fclose(out);
    rg_data_free(d);
    return to;
}

static int count(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)); text++) n++;
    return n;
}

TEST(no_element_is_broken_out_of) {
    static const char *const template[] = {"figure.html", "score.html", "job.html"};
    static const char *const mark[] = {"<", ">", "\""};
    for (int t = 0; t < RG_COUNT(template); t++) {
        RG_FREED char *plain = whole(template[t], "x"),
                      *hostile = whole(template[t], "`\"'><script src=//x>&</td></table>\x1b `");
        const int code = count(hostile, "<code>") - count(plain, "<code>");
        for (int i = 0; i < 3;
             i++) // the same elements and attributes as with harmless text, and a <code> for each pair of back quotes
            assert_int_equal(count(hostile, mark[i]), count(plain, mark[i]) + (i < 2 ? 2 * code : 0));
        assert_int_equal(count(hostile, "<script"), count(plain, "<script"));
        assert_null(strchr(hostile, 27));
    }
    static const char *const markdown[] = {"figure.md", "report.md"};
    for (int t = 0; t < RG_COUNT(markdown); t++) {
        RG_FREED char *text = whole(markdown[t], "[x](javascript:y) <img src=x> |\x1b`");
        assert_null(strstr(text, "[x]"));
        assert_null(strstr(text, "<img"));
        assert_null(strchr(text, 27));
        assert_null(strstr(text, " |`"));
    }
}

// Lists, conditions, names looked up around an item, lines with a single tag, nested templates.
TEST(slots_are_filled) {
    rg_data *d = rg_data_new();
    const char *const column[] = {"a", "b"}, *const cell[] = {"x < y | z", "one `two`"};
    rg_data *table = rg_add_table(rg_add(rg_add(d, "papers"), "claimed"), "", "lr", column, 2);
    rg_add_row(table, cell, 2);
    rg_add_row(table, cell, 2);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(rg_fill(out, "report.md", d), RG_GOOD);
    fclose(out);
    assert_non_null(
        strstr(text, "\n| a | b |\n|:---|---:|\n| x &lt; y \\| z | one `two` |\n| x &lt; y \\| z | one `two` |\n\n"));
    assert_null(strstr(text, "{{"));
    assert_null(strstr(text, "Duels"));
    free(text);
    out = open_memstream(&text, &length);
    rg_data *page = rg_data_new(), *of = rg_add(page, "machines");
    rg_set(of, "machine", "%s", cell[0]);
    rg_set(of, "score", "%s", cell[1]);
    assert_int_equal(rg_fill(out, "score.html", page), RG_GOOD);
    fclose(out);
    assert_non_null(strstr(text, "<th scope=\"row\">x &#60; y | z<br>"));
    assert_non_null(strstr(text, "<td class=\"r\">one <code>two</code></td>"));
    assert_non_null(strstr(text, "Without a file of costs nothing is said of money."));
    assert_non_null(strstr(text, RG_PAGE_MARK " " RG_VERSION "\">"));
    free(text);
    rg_data_free(page);
    rg_data_free(d);
}

TEST(a_template_that_is_not_there_is_refused) {
    rg_data *d = rg_data_new();
    FILE *out = fopen("/dev/null", "w");
    rg_silent = true;
    assert_int_equal(rg_fill(out, "none.html", d), RG_USAGE);
    rg_silent = false;
    fclose(out);
    rg_data_free(d);
}
