// SPDX-License-Identifier: MIT
// trace_cmd.c: the command `regather trace`.
#include "trace.h"
#include "../../impl/base/options.h"
#include "../../impl/base/tsv.h"

typedef struct session {
    rg_given given;
    const char *shape, *params, *input_text, *output_text, *out;
    bool cases, real_space;
    double limit_s;

    rg_filter input, output;
    rg_verify_options how;
    int traced, lacking, wrong;
} session;

static const rg_option options[] = {
    {"shape", "TEXT", "at this shape, as in s9,i1,o1,b19,k1", RG_TO(session, shape), .otherwise = "the algorithm's"},
    {"params", "TEXT", "with these parameters, as in block=128;lines=2", RG_TO(session, params)},
    {"input", "AT", "only the inputs there, as in x=2,y=-1 (all that have these coordinates)", RG_TO(session, input_text)},
    {"output", "AT", "only the outputs there, as in x=0: which inputs reach them", RG_TO(session, output_text)},
    {"cases", NULL, "step through small shapes and the corners of each; one row a case", RG_TO(session, cases),
        .excludes = "input output shape"},
    {"real-space", NULL, "the map of a known object too, beside the right one", RG_TO(session, real_space), .needs = "out"},
    {"limit", "S", "time limit of one run", RG_TO(session, limit_s), 0.01L, 1e6L, "30", "seconds"},
    {"out", "DIR", "write the pairs (NAME.tsv) and their picture (NAME.svg, NAME.png) there", RG_TO(session, out)},
    {0},
};

static int read_options(session *s) {
    char why[160];
    // The seed sets the emulated GPU's order of threads.
    s->how = (rg_verify_options){.device = s->given.device, .seed = s->given.seed, .limit_s = s->limit_s};
    if (!rg_filter_parse(s->input_text, &s->input, why)) return rg_fail(RG_USAGE, "--input: %s", why);
    if (!rg_filter_parse(s->output_text, &s->output, why)) return rg_fail(RG_USAGE, "--output: %s", why);
    return RG_GOOD;
}

static bool does(const rg_entry *e, const rg_shape *shape, const int64_t *param) {
    return !(e->algo->invalid && e->algo->invalid(shape)) && !(e->variant->refuse && e->variant->refuse(shape, param));
}

// The first shape that the variant accepts: the algorithm's for tracing, those of its cases, the first check shape with 50
// inputs or more; else the first of all.
static rg_shape standard_shape(const rg_entry *e, const int64_t *param) {
    const rg_algo *algo = e->algo;
    const int which = rg_traced_argument(algo);
    if (algo->trace && does(e, &algo->trace->shape, param)) return algo->trace->shape;
    for (int i = 0; algo->trace && i < algo->trace->n_case_shapes; i++)
        if (does(e, &algo->trace->case_shape[i], param)) return algo->trace->case_shape[i];
    for (int i = 0; i < algo->n_check_shapes; i++)
        if (algo->arg[which].count(&algo->check_shape[i]) >= 50 && does(e, &algo->check_shape[i], param))
            return algo->check_shape[i];
    return algo->trace ? algo->trace->shape : algo->check_shape[0];
}

static int read_how(const session *s, const rg_entry *e, rg_trace_how *how) {
    char why[160];
    const char *shape = s->shape, *params = s->params;
    *how = (rg_trace_how){.entry = e, .options = s->how, .threads = s->given.threads ? (int)s->given.threads : 1};
    rg_params_standard(e->variant, how->param);
    if (params && !rg_params_parse(e->variant, params, how->param, why))
        return rg_fail(RG_USAGE, "%s --params %s: %s", e->name, params, why);
    how->shape = standard_shape(e, how->param);
    if (shape && !rg_shape_parse(e->algo, shape, &how->shape, why)) return rg_fail(RG_USAGE, "--shape %s: %s", shape, why);
    const char *invalid = e->algo->invalid ? e->algo->invalid(&how->shape) : NULL;
    if (invalid) return rg_fail(RG_USAGE, "--shape %s: %s", shape ? shape : "", invalid);
    if (s->real_space && !(e->algo->trace && e->algo->trace->fill_object))
        return rg_fail(RG_USAGE, "trace: %s has no object for --real-space", e->algo->name);
    return RG_GOOD;
}

// Finds the outputs of this input where its weight is expected: one, or two in symmetric sums. Returns their number, 0 if more.
static int rightful(const rg_pairs *pairs, const rg_trace_pair *p, const rg_trace_pair *found[2]) {
    int n = 0;
    for (int64_t i = 0; i < pairs->n && p->word == RG_W_MISPLACED && p->weight != 0; i++) {
        const rg_trace_pair *o = &pairs->pair[i];
        if (o->input != p->input || o->which != p->which || o->output == p->output ||
            !(fabs(o->expected - p->weight) <= 1e-6 * fabs(p->weight)))
            continue;
        if (n == 2) return 0;
        found[n++] = o;
    }
    return n;
}

static void print_fault(const rg_pairs *pairs, const rg_trace_pair *p) {
    const int traced = rg_traced_argument(pairs->algo);
    rg_place in, out;
    char hint[200], weight[32] = "not a number";
    if (!isnan(p->weight)) snprintf(weight, sizeof weight, "%.7g", p->weight);
    rg_place_of(pairs->algo, &pairs->shape, traced, p->input, &in);
    rg_place_of(pairs->algo, &pairs->shape, p->which, p->output, &out);
    printf("    first: %s(%s) -> %s(%s): weight %s, expected %.7g: %s", pairs->algo->arg[traced].name, in.text,
        pairs->algo->arg[p->which].name, out.text, weight, p->expected, rg_trace_word_name[p->word]);
    const rg_trace_pair *found[2];
    const int right = rightful(pairs, p, found);
    for (int i = 0; i < right; i++) {
        rg_place_of(pairs->algo, &pairs->shape, found[i]->which, found[i]->output, &out);
        printf("%s(%s)", i ? " or " : "; that is right for ", out.text);
    }
    printf("\n");
    rg_pairs_hint(pairs, hint);
    if (hint[0]) {
        printf("    all faults have in common: %s\n", hint);
        return;
    }
    rg_pairs_never(pairs, hint);
    if (hint[0]) printf("    no pair is right at: %s\n", hint);
}

static void print_pairs(session *s, const rg_trace_how *how, const rg_pairs *pairs) {
    char shape[192], words[160];
    int64_t count[RG_TRACE_WORDS];
    const rg_trace_pair *fault = rg_pairs_first(pairs);
    const bool ran = pairs->ran.status == RG_PASS;
    rg_shape_describe(pairs->algo, &pairs->shape, shape);
    rg_pairs_count(pairs, count);
    rg_words_print(count, words);
    printf("%s:%s  %s  %" PRId64 " input%s: %s%s%s (%s)\n", pairs->algo->name, how->entry->name, shape, pairs->n_inputs,
        rg_plural(pairs->n_inputs), rg_colour(stdout, fault || !ran ? "red" : "green"), rg_pairs_verdict(pairs),
        rg_colour(stdout, "off"), words);
    if (!ran) printf("    %s: %s\n", rg_status_name[pairs->ran.status], pairs->ran.reason);
    if (fault) print_fault(pairs, fault);
    s->wrong += fault || (!ran && pairs->ran.status != RG_SKIP);
    s->traced += pairs->ran.status != RG_SKIP;
}

static int write_pairs(const session *s, const rg_trace_how *how, const rg_pairs *pairs, const char *stem) {
    double rms_percent;
    RG_FREED char *object = NULL;
    int code = RG_GOOD;
    if (s->real_space) {
        code = rg_trace_object_write(how, stem, &rms_percent);
        if (code == RG_GOOD) {
            object = rg_print("%s.object.tsv", stem);
            if (isnan(rms_percent))
                printf("    the object's map has values that are not a number\n");
            else
                printf("    the object's map differs by %.3g %% of its rms from the right one\n", rms_percent);
        }
    }
    if (code == RG_GOOD || code == RG_WRONG) code = rg_trace_write(how, pairs, stem, object, s->given.line);
    if (!code) rg_tsv_print(stdout, "    written: %s.tsv\n", stem);
    return code;
}

// Whether the words name more than one algorithm: two may have variants of the same name.
static bool several(const rg_list *words) {
    for (int i = 1; i < words->n; i++) {
        const size_t algo = strcspn(words->item[0], ":");
        if (strcspn(words->item[i], ":") != algo || strncmp(words->item[i], words->item[0], algo) != 0) return true;
    }
    return false;
}

// The stem of the output files: DIR/gather; for a plug-in's "mine.so:gather" DIR/mine-gather, for "mine.so:mine_gather"
// DIR/mine_gather; with several algorithms, DIR/gridding-gather.
static char *stem_of(const session *s, const rg_entry *e) {
    const char *so = strstr(e->name, ".so:");
    const int n = so ? (int)(so - e->name) : 0;
    const bool same = so && strncmp(e->name, so + 4, (size_t)n) == 0;
    const bool algo = several(&s->given.word), file = so && !same;
    return rg_print("%s/%s%s%.*s%s%s", s->out, algo ? e->algo->name : "", algo ? "-" : "", file ? n : 0, e->name,
        file ? "-" : "", so ? so + 4 : e->name);
}

static int trace_variant(session *s, const rg_entry *e) {
    rg_trace_how how;
    RG_ENDS(rg_pairs_free) rg_pairs pairs = {0};
    int64_t wrong = 0;
    const char *lacks = rg_unavailable(e);
    int code = read_how(s, e, &how);
    if (!code && lacks) {
        printf("%s:%s  not here: %s\n", e->algo->name, e->name, lacks);
        s->lacking++;
        return RG_GOOD;
    }
    RG_FREED char *stem = s->out ? stem_of(s, e) : NULL;
    if (!code && s->cases) {
        code = rg_trace_cases(how, stem, s->given.line, &wrong);
        s->wrong += wrong > 0;
        s->traced++;
    } else if (!code && !(code = rg_trace_run(&how, &s->input, &s->output, &pairs))) {
        rg_trace_stand_in(&how, &pairs);
        print_pairs(s, &how, &pairs);
        code = stem && pairs.ran.status != RG_SKIP ? write_pairs(s, &how, &pairs, stem) : RG_GOOD;
    }
    return code;
}

static int trace_chosen(session *s, const char *pattern) {
    const char *device = s->given.device_typed;
    int code = rg_pattern_check(pattern, device), chosen = 0;
    if (!code && s->out) code = rg_make_folder(s->out);
    for (const rg_entry *e = NULL; !code && (e = rg_entry_next(e, pattern, device));)
        if (rg_on_device(e, device)) {
            chosen++;
            code = trace_variant(s, e);
            fflush(stdout);
        }
    if (!code && !chosen) code = rg_fail(RG_USAGE, "no variant of \"%s\" runs on device %s", pattern, device ? device : "gpu");
    return code;
}

static int run(void *of) {
    session *s = of;
    int code = read_options(s);
    if (!code) code = rg_trace_open();
    for (int i = 0; i < s->given.word.n && !code; i++) code = trace_chosen(s, s->given.word.item[i]);
    rg_verify_end();
    if (code) return code;
    if (s->wrong) return RG_WRONG;
    if (s->traced) return RG_GOOD;
    return s->lacking
        ? RG_LACKS
        : rg_fail(RG_USAGE, "nothing was traced: the variant refuses the shape, see above; --shape takes another");
}

const rg_command rg_cmd_trace = {
    .name = "trace",
    .words = "ALGO[:VARIANT]...",
    .summary = "which outputs one input reaches, with which weights, and which it should",
    .help = "Switches on one input at a time (gridding: one pixel, as 1 + 0i and 0 + 1i; autocorr: one pixel of one\n"
            "photograph, the other photograph position-coded) and compares the change of the outputs with the\n"
            "reference. Each pair of input and output is right, missing, doubled, misplaced (something where nothing\n"
            "belongs, or what belongs elsewhere), or has another weight. Prints the number of each, the coordinates of\n"
            "the first fault, and what all faults have in common, or where no pair is right. The variant runs in the\n"
            "checker's child process, so plug-ins and kernels that write out of bounds are safe to trace; an access\n"
            "outside the arguments counts as a fault. Faults that need several inputs at once, such as an overflow, are\n"
            "seen by verify alone, and races may be.\n\n"
            "--out DIR writes NAME.tsv, one row a pair (columns input, input_at, argument, output, output_at, weight,\n"
            "expected, verdict), and a picture of it in three dimensions and three slices, NAME.svg and NAME.png.\n"
            "gnuplot draws it from NAME.points.tsv (columns side, a, b, c, size, verdict), and so can you. NAME is the\n"
            "variant's name, or ALGO-VARIANT where several algorithms are traced.\n\n"
            "--output AT keeps the pairs of these outputs: the inputs that reach them. --cases steps through small odd\n"
            "and even sides and their corners. --real-space also inserts an object of known shape and shows its map\n"
            "beside the right one.\n\n"
            "Exit codes: 0 every pair is right; 1 some pair is not; 4 nothing can run on this machine.",
    .option = options,
    .bytes = sizeof(session),
    .run = run,
};
