/* SPDX-License-Identifier: MIT */
/*
 * tests/alloc/chunks.c - graphs that need more memory than the largest buffer
 * of a device has: several buffers, and no tensor in two of them.
 */
#include "lib/alloc/check.h"
#include "tests/backend/fake.h"
#include "tests/util/fault.h"

#include "ggmlbackend.h"
#include "ggml-impl.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define N    64  /* floats in a tensor */
#define UNIT 256 /* its bytes, and the alignment */

struct scene {
    struct fake fake;
    ggml_gallocr_t galloc;
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
};

static void
scene_open(struct scene *s, size_t largest)
{
    fake_init(&s->fake, "Fake0");
    s->fake.alignment = UNIT;
    s->fake.max_size = largest;
    s->galloc = ggml_gallocr_new(&s->fake.buft);
    s->ctx = fake_context(256);
    s->graph = ggml_new_graph_custom(s->ctx, 128, false);
}

static void
scene_restart(struct scene *s)
{
    ggml_free(s->ctx);
    s->ctx = fake_context(256);
    s->graph = ggml_new_graph_custom(s->ctx, 128, false);
}

static void
scene_close(struct scene *s)
{
    ggml_gallocr_free(s->galloc);
    ggml_free(s->ctx);
    assert_int_equal(s->fake.calls.alloc, s->fake.calls.free);
}

static size_t
size_of(const struct scene *s)
{
    return ggml_gallocr_get_buffer_size(s->galloc, 0);
}

static struct ggml_tensor *
leaf(struct scene *s, int units)
{
    return ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, N * units);
}

/* Inputs of so many units, all of which live up to the end. */
static void
add_inputs(struct scene *s, int n, int units)
{
    struct ggml_tensor *sum = NULL, *x;

    for (int i = 0; i < n; i++) {
        x = leaf(s, units);
        ggml_set_input(x);
        ggml_set_output(x);
        sum = sum == NULL ? x : ggml_add(s->ctx, sum, x);
    }
    ggml_build_forward_expand(s->graph, sum);
}

/* Every tensor lies in its own buffer, and apart from those that live then. */
static void
check(const struct scene *s)
{
    for (int i = 0; i < s->graph->n_nodes + s->graph->n_leafs; i++) {
        const struct ggml_tensor *t =
            i < s->graph->n_nodes ? s->graph->nodes[i]
                                  : s->graph->leafs[i - s->graph->n_nodes];
        const char *base = ggml_backend_buffer_get_base(t->buffer);
        const size_t size = ggml_backend_buffer_get_size(t->buffer);

        assert_true(size <= s->fake.max_size);
        assert_true((char *)t->data >= base);
        assert_true((char *)t->data + ggml_nbytes(t) <= base + size);
    }
    assert_int_equal(gb_alloc_check(s->graph), GGML_STATUS_SUCCESS);
    assert_false(fake_failed());
}

static void
more_than_the_largest_buffer_becomes_several(void **state)
{
    (void)state;
    for (int largest = 1; largest <= 12; largest++) {
        struct scene s;

        scene_open(&s, (size_t)largest * UNIT);
        add_inputs(&s, 10, 1);
        assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        check(&s);
        /* Ten inputs and a sum, in as few buffers as that takes. */
        assert_int_equal(size_of(&s), 11 * UNIT);
        assert_int_equal(s.fake.calls.alloc, (11 + largest - 1) / largest);
        scene_close(&s);
    }
}

static void
a_tensor_is_never_in_two(void **state)
{
    struct scene s;

    (void)state;
    /* Two tensors of three units have no room in five. */
    scene_open(&s, 5 * UNIT);
    add_inputs(&s, 4, 3);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    check(&s);
    assert_int_equal(size_of(&s), 15 * UNIT);
    assert_int_equal(s.fake.calls.alloc, 5);
    scene_close(&s);
}

static void
free_room_is_used_again_in_all_of_them(void **state)
{
    struct ggml_tensor *x;
    struct scene s;

    (void)state;
    scene_open(&s, 2 * UNIT);
    add_inputs(&s, 3, 1);
    x = leaf(&s, 1);
    for (int i = 0; i < 20; i++)
        x = ggml_sum_rows(s.ctx, ggml_repeat(s.ctx, x, leaf(&s, 1)));
    ggml_build_forward_expand(s.graph, x);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    check(&s);
    assert_true(s.fake.calls.alloc <= 16);
    scene_close(&s);
}

static void
one_that_is_larger_is_refused_by_name_and_size(void **state)
{
    struct ggml_tensor *y;
    struct scene s;

    (void)state;
    scene_open(&s, 4 * UNIT);
    y = ggml_sin(s.ctx, leaf(&s, 4));
    ggml_build_forward_expand(s.graph, y);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    check(&s);
    scene_restart(&s);
    y = ggml_sin(s.ctx, leaf(&s, 5));
    ggml_set_name(y->src[0], "too large");
    ggml_build_forward_expand(s.graph, y);
    ggmlbackend_clear_failure();
    assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_string_equal(
        ggmlbackend_last_failure(),
        "graph allocator: no place for the 1280 bytes of too large: the "
        "largest buffer of Fake0 has 1024");
    assert_null(y->data);
    assert_false(ggml_gallocr_reserve(s.galloc, s.graph));
    scene_restart(&s);
    ggml_build_forward_expand(s.graph, ggml_sin(s.ctx, leaf(&s, 4)));
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    scene_close(&s);
}

/* What a device adds to a tensor counts, and what alignment leaves over. */
static void
a_tensor_s_room_is_what_its_device_says(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s, 4 * UNIT + 100);
    s.fake.padding = 1;
    ggml_build_forward_expand(s.graph, ggml_sin(s.ctx, leaf(&s, 3)));
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    scene_restart(&s);
    ggml_build_forward_expand(s.graph, ggml_sin(s.ctx, leaf(&s, 4)));
    ggmlbackend_clear_failure();
    assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_non_null(strstr(ggmlbackend_last_failure(), "the 1025 bytes of"));
    fake_failed();
    scene_close(&s);
}

static void
buffers_grow_and_are_kept(void **state)
{
    static const int n_inputs[] = { 9, 3, 9, 1, 15, 9, 2 };
    size_t size = 0;
    struct scene s;

    (void)state;
    scene_open(&s, 4 * UNIT);
    for (size_t i = 0; i < sizeof(n_inputs) / sizeof(n_inputs[0]); i++) {
        const int n_allocs = s.fake.calls.alloc;

        scene_restart(&s);
        add_inputs(&s, n_inputs[i], 1);
        assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        check(&s);
        assert_true(size_of(&s) >= size);
        if (i > 0 && n_inputs[i] <= 9)
            assert_int_equal(s.fake.calls.alloc, n_allocs);
        size = size_of(&s);
    }
    assert_int_equal(size, 16 * UNIT);
    scene_close(&s);
}

static void
a_graph_of_the_same_make_needs_no_plan(void **state)
{
    struct scene s;
    int n_allocs;

    (void)state;
    scene_open(&s, 2 * UNIT);
    add_inputs(&s, 10, 1);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    n_allocs = s.fake.calls.alloc;
    s.fake.calls.reset = 0;
    scene_restart(&s);
    add_inputs(&s, 10, 1);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    check(&s);
    assert_int_equal(s.fake.calls.alloc, n_allocs);
    assert_int_equal(s.fake.calls.reset, n_allocs);
    scene_close(&s);
}

/* Slots of two types, of which only one is limited. */
static void
each_type_has_its_own(void **state)
{
    ggml_backend_buffer_type_t bufts[3];
    int nodes[128], leafs[128];
    struct fake other;
    ggml_gallocr_t galloc;
    struct scene s;

    (void)state;
    scene_open(&s, 2 * UNIT);
    fake_init(&other, "Fake1");
    other.alignment = UNIT;
    bufts[0] = bufts[2] = &s.fake.buft;
    bufts[1] = &other.buft;
    galloc = ggml_gallocr_new_n(bufts, 3);
    add_inputs(&s, 12, 1);
    for (int i = 0; i < 128; i++) {
        nodes[i] = i % 3;
        leafs[i] = i % 3;
    }
    assert_true(ggml_gallocr_reserve_n(galloc, s.graph, nodes, leafs));
    assert_true(ggml_gallocr_alloc_graph(galloc, s.graph));
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_SUCCESS);
    assert_int_equal(other.calls.alloc, 1);
    assert_int_equal(s.fake.calls.alloc, 5);
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, 0), 9 * UNIT);
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, 2), 0);
    ggml_gallocr_free(galloc);
    scene_close(&s);
}

static void
a_buffer_that_cannot_be_had_fails_and_can_be_tried_again(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        struct scene s;

        scene_open(&s, 3 * UNIT);
        add_inputs(&s, 10, 1);
        s.fake.allocs_left = n;
        assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        assert_true(fake_failed());
        assert_int_equal(size_of(&s), n * 3 * UNIT);
        s.fake.allocs_left = -1;
        assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        check(&s);
        scene_close(&s);
    }
}

/* With an allocation failing; when that made the call fail, once more. */
static void
allocate_until_it_works(void *data)
{
    struct scene *s = data;
    ggml_gallocr_t galloc = ggml_gallocr_new(&s->fake.buft);
    bool ok;

    if (galloc == NULL) {
        assert_true(gb_fault_happened());
        return;
    }
    ok = ggml_gallocr_reserve(galloc, s->graph);
    assert_true(ok || gb_fault_happened());
    assert_int_equal(fake_failed(), !ok);
    if (!ok)
        assert_true(ggml_gallocr_reserve(galloc, s->graph));
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, 0), 41 * UNIT);
    ggml_gallocr_free(galloc);
}

static void
every_allocation_may_fail_and_be_tried_again(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s, 2 * UNIT);
    add_inputs(&s, 40, 1);
    assert_true(gb_fault_each(allocate_until_it_works, &s) > 20);
    scene_close(&s);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_the_largest_buffer_becomes_several),
        cmocka_unit_test(a_tensor_is_never_in_two),
        cmocka_unit_test(free_room_is_used_again_in_all_of_them),
        cmocka_unit_test(one_that_is_larger_is_refused_by_name_and_size),
        cmocka_unit_test(a_tensor_s_room_is_what_its_device_says),
        cmocka_unit_test(buffers_grow_and_are_kept),
        cmocka_unit_test(a_graph_of_the_same_make_needs_no_plan),
        cmocka_unit_test(each_type_has_its_own),
        cmocka_unit_test(
            a_buffer_that_cannot_be_had_fails_and_can_be_tried_again),
        cmocka_unit_test(every_allocation_may_fail_and_be_tried_again),
    };

    return cmocka_run_group_tests_name("chunks", tests, NULL, NULL);
}
