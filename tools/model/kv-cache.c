/* SPDX-License-Identifier: MIT */
/*
 * model/kv-cache.c - keys and values of the positions seen so far.
 */
#include "tools/model/kv-cache.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <stdlib.h>
#include <string.h>

/* Attention of N_SEQ sequences in a layer of sizes L, in one operation. */
static struct ggml_tensor *
attention(struct ggml_context *ctx, const struct layer_sizes *l, int64_t n_seq)
{
    struct ggml_tensor *q = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, l->n_head_k,
                                               1, l->n_head, n_seq);
    struct ggml_tensor *k = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F16, l->n_head_k, KV_STEP, l->n_head_kv, n_seq);
    struct ggml_tensor *v = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F16, l->n_head_v, KV_STEP, l->n_head_kv, n_seq);
    struct ggml_tensor *mask =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, KV_STEP, GGML_KQ_MASK_PAD);

    return ggml_flash_attn_ext(ctx, q, k, v, mask, l->attn_scale, 0.0f, 0.0f);
}

/*
 * Can DEVICE compute attention of layer L in one operation, which is for keys and
 * values of one length?  False without memory for the question: another answer
 * would change the numbers.
 */
static bool
ask_fused(const struct layer_sizes *l, const struct device *device,
          int64_t n_seq, bool *out)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx;

    *out = false;
    if (l->n_head_k != l->n_head_v)
        return true;
    ctx = ggml_init(params);
    if (ctx == NULL)
        return false;
    *out = ggml_backend_supports_op(device->backend, attention(ctx, l, n_seq));
    ggml_free(ctx);
    return true;
}

/* The same of all layers of MODEL, each on its device. */
static bool
ask_all_fused(const struct model *model, int64_t n_seq, bool *out)
{
    const struct hparams *hp = &model->hparams;
    bool is_fused = true;

    for (int64_t il = 0; is_fused && il < hp->n_layer; il++)
        if (!ask_fused(&hp->layers[il],
                       &model->devices->at[model->layers[il].device], n_seq,
                       &is_fused))
            return false;
    *out = is_fused;
    return true;
}

static bool
make_tensors(struct kv_cache *cache, const struct model *model)
{
    const struct hparams *hp = &model->hparams;
    const int64_t n = cache->n_ctx * cache->n_seq;

    cache->keys = new_zeroed((size_t)hp->n_layer, sizeof(*cache->keys));
    cache->values = new_zeroed((size_t)hp->n_layer, sizeof(*cache->values));
    if (cache->keys == NULL || cache->values == NULL)
        return false;
    for (int64_t il = 0; il < hp->n_layer; il++) {
        struct ggml_context *ctx = cache->parts[model->layers[il].device].ctx;
        const struct layer_sizes *l = &hp->layers[il];
        const int64_t n_v = l->n_head_kv * l->n_head_v;

        cache->keys[il] = ggml_new_tensor_2d(
            ctx, GGML_TYPE_F16, l->n_head_kv * l->n_head_k, n);
        cache->values[il] = ggml_new_tensor_2d(
            ctx, GGML_TYPE_F16, cache->is_fused ? n_v : n,
            cache->is_fused ? n : n_v);
    }
    return true;
}

/* Memory for a part, all zero: what is masked is multiplied by zero, so it must
 * not be NaN. */
static bool
fill_part(struct kv_cache *cache, struct part *part,
          const struct device *device)
{
    if (!part_allocate(part, device))
        return tool_error("no memory for %lld positions on %s: %s",
                          (long long)cache->n_ctx,
                          ggml_backend_dev_name(device->dev), tool_reason());
    if (part->buffer == NULL)
        return true;
    ggml_backend_buffer_clear(part->buffer, 0);
    cache->size += ggml_backend_buffer_get_size(part->buffer);
    return true;
}

bool
kv_cache_open(struct kv_cache *cache, const struct model *model,
              int64_t n_ctx, int64_t n_seq, bool may_fuse)
{
    const struct devices *devices = model->devices;
    bool is_open = true;

    memset(cache, 0, sizeof(*cache));
    cache->n_ctx = GGML_PAD(n_ctx, KV_STEP);
    cache->n_seq = n_seq;
    if (!may_fuse || ask_all_fused(model, n_seq, &cache->is_fused)) {
        tool_forget_reason();
        cache->parts =
            parts_new(devices, 2 * (size_t)model->hparams.n_layer);
        cache->n_parts = devices->n;
    } else {
        tool_error("no memory for %lld positions", (long long)n_ctx);
    }
    if (cache->parts == NULL || !make_tensors(cache, model)) {
        kv_cache_close(cache);
        return false;
    }
    for (int i = 0; is_open && i < devices->n; i++)
        is_open = fill_part(cache, &cache->parts[i], &devices->at[i]);
    if (is_open && devices_have_copied(devices))
        return true;
    kv_cache_close(cache);
    return false;
}

void
kv_cache_close(struct kv_cache *cache)
{
    parts_free(cache->parts, cache->n_parts);
    free(cache->keys);
    free(cache->values);
    memset(cache, 0, sizeof(*cache));
}
