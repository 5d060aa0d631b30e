// SPDX-License-Identifier: MIT
// test_hash.c: XXH64 against published values and, if installed, xxhsum; a file larger than a piece, against its pieces.
#include "../../../impl/base/hash.h"
#include "../../../impl/base/malformed.h"
#include "../test.h"
#include "../test_program.h"

#include <fcntl.h>
#include <sys/stat.h>

static char bytes[300];

TEST(make) {
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 37 ^ i >> 3);
}

TEST(test_known) {
    assert_true(rg_hash("", 0) == 0xEF46DB3751D8E999u);
    assert_true(rg_hash("a", 1) == 0xD24EC4F1A98C6E5Bu);
    assert_true(rg_hash("abc", 3) == 0x44BC2CF5AD770999u);
}

// Lengths past nine stripes.
TEST(test_xxhsum) {
    RG_FREED char *there = rg_program_path("xxhsum");
    if (!there) skip();
    for (size_t n = 0; n <= sizeof bytes; n += n < 70 ? 1 : 23) {
        put_file(fmt("h%03zu", n), bytes, n);
        rg_hashed f = {.path = in_dir(fmt("h%03zu", n)), .bytes = (int64_t)n};
        rg_hash_files(&f, 1, 2);
        assert_true(!f.unread && f.hash == rg_hash(bytes, n));
        put_text(in_dir("sum"), fmt("%016llx  h%03zu\n", (unsigned long long)f.hash, n));
        assert_int_equal(sh("xxhsum -q -c sum"), 0);
    }
}

TEST(test_pieces) {
    rg_hashed two[2] = {
        {.path = in_dir("large"), .bytes = RG_HASH_PIECE + 5}, {.path = in_dir("large"), .bytes = RG_HASH_PIECE}};
    put_file("large", "", 0);
    assert_int_equal(truncate(in_dir("large"), RG_HASH_PIECE + 5), 0); // all zeros, without space on the disk
    rg_hash_files(two, 2, 2);
    const uint64_t piece[2] = {two[1].hash, rg_hash("\0\0\0\0\0", 5)};
    assert_true(!two[0].unread && !two[1].unread && two[0].hash == rg_hash(piece, sizeof piece));
    two[0].bytes++; // more than the file has
    rg_hash_files(two, 1, 1);
    assert_true(two[0].unread);
}

static void hash_one(rg_hashed *f, const char *name, int64_t size) {
    *f = (rg_hashed){.path = in_dir(name), .bytes = size};
    rg_hash_files(f, 1, 1);
}

// Hashes computed ahead by threads, or requested before, are used; a file that has changed since is hashed again.
TEST(test_ahead) {
    rg_hashed f;
    for (int threads = 0; threads < 3; threads += 2) {
        struct stat facts;
        FILE *opened;
        int64_t size;
        put_file("same", bytes, 100);
        put_file("changed", bytes, 200);
        rg_files_begin();
        for (const char *const *name = (const char *const[]){"same", "changed", NULL}; *name; name++) {
            assert_int_equal(rg_input_open(in_dir(*name), &opened, &size), RG_GOOD);
            fclose(opened);
        }
        rg_hash_begin(threads);
        assert_int_equal(stat(in_dir("same"), &facts), 0);
        for (int twice = 0; twice < 2; twice++) {
            hash_one(&f, "same", 100);
            assert_true(!f.unread && f.hash == rg_hash(bytes, 100));
            // Other bytes with the same size and time: shows whether a hash was kept or computed again.
            put_file("same", bytes + 1, 100);
            assert_int_equal(utimensat(AT_FDCWD, in_dir("same"), (struct timespec[]){facts.st_atim, facts.st_mtim}, 0), 0);
        }
        hash_one(&f, "same", 99); // another size
        assert_true(f.hash == rg_hash(bytes + 1, 99));
        put_file("changed", bytes + 1, 200);
        assert_int_equal(utimensat(AT_FDCWD, in_dir("changed"), (struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
        hash_one(&f, "changed", 200);
        assert_true(!f.unread && f.hash == rg_hash(bytes + 1, 200));
        rg_hash_end();
        hash_one(&f, "same", 100);
        assert_true(f.hash == rg_hash(bytes + 1, 100));
        rg_files_end();
    }
}

// A file that is no longer wanted is not read to its end.
TEST(test_ahead_ends) {
    FILE *opened;
    int64_t size;
    put_file("long", "", 0);
    assert_int_equal(truncate(in_dir("long"), (int64_t)1 << 40), 0);
    rg_files_begin();
    assert_int_equal(rg_input_open(in_dir("long"), &opened, &size), RG_GOOD);
    fclose(opened);
    rg_hash_begin(2);
    const double since_s = rg_seconds();
    rg_hash_end();
    assert_true(rg_seconds() - since_s < 5);
    rg_files_end();
}

TESTS(test_dir_make, test_dir_remove)
