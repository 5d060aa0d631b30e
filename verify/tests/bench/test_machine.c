// SPDX-License-Identifier: MIT
// Tests of the machine's description: header lines, sensors, energy counters, probes. A value that cannot be read must be NaN
// with a reason.
#include "../../../bench/machine/machine.h"
#include "../../../bench/machine/sensors.h"
#include "../../../impl/base/core.h"
#include "../../../impl/runtime/cpu.h"
#include "../../../impl/runtime/table.h"
#include "../test.h"
#include "../test_command.h"

#include <sched.h>
#include <sys/stat.h>
#include <time.h>

// ---- RAPL ----------------------------------------------------------------------------------------------------------------

TEST(rapl_counter_wraps_at_its_range) {
    const uint64_t range = 262143999938u; // of a real host
    assert_int_equal(rg_rapl_difference(1000, 5000, range), 4000);
    assert_int_equal(rg_rapl_difference(7, 7, range), 0);
    assert_int_equal(rg_rapl_difference(range - 5, 7, range), 12);
    assert_int_equal(rg_rapl_difference(range, 0, range), 0);
}

static void make_package(const char *root, const char *zone, const char *name, const char *energy) {
    put_text(fmt("%s/%s/name", root, zone), name);
    put_text(fmt("%s/%s/max_energy_range_uj", root, zone), "262143999938\n");
    if (energy) put_text(fmt("%s/%s/energy_uj", root, zone), energy);
}

TEST(rapl_adds_packages_and_nothing_else) {
    char *root = test_folder(), why[120] = "";
    uint64_t energy[RG_PACKAGES_MAX], range[RG_PACKAGES_MAX];
    make_package(root, "intel-rapl:0", "package-0\n", "123456\n");
    make_package(root, "intel-rapl:0:0", "core\n", "99\n");
    make_package(root, "intel-rapl:1", "psys\n", "77\n");
    make_package(root, "intel-rapl:2", "package-1\n", "654321\n");
    assert_int_equal(rg_rapl_read(root, energy, range, why), 2);
    assert_int_equal(energy[0], 123456);
    assert_int_equal(energy[1], 654321);
    assert_int_equal(range[1], 262143999938u);
    assert_int_equal(test_folder_remove(root), 0);
}

TEST(rapl_unreadable_names_the_fix) {
    char *root = test_folder(), why[120] = "";
    uint64_t energy[RG_PACKAGES_MAX], range[RG_PACKAGES_MAX];
    assert_int_equal(rg_rapl_read(root, energy, range, why), 0);
    assert_non_null(strstr(why, "no RAPL package"));
    // One of two packages cannot be read: half of a machine's joules would be a wrong number.
    make_package(root, "intel-rapl:0", "package-0\n", "123456\n");
    make_package(root, "intel-rapl:1", "package-1\n", NULL);
    assert_int_equal(rg_rapl_read(root, energy, range, why), -1);
    assert_non_null(strstr(why, "sudo chmod a+r"));
    put_text(fmt("%s/intel-rapl:1/energy_uj", root), "garbage\n");
    assert_int_equal(rg_rapl_read(root, energy, range, why), -1);
    assert_int_equal(test_folder_remove(root), 0);
}

// ---- sensors and energy --------------------------------------------------------------------------------------------------

TEST(throttle_bits_become_words) {
    static const struct {
        unsigned long long mask;
        const char *words, *phrases;
    } cases[] = {{0, "none", "none"}, {0x4, "power_cap", "power cap"}, {0x44, "power_cap,hw_thermal", "power cap, hw thermal"},
        {0x1 | 0x20, "idle,sw_thermal", "idle, sw thermal"}, {0x1000, "other", "another reason"},
        {0x100, "display", "display clocks"}};
    char text[RG_REASON];
    for (int i = 0; i < RG_COUNT(cases); i++) {
        rg_throttle_print(rg_throttle_of(cases[i].mask), false, text);
        assert_string_equal(text, cases[i].words);
        rg_throttle_print(rg_throttle_of(cases[i].mask), true, text);
        assert_string_equal(text, cases[i].phrases);
    }
    rg_throttle_print(rg_throttle_of(~0ull), true, text);
    assert_non_null(strstr(text, "display clocks, another reason"));
}

static int failing_facts(rg_device_facts *facts) {
    memset(facts, 0, sizeof *facts);
    return 999;
}
static const char *failing_error(int code) { return code == 999 ? "the board fell off" : "?"; }
static const rg_device lost_gpu = {.name = "gpu-lost", .is_gpu = true, .facts = failing_facts, .error = failing_error};

static void absent_or_positive(double value) { assert_true(isnan(value) || value > 0); }

TEST(sensors_are_nan_rather_than_zero) {
    rg_sensors s;
    rg_sensors_read(rg_device_cpu(), &s);
    assert_true(isnan(s.sm_MHz) && isnan(s.mem_MHz) && isnan(s.power_W));
    absent_or_positive(s.cpu_MHz);
    absent_or_positive(s.temp_C);
    assert_int_equal(s.throttle, 1 << RG_THROTTLE_UNKNOWN);
    memset(&s, 0, sizeof s);
    rg_sensors_read(&lost_gpu, &s);
    assert_true(isnan(s.sm_MHz) && isnan(s.mem_MHz) && isnan(s.temp_C) && isnan(s.power_W));
    assert_int_equal(s.throttle, 1 << RG_THROTTLE_UNKNOWN);
}

TEST(energy_is_nan_with_a_reason_or_watts_times_seconds) {
    rg_energy e;
    double J = 0, s = 0, W = 0;
    rg_energy_start(NULL, &e);
    usleep(20000);
    rg_energy_stop(NULL, &e, &J, &s, &W);
    assert_true(s >= 0.02 && s < 10);
    assert_true(strlen(e.source) > 8);
    if (isnan(e.start_J)) {
        assert_true(isnan(J) && isnan(W));
    } else {
        absent_or_positive(J);
        assert_true(isnan(J) || fabs(W * s - J) <= 1e-9 * J);
        e.start_s -= 1e6; // a time in which the counter must have wrapped more than once
        rg_energy_stop(NULL, &e, &J, &s, &W);
        assert_true(isnan(J) && strstr(e.source, "gave no total"));
    }
    // A counter with more energy at the start than now (here because its packages have disappeared).
    e = (rg_energy){.source = "RAPL, 16 packages", .start_J = 0, .start_s = e.start_s, .n_packages = RG_PACKAGES_MAX};
    rg_energy_stop(NULL, &e, &J, &s, &W);
    assert_true(isnan(J) && isnan(W));
    assert_non_null(strstr(e.source, "gave no total"));
    rg_energy_start(&lost_gpu, &e);
    rg_energy_stop(&lost_gpu, &e, &J, &s, &W);
    assert_true(isnan(J) && isnan(W));
    assert_true(strlen(e.source) > 8);
    // A total of several boards is missing if a board is.
    rg_energy_start_gpus(1000, &e);
    rg_energy_stop(NULL, &e, &J, &s, &W);
    assert_true(isnan(J) && isnan(W));
    assert_true(strlen(e.source) > 8);
}

// ---- the head of result files --------------------------------------------------------------------------------------------

static const char *head_value(const rg_head *head, const char *key) {
    for (int i = 0; i < head->n; i++)
        if (!strcmp(head->key[i], key)) return head->value[i];
    return NULL;
}

// Older files are compared by these keys, so none may be renamed or removed.
static const char *const keys[] = {"suite", "format", "revision", "revision_date", "date", "command", "seed", "clock_tick_ns",
    "machine", "cpu", "cpu_vendor", "sockets", "cores", "simd", "caches", "memory", "governor", "kernel", "compiler", "cflags",
    "nvcc", "nvcc_flags", "gpu", "gpu_sm", "gpu_memory", "gpu_driver", "cuda_runtime", "gpu_ecc", "gpu_power_cap", "gpu_clocks",
    "gpu_tick_ns"};

TEST(head_keys_are_stable) {
    RG_ENDS(rg_head_free) rg_head a, b;
    rg_head_make(&a, NULL, 18446744073709551615u, "regather bench");
    rg_head_make(&b, &lost_gpu, 7, "regather bench --quiet");
    assert_int_equal(a.n, RG_COUNT(keys));
    assert_int_equal(b.n, RG_COUNT(keys));
    for (int i = 0; i < a.n; i++) {
        assert_string_equal(a.key[i], keys[i]);
        assert_string_equal(b.key[i], keys[i]);
        assert_true(a.value[i][0] != '\0' && b.value[i][0] != '\0');
    }
    assert_string_equal(head_value(&a, "seed"), "18446744073709551615");
    assert_string_equal(head_value(&a, "suite"), "regather " RG_VERSION);
    assert_string_equal(head_value(&a, "machine"), head_value(&b, "machine"));
    assert_string_equal(head_value(&a, "gpu"), "none (CPU run)");
    assert_non_null(strstr(head_value(&b, "gpu_driver"), "unknown (the board fell off)"));
}

TEST(head_keeps_no_folder_and_no_line_break) {
    rg_head head;
    rg_head_make(&head, NULL, 1, "/opt/me/regather bench --out=/home/me/x.tsv --plugin ./mine.so a/b /home/me/p.png");
    assert_string_equal(head_value(&head, "command"), "regather bench --out=x.tsv --plugin ./mine.so a/b p.png");
    rg_head_add(&head, "input", "%s\n%d", "two", 2);
    assert_string_equal(head_value(&head, "input"), "two 2");
    for (int i = 0; i < head.n; i++) {
        assert_null(strstr(head.value[i], "/home"));
        assert_null(strchr(head.value[i], '\n'));
    }
    rg_head_free(&head);
    assert_int_equal(head.n, 0);
}

TEST(topology_counts_this_machine) {
    rg_topology t;
    char text[160];
    rg_topology_read(&t);
    rg_topology_caches(&t, text);
    assert_true(t.threads >= t.cores && t.cores >= t.sockets);
    assert_true((rg_topology_last_cache(&t) > 0) == (strncmp(text, "unknown (", 9) != 0));
    // Two L2 of 1 MiB: only data caches of the last level count.
    rg_topology made = {.n_caches = 3, .cache = {{1, 2, 'd', 32 << 10}, {2, 2, 'u', 1 << 20}, {1, 2, 'i', 64 << 10}}};
    assert_int_equal(rg_topology_last_cache(&made), 2 << 20);
    rg_topology_caches(&made, text);
    assert_string_equal(text, "L1d 32 KiB x 2, L2 1 MiB x 2");
}

// ---- probes --------------------------------------------------------------------------------------------------------------

// Other work on the machine can only lower a rate: the best of several probes counts.
enum { CHANCES = 8 };

static void best_of(rg_rates *best, const rg_rates *now, bool first) {
    for (int r = 0; r < RG_RESOURCES; r++) best->per_s[r] = first ? now->per_s[r] : fmax(best->per_s[r], now->per_s[r]);
}

static double cpu_seconds(void) // of all threads of this process
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

TEST(cpu_rates_are_positive_and_ordered) {
    rg_rates one, all, now;
    cpu_set_t before, after;
    bool ordered = false, had_all_cores = false;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < CHANCES && !ordered; i++) {
        rg_probe_cpu(1, RG_ALL_RESOURCES, &now);
        best_of(&one, &now, i == 0);
        const double start = rg_seconds(), cpu_start = cpu_seconds();
        rg_probe_cpu(rg_cpu_cores(), RG_ALL_RESOURCES, &now);
        // If other processes keep cores busy, threads that wait for each other do not show the rate of all cores.
        had_all_cores = had_all_cores || cpu_seconds() - cpu_start > 0.6 * rg_cpu_cores() * (rg_seconds() - start);
        best_of(&all, &now, i == 0);
        ordered = (all.per_s[RG_F32_MAD] >= 0.8 * one.per_s[RG_F32_MAD] || !had_all_cores) &&
            one.per_s[RG_F32_MAD] >= 1.2 * one.per_s[RG_F64_MAD];
        // vpmaddwd + vpaddd make 32-bit lanes at 2/3 of the rate of FMA or more on every x86 so far, two products each. A
        // compiler that merges the accumulators, which begin alike, gives a rate several times too high.
        if (rg_cpu_has("avx2")) {
            const double *rate = one.per_s;
            ordered = ordered && rate[RG_F32_MAD] <= 1.5 * rate[RG_I16_MAD] && rate[RG_I8_MAD] >= 0.9 * rate[RG_I16_MAD] &&
                rate[RG_I16_MAD] >= 1.2 * rate[RG_I32_MAD];
        }
    }
    assert_true(ordered);
    static const rg_resource any[] = {RG_MEM_BYTES, RG_F32_MAD, RG_F64_MAD, RG_I32_MAD};
    for (int i = 0; i < RG_COUNT(any); i++) {
        // Between a slow embedded core and the largest present node.
        assert_true(one.per_s[any[i]] > 1e7 && all.per_s[any[i]] < 1e14);
    }
    static const rg_resource gpu_only[] = {
        RG_SHARED_BYTES, RG_MATRIX_I8_MAD, RG_ATOMIC, RG_ATOMIC_16B, RG_ATOMIC_MEM, RG_TEXTURE};
    for (int i = 0; i < RG_COUNT(gpu_only); i++) assert_true(isnan(one.per_s[gpu_only[i]]));
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    rg_probe_cpu(1, 1u << RG_I32_MAD, &one); // others are not measured
    for (int r = 0; r < RG_RESOURCES; r++) assert_int_equal(!isnan(one.per_s[r]), r == RG_I32_MAD);
}

// Only if requested, as it takes seconds.
TEST(doctor_probes_this_machine) {
    extern const rg_command rg_cmd_doctor;
    RG_FREED char *text = rg_alloc(OUTPUT_MAX);
    assert_int_equal(run_command(&rg_cmd_doctor, "doctor --device cpu", text), RG_GOOD);
    assert_null(strstr(text, "Measured rates"));
    assert_int_equal(run_command(&rg_cmd_doctor, "doctor --device cpu --probe", text), RG_GOOD);
    const char *rates = strstr(text, "Measured rates"), *fp32 = rates ? strstr(rates, "fp32") : NULL;
    assert_non_null(fp32);
    assert_true(strtod(fp32 + strlen("fp32"), NULL) > 0);
}

TEST(names_and_units_cover_all_resources) {
    for (int i = 0; i < RG_RESOURCES; i++) {
        assert_non_null(rg_resource_name[i]);
        assert_non_null(rg_resource_unit[i]);
        for (int k = 0; k < i; k++) assert_string_not_equal(rg_resource_name[i], rg_resource_name[k]);
    }
}

TEST(gpu_probe_of_a_cpu_is_nan) {
    rg_rates rates;
    memset(&rates, 0, sizeof rates);
    assert_int_equal(rg_probe_gpu(rg_device_cpu(), RG_ALL_RESOURCES, &rates), RG_OK);
    for (int i = 0; i < RG_RESOURCES; i++) assert_true(isnan(rates.per_s[i]));
    assert_true(isnan(rates.l2_bytes_per_s) && isnan(rates.mma_i8_per_s) && isnan(rates.wgmma_i8_per_s));
}

TEST(gpu_rates_are_positive_and_ordered) {
    char why[200];
    rg_rates r;
    const rg_device *gpu = rg_gpu_count(why) > 0 ? rg_device_open("gpu", why) : NULL;
    if (!gpu) {
        print_message("skipped: %s\n", why);
        skip();
    }
    rg_device_facts facts;
    int sass = 0, ptx = 0;
    assert_int_equal(gpu->facts(&facts), RG_OK);
    assert_int_equal(rg_gpu_code(gpu, &sass, &ptx), RG_OK);
    assert_true(ptx <= facts.sm && sass <= facts.sm);
    assert_int_equal(rg_probe_gpu(gpu, RG_ALL_RESOURCES, &r), RG_OK);
    for (int i = 0; i < RG_RESOURCES; i++) {
        if (i == RG_ATOMIC_16B || i == RG_I16_MAD) continue;
        assert_true(r.per_s[i] > 1e8);
    }
    assert_true(isnan(r.per_s[RG_I16_MAD]));
    assert_int_equal(!isnan(r.per_s[RG_ATOMIC_16B]), ptx >= 90);
    assert_true(r.l2_bytes_per_s > r.per_s[RG_MEM_BYTES]);
    assert_true(r.per_s[RG_SHARED_BYTES] > r.per_s[RG_MEM_BYTES]);
    assert_true(r.per_s[RG_F32_MAD] > 0.9 * r.per_s[RG_F64_MAD]);
    assert_true(r.per_s[RG_I8_MAD] > r.per_s[RG_I32_MAD]);
    assert_true(r.per_s[RG_MATRIX_I8_MAD] > r.per_s[RG_I8_MAD]);
    assert_true(r.per_s[RG_ATOMIC] > r.per_s[RG_ATOMIC_MEM]);
    // No multiprocessor with 128 fp32 lanes does more than 2 multiply-adds a lane and cycle at 4 GHz.
    assert_true(r.per_s[RG_F32_MAD] < 2.0 * 128 * 4e9 * facts.multiprocessors);
}
