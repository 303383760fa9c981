/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/ops/driver.h - one operation, tile by tile, on every variant.
 *
 * A case builds a node in the bench's context and gives a reference: what each
 * element must be, computed in double.  check() evaluates the reference first,
 * then computes the node on each variant twice, with the tiles in order and in
 * reverse order: both must give the same bits and change nothing but the node.
 * At last strides that mean nothing change, which must not change anything.
 */
#ifndef GB_TESTS_CPU_OPS_DRIVER_H
#define GB_TESTS_CPU_OPS_DRIVER_H

#include "backends/cpu/ops/check.h"

#include "lib/base/attr.h"

#include "tests/cpu/blocks.h"

#include "ggml-cpu.h"
#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every test begins with: a context over memory that can be put back. */
struct bench {
    struct ggml_context *ctx;
    char *memory;
    char *saved; /* of the last check */
    size_t size;
    uint64_t seed;
};

static inline struct bench
bench_open(void)
{
    struct bench bench = { .size = (size_t)4 << 20, .seed = 1 };

    bench.memory = aligned_alloc(64, bench.size);
    bench.saved = malloc(bench.size);
    assert_non_null(bench.memory);
    assert_non_null(bench.saved);
    /* Floats that are not written are NaN. */
    memset(bench.memory, 0xFF, bench.size);
    bench.ctx = ggml_init((struct ggml_init_params){
        .mem_size = bench.size,
        .mem_buffer = bench.memory,
    });
    assert_non_null(bench.ctx);
    return bench;
}

static inline void
bench_close(struct bench *bench)
{
    ggml_free(bench->ctx);
    free(bench->memory);
    free(bench->saved);
}

/* A number in [lo, hi). */
static inline double
draw(struct bench *bench, double lo, double hi)
{
    uint64_t z = bench->seed += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return lo + (hi - lo) * (double)(z >> 11) * 0x1p-53;
}

static inline char *
place(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
      int64_t i3)
{
    return (char *)t->data +
           (size_t)(i0 / ggml_blck_size(t->type)) * t->nb[0] +
           (size_t)i1 * t->nb[1] + (size_t)i2 * t->nb[2] +
           (size_t)i3 * t->nb[3];
}

/* An element's value; of quantised types as the row's reader gives it. */
static inline double
at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
   int64_t i3)
{
    const char *p = place(t, i0, i1, i2, i3);
    float block[256];

    switch ((int)t->type) {
    case GGML_TYPE_F32:
        return *(const float *)(const void *)p;
    case GGML_TYPE_F16:
        return ggml_fp16_to_fp32(*(const uint16_t *)(const void *)p);
    case GGML_TYPE_BF16:
        return ggml_bf16_to_fp32(*(const ggml_bf16_t *)(const void *)p);
    case GGML_TYPE_I8:
        return *(const int8_t *)p;
    case GGML_TYPE_I16:
        return *(const int16_t *)(const void *)p;
    case GGML_TYPE_I32:
        return *(const int32_t *)(const void *)p;
    case GGML_TYPE_I64:
        return (double)*(const int64_t *)(const void *)p;
    case GGML_TYPE_F64:
        return *(const double *)(const void *)p;
    default:
        ggml_get_type_traits(t->type)->to_float(
            p, block, ggml_blck_size(t->type));
        return block[i0 % ggml_blck_size(t->type)];
    }
}

static inline void
put(struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3,
    double value)
{
    void *p = place(t, i0, i1, i2, i3);

    switch ((int)t->type) {
    case GGML_TYPE_F32:
        *(float *)p = (float)value;
        break;
    case GGML_TYPE_F16:
        *(uint16_t *)p = ggml_fp32_to_fp16((float)value);
        break;
    case GGML_TYPE_BF16:
        *(ggml_bf16_t *)p = ggml_fp32_to_bf16((float)value);
        break;
    case GGML_TYPE_I8:
        *(int8_t *)p = (int8_t)value;
        break;
    case GGML_TYPE_I16:
        *(int16_t *)p = (int16_t)value;
        break;
    case GGML_TYPE_I32:
        *(int32_t *)p = (int32_t)value;
        break;
    case GGML_TYPE_I64:
        *(int64_t *)p = (int64_t)value;
        break;
    case GGML_TYPE_F64:
        *(double *)p = value;
        break;
    default:
        fail_msg("no single values of type %s", ggml_type_name(t->type));
    }
}

/* One block of random values; of a type that has no row quantiser, of any
 * bytes. */
static inline void
fill_block(struct bench *bench, enum ggml_type type, void *to, double lo,
           double hi)
{
    const struct ggml_type_traits *traits = ggml_get_type_traits(type);
    unsigned char *bytes = to;
    float values[256];

    for (int64_t i = 0; i < traits->blck_size; i++)
        values[i] = (float)draw(bench, lo, hi);
    if (traits->from_float_ref != NULL) {
        traits->from_float_ref(values, to, traits->blck_size);
        return;
    }
    for (size_t i = 0; i < traits->type_size; i++)
        bytes[i] = (unsigned char)draw(bench, 0.0, 256.0);
    settle_scales(type, 1, to);
}

/* Random values in [lo, hi) everywhere. */
static inline void
fill(struct bench *bench, struct ggml_tensor *t, double lo, double hi)
{
    const int64_t block = ggml_blck_size(t->type);

    for (int64_t i = 0; i < ggml_nelements(t); i += block) {
        const int64_t i0 = i % t->ne[0];
        const int64_t row = i / t->ne[0];
        const int64_t i1 = row % t->ne[1];
        const int64_t i2 = row / t->ne[1] % t->ne[2];
        const int64_t i3 = row / t->ne[1] / t->ne[2];

        if (block == 1)
            put(t, i0, i1, i2, i3, draw(bench, lo, hi));
        else
            fill_block(bench, t->type, place(t, i0, i1, i2, i3), lo, hi);
    }
}

/* How a tensor lies in memory. */
enum layout {
    DENSE,
    PADDED,     /* rows have room behind them */
    TRANSPOSED, /* dimensions 0 and 1 swapped */
    PERMUTED,   /* dimensions 1 and 2 swapped */
    SPARSE,     /* every second element of dimension 0 */
    N_LAYOUTS,
};

/* A filled tensor of the given shape. */
static inline struct ggml_tensor *
tensor(struct bench *bench, enum ggml_type type, enum layout layout,
       int64_t n0, int64_t n1, int64_t n2, int64_t n3)
{
    struct ggml_context *ctx = bench->ctx;
    const int64_t block = ggml_blck_size(type);
    struct ggml_tensor *t = NULL;

    switch ((int)layout) {
    case DENSE:
        t = ggml_new_tensor_4d(ctx, type, n0, n1, n2, n3);
        break;
    case PADDED:
        t = ggml_new_tensor_4d(ctx, type, n0 + block, n1, n2, n3);
        t = ggml_view_4d(ctx, t, n0, n1, n2, n3, t->nb[1], t->nb[2],
                         t->nb[3], 0);
        break;
    case TRANSPOSED:
        t = ggml_transpose(
            ctx, ggml_new_tensor_4d(ctx, type, n1, n0, n2, n3));
        break;
    case PERMUTED:
        t = ggml_permute(ctx, ggml_new_tensor_4d(ctx, type, n0, n2, n1, n3),
                         0, 2, 1, 3);
        break;
    case SPARSE:
        t = ggml_permute(
            ctx, ggml_new_tensor_4d(ctx, type, 2, n0, n1, n2 * n3), 3, 0, 1,
            2);
        t = ggml_view_4d(ctx, t, n0, n1, n2, n3, t->nb[1], t->nb[2],
                         t->nb[2] * (size_t)n2, 0);
        t->nb[0] = 2 * ggml_type_size(type);
        break;
    }
    assert_non_null(t);
    assert_non_null(t->data);
    fill(bench, t, -1.0, 1.0);
    return t;
}

/* What element (i0, i1, i2, i3) of NODE must be. */
typedef double (*reference_fn)(
    const struct ggml_tensor *node, int64_t i0, int64_t i1, int64_t i2,
    int64_t i3);

static inline enum ggml_status
run_phase(const struct gb_cpu_task *task, gb_cpu_tile_fn phase, bool reverse)
{
    for (int64_t i = 0; i < task->n_tiles; i++) {
        const enum ggml_status status =
            phase(task, reverse ? task->n_tiles - 1 - i : i);

        if (status != GGML_STATUS_SUCCESS)
            return status;
    }
    return GGML_STATUS_SUCCESS;
}

/* Memory of exactly SIZE bytes that begins as NaN. */
static inline void *
work_memory(size_t size)
{
    void *memory = NULL;

    if (size == 0)
        return NULL;
    assert_int_equal(posix_memalign(&memory, 64, size), 0);
    memset(memory, 0xFF, size);
    return memory;
}

/* All phases of NODE, with one thread's scratch. */
static inline enum ggml_status
compute(struct ggml_tensor *node, const struct gb_cpu_kernels *k,
        bool reverse)
{
    const struct gb_cpu_op *op = gb_cpu_op_find(node);
    _Alignas(8) char tiling[GB_CPU_TILING_MAX];
    struct gb_cpu_task task = {
        .node = node, .k = k, .tiling = tiling, .n_threads = 3
    };
    struct gb_cpu_needs needs;
    enum ggml_status status = GGML_STATUS_SUCCESS;

    assert_non_null(op);
    if (ggml_is_empty(node))
        return GGML_STATUS_SUCCESS;
    if (op->tile != NULL)
        op->tile(node, k, tiling, &needs);
    else
        needs = gb_cpu_op_needs(node, op);
    task.scratch = work_memory(needs.scratch);
    task.shared = work_memory(needs.shared);
    if (op->prepare != NULL) {
        task.n_tiles = needs.prepare_tiles;
        status = run_phase(&task, op->prepare, reverse);
    }
    if (status == GGML_STATUS_SUCCESS) {
        task.n_tiles = needs.tiles;
        if (op->tiles_by_threads && task.n_tiles > task.n_threads)
            task.n_tiles = task.n_threads;
        status = run_phase(&task, op->run, reverse);
    }
    if (status == GGML_STATUS_SUCCESS && op->finish != NULL) {
        task.n_tiles = 1;
        status = op->finish(&task, 0);
    }
    free(task.scratch);
    free(task.shared);
    return status;
}

static inline bool
can_run(const struct ggml_tensor *node)
{
    const struct gb_cpu_op *op = gb_cpu_op_find(node);
    struct gb_cpu_known known;

    gb_cpu_known_init(&known);
    return op != NULL && gb_cpu_can_compute(node, op, &known);
}

/* Bytes of the memory that tensors can be in, and some behind them. */
static inline size_t
guarded(const struct bench *bench)
{
    const size_t used = ggml_used_mem(bench->ctx) + 4096;

    return used < bench->size ? used : bench->size;
}

/* Nothing outside of NODE's bytes differs from what was saved. */
static inline void
check_surroundings(const struct bench *bench, const struct ggml_tensor *node,
                   const char *variant)
{
    const size_t first = (size_t)((const char *)node->data - bench->memory);
    const size_t behind = first + ggml_nbytes(node);

    if (memcmp(bench->memory, bench->saved, first) != 0 ||
        memcmp(bench->memory + behind, bench->saved + behind,
               guarded(bench) - behind) != 0)
        fail_msg("%s on %s: bytes outside of the node were changed",
                 ggml_op_desc(node), variant);
}

static inline double *
references(const struct ggml_tensor *node, reference_fn reference)
{
    double *expected =
        malloc(sizeof(double) * (size_t)(ggml_nelements(node) + 1));
    int64_t i = 0;

    assert_non_null(expected);
    for (int64_t i3 = 0; i3 < node->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < node->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < node->ne[1]; i1++)
                for (int64_t i0 = 0; i0 < node->ne[0]; i0++)
                    expected[i++] = reference(node, i0, i1, i2, i3);
    return expected;
}

/* Same infinities, NaN where NaN is expected, and the squared error over the
 * squared values at most NMSE. */
static inline void
compare(const struct ggml_tensor *node, const double *expected, double nmse,
        const char *variant)
{
    double error = 0.0;
    double size = 0.0;
    int64_t i = 0;

    for (int64_t i3 = 0; i3 < node->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < node->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < node->ne[1]; i1++)
                for (int64_t i0 = 0; i0 < node->ne[0]; i0++, i++) {
                    const double got = at(node, i0, i1, i2, i3);
                    const double want = expected[i];

                    if (isnan(want) && isnan(got))
                        continue;
                    if (isinf(want) && want == got)
                        continue;
                    if (!isfinite(got) || !isfinite(want))
                        fail_msg("%s on %s: %g, not %g, at %d %d %d %d",
                                 ggml_op_desc(node), variant, got, want,
                                 (int)i0, (int)i1, (int)i2, (int)i3);
                    if (nmse == 0.0 && got != want)
                        fail_msg("%s on %s: %.9g, not %.9g, at %d %d %d %d",
                                 ggml_op_desc(node), variant, got, want,
                                 (int)i0, (int)i1, (int)i2, (int)i3);
                    error += (got - want) * (got - want);
                    size += want * want;
                }
    if (error > nmse * size)
        fail_msg("%s on %s: error %g of %g (%s %d %d %d %d)",
                 ggml_op_desc(node), variant, error / size, nmse,
                 ggml_type_name(node->type), (int)node->ne[0],
                 (int)node->ne[1], (int)node->ne[2], (int)node->ne[3]);
}

/* Give T a stride that nobody can have meant wherever no step is taken: along
 * dimensions of one element, or of one block. */
static inline void
loosen(struct ggml_tensor *t)
{
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        if (t->ne[d] == (d == 0 ? ggml_blck_size(t->type) : 1))
            t->nb[d] = ((size_t)1 << 5 * sizeof(size_t)) + 13;
}

/* NODE can be computed whatever such strides are, its own and its sources', and
 * is what was expected. */
static inline void
check_loosened(struct bench *bench, struct ggml_tensor *node,
               const double *expected, double nmse)
{
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();
    const size_t bytes = ggml_nbytes(node);

    memcpy(bench->memory, bench->saved, guarded(bench));
    loosen(node);
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL)
            loosen(node->src[i]);
    assert_int_equal(ggml_nbytes(node), bytes);
    if (!can_run(node))
        fail_msg("%s: cannot run with other strides along dimensions of one "
                 "element", ggml_op_desc(node));
    memcpy(bench->saved, bench->memory, guarded(bench));
    for (; *variants != NULL; variants++) {
        memcpy(bench->memory, bench->saved, guarded(bench));
        assert_int_equal(compute(node, *variants, false), GGML_STATUS_SUCCESS);
        check_surroundings(bench, node, (*variants)->variant);
        compare(node, expected, nmse, (*variants)->variant);
    }
}

/* NODE on every variant; NMSE 0 asks for the very numbers.  What the last
 * variant computed stays. */
static inline void
check(struct bench *bench, struct ggml_tensor *node, reference_fn reference,
      double nmse)
{
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();
    double *expected = references(node, reference);
    char *bits = malloc(ggml_nbytes(node) + 1);

    assert_non_null(bits);
    if (!can_run(node))
        fail_msg("%s: cannot run", ggml_op_desc(node));
    memcpy(bench->saved, bench->memory, guarded(bench));
    for (; *variants != NULL; variants++) {
        const char *variant = (*variants)->variant;

        memcpy(bench->memory, bench->saved, guarded(bench));
        assert_int_equal(compute(node, *variants, false), GGML_STATUS_SUCCESS);
        check_surroundings(bench, node, variant);
        compare(node, expected, nmse, variant);
        memcpy(bits, node->data, ggml_nbytes(node));
        memcpy(bench->memory, bench->saved, guarded(bench));
        assert_int_equal(compute(node, *variants, true), GGML_STATUS_SUCCESS);
        if (memcmp(bits, node->data, ggml_nbytes(node)) != 0)
            fail_msg("%s on %s: the order of tiles changes the result",
                     ggml_op_desc(node), variant);
    }
    check_loosened(bench, node, expected, nmse);
    free(bits);
    free(expected);
}

/* NODE fails with a status on the first variant. */
static inline void
check_fails(struct ggml_tensor *node)
{
    assert_true(can_run(node));
    assert_int_equal(compute(node, gb_cpu_kernels_all()[0], false),
                     GGML_STATUS_FAILED);
}

#endif
