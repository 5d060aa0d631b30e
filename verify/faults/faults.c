// SPDX-License-Identifier: MIT
// faults.c: a library for LD_PRELOAD that makes the n-th call of a kind fail, and counts the calls. Only calls by the program
// itself count, not those within libraries. RG_FAULT=KIND:N with KIND alloc, open, read, write, sync, thread, mpi0, mpi1 (the
// calls of that process of a job) or, for the calls of CUDA's runtime and of cuFFT, on a GPU and on the emulated one, cuda: the
// n-th fails; room: the n-th that allocates memory; rooms: it and all later ones that do; give: the n-th that frees memory, a
// stream, a plan or a texture, as destructors and `finish` do; side: the n-th in a thread other than the first. late, gives and
// sides: from the n-th of cuda, give and side on the device is broken, and every later call returns its error. N = 0: none
// fails. At the end the number of calls of each kind, if any, is written to a file, RG_FAULT_COUNT.KIND; the count of a kind
// with -s is that of the kind without it, of late that of cuda.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char kind[16];
static long wanted;
enum { ALLOC, OPEN, READ, WRITE, SYNC, THREAD, MPI0, MPI1, CUDA, ROOM, GIVE, SIDE, KINDS };
static const char *const name_of[KINDS] = {
    "alloc", "open", "read", "write", "sync", "thread", "mpi0", "mpi1", "cuda", "room", "give", "side"};
static atomic_long calls[KINDS];
static pid_t first; // the process whose calls count; under MPI its worker's, too. Programs that it starts have no faults
static uintptr_t low, high; // code of the program

static int first_object(struct dl_phdr_info *info, size_t bytes, void *unused) {
    (void)bytes, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            high = low + info->dlpi_phdr[i].p_memsz;
        }
    return 1; // the program comes first
}

__attribute__((constructor)) static void begin(void) {
    const char *asked = getenv("RG_FAULT");
    if (!asked || sscanf(asked, "%15[a-z0-9]:%ld", kind, &wanted) != 2) kind[0] = 0;
    dl_iterate_phdr(first_object, NULL);
    first = getpid();
    unsetenv("RG_FAULT");
    unsetenv("LD_PRELOAD");
}

static int counts(int k) { return getpid() == first || k == MPI0 || k == MPI1; }

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("RG_FAULT_COUNT");
    char text[512];
    for (int k = 0; path && k < KINDS; k++) {
        snprintf(text, sizeof text, "%s.%s", path, name_of[k]);
        const int fd = calls[k] && counts(k) ? open(text, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
        if (fd < 0) continue;
        const int n = snprintf(text, sizeof text, "%ld\n", (long)calls[k]);
        if (write(fd, text, (size_t)n) != n) _exit(99);
        close(fd);
    }
}

static long number(int k, const void *caller) {
    return (uintptr_t)caller < low || (uintptr_t)caller >= high || !counts(k) ? 0 : atomic_fetch_add(&calls[k], 1) + 1;
}

static int fails(int k, const void *caller) {
    const long n = number(k, caller);
    return n && n == wanted && !strcmp(kind, name_of[k]);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALLER __builtin_return_address(0)
#define WRONG(f) ((f)->_flags |= 0x20) // the flag that ferror() tests

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static void *none(void) { return errno = ENOMEM, NULL; }
void *malloc(size_t n) { return fails(ALLOC, CALLER) ? none() : __libc_malloc(n); }
void *calloc(size_t n, size_t each) { return fails(ALLOC, CALLER) ? none() : __libc_calloc(n, each); }
void *realloc(void *p, size_t n) { return fails(ALLOC, CALLER) ? none() : __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) { return fails(ALLOC, CALLER) ? none() : __libc_memalign(align, n); }

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const int mode = va_arg(list, int);
    va_end(list);
    return fails(OPEN, CALLER) ? (errno = EMFILE, -1) : REAL(open)(path, flags, mode);
}
FILE *fopen(const char *path, const char *how) { return fails(OPEN, CALLER) ? (errno = EMFILE, NULL) : REAL(fopen)(path, how); }
FILE *fdopen(int fd, const char *how) { return fails(OPEN, CALLER) ? (errno = ENOMEM, NULL) : REAL(fdopen)(fd, how); }
int mkdir(const char *path, mode_t mode) { return fails(OPEN, CALLER) ? (errno = ENOSPC, -1) : REAL(mkdir)(path, mode); }

static int cut(FILE *f, int why) { return WRONG(f), errno = why, 1; }
#define WRITE_FAILS(f) ((f) != stderr && fails(WRITE, CALLER) && cut(f, ENOSPC)) // not on stderr, where errors are printed
size_t fread(void *to, size_t each, size_t n, FILE *f) {
    return fails(READ, CALLER) && cut(f, EIO) ? 0 : REAL(fread)(to, each, n, f);
}
char *fgets(char *to, int n, FILE *f) { return fails(READ, CALLER) && cut(f, EIO) ? NULL : REAL(fgets)(to, n, f); }
ssize_t getline(char **to, size_t *n, FILE *f) { return fails(READ, CALLER) && cut(f, EIO) ? -1 : REAL(getline)(to, n, f); }
int getc(FILE *f) { return fails(READ, CALLER) && cut(f, EIO) ? EOF : REAL(getc)(f); }
ssize_t read(int fd, void *to, size_t n) { return fails(READ, CALLER) ? (errno = EIO, -1) : REAL(read)(fd, to, n); }
ssize_t pread(int fd, void *to, size_t n, off_t at) {
    return fails(READ, CALLER) ? (errno = EIO, -1) : REAL(pread)(fd, to, n, at);
}

size_t fwrite(const void *from, size_t each, size_t n, FILE *f) { return WRITE_FAILS(f) ? 0 : REAL(fwrite)(from, each, n, f); }
int fputs(const char *text, FILE *f) { return WRITE_FAILS(f) ? EOF : REAL(fputs)(text, f); }
int fputc(int c, FILE *f) { return WRITE_FAILS(f) ? EOF : REAL(fputc)(c, f); }
int fprintf(FILE *f, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = WRITE_FAILS(f) ? -1 : vfprintf(f, format, list);
    va_end(list);
    return n;
}
int printf(const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = WRITE_FAILS(stdout) ? -1 : vfprintf(stdout, format, list);
    va_end(list);
    return n;
}
int fflush(FILE *f) { return f && WRITE_FAILS(f) ? EOF : REAL(fflush)(f); }
ssize_t write(int fd, const void *from, size_t n) {
    return fd != 2 && fails(WRITE, CALLER) ? (errno = ENOSPC, -1) : REAL(write)(fd, from, n);
}
int fsync(int fd) { return fails(SYNC, CALLER) ? (errno = EIO, -1) : REAL(fsync)(fd); }
int rename(const char *from, const char *to) { return fails(SYNC, CALLER) ? (errno = EIO, -1) : REAL(rename)(from, to); }
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *of) {
    return fails(THREAD, CALLER) ? EAGAIN : REAL(pthread_create)(t, a, run, of);
}

// Calls of CUDA and MPI without their headers: up to twelve words are passed on unchanged, in the registers and stack slots of
// the caller, whatever their types and number.
typedef long word;
#define WORDS word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l
#define FORWARDED(kind, name, code)                                                                                            \
    int name(WORDS) { return fails(kind, CALLER) ? code : REAL(name)(a, b, c, d, e, f, g, h, i, j, k, l); }

enum { NO_MEMORY = 2, ILLEGAL_ADDRESS = 700, FAILED = 719, PLAN_FAILED = 5 }; // codes of CUDA and cuFFT
enum { TAKES, GIVES, OTHER };
static _Thread_local int pending; // the error of a failed call until the program reads it, as in the runtime
static atomic_int broken;
// Returns 1: this call fails; 2: the device is broken.
static int cuda_fails(int takes_memory, int gives_back, const void *caller) {
    static const char *const with_all_after[KINDS] = {[CUDA] = "late", [ROOM] = "rooms", [GIVE] = "gives", [SIDE] = "sides"};
    const int is[KINDS] = {[CUDA] = 1, [ROOM] = takes_memory, [GIVE] = gives_back, [SIDE] = gettid() != first};
    const long of_all = number(CUDA, caller);
    int fault = 0;
    if (!of_all) return 0;
    for (int k = CUDA; k <= SIDE; k++) {
        const long n = k == CUDA ? of_all : is[k] ? number(k, caller) : 0;
        fault |= wanted && n == wanted && !strcmp(kind, name_of[k]);
        if (!wanted || n < wanted || strcmp(kind, with_all_after[k])) continue;
        fault = 1;
        broken |= k != ROOM;
    }
    return broken ? 2 : fault;
}
// Called by the emulated GPU, a part of the program, at each of its calls.
int rg_fault_cuda(int takes_memory, int gives_back);
int rg_fault_cuda(int takes_memory, int gives_back) { return cuda_fails(takes_memory, gives_back, (const void *)low); }

#define CUDA_CALL(does, name)                                                                                                  \
    int cuda##name(WORDS) {                                                                                                    \
        const int fault = cuda_fails(does == TAKES, does == GIVES, CALLER);                                                    \
        if (fault) return fault == 2 ? ILLEGAL_ADDRESS : (pending = does == TAKES ? NO_MEMORY : FAILED);                       \
        return REAL(cuda##name)(a, b, c, d, e, f, g, h, i, j, k, l);                                                           \
    }
#define CUFFT(does, name)                                                                                                      \
    int cufft##name(WORDS) {                                                                                                   \
        return cuda_fails(0, does == GIVES, CALLER) ? PLAN_FAILED : REAL(cufft##name)(a, b, c, d, e, f, g, h, i, j, k, l);     \
    }
int cudaGetLastError(void);
int cudaGetLastError(void) {
    const int fault = cuda_fails(0, 0, CALLER), last = REAL(cudaGetLastError)(), kept = pending;
    pending = 0;
    return fault == 2 ? ILLEGAL_ADDRESS : fault ? FAILED : kept ? kept : last;
}
// clang-format off
CUDA_CALL(TAKES, Malloc) CUDA_CALL(TAKES, Malloc3DArray) CUDA_CALL(TAKES, MallocArray) CUDA_CALL(TAKES, HostRegister)
CUDA_CALL(TAKES, StreamCreateWithFlags) CUDA_CALL(TAKES, StreamCreateWithPriority) CUDA_CALL(TAKES, EventCreate)
CUDA_CALL(TAKES, CreateTextureObject)
CUDA_CALL(GIVES, Free) CUDA_CALL(GIVES, FreeArray) CUDA_CALL(GIVES, HostUnregister) CUDA_CALL(GIVES, StreamDestroy)
CUDA_CALL(GIVES, EventDestroy) CUDA_CALL(GIVES, DestroyTextureObject)
CUDA_CALL(OTHER, SetDevice) CUDA_CALL(OTHER, Memcpy) CUDA_CALL(OTHER, MemcpyAsync) CUDA_CALL(OTHER, Memcpy2DAsync)
CUDA_CALL(OTHER, Memcpy3DAsync) CUDA_CALL(OTHER, Memcpy2DToArrayAsync) CUDA_CALL(OTHER, Memset) CUDA_CALL(OTHER, MemsetAsync)
CUDA_CALL(OTHER, FuncSetAttribute) CUDA_CALL(OTHER, LaunchKernel) CUDA_CALL(OTHER, StreamSynchronize)
CUDA_CALL(OTHER, DeviceSynchronize) CUDA_CALL(OTHER, StreamWaitEvent) CUDA_CALL(OTHER, EventRecord)
CUDA_CALL(OTHER, EventSynchronize) CUDA_CALL(OTHER, EventElapsedTime) CUDA_CALL(OTHER, PointerGetAttributes)
CUDA_CALL(OTHER, MemGetInfo)
CUFFT(TAKES, Create) CUFFT(GIVES, Destroy) CUFFT(OTHER, SetAutoAllocation) CUFFT(OTHER, SetStream) CUFFT(OTHER, SetWorkArea)
CUFFT(OTHER, MakePlanMany64) CUFFT(OTHER, ExecR2C) CUFFT(OTHER, ExecC2R) CUFFT(OTHER, ExecD2Z) CUFFT(OTHER, ExecZ2D)
    // clang-format on

    static int mpi(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    return rank && *rank == '1' ? MPI1 : MPI0;
}
enum { MPI_FAILED = 1 };
#define MPI(name) FORWARDED(mpi(), MPI_##name, MPI_FAILED)
// clang-format off
MPI(Init_thread) MPI(Comm_set_errhandler) MPI(Comm_rank) MPI(Comm_size) MPI(Comm_dup) MPI(Comm_split_type) MPI(Comm_free)
MPI(Bcast) MPI(Allgather) MPI(Isend) MPI(Irecv) MPI(Ibcast) MPI(Iallreduce) MPI(Get_count) MPI(Finalize)
    // clang-format on
    // Polls: only successful ones count, or their number would depend on time.
    int MPI_Test(word request, int *flag, word status);
int MPI_Test(word request, int *flag, word status) {
    const int code = REAL(MPI_Test)(request, flag, status);
    return code == 0 && *flag && fails(mpi(), CALLER) ? MPI_FAILED : code;
}
int MPI_Iprobe(word from, word tag, word over, int *flag, word status);
int MPI_Iprobe(word from, word tag, word over, int *flag, word status) {
    const int code = REAL(MPI_Iprobe)(from, tag, over, flag, status);
    return code == 0 && *flag && fails(mpi(), CALLER) ? MPI_FAILED : code;
}
