/* SPDX-License-Identifier: MIT */
/*
 * ggml/op-custom.h - part of ggml.h: operations that the client computes.
 *
 * The function is called while a graph is computed, by threads of the backend,
 * and has to be thread safe.  Its tensors are in memory of the host; only
 * backends that compute there run such nodes.  What holds for all builders
 * stands at the top of ggml/op.h; the function may not be NULL.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_OP_CUSTOM_H
#define GGML_OP_CUSTOM_H

#ifdef __cplusplus
extern "C" {
#endif

/* -- Shared out to threads ----------------------------------------------- */

/*
 * Compute a share of dst: number ITH of NTH, each in a thread of its own.  The
 * sources and dst may be of any type, shape and layout; it is the function's
 * business to read and write them right.  It writes all elements of its share,
 * which hold anything before.  Nodes behind it see what else it writes.
 *
 *   userdata  what the builder was given
 */
typedef void (*ggml_custom1_op_t)(
    struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
    void *userdata);
typedef void (*ggml_custom2_op_t)(
    struct ggml_tensor *dst, const struct ggml_tensor *a,
    const struct ggml_tensor *b, int ith, int nth, void *userdata);
typedef void (*ggml_custom3_op_t)(
    struct ggml_tensor *dst, const struct ggml_tensor *a,
    const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
    int nth, void *userdata);

/*
 * The function FUN of one, two or three tensors.
 *
 *   n_tasks  how many shares, above 0; GGML_N_TASKS_MAX for as many as there
 *            are threads.  Never more than threads
 *   dst      the type and the shape of a
 *
 * Parameters, byte by byte: FUN at 0, N_TASKS at 8, USERDATA at 16 (where
 * pointers have 8 bytes).
 */
GGML_API struct ggml_tensor *ggml_map_custom1(
    struct ggml_context *ctx, struct ggml_tensor *a, ggml_custom1_op_t fun,
    int n_tasks, void *userdata);
GGML_API struct ggml_tensor *ggml_map_custom1_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, ggml_custom1_op_t fun,
    int n_tasks, void *userdata);
GGML_API struct ggml_tensor *ggml_map_custom2(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    ggml_custom2_op_t fun, int n_tasks, void *userdata);
GGML_API struct ggml_tensor *ggml_map_custom2_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    ggml_custom2_op_t fun, int n_tasks, void *userdata);
GGML_API struct ggml_tensor *ggml_map_custom3(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, ggml_custom3_op_t fun, int n_tasks,
    void *userdata);
GGML_API struct ggml_tensor *ggml_map_custom3_inplace(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, ggml_custom3_op_t fun, int n_tasks,
    void *userdata);

/* -- In one thread, deprecated ------------------------------------------- */

/* Compute a row of N elements: dst from a, or from a and b. */
typedef void (*ggml_unary_op_f32_t)(const int n, float *dst, const float *a);
typedef void (*ggml_binary_op_f32_t)(
    const int n, float *dst, const float *a, const float *b);

/* Compute all of dst. */
typedef void (*ggml_custom1_op_f32_t)(
    struct ggml_tensor *dst, const struct ggml_tensor *a);
typedef void (*ggml_custom2_op_f32_t)(
    struct ggml_tensor *dst, const struct ggml_tensor *a,
    const struct ggml_tensor *b);
typedef void (*ggml_custom3_op_f32_t)(
    struct ggml_tensor *dst, const struct ggml_tensor *a,
    const struct ggml_tensor *b, const struct ggml_tensor *c);

/*
 * FUN of each row of F32 elements; a and b have one shape.
 *
 * Parameters: the bytes of FUN.
 */
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_unary_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, ggml_unary_op_f32_t fun),
    "replaced by ggml_map_custom1");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_unary_inplace_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, ggml_unary_op_f32_t fun),
    "replaced by ggml_map_custom1_inplace");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_binary_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    ggml_binary_op_f32_t fun),
    "replaced by ggml_map_custom2");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_binary_inplace_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    ggml_binary_op_f32_t fun),
    "replaced by ggml_map_custom2_inplace");

/*
 * FUN of one, two or three whole tensors.
 *
 * Parameters: the bytes of FUN.
 */
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_custom1_f32(
    struct ggml_context *ctx, struct ggml_tensor *a,
    ggml_custom1_op_f32_t fun),
    "replaced by ggml_map_custom1");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_custom1_inplace_f32(
    struct ggml_context *ctx, struct ggml_tensor *a,
    ggml_custom1_op_f32_t fun),
    "replaced by ggml_map_custom1_inplace");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_custom2_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    ggml_custom2_op_f32_t fun),
    "replaced by ggml_map_custom2");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_custom2_inplace_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    ggml_custom2_op_f32_t fun),
    "replaced by ggml_map_custom2_inplace");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_custom3_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, ggml_custom3_op_f32_t fun),
    "replaced by ggml_map_custom3");
GGML_DEPRECATED(GGML_API struct ggml_tensor *ggml_map_custom3_inplace_f32(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
    struct ggml_tensor *c, ggml_custom3_op_f32_t fun),
    "replaced by ggml_map_custom3_inplace");

#ifdef __cplusplus
}
#endif

#endif
