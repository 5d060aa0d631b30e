// SPDX-License-Identifier: MIT
// team.c: the functions of the OpenMP runtime that kernels call, by pthreads, which ThreadSanitizer knows; it takes each
// barrier of gcc's runtime for a race. The threads get iterations in no order, as OpenMP defines none.
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SHARES = 256 }; // loops and singles of a parallel region that are told apart

typedef struct share {
    bool begun;
    long next;
} share;

typedef struct team {
    int n;
    void (*run)(void *);
    void *of;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    share shared[SHARES];
} team;

typedef struct member {
    team *team;
    int number, shares;
    long end, step, chunk;
    share *current;
} member;

static _Thread_local member *me;
static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;
static int most = 1;

static void *work(void *of) {
    member *before = me;
    me = of;
    me->team->run(me->team->of);
    me = before;
    return NULL;
}

void GOMP_parallel(void (*run)(void *), void *of, unsigned threads, unsigned flags) {
    (void)flags;
    const int n = me ? 1 : threads ? (int)threads : most; // no nested teams, as is OpenMP's default
    team *t = calloc(1, sizeof *t);
    member *all = calloc((size_t)n, sizeof *all);
    pthread_t *thread = calloc((size_t)n, sizeof *thread);
    t->n = n, t->run = run, t->of = of;
    pthread_barrier_init(&t->barrier, NULL, (unsigned)n);
    pthread_mutex_init(&t->lock, NULL);
    for (int i = 0; i < n; i++) all[i] = (member){.team = t, .number = i};
    for (int i = 1; i < n; i++)
        if (pthread_create(&thread[i], NULL, work, &all[i])) abort();
    work(&all[0]);
    for (int i = 1; i < n; i++) pthread_join(thread[i], NULL);
    free(thread), free(all), free(t);
}

void GOMP_barrier(void) {
    if (me && me->team->n > 1) pthread_barrier_wait(&me->team->barrier);
}

// Begins the next loop or single of the region; returns whether this thread is the first there.
static bool begin(long start) {
    team *t = me->team;
    me->current = &t->shared[me->shares++];
    if (me->shares > SHARES) abort();
    pthread_mutex_lock(&t->lock);
    const bool first = !me->current->begun;
    if (first) *me->current = (share){true, start};
    pthread_mutex_unlock(&t->lock);
    return first;
}

bool GOMP_loop_nonmonotonic_dynamic_next(long *from, long *to) {
    *from = __atomic_fetch_add(&me->current->next, me->chunk * me->step, __ATOMIC_RELAXED);
    *to = *from + me->chunk * me->step;
    if (me->step > 0 ? *to > me->end : *to < me->end) *to = me->end;
    return me->step > 0 ? *from < me->end : *from > me->end;
}

bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *from, long *to) {
    begin(start);
    me->end = end, me->step = step, me->chunk = chunk;
    return GOMP_loop_nonmonotonic_dynamic_next(from, to);
}

void GOMP_loop_end(void) { GOMP_barrier(); }
void GOMP_loop_end_nowait(void) {}
bool GOMP_single_start(void) { return begin(0); }
void GOMP_critical_start(void) { pthread_mutex_lock(&critical); }
void GOMP_critical_end(void) { pthread_mutex_unlock(&critical); }
void GOMP_critical_name_start(void **name) { (void)name, pthread_mutex_lock(&critical); }
void GOMP_critical_name_end(void **name) { (void)name, pthread_mutex_unlock(&critical); }
void GOMP_atomic_start(void) { pthread_mutex_lock(&critical); }
void GOMP_atomic_end(void) { pthread_mutex_unlock(&critical); }
int omp_get_thread_num(void) { return me ? me->number : 0; }
int omp_get_num_threads(void) { return me ? me->team->n : 1; }
int omp_get_max_threads(void) { return most; }
int omp_in_parallel(void) { return me && me->team->n > 1; }
void omp_set_num_threads(int n) { most = n; }
