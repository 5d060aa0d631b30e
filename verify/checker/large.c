// SPDX-License-Identifier: MIT
// large.c: examines a case that is too large for copies: one run on random inputs, which are filled in place, between guards.
// The reference checks the corners of every output, elements about 2^31 and 2^32, and as many others as the time allows; hashes
// of every MiB check the inputs before and after. A case that needs more memory than there is, is skipped, with both numbers.
#include "checker.h"
#include "../../impl/base/core.h"
#include "../../impl/base/hash.h"
#include "../../impl/base/memory.h"

static const double LARGE_BYTES = 0x1p30, ANSWER_S = 2;
enum { LARGE_LIMIT_S = 600, PIECE = 1 << 20 };

typedef struct large {
    const rg_entry *entry;
    const rg_device *device;
    rg_shape shape;
    rg_frame frame;
    void *host[RG_ARGS_MAX];     // the arguments in host memory: themselves, or copies of those on a GPU
    uint64_t *hash[RG_ARGS_MAX]; // of an input's pieces, before the run
    rg_verdict *verdict;
} large;

static double argument_bytes(const large *x, int k) {
    const rg_arg *a = &x->entry->algo->arg[k];
    return (double)a->count(&x->shape) * (double)rg_type_bytes(a->type(&x->shape));
}

static double all_bytes(const large *x) {
    double bytes = 0;
    for (int k = 0; k < x->entry->algo->n_args; k++) bytes += argument_bytes(x, k);
    return bytes;
}

static bool end(large *x, rg_status status, const char *what, const char *why) {
    x->verdict->status = status;
    snprintf(x->verdict->reason, RG_VERDICT_REASON, "%s%s", what, why);
    return false;
}

static bool lacks(large *x, const char *what) {
    x->verdict->lacks = true;
    return end(x, RG_SKIP, what, "");
}

static bool enough(large *x, const int64_t *param) {
    const double frame = (double)rg_frame_bytes(x->entry, &x->shape, param), there = rg_memory_free();
    const double need = (x->device->is_gpu ? all_bytes(x) : frame) + rg_answer_bytes(x->entry->algo, &x->shape);
    rg_device_facts facts;
    char text[120];
    snprintf(text, sizeof text, "needs %.1f GiB of memory, %.1f GiB are free", need / 0x1p30, there / 0x1p30);
    if (need > there) return lacks(x, text);
    if (!x->device->is_gpu || x->device->facts(&facts) != RG_OK || frame <= (double)facts.free_bytes) return true;
    snprintf(text, sizeof text, "needs %.1f GiB of the GPU's memory, %.1f GiB are free", frame / 0x1p30,
        (double)facts.free_bytes / 0x1p30);
    return lacks(x, text);
}

static bool is_in(const large *x, int k) { return x->entry->algo->arg[k].direction == RG_IN; }

static size_t pieces(const large *x, int k) { return ((size_t)argument_bytes(x, k) + PIECE - 1) / PIECE; }

static uint64_t *hash_pieces(const large *x, int k) {
    const size_t n = pieces(x, k), bytes = (size_t)argument_bytes(x, k);
    uint64_t *hash = rg_alloc(n * sizeof *hash + 1);
    for (size_t i = 0; i < n; i++) hash[i] = rg_hash((char *)x->host[k] + i * PIECE, i + 1 < n ? PIECE : bytes - i * PIECE);
    return hash;
}

static bool input_unchanged(large *x, int k) {
    const rg_algo *algo = x->entry->algo;
    uint64_t *now = hash_pieces(x, k);
    size_t i = 0;
    while (i < pieces(x, k) && now[i] == x->hash[k][i]) i++;
    free(now);
    if (i == pieces(x, k)) return true;
    char place[64] = "", text[160];
    if (algo->where) algo->where(&x->shape, k, (int64_t)(i * PIECE / rg_type_bytes(algo->arg[k].type(&x->shape))), place);
    snprintf(text, sizeof text, "input %s was changed, in the MiB from byte %" PRIu64 "%s%s on", algo->arg[k].name,
        (uint64_t)i * PIECE, *place ? ", " : "", place);
    return end(x, RG_FAIL, text, "");
}

static bool put_inputs(large *x) {
    const rg_algo *algo = x->entry->algo;
    for (int k = 0; k < algo->n_args; k++)
        x->host[k] = x->device->is_gpu ? rg_alloc((size_t)argument_bytes(x, k) + 1) : x->frame.buffer[k].base;
    algo->fill(&x->shape, RG_RANDOM, x->host);
    for (int k = 0; k < algo->n_args; k++) {
        const bool copied = x->device->is_gpu && algo->arg[k].direction != RG_OUT;
        const int code = copied ? rg_frame_put(&x->frame, k, x->host[k]) : RG_OK;
        if (code) return end(x, RG_FAIL, "filling the buffers: ", x->device->error(code));
        if (!x->device->is_gpu) rg_frame_changed(&x->frame, k);
        if (is_in(x, k)) x->hash[k] = hash_pieces(x, k);
    }
    return true;
}

static bool run(large *x) {
    const rg_algo *algo = x->entry->algo;
    int code = rg_frame_start(&x->frame);
    bool hit = false;
    if (code) return end(x, RG_FAIL, "run returned: ", x->device->error(code));
    if ((code = x->device->sync())) return end(x, RG_FAIL, RG_LATE_ERROR ": ", x->device->error(code));
    rg_buffer_guard(&x->frame.scratch, &hit);
    if (hit) return end(x, RG_FAIL, "scratch", ": written outside");
    for (int k = 0; k < algo->n_args; k++) {
        rg_buffer_guard(&x->frame.buffer[k], &hit);
        if (hit) return end(x, RG_FAIL, algo->arg[k].name, ": written outside");
        code = x->device->is_gpu ? rg_buffer_get(&x->frame.buffer[k], x->host[k]) : RG_OK;
        if (code) return end(x, RG_FAIL, "reading the buffers: ", x->device->error(code));
        if (is_in(x, k) && !input_unchanged(x, k)) return false;
    }
    return true;
}

bool rg_is_large(const rg_entry *entry, const rg_shape *shape) {
    return all_bytes(&(large){.entry = entry, .shape = *shape}) > LARGE_BYTES;
}

void rg_examine_large(const rg_entry *entry, const rg_device *device, const rg_job *job, rg_phase *phase, rg_verdict *verdict) {
    large x = {.entry = entry, .device = device, .shape = job->item.shape, .verdict = verdict};
    x.shape.seed = job->seed;
    if (device->is_emulated)
        end(&x, RG_SKIP, "", "too much for the emulated GPU; a GPU takes it");
    else if (enough(&x, job->item.param)) {
        phase("making and filling the buffers", LARGE_LIMIT_S);
        rg_answer answer = {0};
        const int code = rg_frame_make(&x.frame, entry, device, &x.shape, job->item.param, job->item.threads);
        bool good = code == RG_OK || end(&x, RG_FAIL, "making the buffers: ", device->error(code));
        if (good && (good = put_inputs(&x))) {
            phase("the reference", LARGE_LIMIT_S); // before the run, which changes INOUT arguments
            rg_answer_make(&answer, entry->algo, &x.shape, x.host, ANSWER_S, x.shape.seed);
            phase("random, one run", LARGE_LIMIT_S);
            good = run(&x);
        }
        if (good) *verdict = rg_compare_outputs(entry, &x.shape, job->item.param, x.host, &answer);
        rg_answer_free(&answer);
        for (int k = 0; k < entry->algo->n_args; k++) {
            free(x.hash[k]);
            if (device->is_gpu) free(x.host[k]);
        }
        rg_frame_free(&x.frame);
    }
}
