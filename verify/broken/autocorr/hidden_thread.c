// SPDX-License-Identifier: MIT
// hidden_thread.c: right, by a thread of its own, for which the call waits. Whoever counts the CPU time of the calling thread alone
// finds it many times as fast as it is.
// Shows as PASS, and in a duel as what it is.
#include "../broken.h"
#include <pthread.h>

typedef struct work {
    photos p;
    int64_t *sums;
} work;

static void *in_thread(void *of)
{
    const work *w = of;
    right_sums(w->p, w->sums);
    return NULL;
}

COMPUTE(p, sums)
{
    work w = {p, sums};
    pthread_t thread;
    if (!pthread_create(&thread, NULL, in_thread, &w)) pthread_join(thread, NULL);
}

BROKEN("hidden_thread", .run = run);
