/* SPDX-License-Identifier: MIT */
/*
 * op/rope.c - builders of rotary position embeddings.
 */
#include "config.h"

#include "lib/base/status.h"
#include "lib/op/build.h"

#include <math.h>

#define N_SECTIONS 4 /* streams of positions of the multi builders */

static const float pi = 3.14159265358979323846f;

/* What the rotation is told, as it lies in the node's parameters. */
struct rope {
    int32_t unused0;
    int32_t n_dims;
    int32_t mode;
    int32_t unused3;
    int32_t n_ctx_orig;
    float freq_base;
    float freq_scale;
    float ext_factor;
    float attn_factor;
    float beta_fast;
    float beta_slow;
    int32_t sections[N_SECTIONS];
};

_Static_assert(sizeof(struct rope) == 15 * sizeof(int32_t),
               "the parameters of rope lie one after another");

/* Do the sections of A's pairs fit?  They are not looked at in other modes. */
static bool
sections_fit(const struct rope *rope, const struct ggml_tensor *a)
{
    const int32_t *const n = rope->sections;
    int64_t sum = 0;

    if ((rope->mode & GGML_ROPE_TYPE_MROPE) == 0)
        return true;
    for (int i = 0; i < N_SECTIONS; i++) {
        if (n[i] < 0)
            return false;
        sum += n[i];
    }
    return n[0] + (int64_t)n[1] + n[2] > 0 && sum <= a->ne[0];
}

/*
 * A by positions B, N_STREAMS for each token, and frequency factors C.  Sources
 * one by one: from an array that was written just now they are loaded in pairs,
 * which has to wait for the cache, a fifth of what the node takes.
 */
static struct ggml_tensor *
rope_node(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
          struct ggml_tensor *a, struct ggml_tensor *b, struct ggml_tensor *c,
          const struct rope *rope, int n_streams)
{
    const char *const name = gb_op_word(op);
    const bool is_vision = rope->mode == GGML_ROPE_TYPE_VISION;
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, name, a, b, GB_OR(c, a));
    GB_NEED(ctx,
            (rope->mode & 1) == 0 &&
                ((rope->mode & GGML_ROPE_TYPE_MROPE) == 0 || n_streams > 1),
            "%s: mode %d with %d positions for each token", name, rope->mode,
            n_streams);
    GB_NEED(ctx,
            b->type == GGML_TYPE_I32 && ggml_is_vector(b) &&
                b->ne[0] == gb_dim_mul(a->ne[2], n_streams),
            "%s: b %s of type %s is no vector of i32 with %d for each token "
            "of a %s",
            name, GB_SHAPE(b), ggml_type_name(b->type), n_streams,
            GB_SHAPE(a));
    GB_NEED(ctx,
            rope->n_dims >= 0 && rope->n_dims % 2 == 0 &&
                (is_vision ? 2 * (int64_t)rope->n_dims == a->ne[0]
                           : rope->n_dims <= a->ne[0]),
            "%s: rows of %lld elements do not rotate by n_dims %d in mode %d",
            name, (long long)a->ne[0], rope->n_dims, rope->mode);
    GB_NEED(ctx, sections_fit(rope, a),
            "%s: rows of %lld elements do not have sections %d, %d, %d, %d",
            name, (long long)a->ne[0], rope->sections[0], rope->sections[1],
            rope->sections[2], rope->sections[3]);
    GB_NEED(ctx,
            c == NULL || (c->type == GGML_TYPE_F32 &&
                          c->ne[0] >= (is_vision ? rope->n_dims
                                                 : rope->n_dims / 2)),
            "%s: c %s of type %s has no f32 factor for each pair of %d "
            "dimensions",
            name, GB_SHAPE(c), ggml_type_name(c->type), rope->n_dims);

    node = gb_op_like(ctx, op, place, GB_SRC(a, b, c));
    gb_op_set_bytes(node, rope, sizeof(*rope));
    return node;
}

/* The builders with four streams of positions. */
static struct ggml_tensor *
rope_multi(struct ggml_context *ctx, enum ggml_op op,
           struct ggml_tensor *const src[GGML_MAX_SRC], struct rope rope,
           const int sections[N_SECTIONS])
{
    GB_NEED(ctx, sections != NULL, "%s: the sections are NULL",
            gb_op_word(op));
    for (int i = 0; i < N_SECTIONS; i++)
        rope.sections[i] = sections[i];
    return rope_node(ctx, op, GB_OP_NEW, src[0], src[1], src[2], &rope,
                     N_SECTIONS);
}

struct ggml_tensor *
ggml_rope(struct ggml_context *ctx, struct ggml_tensor *a,
          struct ggml_tensor *b, int n_dims, int mode)
{
    return ggml_rope_ext(ctx, a, b, NULL, n_dims, mode, 0, 10000.0f, 1.0f, 0.0f,
                         1.0f, 0.0f, 0.0f);
}

struct ggml_tensor *
ggml_rope_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b, int n_dims, int mode)
{
    return ggml_rope_ext_inplace(ctx, a, b, NULL, n_dims, mode, 0, 10000.0f,
                                 1.0f, 0.0f, 1.0f, 0.0f, 0.0f);
}

struct ggml_tensor *
ggml_rope_ext(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
              int mode, int n_ctx_orig, float freq_base, float freq_scale,
              float ext_factor, float attn_factor, float beta_fast,
              float beta_slow)
{
    const struct rope rope = { 0, n_dims, mode, 0, n_ctx_orig,
                               freq_base, freq_scale, ext_factor,
                               attn_factor, beta_fast, beta_slow, { 0 } };

    return rope_node(ctx, GGML_OP_ROPE, GB_OP_NEW, a, b, c, &rope, 1);
}

struct ggml_tensor *
ggml_rope_ext_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                      struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                      int mode, int n_ctx_orig, float freq_base,
                      float freq_scale, float ext_factor, float attn_factor,
                      float beta_fast, float beta_slow)
{
    const struct rope rope = { 0, n_dims, mode, 0, n_ctx_orig,
                               freq_base, freq_scale, ext_factor,
                               attn_factor, beta_fast, beta_slow, { 0 } };

    return rope_node(ctx, GGML_OP_ROPE, GB_OP_INPLACE, a, b, c, &rope, 1);
}

struct ggml_tensor *
ggml_rope_custom(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, int n_dims, int mode, int n_ctx_orig,
                 float freq_base, float freq_scale, float ext_factor,
                 float attn_factor, float beta_fast, float beta_slow)
{
    return ggml_rope_ext(ctx, a, b, NULL, n_dims, mode, n_ctx_orig, freq_base,
                         freq_scale, ext_factor, attn_factor, beta_fast,
                         beta_slow);
}

struct ggml_tensor *
ggml_rope_custom_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *b, int n_dims, int mode,
                         int n_ctx_orig, float freq_base, float freq_scale,
                         float ext_factor, float attn_factor, float beta_fast,
                         float beta_slow)
{
    return ggml_rope_ext_inplace(ctx, a, b, NULL, n_dims, mode, n_ctx_orig,
                                 freq_base, freq_scale, ext_factor,
                                 attn_factor, beta_fast, beta_slow);
}

struct ggml_tensor *
ggml_rope_multi(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                int sections[4], int mode, int n_ctx_orig, float freq_base,
                float freq_scale, float ext_factor, float attn_factor,
                float beta_fast, float beta_slow)
{
    const struct rope rope = { 0, n_dims, mode, 0, n_ctx_orig,
                               freq_base, freq_scale, ext_factor,
                               attn_factor, beta_fast, beta_slow, { 0 } };

    return rope_multi(ctx, GGML_OP_ROPE, GB_SRC(a, b, c), rope, sections);
}

struct ggml_tensor *
ggml_rope_ext_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                   int mode, int n_ctx_orig, float freq_base, float freq_scale,
                   float ext_factor, float attn_factor, float beta_fast,
                   float beta_slow)
{
    const struct rope rope = { 0, n_dims, mode, 0, n_ctx_orig,
                               freq_base, freq_scale, ext_factor,
                               attn_factor, beta_fast, beta_slow, { 0 } };

    return rope_node(ctx, GGML_OP_ROPE_BACK, GB_OP_NEW, a, b, c, &rope, 1);
}

struct ggml_tensor *
ggml_rope_multi_back(struct ggml_context *ctx, struct ggml_tensor *a,
                     struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                     int sections[4], int mode, int n_ctx_orig, float freq_base,
                     float freq_scale, float ext_factor, float attn_factor,
                     float beta_fast, float beta_slow)
{
    const struct rope rope = { 0, n_dims, mode, 0, n_ctx_orig,
                               freq_base, freq_scale, ext_factor,
                               attn_factor, beta_fast, beta_slow, { 0 } };

    return rope_multi(ctx, GGML_OP_ROPE_BACK, GB_SRC(a, b, c), rope, sections);
}

/*
 * YaRN (arXiv 2309.00071), section 3.2: the dimension whose wave turns N_ROT
 * times within the length that the model was trained with.
 */
static float
dim_of_rotations(int n_dims, int n_ctx_orig, float n_rot, float base)
{
    return (float)n_dims * logf((float)n_ctx_orig / (n_rot * 2.0f * pi)) /
           (2.0f * logf(base));
}

void
ggml_rope_yarn_corr_dims(int n_dims, int n_ctx_orig, float freq_base,
                         float beta_fast, float beta_slow, float dims[2])
{
    float first, last;

    GB_NEED_VOID(dims != NULL, "rope_yarn_corr_dims: dims is NULL");
    first = floorf(dim_of_rotations(n_dims, n_ctx_orig, beta_fast, freq_base));
    last = ceilf(dim_of_rotations(n_dims, n_ctx_orig, beta_slow, freq_base));
    dims[0] = fmaxf(0.0f, first);
    dims[1] = fminf((float)((int64_t)n_dims - 1), last);
}
