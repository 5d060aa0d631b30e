// SPDX-License-Identifier: MIT
// test_nvml.c: NVML in a process forked from one that had initialised it, as `record` does for the header of its file. A
// stand-in for the driver's library returns 1, like the driver, to every process that has not initialised it itself.
#include "../../../bench/machine/machine.h"
#include "../../../bench/machine/sensors.h"
#include "../test_data.h"

#include <dlfcn.h>
#include <sys/wait.h>

// Its handles belong to the process, too; the first digit of a bus number is the error.
static const char stand_in[] =
    "#include <stdio.h>\n#include <unistd.h>\n"
    "static int here;\n"
    "int nvmlInit_v2(void) { here = getpid(); return 0; }\n"
    "int nvmlSystemGetDriverVersion(char *text, unsigned n) { snprintf(text, n, \"999.1\"); return here != getpid(); }\n"
    "int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **gpu)\n"
    "{\n    *gpu = (void *)(long)getpid();\n    return here != getpid() ? 1 : pci[0] - '0';\n}\n"
    "int nvmlDeviceGetEnforcedPowerLimit(void *gpu, unsigned *mW)\n"
    "{\n    *mW = 700000;\n    return here != getpid() || gpu != (void *)(long)here;\n}\n";

static char domain = '0';
static int of_one_gpu(rg_device_facts *facts) {
    *facts = (rg_device_facts){.name = "stand-in", .pci = {domain}, .driver = 13000, .runtime = 13000};
    return RG_OK;
}
static int none(void **to) { return *to = NULL, 0; }
static void forget(void *what) { (void)what; }
static int no_event(void *event, void *stream) { return event || !stream; }
static const char *no_words(int code) { return code ? "an error" : ""; }
static const rg_device gpu = {.name = "gpu0",
    .is_gpu = true,
    .facts = of_one_gpu,
    .error = no_words,
    .event_make = none,
    .event_free = forget,
    .stream_make = none,
    .stream_free = forget,
    .event_record = no_event};

static bool head_says(const rg_head *head, const char *key, const char *value) {
    for (int i = 0; i < head->n; i++)
        if (!strcmp(head->key[i], key))
            return !strcmp(head->value[i], value) || (print_message("%s: %s\n", key, head->value[i]), false);
    return false;
}

static bool head_is_whole(void) {
    RG_ENDS(rg_head_free) rg_head head;
    rg_head_make(&head, &gpu, 1, "regather record");
    return head_says(&head, "gpu_driver", "999.1 (CUDA 13.0)") && head_says(&head, "gpu_power_cap", "700 W");
}

static int in_a_child(bool (*holds)(void)) {
    const pid_t child = fork();
    if (child == 0) _exit(!holds());
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

TEST(a_child_initialises_it_anew) {
    char why[160];
    const rg_nvml *nvml = rg_nvml_load(why);
    void *board = rg_nvml_gpu(&gpu, &nvml, why); // as record does for serial numbers
    assert_non_null(nvml);
    assert_ptr_equal(board, (void *)(long)getpid());
    assert_true(head_is_whole());
    assert_int_equal(in_a_child(head_is_whole), 0);
    assert_ptr_equal(rg_nvml_gpu(&gpu, &nvml, why), board); // nothing has changed here
    assert_true(head_is_whole());
}

TEST(errors_have_words) {
    static const rg_device other = {.name = "gpu1", .is_gpu = true, .facts = of_one_gpu};
    static const struct {
        char code;
        const char *words;
    } error[] = {{'1', "NVML: not initialised in this process (1)"}, {'7', "NVML: error without words here (7)"}};
    for (int i = 0; i < RG_COUNT(error); i++) {
        char why[160];
        const rg_nvml *nvml;
        domain = error[i].code;
        assert_null(rg_nvml_gpu(&other, &nvml, why));
        assert_string_equal(why, error[i].words);
    }
    domain = '0';
}

// Calls the library's functions directly, without rg_nvml_load: the stand-in tells a child from its parent.
static bool driver_is_told(void) {
    char text[96];
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*driver)(char *, unsigned) = NULL;
    *(void **)&driver = library ? dlsym(library, "nvmlSystemGetDriverVersion") : NULL;
    return driver && driver(text, sizeof text) == 0;
}

TEST(the_stand_in_tells_a_child_from_its_parent) {
    assert_true(driver_is_told());
    assert_int_not_equal(in_a_child(driver_is_told), 0);
}

FIXTURE(set_up) {
    if (test_dir_make(state)) return -1;
    put_file("nvml.c", stand_in, sizeof stand_in - 1);
    // Loaded under the soname that dlopen() then finds, with or without a driver.
    return system(fmt("cd %s && ${CC:-cc} -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 nvml.c -o nvml.so", test_dir)) ||
        !dlopen(in_dir("nvml.so"), RTLD_NOW);
}

TESTS(set_up, test_dir_remove)
