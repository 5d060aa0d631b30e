// SPDX-License-Identifier: MIT
// test_par.c: FREALIGN's parameter files: versions, columns that touch, and particles read from them. Malformed rows:
// verify/cases/malformed.tsv.
#include "../../../data/formats/par.h"
#include "../test.h"
#include "../test_data.h"

// Rows in the column widths of each version, as FREALIGN prints them.
#define V9                                                                                                                     \
    "      1   10.50   20.25  -30.75      4.50    -13.10   50000    12  12000.5  11500.0   45.00  100.00    "                  \
    "-1234     1.2345   23.45    0.10\n"
#define V9_OLD                                                                                                                 \
    "      1   10.50   20.25  -30.75      4.50    -13.10   50000    12  12000.5  11500.0   45.00  100.00    "                  \
    "-1234   23.45    0.10\n"
#define V8 "      1   10.50   20.25  -30.75    4.50  -13.10  50000.    12  12000.5  11500.0   45.00   66.80\n"

static int read_text(const char *text, rg_par *p) { return rg_par_read(put_file("p.par", text, strlen(text)), p); }

static int code_of(const char *text) {
    rg_par p;
    int code = read_text(text, &p);
    if (code == RG_GOOD) rg_par_free(&p);
    return code;
}

TEST(test_versions) {
    static const char *const text[] = {"C comment\n" V9, V9_OLD "C end\n", V8};
    for (int i = 0; i < 3; i++) {
        RG_ENDS(rg_par_free) rg_par p;
        assert_int_equal(read_text(text[i], &p), RG_GOOD);
        assert_true(p.n == 1 && rg_par_version(&p) == (i == 2 ? 8 : 9) && p.row[0].line == (i == 0 ? 2 : 1));
        const double *v = p.row[0].value;
        assert_true(v[RG_PAR_NO] == 1 && v[RG_PAR_PSI] == 10.5 && v[RG_PAR_THETA] == 20.25 && v[RG_PAR_PHI] == -30.75);
        assert_true(v[RG_PAR_SHX] == 4.5 && v[RG_PAR_SHY] == -13.1 && v[RG_PAR_MAG] == 50000 && v[RG_PAR_FILM] == 12);
        assert_true(v[RG_PAR_DF1] == 12000.5 && v[RG_PAR_DF2] == 11500 && v[RG_PAR_ANGAST] == 45);
        if (i < 2)
            assert_true(v[RG_PAR_OCC] == 100 && v[RG_PAR_LOGP] == -1234 && v[RG_PAR_SIGMA] == (i ? 0 : 1.2345) &&
                v[RG_PAR_SCORE] == 23.45 && v[RG_PAR_CHANGE] == 0.1);
        else
            assert_true(v[RG_PAR_PRESA] == 66.8);
    }
}

// A shift of -1000.00 A fills its ten columns except one, an angle of -1000.00 all eight, so that words touch.
TEST(test_columns_that_touch) {
    rg_par p;
    char text[] = V9, old[] = V8;
    memcpy(text + 7, "-1000.25-2000.50-3000.75", 24);
    assert_int_equal(read_text(text, &p), RG_GOOD);
    const double *v = p.row[0].value;
    assert_true(
        rg_par_version(&p) == 9 && v[RG_PAR_PSI] == -1000.25 && v[RG_PAR_THETA] == -2000.5 && v[RG_PAR_PHI] == -3000.75);
    assert_true(v[RG_PAR_SHX] == 4.5 && v[RG_PAR_SIGMA] == 1.2345 && v[RG_PAR_CHANGE] == 0.1);
    rg_par_free(&p);
    memcpy(old + 31, "-1000.25-2000.50", 16);
    assert_int_equal(read_text(old, &p), RG_GOOD);
    assert_true(rg_par_version(&p) == 8 && p.row[0].value[RG_PAR_SHX] == -1000.25 && p.row[0].value[RG_PAR_SHY] == -2000.5);
    assert_true(p.row[0].value[RG_PAR_MAG] == 50000 && p.row[0].value[RG_PAR_PRESA] == 66.8);
    rg_par_free(&p);
}

TEST(test_free_format) {
    RG_ENDS(rg_par_free) rg_par p;
    assert_int_equal(
        read_text("1 1 2 3 4 5 10000 1 9000 8000 7 66 0\r\n2\t1 2 3 4 5 10000 1 9000 8000 7 66 -1.5", &p), RG_GOOD);
    assert_true(p.n == 2 && rg_par_version(&p) == 8 && p.row[1].value[RG_PAR_CHANGE] == -1.5 && p.row[1].line == 2);
}

// What is written is read back, in the fixed widths that FREALIGN reads; a value too wide leaves no file.
TEST(test_written) {
    for (int version = 8; version <= 9; version++) {
        RG_ENDS(rg_par_free) rg_par out, in;
        rg_par_make(&out, version, 3);
        for (int i = 0; i < 3; i++)
            for (int f = RG_PAR_PSI; f < RG_PAR_FIELDS; f++) out.row[i].value[f] = f == RG_PAR_MAG ? 59000 : f * 10 - 40 * i;
        out.row[1].value[RG_PAR_THETA] = -1000.25;
        out.row[1].value[RG_PAR_PHI] = -1000.5;
        assert_int_equal(rg_par_write(in_dir("out.par"), &out), RG_GOOD);
        size_t bytes;
        RG_FREED char *text = get_file(in_dir("out.par"), &bytes);
        assert_int_equal(strcspn(text, "\n"), version == 8 ? 95 : 136); // the header is as wide as the rows
        assert_int_equal(bytes, 4 * ((version == 8 ? 95 : 136) + 1));
        assert_int_equal(rg_par_read(in_dir("out.par"), &in), RG_GOOD);
        assert_true(in.n == 3 && rg_par_version(&in) == version && in.row[1].value[RG_PAR_PHI] == -1000.5);
        for (int f = RG_PAR_NO; f <= RG_PAR_ANGAST; f++) assert_true(in.row[2].value[f] == out.row[2].value[f]);
        if (version == 9) assert_true(in.row[2].value[RG_PAR_SIGMA] == out.row[2].value[RG_PAR_SIGMA]);
        unlink(in_dir("out.par"));
        out.row[2].value[RG_PAR_SHX] = 1e9;
        assert_refused(rg_par_write(in_dir("out.par"), &out), "row 3: 1e+09 does not fit into column SHX");
        assert_int_not_equal(access(in_dir("out.par"), F_OK), 0);
    }
}

static void put_stack(int64_t images) {
    rg_mrc_out out;
    float section[16];
    assert_int_equal(rg_mrc_write_begin(&out, in_dir("s.mrcs"), 4, 4, images, RG_MRC_FLOAT32, 2, false), RG_GOOD);
    for (int64_t z = 0; z < images; z++) {
        for (int i = 0; i < 16; i++) section[i] = (float)(100 * z + i);
        assert_int_equal(rg_mrc_write_section(&out, section), RG_GOOD);
    }
    assert_int_equal(rg_mrc_write_commit(&out), RG_GOOD);
}

static int particles_of(const char *text, rg_particles *p) {
    rg_par par;
    const rg_par_optics optics = {2, 200, 2, 0.07};
    int code = read_text(text, &par);
    if (code == RG_GOOD) {
        code = rg_par_particles(&par, in_dir("s.mrcs"), &optics, p);
        rg_par_free(&par);
    }
    return code;
}

#define ROW8(no) #no " 1 2 3 4 5 10000 1 9000 8000 7 66\n"
#define ROW9(no) #no " 1 2 3 4 5 10000 1 9000 8000 7 100 0 1 20 0\n"

TEST(test_particles) {
    rg_particles p;
    float image[16];
    put_stack(2);
    for (int version = 8; version <= 9; version++) {
        assert_int_equal(particles_of(version == 8 ? ROW8(2) ROW8(1) : ROW9(2) ROW9(1), &p), RG_GOOD);
        assert_true(p.n == 2 && p.side == 4 && p.pixel_A == 2 && !p.lacks_ctf);
        const rg_particle *q = &p.row[0];
        assert_true(q->psi_deg == 1 && q->tilt_deg == 2 && q->rot_deg == 3);
        double px = version == 8 ? 1 : 0.5; // A as pixels of 2 A
        assert_true(q->origin_x_px == -4 * px && q->origin_y_px == -5 * px);
        assert_true(q->ctf.defocus_u_A == 9000 && q->ctf.defocus_v_A == 8000 && q->ctf.defocus_angle_deg == 7);
        assert_true(q->ctf.voltage_kV == 200 && q->ctf.cs_mm == 2 && q->ctf.amplitude_contrast == 0.07 && q->ctf.scale == 1);
        assert_int_equal(rg_particles_image(&p, 0, image), RG_GOOD);
        assert_true(image[3] == 103); // NO is the number of the image in the stack
        RG_ENDS(rg_par_free) rg_par par;
        rg_par_make(&par, version, 1);
        rg_par_set_pose(&par, 0, q, p.pixel_A);
        const double *v = par.row[0].value;
        assert_true(
            v[RG_PAR_SHX] == 4 && v[RG_PAR_SHY] == 5 && v[RG_PAR_PSI] == 1 && v[RG_PAR_THETA] == 2 && v[RG_PAR_PHI] == 3);
        rg_particles_close(&p);
    }
    assert_refused(
        particles_of(ROW8(1) "2 1 2 3 4 5 20000 1 9000 8000 7 66\n", &p), "line 2: expected the magnification 10000");
    unlink(in_dir("s.mrcs"));
    assert_refused(particles_of(ROW8(1) ROW8(2), &p), "s.mrcs");
}

// Columns too narrow to tell where they end; what is written is read back.
TEST(test_narrow_kind) {
    rg_par p, again;
    assert_int_equal(read_text("1 2 3 4 5 6 10000 1 9000 8000 7 66 1\n", &p), RG_GOOD);
    assert_int_equal(rg_par_write(in_dir("w.par"), &p), RG_GOOD);
    assert_int_equal(rg_par_read(in_dir("w.par"), &again), RG_GOOD);
    assert_memory_equal(p.row[0].value, again.row[0].value, sizeof p.row[0].value);
    rg_par_free(&again);
    p.row[0].value[RG_PAR_SHX] = -1000; // as wide as its column: it would touch the one before
    assert_refused(rg_par_write(in_dir("w.par"), &p), "-1000 does not fit into column SHX of 7 characters");
    rg_par_free(&p);
}

// A line longer than the part used to recognise the format, and numbers that no microscope gives.
TEST(test_beyond) {
    const size_t n = (1 << 20) + 4096;
    char *line = rg_alloc(n + 1);
    memset(line, 'x', n);
    for (size_t i = 1; i < n; i += 2) line[i] = i < 8 ? ' ' : 'x';
    line[0] = '1';
    line[n - 1] = '\n';
    assert_refused(code_of(line), "p.par: line 1: expected");
    free(line);
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"1 1 2 3 1e300 5 10000 1 9000 8000 7 66\n", "line 1: expected a number within +-1e+06 in column SHX, found 1e+300"},
        {"1 1 2 3 4 5 10000 1 1e300 8000 7 66\n", "+-1e+07 in column DF1"},
        {"1 1e9 2 3 4 5 10000 1 9000 8000 7 66\n", "+-1e+06 in column PSI"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_refused(code_of(bad[i].text), bad[i].words);
}

TESTS(test_dir_make, test_dir_remove)
