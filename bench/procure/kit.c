// SPDX-License-Identifier: MIT
// kit.c: the command `kit`: packs what a vendor runs on the offered machine: this program, the libraries that it needs and that
// may be distributed, a workload, the rules, and a script.
#include "workload.h"

#include "../jobs/run.h"

#include "../timing/timing.h"

#include "../../impl/base/bundle.h"
#include "../../impl/base/options.h"
#include "../../impl/suite.h"

#include <dirent.h>

typedef struct request {
    rg_given given;
    const char *workload, *out;
    int size;
} request;

// Libraries that may be distributed and that some machines lack: the beginnings of their names. FFTW is under the GPL, so a kit
// as a whole is; NVIDIA's licence allows distributing cuFFT and the CUDA runtime (CUDA EULA, attachment A).
static const char *const ships[] = {"libfftw3", "libpng", "libtiff.", "libz.", "liblzma.", "libzstd.", "libnlopt.", "libhwloc.",
    "libudev.", "libstdc++.", "libgcc_s.", "libgomp.", "libomp.", "libwebp.", "libLerc.", "libjbig.", "libjpeg.", "libdeflate.",
    "libsharpyuv.", "libcap.", "libasan.", "libubsan.", "libcudart.", "libcufft."};
// Libraries of the system: glibc and its loader, the kernel's page, the driver.
static const char *const system_has[] = {"linux-vdso.", "/lib", "libc.", "libm.", "libmvec.", "libpthread.", "libdl.", "librt.",
    "libresolv.", "ld-linux", "libcuda.", "libnvidia-ml."};

static bool begins_with_one(const char *name, const char *const *word, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strncmp(name, word[i], strlen(word[i]))) return true;
    return false;
}

// The program for kits, linked without MPI: beside this one, or where `make install` puts it; else this one.
static char *kit_program(void) {
    char *own = rg_own_program();
    if (!own) return NULL;
    static const char *const where[] = {"", "../lib/regather/"};
    for (int i = 0; i < 2; i++) {
        char *path = rg_print("%.*s%sregather-kit", (int)(rg_base_name(own) - own), own, where[i]);
        if (access(path, X_OK) == 0) {
            free(own);
            return path;
        }
        free(path);
    }
    return own;
}

// The libraries that the loader would load, from its own output.
enum { LIBRARIES_MOST = 64 };
typedef struct libraries {
    int n;
    char *path[LIBRARIES_MOST];
} libraries;

static int libraries_of(const char *program, libraries *l) {
    char line[4096], name[256], path[2048];
    *l = (libraries){0};
    setenv("program", program, 1);
    FILE *f = popen("LD_TRACE_LOADED_OBJECTS=1 \"$program\"", "re");
    int code = f ? RG_GOOD : rg_fail(RG_LACKS, "kit: %s cannot be started", program);
    while (f && fgets(line, sizeof line, f)) {
        const int n = sscanf(line, " %255s => %2047s", name, path);
        if (n < 1 || code || begins_with_one(name, system_has, sizeof system_has / sizeof *system_has)) continue;
        if (n != 2 || *path != '/')
            code = rg_fail(RG_LACKS, "kit: library %s is not found here", name);
        else if (!begins_with_one(name, ships, sizeof ships / sizeof *ships))
            code = rg_fail(
                RG_LACKS, "kit: %s needs %s, which is none of those that may be handed on; build without it", program, name);
        else if (l->n == LIBRARIES_MOST)
            code = rg_fail(RG_LACKS, "kit: %s needs more than %d libraries", program, LIBRARIES_MOST);
        else
            l->path[l->n++] = rg_print("%s", path);
    }
    if (f && pclose(f) && !code) code = rg_fail(RG_LACKS, "kit: the loader names no libraries of %s", program);
    return code;
}

// The newest 2.N of "GLIBC_2.N" in a file, which names the versions of the symbols it needs.
static int newest_glibc(const char *path) {
    int minor = 0;
    setenv("file", path, 1);
    FILE *f = popen("grep -aoE 'GLIBC_2[.][0-9]+' \"$file\" | sort -t . -k 2n | tail -n 1", "re");
    if (f && fscanf(f, "GLIBC_2.%d", &minor) != 1) minor = 0;
    if (f) pclose(f);
    return minor;
}

// A text of bench/procure with @NAME@ and the like replaced, malloc'ed; NULL: an error was printed.
static char *filled(const char *path, const char *const word[][2], int n) {
    size_t bytes;
    char *from = rg_share_path(path), *text = rg_file_bytes(from, &bytes);
    if (!text) rg_fail(RG_USAGE, "%s: cannot be read", from);
    for (int i = 0; text && i < n; i++) {
        char *put = rg_job_put(text, word[i][0], word[i][1]);
        free(text);
        text = put;
    }
    free(from);
    return text;
}

// Adds a file to the kit, under the name of the folder.
static int add(rg_pack *p, int code, const char *folder, const char *path, const char *from, int mode) {
    RG_FREED char *full = rg_print("%s/%s", folder, path);
    return code ? code : rg_pack_add_file(p, full, from, mode);
}

static int add_tuned(rg_pack *p, int code, const char *folder) {
    RG_FREED char *tuned = rg_share_path("data/tuned");
    struct dirent **entry;
    const int n = scandir(tuned, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (entry[i]->d_name[0] != '.') {
            RG_FREED char *from = rg_print("%s/%s", tuned, entry[i]->d_name),
                          *path = rg_print("data/tuned/%s", entry[i]->d_name);
            code = add(p, code, folder, path, from, 0644);
        }
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return code;
}

// Its text, under the same name.
static int add_text(rg_pack *p, int code, const char *folder, const char *name, int mode, const char *const word[][2], int n) {
    if (code) return code;
    RG_FREED char *from = rg_print("bench/procure/%s", name), *path = rg_print("%s/%s", folder, name),
                  *text = filled(from, word, n);
    return text ? rg_pack_add(p, path, text, strlen(text), mode) : RG_USAGE;
}

// cuFFT is ten times as large as all the rest: a small kit uses the machine's, and has a stub that lets the program start if
// there is none.
static int add_library(rg_pack *p, int code, const request *r, const char *folder, const char *program, const char *library) {
    const char *name = rg_base_name(library);
    RG_FREED char *none = rg_print("%.*sno-cufft.so", (int)(rg_base_name(program) - program), program);
    const bool left_out = r->size == RG_SMALL && !strncmp(name, "libcufft.", 9) && access(none, R_OK) == 0;
    RG_FREED char *to = rg_print("lib/%s%s", left_out ? "none/" : "", name);
    return add(p, code, folder, to, left_out ? none : library, 0755);
}

static int pack(const request *r, const rg_workload *w, const char *program, const libraries *l, int glibc) {
    static const char *const takes[RG_SIZES] = {"10 minutes", "An hour", "As long as five runs of every job take"};
    rg_pack p;
    RG_FREED char *folder = rg_print("%.*s", (int)strcspn(rg_base_name(r->out), "."), rg_base_name(r->out)),
                  *rules = rg_share_path("bench/RULES.md"), *minor = rg_print("%d", glibc),
                  *jobs = rg_print("%d job%s", w->n, rg_plural(w->n));
    const char *const word[][2] = {{"@NAME@", folder}, {"@GLIBC@", minor}, {"@SIZE@", rg_size_name[r->size]}, {"@JOBS@", jobs},
        {"@TIME@", takes[r->size]}};
    int code = rg_pack_begin(&p, r->out);
    if (!code) {
        code = add_text(&p, code, folder, "README.txt", 0644, word, RG_COUNT(word));
        code = add_text(&p, code, folder, "run.sh", 0755, word, RG_COUNT(word));
        code = add(&p, code, folder, "bin/regather", program, 0755);
        for (int i = 0; i < l->n; i++) code = add_library(&p, code, r, folder, program, l->path[i]);
        code = add(&p, code, folder, "workload.tsv", r->workload, 0644);
        code = add(&p, code, folder, "RULES.md", rules, 0644);
        code = add_tuned(&p, code, folder);
        code = code ? code : rg_pack_commit(&p);
    }
    return code;
}

static int run(void *typed) {
    const request *r = typed;
    rg_workload w;
    libraries l = {0};
    int code = rg_workload_read(r->workload, (rg_size)r->size, &w);
    if (code) return code;
    RG_FREED char *program = kit_program();
    code = program ? libraries_of(program, &l)
                   : rg_fail(RG_LACKS, "kit: /proc/self/exe cannot be read, the program does not know where it is");
    int glibc = 0;
    for (int i = -1; i < l.n && !code; i++) {
        const int its = newest_glibc(i < 0 ? program : l.path[i]);
        glibc = its > glibc ? its : glibc;
    }
    code = code ? code : pack(r, &w, program, &l, glibc);
    if (!code)
        printf("%s: %d job%s of size %s, %d librar%s; runs on Linux x86-64 with glibc 2.%d or newer\n", r->out, w.n,
            rg_plural(w.n), rg_size_name[r->size], l.n, l.n == 1 ? "y" : "ies", glibc);
    for (int i = 0; i < l.n; i++) free(l.path[i]);
    rg_workload_free(&w);
    return code;
}

static const rg_option options[] = {
    {"workload", "FILE.tsv", "the jobs: see bench/workloads", RG_TO(request, workload), .required = true},
    {"size", "small|medium|full", "of the inputs", RG_TO(request, size), 0, 0, "small"},
    {"out", "KIT.tar.gz", "the kit", RG_TO(request, out), .required = true},
    {0},
};

const rg_command rg_cmd_kit = {
    .name = "kit",
    .words = "",
    .summary = "what a vendor runs on a machine on offer: program, libraries, workload, rules, script",
    .help = "KIT.tar.gz unpacks to a folder KIT with run.sh, which needs no root, network, MPI or gnuplot:\n\n"
            "    ./run.sh --seed NONCE [--peak FILE] [--meter CMD] --out A.rgz\n\n"
            "run.sh makes the inputs from the nonce, which the buyer gives late. Size small takes about 10 minutes, medium\n"
            "an hour, full as long as the rules need (RULES.md). The glibc of the machine that built the kit sets the\n"
            "oldest system on which it runs; it is printed, and run.sh checks it. README.txt tells the vendor what the kit\n"
            "does, how long that takes, and what leaves the machine. A small kit of a program with CUDA leaves out cuFFT\n"
            "(200 MB) and uses the machine's own, where it has a GPU.",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
