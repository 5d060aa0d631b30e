// SPDX-License-Identifier: MIT
// test_bundle.c: SHA-256 gives the values of FIPS 180-4; a packed archive is read back, also by tar; one with a path outside
// its folder, a link, a folder, a bomb, wrong sizes or a missing end is refused in one line and leaves no file.
#include "../../../impl/base/bundle.h"
#include "../../../impl/base/hash.h"
#include "../test_data.h"

#include <signal.h>
#include <sys/resource.h>
#if HAVE_ZLIB
#include <zlib.h>
#endif

TEST(sha256_of_the_standard) {
    static const struct {
        const char *text, *hex;
    } vector[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    char hex[65];
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        rg_sha256_of(vector[i].text, strlen(vector[i].text), hex);
        assert_string_equal(hex, vector[i].hex);
    }
    rg_sha256 s;
    rg_sha256_begin(&s);
    char part[997]; // a million times "a", in parts that are not blocks
    memset(part, 'a', sizeof part);
    for (size_t left = 1000000, n; left; left -= n) rg_sha256_add(&s, part, n = left < sizeof part ? left : sizeof part);
    rg_sha256_end(&s, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(what_is_packed_comes_back) {
    rg_pack p;
    rg_bundle b;
    RG_FREED char *big = rg_alloc(100000);
    for (int i = 0; i < 100000; i++) big[i] = (char)((unsigned)i * (unsigned)i >> 3);
    const char *path = in_dir("a.rgz");
    assert_int_equal(rg_pack_begin(&p, path), RG_GOOD);
    assert_int_equal(rg_pack_add(&p, "one", "text", 4, 0644), RG_GOOD);
    assert_int_equal(rg_pack_add(&p, "sub/two", big, 100000, 0644), RG_GOOD);
    assert_int_equal(rg_pack_add(&p, "empty", "", 0, 0644), RG_GOOD);
    assert_int_equal(rg_pack_commit(&p), RG_GOOD);
    assert_int_equal(rg_bundle_read(path, &b), RG_GOOD);
    assert_int_equal(b.n, 3);
    assert_string_equal(rg_bundle_find(&b, "one")->bytes, "text");
    assert_int_equal(rg_bundle_find(&b, "sub/two")->n, 100000);
    assert_memory_equal(rg_bundle_find(&b, "sub/two")->bytes, big, 100000);
    assert_int_equal(rg_bundle_find(&b, "empty")->n, 0);
    assert_null(rg_bundle_find(&b, "two"));
    rg_bundle_free(&b);
    assert_int_equal(
        system(fmt("cd %s && tar xzf a.rgz && test \"$(cat one)\" = text && test $(wc -c < sub/two) = 100000", test_dir)), 0);
}

// A tar with one header of this name, type and size, and `held` zeros of content.
static const char *hostile(const char *name, char type, long size, size_t held) {
    static int number;
    unsigned char block[512] = {0};
    unsigned sum = 0;
    const char *path = in_dir(fmt("h%d.rgz", number++));
    snprintf((char *)block, 100, "%s", name);
    snprintf((char *)block + 100, 8, "%07o", 0644);
    snprintf((char *)block + 124, 12, "%011lo", (unsigned long)size);
    block[156] = (unsigned char)type;
    memcpy(block + 257, "ustar\00000", 8);
    memset(block + 148, ' ', 8);
    for (int i = 0; i < 512; i++) sum += block[i];
    snprintf((char *)block + 148, 8, "%06o", sum);
#if HAVE_ZLIB
    gzFile f = gzopen(path, "wb9");
    gzwrite(f, block, 512);
    memset(block, 0, 512);
    for (size_t n = 0; n < held; n += 512) gzwrite(f, block, 512);
    gzwrite(f, block, 512);
    gzwrite(f, block, 512);
    gzclose(f);
#endif
    return path;
}

TEST(hostile_archives_are_refused) {
    static const struct {
        const char *name;
        char type;
        long size;
        size_t held;
        const char *says;
    } cases[] = {{"../evil", '0', 4, 512, "expected a path without \"..\""},
        {"a/../../evil", '0', 4, 512, "expected a path without \"..\""}, {"/etc/evil", '0', 4, 512, "expected a relative path"},
        {"a\nb", '0', 4, 512, "expected a path of letters"}, {"a//b", '0', 4, 512, "empty parts"},
        {"link", '2', 0, 0, "expected a regular file"}, {"hard", '1', 0, 0, "expected a regular file"},
        {"folder/", '5', 0, 0, "expected a regular file"}, {"device", '3', 0, 0, "expected a regular file"},
        {"short", '0', 1 << 20, 512, "expected the content of short"}, {"", '0', 4, 512, "expected files, found none"},
        {"bomb", '0', 64 << 20, 64 << 20, "times the file's size"}};
    rg_bundle b;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(rg_bundle_read(hostile(cases[i].name, cases[i].type, cases[i].size, cases[i].held), &b), cases[i].says);
    assert_refused(rg_bundle_read(put_file("text.rgz", "no archive", 10), &b), "found no gzip file");
    assert_refused(rg_bundle_read(in_dir("nothing.rgz"), &b), "nothing.rgz");
    assert_refused(rg_bundle_read(test_dir, &b), "expected a regular file");
    size_t n = 0;
    RG_FREED char *whole = get_file(in_dir("a.rgz"), &n);
    assert_refused(rg_bundle_read(put_file("half.rgz", whole, n / 2), &b), "cut or damaged");
    assert_int_not_equal(access(fmt("%s/../evil", test_dir), F_OK), 0);
    assert_int_not_equal(access("/etc/evil", F_OK), 0);
}

TEST(bad_paths_are_not_packed) {
    rg_pack p;
    assert_int_equal(rg_pack_begin(&p, in_dir("b.rgz")), RG_GOOD);
    assert_refused(rg_pack_add(&p, "../x", "", 0, 0644), "without \"..\"");
    assert_int_not_equal(access(in_dir("b.rgz"), F_OK), 0);
}

// As on a full disk, by a limit on the size of files.
TEST(what_cannot_be_written_is_said_with_its_reason) {
    enum { BYTES = 1 << 20 };
    rg_pack p;
    struct rlimit had;
    RG_FREED unsigned char *noise = rg_alloc(BYTES);
    uint64_t x = 1; // a linear congruential generator: random data cannot be compressed
    for (int i = 0; i < BYTES; i++) noise[i] = (unsigned char)((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &had), 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {1 << 14, had.rlim_max};
    assert_int_equal(rg_pack_begin(&p, in_dir("c.rgz")), RG_GOOD);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(rg_pack_add(&p, "noise", noise, BYTES, 0644), RG_GOOD);
    assert_refused(rg_pack_commit(&p), "c.rgz: cannot be written: File too large");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &had), 0);
    assert_int_not_equal(access(in_dir("c.rgz"), F_OK), 0);
}

TESTS(test_dir_make, test_dir_remove)
