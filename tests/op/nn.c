/* SPDX-License-Identifier: MIT */
/*
 * tests/op/nn.c - builders of products, norms, soft maxima, attention, losses.
 */
#include "tests/op/node.h"

#include <math.h>

static struct ggml_tensor *
i32(int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return leaf(GGML_TYPE_I32, ne0, ne1, ne2, ne3);
}

static struct ggml_tensor *
f16(int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return leaf(GGML_TYPE_F16, ne0, ne1, ne2, ne3);
}

static void
norms_keep_eps(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(8, 6, 4, 2);
    struct want want = { .op = GGML_OP_NORM,
                         .ne = { 8, 6, 4, 2 },
                         .src = { a },
                         .params = { bits(0.5f) } };

    (void)state;
    check_new(ggml_norm(ctx, a, 0.5f), &want);
    check_inplace(ggml_norm_inplace(ctx, a, 0.5f), &want);
    check_refused(ggml_norm(ctx, a, -0.5f), "norm");
    want.op = GGML_OP_RMS_NORM;
    check_new(ggml_rms_norm(ctx, a, 0.5f), &want);
    check_inplace(ggml_rms_norm_inplace(ctx, a, 0.5f), &want);
    check_refused(ggml_rms_norm_inplace(ctx, a, NAN), "rms_norm");
    want.op = GGML_OP_RMS_NORM_BACK;
    want.src[1] = b;
    check_new(ggml_rms_norm_back(ctx, a, b, 0.5f), &want);
    check_refused(ggml_rms_norm_back(ctx, a, b, -1.0f), "rms_norm_back");
    check_refused(ggml_rms_norm_back(ctx, a, f32(8, 6, 4, 1), 0.5f),
                  "rms_norm_back");
}

static void
group_norm_keeps_groups_and_eps(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    const struct want want = { .op = GGML_OP_GROUP_NORM,
                               .ne = { 8, 6, 4, 2 },
                               .src = { a },
                               .params = { 3, bits(0.5f) } };

    (void)state;
    check_new(ggml_group_norm(ctx, a, 3, 0.5f), &want);
    check_inplace(ggml_group_norm_inplace(ctx, a, 3, 0.5f), &want);
    check_refused(ggml_group_norm(ctx, a, 0, 0.5f), "group_norm");
    check_refused(ggml_group_norm_inplace(ctx, a, -1, 0.5f), "group_norm");
    check_refused(ggml_group_norm(ctx, a, 3, -0.5f), "group_norm");
}

static void
mul_mat_pairs_rows(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_Q8_0, 64, 6, 4, 2);
    struct ggml_tensor *b = f32(64, 3, 8, 2), *node;
    struct want want = { .op = GGML_OP_MUL_MAT,
                         .ne = { 6, 3, 8, 2 },
                         .src = { a, b } };

    (void)state;
    node = ggml_mul_mat(ctx, a, b);
    check_new(node, &want);
    ggml_mul_mat_set_prec(node, GGML_PREC_F32);
    want.params[0] = 1;
    check_new(node, &want);
    ggml_mul_mat_set_prec(node, (enum ggml_prec)2);
    ggml_mul_mat_set_prec(b, GGML_PREC_F32);
    assert_int_equal(world.n_messages, 2);
    world.n_messages = 0;
    check_new(node, &want);
    assert_int_equal(b->op_params[0], 0);

    check_refused(ggml_mul_mat(ctx, a, f32(32, 3, 8, 2)), "mul_mat");
    check_refused(ggml_mul_mat(ctx, a, f32(64, 3, 6, 2)), "mul_mat");
    check_refused(ggml_mul_mat(ctx, a, f32(64, 3, 8, 3)), "mul_mat");
    check_refused(ggml_mul_mat(ctx, f32(64, 6, 0, 1), b), "mul_mat");
    check_refused(ggml_mul_mat(ctx, ggml_transpose(ctx, f32(6, 64, 1, 1)), b),
                  "mul_mat");
    want.src[1] = f32(64, 0, 4, 2);
    check_new(ggml_mul_mat(ctx, a, want.src[1]),
              &(struct want){ .op = GGML_OP_MUL_MAT,
                              .ne = { 6, 0, 4, 2 },
                              .src = { a, want.src[1] } });
}

static void
mul_mat_id_chooses_experts(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *as = f32(8, 6, 5, 1), *b = f32(8, 2, 7, 1);
    struct ggml_tensor *ids = i32(4, 7, 1, 1);

    (void)state;
    check_new(ggml_mul_mat_id(ctx, as, b, ids),
              &(struct want){ .op = GGML_OP_MUL_MAT_ID,
                              .ne = { 6, 4, 7, 1 },
                              .src = { as, b, ids } });
    check_refused(ggml_mul_mat_id(ctx, as, b, f32(4, 7, 1, 1)), "mul_mat_id");
    check_refused(ggml_mul_mat_id(ctx, as, b, i32(4, 7, 2, 1)), "mul_mat_id");
    check_refused(ggml_mul_mat_id(ctx, as, b, i32(4, 6, 1, 1)), "mul_mat_id");
    check_refused(ggml_mul_mat_id(ctx, as, b, i32(3, 7, 1, 1)), "mul_mat_id");
    check_refused(ggml_mul_mat_id(ctx, f32(8, 6, 5, 2), b, ids), "mul_mat_id");
    check_refused(ggml_mul_mat_id(ctx, f32(7, 6, 5, 1), b, ids), "mul_mat_id");
    check_refused(ggml_mul_mat_id(ctx, as, f32(8, 2, 7, 2), ids),
                  "mul_mat_id");
    check_refused(ggml_mul_mat_id(ctx, as, f32(8, 0, 7, 1), ids),
                  "mul_mat_id");
    check_refused(
        ggml_mul_mat_id(ctx, ggml_transpose(ctx, f32(6, 8, 5, 1)), b, ids),
        "mul_mat_id");
}

static void
out_prod_pairs_columns(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct ggml_tensor *b = ggml_transpose(ctx, f32(6, 3, 8, 4));

    (void)state;
    check_new(ggml_out_prod(ctx, a, b),
              &(struct want){ .op = GGML_OP_OUT_PROD,
                              .ne = { 8, 3, 8, 4 },
                              .src = { a, b } });
    check_refused(ggml_out_prod(ctx, a, f32(3, 5, 8, 4)), "out_prod");
    check_refused(ggml_out_prod(ctx, a, f32(3, 6, 3, 4)), "out_prod");
    check_refused(ggml_out_prod(ctx, a, f32(3, 6, 8, 1)), "out_prod");
    check_refused(
        ggml_out_prod(ctx, ggml_transpose(ctx, f32(6, 8, 4, 2)), b),
        "out_prod");
}

static void
soft_max_takes_a_mask(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *mask = f16(8, 9, 1, 1);
    struct ggml_tensor *turned = ggml_transpose(ctx, f32(9, 8, 1, 1));
    struct want want = { .op = GGML_OP_SOFT_MAX,
                         .ne = { 8, 6, 4, 2 },
                         .src = { a },
                         .params = { bits(1.0f), bits(0.0f) } };

    (void)state;
    check_new(ggml_soft_max(ctx, a), &want);
    check_inplace(ggml_soft_max_inplace(ctx, a), &want);
    want.params[0] = bits(0.5f);
    check_new(ggml_soft_max_ext(ctx, a, NULL, 0.5f, 0.0f), &want);
    want.params[1] = bits(8.0f);
    want.src[1] = mask;
    check_new(ggml_soft_max_ext(ctx, a, mask, 0.5f, 8.0f), &want);
    want.src[1] = f32(8, 6, 1, 1);
    check_new(ggml_soft_max_ext(ctx, a, want.src[1], 0.5f, 8.0f), &want);

    check_refused(ggml_soft_max_ext(ctx, a, NULL, 0.5f, 8.0f), "soft_max");
    check_refused(ggml_soft_max_ext(ctx, a, i32(8, 9, 1, 1), 1, 0),
                  "soft_max");
    check_refused(ggml_soft_max_ext(ctx, a, f16(7, 9, 1, 1), 1, 0),
                  "soft_max");
    check_refused(ggml_soft_max_ext(ctx, a, f16(8, 5, 1, 1), 1, 0),
                  "soft_max");
    check_refused(ggml_soft_max_ext(ctx, a, f16(8, 9, 2, 1), 1, 0),
                  "soft_max");
    check_refused(ggml_soft_max_ext(ctx, a, turned, 1, 0), "soft_max");
    check_refused(ggml_soft_max_inplace(ctx, turned), "soft_max");
}

static void
soft_max_back_needs_equal_shapes(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(8, 6, 4, 2);
    const struct want want = { .op = GGML_OP_SOFT_MAX_BACK,
                               .ne = { 8, 6, 4, 2 },
                               .src = { a, b },
                               .params = { bits(0.5f), bits(0.0f) } };

    (void)state;
    check_new(ggml_soft_max_ext_back(ctx, a, b, 0.5f, 0.0f), &want);
    check_inplace(ggml_soft_max_ext_back_inplace(ctx, a, b, 0.5f, 0.0f),
                  &want);
    check_refused(ggml_soft_max_ext_back(ctx, a, f32(8, 6, 4, 1), 1, 0),
                  "soft_max_back");
}

static struct ggml_tensor *
attend(struct ggml_tensor *q, struct ggml_tensor *k, struct ggml_tensor *v,
       struct ggml_tensor *mask, float max_bias)
{
    return ggml_flash_attn_ext(world.ctx, q, k, v, mask, 0.5f, max_bias, 30);
}

static void
flash_attn_exchanges_heads_and_tokens(void **state)
{
    static const char word[] = "flash_attn_ext";
    struct ggml_tensor *q = f32(64, 7, 8, 2), *k = f16(64, 33, 4, 1);
    struct ggml_tensor *v = leaf(GGML_TYPE_Q8_0, 64, 33, 2, 2);
    struct ggml_tensor *mask = f16(33, 64, 1, 1), *node;
    struct want want = { .op = GGML_OP_FLASH_ATTN_EXT,
                         .ne = { 64, 8, 7, 2 },
                         .src = { q, k, v, mask },
                         .params = { bits(0.5f), bits(4), bits(30), 0 } };

    (void)state;
    node = attend(q, k, v, mask, 4);
    check_new(node, &want);
    assert_int_equal(ggml_flash_attn_ext_get_prec(node), GGML_PREC_DEFAULT);
    ggml_flash_attn_ext_set_prec(node, GGML_PREC_F32);
    want.params[3] = 1;
    check_new(node, &want);
    assert_int_equal(ggml_flash_attn_ext_get_prec(node), GGML_PREC_F32);
    want.src[3] = NULL;
    want.params[1] = bits(0);
    want.params[3] = 0;
    check_new(attend(q, k, v, NULL, 0), &want);

    check_refused(attend(q, f16(32, 33, 4, 1), v, mask, 4), word);
    check_refused(attend(q, f16(64, 33, 3, 1), v, mask, 4), word);
    check_refused(attend(q, f16(64, 33, 4, 3), v, mask, 4), word);
    check_refused(attend(q, k, f16(64, 32, 2, 2), mask, 4), word);
    check_refused(attend(q, k, f16(32, 33, 2, 2), mask, 4), word);
    check_refused(attend(q, k, f16(64, 33, 3, 2), mask, 4), word);
    check_refused(attend(q, k, v, f32(33, 64, 1, 1), 4), word);
    check_refused(attend(q, k, v, f16(32, 64, 1, 1), 4), word);
    check_refused(attend(q, k, v, f16(33, 63, 1, 1), 4), word);
    check_refused(attend(q, k, v, f16(33, 64, 2, 1), 4), word);
    check_refused(
        attend(q, k, v, ggml_transpose(world.ctx, f16(64, 64, 1, 1)), 4),
        word);
    check_refused(attend(q, k, v, NULL, 4), word);
}

static void
precision_belongs_to_attention_only(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct ggml_tensor *node = attend(f32(8, 1, 1, 1), f32(8, 1, 1, 1),
                                      f32(8, 1, 1, 1), NULL, 0);

    (void)state;
    ggml_flash_attn_ext_set_prec(a, GGML_PREC_F32);
    ggml_flash_attn_ext_set_prec(node, (enum ggml_prec)7);
    assert_int_equal(ggml_flash_attn_ext_get_prec(a), GGML_PREC_DEFAULT);
    assert_int_equal(ggml_flash_attn_ext_get_prec(node), GGML_PREC_DEFAULT);
    assert_int_equal(a->op_params[3], 0);
    assert_int_equal(world.n_messages, 3);
}

static void
flash_attn_has_no_gradient(void **state)
{
    struct ggml_tensor *a = f32(64, 8, 4, 1);

    (void)state;
    check_refused(ggml_flash_attn_back(world.ctx, a, a, a, a, true),
                  "flash_attn_back");
}

static void
windows_cover_the_image(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 10, 9, 1), *w = f32(8, 4, 4, 9);

    (void)state;
    check_new(ggml_win_part(ctx, a, 4),
              &(struct want){ .op = GGML_OP_WIN_PART,
                              .ne = { 8, 4, 4, 9 },
                              .src = { a },
                              .params = { 3, 3, 4 } });
    check_refused(ggml_win_part(ctx, a, 0), "win_part");
    check_refused(ggml_win_part(ctx, a, -4), "win_part");
    check_refused(ggml_win_part(ctx, f16(8, 10, 9, 1), 4), "win_part");
    check_refused(ggml_win_part(ctx, f32(8, 10, 9, 2), 4), "win_part");
    check_refused(ggml_win_part(ctx, f32(0, UINT32_MAX, 1, 1), 1),
                  "win_part");
    check_new(ggml_win_unpart(ctx, w, 10, 9, 4),
              &(struct want){ .op = GGML_OP_WIN_UNPART,
                              .ne = { 8, 10, 9, 1 },
                              .src = { w },
                              .params = { 4 } });
    check_refused(ggml_win_unpart(ctx, w, 13, 9, 4), "win_unpart");
    check_refused(ggml_win_unpart(ctx, w, 10, 9, 5), "win_unpart");
    check_refused(ggml_win_unpart(ctx, w, 10, 9, 0), "win_unpart");
    check_refused(ggml_win_unpart(ctx, w, -1, 9, 4), "win_unpart");
    check_refused(ggml_win_unpart(ctx, f16(8, 4, 4, 9), 10, 9, 4),
                  "win_unpart");
}

static void
relative_positions(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f16(8, 9, 1, 1), *s = f32(9, 20, 2, 1);
    struct ggml_tensor *pw = f32(3, 4, 5, 2), *ph = f32(3, 4, 5, 2);
    struct want want = { .op = GGML_OP_ADD_REL_POS,
                         .ne = { 9, 20, 2, 1 },
                         .src = { s, pw, ph } };

    (void)state;
    check_new(ggml_get_rel_pos(ctx, a, 5, 5),
              &(struct want){ .op = GGML_OP_GET_REL_POS,
                              .type = GGML_TYPE_F16,
                              .ne = { 8, 5, 5, 1 },
                              .src = { a } });
    check_refused(ggml_get_rel_pos(ctx, a, 5, 4), "get_rel_pos");
    check_refused(ggml_get_rel_pos(ctx, a, 4, 4), "get_rel_pos");
    check_refused(ggml_get_rel_pos(ctx, a, 0, 0), "get_rel_pos");
    check_refused(
        ggml_get_rel_pos(ctx, leaf(GGML_TYPE_BF16, 8, 9, 1, 1), 5, 5),
        "get_rel_pos");

    check_new(ggml_add_rel_pos(ctx, s, pw, ph), &want);
    want.params[0] = 1;
    check_inplace(ggml_add_rel_pos_inplace(ctx, s, pw, ph), &want);
    check_refused(ggml_add_rel_pos(ctx, s, pw, f32(3, 4, 5, 1)),
                  "add_rel_pos");
    check_refused(ggml_add_rel_pos(ctx, s, f16(3, 4, 5, 2), ph),
                  "add_rel_pos");
    check_refused(ggml_add_rel_pos(ctx, f32(8, 20, 2, 1), pw, ph),
                  "add_rel_pos");
    check_refused(ggml_add_rel_pos(ctx, f32(9, 19, 2, 1), pw, ph),
                  "add_rel_pos");
    check_refused(ggml_add_rel_pos(ctx, f32(9, 20, 3, 1), pw, ph),
                  "add_rel_pos");
    check_refused(ggml_add_rel_pos(ctx, f32(9, 20, 2, 2), pw, ph),
                  "add_rel_pos");
    check_refused(
        ggml_add_rel_pos(ctx, ggml_transpose(ctx, f32(20, 9, 2, 1)), pw, ph),
        "add_rel_pos");
}

static void
losses_have_one_element(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(8, 6, 4, 2);
    struct ggml_tensor *g = f32(1, 1, 1, 1);

    (void)state;
    check_new(ggml_cross_entropy_loss(ctx, a, b),
              &(struct want){ .op = GGML_OP_CROSS_ENTROPY_LOSS,
                              .ne = { 1, 1, 1, 1 },
                              .src = { a, b } });
    check_refused(ggml_cross_entropy_loss(ctx, a, g), "cross_entropy_loss");
    check_new(ggml_cross_entropy_loss_back(ctx, g, a, b),
              &(struct want){ .op = GGML_OP_CROSS_ENTROPY_LOSS_BACK,
                              .ne = { 8, 6, 4, 2 },
                              .src = { g, a, b } });
    check_refused(ggml_cross_entropy_loss_back(ctx, a, a, b),
                  "cross_entropy_loss_back");
    check_refused(ggml_cross_entropy_loss_back(ctx, g, a, f32(8, 6, 4, 1)),
                  "cross_entropy_loss_back");
}

static void
adamw_changes_a_parameter(void **state)
{
    static const char word[] = "opt_step_adamw";
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *g = f32(8, 6, 4, 2);
    struct ggml_tensor *m = f32(8, 6, 4, 2), *v = f32(8, 6, 4, 2);
    struct ggml_tensor *p = f32(7, 1, 1, 1), *bad = f32(8, 6, 4, 1);

    (void)state;
    check_refused(ggml_opt_step_adamw(ctx, a, g, m, v, p), word);
    ggml_set_param(ctx, a);
    check_inplace(ggml_opt_step_adamw(ctx, a, g, m, v, p),
                  &(struct want){ .op = GGML_OP_OPT_STEP_ADAMW,
                                  .ne = { 8, 6, 4, 2 },
                                  .src = { a, g, m, v, p } });
    check_refused(ggml_opt_step_adamw(ctx, a, bad, m, v, p), word);
    check_refused(ggml_opt_step_adamw(ctx, a, g, bad, v, p), word);
    check_refused(ggml_opt_step_adamw(ctx, a, g, m, bad, p), word);
    check_refused(ggml_opt_step_adamw(ctx, a, g, m, v, f32(6, 1, 1, 1)), word);
    check_refused(ggml_opt_step_adamw(ctx, a, g, m, v, f16(7, 1, 1, 1)), word);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(norms_keep_eps),
        TEST(group_norm_keeps_groups_and_eps),
        TEST(mul_mat_pairs_rows),
        TEST(mul_mat_id_chooses_experts),
        TEST(out_prod_pairs_columns),
        TEST(soft_max_takes_a_mask),
        TEST(soft_max_back_needs_equal_shapes),
        TEST(flash_attn_exchanges_heads_and_tokens),
        TEST(precision_belongs_to_attention_only),
        TEST(flash_attn_has_no_gradient),
        TEST(windows_cover_the_image),
        TEST(relative_positions),
        TEST(losses_have_one_element),
        TEST(adamw_changes_a_parameter),
    };

    return cmocka_run_group_tests_name("networks", tests, NULL, NULL);
}
