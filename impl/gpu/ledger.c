// SPDX-License-Identifier: MIT
// ledger.c: see ledger.h.
#include "ledger.h"
#include "../base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rg_ledger_block {
    struct rg_ledger_block *next;
    const rg_device *device;
    const void *at; // NULL: not allocated yet
    size_t bytes;
    int row;
};

enum { DEVICES = RG_GPUS_MAX + 1 }; // the emulated GPU, too
typedef struct account {
    const rg_device *device;
    size_t bytes, peak;
    int n; // rows
    rg_ledger_row row[RG_LEDGER_ROWS];
} account;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for the following variables
static rg_ledger_block *blocks;
static account accounts[DEVICES];
static _Thread_local char refused[200];

static account *account_of(const rg_device *d) {
    account *a = accounts;
    while (a < accounts + DEVICES - 1 && a->device && a->device != d) a++;
    a->device = d;
    return a;
}

// The last row, "others", collects all further names.
static int row_of(account *a, const char *what) {
    int i = 0;
    while (i < a->n && strcmp(a->row[i].what, what)) i++;
    if (i < a->n || a->n == RG_LEDGER_ROWS) return i < RG_LEDGER_ROWS ? i : RG_LEDGER_ROWS - 1;
    snprintf(a->row[i].what, sizeof a->row[i].what, "%s", i < RG_LEDGER_ROWS - 1 ? what : "others");
    return a->n++;
}

static size_t left_of(const account *a) {
    double limit;
    const char *text = getenv("REGATHER_GPU_MEMORY");
    if (!text || !rg_memory_size(text, &limit)) return SIZE_MAX;
    return limit > (double)a->bytes ? (size_t)limit - a->bytes : 0;
}

static void add(account *a, int row, size_t bytes) {
    rg_ledger_row *r = &a->row[row];
    a->bytes += bytes;
    r->bytes += bytes;
    a->peak = a->bytes > a->peak ? a->bytes : a->peak;
    r->peak = r->bytes > r->peak ? r->bytes : r->peak;
}

// Removes the block that this link points to from the list, and frees it.
static void drop(rg_ledger_block **link) {
    rg_ledger_block *b = *link;
    account *a = account_of(b->device);
    a->bytes -= b->bytes;
    a->row[b->row].bytes -= b->bytes;
    *link = b->next;
    free(b);
}

rg_ledger_block *rg_ledger_take(const rg_device *d, size_t bytes, const char *what) {
    rg_ledger_block *b = malloc(sizeof *b);
    *refused = 0; // forgets an earlier one
    pthread_mutex_lock(&lock);
    account *a = account_of(d);
    if (b && bytes <= left_of(a)) {
        *b = (rg_ledger_block){.next = blocks, .device = d, .bytes = bytes, .row = row_of(a, what)};
        blocks = b;
        add(a, b->row, bytes);
    } else {
        free(b);
        b = NULL;
    }
    pthread_mutex_unlock(&lock);
    return b;
}

void rg_ledger_place(rg_ledger_block *b, const void *at) {
    rg_ledger_block **link = &blocks;
    if (!b) return;
    pthread_mutex_lock(&lock);
    b->at = at;
    while (*link != b) link = &(*link)->next;
    if (!at) drop(link);
    pthread_mutex_unlock(&lock);
}

void rg_ledger_give(const void *at) {
    rg_ledger_block **link = &blocks;
    pthread_mutex_lock(&lock);
    while (*link && ((*link)->at != at || !at)) link = &(*link)->next;
    if (*link) drop(link);
    pthread_mutex_unlock(&lock);
}

size_t rg_ledger_left(const rg_device *d) {
    pthread_mutex_lock(&lock);
    const size_t left = left_of(account_of(d));
    pthread_mutex_unlock(&lock);
    return left;
}

size_t rg_ledger_taken(const rg_device *d) {
    pthread_mutex_lock(&lock);
    const size_t bytes = account_of(d)->bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

size_t rg_ledger_peak(const rg_device *d) {
    pthread_mutex_lock(&lock);
    const size_t peak = account_of(d)->peak;
    pthread_mutex_unlock(&lock);
    return peak;
}

void rg_ledger_begin(const rg_device *d) {
    pthread_mutex_lock(&lock);
    account *a = account_of(d);
    a->peak = a->bytes;
    for (int i = 0; i < a->n; i++) a->row[i].peak = a->row[i].bytes;
    pthread_mutex_unlock(&lock);
}

static int by_peak(const void *a, const void *b) {
    const rg_ledger_row *x = a, *y = b;
    return x->peak != y->peak ? (x->peak < y->peak) - (x->peak > y->peak) : strcmp(x->what, y->what);
}

int rg_ledger_rows(const rg_device *d, rg_ledger_row row[RG_LEDGER_ROWS]) {
    int n = 0;
    pthread_mutex_lock(&lock);
    const account *a = account_of(d);
    for (int i = 0; i < a->n; i++)
        if (a->row[i].peak) row[n++] = a->row[i];
    pthread_mutex_unlock(&lock);
    qsort(row, (size_t)n, sizeof *row, by_peak);
    return n;
}

void rg_ledger_refuse(const rg_device *d, size_t bytes, const char *what, size_t free_bytes) {
    char wanted[32], there[32];
    const char *limit = d->is_gpu ? getenv("REGATHER_GPU_MEMORY") : NULL;
    snprintf(refused, sizeof refused, "no memory on %s for %s of %s; %s are free%s%s", d->name,
        rg_memory_text((double)bytes, wanted), what, rg_memory_text((double)free_bytes, there),
        limit ? " of --gpu-memory " : "", limit ? limit : "");
}

bool rg_ledger_refused(char text[200]) {
    const bool is = *refused;
    memcpy(text, refused, sizeof refused);
    *refused = 0;
    return is;
}
