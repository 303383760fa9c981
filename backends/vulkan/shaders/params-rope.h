/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-rope.h - rotary position embedding: dst, src,
 * positions, factors, inner.
 */
#include "params.h"

/* Tensors are [row, heads, tokens, batches].  An invocation has one slot, a
 * pair or what is copied, of some heads of a token. */
GB_PARAMS(gb_vk_rope_params, 5)
    uint32_t ne[3];
    uint32_t dst_nb[4];
    uint32_t src_nb[4];
    uint32_t position_nb;
    uint32_t factor_nb;   /* of what divides frequencies */
    uint32_t flags;       /* GB_VK_ROPE_… */
    uint32_t n_pairs;     /* rotated ones; elements behind them are copied */
    uint32_t per_item;    /* heads of an invocation */
    uint32_t n_items;     /* invocations */
    uint32_t sections[2]; /* pairs of each stream in turn, 16 bits each */
    float power[2];       /* the quotient of neighbours' frequencies, a sum */
    float freq_scale;
    float ext_factor;     /* how much frequencies are blended (YaRN) */
    float corr[2];        /* pairs between which they are */
    float factor;         /* on the rotated values */
GB_PARAMS_END

/* Types are in the lowest bits. */
#define GB_VK_ROPE_DST_TYPE(flags) ((flags) & 3u)
#define GB_VK_ROPE_SRC_TYPE(flags) ((flags) >> 2 & 3u)
#define GB_VK_ROPE_SPLIT 16u    /* pairs are n_pairs apart, not neighbours */
#define GB_VK_ROPE_VISION 32u   /* exponents begin again with each section */
#define GB_VK_ROPE_STREAMS 64u  /* each token has four positions */
#define GB_VK_ROPE_FACTORS 128u /* there are factors, or else the operand means
                                   nothing */
#define GB_VK_ROPE_BACK 256u    /* rotate the other way */
#define GB_VK_ROPE_WORDS 512u   /* neighbours in rows of dst make words */
#define GB_VK_ROPE_HAS_INNER 1024u /* the result goes into inner besides, F32
                                      without gaps */
