// SPDX-License-Identifier: MIT
// test_page.c: names and cells are data on a page: no text becomes an element, an attribute, a script or a scheme.
#include "../../../impl/base/page.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static char *with(void (*put)(FILE *, const char *), const char *text)
{
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

TEST(text_is_no_markup)
{
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
        " 31m"); // a control of terminals beyond ASCII
    // No UTF-8: a lone continuation, an overlong '<', a surrogate, a cut character before a quote.
    IS(rg_html_text, "\x80", "\xef\xbf\xbd");
    IS(rg_html_text, "\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd");
    IS(rg_html_text, "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    IS(rg_html_text, "\xe2\x82\"x", "\xef\xbf\xbd\xef\xbf\xbd&#34;x");
}

TEST(back_quotes_pair_or_stand_for_themselves)
{
    IS(rg_html_rich, "a `b` c", "a <code>b</code> c");
    IS(rg_html_rich, "a ` b", "a &#96; b");
    IS(rg_html_rich, "`<b>` `", "<code>&#60;b&#62;</code> &#96;");
}

TEST(links_are_files)
{
    IS(rg_html_link, "fig/a-b_1.svg", "./fig/a-b_1.svg");
    IS(rg_html_link, "javascript:alert(1)", "./javascript%3Aalert%281%29");
    IS(rg_html_link, "a b\"<'`?#\xc5\x99.svg", "./a%20b%22%3C%27%60%3F%23%C5%99.svg");
}

// Every element of both makes, with a text that would break out of each.
static char *whole(const rg_page_make *make, const char *text)
{
    char *to = NULL;
    size_t length;
    rg_page p = {.out = open_memstream(&to, &length), .make = make};
    const char *const cell[] = {text};
    const rg_page_figure f = {
        .title = text, .subtitle = text, .wide = text, .narrow = text, .alt = text, .data = text, .script = text};
    make->heading(&p, 2, text, text);
    make->paragraph(&p, text);
    make->item(&p, text);
    make->table(&p, text, "l", cell, 1);
    make->row(&p, cell, 1);
    make->table_end(&p);
    make->figures(&p, &f, 1);
    make->fold(&p, text);
    make->fold_end(&p);
    fclose(p.out);
    return to;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++) n++;
    return n;
}

TEST(no_element_is_broken_out_of)
{
    char *plain = whole(&rg_html, "x"), *hostile = whole(&rg_html, "`\"'><script src=//x>&</td></table>\x1b `");
    static const char *const mark[] = {"<", ">", "\""};
    for (int i = 0; i < 3; i++) // the elements and attributes are those of a harmless text, and a <code> where back quotes pair
        assert_int_equal(count(hostile, mark[i]), count(plain, mark[i]) + (i < 2 ? 2 * count(hostile, "<code>") : 0));
    assert_null(strstr(hostile, "<script"));
    assert_null(strchr(hostile, 27));
    free(plain);
    free(hostile);
    char *markdown = whole(&rg_markdown, "[x](javascript:y) <img src=x> |\x1b`");
    assert_null(strstr(markdown, "[x]"));
    assert_null(strstr(markdown, "<img"));
    assert_null(strchr(markdown, 27));
    assert_null(strstr(markdown, " |`"));
    free(markdown);
}

TESTS(NULL, NULL)
