// SPDX-License-Identifier: MIT
// test_job_autocorr.c: the job on photographs small enough to sum by hand, its refusals, and the real series.
#include "../../../impl/runtime/command.h"
#include "../../../data/formats/mrc.h"
#include "../../../impl/jobs/autocorr/autocorr.h"
#include "../test.h"
#include "../test_data.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

extern const rg_command rg_cmd_autocorr;

// `regather autocorr WORDS`, with %s for the test's folder; standard output is dropped.
static int job(const char *words)
{
    char *line = rg_print("autocorr %s --quiet", words), *argv[64];
    int argc = 0;
    for (char *at = strtok(line, " "); at && argc < 63; at = strtok(NULL, " "))
        argv[argc++] = *at == '@' ? (char *)(uintptr_t)in_dir(at + 1) : at; // @x: x in the test's folder
    argv[argc] = NULL;
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    close(null);
    int code = rg_command_run(&rg_cmd_autocorr, argc, argv);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    free(line);
    return code;
}

static bool exists(const char *name) { return access(in_dir(name), F_OK) == 0; }

static int files_in(const char *name)
{
    FILE *f = popen(fmt("ls -A %s 2>/dev/null | wc -l", in_dir(name)), "r");
    int n = -1;
    if (fscanf(f, "%d", &n) != 1) n = -1;
    pclose(f);
    return n;
}

// ---- the command ---------------------------------------------------------------------------------------------------------

// Stripes of 12 pixels under a light that falls by a fifth: the sum over the overlap only falls.
TEST(test_hint_of_centred)
{
    enum { SIDE = 96 };
    unsigned char file[16 + SIDE * SIDE];
    const int head = snprintf((char *)file, 16, "P5 96 96 255\n");
    for (int i = 0; i < SIDE * SIDE; i++)
        file[head + i] =
            (unsigned char)(200 - 40 * (i % SIDE) / SIDE + 12 * sin(i % SIDE * 2 * M_PI / 12) * sin(i / SIDE * 2 * M_PI / 12));
    put_file("light.pgm", file, (size_t)head + SIDE * SIDE);
    for (int centred = 0; centred < 2; centred++) {
        catch_stderr();
        int code =
            job(centred ? "@light.pgm --max-offset 40 --norm centred --out @light" : "@light.pgm --max-offset 40 --out @light");
        const char *said = caught();
        assert_int_equal(code, RG_GOOD);
        assert_true(centred ==
            !strstr(said, "1 of 1 photographs have no R_max by --norm raw and one by --norm centred, the first light"));
    }
}

TEST(test_by_hand)
{
    put_file("hand.pgm", "P5 3 2 255\n\1\2\3\4\5\6", 17);
    assert_int_equal(job("@hand.pgm --max-offset 2 --dump-sums --out @hand"), RG_GOOD);
    // 1 2 3 / 4 5 6: S(0,0) = 91, S(1,0) = 1*2 + 2*3 + 4*5 + 5*6, S(0,1) = 1*4 + 2*5 + 3*6, S(1,1) = 5*1 + 6*2,
    // S(-1,1) = 4*2 + 5*3.
    assert_true(file_has(in_dir("hand/hand.sums.tsv"), "X0\tY0\tS\n-2\t-2\t0\n"));
    assert_true(file_has(in_dir("hand/hand.sums.tsv"), "\n0\t0\t91\n1\t0\t58\n2\t0\t27\n"));
    assert_true(file_has(in_dir("hand/hand.sums.tsv"), "\n-2\t1\t12\n-1\t1\t23\n0\t1\t32\n1\t1\t17\n2\t1\t6\n"));
    assert_true(file_has(in_dir("hand/hand.sums.tsv"), "\n-2\t-1\t6\n-1\t-1\t17\n0\t-1\t32\n1\t-1\t23\n2\t-1\t12\n"));
    // Ring 1: 2 (58 + 32 + 17 + 23) / 8 / 91; ring 2: (2*27 + 2 S(0,2) + 2 (6 + 12) + 0) / 12 / 91, S(0,2) = 0.
    char row[120];
    snprintf(row, sizeof row, "R\tC1D\tn\n0\t1\t1\n1\t%.17g\t8\n2\t%.17g\t12\n", (double)(260.0L / 8 / 91),
        (double)(90.0L / 12 / 91));
    assert_true(file_has(in_dir("hand/hand.c1d.tsv"), row));
    assert_true(file_has(in_dir("hand/hand.c1d.tsv"), "# R_max: none\n"));
    rg_mrc m;
    float c2d[25];
    assert_int_equal(rg_mrc_open(&m, in_dir("hand/hand.c2d.mrc")), RG_GOOD);
    assert_true(m.nx == 5 && m.ny == 5 && m.nz == 1 && m.mode == RG_MRC_FLOAT32);
    assert_int_equal(rg_mrc_section(&m, 0, c2d), RG_GOOD);
    assert_true(c2d[2 * 5 + 2] == 1 && c2d[3 * 5 + 1] == (float)(23 / 91.0) && c2d[3 * 5 + 3] == (float)(17 / 91.0));
    rg_mrc_close(&m);
}

TEST(test_cross)
{
    put_file("one.pgm", "P5 3 1 255\n\1\2\4", 14);
    put_file("two.pgm", "P5 3 1 65535\n\0\1\0\0\1\0", 19); // 1 0 256 in 16 bits: the other is widened
    assert_int_equal(job("@one.pgm --cross @two.pgm --max-offset 1 --dump-sums --out @cross"), RG_GOOD);
    // S(X0) = sum a(x) b(x - X0): S(-1) = a0 b1 + a1 b2 = 512, S(0) = 1 + 1024, S(1) = a1 b0 + a2 b1 = 2.
    assert_true(file_has(in_dir("cross/one.sums.tsv"), "\n-1\t0\t512\n0\t0\t1025\n1\t0\t2\n"));
    put_file("small.pgm", "P5 2 1 255\n\1\2", 13);
    assert_refused(job("@small.pgm --cross @two.pgm --max-offset 1 --out @cross2"), "the other photograph");
    assert_false(exists("cross2"));
}

TEST(test_refusals)
{
    put_file("dot.pgm", "P5 1 1 255\n\7", 12);
    put_file("black.pgm", "P5 2 1 255\n\0\0", 13);
    put_file("line.pgm", "P5 4 1 255\n\1\2\3\4", 15);
    put_file("text.png", "not a picture", 13);
    put_file("plain", "x", 1);
    assert_int_equal(job("@dot.pgm --max-offset 0 --out @dot"), RG_GOOD);
    assert_true(file_has(in_dir("dot/dot.c1d.tsv"), "# half_width: none\n# k_peak_length: none\nR\tC1D\tn\n0\t1\t1\n"));
    assert_refused(job("@dot.pgm --max-offset 1 --out @bad"), "--max-offset 1 is larger than the photograph of 1 x 1");
    assert_refused(job("@line.pgm @text.png --max-offset 1 --out @bad"), "text.png: at byte 0: expected a PNG");
    assert_refused(job("@line.pgm @line.pgm --max-offset 1 --out @bad"), "would both be written as");
    assert_refused(job("@line.pgm --max-offset 1 --norm none --out @bad"), "--norm: expected raw, overlap or centred");
    assert_refused(job("@line.pgm --max-offset 1 --grey-range 3:3 --out @bad"), "expected LOW:HIGH");
    assert_refused(job("@line.pgm --max-offset 1"), "autocorr: --out DIR is needed");
    assert_refused(job("--max-offset 1 --out @bad"), "autocorr: expected PHOTO..., found nothing");
    assert_refused(job("@line.pgm --max-offset 1 --variant magic --out @bad"), "magic");
    assert_refused(job("@line.pgm --max-offset 1 --times @plain --out @bad"), "line 1: expected a column named photo");
    assert_false(exists("bad")); // nothing was begun
    assert_refused(job("@line.pgm --max-offset 1 --out @plain"), "cannot make this folder");
    assert_refused(job("@black.pgm --max-offset 1 --out @black"), "the sum at offset (0, 0) is 0");
    assert_int_equal(files_in("black"), 0);
}

// A full disk, as a limit on the size of files: the same errors from write().
TEST(test_full_disk)
{
    struct rlimit kept, small;
    put_file("line.pgm", "P5 4 1 255\n\1\2\3\4", 15);
    getrlimit(RLIMIT_FSIZE, &kept);
    small = kept;
    small.rlim_cur = 700; // less than an MRC header
    signal(SIGXFSZ, SIG_IGN);
    catch_stderr();
    setrlimit(RLIMIT_FSIZE, &small);
    int code = job("@line.pgm --max-offset 3 --out @full");
    setrlimit(RLIMIT_FSIZE, &kept);
    const char *text = caught();
    assert_int_equal(code, RG_USAGE);
    assert_non_null(strstr(text, "line.c2d.mrc: not written: "));
    assert_null(strstr(text, "Success"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_int_equal(files_in("full"), 0);
}

// Waves of length 8, 10 and 12 pixels: each has its first maximum there.
static void put_waves(void)
{
    for (int i = 0; i < 3; i++) {
        uint8_t pixel[96 * 64];
        for (int p = 0; p < 96 * 64; p++) pixel[p] = (uint8_t)floor(128 + 100 * cos(2 * M_PI * (p % 96) / (8 + 2 * i)));
        rg_image image = {96, 64, 8, pixel};
        char name[20];
        snprintf(name, sizeof name, "wave%d.pgm", i);
        assert_int_equal(rg_image_write_pgm(in_dir(name), &image), RG_GOOD);
    }
}

TEST(test_series_and_resume)
{
    size_t n;
    double r[3], slope;
    char *text, kept[64];
    const char *words =
        "@wave0.pgm @wave1.pgm @wave2.pgm --max-offset 30 --norm centred --spectrum --resume --times @times.tsv --out @s";
    put_waves();
    put_file("times.tsv", "# made up\nphoto\ttime\nwave2\t12\nwave0.pgm\t8\nwave1\t10\n", 51);
    assert_int_equal(job(words), RG_GOOD);
    text = get_file(in_dir("s/rmax.tsv"), &n);
    const char *row = strstr(text, "\nphoto\tR_max\ttime\tC1D\thalf_width\tk_peak_length\n");
    assert_non_null(row);
    assert_non_null(row = strstr(row, "\nwave0\t"));
    for (int i = 0; i < 3; i++) {
        double time, c1d, half, peak;
        int length;
        assert_int_equal(sscanf(row, "\nwave%*d\t%lf\t%lf\t%lf\t%lf\t%lf%n", &r[i], &time, &c1d, &half, &peak, &length), 5);
        assert_true(time == 8 + 2 * i && fabs(peak - time) < 0.5); // 96 is a multiple of 8 and 12, nearly of 10
        // Along y nothing changes, so half_width would be where (1 + cos) / 2 is 1/2: a quarter wave, less for edges.
        assert_true(fabs(half - time / 4) < 0.3);
        row += length;
    }
    assert_true(file_has(in_dir("s/rmax_stages.tsv"), "# autocorr, 3 photographs, offsets to 30\n") &&
        file_has(in_dir("s/rmax_stages.tsv"), "\nread\t"));
    // The azimuthal mean of cos(k X0) is the Bessel function J0(k R), whose first maximum after the minimum is at k R = 7.016;
    // rings one pixel wide, of unevenly spread offsets, move it by up to half a pixel.
    for (int i = 0; i < 3; i++) assert_true(fabs(r[i] - 7.0156 / (2 * M_PI) * (8 + 2 * i)) < 0.5);
    assert_int_equal(sscanf(strstr(text, "# R_max = slope time: slope "), "# R_max = slope time: slope %lf", &slope), 1);
    assert_true(fabs(slope - (8 * r[0] + 10 * r[1] + 12 * r[2]) / (64 + 100 + 144)) < 1e-6);
    free(text);

    // Unchanged photographs are left alone; a changed one, or another request, is done again.
    struct stat before[2], after[2];
    for (int i = 0; i < 2; i++) {
        snprintf(kept, sizeof kept, "s/wave%d.c1d.tsv", i);
        stat(in_dir(kept), &before[i]);
    }
    put_file("wave1.pgm", "P5 40 1 255\n0123456789012345678901234567890123456789", 52);
    assert_int_equal(job(words), RG_GOOD);
    for (int i = 0; i < 2; i++) {
        snprintf(kept, sizeof kept, "s/wave%d.c1d.tsv", i);
        stat(in_dir(kept), &after[i]);
    }
    assert_true(before[0].st_ino == after[0].st_ino);
    assert_true(before[1].st_ino != after[1].st_ino);
    assert_true(file_has(in_dir("s/wave1.c1d.tsv"), "# size: 40 x 1\n"));
    char key[40];
    snprintf(key, sizeof key, "\nwave0\t%.17g\t8\t", r[0]);
    assert_true(file_has(in_dir("s/rmax.tsv"), key)); // what was left alone still stands in the table
    put_file("times.tsv", "photo\ttime\nwave2\t12\n", 20);
    assert_refused(job(words), "expected a time for wave0, found none");
}

TEST(test_choice)
{
    put_file("hand.pgm", "P5 3 2 255\n\1\2\3\4\5\6", 17);
    assert_int_equal(job("@hand.pgm --max-offset 2 --device cpu --out @choice"), RG_GOOD);
    assert_true(
        file_has(in_dir("choice/hand.c1d.tsv"), "# variant: simd (the first of the declared order that can run here)\n"));
    assert_int_equal(job("@hand.pgm --max-offset 2 --device cpu --variant naive --out @asked"), RG_GOOD);
    assert_true(file_has(in_dir("asked/hand.c1d.tsv"), "# variant: naive (requested)\n"));
    // What is faster at this offset: the correlation theorem, where its sums are exact; direct sums else.
    static const char *const chosen[3][2] = {{"4", "simd"}, {"60", "fftw"}, {"60", "simd"}};
    for (int wide = 0; wide < 3; wide++) {
        FILE *f = fopen(in_dir("p.pgm"), "wb");
        fprintf(f, "P5 128 128 %d\n", wide == 2 ? 65535 : 255);
        for (int i = 0; i < 128 * 128 * (wide == 2 ? 2 : 1); i++) fputc(i * i >> 3 & 255, f);
        fclose(f);
        assert_int_equal(job(fmt("@p.pgm --max-offset %s --device cpu --out @fast%d", chosen[wide][0], wide)), RG_GOOD);
        assert_true(file_has(in_dir(fmt("fast%d/p.c1d.tsv", wide)), fmt("# variant: %s (", chosen[wide][1])));
    }
}

// Photographs of phase separation on the ISS; the half-widths were computed elsewhere with numpy.
TEST(test_real_series)
{
    const double known[7] = {10.14, 10.73, 10.66, 11.10, 11.39, 11.66, 11.95};
    char line[2048] = "", name[80];
    for (int i = 1; i <= 7; i++) {
        char path[200];
        snprintf(path, sizeof path, "../shared/data/autocorr/A1_iss_phase_separation_20x/p5e5s21_20x_stab_f%d.png", i);
        if (access(path, R_OK) != 0) {
            print_message("skipped: %s is not here\n", path);
            skip();
        }
        strcat(strcat(line, path), " ");
    }
    strcat(line, "--max-offset 100 --norm centred --out @iss");
    assert_int_equal(job(line), RG_GOOD);
    for (int i = 0; i < 7; i++) {
        size_t n;
        snprintf(name, sizeof name, "iss/p5e5s21_20x_stab_f%d.c1d.tsv", i + 1);
        char *text = get_file(in_dir(name), &n);
        double half = strtod(strstr(text, "# half_width: ") + 14, NULL);
        assert_true(fabs(half - known[i]) < 0.0051);
        free(text);
    }
    assert_true(known[6] > known[0]); // coarsening
}

TESTS(test_dir_make, test_dir_remove)
