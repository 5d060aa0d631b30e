// SPDX-License-Identifier: MIT
// test_verify.c: tests the checker with a small algorithm of floats, out = 2 in and acc += in, and variants of it that are
// right or have one fault each, in child processes as always.
#include "../../checker/checker.h"
#include <float.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "../test.h"

// ---- the algorithm -------------------------------------------------------------------------------------------------------

enum { IN, ACC, OUT };

static rg_type f32(const rg_shape *s) { return (void)s, RG_F32; }
static int64_t count(const rg_shape *s) { return s->n[0]; }
static const rg_arg args[] = {{"in", RG_IN, f32, count}, {"acc", RG_INOUT, f32, count}, {"out", RG_OUT, f32, count}};
static const rg_shape shapes[] = {{{5, 0, 0, 0}, 1}, {{64, 0, 0, 0}, 1}};

static void fill(const rg_shape *s, rg_pattern pattern, void *const *arg) {
    const float extreme[] = {FLT_MAX / 4, -FLT_MAX / 4, 0, FLT_TRUE_MIN};
    for (int64_t i = 0; i < s->n[0]; i++) {
        const uint64_t bits = rg_bits(s->seed, (uint64_t)i);
        ((float *)arg[IN])[i] = pattern == RG_POSITION ? (float)i + 1
            : pattern == RG_MAXIMUM                    ? FLT_MAX / 4
            : pattern == RG_EXTREME                    ? extreme[bits >> 62]
                                                       : (float)(bits >> 40) * 0x1p-20f;
        ((float *)arg[ACC])[i] = (float)(i % 7);
    }
}

static void reference(const rg_shape *s, void *const *arg) {
    for (int64_t i = 0; i < s->n[0]; i++) {
        ((float *)arg[OUT])[i] = 2 * ((float *)arg[IN])[i];
        ((float *)arg[ACC])[i] += ((float *)arg[IN])[i];
    }
}

static rg_tolerance tolerance(const rg_shape *s) { return (void)s, (rg_tolerance){RG_BOUND, 1e-3, 1e-6, "one rounding"}; }
static double work(const rg_shape *s) { return (double)s->n[0]; }
static const char *broken_index;
static const char *index_fault(const rg_shape *s) { return (void)s, broken_index; }
static const char *invalid(const rg_shape *s) { return s->n[0] < 1 ? "no elements" : NULL; }

static const rg_algo doubling = {
    .abi = RG_ABI,
    .bytes = sizeof(rg_algo),
    .name = "doubling",
    .formula = "out = 2 in",
    .dim = {"n"},
    .arg = args,
    .n_args = RG_COUNT(args),
    .check_shape = shapes,
    .n_check_shapes = RG_COUNT(shapes),
    .invalid = invalid,
    .fill = fill,
    .reference = reference,
    .tolerance = tolerance,
    .index_fault = index_fault,
    .traffic_bytes = work,
    .work = work,
};

// ---- the variants --------------------------------------------------------------------------------------------------------

static int right(rg_call *c) {
    reference(c->shape, c->arg);
    return RG_OK;
}

static float *out(rg_call *c) { return c->arg[OUT]; }
static int64_t last(rg_call *c) { return c->shape->n[0] - 1; }

static int one_nan(rg_call *c) { return right(c), out(c)[last(c)] = NAN, RG_OK; }
static int too_far(rg_call *c) { return right(c), out(c)[last(c)] += 1e-2f + fabsf(out(c)[last(c)]) * 1e-5f, RG_OK; }
static int near(rg_call *c) { return right(c), out(c)[last(c)] += 5e-4f, RG_OK; }
static int far_behind(rg_call *c) { return right(c), out(c)[last(c) + 900] = 1, RG_OK; }
static int forgets_acc(rg_call *c) {
    for (int64_t i = 0; i <= last(c); i++) out(c)[i] = 2 * ((float *)c->arg[IN])[i];
    return RG_OK;
}
static int says_error(rg_call *c) { return right(c), RG_E_STATE; }
static int jitters(rg_call *c) {
    static int calls;
    return right(c), out(c)[0] += calls++ % 2 ? 4e-4f : 0, RG_OK;
}
static int wild(rg_call *c) {
    int *volatile p = (int *)(uintptr_t)64;
    return right(c), *p = 1, RG_OK;
}
static int killed(rg_call *c) { return right(c), raise(SIGKILL), RG_OK; }
static int spins(rg_call *c) {
    for (volatile int64_t i = c->shape->n[0]; i > 0;) i = 1;
    return RG_OK;
}
static int sleeps(rg_call *c) { return right(c), pause(), RG_OK; }
static double core_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static int works_once(rg_call *c) // needs 0.2 s of a core in the first call of a child
{
    static int calls;
    for (const double until = core_seconds() + 0.2; calls == 0 && core_seconds() < until;)
        ;
    calls++;
    return right(c);
}
static const char *declines(const rg_shape *s, const int64_t *p) { return (void)s, (void)p, "not today"; }

static rg_variant variant_of(const char *algo, int (*run)(rg_call *)) {
    return (rg_variant){.abi = RG_ABI,
        .bytes = sizeof(rg_variant),
        .algo = algo,
        .name = "v",
        .idea = "-",
        .space = RG_HOST,
        .needs = "",
        .run = run};
}

static rg_verdict check_flags(int (*run)(rg_call *), uint32_t flags, const rg_verify_options *how) {
    static rg_variant v;
    static rg_entry e;
    const rg_shape shape = shapes[1];
    v = variant_of("doubling", run);
    v.flags = flags;
    if (how->no_refuse || how->seed == 99) v.refuse = declines;
    e = (rg_entry){.algo = &doubling, .variant = &v, .origin = RG_BUILT_IN, .name = "tested"};
    rg_verify_end(); // the variant has changed at the same address
    return rg_verify_case(&e, &shape, NULL, 1, how);
}

static rg_verdict check(int (*run)(rg_call *)) {
    const rg_verify_options how = {.seed = 7, .limit_s = 20};
    return check_flags(run, 0, &how);
}

static void assert_verdict(rg_verdict v, rg_status status, const char *word) {
    if (v.status != status || !strstr(v.reason, word))
        fail_msg("%s (%s), expected %s with \"%s\"", rg_status_name[v.status], v.reason, rg_status_name[status], word);
}

TEST(right_passes) {
    rg_verdict v = check(right);
    assert_verdict(v, RG_PASS, "");
    assert_true(v.error == 0);
    v = check(near);
    assert_verdict(v, RG_PASS, "");
    assert_true(v.error > 4e-4 && v.error < 6e-4 && v.tol >= 1e-3);
}

TEST(wrong_values_fail) {
    rg_verdict v = check(one_nan);
    assert_verdict(v, RG_FAIL, "out[63] is nan");
    assert_true(isinf(v.error));
    assert_verdict(check(too_far), RG_FAIL, "out[63]");
    assert_verdict(check(forgets_acc), RG_FAIL, "acc[0]");
}

// Accesses nearer to an argument: kernels of verify/broken.
TEST(memory_is_guarded) { assert_verdict(check(far_behind), RG_FAIL, "out: written past the end"); }

// More than a GiB of output, of which some elements and all guards are checked.
static int64_t gibibyte(const rg_shape *s) { return s->n[0] + (1 << 30); }
static int64_t three_MiB(const rg_shape *s) { return (void)s, 3 << 20; }
static rg_type u8(const rg_shape *s) { return (void)s, RG_U8; }
static void fill_nothing(const rg_shape *s, rg_pattern pattern, void *const *arg) { (void)s, (void)pattern, (void)arg; }
static void all_zero(const rg_shape *s, void *const *arg, int which, const int64_t *element, int64_t n, void *to) {
    (void)s, (void)arg, (void)which, (void)element;
    memset(to, 0, (size_t)n);
}
static size_t some_scratch(const rg_shape *s, const int64_t *param) { return (void)s, (void)param, 64; }
static int clears(rg_call *c) { return memset(c->arg[0], 0, (size_t)gibibyte(c->shape)), RG_OK; }
static int clears_scratch_too(rg_call *c) { return memset(c->scratch, 0, 64), clears(c); }
static int clears_more_scratch(rg_call *c) { return ((char *)c->scratch)[64] = 0, clears(c); }
static int clears_one_more(rg_call *c) { return ((char *)c->arg[0])[gibibyte(c->shape)] = 0, clears(c); }
static int edits_an_input(rg_call *c) { return ((char *)c->arg[1])[(2 << 20) - 1] ^= 1, clears(c); }

TEST(memory_of_large_cases_is_guarded) {
    static const rg_arg zeros[] = {{"zeros", RG_OUT, u8, gibibyte}, {"given", RG_IN, u8, three_MiB}};
    static const rg_algo clearing = {.abi = RG_ABI,
        .bytes = sizeof clearing,
        .name = "clearing",
        .dim = {"n"},
        .arg = zeros,
        .n_args = 2,
        .fill = fill_nothing,
        .reference_at = all_zero,
        .tolerance = tolerance};
    static const struct {
        int (*run)(rg_call *);
        rg_status status;
        const char *word;
    } one[] = {{clears_scratch_too, RG_PASS, ""}, {clears_more_scratch, RG_FAIL, "scratch: written outside"},
        {clears_one_more, RG_FAIL, "zeros: written outside"},
        {edits_an_input, RG_FAIL, "input given was changed, in the MiB from byte 1048576 on"}};
    const rg_verify_options how = {.seed = 7};
    for (int i = 0; i < RG_COUNT(one); i++) {
        rg_variant v = variant_of("clearing", one[i].run);
        v.scratch = some_scratch;
        const rg_entry e = {.algo = &clearing, .variant = &v, .origin = RG_BUILT_IN, .name = "v"};
        const rg_verdict found = rg_verify_case(&e, &shapes[0], NULL, 1, &how);
        rg_verify_end();                     // the next variant has the same address
        if (found.status == RG_SKIP) skip(); // not enough memory
        assert_verdict(found, one[i].status, one[i].word);
    }
}

TEST(order_is_demanded) {
    const rg_verify_options how = {.seed = 7, .limit_s = 20};
    assert_verdict(check(jitters), RG_FAIL, "run 2 differs from run 1");
    assert_verdict(check_flags(jitters, RG_UNORDERED, &how), RG_PASS, "");
    assert_verdict(check(says_error), RG_FAIL, "run returned");
}

TEST(deaths_are_named) {
    const rg_verify_options soon = {.seed = 7, .limit_s = 0.3};
    assert_verdict(check(killed), RG_CRASH, "SIGKILL");
    assert_verdict(check_flags(spins, 0, &soon), RG_TIMEOUT, "no end after 0.3 s");
    assert_verdict(check(right), RG_PASS, ""); // a new child
}

// A limit counts the kernel's own time: with other processes on every core, a right kernel that is as slow as before passes,
// and one that never ends, or sleeps, is still found.
TEST(busy_machines_change_no_verdict) {
    pid_t other[64];
    const int n = 5 * (int)sysconf(_SC_NPROCESSORS_ONLN) < 64 ? 5 * (int)sysconf(_SC_NPROCESSORS_ONLN) : 64;
    for (int i = 0; i < n; i++)
        if ((other[i] = fork()) == 0)
            for (alarm(60);;)
                ;
    const rg_verify_options soon = {.seed = 7, .limit_s = 0.5};
    const rg_verdict slow = check_flags(works_once, 0, &soon), endless = check_flags(spins, 0, &soon),
                     asleep = check_flags(sleeps, 0, &soon);
    for (int i = 0; i < n; i++) {
        kill(other[i], SIGKILL);
        waitpid(other[i], NULL, 0);
    }
    assert_verdict(slow, RG_PASS, "");
    assert_verdict(endless, RG_TIMEOUT, "no end after 0.5 s");
    assert_verdict(asleep, RG_TIMEOUT, "no end after 0.5 s");
}

TEST(same_worker_goes_on_after_a_crash) {
    const rg_variant v = variant_of("doubling", wild);
    const rg_entry e = {.algo = &doubling, .variant = &v, .origin = RG_BUILT_IN, .name = "w"};
    const rg_verify_options how = {.seed = 7};
    for (int i = 0; i < 3; i++) assert_verdict(rg_verify_case(&e, &shapes[i % 2], NULL, 1, &how), RG_CRASH, "SIGSEGV");
}

TEST(refusals_are_skips) {
    const rg_verify_options asked = {.seed = 99}, anyway = {.seed = 7, .no_refuse = true};
    assert_verdict(check_flags(right, 0, &asked), RG_SKIP, "not today");
    assert_verdict(check_flags(right, 0, &anyway), RG_PASS, "");
    broken_index = "the map is not onto";
    assert_verdict(check(right), RG_FAIL, "not onto");
    broken_index = NULL;
}

// Outputs of bench after timing: all elements are compared; INOUT outputs need expected values.
TEST(timed_outputs_are_compared) {
    static const rg_variant v = {.abi = RG_ABI, .bytes = sizeof v, .algo = "doubling", .name = "v", .idea = "-", .run = right};
    static const rg_entry e = {.algo = &doubling, .variant = &v, .name = "v"};
    float in[64], acc[64], twice[64], right_acc[64], right_twice[64];
    void *arg[] = {in, acc, twice}, *expected[] = {in, right_acc, right_twice};
    rg_answer answer;
    fill(&shapes[1], RG_RANDOM, arg);
    rg_answer_make(&answer, &doubling, &shapes[1], arg, 1, 1);
    memcpy(right_acc, acc, sizeof acc);
    reference(&shapes[1], expected);
    memcpy(acc, right_acc, sizeof acc);
    memcpy(twice, right_twice, sizeof twice);
    assert_verdict(rg_compare_outputs(&e, &shapes[1], NULL, arg, &answer), RG_PASS, "");
    twice[17] = NAN;
    assert_verdict(rg_compare_outputs(&e, &shapes[1], NULL, arg, &answer), RG_FAIL, "out[17] is nan");
    rg_answer_free(&answer);
}
