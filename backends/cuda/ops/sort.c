/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/sort.c - the order of a row's elements.
 */
#include "backends/cuda/kernels/args-sort.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* Keys that rows sorted at once may have, which bounds the scratch to 64 MiB
 * but for rows that are longer themselves. */
#define KEYS_AT_ONCE ((int64_t)1 << 22)

static bool
is_one_run(const struct ggml_tensor *node)
{
    return node->ne[0] <= GB_CUDA_SORT_RUN;
}

static int64_t
rows_at_once(const struct ggml_tensor *node)
{
    const int64_t n_rows = ggml_nrows(node);
    int64_t rows;

    if (is_one_run(node))
        return n_rows;
    rows = KEYS_AT_ONCE / node->ne[0];
    rows = rows > 0 ? rows : 1;
    return rows < n_rows ? rows : n_rows;
}

static int64_t
key_count(const struct ggml_tensor *node)
{
    return rows_at_once(node) * node->ne[0];
}

/* Long rows are merged from one half of the scratch to the other and back. */
static size_t
argsort_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return is_one_run(node) ? 0
                            : 2 * (size_t)key_count(node) * sizeof(uint64_t);
}

/* Bytes of a run's keys, padded to a power of two. */
static size_t
shared_bytes(int64_t n)
{
    size_t padded = 1;

    while (padded < (size_t)n && padded < GB_CUDA_SORT_RUN)
        padded *= 2;
    return padded * sizeof(uint64_t);
}

/* Launch the sort of runs, and rounds of merges; the last round of all goes to
 * dst. */
static void
emit_rows(struct gb_cuda_emit *emit, struct gb_cuda_sort_args *args)
{
    uint64_t *const halves = (uint64_t *)emit->scratch;
    int64_t n_runs = args->n_runs;
    int half = 0;

    args->run = GB_CUDA_SORT_RUN;
    args->to = n_runs > 1 ? halves : NULL;
    GB_CUDA_LAUNCH(emit, gb_sort_runs,
                   gb_cuda_blocks(args->n_rows * n_runs, 1),
                   shared_bytes(args->n), args);
    for (; n_runs > 1; n_runs = (n_runs + 1) / 2) {
        args->from = halves + half * args->n_rows * args->n;
        half = !half;
        args->to =
            n_runs > 2 ? halves + half * args->n_rows * args->n : NULL;
        GB_CUDA_LAUNCH(emit, gb_merge_runs,
                       gb_cuda_blocks(args->n_rows * args->n, 256), 0, args);
        args->run *= 2;
    }
}

static void
argsort_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const int64_t n_rows = ggml_nrows(node);
    const int64_t at_once = rows_at_once(node);

    for (int64_t row = 0; row < n_rows; row += at_once) {
        struct gb_cuda_sort_args args = {
            .dst = gb_cuda_arg(node),
            .src0 = gb_cuda_arg(node->src[0]),
            .src_type = gb_cuda_float_of(node->src[0]->type),
            .is_descending =
                gb_node_param_i32(node, 0) == GGML_SORT_ORDER_DESC,
            .n = node->ne[0],
            .n_runs = (node->ne[0] + GB_CUDA_SORT_RUN - 1) /
                      GB_CUDA_SORT_RUN,
            .n_rows = n_rows - row < at_once ? n_rows - row : at_once,
            .first_row = row,
        };

        emit_rows(emit, &args);
    }
}

const struct gb_cuda_op gb_cuda_op_argsort = {
    .scratch = argsort_scratch,
    .emit = argsort_emit,
};
