// SPDX-License-Identifier: MIT
// duel.c: the command `duel`: starts pairs of processes, gives them their turns, and stops when the gate is decided.
#include "duel.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

// A process counts once it has kept PAIRS_ENOUGH pairs, or PAIRS_LEAST if its blocks took BLOCKS_S: then each block is long,
// and a disturbance is a small part of it.
enum { PAIRS_ENOUGH = 31, PAIRS_LEAST = 9, LINE = 700 };
static const double BLOCKS_S = 0.3;
// Opening a GPU takes longer than the pairs of a process, so the processes up to the next look open it at the same time and
// wait for their turn, if together they need no more memory than this.
enum { WAITING_MOST = 8 };
static const double WAITING_BYTES = 4e9;
// Dropped pairs mean that the machine is busy. If hardly any are left, those may be the unusual ones.
static const double DROPPED_MOST = 0.9;

static const rg_option options[] = {
    {"shape", "TEXT", "the shape, as in w750,h1500,r250,k0", RG_TO(rg_duel, shape), .otherwise = "the first of preset quick"},
    {"mode", "cold|hot", "caches flushed before each call, or not", RG_TO(rg_duel, mode), .standard = "hot"},
    {"gate", "G%", "a change smaller than this counts as none", RG_TO(rg_duel, gate_text), .standard = "2%"},
    {"max-seconds", "S", "time to decide", RG_TO(rg_duel, max_s), 0.1L, 86400, "120", .unit = "seconds"},
    {"old-build", "DIR", "OLD is that of the program DIR/regather", RG_TO(rg_duel, old_build)},
    {"job", NULL, "OLD and NEW are whole commands of this program, as in \"autocorr *.png --max-offset 9 --out {out}\"",
        RG_TO(rg_duel, job), .excludes = "shape serve device threads plugin repeat"},
    {"clock", "wall|cpu", "which time of a whole command decides", RG_TO(rg_duel, clock), .standard = "wall", .needs = "job"},
    {"check", "COMMAND", "for sh: exit 0 when the outputs of both agree, in {old} and {new}", RG_TO(rg_duel, check),
        .otherwise = "the same bytes", .needs = "job"},
    {"repeat", "N", "repeat the duel with consecutive seeds; verified once", RG_TO(rg_duel, repeat), 1, 10000, "1"},
    {"out", "D.tsv", "write every pair of blocks, or of runs", RG_TO(rg_duel, out)},
    {"serve", "first|again", "be one of the processes that compute, told by lines on standard input (what duel starts)",
        RG_TO(rg_duel, serve), .otherwise = "decide"},
    {0},
};

typedef struct worker {
    pid_t pid; // 0: none
    FILE *to, *from;
} worker;

// The processes of one observation: one with both sides, or one for each build.
typedef struct team {
    worker worker[2];
    uint64_t seed;
    int calls[2]; // of a block of each side
} team;

typedef struct contest {
    const rg_duel *duel;
    const char *word[2]; // old, new
    char *program[2];
    char shape[96];
    int n_workers; // of a team
    team team[WAITING_MOST];
    int n_teams, at_once;
    bool gpu;                        // a side computes on a GPU
    pid_t leaving[4 * WAITING_MOST]; // asked to end, and not yet waited for
    int n_leaving;
    uint64_t seed;
    double duel_s, began_s; // when this duel began, and when its first processes were ready
    double log_ratio[RG_DUEL_PROCESSES_MOST];
    double sum_ns[2];      // of the medians of the processes
    int started;           // teams, of this duel
    int number;            // of this duel
    int count[RG_CHANGES]; // duels that came to each
    int n, pairs, dropped; // processes counted, all pairs, dropped pairs
    rg_file file;
} contest;

// ---- processes ----------------------------------------------------------------------------------------------------------

static void add(char **argv, int *n, const char *word) { argv[(*n)++] = rg_unconst(word); }

static int start(contest *c, team *t, int side, rg_serving serving) {
    const rg_duel *d = c->duel;
    char **argv = rg_alloc((size_t)(24 + 2 * d->given.plugin.n) * sizeof *argv);
    char threads[24], seed_text[24];
    int n = 0, to[2], from[2];
    snprintf(threads, sizeof threads, "%d", (int)d->given.threads);
    snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)t->seed);
    add(argv, &n, "regather"), add(argv, &n, "duel"), add(argv, &n, c->word[side]);
    if (c->n_workers == 1) add(argv, &n, c->word[1]);
    add(argv, &n, "--serve"), add(argv, &n, serving == RG_SERVE_FIRST ? "first" : "again");
    add(argv, &n, "--mode"), add(argv, &n, rg_mode_name[d->mode]), add(argv, &n, "--seed"), add(argv, &n, seed_text);
    add(argv, &n, "--quiet");
    if (d->given.device_typed) add(argv, &n, "--device"), add(argv, &n, d->given.device_typed);
    const char *shape = *c->shape ? c->shape : d->shape;
    if (shape) add(argv, &n, "--shape"), add(argv, &n, shape);
    if (d->given.threads) add(argv, &n, "--threads"), add(argv, &n, threads);
    for (int i = 0; i < d->given.plugin.n; i++) add(argv, &n, "--plugin"), add(argv, &n, d->given.plugin.item[i]);
    // Closed in every child: a process that kept another's pipe open would keep it alive.
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) return rg_fail(RG_LACKS, "duel: no pipe: %s", strerror(errno));
    fflush(NULL);
    worker *w = &t->worker[side];
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execv(c->program[side], argv);
        _exit(127);
    }
    free(argv);
    close(to[0]), close(from[1]);
    w->to = fdopen(to[1], "w");
    w->from = fdopen(from[0], "r");
    w->pid = pid > 0 ? pid : 0;
    return pid < 0 ? rg_fail(RG_LACKS, "duel: no process: %s", strerror(errno)) : RG_GOOD;
}

// Asks all teams to end. The next timing waits until they have, as a GPU takes long to close.
static void stop_teams(contest *c) {
    for (int i = 0; i < 2 * c->n_teams; i++) {
        worker *w = &c->team[i / 2].worker[i % 2];
        if (w->to) fclose(w->to), fclose(w->from); // it ends at the end of its input
        if (w->pid) c->leaving[c->n_leaving++] = w->pid;
        *w = (worker){0};
    }
    c->n_teams = 0;
}

static void wait_for_leaving(contest *c) {
    while (c->n_leaving > 0)
        if (waitpid(c->leaving[c->n_leaving - 1], NULL, 0) >= 0 || errno != EINTR) c->n_leaving--;
}

// Reads the next line of a process; anything but an answer ends the duel.
static int read_line(const contest *c, const team *t, int i, char line[LINE]) {
    int code, at = 0;
    if (!fgets(line, LINE, t->worker[i].from))
        return rg_fail(RG_WRONG, "duel: the process of %s ended without an answer (%s)", c->word[i], c->program[i]);
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "stop %d %n", &code, &at) == 1 && at)
        return rg_fail(code, "duel: %s%s", code == RG_WRONG ? "BROKEN: " : "", line + at);
    return RG_GOOD;
}

// Sets the calls of a block of each side when a team is ready; equal if their blocks are about as long.
static int await_ready(contest *c, team *t) {
    int code = RG_GOOD, *calls = t->calls;
    char line[LINE], shape[96];
    for (int i = 0; i < c->n_workers && !code; i++) {
        code = read_line(c, t, i, line);
        const int wanted = c->n_workers == 1 ? 3 : 2;
        if (!code && sscanf(line, "ready %95s %d %d", shape, &calls[i], &calls[1]) != wanted)
            code = rg_fail(RG_WRONG, "duel: expected \"ready SHAPE CALLS...\" from %s, found \"%s\"", c->program[i], line);
        if (!code && *c->shape && strcmp(c->shape, shape))
            code = rg_fail(RG_USAGE, "duel: expected shape %s of both builds, found %s", c->shape, shape);
        if (!code) memcpy(c->shape, shape, sizeof shape);
    }
    if (!code && calls[0] <= 2 * calls[1] && calls[1] <= 2 * calls[0])
        calls[0] = calls[1] = calls[0] > calls[1] ? calls[0] : calls[1];
    return code;
}

// Starts n teams and waits until all are ready.
static int start_teams(contest *c, int n) {
    const rg_serving serving = *c->shape ? RG_SERVE_AGAIN : RG_SERVE_FIRST;
    int code = RG_GOOD;
    while (c->n_teams < n && !code) {
        team *t = &c->team[c->n_teams++];
        t->seed = rg_bits(c->seed, (uint64_t)c->started++) >> 1;
        for (int side = 0; side < c->n_workers && !code; side++) code = start(c, t, side, serving);
    }
    for (int i = 0; i < n && !code; i++) code = await_ready(c, &c->team[i]);
    return code;
}

// ---- pairs --------------------------------------------------------------------------------------------------------------

static int block(const contest *c, const team *t, int side, rg_pair *pair) {
    char line[LINE];
    const int w = c->n_workers == 1 ? 0 : side;
    fprintf(t->worker[w].to, "%d %d\n", c->n_workers == 1 ? side : 0, pair->calls[side]);
    fflush(t->worker[w].to);
    int code = read_line(c, t, w, line);
    if (!code &&
        (sscanf(line, "%lf %ld %d", &pair->ns[side], &pair->preempted[side], &pair->held[side]) < 2 || !(pair->ns[side] > 0)))
        code = rg_fail(RG_WRONG, "duel: expected \"NS PREEMPTED HELD\" of %s, found \"%s\"", c->word[side], line);
    return code;
}

static bool time_is_up(const contest *c) { return rg_seconds() - c->began_s > c->duel->max_s; }

// Counts the result of a team unless it has too few pairs.
static void count(contest *c, const rg_pair *pair, int n) {
    int kept;
    const double ratio = rg_process_ratio(pair, n, &kept);
    c->pairs += n;
    c->dropped += n - kept;
    if (kept < PAIRS_LEAST) return;
    double ns[2][RG_DUEL_PAIRS_MOST];
    for (int side = 0; side < 2; side++) {
        rg_summary s;
        for (int i = 0; i < n; i++) ns[side][i] = pair[i].ns[side];
        const rg_samples samples = rg_one_process(ns[side], n);
        rg_summarise(&samples, &s);
        c->sum_ns[side] += s.median;
    }
    c->log_ratio[c->n++] = ratio;
}

static int run_team(contest *c, int which) {
    const team *t = &c->team[which];
    const int process = c->started - c->n_teams + which;
    RG_FREED rg_pair *pair = rg_alloc(RG_DUEL_PAIRS_MOST * sizeof *pair);
    int n = 0, kept = 0, code = RG_GOOD;
    double blocks_s = 0;
    while (!code && n < RG_DUEL_PAIRS_MOST && kept < PAIRS_ENOUGH && (kept < PAIRS_LEAST || blocks_s < BLOCKS_S) &&
        !time_is_up(c)) {
        rg_pair *p = &pair[n];
        *p = (rg_pair){.calls = {t->calls[0], t->calls[1]}, .first = (int)(rg_bits(t->seed, (uint64_t)n) >> 63)};
        code = block(c, t, p->first, p);
        code = code ? code : block(c, t, !p->first, p);
        if (code) break;
        n++;
        kept += rg_pair_kept(p);
        blocks_s += 1e-9 * (p->calls[0] * p->ns[0] + p->calls[1] * p->ns[1]);
        if (c->file.stream)
            rg_tsv_print(c->file.stream, "%d\t%d\t%d\t%s\t%d\t%d\t%.7g\t%.7g\t%ld\t%ld\t%d\t%d\t%d\n", c->number, process, n,
                p->first ? "new" : "old", p->calls[0], p->calls[1], p->ns[0], p->ns[1], p->preempted[0], p->preempted[1],
                p->held[0], p->held[1], (int)rg_pair_kept(p));
    }
    if (!code) count(c, pair, n);
    return code;
}

// ---- the duel -----------------------------------------------------------------------------------------------------------

static void print_outcome(contest *c, rg_change outcome, const rg_ratio *r) {
    char time[2][32], why[200] = "", lasted[32];
    rg_duration(1e9 * (rg_seconds() - c->duel_s), lasted);
    for (int i = 0; i < 2; i++) rg_duration(c->n ? c->sum_ns[i] / c->n : NAN, time[i]);
    if (outcome != RG_UNDECIDED && c->dropped > DROPPED_MOST * c->pairs) {
        outcome = RG_UNDECIDED;
        snprintf(why, sizeof why, "%d of %d pairs were preempted or throttled: the machine is too busy", c->dropped, c->pairs);
    } else if (outcome == RG_UNDECIDED) {
        snprintf(why, sizeof why, "%s",
            c->n == RG_DUEL_PROCESSES_MOST ? "the interval crosses the gate after all processes: choose another gate"
                                           : "time is up: give more by --max-seconds");
    }
    printf(
        "%s%-9s%s %s -> %s, %s, %s: %s -> %s, %.4g [%.4g, %.4g], gate %.3g %%, %d process%s, %d pair%s, %d of them preempted or throttled, and "
        "dropped, %s%s%s\n",
        rg_colour(stdout, rg_change_colour[outcome]), rg_change_name[outcome], rg_colour(stdout, "off"), c->word[0], c->word[1],
        c->shape, rg_mode_name[c->duel->mode], time[0], time[1], r->ratio, r->low, r->high, 100 * c->duel->gate, c->n,
        c->n == 1 ? "" : "es", c->pairs, rg_plural(c->pairs), c->dropped, lasted, *why ? "; " : "", why);
    fflush(stdout);
    c->count[outcome]++;
}

// The number of processes that open together: those up to the next look. The first is alone, since it verifies.
static int to_open(const contest *c) {
    int look = 0;
    while (rg_duel_look[look] <= c->n) look++;
    const int until = rg_duel_look[look] - c->n;
    return !*c->shape ? 1 : until < c->at_once ? until : c->at_once;
}

static int run_duel(contest *c) {
    rg_ratio ratio = {NAN, 0, INFINITY};
    rg_change outcome = RG_UNDECIDED;
    rg_progress progress;
    int code = RG_GOOD;
    c->duel_s = rg_seconds();
    c->n = c->started = c->pairs = c->dropped = 0;
    c->sum_ns[0] = c->sum_ns[1] = 0;
    rg_progress_begin(&progress, "duel", "processes", RG_DUEL_PROCESSES_MOST);
    while (!code && outcome == RG_UNDECIDED && c->n < RG_DUEL_PROCESSES_MOST && !(c->started && time_is_up(c))) {
        const bool begins = !c->started;
        code = start_teams(c, to_open(c));
        wait_for_leaving(c);
        if (begins) c->began_s = rg_seconds(); // verification is not counted
        for (int i = 0; !code && i < c->n_teams; i++) code = run_team(c, i);
        stop_teams(c);
        if (!code) outcome = rg_duel_judge(c->log_ratio, c->n, c->duel->gate, &ratio);
        rg_progress_at(&progress, c->n);
    }
    rg_progress_end(&progress);
    if (!code) print_outcome(c, outcome, &ratio);
    return code;
}

// Runs all duels; returns the code of the worst verdict.
static int fight_all(contest *c) {
    int code = RG_GOOD;
    for (c->number = 1; !code && c->number <= c->duel->repeat; c->number++) {
        c->seed = c->duel->given.seed + (uint64_t)c->number - 1;
        code = run_duel(c);
    }
    return code ? code : rg_duel_code(c->count[RG_SLOWER] ? RG_SLOWER : c->count[RG_UNDECIDED] ? RG_UNDECIDED : RG_SAME);
}

// Finds out from the measurements, before any process starts, whether a GPU is used and how many processes fit side by side.
static int look_ahead(contest *c) {
    RG_FREED rg_duel_side *s = rg_alloc(2 * sizeof *s);
    double bytes = 0;
    int code = RG_GOOD;
    // A kernel of another build need not be in this one.
    for (int i = c->n_workers - 1; i < 2 && !code; i++) {
        code = rg_duel_side_make(c->duel, c->word[i], &s[i]);
        if (code) break;
        bytes += c->n_workers * (double)rg_measurement_bytes(s[i].measurement);
        c->gpu |= s[i].measurement->entry->variant->space == RG_DEVICE;
    }
    c->at_once = c->gpu && WAITING_MOST * bytes <= WAITING_BYTES ? WAITING_MOST : 1;
    for (int i = 0; i < 2; i++) rg_bench_plan_free(&s[i].plan);
    return code;
}

static int open_file(contest *c) {
    int code = rg_file_open(&c->file, c->duel->out);
    if (code) return code;
    char why[200];
    rg_head head;
    // Idle, beside those that compute. What is started from here on is another program at once, as after a fork a context is of
    // no use.
    const rg_device *gpu = c->gpu ? rg_device_open(c->duel->given.device, why) : NULL;
    if (c->gpu && !gpu) return rg_fail(RG_LACKS, "duel: %s", why);
    rg_head_make(&head, gpu, c->duel->given.seed, c->duel->given.line);
    for (int i = 0; i < head.n; i++) rg_tsv_print(c->file.stream, "# %s: %s\n", head.key[i], head.value[i]);
    rg_head_free(&head);
    rg_tsv_print(c->file.stream, "# old: %s\n# new: %s\n", c->word[0], c->word[1]);
    if (!c->duel->job)
        rg_tsv_print(c->file.stream,
            "duel\tprocess\tpair\tfirst\told_calls\tnew_calls\told_ns\tnew_ns\told_preempted\tnew_preempted\told_held\tnew_held\tkept\n");
    return RG_GOOD;
}

static int run(void *typed) {
    rg_duel *d = typed;
    const int words = d->given.word.n;
    if (words > 2 || words < (d->old_build || d->serve >= 0 ? 1 : 2))
        return rg_fail(RG_USAGE,
            "duel: expected OLD NEW, each ALGO:VARIANT[:PARAMETERS] or with --job a command (or one of them with --old-build), "
            "found %d",
            words);
    if (!strcmp(d->given.device, "host"))
        return rg_fail(
            RG_LACKS, "duel: emulated variants (--device host) are for checking: their times say nothing about a GPU");
    if (d->serve >= 0) return rg_duel_serve(d);
    contest c = {.duel = d, .word = {d->given.word.item[0], d->given.word.item[words - 1]}, .n_workers = d->old_build ? 2 : 1};
    int code = rg_gate_read(d->gate_text, &d->gate);
    c.program[1] = rg_own_program();
    c.program[0] = d->old_build ? rg_print("%s/regather", d->old_build) : rg_print("%s", c.program[1] ? c.program[1] : "");
    for (int i = 0; i < 2 && !code; i++)
        if (!c.program[i] || access(c.program[i], X_OK))
            code = rg_fail(
                RG_USAGE, "duel: %s: cannot be run: %s", c.program[i] ? c.program[i] : "/proc/self/exe", strerror(errno));
    if (!code && !d->job) code = look_ahead(&c);
    if (!code && d->out) code = open_file(&c);
    signal(SIGPIPE, SIG_IGN); // a process that ended is noticed by its missing answer
    if (!code) code = d->job ? rg_duel_jobs(d, c.program, &c.file) : fight_all(&c);
    stop_teams(&c);
    wait_for_leaving(&c);
    if (c.file.stream && (code == RG_USAGE || code == RG_LACKS)) {
        rg_file_abandon(&c.file);
    } else if (c.file.stream) {
        int written = rg_file_commit(&c.file);
        code = written ? written : code;
    }
    free(c.program[0]);
    free(c.program[1]);
    return code;
}

static bool serves_again(const void *typed) { return ((const rg_duel *)typed)->serve == RG_SERVE_AGAIN; }

const rg_command rg_cmd_duel = {
    .name = "duel",
    .words = "OLD [NEW]",
    .summary = "is NEW slower than OLD, by turns until the gate is decided",
    .help = "OLD and NEW are two variants of one algorithm, ALGO:VARIANT or ALGO:VARIANT:NAME=VALUE;..., built in or\n"
            "from a --plugin. With --old-build DIR, OLD comes from another build, DIR/regather, and NEW may be left\n"
            "out. Both must pass verify on small shapes, and their outputs at the shape are compared with the\n"
            "reference, before anything is timed.\n\n"
            "The two run in turns, in blocks of about 1 ms and in pairs of random order, so that other load hits both.\n"
            "Times are CPU time on one core; elapsed time with --threads N and for blocks in which the kernel waited;\n"
            "events on a GPU. A pair is dropped, and counted, when the blocks were preempted unequally by so much that\n"
            "refilling the caches costs 0.5 % of a block (for blocks of 1 ms: when the counts differ), or when a GPU\n"
            "throttled its clock for one of them alone. A process runs 31 pairs (at least 9, once its blocks have taken\n"
            "0.3 s). Then a new process follows with other addresses and inputs. Each process is one observation, the\n"
            "median of its paired ratios.\n\n"
            "After 5, 7, 10, 14, 20, 28 and 40 processes the interval of new / old (Student's t over processes, 99.86 %\n"
            "each time) is compared with the gate. SLOWER: all of it lies above 1 + gate. FASTER: below 1 / (1 + gate).\n"
            "SAME: between the two. At most one verdict in 100 is wrong (Bonferroni over the seven looks). UNSURE: time is\n"
            "up, or nine of ten pairs were dropped. --repeat N shows how often this holds on your machine.\n\n"
            "--job: OLD and NEW are whole commands of this program, from files to files. They run in turns and random\n"
            "order, each as a process. {out} in a command stands for its own folder, or for the beginning of a file name.\n"
            "A first pair fills the page cache and does not count. Each further pair is one observation under the same\n"
            "rule, by elapsed time (--clock wall) or by the CPU time of all threads (--clock cpu); the other one is\n"
            "printed, too. The outputs of each pair must be equal byte for byte, except for comments of tables, labels of\n"
            "MRC files, plots and tables of stages, or must pass --check \"cmp {old}.mrc {new}.mrc\". Otherwise the verdict\n"
            "is BROKEN. With --old-build, the other build runs OLD.\n\n"
            "Exit codes: 0 not slower; 1 slower, or BROKEN: one of them does not pass; 2 bad usage; 3 unsure; 4 this\n"
            "machine lacks what one of them needs.",
    .option = options,
    .bytes = sizeof(rg_duel),
    .run = run,
    .no_forks = serves_again,
};
