/* SPDX-License-Identifier: MIT */
/*
 * model/arch.h - the architectures that are known, and one model's sizes.
 */
#ifndef TOOLS_MODEL_ARCH_H
#define TOOLS_MODEL_ARCH_H

#include "tools/model/keys.h"

#include <stdbool.h>
#include <stdint.h>

/* What makes one architecture different from another. */
struct arch {
    const char *name;    /* general.architecture */
    int rope_mode;       /* of ggml_rope_ext */
    bool needs_qkv_bias; /* else biases are used where the file has them */
    bool has_qk_norm;    /* each head's q and k are normalised */
    bool has_post_norm;  /* so are the results of attention and of the FFN */
    bool scales_input;   /* embeddings are multiplied by sqrt(n_embd) */
    bool gates_by_gelu;  /* else by silu */
    int window_period;   /* one layer in so many sees all, the others a window,
                            unless the file says more; 0: all layers see all */
};

/* Parameters of the rotary embedding, as ggml_rope_ext takes them. */
struct rope {
    float base;
    float scale;
    float ext_factor;
    float attn_factor;
    float beta_fast;
    float beta_slow;
    int n_ctx_orig;
};

/* The sizes of one layer; most models have the same in all. */
struct layer_sizes {
    int64_t n_ff;
    int64_t n_head;
    int64_t n_head_kv;
    int64_t n_head_k; /* elements of one head's key and query */
    int64_t n_head_v; /* and of its value */
    int64_t n_rot;    /* elements of a head that are rotated */
    bool is_windowed; /* it sees a window only */
    float attn_scale; /* the factor on q·k */
};

struct hparams {
    const struct arch *arch;
    int64_t n_layer;
    int64_t n_embd;
    int64_t n_ctx_train;
    int64_t window; /* positions a windowed layer sees, 0 without windows */
    float norm_eps;
    struct rope rope;       /* of layers that see all */
    struct rope rope_local; /* of layers with a window */
    struct layer_sizes *layers;
};

/* Read and check all of it; false after a message. */
bool hparams_read(struct hparams *hparams, const struct gguf_context *gguf);

void hparams_clear(struct hparams *hparams);

#endif
