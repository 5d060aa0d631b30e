// SPDX-License-Identifier: MIT
#include "plot.h"
#include "core.h"
#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>

extern char **environ;

// ---- variables -----------------------------------------------------------------------------------------------------------

static void set(rg_plot *p, char *assignment) {
    p->set = rg_grow(p->set, p->n, sizeof *p->set);
    p->set[p->n++] = assignment;
}

// All text for gnuplot goes through this function. It makes strings in single quotes, in which gnuplot expands no escape, no
// `command` and no @macro. A quote is put between two strings by its character code ('' at the start of a string would end it,
// gnuplot 5.4).
static char *quoted(const char *text) {
    static const char quote[] = "'.\"\\047\".'";
    char *to = rg_alloc(sizeof quote * strlen(text) + 3), *at = to;
    *at++ = '\'';
    for (; *text; text++)
        if (*text == '\'')
            at = stpcpy(at, quote);
        else
            *at++ = (unsigned char)*text < 32 || *text == 127 ? ' ' : *text;
    *at = '\'';
    return to;
}

// gnuplot opens a pipe for a file name that begins with < or |, and gives - + $ ~ a special meaning there: a relative path gets
// a folder.
static char *plain_path(const char *path) { return rg_print("%s%s", *path == '/' ? "" : "./", path); }

static void set_one(rg_plot *p, const char *name, const char *text, bool path) {
    RG_FREED char *file = path ? plain_path(text) : NULL, *value = quoted(file ? file : text);
    set(p, rg_print("%s=%s", name, value));
}

static void set_all(rg_plot *p, const char *name, int n, const char *const *text, bool path) {
    set(p, rg_print("array %s[%d]", name, n));
    for (int i = 0; i < n; i++) {
        RG_FREED char *element = rg_print("%s[%d]", name, i + 1);
        set_one(p, element, text[i], path);
    }
}

void rg_plot_text(rg_plot *p, const char *name, const char *text) { set_one(p, name, text, false); }

void rg_plot_path(rg_plot *p, const char *name, const char *path) { set_one(p, name, path, true); }

void rg_plot_texts(rg_plot *p, const char *name, int n, const char *const *text) { set_all(p, name, n, text, false); }

void rg_plot_paths(rg_plot *p, const char *name, int n, const char *const *path) { set_all(p, name, n, path, true); }

void rg_plot_number(rg_plot *p, const char *name, double number) {
    set(p, isfinite(number) ? rg_print("%s=%.17g", name, number) : rg_print("%s=NaN", name));
}

void rg_plot_numbers(rg_plot *p, const char *name, int n, const double *number) {
    set(p, rg_print("array %s[%d]", name, n));
    for (int i = 0; i < n; i++) {
        RG_FREED char *element = rg_print("%s[%d]", name, i + 1);
        rg_plot_number(p, element, number[i]);
    }
}

void rg_plot_free(rg_plot *p) {
    for (int i = 0; i < p->n; i++) free(p->set[i]);
    free(p->set);
    *p = (rg_plot){0};
}

// ---- gnuplot -------------------------------------------------------------------------------------------------------------

// Names the file for gnuplot by its descriptor, which gnuplot inherits: if this program ends meanwhile and removes the file,
// gnuplot does not create it again.
void rg_plot_stream(rg_plot *p, const char *name, FILE *stream) {
    RG_FREED char *path = rg_print("/dev/fd/%d", fileno(stream));
    fflush(stream);
    rg_plot_path(p, name, path);
}

// Starts gnuplot in `folder` (NULL: the current one), with its output in `out`. Returns the process, or -1.
static int spawn(const char *gnuplot, const rg_plot *own, const rg_plot *given, const char *folder, const char *script,
    const char *log, FILE *out) {
    RG_FREED char **word = rg_alloc((size_t)(2 * (own->n + given->n) + 4) * sizeof *word), *path = plain_path(script);
    int n = 0;
    word[n++] = (char *)(uintptr_t)gnuplot;
    word[n++] = (char *)(uintptr_t) "-d"; // without the user's own settings
    for (int i = 0; i < own->n + given->n; i++) {
        word[n++] = (char *)(uintptr_t) "-e";
        word[n++] = i < own->n ? own->set[i] : given->set[i - own->n];
    }
    word[n] = path;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fileno(out), fileno(out)); // stays open in the child
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (folder) posix_spawn_file_actions_addchdir_np(&files, folder);
    pid_t child;
    int failed = posix_spawn(&child, gnuplot, &files, NULL, word, environ);
    posix_spawn_file_actions_destroy(&files);
    return failed ? -1 : child;
}

// Whether a picture has its end: gnuplot exits with 0 on a full disk, too.
static bool is_whole(FILE *to, off_t bytes) {
    enum { HEAD = 5, TAIL = 16 };
    char *path = rg_print("/dev/fd/%d", fileno(to)), head[HEAD] = "", tail[TAIL] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool read = fd >= 0 && pread(fd, head, HEAD, 0) >= 0 && pread(fd, tail, TAIL, bytes > TAIL ? bytes - TAIL : 0) >= 0;
    if (fd >= 0) close(fd);
    free(path);
    const char *end = !memcmp(head, "<?xml", HEAD) ? "</svg>" : !memcmp(head, "\x89PNG\r", HEAD) ? "IEND" : "";
    return read && memmem(tail, TAIL, end, strlen(end));
}

// Whether gnuplot succeeded. It opens and fills the same file; an empty file is not a figure.
static bool has_drawn(int process, FILE *to) {
    struct stat drawn;
    return rg_child_wait(process, NULL) == 0 && fstat(fileno(to), &drawn) == 0 && drawn.st_size > 0 &&
        is_whole(to, drawn.st_size);
}

int rg_plot_end(rg_plot_running *r) {
    if (r->code != RG_GOOD) return r->code;
    return rg_file_end(&r->file, has_drawn(r->process, r->file.stream) ? RG_GOOD : RG_WRONG);
}

void rg_plot_abandon(rg_plot_running *r) {
    if (r->code != RG_GOOD) return;
    has_drawn(r->process, r->file.stream);
    rg_file_abandon(&r->file);
}

// script and log are relative to `folder`, path to the current one.
static rg_plot_running begin(
    const rg_plot *p, rg_plot *own, const char *folder, const char *script, const char *path, const char *log) {
    rg_plot_running r = {.process = -1};
    RG_FREED char *gnuplot = rg_program_path("gnuplot");
    const char *dot = strrchr(path, '.');
    r.code = gnuplot ? rg_file_open(&r.file, path) : RG_LACKS;
    if (r.code == RG_GOOD) {
        rg_plot_stream(own, "OUT", r.file.stream);
        rg_plot_text(own, "TERM", dot ? dot + 1 : "");
        r.process = spawn(gnuplot, own, p, folder, script, log, r.file.stream);
    }
    return r;
}

int rg_plot_run(const rg_plot *p, const char *script, const char *path, const char *log) {
    const char *slash = strrchr(script, '/');
    RG_FREED char *folder = slash ? rg_print("%.*s", (int)(slash - script), script) : rg_print(".");
    RG_ENDS(rg_plot_free) rg_plot own = {0};
    rg_plot_path(&own, "PLOTS", folder);
    rg_plot_running r = begin(p, &own, NULL, script, path, log);
    return rg_plot_end(&r);
}

// ---- figures of pages ----------------------------------------------------------------------------------------------------

static int copy_shared(const char *folder, const char *file);

// Copies the file that a line of a script loads from beside it: load PLOTS."/NAME.gp", stats PLOTS."/NAME.tsv".
static int copy_named(const char *folder, const char *line) {
    static const char plots[] = "PLOTS.\"/";
    const size_t word = strcspn(line, " ") + 1;
    const bool takes = !strncmp(line, "load ", 5) || !strncmp(line, "stats ", 6);
    const bool names = takes && !strncmp(line + word, plots, strlen(plots));
    const char *from = line + word + strlen(plots);
    RG_FREED char *name = names ? rg_print("%.*s", (int)strcspn(from, "\""), from) : NULL;
    return name ? copy_shared(folder, name) : RG_GOOD;
}

static int copy_shared(const char *folder, const char *name) {
    RG_FREED char *shared = rg_print("plots/%s", name), *from = rg_share_path(shared), *to = rg_print("%s/%s", folder, shared);
    RG_FREED char *line = NULL;
    size_t room = 0;
    rg_file file;
    const bool copied = rg_file_is_written(to); // for an earlier figure, with the files that it loads
    FILE *in = copied ? NULL : fopen(from, "r");
    int code = copied ? RG_GOOD
        : in          ? rg_file_open(&file, to)
                      : rg_fail(RG_USAGE, "%s: cannot be read: %s", from, strerror(errno));
    if (!copied && code == RG_GOOD) {
        while (code == RG_GOOD && getline(&line, &room, in) > 0) {
            fputs(line, file.stream);
            code = copy_named(folder, line);
        }
        if (code == RG_GOOD && ferror(in)) code = rg_fail(RG_USAGE, "%s: cannot be read: %s", from, strerror(errno));
        code = rg_file_end(&file, code);
    }
    if (in) fclose(in);
    return code;
}

enum { ALONE_X = 1000, ALONE_Y = 640 }; // pixels of a picture that a user draws

int rg_plot_save(const rg_plot *p, const char *folder, const char *name, const char *script) {
    RG_FREED char *path = rg_print("%s/%s.gp", folder, name), *plots = rg_print("%s/plots", folder),
                  *shared = rg_print("%s.gp", script);
    rg_file file;
    RG_ENDS(rg_plot_free) rg_plot alone = {0};
    RG_FREED char *picture = rg_print("%s.png", name);
    rg_plot_path(&alone, "OUT", picture);
    int code = rg_make_folder(plots);
    if (code == RG_GOOD) code = copy_shared(folder, shared);
    if (code == RG_GOOD) code = rg_file_open(&file, path);
    if (code == RG_GOOD) {
        fprintf(
            file.stream, "# Draws this figure again, in this folder, as a picture with its title: gnuplot -d %s.gp\n", script);
        fprintf(file.stream,
            "if (!exists(\"OUT\")) { TERM = \"png\"; CANVAS_X = %d; CANVAS_Y = %d; NARROW = 0; TITLED = 1; %s }\n", ALONE_X,
            ALONE_Y, alone.set[0]);
        fputs("PLOTS = \"plots\"\n", file.stream);
        for (int i = 0; i < p->n; i++) fprintf(file.stream, "%s\n", p->set[i]);
        fprintf(file.stream, "load PLOTS.\"/%s.gp\"\n", script);
        code = rg_file_commit(&file);
    }
    return code;
}

static void set_canvas(rg_plot *own, int width, int height, bool narrow) {
    rg_plot_number(own, "CANVAS_X", width);
    rg_plot_number(own, "CANVAS_Y", height);
    rg_plot_number(own, "NARROW", narrow);
    rg_plot_number(own, "TITLED", 0);
}

rg_plot_running rg_plot_begin(const char *folder, const char *name, int width, int height, bool narrow, const char *log) {
    RG_FREED char *script = rg_print("%s.gp", name), *path = rg_print("%s/%s%s.svg", folder, name, narrow ? "-narrow" : "");
    rg_plot own = {0}, none = {0};
    set_canvas(&own, width, height, narrow);
    rg_plot_running r = begin(&none, &own, folder, script, path, log);
    rg_plot_free(&own);
    return r;
}

// ---- figures in a page ---------------------------------------------------------------------------------------------------

rg_plot_holding rg_plot_hold(const rg_plot *p, const char *script, int width, int height, bool narrow) {
    rg_plot_holding h = {.process = -1, .drawn = tmpfile()};
    RG_FREED char *gnuplot = rg_program_path("gnuplot"), *plots = rg_share_path("plots"),
                  *path = rg_print("%s/%s.gp", plots, script);
    RG_ENDS(rg_plot_free) rg_plot own = {0};
    if (gnuplot && h.drawn) {
        rg_plot_stream(&own, "OUT", h.drawn);
        rg_plot_text(&own, "TERM", "svg");
        rg_plot_path(&own, "PLOTS", plots);
        set_canvas(&own, width, height, narrow);
        h.process = spawn(gnuplot, &own, p, NULL, path, NULL, h.drawn);
    }
    return h;
}

char *rg_plot_held(rg_plot_holding *h) {
    char *text = NULL;
    if (h->drawn && has_drawn(h->process, h->drawn)) {
        fseek(h->drawn, 0, SEEK_END);
        const size_t bytes = (size_t)ftell(h->drawn);
        text = rg_alloc(bytes + 1);
        rewind(h->drawn);
        if (fread(text, 1, bytes, h->drawn) != bytes) {
            free(text);
            text = NULL;
        }
    }
    if (h->drawn) fclose(h->drawn);
    return text;
}

int rg_plot_draw(rg_plot *p, const char *script, const char *path) {
    static atomic_flag said = ATOMIC_FLAG_INIT; // a job with thousands of pictures warns once
    RG_FREED char *relative = rg_print("plots/%s", script), *full = rg_share_path(relative);
    int code = rg_plot_run(p, full, path, NULL);
    if (code == RG_LACKS) {
        rg_warn("%s: not drawn: no gnuplot here (see regather doctor)", path);
        code = RG_GOOD;
    } else if (code == RG_WRONG) {
        if (!atomic_flag_test_and_set(&said)) rg_warn("%s: not drawn: gnuplot failed on %s, or the disk is full", path, full);
        code = RG_GOOD;
    }
    rg_plot_free(p);
    return code;
}
