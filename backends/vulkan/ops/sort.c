/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/sort.c - the order of a row's elements.
 *
 * Runs of a row are sorted in shared memory; longer rows have several, which
 * are merged two by two from one half of the scratch to the other, a dispatch a
 * round.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-sort.h"

#define KEY_SIZE 8

/* What is done to a key to sort a run: about so much. */
#define SORT_STEPS 100

static bool
is_one_run(const struct ggml_tensor *node)
{
    return node->ne[0] <= GB_VK_SORT_RUN;
}

/* An index must fit an int32_t, and the keys of a row a binding. */
static bool
argsort_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    return is_one_run(node) ||
           (size_t)node->ne[0] <= limits->range / KEY_SIZE;
}

/* Keys that rows sorted at once may have, which bounds the scratch to 64 MiB
 * but for rows that are longer themselves. */
#define KEYS_AT_ONCE ((int64_t)1 << 22)

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

static size_t
half_size(const struct ggml_tensor *node)
{
    return gb_vk_scratch_up(
        (size_t)(rows_at_once(node) * node->ne[0]) * KEY_SIZE);
}

static size_t
argsort_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return is_one_run(node) ? 0 : 2 * half_size(node);
}

/* Half NUMBER of the scratch. */
static struct gb_vk_bind
half_of(const struct ggml_tensor *node, int number, bool is_written)
{
    const size_t size = half_size(node);

    return gb_vk_scratch(number * size, size, is_written);
}

/* Dispatch the sort of runs, and rounds of merges; the last round of all goes
 * to NODE. */
static void
emit_rows(struct gb_vk_emit *emit, const struct ggml_tensor *node,
          struct gb_vk_sort_params *params)
{
    const bool is_short = params->n <= GB_VK_SORT_SHORT_RUN;
    uint32_t n_runs = params->n_runs;
    int half = 0;

    params->is_last = n_runs == 1;
    emit->operations = (uint64_t)params->n_rows * params->n * SORT_STEPS;
    GB_VK_DISPATCH_ONE_OF(
        emit, is_short ? GB_VK_sort_short_runs : GB_VK_sort_runs,
        (int64_t)params->n_rows * n_runs, params, gb_vk_write(node),
        gb_vk_read(node->src[0]),
        n_runs == 1 ? gb_vk_write(node) : half_of(node, 0, true));
    for (; n_runs > 1; n_runs = (n_runs + 1) / 2) {
        params->is_last = n_runs == 2;
        GB_VK_DISPATCH(
            emit, merge_runs,
            gb_vk_groups((int64_t)params->n_rows * params->n, 256), params,
            gb_vk_write(node), half_of(node, half, false),
            half_of(node, !half, true));
        half = !half;
        params->run *= 2;
    }
}

static void
argsort_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t n_rows = ggml_nrows(node);
    const int64_t at_once = rows_at_once(node);

    for (int64_t row = 0; row < n_rows; row += at_once) {
        struct gb_vk_sort_params params = {
            .ne = GB_VK_ROW_NE(node),
            .dst_nb = GB_VK_ROW_NB(node),
            .src_nb = GB_VK_NB(a),
            .n = (uint32_t)node->ne[0],
            .n_runs = (uint32_t)gb_vk_groups(node->ne[0], GB_VK_SORT_RUN),
            .run = GB_VK_SORT_RUN,
            .n_rows = (uint32_t)(n_rows - row < at_once ? n_rows - row
                                                        : at_once),
            .first_row = (uint32_t)row,
            .src_type = gb_vk_float_of(a->type),
            .is_descending =
                gb_node_param_i32(node, 0) == GGML_SORT_ORDER_DESC,
        };

        emit_rows(emit, node, &params);
    }
}

const struct gb_vk_op gb_vk_op_argsort = {
    .supports = argsort_supports,
    .parts = &gb_vk_parts_of_rows,
    .scratch = argsort_scratch,
    .emit = argsort_emit,
};
