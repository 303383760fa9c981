/* SPDX-License-Identifier: MIT */
/*
 * tests/base/mem.c - allocations, and those that fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "tests/util/fault.h"

#include <stdint.h>
#include <string.h>

static void
a_block_of_no_bytes_is_a_block(void **state)
{
    void *blocks[] = { gb_mem_alloc(0), gb_mem_zalloc(0, 8),
                       gb_mem_realloc(NULL, 8, 0) };
    void *aligned = gb_mem_alloc_aligned(0, 64);

    (void)state;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        assert_non_null(blocks[i]);
        gb_mem_free(blocks[i]);
    }
    assert_non_null(aligned);
    gb_mem_free_aligned(aligned);
    gb_mem_free(NULL);
    gb_mem_free_aligned(NULL);
}

static void
a_product_that_overflows_gives_nothing(void **state)
{
    (void)state;
    assert_null(gb_mem_zalloc(SIZE_MAX / 2, 3));
    assert_null(gb_mem_realloc(NULL, SIZE_MAX / 2, 3));
}

static void
zeroed_memory_is_zero(void **state)
{
    static const unsigned char zeros[3 * 7];
    void *block = gb_mem_zalloc(3, 7);

    (void)state;
    assert_memory_equal(block, zeros, sizeof(zeros));
    gb_mem_free(block);
}

static void
aligned_memory_is_aligned(void **state)
{
    (void)state;
    for (size_t align = 1; align <= 4096; align *= 2) {
        void *block = gb_mem_alloc_aligned(100, align);

        assert_int_equal((uintptr_t)block % align, 0);
        memset(block, 1, 100);
        gb_mem_free_aligned(block);
    }
}

static void
growing_keeps_the_contents(void **state)
{
    char *text = gb_mem_strdup("kept");

    (void)state;
    text = gb_mem_realloc(text, 1000, 10);
    assert_string_equal(text, "kept");
    gb_mem_free(text);
}

static void
take_one_of_each(void *data)
{
    void *blocks[] = { gb_mem_alloc(1), gb_mem_zalloc(1, 1),
                       gb_mem_realloc(NULL, 1, 1), gb_mem_strdup("x"),
                       gb_mem_alloc_aligned(1, 64) };
    int n_failed = 0;

    (void)data;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        n_failed += blocks[i] == NULL;
        gb_mem_free(blocks[i]);
    }
    assert_int_equal(n_failed, gb_fault_happened() ? 1 : 0);
}

static void
each_allocation_can_be_made_to_fail(void **state)
{
    (void)state;
    assert_int_equal(gb_fault_each(take_one_of_each, NULL), 5);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_of_no_bytes_is_a_block),
        cmocka_unit_test(a_product_that_overflows_gives_nothing),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(aligned_memory_is_aligned),
        cmocka_unit_test(growing_keeps_the_contents),
        cmocka_unit_test(each_allocation_can_be_made_to_fail),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
