// SPDX-License-Identifier: MIT
// audit.c: the command `audit`: checks that an archive is consistent, obeys the rules, and agrees with this machine's outputs
// for the same nonce. Someone with the program can invent consistent numbers; `accept` compares them with the delivered
// machine.
#include "archive.h"
#include "measure.h"

#include "../timing/timing.h"

#include "../../impl/base/options.h"

typedef struct request {
    rg_given given;
    const char *workload, *nonce;
    bool no_again;
} request;

typedef struct audit {
    const request *request;
    rg_archive a;
    int findings, unsure;
    char *first; // receives the first finding, and nothing is printed; NULL: everything is printed
} audit;

static void say(const audit *u, const char *rule, const char *text) {
    if (!u->first) rg_tsv_print(stdout, "%s\t%s\t%s\n", u->a.label, rule, text);
}

__attribute__((format(printf, 3, 4))) static void found(audit *u, const char *rule, const char *format, ...) {
    char text[600];
    RG_FORMAT(text, sizeof text, format);
    say(u, rule, text);
    if (u->first && !u->findings) snprintf(u->first, RG_FINDING, "%s: %s", rule, text);
    u->findings++;
}

__attribute__((format(printf, 3, 4))) static void open_question(audit *u, const char *rule, const char *format, ...) {
    char text[600];
    RG_FORMAT(text, sizeof text, format);
    say(u, rule, text);
    u->unsure++;
}

static double of(const audit *u, int run, const char *column) { return rg_tsv_number(&u->a.runs, run, column); }
static const char *word(const audit *u, int run, const char *column) { return rg_tsv_cell(&u->a.runs, run, column); }

// ---- the file --------------------------------------------------------------------------------------------------------------

static void check_manifest(audit *u) {
    const rg_archive *a = &u->a;
    for (int i = 0; i < a->manifest.n_rows; i++) {
        const char *path = rg_tsv_cell(&a->manifest, i, "path");
        const rg_bundled *f = rg_bundle_find(&a->bundle, path);
        char hex[65] = "";
        if (f) rg_sha256_of(f->bytes, f->n, hex);
        if (!f)
            found(u, "manifest", "%s is listed and not there", path);
        else if ((double)f->n != rg_tsv_number(&a->manifest, i, "bytes") || strcmp(hex, rg_tsv_cell(&a->manifest, i, "sha256")))
            found(u, "manifest", "%s is not the file that was listed: %zu bytes, sha256 %.16s", path, f->n, hex);
    }
    for (int i = 0; i < a->bundle.n; i++) {
        bool listed = !strcmp(a->bundle.file[i].path, "MANIFEST");
        for (int k = 0; k < a->manifest.n_rows && !listed; k++)
            listed = !strcmp(a->bundle.file[i].path, rg_tsv_cell(&a->manifest, k, "path"));
        if (!listed) found(u, "manifest", "%s is there and not listed", a->bundle.file[i].path);
    }
}

static void check_nonce(audit *u) {
    const char *nonce = rg_archive_value(&u->a, "nonce");
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)rg_nonce_seed(nonce));
    if (u->request->nonce && strcmp(nonce, u->request->nonce))
        found(u, "nonce", "expected \"%s\", found \"%s\"", u->request->nonce, nonce);
    if (strcmp(seed, rg_archive_value(&u->a, "seed")))
        found(u, "nonce", "the seed %s does not follow from nonce \"%s\"", rg_archive_value(&u->a, "seed"), nonce);
    for (int i = 0; i < u->a.runs.n_rows; i++)
        if (strcmp(word(u, i, "nonce"), nonce)) {
            found(
                u, "nonce", "run %s is of nonce \"%s\", the archive of \"%s\"", word(u, i, "run"), word(u, i, "nonce"), nonce);
            break;
        }
}

static void check_workload(audit *u) {
    rg_workload w;
    char theirs[65], ours[65];
    if (!u->request->workload) return;
    const rg_bundled *f = rg_bundle_find(&u->a.bundle, "workload.tsv");
    rg_sha256_of(f->bytes, f->n, theirs);
    if (rg_workload_read(u->request->workload, u->a.size, &w) || rg_sha256_file(u->request->workload, ours, NULL))
        open_question(u, "workload", "%s cannot be read", u->request->workload);
    else
        rg_workload_free(&w);
    if (strcmp(theirs, ours)) found(u, "workload", "is not the file %s", u->request->workload);
}

// ---- the log ---------------------------------------------------------------------------------------------------------------

// The chain of hashes, and a line for every row of runs.tsv.
static void check_log(audit *u) {
    const rg_bundled *f = rg_bundle_find(&u->a.bundle, "log");
    if (!f) {
        found(u, "log", "there is none");
        return;
    }
    char *text = rg_print("%s", f->bytes), *rest, chain[65] = "";
    int runs = 0, line = 0;
    bool broken = false, ended = false;
    for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
        char *hash = strrchr(at, ' '), job[48], kind[16], outputs[20], status[16];
        int number;
        double began, end;
        line++;
        if (!hash)
            hash = at;
        else
            *hash++ = '\0';
        RG_FREED char *chained = rg_print("%s%s", chain, at);
        rg_sha256_of(chained, strlen(chained), chain);
        if (strncmp(chain, hash, 16) && !broken) {
            found(u, "log", "line %d is not what was written, or one before it is missing", line);
            broken = true;
        }
        ended |= strstr(at, " end, ") != NULL;
        if (sscanf(at, "%*s run %d %47s %15s began %lf ended %lf outputs %19s %15[a-z]", &number, job, kind, &began, &end,
                outputs, status) != 7)
            continue;
        if (runs < u->a.runs.n_rows) {
            const int i = runs;
            if (number != (int)of(u, i, "run") || strcmp(job, word(u, i, "job")) || strcmp(kind, word(u, i, "kind")))
                found(u, "log", "has run %d of %s (%s), runs.tsv has run %s of %s (%s)", number, job, kind, word(u, i, "run"),
                    word(u, i, "job"), word(u, i, "kind"));
            else if (began != of(u, i, "began_s") || end != of(u, i, "ended_s") ||
                fabs(end - began - of(u, i, "wall_s")) > 2e-6)
                found(u, "times", "run %d of %s took %.6f s by the log, %.6f s by runs.tsv", number, job, end - began,
                    of(u, i, "wall_s"));
            else if (strcmp(status, word(u, i, "status")) ||
                (strcmp(outputs, "-") && strncmp(outputs, word(u, i, "output_sha256"), 16)))
                found(u, "log", "run %d of %s was %s with outputs %s, runs.tsv has another", number, job, status, outputs);
        }
        runs++;
    }
    if (runs != u->a.runs.n_rows) found(u, "runs", "the log has %d, runs.tsv %d: every run is kept", runs, u->a.runs.n_rows);
    if (!ended) found(u, "log", "has no end");
    free(text);
}

// ---- the rules -------------------------------------------------------------------------------------------------------------

// Runs must follow each other without gaps: a gap may hide a run that was left out.
static void check_sequence(audit *u) {
    for (int i = 0; i < u->a.runs.n_rows; i++) {
        if (of(u, i, "run") != i + 1) {
            found(u, "runs", "expected run %d, found run %s: one is missing", i + 1, word(u, i, "run"));
            return;
        }
        if (!(of(u, i, "began_s") <= of(u, i, "ended_s") && of(u, i, "ended_s") <= of(u, i, "checked_s")))
            found(u, "times", "run %d ends before it begins", i + 1);
        const double gap = i ? of(u, i, "began_s") - of(u, i - 1, "checked_s") : 0;
        if (gap < -1e-3)
            found(u, "times", "run %d begins before run %d is done", i + 1, i);
        else if (gap > 5 && strcmp(word(u, i, "kind"), "energy"))
            found(u, "runs", "%.1f s between run %d and run %d are not accounted for", gap, i, i + 1);
    }
}

static void check_turns(audit *u) {
    const int n = u->a.workload.n;
    int timed = 0;
    bool energy = false; // the windows of energy have begun: no run after them is one of the turns
    for (int i = 0; i < u->a.runs.n_rows; i++) {
        const char *kind = word(u, i, "kind");
        const int round = timed / n, at = timed % n;
        const int j = i < n ? i : round % 2 ? n - 1 - at : at;
        if (i >= n && !strcmp(kind, "energy")) {
            energy = true;
            continue;
        }
        if (energy) {
            found(u, "rules", "run %d is %s, behind the windows of energy, which are the last", i + 1, kind);
            return;
        }
        if (strcmp(kind, i < n ? "warm-up" : "timed") || strcmp(word(u, i, "job"), u->a.workload.job[j].job)) {
            found(u, "rules",
                "run %d is %s of %s, expected %s of %s: one run each to warm up, then jobs by turns, forth and back", i + 1,
                kind, word(u, i, "job"), i < n ? "warm-up" : "timed", u->a.workload.job[j].job);
            return;
        }
        timed += i >= n;
    }
}

static void check_runs(audit *u) {
    const double cores = rg_archive_number(&u->a, "usable_cores"), copy = rg_archive_number(&u->a, "probe cpu memory");
    int alone_unknown = 0;
    if (!isfinite(cores) || !isfinite(copy))
        found(u, "rates", "machine.tsv has no %s: runs cannot be held against it",
            isfinite(cores) ? "probe cpu memory" : "usable_cores");
    for (int i = 0; i < u->a.runs.n_rows; i++) {
        const int j = rg_workload_find(&u->a.workload, word(u, i, "job"));
        const char *status = word(u, i, "status");
        const double wall = of(u, i, "wall_s"), others = of(u, i, "others_cpu_s");
        const double may = fmax(RG_BUSY_LEAST_S, RG_BUSY_SHARE * wall * cores);
        const bool good = !strcmp(status, "good");
        if (j < 0) {
            found(u, "rules", "run %d is of %s, which is no job of the workload", i + 1, word(u, i, "job"));
            continue;
        }
        if (strcmp(word(u, i, "division"), rg_archive_value(&u->a, "division")))
            found(
                u, "rules", "run %d is %s, the archive %s", i + 1, word(u, i, "division"), rg_archive_value(&u->a, "division"));
        if (of(u, i, "tolerance") != u->a.workload.job[j].tolerance)
            found(u, "rules", "run %d is held to %s, the workload says %g", i + 1, word(u, i, "tolerance"),
                u->a.workload.job[j].tolerance);
        if (!strcmp(status, "failed") || !strcmp(status, "wrong"))
            found(u, "outputs", "run %d of %s %s: exit status %s, error %s of at most %g", i + 1, word(u, i, "job"),
                *status == 'f' ? "failed" : "is wrong", word(u, i, "code"), word(u, i, "error"),
                u->a.workload.job[j].tolerance);
        else if (of(u, i, "code") != 0 || !(of(u, i, "error") <= of(u, i, "tolerance")))
            found(u, "outputs", "run %d of %s counts and has exit status %s, error %s", i + 1, word(u, i, "job"),
                word(u, i, "code"), word(u, i, "error"));
        else if (!(of(u, i, "difference") <= 0.05))
            found(
                u, "outputs", "run %d of %s differs from the first by %s", i + 1, word(u, i, "job"), word(u, i, "difference"));
        alone_unknown += good && isnan(others);
        if (good && others > may + 1e-3)
            found(u, "rules", "run %d counts, though others used %.3f s of the CPUs", i + 1, others);
        else if (!good && strcmp(status, "failed") && strcmp(status, "wrong") &&
            (strcmp(status, "busy") || !(others >= may - 1e-3)))
            found(u, "rules", "run %d of %s does not count, as %s, though others used %s s of the CPUs and may use %.3f", i + 1,
                word(u, i, "job"), status, word(u, i, "others_cpu_s"), may);
        // No process fills more memory than the machine can write, or uses more CPU time than there is. 64 MiB: the mapped
        // program and libraries.
        if (!((of(u, i, "peak_bytes") - 0x1p26) / wall <= copy) && isfinite(copy))
            found(u, "rates", "run %d of %s filled %.3g B in %.3g s, the machine copies %.3g B/s", i + 1, word(u, i, "job"),
                of(u, i, "peak_bytes"), wall, copy);
        if (!(of(u, i, "cpu_s") <= 1.02 * wall * cores + 0.05) && isfinite(cores))
            found(u, "rates", "run %d of %s used %s s of CPU in %.6g s on %g cores", i + 1, word(u, i, "job"),
                word(u, i, "cpu_s"), wall, cores);
    }
    if (alone_unknown)
        open_question(u, "rules", "of %d run%s that count%s nobody saw whether others used the CPUs", alone_unknown,
            rg_plural(alone_unknown), alone_unknown == 1 ? "s" : "");
}

static void check_medians(audit *u) {
    for (int j = 0; j < u->a.workload.n; j++) {
        const rg_work *w = &u->a.workload.job[j];
        double stated = NAN, runs = NAN;
        int n;
        double *s = rg_archive_times(&u->a, w->job, &n);
        const double median = rg_median(s, n);
        free(s);
        for (int i = 0; i < u->a.summary.n_rows; i++)
            if (!strcmp(rg_tsv_cell(&u->a.summary, i, "job"), w->job)) {
                stated = rg_tsv_number(&u->a.summary, i, "median_s");
                runs = rg_tsv_number(&u->a.summary, i, "runs");
            }
        if (runs != n)
            found(u, "medians", "%s: %d runs count, summary.tsv says %g", w->job, n, runs);
        else if (n && !(fabs(stated - median) <= 1e-5 * median))
            found(u, "medians", "%s: %.6g s by its runs, summary.tsv says %.6g", w->job, median, stated);
        if (n < w->min_runs)
            open_question(u, "rules", "%s has %d run%s that count%s, %d are needed: others were busy", w->job, n, rg_plural(n),
                n == 1 ? "s" : "", w->min_runs);
    }
}

// A window's joules are divided by its runs, so it must hold the runs of one job and no others.
static bool runs_of_window(const audit *u, const char *job, double first, double last, double *span_s) {
    int n = 0;
    for (int i = 0; i < u->a.runs.n_rows; i++) {
        const bool in = i + 1 >= first && i + 1 <= last;
        if (in != (!strcmp(word(u, i, "kind"), "energy") && !strcmp(word(u, i, "job"), job))) return false;
        n += in;
    }
    if (n == 0 || n != last - first + 1) return false;
    *span_s = of(u, (int)last - 1, "ended_s") - of(u, (int)first - 1, "began_s");
    return true;
}

static void check_energy(audit *u) {
    const rg_tsv *p = &u->a.power;
    for (int i = 0; i < p->n_rows; i++) {
        const char *job = rg_tsv_cell(p, i, "job"), *source = rg_tsv_cell(p, i, "source");
        const double joules = rg_tsv_number(p, i, "joules"), s = rg_tsv_number(p, i, "window_s");
        const double first = rg_tsv_number(p, i, "first_run"), last = rg_tsv_number(p, i, "last_run");
        double span_s = 0;
        if (s < RG_MEASURE_WINDOW_S - 0.5)
            open_question(u, "energy", "%s, %s: a window of %g s, the rules ask for %d s", job, source, s, RG_MEASURE_WINDOW_S);
        if (!(joules > 0) || !(fabs(joules / (last - first + 1) / rg_tsv_number(p, i, "joules_a_run") - 1) < 1e-4) ||
            !(fabs(joules / s / rg_tsv_number(p, i, "mean_W") - 1) < 1e-3))
            found(u, "energy", "%s, %s: joules, runs, seconds and watts do not fit each other", job, source);
        else if (!runs_of_window(u, job, first, last, &span_s))
            found(u, "energy", "%s, %s: runs %g to %g are not the runs of its window", job, source, first, last);
        else if (s < span_s - 1e-2)
            found(u, "energy", "%s, %s: a window of %g s, its runs took %.3f s", job, source, s, span_s);
    }
}

static void check_archive(audit *u) {
    check_manifest(u);
    check_nonce(u);
    check_workload(u);
    check_log(u);
    check_sequence(u);
    check_turns(u);
    check_runs(u);
    check_medians(u);
    check_energy(u);
}

int rg_audit_findings(const rg_archive *a, char first[RG_FINDING]) {
    const request nothing = {0};
    audit u = {.request = &nothing, .a = *a, .first = first};
    *first = '\0';
    check_archive(&u);
    return u.findings;
}

// ---- again, here -----------------------------------------------------------------------------------------------------------

// 0: alike, 1: different, 2: unknown.
static int compare_samples(audit *u, const char *kind, const char *job, const char *folder, uint64_t seed, rg_alike *alike) {
    RG_ENDS(rg_tsv_free) rg_tsv theirs = {0}, here = {0};
    RG_FREED char *path = rg_print("%s/%s.tsv", kind, job), *text = rg_job_samples(folder, seed);
    const bool there = rg_bundle_find(&u->a.bundle, path) && !rg_archive_table(&u->a, path, &theirs);
    if (!there || rg_tsv_parse("samples", text, strlen(text), &here)) return 2;
    *alike = rg_samples_alike(&theirs, &here);
    return alike->files_differ != 0;
}

static void check_job_again(audit *u, const rg_inputs_made *m, int j, const char *folder) {
    const rg_work *w = &u->a.workload.job[j];
    rg_alike alike = {0};
    if (w->input_of == j && compare_samples(u, "inputs", w->job, m->in[j], m->seed, &alike)) {
        found(u, "inputs", "of %s are not those that follow from the nonce: %s", w->job,
            *alike.first ? alike.first : "no samples are there");
        return; // its outputs cannot be compared either
    }
    RG_FREED char *command = rg_job_command(m, j, "");
    const rg_job_run run = rg_job_run_once(m->program, command, folder, -1);
    if (run.code) {
        open_question(u, "outputs", "%s cannot be computed here: %s", w->job, run.said);
        return;
    }
    if (compare_samples(u, "outputs", w->job, folder, m->seed, &alike))
        found(u, "outputs", "of %s are not those computed here: %d of %d sampled values, %s", w->job, alike.differ, alike.n,
            *alike.first ? alike.first : "no samples are there");
}

static int check_again(audit *u) {
    char folder[2][4096] = {"", ""}; // of inputs, of outputs
    RG_FREED char *program = rg_own_program();
    RG_ENDS(rg_inputs_made_free) rg_inputs_made m = {0};
    if (u->request->no_again || !program) {
        open_question(u, "outputs", "were not computed again");
        return RG_GOOD;
    }
    int code = rg_job_folder_make(folder[0]);
    code = code ? code : rg_job_folder_make(folder[1]);
    if (!code) {
        rg_progress progress;
        double there_s = u->a.runs.n_rows ? of(u, 0, "began_s") : 0; // time to make the inputs, since nothing ran before them
        for (int j = 0; j < u->a.workload.n; j++) there_s += rg_archive_median(&u->a, u->a.workload.job[j].job);
        if (!rg_quiet)
            fprintf(stderr, "audit: %s: makes the inputs of %d job%s and runs each once, which took %.0f s there\n", u->a.label,
                u->a.workload.n, rg_plural(u->a.workload.n), there_s);
        rg_progress_begin(&progress, "audit", "jobs", u->a.workload.n);
        code = rg_inputs_generate(&m, &u->a.workload, program, folder[0], rg_nonce_seed(rg_archive_value(&u->a, "nonce")));
        for (int j = 0; j < u->a.workload.n && !code; j++) {
            check_job_again(u, &m, j, folder[1]);
            rg_progress_at(&progress, j + 1);
        }
        rg_progress_end(&progress);
    }
    for (int i = 0; i < 2; i++)
        if (*folder[i]) rg_job_folder_remove(folder[i]);
    return code;
}

// ---- the command -----------------------------------------------------------------------------------------------------------

static void name_signature(const audit *u) {
    static const struct {
        const char *ending, *verify;
    } kind[] = {{".asc", "gpg --verify"}, {".sig", "gpg --verify"}, {".minisig", "minisign -Vm"}};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        RG_FREED char *path = rg_print("%s%s", u->a.bundle.path, kind[i].ending);
        if (access(path, R_OK) == 0)
            printf("%s\tsignature\tlies beside it; whose it is says: %s %s%s%s\n", u->a.label, kind[i].verify,
                i < 2 ? path : u->a.bundle.path, i < 2 ? " " : "", i < 2 ? u->a.bundle.path : "");
    }
}

static int run(void *typed) {
    const request *r = typed;
    int findings = 0, unsure = 0, code = RG_GOOD;
    for (int i = 0; i < r->given.word.n && !code; i++) {
        audit u = {.request = r};
        code = rg_archive_read(r->given.word.item[i], &u.a);
        if (code) break;
        check_archive(&u);
        code = check_again(&u);
        name_signature(&u);
        if (!code)
            printf("%s: %s%d finding%s, %d open question%s; %d run%s, nonce %s, %s\n", u.a.label,
                u.findings     ? ""
                    : u.unsure ? "unsure: "
                               : "good: ",
                u.findings, rg_plural(u.findings), u.unsure, rg_plural(u.unsure), u.a.runs.n_rows, rg_plural(u.a.runs.n_rows),
                rg_archive_value(&u.a, "nonce"), rg_archive_value(&u.a, "division"));
        findings += u.findings;
        unsure += u.unsure;
        rg_archive_free(&u.a);
    }
    return code ? code : findings ? RG_WRONG : unsure ? RG_UNSURE : RG_GOOD;
}

static const rg_option options[] = {
    {"nonce", "WORD", "the one given to the vendor", RG_TO(request, nonce)},
    {"workload", "FILE.tsv", "the one given to the vendor", RG_TO(request, workload)},
    {"no-again", NULL, "do not compute inputs and outputs again; exit 3 at best", RG_TO(request, no_again)},
    {0},
};

const rg_command rg_cmd_audit = {
    .name = "audit",
    .words = "A.rgz...",
    .summary = "whether archives of `measure` hold together, keep the rules, and are right",
    .help = "Prints one line a finding: machine, rule, what was found. audit checks that the files are those of MANIFEST;\n"
            "that the log's chain of hashes is whole and fits every row of runs.tsv; that the runs follow each other\n"
            "without a gap and in turns, as bench/RULES.md demands; that the medians are those of the runs; that nothing is\n"
            "faster than the machine's own probes; that the inputs follow from the nonce; and that each job, run once\n"
            "here, gives the sampled outputs up to rounding. Where a signature lies beside an archive (.asc, .sig,\n"
            ".minisig), audit prints the command that verifies it.\n\n"
            "An archive takes as long as making its inputs and running every job once, which is said first: less than a\n"
            "minute for size small. With --no-again it takes no time.\n\n"
            "Nothing of an archive is written to disk, and its workload cannot name another program or a path outside\n"
            "(bench/procure). Exit codes: 0 good; 1 findings; 2 bad usage, or no archive; 3 open questions (too few runs\n"
            "count, or the outputs were not computed again).",
    .option = options,
    .bytes = sizeof(request),
    .run = run,
};
