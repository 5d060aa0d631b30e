// SPDX-License-Identifier: MIT
// checkpoint.c: any bytes as NEW.star.part of a search for four particles, alone and after the right header: particles that a
// run reuses are there for the next run, too.
#include "../../impl/jobs/refine/refine.h"
#include "fuzz.h"

enum { PARTICLES = 4, SIDE = 16 };

typedef struct part {
    char *input, *out, *path;
} part;

// Number of particles that a run reuses from the file; -1: refused. Particles, reference and command are constant.
static int64_t open_part(const part *p, bool resume, char **head, size_t *n) {
    rg_particle row[PARTICLES] = {0};
    fr_files files = {.input = p->input, .particles = {.n = PARTICLES, .side = SIDE, .row = row}};
    fr_refinement r = {.out = p->out, .reference = p->input, .side = SIDE, .batch = 2, .resume = resume};
    const rg_given given = {.line = "regather search fuzzed"};
    pl_member member = {0};
    pl_team team = {.member = &member, .n = 1};
    fr_checkpoint done;
    const int code = fr_checkpoint_open(&done, &given, &r, &files, &team);
    const int64_t resumed = code == RG_GOOD ? done.resumed : -1;
    fuzz_expect(code == RG_GOOD || code == RG_USAGE);
    fuzz_expect(code != RG_GOOD || (done.resumed >= 0 && done.rows + done.resumed == PARTICLES));
    if (code == RG_GOOD) rg_deal_end(&done.deal, RG_GOOD);
    if (head) *head = fuzz_get(p->path, n);
    fr_checkpoint_close(&done, false);
    free(files.score);
    free(files.sigma);
    free(files.magnification);
    return resumed;
}

static void put(const part *p, const char *head, size_t n_head, const uint8_t *bytes, size_t n) {
    FILE *f = fopen(p->path, "w");
    fuzz_expect(f && fwrite(head, 1, n_head, f) == n_head && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static part p;
    static char *head;
    static size_t n_head;
    if (!head) {
        p.input = rg_print("%s", fuzz_out("input.star"));
        p.out = rg_print("%s", fuzz_out("new.star"));
        p.path = rg_print("%s.part", p.out);
        FILE *f = fopen(p.input, "w");
        fuzz_expect(f && fclose(f) == 0);
        unlink(p.path);
        fuzz_expect(open_part(&p, false, &head, &n_head) == 0);
    }
    put(&p, "", 0, bytes, n);
    open_part(&p, true, NULL, NULL);
    put(&p, head, n_head, bytes, n);
    const int64_t resumed = open_part(&p, true, NULL, NULL);
    if (resumed > 0) fuzz_expect(open_part(&p, true, NULL, NULL) == resumed);
    return 0;
}
