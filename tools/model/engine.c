/* SPDX-License-Identifier: MIT */
/*
 * model/engine.c - tokens in, logits out.
 */
#include "tools/model/engine.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <stdlib.h>
#include <string.h>

/*
 * Most tokens computed at once.  N devices work on as many batches of a prompt at
 * the same time, but for the first and the last N - 1 steps, in which some have
 * nothing to do: B batches take B + N - 1 steps, where B would be the least.  With
 * two devices that is 5/4 of the least for 1024 tokens in batches of 256, and 3/2
 * in batches of 512.  Fewer than 256 do not pay: a card multiplies less than that
 * slower, as its limit is reading the weights up to about 300 columns of 16-bit
 * ones (990 TFLOP/s over 3.35 TB/s on an H100), and the host has to make and to
 * queue a graph for each batch.
 */
#define BATCH_MAX       512
#define PIPELINED_BATCH 256

/* A parallel scheduler keeps inputs four times, beside the devices' own. */
#define MASKS           3
#define PIPELINED_MASKS 9

/* What a batch's tensors may take: what caches hold of them is faster on a CPU,
 * and a card is busy with large batches alone.  What a block of logits may. */
#define BATCH_BYTES      ((int64_t)24 << 20)
#define CARD_BATCH_BYTES ((int64_t)512 << 20)
#define LOGITS_BYTES     ((int64_t)8 << 20)

/* -infinity as a half float. */
#define MASKED 0xfc00

static int64_t
at_least_one(int64_t n)
{
    return n < 1 ? 1 : n;
}

/*
 * The bytes of a token in a layer of sizes L.  At the widest point there live
 * attention's weights of all heads, unless it is one operation, with the masks,
 * or the two halves of the FFN; and beside either some rows of the model's
 * width.
 */
static int64_t
token_bytes(const struct model *model, const struct kv_cache *cache,
            const struct layer_sizes *l)
{
    const int64_t masks =
        model->devices->is_pipelined ? PIPELINED_MASKS : MASKS;
    const int64_t of_heads = cache->is_fused ? 0 : l->n_head * 4;
    const int64_t weights = cache->n_ctx * (of_heads + masks * 2);
    const int64_t ffn = l->n_ff * 2 * 4;
    const int64_t rows = (model->hparams.n_embd * 4 +
                          l->n_head * (l->n_head_k + l->n_head_v)) * 4;

    return (weights > ffn ? weights : ffn) + rows;
}

/* How many tokens fit into BYTES, in any layer. */
static int64_t
batch_size(const struct model *model, const struct kv_cache *cache,
           int64_t bytes)
{
    const struct hparams *hp = &model->hparams;
    const int64_t n_ctx = cache->n_ctx;
    int64_t n = model->devices->is_pipelined ? PIPELINED_BATCH : BATCH_MAX;

    for (int64_t il = 0; il < hp->n_layer; il++) {
        const int64_t fit =
            bytes / token_bytes(model, cache, &hp->layers[il]);

        n = fit < n ? fit : n;
    }
    n = n > 32 ? n / 32 * 32 : n;
    return at_least_one(n < n_ctx ? n : n_ctx);
}

static int64_t
batch_bytes(const struct devices *devices)
{
    for (int i = 0; i < devices->n; i++)
        if (ggml_backend_dev_type(devices->at[i].dev) !=
            GGML_BACKEND_DEVICE_TYPE_GPU)
            return BATCH_BYTES;
    return CARD_BATCH_BYTES;
}

static int64_t
logit_rows(const struct model *model)
{
    const int64_t n = LOGITS_BYTES / (model->n_vocab * 4);

    return at_least_one(n > BATCH_MAX ? BATCH_MAX : n);
}

static bool
open_engine(struct engine *e, const struct model *model, int64_t n_ctx,
            int64_t n_seq, bool may_fuse)
{
    memset(e, 0, sizeof(*e));
    e->model = model;
    e->n_ctx = n_ctx;
    if (!kv_cache_open(&e->cache, model, n_ctx, n_seq, may_fuse))
        return false;
    e->n_batch = n_seq > 1
        ? n_seq
        : batch_size(model, &e->cache, batch_bytes(model->devices));
    e->n_rows = logit_rows(model);
    e->positions = new_zeroed((size_t)e->n_batch, sizeof(*e->positions));
    e->mask = new_zeroed((size_t)e->n_batch * (size_t)e->cache.n_ctx,
                         sizeof(*e->mask));
    if (e->positions != NULL && e->mask != NULL)
        return true;
    engine_close(e);
    return false;
}

bool
engine_open(struct engine *e, const struct model *model, int64_t n_ctx,
            bool may_fuse)
{
    return open_engine(e, model, n_ctx, 1, may_fuse);
}

bool
engine_open_many(struct engine *e, const struct model *model, int64_t n_ctx,
                 int64_t n_seq, bool *is_supported)
{
    if (!open_engine(e, model, n_ctx, n_seq, true))
        return false;
    *is_supported = n_seq == 1 || e->cache.is_fused;
    return true;
}

void
engine_close(struct engine *e)
{
    graph_free(&e->prompt);
    graph_free(&e->more);
    graph_free(&e->step);
    graph_free(&e->head);
    kv_cache_close(&e->cache);
    free(e->positions);
    free(e->mask);
    memset(e, 0, sizeof(*e));
}

void
engine_keep(struct engine *e, int64_t n)
{
    e->n_past = n;
}

void
engine_reset(struct engine *e)
{
    engine_keep(e, 0);
}

/*
 * Show each token the positions up to its own, WINDOW of them at most (0: all),
 * and hide the rest.
 */
static void
set_mask(struct engine *e, const struct graph *g, struct ggml_tensor *mask,
         int64_t window)
{
    const int64_t n_kv = mask->ne[0], n = g->n_tokens;

    for (int64_t i = 0; i < n; i++) {
        const int64_t own = e->n_past + (e->cache.n_seq > 1 ? 0 : i);
        const int64_t first =
            window > 0 && own >= window ? own - window + 1 : 0;
        uint16_t *row = e->mask + i * n_kv;

        for (int64_t j = 0; j < n_kv; j++)
            row[j] = j < first || j > own ? MASKED : 0;
    }
    ggml_backend_tensor_set(mask, e->mask, 0, (size_t)n * mask->nb[1]);
}

static bool
set_inputs(struct engine *e, const struct graph *g, const int32_t *ids)
{
    for (int64_t i = 0; i < g->n_tokens; i++)
        e->positions[i] =
            (int32_t)(e->n_past + (e->cache.n_seq > 1 ? 0 : i));
    ggml_backend_tensor_set(g->tokens, ids, 0, ggml_nbytes(g->tokens));
    ggml_backend_tensor_set(g->positions, e->positions, 0,
                            ggml_nbytes(g->positions));
    set_mask(e, g, g->mask, 0);
    if (g->mask_local != NULL)
        set_mask(e, g, g->mask_local, e->model->hparams.window);
    return devices_have_copied(e->model->devices);
}

/*
 * The graph for N tokens.  Where graphs are queued, those of a prompt and its
 * last one keep their memory, each of its own: to share it they would wait.
 */
static struct graph *
graph_for(struct engine *e, int64_t n, int64_t n_out)
{
    if (n_out == 0 && e->model->devices->n > 1)
        return &e->more;
    return n == 1 ? &e->step : &e->prompt;
}

/* Forget the library's errors, unless they may be about what is under way. */
static void
begin_call(const struct engine *e)
{
    if (!e->is_queued)
        tool_forget_reason();
}

bool
engine_append(struct engine *e, const int32_t *ids, int64_t n, int64_t n_out)
{
    struct graph *g = graph_for(e, n, n_out);
    const int64_t n_more = e->cache.n_seq > 1 ? 1 : n;

    if (e->is_stopped != NULL && e->is_stopped())
        return false;
    begin_call(e);
    if (!graph_make_body(g, e->model, &e->cache, n, n_out,
                         GGML_PAD(e->n_past + n_more, KV_STEP)))
        return false;
    graph_set_past(g, e->n_past);
    if (!set_inputs(e, g, ids) || !graph_run(g))
        return false;
    e->is_queued = g == &e->more;
    e->n_past += n_more;
    e->last = g;
    return true;
}

/* Memory for N tokens in several batches that are queued one after another. */
static bool
reserve(struct engine *e, int64_t n)
{
    const int64_t n_kv = GGML_PAD(e->n_past + n, KV_STEP);
    const int64_t n_last = (n - 1) % e->n_batch + 1;

    begin_call(e);
    return graph_reserve_body(&e->more, e->model, &e->cache, e->n_batch, 0,
                              n_kv) &&
        graph_reserve_body(graph_for(e, n_last, 1), e->model, &e->cache,
                           n_last, 1, n_kv);
}

bool
engine_append_all(struct engine *e, const int32_t *ids, int64_t n)
{
    if (e->model->devices->is_pipelined && n > e->n_batch && !reserve(e, n))
        return false;
    for (int64_t i = 0; i < n; i += e->n_batch) {
        const int64_t left = n - i;
        const bool is_last = left <= e->n_batch;

        if (!engine_append(e, ids + i, is_last ? left : e->n_batch,
                           is_last ? 1 : 0))
            return false;
    }
    return true;
}

/* N hidden states of the last graph, from FIRST on, to the head; they do not
 * leave the device. */
static bool
hand_on(struct engine *e, int64_t first, int64_t n)
{
    struct ggml_tensor *result = e->last->result, *rows;
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = ggml_tensor_overhead(), .no_alloc = true });

    if (ctx == NULL)
        return tool_error("no memory for a view");
    rows = ggml_view_2d(ctx, result, result->ne[0], n, result->nb[1],
                        (size_t)first * result->nb[1]);
    if (rows != NULL && ggml_backend_view_init(rows) == GGML_STATUS_SUCCESS)
        ggml_backend_tensor_copy(rows, e->head.hidden);
    ggml_free(ctx);
    return devices_have_copied(e->model->devices);
}

/* The tensor that has them, NULL after a message. */
static const struct ggml_tensor *
compute_logits(struct engine *e, int64_t first, int64_t n)
{
    if (e->last->has_logits)
        return e->last->result;
    tool_forget_reason();
    if (!graph_make_head(&e->head, e->model, n) || !hand_on(e, first, n) ||
        !graph_run(&e->head))
        return NULL;
    return e->head.result;
}

static bool
copy_out(struct engine *e, const struct ggml_tensor *t, float *logits)
{
    tool_forget_reason();
    ggml_backend_tensor_get(t, logits, 0, ggml_nbytes(t));
    return devices_have_copied(e->model->devices);
}

bool
engine_logits(struct engine *e, int64_t first, int64_t n, float *logits)
{
    const struct ggml_tensor *t = compute_logits(e, first, n);

    return t != NULL && copy_out(e, t, logits);
}

const float *
engine_last_logits(struct engine *e, float *room)
{
    const struct ggml_tensor *t = compute_logits(e, 0, 1);

    if (t == NULL)
        return NULL;
    if (ggml_backend_buffer_is_host(t->buffer))
        return t->data;
    return copy_out(e, t, room) ? room : NULL;
}
