// SPDX-License-Identifier: MIT
// test_search.c: regather search finds every orientation of the D7 phantom from nothing, again and again the same for a seed;
// and takes real particles whose orientations nobody knows.
#include "../test_frealign.h"
#include "test_nlopt.h"

FIXTURE(make_phantom)
{
    if (test_dir_make(state) != 0) return -1;
    rg_quiet = true;
    return RUN(
        phantom, "phantom particles --shape d7 --box 64 --images 6 --sigma 1 --ctf --snr 1 --shift 2 --out %s", test_dir);
}

#define SEARCH(more, ...)                                                                                                      \
    RUN(search, "search %s/particles.star --reference %s/map.mrc --sym D7 --device cpu --high 10 --angle 15 --best 4 " more,   \
        test_dir, test_dir, __VA_ARGS__)

static void assert_all_found(const char *name)
{
    errors e = errors_of(in_dir(name), in_dir("particles.star"), "D7");
    if (!(e.worst_deg < 2 && e.worst_A < 2)) print_message("worst %.2f deg, %.2f A\n", e.worst_deg, e.worst_A);
    assert_true(e.worst_deg < 2 && e.worst_A < 2);
}

TEST(test_all_found)
{
    rg_particles p;
    size_t n = 0, m = 0;
    assert_int_equal(rg_particles_open(&p, in_dir("particles.star")), RG_GOOD);
    for (int64_t i = 0; i < p.n; i++)
        p.row[i].rot_deg = p.row[i].tilt_deg = p.row[i].psi_deg = p.row[i].origin_x_px = p.row[i].origin_y_px = 0;
    write_poses(in_dir("nothing.star"), &p, "particles.mrcs");
    rg_particles_close(&p);
#define FROM_NOTHING(seed, name)                                                                                               \
    RUN(search,                                                                                                                \
        "search %s/nothing.star --reference %s/map.mrc --sym D7 --device cpu --high 10 --angle 15 --best 4 --seed %d "         \
        "--out %s/%s",                                                                                                         \
        test_dir, test_dir, seed, test_dir, name)
    assert_int_equal(FROM_NOTHING(3, "a.star"), RG_GOOD);
    assert_non_null(strstr(output, "directions\t18, 120 rotations each"));
    assert_all_found("a.star");
    assert_int_equal(FROM_NOTHING(3, "b.star"), RG_GOOD);
    char *a = get_file(in_dir("a.star"), &n), *b = get_file(in_dir("b.star"), &m);
    assert_true(n == m);
    assert_memory_equal(a, b, n);
    free(b);
    assert_int_equal(FROM_NOTHING(4, "c.star"), RG_GOOD); // another grid, the same orientations
    assert_all_found("c.star");
    b = get_file(in_dir("c.star"), &m);
    assert_true(n != m || memcmp(a, b, n) != 0);
    free(a);
    free(b);
}

// Fewer rings of the search over directions ask for fewer products.
TEST(test_rings_of_the_search)
{
    assert_int_equal(SEARCH("--max-evaluations 1 --out %s/fine.star", test_dir), RG_GOOD);
    assert_int_equal(SEARCH("--max-evaluations 1 --search-high 40 --out %s/coarse.star", test_dir), RG_GOOD);
    assert_true(need_of("coarse_stages.tsv", "\nccp:") < 0.5 * need_of("fine_stages.tsv", "\nccp:"));
}

// The wrong group's unit leaves most orientations out.
TEST(test_group_matters)
{
    assert_int_equal(RUN(search,
                         "search %s/particles.star --reference %s/map.mrc --sym I1 --device cpu --high 10 --angle 15 --best 1 "
                         "--out %s/wrong.star",
                         test_dir, test_dir, test_dir),
        RG_GOOD);
    assert_true(errors_of(in_dir("wrong.star"), in_dir("particles.star"), "D7").worst_deg > 10);
    assert_refused(SEARCH("--sym E8 --out %s/x.star", test_dir), "--sym given twice");
    assert_refused(
        RUN(search, "search %s/particles.star --reference %s/map.mrc --sym E8 --out %s/x.star", test_dir, test_dir, test_dir),
        "E8");
    assert_refused(SEARCH("--best 1000 --out %s/x.star", test_dir), "--best");
}

#define F2 "../shared/data/frealign/F2_real_empiar10076_7/empiar_10076_7.star"
#define MAP32 "../shared/data/frealign/F5_sim_ctf_noise_classE_720/10076_classE_32.mrc"

// Rows without angles, a map of a tenth of the sampling and of unknown voxel size. At 13 A a particle of this kind cannot be
// told from its mirror image, so that only the run itself is looked at.
TEST(test_real_particles)
{
    rg_particles found;
    if (access(F2, R_OK) != 0) {
        print_message("no " F2 " here\n");
        skip();
    }
    assert_refused(RUN(search, "search " F2 " --reference " MAP32 " --device cpu --out %s/f2.star", test_dir), "419.2 A");
    assert_int_equal(RUN(search,
                         "search " F2 " --reference " MAP32 " --reference-pixel 13.1 --device cpu --high 60 --angle 45 "
                         "--best 1 --out %s/f2.star",
                         test_dir),
        RG_GOOD);
    assert_int_equal(system(fmt("cp %s %s", "../shared/data/frealign/F2_real_empiar10076_7/empiar_10076_7.mrc", test_dir)), 0);
    assert_int_equal(rg_particles_open(&found, in_dir("f2.star")), RG_GOOD);
    assert_true(found.n == 7 && found.row[0].ctf.defocus_u_A > 10000);
    rg_particles_close(&found);
}

// On noise alone a best answer is found all the same; that it is none, is said, and of real answers nothing.
TEST(test_nothing_there)
{
    for (int noise = 0; noise < 2; noise++) {
        assert_int_equal(
            RUN(phantom, "phantom particles --shape d7 --box 32 --images 6 --sigma 2 --ctf --snr %s --out %s/noise",
                noise ? "0.0001" : "4", test_dir),
            RG_GOOD);
        catch_stderr();
        int code = RUN(search,
            "search %s/noise/particles.star --reference %s/noise/map.mrc --sym D7 --device cpu --angle 20 "
            "--out %s/found.star",
            test_dir, test_dir, test_dir);
        const char *said = caught();
        assert_int_equal(code, RG_GOOD);
        assert_true(noise == !!strstr(said, "is at the noise level"));
    }
}

TESTS_WITH_NLOPT(make_phantom, test_dir_remove)
