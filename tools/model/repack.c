/* SPDX-License-Identifier: MIT */
/*
 * model/repack.c - weights in a buffer type in which a device computes faster.
 *
 * Such types are found as any client finds them, by name from the device's
 * registration, and asked about each weight.  What is measured is the model's
 * own weights, in order, up to SAMPLE_BYTES: more than most caches hold, so
 * that memory counts as it does while text is generated.
 */
#include "tools/model/repack.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_BYTES ((size_t)128 << 20)
#define TURNS        4
#define WORTH_IT     1.10

/* Tensors in front of those of products, in a graph of a sample. */
#define OVERHEAD 8

/* A weight: the model's member, what it points to, and the copy. */
struct pair {
    struct ggml_tensor **member;
    struct ggml_tensor *from;
    struct ggml_tensor *copy;
};

struct pairs {
    struct pair *at;
    size_t n;
};

/* Copies of the first weights. */
struct copies {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
};

static void
copies_clear(struct copies *copies)
{
    ggml_backend_buffer_free(copies->buffer);
    ggml_free(copies->ctx);
    memset(copies, 0, sizeof(*copies));
}

static struct ggml_context *
new_context(size_t n_tensors, size_t more)
{
    return ggml_init((struct ggml_init_params){
        .mem_size = n_tensors * ggml_tensor_overhead() + more,
        .no_alloc = true,
    });
}

/* The device's extra buffer types, NULL behind the last; NULL for none. */
static ggml_backend_buffer_type_t *
extra_types(const struct device *device)
{
    ggml_backend_dev_get_extra_bufts_t get;
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(device->dev);
    void *address = NULL;

    if (reg != NULL)
        address = ggml_backend_reg_get_proc_address(
            reg, "ggml_backend_dev_get_extra_bufts");
    if (address == NULL)
        return NULL;
    /* ISO C has no conversion between the two kinds of pointers. */
    memcpy(&get, &address, sizeof(get));
    return get(device->dev);
}

/* Can DEVICE multiply a weight like FROM from a buffer of TYPE?  It is asked
 * with a buffer that has no memory. */
static bool
is_taken(const struct device *device, ggml_backend_buffer_type_t type,
         const struct ggml_tensor *from)
{
    struct ggml_context *ctx = new_context(4, 0);
    ggml_backend_buffer_t none = ggml_backend_buft_alloc_buffer(type, 0);
    bool answer = false;

    if (ctx != NULL && none != NULL) {
        struct ggml_tensor *a = ggml_dup_tensor(ctx, from);
        struct ggml_tensor *b =
            ggml_new_tensor_2d(ctx, GGML_TYPE_F32, from->ne[0], 1);

        a->buffer = none;
        answer = ggml_backend_dev_supports_op(device->dev,
                                              ggml_mul_mat(ctx, a, b));
    }
    ggml_backend_buffer_free(none);
    ggml_free(ctx);
    return answer;
}

static void
add_pair(const struct device *device, ggml_backend_buffer_type_t type,
         struct ggml_tensor **member, struct pairs *pairs)
{
    if (*member != NULL && is_taken(device, type, *member))
        pairs->at[pairs->n++] = (struct pair){ member, *member, NULL };
}

/* All weights of products that TYPE takes.  An output that is the table of
 * embeddings is a weight of its own here. */
static bool
find_pairs(struct model *model, const struct device *device,
           ggml_backend_buffer_type_t type, struct pairs *pairs)
{
    const int64_t n_layer = model->hparams.n_layer;

    pairs->n = 0;
    pairs->at = new_zeroed((size_t)n_layer * 7 + 1, sizeof(*pairs->at));
    if (pairs->at == NULL)
        return false;
    for (int64_t i = 0; i < n_layer; i++) {
        struct layer *l = &model->layers[i];
        struct ggml_tensor **const members[] = {
            &l->wq, &l->wk, &l->wv, &l->wo,
            &l->ffn_gate, &l->ffn_up, &l->ffn_down,
        };

        for (size_t j = 0; j < sizeof(members) / sizeof(members[0]); j++)
            add_pair(device, type, members[j], pairs);
    }
    add_pair(device, type, &model->output, pairs);
    return true;
}

/* How many of the first weights have BYTES together, and these. */
static size_t
first_pairs(const struct pairs *pairs, size_t most, size_t *bytes)
{
    size_t n = 0;

    for (*bytes = 0; n < pairs->n && *bytes < most; n++)
        *bytes += ggml_nbytes(pairs->at[n].from);
    return n;
}

/* Copy the first N weights to memory of TYPE.  *IS_DONE is false without
 * memory; the result, after a message, where a copy failed. */
static bool
make_copies(struct pairs *pairs, size_t n, ggml_backend_buffer_type_t type,
            struct copies *copies, bool *is_done)
{
    *is_done = false;
    tool_forget_reason();
    copies->ctx = new_context(n + 1, 0);
    if (copies->ctx == NULL)
        return true;
    for (size_t i = 0; i < n; i++) {
        pairs->at[i].copy = ggml_dup_tensor(copies->ctx, pairs->at[i].from);
        ggml_set_name(pairs->at[i].copy, pairs->at[i].from->name);
    }
    copies->buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(copies->ctx, type);
    if (copies->buffer == NULL) {
        copies_clear(copies);
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        ggml_backend_tensor_copy(pairs->at[i].from, pairs->at[i].copy);
        if (tool_has_reason())
            return tool_error("tensor %s: %s", pairs->at[i].from->name,
                              tool_reason());
    }
    ggml_backend_buffer_set_usage(copies->buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    *is_done = true;
    return true;
}

/* ---- is it worth it? ---- */

/* Products of the first N weights, or of their copies, with a column each. */
struct trial {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_cgraph *graph;
};

static void
trial_close(struct trial *trial)
{
    ggml_backend_buffer_free(trial->buffer);
    ggml_free(trial->ctx);
}

static bool
trial_open(struct trial *trial, const struct device *device,
           const struct pairs *pairs, size_t n, bool is_copy)
{
    memset(trial, 0, sizeof(*trial));
    trial->ctx = new_context(2 * n + OVERHEAD,
                             ggml_graph_overhead_custom(2 * n + OVERHEAD,
                                                        false));
    if (trial->ctx == NULL)
        return false;
    trial->graph =
        ggml_new_graph_custom(trial->ctx, 2 * n + OVERHEAD, false);
    for (size_t i = 0; i < n; i++) {
        struct ggml_tensor *a =
            is_copy ? pairs->at[i].copy : pairs->at[i].from;
        struct ggml_tensor *b =
            ggml_new_tensor_2d(trial->ctx, GGML_TYPE_F32, a->ne[0], 1);

        ggml_build_forward_expand(trial->graph,
                                  ggml_mul_mat(trial->ctx, a, b));
    }
    trial->buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(trial->ctx, device->buft);
    if (trial->buffer == NULL)
        return false;
    ggml_backend_buffer_clear(trial->buffer, 0);
    return true;
}

/* Seconds of one computation; a very long time where it fails. */
static double
seconds_of(const struct trial *trial, const struct device *device)
{
    const int64_t began = ggml_time_us();

    if (ggml_backend_graph_compute(device->backend, trial->graph) !=
        GGML_STATUS_SUCCESS)
        return 1e9;
    return (double)(ggml_time_us() - began) * 1e-6;
}

/* Are the copies of the first N weights faster by a tenth?  The best of some
 * turns, one after the other, since the machine does other things too. */
static bool
is_worth_it(const struct device *device, const struct pairs *pairs, size_t n)
{
    struct trial trials[2] = { { .ctx = NULL } };
    double best[2] = { 1e9, 1e9 };
    bool is_open = true;

    for (int i = 0; i < 2; i++)
        is_open = trial_open(&trials[i], device, pairs, n, i == 1) && is_open;
    for (int turn = 0; is_open && turn < TURNS; turn++) {
        for (int i = 0; i < 2; i++) {
            const double seconds = seconds_of(&trials[i], device);

            best[i] = seconds < best[i] ? seconds : best[i];
        }
    }
    trial_close(&trials[1]);
    trial_close(&trials[0]);
    return is_open && best[1] < 1e9 && best[0] >= WORTH_IT * best[1];
}

/* Does the system say that it has twice BYTES to spare?  Where it says nothing
 * it has not. */
static bool
has_memory(size_t bytes)
{
    FILE *file = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];

    if (file == NULL)
        return false;
    while (kib == 0 && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
            kib = 0;
    fclose(file);
    return kib / 2 >= bytes / 1024;
}

/* Copies of all weights, or *IS_DONE is false. */
static bool
copy_all(struct pairs *pairs, const struct device *device,
         ggml_backend_buffer_type_t type, enum repack_mode mode,
         struct copies *copies, bool *is_done)
{
    size_t all, sample;
    const size_t n_all = first_pairs(pairs, SIZE_MAX, &all);
    const size_t n = first_pairs(pairs, SAMPLE_BYTES, &sample);

    *is_done = false;
    if (n_all == 0 || (mode == REPACK_AUTO && !has_memory(all)))
        return true;
    if (mode == REPACK_AUTO) {
        if (!make_copies(pairs, n, type, copies, is_done))
            return false;
        *is_done = *is_done && is_worth_it(device, pairs, n);
        if (*is_done && n == n_all)
            return true;
        copies_clear(copies);
        if (!*is_done)
            return true;
    }
    if (!make_copies(pairs, n_all, type, copies, is_done))
        return false;
    if (!*is_done)
        tool_warning("no memory for %zu bytes of repacked weights; they stay "
                     "as they are", all);
    return true;
}

static bool
repack_to(struct model *model, const struct device *device,
          ggml_backend_buffer_type_t type, enum repack_mode mode)
{
    struct copies copies = { .ctx = NULL };
    struct pairs pairs;
    bool is_done;

    if (!find_pairs(model, device, type, &pairs))
        return false;
    if (!copy_all(&pairs, device, type, mode, &copies, &is_done)) {
        copies_clear(&copies);
        free(pairs.at);
        return false;
    }
    for (size_t i = 0; is_done && i < pairs.n; i++)
        *pairs.at[i].member = pairs.at[i].copy;
    if (is_done) {
        model->repacked = copies.ctx;
        model->repacked_buffer = copies.buffer;
    }
    free(pairs.at);
    return true;
}

bool
model_repack(struct model *model, const struct device *device,
             enum repack_mode mode)
{
    ggml_backend_buffer_type_t *types =
        mode == REPACK_OFF ? NULL : extra_types(device);

    for (; types != NULL && *types != NULL && model->repacked == NULL; types++)
        if (!repack_to(model, device, *types, mode))
            return false;
    tool_forget_reason();
    return true;
}
