// SPDX-License-Identifier: MIT
// ranks.c: runs several processes of one job over MPI.
//
// A process that fails ends the others with MPI_Abort. The launcher must notice one that is killed: mpirun and `srun
// --kill-on-bad-exit` then end the job.
//
// MPI is called under one lock, and nothing blocks inside it: rank 0 answers from its own thread while it computes, and a
// waiting process sleeps, so that its core is free for others (MPI's own waiting is a busy loop).
#include "ranks.h"
#include "../../gpu/device.h"
#include "../../runtime/cpu.h"

#include <pthread.h>

// Variables in which launchers pass the number of processes and the rank: Open MPI; MPICH, Intel MPI and srun --mpi=pmi2; srun.
static const char *const told[][2] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}, {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
enum { LAUNCHERS = sizeof told / sizeof *told };

static int number(const char *name, int standard) { return getenv(name) ? atoi(getenv(name)) : standard; }

static int launched(int *rank) {
    for (int i = 0; i < LAUNCHERS; i++)
        if (getenv(told[i][0])) {
            *rank = number(told[i][1], 0);
            return number(told[i][0], 1);
        }
    *rank = number("PMIX_RANK", 0);
    return getenv("PMIX_RANK") ? 2 : 1; // PMIx passes the number only to MPI itself
}

static int ranks = 1, here = 1, rank_here; // on this machine: number of processes, rank of this one
static int *first_there;                   // for each process, the first rank on its machine
int rg_ranks(void) { return ranks; }
bool rg_ranks_near(int rank) { return ranks == 1 || first_there[rank] == first_there[rg_rank]; }

int rg_ranks_gpu(int gpus, int i) { return rank_here % (gpus > 0 ? gpus : 1) + i * here; }
int rg_ranks_gpus(int gpus) { return here >= gpus ? gpus > 0 : (gpus - rank_here + here - 1) / here; }

const char *rg_ranks_device(const char *name) {
    static char mine[16];
    char why[200];
    if (here == 1 || strcmp(name, "gpu") != 0) return name;
    int gpus = rg_gpu_count(why);
    snprintf(mine, sizeof mine, "gpu%d", rg_ranks_gpu(gpus, 0));
    return gpus ? mine : name;
}

// ---- work handed out by this process -------------------------------------------------------------------------------------

static pthread_mutex_t dealing = PTHREAD_MUTEX_INITIALIZER;

// Takes a quarter of a fair share of the rest: few pieces where processes are equally fast, small ones at the end otherwise.
static bool take(rg_deal *d, int64_t *first, int64_t *past) {
    enum { SHARES = 4 };
    pthread_mutex_lock(&dealing);
    const int64_t left = d->n - d->next, takers = d->takers > 1 ? d->takers : 1, shares = takers - d->taken++;
    int64_t size = ranks > 1 ? left / (SHARES * ranks * takers) : shares > 1 ? (left + shares - 1) / shares : left;
    size = ranks == 1 || size > d->least ? size : d->least;
    *first = d->next;
    *past = d->next += size < left ? size : left;
    pthread_mutex_unlock(&dealing);
    return *past > *first;
}

static void deal_done(rg_deal *d, int64_t first, int64_t past, const void *note) {
    pthread_mutex_lock(&dealing);
    if (d->arrived) d->arrived(d->of, first, past, note);
    d->done += past - first;
    pthread_mutex_unlock(&dealing);
}

#if HAVE_MPI
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

// ---- calls ---------------------------------------------------------------------------------------------------------------

static pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER;

// Prints one line and ends all processes: see on_exit_before_the_end.
static _Noreturn void broken(int error) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    rg_may_fail = NULL; // because it asks over MPI
    pthread_mutex_lock(&calling);
    if (MPI_Error_string(error, text, &n) != MPI_SUCCESS) snprintf(text, sizeof text, "error %d", error);
    pthread_mutex_unlock(&calling);
    rg_end(RG_LACKS, "MPI failed between the processes: %s", text);
}

#define MPI(call)                                                                                                              \
    do {                                                                                                                       \
        pthread_mutex_lock(&calling);                                                                                          \
        const int error = call;                                                                                                \
        pthread_mutex_unlock(&calling);                                                                                        \
        if (error != MPI_SUCCESS) broken(error);                                                                               \
    } while (0)

// ---- cores ---------------------------------------------------------------------------------------------------------------

static cpu_set_t launcher; // cores that the launcher itself may use: the job's on this machine
static char cores_said[200];

// This process's share of the machine's cores: a core counts in parts for all processes that may use it.
static double share_of(MPI_Comm machine) {
    cpu_set_t *all = rg_alloc((size_t)here * sizeof *all), own;
    double share = 0;
    sched_getaffinity(0, sizeof own, &own);
    all[0] = own;
    if (here > 1) MPI(MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, machine));
    for (int c = 0; c < CPU_SETSIZE; c++) {
        int users = 0;
        for (int p = 0; p < here; p++) users += CPU_ISSET((size_t)c, &all[p]) != 0;
        share += CPU_ISSET((size_t)c, &own) ? 1.0 / users : 0;
    }
    free(all);
    return share;
}

// Open MPI by default binds each process to a core, or to a part of the machine. If that is less than an equal share of its
// cores, the process allows itself all of them, and uses as many threads as its share. Bindings by --bind-to, srun or a batch
// system stay; a process cannot leave its cpuset anyway.
static void take_cores(MPI_Comm machine) {
    double share = share_of(machine), before = share, fair = (double)CPU_COUNT(&launcher) / here;
    bool by_default = getenv("OMPI_COMM_WORLD_SIZE") && !getenv("OMPI_MCA_hwloc_base_binding_policy") &&
        !getenv("PRTE_MCA_hwloc_default_binding_policy");
    if (by_default && share < (fair > 1 ? fair : 1)) sched_setaffinity(0, sizeof launcher, &launcher);
    share = share_of(machine);
    int threads = share > 1 ? (int)share : 1;
    rg_cpu_share(here > 1 ? threads : 0);
    if (share > before)
        snprintf(cores_said, sizeof cores_said, "%d of %d cores each (mpirun had bound them to %.3g each)", threads,
            CPU_COUNT(&launcher), before);
    else
        snprintf(cores_said, sizeof cores_said, "%d of %d cores each%s", threads, CPU_COUNT(&launcher),
            share < (int)fair ? ", bound to them by the launcher" : "");
    if (ranks == 1 && share == before) cores_said[0] = '\0';
}

void rg_ranks_say(const char *job) {
    if (!rg_quiet && cores_said[0])
        fprintf(stderr, "%s: %d process%s, %d on this machine, with %s\n", job, ranks, ranks > 1 ? "es" : "", here, cores_said);
}

// ---- messages ------------------------------------------------------------------------------------------------------------

static MPI_Comm asks, bulk, last; // questions and answers; collective calls; the end

static void rest(int turn) {
    const struct timespec t = {.tv_nsec = turn < 1000 ? 50000 : 1000000};
    if (turn < 100)
        sched_yield();
    else
        nanosleep(&t, NULL);
}

// Returns whether the request completed within limit_s; 0: waits without limit.
static bool done(MPI_Request *request, double limit_s) {
    int is_done = 0;
    double began_s = rg_seconds();
    for (int turn = 0; !is_done && (limit_s == 0 || rg_seconds() - began_s < limit_s); turn++) {
        MPI(MPI_Test(request, &is_done, MPI_STATUS_IGNORE));
        if (!is_done) rest(turn);
    }
    return is_done;
}

enum { CHUNK = 1 << 24 }; // bytes of a message: limits a large array that MPI may hold twice

static void send(const void *from, int64_t bytes, int to, int tag, MPI_Comm over) {
    for (int64_t at = 0; at < bytes || at == 0; at += CHUNK) {
        MPI_Request request;
        int n = (int)(bytes - at < CHUNK ? bytes - at : CHUNK);
        MPI(MPI_Isend((const char *)from + at, n, MPI_BYTE, to, tag, over, &request));
        done(&request, 0);
    }
}

static void receive(void *to, int64_t bytes, int from, int tag, MPI_Comm over) {
    for (int64_t at = 0; at < bytes || at == 0; at += CHUNK) {
        MPI_Request request;
        int n = (int)(bytes - at < CHUNK ? bytes - at : CHUNK);
        MPI(MPI_Irecv((char *)to + at, n, MPI_BYTE, from, tag, over, &request));
        done(&request, 0);
    }
}

// Tags of requests to rank 0. Deals follow each other, and a process is at most one ahead of rank 0: it uses the next deal's
// tag, which rank 0 only reads once it gets there.
enum { MAY_FAIL, ANSWER, NEXT, RECORDS = NEXT + 2 };
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static rg_deal *open_deal;      // that rank 0 answers for
static int deals;               // begun by this process
static _Atomic bool has_failed; // on rank 0: a process has printed its line

static void ask(const int64_t *question, int tag, int64_t reply[2]) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; // one thread at a time
    pthread_mutex_lock(&one);
    send(question, question ? 16 : 0, 0, tag, asks);
    receive(reply, 16, 0, ANSWER, asks);
    pthread_mutex_unlock(&one);
}

static bool may_fail(void) {
    int64_t yes[2];
    if (rg_rank == 0) return !atomic_exchange(&has_failed, true);
    ask(NULL, MAY_FAIL, yes);
    return yes[0];
}

// Answers one message of this tag, if there is any.
static bool answer(int tag) {
    int there = 0, bytes = 0;
    int64_t reply[2] = {0}, piece[2];
    MPI_Status status;
    MPI(MPI_Iprobe(MPI_ANY_SOURCE, tag, asks, &there, &status));
    if (!there) return false;
    MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
    receive(piece, bytes, status.MPI_SOURCE, tag, asks);
    if (tag >= RECORDS) {
        int64_t size = (int64_t)open_deal->bytes;
        receive((char *)open_deal->record + piece[0] * size, (piece[1] - piece[0]) * size, status.MPI_SOURCE, tag, asks);
        RG_FREED void *note = rg_alloc(open_deal->note_bytes);
        if (open_deal->note_bytes) receive(note, (int64_t)open_deal->note_bytes, status.MPI_SOURCE, tag, asks);
        deal_done(open_deal, piece[0], piece[1], note);
        return true;
    }
    if (tag == MAY_FAIL)
        reply[0] = may_fail();
    else
        take(open_deal, &reply[0], &reply[1]);
    send(reply, sizeof reply, status.MPI_SOURCE, ANSWER, asks);
    if (tag != MAY_FAIL && reply[0] == reply[1]) atomic_fetch_sub(&open_deal->waiting, 1);
    return true;
}

static pthread_t answering;
static _Atomic bool ending;

static void *answer_all(void *unused) {
    for (int turn = 0; !ending; turn++) {
        bool any = answer(MAY_FAIL);
        pthread_mutex_lock(&opening);
        if (open_deal) any = answer(NEXT + deals % 2) || answer(RECORDS + deals % 2) || any;
        pthread_mutex_unlock(&opening);
        turn = any ? 0 : turn;
        rest(turn);
    }
    return unused;
}

void rg_deal_begin(rg_deal *d) {
    pthread_mutex_lock(&opening);
    d->next = d->done = d->taken = 0;
    d->waiting = ranks - 1;
    deals++;
    open_deal = d;
    pthread_mutex_unlock(&opening);
}

bool rg_deal_next(rg_deal *d, int64_t *first, int64_t *past) {
    int64_t piece[2] = {d->n, d->n};
    if (rg_rank == 0) return take(d, first, past);
    pthread_mutex_lock(&opening);
    if (d->waiting) // does not know yet that nothing is left
        ask(piece, NEXT + deals % 2, piece);
    d->waiting = piece[1] > piece[0];
    pthread_mutex_unlock(&opening);
    *first = piece[0];
    *past = piece[1];
    return piece[1] > piece[0];
}

void rg_deal_done(rg_deal *d, int64_t first, int64_t past, const void *note) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; // one thread at a time
    int64_t piece[2] = {first, past}, size = (int64_t)d->bytes;
    if (rg_rank == 0) {
        deal_done(d, first, past, note);
        return;
    }
    pthread_mutex_lock(&one);
    send(piece, sizeof piece, 0, RECORDS + deals % 2, asks);
    send((char *)d->record + first * size, (past - first) * size, 0, RECORDS + deals % 2, asks);
    if (d->note_bytes) send(note, (int64_t)d->note_bytes, 0, RECORDS + deals % 2, asks);
    pthread_mutex_unlock(&one);
}

int rg_deal_end(rg_deal *d, int code) {
    bool closed = false;
    for (int turn = 0; !closed; turn++) {
        pthread_mutex_lock(&opening);
        closed = rg_rank > 0 || ranks == 1 || code != RG_GOOD || (d->done == d->n && d->waiting == 0);
        open_deal = closed ? NULL : d;
        pthread_mutex_unlock(&opening);
        rest(turn);
    }
    return code;
}

// ---- values that all processes share -------------------------------------------------------------------------------------

void rg_ranks_share(void *values, size_t bytes) {
    for (size_t at = 0; at < bytes && ranks > 1; at += CHUNK) {
        MPI_Request request;
        MPI(MPI_Ibcast((char *)values + at, (int)(bytes - at < CHUNK ? bytes - at : CHUNK), MPI_BYTE, 0, bulk, &request));
        done(&request, 0);
    }
}

void rg_ranks_send(const void *from, size_t bytes, int to) { send(from, (int64_t)bytes, to, 1, bulk); }
void rg_ranks_receive(void *to, size_t bytes, int from) { receive(to, (int64_t)bytes, from, 1, bulk); }

void rg_ranks_sum(double *values, int n) {
    RG_FREED double *theirs = rg_alloc((size_t)n * sizeof *theirs);
    for (int step = 1; step < ranks && rg_rank % step == 0; step *= 2)
        if (rg_rank & step)
            rg_ranks_send(values, (size_t)n * sizeof *values, rg_rank - step);
        else if (rg_rank + step < ranks) {
            rg_ranks_receive(theirs, (size_t)n * sizeof *theirs, rg_rank + step);
            for (int i = 0; i < n; i++) values[i] += theirs[i];
        }
}

// ---- begin and end -------------------------------------------------------------------------------------------------------

static pid_t working; // this process, while it must still reach the end
static void on_exit_before_the_end(void) {
    if (working == getpid()) {
        rg_files_abandon(); // because nothing else runs after MPI_Abort
        pthread_mutex_lock(&calling);
        MPI_Abort(MPI_COMM_WORLD, RG_LACKS); // reached by exit() when memory is short or MPI fails
    }
}

static int start(void) {
    int level;
    MPI_Comm machine;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return rg_silent = false, rg_fail(RG_LACKS, "MPI does not start");
    working = getpid();
    atexit(on_exit_before_the_end);
    if (level < MPI_THREAD_SERIALIZED)
        return rg_fail(RG_LACKS, "this MPI does not let several threads call it (level %d of MPI_THREAD_SERIALIZED)", level);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); // communicators made from it inherit this
    MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rg_rank));
    MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (ranks == 1) // each would do the whole job and overwrite the others' files
        return rg_fail(
            RG_LACKS, "this process was started as one of several, but MPI sees only one (srun --mpi=pmix, or mpirun)");
    rg_silent = false;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &asks));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &bulk));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &last));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    MPI(MPI_Comm_rank(machine, &rank_here));
    MPI(MPI_Comm_size(machine, &here));
    int first = rg_rank;
    first_there = rg_alloc((size_t)ranks * sizeof *first_there);
    MPI(MPI_Bcast(&first, 1, MPI_INT, 0, machine));
    MPI(MPI_Allgather(&first, 1, MPI_INT, first_there, 1, MPI_INT, MPI_COMM_WORLD));
    rg_processes_here = here;
    rg_may_fail = may_fail;
    take_cores(machine);
    MPI(MPI_Comm_free(&machine));
    if (rg_rank == 0 && pthread_create(&answering, NULL, answer_all, NULL))
        return rg_fail(RG_LACKS, "no thread to hand out work");
    if (rg_rank > 0 && !freopen("/dev/null", "w", stdout)) return rg_fail(RG_LACKS, "/dev/null: %s", strerror(errno));
    return RG_GOOD;
}

int rg_ranks_begin(void) {
    int rank, code = RG_GOOD;
    if (sched_getaffinity(getppid(), sizeof launcher, &launcher) != 0) CPU_ZERO(&launcher);
    if (launched(&rank) > 1) {
        rg_silent = rank > 0; // all find the same errors before they are connected
        code = start();
    } else {
        take_cores(MPI_COMM_NULL);
    }
    return code;
}

int rg_ranks_end(int code) {
    enum { OTHERS_S = 1 }; // for others that fail alike
    int worst = code;
    MPI_Request request;
    fflush(NULL);
    if (ranks == 1) {
        if (working) MPI(MPI_Finalize());
        working = 0;
        return code;
    }
    MPI(MPI_Iallreduce(&code, &worst, 1, MPI_INT, MPI_MAX, last, &request));
    if (!done(&request, code == RG_GOOD ? 0 : OTHERS_S)) MPI(MPI_Abort(MPI_COMM_WORLD, code));
    ending = true;
    rg_may_fail = NULL;
    if (rg_rank == 0) pthread_join(answering, NULL);
    MPI(MPI_Finalize());
    working = 0;
    return worst;
}

#else

int rg_ranks_begin(void) {
    int rank, several = launched(&rank) > 1;
    rg_silent = rank > 0;
    return !several ? RG_GOOD
                    : rg_fail(RG_LACKS,
                          "one of several processes of mpirun or srun, but built without MPI (see "
                          "regather doctor)");
}

int rg_ranks_end(int code) { return code; }
void rg_ranks_say(const char *job) { (void)job; }
void rg_deal_begin(rg_deal *d) { d->next = d->done = d->taken = 0; }
bool rg_deal_next(rg_deal *d, int64_t *first, int64_t *past) { return take(d, first, past); }
void rg_deal_done(rg_deal *d, int64_t first, int64_t past, const void *note) { deal_done(d, first, past, note); }
int rg_deal_end(rg_deal *d, int code) { return (void)d, code; }
void rg_ranks_share(void *values, size_t bytes) { (void)values, (void)bytes; }
void rg_ranks_send(const void *from, size_t bytes, int to) { (void)from, (void)bytes, (void)to; }
void rg_ranks_receive(void *to, size_t bytes, int from) { (void)to, (void)bytes, (void)from; }
void rg_ranks_sum(double *values, int n) { (void)values, (void)n; }
#endif
