/* SPDX-License-Identifier: MIT */
/*
 * model/model.h - a model's files: its sizes, and its weights on devices.
 */
#ifndef TOOLS_MODEL_MODEL_H
#define TOOLS_MODEL_MODEL_H

#include "tools/common/model-files.h"
#include "tools/model/arch.h"
#include "tools/model/devices.h"

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
    struct ggml_tensor *rope_freqs; /* the model's */
    int device; /* number of the one that has the layer */
};

struct model {
    const struct devices *devices;
    struct hparams hparams;
    int64_t n_vocab;
    struct ggml_tensor *token_embd;
    struct ggml_tensor *rope_freqs; /* NULL without */
    struct ggml_tensor *output_norm;
    struct ggml_tensor *output;     /* token_embd where the file has none */
    struct layer *layers;

    struct model_files files;
    struct gguf_context *gguf;      /* its keys, for the tokenizer */
    struct ggml_context *tensors;   /* its tensors */
    ggml_backend_buffer_t *buffers; /* of these on a single device: for each
                                       mapped file, or the first for all */
    struct part *parts;             /* of several, with the weights; or NULL */
    bool is_mapped;                 /* else the weights were copied */
    struct ggml_context *copies;    /* of weights of products, which are in
                                       their place; NULL for none */
    ggml_backend_buffer_t copies_buffer;
    bool is_repacked;               /* the copies are in another order */
};

/*
 * Open PATH and place its weights on DEVICES, which are kept: on a single one in
 * the mapped file itself when the device can use that and MAY_MAP, else in the
 * devices' memory.  Every size that is used later is checked here.  False after
 * a message.
 */
bool model_open(struct model *model, const char *path,
                const struct devices *devices, bool may_map);

/* Before the devices are closed. */
void model_close(struct model *model);

/* The device that has the last layer, and what comes behind it. */
const struct device *model_last_device(const struct model *model);

#endif
