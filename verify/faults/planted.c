// SPDX-License-Identifier: MIT
// planted.c: a command with a fault that faults.sh must find when one of its calls fails; the first word selects the fault.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*fault)(int takes_memory, int gives_back);

static void *in_another_thread(void *unused) {
    if (fault && fault(0, 0)) abort();
    return unused;
}

int main(int n_words, char **word) {
    const char *what = n_words > 1 ? word[1] : "";
    pthread_t thread;
    fault = (int (*)(int, int))dlsym(RTLD_DEFAULT, "rg_fault_cuda");
    if (fault && fault(1, 0)) return fputs("regather: the GPU failed\n", stderr), 1;
    if (!strcmp(what, "thread") && !pthread_create(&thread, NULL, in_another_thread, NULL)) pthread_join(thread, NULL);
    if (fault && fault(0, 1)) fputs("regather: the GPU failed\n", stderr);
    if (fault && fault(0, 0)) return fputs("regather: the GPU failed\n", stderr), 1;
    FILE *f = fopen(strcmp(what, "leftovers") ? "out" : "out.regather-part", "w");
    char *room = malloc(100);
    if (!f) return fputs("regather: out: cannot be written\n", stderr), 2;
    if (!strcmp(what, "crash")) strcpy(room, "whole");
    if (fputs("whole\n", f) < 0 && strcmp(what, "deaf")) {
        if (!strcmp(what, "leftovers")) return fputs("regather: out: not written\n", stderr), 2;
        if (!strcmp(what, "liar")) return fputs("regather: out: not written\n", stderr), fputs("whole\n", f), fclose(f), 0;
        remove("out");
        if (!strcmp(what, "twice")) fputs("regather: a write failed\nregather: out: not written\n", stderr);
        return !strcmp(what, "code") ? fputs("regather: out: not written\n", stderr), 7 : 2; // and `silent`
    }
    fclose(f);
    if (!strcmp(what, "leftovers")) rename("out.regather-part", "out");
    return 0;
}
