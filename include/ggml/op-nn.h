/* SPDX-License-Identifier: MIT */
/*
 * ggml/op-nn.h - part of ggml.h: what neural networks are made of: products,
 * norms, soft maxima, rotary embeddings, convolutions, attention, recurrences,
 * losses.
 *
 * What holds for all builders stands at the top of ggml/op.h.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_OP_NN_H
#define GGML_OP_NN_H

#ifdef __cplusplus
extern "C" {
#endif

/* -- Norms --------------------------------------------------------------- */

/*
 * Each row less its mean, over the root of its variance plus EPS.  EPS >= 0.
 *
 * Parameter 0: EPS.
 * Source: "Layer Normalization" (arXiv 1607.06450), without gain and bias.
 */
GGML_API struct ggml_tensor *ggml_norm(
    struct ggml_context *ctx, struct ggml_tensor *a, float eps);
GGML_API struct ggml_tensor *ggml_norm_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, float eps);

/*
 * Each row over the root of the mean of its squares plus EPS.  EPS >= 0.
 *
 * Parameter 0: EPS.
 * Source: "Root Mean Square Layer Normalization" (arXiv 1910.07467), without
 * gain.
 */
GGML_API struct ggml_tensor *ggml_rms_norm(
    struct ggml_context *ctx, struct ggml_tensor *a, float eps);
GGML_API struct ggml_tensor *ggml_rms_norm_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, float eps);

/*
 * The gradient of ggml_rms_norm.
 *
 *   a  the gradient of the result
 *   b  the operand x, of a's shape
 *
 * With n = n0 and S = sum(b^2), over each row:
 *     dst = (a - b * sum(a * b) / (S + n * eps)) / sqrt(S / n + eps)
 */
GGML_API struct ggml_tensor *ggml_rms_norm_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    float eps);

/*
 * As ggml_norm, but over groups of planes: dimension 2 is cut into N_GROUPS > 0
 * groups of ceil(n2 / N_GROUPS), the last one shorter.  EPS >= 0.
 *
 * Parameters: N_GROUPS, EPS.
 * Source: "Group Normalization" (arXiv 1803.08494), without gain and bias.
 */
GGML_API struct ggml_tensor *ggml_group_norm(
    struct ggml_context *ctx, struct ggml_tensor *a, int n_groups, float eps);
GGML_API struct ggml_tensor *ggml_group_norm_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, int n_groups, float eps);

/* -- Products ------------------------------------------------------------ */

/*
 * The product of each row of a with each row of b.
 *
 *   a    [k, m, a2, a3], not transposed: nb[0] <= nb[1]
 *   b    [k, n, b2, b3], b2 a multiple of a2 and b3 of a3
 *   dst  F32 [m, n, b2, b3]
 *
 *     dst[i, j, p, q] = sum over k of a[k, i, p / r2, q / r3] * b[k, j, p, q]
 *
 * with r2 = b2 / a2, r3 = b3 / a3, quotients rounded down.  With an a of
 * another type than F32, backends may convert b to what that type is multiplied
 * with.
 */
GGML_API struct ggml_tensor *ggml_mul_mat(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * Ask for sums in F32 (GGML_PREC_F32) where a backend would take fewer bits.
 * For nodes of ggml_mul_mat only: another one is not changed, which is logged
 * unless it has failed.
 *
 * Parameter 0: PREC.
 */
GGML_API void ggml_mul_mat_set_prec(
    struct ggml_tensor *a, enum ggml_prec prec);

/*
 * The product with some of several matrices, for mixtures of experts.
 *
 *   as   [k, m, experts], not transposed
 *   b    [k, u, tokens], u a divisor of ids' first size
 *   ids  I32 [e, tokens], the experts of each token; numbers beyond fail at
 *        compute
 *   dst  F32 [m, e, tokens]
 *
 *     dst[:, x, t] = as[:, :, ids[x, t]] times b[:, x mod u, t]
 */
GGML_API struct ggml_tensor *ggml_mul_mat_id(
    struct ggml_context *ctx, struct ggml_tensor *as, struct ggml_tensor *b,
    struct ggml_tensor *ids);

/*
 * The sum of outer products of rows.
 *
 *   a    [m, k, a2, a3], not transposed
 *   b    [n, k, b2, b3], b2 a multiple of a2 and b3 of a3
 *   dst  F32 [m, n, b2, b3]
 *
 *     dst[i, j, p, q] = sum over k of a[i, k, p / r2, q / r3] * b[j, k, p, q]
 */
GGML_API struct ggml_tensor *ggml_out_prod(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/* -- Soft maxima and masks ----------------------------------------------- */

/*
 * a, but -infinity or 0 where a token would see a later one: in columns above
 * N_PAST + i1 of row i1.
 *
 *   n_past  tokens before the first row, not negative
 *
 * Parameter 0: N_PAST.
 */
GGML_API struct ggml_tensor *ggml_diag_mask_inf(
    struct ggml_context *ctx, struct ggml_tensor *a, int n_past);
GGML_API struct ggml_tensor *ggml_diag_mask_inf_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, int n_past);
GGML_API struct ggml_tensor *ggml_diag_mask_zero(
    struct ggml_context *ctx, struct ggml_tensor *a, int n_past);
GGML_API struct ggml_tensor *ggml_diag_mask_zero_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, int n_past);

/*
 * Softmax over each row, after scaling and adding a mask.
 *
 *   a         F32 [n, rows, heads, batch], contiguous
 *   mask      F32 or F16 [n, rows' >= rows], contiguous, or NULL for none; the
 *             same for all heads
 *   scale     factor on a, before the mask; without _ext 1
 *   max_bias  largest slope of the linear position bias; 0 for none, which
 *             without a mask it has to be
 *
 * With s = scale * a + slope(head) * mask, over each row:
 *     dst = exp(s - max s) / sum(exp(s - max s))
 * A row whose s are all -infinity gives zeros.  slope is 1 for max_bias 0, else
 * with L the largest power of two up to the number of heads:
 *     slope(h) = 2^(-max_bias * (h + 1) / L)                 for h < L
 *     slope(h) = 2^(-max_bias * (2 * (h - L) + 1) / (2 * L)) for h >= L
 *
 * Parameters: SCALE, MAX_BIAS.
 * Source: slope: "Train Short, Test Long" (arXiv 2108.12409), section 3.
 */
GGML_API struct ggml_tensor *ggml_soft_max(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_soft_max_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a);
GGML_API struct ggml_tensor *ggml_soft_max_ext(
    struct ggml_context *ctx, struct ggml_tensor *a,
    struct ggml_tensor *mask, float scale, float max_bias);

/*
 * The gradient of ggml_soft_max_ext: scale * b * (a - sum(a * b)), row by row.
 *
 *   a  the gradient of the result
 *   b  the result, of a's shape
 *
 * Parameters: SCALE, MAX_BIAS, which no backend computes unless it is 0.
 */
GGML_API struct ggml_tensor *ggml_soft_max_ext_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    float scale, float max_bias);
GGML_API struct ggml_tensor *ggml_soft_max_ext_back_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    float scale, float max_bias);

/* -- Rotary position embeddings ------------------------------------------ */

/*
 * Rotate pairs of each row by angles that grow with the token's position.
 *
 *   a         [n0, heads, tokens, batch]
 *   b         I32 [tokens], the positions
 *   c         F32, a divisor of each pair's angle, at least n_dims / 2, or NULL
 *   n_dims    elements that are rotated, even, at most n0; the rest is copied
 *   mode      0: pairs of neighbours 2j and 2j + 1;
 *             GGML_ROPE_TYPE_NEOX: pairs of j and j + n_dims / 2
 *
 * and for the angles, of which only the base, the scale and attn_factor count
 * with ext_factor 0:
 *   n_ctx_orig   tokens that the model was trained with
 *   freq_base    w = freq_base^(-2 / n_dims); the angle of pair j is p * w^j
 *   freq_scale   factor on all angles, 1 / the stretch of the context
 *   ext_factor   how much of the way pairs of high frequency keep their angle
 *   attn_factor  factor on the result
 *   beta_fast, beta_slow
 *                turns within n_ctx_orig tokens from which on, and below which,
 *                a pair is of high and of low frequency
 *
 * With e = p * w^j / c[j], mix = ext_factor * ramp(j) and ramp falling from 1
 * to 0 between the two numbers of ggml_rope_yarn_corr_dims:
 *     angle = freq_scale * e * (1 - mix) + e * mix
 *     (x, y) -> m * (x cos - y sin, x sin + y cos)
 * where m = attn_factor, with EXT_FACTOR times (1 + ln(1 / freq_scale) / 10).
 *
 * ggml_rope has n_ctx_orig 0, freq_base 10000, freq_scale and attn_factor 1,
 * the others 0; ggml_rope_custom is ggml_rope_ext without c.
 *
 * Parameters: 0, n_dims, mode, 0, n_ctx_orig, the six floats in their order,
 * the four sections.
 * Source: "RoFormer" (arXiv 2104.09864), section 3.2, and
 * "YaRN" (arXiv 2309.00071), section 3.
 */
GGML_API struct ggml_tensor *ggml_rope(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int n_dims, int mode);
GGML_API struct ggml_tensor *ggml_rope_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int n_dims, int mode);
GGML_API struct ggml_tensor *ggml_rope_ext(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, int n_dims, int mode, int n_ctx_orig,
    float freq_base, float freq_scale, float ext_factor, float attn_factor,
    float beta_fast, float beta_slow);
GGML_API struct ggml_tensor *ggml_rope_ext_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, int n_dims, int mode, int n_ctx_orig,
    float freq_base, float freq_scale, float ext_factor, float attn_factor,
    float beta_fast, float beta_slow);
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_rope_custom(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int n_dims, int mode, int n_ctx_orig, float freq_base, float freq_scale,
    float ext_factor, float attn_factor, float beta_fast, float beta_slow),
    "replaced by ggml_rope_ext");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_rope_custom_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int n_dims, int mode, int n_ctx_orig, float freq_base, float freq_scale,
    float ext_factor, float attn_factor, float beta_fast, float beta_slow),
    "replaced by ggml_rope_ext_inplace");

/*
 * As ggml_rope_ext, with four positions for each token: of time, height, width,
 * and one more.
 *
 *   b         I32 [4 * tokens], all of one kind before those of the next
 *   sections  pairs that turn by each of the four; sums over the four go round.
 *             None is negative, they sum up to at most n0, and one of the first
 *             three is above 0
 *   mode      GGML_ROPE_TYPE_MROPE: pairs as in NEOX, each turned by its
 *             section's position;
 *             GGML_ROPE_TYPE_VISION: n_dims is n0 / 2, pairs of j and j +
 *             n_dims, the exponent of w begins again in each section, c has
 *             n_dims; other modes take the first position, and no sections
 *
 * Source: "Qwen2-VL" (arXiv 2409.12191), section 2.1.
 */
GGML_API struct ggml_tensor *ggml_rope_multi(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, int n_dims, int sections[4], int mode,
    int n_ctx_orig, float freq_base, float freq_scale, float ext_factor,
    float attn_factor, float beta_fast, float beta_slow);

/* The gradients of ggml_rope_ext and ggml_rope_multi: a, here the gradient of
 * the result, is rotated back. */
GGML_API struct ggml_tensor *ggml_rope_ext_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, int n_dims, int mode, int n_ctx_orig,
    float freq_base, float freq_scale, float ext_factor, float attn_factor,
    float beta_fast, float beta_slow);
GGML_API struct ggml_tensor *ggml_rope_multi_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, int n_dims, int sections[4], int mode,
    int n_ctx_orig, float freq_base, float freq_scale, float ext_factor,
    float attn_factor, float beta_fast, float beta_slow);

/*
 * The numbers of the first and the last pair that YaRN blends.  For a model
 * trained with N tokens and n turns:
 *     pair(n) = n_dims * ln(N / (2 * pi * n)) / (2 * ln freq_base)
 *     dims[0] = max(0, floor(pair(beta_fast)))
 *     dims[1] = min(n_dims - 1, ceil(pair(beta_slow)))
 * Any thread.
 */
GGML_API void ggml_rope_yarn_corr_dims(
    int n_dims, int n_ctx_orig, float freq_base, float beta_fast,
    float beta_slow, float dims[2]);

/* -- Convolutions -------------------------------------------------------- */

/*
 * What a kernel sees while it walks over an image, a column for each place.
 *
 *   a           the kernel, for its shape: [KW, KH, IC, OC], in 1D [KW, IC, OC]
 *   b           the image: [IW, IH, IC, N], in 1D [IW, IC, N]
 *   s, p, d     stride > 0, zeros on both sides, distance > 0 of the kernel's
 *               elements; s1, p1 and d1 are not used in 1D
 *   dst         dst_type [IC * KH * KW, OW, OH, N], in 1D [IC * KW, OW, N]
 *
 *     dst[(c * KH + kh) * KW + kw, ow, oh, n] =
 *         b[ow * s0 + kw * d0 - p0, oh * s1 + kh * d1 - p1, c, n]
 *
 * and 0 outside of the image.  OW and OH are above 0, with OH alike
 *     OW = floor((IW + 2 * p0 - d0 * (KW - 1) - 1) / s0) + 1
 * Parameters: s0, s1, p0, p1, d0, d1, is_2D.
 */
GGML_API struct ggml_tensor *ggml_im2col(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s0, int s1, int p0, int p1, int d0, int d1, bool is_2D,
    enum ggml_type dst_type);

/*
 * The gradient of ggml_im2col.
 *
 *   a    the gradient of the result, of the shape that b and ne give
 *   b    the kernel, for its shape
 *   ne   the shape of the image
 *   dst  F32, the shape ne: each element the sum of all places that read it
 */
GGML_API struct ggml_tensor *ggml_im2col_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int64_t *ne, int s0, int s1, int p0, int p1, int d0, int d1, bool is_2D);

/*
 * Convolution of one dimension, as im2col in F16 and a product.
 *
 *   a    [K, IC, OC]
 *   b    [L, IC, N]
 *   dst  F32 [OL, OC, N], OL as OW for ggml_im2col; with N > 1 the elements lie
 *        as for [OL, N, OC]
 *
 * _ph pads with half the kernel.
 */
GGML_API struct ggml_tensor *ggml_conv_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s0, int p0, int d0);
GGML_API struct ggml_tensor *ggml_conv_1d_ph(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s, int d);

/*
 * As ggml_conv_1d, but each channel by itself.
 *
 *   a    [K, 1, C]
 *   b    [L, C, 1]
 *   dst  F32 [L, C]: stride and padding have to keep the length
 */
GGML_API struct ggml_tensor *ggml_conv_1d_dw(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s0, int p0, int d0);
GGML_API struct ggml_tensor *ggml_conv_1d_dw_ph(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s0, int d0);

/*
 * Convolution of two dimensions, as im2col in a's type and a product.
 *
 *   a    [KW, KH, IC, OC]
 *   b    [IW, IH, IC, N]
 *   dst  F32 [OW, OH, OC, N], OW and OH as for ggml_im2col
 *
 * _sk_p0 has strides as large as the kernel and no padding, _s1_ph strides of 1
 * and half the kernel as padding.
 */
GGML_API struct ggml_tensor *ggml_conv_2d(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s0, int s1, int p0, int p1, int d0, int d1);
GGML_API struct ggml_tensor *ggml_conv_2d_sk_p0(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);
GGML_API struct ggml_tensor *ggml_conv_2d_s1_ph(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * As ggml_conv_2d, but each channel by itself, with im2col in F16.
 *
 *   a    [KW, KH, 1, C]
 *   b    [IW, IH, C, N]
 *   dst  F32 [OW, OH, C, N], OW and OH as for ggml_im2col
 */
GGML_API struct ggml_tensor *ggml_conv_2d_dw(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s0, int s1, int p0, int p1, int d0, int d1);

/*
 * Each element of b spread by the kernel.
 *
 *   a    [K, OC, IC]
 *   b    [L, IC]
 *   s0   stride, above 0; p0 is 0, d0 is 1
 *   dst  F32 [(L - 1) * s0 + K, OC]
 *
 *     dst[l * s0 + k, o] = sum of all a[k, o, c] * b[l, c]
 *
 * Parameters: s0, p0, d0.
 */
GGML_API struct ggml_tensor *ggml_conv_transpose_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int s0, int p0, int d0);

/*
 * As ggml_conv_transpose_1d, in two dimensions and without padding.
 *
 *   a    [KW, KH, OC, IC]
 *   b    [IW, IH, IC, N]
 *   dst  F32 [(IW - 1) * stride + KW, (IH - 1) * stride + KH, OC, N]
 *
 * Parameter 0: STRIDE.
 */
GGML_API struct ggml_tensor *ggml_conv_transpose_2d_p0(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    int stride);

/* -- Pooling ------------------------------------------------------------- */

enum ggml_op_pool {
    GGML_OP_POOL_MAX   = 0,
    GGML_OP_POOL_AVG   = 1,
    GGML_OP_POOL_COUNT = 2
};

/*
 * The largest element or the mean in a window of K0 elements (in 2D K0 x K1).
 *
 *   s    strides, above 0
 *   p    padding on both sides, not negative; in 2D half an element makes the
 *        whole one longer, and windows begin at whole ones
 *   dst  F32, the first sizes floor((n + 2p - k) / s + 1)
 *
 * Elements outside do not count, but the mean is always over the whole window.
 * Parameters: OP, k0, s0, p0; in 2D OP, k0, k1, s0, s1, p0, p1, p cut to int.
 */
GGML_API struct ggml_tensor *ggml_pool_1d(
    struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_op_pool op,
    int k0, int s0, int p0);
GGML_API struct ggml_tensor *ggml_pool_2d(
    struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_op_pool op,
    int k0, int k1, int s0, int s1, float p0, float p1);

/*
 * The gradient of ggml_pool_2d.
 *
 *   a    the gradient of the result, of its shape
 *   af   the operand
 *   dst  F32, the shape of af: a goes to the first of the largest elements of
 *        the window, or in equal parts to all
 */
GGML_API struct ggml_tensor *ggml_pool_2d_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *af,
    enum ggml_op_pool op, int k0, int k1, int s0, int s1, float p0, float p1);

/* -- Attention ----------------------------------------------------------- */

/*
 * Attention of each token to M keys, without a matrix of weights in memory.
 *
 *   q     F32 [d, N, H, B]
 *   k     [d, M, Hk, Bk], H a multiple of Hk, B of Bk
 *   v     [d, Mv, Hv, Bv], H a multiple of Hv, B of Bv; not transposed
 *   mask  F16 [Mm, Nm], contiguous, the same for all heads and batches, Nm at
 *         least N rounded up to GGML_KQ_MASK_PAD; or NULL for none, when
 *         max_bias is 0
 *   scale, max_bias
 *         as in ggml_soft_max_ext
 *   logit_softcap
 *         bound of the weights before the mask, 0 for none
 *   dst   F32 [d, H, N, B]: heads and tokens exchanged
 *
 *     s[j] = scale * q.k[j], with a bound c: c * tanh(scale / c * q.k[j])
 *     dst = sum over j of softmax(s + slope(h) * mask)[j] * v[j]
 *
 * Head h of q reads head h / (H / Hk) of k and h / (H / Hv) of v; batches
 * likewise.  Mv and Mm are M or more: what v and mask have beyond M is not
 * looked at.  A token that the mask lets see nothing gets zeros.
 * Parameters: SCALE, MAX_BIAS, LOGIT_SOFTCAP, the precision.
 * Source: "FlashAttention" (arXiv 2205.14135), algorithm 1; the bound:
 * "Gemma 2" (arXiv 2408.00118), section 2.
 */
GGML_API struct ggml_tensor *ggml_flash_attn_ext(
    struct ggml_context *ctx, struct ggml_tensor *q, struct ggml_tensor *k,
    struct ggml_tensor *v, struct ggml_tensor *mask, float scale,
    float max_bias, float logit_softcap);

/*
 * As ggml_mul_mat_set_prec, for nodes of ggml_flash_attn_ext, and what was
 * asked; GGML_PREC_DEFAULT for other nodes.
 */
GGML_API void ggml_flash_attn_ext_set_prec(
    struct ggml_tensor *a, enum ggml_prec prec);
GGML_API enum ggml_prec ggml_flash_attn_ext_get_prec(
    const struct ggml_tensor *a);

/* Always a failed node: ggml_flash_attn_ext has no gradient at this level. */
GGML_API struct ggml_tensor *ggml_flash_attn_back(
    struct ggml_context *ctx, struct ggml_tensor *q, struct ggml_tensor *k,
    struct ggml_tensor *v, struct ggml_tensor *d, bool masked);

/* -- Windows and relative positions -------------------------------------- */

/*
 * An image cut into windows of W x W, row by row, filled up with zeros.
 *
 *   a    F32 [c, n1, n2]
 *   dst  F32 [c, w, w, px * py], px = ceil(n1 / w), py = ceil(n2 / w)
 *
 * Parameters: px, py, w.
 * Source: "Exploring Plain Vision Transformer Backbones for Object Detection"
 * (arXiv 2203.16527), section 3.
 */
GGML_API struct ggml_tensor *ggml_win_part(
    struct ggml_context *ctx, struct ggml_tensor *a, int w);

/*
 * The reverse of ggml_win_part: windows put together to an image of W0 x H0.
 *
 *   a    F32 [c, w, w, m], with all windows that are needed
 *   dst  F32 [c, w0, h0]
 *
 * Parameter 0: w.
 */
GGML_API struct ggml_tensor *ggml_win_unpart(
    struct ggml_context *ctx, struct ggml_tensor *a, int w0, int h0, int w);

/*
 * Rows of a by distance: dst[:, x, y] = a[:, kh - 1 - x + y].
 *
 *   a    F16 [c, 2 * kh - 1]
 *   qh   equal to kh, above 0
 *   dst  F16 [c, kh, qh]
 */
GGML_API struct ggml_tensor *ggml_get_rel_pos(
    struct ggml_context *ctx, struct ggml_tensor *a, int qh, int kh);

/*
 * Weights plus a bias for the distance in each direction of the image.
 *
 *   a       [e * e, u * v, b], contiguous
 *   pw, ph  F32 [e, u, v, b], contiguous
 *
 * In the row of the same (u, v, b), element x + e * y gets pw[x] + ph[y].
 * Parameter 0: 1 for in place.
 */
GGML_API struct ggml_tensor *ggml_add_rel_pos(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *pw,
    struct ggml_tensor *ph);
GGML_API struct ggml_tensor *ggml_add_rel_pos_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *pw,
    struct ggml_tensor *ph);

/* -- Embeddings of time steps -------------------------------------------- */

/*
 * Sines and cosines of time steps: with h = dim / 2 and
 * phi = timesteps[j] * max_period^(-i / h), dst[i, j] = cos phi and
 * dst[h + i, j] = sin phi for i < h; the rest is 0.
 *
 *   timesteps   F32 [n]
 *   dim         not negative
 *   max_period  above 0
 *   dst         F32 [dim rounded up to even, n]
 *
 * Parameters: DIM, MAX_PERIOD.
 * Source: "Attention Is All You Need" (arXiv 1706.03762), section 3.5, with the
 * cosines in front.
 */
GGML_API struct ggml_tensor *ggml_timestep_embedding(
    struct ggml_context *ctx, struct ggml_tensor *timesteps, int dim,
    int max_period);

/* -- Recurrences --------------------------------------------------------- */

/*
 * A short convolution along time, for each channel by itself.
 *
 *   sx   F32 [K - 1 + tokens, channels, sequences], rows and columns dense
 *   c    F32 [K, channels], contiguous
 *   dst  F32 [channels, tokens, sequences]
 *
 *     dst[r, t, s] = sum over x < K of sx[t + x, r, s] * c[x, r]
 *
 * Source: "Mamba" (arXiv 2312.00752), section 3.4.
 */
GGML_API struct ggml_tensor *ggml_ssm_conv(
    struct ggml_context *ctx, struct ggml_tensor *sx, struct ggml_tensor *c);

/*
 * A selective state space, over the tokens of each sequence.
 *
 *   s     F32 [N, channels, sequences], the states before
 *   x, dt F32 [channels, tokens, sequences]
 *   A     F32 [N, channels]
 *   B, C  F32 [N, tokens, sequences], dense rows
 *   dst   F32, one after another: y of x's shape, the states behind of s's
 *         shape
 *
 * s, x, dt and A are contiguous.  With D = ln(1 + e^dt), token by token:
 *     state = state * e^(D * A) + B * x * D
 *     y = sum over N of state * C
 *
 * Source: "Mamba" (arXiv 2312.00752), section 3.2.
 */
GGML_API struct ggml_tensor *ggml_ssm_scan(
    struct ggml_context *ctx, struct ggml_tensor *s, struct ggml_tensor *x,
    struct ggml_tensor *dt, struct ggml_tensor *A, struct ggml_tensor *B,
    struct ggml_tensor *C);

/*
 * Attention with a decaying matrix for state, for each head.
 *
 *   k, v, r, td  F32 [Z, heads, tokens], contiguous
 *   tf           F32 [Z, heads], contiguous
 *   state        F32, Z * Z * heads for each of n1 sequences, contiguous; the
 *                tokens fall to them in equal shares
 *   dst          F32 [Z * heads, tokens + Z * sequences]: a row for a token,
 *                then the states behind
 *
 * Token by token:
 *     out[j] = sum over i of r[i] * (tf[i] * k[i] * v[j] + state[i, j])
 *     state[i, j] = td[i] * state[i, j] + k[i] * v[j]
 *
 * Source: "Eagle and Finch" (arXiv 2404.05892).
 */
GGML_API struct ggml_tensor *ggml_rwkv_wkv6(
    struct ggml_context *ctx, struct ggml_tensor *k, struct ggml_tensor *v,
    struct ggml_tensor *r, struct ggml_tensor *tf, struct ggml_tensor *td,
    struct ggml_tensor *state);

/*
 * As ggml_rwkv_wkv6, with a gate g instead of td and tf, and the output after
 * the state:
 *     state[i, j] = g[i] * state[i, j] + k[i] * v[j]
 *     out[j] = scale * sum over i of q[i] * state[i, j]
 *
 *   k, v, q, g  F32 [Z, heads, tokens], contiguous
 *
 * Parameter 0: SCALE.
 * Source: "Gated Linear Attention Transformers" (arXiv 2312.06635), section 4.
 */
GGML_API struct ggml_tensor *ggml_gated_linear_attn(
    struct ggml_context *ctx, struct ggml_tensor *k, struct ggml_tensor *v,
    struct ggml_tensor *q, struct ggml_tensor *g, struct ggml_tensor *state,
    float scale);

/* -- Training ------------------------------------------------------------ */

/*
 * The mean over the rows of -sum(b * log softmax(a)): one element of a's type.
 *
 *   a  the logits
 *   b  the chances of the labels, of a's shape
 */
GGML_API struct ggml_tensor *ggml_cross_entropy_loss(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

/*
 * The gradient of ggml_cross_entropy_loss: (softmax(b) - c) * a / rows.
 *
 *   a    the gradient of the loss, one element
 *   b    the logits
 *   c    the labels, of b's shape
 *   dst  the type and the shape of b
 */
GGML_API struct ggml_tensor *ggml_cross_entropy_loss_back(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c);

/*
 * One step of AdamW on a, always in place.
 *
 *   a           marked by ggml_set_param
 *   grad, m, v  of a's shape; m and v, the moments, are changed too
 *   adamw_params
 *               F32 [7]: alpha, beta1, beta2, eps, wd, and for step t
 *               beta1h = 1 / (1 - beta1^t), beta2h = 1 / (1 - beta2^t)
 *
 *     m = beta1 * m + (1 - beta1) * grad
 *     v = beta2 * v + (1 - beta2) * grad^2
 *     a = a * (1 - alpha * wd) - alpha * m * beta1h / (sqrt(v * beta2h) + eps)
 *
 * Source: "Decoupled Weight Decay Regularization" (arXiv 1711.05101),
 * algorithm 2.
 */
GGML_API struct ggml_tensor *ggml_opt_step_adamw(
    struct ggml_context *ctx, struct ggml_tensor *a,
    struct ggml_tensor *grad, struct ggml_tensor *m, struct ggml_tensor *v,
    struct ggml_tensor *adamw_params);

#ifdef __cplusplus
}
#endif

#endif
