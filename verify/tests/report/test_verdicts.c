// SPDX-License-Identifier: MIT
// test_verdicts.c: the judge's verdicts on made-up rows (verdicts.tsv); and that every claim of reference/claims.tsv can fail
// and can hold. The judge gets the value of a claim's column `fails`, then a number between its bounds: a claim with the same
// verdict on both tests nothing.
#include "../../../impl/base/core.h"
#include "../../../impl/suite.h"
#include "../../../report/words/words.h"
#include "../test.h"
#include "../test_command.h"
#include <ctype.h>

enum { ROWS = 600, TABLES = 8, CORES = 16 };

typedef struct made {
    rg_claims claims;
    rg_row row[ROWS];
    int n;
    rg_named_table table[TABLES];
    rg_bench_machine machine;
    rg_row_file file;
} made;
static made m;

static const char *claim_cell(int i, const char *column) { return rg_tsv_cell(&m.claims.claim, i, column); }

static void clear(void) {
    for (int i = 0; i < m.n; i++) rg_row_free(&m.row[i]);
    for (int i = 0; i < m.machine.n_tables; i++) rg_tsv_free(&m.table[i].tsv);
    m.n = 0;
    m.machine = (rg_bench_machine){.n_files = 1, .file = &m.file, .table = m.table};
}

// All rows, as of current kernels.
static rg_rows rows(void) {
    m.file = (rg_row_file){.result = {.path = "made.tsv", .row = m.row, .n_rows = m.n}, .up_to = {m.n, m.n, m.n}};
    return (rg_rows){&m.machine, RG_UNSOURCED};
}

// Adds a passed row that matches the first alternative of spec, at the shape `size` and in the first scope.
static rg_row *add_row(const char *spec, const char *size, const char *scopes, double ns) {
    char text[200], shape[160], scope[24], params[160] = "";
    snprintf(text, sizeof text, "%.*s", (int)strcspn(spec, "|"), spec);
    snprintf(shape, sizeof shape, "%s", *size ? size : "w750,h1500,r250,k0");
    char *at = strchr(text, '@');
    if (at) {
        *at++ = 0;
        snprintf(shape, sizeof shape, "%s", at);
        for (char *c = shape; *c; c++) *c = *c == ';' ? ',' : *c;
        char *above = strchr(shape, '>'); // the least value that matches
        if (above) snprintf(above, (size_t)(shape + sizeof shape - above), "%d", atoi(above + 1) + 1);
    }
    snprintf(scope, sizeof scope, "%.*s", (int)strcspn(scopes, ",;"), scopes);
    char *rest, *algo = strtok_r(text, " ", &rest), *variant = strchr(algo, ':'), *word;
    assert_non_null(variant);
    *variant++ = 0;
    while ((word = strtok_r(NULL, " ", &rest))) {
        size_t used = strlen(params);
        const char *below = strchr(word, '<'); // the largest value that matches
        if (below)
            snprintf(params + used, sizeof params - used, "%s%.*s=%d", used ? ";" : "", (int)(below - word), word,
                atoi(below + 1) - 1);
        else
            snprintf(params + used, sizeof params - used, "%s%s", used ? ";" : "",
                strcmp(word, "threads=all") ? word : "threads=16");
    }
    assert_true(m.n < ROWS);
    rg_row *row = &m.row[m.n++];
    *row = test_row(variant, scope, 8, ns);
    test_set(row, RG_C_ALGO, algo);
    test_set(row, RG_C_SHAPE, shape);
    test_set(row, RG_C_PARAMS, params);
    test_set(row, RG_C_SPACE, "device");
    char number[32];
    snprintf(number, sizeof number, "%.9g", 1e9 / ns);
    test_set(row, RG_C_RATE, number);
    snprintf(number, sizeof number, "%.9g", ns);
    test_set(row, RG_C_JOULES, number);
    return row;
}

static void parse_table(const char *name, const char *text) {
    assert_true(m.machine.n_tables < TABLES);
    rg_named_table *t = &m.table[m.machine.n_tables++];
    snprintf(t->name, sizeof t->name, "%s", name);
    assert_int_equal(rg_tsv_parse(name, text, strlen(text), &t->tsv), RG_GOOD);
}

// The parts of "TABLE key=value+value COLUMN/images", the first of several values; images is 1 if the number is not divided.
typedef struct place {
    char table[48], key[160], *value, column[48];
    int images;
} place;

static void place_of(const char *spec, place *p) {
    assert_int_equal(sscanf(spec, "%47s %159s %47[^| ]", p->table, p->key, p->column), 3);
    p->value = strchr(p->key, '=');
    *p->value++ = 0;
    char *per = strchr(p->column, '/');
    p->images = per ? 4000 : 1;
    if (per) *per = 0;
}

// Adds three repeats around the number a, of one table or two; with b, b's are 1, so that the ratio is the number.
static void add_cell(const char *a, const char *b, const char *shape, double number) {
    static const double off[] = {1, 1.001, 0.999};
    place at[2];
    place_of(a, &at[0]);
    if (*b) place_of(b, &at[1]);
    char *text = NULL;
    for (int side = 0; side < (*b ? 2 : 1); side++) {
        const place *p = &at[side];
        if (!text) text = rg_print("# %d images of 1^2 pixels\n%s\tshape\t%s\n", p->images, p->key, p->column);
        int parts = 1;
        for (const char *c = p->value; *c; c++) parts += *c == '+';
        char one[80];
        for (const char *each = p->value; rg_next_piece(&each, '+', one, sizeof one);)
            for (int k = 0; k < 3; k++) {
                char *more = rg_print(
                    "%s%s\t%s\t%.9g\n", text, one, *shape ? shape : "-", off[k] * (side ? 1 : number) * p->images / parts);
                free(text);
                text = more;
            }
        if (side || !*b || strcmp(p->table, at[1].table)) {
            parse_table(p->table, text);
            free(text);
            text = NULL;
        }
    }
}

static void add_least(const char *spec, double number) {
    char table[48], column[48];
    assert_int_equal(sscanf(spec, "%47s %47s", table, column), 2);
    parse_table(table, fmt("shell\t%s\n1\t1\n2\t%.9g\n", column, number));
}

// Adds series with this value of the quantity: R_max = 10 t with a scatter that no line fits.
static void add_growth(const char *quantity, double value) {
    static const double off[] = {0.1, -0.1, -0.1, 0.1}; // orthogonal to every straight line
    const int runs = !strcmp(quantity, "difference") ? 2 : 1;
    char *text = rg_print("seed\tvariant\tphoto\ttime\tR_max\tk_peak_length\n");
    for (int seed = 0; seed < 6; seed++)
        for (int line = 0; line < 4 * runs; line++) {
            const int run = line / 4, i = line % 4;
            const double straight = 10 * (i + 1);
            double r = straight + off[i];
            if (!strcmp(quantity, "intercept")) // a line whose intercept is this fraction of its last point
                r = value + (1 - value) * (i + 1) / 4;
            if (!strcmp(quantity, "difference")) r += run * value;
            const bool none = !strcmp(quantity, "with_r_max") && i >= round(4 * value);
            char *more = rg_print("%s%d\tv%d\tp%d\t%d\t%s\t%.9g\n", text, seed, run, i, i + 1, none ? "none" : fmt("%.9g", r),
                straight + value * off[i]);
            free(text);
            text = more;
        }
    parse_table("seeds", text);
    free(text);
}

static void add_crossing(const char *a, const char *b, double ratio) {
    for (int side = 0; side < 2; side++) {
        double at = side ? 0.1 : 0.1 * ratio;
        parse_table(side ? b : a, fmt("frequency\tfsc\n0\t1\n%.9g\t0\n", 2 * at));
    }
}

// Adds rows with a ratio a / b at one shape.
static void add_ratio(const char *a, const char *b, const char *size, const char *scopes, double value) {
    if (!*b) {
        add_row(a, size, scopes, 1e6 / value);
        return;
    }
    const rg_row *row = add_row(b, size, scopes, 1e6);
    if (value == 1 && rg_matches(row, a)) // one of the candidates of a is the best
        return;
    rg_row *other = add_row(a, size, scopes, 1e6 * value);
    if (value == 1 && rg_matches(other, b)) { // or the best of the candidates of b
        rg_row_free(&m.row[0]);
        m.row[0] = m.row[1];
        m.n = 1;
    }
}

// Parses from, to and step.
static void add_turns(const char *a, const char *b, const char *prefix, const int turn[3], const char *scopes, double value) {
    for (int t = turn[0]; t <= turn[1]; t += turn[2]) {
        RG_FREED char *shape = rg_print("%s%d", prefix, t);
        add_ratio(a, b, shape, scopes, value);
    }
}

// Makes a machine on which claim i has this number.
static void feed_number(int i, double value) {
    const char *kind = claim_cell(i, "kind"), *a = claim_cell(i, "numerator"), *b = claim_cell(i, "denominator");
    const char *size = claim_cell(i, "size"), *scopes = claim_cell(i, "scope");
    if (!strcmp(kind, "ratio") || !strcmp(kind, "energy") || !strcmp(kind, "scaling")) {
        const char *few = strstr(b, "threads=");
        const int cores = few && isdigit((unsigned char)few[8]) ? atoi(few + 8) : CORES;
        add_ratio(a, b, size, scopes, !strcmp(kind, "scaling") ? cores * value : value);
        for (int k = 0; k < RG_SEARCHED && value <= 1; k++) // the searched variants are not better
            add_row(b, size, scopes, 1e9);
    } else if (!strcmp(kind, "rate")) {
        add_row(a, size, scopes, 1e9 / value);
    } else if (!strcmp(kind, "growth")) {
        const char *own = strchr(scopes, ';'); // the second size has its own scope
        add_ratio(a, b, fmt("%.*s", (int)strcspn(size, ";"), size), scopes, 1);
        add_ratio(a, b, strchr(size, ';') + 1, own ? own + 1 : scopes, value);
    } else if (!strcmp(kind, "mean")) {
        char prefix[64];
        int first, last, count;
        assert_int_equal(sscanf(size, "%63[^;];%d;%d;%d", prefix, &first, &last, &count), 4);
        const char *over = strchr(size, '/'); // a range within the first, its denominator
        add_turns(a, b, prefix, (const int[]){first, last, (last - first) / (count - 1)}, scopes, value);
        if (over) assert_int_equal(sscanf(over, "/%d;%d;%d", &first, &last, &count), 3);
        if (over) add_turns(a, b, prefix, (const int[]){first, last, 1}, scopes, 1);
    } else if (!strcmp(kind, "agree")) {
        const char *const side[] = {a, b};
        char number[32];
        snprintf(number, sizeof number, "%.9g", value);
        for (int k = 0; k < 2; k++) {
            rg_row *row = add_row(side[k], size, scopes, 1e6);
            test_set(row, RG_C_ERROR, number);
            test_set(row, RG_C_TOL, "1");
        }
    } else if (!strcmp(kind, "cell") || !strcmp(kind, "exact")) {
        add_cell(a, b, size, value);
    } else if (!strcmp(kind, "least")) {
        add_least(a, value);
    } else if (!strcmp(kind, "crossing")) {
        add_crossing(a, b, value);
    } else if (!strcmp(kind, "job") || !strcmp(kind, "peaks")) {
        add_growth(a, value);
    } else if (!strcmp(kind, "curves")) {
        for (const char *at = a; *at; at += *at == ',') {
            char spec[96], shape[64];
            snprintf(spec, sizeof spec, "%.*s", (int)strcspn(at, ","), at);
            for (int k = 1; k <= 3; k++) {
                snprintf(shape, sizeof shape, "w750,h1500,r%d,k0", (int)ceil(750 * value * k / 3) + k - 3);
                add_row(spec, shape, "device", 1e6);
            }
            at += strcspn(at, ",");
        }
    } else {
        fail_msg("%s: a number was given for the kind %s", claim_cell(i, "id"), kind);
    }
}

static void feed_status(int i, const char *status) {
    const char *a = claim_cell(i, "numerator");
    const bool configs = !strcmp(claim_cell(i, "kind"), "configs");
    for (int k = 0; k < (configs ? (int)rg_tsv_number(&m.claims.claim, i, "low") : 1); k++)
        for (const char *at = a; *at; at += *at == ',') {
            char spec[96];
            snprintf(spec, sizeof spec, "%.*s", (int)strcspn(at, ","), at);
            const char *scopes = claim_cell(i, "scope");
            rg_row *row = add_row(spec, claim_cell(i, "size"), *scopes ? scopes : "device", 1e6);
            test_set(row, RG_C_STATUS, configs && k ? "PASS" : status);
            at += strcspn(at, ",");
        }
}

static rg_judgement fed(int i, const char *what) {
    clear();
    char *end;
    double number = strtod(what, &end);
    if (*what && !*end)
        feed_number(i, number);
    else
        feed_status(i, what);
    return rg_judge_claim(&m.claims, i, rows());
}

// A value within the claim's bounds; the other status if it has none.
static void holds(int i, char text[32]) {
    double low = rg_tsv_number(&m.claims.claim, i, "low"), high = rg_tsv_number(&m.claims.claim, i, "high");
    const char *kind = claim_cell(i, "kind"), *fails = claim_cell(i, "fails");
    if (!strcmp(fails, "PASS") || !strcmp(fails, "FAIL"))
        snprintf(text, 32, "%s", !strcmp(fails, "FAIL") ? "PASS" : "FAIL");
    else if (!strcmp(kind, "peaks") || !strcmp(kind, "curves"))
        snprintf(text, 32, "%.9g", low);
    else if (isfinite(low) && isfinite(high))
        snprintf(text, 32, "%.9g", low > 0 ? sqrt(low * high) : (low + high) / 2);
    else
        snprintf(text, 32, "%.9g", isfinite(low) ? 1.1 * low : 0.9 * high);
    if (!strcmp(kind, "least") || (!strcmp(kind, "exact") && !*claim_cell(i, "denominator"))) // FSCs and errors
        snprintf(text, 32, "%.9g", isfinite(low) ? fmin(1, 1.0001 * low) : 0.9 * high);
}

TEST(every_claim_can_fail_and_can_hold) {
    int measured = 0;
    for (int i = 0; i < m.claims.claim.n_rows; i++) {
        const char *fails = claim_cell(i, "fails"), *id = claim_cell(i, "id");
        if (rg_is_defect(&m.claims, i)) { // nothing is measured, and it counts as neither
            assert_string_equal(fails, "");
            continue;
        }
        measured++;
        char good[32];
        holds(i, good);
        rg_judgement bad = fed(i, fails);
        char why[RG_SAY];
        rg_say_why(&m.claims, i, &bad, why);
        if (bad.outcome != RG_CONTRADICTED)
            fail_msg("%s cannot fail: %s gives \"%s\" (%s)", id, *fails ? fails : "nothing", rg_outcome_name[bad.outcome], why);
        rg_judgement j = fed(i, good);
        rg_say_why(&m.claims, i, &j, why);
        if (j.outcome != RG_REPRODUCED && j.outcome != RG_ORDER && j.outcome != RG_EXISTS)
            fail_msg("%s cannot hold: %s gives \"%s\" (%s)", id, good, rg_outcome_name[j.outcome], why);
    }
    assert_true(measured > 100);
}

TEST(a_host_takes_its_part_of_the_energy) {
    clear();
    test_set(add_row("reconstruct:default gpus=1@s9", "", "job", 2e9), RG_C_JOULES, "100");
    test_set(add_row("reconstruct:default gpus=2@s9", "", "job", 1e9), RG_C_JOULES, "110");
    rg_comparison q = {
        rows(), "energy", "reconstruct:default gpus=1", "reconstruct:default gpus=2", "", "job", ">1", "", 1.04, 1.5, 0};
    assert_int_equal(rg_judge(&q).outcome, RG_CONTRADICTED);
    q.host_W = 100;
    const rg_judgement v = rg_judge(&q);
    char ours[RG_SAY];
    rg_say_ours(&v, ours);
    assert_int_equal(v.outcome, RG_REPRODUCED);
    assert_true(fabs(v.value * 210 / 300 - 1) < 0.01);
    assert_non_null(strstr(ours, " a call, the host's 100 W in both"));
    const int claim = rg_claim_of(&m.claims, "S10b"); // uses the paper's watts
    assert_true(rg_comparison_of(&m.claims, claim, rows()).host_W > 0);
}

// ---- verdicts.tsv --------------------------------------------------------------------------------------------------------

// Sets the cells of words "column=value"; '~' is a blank, '-' nothing.
static void set_cells(rg_row *row, char *words) {
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        int c = 0;
        if (!value) fail_msg("verdicts.tsv: expected column=value, found \"%s\"", word);
        *value++ = '\0';
        while (c < RG_COLUMNS && strcmp(rg_column_name[c], word)) c++;
        assert_true(c < RG_COLUMNS);
        for (char *at = value; *at; at++) *at = *at == '~' ? ' ' : *at;
        test_set(row, (rg_column)c, strcmp(value, "-") ? value : "");
    }
}

// Adds a row "VARIANT SHAPE PARAMS NS column=value...", or changes one: "#2 column=value...".
static void set_row(char *text) {
    char *rest = text, *first = strsep(&rest, " ");
    if (*first == '#') {
        assert_true(atoi(first + 1) < m.n);
        set_cells(&m.row[atoi(first + 1)], rest);
        return;
    }
    const char *shape = strsep(&rest, " "), *params = strsep(&rest, " ");
    const double ns = atof(strsep(&rest, " "));
    rg_row *row = &m.row[m.n++];
    *row = test_row(first, "device", 8, ns);
    const struct {
        rg_column column;
        const char *text;
    } cell[] = {{RG_C_SHAPE, shape}, {RG_C_PARAMS, params}, {RG_C_SPACE, ""}, {RG_C_MEDIAN, ns > 0 ? fmt("%.17g", ns) : ""},
        {RG_C_SAMPLES,
            ns > 0 ? fmt("%.17g;%.17g;%.17g;%.17g;%.17g;%.17g;%.17g;%.17g", ns, 1.01 * ns, 0.99 * ns, ns, 1.01 * ns, 0.99 * ns,
                         ns, ns)
                   : ""}};
    for (int i = 0; i < RG_COUNT(cell); i++) test_set(row, cell[i].column, cell[i].text);
    if (rest) set_cells(row, rest);
}

static void each_piece(const char *list, void (*use)(char *)) {
    RG_FREED char *text = rg_print("%s", list);
    for (char *at = text, *end; *at; at = end) {
        end = strstr(at, " / ");
        if (end)
            *end = '\0', end += 3;
        else
            end = at + strlen(at);
        use(at);
    }
}

// Adds a table "NAME: columns; row; row".
static void set_table(char *text) {
    char *colon = strchr(text, ':'), *to = colon + 1;
    *colon = '\0';
    RG_FREED char *rows_of = rg_print("%s\n", to + 1);
    for (to = rows_of; *to; to++)
        if (*to == ';')
            *to = '\n', memmove(to + 1, to + 2, strlen(to + 1));
        else if (*to == ' ')
            *to = '\t';
    parse_table(text, rows_of);
}

static void check_says(const char *name, const char *list, const char *said) {
    char piece[200];
    for (const char *at = list; rg_next_piece(&at, '|', piece, sizeof piece);)
        if (!strstr(said, piece + (*piece == '!')) == (*piece != '!'))
            fail_msg("%s: expected \"%s\", found \"%s\"", name, piece, said);
}

static void check_case(const rg_claims *cases, int i) {
    const char *name = rg_claim_cell(cases, i, "case"), *rows_made = rg_claim_cell(cases, i, "rows");
    const char *interval = rg_claim_cell(cases, i, "interval"), *value = rg_tsv_cell(&cases->claim, i, "value");
    if (*rows_made != '+') clear();
    each_piece(*rows_made == '+' ? rows_made + strspn(rows_made, "+ ") : rows_made, set_row);
    each_piece(rg_claim_cell(cases, i, "tables"), set_table);
    rg_comparison q = rg_comparison_of(cases, i, rows());
    if (!*q.scopes) q.scopes = "kernel,device";
    const rg_judgement v = rg_judge(&q);
    char ours[RG_SAY], why[RG_SAY], at[120];
    rg_say_ours(&v, ours);
    rg_say_why(cases, i, &v, why);
    snprintf(at, sizeof at, "%s %s", v.size, v.scope);
    if (strcmp(rg_outcome_name[v.outcome], rg_claim_cell(cases, i, "verdict")))
        fail_msg("%s: found \"%s\": %s; %s", name, rg_outcome_name[v.outcome], ours, why);
    const double number = rg_tsv_number(&cases->claim, i, "value");
    if (!*value ? !isnan(v.value) : *value != '*' && !(fabs(v.value - number) <= 1e-6 * fabs(number)))
        fail_msg("%s: found %.9g: %s; %s", name, v.value, ours, why);
    double from, to;
    if (sscanf(interval, "%lf %lf", &from, &to) == 2)
        assert_true(v.low > from && v.low < v.value && v.high > v.value && v.high < to);
    if (*rg_claim_cell(cases, i, "at")) assert_string_equal(at, rg_claim_cell(cases, i, "at"));
    check_says(name, rg_claim_cell(cases, i, "says"), fmt("%s\n%s", ours, why));
    assert_true(*why);
}

TEST(made_up_rows_have_their_verdicts) {
    RG_FREED char *path = rg_share_path("verify/tests/report/verdicts.tsv");
    rg_claims cases = {0};
    assert_int_equal(rg_tsv_read(path, &cases.claim), RG_GOOD);
    for (int i = 0; i < cases.claim.n_rows; i++) check_case(&cases, i);
    assert_true(cases.claim.n_rows >= 80);
    rg_tsv_free(&cases.claim);
    clear();
}

TEST(shapes_have_their_parts) {
    assert_true(rg_shaped("s500,p200", "s500;p<201", ";"));
    assert_false(rg_shaped("s500,p200", "s500;p>200", ";"));
    assert_true(rg_shaped("s500,p200", "s!420", ","));
    assert_false(rg_shaped("s420,p14440", "s!420", ",")); // of another paper
}

TEST(verdicts_on_numbers) {
    static const struct {
        rg_estimate is;
        double low, high;
        const char *direction;
        rg_outcome outcome;
    } number[] = {{{4, 3.9, 4.1}, 2.8, 5.7, ">1", RG_REPRODUCED}, {{4, 3.9, 4.1}, 1.3, 13, ">1", RG_ORDER}, // half a decade
        {{0.6, 0.59, 0.61}, 0.5, 2, ">0.9", RG_CONTRADICTED}, // between the bounds, on the wrong side
        {{0.95, 0.85, 1.05}, 0.5, 2, ">0.9", RG_NOT_CALLED}, {{4, NAN, NAN}, 2.8, 5.7, ">1", RG_NOT_CALLED},
        {{4, 0, INFINITY}, 2.8, 5.7, ">1", RG_NOT_CALLED},
        {{0.02, 0.02, 0.02}, NAN, 0.01, "", RG_CONTRADICTED}, // no side: the bounds decide
        {{0.2, 0.05, 0.3}, -0.1, 0.1, "", RG_NOT_CALLED}, {{NAN, NAN, NAN}, 1, 2, ">1", RG_NOT_TESTABLE}};
    for (int i = 0; i < RG_COUNT(number); i++)
        assert_int_equal(rg_outcome_of(number[i].is, number[i].low, number[i].high, number[i].direction), number[i].outcome);
}

FIXTURE(set_up) {
    RG_FREED char *claims = rg_share_path("reference/claims.tsv"), *papers = rg_share_path("reference/papers.tsv");
    int code = rg_claims_read(claims, papers, &m.claims);
    clear();
    return code;
}

FIXTURE(tear_down) {
    clear();
    rg_claims_free(&m.claims);
    return 0;
}

TESTS(set_up, tear_down)
