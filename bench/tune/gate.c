// SPDX-License-Identifier: MIT
// gate.c: a process forked before any GPU context or thread exists. It verifies configurations for a process that has both. The
// checker's workers are forked from it, so that a crashed one can be replaced at any time.
#include "tune.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

// As in verify's grid of parameters: shapes that take the reference only moments.
static const double SMALL_WORK = 3e6;

typedef struct asked {
    const rg_entry *entry;
    int threads;
    rg_verify_options options;
} asked;

// The small check shape with the largest measure() that the variant accepts; NULL: none.
static const rg_shape *largest(const rg_entry *e, const int64_t *param, double (*measure)(const rg_shape *)) {
    const rg_shape *best = NULL;
    for (int i = 0; i < e->algo->n_check_shapes; i++) {
        const rg_shape *s = &e->algo->check_shape[i];
        if (e->algo->work(s) > SMALL_WORK || (e->variant->refuse && e->variant->refuse(s, param))) continue;
        if (!best || measure(s) > measure(best)) best = s;
    }
    return best;
}

static rg_verdict examine(const asked *q, const int64_t *param) {
    const rg_shape *shape[2] = {
        largest(q->entry, param, q->entry->algo->work), largest(q->entry, param, q->entry->algo->traffic_bytes)};
    rg_verdict v = {.status = RG_SKIP, .reason = "it takes none of the small shapes on which it could be verified"};
    for (int i = 0; i < 2 && shape[i]; i++) {
        if (i && (shape[1] == shape[0] || v.status != RG_PASS)) break;
        v = rg_verify_case(q->entry, shape[i], param, q->threads, &q->options);
        if (v.status != RG_PASS) {
            char text[96], reason[sizeof v.reason];
            rg_shape_print(q->entry->algo, shape[i], text);
            snprintf(reason, sizeof reason, "verify at %.40s: %.150s", text, v.reason);
            memcpy(v.reason, reason, sizeof reason);
        }
    }
    return v;
}

__attribute__((noreturn)) static void serve(const asked *q, int from, int to, pid_t parent) {
    int64_t param[RG_PARAMS_MAX];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    while (getppid() == parent && read(from, param, sizeof param) == (ssize_t)sizeof param) {
        rg_verdict v = examine(q, param);
        if (write(to, &v, sizeof v) != (ssize_t)sizeof v) break;
    }
    rg_verify_end();
    _exit(RG_GOOD);
}

int rg_gate_open(rg_gate *g, const rg_entry *entry, int threads, const char *device, uint64_t seed) {
    int ask[2], answer[2];
    asked q = {entry, threads, {.device = entry->variant->space == RG_HOST ? "cpu" : device, .seed = seed}};
    pid_t parent = getpid();
    *g = (rg_gate){.ask = -1, .answer = -1};
    fflush(NULL);
    if (pipe(ask)) return rg_fail(RG_LACKS, "tune: no pipe: %s", strerror(errno));
    if (pipe(answer) || (g->pid = fork()) < 0)
        return rg_fail(RG_LACKS, "tune: no process for the checker: %s", strerror(errno));
    if (g->pid == 0) {
        close(ask[1]);
        close(answer[0]);
        serve(&q, ask[0], answer[1], parent);
    }
    close(ask[0]);
    close(answer[1]);
    g->ask = ask[1];
    g->answer = answer[0];
    return RG_GOOD;
}

rg_verdict rg_gate_verdict(rg_gate *g, const int64_t *param) {
    rg_verdict v = {.status = RG_FAIL, .reason = "the checker's process has ended"};
    void (*was)(int) = signal(SIGPIPE, SIG_IGN);
    int64_t whole[RG_PARAMS_MAX];
    memcpy(whole, param, sizeof whole);
    rg_verdict answer;
    if (write(g->ask, whole, sizeof whole) == (ssize_t)sizeof whole &&
        read(g->answer, &answer, sizeof answer) == (ssize_t)sizeof answer)
        v = answer;
    signal(SIGPIPE, was);
    return v;
}

void rg_gate_close(rg_gate *g) {
    if (g->ask < 0) return;
    int status;
    close(g->ask);
    close(g->answer);
    waitpid(g->pid, &status, 0);
    *g = (rg_gate){.ask = -1, .answer = -1};
}
