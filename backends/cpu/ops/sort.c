/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/sort.c - the order of a row's elements.
 *
 * ARGSORT: dst[:, i1, i2, i3] = the indices of src0's row in the order of their
 * elements, ascending or descending.
 *
 *   src0   F32, F16 or BF16, any strides
 *   dst    I32, the same shape, rows dense
 *   params order
 *
 * A merge sort from short runs to long ones: n * log2(n) comparisons at most,
 * whatever the input; equal elements keep their order, as they would not in a
 * quicksort; and it ends whatever NaN compares like (they go to the end).
 *
 * Threads   tiles are rows.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

#include <math.h>
#include <string.h>

/* An index must fit an int32_t. */
static bool
argsort_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return gb_cpu_is_float(a->type) && node->type == GGML_TYPE_I32 &&
           gb_is_dense(node) && ggml_are_same_shape(a, node) &&
           a->ne[0] <= INT32_MAX &&
           (uint32_t)gb_cpu_param_i32(node, 0) <= GGML_SORT_ORDER_DESC;
}

/* The row as floats, and a second row of numbers to merge to and from. */
static size_t
argsort_scratch(const struct ggml_tensor *node)
{
    return gb_mul_or_max(
        (size_t)node->ne[0], sizeof(float) + sizeof(int32_t));
}

/* Must A stand before B? */
static bool
is_before(float a, float b, enum ggml_sort_order order)
{
    if (isnan(a) || isnan(b))
        return !isnan(a) && isnan(b);
    return order == GGML_SORT_ORDER_ASC ? a < b : a > b;
}

/* Merge the sorted runs [first, middle) and [middle, last) of FROM into TO. */
static void
merge(const float *x, enum ggml_sort_order order, const int32_t *from,
      int32_t *to, int64_t first, int64_t middle, int64_t last)
{
    int64_t left = first;
    int64_t right = middle;

    for (int64_t i = first; i < last; i++) {
        const bool take_right =
            right < last && (left == middle ||
                             is_before(x[from[right]], x[from[left]], order));

        to[i] = take_right ? from[right++] : from[left++];
    }
}

/* Runs of 1, 2, 4 .. elements are merged, from NUMBERS to OTHER and back each
 * time; the last ones may end at OTHER, and are copied then. */
static void
sort_row(const float *x, int64_t n, enum ggml_sort_order order,
         int32_t *numbers, int32_t *other)
{
    int32_t *from = numbers;
    int32_t *to = other;

    for (int64_t i = 0; i < n; i++)
        from[i] = (int32_t)i;
    for (int64_t run = 1; run < n; run *= 2) {
        int32_t *const swap = from;

        for (int64_t first = 0; first < n; first += 2 * run) {
            const int64_t middle = first + run < n ? first + run : n;
            const int64_t last = first + 2 * run < n ? first + 2 * run : n;

            merge(x, order, from, to, first, middle, last);
        }
        from = to;
        to = swap;
    }
    if (from != numbers)
        memcpy(numbers, from, (size_t)n * sizeof(*numbers));
}

static enum ggml_status
argsort_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const int64_t n = node->ne[0];
    const enum ggml_sort_order order =
        (enum ggml_sort_order)gb_cpu_param_i32(node, 0);
    float *const floats = task->scratch;
    int32_t *const other = (void *)(floats + n);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line from =
            gb_cpu_line_at(node->src[0], at.i1, at.i2, at.i3);
        const float *x = gb_cpu_line_read(task->k, &from, 0, n, floats);

        sort_row(x, n, order,
                 (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3), other);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_argsort = {
    .n_src = 1,
    .can_run = argsort_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .scratch = argsort_scratch,
    .run = argsort_run,
};
