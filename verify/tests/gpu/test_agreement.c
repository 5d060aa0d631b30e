// SPDX-License-Identifier: MIT
// test_agreement.c: the same .cu file on the GPU and on the emulated one. For every CUDA variant, several check shapes and one
// seed, both outputs are compared within the variant's tolerance, exactly for integer algorithms. A verdict reached without a
// GPU therefore holds for the GPU, too. Skipped, with a message, without a GPU.
#include "../../../impl/runtime/call.h"
#include "../../../impl/base/core.h"
#include "../../../impl/gpu/emulator/emulation.h"
#include "../../../impl/runtime/table.h"
#include "../test.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { SHAPES = 5 };
static const double WORK = 4e6; // operations of a case: a second or so of the emulated GPU

// Inputs and outputs of one case, in memory that parent and children share.
typedef struct sides {
    size_t bytes[RG_ARGS_MAX];
    void *input[RG_ARGS_MAX], *found[2][RG_ARGS_MAX];
} sides;

static void *share(size_t bytes) {
    void *p = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static int compute(
    const rg_entry *e, const rg_shape *shape, const int64_t *param, const char *device_name, const sides *s, int side) {
    char why[200];
    const rg_device *device = rg_device_open(device_name, why);
    rg_frame f = {0};
    if (!device || rg_frame_make(&f, e, device, shape, param, 1)) return 10;
    for (int i = 0; i < e->algo->n_args; i++) {
        if (e->algo->arg[i].direction != RG_OUT && rg_frame_put(&f, i, s->input[i])) return 11;
        if (device->is_emulated) rg_emulation_extent(f.buffer[i].base, f.buffer[i].bytes);
    }
    if (rg_frame_run(&f)) return 12;
    for (int i = 0; i < e->algo->n_args; i++)
        if (e->algo->arg[i].direction != RG_IN && rg_buffer_get(&f.buffer[i], s->found[side][i])) return 13;
    return 0;
}

// In a child, because a GPU's context does not survive a fork, and a fault must not end the test.
static void compute_in_child(
    const rg_entry *e, const rg_shape *shape, const int64_t *param, const char *device, const sides *s, int side) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(compute(e, shape, param, device, s, side));
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("%s:%s on %s: status %d", e->algo->name, e->name, device, status);
}

static double element(const void *p, rg_type type, int64_t i) {
    switch (type) {
    case RG_U8: return ((const uint8_t *)p)[i];
    case RG_U16: return ((const uint16_t *)p)[i];
    case RG_I32: return ((const int32_t *)p)[i];
    case RG_I64: return (double)((const int64_t *)p)[i];
    case RG_F32: return ((const float *)p)[i];
    default: return ((const double *)p)[i];
    }
}

static void compare(const rg_entry *e, const rg_shape *shape, const int64_t *param, const sides *s) {
    char text[96], where[64] = "";
    rg_shape_print(e->algo, shape, text);
    rg_tolerance t = e->variant->tolerance ? e->variant->tolerance(shape, param) : e->algo->tolerance(shape);
    for (int i = 0; i < e->algo->n_args; i++) {
        if (e->algo->arg[i].direction == RG_IN) continue;
        if (t.kind == RG_EXACT) {
            if (memcmp(s->found[0][i], s->found[1][i], s->bytes[i]))
                fail_msg("%s:%s at %s: GPU and emulated GPU differ in %s", e->algo->name, e->name, text, e->algo->arg[i].name);
            continue;
        }
        const rg_type type = e->algo->arg[i].type(shape);
        for (int64_t k = 0; k < e->algo->arg[i].count(shape); k++) {
            double a = element(s->found[0][i], type, k), b = element(s->found[1][i], type, k);
            if (!(fabs(a - b) <= 2 * (t.absolute + t.relative * fabs(b)))) { // each may be off by the bound
                e->algo->where(shape, i, k, where);
                fail_msg("%s:%s at %s: %s%s is %.9g on the GPU, %.9g emulated", e->algo->name, e->name, text,
                    e->algo->arg[i].name, where, a, b);
            }
        }
    }
}

static void agree_at(const rg_entry *gpu, const rg_entry *host, const rg_shape *shape, const int64_t *param) {
    sides s = {0};
    for (int i = 0; i < gpu->algo->n_args; i++) {
        s.bytes[i] = (size_t)gpu->algo->arg[i].count(shape) * rg_type_bytes(gpu->algo->arg[i].type(shape));
        s.input[i] = share(s.bytes[i]);
        s.found[0][i] = share(s.bytes[i]);
        s.found[1][i] = share(s.bytes[i]);
    }
    gpu->algo->fill(shape, RG_RANDOM, s.input);
    compute_in_child(gpu, shape, param, "gpu", &s, 0);
    compute_in_child(host, shape, param, "host", &s, 1);
    compare(gpu, shape, param, &s);
    for (int i = 0; i < gpu->algo->n_args; i++) {
        munmap(s.input[i], s.bytes[i] + 1);
        munmap(s.found[0][i], s.bytes[i] + 1);
        munmap(s.found[1][i], s.bytes[i] + 1);
    }
}

TEST(test_agreement) {
    char why[200];
    if (rg_gpu_count(why) < 1) {
        print_message("no agreement to test: %s\n", why);
        skip();
    }
    int compared = 0;
    for (const rg_entry *gpu = NULL; (gpu = rg_entry_next(gpu, "", "gpu"));) {
        if (gpu->variant->space != RG_DEVICE || gpu->emulated || rg_unavailable(gpu)) continue;
        char pattern[200];
        snprintf(pattern, sizeof pattern, "%s:%s", gpu->algo->name, gpu->name);
        const rg_entry *host = rg_entry_next(NULL, pattern, "host");
        assert_non_null(host);
        int64_t param[RG_PARAMS_MAX];
        rg_params_standard(gpu->variant, param);
        int done = 0;
        for (int i = gpu->algo->n_check_shapes - 1; i >= 0 && done < SHAPES; i--) { // the larger ones are at the end
            const rg_shape *shape = &gpu->algo->check_shape[i];
            if (gpu->algo->work(shape) > WORK || (gpu->variant->refuse && gpu->variant->refuse(shape, param))) continue;
            agree_at(gpu, host, shape, param);
            done++;
        }
        assert_true(done > 0);
        print_message("%s: %d shapes agree\n", pattern, done);
        compared++;
    }
    assert_true(compared > 0);
}
