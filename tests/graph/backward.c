/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/backward.c - which tensors get gradients and accumulators, and
 * what cannot be differentiated.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <limits.h>
#include <string.h>

#include <cmocka.h>

#include "lib/graph/graph.h"

#include "ggml-cpu.h"

#include "lib/tensor/context.h"

#include "tests/util/fault.h"
#include "tests/util/sink.h"

#define SIZE 60 /* room of the graphs */

static struct gb_sink sink;
static struct ggml_context *ctx;

static int
begin(void **state)
{
    const struct ggml_init_params params = { 1 << 20, NULL, false };

    (void)state;
    gb_sink_begin(&sink);
    ctx = ggml_init(params);
    return ctx == NULL;
}

static int
end(void **state)
{
    (void)state;
    gb_sink_end();
    ggml_free(ctx);
    return 0;
}

static struct ggml_tensor *
filled(int64_t n, float value)
{
    return ggml_set_f32(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n), value);
}

static struct ggml_tensor *
param(int64_t n, float value)
{
    struct ggml_tensor *t = filled(n, value);

    ggml_set_param(ctx, t);
    return t;
}

/* The graph of LOSS with gradients by its parameters. */
static struct ggml_cgraph *
differentiate(struct ggml_tensor *loss, bool accumulate)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);

    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(ctx, ctx, g, accumulate);
    return g;
}

static void
gradients_and_accumulators_are_named(void **state)
{
    struct ggml_tensor *x = param(3, 2), *loss = ggml_sum(ctx, ggml_sqr(ctx, x));
    struct ggml_cgraph *g;

    (void)state;
    ggml_set_name(x, "x");
    ggml_set_name(loss, "loss");
    g = differentiate(loss, true);
    assert_false(gb_graph_is_failed(g));
    assert_string_equal(ggml_graph_get_grad_acc(g, x)->name, "grad acc for x");
    assert_string_equal(ggml_graph_get_grad(g, x)->name, "grad for x");
    assert_string_equal(ggml_graph_get_grad_acc(g, loss)->name,
                        "grad acc for loss");
    assert_ptr_equal(ggml_graph_get_grad(g, loss),
                     ggml_graph_get_grad_acc(g, loss));
    assert_int_equal(sink.n, 0);
}

static void
parameters_have_accumulators_only_when_asked_for(void **state)
{
    struct ggml_tensor *x = param(3, 2), *c = filled(3, 5);
    struct ggml_tensor *y = ggml_mul(ctx, x, c);
    struct ggml_cgraph *g = differentiate(ggml_sum(ctx, y), false);

    (void)state;
    assert_null(ggml_graph_get_grad_acc(g, x));
    assert_null(ggml_graph_get_grad_acc(g, y));
    assert_non_null(ggml_graph_get_grad(g, x));
    assert_non_null(ggml_graph_get_grad(g, y));
    assert_null(ggml_graph_get_grad(g, c));
}

static void
gradients_follow_the_nodes_that_were_there(void **state)
{
    struct ggml_tensor *x = param(3, 2), *loss = ggml_sum(ctx, ggml_log(ctx, x));
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);
    int n;

    (void)state;
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    n = ggml_graph_n_nodes(g);
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_ptr_equal(ggml_graph_node(g, n - 1), loss);
    assert_ptr_equal(ggml_graph_node(g, -1), ggml_graph_get_grad(g, x));
}

static void
a_second_expansion_starts_anew(void **state)
{
    struct ggml_tensor *x = param(3, 2), *loss = ggml_sum(ctx, ggml_sqr(ctx, x));
    struct ggml_cgraph *g = differentiate(loss, true);
    struct ggml_tensor *first = ggml_graph_get_grad(g, x);

    (void)state;
    ggml_graph_clear(g);
    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_false(gb_graph_is_failed(g));
    assert_null(ggml_graph_get_grad_acc(g, x));
    assert_ptr_not_equal(ggml_graph_get_grad(g, x), first);
}

static void
infinity_outside_of_a_view_does_not_reach_its_gradient(void **state)
{
    struct ggml_tensor *x = param(4, 3), *loss, *grad;
    struct ggml_cgraph *g;
    const float want[] = { 0, 1, 1, 0 };

    (void)state;
    ((float *)x->data)[0] = INFINITY;
    ((float *)x->data)[3] = NAN;
    loss = ggml_sum(ctx, ggml_view_1d(ctx, x, 2, sizeof(float)));
    g = differentiate(loss, false);
    ggml_graph_reset(g);
    assert_int_equal(ggml_graph_compute_with_ctx(ctx, g, 1),
                     GGML_STATUS_SUCCESS);
    grad = ggml_graph_get_grad(g, x);
    for (int i = 0; i < 4; i++)
        assert_true(ggml_get_f32_1d(grad, i) == want[i]);
}

/* What is wanted only as an index, a position, a shape, is no obstacle. */
static void
what_is_ignored_needs_no_derivative(void **state)
{
    struct ggml_tensor *x = param(3, 2), *kernel = param(3, 1), *flat, *loss;
    struct ggml_cgraph *g;

    (void)state;
    flat = ggml_sgn(ctx, ggml_gelu(ctx, filled(3, 1)));
    loss = ggml_sum(ctx, ggml_add(ctx, x, ggml_step(ctx, kernel)));
    loss = ggml_add(ctx, loss, ggml_sum(ctx, flat));
    g = differentiate(loss, false);
    assert_false(gb_graph_is_failed(g));
    assert_non_null(ggml_graph_get_grad(g, x));
    assert_null(ggml_graph_get_grad(g, kernel));
}

/* im2col and its opposite look at a kernel for its shape alone. */
static void
im2col_hands_on_past_the_kernel(void **state)
{
    (void)state;
    for (int is_back = 0; is_back < 2; is_back++) {
        struct ggml_tensor *kernel = param(3, 1), *y, *x;
        struct ggml_cgraph *g;

        x = is_back ? ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 6)
                    : ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
        ggml_set_param(ctx, x);
        y = is_back ? ggml_im2col_back(ctx, x, kernel,
                                       (int64_t[]){ 8, 1, 1, 1 }, 1, 0, 0, 0, 1,
                                       0, false)
                    : ggml_im2col(ctx, kernel, x, 1, 0, 0, 0, 1, 0, false,
                                  GGML_TYPE_F32);
        g = differentiate(ggml_sum(ctx, ggml_add(ctx, y, y)), false);
        assert_false(gb_graph_is_failed(g));
        assert_non_null(ggml_graph_get_grad(g, x));
        assert_null(ggml_graph_get_grad(g, kernel));
    }
}

/* -- What fails ---------------------------------------------------------- */

/* G has failed with one message, and says why: it names WHAT. */
static void
assert_failed(struct ggml_cgraph *g, const char *what)
{
    assert_true(gb_graph_is_failed(g));
    assert_int_equal(sink.n, 1);
    assert_non_null(strstr(sink.text, what));
    assert_non_null(strstr(gb_graph_failure(g), what));
    assert_int_equal(ggml_graph_compute_with_ctx(ctx, g, 1),
                     GGML_STATUS_FAILED);
}

static void
an_operation_without_derivative_is_named(void **state)
{
    struct ggml_tensor *x = param(4, 2);

    (void)state;
    assert_failed(differentiate(ggml_sum(ctx, ggml_norm(ctx, x, 0)), false),
                  "NORM");
}

static void
a_function_without_derivative_is_named(void **state)
{
    struct ggml_tensor *x = param(4, 2);

    (void)state;
    assert_failed(differentiate(ggml_sum(ctx, ggml_gelu(ctx, x)), false),
                  "GELU");
}

static void
a_mask_has_no_gradient(void **state)
{
    struct ggml_tensor *x = filled(4, 2), *mask = param(4, 0);

    (void)state;
    mask = ggml_reshape_2d(ctx, mask, 4, 1);
    assert_failed(
        differentiate(
            ggml_sum(ctx, ggml_soft_max_ext(ctx, x, mask, 1.0f, 0.0f)), false),
        "mask");
}

static void
labels_have_no_gradient(void **state)
{
    struct ggml_tensor *labels = param(4, 0);

    (void)state;
    assert_failed(
        differentiate(ggml_cross_entropy_loss(ctx, filled(4, 2), labels),
                      false),
        "labels");
}

static void
factors_of_rope_have_no_gradient(void **state)
{
    struct ggml_tensor *x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 4, 1, 1);
    struct ggml_tensor *at = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
    struct ggml_tensor *y = ggml_rope_ext(ctx, x, at, param(2, 1), 4, 0, 0,
                                          10000, 1, 0, 1, 0, 0);

    (void)state;
    assert_failed(differentiate(ggml_sum(ctx, y), false), "factors");
}

static void
a_loss_is_one_value(void **state)
{
    struct ggml_tensor *y = ggml_sqr(ctx, param(4, 2));
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);

    (void)state;
    y->flags |= GGML_TENSOR_FLAG_LOSS; /* ggml_set_loss would not */
    ggml_build_forward_expand(g, y);
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_failed(g, "loss");
}

static void
what_is_overwritten_has_no_derivative(void **state)
{
    struct ggml_tensor *y = ggml_sqr_inplace(ctx, param(4, 2));

    (void)state;
    assert_failed(differentiate(ggml_sum(ctx, y), false), "in place");
}

static void
there_must_be_a_parameter(void **state)
{
    (void)state;
    assert_failed(differentiate(ggml_sum(ctx, filled(4, 2)), false),
                  "parameter");
}

static void
there_must_be_a_loss(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);

    (void)state;
    ggml_build_forward_expand(g, ggml_sum(ctx, param(4, 2)));
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_failed(g, "loss");
}

static void
there_must_be_nodes(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);

    (void)state;
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_failed(g, "no nodes");
}

/* As a client may have written it. */
static void
a_number_of_no_operation_is_refused(void **state)
{
    static const int numbers[] = { GGML_OP_COUNT, 4711, -1, INT_MIN, INT_MAX };

    (void)state;
    for (int i = 0; i < (int)(sizeof(numbers) / sizeof(numbers[0])); i++) {
        struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);
        struct ggml_tensor *square = ggml_sqr(ctx, param(4, 2));
        struct ggml_tensor *loss = ggml_sum(ctx, square);

        ggml_set_loss(loss);
        ggml_build_forward_expand(g, loss);
        square->op = (enum ggml_op)numbers[i];
        sink.n = 0;
        ggml_build_backward_expand(ctx, ctx, g, false);
        assert_failed(g, "which is none");
    }
}

static void
there_must_be_places_for_gradients(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *loss = ggml_sum(ctx, param(4, 2));

    (void)state;
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_failed(g, "places");
}

static void
there_must_be_contexts_and_a_graph(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);
    struct ggml_tensor *loss = ggml_sum(ctx, param(4, 2));

    (void)state;
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(ctx, NULL, g, false);
    assert_true(gb_graph_is_failed(g));
    assert_int_equal(sink.n, 1);
    ggml_build_backward_expand(ctx, ctx, NULL, false);
    assert_int_equal(sink.n, 2);
    g = ggml_new_graph_custom(ctx, SIZE, true);
    ggml_build_forward_expand(g, loss);
    gb_sink_begin(&sink);
    ggml_build_backward_expand(NULL, ctx, g, false);
    assert_failed(g, "no context");
}

/* A graph that is too small for the way back has failed, at whatever node. */
static void
each_size_that_is_too_small_fails(void **state)
{
    struct ggml_tensor *x = param(3, 2);
    struct ggml_tensor *y = ggml_sub(ctx, ggml_sqr(ctx, x), ggml_exp(ctx, x));
    struct ggml_tensor *loss = ggml_sum(ctx, y);
    bool is_failed = true;
    int n = 5;

    (void)state;
    ggml_set_loss(loss);
    for (; is_failed && n < SIZE; n++) {
        struct ggml_cgraph *g = ggml_new_graph_custom(ctx, (size_t)n, true);

        ggml_build_forward_expand(g, loss);
        ggml_build_backward_expand(ctx, ctx, g, true);
        is_failed = gb_graph_is_failed(g);
    }
    assert_true(n > 8);
    assert_false(is_failed);
}

static void
expand_without_memory(void *data)
{
    struct ggml_cgraph *g = data;

    ggml_graph_clear(g);
    ggml_build_forward_expand(g, ggml_sum(ctx, param(4, 2)));
    ggml_set_loss(ggml_graph_node(g, -1));
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_true(gb_graph_is_failed(g) == gb_fault_happened());
}

static void
without_memory_the_graph_fails(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);

    (void)state;
    assert_int_equal(gb_fault_each(expand_without_memory, g), 1);
}

/* A pool that is too small at whatever tensor fails the graph, nothing else. */
static void
each_pool_that_is_too_small_fails(void **state)
{
    bool is_failed = true;
    int n = 0;

    (void)state;
    for (; is_failed && n < SIZE; n++) {
        const struct ggml_init_params params = {
            (size_t)n * ggml_tensor_overhead() + 64, NULL, true
        };
        struct ggml_context *small = ggml_init(params);
        struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);
        struct ggml_tensor *x = param(3, 2);
        struct ggml_tensor *loss = ggml_sum(ctx, ggml_cos(ctx, x));

        ggml_set_loss(loss);
        ggml_build_forward_expand(g, loss);
        ggml_build_backward_expand(small, small, g, true);
        is_failed = gb_graph_is_failed(g);
        ggml_free(small);
    }
    assert_true(n > 4);
    assert_false(is_failed);
}

/* Operations of two sources, of which either may be a parameter. */
static struct ggml_tensor *
build_pair(int i, struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct ggml_tensor *one = ggml_view_1d(ctx, b, 1, 0);

    switch (i) {
    case 0:
        return ggml_add(ctx, a, b);
    case 1:
        return ggml_sub(ctx, a, b);
    case 2:
        return ggml_mul(ctx, a, b);
    case 3:
        return ggml_div(ctx, a, b);
    case 4:
        return ggml_add1(ctx, a, one);
    case 5:
        return ggml_acc(ctx, a, one, 16, 16, 16, 4);
    case 6:
        return ggml_set(ctx, a, one, 16, 16, 16, 4);
    default:
        return ggml_mul_mat(ctx, a, b);
    }
}

static void
only_the_source_that_is_a_parameter_gets_a_gradient(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        for (int side = 0; side < 2; side++) {
            struct ggml_tensor *s[2] = { filled(4, 2), filled(4, 3) };
            struct ggml_cgraph *g;

            ggml_set_param(ctx, s[side]);
            g = differentiate(ggml_sum(ctx, build_pair(i, s[0], s[1])), false);
            if (gb_graph_is_failed(g))
                fail_msg("pair %d, parameter %d: %s", i, side, sink.text);
            if (ggml_graph_get_grad(g, s[side]) == NULL)
                fail_msg("pair %d: parameter %d has no gradient", i, side);
            if (ggml_graph_get_grad(g, s[!side]) != NULL)
                fail_msg("pair %d: source %d has a gradient", i, !side);
            ggml_reset(ctx);
        }
    }
}

/* The node that makes the gradient of B in a product with A. */
static const struct ggml_tensor *
gradient_of_factor(struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct ggml_cgraph *g;

    ggml_set_param(ctx, b);
    g = differentiate(ggml_sum(ctx, ggml_mul_mat(ctx, a, b)), false);
    assert_false(gb_graph_is_failed(g));
    return ggml_graph_get_grad(g, b);
}

/* The outer product takes f32, and quantized weights of as many matrices. */
static void
weights_of_other_types_become_f32_where_they_must(void **state)
{
    struct ggml_tensor *half = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 32, 3);
    struct ggml_tensor *q8 = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 32, 3);
    struct ggml_tensor *one = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 32, 2);
    struct ggml_tensor *two = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 32, 2, 2);
    struct ggml_tensor *four =
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 32, 2, 1, 2);
    const struct ggml_tensor *grad;

    (void)state;
    grad = gradient_of_factor(half, one);
    assert_int_equal(grad->op, GGML_OP_OUT_PROD);
    assert_int_equal(grad->src[0]->op, GGML_OP_CPY);
    assert_int_equal(grad->src[0]->type, GGML_TYPE_F32);
    grad = gradient_of_factor(q8, one);
    assert_ptr_equal(grad->src[0], q8);
    grad = gradient_of_factor(q8, two);
    assert_int_equal(grad->src[0]->type, GGML_TYPE_F32);
    assert_true(ggml_are_same_shape(grad, two));
    grad = gradient_of_factor(q8, four);
    assert_int_equal(grad->src[0]->type, GGML_TYPE_F32);
    assert_true(ggml_are_same_shape(grad, four));
}

static void
gradients_of_nothing_have_its_shape(void **state)
{
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 0, 3);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 0, 4);
    struct ggml_tensor *c = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 5, 3);
    struct ggml_tensor *none = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 5, 0);
    struct ggml_cgraph *g;

    (void)state;
    ggml_set_param(ctx, a);
    ggml_set_param(ctx, c);
    g = differentiate(ggml_sum(ctx, ggml_mul_mat(ctx, a, b)), false);
    assert_false(gb_graph_is_failed(g));
    assert_true(ggml_are_same_shape(ggml_graph_get_grad(g, a), a));
    /* No product, so nothing to add up. */
    g = differentiate(ggml_sum(ctx, ggml_mul_mat(ctx, c, none)), false);
    assert_false(gb_graph_is_failed(g));
    assert_null(ggml_graph_get_grad(g, c));
}

static void
only_floats_have_gradients(void **state)
{
    struct ggml_tensor *x = param(32, 2), *y = ggml_cast(ctx, x, GGML_TYPE_BF16);

    (void)state;
    assert_failed(differentiate(ggml_sum(ctx, ggml_cast(ctx, y, GGML_TYPE_F32)),
                                false),
                  "bf16");
}

static void
a_loss_is_f32(void **state)
{
    struct ggml_tensor *y = ggml_cast(ctx, param(1, 2), GGML_TYPE_F16);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);

    (void)state;
    y->flags |= GGML_TENSOR_FLAG_LOSS;
    ggml_build_forward_expand(g, y);
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_failed(g, "no single f32");
}

static void
numbers_of_places_have_no_gradient(void **state)
{
    struct ggml_tensor *x = param(4, 2), *place = ggml_argmax(ctx, x);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);
    struct ggml_tensor *loss = ggml_sum(ctx, ggml_sqr(ctx, x));

    (void)state;
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, place);
    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_false(gb_graph_is_failed(g));
    assert_null(ggml_graph_get_grad(g, place));
    assert_non_null(ggml_graph_get_grad(g, x));
}

static void
a_view_of_scattered_elements_has_no_derivative(void **state)
{
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 4);
    struct ggml_tensor *y;

    (void)state;
    ggml_set_param(ctx, x);
    y = ggml_view_1d(ctx, ggml_transpose(ctx, x), 2, 4);
    assert_failed(differentiate(ggml_sum(ctx, y), false), "not contiguous");
}

static void
a_failed_graph_stays_as_it_is(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, SIZE, true);
    int n;

    (void)state;
    ggml_build_forward_expand(g, ggml_sqr(ctx, NULL));
    assert_true(gb_graph_is_failed(g));
    n = ggml_graph_n_nodes(g);
    sink.n = 0;
    ggml_build_backward_expand(ctx, ctx, g, false);
    assert_int_equal(ggml_graph_n_nodes(g), n);
    assert_int_equal(sink.n, 0);
}

/* Products, shapes, sums over rows and parts, with too few tensors for them. */
static void
each_pool_too_small_for_many_operations_fails(void **state)
{
    bool is_failed = true;
    int n = 0;

    (void)state;
    for (; is_failed && n < 2 * SIZE; n++) {
        const struct ggml_init_params params = {
            (size_t)n * ggml_tensor_overhead() + 64, NULL, true
        };
        struct ggml_context *small = ggml_init(params);
        struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 4 * SIZE, true);
        struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 4);
        struct ggml_tensor *row = param(4, 3), *y;

        ggml_set_param(ctx, x);
        y = ggml_cont(ctx, ggml_transpose(ctx, ggml_add(ctx, x, row)));
        y = ggml_mul_mat(ctx, x, y);
        y = ggml_sub(ctx, ggml_set(ctx, y, row, 16, 16, 16, 16), row);
        y = ggml_mul(ctx, ggml_cont(ctx, ggml_permute(ctx, y, 1, 0, 2, 3)), x);
        y = ggml_sum(ctx, ggml_view_1d(ctx, y, 3, 8));
        ggml_set_loss(y);
        ggml_build_forward_expand(g, y);
        ggml_build_backward_expand(small, small, g, n % 2 == 0);
        is_failed = gb_graph_is_failed(g);
        ggml_free(small);
        ggml_reset(ctx);
    }
    assert_true(n > 20);
    assert_false(is_failed);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(gradients_and_accumulators_are_named),
        TEST(parameters_have_accumulators_only_when_asked_for),
        TEST(gradients_follow_the_nodes_that_were_there),
        TEST(a_second_expansion_starts_anew),
        TEST(infinity_outside_of_a_view_does_not_reach_its_gradient),
        TEST(what_is_ignored_needs_no_derivative),
        TEST(im2col_hands_on_past_the_kernel),
        TEST(an_operation_without_derivative_is_named),
        TEST(a_function_without_derivative_is_named),
        TEST(a_mask_has_no_gradient),
        TEST(labels_have_no_gradient),
        TEST(factors_of_rope_have_no_gradient),
        TEST(a_loss_is_one_value),
        TEST(what_is_overwritten_has_no_derivative),
        TEST(there_must_be_a_parameter),
        TEST(there_must_be_a_loss),
        TEST(there_must_be_nodes),
        TEST(a_number_of_no_operation_is_refused),
        TEST(there_must_be_places_for_gradients),
        TEST(there_must_be_contexts_and_a_graph),
        TEST(each_size_that_is_too_small_fails),
        TEST(without_memory_the_graph_fails),
        TEST(each_pool_that_is_too_small_fails),
        TEST(only_the_source_that_is_a_parameter_gets_a_gradient),
        TEST(weights_of_other_types_become_f32_where_they_must),
        TEST(gradients_of_nothing_have_its_shape),
        TEST(only_floats_have_gradients),
        TEST(a_loss_is_f32),
        TEST(numbers_of_places_have_no_gradient),
        TEST(a_view_of_scattered_elements_has_no_derivative),
        TEST(a_failed_graph_stays_as_it_is),
        TEST(each_pool_too_small_for_many_operations_fails),
    };
#undef TEST

    return cmocka_run_group_tests_name("backward expansion", tests, NULL, NULL);
}
