/* SPDX-License-Identifier: MIT */
/*
 * ggml-impl.h - for writers of backends: the graph struct, operator parameters,
 * the tensor hash set, log macros and half floats.
 *
 * Everything here is in the header; nothing of it is exported by the library,
 * so that a module built with it needs the public symbols only.  Functions
 * check nothing unless they say so.  Any thread, on objects of its own.
 */
#ifndef GGML_IMPL_H
#define GGML_IMPL_H

#include "ggml.h"

#include "ggmlbackend.h"

#include "gguf.h"

#define GGML_H_PARTS
#include "ggml/cgraph.h"
#undef GGML_H_PARTS

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Alignment in bytes that buffers of host memory have. */
#define TENSOR_ALIGNMENT 32

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

/* assert.h has it from C11 on; before, what is asserted is not looked at. */
#if !defined(static_assert) && !defined(__cplusplus) && \
    (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#define static_assert(cond, text) struct ggml_impl_no_assert
#endif

/* ---- rounding ---- */

/* N rounded up to a multiple of 32. */
static inline int
ggml_up32(int n)
{
    return (n + 31) & ~31;
}

/* N rounded up to a multiple of M, a power of two. */
static inline int
ggml_up(int n, int m)
{
    return (n + m - 1) & ~(m - 1);
}

/* ---- log ---- */

/*
 * Text goes to the sink as it is: write the newline.  CONT goes on in a line.
 */
#define ggml_log_internal ggmlbackend_log
#define GGML_LOG(...)       ggml_log_internal(GGML_LOG_LEVEL_NONE, __VA_ARGS__)
#define GGML_LOG_INFO(...)  ggml_log_internal(GGML_LOG_LEVEL_INFO, __VA_ARGS__)
#define GGML_LOG_WARN(...)  ggml_log_internal(GGML_LOG_LEVEL_WARN, __VA_ARGS__)
#define GGML_LOG_ERROR(...) ggml_log_internal(GGML_LOG_LEVEL_ERROR, __VA_ARGS__)
#define GGML_LOG_DEBUG(...) ggml_log_internal(GGML_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define GGML_LOG_CONT(...)  ggml_log_internal(GGML_LOG_LEVEL_CONT, __VA_ARGS__)

/* A callback for ggml_log_set that writes all levels to stderr. */
static inline void
ggml_log_callback_default(
    enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)user_data;
    fputs(text, stderr);
    fflush(stderr);
}

/* Messages of level debug, there when GGML_DEBUG is at least 1, 5 or 10. */
#ifndef GGML_DEBUG
#define GGML_DEBUG 0
#endif
#if GGML_DEBUG >= 1
#define GGML_PRINT_DEBUG(...) GGML_LOG_DEBUG(__VA_ARGS__)
#else
#define GGML_PRINT_DEBUG(...)
#endif
#if GGML_DEBUG >= 5
#define GGML_PRINT_DEBUG_5(...) GGML_LOG_DEBUG(__VA_ARGS__)
#else
#define GGML_PRINT_DEBUG_5(...)
#endif
#if GGML_DEBUG >= 10
#define GGML_PRINT_DEBUG_10(...) GGML_LOG_DEBUG(__VA_ARGS__)
#else
#define GGML_PRINT_DEBUG_10(...)
#endif

/* ---- aligned memory ---- */

/*
 * SIZE bytes at a multiple of 64, NULL when SIZE is 0 or there are none; the
 * block is given back with ggml_aligned_free by the module that took it.  The
 * place of what malloc gave stands before the block, so that plain C is enough.
 */
static inline void *
ggml_aligned_malloc(size_t size)
{
    const size_t room = 64 + sizeof(void *);
    char *block, *aligned;

    block = size == 0 || size > SIZE_MAX - room
        ? NULL : (char *)malloc(size + room);
    if (block == NULL)
        return NULL;
    aligned = block + room - ((uintptr_t)block + room) % 64;
    memcpy(aligned - sizeof(block), &block, sizeof(block));
    return aligned;
}

/* SIZE is what was asked for; PTR may be NULL. */
static inline void
ggml_aligned_free(void *ptr, size_t size)
{
    char *block;

    (void)size;
    if (ptr == NULL)
        return;
    memcpy(&block, (char *)ptr - sizeof(block), sizeof(block));
    free(block);
}

/* ---- operator parameters ---- */

/* Copy SIZE <= GGML_MAX_OP_PARAMS bytes to the parameters' beginning. */
static inline void
ggml_set_op_params(
    struct ggml_tensor *tensor, const void *params, size_t params_size)
{
    memcpy(tensor->op_params, params, params_size);
}

/* Word I, 0 to 15, as what it was stored as. */
static inline int32_t
ggml_get_op_params_i32(const struct ggml_tensor *tensor, uint32_t i)
{
    return tensor->op_params[i];
}

static inline float
ggml_get_op_params_f32(const struct ggml_tensor *tensor, uint32_t i)
{
    float value;

    memcpy(&value, &tensor->op_params[i], sizeof(value));
    return value;
}

static inline void
ggml_set_op_params_i32(struct ggml_tensor *tensor, uint32_t i, int32_t value)
{
    tensor->op_params[i] = value;
}

static inline void
ggml_set_op_params_f32(struct ggml_tensor *tensor, uint32_t i, float value)
{
    memcpy(&tensor->op_params[i], &value, sizeof(value));
}

/*
 * Parameters of GGML_OP_MAP_CUSTOM1 to 3, stored bytewise (they are unaligned).
 */
struct ggml_map_custom1_op_params {
    ggml_custom1_op_t fun;
    int n_tasks;
    void *userdata;
};

struct ggml_map_custom2_op_params {
    ggml_custom2_op_t fun;
    int n_tasks;
    void *userdata;
};

struct ggml_map_custom3_op_params {
    ggml_custom3_op_t fun;
    int n_tasks;
    void *userdata;
};

/* ---- bit sets ---- */

#define BITSET_SHR  5
#define BITSET_MASK (sizeof(ggml_bitset_t) * 8 - 1)

/* Words that N bits take. */
static inline size_t
ggml_bitset_size(size_t n)
{
    return (n + BITSET_MASK) >> BITSET_SHR;
}

static inline bool
ggml_bitset_get(const ggml_bitset_t *bitset, size_t i)
{
    return (bitset[i >> BITSET_SHR] >> (i & BITSET_MASK) & 1) != 0;
}

static inline void
ggml_bitset_set(ggml_bitset_t *bitset, size_t i)
{
    bitset[i >> BITSET_SHR] |= (ggml_bitset_t)1 << (i & BITSET_MASK);
}

static inline void
ggml_bitset_clear(ggml_bitset_t *bitset, size_t i)
{
    bitset[i >> BITSET_SHR] &= ~((ggml_bitset_t)1 << (i & BITSET_MASK));
}

/* ---- hash set of tensors ---- */

#define GGML_HASHSET_FULL           ((size_t)-1)
#define GGML_HASHSET_ALREADY_EXISTS ((size_t)-2)

/*
 * Slots of a set for at least MIN_SIZE tensors.  Addresses in an arena often
 * have one distance, which must not share a divisor with the size, or few slots
 * would be used: so it is a prime, the first behind a power of two, up to 2^31,
 * and an odd number above.
 */
static inline size_t
ggml_hash_size(size_t min_size)
{
    /* By the power's exponent: how far behind it that prime is. */
    static const unsigned char behind[32] = {
        1, 1, 1, 3, 1, 5, 3, 3, 1, 9, 7, 5, 3, 17, 27, 3,
        1, 29, 3, 21, 7, 17, 15, 9, 43, 35, 15, 29, 3, 11, 3, 11
    };
    size_t power = 1;

    for (int exponent = 0; exponent < 32; exponent++) {
        if (power + behind[exponent] >= min_size)
            return power + behind[exponent];
        power *= 2;
    }
    return min_size % 2 == 0 ? min_size + 1 : min_size;
}

/* Tensors are at least 16 bytes apart, so that the low bits say nothing. */
static inline size_t
ggml_hash(const struct ggml_tensor *key)
{
    return (size_t)((uintptr_t)key >> 4);
}

/* KEY's slot, or the free one where it would be; FULL when there is neither. */
static inline size_t
ggml_hash_find(const struct ggml_hash_set *set, const struct ggml_tensor *key)
{
    size_t i = set->size > 0 ? ggml_hash(key) % set->size : 0;

    for (size_t tried = 0; tried < set->size; tried++) {
        if (!ggml_bitset_get(set->used, i) || set->keys[i] == key)
            return i;
        i = i + 1 < set->size ? i + 1 : 0;
    }
    return GGML_HASHSET_FULL;
}

static inline bool
ggml_hash_contains(
    const struct ggml_hash_set *set, const struct ggml_tensor *key)
{
    const size_t i = ggml_hash_find(set, key);

    return i != GGML_HASHSET_FULL && ggml_bitset_get(set->used, i);
}

/* The slot that KEY got, ALREADY_EXISTS, or FULL. */
static inline size_t
ggml_hash_insert(struct ggml_hash_set *set, struct ggml_tensor *key)
{
    const size_t i = ggml_hash_find(set, key);

    if (i == GGML_HASHSET_FULL)
        return i;
    if (ggml_bitset_get(set->used, i))
        return GGML_HASHSET_ALREADY_EXISTS;
    ggml_bitset_set(set->used, i);
    set->keys[i] = key;
    return i;
}

/* The slot that KEY has or got, or FULL. */
static inline size_t
ggml_hash_find_or_insert(struct ggml_hash_set *set, struct ggml_tensor *key)
{
    const size_t i = ggml_hash_find(set, key);

    if (i != GGML_HASHSET_FULL) {
        ggml_bitset_set(set->used, i);
        set->keys[i] = key;
    }
    return i;
}

/* Take all tensors out. */
static inline void
ggml_hash_set_reset(struct ggml_hash_set *set)
{
    if (set->size > 0)
        memset(set->used, 0, ggml_bitset_size(set->size) * sizeof(*set->used));
}

static inline void
ggml_hash_set_free(struct ggml_hash_set *set)
{
    free(set->used);
    free(set->keys);
    memset(set, 0, sizeof(*set));
}

/* An empty set for SIZE tensors; one of size 0 when there is no memory. */
static inline struct ggml_hash_set
ggml_hash_set_new(size_t size)
{
    struct ggml_hash_set set;

    set.size = ggml_hash_size(size);
    set.used = (ggml_bitset_t *)calloc(
        ggml_bitset_size(set.size), sizeof(*set.used));
    set.keys = (struct ggml_tensor **)calloc(set.size, sizeof(*set.keys));
    if (set.used == NULL || set.keys == NULL)
        ggml_hash_set_free(&set);
    return set;
}

/* ---- graphs ---- */

/* Nodes I0 up to, but not with, I1; it lives as long as CGRAPH's arrays. */
static inline struct ggml_cgraph
ggml_graph_view(struct ggml_cgraph *cgraph, int i0, int i1)
{
    struct ggml_cgraph view;

    memset(&view, 0, sizeof(view));
    view.n_nodes = i1 - i0;
    view.nodes = cgraph->nodes + i0;
    view.order = cgraph->order;
    return view;
}

/* ---- half floats ---- */

/* The bits of a float, and the float of bits. */
static inline uint32_t
ggml_impl_float_bits(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static inline float
ggml_impl_bits_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Exact; a NaN stays one and becomes quiet. */
static inline float
ggml_compute_fp16_to_fp32(ggml_fp16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    const uint32_t low = h & 0x7fff;

    if (low > 0x7c00)
        return ggml_impl_bits_float(sign | 0x7fc00000 | low << 13);
    if (low == 0x7c00)
        return ggml_impl_bits_float(sign | 0x7f800000);
    if (low >= 0x0400)
        return ggml_impl_bits_float(sign | (low + (112u << 10)) << 13);
    /* Subnormal: so many steps of 2^-24, which a float has exactly. */
    return ggml_impl_bits_float(
        sign | ggml_impl_float_bits((float)low * (1.0f / 16777216.0f)));
}

/* To nearest, ties to even; 65520 and more become infinite, a NaN stays one. */
static inline ggml_fp16_t
ggml_compute_fp32_to_fp16(float f)
{
    const uint32_t bits = ggml_impl_float_bits(f);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t low = bits & 0x7fffffff;

    if (low > 0x7f800000)
        return (ggml_fp16_t)(sign | 0x7e00);
    if (low >= 0x477ff000)
        return (ggml_fp16_t)(sign | 0x7c00);
    if (low >= 0x38800000) {
        const uint32_t odd = low >> 13 & 1;

        return (ggml_fp16_t)(
            sign | ((low - (112u << 23) + 0x0fff + odd) >> 13));
    }
    /* A float of this exponent has steps of 2^-24: adding it rounds. */
    return (ggml_fp16_t)(
        sign | (ggml_impl_float_bits(ggml_impl_bits_float(low) + 0.5f)
                - 0x3f000000));
}

static inline float
ggml_lookup_fp16_to_fp32(ggml_fp16_t f)
{
    return ggml_compute_fp16_to_fp32(f);
}

static inline float
ggml_compute_bf16_to_fp32(ggml_bf16_t h)
{
    return ggml_impl_bits_float((uint32_t)h.bits << 16);
}

/* To nearest, ties to even; a NaN stays one and becomes quiet. */
static inline ggml_bf16_t
ggml_compute_fp32_to_bf16(float s)
{
    const uint32_t bits = ggml_impl_float_bits(s);
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    ggml_bf16_t h;

    h.bits = (uint16_t)(is_nan ? bits >> 16 | 0x40
                               : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    return h;
}

#define GGML_COMPUTE_FP16_TO_FP32(x) ggml_compute_fp16_to_fp32(x)
#define GGML_COMPUTE_FP32_TO_FP16(x) ggml_compute_fp32_to_fp16(x)
#define GGML_FP16_TO_FP32(x)         ggml_compute_fp16_to_fp32(x)
#define GGML_FP32_TO_FP16(x)         ggml_compute_fp32_to_fp16(x)
#define GGML_BF16_TO_FP32(x)         ggml_compute_bf16_to_fp32(x)
#define GGML_FP32_TO_BF16(x)         ggml_compute_fp32_to_bf16(x)

#ifdef __cplusplus
}
#endif

#endif
