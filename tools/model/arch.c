/* SPDX-License-Identifier: MIT */
/*
 * model/arch.c - the architectures that are known, and one model's sizes.
 */
#include "tools/model/arch.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Read a key whose member MEMBER may be another one in each layer. */
#define READ_SIZES(hp, keys, name, need, min, max, member)           \
    keys_ints(keys, name, need, min, max, &(hp)->layers[0].member,   \
              sizeof((hp)->layers[0]), (hp)->n_layer)

/* Do the heads of layer IL share keys and values, and rotate pairs? */
static bool
check_heads(const struct layer_sizes *l)
{
    if (l->n_head_k < 1 || l->n_head_v < 1 || l->n_head % l->n_head_kv != 0)
        return tool_error("%lld heads of %lld elements do not share %lld "
                          "key-value heads", (long long)l->n_head,
                          (long long)l->n_head_k, (long long)l->n_head_kv);
    if (l->n_rot < 2 || l->n_rot > l->n_head_k)
        return tool_error("%lld rotated elements are not between 2 and %lld, "
                          "the length of a head", (long long)l->n_rot,
                          (long long)l->n_head_k);
    return l->n_rot % 2 == 0 ||
        tool_error("%lld rotated elements are not pairs", (long long)l->n_rot);
}

static bool
read_heads(struct hparams *hp, const struct keys *keys)
{
    struct layer_sizes *layers = hp->layers;
    int64_t most = 1;

    if (!READ_SIZES(hp, keys, ".attention.head_count", KEYS_NEEDED, 1, MAX_SIZE,
                    n_head))
        return false;
    /* A head's usual length is that of the first layer. */
    for (int64_t il = 0; il < hp->n_layer; il++) {
        most = layers[il].n_head > most ? layers[il].n_head : most;
        layers[il].n_head_kv = layers[il].n_head;
        layers[il].n_head_k = hp->n_embd / layers[0].n_head;
        layers[il].n_head_v = layers[il].n_head_k;
    }
    if (!READ_SIZES(hp, keys, ".attention.head_count_kv", KEYS_OPTIONAL, 1,
                    most, n_head_kv) ||
        !READ_SIZES(hp, keys, ".attention.key_length", KEYS_OPTIONAL, 1,
                    MAX_SIZE, n_head_k) ||
        !READ_SIZES(hp, keys, ".attention.value_length", KEYS_OPTIONAL, 1,
                    MAX_SIZE, n_head_v))
        return false;
    for (int64_t il = 0; il < hp->n_layer; il++)
        layers[il].n_rot = layers[il].n_head_k;
    if (!READ_SIZES(hp, keys, ".rope.dimension_count", KEYS_OPTIONAL, 2,
                    MAX_SIZE, n_rot))
        return false;
    for (int64_t il = 0; il < hp->n_layer; il++)
        if (!check_heads(&layers[il]))
            return false;
    return true;
}

/* NAME, a factor on positions; 0 says that they are not stretched. */
static bool
read_stretch(const struct keys *keys, const char *name, double *factor)
{
    if (!keys_real(keys, name, KEYS_OPTIONAL, 0.0, 1e6, factor))
        return false;
    if (*factor == 0.0)
        *factor = 1.0;
    return *factor >= 1e-6 ||
        tool_error("key %s%s is %g, not between 1e-06 and 1e+06", keys->arch,
                   name, *factor);
}

/* ".rope.scaling.type", its factor, and what belongs to it. */
static bool
read_rope_scaling(struct hparams *hp, const struct keys *keys)
{
    struct rope *rope = &hp->rope;
    const char *type = "linear";
    double factor = 1.0, attn_factor = 1.0;
    double beta_fast = 32.0, beta_slow = 1.0;
    int64_t n_ctx_orig = hp->n_ctx_train;

    /* Old files have another name for the factor.  Without a type it is
     * linear. */
    if (!read_stretch(keys, ".rope.scale_linear", &factor) ||
        !read_stretch(keys, ".rope.scaling.factor", &factor) ||
        !keys_string(keys, ".rope.scaling.type", KEYS_OPTIONAL, &type) ||
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
    static const char pattern[] = ".attention.sliding_window_pattern";
    int64_t period = hp->arch->window_period;

    if (period == 0)
        return true;
    if (!keys_int(keys, ".attention.sliding_window", KEYS_NEEDED, 1, INT32_MAX,
                  &hp->window))
        return false;
    if (keys_is_array(keys, pattern))
        return keys_flags(keys, pattern, &hp->layers[0].is_windowed,
                          sizeof(hp->layers[0]), hp->n_layer);
    if (!keys_int(keys, pattern, KEYS_OPTIONAL, 1, MAX_LAYERS, &period))
        return false;
    for (int64_t il = 0; il < hp->n_layer; il++)
        hp->layers[il].is_windowed = (il + 1) % period != 0;
    return true;
}

/*
 * The factor on q·k.  Gemma 3's largest model, known by its 62 layers alone,
 * divides by the width per head instead of the head's own size.
 */
static void
set_attn_scales(struct hparams *hp)
{
    const bool is_by_width = hp->arch->has_qk_norm && hp->n_layer == 62;

    for (int64_t il = 0; il < hp->n_layer; il++) {
        struct layer_sizes *l = &hp->layers[il];
        const int64_t size =
            is_by_width ? hp->n_embd / l->n_head : l->n_head_k;

        l->attn_scale = (float)(1.0 / sqrt((double)size));
    }
}

/* What may be another number in each layer. */
static bool
read_layers(struct hparams *hp, const struct keys *keys)
{
    hp->layers = new_zeroed((size_t)hp->n_layer, sizeof(*hp->layers));
    if (hp->layers == NULL ||
        !READ_SIZES(hp, keys, ".feed_forward_length", KEYS_NEEDED, 1,
                    MAX_SIZE, n_ff) ||
        !read_heads(hp, keys) || !read_window(hp, keys))
        return false;
    set_attn_scales(hp);
    return true;
}

/* "llama, qwen2 or gemma3". */
static bool
unknown_arch(const char *name)
{
    const size_t n = sizeof(archs) / sizeof(archs[0]);
    char known[256] = "";

    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(known);

        snprintf(known + used, sizeof(known) - used, "%s%s",
                 i == 0 ? "" : i == n - 1 ? " and " : ", ", archs[i].name);
    }
    return tool_error("architecture '%s' is not known, only %s are", name,
                      known);
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
        return unknown_arch(name);
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
        !keys_int(&keys, ".context_length", KEYS_NEEDED, 1, INT32_MAX,
                  &hp->n_ctx_train) ||
        !keys_real(&keys, ".attention.layer_norm_rms_epsilon", KEYS_NEEDED,
                   0.0, 1.0, &eps) ||
        !read_rope(hp, &keys) || !read_layers(hp, &keys))
        return false;
    hp->norm_eps = (float)eps;
    return true;
}

void
hparams_clear(struct hparams *hp)
{
    free(hp->layers);
    hp->layers = NULL;
}
