// SPDX-License-Identifier: MIT
// test_call.c: frames that cannot be made or prepared.
#include "../../../impl/runtime/call.h"
#include "../test.h"
#include "../test_files.h"

static rg_shape first_shape(const rg_entry *e) { return e->algo->smoke_shape[0]; }

TEST(a_frame_without_memory) {
    const rg_device *host = rg_device_emulated();
    rg_entry entry = *rg_entry_find("autocorr", "naive");
    const rg_shape shape = first_shape(&entry);
    int64_t param[RG_PARAMS_MAX] = {0};
    static const char said[] =
        "regather: naive on host: no memory on host for 16.8 KiB of sums; 1.4 KiB are free of --gpu-memory 20KiB\n";
    RG_ENDS(rg_frame_free) rg_frame f = {0};
    for (int again = 0; again < 3; again++) { // the third with memory
        assert_int_equal(again < 2 ? setenv("REGATHER_GPU_MEMORY", "20KiB", 1) : unsetenv("REGATHER_GPU_MEMORY"), 0);
        const int code = rg_frame_make(&f, &entry, host, &shape, param, 1);
        assert_int_equal(code, again < 2 ? 2 : RG_OK);
        assert_true(f.made == (again == 2));
        catch_stderr();
        assert_int_equal(rg_frame_failed(&f, NULL, code), again < 2 ? RG_LACKS : RG_GOOD);
        assert_string_equal(caught(), again < 2 ? said : "");
        for (int i = 0; i < entry.algo->n_args; i++) assert_true(!f.buffer[i].block == (again < 2));
    }
}

static int prepared;
static int never(rg_call *call) { return call->state = &prepared, prepared++, RG_E_STATE; }
static int not_run(rg_call *call) {
    fail_msg("%d: was run", call->threads);
    return RG_OK;
}
static void forget(rg_call *call) { prepared -= call->state == &prepared; }

TEST(a_prepare_that_fails) {
    const rg_entry *naive = rg_entry_find("autocorr", "naive");
    rg_variant variant = *naive->variant;
    variant.prepare = never;
    variant.run = not_run;
    variant.finish = forget;
    rg_entry entry = *naive;
    entry.variant = &variant;
    const rg_shape shape = first_shape(&entry);
    int64_t param[RG_PARAMS_MAX] = {0};
    rg_frame f = {0};
    assert_int_equal(rg_frame_make(&f, &entry, rg_device_cpu(), &shape, param, 1), RG_OK);
    assert_int_equal(rg_frame_prepare(&f), RG_E_STATE);
    assert_int_equal(rg_frame_prepare(&f), RG_E_STATE);
    assert_int_equal(rg_frame_run(&f), RG_E_STATE);
    assert_int_equal(prepared, 1); // once
    rg_frame_free(&f);
    assert_int_equal(prepared, 0);
}
