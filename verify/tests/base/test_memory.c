// SPDX-License-Identifier: MIT
// test_memory.c: the memory limit of a process: the least of the machine, its control groups of both versions, and its own
// limits.
#include "../../../impl/base/memory.h"
#include "../test.h"
#include "../test_data.h"
#include "../../../impl/suite.h"

#include <sys/resource.h>

static double seen(void) {
    RG_FREED char *groups = rg_print("%s/cgroup", test_dir);
    return rg_memory_free_of(test_dir, groups);
}

TEST(test_groups) {
    put_text(in_dir("meminfo"), "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 8000 kB\n");
    put_text(in_dir("self/cgroup"), "0::/\n");
    assert_float_equal(seen(), 8000 * 1024, 0);
    put_text(in_dir("self/cgroup"), "0::/slice/job\n"); // version 2: the group above has the limit
    put_text(in_dir("cgroup/slice/job/memory.max"), "max\n");
    put_text(in_dir("cgroup/slice/job/memory.current"), "1000\n");
    assert_float_equal(seen(), 8000 * 1024, 0);
    put_text(in_dir("cgroup/slice/memory.max"), "5000000\n");
    put_text(in_dir("cgroup/slice/memory.current"), "3000000\n");
    assert_float_equal(seen(), 2000000, 0);
    put_text(in_dir("cgroup/slice/memory.stat"), "anon 2500000\ninactive_file 400000\n"); // freed before an allocation fails
    assert_float_equal(seen(), 2400000, 0);
    put_text(in_dir("cgroup/slice/job/memory.max"), "1001000\n");
    assert_float_equal(seen(), 1000000, 0);
    put_text(in_dir("cgroup/slice/job/memory.current"), "2000000\n"); // over its limit
    assert_float_equal(seen(), 0, 0);
    put_text(in_dir("self/cgroup"),
        "5:cpu:/slice/job\n4:memory:/outside/of/the/container\n0::/\n"); // version 1, with only its top visible
    put_text(in_dir("cgroup/memory/memory.limit_in_bytes"), "3000000\n");
    put_text(in_dir("cgroup/memory/memory.usage_in_bytes"), "500000\n");
    assert_float_equal(seen(), 2500000, 0);
    rg_processes_here = 2;
    assert_float_equal(seen(), 1250000, 0);
    rg_processes_here = 1;
}

TEST(test_quota) {
    RG_FREED char *groups = rg_print("%s/cgroup", test_dir);
    static const struct {
        const char *self, *file, *text;
        double cores;
    } step[] = {
        {"0::/\n", "cgroup/cpu.max", "max 100000\n", INFINITY},
        {"0::/pod/box\n", "cgroup/pod/box/cpu.max", "250000 100000\n", 2.5},
        {"0::/pod/box\n", "cgroup/pod/cpu.max", "50000 100000\n", 0.5}, // the group above has less
        {"3:cpuset:/pod\n2:cpu,cpuacct:/pod\n", "cgroup/cpu/pod/cpu.cfs_period_us", "100000\n", INFINITY},
        {"3:cpuset:/pod\n2:cpu,cpuacct:/pod\n", "cgroup/cpu/pod/cpu.cfs_quota_us", "-1\n", INFINITY},
        {"3:cpuset:/pod\n2:cpu,cpuacct:/pod\n", "cgroup/cpu/pod/cpu.cfs_quota_us", "400000\n", 4},
        {"3:cpuset:/pod\n", "cgroup/cpu/pod/cpu.cfs_quota_us", "400000\n", INFINITY},
    };
    for (int i = 0; i < RG_COUNT(step); i++) {
        put_text(in_dir("self/cgroup"), step[i].self);
        put_text(in_dir(step[i].file), step[i].text);
        assert_true(rg_cores_quota_of(test_dir, groups) == step[i].cores);
    }
}

static double need(const void *of, int64_t size) { return *(const double *)of * (double)(size * size); }

TEST(test_refusal) {
#ifdef __SANITIZE_ADDRESS__
    skip(); // ASan's shadow is larger than any limit
#endif
    const int kind[] = {RLIMIT_DATA, RLIMIT_AS};
    const double each = 0x1p20;
    for (int i = 0; i < 2; i++) {
        struct rlimit before, now;
        assert_int_equal(getrlimit((__rlimit_resource_t)kind[i], &before), 0);
        now = before;
        now.rlim_cur = (rlim_t)1 << 34;
        assert_int_equal(setrlimit((__rlimit_resource_t)kind[i], &now), 0);
        assert_true(rg_memory_free() < 0x1p34);
        assert_int_equal(rg_memory_allows(rg_memory_free(), need, &each, 8, "a side of", "%d images", 5), RG_GOOD);
        catch_stderr();
        const int code = rg_memory_allows(rg_memory_free(), need, &each, 256, "a side of", "%d images", 5);
        const char *said = caught();
        assert_int_equal(setrlimit((__rlimit_resource_t)kind[i], &before), 0);
        assert_int_equal(code, RG_LACKS);
        assert_non_null(strstr(said, "regather: 5 images need 64 GiB of memory, "));
        const int fits = atoi(strstr(said, "a side of ") + 10); // the largest, at most 128: these need 16 GiB
        assert_in_range(fits, 2, 128);
        assert_non_null(strstr(said, " fits\n"));
    }
    assert_int_equal(rg_memory_allows(rg_memory_free(), need, &(double){0x1p60}, 3, "a side of", "it"), RG_LACKS);
}

TESTS(test_dir_make, test_dir_remove)
