/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/ops/nodes.h - a good node of each operation, and the memory of its
 * tensors between pages that are not there.
 *
 * A sample says what its sources are and which builder makes a node of them, so
 * that a test may build it from other sources, or change it afterwards.
 */
#ifndef GB_TESTS_CPU_OPS_NODES_H
#define GB_TESTS_CPU_OPS_NODES_H

#include "tests/util/random.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the samples ---- */

struct source {
    enum ggml_type type;
    int64_t ne[GGML_MAX_DIMS];
};

typedef struct ggml_tensor *(*sample_fn)(
    struct ggml_context *ctx, struct ggml_tensor *const *s);

struct sample {
    const char *name;
    enum ggml_op op;
    struct source sources[GGML_MAX_SRC]; /* ne[3] is 0 behind the last */
    sample_fn build;
};

#define UNARY_SAMPLE(word)                                                \
    static inline struct ggml_tensor *                                    \
    word##_sample(struct ggml_context *ctx, struct ggml_tensor *const *s) \
    {                                                                     \
        return ggml_##word(ctx, s[0]);                                    \
    }
#define BINARY_SAMPLE(word)                                               \
    static inline struct ggml_tensor *                                    \
    word##_sample(struct ggml_context *ctx, struct ggml_tensor *const *s) \
    {                                                                     \
        return ggml_##word(ctx, s[0], s[1]);                              \
    }
#define SAMPLE(word, call)                                                \
    static inline struct ggml_tensor *                                    \
    word##_sample(struct ggml_context *ctx, struct ggml_tensor *const *s) \
    {                                                                     \
        (void)s;                                                          \
        return call;                                                      \
    }

static inline void
map_rows(const int n, float *dst, const float *a)
{
    memcpy(dst, a, (size_t)n * sizeof(*dst));
}

static inline void
map_two_rows(const int n, float *dst, const float *a, const float *b)
{
    for (int i = 0; i < n; i++)
        dst[i] = a[i] + b[i];
}

/* Clients look at what they are given, which is there. */
static inline void
map_one(struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    memset(dst->data, a->ne[0] > 0, ggml_nbytes(dst));
}

static inline void
map_two(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b)
{
    memset(dst->data, a->ne[0] > b->ne[0], ggml_nbytes(dst));
}

static inline void
map_three(struct ggml_tensor *dst, const struct ggml_tensor *a,
          const struct ggml_tensor *b, const struct ggml_tensor *c)
{
    memset(dst->data, a->ne[0] > b->ne[0] + c->ne[0], ggml_nbytes(dst));
}

static inline void
share_one(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
          int nth, void *data)
{
    (void)nth;
    (void)data;
    if (ith == 0)
        map_one(dst, a);
}

static inline void
share_two(struct ggml_tensor *dst, const struct ggml_tensor *a,
          const struct ggml_tensor *b, int ith, int nth, void *data)
{
    (void)nth;
    (void)data;
    if (ith == 0)
        map_two(dst, a, b);
}

static inline void
share_three(struct ggml_tensor *dst, const struct ggml_tensor *a,
            const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
            int nth, void *data)
{
    (void)nth;
    (void)data;
    if (ith == 0)
        map_three(dst, a, b, c);
}

/* The deprecated builders are part of the interface. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
UNARY_SAMPLE(dup)
UNARY_SAMPLE(cont)
UNARY_SAMPLE(sqr)
UNARY_SAMPLE(sqrt)
UNARY_SAMPLE(log)
UNARY_SAMPLE(sin)
UNARY_SAMPLE(cos)
UNARY_SAMPLE(silu)
UNARY_SAMPLE(sum)
UNARY_SAMPLE(sum_rows)
UNARY_SAMPLE(mean)
UNARY_SAMPLE(argmax)
UNARY_SAMPLE(diag)
UNARY_SAMPLE(soft_max)
BINARY_SAMPLE(cpy)
BINARY_SAMPLE(add)
BINARY_SAMPLE(add1)
BINARY_SAMPLE(sub)
BINARY_SAMPLE(mul)
BINARY_SAMPLE(div)
BINARY_SAMPLE(silu_back)
BINARY_SAMPLE(count_equal)
BINARY_SAMPLE(repeat)
BINARY_SAMPLE(repeat_back)
BINARY_SAMPLE(mul_mat)
BINARY_SAMPLE(out_prod)
BINARY_SAMPLE(get_rows)
BINARY_SAMPLE(cross_entropy_loss)
BINARY_SAMPLE(ssm_conv)
SAMPLE(scale, ggml_scale(ctx, s[0], 2.0f))
SAMPLE(clamp, ggml_clamp(ctx, s[0], 0.0f, 1.0f))
SAMPLE(leaky_relu, ggml_leaky_relu(ctx, s[0], 0.1f, false))
SAMPLE(norm, ggml_norm(ctx, s[0], 1e-5f))
SAMPLE(rms_norm, ggml_rms_norm(ctx, s[0], 1e-5f))
SAMPLE(rms_norm_back, ggml_rms_norm_back(ctx, s[0], s[1], 1e-5f))
SAMPLE(group_norm, ggml_group_norm(ctx, s[0], 2, 1e-5f))
SAMPLE(soft_max_mask, ggml_soft_max_ext(ctx, s[0], s[1], 0.5f, 8.0f))
SAMPLE(soft_max_back, ggml_soft_max_ext_back(ctx, s[0], s[1], 0.5f, 0.0f))
SAMPLE(rope, ggml_rope_ext(ctx, s[0], s[1], s[2], 8, 2, 0, 1e4f, 1.0f, 0.5f,
                           1.0f, 32.0f, 1.0f))
SAMPLE(rope_back, ggml_rope_ext_back(ctx, s[0], s[1], s[2], 6, 0, 0, 1e4f,
                                     1.0f, 0.0f, 1.0f, 32.0f, 1.0f))
SAMPLE(rope_multi, ggml_rope_multi(ctx, s[0], s[1], s[2], 8,
                                   (int[]){ 1, 1, 1, 1 },
                                   GGML_ROPE_TYPE_MROPE, 0, 1e4f, 1.0f, 0.0f,
                                   1.0f, 32.0f, 1.0f))
SAMPLE(rope_vision, ggml_rope_multi(ctx, s[0], s[1], s[2], 4,
                                    (int[]){ 2, 2, 0, 0 },
                                    GGML_ROPE_TYPE_VISION, 0, 1e4f, 1.0f, 0.0f,
                                    1.0f, 32.0f, 1.0f))
SAMPLE(get_rows_back, ggml_get_rows_back(ctx, s[0], s[1], s[2]))
SAMPLE(acc, ggml_acc(ctx, s[0], s[1], 32, 96, 192, 36))
SAMPLE(set, ggml_set(ctx, s[0], s[1], 32, 96, 192, 36))
SAMPLE(concat, ggml_concat(ctx, s[0], s[1], 1))
SAMPLE(concat_0, ggml_concat(ctx, s[0], s[1], 0))
SAMPLE(upscale, ggml_upscale(ctx, s[0], 2))
SAMPLE(pad, ggml_pad(ctx, s[0], 1, 2, 0, 1))
SAMPLE(pad_reflect_1d, ggml_pad_reflect_1d(ctx, s[0], 2, 3))
SAMPLE(diag_mask_inf, ggml_diag_mask_inf(ctx, s[0], 1))
SAMPLE(diag_mask_zero, ggml_diag_mask_zero(ctx, s[0], 1))
SAMPLE(argsort, ggml_argsort(ctx, s[0], GGML_SORT_ORDER_ASC))
SAMPLE(arange, ggml_arange(ctx, 0.0f, 9.0f, 1.0f))
SAMPLE(timestep_embedding, ggml_timestep_embedding(ctx, s[0], 7, 100))
SAMPLE(im2col, ggml_im2col(ctx, s[0], s[1], 2, 1, 1, 1, 1, 2, true,
                           GGML_TYPE_F16))
SAMPLE(im2col_flat, ggml_im2col(ctx, s[0], s[1], 1, 0, 1, 0, 1, 0, false,
                                GGML_TYPE_F32))
SAMPLE(im2col_back, ggml_im2col_back(ctx, s[0], s[1],
                                     (int64_t[]){ 7, 8, 2, 2 }, 2, 1, 1, 1, 1,
                                     2, true))
SAMPLE(conv_transpose_1d, ggml_conv_transpose_1d(ctx, s[0], s[1], 2, 0, 1))
SAMPLE(conv_transpose_2d, ggml_conv_transpose_2d_p0(ctx, s[0], s[1], 2))
SAMPLE(pool_1d, ggml_pool_1d(ctx, s[0], GGML_OP_POOL_AVG, 2, 2, 0))
SAMPLE(pool_2d, ggml_pool_2d(ctx, s[0], GGML_OP_POOL_MAX, 3, 2, 2, 1, 1, 0))
SAMPLE(pool_2d_back, ggml_pool_2d_back(ctx, s[0], s[1], GGML_OP_POOL_MAX, 2, 2,
                                       2, 2, 0, 0))
SAMPLE(win_part, ggml_win_part(ctx, s[0], 3))
SAMPLE(win_unpart, ggml_win_unpart(ctx, s[0], 5, 4, 3))
SAMPLE(get_rel_pos, ggml_get_rel_pos(ctx, s[0], 3, 3))
SAMPLE(add_rel_pos, ggml_add_rel_pos(ctx, s[0], s[1], s[2]))
SAMPLE(ssm_scan, ggml_ssm_scan(ctx, s[0], s[1], s[2], s[3], s[4], s[5]))
SAMPLE(rwkv_wkv6, ggml_rwkv_wkv6(ctx, s[0], s[1], s[2], s[3], s[4], s[5]))
SAMPLE(gated_linear_attn,
       ggml_gated_linear_attn(ctx, s[0], s[1], s[2], s[3], s[4], 0.5f))
SAMPLE(map_unary, ggml_map_unary_f32(ctx, s[0], map_rows))
SAMPLE(map_binary, ggml_map_binary_f32(ctx, s[0], s[1], map_two_rows))
SAMPLE(map_custom1_f32, ggml_map_custom1_f32(ctx, s[0], map_one))
SAMPLE(map_custom2_f32, ggml_map_custom2_f32(ctx, s[0], s[1], map_two))
SAMPLE(map_custom3_f32, ggml_map_custom3_f32(ctx, s[0], s[1], s[2], map_three))
SAMPLE(map_custom1, ggml_map_custom1(ctx, s[0], share_one, 2, NULL))
SAMPLE(map_custom2, ggml_map_custom2(ctx, s[0], s[1], share_two, 2, NULL))
SAMPLE(map_custom3, ggml_map_custom3(ctx, s[0], s[1], s[2], share_three, 2,
                                     NULL))
SAMPLE(cross_entropy_loss_back,
       ggml_cross_entropy_loss_back(ctx, s[0], s[1], s[2]))
SAMPLE(opt_step_adamw,
       (ggml_set_param(ctx, s[0]),
        ggml_opt_step_adamw(ctx, s[0], s[1], s[2], s[3], s[4])))
SAMPLE(mul_mat_id, ggml_mul_mat_id(ctx, s[0], s[1], s[2]))
SAMPLE(flash_attn, ggml_flash_attn_ext(ctx, s[0], s[1], s[2], s[3], 0.5f, 2.0f,
                                       3.0f))

#pragma GCC diagnostic pop

#undef UNARY_SAMPLE
#undef BINARY_SAMPLE
#undef SAMPLE

#define F32(...)  { GGML_TYPE_F32, { __VA_ARGS__ } }
#define F16(...)  { GGML_TYPE_F16, { __VA_ARGS__ } }
#define I32(...)  { GGML_TYPE_I32, { __VA_ARGS__ } }
#define Q4_0(...) { GGML_TYPE_Q4_0, { __VA_ARGS__ } }
#define Q8_0(...) { GGML_TYPE_Q8_0, { __VA_ARGS__ } }

static const struct sample samples[] = {
    { "dup", GGML_OP_DUP, { F32(7, 3, 2, 2) }, dup_sample },
    { "cont", GGML_OP_CONT, { Q8_0(64, 3, 2, 2) }, cont_sample },
    { "cpy", GGML_OP_CPY, { F32(64, 3, 2, 2), F16(64, 2, 3, 2) }, cpy_sample },
    { "cpy to blocks", GGML_OP_CPY,
      { F32(64, 3, 2, 2), Q8_0(64, 2, 3, 2) }, cpy_sample },
    { "cpy from blocks", GGML_OP_CPY,
      { Q4_0(64, 3, 2, 2), F32(64, 3, 2, 2) }, cpy_sample },
    { "add", GGML_OP_ADD, { F32(8, 3, 2, 2), F32(8, 1, 2, 1) }, add_sample },
    { "add of blocks", GGML_OP_ADD,
      { Q8_0(64, 3, 1, 2), F32(64, 3, 1, 2) }, add_sample },
    { "add1", GGML_OP_ADD1, { F32(8, 3, 2, 2), F32(1, 1, 1, 1) },
      add1_sample },
    { "sub", GGML_OP_SUB, { F16(8, 3, 2, 2), F32(4, 3, 2, 2) }, sub_sample },
    { "mul", GGML_OP_MUL, { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, mul_sample },
    { "div", GGML_OP_DIV, { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, div_sample },
    { "silu_back", GGML_OP_SILU_BACK,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, silu_back_sample },
    { "silu", GGML_OP_UNARY, { F32(8, 3, 2, 2) }, silu_sample },
    { "sqr", GGML_OP_SQR, { F32(8, 3, 2, 2) }, sqr_sample },
    { "sqrt", GGML_OP_SQRT, { F16(8, 3, 2, 2) }, sqrt_sample },
    { "log", GGML_OP_LOG, { F32(8, 3, 2, 2) }, log_sample },
    { "sin", GGML_OP_SIN, { F32(8, 3, 2, 2) }, sin_sample },
    { "cos", GGML_OP_COS, { F32(8, 3, 2, 2) }, cos_sample },
    { "scale", GGML_OP_SCALE, { F32(8, 3, 2, 2) }, scale_sample },
    { "clamp", GGML_OP_CLAMP, { F32(8, 3, 2, 2) }, clamp_sample },
    { "leaky_relu", GGML_OP_LEAKY_RELU, { F32(8, 3, 2, 2) },
      leaky_relu_sample },
    { "norm", GGML_OP_NORM, { F32(8, 3, 2, 2) }, norm_sample },
    { "rms_norm", GGML_OP_RMS_NORM, { F32(8, 3, 2, 2) }, rms_norm_sample },
    { "rms_norm_back", GGML_OP_RMS_NORM_BACK,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, rms_norm_back_sample },
    { "group_norm", GGML_OP_GROUP_NORM, { F32(8, 3, 4, 2) },
      group_norm_sample },
    { "soft_max", GGML_OP_SOFT_MAX, { F32(8, 3, 2, 2) }, soft_max_sample },
    { "soft_max with a mask", GGML_OP_SOFT_MAX,
      { F32(8, 3, 2, 2), F16(8, 5, 1, 1) }, soft_max_mask_sample },
    { "soft_max_back", GGML_OP_SOFT_MAX_BACK,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, soft_max_back_sample },
    { "rope", GGML_OP_ROPE,
      { F32(10, 3, 5, 2), I32(5, 1, 1, 1), F32(4, 1, 1, 1) }, rope_sample },
    { "rope of halves", GGML_OP_ROPE,
      { F16(10, 3, 5, 2), I32(5, 1, 1, 1), F32(4, 1, 1, 1) }, rope_sample },
    { "rope_back", GGML_OP_ROPE_BACK,
      { F32(8, 3, 5, 2), I32(5, 1, 1, 1), F32(4, 1, 1, 1) },
      rope_back_sample },
    { "rope_multi", GGML_OP_ROPE,
      { F32(10, 3, 5, 2), I32(20, 1, 1, 1), F32(4, 1, 1, 1) },
      rope_multi_sample },
    { "rope for vision", GGML_OP_ROPE,
      { F32(8, 3, 5, 2), I32(20, 1, 1, 1), F32(4, 1, 1, 1) },
      rope_vision_sample },
    { "get_rows", GGML_OP_GET_ROWS, { F32(8, 5, 3, 2), I32(4, 3, 2, 1) },
      get_rows_sample },
    { "get_rows of blocks", GGML_OP_GET_ROWS,
      { Q4_0(64, 5, 3, 2), I32(4, 3, 2, 1) }, get_rows_sample },
    { "get_rows_back", GGML_OP_GET_ROWS_BACK,
      { F32(8, 4, 1, 1), I32(4, 1, 1, 1), F32(8, 5, 1, 1) },
      get_rows_back_sample },
    { "acc", GGML_OP_ACC, { F32(8, 3, 2, 2), F32(5, 2, 2, 1) }, acc_sample },
    { "set", GGML_OP_SET, { F32(8, 3, 2, 2), F32(5, 2, 2, 1) }, set_sample },
    { "repeat", GGML_OP_REPEAT, { F32(4, 3, 1, 2), F32(8, 3, 2, 2) },
      repeat_sample },
    { "repeat of blocks", GGML_OP_REPEAT,
      { Q8_0(32, 3, 1, 2), F32(64, 3, 2, 2) }, repeat_sample },
    { "repeat_back", GGML_OP_REPEAT_BACK,
      { F32(8, 3, 2, 2), F32(4, 3, 1, 2) }, repeat_back_sample },
    { "concat", GGML_OP_CONCAT, { F32(8, 3, 2, 2), F32(8, 4, 2, 2) },
      concat_sample },
    { "concat of blocks", GGML_OP_CONCAT,
      { Q8_0(64, 3, 2, 2), Q8_0(32, 3, 2, 2) }, concat_0_sample },
    { "upscale", GGML_OP_UPSCALE, { F32(4, 3, 2, 2) }, upscale_sample },
    { "pad", GGML_OP_PAD, { F32(8, 3, 2, 2) }, pad_sample },
    { "pad_reflect_1d", GGML_OP_PAD_REFLECT_1D, { F32(8, 3, 2, 2) },
      pad_reflect_1d_sample },
    { "sum", GGML_OP_SUM, { F32(8, 3, 2, 2) }, sum_sample },
    { "sum_rows", GGML_OP_SUM_ROWS, { F32(8, 3, 2, 2) }, sum_rows_sample },
    { "mean", GGML_OP_MEAN, { F32(8, 3, 2, 2) }, mean_sample },
    { "argmax", GGML_OP_ARGMAX, { F32(8, 3, 1, 1) }, argmax_sample },
    { "count_equal", GGML_OP_COUNT_EQUAL,
      { I32(8, 3, 2, 2), I32(8, 3, 2, 2) }, count_equal_sample },
    { "diag", GGML_OP_DIAG, { F32(8, 1, 2, 2) }, diag_sample },
    { "diag_mask_inf", GGML_OP_DIAG_MASK_INF, { F32(8, 8, 2, 2) },
      diag_mask_inf_sample },
    { "diag_mask_zero", GGML_OP_DIAG_MASK_ZERO, { F32(8, 8, 2, 2) },
      diag_mask_zero_sample },
    { "argsort", GGML_OP_ARGSORT, { F32(9, 3, 2, 2) }, argsort_sample },
    { "arange", GGML_OP_ARANGE, { { GGML_TYPE_F32, { 0 } } }, arange_sample },
    { "timestep_embedding", GGML_OP_TIMESTEP_EMBEDDING, { F32(7, 1, 1, 1) },
      timestep_embedding_sample },
    { "im2col", GGML_OP_IM2COL, { F16(3, 2, 2, 3), F32(7, 8, 2, 2) },
      im2col_sample },
    { "im2col of rows", GGML_OP_IM2COL, { F32(3, 2, 4, 1), F32(9, 2, 2, 1) },
      im2col_flat_sample },
    { "im2col_back", GGML_OP_IM2COL_BACK,
      { F32(12, 4, 8, 2), F32(3, 2, 2, 3) }, im2col_back_sample },
    { "conv_transpose_1d", GGML_OP_CONV_TRANSPOSE_1D,
      { F16(3, 4, 2, 1), F32(7, 2, 1, 1) }, conv_transpose_1d_sample },
    { "conv_transpose_2d", GGML_OP_CONV_TRANSPOSE_2D,
      { F16(3, 2, 4, 2), F32(5, 6, 2, 2) }, conv_transpose_2d_sample },
    { "pool_1d", GGML_OP_POOL_1D, { F32(8, 3, 1, 1) }, pool_1d_sample },
    { "pool_2d", GGML_OP_POOL_2D, { F32(8, 6, 2, 2) }, pool_2d_sample },
    { "pool_2d_back", GGML_OP_POOL_2D_BACK,
      { F32(4, 3, 2, 2), F32(8, 6, 2, 2) }, pool_2d_back_sample },
    { "win_part", GGML_OP_WIN_PART, { F32(4, 5, 4, 1) }, win_part_sample },
    { "win_unpart", GGML_OP_WIN_UNPART, { F32(4, 3, 3, 4) },
      win_unpart_sample },
    { "get_rel_pos", GGML_OP_GET_REL_POS, { F16(4, 5, 1, 1) },
      get_rel_pos_sample },
    { "add_rel_pos", GGML_OP_ADD_REL_POS,
      { F32(9, 4, 2, 1), F32(3, 2, 2, 2), F32(3, 2, 2, 2) },
      add_rel_pos_sample },
    { "ssm_conv", GGML_OP_SSM_CONV, { F32(8, 6, 2, 1), F32(4, 6, 1, 1) },
      ssm_conv_sample },
    { "ssm_scan", GGML_OP_SSM_SCAN,
      { F32(4, 6, 2, 1), F32(6, 5, 2, 1), F32(6, 5, 2, 1), F32(4, 6, 1, 1),
        F32(4, 5, 2, 1), F32(4, 5, 2, 1) },
      ssm_scan_sample },
    { "rwkv_wkv6", GGML_OP_RWKV_WKV6,
      { F32(4, 3, 6, 1), F32(4, 3, 6, 1), F32(4, 3, 6, 1), F32(4, 3, 1, 1),
        F32(4, 3, 6, 1), F32(48, 2, 1, 1) },
      rwkv_wkv6_sample },
    { "gated_linear_attn", GGML_OP_GATED_LINEAR_ATTN,
      { F32(4, 3, 6, 1), F32(4, 3, 6, 1), F32(4, 3, 6, 1), F32(4, 3, 6, 1),
        F32(48, 2, 1, 1) },
      gated_linear_attn_sample },
    { "map_unary", GGML_OP_MAP_UNARY, { F32(8, 3, 2, 2) }, map_unary_sample },
    { "map_binary", GGML_OP_MAP_BINARY,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, map_binary_sample },
    { "map_custom1_f32", GGML_OP_MAP_CUSTOM1_F32, { F32(8, 3, 2, 2) },
      map_custom1_f32_sample },
    { "map_custom2_f32", GGML_OP_MAP_CUSTOM2_F32,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, map_custom2_f32_sample },
    { "map_custom3_f32", GGML_OP_MAP_CUSTOM3_F32,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2), F32(8, 3, 2, 2) },
      map_custom3_f32_sample },
    { "map_custom1", GGML_OP_MAP_CUSTOM1, { F32(8, 3, 2, 2) },
      map_custom1_sample },
    { "map_custom2", GGML_OP_MAP_CUSTOM2,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, map_custom2_sample },
    { "map_custom3", GGML_OP_MAP_CUSTOM3,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2), F32(8, 3, 2, 2) },
      map_custom3_sample },
    { "cross_entropy_loss", GGML_OP_CROSS_ENTROPY_LOSS,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2) }, cross_entropy_loss_sample },
    { "cross_entropy_loss_back", GGML_OP_CROSS_ENTROPY_LOSS_BACK,
      { F32(1, 1, 1, 1), F32(8, 3, 2, 2), F32(8, 3, 2, 2) },
      cross_entropy_loss_back_sample },
    { "opt_step_adamw", GGML_OP_OPT_STEP_ADAMW,
      { F32(8, 3, 2, 2), F32(8, 3, 2, 2), F32(8, 3, 2, 2), F32(8, 3, 2, 2),
        F32(7, 1, 1, 1) },
      opt_step_adamw_sample },
    { "mul_mat", GGML_OP_MUL_MAT, { F32(32, 5, 2, 1), F32(32, 3, 4, 2) },
      mul_mat_sample },
    { "mul_mat of halves", GGML_OP_MUL_MAT,
      { F16(40, 150, 1, 1), F32(40, 33, 2, 1) }, mul_mat_sample },
    { "mul_mat of blocks", GGML_OP_MUL_MAT,
      { Q4_0(64, 5, 2, 1), F32(64, 3, 4, 2) }, mul_mat_sample },
    { "mul_mat of many blocks", GGML_OP_MUL_MAT,
      { Q8_0(64, 40, 1, 1), F32(64, 70, 1, 1) }, mul_mat_sample },
    { "mul_mat_id", GGML_OP_MUL_MAT_ID,
      { F32(32, 5, 4, 1), F32(32, 1, 3, 1), I32(2, 3, 1, 1) },
      mul_mat_id_sample },
    { "mul_mat_id of blocks", GGML_OP_MUL_MAT_ID,
      { Q4_0(64, 5, 4, 1), F32(64, 2, 3, 1), I32(2, 3, 1, 1) },
      mul_mat_id_sample },
    { "out_prod", GGML_OP_OUT_PROD, { F32(6, 5, 2, 1), F32(3, 5, 4, 2) },
      out_prod_sample },
    { "out_prod of blocks", GGML_OP_OUT_PROD,
      { Q4_0(64, 5, 2, 1), F32(3, 5, 4, 2) }, out_prod_sample },
    { "flash_attn", GGML_OP_FLASH_ATTN_EXT,
      { F32(32, 3, 4, 2), F16(32, 9, 2, 2), F16(32, 9, 2, 2),
        F16(9, 64, 1, 1) },
      flash_attn_sample },
    { "flash_attn of many", GGML_OP_FLASH_ATTN_EXT,
      { F32(32, 40, 4, 1), Q8_0(32, 80, 2, 1), Q8_0(32, 80, 2, 1),
        F16(80, 64, 1, 1) },
      flash_attn_sample },
};

#undef F32
#undef F16
#undef I32
#undef Q4_0
#undef Q8_0

#define N_SAMPLES (sizeof(samples) / sizeof(samples[0]))

static inline int
n_sources(const struct sample *sample)
{
    int n = 0;

    while (n < GGML_MAX_SRC && sample->sources[n].ne[3] != 0)
        n++;
    return n;
}

/* ---- memory ---- */

/* A tensor's bytes and no more: where they end, or begin, a page follows that
 * is not there.  The other end has one as well, less than a page away. */
struct room {
    char *map;
    size_t mapped;
};

struct rooms {
    struct room room[GGML_MAX_SRC + 1];
    int n;
};

/* SIZE bytes at a multiple of ALIGN, as near to the page behind them as that
 * allows. */
static inline void *
rooms_add(struct rooms *rooms, size_t size, size_t align)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (size + page - 1) / page * page;
    struct room *room = &rooms->room[rooms->n];

    assert_true(rooms->n <= GGML_MAX_SRC);
    room->mapped = whole + 2 * page;
    room->map = mmap(NULL, room->mapped, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(room->map != MAP_FAILED);
    if (whole > 0)
        assert_int_equal(mprotect(room->map + page, whole,
                                  PROT_READ | PROT_WRITE), 0);
    rooms->n++;
    return room->map + page + (whole - size) / align * align;
}

static inline void
rooms_free(struct rooms *rooms)
{
    for (int i = 0; i < rooms->n; i++)
        munmap(rooms->room[i].map, rooms->room[i].mapped);
    rooms->n = 0;
}

/* Values that every operation can work on: numbers about 1, indices 0 to 2,
 * scales about 1. */
static inline void
fill_tensor(struct ggml_tensor *t, struct gb_random *r)
{
    const size_t bytes = ggml_nbytes(t);

    switch ((int)t->type) {
    case GGML_TYPE_F32:
        for (size_t i = 0; i < bytes / sizeof(float); i++)
            ((float *)t->data)[i] = gb_random_float(r, 0.5f, 1.5f);
        break;
    case GGML_TYPE_F16:
        for (size_t i = 0; i < bytes / sizeof(ggml_fp16_t); i++)
            ((ggml_fp16_t *)t->data)[i] =
                ggml_fp32_to_fp16(gb_random_float(r, 0.5f, 1.5f));
        break;
    case GGML_TYPE_I32:
        for (size_t i = 0; i < bytes / sizeof(int32_t); i++)
            ((int32_t *)t->data)[i] = (int32_t)i % 3;
        break;
    default: /* blocks: a half, 0.0035, in the beginning, then anything */
        memset(t->data, 0x1B, bytes);
        break;
    }
}

#endif
