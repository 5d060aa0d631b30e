// SPDX-License-Identifier: MIT
// trace_cases.c: traces the small shapes of an algorithm and, in each, the corners where indices go wrong: one row per case,
// with the number of its pairs of input and output and their verdicts.
#include "trace.h"
#include "../../impl/base/core.h"

static void row(FILE *table, const char *shape, const char *name, const int64_t count[RG_TRACE_WORDS]) {
    int64_t faults = 0;
    for (int w = 1; w < RG_TRACE_WORDS; w++) faults += count[w];
    printf("  %s%-18s %-28s", faults ? rg_colour(stdout, "red") : "", shape, name);
    for (int w = 0; w < RG_TRACE_WORDS; w++) printf(" %10" PRId64, count[w]);
    printf("%s\n", faults ? rg_colour(stdout, "off") : "");
    if (!table) return;
    fprintf(table, "%s\t%s", shape, name);
    for (int w = 0; w < RG_TRACE_WORDS; w++) fprintf(table, "\t%" PRId64, count[w]);
    fprintf(table, "\t\n");
}

static void no_row(FILE *table, const char *shape, const char *status, const char *why) {
    printf("  %-18s %s: %s\n", shape, status, why);
    if (table) fprintf(table, "%s\t%s\t\t\t\t\t\t%s\n", shape, status, why);
}

static void one_kind(const rg_pairs *pairs, const rg_trace_case *kind, const char *shape, FILE *table) {
    int64_t count[RG_TRACE_WORDS] = {0};
    for (int64_t i = 0; i < pairs->n; i++) {
        const rg_trace_pair *p = &pairs->pair[i];
        count[p->word] += kind->has(&pairs->shape, p->input, p->which, p->output);
    }
    row(table, shape, kind->name, count);
}

static int one_shape(const rg_trace_how *how, FILE *table, int64_t *wrong) {
    const rg_algo *algo = how->entry->algo;
    const rg_filter every = {0};
    rg_pairs pairs;
    char shape[96];
    int64_t count[RG_TRACE_WORDS];
    rg_shape_print(algo, &how->shape, shape);
    const char *invalid = algo->invalid ? algo->invalid(&how->shape) : NULL;
    if (invalid) {
        no_row(table, shape, "refused", invalid);
        return RG_GOOD;
    }
    const int code = rg_trace_run(how, &every, &every, &pairs);
    if (code) return code;
    if (pairs.ran.status != RG_PASS)
        no_row(table, shape, pairs.ran.status == RG_SKIP ? "refused" : rg_status_name[pairs.ran.status], pairs.ran.reason);
    *wrong += pairs.ran.status != RG_PASS && pairs.ran.status != RG_SKIP;
    rg_pairs_count(&pairs, count);
    if (pairs.ran.status == RG_PASS) row(table, shape, "all", count);
    for (int i = 0; algo->trace && pairs.ran.status == RG_PASS && i < algo->trace->n_kinds; i++)
        one_kind(&pairs, &algo->trace->kind[i], shape, table);
    for (int w = 1; w < RG_TRACE_WORDS; w++) *wrong += count[w];
    rg_pairs_free(&pairs);
    return RG_GOOD;
}

int rg_trace_cases(rg_trace_how how, const char *stem, const char *command, int64_t *wrong) {
    const rg_algo *algo = how.entry->algo;
    const rg_shape *shape = algo->trace ? algo->trace->case_shape : algo->check_shape;
    const int n = algo->trace ? algo->trace->n_case_shapes : algo->n_check_shapes < 8 ? algo->n_check_shapes : 8;
    char path[4096];
    rg_file file;
    *wrong = 0;
    snprintf(path, sizeof path, "%s.cases.tsv", stem ? stem : "");
    int code = stem ? rg_file_open(&file, path) : RG_GOOD;
    if (code) return code;
    FILE *table = stem ? file.stream : NULL;
    printf("%s:%s\n  %-18s %-28s", algo->name, how.entry->name, "shape", "case");
    for (int w = 0; w < RG_TRACE_WORDS; w++) printf(" %10s", rg_trace_word_name[w]);
    printf("\n");
    if (table)
        fprintf(table,
            "# regather trace %s\n# command: %s\n# variant: %s:%s\nshape\tcase\tright\tmissing\tdoubled\tmisplaced\t"
            "weight\treason\n",
            RG_VERSION, command, algo->name, how.entry->name);
    for (int i = 0; i < n && !code; i++) {
        how.shape = shape[i];
        code = one_shape(&how, table, wrong);
    }
    return stem ? rg_file_end(&file, code) : code;
}
