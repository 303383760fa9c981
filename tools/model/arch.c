/* SPDX-License-Identifier: MIT */
/*
 * model/arch.c - the architectures that are known, and one model's sizes.
 */
#include "tools/model/arch.h"

#include "tools/common/tool.h"

#include <math.h>
#include <string.h>

/* Far above any model, so that products of two never overflow. */
#define MAX_SIZE   (1 << 22)
#define MAX_LAYERS 4096

static const struct arch archs[] = {
    { .name = "llama" },
    {
        .name = "qwen2",
        .rope_mode = GGML_ROPE_TYPE_NEOX,
        .needs_qkv_bias = true,
    },
    {
        .name = "gemma3",
        .rope_mode = GGML_ROPE_TYPE_NEOX,
        .has_qk_norm = true,
        .has_post_norm = true,
        .scales_input = true,
        .gates_by_gelu = true,
        .window_period = 6,
    },
};

static const struct arch *
arch_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
        if (strcmp(archs[i].name, name) == 0)
            return &archs[i];
    return NULL;
}

static bool
read_heads(struct hparams *hp, const struct keys *keys)
{
    if (!keys_int(keys, ".attention.head_count", KEYS_NEEDED, 1, MAX_SIZE,
                  &hp->n_head))
        return false;
    hp->n_head_kv = hp->n_head;
    hp->n_head_k = hp->n_embd / hp->n_head;
    hp->n_head_v = hp->n_embd / hp->n_head;
    if (!keys_int(keys, ".attention.head_count_kv", KEYS_OPTIONAL, 1,
                  hp->n_head, &hp->n_head_kv) ||
        !keys_int(keys, ".attention.key_length", KEYS_OPTIONAL, 1, MAX_SIZE,
                  &hp->n_head_k) ||
        !keys_int(keys, ".attention.value_length", KEYS_OPTIONAL, 1, MAX_SIZE,
                  &hp->n_head_v))
        return false;
    if (hp->n_head_k < 1 || hp->n_head_v < 1 ||
        hp->n_head % hp->n_head_kv != 0)
        return tool_error("%lld heads of %lld elements do not share %lld "
                          "key-value heads", (long long)hp->n_head,
                          (long long)hp->n_head_k, (long long)hp->n_head_kv);
    hp->n_rot = hp->n_head_k;
    if (!keys_int(keys, ".rope.dimension_count", KEYS_OPTIONAL, 2,
                  hp->n_head_k, &hp->n_rot))
        return false;
    return hp->n_rot % 2 == 0 ||
        tool_error("%lld rotated elements are not pairs",
                   (long long)hp->n_rot);
}

/* ".rope.scaling.type", its factor, and what belongs to it. */
static bool
read_rope_scaling(struct hparams *hp, const struct keys *keys)
{
    struct rope *rope = &hp->rope;
    const char *type = "none";
    double factor = 1.0, attn_factor = 1.0, linear = 0.0;
    double beta_fast = 32.0, beta_slow = 1.0;
    int64_t n_ctx_orig = hp->n_ctx_train;

    /* Files from before the type existed name a linear factor only. */
    if (!keys_real(keys, ".rope.scale_linear", KEYS_OPTIONAL, 1e-6, 1e6,
                   &linear))
        return false;
    if (linear > 0.0) {
        type = "linear";
        factor = linear;
    }
    if (!keys_string(keys, ".rope.scaling.type", KEYS_OPTIONAL, &type) ||
        !keys_real(keys, ".rope.scaling.factor", KEYS_OPTIONAL, 1e-6, 1e6,
                   &factor) ||
        !keys_real(keys, ".rope.scaling.attn_factor", KEYS_OPTIONAL, 1e-6, 1e6,
                   &attn_factor) ||
        !keys_real(keys, ".rope.scaling.yarn_beta_fast", KEYS_OPTIONAL, 1e-6,
                   1e6, &beta_fast) ||
        !keys_real(keys, ".rope.scaling.yarn_beta_slow", KEYS_OPTIONAL, 1e-6,
                   1e6, &beta_slow) ||
        !keys_int(keys, ".rope.scaling.original_context_length", KEYS_OPTIONAL,
                  1, INT32_MAX, &n_ctx_orig))
        return false;
    rope->n_ctx_orig = (int)n_ctx_orig;
    rope->attn_factor = (float)attn_factor;
    rope->beta_fast = (float)beta_fast;
    rope->beta_slow = (float)beta_slow;
    if (strcmp(type, "linear") == 0 || strcmp(type, "yarn") == 0)
        rope->scale = (float)(1.0 / factor);
    else if (strcmp(type, "none") != 0)
        return tool_error("rope scaling '%s' is not known", type);
    if (strcmp(type, "yarn") == 0)
        rope->ext_factor = 1.0f;
    return true;
}

static bool
read_rope(struct hparams *hp, const struct keys *keys)
{
    double base = 10000.0, base_local = 10000.0;

    if (!keys_real(keys, ".rope.freq_base", KEYS_OPTIONAL, 1.0, 1e12, &base) ||
        !keys_real(keys, ".rope.freq_base_swa", KEYS_OPTIONAL, 1.0, 1e12,
                   &base_local))
        return false;
    hp->rope.scale = 1.0f;
    if (!read_rope_scaling(hp, keys))
        return false;
    /* Windows never reach beyond what was trained, so nothing is stretched. */
    hp->rope_local = hp->rope;
    hp->rope_local.scale = 1.0f;
    hp->rope_local.ext_factor = 0.0f;
    hp->rope.base = (float)base;
    hp->rope_local.base = (float)base_local;
    return true;
}

static bool
read_window(struct hparams *hp, const struct keys *keys)
{
    if (hp->arch->window_period == 0)
        return true;
    hp->period = hp->arch->window_period;
    return keys_int(keys, ".attention.sliding_window", KEYS_NEEDED, 1,
                    INT32_MAX, &hp->window) &&
        keys_int(keys, ".attention.sliding_window_pattern", KEYS_OPTIONAL, 1,
                 MAX_LAYERS, &hp->period);
}

/*
 * The factor on q·k.  Gemma 3's largest model, known by its 62 layers alone,
 * divides by the width per head instead of the head's own size.
 */
static float
attn_scale(const struct hparams *hp)
{
    const bool is_by_width = hp->arch->has_qk_norm && hp->n_layer == 62;
    const double size =
        is_by_width ? (double)(hp->n_embd / hp->n_head) : (double)hp->n_head_k;

    return (float)(1.0 / sqrt(size));
}

bool
hparams_read(struct hparams *hp, const struct gguf_context *gguf)
{
    struct keys keys = { .gguf = gguf };
    const char *name = NULL;
    double eps = 0.0;
    int64_t n_expert = 0;

    memset(hp, 0, sizeof(*hp));
    if (!keys_string(&keys, "general.architecture", KEYS_NEEDED, &name))
        return false;
    hp->arch = arch_by_name(name);
    if (hp->arch == NULL)
        return tool_error("architecture '%s' is not known", name);
    keys.arch = hp->arch->name;
    if (!keys_int(&keys, ".expert_count", KEYS_OPTIONAL, 0, INT32_MAX,
                  &n_expert))
        return false;
    if (n_expert > 0)
        return tool_error("models with experts are not known");
    if (!keys_int(&keys, ".block_count", KEYS_NEEDED, 1, MAX_LAYERS,
                  &hp->n_layer) ||
        !keys_int(&keys, ".embedding_length", KEYS_NEEDED, 1, MAX_SIZE,
                  &hp->n_embd) ||
        !keys_int(&keys, ".feed_forward_length", KEYS_NEEDED, 1, MAX_SIZE,
                  &hp->n_ff) ||
        !keys_int(&keys, ".context_length", KEYS_NEEDED, 1, INT32_MAX,
                  &hp->n_ctx_train) ||
        !keys_real(&keys, ".attention.layer_norm_rms_epsilon", KEYS_NEEDED,
                   0.0, 1.0, &eps) ||
        !read_heads(hp, &keys) || !read_rope(hp, &keys) ||
        !read_window(hp, &keys))
        return false;
    hp->norm_eps = (float)eps;
    hp->attn_scale = attn_scale(hp);
    return true;
}

bool
hparams_is_windowed(const struct hparams *hp, int64_t il)
{
    return hp->period > 0 && (il + 1) % hp->period != 0;
}
