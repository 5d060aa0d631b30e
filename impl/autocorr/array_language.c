// SPDX-License-Identifier: MIT
// array_language.c: the paper's array-language code (Sect. 4.1, digest L1), which used MATLAB: octave, through GNU Octave, and
// numpy, through Python's NumPy, the array language of most nodes today.
//
// The scripts below loop over the offsets and multiply whole matrices of doubles. prepare starts one interpreter and waits
// until it listens; run only sends the images and receives the sums, and is timed; finish ends the child. The images go through
// a socket, which reports a dead reader as an error where a pipe would raise SIGPIPE; the sums come back through a pipe. Every
// wait has a limit: if an interpreter dies or hangs, the error is RG_E_LIBRARY, and it is always reaped.
//
// Bound: the fp64 rate, far away: the language writes and reads three temporary matrices for each product.
// Measured: data/machines/h100-16xeon.tsv.
#include "index.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// Octave stores matrices by columns: an image read as [width, height] has a(x + 1, y + 1), and S is written in the order of
// sums.
static const char octave_script[] =
    "pixels = {'uint8=>double', 'uint16=>double'};\n"
    "fwrite(stdout, 1, 'double'); fflush(stdout);\n"
    "while true\n"
    "  n = fread(stdin, 4, 'int64=>double');\n"
    "  if (numel(n) < 4) exit(0); end\n"
    "  w = n(1); h = n(2); R = n(3); cross = mod(n(4), 2); type = pixels{1 + floor(n(4) / 2)};\n"
    "  a = fread(stdin, [w, h], type); b = a;\n"
    "  if (cross) b = fread(stdin, [w, h], type); end\n"
    "  S = zeros(2 * R + 1, 2 * R + 1);\n"
    "  for Y0 = -min(R, h - 1):min(R, h - 1)\n"
    "    for X0 = -min(R, w - 1):min(R, w - 1)\n"
    "      x = max(1, 1 + X0):min(w, w + X0);\n"
    "      y = max(1, 1 + Y0):min(h, h + Y0);\n"
    "      S(X0 + R + 1, Y0 + R + 1) = sum(sum(a(x, y) .* b(x - X0, y - Y0)));\n"
    "    end\n"
    "  end\n"
    "  fwrite(stdout, S, 'double'); fflush(stdout);\n"
    "end\n";
static const char *const octave_command[] = {
    "octave", "--no-gui", "--norc", "--no-history", "--quiet", "--eval", octave_script, NULL};

// Rows here: a[y, x]. One thread, as the paper's one core: these are products of elements, and a BLAS only helps with matrix
// products.
static const char numpy_script[] =
    "import sys, numpy\n"
    "read, out = sys.stdin.buffer.read, sys.stdout.buffer\n"
    "def send(x):\n"
    "    out.write(numpy.asarray(x, dtype=numpy.float64).tobytes())\n"
    "    out.flush()\n"
    "send(1)\n"
    "while True:\n"
    "    head = read(32)\n"
    "    if len(head) < 32: sys.exit(0)\n"
    "    w, h, R, kind = (int(n) for n in numpy.frombuffer(head, dtype=numpy.int64))\n"
    "    pixel = numpy.dtype(numpy.uint16 if kind & 2 else numpy.uint8)\n"
    "    def image(): return numpy.frombuffer(read(w * h * pixel.itemsize), dtype=pixel).reshape(h, w).astype(numpy.float64)\n"
    "    a = image()\n"
    "    b = image() if kind & 1 else a\n"
    "    S = numpy.zeros((2 * R + 1, 2 * R + 1))\n"
    "    for Y0 in range(-min(R, h - 1), min(R, h - 1) + 1):\n"
    "        for X0 in range(-min(R, w - 1), min(R, w - 1) + 1):\n"
    "            y, x, v, u = max(0, Y0), max(0, X0), min(h, h + Y0), min(w, w + X0)\n"
    "            S[Y0 + R, X0 + R] = (a[y:v, x:u] * b[y - Y0:v - Y0, x - X0:u - X0]).sum()\n"
    "    send(S)\n";
static const char *const numpy_command[] = {"python3", "-c", numpy_script, NULL};

typedef struct child {
    pid_t pid;
    int to, from; // socket to its standard input, pipe from its standard output
} child;

enum { START_S = 60, REFUSE_S = 600 };

// Cost of a run, only for time limits: pixel pairs that a thread multiplies a second, and the interpreter's overhead an offset.
static double estimate_s(const rg_shape *s) {
    double side = (double)ac_side(s->n[AC_R]);
    double pairs = (double)ac_overlaps(s->n[AC_WIDTH], s->n[AC_R]) * (double)ac_overlaps(s->n[AC_HEIGHT], s->n[AC_R]);
    return pairs / 7e7 + side * side * 20e-6;
}

static const char *refuse(const rg_shape *s, const int64_t *param) {
    (void)param;
    double largest = s->n[AC_KIND] & AC_16BIT ? 65535 : 255;
    if (largest * largest * (double)s->n[AC_WIDTH] * (double)s->n[AC_HEIGHT] > 0x1p53)
        return "sums could exceed 2^53, beyond which doubles are not exact";
    if (estimate_s(s) > REFUSE_S) return "would take more than ten minutes, at 7e7 pixel pairs/s and 20 us for each offset";
    return NULL;
}

// ---- talking to the child ------------------------------------------------------------------------------------------------

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Waits until fd is ready or at its end; 0: timeout.
static int wait_for(int fd, short event, double until_s) {
    for (;;) {
        double left_ms = (until_s - now_s()) * 1e3;
        if (left_ms <= 0) return 0;
        struct pollfd p = {fd, event, 0};
        int n = poll(&p, 1, left_ms > 1e6 ? 1000000 : (int)left_ms + 1);
        if (n > 0) return 1;
        if (n < 0 && errno != EINTR) return 0;
    }
}

static int send_all(const child *c, const void *data, size_t bytes, double until_s) {
    for (const char *at = data; bytes;) {
        if (!wait_for(c->to, POLLOUT, until_s)) return RG_E_LIBRARY;
        ssize_t n = send(c->to, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EINTR && errno != EAGAIN) return RG_E_LIBRARY;
        if (n > 0) at += n, bytes -= (size_t)n;
    }
    return RG_OK;
}

static int receive_all(const child *c, void *data, size_t bytes, double until_s) {
    for (char *at = data; bytes;) {
        if (!wait_for(c->from, POLLIN, until_s)) return RG_E_LIBRARY;
        ssize_t n = read(c->from, at, bytes);
        if (n == 0 || (n < 0 && errno != EINTR)) return RG_E_LIBRARY;
        if (n > 0) at += n, bytes -= (size_t)n;
    }
    return RG_OK;
}

// ---- the child's life ----------------------------------------------------------------------------------------------------

static int start(child *c, const char *const *command, int to, int from) {
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files)) return RG_E_LIBRARY;
    int failed = posix_spawn_file_actions_adddup2(&files, to, 0) || posix_spawn_file_actions_adddup2(&files, from, 1) ||
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) ||
        posix_spawnp(&c->pid, command[0], &files, NULL, (char *const *)(uintptr_t)command, environ);
    posix_spawn_file_actions_destroy(&files);
    return failed ? RG_E_LIBRARY : RG_OK;
}

// Closing its input ends the script; half a second later, a signal does.
static void finish(rg_call *call) {
    child *c = call->state;
    if (!c) return;
    if (c->to >= 0) close(c->to);
    if (c->from >= 0) close(c->from);
    for (int i = 0; c->pid > 0; i++) {
        pid_t n = waitpid(c->pid, NULL, i < 50 ? WNOHANG : 0);
        if (n == c->pid || (n < 0 && errno != EINTR)) break;
        if (i == 49) kill(c->pid, SIGKILL);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    free(c);
    call->state = NULL;
}

static int prepare(rg_call *call, const char *const *command) {
    child *c = call->state = calloc(1, sizeof *c);
    if (!c) return RG_E_STATE;
    *c = (child){-1, -1, -1};
    int to[2], from[2], status = RG_E_LIBRARY;
    double ready;
    // Closed on exec; otherwise a later interpreter would keep this one's input open.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) == 0) {
        c->to = to[0];
        if (pipe2(from, O_CLOEXEC) == 0) {
            c->from = from[0];
            status = start(c, command, to[1], from[1]);
            close(from[1]);
        }
        close(to[1]);
    }
    if (status == RG_OK) status = receive_all(c, &ready, sizeof ready, now_s() + START_S);
    if (status == RG_OK && ready != 1) status = RG_E_LIBRARY; // no greeting, or another program of this name
    if (status != RG_OK) finish(call);
    return status;
}

static int prepare_octave(rg_call *call) { return prepare(call, octave_command); }
static int prepare_numpy(rg_call *call) { return prepare(call, numpy_command); }

static int run(rg_call *call) {
    const int64_t *n = call->shape->n;
    const child *c = call->state;
    if (!c) return RG_E_STATE;
    const size_t bytes = (size_t)(n[AC_WIDTH] * n[AC_HEIGHT]) * (n[AC_KIND] & AC_16BIT ? 2 : 1);
    const int64_t count = ac_side(n[AC_R]) * ac_side(n[AC_R]);
    const double until_s = now_s() + START_S + 10 * estimate_s(call->shape);
    int64_t *sums = (int64_t *)call->arg[AC_SUMS];
    int status = send_all(c, n, 4 * sizeof n[0], until_s);
    if (status == RG_OK) status = send_all(c, call->arg[AC_A], bytes, until_s);
    if (status == RG_OK && n[AC_KIND] & AC_CROSS) status = send_all(c, call->arg[AC_B], bytes, until_s);
    for (int64_t at = 0; status == RG_OK && at < count;) {
        double part[512];
        int64_t k = count - at < 512 ? count - at : 512;
        status = receive_all(c, part, (size_t)k * sizeof part[0], until_s);
        for (int64_t i = 0; status == RG_OK && i < k; i++) sums[at + i] = (int64_t)part[i];
        at += k;
    }
    return status;
}

// The work of the whole plane in fp64.
static void cost(const rg_shape *s, const int64_t *param, rg_cost *c) {
    (void)param;
    c->amount[RG_F64_MAD] = (double)ac_overlaps(s->n[AC_WIDTH], s->n[AC_R]) * (double)ac_overlaps(s->n[AC_HEIGHT], s->n[AC_R]);
}

#define ARRAY_LANGUAGE(NAME, PRODUCT)                                                                                          \
    {                                                                                                                          \
        .abi = RG_ABI, .bytes = sizeof(rg_variant), .algo = "autocorr", .name = #NAME,                                         \
        .idea = "the paper's array-language code: loops over the offsets, products of whole matrices, in " PRODUCT,            \
        .role = RG_OTHER, .space = RG_HOST, .needs = #NAME, .refuse = refuse, .cost = cost, .prepare = prepare_##NAME,         \
        .run = run, .finish = finish,                                                                                          \
    }

RG_VARIANT(autocorr_octave) = ARRAY_LANGUAGE(octave, "GNU Octave");
RG_VARIANT(autocorr_numpy) = ARRAY_LANGUAGE(numpy, "NumPy");
