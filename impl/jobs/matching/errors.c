// SPDX-License-Identifier: MIT
// errors.c: computes medians, and writes the table of errors against the truth.
#include "../../base/summary.h"
#include "matching.h"

void aj_print_stages(int n, const char *const *stage, const double *seconds) {
    printf("stage\tseconds\n");
    for (int i = 0; i < n; i++) {
        printf("%s\t%.3f\n", stage[i], seconds[i]);
        rg_summary_stage(stage[i], seconds[i]);
    }
}

double aj_median(int64_t n, double *v) {
    qsort(v, (size_t)n, sizeof *v, rg_ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int aj_write_errors(const char *path, const char *command, int quantities, const char *const *quantity, int64_t n, double **v) {
    rg_file file;
    int code = rg_file_open(&file, path);
    if (code != RG_GOOD) return code;
    fprintf(file.stream, "# command: %s\nquantity\tmedian\tlargest\n", command);
    for (int q = 0; q < quantities; q++) {
        double median = aj_median(n, v[q]);
        fprintf(file.stream, "%s\t%.9g\t%.9g\n", quantity[q], median, v[q][n - 1]);
        rg_summary_found("Error against the truth, `%s`: median %.3g, largest %.3g.", quantity[q], median, v[q][n - 1]);
    }
    return rg_file_commit(&file);
}
