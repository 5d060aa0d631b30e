// SPDX-License-Identifier: MIT
// trace_write.c: writes the table of pairs, and the picture: the faults of each place of inputs and outputs, and the outputs
// that the worst input reached.
//
// A place in the picture has the verdict of its worst fault (the largest sum of differences over all pairs that begin or end
// there) and the size of its largest weight. The axes are the algorithm's coordinates of elements.
#include "trace.h"
#include "../../impl/base/core.h"
#include "../../impl/base/plot.h"
#include "../../impl/base/tsv.h"

void rg_words_print(const int64_t count[RG_TRACE_WORDS], char text[160]) {
    text[0] = 0;
    for (int w = 0; w < RG_TRACE_WORDS; w++)
        if (count[w] || w == RG_W_RIGHT) {
            const size_t used = strlen(text);
            snprintf(text + used, 160 - used, "%s%" PRId64 " %s", used ? ", " : "", count[w], rg_trace_word_name[w]);
        }
}

static void head(FILE *f, const rg_trace_how *how, const char *command) {
    char shape[96], params[192];
    rg_shape_print(how->entry->algo, &how->shape, shape);
    rg_params_print(how->entry->variant, how->param, params);
    fprintf(f, "# regather trace %s\n# command: %s\n# variant: %s:%s\n# idea: %s\n# shape: %s\n# params: %s\n", RG_VERSION,
        command, how->entry->algo->name, how->entry->name, how->entry->variant->idea, shape, params);
}

static int write_pairs(const rg_trace_how *how, const rg_pairs *pairs, const char *stem, const char *command) {
    rg_file file;
    RG_FREED char *path = rg_print("%s.tsv", stem);
    int code = rg_file_open(&file, path);
    if (code) return code;
    head(file.stream, how, command);
    char words[160], hint[200];
    int64_t count[RG_TRACE_WORDS];
    rg_pairs_count(pairs, count);
    rg_words_print(count, words);
    rg_pairs_hint(pairs, hint);
    fprintf(file.stream, "# verdict: %s\n", rg_pairs_verdict(pairs));
    if (pairs->ran.status != RG_PASS)
        rg_tsv_print(file.stream, "# run: %s: %s\n", rg_status_name[pairs->ran.status], pairs->ran.reason);
    fprintf(file.stream, "# pairs: %s\n# in common: %s\n", words, hint);
    fprintf(file.stream, "# input: element of %s, output: element of argument; -1: with no input on\n",
        pairs->algo->arg[rg_traced_argument(pairs->algo)].name);
    fprintf(file.stream, "input\tinput_at\targument\toutput\toutput_at\tweight\texpected\tverdict\n");
    for (int64_t i = 0; i < pairs->n; i++) {
        const rg_trace_pair *p = &pairs->pair[i];
        rg_place in, out;
        rg_place_of(pairs->algo, &pairs->shape, rg_traced_argument(pairs->algo), p->input, &in);
        rg_place_of(pairs->algo, &pairs->shape, p->which, p->output, &out);
        fprintf(file.stream, "%" PRId64 "\t%s\t%s\t%" PRId64 "\t%s\t%.9g\t%.9g\t%s\n", p->input, in.text,
            pairs->algo->arg[p->which].name, p->output, out.text, p->weight, p->expected, rg_trace_word_name[p->word]);
    }
    return rg_file_commit(&file);
}

// ---- axes ----------------------------------------------------------------------------------------------------------------

enum { OUT_AXES = 3, IN_AXES = 2 };
typedef struct axes {
    int n[2]; // of inputs, of outputs
    char name[2][OUT_AXES][12];
} axes;

static void axes_of_output(const rg_pairs *pairs, axes *a) {
    rg_place place;
    for (int k = 0; k < pairs->algo->n_args && a->n[1] == 0; k++) {
        if (pairs->algo->arg[k].direction == RG_IN || pairs->algo->arg[k].count(&pairs->shape) == 0) continue;
        rg_place_of(pairs->algo, &pairs->shape, k, 0, &place);
        a->n[1] = place.n < OUT_AXES ? place.n : OUT_AXES;
        memcpy(a->name[1], place.name, (size_t)a->n[1] * sizeof place.name[0]);
    }
}

// Uses the last two coordinates of an input; points that differ only in others (the image) coincide.
static void axes_of_input(const rg_pairs *pairs, axes *a) {
    rg_place place;
    rg_place_of(pairs->algo, &pairs->shape, rg_traced_argument(pairs->algo), 0, &place);
    a->n[0] = place.n < IN_AXES ? place.n : IN_AXES;
    for (int c = 0; c < a->n[0]; c++) memcpy(a->name[0][c], place.name[place.n - a->n[0] + c], sizeof place.name[0]);
}

// ---- points --------------------------------------------------------------------------------------------------------------

enum { INPUT, OUTPUT, ONE, SIDES }; // ONE: an output of the worst input
static const char *const side_name[SIDES] = {"input", "output", "one"};

typedef struct point {
    int64_t at[1 + OUT_AXES]; // side, coordinates
    rg_trace_word word;
    double size, difference, largest[RG_TRACE_WORDS], differences[RG_TRACE_WORDS];
    int64_t pairs[RG_TRACE_WORDS];
} point;

typedef struct points {
    point *item;
    int64_t n;
} points;

static int by_place(const void *a, const void *b) {
    const point *p = a, *q = b;
    for (int c = 0; c <= OUT_AXES; c++)
        if (p->at[c] != q->at[c]) return p->at[c] < q->at[c] ? -1 : 1;
    return 0;
}

static double difference(const rg_trace_pair *p) {
    return isnan(p->weight) ? fabs(p->expected) : fabs(p->weight - p->expected);
}

// fmax ignores the NaN of a weight never written.
static double size(const rg_trace_pair *p) { return fmax(fabs(p->weight), fabs(p->expected)); }

// The input with the largest sum of wrong differences; if all are right, the one with most weight.
static int64_t worst_input(const rg_pairs *pairs) {
    int64_t worst = -1;
    double most[2] = {-1, -1};
    for (int64_t i = 0; i < pairs->n;) {
        const int64_t input = pairs->pair[i].input;
        double sum[2] = {0, 0};
        for (; i < pairs->n && pairs->pair[i].input == input; i++) {
            sum[0] += pairs->pair[i].word != RG_W_RIGHT ? difference(&pairs->pair[i]) : 0;
            sum[1] += size(&pairs->pair[i]);
        }
        if (input >= 0 && (sum[0] > most[0] || (sum[0] == most[0] && sum[1] > most[1]))) {
            worst = input;
            memcpy(most, sum, sizeof most);
        }
    }
    return worst;
}

static void add(const rg_pairs *pairs, const rg_trace_pair *pair, int side, const axes *a, points *to) {
    const bool in = side == INPUT;
    rg_place place;
    point p = {.at = {side}, .word = pair->word, .size = size(pair), .difference = difference(pair)};
    rg_place_of(pairs->algo, &pairs->shape, in ? rg_traced_argument(pairs->algo) : pair->which, in ? pair->input : pair->output,
        &place);
    bool placed = a->n[!in] > 0;
    for (int c = 0; c < a->n[!in]; c++) placed &= rg_place_get(&place, a->name[!in][c], &p.at[1 + c]);
    if (placed) to->item[to->n++] = p;
}

static void merge(point *to, const point *p) {
    to->pairs[p->word]++;
    to->differences[p->word] += p->difference;
    to->largest[p->word] = fmax(to->largest[p->word], p->size);
    to->word = RG_W_RIGHT;
    // The difference is 0 for an output never written where 0 is right.
    for (int w = 1; w < RG_TRACE_WORDS; w++)
        if (to->pairs[w] && (!to->word || to->differences[w] > to->differences[to->word])) to->word = (rg_trace_word)w;
    to->size = to->largest[to->word];
}

static points points_of(const rg_pairs *pairs, const axes *a, int64_t worst) {
    points p = {.item = rg_alloc((size_t)(SIDES * pairs->n + 1) * sizeof *p.item)};
    int64_t last = -1;
    for (int64_t i = 0; i < pairs->n; i++)
        for (int side = INPUT; side <= (pairs->pair[i].input == worst ? ONE : OUTPUT); side++)
            add(pairs, &pairs->pair[i], side, a, &p);
    qsort(p.item, (size_t)p.n, sizeof *p.item, by_place);
    for (int64_t i = 0; i < p.n; i++) {
        const point one = p.item[i];
        if (last < 0 || by_place(&p.item[last], &one)) p.item[++last] = one;
        merge(&p.item[last], &one);
    }
    p.n = last + 1;
    return p;
}

// The slice of an axis, on one side, with most of the faults; without faults, with most of the weight.
static int64_t slice(const points *p, int side, int axis) {
    int64_t best = 0;
    double most[2] = {0, 0};
    for (int64_t i = 0; i < p->n; i++) {
        double sum[2] = {0, 0};
        const int64_t at = p->item[i].at[1 + axis];
        for (int64_t j = 0; j < p->n; j++)
            if (p->item[i].at[0] == side && p->item[j].at[0] == side && p->item[j].at[1 + axis] == at)
                sum[p->item[j].word == RG_W_RIGHT] += p->item[j].size;
        if (sum[0] > most[0] * (1 + 1e-9) || (most[0] == 0 && sum[1] > most[1] * (1 + 1e-9))) {
            memcpy(most, sum, sizeof most);
            best = at;
        }
    }
    return best;
}

static int write_points(const rg_trace_how *how, const points *p, const char *path, const char *command) {
    rg_file file;
    double largest = 0;
    for (int64_t i = 0; i < p->n; i++) largest = fmax(largest, p->item[i].size);
    int code = rg_file_open(&file, path);
    if (code) return code;
    head(file.stream, how, command);
    fprintf(file.stream, "side\ta\tb\tc\tsize\tverdict\n");
    for (int64_t i = 0; i < p->n; i++)
        fprintf(file.stream, "%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%.4g\t%s\n", side_name[p->item[i].at[0]],
            p->item[i].at[1], p->item[i].at[2], p->item[i].at[3], p->item[i].size / largest,
            rg_trace_word_name[p->item[i].word]);
    return rg_file_commit(&file);
}

// ---- the picture ---------------------------------------------------------------------------------------------------------

static int draw(const rg_trace_how *how, const rg_pairs *pairs, const axes *a, const points *p, int64_t worst, const char *stem,
    const char *data, const char *object) {
    char shape[96], hint[200], never[200], counts[160];
    int64_t count[RG_TRACE_WORDS];
    rg_shape_print(pairs->algo, &pairs->shape, shape);
    rg_pairs_hint(pairs, hint);
    rg_pairs_never(pairs, never);
    RG_FREED char *says = hint[0] ? rg_print("All faults have in common: %s", hint)
        : never[0]                ? rg_print("No pair is right at: %s", never)
                                  : rg_print("%s", "");
    rg_pairs_count(pairs, count);
    rg_words_print(count, counts);
    const char *names[OUT_AXES + IN_AXES] = {"", "", "", "", ""};
    for (int c = 0; c < a->n[1]; c++) names[c] = a->name[1][c];
    for (int c = 0; c < a->n[0]; c++) names[OUT_AXES + c] = a->name[0][c];
    double slices[2 * OUT_AXES];
    for (int k = 0; k < 2 * OUT_AXES; k++) slices[k] = (double)slice(p, k < OUT_AXES ? OUTPUT : ONE, k % OUT_AXES);
    RG_FREED char *title = rg_print("%s: %s", how->entry->variant->name, rg_pairs_verdict(pairs));
    RG_FREED char *detail = rg_print("%s, %s, %" PRId64 " input%s one at a time: %s", pairs->algo->name, shape, pairs->n_inputs,
        rg_plural(pairs->n_inputs), counts);
    rg_place one;
    rg_place_of(pairs->algo, &pairs->shape, rg_traced_argument(pairs->algo), worst, &one);
    int code = RG_GOOD;
    for (int png = 0; png < 2 && code == RG_GOOD; png++) {
        RG_FREED char *to = rg_print("%s.%s", stem, png ? "png" : "svg");
        rg_plot plot = {0};
        rg_plot_path(&plot, "DATA", data);
        rg_plot_text(&plot, "TITLE", title);
        rg_plot_text(&plot, "DETAIL", detail);
        rg_plot_text(&plot, "HINT", says);
        rg_plot_texts(&plot, "AXES", OUT_AXES + IN_AXES, names);
        rg_plot_numbers(&plot, "SLICES", 2 * OUT_AXES, slices);
        if (object) rg_plot_path(&plot, "OBJECT", object);
        rg_plot_text(&plot, "INPUT", one.text);
        code = rg_plot_draw(&plot, "trace.gp", to);
    }
    return code;
}

// Removes the picture of an earlier run if there are no pairs.
static int remove_picture(const char *stem) {
    for (int png = 0; png < 2; png++) {
        RG_FREED char *path = rg_print("%s.%s", stem, png ? "png" : "svg");
        unlink(path);
    }
    return RG_GOOD;
}

int rg_trace_write(const rg_trace_how *how, const rg_pairs *pairs, const char *stem, const char *object, const char *command) {
    axes a = {.n = {0, 0}};
    axes_of_output(pairs, &a);
    axes_of_input(pairs, &a);
    const int64_t worst = worst_input(pairs);
    points p = points_of(pairs, &a, worst);
    RG_FREED char *data = rg_print("%s.points.tsv", stem);
    int code = write_pairs(how, pairs, stem, command);
    if (!code) code = write_points(how, &p, data, command);
    if (!code) code = p.n > 0 ? draw(how, pairs, &a, &p, worst, stem, data, object) : remove_picture(stem);
    free(p.item);
    return code;
}
