// SPDX-License-Identifier: MIT
// main.c: the program; apart from commands.c, so that test programs can contain its commands.
#include "base/core.h"
#include "runtime/command.h"

#include <pthread.h>
#include <sys/resource.h>

// Kernels keep rows and tiles of up to about 100 KiB on the stack. If `ulimit -s` leaves less than LEAST, the program and the
// threads that it starts get stacks of OWN bytes.
enum { LEAST = 2 << 20, OWN = 8 << 20 };

typedef struct call {
    int argc, code;
    char **argv;
} call;

static void *run(void *of) {
    call *c = of;
    c->code = rg_main(c->argc, c->argv);
    return NULL;
}

int main(int argc, char **argv) {
    struct rlimit stack;
    pthread_attr_t own;
    pthread_t thread;
    call c = {.argc = argc, .argv = argv};
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= LEAST) return rg_main(argc, argv);
    pthread_attr_init(&own);
    pthread_attr_setstacksize(&own, OWN);
    const int fault = pthread_setattr_default_np(&own) || pthread_create(&thread, &own, run, &c) || pthread_join(thread, NULL);
    return fault ? rg_fail(RG_LACKS, "no stack of %d MiB: raise ulimit -s", OWN >> 20) : c.code;
}
