// SPDX-License-Identifier: MIT
// measure.c: the command `measure`, which a kit's run.sh calls: measures a workload on this machine by the rules of
// bench/RULES.md and writes an archive.
#include "archive.h"
#include "measure.h"

#include "../timing/timing.h"

#include "../../impl/base/bundle.h"
#include "../../impl/base/options.h"

#include <link.h>
#include <time.h>

typedef enum { WARM_UP, TIMED, ENERGY } run_kind;
static const char *const kind_name[] = {"warm-up", "timed", "energy"};

typedef struct measure {
    rg_given given;
    const char *workload_path, *nonce, *peak_path, *meter, *out;
    int size; // an rg_size
    double window_s, budget_s;
    bool busy; // continue if other processes are active

    rg_workload workload;
    rg_tsv peak;
    bool is_peak;
    rg_inputs_made inputs;
    int gpus; // that jobs may use; 0 with the reason
    char no_gpu[200];
    char folder[4096], inputs_folder[4096], program[4096];
    char first[RG_JOBS_MOST][4096]; // outputs of a job's first run
    int good[RG_JOBS_MOST], timed[RG_JOBS_MOST];
    int runs, wrong;
    double began_s, round_s, others_s,
        said_s; // mean of a round; CPU seconds of others while jobs ran; what was predicted in all
    rg_progress progress;
    rg_window window;
    bool joules;
    // Texts of the archive so far.
    FILE *table, *power, *log;
    char *table_text, *power_text, *log_text, chain[65];
    size_t table_bytes, power_bytes, log_bytes;
} measure;

static double now(const measure *m) { return rg_seconds() - m->began_s; }

// Writes a line of the log: the time, the text, and a hash of the line and the hash before it, so that no line can be removed
// or edited alone. aloud: also prints it; for single runs the progress is enough.
__attribute__((format(printf, 3, 4))) static void note(measure *m, bool aloud, const char *format, ...) {
    char text[1000];
    const int n = snprintf(text, sizeof text, "%.6f ", now(m));
    RG_FORMAT(text + n, sizeof text - (size_t)n, format);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    RG_FREED char *chained = rg_print("%s%s", m->chain, text);
    rg_sha256_of(chained, strlen(chained), m->chain);
    fprintf(m->log, "%s %.16s\n", text, m->chain);
    if (!aloud || rg_quiet) return;
    rg_progress_end(&m->progress);
    fprintf(stderr, "measure: %s\n", text + n);
}

// ---- runs ----------------------------------------------------------------------------------------------------------------

// The words that a peak file adds to a job's command; "": none.
static const char *more_of(const measure *m, int job) {
    const int row = rg_tsv_find(&m->peak, "job", m->workload.job[job].job);
    return row < 0 ? "" : rg_tsv_cell(&m->peak, row, "options");
}

// Runs a job, compares its outputs with the truth and with its first run, and writes a row whatever the result. The outputs of
// the first run are kept. Returns the job's status.
static const char *run_job(measure *m, int job, run_kind kind, double *wall_s) {
    const rg_work *w = &m->workload.job[job];
    char hash[65] = "-", throttle[RG_REASON];
    RG_FREED char *command = rg_job_command(&m->inputs, job, more_of(m, job));
    const char *status = "failed";
    rg_job_run run;
    const double others_before = rg_watch_cpu_s(), own_before = rg_cpu_own_s();
    const char *first = m->first[job], *folder = rg_job_run_again(m->program, command, m->first[job], m->folder, -1, &run);
    const double end_s = now(m), others_s = rg_watch_cpu_s() - others_before - run.cpu_s - (rg_cpu_own_s() - own_before);
    double error = NAN, difference = NAN;
    rg_sensors sensors;
    m->gpus ? rg_sensors_read_closed(0, &sensors) : rg_sensors_read(NULL, &sensors);
    if (!run.code) {
        rg_job_outputs_hash(folder, hash);
        error = rg_job_error(w, m->inputs.in[job], folder, m->inputs.seed);
        difference = folder == first ? 0 : rg_job_outputs_compare(first, folder).largest;
        status = !(error <= w->tolerance)                                                           ? "wrong"
            : others_s > fmax(RG_BUSY_LEAST_S, RG_BUSY_SHARE * run.wall_s * (double)m->given.cores) ? "busy"
                                                                                                    : "good";
    }
    const double done_s = now(m);
    m->others_s += others_s;
    m->wrong += run.code || !strcmp(status, "wrong");
    rg_tsv_print(m->table, "%d\t%s\t%s\t%s\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t", ++m->runs, w->job, m->is_peak ? "peak" : "base",
        kind_name[kind], end_s - run.wall_s, end_s, done_s, run.wall_s, run.cpu_s);
    rg_tsv_put(m->table, "%.3f", others_s, '\t');
    rg_tsv_print(m->table, "%lld\t%.0f\t", (long long)run.preempted, run.peak_bytes);
    rg_tsv_put(m->table, "%.0f", run.gpu_peak_bytes, '\t');
    rg_tsv_print(m->table, "%d\t%s\t%s\t", run.code, m->inputs.hash[job], hash);
    rg_tsv_put(m->table, "%.6g", difference, '\t');
    rg_tsv_put(m->table, "%.6g", error, '\t');
    rg_tsv_put(m->table, "%.6g", w->tolerance, '\t');
    rg_tsv_put(m->table, "%.0f", m->gpus ? sensors.sm_MHz : sensors.cpu_MHz, '\t');
    rg_tsv_put(m->table, "%.0f", sensors.temp_C, '\t');
    rg_tsv_put(m->table, "%.0f", sensors.power_W, '\t');
    rg_throttle_print(sensors.throttle, true, throttle);
    rg_tsv_print(m->table, "%s\t%s\t%s\n", throttle, m->nonce, status);
    note(m, false, "run %d %s %s began %.6f ended %.6f outputs %.16s %s%s%s", m->runs, w->job, kind_name[kind],
        end_s - run.wall_s, end_s, hash, status, *run.said ? ": " : "", run.said);
    *wall_s = run.wall_s;
    return status;
}

// Predicts the remaining seconds from the mean of a round: the least number of good runs a job, three times as many if other
// processes are busy, then rounds until the time is up; and the windows of energy.
static double left_s(const measure *m) {
    const double windows_s = m->joules ? m->workload.n * m->window_s : 0, done = (double)m->runs / m->workload.n - 1;
    int least = 0;
    for (int j = 0; j < m->workload.n; j++) least = m->workload.job[j].min_runs > least ? m->workload.job[j].min_runs : least;
    const double by_rule_s = (least * (m->busy ? 3 : 1) - done) * m->round_s,
                 by_time_s = fmin(m->budget_s - windows_s - now(m), (RG_ROUNDS_MOST - done) * m->round_s);
    return fmax(fmax(by_rule_s, by_time_s), 0) + windows_s;
}

static void show_left(measure *m) {
    m->progress.total = m->runs * (1 + left_s(m) / fmax(rg_seconds() - m->progress.began_s, 1e-3));
    rg_progress_at(&m->progress, m->runs);
}

// Prints the prediction again if it grew by a third.
static void predict(measure *m) {
    const double all_s = now(m) + left_s(m);
    if (all_s < m->said_s * 4 / 3) return;
    m->said_s = all_s;
    note(m, true, "prediction: a round of %d job%s takes %.1f s; about %.0f s in all, and some for the machine's rates",
        m->workload.n, rg_plural(m->workload.n), m->round_s, all_s);
}

// Runs a round that is not timed. Other busy processes are noticed here, not after many runs that will not count.
static int warm_up(measure *m) {
    const double from_s = now(m);
    double wall_s, jobs_s = 0;
    rg_watched before = rg_watch_processes();
    for (int j = 0; j < m->workload.n && !m->wrong; j++) {
        run_job(m, j, WARM_UP, &wall_s);
        jobs_s += wall_s;
    }
    m->round_s = now(m) - from_s;
    const bool others = m->others_s > fmax(RG_BUSY_LEAST_S, RG_BUSY_SHARE * jobs_s * (double)m->given.cores);
    char who[300] = "";
    if (others) rg_watch_say(&before, m->others_s, jobs_s, who);
    free(before.one);
    if (m->wrong) return RG_GOOD;
    if (others && !m->busy)
        return rg_fail(RG_UNSURE,
            "measure: others are busy: while each job ran once for %.1f s in all, they had %s. End them and run again; or go on with "
            "--busy: their runs will not count, and it takes up to %.0f s instead of %.0f",
            jobs_s, who, 3 * left_s(m), left_s(m));
    if (others) note(m, true, "others are busy: %s", who);
    predict(m);
    return RG_GOOD;
}

// Runs the jobs in turn, forth and back, each until it has its good runs and the time is up. If other processes are busy most
// of the time, three times as many runs suffice to say so.
static void rounds(measure *m) {
    const double until_s = m->budget_s - (m->joules ? m->workload.n * m->window_s : 0), from_s = now(m);
    bool short_of_runs = true;
    double wall_s, longest_s = m->round_s;
    for (int round = 0; !m->wrong && (short_of_runs || (round < RG_ROUNDS_MOST && now(m) + longest_s < until_s)); round++) {
        const double began_s = now(m);
        short_of_runs = false;
        for (int i = 0; i < m->workload.n && !m->wrong; i++) {
            const int j = round % 2 ? m->workload.n - 1 - i : i, least = m->workload.job[j].min_runs;
            m->timed[j]++;
            m->good[j] += !strcmp(run_job(m, j, TIMED, &wall_s), "good");
            short_of_runs |= m->good[j] < least && m->timed[j] < 3 * least;
            show_left(m);
        }
        longest_s = fmax(longest_s, now(m) - began_s);
        m->round_s = (now(m) - from_s) / (round + 1);
        predict(m);
    }
}

static void windows(measure *m) {
    for (int j = 0; j < m->workload.n && !m->wrong; j++) {
        double joules[RG_POWERS], seconds, wall_s;
        int runs = 0;
        rg_window_begin(&m->window);
        for (; !m->wrong && (!runs || rg_seconds() - m->window.began_s < m->window_s); runs++) {
            run_job(m, j, ENERGY, &wall_s);
            rg_progress_at(&m->progress, m->runs);
            rg_window_read_meter(&m->window);
        }
        rg_window_end(&m->window, joules, &seconds);
        for (int p = 0; p < RG_POWERS; p++)
            if (!*m->window.why[p] && isfinite(joules[p])) {
                rg_tsv_print(m->power, "%s\t%s\t%d\t%d\t%.3f\t%.6g\t%.6g\t%.6g\n", m->workload.job[j].job, rg_power_name[p],
                    m->runs - runs + 1, m->runs, seconds, joules[p], joules[p] / runs, joules[p] / seconds);
                note(m, false, "energy %s %s %.6g J in %.3f s", m->workload.job[j].job, rg_power_name[p], joules[p], seconds);
            }
    }
}

// ---- the archive -----------------------------------------------------------------------------------------------------------

typedef struct manifest {
    rg_pack pack;
    FILE *list;
} manifest;

static int add(manifest *a, int code, const char *path, const char *text, size_t n) {
    char hex[65];
    if (code) return code;
    rg_sha256_of(text, n, hex);
    fprintf(a->list, "%s\t%zu\t%s\n", path, n, hex);
    return rg_pack_add(&a->pack, path, text, n, 0644);
}

__attribute__((format(printf, 3, 4))) static void put_pair(FILE *f, const char *key, const char *format, ...) {
    char text[1200];
    RG_FORMAT(text, sizeof text, format);
    rg_tsv_print(f, "%s\t%s\n", key, *text ? text : "-");
}

static int put_library(struct dl_phdr_info *info, size_t size, void *to) {
    char hex[65];
    (void)size;
    const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    if (*path == '/' && access(path, R_OK) == 0 && !rg_sha256_file(path, hex, NULL)) // without /proc the program is not
        rg_tsv_print(to, "library %s\tsha256 %s\n", *info->dlpi_name ? rg_base_name(path) : "regather", hex);
    return 0;
}

static void put_rates(FILE *f, const char *of, const rg_rates *r) {
    for (int i = 0; i < RG_RESOURCES; i++)
        if (isfinite(r->per_s[i]))
            rg_tsv_print(f, "probe %s %s\t%.4g %s\n", of, rg_resource_name[i], r->per_s[i], rg_resource_unit[i]);
    if (isfinite(r->l2_bytes_per_s)) put_pair(f, "probe gpu l2", "%.4g B/s", r->l2_bytes_per_s); // no cost() states it
}

static char *machine_text(measure *m, size_t *n) {
    char *text = NULL, line[200];
    FILE *f = open_memstream(&text, n);
    rg_head head;
    rg_rates rates;
    // After all runs: a context keeps a GPU awake and, in exclusive compute mode, keeps other processes out.
    const rg_device *gpu = m->gpus ? rg_device_open("gpu", m->no_gpu) : NULL;
    fprintf(f, "key\tvalue\n");
    put_pair(f, "nonce", "%s", m->nonce);
    put_pair(f, "seed", "%" PRIu64, m->inputs.seed);
    put_pair(f, "size", "%s", rg_size_name[m->size]);
    put_pair(f, "division", "%s", m->is_peak ? "peak" : "base");
    put_pair(f, "workload", "%s", m->workload.title);
    put_pair(f, "rules", "%d", RG_LEAST_RUNS);
    put_pair(f, "gpus", "%d%s%s", m->gpus, gpu ? "" : ", none open: ", gpu ? "" : m->no_gpu);
    rg_head_make(&head, gpu, m->inputs.seed, m->given.line);
    for (int i = 0; i < head.n; i++) put_pair(f, head.key[i], "%s", head.value[i]);
    rg_head_free(&head);
    put_pair(f, "usable_cores", "%lld", (long long)m->given.cores);
    put_pair(
        f, "firmware", "%s", rg_line(line, sizeof line, "/sys/class/dmi/id/bios_version") ? line : "unknown (/sys tells none)");
    for (int p = 0; p < RG_POWERS; p++)
        rg_tsv_print(f, "energy %s\t%s%s\n", rg_power_name[p], *m->window.why[p] ? "none: " : "measured", m->window.why[p]);
    rg_probe_cpu((int)m->given.cores, RG_ALL_RESOURCES, &rates);
    put_rates(f, "cpu", &rates);
    rg_probe_cpu(1, RG_ALL_RESOURCES, &rates);
    put_rates(f, "core", &rates);
    if (gpu && !rg_probe_gpu(gpu, RG_ALL_RESOURCES, &rates)) put_rates(f, "gpu", &rates);
    dl_iterate_phdr(put_library, f);
    fclose(f);
    return text;
}

static int pack_samples(measure *m, manifest *a) {
    int code = RG_GOOD;
    for (int j = 0; j < m->workload.n && *m->first[j] && !code; j++) { // jobs after a failed one have no outputs
        for (int in = 0; in < 1 + (m->workload.job[j].input_of == j); in++) {
            RG_FREED char *path = rg_print("%s/%s.tsv", in ? "inputs" : "outputs", m->workload.job[j].job),
                          *text = rg_job_samples(in ? m->inputs.in[j] : m->first[j], m->inputs.seed);
            code = add(a, code, path, text, strlen(text));
        }
    }
    return code;
}

static int add_file(manifest *a, int code, const char *path, const char *from) {
    char hex[65];
    int64_t bytes;
    code = code ? code : rg_pack_add_file(&a->pack, path, from, 0644);
    code = code ? code : rg_sha256_file(from, hex, &bytes);
    if (!code) fprintf(a->list, "%s\t%" PRId64 "\t%s\n", path, bytes, hex);
    return code;
}

// The sources that a peak file names, each as sources/NAME.
static int pack_sources(measure *m, manifest *a, int code) {
    for (int row = 0; row < m->peak.n_rows && !code; row++) {
        char *names = rg_print("%s", rg_tsv_cell(&m->peak, row, "sources")), *rest;
        for (char *name = strtok_r(names, " ", &rest); name && !code; name = strtok_r(NULL, " ", &rest)) {
            RG_FREED char *path = rg_print("sources/%s", rg_base_name(name));
            code = add_file(a, code, path, name);
        }
        free(names);
    }
    return code;
}

// Prints the results for people; `audit` and `score` compute them again.
static char *summary_text(const measure *m) {
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    rg_archive a = {0};
    fprintf(f, "job\truns\tmedian_s\n");
    if (!rg_tsv_parse("runs.tsv", m->table_text, m->table_bytes, &a.runs))
        for (int j = 0; j < m->workload.n; j++) {
            rg_tsv_print(f, "%s\t%d\t", m->workload.job[j].job, m->good[j]);
            rg_tsv_put(f, "%.9g", rg_archive_median(&a, m->workload.job[j].job), '\n');
        }
    rg_tsv_free(&a.runs);
    fclose(f);
    return text;
}

static int pack(measure *m) {
    manifest a = {0};
    char *list = NULL, *machine;
    size_t list_bytes, machine_bytes;
    int code = rg_pack_begin(&a.pack, m->out);
    if (code) return code;
    a.list = open_memstream(&list, &list_bytes);
    fprintf(a.list, "path\tbytes\tsha256\n");
    machine = machine_text(m, &machine_bytes);
    fflush(m->table), fflush(m->power), fflush(m->log);
    code = add(&a, code, "machine.tsv", machine, machine_bytes);
    code = add(&a, code, "runs.tsv", m->table_text, m->table_bytes);
    RG_FREED char *summary = summary_text(m);
    code = add(&a, code, "summary.tsv", summary, strlen(summary));
    code = add(&a, code, "power.tsv", m->power_text, m->power_bytes);
    code = add(&a, code, "log", m->log_text, m->log_bytes);
    code = add_file(&a, code, "workload.tsv", m->workload_path);
    code = code ? code : pack_samples(m, &a);
    code = pack_sources(m, &a, code);
    fclose(a.list);
    code = code ? code : rg_pack_add(&a.pack, "MANIFEST", list, list_bytes, 0644);
    free(list), free(machine);
    return code ? code : rg_pack_commit(&a.pack);
}

// ---- the command -----------------------------------------------------------------------------------------------------------

static int read_peak(measure *m) {
    if (!m->peak_path) return RG_GOOD;
    int code = rg_tsv_read(m->peak_path, &m->peak);
    code = code ? code : rg_tsv_needs(&m->peak, "job options sources");
    for (int row = 0; row < m->peak.n_rows && !code; row++) {
        const char *fault = rg_words_fault(rg_tsv_cell(&m->peak, row, "options"), true);
        if (rg_workload_find(&m->workload, rg_tsv_cell(&m->peak, row, "job")) < 0)
            code = rg_tsv_fault(&m->peak, row, "job", "a job of the workload");
        else if (fault)
            code = rg_fail(RG_USAGE, "%s: line %d: expected %s in column options", m->peak.path, m->peak.row_line[row], fault);
        else if (strstr(rg_tsv_cell(&m->peak, row, "options"), "--plugin") && !*rg_tsv_cell(&m->peak, row, "sources"))
            code = rg_fail(RG_USAGE, "%s: line %d: expected the sources of the plug-in, which a peak run discloses",
                m->peak.path, m->peak.row_line[row]);
    }
    m->is_peak = !code;
    return code;
}

static int begin(measure *m) {
    RG_FREED char *program = rg_own_program();
    if (!program) return rg_fail(RG_LACKS, "measure: /proc/self/exe cannot be read, the program does not know where it is");
    snprintf(m->program, sizeof m->program, "%s", program);
    m->began_s = rg_seconds();
    m->table = open_memstream(&m->table_text, &m->table_bytes);
    m->power = open_memstream(&m->power_text, &m->power_bytes);
    m->log = open_memstream(&m->log_text, &m->log_bytes);
    fprintf(m->table,
        "run\tjob\tdivision\tkind\tbegan_s\tended_s\tchecked_s\twall_s\tcpu_s\tothers_cpu_s\tpreempted\tpeak_bytes\tgpu_peak_bytes\t"
        "code\tinput_sha256\toutput_sha256\tdifference\terror\ttolerance\tclock_MHz\ttemp_C\tpower_W\tthrottle\tnonce\tstatus\n");
    fprintf(m->power, "job\tsource\tfirst_run\tlast_run\twindow_s\tjoules\tjoules_a_run\tmean_W\n");
    const time_t t = time(NULL);
    struct tm utc;
    char date[40];
    gmtime_r(&t, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    note(m, false, "regather %s, revision %s, workload %s, size %s, nonce %s, %s, %s", RG_VERSION, rg_revision(),
        m->workload.title, rg_size_name[m->size], m->nonce, m->is_peak ? "peak" : "base", date);
    int code = rg_job_folder_make(m->folder);
    code = code ? code : rg_job_folder_make(m->inputs_folder);
    if (code) return code;
    code = rg_inputs_generate(&m->inputs, &m->workload, m->program, m->inputs_folder, rg_nonce_seed(m->nonce));
    if (code) return code;
    note(m, true, "inputs made, %.0f s", now(m));
    m->gpus = rg_gpu_count(m->no_gpu);
    if (m->gpus)
        note(m, true, "%d GPUs, the first %s", m->gpus, rg_gpu_name(0));
    else
        note(m, true, "CPU alone: %s", m->no_gpu);
    m->joules = rg_window_can(&m->window, m->gpus, m->meter);
    if (m->meter && *m->window.why[RG_POWER_METER])
        return rg_fail(RG_USAGE, "--meter: expected a command that prints watts, found %s", m->window.why[RG_POWER_METER]);
    return RG_GOOD;
}

static int conclude(const measure *m) {
    int few = 0;
    for (int j = 0; j < m->workload.n; j++) few += m->good[j] < m->workload.job[j].min_runs;
    printf("%s: %d run%s of %d job%s, all kept, %.0f s; energy: %s\n", m->out, m->runs, rg_plural(m->runs), m->workload.n,
        rg_plural(m->workload.n), now(m), m->joules ? "measured" : "no source here, see machine.tsv");
    if (m->wrong) return rg_fail(RG_WRONG, "measure: a run failed or wrote what is wrong; the archive and its log have it");
    if (few)
        return rg_fail(RG_UNSURE,
            "measure: others were busy on this machine: %d of %d jobs have too few good runs; run again when it is idle", few,
            m->workload.n);
    return RG_GOOD;
}

static int run(void *typed) {
    measure *m = typed;
    for (const char *c = m->nonce; *c; c++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.", *c) || c - m->nonce > 60)
            return rg_fail(RG_USAGE, "--nonce: expected at most 60 letters, digits and _-. , found \"%s\"", m->nonce);
    if (!*m->nonce) return rg_fail(RG_USAGE, "--nonce: expected a word, found nothing");
    int code = rg_workload_read(m->workload_path, (rg_size)m->size, &m->workload);
    if (code) return code;
    m->budget_s = isnan(m->budget_s) ? rg_size_s[m->size] : m->budget_s;
    code = read_peak(m);
    code = code ? code : rg_file_can_write(m->out);
    code = code ? code : begin(m);
    if (!code) {
        rg_progress_begin(&m->progress, "measure", "runs", 0);
        code = warm_up(m);
        if (!code) rounds(m);
        if (!code && m->joules) windows(m);
        rg_progress_end(&m->progress);
        note(m, false, "end, %d run%s", m->runs, rg_plural(m->runs));
        code = code ? code : pack(m);
        code = code ? code : conclude(m);
    }
    if (m->table) {
        fclose(m->table), fclose(m->power), fclose(m->log);
        free(m->table_text), free(m->power_text), free(m->log_text);
    }
    for (int j = 0; j < m->workload.n; j++)
        if (*m->first[j]) rg_job_folder_remove(m->first[j]);
    if (*m->folder) rg_job_folder_remove(m->folder);
    if (*m->inputs_folder) rg_job_folder_remove(m->inputs_folder);
    rg_inputs_made_free(&m->inputs);
    rg_tsv_free(&m->peak);
    rg_workload_free(&m->workload);
    return code;
}

static const rg_option options[] = {
    {"workload", "FILE.tsv", "the jobs: see bench/workloads", RG_TO(measure, workload_path), .required = true},
    {"size", "small|medium|full", "of the inputs, and 10 minutes, an hour, or what the rules need", RG_TO(measure, size), 0, 0,
        "small"},
    {"nonce", "WORD", "the buyer's word, from which inputs and samples follow", RG_TO(measure, nonce), .required = true},
    {"peak", "FILE.tsv", "columns job, options, sources: what a peak run adds to a job's command, and the files it discloses",
        RG_TO(measure, peak_path)},
    {"meter", "CMD", "a command that prints the watts of the whole machine; called once a run", RG_TO(measure, meter)},
    {"window", "S", "of energy, filled by repetition", RG_TO(measure, window_s), 1, 3600, "60", "seconds"},
    {"seconds", "S", "time for all runs; the least number of runs may exceed it", RG_TO(measure, budget_s), 0, 1000000,
        .unit = "seconds", .otherwise = "600 of small, 3600 of medium"},
    {"busy", NULL, "go on while others are busy; runs during that time do not count", RG_TO(measure, busy)},
    {"out", "A.rgz", "the archive", RG_TO(measure, out), .required = true},
    {0},
};

const rg_command rg_cmd_measure = {
    .name = "measure",
    .words = "",
    .summary = "a workload on this machine, by the run rules, into an archive",
    .help = "The run.sh of a kit calls this command. It makes the inputs from the nonce, runs every job once to warm up,\n"
            "and then runs all jobs in turns, each run a process, until each job has at least five good runs. Where energy\n"
            "can be read (NVML, RAPL, --meter), each job then runs again for a window of energy. Every run is kept and its\n"
            "outputs are checked. A run during which others were busy does not count. bench/RULES.md has the rules, on one\n"
            "page.\n\n"
            "A.rgz is a gzipped tar of MANIFEST, machine.tsv, runs.tsv, power.tsv, workload.tsv, the log, sampled values\n"
            "of inputs and outputs, and the sources of a peak run. Its file name without .rgz is the machine's label from\n"
            "then on.\n\n"
            "After the warm-up, measure says how long it will take (small 10 minutes, medium an hour). If others are busy,\n"
            "it names them and stops there; --busy goes on.\n\n"
            "Exit codes: 0 good; 1 a run failed or is wrong; 2 bad usage or input; 3 others were busy: either nothing was\n"
            "timed and there is no archive, or too few runs count. The archive then says so, as it does with exit code 1.",
    .option = options,
    .bytes = sizeof(measure),
    .run = run,
};
