// SPDX-License-Identifier: MIT
// text.c: any bytes as a text for gnuplot, for a terminal, as a word for sh, and as shape and parameters of a variant.
#include "../../impl/base/plot.h"
#include "../../impl/runtime/table.h"
#include "fuzz.h"

static char *printed(void (*put)(FILE *, const char *), const char *text) {
    char *to;
    size_t n;
    FILE *f = open_memstream(&to, &n);
    put(f, text);
    fclose(f);
    for (const char *at = to; *at; at++) fuzz_expect((unsigned char)*at >= 32 && *at != 127);
    return to;
}

static void put_text(FILE *f, const char *text) { rg_put_text(f, text, -1); }

// Between single quotes gnuplot and sh have no escapes: a quote is printed outside of them, as a double-quoted \047 with dots,
// or as \'.
static void gnuplot(const char *text) {
    static const char quote[] = "'.\"\\047\".'";
    RG_ENDS(rg_plot_free) rg_plot p = {0};
    rg_plot_text(&p, "A", text);
    const char *at = p.set[0];
    fuzz_expect(p.n == 1 && !strncmp(at, "A='", 3));
    for (at += 3; *text; text++) {
        const char *expected = *text == '\'' ? quote : NULL;
        fuzz_expect(
            expected ? !strncmp(at, quote, strlen(quote)) : *at == ((unsigned char)*text < 32 || *text == 127 ? ' ' : *text));
        at += expected ? strlen(quote) : 1;
    }
    fuzz_expect(!strcmp(at, "'"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    char *text = rg_print("%.*s", (int)n, n ? (const char *)bytes : ""), why[160];
    RG_FREED char *shown = printed(put_text, text), *twice = printed(put_text, shown), *word = printed(rg_put_word, text);
    fuzz_expect(!strcmp(shown, twice)); // escaped text is plain
    bool quoted = false;
    for (const char *at = word; *at; at++)
        if (*at == '\'')
            quoted = !quoted;
        else if (!quoted && *at == '\\')
            fuzz_expect(*++at == '\'');
        else
            fuzz_expect(quoted || !strchr(" $`\"&|;<>()*?[]#~!{}\n", *at));
    fuzz_expect(!quoted);
    gnuplot(text);
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, "", NULL));) {
        rg_shape shape;
        int64_t param[RG_PARAMS_MAX];
        rg_shape_parse(e->algo, text, &shape, why);
        rg_params_parse(e->variant, text, param, why);
    }
    free(text);
    return 0;
}
