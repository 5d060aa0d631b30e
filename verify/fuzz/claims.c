// SPDX-License-Identifier: MIT
// claims.c: any bytes as the table of claims, as that of papers, and as the published numbers of a paper.
#include "../../report/ledger/claims.h"

#include "../../impl/base/core.h"
#include "fuzz.h"

static void read_both(const char *claims, const char *papers) {
    rg_claims c;
    int code = rg_claims_read(claims, papers, &c);
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    for (int i = 0; code == RG_GOOD && i < c.claim.n_rows; i++) {
        rg_published(&c, i, "value");
        rg_is_addition(&c, i);
    }
    if (code == RG_GOOD) rg_claims_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static char *claims, *papers;
    if (!claims) {
        claims = rg_share_path("reference/claims.tsv");
        papers = rg_share_path("reference/papers.tsv");
    }
    const char *path = fuzz_path(bytes, n);
    read_both(path, papers);
    read_both(claims, path);
    read_both(path, path);
    const char *own = fuzz_out("papers.tsv"); // one paper with these numbers, in published/ beside it
    RG_FREED char *folder = rg_print("%.*spublished", (int)(rg_base_name(own) - own), own);
    mkdir(folder, 0700);
    FILE *f = fopen(own, "w");
    fuzz_expect(f);
    fprintf(f, "paper\ttitle\tpublished\nlu2009\tOne\t../numbers.tsv\n");
    fclose(f);
    const char *numbers = fuzz_out("numbers.tsv");
    f = fopen(numbers, "w");
    fuzz_expect(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
    read_both(claims, own);
    return 0;
}
