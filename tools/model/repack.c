/* SPDX-License-Identifier: MIT */
/*
 * model/repack.c - weights in a buffer type in which a device computes faster.
 *
 * Types with an order of their own are found as any client finds them, by name
 * from the device's registration, and asked about each weight.  The device's
 * usual type is one to try, too, where weights are in a mapped file: that has
 * pages of 4 KiB mostly, while memory may have large ones, and each token reads
 * all weights.  So another order is measured beside such plain copies.
 *
 * What is measured is the model's own weights, in order, up to SAMPLE_BYTES:
 * more than most caches hold, so that memory counts as it does while text is
 * generated.
 */
#include "tools/model/repack.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Smaller models are in caches, and done before a clock can tell. */
#define LEAST_BYTES  ((size_t)8 << 20)
#define SAMPLE_BYTES ((size_t)128 << 20)
#define TURNS        4
#define WORTH_IT     1.10

/* Tensors in front of those of products, in a graph of a sample. */
#define OVERHEAD 8

bool
repack_mode_read(const char *option, const char *text, enum repack_mode *mode)
{
    static const char *const words[] = {
        [REPACK_AUTO] = "auto", [REPACK_ON] = "on", [REPACK_OFF] = "off",
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            *mode = (enum repack_mode)i;
            return true;
        }
    }
    return tool_error("%s: '%s' is not auto, on or off", option, text);
}

/* A weight: the model's member, and what it points to. */
struct weight {
    struct ggml_tensor **member;
    struct ggml_tensor *from;
};

struct weights {
    struct weight *at;
    size_t n;
};

/* Copies of the first weights, in their order in CTX. */
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
add_weight(const struct device *device, ggml_backend_buffer_type_t type,
           struct ggml_tensor **member, struct weights *weights)
{
    if (*member != NULL && is_taken(device, type, *member))
        weights->at[weights->n++] = (struct weight){ member, *member };
}

/* All weights of products that TYPE takes.  An output that is the table of
 * embeddings is a weight of its own here. */
static bool
find_weights(struct model *model, const struct device *device,
             ggml_backend_buffer_type_t type, struct weights *weights)
{
    const int64_t n_layer = model->hparams.n_layer;

    weights->n = 0;
    weights->at = new_zeroed((size_t)n_layer * 7 + 1, sizeof(*weights->at));
    if (weights->at == NULL)
        return false;
    for (int64_t i = 0; i < n_layer; i++) {
        struct layer *l = &model->layers[i];
        struct ggml_tensor **const members[] = {
            &l->wq, &l->wk, &l->wv, &l->wo,
            &l->ffn_gate, &l->ffn_up, &l->ffn_down,
        };

        for (size_t j = 0; j < sizeof(members) / sizeof(members[0]); j++)
            add_weight(device, type, members[j], weights);
    }
    add_weight(device, type, &model->output, weights);
    return true;
}

/* How many of the first weights have BYTES together, and these. */
static size_t
first_weights(const struct weights *weights, size_t most, size_t *bytes)
{
    size_t n = 0;

    for (*bytes = 0; n < weights->n && *bytes < most; n++)
        *bytes += ggml_nbytes(weights->at[n].from);
    return n;
}

/* Copy the first N weights to memory of TYPE.  Without memory COPIES stay
 * empty; false, after a message, where a copy failed. */
static bool
make_copies(const struct weights *weights, size_t n,
            ggml_backend_buffer_type_t type, struct copies *copies)
{
    struct ggml_tensor *copy;

    tool_forget_reason();
    memset(copies, 0, sizeof(*copies));
    copies->ctx = new_context(n + 1, 0);
    if (copies->ctx == NULL)
        return true;
    for (size_t i = 0; i < n; i++) {
        const struct ggml_tensor *from = weights->at[i].from;

        ggml_set_name(ggml_dup_tensor(copies->ctx, from), from->name);
    }
    copies->buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(copies->ctx, type);
    if (copies->buffer == NULL) {
        copies_clear(copies);
        return true;
    }
    copy = ggml_get_first_tensor(copies->ctx);
    for (size_t i = 0; i < n; i++) {
        ggml_backend_tensor_copy(weights->at[i].from, copy);
        if (tool_has_reason())
            return tool_error("tensor %s: %s", copy->name, tool_reason());
        copy = ggml_get_next_tensor(copies->ctx, copy);
    }
    ggml_backend_buffer_set_usage(copies->buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    return true;
}

/* ---- is it worth it? ---- */

/* Products of the first N weights, or of COPIES of theirs, with a column each.
 * Each waits for the one in front of it, as those of a model mostly do: threads
 * that share a product wait for each other at its end. */
struct trial {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_cgraph *graph;
    double best; /* seconds of the best turn */
};

static void
trial_close(struct trial *trial)
{
    ggml_backend_buffer_free(trial->buffer);
    ggml_free(trial->ctx);
}

static bool
trial_open(struct trial *trial, const struct device *device,
           const struct weights *weights, size_t n,
           const struct copies *copies)
{
    const size_t n_tensors = 4 * n + OVERHEAD;
    struct ggml_tensor *copy =
        copies == NULL ? NULL : ggml_get_first_tensor(copies->ctx);
    struct ggml_tensor *before = NULL;

    trial->ctx = new_context(n_tensors,
                             ggml_graph_overhead_custom(n_tensors, false));
    if (trial->ctx == NULL)
        return false;
    trial->graph = ggml_new_graph_custom(trial->ctx, n_tensors, false);
    for (size_t i = 0; i < n; i++) {
        struct ggml_tensor *a = copy != NULL ? copy : weights->at[i].from;
        struct ggml_tensor *b =
            ggml_new_tensor_2d(trial->ctx, GGML_TYPE_F32, a->ne[0], 1);

        if (before != NULL)
            b = ggml_add1(trial->ctx, b,
                          ggml_view_1d(trial->ctx, before, 1, 0));
        before = ggml_mul_mat(trial->ctx, a, b);
        ggml_build_forward_expand(trial->graph, before);
        if (copy != NULL)
            copy = ggml_get_next_tensor(copies->ctx, copy);
    }
    trial->buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(trial->ctx, device->buft);
    if (trial->buffer == NULL)
        return false;
    ggml_backend_buffer_clear(trial->buffer, 0);
    trial->best = 1e9;
    return true;
}

/* A turn that fails takes no time that counts. */
static void
trial_run(struct trial *trial, const struct device *device)
{
    const int64_t began = ggml_time_us();
    const enum ggml_status status =
        ggml_backend_graph_compute(device->backend, trial->graph);
    const double seconds = (double)(ggml_time_us() - began) * 1e-6;

    if (status == GGML_STATUS_SUCCESS && seconds < trial->best)
        trial->best = seconds;
}

enum { AS_THEY_ARE, ASKED, PLAIN, MOST_TRIALS };

/* Are copies ASKED of the first N weights faster by a tenth than the weights,
 * and than PLAIN copies, if there are any?  The best of some turns, one after
 * the other, since the machine does other things too. */
static bool
is_worth_it(const struct device *device, const struct weights *weights,
            size_t n, const struct copies *asked, const struct copies *plain)
{
    const int n_trials = plain->ctx != NULL ? MOST_TRIALS : PLAIN;
    const struct copies *const copies[] = { NULL, asked, plain };
    struct trial trials[MOST_TRIALS] = { { .ctx = NULL } };
    bool answer = asked->ctx != NULL;

    for (int i = 0; answer && i < n_trials; i++)
        answer = trial_open(&trials[i], device, weights, n, copies[i]);
    for (int turn = 0; answer && turn < TURNS; turn++)
        for (int i = 0; i < n_trials; i++)
            trial_run(&trials[i], device);
    for (int i = 0; answer && i < n_trials; i++)
        answer = trials[ASKED].best < 1e9 &&
            (i == ASKED || trials[i].best >= WORTH_IT * trials[ASKED].best);
    for (int i = 0; i < n_trials; i++)
        trial_close(&trials[i]);
    return answer;
}

/* Ask it of the first N weights.  Where these are all, and it is worth it,
 * COPIES keep what was measured.  False after a message. */
static bool
try_copies(const struct weights *weights, size_t n,
           const struct device *device, ggml_backend_buffer_type_t type,
           bool is_mapped, struct copies *copies, bool *is_worth)
{
    struct copies plain = { .ctx = NULL };
    bool is_done = make_copies(weights, n, type, copies);

    if (is_done && is_mapped && type != device->buft)
        is_done = make_copies(weights, n, device->buft, &plain);
    *is_worth = is_done && is_worth_it(device, weights, n, copies, &plain);
    copies_clear(&plain);
    if (!*is_worth || n < weights->n)
        copies_clear(copies);
    return is_done;
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

/* Copies of all weights, or none.  False after a message. */
static bool
copy_all(const struct weights *weights, const struct device *device,
         ggml_backend_buffer_type_t type, enum repack_mode mode,
         bool is_mapped, struct copies *copies)
{
    size_t all, sample;
    bool is_worth = true;

    first_weights(weights, SIZE_MAX, &all);
    if (weights->n == 0 ||
        (mode == REPACK_AUTO && (all < LEAST_BYTES || !has_memory(all))))
        return true;
    if (mode == REPACK_AUTO &&
        !try_copies(weights, first_weights(weights, SAMPLE_BYTES, &sample),
                    device, type, is_mapped, copies, &is_worth))
        return false;
    if (!is_worth || copies->ctx != NULL)
        return true;
    if (!make_copies(weights, weights->n, type, copies))
        return false;
    if (copies->ctx == NULL)
        tool_warning("no memory for %zu bytes of copied weights; they stay "
                     "as they are", all);
    return true;
}

static bool
repack_to(struct model *model, const struct device *device,
          ggml_backend_buffer_type_t type, enum repack_mode mode)
{
    struct copies copies = { .ctx = NULL };
    struct weights weights;
    struct ggml_tensor *copy;
    bool is_done;

    if (!find_weights(model, device, type, &weights))
        return false;
    is_done = copy_all(&weights, device, type, mode, model->is_mapped,
                       &copies);
    if (!is_done)
        copies_clear(&copies);
    if (copies.ctx != NULL) {
        copy = ggml_get_first_tensor(copies.ctx);
        for (size_t i = 0; i < weights.n; i++) {
            *weights.at[i].member = copy;
            copy = ggml_get_next_tensor(copies.ctx, copy);
        }
        model->copies = copies.ctx;
        model->copies_buffer = copies.buffer;
        model->is_repacked = type != device->buft;
    }
    free(weights.at);
    return is_done;
}

bool
model_repack(struct model *model, const struct device *device,
             enum repack_mode mode)
{
    ggml_backend_buffer_type_t *types =
        mode == REPACK_OFF ? NULL : extra_types(device);
    bool is_done = true;

    for (; is_done && types != NULL && *types != NULL && model->copies == NULL;
         types++)
        is_done = repack_to(model, device, *types, mode);
    if (is_done && mode == REPACK_AUTO && model->is_mapped &&
        model->copies == NULL)
        is_done = repack_to(model, device, device->buft, mode);
    if (is_done)
        tool_forget_reason();
    return is_done;
}
