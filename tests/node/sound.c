/* SPDX-License-Identifier: MIT */
/*
 * Which tensors can be worked on: for each type with values, strides, addresses
 * and counts that fit, and those that do not.
 */
#include "lib/node/list.h"
#include "lib/node/sound.h"

#include "ggml-impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* [2 blocks, 3, 2, 2] of TYPE, contiguous, at an address that fits all. */
static struct ggml_tensor
tensor_of(enum ggml_type type)
{
    const int64_t block = ggml_blck_size(type);
    const size_t size = ggml_type_size(type);

    return (struct ggml_tensor){
        .type = type,
        .ne = { 2 * block, 3, 2, 2 },
        .nb = { size, 2 * size, 6 * size, 12 * size },
        .data = (void *)(uintptr_t)4096,
    };
}

static bool
has_values(int type)
{
    return ggml_blck_size((enum ggml_type)type) > 0;
}

static void
check(const struct ggml_tensor *t, bool is_sound, const char *how)
{
    if (gb_node_is_sound(t) != is_sound)
        fail_msg("%s: %s", ggml_type_name(t->type), how);
}

static void
strides_are_those_of_elements(void **state)
{
    (void)state;
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        struct ggml_tensor t;

        if (!has_values(type))
            continue;
        t = tensor_of((enum ggml_type)type);
        check(&t, true, "contiguous");
        for (int d = 0; d < GGML_MAX_DIMS; d++) {
            const size_t size = ggml_type_size(t.type);
            const size_t old = t.nb[d];

            t.nb[d] = old + size;
            check(&t, true, "a step more");
            t.nb[d] = old + 1;
            check(&t, size == 1, "a byte more");
            t.nb[d] = 0 - size;
            check(&t, false, "backwards");
            t.ne[d] = d == 0 ? ggml_blck_size(t.type) : 1;
            check(&t, false, "backwards after a single element");
            t.nb[d] = 1;
            check(&t, true, "any for a single element");
            t = tensor_of(t.type);
        }
    }
}

static void
addresses_are_aligned(void **state)
{
    (void)state;
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        struct ggml_tensor root, t;

        if (!has_values(type))
            continue;
        root = t = tensor_of((enum ggml_type)type);
        for (uintptr_t at = 0; at < 9; at++) {
            const size_t size = ggml_type_size(t.type);
            const size_t unit = ggml_blck_size(t.type) == 1 ? size
                                : type == GGML_TYPE_Q8_K   ? 4
                                                           : 2;

            t.data = (char *)root.data + at;
            check(&t, at % unit == 0, "at any byte");
        }
        t = root;
        t.data = NULL;
        check(&t, true, "without an address");
        t = root;
        t.view_src = &root;
        t.view_offs = ggml_type_size(t.type) / 2;
        check(&t, ggml_blck_size(t.type) == 1, "from the middle of a block");
    }
}

static void
counts_have_a_product(void **state)
{
    static const int64_t too_many[] = {
        -1, INT64_MIN, INT64_MAX, INT64_C(1) << 60,
    };

    (void)state;
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        struct ggml_tensor t;

        if (!has_values(type))
            continue;
        for (int d = 0; d < GGML_MAX_DIMS; d++) {
            for (size_t i = 0; i < sizeof(too_many) / sizeof(*too_many); i++) {
                t = tensor_of((enum ggml_type)type);
                t.ne[d] = too_many[i];
                check(&t, false, "a count that is none");
                t.ne[(d + 1) % GGML_MAX_DIMS] = 0;
                check(&t, false, "the same, of an empty tensor");
            }
            t = tensor_of((enum ggml_type)type);
            t.ne[d] = 0;
            check(&t, true, "empty");
        }
        t = tensor_of((enum ggml_type)type);
        t.ne[0] = 1;
        check(&t, ggml_blck_size(t.type) == 1, "a row of a value");
        t.ne[1] = t.ne[2] = t.ne[3] = INT64_C(1) << 20;
        check(&t, false, "counts whose product is too large");
    }
}

static void
types_without_values_are_none(void **state)
{
    static const int none[] = { -1, GGML_TYPE_COUNT, 1000, INT32_MIN };
    struct ggml_tensor t = tensor_of(GGML_TYPE_F32);

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        t.type = (enum ggml_type)none[i];
        assert_false(gb_node_is_sound(&t));
    }
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        t.type = (enum ggml_type)type;
        if (!has_values(type))
            assert_false(gb_node_is_sound(&t));
    }
}

static void
results_have_bytes_of_their_own(void **state)
{
    struct ggml_tensor t = tensor_of(GGML_TYPE_F16);

    (void)state;
    assert_true(gb_node_has_places(&t));
    t.nb[0] = 6; /* transposed */
    t.nb[1] = 2;
    assert_true(gb_node_has_places(&t));
    t.nb[0] = 4; /* the third of a column is the first of the next */
    assert_false(gb_node_has_places(&t));
    t = tensor_of(GGML_TYPE_F16);
    t.nb[3] = 0;
    assert_false(gb_node_has_places(&t));
    assert_true(gb_node_is_sound(&t));
    t.ne[3] = 1;
    assert_true(gb_node_has_places(&t));
    t.ne[1] = 0;
    t.nb[2] = 0;
    assert_true(gb_node_has_places(&t));
}

static void
tensors_end_in_their_memory(void **state)
{
    struct ggml_tensor t = tensor_of(GGML_TYPE_F32); /* 96 bytes */

    (void)state;
    assert_true(gb_node_is_within(&t, 4096, 96));
    assert_true(gb_node_is_within(&t, 4000, 192));
    assert_false(gb_node_is_within(&t, 4096, 95));
    assert_false(gb_node_is_within(&t, 4100, 1000));
    assert_false(gb_node_is_within(&t, 1000, 3096));
    t.nb[3] = 52;
    assert_false(gb_node_is_within(&t, 4096, 96));
    assert_true(gb_node_is_within(&t, 4096, 100));
    t.nb[3] = (size_t)1 << 61;
    assert_true(gb_node_is_within(&t, 4096, ((size_t)1 << 61) + 48));
    assert_false(gb_node_is_within(&t, 4096, (size_t)1 << 61));
    t = tensor_of(GGML_TYPE_F32);
    t.data = NULL;
    assert_false(gb_node_is_within(&t, 0, SIZE_MAX));
    t.data = (void *)(UINTPTR_MAX - 3);
    assert_false(gb_node_is_within(&t, 4096, 96));
}

static void
lists_are_whole(void **state)
{
    struct ggml_tensor a = tensor_of(GGML_TYPE_F32);
    struct ggml_tensor *nodes[] = { &a, NULL };
    struct ggml_cgraph graph = { .size = 2, .n_nodes = 1, .nodes = nodes,
                                 .visited_hash_set = { .size = 3 } };
    char why[80];

    (void)state;
    assert_true(gb_node_list_is_whole(&graph, why, sizeof(why)));
    graph.n_nodes = 2;
    assert_false(gb_node_list_is_whole(&graph, why, sizeof(why)));
    assert_string_equal(why, "has no node 1 of 2");
    nodes[1] = &a;
    assert_true(gb_node_list_is_whole(&graph, why, sizeof(why)));
    graph.size = 1;
    assert_false(gb_node_list_is_whole(&graph, why, sizeof(why)));
    graph.visited_hash_set.size = 0; /* a slice */
    assert_true(gb_node_list_is_whole(&graph, why, sizeof(why)));
    graph.n_nodes = -1;
    assert_false(gb_node_list_is_whole(&graph, why, sizeof(why)));
    graph.n_nodes = 0;
    graph.nodes = NULL;
    assert_true(gb_node_list_is_whole(&graph, why, sizeof(why)));
    graph.n_nodes = 1;
    assert_false(gb_node_list_is_whole(&graph, why, sizeof(why)));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_are_those_of_elements),
        cmocka_unit_test(addresses_are_aligned),
        cmocka_unit_test(counts_have_a_product),
        cmocka_unit_test(types_without_values_are_none),
        cmocka_unit_test(results_have_bytes_of_their_own),
        cmocka_unit_test(tensors_end_in_their_memory),
        cmocka_unit_test(lists_are_whole),
    };

    return cmocka_run_group_tests_name("sound tensors", tests, NULL, NULL);
}
