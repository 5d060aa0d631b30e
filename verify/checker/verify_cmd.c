// SPDX-License-Identifier: MIT
// verify_cmd.c: the command `regather verify`.
#include "checker.h"
#include "../../impl/base/options.h"
#include "../../impl/base/tsv.h"

// A variant is given up once its crashes and timeouts have taken this many time limits.
static const double GIVE_UP_RUNS = 2;
// The emulated GPU is slow: after the first cases of a plan, a case is left out if, judged by the cases before it, it would
// take the variant past this number of memory accesses. The number is the same in every run, on every machine. A variant that
// starts a program for every run gets PROGRAM_CASES cases.
static const double EMULATED_ACCESSES = 200e6;
enum { PROGRAM_CASES = 24 };
static const double LIMIT_S = 30; // default of --limit, also in the options below
// A variant is not checked if less than this part of the shapes and of the pairs of values ran. All values and kinds must run,
// and everything if the part is 1.
static double least_part(const rg_entry *e) { return e->emulated || rg_starts_program(e->variant) ? 0.125 : 1; }

// A bound this many times larger than the largest error is printed with its reason.
static const double SLACK = 30;

typedef struct session {
    rg_given given;
    const char *shape_text, *params, *out, *expect;
    int pattern;    // an rg_pattern; -1: all
    int thresholds; // 0: none, 1: check, 2: deep; -1: as without the option
    bool no_refuse, verbose, stop;
    double limit_s;

    rg_verify_options how;
    rg_narrow narrow;
    rg_shape shape;
    FILE *rows;
    const rg_algo *drawn_for; // the algorithm whose drawn shapes were printed last
    rg_progress progress;
    int count[RG_STATUSES];
    bool lacking; // something was skipped because a device, a library or memory is missing
} session;

static const rg_option options[] = {
    {"shape", "TEXT", "only this shape, as in w257,h131,r2,k0 or width=257,height=131,max-offset=2,kind=plain",
        RG_TO(session, shape_text)},
    {"smoke", NULL, "check at the few small shapes of the algorithm's smoke test only", RG_TO(session, narrow.smoke)},
    {"thresholds", "none|check|deep",
        "sizes of verify/thresholds.tsv, at which code takes another path: none of them, or only\n"
        "those that every run takes, or only those that take long",
        RG_TO(session, thresholds)},
    {"params", "TEXT", "only these parameters, as in block=128;lines=2", RG_TO(session, params)},
    {"pattern", "position|random|maximum|extreme", "only these inputs", RG_TO(session, pattern)},
    {"limit", "S", "time limit of one run", RG_TO(session, limit_s), 0.01L, 1e6L, "30", "seconds"},
    {"no-refuse", NULL, "also run what a variant refuses, to show why", RG_TO(session, no_refuse)},
    {"stop", NULL, "end each variant at its first failure", RG_TO(session, stop)},
    {"out", "F.tsv", "write one row a case", RG_TO(session, out)},
    {"verbose", NULL, "one line a case", RG_TO(session, verbose)},
    {"expect", "F.tsv", "require that each plug-in kernel gets the status and reason in this table", RG_TO(session, expect)},
    {0},
};

// The results of a variant.
typedef struct summary {
    int count[RG_STATUSES];
    rg_coverage covered;
    bool uncovered;
    int not_run;                               // cases left out after giving up
    double error, tol, slack, seconds, lost_s; // slack: the least bound / error; 0: no error
    const char *bound;                         // the reason for the bound there
    bool has_fault, has_wrong;
    rg_case at, smallest; // of the first fault, and of the wrong values with the fewest inputs
    rg_verdict fault, skip;
} summary;

// A shape with more inputs is traced along the first coordinate only, through the middle of the others.
static const int64_t TRACED_MOST = 1000;

static const char *device_of(const session *s, const rg_entry *e) {
    return e->variant->space == RG_HOST ? "cpu" : e->emulated ? "host" : s->how.device;
}

static bool failed(rg_status status) { return status == RG_FAIL || status == RG_CRASH || status == RG_TIMEOUT; }

static const char *colour_of(rg_status status) {
    return rg_colour(stdout, status == RG_PASS ? "green" : status == RG_SKIP ? "yellow" : "red");
}

// ---- rows ----------------------------------------------------------------------------------------------------------------

static void row(session *s, const rg_entry *e, const rg_case *c, const rg_verdict *v, double seconds) {
    char shape[96] = "-", params[192] = "-";
    if (c) {
        rg_shape_print(e->algo, &c->shape, shape);
        rg_params_print(e->variant, c->param, params);
    }
    if (s->rows)
        rg_tsv_print(s->rows, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%.17g\t%.17g\t%.6f\t%s\n", e->algo->name, e->name, shape, params,
            c ? c->threads : 0, device_of(s, e), rg_status_name[v->status], v->error, v->tol, seconds, v->reason);
    if (s->verbose)
        printf("  %s%-7s%s %s:%s %s %s threads %d  %.3f s  %s\n", colour_of(v->status), rg_status_name[v->status],
            rg_colour(stdout, "off"), e->algo->name, e->name, shape, params, c ? c->threads : 0, seconds, v->reason);
}

static void head(const session *s) {
    fprintf(s->rows, "# regather verify %s\n# command: %s\n# seed: %" PRIu64 "\n# limit_s: %g\n", RG_VERSION, s->given.line,
        s->how.seed, s->how.limit_s);
    fprintf(s->rows, "algo\tvariant\tshape\tparams\tthreads\tdevice\tstatus\terror\ttol\tseconds\treason\n");
}

// ---- the command that repeats a case -------------------------------------------------------------------------------------

// Prints `regather verify` or `trace` with this case as options. input: "y=16", "" for all.
static void print_command(const session *s, const char *command, const char *input, const rg_entry *e, const rg_case *c) {
    char shape[96], params[192];
    const char *label = strcmp(command, "verify") ? command : "repeat";
    rg_shape_print(e->algo, &c->shape, shape);
    rg_params_print(e->variant, c->param, params);
    char *variant = rg_print("%s:%s", e->algo->name, e->name); // contains the file name of a plug-in, so it may need quotes
    printf("    %s: regather %s ", label, command);
    rg_put_word(stdout, variant);
    printf(" --shape %s", shape);
    free(variant);
    if (e->variant->n_params) printf(" --params '%s'", params);
    if (*input) printf(" --input %s", input);
    printf(" --threads %d --seed %" PRIu64, c->threads, s->how.seed);
    if (e->variant->space == RG_DEVICE) printf(" --device %s", device_of(s, e));
    if (s->how.no_refuse) printf(" --no-refuse");
    if (s->limit_s != LIMIT_S) printf(" --limit %g", s->limit_s);
    if (e->plugin) {
        printf(" --plugin ");
        rg_put_word(stdout, e->plugin);
    }
    printf("\n");
}

// ---- one variant ---------------------------------------------------------------------------------------------------------

static int64_t inputs_of(const rg_entry *e, const rg_case *c) {
    return e->algo->arg[rg_traced_argument(e->algo)].count(&c->shape);
}

static void take(session *s, summary *sum, const rg_entry *e, const rg_case *c, const rg_verdict *v, double seconds) {
    row(s, e, c, v, seconds);
    sum->count[v->status]++;
    s->count[v->status]++;
    sum->seconds += seconds;
    if (v->status == RG_CRASH || v->status == RG_TIMEOUT) sum->lost_s += seconds;
    const bool fails = failed(v->status);
    s->lacking |= v->lacks;
    if (v->status == RG_SKIP)
        sum->skip = *v;
    else if (fails != sum->has_fault ? fails : v->error > sum->error || (v->error == sum->error && v->tol > sum->tol)) {
        sum->error = v->error;
        sum->tol = v->tol;
    }
    const double slack = v->status == RG_PASS && v->error > 0 ? v->tol / v->error : 0;
    if (slack > 0 && (sum->slack == 0 || slack < sum->slack)) {
        sum->slack = slack;
        sum->bound = rg_tolerance_of(e, &c->shape, c->param).reason;
    }
    if (fails && !sum->has_fault) {
        sum->has_fault = true;
        sum->at = *c;
        sum->fault = *v;
    }
    if (v->status == RG_FAIL && !v->of_many && (!sum->has_wrong || inputs_of(e, c) < inputs_of(e, &sum->smallest))) {
        sum->has_wrong = true;
        sum->smallest = *c;
    }
}

static void print_trace(const session *s, const rg_entry *e, const rg_case *c) {
    const int64_t n = inputs_of(e, c);
    char middle[64] = "", *others = middle;
    if (n > TRACED_MOST) {
        if (!e->algo->where) return;
        e->algo->where(&c->shape, rg_traced_argument(e->algo), n / 2, middle); // "(x=32,y=16)"
        others = strchr(middle, ',') ? strchr(middle, ',') + 1 : middle + 1;
        others[strcspn(others, ")")] = '\0';
    }
    print_command(s, "trace", others, e, c);
}

// Whether a plug-in's own bound is looser than the one used: the tighter of its own and the algorithm's.
static bool asks_for_more(const rg_entry *e, const rg_case *c) {
    if (!e->variant->tolerance) return false;
    const rg_tolerance own = e->variant->tolerance(&c->shape, c->param), used = rg_tolerance_of(e, &c->shape, c->param);
    return own.kind != used.kind || own.absolute > used.absolute || own.relative > used.relative;
}

static void report(const session *s, const rg_entry *e, const summary *sum, const rg_plan *plan) {
    rg_status worst = RG_PASS;
    if (sum->has_fault)
        worst = sum->fault.status;
    else if (sum->uncovered)
        worst = RG_FAIL;
    else if (!sum->count[RG_PASS])
        worst = RG_SKIP;
    char name[160];
    snprintf(name, sizeof name, "%s:%s", e->algo->name, e->name);
    printf("%s%-7s%s %-34s", colour_of(worst), rg_status_name[worst], rg_colour(stdout, "off"), name);
    for (int k = 0; k < RG_STATUSES; k++)
        if (sum->count[k]) printf("  %d %s", sum->count[k], rg_status_name[k]);
    if (sum->error > 0 || (sum->count[RG_PASS] && !sum->has_fault)) // a fault can come before any comparison
        printf("  error %.3g, bound %.3g", sum->error, sum->tol);
    if (sum->count[RG_PASS] || sum->count[RG_FAIL]) printf("  %.1f s", sum->seconds);
    if (sum->count[RG_SKIP]) printf("  (%s%s)", sum->count[RG_SKIP] > 1 ? "skipped last: " : "", sum->skip.reason);
    printf("\n");
    if (sum->slack > SLACK) printf("    slack %.0f: %s\n", sum->slack, sum->bound ? sum->bound : "its bound says no reason");
    const rg_coverage *c = &sum->covered, *of = &plan->all;
    if (of->cases)
        printf("    covered: %d of %d values, %d of %d pairs of values, %d of %d kinds, %d of %d shapes, %d of %d cases\n",
            c->values, of->values, c->pairs, of->pairs, c->kinds, of->kinds, c->shapes, of->shapes, c->cases, of->cases);
    if (sum->uncovered)
        printf("    too little for a PASS: all values and kinds and %.0f %% of the pairs and shapes are asked for\n",
            100 * least_part(e));
    if (sum->not_run) printf("    not run: %d cases, after %.3g s in crashes and endless runs\n", sum->not_run, sum->lost_s);
    if (!sum->has_fault) return;
    char shape[192];
    rg_shape_describe(e->algo, &sum->at.shape, shape);
    printf("    %s at %s, threads %d: %s\n", rg_status_name[sum->fault.status], shape, sum->at.threads, sum->fault.reason);
    if (sum->fault.status == RG_FAIL && sum->fault.error > 0 && asks_for_more(e, &sum->at))
        printf("    its own bound is wider than that of %s, which is what counts of a plug-in\n", e->algo->name);
    print_command(s, "verify", "", e, &sum->at);
    if (sum->has_wrong && !s->how.no_refuse) // trace does not run what a variant refuses
        print_trace(s, e, &sum->smallest);
}

static void judge_coverage(session *s, const rg_entry *e, const rg_plan *plan, const bool *ran, summary *sum) {
    const rg_coverage *of = &plan->all, *c = &sum->covered;
    if (!of->cases) return;
    sum->covered = rg_plan_coverage(plan, e, ran);
    sum->uncovered = c->values < of->values || c->kinds < of->kinds || c->pairs < least_part(e) * of->pairs ||
        c->shapes < least_part(e) * of->shapes;
    s->count[RG_FAIL] += sum->uncovered && !sum->has_fault;
}

// Prints the drawn shapes, once for an algorithm.
static void print_drawn(session *s, const rg_entry *e, const rg_plan *plan) {
    bool any = false;
    for (int i = 0; i < plan->n && s->drawn_for != e->algo; i++) {
        char shape[96];
        if (!plan->item[i].drawn) continue;
        rg_shape_print(e->algo, &plan->item[i].shape, shape);
        printf("%s%s", any ? " " : "drawn from the seed: ", shape);
        any = true;
    }
    printf("%s", any ? "\n" : "");
    s->drawn_for = e->algo;
}

static void check_variant(session *s, const rg_entry *e) {
    summary sum = {0};
    RG_ENDS(rg_plan_free) rg_plan plan = {0};
    const char *lacks = rg_unavailable(e);
    if (lacks) {
        rg_verdict v = {.status = RG_SKIP, .lacks = true};
        snprintf(v.reason, sizeof v.reason, "%s", lacks);
        take(s, &sum, e, NULL, &v, 0);
    } else {
        rg_plan_make(&plan, e, &s->narrow, s->how.seed);
        print_drawn(s, e, &plan);
    }
    bool *ran = rg_alloc((size_t)plan.n * sizeof *ran + 1);
    const double give_up_s = GIVE_UP_RUNS * s->limit_s;
    double accesses = 0, each = 0; // accesses so far, and accesses for a unit of work in the last case
    rg_progress_begin(&s->progress, e->name, "cases", plan.n);
    for (int i = 0; i < plan.n; i++) {
        ran[i] = false;
        sum.not_run += sum.lost_s >= give_up_s;
        const double work = e->algo->work(&plan.item[i].shape);
        if ((i >= plan.first && accesses + each * work > EMULATED_ACCESSES) || (s->stop && sum.has_fault) ||
            sum.lost_s >= give_up_s)
            continue;
        rg_verify_options how = s->how;
        how.patterns = rg_patterns_of(e, &plan.item[i], how.patterns);
        how.once = plan.item[i].patterns != 0;
        how.single = plan.item[i].any;
        const double began_s = rg_seconds();
        const rg_verdict v = rg_verify_case(e, &plan.item[i].shape, plan.item[i].param, plan.item[i].threads, &how);
        ran[i] = v.status != RG_SKIP;
        if (!plan.item[i].patterns) // thresholds do not count against the budget
            accesses += rg_starts_program(e->variant) ? EMULATED_ACCESSES / PROGRAM_CASES : v.accesses;
        each = v.accesses > 0 && work > 0 && !plan.item[i].brief ? v.accesses / work : each;
        take(s, &sum, e, &plan.item[i], &v, rg_seconds() - began_s);
        rg_progress_at(&s->progress, i + 1);
    }
    rg_progress_end(&s->progress);
    judge_coverage(s, e, &plan, ran, &sum);
    free(ran);
    report(s, e, &sum, &plan);
    fflush(stdout);
}

// ---- the command ---------------------------------------------------------------------------------------------------------

// --device cpu selects the variants that run on the CPU, host the emulated ones, gpu.. those of the GPU; none: cpu and gpu.
bool rg_on_device(const rg_entry *e, const char *asked) {
    if (!asked || strcmp(asked, "host") == 0) return true;
    return (e->variant->space == RG_HOST) == (strcmp(asked, "cpu") == 0);
}

// The given shape and parameters apply to every chosen variant, so they must fit each.
static int read_shape(session *s, const rg_entry *e) {
    char why[160];
    const char *text = s->shape_text;
    if (text) {
        if (!rg_shape_parse(e->algo, text, &s->shape, why)) return rg_fail(RG_USAGE, "--shape %s: %s", text, why);
        const char *invalid = e->algo->invalid ? e->algo->invalid(&s->shape) : NULL;
        if (invalid) return rg_fail(RG_USAGE, "--shape %s: %s", text, invalid);
        s->narrow.shape = &s->shape;
    }
    return RG_GOOD;
}

static int check_chosen(session *s, const char *pattern) {
    const char *device = s->given.device_typed;
    int chosen = 0;
    for (const rg_entry *e = NULL; (e = rg_entry_next(e, pattern, device));) {
        int64_t param[RG_PARAMS_MAX] = {0};
        char why[160];
        if (!rg_on_device(e, device)) continue;
        chosen++;
        if (read_shape(s, e)) return RG_USAGE;
        if (s->params && !rg_params_parse(e->variant, s->params, param, why))
            return rg_fail(RG_USAGE, "%s --params %s: %s", e->name, s->params, why);
        s->narrow.param = s->params ? param : NULL;
        check_variant(s, e);
    }
    return chosen ? RG_GOOD : rg_fail(RG_USAGE, "no variant of \"%s\" runs on device %s", pattern, device ? device : "gpu");
}

static int conclude(const session *s) {
    const int bad = s->count[RG_FAIL] + s->count[RG_CRASH] + s->count[RG_TIMEOUT];
    printf("%d passed, %d failed, %d skipped\n", s->count[RG_PASS], bad, s->count[RG_SKIP]);
    if (bad) return RG_WRONG;
    if (s->count[RG_PASS]) return RG_GOOD;
    return s->lacking ? RG_LACKS : rg_fail(RG_USAGE, "nothing was checked: every case was skipped, see above");
}

static int run(void *of) {
    session *s = of;
    char pattern[512];
    rg_file file;
    int code = rg_given_words(&s->given, pattern, sizeof pattern);
    s->how = (rg_verify_options){.device = s->given.device,
        .seed = s->given.seed,
        .limit_s = s->limit_s,
        .no_refuse = s->no_refuse,
        .patterns = s->pattern < 0 ? 0 : 1u << s->pattern};
    s->narrow.threads = (int)s->given.threads;
    s->narrow.no_refuse = s->no_refuse;
    s->narrow.thresholds = (unsigned)(s->thresholds + 1); // in the order of rg_narrow
    if (s->expect) return rg_expect(s->expect, &s->how);
    if (code || (*pattern && (code = rg_pattern_check(pattern, s->given.device_typed)))) return code;
    if (s->out && (code = rg_file_open(&file, s->out))) return code;
    s->rows = s->out ? file.stream : NULL;
    if (s->rows) head(s);
    printf("seed %" PRIu64 "\n", s->how.seed);
    code = check_chosen(s, pattern);
    rg_verify_end();
    if (s->out) code = rg_file_end(&file, code);
    return code ? code : conclude(s);
}

const rg_command rg_cmd_verify = {
    .name = "verify",
    .words = "[ALGO[:VARIANT]]...",
    .summary = "check variants against the reference",
    .help = "Each variant runs in a child process with a time limit. Its arguments are fenced, poisoned buffers at\n"
            "aligned and unaligned addresses. Inputs are position-coded, random, all at the maximum, and extreme.\n"
            "Every output element is compared with the reference. Inputs must stay unchanged, a second run must give\n"
            "the same bits (unless the variant says that it is unordered), and the algorithm's invariant must hold.\n\n"
            "The statuses are PASS, FAIL, CRASH (the process died), TIMEOUT and SKIP (with the reason).\n\n"
            "Cheap cases that differ most come first: every value of every parameter and every kind at small shapes,\n"
            "the sizes at which code branches (verify/thresholds.tsv), all triples of shape numbers, and a few shapes\n"
            "drawn from the seed. In these cases one argument, and one number, is also changed at a time, and the\n"
            "outputs hold either poison or another answer. Then come the standard parameters at every shape, pairs of\n"
            "values, and more of the grid. The coverage is printed. A variant of which too little could run fails. On\n"
            "the emulated GPU a number of memory accesses ends the list, not a time.\n\n"
            "A PASS means that every element was right at these shapes, parameters, threads and inputs, whatever the\n"
            "outputs held before. It does not cover larger sizes (--thresholds deep has some), faults that need four\n"
            "features at once, or more than 513 threads. A kernel is code and can do anything: it can look for its\n"
            "caller (the parent's command line, the fences around its buffers), count its calls or wait for a date, and\n"
            "so tell a check from a job. No check inside its process can rule that out; reading its source can.\n"
            "`regather bench` judges calls whose outputs hold what timed calls find there. `regather autocorr` checks\n"
            "every sum of every photograph by an identity, at numbers that are drawn after the sums are computed. The\n"
            "other jobs do not check what a kernel returns: there only a PASS, the figures and the maps speak for it.\n\n"
            "After a FAIL, run the command that repeats it, and `regather trace` at the smallest shape that fails, to\n"
            "see which input reaches which output. Both are printed.\n\n"
            "--device cpu selects the CPU variants, gpu (gpu0, ...) those of a GPU, host the CUDA variants compiled\n"
            "for the CPU. Exit codes: 0 nothing failed and something passed; 1 something failed; 4 nothing can run\n"
            "on this machine.",
    .option = options,
    .bytes = sizeof(session),
    .run = run,
};
