/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/packed.c - images that pack makes smaller come back as they were, and
 * those that are damaged are refused.
 */
#include "config.h"

#include "backends/cuda/device/unpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { HEAD = 12, MOST = 1 << 24 };

static void
put_word(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* In memory of exactly that size, so that a sanitizer sees what lies beside. */
static unsigned char *
copy_of(const void *bytes, size_t n)
{
    unsigned char *copy = malloc(n > 0 ? n : 1);

    assert_non_null(copy);
    memcpy(copy, bytes, n);
    return copy;
}

/* ---- steps by hand ---- */

struct steps {
    const char *bytes;
    size_t n;
    const char *result; /* NULL: refused, for REASON */
    size_t size;
    const char *reason;
};

#define BYTES(text) text, sizeof(text) - 1
#define GIVES(text) text, sizeof(text) - 1, NULL

static const struct steps by_hand[] = {
    /* Three bytes, nothing behind them. */
    { BYTES("\x60" "abc"), GIVES("abc") },
    /* Seven and more are a number. */
    { BYTES("\xe0\x00" "abcdefg"), GIVES("abcdefg") },
    { BYTES("\xe0\x01" "abcdefgh"), GIVES("abcdefgh") },
    /* One byte, then four of a copy from one before: kind 3, three bytes. */
    { BYTES("\x27" "a\x00\x00\x00"), GIVES("aaaaa") },
    /* Kinds 1 and 2 count by four. */
    { BYTES("\x81" "abcd\x00"), GIVES("abcdabc") },
    { BYTES("\xe1\x01" "abcdefgh\x01"), GIVES("abcdefghabc") },
    { BYTES("\x82" "abcd\x00\x00"), GIVES("abcdabc") },
    /* Kind 0 is the same distance again, for two bytes and more. */
    { BYTES("\x81" "abcd\x00" "\x20" "X"), GIVES("abcdabcXab") },
    { BYTES("\x81" "abcd\x00" "\x20" "X\x00"), NULL, 12, "its sum is wrong" },
    /* A copy of 10 + 130 bytes: a number of two bytes. */
    { BYTES("\x3f" "a\x00\x00\x00\x82\x01" "\x20" "b"),
      GIVES("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaab") },
    /* What cannot be. */
    { BYTES("\x60" "ab"), NULL, 3, "it ends too early" },
    { BYTES(""), NULL, 3, "it ends too early" },
    { BYTES("\xe0"), NULL, 9, "it ends too early" },
    { BYTES("\xe0\x80\x80\x80\x80\x00" "a"), NULL, 9, "it ends too early" },
    { BYTES("\x81" "abcd"), NULL, 8, "it ends too early" },
    { BYTES("\x60" "abc"), NULL, 2, "it gives more than it says" },
    { BYTES("\x81" "abcd\x00"), NULL, 6, "it gives more than it says" },
    { BYTES("\x61" "abc\x00"), NULL, 8, "it copies what is not there" },
    { BYTES("\x00"), NULL, 8, "it copies what is not there" },
    { BYTES("\x60" "abc" "d"), NULL, 3, "it goes on behind its end" },
    { BYTES("\x81" "abcd\x00" "d"), NULL, 7, "it goes on behind its end" },
};

static uint32_t
fnv1a(const char *bytes, size_t n)
{
    uint32_t sum = 0x811c9dc5;

    while (n-- > 0) {
        sum ^= (unsigned char)*bytes++;
        sum *= 0x01000193;
    }
    return sum;
}

static void
steps_are_what_the_header_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
        const struct steps *steps = &by_hand[i];
        unsigned char *image = malloc(HEAD + steps->n);
        unsigned char *out = malloc(steps->size);
        const char *reason;

        assert_non_null(image);
        assert_non_null(out);
        memcpy(image, "GBPK", 4);
        put_word(image + 4, (uint32_t)steps->size);
        put_word(image + 8, steps->result == NULL
                                ? 0 : fnv1a(steps->result, steps->size));
        memcpy(image + HEAD, steps->bytes, steps->n);
        assert_int_equal(gb_cuda_unpacked_size(image, HEAD + steps->n),
                         steps->size);
        reason = gb_cuda_unpack(image, HEAD + steps->n, out);
        if (steps->result != NULL) {
            if (reason != NULL)
                fail_msg("row %zu: %s", i, reason);
            assert_memory_equal(out, steps->result, steps->size);
        } else if (reason == NULL || strcmp(reason, steps->reason) != 0) {
            fail_msg("row %zu: %s", i, reason != NULL ? reason : "taken");
        }
        free(out);
        free(image);
    }
}

static void
others_are_not_packed(void **state)
{
    unsigned char head[HEAD] = "GBPK";

    (void)state;
    put_word(head + 4, 77);
    assert_int_equal(gb_cuda_unpacked_size(head, HEAD), 77);
    assert_int_equal(gb_cuda_unpacked_size(head, HEAD - 1), 0);
    head[3] = 'L';
    assert_int_equal(gb_cuda_unpacked_size(head, HEAD), 0);
    assert_int_equal(gb_cuda_unpacked_size(head, 0), 0);
}

/* ---- what the program writes ---- */

struct file {
    unsigned char *bytes;
    size_t n;
};

static char folder[] = "/tmp/packed-XXXXXX";
static char in_name[64], out_name[64], program[512];

static struct file
read_file(const char *name)
{
    struct file file = { .bytes = malloc(MOST) };
    FILE *stream = fopen(name, "rb");

    assert_non_null(file.bytes);
    assert_non_null(stream);
    file.n = fread(file.bytes, 1, MOST, stream);
    fclose(stream);
    return file;
}

static struct file
pack(const unsigned char *bytes, size_t n)
{
    FILE *stream = fopen(in_name, "wb");
    int status = 1;
    pid_t pid;

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, n, stream), n);
    assert_int_equal(fclose(stream), 0);
    pid = fork();
    if (pid == 0) {
        execl(program, "pack", in_name, out_name, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return read_file(out_name);
}

static uint32_t seed;

static uint32_t
draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(seed >> 8) * below >> 24);
}

/* Words of four bytes that often are earlier ones, as instructions are. */
static void
make_code(unsigned char *bytes, size_t n, uint32_t reach)
{
    for (size_t i = 0; i < n; i++) {
        const size_t back = 4 * (1 + draw(reach));

        bytes[i] = i % 4 == 3 && back <= i ? bytes[i - back]
                                           : (unsigned char)draw(11);
    }
    for (size_t i = n / 3; i + 300 < n; i += 700)
        memcpy(bytes + i, bytes + draw((uint32_t)i - 300), 300);
}

static void
comes_back(const unsigned char *bytes, size_t n, size_t most)
{
    struct file packed = pack(bytes, n);
    unsigned char *image = copy_of(packed.bytes, packed.n);
    unsigned char *out = malloc(n);
    const char *reason;

    assert_non_null(out);
    assert_int_equal(gb_cuda_unpacked_size(image, packed.n), n);
    reason = gb_cuda_unpack(image, packed.n, out);
    if (reason != NULL)
        fail_msg("%zu bytes: %s", n, reason);
    assert_memory_equal(out, bytes, n);
    if (packed.n > most)
        fail_msg("%zu bytes are %zu, not at most %zu", n, packed.n, most);
    free(out);
    free(image);
    free(packed.bytes);
}

static void
what_was_packed_comes_back(void **state)
{
    static unsigned char bytes[3 << 20];
    struct file self;

    (void)state;
    bytes[0] = 'x';
    comes_back(bytes, 1, HEAD + 2);
    for (size_t n = 2; n < 40; n++) {
        make_code(bytes, n, 2);
        comes_back(bytes, n, HEAD + 3 + n);
    }
    /* Copies of hundreds of thousands of bytes. */
    memset(bytes, 7, sizeof(bytes));
    comes_back(bytes, sizeof(bytes), 40);
    make_code(bytes, 300000, 500);
    comes_back(bytes, 300000, 250000);
    /* From afar, on places that are no multiple of four. */
    memcpy(bytes + 300001, bytes, 300000);
    memcpy(bytes + (2 << 20), bytes + 1, 300000);
    comes_back(bytes, sizeof(bytes), 260000);
    /* Nothing comes twice. */
    for (size_t i = 0; i < 70000; i++)
        bytes[i] = (unsigned char)draw(256);
    comes_back(bytes, 70000, 70100);
    self = read_file("/proc/self/exe");
    comes_back(self.bytes, self.n, self.n / 2);
    free(self.bytes);
}

static void
twice_is_the_same(void **state)
{
    static unsigned char bytes[50000];
    struct file one, other;

    (void)state;
    make_code(bytes, sizeof(bytes), 100);
    one = pack(bytes, sizeof(bytes));
    other = pack(bytes, sizeof(bytes));
    assert_int_equal(one.n, other.n);
    assert_memory_equal(one.bytes, other.bytes, one.n);
    free(one.bytes);
    free(other.bytes);
}

/* ---- damage ---- */

/* Refused, or what it was: there are bits that nobody reads. */
static void
is_refused(const unsigned char *bytes, size_t n, const unsigned char *image,
           size_t size)
{
    unsigned char *damaged = copy_of(image, size), *out;
    const size_t gives = gb_cuda_unpacked_size(damaged, size);

    if (gives > 0 && gives <= MOST) {
        out = malloc(gives);
        assert_non_null(out);
        if (gb_cuda_unpack(damaged, size, out) == NULL) {
            assert_int_equal(gives, n);
            assert_memory_equal(out, bytes, n);
        }
        free(out);
    }
    free(damaged);
}

static void
damaged_images_are_refused(void **state)
{
    static unsigned char bytes[6000];
    struct file packed;

    (void)state;
    make_code(bytes, sizeof(bytes), 30);
    memset(bytes + 2000, 1, 900);
    packed = pack(bytes, sizeof(bytes));
    for (size_t n = HEAD; n < packed.n; n++) {
        unsigned char *shorter = copy_of(packed.bytes, n);
        unsigned char *out = malloc(sizeof(bytes));

        assert_non_null(out);
        assert_non_null(gb_cuda_unpack(shorter, n, out));
        free(out);
        free(shorter);
    }
    for (size_t i = 0; i < packed.n; i++) {
        const unsigned char was = packed.bytes[i];

        for (int bit = 0; bit < 8; bit++) {
            packed.bytes[i] = was ^ (unsigned char)(1 << bit);
            is_refused(bytes, sizeof(bytes), packed.bytes, packed.n);
        }
        packed.bytes[i] = (unsigned char)draw(256);
        is_refused(bytes, sizeof(bytes), packed.bytes, packed.n);
        packed.bytes[i] = was;
    }
    free(packed.bytes);
}

static int
begin(void **state)
{
    const char *build = getenv("top_builddir");

    (void)state;
    snprintf(program, sizeof(program), "%s/backends/cuda/pack",
             build != NULL ? build : ".");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(in_name, sizeof(in_name), "%s/in", folder);
    snprintf(out_name, sizeof(out_name), "%s/out", folder);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    unlink(in_name);
    unlink(out_name);
    return rmdir(folder);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_what_the_header_says),
        cmocka_unit_test(others_are_not_packed),
        cmocka_unit_test(what_was_packed_comes_back),
        cmocka_unit_test(twice_is_the_same),
        cmocka_unit_test(damaged_images_are_refused),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
