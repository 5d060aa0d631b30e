// SPDX-License-Identifier: MIT
// test_reconstruct_gpu.c: reconstruct over emulated GPUs, against the job on the host. Over processes:
// verify/cases/jobs.tsv.
#include "../test.h"
#include "test_reconstruct.h"

static void *alloc(const rg_device *d, size_t bytes) {
    void *at;
    assert_int_equal(d->alloc(&at, bytes, "memory"), RG_OK);
    return at;
}

// The job on emulated GPUs, with images in chunks through several lanes, sums of three batches and two GPUs, operators of the
// grid, half maps and map made there, several configurations: equal to the host with every operator inserted. Odd and even
// sides, with and without a CTF.
TEST(test_device) {
    static const struct {
        const char *variant, *options, *symmetry;
        int64_t padding;
        int gpus, trials;
        bool ctf;
    } try[] = {{"scatter", "--shape asymmetric --box 10 --images 22 --ctf", "D2", 2, 2, 0, true},
        {"owned", "--shape asymmetric --box 9 --images 27", "O", 1, 1, 0, false},
        {"owned", "--shape asymmetric --box 9 --images 13 --ctf", "C1", 3, 3, 0, true},
        {"gather", "--shape asymmetric --box 8 --images 24", "C2", 1, 1, 4, false}};
    for (int t = 0; t < RG_COUNT(try); t++) {
        RG_FREED char *star = rg_print("%s", phantom("device", try[t].options));
        RG_ENDS(rc_job_free) rc_job host = {.ctf = try[t].ctf, .run.halves = 2, .padding = try[t].padding};
        rc_job job = {.algo = rg_algo_find("gridding"),
            .ctf = try[t].ctf,
            .padding = try[t].padding,
            .radius_tenths = 19,
            .threads = 3,
            .run.halves = 2,
            .trials = try[t].trials,
            .f = NAN};
        insert_job(&host, star, NULL, try[t].symmetry, true);
        assert_int_equal(rg_particles_open(&job.particles, star), RG_GOOD);
        assert_int_equal(rc_set_symmetry(&job, try[t].symmetry, false), RG_GOOD);
        assert_int_equal(gr_plan(&job, try[t].variant, "host", try[t].gpus), RG_GOOD);
        job.batch = 4;
        job.chunk = 2;
        assert_int_equal(rc_insert_all(&job.run), RG_GOOD);
        for (int h = 0; h < 2; h++) assert_int_equal(rc_apply_lattice(&job, h), RG_GOOD);
        int64_t voxels = gr_voxels(host.k), n = host.particles.side * host.particles.side * host.particles.side;
        float *map[2] = {rg_alloc((size_t)n * sizeof(float)), rg_alloc((size_t)n * sizeof(float))};
        for (int h = 0; h < 2; h++) {
            // The host's weights come from a table of 10,000 values.
            assert_true(apart(sum_of(&host, h, GR_G), sum_of(&job, h, GR_G), 2 * voxels) < 2e-3);
            assert_true(apart(sum_of(&host, h, GR_W), sum_of(&job, h, GR_W), voxels) < 2e-3);
            assert_true(!try[t].ctf || fabs(rc_wiener(&job, h) / rc_wiener(&host, h) - 1) < 1e-6);
            const gr_map_of of = {.k = job.k,
                .padded = job.padded,
                .side = job.particles.side,
                .radius_tenths = 19,
                .g = sum_of(&job, h, GR_G),
                .w = sum_of(&job, h, GR_W),
                .wiener = 0.25,
                .threads = 2};
            assert_int_equal(gr_map(&of, map[0]), RG_OK); // from the same sums, so that only making the map differs
            float *there = alloc(job.team.member->device, (size_t)n * sizeof *there);
            assert_int_equal(rc_make_map(&job.run, h, 0.25, there), RG_GOOD);
            memcpy(map[1], there, (size_t)n * sizeof *there);
            job.team.member->device->release(there);
            assert_true(apart(map[0], map[1], n) < 1e-5);
        }
        float *first = rg_alloc((size_t)voxels * sizeof *first);
        memcpy(first, sum_of(&job, 0, GR_W), (size_t)voxels * sizeof *first);
        assert_int_equal(rc_add_halves(&job.run), RG_GOOD);
        for (int64_t i = 0; i < voxels; i++) assert_true(sum_of(&job, 0, GR_W)[i] == first[i] + sum_of(&job, 1, GR_W)[i]);
        free(first);
        free(map[0]);
        free(map[1]);
        rc_job_free(&job);
    }
}

// Transforms of images equal those of the host: lines of every radix and of primes without a special radix, odd and even, more
// images and columns than a block has lines.
TEST(test_transforms) {
    enum { IMAGES = 3 };
    static const int64_t sides[][2] = {{2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}, {8, 1}, {9, 2}, {10, 3}, {11, 1}, {13, 2},
        {15, 7}, {16, 8}, {22, 2}, {28, 5}, {34, 2}, {121, 1}, {20, 3}, {21, 2}, {35, 3}, {42, 2}, {90, 2}};
    const rg_device *d = rg_device_emulated();
    const rc_device_steps *steps = rc_steps(d);
    for (int t = 0; t < RG_COUNT(sides); t++) {
        const int64_t side = sides[t][0], padded = side * sides[t][1], k = padded / 2, pixels = side * side,
                      stored = gr_pixels(k);
        float *picture = alloc(d, (size_t)(IMAGES * pixels) * sizeof *picture);
        float *out = alloc(d, (size_t)(2 * IMAGES * stored) * sizeof *out),
              *host = rg_alloc((size_t)(2 * stored) * sizeof *host);
        double *origin = alloc(d, 2 * IMAGES * sizeof *origin);
        for (int64_t i = 0; i < IMAGES * pixels; i++) picture[i] = (float)(rg_bits(5, (uint64_t)i) >> 40) * 0x1p-23f - 1;
        for (int i = 0; i < 2 * IMAGES; i++) origin[i] = 3.7 * i - 9;
        void *room = alloc(d, steps->lane_room(side, padded, IMAGES));
        rc_lane *lane;
        rc_prepare plan;
        assert_int_equal(steps->lane_make(&lane, side, padded, k, room, NULL), RG_OK);
        assert_int_equal(rc_prepare_make(&plan, side, padded, k, 1), RG_GOOD);
        assert_int_equal(steps->transforms(lane, picture, origin, IMAGES, t % 2, out), RG_OK);
        for (int64_t i = 0; i < IMAGES; i++) {
            rc_prepare_image(&plan, 0, picture + i * pixels, origin[2 * i], origin[2 * i + 1], t % 2, host);
            assert_true(apart(host, out + 2 * i * stored, 2 * stored) < 1e-6);
        }
        rc_prepare_free(&plan);
        steps->lane_free(lane);
        d->release(room);
        d->release(origin);
        d->release(out);
        d->release(picture);
        free(host);
    }
}

TESTS(test_dir_make, test_dir_remove)
