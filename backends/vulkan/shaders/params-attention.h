/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-attention.h - attention of queries q [d, N, H, b] to keys
 * k [d, M, Hk, bk] and values v: dst [d, H, N, b], contiguous.  Operands: dst, q,
 * k, v, mask.
 *
 * Heads that share a key and a value head are a group.  A group's queries, those of
 * the first token, of the second and so on, are rows; a work group has some rows of
 * a group, a part of the keys, and a range of the d elements of its results.
 *
 * Where there are parts, dst has for each part and row of the result the maximum of
 * the scores, the sum of the exponentials, and d sums of values.
 */
#include "params.h"

GB_PARAMS(gb_vk_attention_params, 5)
    uint32_t n_groups;
    uint32_t d, n_keys, n_tokens, n_heads;
    uint32_t n_rows;  /* of the result */
    uint32_t q_nb[3], k_nb[3], v_nb[3]; /* of dimensions 1 to 3 */
    uint32_t mask_nb; /* of a token; not read where there is no mask */
    uint32_t group;   /* heads */
    uint32_t n_parts;
    uint32_t part;    /* keys of a part */
    uint32_t k_heads, v_heads;     /* that share a matrix */
    uint32_t k_batches, v_batches;
    float scale;      /* of products, divided by the softcap if there is one */
    float softcap;    /* 0: none */
    float max_bias;   /* 0: slopes are 1 */
    uint32_t has_mask;
GB_PARAMS_END
