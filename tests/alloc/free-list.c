/* SPDX-License-Identifier: MIT */
/*
 * tests/alloc/free-list.c - best fit, against a map of every byte.
 */
#include "lib/alloc/free-list.h"

#include "tests/util/fault.h"
#include "tests/util/random.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define UNITS 4096 /* of the map */
#define ALIGN 32

/* The same by looking at every unit: where would N units go? */
static int
naive_best_fit(const bool *used, int n)
{
    int best = -1, best_size = UNITS + 1, last_used = -1;

    for (int i = 0; i < UNITS; i++)
        if (used[i])
            last_used = i;
    for (int i = 0; i < last_used; i++) {
        int size = 0;

        while (!used[i + size])
            size++;
        if (size >= n && size <= best_size) { /* of equals the later */
            best = i;
            best_size = size;
        }
        i += size;
    }
    return best >= 0 ? best : last_used + 1;
}

static void
mark(bool *used, int at, int n, bool value)
{
    for (int i = at; i < at + n; i++) {
        assert_int_equal(used[i], !value);
        used[i] = value;
    }
}

struct piece {
    int32_t block;
    int at, n;
};

/* Random taking and freeing; each offset must be the naive one. */
static void
run_randomly(struct gb_free_list *list, uint64_t seed)
{
    struct piece pieces[128];
    struct gb_random random;
    bool used[UNITS] = { false };
    size_t high = 0;
    int n_pieces = 0;

    gb_random_init(&random, seed);
    assert_true(gb_free_list_reset(list, ALIGN, SIZE_MAX));
    for (int step = 0; step < 600; step++) {
        struct piece *p = &pieces[n_pieces];

        if (n_pieces < 120 && gb_random_u64(&random) % 5 < 3) {
            const size_t size = 1 + gb_random_u64(&random) % (20 * ALIGN);

            p->n = (int)((size + ALIGN - 1) / ALIGN);
            p->at = naive_best_fit(used, p->n);
            p->block = gb_free_list_take(list, size);
            assert_true(p->block >= 0);
            assert_int_equal(gb_free_list_offset(list, p->block),
                             (size_t)p->at * ALIGN);
            mark(used, p->at, p->n, true);
            if (high < (size_t)(p->at + p->n) * ALIGN)
                high = (size_t)(p->at + p->n) * ALIGN;
            n_pieces++;
        } else if (n_pieces > 0) {
            p = &pieces[gb_random_u64(&random) % (uint64_t)n_pieces];
            gb_free_list_free(list, p->block);
            mark(used, p->at, p->n, false);
            *p = pieces[--n_pieces];
        }
        assert_int_equal(list->high_water, high);
    }
    while (n_pieces > 0)
        gb_free_list_free(list, pieces[--n_pieces].block);
    assert_int_equal(list->n_holes, 0);
    assert_int_equal(gb_free_list_offset(list, list->rest), 0);
}

static void
every_offset_is_the_naive_one(void **state)
{
    struct gb_free_list list = { 0 };
    const uint64_t seed = gb_test_seed(1);

    (void)state;
    for (uint64_t i = 0; i < 200; i++)
        run_randomly(&list, seed + i);
    gb_free_list_clear(&list);
}

static void
thousands_of_free_pieces_are_no_limit(void **state)
{
    static int32_t blocks[20000];
    struct gb_free_list list = { 0 };
    int32_t hole;

    (void)state;
    assert_true(gb_free_list_reset(&list, ALIGN, SIZE_MAX));
    for (int i = 0; i < 20000; i++)
        blocks[i] = gb_free_list_take(&list, ALIGN * (1 + (size_t)i % 50));
    for (int i = 0; i < 20000; i += 2)
        gb_free_list_free(&list, blocks[i]);
    assert_int_equal(list.n_holes, 10000);
    hole = gb_free_list_take(&list, ALIGN * 49);
    assert_int_equal(gb_free_list_offset(&list, hole) % ALIGN, 0);
    assert_int_equal(list.n_holes, 9999);
    for (int i = 1; i < 20000; i += 2)
        gb_free_list_free(&list, blocks[i]);
    gb_free_list_free(&list, hole);
    assert_int_equal(list.n_holes, 0);
    gb_free_list_clear(&list);
}

static void
a_size_that_cannot_be_is_refused(void **state)
{
    struct gb_free_list list = { 0 };
    int32_t block;

    (void)state;
    assert_true(gb_free_list_reset(&list, ALIGN, SIZE_MAX));
    assert_int_equal(gb_free_list_take(&list, SIZE_MAX), -1);
    assert_int_equal(gb_free_list_take(&list, SIZE_MAX / 2), -1);
    assert_int_equal(list.high_water, 0);
    block = gb_free_list_take(&list, 1);
    assert_true(block >= 0);
    assert_int_equal(gb_free_list_take(&list, SIZE_MAX / 2 - ALIGN), -1);
    assert_int_equal(list.high_water, ALIGN);
    gb_free_list_clear(&list);
}

static void
take_many(void *data)
{
    struct gb_free_list list = { 0 };
    bool ok = gb_free_list_reset(&list, ALIGN, SIZE_MAX);

    (void)data;
    for (int i = 0; ok && i < 100; i++)
        ok = gb_free_list_take(&list, 100) >= 0;
    assert_int_equal(ok, !gb_fault_happened());
    gb_free_list_clear(&list);
}

static void
without_memory_nothing_is_taken(void **state)
{
    (void)state;
    assert_true(gb_fault_each(take_many, NULL) >= 4);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_offset_is_the_naive_one),
        cmocka_unit_test(thousands_of_free_pieces_are_no_limit),
        cmocka_unit_test(a_size_that_cannot_be_is_refused),
        cmocka_unit_test(without_memory_nothing_is_taken),
    };

    return cmocka_run_group_tests_name("free list", tests, NULL, NULL);
}
