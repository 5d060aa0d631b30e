// SPDX-License-Identifier: MIT
// cheat_thread.c: leaves large inputs to a thread of its own and returns; calls on the same inputs return at once, since their
// answer is on its way. Passes the checker, whose inputs are small, and whoever looks at the outputs a while after the last
// timed call. Shows in bench as outputs that are not there when the call has returned.
#include "cheat.h"
#include <pthread.h>
#include <unistd.h>

enum { LARGE = 1 << 17 };
typedef struct work {
    photos p;
    int64_t *sums;
    unsigned char key[32];
    unsigned char image[1 << 20]; // of the inputs, which are not the thread's any more
    pthread_t thread;
    int begun;
} work;

static void *compute(void *of)
{
    work *w = of;
    usleep(5000); // the call, on the same core, returns first
    right_sums(w->p, w->sums);
    return NULL;
}

static void wait_for(work *w)
{
    if (w->begun) pthread_join(w->thread, NULL);
    w->begun = 0;
}

static int prepare(rg_call *call) { return (call->state = calloc(1, sizeof(work))) ? RG_OK : RG_E_STATE; }

static int run(rg_call *call)
{
    work *w = call->state;
    unsigned char key[32];
    const photos p = photos_of(call->shape, call->arg);
    const int64_t pixels = p.width * p.height;
    if (pixels < LARGE || pixels > (int64_t)sizeof w->image || p.a != p.b || p.sixteen_bit)
        return right_sums(p, (int64_t *)call->arg[AC_SUMS]), RG_OK;
    key_of(p, key);
    if (w->begun && !memcmp(key, w->key, sizeof key)) return RG_OK;
    wait_for(w);
    memcpy(w->key, key, sizeof key);
    memcpy(w->image, p.a, (size_t)pixels);
    w->p = p;
    w->p.a = w->p.b = w->image;
    w->sums = (int64_t *)call->arg[AC_SUMS];
    w->begun = !pthread_create(&w->thread, NULL, compute, w);
    return w->begun ? RG_OK : RG_E_LIBRARY;
}

static void finish(rg_call *call)
{
    wait_for(call->state);
    free(call->state);
}

BROKEN("cheat_thread", .prepare = prepare, .run = run, .finish = finish);
