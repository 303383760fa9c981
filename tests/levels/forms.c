/* SPDX-License-Identifier: MIT */
/*
 * tests/levels/forms.c - backends of older levels get the nodes that mean the
 * same to them, whatever they say of others.
 *
 * Which ones these are was found by comparing, operation by operation, what the
 * cores of those times built and computed with what today's do.
 */
#include "tests/levels/backends/recorder.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"
#include "ggmlbackend-2023.h"

#include "lib/op/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct ggml_context *ctx;

static struct ggml_tensor *
f32(int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return ggml_new_tensor_4d(ctx, GGML_TYPE_F32, ne0, ne1, ne2, ne3);
}

static struct ggml_tensor *
of_type(enum ggml_type type, int64_t ne0, int64_t ne1)
{
    return ggml_new_tensor_2d(ctx, type, ne0, ne1);
}

static struct ggml_tensor *
rope(int n_dims, int mode, struct ggml_tensor *factors, float scale, float ext)
{
    return ggml_rope_ext(ctx, f32(8, 2, 3, 1), of_type(GGML_TYPE_I32, 3, 1),
                         factors, n_dims, mode, 0, 10000, scale, ext, 1, 32, 1);
}

static struct ggml_tensor *
rope_multi(int mode)
{
    int sections[4] = { 1, 1, 1, 1 };

    return ggml_rope_multi(ctx, f32(8, 2, 3, 1), of_type(GGML_TYPE_I32, 12, 1),
                           NULL, mode == 24 ? 4 : 8, sections, mode, 0, 10000,
                           1, 0, 1, 32, 1);
}

static struct ggml_tensor *
rope_with_word(uint32_t word)
{
    struct ggml_tensor *node = rope(8, 0, NULL, 1, 0);

    ggml_set_op_params_i32(node, word, 1);
    return node;
}

/* The node with its source I in another shape and type than builders take. */
static struct ggml_tensor *
with_source(struct ggml_tensor *node, int i, struct ggml_tensor *src)
{
    node->src[i] = src;
    return node;
}

static struct ggml_tensor *
as_rope_back(struct ggml_tensor *node)
{
    node->op = GGML_OP_ROPE_BACK;
    return node;
}

static struct ggml_tensor *
precise(struct ggml_tensor *product)
{
    ggml_mul_mat_set_prec(product, GGML_PREC_F32);
    return product;
}

static struct ggml_tensor *
im2col(enum ggml_type kernel, enum ggml_type columns)
{
    return ggml_im2col(ctx, ggml_new_tensor_4d(ctx, kernel, 3, 3, 2, 4),
                       f32(8, 8, 2, 1), 1, 1, 0, 0, 1, 1, true, columns);
}

static struct ggml_tensor *
im2col_back(void)
{
    int64_t ne[4] = { 8, 8, 2, 1 };

    return ggml_im2col_back(ctx, f32(18, 6, 6, 1),
                            ggml_new_tensor_4d(ctx, GGML_TYPE_F16, 3, 3, 2, 4),
                            ne, 1, 1, 0, 0, 1, 1, true);
}

/* What no builder makes any more, or only for functions of the host. */
static struct ggml_tensor *
bare(enum ggml_op op)
{
    struct ggml_tensor *node = f32(4, 4, 1, 1);

    node->op = op;
    node->src[0] = f32(4, 4, 1, 1);
    node->src[1] = f32(4, 4, 1, 1);
    return node;
}

struct form {
    const char *name;
    struct ggml_tensor *node;
    bool in_2023, in_2024;
};

static struct form forms[200];
static size_t n_forms;

static void
add(const char *name, struct ggml_tensor *node, bool in_2023, bool in_2024)
{
    const struct form form = { name, node, in_2023, in_2024 };

    if (node == NULL || node->op == GGML_OP_NONE)
        fail_msg("%s was not built", name);
    assert_true(n_forms < sizeof(forms) / sizeof(forms[0]));
    forms[n_forms++] = form;
}

#define ADD(in_2023, in_2024, node) add(#node, node, in_2023, in_2024)

static void
add_arithmetic(void)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2), *row = f32(8, 1, 1, 1);
    struct ggml_tensor *one = f32(1, 1, 1, 1), *m = f32(8, 6, 1, 1);
    struct ggml_tensor *i = of_type(GGML_TYPE_I32, 8, 6);

    ADD(true, true, ggml_add(ctx, a, a));
    ADD(true, true, ggml_add(ctx, a, row));
    ADD(false, true, ggml_add(ctx, a, one));
    ADD(true, true, ggml_add1(ctx, a, one));
    ADD(true, true, ggml_acc(ctx, m, row, m->nb[1], m->nb[2], m->nb[3], 0));
    ADD(true, true, ggml_sub(ctx, a, a));
    ADD(false, true, ggml_sub(ctx, a, row));
    ADD(true, true, ggml_mul(ctx, a, row));
    ADD(false, true, ggml_mul(ctx, a, one));
    ADD(true, true, ggml_div(ctx, a, a));
    ADD(false, true, ggml_div(ctx, a, row));
    ADD(true, true, ggml_sqr(ctx, a));
    ADD(true, true, ggml_sqrt(ctx, a));
    ADD(true, true, ggml_log(ctx, a));
    ADD(false, true, ggml_sin(ctx, a));
    ADD(false, true, ggml_cos(ctx, a));
    ADD(true, true, ggml_sum(ctx, a));
    ADD(true, true, ggml_sum_rows(ctx, a));
    ADD(true, true, ggml_mean(ctx, a));
    ADD(true, true, ggml_argmax(ctx, m));
    ADD(false, true, ggml_count_equal(ctx, i, i));
    ADD(false, true, ggml_scale(ctx, a, 2));
    ADD(true, true, ggml_clamp(ctx, a, 0, 1));
    ADD(false, true, ggml_leaky_relu(ctx, a, 0.1f, false));
    ADD(true, true, ggml_silu(ctx, a));
    ADD(true, true, ggml_gelu(ctx, a));
    ADD(true, true, ggml_abs(ctx, a));
    ADD(false, true, ggml_sigmoid(ctx, a));
    ADD(false, true, ggml_hardswish(ctx, a));
    ADD(false, true, ggml_exp(ctx, a));
    ADD(true, false, ggml_silu_back(ctx, a, f32(8, 6, 4, 2)));
}

static void
add_copies(void)
{
    struct ggml_tensor *a = f32(32, 6, 4, 2), *h = of_type(GGML_TYPE_F16, 32, 6);
    struct ggml_tensor *i = of_type(GGML_TYPE_I32, 8, 6), *m = f32(32, 6, 1, 1);
    struct ggml_tensor *q = of_type(GGML_TYPE_Q4_0, 32, 6);
    struct ggml_tensor *b = of_type(GGML_TYPE_BF16, 32, 6);
    struct ggml_tensor *ids = of_type(GGML_TYPE_I32, 3, 1);

    ADD(true, true, ggml_dup(ctx, a));
    ADD(true, true, ggml_cpy(ctx, m, h));
    ADD(true, true, ggml_cpy(ctx, m, q));
    ADD(false, true, ggml_cpy(ctx, q, m));
    ADD(true, true, ggml_cpy(ctx, i, of_type(GGML_TYPE_I32, 8, 6)));
    ADD(false, true, ggml_cpy(ctx, m, b));
    ADD(true, true, ggml_cont(ctx, ggml_transpose(ctx, m)));
    ADD(false, true, ggml_cont(ctx, ggml_transpose(ctx, i)));
    ADD(false, true, ggml_cpy(ctx, ggml_cont(ctx, ggml_transpose(ctx, i)),
                              ggml_transpose(ctx, i)));
    ADD(true, true, ggml_repeat(ctx, m, a));
    ADD(true, true, ggml_repeat_back(ctx, a, m));
    ADD(true, true, ggml_concat(ctx, a, a, 2));
    ADD(false, true, ggml_concat(ctx, a, a, 0));
    ADD(true, true, ggml_set(ctx, m, f32(32, 1, 1, 1), m->nb[1], m->nb[2],
                             m->nb[3], 0));
    ADD(true, true, ggml_reshape_1d(ctx, a, 32 * 48));
    ADD(true, true, ggml_view_1d(ctx, a, 3, 0));
    ADD(true, true, ggml_permute(ctx, a, 1, 0, 2, 3));
    ADD(true, true, ggml_transpose(ctx, a));
    ADD(true, true, ggml_get_rows(ctx, q, ids));
    ADD(false, true, ggml_get_rows(ctx, i, ids));
    ADD(false, true, ggml_get_rows(ctx, f32(8, 6, 3, 1),
                                   of_type(GGML_TYPE_I32, 2, 3)));
    ADD(false, true, with_source(ggml_get_rows(ctx, q, ids), 1,
                                 of_type(GGML_TYPE_I32, 3, 2)));
    ADD(true, true, ggml_get_rows_back(ctx, f32(32, 3, 1, 1), ids, m));
    ADD(true, true, ggml_diag(ctx, f32(8, 1, 1, 1)));
    ADD(false, true, ggml_upscale(ctx, a, 2));
    ADD(false, true, ggml_pad(ctx, a, 1, 0, 0, 0));
    ADD(false, false, ggml_pad_reflect_1d(ctx, a, 1, 2));
    ADD(false, true, ggml_arange(ctx, 0, 4, 1));
    ADD(false, true, ggml_timestep_embedding(ctx, f32(4, 1, 1, 1), 8, 100));
    ADD(false, true, ggml_argsort(ctx, a, GGML_SORT_ORDER_ASC));
}

static void
add_networks(void)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2), *m = f32(8, 6, 1, 1);
    struct ggml_tensor *mask = f32(8, 64, 1, 1), *factors = f32(4, 1, 1, 1);
    struct ggml_tensor *q = of_type(GGML_TYPE_Q4_0, 32, 6);
    struct ggml_tensor *iq = of_type(GGML_TYPE_IQ4_NL, 32, 6);

    ADD(true, true, ggml_norm(ctx, a, 1e-5f));
    ADD(true, true, ggml_rms_norm(ctx, a, 1e-5f));
    ADD(true, false, ggml_rms_norm_back(ctx, a, f32(8, 6, 4, 2), 1e-5f));
    ADD(true, true, ggml_group_norm(ctx, a, 2, 1e-6f));
    ADD(false, true, ggml_group_norm(ctx, a, 2, 1e-5f));
    ADD(true, true, ggml_mul_mat(ctx, q, f32(32, 2, 1, 1)));
    ADD(false, true, precise(ggml_mul_mat(ctx, q, f32(32, 2, 1, 1))));
    ADD(false, true, ggml_mul_mat(ctx, iq, f32(32, 2, 1, 1)));
    ADD(false, true, ggml_mul_mat_id(ctx, f32(8, 6, 4, 1), f32(8, 1, 2, 1),
                                     of_type(GGML_TYPE_I32, 1, 2)));
    ADD(true, true, ggml_out_prod(ctx, a, a));
    ADD(false, false, ggml_out_prod(ctx, m, a));
    ADD(false, false, ggml_out_prod(ctx, m, f32(8, 6, 1, 2)));
    ADD(true, true, ggml_diag_mask_inf(ctx, a, 1));
    ADD(true, true, ggml_diag_mask_zero(ctx, a, 1));
    ADD(true, true, ggml_soft_max(ctx, a));
    ADD(false, true, ggml_soft_max_ext(ctx, a, mask, 1, 0));
    ADD(false, true, ggml_soft_max_ext(ctx, a, NULL, 0.5f, 0));
    ADD(true, true, ggml_soft_max_ext_back(ctx, a, a, 1, 0));
    ADD(false, false, ggml_soft_max_ext_back(ctx, a, a, 0.5f, 0));
    ADD(false, false, ggml_soft_max_ext_back(ctx, a, a, 1, 8));
    ADD(true, true, rope(8, 0, NULL, 1, 0));
    ADD(true, true, rope(8, 0, NULL, 0.5f, 1));
    ADD(true, true, rope(8, GGML_ROPE_TYPE_NEOX, NULL, 1, 0));
    ADD(false, true, rope(8, GGML_ROPE_TYPE_NEOX, NULL, 0.5f, 0));
    ADD(false, true, rope(8, GGML_ROPE_TYPE_NEOX, NULL, 1, 1));
    ADD(false, true, rope(4, 0, NULL, 1, 0));
    ADD(false, true, rope(8, 0, factors, 1, 0));
    ADD(false, false, rope_with_word(2)); /* a mode of its own */
    ADD(false, true, rope_with_word(11));
    ADD(false, true, rope_with_word(14));
    ADD(false, false, rope_multi(GGML_ROPE_TYPE_MROPE));
    ADD(false, false, rope_multi(GGML_ROPE_TYPE_VISION));
    ADD(true, true, as_rope_back(rope(8, 0, NULL, 1, 0)));
    ADD(false, true, as_rope_back(rope(4, 0, NULL, 1, 0)));
    ADD(false, false, as_rope_back(rope_multi(GGML_ROPE_TYPE_MROPE)));
    ADD(false, true, ggml_flash_attn_ext(
        ctx, f32(64, 1, 2, 1),
        ggml_new_tensor_3d(ctx, GGML_TYPE_F16, 64, 64, 2),
        ggml_new_tensor_3d(ctx, GGML_TYPE_F16, 64, 64, 2), NULL, 1, 0, 0));
    ADD(false, false, bare(GGML_OP_FLASH_ATTN_BACK));
    ADD(true, true, ggml_cross_entropy_loss(ctx, m, f32(8, 6, 1, 1)));
    ADD(true, false, ggml_cross_entropy_loss_back(
        ctx, f32(1, 1, 1, 1), m, f32(8, 6, 1, 1)));
    ggml_set_param(ctx, m);
    ADD(false, false, ggml_opt_step_adamw(
        ctx, m, f32(8, 6, 1, 1), f32(8, 6, 1, 1), f32(8, 6, 1, 1),
        f32(7, 1, 1, 1)));
}

static void
add_windows(void)
{
    struct ggml_tensor *image = f32(8, 8, 2, 1), *images = f32(8, 8, 2, 3);
    struct ggml_tensor *matrix = f32(8, 4, 1, 1);

    ADD(true, true, im2col(GGML_TYPE_F16, GGML_TYPE_F16));
    ADD(false, true, im2col(GGML_TYPE_F16, GGML_TYPE_F32));
    ADD(false, true, with_source(im2col(GGML_TYPE_F16, GGML_TYPE_F16), 1,
                                 ggml_new_tensor_4d(ctx, GGML_TYPE_F16, 8, 8, 2,
                                                    1)));
    ADD(false, true, im2col(GGML_TYPE_F32, GGML_TYPE_F16));
    ADD(false, false, im2col_back());
    ADD(true, true, ggml_conv_transpose_1d(ctx, f32(3, 2, 4, 1),
                                           f32(8, 4, 1, 1), 1, 0, 1));
    ADD(true, true, ggml_conv_transpose_2d_p0(
        ctx, ggml_new_tensor_4d(ctx, GGML_TYPE_F16, 2, 2, 3, 2), image, 2));
    ADD(true, true, ggml_pool_1d(ctx, matrix, GGML_OP_POOL_AVG, 2, 2, 0));
    ADD(false, true, ggml_pool_1d(ctx, image, GGML_OP_POOL_AVG, 2, 2, 0));
    ADD(false, true, ggml_pool_1d(ctx, f32(8, 2, 1, 2), GGML_OP_POOL_AVG, 2, 2,
                                  0));
    ADD(true, true, ggml_pool_2d(ctx, image, GGML_OP_POOL_MAX, 2, 2, 2, 2, 0, 0));
    ADD(false, true,
        ggml_pool_2d(ctx, images, GGML_OP_POOL_MAX, 2, 2, 2, 2, 0, 0));
    ADD(false, true,
        ggml_pool_2d_back(ctx, f32(4, 4, 2, 1), image, GGML_OP_POOL_MAX, 2, 2,
                          2, 2, 0, 0));
    ADD(true, true, ggml_win_part(ctx, f32(4, 8, 8, 1), 4));
    ADD(true, true, ggml_win_unpart(ctx, f32(4, 4, 4, 4), 8, 8, 4));
    ADD(true, true, ggml_get_rel_pos(ctx, of_type(GGML_TYPE_F16, 4, 7), 4, 4));
    ADD(true, true, ggml_add_rel_pos(ctx, f32(16, 16, 1, 1), f32(4, 4, 4, 1),
                                     f32(4, 4, 4, 1)));
}

static void
add_sequences(void)
{
    ADD(false, true, ggml_ssm_conv(ctx, f32(6, 8, 2, 1), f32(4, 8, 1, 1)));
    ADD(false, true, ggml_ssm_scan(ctx, f32(4, 8, 2, 1), f32(8, 3, 2, 1),
                                   f32(8, 3, 2, 1), f32(4, 8, 1, 1),
                                   f32(4, 3, 2, 1), f32(4, 3, 2, 1)));
    ADD(false, false, ggml_rwkv_wkv6(
        ctx, f32(4, 2, 3, 1), f32(4, 2, 3, 1), f32(4, 2, 3, 1), f32(4, 2, 1, 1),
        f32(4, 2, 3, 1), f32(32, 1, 1, 1)));
    ADD(false, false, ggml_gated_linear_attn(
        ctx, f32(4, 2, 3, 1), f32(4, 2, 3, 1), f32(4, 2, 3, 1), f32(4, 2, 3, 1),
        f32(32, 1, 1, 1), 1));
    ADD(false, true, bare(GGML_OP_MAP_UNARY));
    ADD(false, true, bare(GGML_OP_MAP_BINARY));
    ADD(false, true, bare(GGML_OP_MAP_CUSTOM1_F32));
    ADD(false, true, bare(GGML_OP_MAP_CUSTOM2_F32));
    ADD(false, true, bare(GGML_OP_MAP_CUSTOM3_F32));
    ADD(false, true, bare(GGML_OP_MAP_CUSTOM1));
    ADD(false, true, bare(GGML_OP_MAP_CUSTOM2));
    ADD(false, true, bare(GGML_OP_MAP_CUSTOM3));
}

/* Operations that came later, of which nothing is said above. */
static void
add_unheard_of(void)
{
    bool is_there[GGML_OP_COUNT] = { [GGML_OP_NONE] = true };

    for (size_t i = 0; i < n_forms; i++)
        is_there[forms[i].node->op] = true;
    for (int op = 0; op < GGML_OP_COUNT; op++)
        if (!is_there[op])
            add(ggml_op_name((enum ggml_op)op), bare((enum ggml_op)op), false,
                false);
}

static int
set_up(void **state)
{
    const struct ggml_init_params params = {
        .mem_size = 1000 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };

    (void)state;
    ctx = ggml_init(params);
    assert_non_null(ctx);
    n_forms = 0;
    add_arithmetic();
    add_copies();
    add_networks();
    add_windows();
    add_sequences();
    add_unheard_of();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    ggml_free(ctx);
    return 0;
}

static ggml_backend_dev_t
device_2023(const struct ggmlbackend_2023 *about)
{
    struct ggml_backend_reg *reg = ggmlbackend_register_2023(about);

    assert_non_null(reg);
    return ggml_backend_reg_dev_get(reg, 0);
}


/* What DEV answers for each form; whether it was asked shows in recorded. */
static void
check(ggml_backend_dev_t dev, bool is_2023, bool asks)
{
    for (size_t i = 0; i < n_forms; i++) {
        const struct form *form = &forms[i];
        const bool expected = is_2023 ? form->in_2023 : form->in_2024;
        const bool is_asked =
            asks && expected && (!is_2023 || gb_op_has_work(form->node->op));

        memset(&recorded, 0, sizeof(recorded));
        if (ggml_backend_dev_supports_op(dev, form->node) != expected)
            fail_msg("%s is %s", form->name, expected ? "refused" : "accepted");
        if (recorded.n_asked != is_asked)
            fail_msg("%s: asked %d times", form->name, recorded.n_asked);
        if (is_asked)
            assert_int_equal(recorded.op, form->node->op);
    }
}

static void
a_backend_of_2023_is_asked_about_forms_that_it_knows(void **state)
{
    const struct ggmlbackend_2023 about = { .init = recorder_2023_init };

    (void)state;
    recorder_2023_is_silent = false;
    check(device_2023(&about), true, true);
}

static void
a_backend_of_2023_that_says_nothing_gets_the_same_forms(void **state)
{
    const struct ggmlbackend_2023 about = { .init = recorder_2023_init };

    (void)state;
    recorder_2023_is_silent = true;
    check(device_2023(&about), true, false);
}

static void
a_list_of_operations_makes_no_form_known(void **state)
{
    enum ggml_op ops[GGML_OP_COUNT];
    const struct ggmlbackend_2023 about = {
        .init = recorder_2023_init, .ops = ops, .n_ops = GGML_OP_COUNT
    };

    (void)state;
    for (int i = 0; i < GGML_OP_COUNT; i++)
        ops[i] = (enum ggml_op)i;
    recorder_2023_is_silent = true;
    check(device_2023(&about), true, false);
}

static void
a_device_of_2024_is_asked_about_forms_that_it_knows(void **state)
{
    (void)state;
    recorder_2024_register();
    recorder_2024_register();
    for (int i = 0; i < 5; i++) {
        const char name[] = { 'R', (char)('0' + i), '\0' };

        check(ggml_backend_dev_by_name(name), false, true);
    }
}

static void
whatever_a_node_says_is_answered(void **state)
{
    const struct ggmlbackend_2023 about = { .init = recorder_2023_init };
    struct ggml_tensor node = { .ne = { 1, 1, 1, 1 } };
    ggml_backend_dev_t devs[2];

    (void)state;
    recorder_2023_is_silent = false;
    devs[0] = device_2023(&about);
    devs[1] = ggml_backend_dev_by_name("R1");
    for (int i = 0; i < 2; i++) {
        node.type = GGML_TYPE_F32;
        for (int op = 0; op < GGML_OP_COUNT; op++) {
            node.op = (enum ggml_op)op;
            ggml_backend_dev_supports_op(devs[i], &node);
        }
        node.op = GGML_OP_OUT_PROD;
        assert_false(ggml_backend_dev_supports_op(devs[i], &node));
        node.op = GGML_OP_COUNT;
        assert_false(ggml_backend_dev_supports_op(devs[i], &node));
        node.op = (enum ggml_op)0x7fffffff;
        assert_false(ggml_backend_dev_supports_op(devs[i], &node));
    }
    node.op = GGML_OP_ADD;
    assert_false(ggml_backend_dev_supports_op(devs[0], &node));
    node.op = GGML_OP_SQR;
    assert_true(ggml_backend_dev_supports_op(devs[0], &node));
    node.type = (enum ggml_type)-1;
    assert_false(ggml_backend_dev_supports_op(devs[0], &node));
}

/* NODE's sources, by number, as the backend of 2023 saw them last. */
static void
check_order(const struct ggml_tensor *node, const int *order, int n)
{
    assert_int_equal(recorded.op, node->op);
    for (int i = 0; i < n; i++)
        assert_ptr_equal(recorded.src[i], node->src[order[i]]);
}

static void
sources_stand_in_the_order_of_2023(void **state)
{
    static const struct {
        enum ggml_op op;
        int order[3];
        int n;
    } cases[] = {
        { GGML_OP_SILU_BACK, { 1, 0 }, 2 },
        { GGML_OP_RMS_NORM_BACK, { 1, 0 }, 2 },
        { GGML_OP_CROSS_ENTROPY_LOSS_BACK, { 1, 2, 0 }, 3 },
        { GGML_OP_SUB, { 0, 1 }, 2 },
        { GGML_OP_SOFT_MAX_BACK, { 0, 1 }, 2 },
    };
    const struct ggmlbackend_2023 about = {
        .init = recorder_2023_init, .has_plans = true
    };
    ggml_backend_dev_t dev;
    ggml_backend_t backend;

    (void)state;
    recorder_2023_is_silent = false;
    dev = device_2023(&about);
    backend = ggml_backend_dev_init(dev, NULL);
    assert_non_null(backend);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        for (size_t i = 0; i < n_forms; i++) {
            struct ggml_tensor *node = forms[i].node, before = *node;
            struct ggml_tensor *nodes[2];
            struct ggml_cgraph graph = { .n_nodes = 2, .nodes = nodes };
            ggml_backend_graph_plan_t plan;

            if (node->op != cases[c].op || !forms[i].in_2023)
                continue;
            nodes[0] = nodes[1] = node;
            assert_true(ggml_backend_dev_supports_op(dev, node));
            check_order(node, cases[c].order, cases[c].n);

            memset(&recorded, 0, sizeof(recorded));
            ggml_backend_graph_compute(backend, &graph);
            assert_int_equal(recorded.n_computed, 2);
            check_order(node, cases[c].order, cases[c].n);

            memset(&recorded, 0, sizeof(recorded));
            plan = ggml_backend_graph_plan_create(backend, &graph);
            assert_non_null(plan);
            assert_int_equal(ggml_backend_graph_plan_compute(backend, plan),
                             GGML_STATUS_SUCCESS);
            assert_int_equal(recorded.n_computed, 2);
            check_order(node, cases[c].order, cases[c].n);
            ggml_backend_graph_plan_free(backend, plan);
            assert_int_equal(recorded.n_freed_plans, 1);
            assert_memory_equal(node, &before, sizeof(before));
        }
    ggml_backend_free(backend);
}

static void
devices_of_2024_are_listed_as_what_they_are_today(void **state)
{
    static const enum ggml_backend_dev_type types[] = {
        GGML_BACKEND_DEVICE_TYPE_ACCEL, GGML_BACKEND_DEVICE_TYPE_GPU,
        GGML_BACKEND_DEVICE_TYPE_ACCEL, GGML_BACKEND_DEVICE_TYPE_CPU,
        GGML_BACKEND_DEVICE_TYPE_GPU
    };
    struct ggml_backend_dev_props props;

    (void)state;
    for (int i = 0; i < 5; i++) {
        const char name[] = { 'R', (char)('0' + i), '\0' };
        ggml_backend_dev_t dev = ggml_backend_dev_by_name(name);

        assert_non_null(dev);
        assert_int_equal(ggml_backend_dev_type(dev), types[i]);
        ggml_backend_dev_get_props(dev, &props);
        assert_int_equal(props.type, types[i]);
        assert_string_equal(props.name, name);
        assert_int_equal(props.memory_total, 1);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backend_of_2023_is_asked_about_forms_that_it_knows),
        cmocka_unit_test(
            a_backend_of_2023_that_says_nothing_gets_the_same_forms),
        cmocka_unit_test(a_list_of_operations_makes_no_form_known),
        cmocka_unit_test(a_device_of_2024_is_asked_about_forms_that_it_knows),
        cmocka_unit_test(whatever_a_node_says_is_answered),
        cmocka_unit_test(sources_stand_in_the_order_of_2023),
        cmocka_unit_test(devices_of_2024_are_listed_as_what_they_are_today),
    };

    return cmocka_run_group_tests_name("forms of nodes", tests, set_up,
                                       tear_down);
}
