/* SPDX-License-Identifier: MIT */
/*
 * model/model.h - a GGUF file: its sizes, and its weights on a device.
 */
#ifndef TOOLS_MODEL_MODEL_H
#define TOOLS_MODEL_MODEL_H

#include "tools/common/input.h"
#include "tools/model/arch.h"
#include "tools/model/device.h"

#include <stdbool.h>
#include <stddef.h>

/* Weights of one layer; those that the model does not have are NULL. */
struct layer {
    struct ggml_tensor *attn_norm;
    struct ggml_tensor *wq, *wk, *wv, *wo;
    struct ggml_tensor *bq, *bk, *bv, *bo;
    struct ggml_tensor *q_norm, *k_norm;
    struct ggml_tensor *attn_post_norm;
    struct ggml_tensor *ffn_norm;
    struct ggml_tensor *ffn_gate, *ffn_up, *ffn_down;
    struct ggml_tensor *ffn_post_norm;
};

struct model {
    struct hparams hparams;
    int64_t n_vocab;
    struct ggml_tensor *token_embd;
    struct ggml_tensor *rope_freqs; /* NULL without */
    struct ggml_tensor *output_norm;
    struct ggml_tensor *output;     /* token_embd where the file has none */
    struct layer *layers;

    struct gguf_context *gguf;      /* keys, for the tokenizer */
    struct ggml_context *tensors;
    ggml_backend_buffer_t buffer;
    struct input input;
    bool is_mapped;                 /* else the weights were copied */
    struct ggml_context *copies;    /* of weights of products, which are in
                                       their place; NULL for none */
    ggml_backend_buffer_t copies_buffer;
    bool is_repacked;               /* the copies are in another order */
};

/*
 * Open PATH and place its weights on DEVICE: in the mapped file itself when the
 * device can use that and MAY_MAP, else in the device's memory.  Every size
 * that is used later is checked here.  False after a message.
 */
bool model_open(struct model *model, const char *path,
                const struct device *device, bool may_map);

/* Before the device is closed. */
void model_close(struct model *model);

#endif
