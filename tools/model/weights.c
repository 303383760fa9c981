/* SPDX-License-Identifier: MIT */
/*
 * model/weights.c - which tensors a model must have, and of which shapes.
 */
#include "tools/model/weights.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <stddef.h>
#include <stdio.h>

/* Lengths that occur in shapes. */
enum length {
    LEN_ONE,
    LEN_EMBD,
    LEN_FF,
    LEN_Q,     /* all heads' queries */
    LEN_K,     /* all heads' keys */
    LEN_V,     /* all heads' values */
    LEN_O,     /* all heads' results */
    LEN_HEAD,  /* one head's key */
    LEN_PAIRS, /* rotated pairs of a head */
    LEN_VOCAB
};

/* Which models have a weight. */
enum owner { IN_ALL, IN_SOME, QKV_BIAS, QK_NORM, POST_NORM };

struct weight {
    const char *name;
    enum length n0, n1;
    enum owner owner;
    size_t member; /* offset of the pointer in struct layer or struct model */
};

#define LAYER(field) offsetof(struct layer, field)
#define MODEL(field) offsetof(struct model, field)

/* In each layer, after "blk.N.". */
static const struct weight layer_weights[] = {
    { "attn_norm.weight", LEN_EMBD, LEN_ONE, IN_ALL, LAYER(attn_norm) },
    { "attn_q.weight", LEN_EMBD, LEN_Q, IN_ALL, LAYER(wq) },
    { "attn_k.weight", LEN_EMBD, LEN_K, IN_ALL, LAYER(wk) },
    { "attn_v.weight", LEN_EMBD, LEN_V, IN_ALL, LAYER(wv) },
    { "attn_output.weight", LEN_O, LEN_EMBD, IN_ALL, LAYER(wo) },
    { "attn_q.bias", LEN_Q, LEN_ONE, QKV_BIAS, LAYER(bq) },
    { "attn_k.bias", LEN_K, LEN_ONE, QKV_BIAS, LAYER(bk) },
    { "attn_v.bias", LEN_V, LEN_ONE, QKV_BIAS, LAYER(bv) },
    { "attn_output.bias", LEN_EMBD, LEN_ONE, IN_SOME, LAYER(bo) },
    { "attn_q_norm.weight", LEN_HEAD, LEN_ONE, QK_NORM, LAYER(q_norm) },
    { "attn_k_norm.weight", LEN_HEAD, LEN_ONE, QK_NORM, LAYER(k_norm) },
    { "post_attention_norm.weight", LEN_EMBD, LEN_ONE, POST_NORM,
      LAYER(attn_post_norm) },
    { "ffn_norm.weight", LEN_EMBD, LEN_ONE, IN_ALL, LAYER(ffn_norm) },
    { "ffn_gate.weight", LEN_EMBD, LEN_FF, IN_ALL, LAYER(ffn_gate) },
    { "ffn_up.weight", LEN_EMBD, LEN_FF, IN_ALL, LAYER(ffn_up) },
    { "ffn_down.weight", LEN_FF, LEN_EMBD, IN_ALL, LAYER(ffn_down) },
    { "post_ffw_norm.weight", LEN_EMBD, LEN_ONE, POST_NORM,
      LAYER(ffn_post_norm) },
};

static const struct weight model_weights[] = {
    { "token_embd.weight", LEN_EMBD, LEN_VOCAB, IN_ALL, MODEL(token_embd) },
    { "rope_freqs.weight", LEN_PAIRS, LEN_ONE, IN_SOME, MODEL(rope_freqs) },
    { "output_norm.weight", LEN_EMBD, LEN_ONE, IN_ALL, MODEL(output_norm) },
    { "output.weight", LEN_EMBD, LEN_VOCAB, IN_SOME, MODEL(output) },
};

/* The frequencies of RoPE are among a layer's, for its device. */
_Static_assert(sizeof(layer_weights) / sizeof(layer_weights[0]) + 1 ==
                   WEIGHTS_A_LAYER,
               "the tables and the count agree");

/* Of layer IL; those beside the layers are the same for all. */
static int64_t
length_of(const struct model *model, int64_t il, enum length length)
{
    const struct layer_sizes *l = &model->hparams.layers[il];

    switch (length) {
    case LEN_ONE: return 1;
    case LEN_EMBD: return model->hparams.n_embd;
    case LEN_FF: return l->n_ff;
    case LEN_Q: return l->n_head * l->n_head_k;
    case LEN_K: return l->n_head_kv * l->n_head_k;
    case LEN_V: return l->n_head_kv * l->n_head_v;
    case LEN_O: return l->n_head * l->n_head_v;
    case LEN_HEAD: return l->n_head_k;
    case LEN_PAIRS: return l->n_rot / 2;
    case LEN_VOCAB: return model->n_vocab;
    }
    return 0;
}

static bool
is_needed(const struct arch *arch, enum owner owner)
{
    switch (owner) {
    case IN_ALL: return true;
    case IN_SOME: return false;
    case QKV_BIAS: return arch->needs_qkv_bias;
    case QK_NORM: return arch->has_qk_norm;
    case POST_NORM: return arch->has_post_norm;
    }
    return false;
}

/* May a model of ARCH have it?  What it may not have is not looked for. */
static bool
is_possible(const struct arch *arch, enum owner owner)
{
    return owner == IN_SOME || owner == QKV_BIAS || is_needed(arch, owner);
}

/* Vectors are added or multiplied element by element, which asks for F32. */
static bool
is_usable_type(enum ggml_type type, bool is_vector)
{
    if (is_vector)
        return type == GGML_TYPE_F32;
    if (type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
        type == GGML_TYPE_BF16)
        return true;
    /* The last two exist for activations only. */
    return ggml_is_quantized(type) && type != GGML_TYPE_Q8_1 &&
        type != GGML_TYPE_Q8_K;
}

static bool
check(const struct model *model, int64_t il, const struct weight *w,
      const struct ggml_tensor *t)
{
    const int64_t n0 = length_of(model, il, w->n0);
    const int64_t n1 = length_of(model, il, w->n1);

    if (t->ne[0] != n0 || t->ne[1] != n1 || t->ne[2] != 1 || t->ne[3] != 1)
        return tool_error("tensor %s has shape %lld × %lld × %lld × %lld, not "
                          "%lld × %lld", t->name, (long long)t->ne[0],
                          (long long)t->ne[1], (long long)t->ne[2],
                          (long long)t->ne[3], (long long)n0, (long long)n1);
    if (!is_usable_type(t->type, w->n1 == LEN_ONE))
        return tool_error("tensor %s has type %s, which is of no use there",
                          t->name, ggml_type_name(t->type));
    return true;
}

/* The member of BASE that W is. */
static struct ggml_tensor **
member_of(const struct weight *w, void *base)
{
    return (struct ggml_tensor **)(void *)((char *)base + w->member);
}

/* Look for W of layer IL, its name after PREFIX, and set its member of BASE. */
static bool
find(const struct model *model, int64_t il, const struct weight *w,
     const char *prefix, void *base)
{
    const struct arch *arch = model->hparams.arch;
    struct ggml_tensor *t;
    char name[GGML_MAX_NAME];

    if (!is_possible(arch, w->owner))
        return true;
    snprintf(name, sizeof(name), "%s%s", prefix, w->name);
    t = ggml_get_tensor(model->tensors, name);
    if (t == NULL && is_needed(arch, w->owner))
        return tool_error("the file has no tensor %s", name);
    if (t != NULL && !check(model, il, w, t))
        return false;
    *member_of(w, base) = t;
    return true;
}

static bool
find_layer(const struct model *model, int64_t il, struct layer *layer)
{
    char prefix[32];

    snprintf(prefix, sizeof(prefix), "blk.%lld.", (long long)il);
    for (size_t i = 0; i < sizeof(layer_weights) / sizeof(layer_weights[0]);
         i++)
        if (!find(model, il, &layer_weights[i], prefix, layer))
            return false;
    layer->rope_freqs = model->rope_freqs;
    return true;
}

void
weights_of_layer(struct layer *layer, weights_replace_fn replace, void *arg)
{
    for (size_t i = 0; i < sizeof(layer_weights) / sizeof(layer_weights[0]);
         i++) {
        struct ggml_tensor **member = member_of(&layer_weights[i], layer);

        if (*member != NULL)
            *member = replace(arg, *member);
    }
    if (layer->rope_freqs != NULL)
        layer->rope_freqs = replace(arg, layer->rope_freqs);
}

/* The vocabulary is as large as the embeddings; the tokenizer has to agree. */
static bool
set_n_vocab(struct model *model)
{
    const struct ggml_tensor *t =
        ggml_get_tensor(model->tensors, "token_embd.weight");

    if (t == NULL)
        return tool_error("the file has no tensor token_embd.weight");
    if (t->ne[1] < 1 || t->ne[1] > INT32_MAX)
        return tool_error("tensor token_embd.weight has %lld rows",
                          (long long)t->ne[1]);
    model->n_vocab = t->ne[1];
    return true;
}

/* All layers rotate by the same frequencies, so as many pairs. */
static bool
check_frequencies(const struct model *model)
{
    const struct hparams *hp = &model->hparams;

    for (int64_t il = 0; model->rope_freqs != NULL && il < hp->n_layer; il++)
        if (hp->layers[il].n_rot != hp->layers[0].n_rot)
            return tool_error("tensor %s is for %lld rotated elements, but "
                              "layer %lld has %lld", model->rope_freqs->name,
                              (long long)hp->layers[0].n_rot, (long long)il,
                              (long long)hp->layers[il].n_rot);
    return true;
}

bool
weights_find(struct model *model)
{
    const int64_t n_layer = model->hparams.n_layer;

    if (!set_n_vocab(model))
        return false;
    for (size_t i = 0; i < sizeof(model_weights) / sizeof(model_weights[0]);
         i++)
        if (!find(model, 0, &model_weights[i], "", model))
            return false;
    if (!check_frequencies(model))
        return false;
    if (model->output == NULL)
        model->output = model->token_embd;
    model->layers = new_zeroed((size_t)n_layer, sizeof(*model->layers));
    if (model->layers == NULL)
        return false;
    for (int64_t il = 0; il < n_layer; il++)
        if (!find_layer(model, il, &model->layers[il]))
            return false;
    return true;
}
