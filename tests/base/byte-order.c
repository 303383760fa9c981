/* SPDX-License-Identifier: MIT */
/*
 * tests/base/byte-order.c - bytes of little-endian numbers are the same numbers
 * on every machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/byte-order.h"

static const unsigned char bytes[8] = {
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
};

static void
bytes_are_the_number_that_they_spell(void **state)
{
    uint16_t x16;
    uint32_t x32;
    uint64_t x64;

    (void)state;
    memcpy(&x16, bytes, sizeof(x16));
    memcpy(&x32, bytes, sizeof(x32));
    memcpy(&x64, bytes, sizeof(x64));
    assert_int_equal(gb_le16(x16), 0x2301);
    assert_int_equal(gb_le32(x32), 0x67452301);
    assert_true(gb_le64(x64) == UINT64_C(0xefcdab8967452301));
}

static void
turning_twice_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(gb_le16(gb_le16(0x1234)), 0x1234);
    assert_int_equal(gb_le32(gb_le32(0x12345678)), 0x12345678);
    assert_true(gb_le64(gb_le64(UINT64_C(0x123456789abcdef0))) ==
                UINT64_C(0x123456789abcdef0));
}

static void
numbers_are_turned_where_they_are(void **state)
{
    unsigned char numbers[sizeof(bytes)];
    uint32_t x[2];
    float f;

    (void)state;
    memcpy(numbers, bytes, sizeof(bytes));
    gb_le_bytes(numbers, 4, sizeof(numbers));
    memcpy(x, numbers, sizeof(x));
    assert_int_equal(x[0], 0x67452301);
    assert_int_equal(x[1], 0xefcdab89);

    /* -1.5, of which no byte is like another's. */
    memcpy(&f, "\0\0\xc0\xbf", sizeof(f));
    gb_le_bytes(&f, sizeof(f), sizeof(f));
    assert_true(f == -1.5f);
}

static void
single_bytes_stay(void **state)
{
    unsigned char numbers[sizeof(bytes)];

    (void)state;
    memcpy(numbers, bytes, sizeof(bytes));
    gb_le_bytes(numbers, 1, sizeof(numbers));
    assert_memory_equal(numbers, bytes, sizeof(bytes));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_the_number_that_they_spell),
        cmocka_unit_test(turning_twice_changes_nothing),
        cmocka_unit_test(numbers_are_turned_where_they_are),
        cmocka_unit_test(single_bytes_stay),
    };

    return cmocka_run_group_tests_name("byte order", tests, NULL, NULL);
}
