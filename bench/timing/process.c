// SPDX-License-Identifier: MIT
// process.c: runs each round of bench in its own process. Addresses, plans, clocks and all else that is fixed for the life of a
// process thus differ between the rounds of a row, and its interval includes them.
//
// The process is this program with its original command line and --serve. It makes the same plan, and answers with the state of
// every measurement after its visit.
#include "timing.h"
#include "sample.h"

#include <signal.h>
#include <sys/wait.h>

typedef struct answer {
    size_t bytes; // of this struct, to check that both sides are the same build
    int index;
    rg_measurement measurement;
} answer;

// ---- the process that computes ------------------------------------------------------------------------------------------

typedef struct server {
    const rg_bench_options *options;
    rg_bench_plan plan;
    rg_out rows; // in memory: times of calls at other shapes
    const rg_device *gpu;
    FILE *answers;
    int round;
} server;

static void tell(server *s, const rg_measurement *measurement) {
    answer a = {sizeof a, (int)(measurement - s->plan.measurement), *measurement};
    fwrite(&a, sizeof a, 1, s->answers);
    fflush(s->answers);
    rg_out_add(&s->rows, rg_measurement_row(measurement, NULL));
}

static bool finished(void *of, rg_measurement *measurement) {
    tell(of, measurement);
    return true;
}

static void visited(void *of) { (void)of; }

// Selects unfinished measurements of first..past that fit together, and refuses those that do not fit alone.
static int choose(server *s, int first, int past, rg_measurement **chosen) {
    double room[2] = {rg_free_bytes(rg_device_cpu()), s->gpu ? rg_free_bytes(s->gpu) : 0}, taken[2] = {0, 0};
    int n = 0;
    for (int i = first; i < past; i++) {
        rg_measurement *measurement = &s->plan.measurement[i];
        if (measurement->done) continue;
        int where = measurement->entry->variant->space == RG_DEVICE;
        double needs = (double)rg_measurement_bytes(measurement);
        if (needs > room[where]) {
            char fits[96];
            rg_largest_that_fits(measurement, room[where], fits);
            rg_measurement_end(measurement, RG_SKIP, RG_STOP_MEMORY, "needs %.4g GB, has %.4g GB, largest that fits %s",
                needs / 1e9, room[where] / 1e9, fits);
            tell(s, measurement);
        } else if (taken[where] + needs <= room[where]) {
            taken[where] += needs;
            chosen[n++] = measurement;
        }
    }
    return n;
}

static void time_group(server *s, int first, int past) {
    RG_FREED rg_measurement **chosen = rg_alloc((size_t)(past - first) * sizeof *chosen);
    rg_inputs in = {0};
    const bool energy = s->options->energy && s->round == 0; // the only round of all measurements
    const rg_rounds rounds = {
        s->gpu, s->options->given.seed, s->round, false, energy ? RG_ENERGY_WINDOW_S : 0, finished, visited, s};
    const rg_measurement *any = &s->plan.measurement[first];
    double needs = rg_inputs_bytes(any->entry->algo, &any->shape), has = rg_free_bytes(rg_device_cpu());
    for (int i = first; i < past; i++) {
        rg_measurement *measurement = &s->plan.measurement[i];
        if (measurement->done) continue;
        if (needs > has)
            rg_measurement_end(measurement, RG_SKIP, RG_STOP_MEMORY, "the arguments need %.4g GB on the host, has %.4g GB",
                needs / 1e9, has / 1e9);
        rg_refuse_long(measurement, &s->rows, s->options->max_call_s);
        if (measurement->done) tell(s, measurement);
    }
    for (int n; (n = choose(s, first, past, chosen));) {
        if (!in.algo) rg_inputs_make(&in, chosen[0]->entry->algo, &chosen[0]->shape);
        rg_time_rounds(&rounds, chosen, n, &in);
    }
    if (in.algo) rg_inputs_free(&in);
}

static int read_round(server *s) {
    const char *measurements = strchr(s->options->serve, ':');
    s->round = atoi(s->options->serve);
    if (!measurements || strspn(++measurements, "01") != (size_t)s->plan.n || measurements[s->plan.n])
        return rg_fail(RG_USAGE, "--serve: expected a round and a 0 or 1 for each of %d measurements, found \"%s\"", s->plan.n,
            s->options->serve);
    bool gpu = false;
    for (int i = 0; i < s->plan.n; i++) {
        rg_measurement *measurement = &s->plan.measurement[i];
        measurement->done = measurements[i] == '0';
        measurement->rounds = 1;
        measurement->share = (int)s->options->rounds;
        measurement->brief = s->round > 0;
        gpu |= !measurement->done && measurement->entry->variant->space == RG_DEVICE;
    }
    char why[200];
    if (gpu && !(s->gpu = rg_device_open(s->options->given.device, why)))
        return rg_fail(RG_LACKS, "bench: round %d: %s", s->round + 1, why);
    return RG_GOOD;
}

int rg_round_serve(const rg_bench_options *o) {
    server s = {.options = o};
    int code = rg_bench_plan_make(o, &s.plan);
    code = code ? code : read_round(&s);
    // Answers go where standard output went; what kernels and libraries print goes to standard error.
    s.answers = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    for (int i = 0, past; !code && i < s.plan.n; i = past) {
        past = rg_bench_plan_group(&s.plan, i);
        time_group(&s, i, past);
    }
    fclose(s.answers);
    rg_out_free(&s.rows);
    rg_bench_plan_free(&s.plan);
    return code;
}

// ---- the process that asks ----------------------------------------------------------------------------------------------

char *rg_own_program(void) {
    const char *program = getenv("REGATHER_PROGRAM"); // for tests, which are other programs
    char path[4096];
    ssize_t n = program ? -1 : readlink("/proc/self/exe", path, sizeof path - 1);
    return program ? rg_print("%s", program) : n > 0 ? rg_print("%.*s", (int)n, path) : NULL;
}

static bool asked(const rg_round *r, const rg_measurement *measurement, int i) {
    return i >= r->first && i < r->past && !measurement->done;
}

static pid_t start(const rg_round *r, const bool *heard, FILE **answers) {
    const rg_bench_plan *l = r->plan;
    RG_FREED char *program = rg_own_program(), *serve = rg_alloc((size_t)l->n + 16);
    char *const *argv = r->options->given.argv;
    int n = 0, to[2], at = sprintf(serve, "%d:", r->number);
    for (int i = 0; i < l->n; i++) serve[at++] = asked(r, &l->measurement[i], i) && !heard[i] ? '1' : '0';
    while (argv[n]) n++;
    RG_FREED char **words = rg_alloc((size_t)(n + 5) * sizeof *words);
    words[0] = "regather";
    memcpy(words + 1, argv, (size_t)n * sizeof *words);
    words[n + 1] = "--serve", words[n + 2] = serve;
    words[n + 3] = r->options->given.quiet ? NULL : "--quiet";
    fflush(NULL);
    pid_t pid = program && !pipe(to) ? fork() : -1;
    if (pid == 0) {
        dup2(to[1], STDOUT_FILENO);
        close(to[0]), close(to[1]);
        execv(program, words);
        _exit(127);
    }
    if (pid > 0) {
        close(to[1]);
        *answers = fdopen(to[0], "r");
    }
    return pid;
}

// Adds the results of another process's visit to the measurement.
static void take_over(rg_measurement *measurement, const rg_measurement *theirs) {
    if (theirs->verdict.status != RG_PASS) {
        measurement->n = 0;
        rg_measurement_end(measurement, theirs->verdict.status, theirs->stop, "%s", theirs->detail);
        measurement->others = theirs->others;
        measurement->verdict = theirs->verdict;
        return;
    }
    const bool first = !measurement->processes;
    for (int i = 0; i < theirs->n && measurement->n < RG_SAMPLES_MAX; i++)
        measurement->sample_ns[measurement->n++] = theirs->sample_ns[i];
    measurement->past[measurement->processes++] = measurement->n;
    measurement->batch = first || theirs->batch < measurement->batch ? theirs->batch : measurement->batch;
    measurement->visits += theirs->visits;
    measurement->spent_s += theirs->spent_s;
    measurement->clock_MHz += theirs->clock_MHz;
    measurement->power_W += theirs->power_W;
    measurement->temp_C = first ? theirs->temp_C : fmax(measurement->temp_C, theirs->temp_C);
    measurement->preempted += theirs->preempted;
    measurement->fresh = first ? theirs->fresh : fmin(measurement->fresh, theirs->fresh); // other load slows only one of them
    measurement->others_s += theirs->others_s;
    measurement->watched_s += theirs->watched_s;
    measurement->throttle |= theirs->throttle;
    if (first || theirs->verdict.error > measurement->verdict.error) measurement->verdict = theirs->verdict;
    if (first) {
        measurement->prepare_ns = theirs->prepare_ns;
        measurement->check = theirs->check;
        measurement->checked = theirs->checked;
        measurement->elements = theirs->elements;
        memcpy(measurement->against, theirs->against, sizeof measurement->against);
        measurement->joules = theirs->joules;
        measurement->energy = theirs->energy;
        measurement->energy_s = theirs->energy_s;
        measurement->energy_calls = theirs->energy_calls;
        measurement->energy_busy = theirs->energy_busy;
        measurement->sensor_W = theirs->sensor_W;
        measurement->energy_devices = theirs->energy_devices;
    }
    measurement->done = !theirs->visits; // one call was enough
    measurement->stop = measurement->done            ? theirs->stop
        : measurement->spent_s >= measurement->max_s ? RG_STOP_TIME
                                                     : RG_STOP_ROUNDS;
}

// Lanes of the shape that the process was at.
static void end_crashed(const rg_round *r, bool *heard, int signal) {
    int at = r->first, past;
    while (at < r->past && (heard[at] || !asked(r, &r->plan->measurement[at], at))) at++;
    for (past = rg_bench_plan_group(r->plan, at < r->past ? at : r->first); at < past; at++) {
        rg_measurement *measurement = &r->plan->measurement[at];
        if (!asked(r, measurement, at) || heard[at]) continue;
        measurement->n = 0;
        rg_measurement_end(measurement, RG_CRASH, RG_STOP_CRASH, "%d (%s)", signal, strsignal(signal));
        heard[at] = true;
        r->heard(r->of);
    }
}

static bool all_heard(const rg_round *r, const bool *heard) {
    for (int i = r->first; i < r->past; i++)
        if (!heard[i] && asked(r, &r->plan->measurement[i], i)) return false;
    return true;
}

int rg_round_run(const rg_round *r) {
    RG_FREED bool *heard = rg_alloc((size_t)r->plan->n * sizeof *heard);
    int code = RG_GOOD;
    while (!code && !all_heard(r, heard)) {
        FILE *answers = NULL;
        answer a;
        int status = 0;
        pid_t pid = start(r, heard, &answers);
        if (pid < 0) {
            code = rg_fail(RG_LACKS, "bench: round %d: no process: %s", r->number + 1, strerror(errno));
            break;
        }
        while (fread(&a, sizeof a, 1, answers) == 1 && a.bytes == sizeof a && a.index >= r->first && a.index < r->past) {
            heard[a.index] = true;
            take_over(&r->plan->measurement[a.index], &a.measurement);
            r->heard(r->of);
        }
        fclose(answers);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (WIFSIGNALED(status))
            end_crashed(r, heard, WTERMSIG(status));
        else if (WEXITSTATUS(status) || !all_heard(r, heard))
            code = rg_fail(WEXITSTATUS(status) && WEXITSTATUS(status) < 5 ? WEXITSTATUS(status) : RG_WRONG,
                "bench: round %d: its process ended with exit status %d", r->number + 1, WEXITSTATUS(status));
    }
    return code;
}
