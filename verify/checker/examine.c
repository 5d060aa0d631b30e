// SPDX-License-Identifier: MIT
// examine.c: examines one case, in the child: runs the variant in guarded buffers and checks all that it did.
//
// It runs the five rounds below, which have different inputs, at an aligned base and at one that is off by an element, each
// base after its own prepare. On a CPU the first base is flush against a page without access before it, the second against one
// after it, and inputs are read-only. Before a run the outputs are poisoned or hold another answer; after it the guards, the
// inputs and every element of the outputs are checked. If a run takes SLOW_S or longer, and on the emulated GPU, each round but
// the first runs once, at one base. Steady arguments (suite.h) change between rounds and are loaded again, except in one round,
// in which only the other arguments change: this catches a variant that keeps either for too long. Some cases change one
// argument, or one number, at a time, which catches a variant that reuses results while part of its inputs stays. A variant
// with clear() must give twice the sums if run again without it.
#include "checker.h"
#include "../../impl/base/core.h"
#include "../../impl/gpu/emulator/emulation.h"
#include <fenv.h>
#include <float.h>
#include <signal.h>

const char *const rg_pattern_name[RG_PATTERNS] = {"position", "random", "maximum", "extreme"};

static const struct {
    rg_pattern pattern;
    int seed_step;  // added to the seed, so that a kept result of the first random round is wrong in the second
    int runs;       // bit-equal unless UNORDERED; two rounds test that, the others run fewer times
    bool unaligned; // the base of a round that runs at one base only
} rounds[] = {{RG_POSITION, 0, 2, false}, {RG_RANDOM, 0, 4, true}, {RG_RANDOM, 1, 2, true}, {RG_MAXIMUM, 0, 1, false},
    {RG_EXTREME, 0, 1, false}};

static const double SLOW_S = 0.05;

enum { DEVICE_LIMIT_S = 120, REFERENCE_LIMIT_S = 600 };

typedef struct exam {
    const rg_entry *entry;
    const rg_device *device;
    const rg_job *job;
    rg_shape shape; // with the seed of the current round
    rg_phase *phase;
    rg_verdict *verdict;
    rg_tally tally;
    rg_frame frame;
    const rg_problem *problem;
    char at[160];                // "random, seed 7, unaligned base"
    void *found[RG_ARGS_MAX];    // what the last run left in every argument
    void *first[RG_ARGS_MAX];    // outputs of the first run of the round
    void *previous[RG_ARGS_MAX]; // right outputs of the round before
    bool has_previous, slow;
    bool laid; // the arguments still hold found[]
    int runs_compared;
} exam;

static int64_t elements(const exam *x, int k) { return x->entry->algo->arg[k].count(&x->shape); }
static size_t bytes(const exam *x, int k) {
    return (size_t)elements(x, k) * rg_type_bytes(x->entry->algo->arg[k].type(&x->shape));
}
static bool is_in(const exam *x, int k) { return x->entry->algo->arg[k].direction == RG_IN; }

__attribute__((format(printf, 2, 3))) static bool fault(exam *x, const char *format, ...) {
    char *text = x->verdict->reason;
    const int used = x->at[0] ? snprintf(text, RG_VERDICT_REASON, "%s: ", x->at) : 0;
    RG_FORMAT(text + used, RG_VERDICT_REASON - (size_t)used, format);
    x->verdict->status = RG_FAIL;
    return false;
}

static bool device_fault(exam *x, const char *what, int code) {
    return fault(x, "%s: %s (%d)", what, x->device->error(code), code);
}

// ---- before a run --------------------------------------------------------------------------------------------------------

// Fills an output before a run, so that no kernel can tell from it whether it is checked. The choice is drawn: poison (always
// before the first run), the right answer of the round before, or the last run's output with one element poisoned.
static int put_output(exam *x, int k) {
    const uint64_t n = (uint64_t)elements(x, k), drawn = rg_bits(x->shape.seed + n, (uint64_t)x->runs_compared);
    if (drawn % 3 == 0 || !x->has_previous || x->job->show || !n) return rg_buffer_poison(&x->frame.buffer[k]);
    if (drawn % 3 == 1 || !x->laid) return rg_buffer_put(&x->frame.buffer[k], x->previous[k]);
    const size_t width = bytes(x, k) / n;
    memset((char *)x->found[k] + drawn / 3 % n * width, RG_POISON, width);
    return rg_buffer_put(&x->frame.buffer[k], x->found[k]);
}

// Writes the arguments. An input that already has its values is not written, so that nothing has to be loaded again.
static bool lay_out(exam *x) {
    for (int k = 0; k < x->entry->algo->n_args; k++) {
        const bool out = x->entry->algo->arg[k].direction == RG_OUT;
        if (is_in(x, k) && x->laid && !memcmp(x->found[k], x->problem->initial[k], bytes(x, k))) continue;
        const int code = out ? put_output(x, k) : rg_frame_put(&x->frame, k, x->problem->initial[k]);
        if (code) return device_fault(x, "filling the buffers", code);
    }
    x->laid = true;
    return true;
}

static bool prepare(exam *x) {
    int code = rg_frame_prepare(&x->frame);
    if (code) return device_fault(x, "prepare returned", code);
    code = rg_frame_load(&x->frame);
    return code ? device_fault(x, "load returned", code) : true;
}

static bool inputs_read_only(exam *x, bool read_only) {
    int code = RG_OK;
    for (int k = 0; k < x->entry->algo->n_args && !code; k++)
        if (is_in(x, k)) code = rg_buffer_protect(&x->frame.buffer[k], read_only);
    return code ? device_fault(x, "protecting the inputs", code) : true;
}

// ---- an access to a fence, or a write to an input, on a CPU ---------------------------------------------------------------

static exam *running; // the exam whose buffers a bad access is compared with
static rg_last_word *last_word;

static const char *access_fault(exam *x, const rg_buffer *b, const char *name, int argument, const void *at) {
    bool inside;
    const int64_t offset = rg_buffer_touched(b, at, &inside);
    char place[64] = "";
    if (!inside) return NULL;
    if (offset < 0)
        fault(x, "%s: accessed before the start, at byte %lld", name, (long long)offset);
    else if (offset >= (int64_t)b->bytes)
        fault(x, "%s: accessed past the end, at byte %lld of %lld", name, (long long)offset, (long long)b->bytes);
    else {
        const rg_algo *algo = x->entry->algo;
        if (algo->where && argument >= 0)
            algo->where(&x->shape, argument, offset / (int64_t)rg_type_bytes(algo->arg[argument].type(&x->shape)), place);
        fault(x, "input %s%s was written", name, place);
    }
    return x->verdict->reason;
}

// In any thread of the variant. An access elsewhere is repeated without this handler, and kills the process.
static void on_bad_access(int number, siginfo_t *info, void *context) {
    (void)context;
    exam *x = running;
    const char *said = NULL;
    for (int k = 0; x && !said && k < x->entry->algo->n_args; k++)
        said = access_fault(x, &x->frame.buffer[k], x->entry->algo->arg[k].name, k, info->si_addr);
    if (x && !said) said = access_fault(x, &x->frame.scratch, "scratch", -1, info->si_addr);
    if (x && !said && info->si_code == SI_KERNEL && !info->si_addr) { // x86 gives no address here
        fault(x,
            "a vector instruction for aligned addresses met another one, or a wild one: arguments are aligned to their "
            "elements alone");
        said = x->verdict->reason;
    }
    if (said) last_word(x->verdict);
    signal(number, SIG_DFL);
}

void rg_examine_fences(rg_last_word *last) {
    last_word = last;
    sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_bad_access, .sa_flags = SA_SIGINFO}, NULL);
}

// ---- after it ------------------------------------------------------------------------------------------------------------

static bool guard(exam *x, const rg_buffer *b, const char *name) {
    bool hit = false;
    const int64_t offset = rg_buffer_guard(b, &hit);
    if (!hit) return true;
    if (offset < 0) return fault(x, "%s: written before the start, at byte %lld", name, (long long)offset);
    return fault(x, "%s: written past the end, at byte %lld of %lld", name, (long long)offset, (long long)b->bytes);
}

static bool guards(exam *x) {
    for (int k = 0; k < x->entry->algo->n_args; k++)
        if (!guard(x, &x->frame.buffer[k], x->entry->algo->arg[k].name)) return false;
    return !x->frame.scratch.bytes || guard(x, &x->frame.scratch, "scratch");
}

static bool inputs_unchanged(exam *x, int k) {
    const unsigned char *now = x->found[k], *then = x->problem->initial[k];
    const rg_arg *a = &x->entry->algo->arg[k];
    if (memcmp(now, then, bytes(x, k)) == 0) return true;
    size_t i = 0;
    while (now[i] == then[i]) i++;
    char place[64] = "";
    if (x->entry->algo->where) x->entry->algo->where(&x->shape, k, (int64_t)(i / rg_type_bytes(a->type(&x->shape))), place);
    return fault(x, "input %s%s was changed", a->name, place);
}

static bool collect(exam *x) {
    for (int k = 0; k < x->entry->algo->n_args; k++) {
        const int code = rg_buffer_get(&x->frame.buffer[k], x->found[k]);
        if (code) return device_fault(x, "reading the buffers", code);
        if (is_in(x, k) && !inputs_unchanged(x, k)) return false;
    }
    return true;
}

// Checks the floating-point mode: a changed one would affect later code in this thread, the comparison included.
static bool floats_as_before(exam *x) {
    volatile float least = FLT_MIN, half = least / 2;
    return (fegetround() == FE_TONEAREST && half > 0) ||
        fault(x,
            "after the run the processor rounds otherwise or takes denormals for 0: that mode has to be put back (a plug-in "
            "linked with -ffast-math sets it when it is loaded)");
}

// times: factor on the bound; 1 for the outputs of a single run, for which the invariant is tested, too.
static bool outputs_right(exam *x, double times) {
    const rg_algo *algo = x->entry->algo;
    rg_tolerance tolerance = rg_tolerance_of(x->entry, &x->shape, x->job->item.param);
    tolerance.absolute *= times;
    tolerance.relative *= times;
    for (int k = 0; k < algo->n_args; k++) {
        int64_t wrong;
        if (is_in(x, k)) continue;
        const int64_t i = rg_first_fault(
            algo->arg[k].type(&x->shape), x->found[k], x->problem->expected[k], elements(x, k), &tolerance, &x->tally, &wrong);
        if (i < 0) continue;
        char text[RG_VERDICT_REASON];
        rg_fault_print(algo, &x->shape, k, i, x->found[k], x->problem->expected[k], x->has_previous ? x->previous[k] : NULL,
            &tolerance, text, sizeof text);
        return fault(x, "%s (%lld of %lld wrong)", text, (long long)wrong, (long long)elements(x, k));
    }
    const char *violated = algo->invariant && times == 1 ? algo->invariant(&x->shape, x->found) : NULL;
    return violated ? fault(x, "invariant: %s", violated) : true;
}

static bool repeats(exam *x, int run) {
    if (x->entry->variant->flags & RG_UNORDERED) return true;
    for (int k = 0; k < x->entry->algo->n_args; k++)
        if (!is_in(x, k) && memcmp(x->found[k], x->first[k], bytes(x, k)) != 0) {
            x->verdict->of_many = true;
            return fault(x, "run %d differs from run 1 in %s, and the variant is not flagged UNORDERED", run + 1,
                x->entry->algo->arg[k].name);
        }
    return true;
}

// ---- outputs for trace -----------------------------------------------------------------------------------------------------

static void show(exam *x) {
    rg_show *to = x->job->show;
    if (to->done == to->n) // the second base is run for its accesses only
        return;
    char *answer = to->answer + (size_t)to->done * to->answer_bytes;
    for (int k = 0; k < x->entry->algo->n_args; k++)
        if (!is_in(x, k)) {
            memcpy(answer + to->found_at[k], x->found[k], bytes(x, k));
            memcpy(answer + to->expected_at[k], x->problem->expected[k], bytes(x, k));
        }
    to->done++;
}

// ---- runs, rounds, the case ----------------------------------------------------------------------------------------------

static bool one_run(exam *x, int run) {
    char what[192];
    snprintf(what, sizeof what, "%s, run %d", x->at, run + 1);
    x->phase(what, 0);
    if (x->device->is_emulated) // another order of blocks and threads for every run
        rg_emulation_seed(rg_bits(x->shape.seed, (uint64_t)x->runs_compared));
    if (!lay_out(x) || !inputs_read_only(x, true) || !prepare(x)) return false;
    const double began_s = rg_seconds();
    const int code = rg_frame_start(&x->frame);
    if (code) return device_fault(x, "run returned", code);
    const int unsaid = x->device->sync();
    if (unsaid) return device_fault(x, RG_LATE_ERROR, unsaid);
    x->slow |= rg_seconds() - began_s >= SLOW_S;
    if (!floats_as_before(x) || !inputs_read_only(x, false) || !guards(x) || !collect(x)) return false;
    if (x->job->show)
        show(x);
    else if (!outputs_right(x, 1))
        return false;
    x->runs_compared++;
    if (run > 0) return repeats(x, run);
    for (int k = 0; k < x->entry->algo->n_args; k++) memcpy(x->first[k], x->found[k], bytes(x, k));
    return true;
}

static void halve(rg_type type, void *value, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (type == RG_F32)
            ((float *)value)[i] /= 2;
        else if (type == RG_F64)
            ((double *)value)[i] /= 2;
}

// Whether clear() with these parameters leaves poisoned outputs as they are. Then run writes every element itself, as the
// outputs just found right show.
static bool clears_nothing(exam *x, int *code) {
    bool nothing = true;
    for (int k = 0; k < x->entry->algo->n_args && !*code; k++)
        *code = is_in(x, k) ? RG_OK : rg_buffer_poison(&x->frame.buffer[k]);
    *code = *code ? *code : rg_frame_clear(&x->frame);
    *code = *code ? *code : x->device->sync();
    if (*code || !collect(x)) return false;
    for (int k = 0; k < x->entry->algo->n_args; k++)
        for (size_t i = 0; i < (is_in(x, k) ? 0 : bytes(x, k)) && nothing; i++)
            nothing = ((const unsigned char *)x->found[k])[i] == RG_POISON;
    return nothing;
}

// One more run without clear() must give twice the sums, within twice the bound, as there are twice as many additions. Outputs
// that clear() computed would not change.
static bool adds(exam *x) {
    const rg_algo *algo = x->entry->algo;
    int code = RG_OK;
    if (!x->entry->variant->clear || x->job->show || clears_nothing(x, &code)) return true;
    snprintf(x->at + strlen(x->at), sizeof x->at - strlen(x->at), ", added once more");
    x->verdict->of_many = true;
    x->phase(x->at, 0);
    for (int k = 0; k < algo->n_args && !code; k++)
        code = is_in(x, k) ? RG_OK : rg_buffer_put(&x->frame.buffer[k], x->first[k]);
    code = code ? code : rg_frame_add(&x->frame);
    code = code ? code : x->device->sync();
    if (code) return device_fault(x, "run returned", code);
    if (!guards(x) || !collect(x)) return false;
    for (int k = 0; k < algo->n_args; k++)
        if (!is_in(x, k)) halve(algo->arg[k].type(&x->shape), x->found[k], elements(x, k));
    return outputs_right(x, 2);
}

static void pose(exam *x, rg_pattern pattern, uint64_t seed) {
    x->shape.seed = x->frame.shape.seed = seed;
    if (!rg_problem_find(x->entry->algo, &x->shape, pattern)) x->phase("the reference", REFERENCE_LIMIT_S);
    x->problem = rg_problem_make(x->entry->algo, &x->shape, pattern);
}

static void remember(exam *x) {
    for (int k = 0; k < x->entry->algo->n_args; k++)
        if (!is_in(x, k)) memcpy(x->previous[k], x->problem->expected[k], bytes(x, k));
    x->has_previous = true;
}

static bool one_round(exam *x, int i, bool unaligned) {
    const rg_algo *algo = x->entry->algo;
    const uint64_t seed = x->job->seed + (uint64_t)rounds[i].seed_step;
    const bool renews = algo->steady && rounds[i].seed_step;
    snprintf(x->at, sizeof x->at, "%s, seed %llu%s%s", rg_pattern_name[rounds[i].pattern], (unsigned long long)seed,
        renews ? " under the steady arguments of the seed before" : "", unaligned ? ", unaligned base" : "");
    pose(x, renews ? RG_RENEWED : rounds[i].pattern, seed);
    x->verdict->of_many = rounds[i].pattern >= RG_MAXIMUM; // position-coded and random inputs have passed
    for (int run = 0; run < (x->slow && (i > 0 || x->job->once) ? 1 : rounds[i].runs); run++)
        if (!one_run(x, run)) return false;
    if (i == 0 && !unaligned && !adds(x)) return false;
    remember(x);
    return true;
}

static bool one_step(exam *x, rg_pattern pattern, uint64_t seed) {
    pose(x, pattern, seed);
    if (!one_run(x, 0)) return false;
    remember(x);
    return true;
}

// Catches a variant that keeps an answer while some or most of its inputs, or two items in succession, are the same.
static bool all_steps(exam *x) {
    const rg_algo *algo = x->entry->algo;
    const unsigned long long seed = x->job->seed;
    snprintf(x->at, sizeof x->at, "random, seed %llu, again", seed);
    bool good = one_step(x, RG_RANDOM, seed);
    for (int k = 0; k < algo->n_args && good; k++) {
        if (!is_in(x, k) || !elements(x, k)) continue;
        snprintf(x->at, sizeof x->at, "random, seed %llu, of which %s alone is new", seed + 1, algo->arg[k].name);
        good = one_step(x, RG_STEP(k), seed + 1);
    }
    for (int k = 0; k < 2 * algo->n_args && good && !x->device->is_emulated; k++) {
        if (!is_in(x, k / 2) || !elements(x, k / 2)) continue;
        snprintf(
            x->at, sizeof x->at, "random, seed %llu, of which a number of %s alone is new", seed + 1, algo->arg[k / 2].name);
        good = one_step(x, RG_ELEMENT(k / 2, k % 2), seed + 1);
    }
    snprintf(x->at, sizeof x->at, "random, seed %llu, items that agree with the one before in all but a number", seed + 1);
    good = good && one_step(x, RG_TWINS, seed + 1);
    if (!good || x->device->is_emulated) return good;
    snprintf(x->at, sizeof x->at, "random, seed %llu, of which two items exchange a number", seed + 1);
    return one_step(x, RG_RANDOM, seed + 1) && one_step(x, RG_EXCHANGED, seed + 1);
}

static bool all_rounds(exam *x, bool unaligned) {
    bool good = true;
    for (int i = 0; i < RG_COUNT(rounds) && good; i++)
        if (!(x->slow && x->job->once && rounds[i].seed_step) && (x->job->patterns & (1u << rounds[i].pattern)) &&
            (!x->slow || x->job->once || !x->runs_compared || unaligned == rounds[i].unaligned))
            good = one_round(x, i, unaligned);
    if (good && !unaligned && x->job->patterns & 1u << RG_STEPS) good = all_steps(x);
    return good;
}

// At the second base one input is enough: it only tests accesses at the other end of the buffers.
static bool all_shown(exam *x, bool unaligned) {
    const rg_show *s = x->job->show;
    bool good = true;
    for (int64_t j = 0; j < (unaligned ? 1 : s->n) && good; j++) {
        char place[64] = "none";
        if (s->input[j] >= 0 && x->entry->algo->where)
            x->entry->algo->where(&x->shape, rg_traced_argument(x->entry->algo), s->input[j], place);
        snprintf(x->at, sizeof x->at, "input %s on%s", place, unaligned ? ", unaligned base" : "");
        pose(x, s->pattern, (uint64_t)(s->input[j] + 1));
        good = one_run(x, 0);
    }
    return good;
}

// On the emulated GPU, an access outside the arguments and the scratch memory is a fault of the thread that makes it.
static void emulated_extents(exam *x) {
    for (int k = 0; k < x->entry->algo->n_args; k++) rg_emulation_extent(x->frame.buffer[k].base, x->frame.buffer[k].bytes);
    rg_emulation_extent(x->frame.scratch.base, x->frame.scratch.bytes);
}

static bool at_base(exam *x, bool unaligned) {
    const rg_case *c = &x->job->item;
    x->at[0] = 0;
    x->laid = false;
    if (x->device->is_emulated) rg_emulation_reset();
    const int code = rg_frame_make_fenced(&x->frame, x->entry, x->device, &x->shape, c->param, c->threads, unaligned);
    bool good = code == RG_OK ||
        fault(x, "making the buffers, %.3g GiB with its scratch: %s (%d)",
            (double)rg_frame_bytes(x->entry, &x->shape, c->param) / 0x1p30, x->device->error(code), code);
    if (good && x->device->is_emulated) {
        emulated_extents(x);
        rg_emulation_stream(x->frame.call.stream);
    }
    if (good) good = x->job->show ? all_shown(x, unaligned) : all_rounds(x, unaligned);
    if (x->frame.prepared && x->entry->variant->finish) x->phase("finish", 0);
    if (x->device->is_emulated) rg_emulation_stream(NULL);
    rg_frame_free(&x->frame);
    return good;
}

static void memory(exam *x) {
    for (int k = 0; k < x->entry->algo->n_args; k++) {
        x->found[k] = rg_alloc(bytes(x, k) + 1);
        x->first[k] = rg_alloc(bytes(x, k) + 1);
        x->previous[k] = rg_alloc(bytes(x, k) + 1);
    }
}

static void memory_free(exam *x) {
    for (int k = 0; k < x->entry->algo->n_args; k++) {
        free(x->found[k]);
        free(x->first[k]);
        free(x->previous[k]);
    }
}

void rg_examine(const rg_entry *entry, const rg_device *device, const rg_job *job, rg_phase *phase, rg_verdict *verdict) {
    const rg_algo *algo = entry->algo;
    exam x = {.entry = entry,
        .device = device,
        .job = job,
        .shape = job->item.shape,
        .phase = phase,
        .verdict = verdict,
        .slow = device->is_emulated || job->single};
    *verdict = (rg_verdict){.status = RG_FAIL, .reason = "not compared"};
    x.shape.seed = job->seed;
    const char *why = algo->invalid ? algo->invalid(&x.shape) : NULL;
    if (!why && entry->variant->refuse && !job->no_refuse) why = entry->variant->refuse(&x.shape, job->item.param);
    if (why) {
        verdict->status = RG_SKIP;
        snprintf(verdict->reason, sizeof verdict->reason, "%s", why);
        return;
    }
    if (!job->show && rg_is_large(entry, &x.shape)) {
        rg_examine_large(entry, device, job, phase, verdict);
        return;
    }
    const char *index = algo->index_fault ? algo->index_fault(&x.shape) : NULL;
    if (index) {
        fault(&x, "index.h: %s", index);
        return;
    }
    const double accesses = device->is_emulated ? rg_emulation_accesses() : 0;
    memory(&x);
    running = &x;
    const bool once = job->show ? entry->variant->space == RG_DEVICE : job->once && x.slow;
    const bool good = at_base(&x, false) && (once || at_base(&x, true));
    running = NULL;
    memory_free(&x);
    verdict->accesses = device->is_emulated ? rg_emulation_accesses() - accesses : 0;
    verdict->error = x.tally.error;
    verdict->tol = x.tally.tol;
    if (good && x.runs_compared > 0) {
        verdict->status = RG_PASS;
        verdict->reason[0] = 0;
    }
}
