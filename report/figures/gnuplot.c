// SPDX-License-Identifier: MIT
// gnuplot.c: variables for a script in plots/, and one gnuplot a figure and kind of file.
#include "../../impl/base/core.h"
#include "figures.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void rg_variables_open(rg_variables *v)
{
    v->to = open_memstream(&v->text, &v->length);
    if (!v->to)
        exit(rg_fail(RG_LACKS, "out of memory"));
}

void rg_set_text(rg_variables *v, const char *name, const char *text)
{
    fprintf(v->to, "%s='", name);
    for (; *text; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, 0}, v->to);
    fputs("';", v->to);
}

void rg_set_number_of(rg_variables *v, const char *name, double number)
{
    if (isfinite(number))
        fprintf(v->to, "%s=%.17g;", name, number);
    else
        fprintf(v->to, "%s=NaN;", name);
}

// One run of gnuplot; its messages go to fig/gnuplot.log. 0 when it says that all is well.
static int run_gnuplot(const rg_report *r, const char *script, const char *variables_text)
{
    char *log = rg_print("%s/fig/gnuplot.log", r->out);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen(log, "a", stderr))
            _exit(126);
        execlp("gnuplot", "gnuplot", "-e", variables_text, script, (char *)NULL);
        _exit(127);
    }
    free(log);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void rg_draw_one(const rg_report *r, rg_figure *f, rg_variables *v)
{
    fclose(v->to);
    char *script = rg_print("%s/%s.gp", r->plots, f->name);
    int code = 0;
    for (int svg = 0; svg < 2 && code == 0; svg++) {
        char *text = rg_print("PLOTS='%s';OUT='%s/%s';TERM='%s';%s", r->plots, r->out, f->file, svg ? "svg" : "png", v->text);
        code = run_gnuplot(r, script, text);
        free(text);
        char *half = rg_print("%s/%s.%s", r->out, f->file, svg ? "svg" : "png");
        if (code)
            unlink(half);
        free(half);
    }
    f->drawn = code == 0;
    if (code == 127)
        snprintf(f->why_not, sizeof f->why_not, "gnuplot is not installed (package gnuplot-nox)");
    else if (code)
        snprintf(f->why_not, sizeof f->why_not, "gnuplot failed with %d: see fig/gnuplot.log", code);
    free(script);
    free(v->text);
}
