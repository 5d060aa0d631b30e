// SPDX-License-Identifier: MIT
// doctor.c: the command `regather doctor`: lists what this machine has and lacks, with the command that repairs it. It judges
// nothing, so its exit code is always 0.
#include "machine.h"
#include "sensors.h"
#include "../compare/validate.h"
#include "../../impl/base/memory.h"
#include "../../impl/base/options.h"
#include "../../impl/base/tsv.h"
#include "../../impl/runtime/cpu.h"
#include "../../impl/runtime/table.h"

#include <fftw3.h>

static void section(const char *title) { printf("\n%s\n", title); }

__attribute__((format(printf, 2, 3))) static void line(const char *label, const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("  %-13s ", label);
    vprintf(format, list);
    putchar('\n');
    va_end(list);
}

// Prints "found" with details, or "missing" with the lost feature and the command that repairs it.
static void item(const char *label, bool found, const char *detail, const char *fix) {
    const char *word = found ? "found" : "missing";
    printf("  %-13s %s%-8s%s %s%s%s\n", label, rg_colour(stdout, found ? "green" : "yellow"), word, rg_colour(stdout, "off"),
        detail, found ? "" : ": ", found ? "" : fix);
}

// ---- the CPU -------------------------------------------------------------------------------------------------------------

static void cpu_clock(void) {
    static const char root[] = "/sys/devices/system/cpu/cpu0/cpufreq";
    char low[32], high[32];
    if (!rg_line(low, sizeof low, "%s/scaling_min_freq", root) || !rg_line(high, sizeof high, "%s/scaling_max_freq", root)) {
        rg_sensors now;
        rg_sensors_read(NULL, &now);
        if (isnan(now.cpu_MHz))
            line("clock", "unknown (neither cpufreq nor /proc/cpuinfo tells it)");
        else
            line("clock", "%.0f MHz by /proc/cpuinfo; cannot be locked from here (no cpufreq)", now.cpu_MHz);
    } else if (strcmp(low, high) == 0) {
        line("clock", "locked at %.0f MHz", atof(high) / 1e3);
    } else {
        line("clock", "not locked, %.0f to %.0f MHz: sudo cpupower frequency-set -g performance", atof(low) / 1e3,
            atof(high) / 1e3);
    }
}

static void energy_line(const rg_device *device) {
    rg_energy e;
    rg_energy_start(device, &e);
    line("energy", "%s%s", isnan(e.start_J) ? "not readable: " : "readable: ", e.source);
}

static void report_cpu(void) {
    rg_topology t;
    char text[160];
    section("CPU");
    rg_cpu_model(text);
    line("model", "%s", text);
    rg_cpu_simd(text);
    line("SIMD", "%s", text);
    rg_topology_read(&t);
    line("cores", "%d usable; sockets %d, cores %d, threads %d", rg_cpu_cores(), t.sockets, t.cores, t.threads);
    if (isfinite(rg_cores_quota())) line("quota", "the time of %.3g cores, by this process's control groups", rg_cores_quota());
    rg_topology_caches(&t, text);
    line("caches", "%s", text);
    rg_device_facts facts;
    if (rg_device_cpu()->facts(&facts) == RG_OK)
        line("memory", "%.1f GiB, %.1f GiB free", (double)facts.memory_bytes / 0x1p30, (double)facts.free_bytes / 0x1p30);
    rg_cpu_governor(text);
    line("governor", "%s", text);
    cpu_clock();
    energy_line(NULL);
}

// ---- GPUs ----------------------------------------------------------------------------------------------------------------

static void gpu_code(const rg_device *gpu, const rg_device_facts *facts) {
    int sass, ptx, code = rg_gpu_code(gpu, &sass, &ptx);
    if (code != RG_OK)
        line("code", "this binary has none for sm_%d (%s): make clean && make CUDA_ARCH='-arch=sm_%d'", facts->sm,
            gpu->error(code), facts->sm);
    else if (sass == ptx)
        line("code", "covered: compiled for sm_%d", sass);
    else
        line("code", "covered by PTX of sm_%d, compiled for sm_%d at start; for its own: make CUDA_ARCH='-arch=sm_%d'", ptx,
            sass, facts->sm);
}

static void gpu_clock(const rg_device *gpu, int index) {
    char why[160], words[RG_REASON];
    const rg_nvml *nvml;
    void *board = rg_nvml_gpu(gpu, &nvml, why);
    unsigned now, top;
    unsigned long long mask;
    if (!board || !nvml->clock || !nvml->max_clock || nvml->clock(board, RG_NVML_CLOCK_SM, &now) != 0 ||
        nvml->max_clock(board, RG_NVML_CLOCK_SM, &top) != 0) {
        line("clock", "unknown (%s)", board ? "not told by this GPU" : why);
        return;
    }
    snprintf(words, sizeof words, "unknown");
    if (nvml->throttle && nvml->throttle(board, &mask) == 0) rg_throttle_print(rg_throttle_of(mask), true, words);
    // NVML has no query for locked clocks; application clocks show among the reasons.
    line("clock", "SM %u of %u MHz, held by: %s", now, top, words);
    line("", "whether locked, NVML does not tell; to lock: sudo nvidia-smi -i %d -lgc %u", index, top / 4 * 3);
}

static void report_gpu(int index) {
    char name[16], why[200];
    snprintf(name, sizeof name, "gpu%d", index);
    const rg_device *gpu = rg_device_open(name, why);
    rg_device_facts facts;
    if (!gpu) {
        line(name, "does not open: %s", why);
        return;
    }
    int code = gpu->facts(&facts);
    if (code != RG_OK) {
        line(name, "does not answer: %s", gpu->error(code));
        return;
    }
    char reason[160], version[96] = "unknown version";
    const rg_nvml *nvml = rg_nvml_load(reason);
    if (nvml && nvml->driver) (void)nvml->driver(version, sizeof version); // leaves the words above on failure
    line(name, "%s, sm_%d, %d multiprocessors", facts.name, facts.sm, facts.multiprocessors);
    line("memory", "%.1f GiB, %.1f GiB free, L2 %.0f MiB, ECC %s", (double)facts.memory_bytes / 0x1p30,
        (double)facts.free_bytes / 0x1p30, (double)facts.l2_bytes / 0x1p20,
        !facts.ecc_known ? "unknown"
            : facts.ecc  ? "on"
                         : "off");
    line("driver", "%s, for CUDA %d.%d; runtime of this binary %d.%d", version, facts.driver / 1000, facts.driver % 1000 / 10,
        facts.runtime / 1000, facts.runtime % 1000 / 10);
    gpu_code(gpu, &facts);
    gpu_clock(gpu, index);
    energy_line(gpu);
}

static void report_gpus(void) {
    char why[200], reason[160], name[96];
    section("GPUs");
    int count = rg_gpu_count(why);
    for (int i = 0; i < count; i++) report_gpu(i);
    if (count > 0) return;
    line("none", "%s", why);
    // Names boards that CUDA cannot use.
    const rg_nvml *nvml = rg_nvml_load(reason);
    unsigned boards = 0;
    void *board;
    if (!nvml || !nvml->count || !nvml->by_index || !nvml->name || nvml->count(&boards) != 0) return;
    for (unsigned i = 0; i < boards; i++)
        if (nvml->by_index(i, &board) == 0 && nvml->name(board, name, sizeof name) == 0) line("seen by NVML", "%s", name);
}

// ---- libraries and programs ----------------------------------------------------------------------------------------------

#define CUDA_FIX "sudo apt-get install nvidia-cuda-toolkit (newest: developer.nvidia.com/cuda-downloads) && make"
#define APT(package) "sudo apt-get install " package
#define APT_MAKE(package) APT(package) " && make"

static void report_libraries(void) {
    static const struct {
        const char *name;
        bool found;
        const char *use, *fix;
    } library[] = {
        {"CUDA toolkit", HAVE_CUDA, "CUDA variants", CUDA_FIX},
        {"cuFFT", HAVE_CUDA, "the cuFFT variant (comes with the toolkit)", CUDA_FIX},
        {"OpenMP", HAVE_OPENMP, "all cores", APT_MAKE("gcc libgomp1")},
        {"libpng", HAVE_PNG, "PNG photographs", APT_MAKE("libpng-dev")},
        {"libdeflate", HAVE_DEFLATE, "PNG photographs in less time", APT_MAKE("libdeflate-dev")},
        {"libtiff", HAVE_TIFF, "TIFF photographs", APT_MAKE("libtiff-dev")},
        {"zlib", HAVE_ZLIB, "files of gzip, kits for other machines", APT_MAKE("zlib1g-dev")},
        {"NLopt", HAVE_NLOPT, "search and refinement", APT_MAKE("libnlopt-dev")},
        {"hwloc", HAVE_HWLOC, "cores and caches where /sys is bare", APT_MAKE("libhwloc-dev")},
        {"MPI", HAVE_MPI, "several nodes", APT_MAKE("libopenmpi-dev openmpi-bin")},
    };
    char why[160], *nvcc = rg_program_path("nvcc");
    section("Libraries (found when this binary was built, NVML now)");
    item("FFTW", true, fftw_version, "");
    for (int i = 0; i < RG_COUNT(library); i++) {
        const char *fix = library[i].fix;
        if (!strcmp(fix, CUDA_FIX) && nvcc) fix = "nvcc is here now: make HAVE_CUDA=1";
        item(library[i].name, library[i].found, library[i].use, fix);
    }
    free(nvcc);
    bool nvml = rg_nvml_load(why) != NULL;
    item("NVML", nvml, nvml ? "clocks, power and energy of GPUs" : why, "sudo apt-get install nvidia-driver");
}

static void report_programs(void) {
    // The toolkit's usual place stands beside /usr/local/bin, where the Makefile looks too.
    static const struct {
        const char *label, *name[2], *use, *fix;
    } program[] = {
        {"gnuplot", {"gnuplot", NULL}, "figures of the report", APT("gnuplot-nox")},
        {"Octave", {"octave-cli", "octave"}, "the array-language baseline", APT("octave")},
        {"nvcc", {"nvcc", "../cuda/bin/nvcc"}, "building CUDA variants and plug-ins", CUDA_FIX},
        {"mpirun", {"mpirun", "mpiexec"}, "several nodes", APT("openmpi-bin")},
    };
    section("Programs (in PATH)");
    for (int i = 0; i < RG_COUNT(program); i++) {
        RG_FREED char *found = rg_program_path(program[i].name[0]);
        if (!found && program[i].name[1]) found = rg_program_path(program[i].name[1]);
        item(program[i].label, found, found ? found : program[i].use, program[i].fix);
    }
    const rg_entry *numpy = rg_entry_next(NULL, "autocorr:numpy", "cpu");
    const char *lacks = numpy ? rg_unavailable(numpy) : "this build has no such variant";
    item("NumPy", !lacks, lacks ? lacks : "a second array-language baseline", APT("python3-numpy"));
}

// ---- measured rates ------------------------------------------------------------------------------------------------------

static void rate_cell(double per_s) {
    static const char prefix[] = " kMGTP";
    int step = 0;
    while (per_s >= 1000 && step < 5) {
        per_s /= 1000;
        step++;
    }
    if (isnan(per_s))
        printf(" %10s", "-");
    else
        printf(" %8.*f %c", per_s < 10 ? 3 : per_s < 100 ? 2 : 1, per_s, prefix[step]);
}

enum { COLUMNS_MAX = 10 };

static void rate_row(const char *name, const char *unit, int n, const double *per_s) {
    printf("  %-13s", name);
    for (int i = 0; i < n; i++) rate_cell(per_s[i]);
    printf("  %s\n", unit);
}

static void report_rates(void) {
    rg_rates rates[COLUMNS_MAX];
    char title[COLUMNS_MAX][24], why[200];
    int cores = rg_cpu_cores(), n = 0, gpus = rg_gpu_count(why);
    rg_probe_cpu(1, RG_ALL_RESOURCES, &rates[n]);
    snprintf(title[n++], sizeof title[0], "1 core");
    if (cores > 1) {
        rg_probe_cpu(cores, RG_ALL_RESOURCES, &rates[n]);
        snprintf(title[n++], sizeof title[0], "%d core%s", cores, rg_plural(cores));
    }
    section("Measured rates (per second; k M G T are powers of 1000)");
    for (int i = 0; i < gpus && n < COLUMNS_MAX; i++) {
        snprintf(title[n], sizeof title[n], "gpu%d", i);
        const rg_device *gpu = rg_device_open(title[n], why);
        int code = gpu ? rg_probe_gpu(gpu, RG_ALL_RESOURCES, &rates[n]) : RG_OK;
        if (!gpu || code != RG_OK) {
            line(title[n], "not probed: %s", gpu ? gpu->error(code) : why);
            continue;
        }
        n++;
    }
    printf("  %-13s", rates[0].isa);
    for (int i = 0; i < n; i++) printf(" %10s", title[i]);
    putchar('\n');
    double row[COLUMNS_MAX];
    for (int r = 0; r < RG_RESOURCES; r++) {
        for (int i = 0; i < n; i++) row[i] = rates[i].per_s[r];
        rate_row(rg_resource_name[r], rg_resource_unit[r], n, row);
    }
    for (int i = 0; i < n; i++) row[i] = rates[i].l2_bytes_per_s;
    rate_row("L2", "B/s", n, row);
    for (int i = 0; i < n; i++) row[i] = rates[i].mma_i8_per_s;
    rate_row("mma", "multiply-adds/s", n, row);
    for (int i = 0; i < n; i++) row[i] = rates[i].wgmma_i8_per_s;
    rate_row("wgmma", "multiply-adds/s", n, row);
}

// ---- a job's stages ------------------------------------------------------------------------------------------------------

// Reads the amount of one resource from "fp32=1.2e+12 memory=3e+09"; 0 if it is not named.
static double amount(const char *needs, int resource) {
    const size_t n = strlen(rg_resource_name[resource]);
    for (const char *word = needs; *word; word += strcspn(word, " "), word += *word == ' ')
        if (!strncmp(word, rg_resource_name[resource], n) && word[n] == '=') return atof(word + n + 1);
    return 0;
}

// The time, in s, of the resource that limits the calls at these rates, 0 if nothing is known; *limit: that resource.
static double bound_s(const rg_cost *needs, const rg_rates *rates, int *limit) {
    double longest_s = 0;
    for (int r = 0; r < RG_RESOURCES; r++)
        if (needs->amount[r] / rates->per_s[r] > longest_s) {
            longest_s = needs->amount[r] / rates->per_s[r];
            *limit = r;
        }
    return longest_s;
}

static int rates_of(const rg_tsv *t, rg_rates *rates) {
    const char *device = rg_tsv_head(t, "device"), *threads = rg_tsv_head(t, "threads");
    char why[200];
    unsigned wanted = 0;
    for (int i = 0; i < t->n_rows; i++)
        for (int r = 0; r < RG_RESOURCES; r++) wanted |= amount(rg_tsv_cell(t, i, "needs"), r) > 0 ? 1u << r : 0;
    if (!device || !threads || atoi(threads) < 1)
        return rg_fail(RG_USAGE, "%s: expected the heads \"device\" and \"threads\" of a job's stages", t->path);
    const rg_device *on = rg_device_open(device, why);
    if (!on) return rg_fail(RG_LACKS, "%s: of %s: %s", t->path, device, why);
    if (on->is_emulated) return rg_fail(RG_USAGE, "%s: on an emulated GPU, which has no rates", t->path);
    if (!on->is_gpu) rg_probe_cpu(atoi(threads), wanted, rates);
    return !on->is_gpu || rg_probe_gpu(on, wanted, rates) == RG_OK ? RG_GOOD : rg_fail(RG_LACKS, "%s: not probed", device);
}

// Prints the time of each stage, the least time of its calls, and the difference. For the whole job, the least time is that of
// the one resource that limits all calls together: stages that run at the same time share the machine.
static int report_stages(const char *path) {
    rg_tsv t;
    rg_rates rates;
    rg_cost all = {{0}};
    int code = rg_tsv_read(path, &t);
    if (code != RG_GOOD) return code;
    code = rg_tsv_needs(&t, "stage busy_s needs");
    code = code == RG_GOOD ? rates_of(&t, &rates) : code;
    if (code == RG_GOOD) printf("stage\tbusy_s\tbound_s\tof\tfraction\tleft_s\n");
    for (int i = 0; i < t.n_rows && code == RG_GOOD; i++) {
        const char *stage = rg_tsv_cell(&t, i, "stage");
        const double busy_s = rg_tsv_number(&t, i, "busy_s");
        rg_cost cost = all;
        for (int r = 0; r < RG_RESOURCES && strcmp(stage, "whole"); r++) {
            cost.amount[r] = amount(rg_tsv_cell(&t, i, "needs"), r);
            all.amount[r] += cost.amount[r];
        }
        int limit = 0;
        const double least_s = bound_s(&cost, &rates, &limit);
        if (!(least_s > 0)) {
            rg_tsv_print(stdout, "%s\t%.4f\t-\t-\t-\t-\n", stage, busy_s);
            continue;
        }
        rg_tsv_print(stdout, "%s\t%.4f\t%.4f\t%s\t%.2f\t%.4f\n", stage, busy_s, least_s, rg_resource_name[limit],
            least_s / busy_s, busy_s - least_s);
        if (least_s > RG_FRACTION_MOST * busy_s)
            rg_warn("%s: %s is %.3g times faster than its bound: its calls need less than they say, or the machine was busy "
                    "while %s was probed",
                path, stage, least_s / busy_s, rg_resource_name[limit]);
    }
    rg_tsv_free(&t);
    return code;
}

typedef struct doctor {
    rg_given given;
    bool probe;
    const char *stages;
} doctor;

static int run(void *options) {
    const doctor *d = options;
    rg_head head;
    if (d->stages) return report_stages(d->stages);
    rg_head_make(&head, NULL, 0, NULL);
    for (int i = 0; i < head.n; i++) {
        if (!strcmp(head.key[i], "suite") || !strcmp(head.key[i], "revision") || !strcmp(head.key[i], "compiler") ||
            !strcmp(head.key[i], "cflags") || !strcmp(head.key[i], "nvcc")) {
            printf("%-9s %s\n", head.key[i], head.value[i]);
        }
    }
    rg_head_free(&head);
    report_cpu();
    report_gpus();
    report_libraries();
    report_programs();
    if (d->probe) {
        fflush(stdout);
        report_rates();
    }
    return RG_GOOD;
}

static const rg_option options[] = {
    {"probe", NULL, "also measure the rates that the CPU and each GPU sustain (a few seconds)", RG_TO(doctor, probe)},
    {"stages", "OUT_stages.tsv", "stages of a job on this machine: the least time of each, at rates measured now",
        RG_TO(doctor, stages)},
    {0},
};

const rg_command rg_cmd_doctor = {
    .name = "doctor",
    .words = "",
    .summary = "what this machine has and lacks, and the command that repairs it",
    .help = "Shows the CPU with its SIMD levels, cores and caches; the GPUs with driver and runtime, and whether this\n"
            "binary holds code for them; each library and program, found or missing; whether energy counters can be\n"
            "read; and whether clocks are locked. --probe adds the rates that `bench` compares times with.\n\n"
            "--stages shows for each stage of a job its time, the least time that its calls can take at the rates of the\n"
            "job's device and threads, the resource that limits them, the share of that bound that was reached, and the\n"
            "remaining seconds. \"-\" stands where no kernel states what it needs (reading, copies, preparation, work of the\n"
            "host, writing). The last row holds the needs of all calls together. A stage faster than its bound gets a\n"
            "warning.\n\n"
            "doctor reports and does not judge: its exit code is always 0.",
    .option = options,
    .bytes = sizeof(doctor),
    .run = run,
};
