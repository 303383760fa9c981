/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/profile.c - what a profile says of a graph; and by it, that
 * rotations by the same positions share what is prepared for them.
 */
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MAX_TOLD 64

static struct {
    const struct ggml_tensor *node;
    enum ggmlbackend_part part;
    int64_t ns;
} told[MAX_TOLD];
static int n_told;

static struct ggml_context *ctx;
static ggml_backend_t backend;

static void
listen(void *data, const struct ggml_tensor *node, enum ggmlbackend_part part,
       int64_t ns)
{
    assert_ptr_equal(data, &n_told);
    assert_true(n_told < MAX_TOLD);
    told[n_told].node = node;
    told[n_told].part = part;
    told[n_told++].ns = ns;
}

static void
set_profile(ggmlbackend_profile_callback callback)
{
    void *address = ggml_backend_reg_get_proc_address(
        ggml_backend_cpu_reg(), "ggmlbackend_set_profile");
    ggmlbackend_set_profile_t set;

    assert_non_null(address);
    memcpy(&set, &address, sizeof(set));
    set(callback, &n_told);
}

static int
begin(void **state)
{
    (void)state;
    n_told = 0;
    ctx = ggml_init((struct ggml_init_params){ .mem_size = (size_t)8 << 20 });
    backend = ggml_backend_cpu_init();
    return ctx == NULL || backend == NULL;
}

static int
end(void **state)
{
    (void)state;
    ggml_backend_free(backend);
    ggml_free(ctx);
    return 0;
}

static void
compute(struct ggml_tensor *result, int n_threads)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    ggml_build_forward_expand(graph, result);
    ggml_backend_cpu_set_n_threads(backend, n_threads);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
}

static struct ggml_tensor *
ones(int64_t n0, int64_t n1)
{
    return ggml_set_f32(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, n0, n1), 1.0f);
}

/* How often PART of NODE was told of. */
static int
count(const struct ggml_tensor *node, enum ggmlbackend_part part)
{
    int n = 0;

    for (int i = 0; i < n_told; i++)
        n += told[i].node == node && told[i].part == part;
    return n;
}

static void
steps_are_told_with_times_within_the_whole(void **state)
{
    struct ggml_tensor *a = ggml_sqr(ctx, ones(512, 64));
    struct ggml_tensor *b = ggml_view_1d(ctx, a, 512, 0);
    struct ggml_tensor *c = ggml_add(ctx, a, b);

    (void)state;
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        int64_t sum = 0;

        n_told = 0;
        set_profile(listen);
        compute(c, n_threads);
        set_profile(NULL);
        assert_int_equal(count(a, GGMLBACKEND_PART_RUN), 1);
        assert_int_equal(count(b, GGMLBACKEND_PART_RUN), 0);
        assert_int_equal(count(c, GGMLBACKEND_PART_RUN), 1);
        assert_int_equal(n_told, 3);
        assert_null(told[2].node);
        for (int i = 0; i < 2; i++) {
            assert_true(told[i].ns > 0);
            sum += told[i].ns;
        }
        assert_true(sum <= told[2].ns);
    }
}

static void
nothing_is_told_without_a_profile(void **state)
{
    (void)state;
    compute(ggml_sqr(ctx, ones(64, 64)), 2);
    set_profile(listen);
    set_profile(NULL);
    compute(ggml_sqr(ctx, ones(64, 64)), 2);
    assert_int_equal(n_told, 0);
}

static void
a_product_is_prepared_and_run(void **state)
{
    struct ggml_tensor *weights =
        ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 64, 48);
    struct ggml_tensor *product = ggml_mul_mat(ctx, weights, ones(64, 20));

    (void)state;
    memset(weights->data, 0, ggml_nbytes(weights));
    set_profile(listen);
    compute(product, 1);
    set_profile(NULL);
    assert_int_equal(count(product, GGMLBACKEND_PART_PREPARE), 1);
    assert_int_equal(count(product, GGMLBACKEND_PART_RUN), 1);
}

static struct ggml_tensor *
rotated(struct ggml_tensor *x, struct ggml_tensor *positions, size_t offset)
{
    return ggml_rope(ctx, x,
                     ggml_view_1d(ctx, positions, x->ne[2], offset), 16, 0);
}

/* Each has a view of its own; the third one's is of other positions. */
static void
views_of_the_same_positions_share_a_table(void **state)
{
    struct ggml_tensor *positions = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 9);
    struct ggml_tensor *x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 16, 2, 8);
    struct ggml_tensor *nodes[3];
    const float *r[3];

    (void)state;
    for (int i = 0; i < 9; i++)
        ((int32_t *)positions->data)[i] = 3 * i;
    ggml_set_f32(x, 1.0f);
    for (int i = 0; i < 3; i++)
        nodes[i] = rotated(x, positions, i < 2 ? 0 : sizeof(int32_t));
    set_profile(listen);
    compute(ggml_add(ctx, ggml_add(ctx, nodes[0], nodes[1]), nodes[2]), 1);
    set_profile(NULL);
    assert_int_equal(count(nodes[0], GGMLBACKEND_PART_PREPARE), 1);
    assert_int_equal(count(nodes[1], GGMLBACKEND_PART_PREPARE), 0);
    assert_int_equal(count(nodes[2], GGMLBACKEND_PART_PREPARE), 1);
    for (int i = 0; i < 3; i++)
        r[i] = nodes[i]->data;
    assert_memory_equal(r[0], r[1], ggml_nbytes(nodes[0]));
    /* Token 1 of the first is at token 0's position of the third. */
    assert_memory_equal(r[0] + 32, r[2], 7 * 32 * sizeof(float));
}

/* The positions of the second are other ones by then, at the same address. */
static void
positions_that_were_written_over_do_not_share(void **state)
{
    struct ggml_tensor *positions = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 8);
    struct ggml_tensor *later = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 8);
    struct ggml_tensor *x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 16, 2, 8);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *before = rotated(x, positions, 0), *after;

    (void)state;
    for (int i = 0; i < 8; i++) {
        ((int32_t *)positions->data)[i] = 0;
        ((int32_t *)later->data)[i] = 5;
    }
    ggml_set_f32(x, 1.0f);
    ggml_build_forward_expand(graph, before);
    ggml_build_forward_expand(graph, ggml_cpy(ctx, later, positions));
    after = rotated(x, positions, 0);
    ggml_build_forward_expand(graph, after);
    set_profile(listen);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    set_profile(NULL);
    assert_int_equal(count(after, GGMLBACKEND_PART_PREPARE), 1);
    assert_true(((float *)before->data)[0] == 1.0f);
    assert_true(((float *)after->data)[0] != 1.0f);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            steps_are_told_with_times_within_the_whole, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_told_without_a_profile,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_product_is_prepared_and_run, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            views_of_the_same_positions_share_a_table, begin, end),
        cmocka_unit_test_setup_teardown(
            positions_that_were_written_over_do_not_share, begin, end),
    };

    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
