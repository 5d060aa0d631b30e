// SPDX-License-Identifier: MIT
// test_hash.c: XXH64 against published values and, where it is installed, xxhsum; of a file beyond a piece, against its pieces.
#include "../../../impl/base/hash.h"
#include "../test.h"
#include "../test_program.h"

#include <unistd.h>

static char bytes[300];

TEST(make)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 37 ^ i >> 3);
}

TEST(test_known)
{
    assert_true(rg_hash("", 0) == 0xEF46DB3751D8E999u);
    assert_true(rg_hash("a", 1) == 0xD24EC4F1A98C6E5Bu);
    assert_true(rg_hash("abc", 3) == 0x44BC2CF5AD770999u);
}

// Every length to beyond nine stripes.
TEST(test_xxhsum)
{
    char *there = rg_program_path("xxhsum");
    if (!there)
        skip();
    free(there);
    for (size_t n = 0; n <= sizeof bytes; n += n < 70 ? 1 : 23) {
        put_file(fmt("h%03zu", n), bytes, n);
        rg_hashed f = {.path = in_dir(fmt("h%03zu", n)), .bytes = (int64_t)n};
        rg_hash_files(&f, 1, 2);
        assert_true(!f.unread && f.hash == rg_hash(bytes, n));
        put_file("sum", fmt("%016llx  h%03zu\n", (unsigned long long)f.hash, n), strlen(fmt("%016llx  h%03zu\n", 0ull, n)));
        assert_int_equal(sh("xxhsum -q -c sum"), 0);
    }
}

TEST(test_pieces)
{
    rg_hashed two[2] = {{.path = in_dir("large"), .bytes = RG_HASH_PIECE + 5}, {.path = in_dir("large"), .bytes = RG_HASH_PIECE}};
    put_file("large", "", 0);
    assert_int_equal(truncate(in_dir("large"), RG_HASH_PIECE + 5), 0); // all zeros, and none on the disk
    rg_hash_files(two, 2, 2);
    const uint64_t piece[2] = {two[1].hash, rg_hash("\0\0\0\0\0", 5)};
    assert_true(!two[0].unread && !two[1].unread && two[0].hash == rg_hash(piece, sizeof piece));
    two[0].bytes++; // more than it has
    rg_hash_files(two, 1, 1);
    assert_true(two[0].unread);
}

TESTS(test_dir_make, test_dir_remove)
